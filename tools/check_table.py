#!/usr/bin/env python3
"""For each check the mutants that it kills: docs/instructors_table.md.

    tools/check_table.py            writes the page
    tools/check_table.py --check    is it what labs and mutants say? Names checks with points, but no mutant

The page is of what the sources say; that it is true is what `make prove` proves.
"""
import argparse
import os
import re
import sys

import grader_proof as proof
from class_folder import write_whole

PAGE = "docs/instructors_table.md"
HEAD = """What the checks catch {#instructors_table}
=====================

Written by `tools/check_table.py`: do not edit. A mutant is a wrong solution in `grader/mutants/`, and must lose the points of the checks that are
named beside it: `make prove` looks. The attacks, and what they earned, are on @ref cheating_table.
"""


def checks(lab):
    """(name, points, title) of each check in a lab's tests.c, in order."""
    with open(f"labs/{lab}/tests.c", encoding="utf-8") as file:
        found = re.findall(r"^GRADED\(\w+, (\w+), ([\d.]+),\s*((?:\"[^\"]*\"\s*)+)\)", file.read(), re.M)
    return [(name, points, "".join(re.findall(r'"([^"]*)"', title))) for name, points, title in found]


def mutants(lab):
    path = f"grader/mutants/{lab}/lab.mutants"
    return proof.read_table(path) if os.path.exists(path) else []


def lab_table(lab):
    killed = {name: [block["name"] for block in mutants(lab) if name in block["fails"]] for name, _, _ in checks(lab)}
    rows = [f"| {name} | {points} | {title} | {len(killed[name])}: {', '.join(killed[name]) or 'none'} |"
            for name, points, title in checks(lab)]
    return [f"\n### Lab {lab}: {len(rows)} checks, {len(mutants(lab))} mutants\n",
            "| check | points | what it asks | mutants it kills |", "|---|---|---|---|", *rows]


def page():
    return HEAD + "\n".join(line for lab in proof.labs() for line in lab_table(lab)) + "\n"


def problems():
    found = []
    for lab in proof.labs():
        killed = {name for block in mutants(lab) for name in block["fails"]}
        # A check without points shows something: most need a real GPU, and lab 06's `own` the labs before.
        for name, points, _ in checks(lab):
            if name not in killed and float(points) > 0:
                print(f"table of checks: lab {lab}: {name} kills no mutant")
        names = {name for name, _, _ in checks(lab)}
        found += [f"lab {lab}: mutants name a check that is not there: {name}" for name in sorted(killed - names)]
    with open(PAGE, encoding="utf-8") as file:
        if file.read() != page():
            found.append(f"{PAGE} is not current: tools/check_table.py writes it")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing, complain")
    if parser.parse_args().check:
        found = problems()
        print("\n".join(found) or "table of checks: current")
        sys.exit(1 if found else 0)
    write_whole(PAGE, page().encode())
    print(PAGE)


if __name__ == "__main__":
    main()
