#!/usr/bin/env python3
"""The version of the kit: VERSION, and what CHANGELOG.md says about each. `make check-release` holds one to the other.

Of three numbers the third is another one where no point of any lab has changed. So two records may stand in one table
where the first two are the same.
"""
import re
import sys

VERSION, CHANGES = "VERSION", "CHANGELOG.md"
NUMBERS = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
ENTRY = re.compile(r"^## ([^\s,]+)(?:, (\d{4}-\d\d-\d\d))?[^\n]*\n(.*?)(?=^## |\Z)", re.M | re.S)
POINTS = re.compile(r"^Changes points: (yes|no)$", re.M)


def kit_version():
    """What the kit calls itself, "1.0.0"; "unknown" where that is not said."""
    try:
        with open(VERSION, encoding="utf-8", errors="replace") as file:
            return file.read().strip() or "unknown"
    except OSError:
        return "unknown"


def numbers(version):
    found = NUMBERS.fullmatch(version)
    return tuple(map(int, found.groups())) if found else None


def points_of(version):
    """Versions that give the same points have this in common."""
    found = numbers(version)
    return found[:2] if found else version


def same_points(one, other):
    return points_of(one) == points_of(other)


def entries(text):
    """[(version, whether points change or None)] of a list of changes, the newest first."""
    found = []
    for version, _, body in ENTRY.findall(text):
        said = POINTS.findall(body)
        found.append((version, said[0] == "yes" if len(said) == 1 else None))
    return found


def wrong(version, text):
    """What is not right about VERSION and the list of changes: lines."""
    changes = entries(text)
    if not changes:
        return [f"{CHANGES}: there is no entry: ## 1.0.0"]
    said = [f"{CHANGES}: {name} is not three numbers" for name, _ in changes if numbers(name) is None]
    if said:
        return said
    if changes[0][0] != version:
        said.append(f"{VERSION} says {version or 'nothing'}, and the newest entry of {CHANGES} is {changes[0][0]}")
    said += [f"{CHANGES}: {name} needs one line `Changes points: yes` or `Changes points: no`" for name, points in changes if points is None]
    for (name, points), (before, _) in zip(changes, changes[1:]):
        if numbers(name) <= numbers(before):
            said.append(f"{CHANGES}: {name} stands above {before}, and is not newer")
        elif points and same_points(name, before):
            said.append(f"{CHANGES}: {name} changes points: its first or second number must not be that of {before}")
    return said


def main():
    try:
        with open(CHANGES, encoding="utf-8") as file:
            said = wrong(kit_version(), file.read())
    except OSError as error:
        said = [f"{CHANGES}: {error.strerror}"]
    for line in said:
        print(f"release: {line}", file=sys.stderr)
    if not said:
        print(f"release: {kit_version()}")
    sys.exit(1 if said else 0)


if __name__ == "__main__":
    main()
