#!/usr/bin/env python3
"""Learning outcomes: what a student can do who has earned a check's points. `labs/NN_topic/outcomes.json` has them.

    tools/outcomes.py           every check that is worth points has one outcome, no other has, and docs/outcomes.md is as made
    tools/outcomes.py --write   makes docs/outcomes.md
"""
import argparse
import json
import os
import sys

from class_folder import write_whole
from lab_files import path_of, read_lab
from labs import title

PAGE = "docs/outcomes.md"
FILE = "outcomes.json"
HEAD = """Learning outcomes {#outcomes}
=================

Made by `tools/outcomes.py --write` from `labs/NN_topic/outcomes.json`: do not edit. Each check that is worth points belongs to one outcome: a student who has
the points of its checks has shown that outcome. @ref instructors_table says which mistakes each check catches.
"""


class Wrong(Exception):
    """Why there is no table: one line."""


def outcomes(lab):
    """{outcome: names of its checks}"""
    path = path_of(lab, FILE)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError) as error:
        raise Wrong(f"{path}: {error}") from error
    good = isinstance(found, dict) and all(text.endswith(".") and isinstance(checks, list) and checks
                                           and all(isinstance(name, str) for name in checks) for text, checks in found.items())
    if not good:
        raise Wrong(f"{path}: not sentences, each with a list of checks")
    return found


def faults(lab):
    """What is wrong with a lab's outcomes."""
    points, path = read_lab(lab)["points"], path_of(lab, FILE)
    named = [name for checks in outcomes(lab).values() for name in checks]
    return ([f"{path}: {name} is worth points and has no outcome" for name, worth in points.items() if worth > 0 and name not in named]
            + [f"{path}: {name} is not a check that is worth points" for name in named if points.get(name, 0) <= 0]
            + [f"{path}: {name} has several outcomes" for name in sorted(set(named)) if named.count(name) > 1])


def kits_labs():
    """Those of the kit, on whose page LABS= has no say."""
    return sorted(lab for lab in os.listdir("labs") if os.path.isfile(f"labs/{lab}/lab.json"))


def page():
    parts = [HEAD]
    for lab in kits_labs():
        points = read_lab(lab)["points"]
        parts.append(f"### Lab {lab}: {title(lab)}\n\n| outcome | checks | points |\n|---|---|---|")
        parts += [f"| {text} | {', '.join(checks)} | {sum(points[name] for name in checks):g} |" for text, checks in outcomes(lab).items()]
        parts[-1] += "\n"
    return "\n".join(parts)


def run(write):
    labs = kits_labs()
    wrong = [fault for lab in labs for fault in faults(lab)]
    if wrong:
        raise Wrong("\n".join(wrong))
    text = page()
    if write:
        write_whole(PAGE, text.encode())
        return
    try:
        with open(PAGE, encoding="utf-8") as file:
            there = file.read()
    except OSError:
        there = ""
    if there != text:
        raise Wrong(f"{PAGE} is not what the labs say: tools/outcomes.py --write")
    print(f"outcomes: {sum(len(outcomes(lab)) for lab in labs)} of {len(labs)} labs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help=f"make {PAGE}")
    try:
        run(parser.parse_args().write)
    except Wrong as error:
        print(f"outcomes: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
