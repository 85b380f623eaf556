#!/usr/bin/env python3
"""Which labs a lab runs with, from its lab.json: where there are no solutions, these are the student's.

    tools/needs.py LAB

is what `make labNN` asks before it builds: where one of those labs has a task to do, it says which, and its status is 77.
"""
import sys

from lab_files import read_lab
from labs import holes

EXIT_TODO = 77


def runs_with(lab):
    return read_lab(lab).get("run_needs", [])


def checks_with(lab):
    """{another lab: the checks that run its files}"""
    found = {}
    for check, others in read_lab(lab).get("needs", {}).items():
        for other in others:
            found.setdefault(other, []).append(check)
    return dict(sorted(found.items()))


def points_with(lab):
    """{another lab: the points that need it}, without those that it earns none with"""
    points = {other: sum(read_lab(lab)["points"][check] for check in checks) for other, checks in checks_with(lab).items()}
    return {other: worth for other, worth in points.items() if worth}


def number(lab):
    return lab.split("_")[0]


def listed(words):
    """a, b and c"""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def sentence(lab):
    """For the page of a lab, where there are no solutions; "" where it needs no other."""
    parts = []
    if runs_with(lab):
        parts.append(f"`make lab{number(lab)}` runs with your lab{'s' * (len(runs_with(lab)) > 1)} {listed([number(other) for other in runs_with(lab)])}")
    for other, worth in points_with(lab).items():
        checks = [f"`{check}`" for check in checks_with(lab)[other] if read_lab(lab)["points"][check]]
        parts.append(f"{worth:g} points{f' ({listed(checks)})' if len(checks) <= 3 else ''} need your lab {number(other)}")
    return "".join(f"{part}. " for part in parts).strip()


def main():
    lab = sys.argv[1]
    for other in runs_with(lab):
        for path, tasks in holes(other).items():
            print(f"lab {number(lab)} runs with your lab {number(other)}, and {path} has {tasks} task{'s' * (tasks > 1)} to do: make lab{number(other)}",
                  file=sys.stderr)
            sys.exit(EXIT_TODO)


if __name__ == "__main__":
    main()
