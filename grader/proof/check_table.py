#!/usr/bin/env python3
"""For each check the mutants that it kills: docs/instructors_table.md.

    grader/proof/check_table.py [--judges build/judge]    writes the page
    grader/proof/check_table.py --check    is it what judges and mutants say? Names checks with points, but no mutant

`make check-table` builds the judges before. The page is of what they and the mutants say; that it is true is what
`make prove` proves.
"""
import argparse
import functools
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import grader_proof as proof
from class_folder import write_whole


PAGE = "docs/instructors_table.md"
JUDGES = "build/judge"
HEAD = """What the checks catch {#instructors_table}
=====================

Written by `grader/proof/check_table.py`: do not edit. A mutant is a wrong solution in `grader/labs/`, and must lose the points of the checks that are
named beside it: `make prove` looks. The attacks, and what they earned, are on @ref cheating_table.
"""


@functools.cache
def checks(lab):
    """(name, points, title) of each check, in order, as the lab's judge plans them; without an instructor's hidden ones."""
    judge = os.path.join(JUDGES, lab)
    if not os.path.exists(judge):
        sys.exit(f"{judge} is not there: make check-table")
    plan = subprocess.run([judge, "--plan", f"labs/{lab}/lab.json"], capture_output=True, check=True).stdout
    with open(f"labs/{lab}/lab.json", encoding="utf-8") as file:
        own = json.load(file)["points"]
    return [(row["name"], f"{row['points']:g}", row["title"]) for row in json.loads(plan) if row["name"] in own]


def mutants(lab):
    return proof.blocks_of(lab, "mutants")


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
            found.append(f"{PAGE} is not current: grader/proof/check_table.py writes it")
    return found


def main():
    global JUDGES  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="only check, write nothing")
    parser.add_argument("--judges", default=JUDGES, help="the folder where they are built")
    options = parser.parse_args()
    JUDGES = options.judges
    if options.check:
        found = problems()
        print("\n".join(found) or "table of checks: current")
        sys.exit(1 if found else 0)
    write_whole(PAGE, page().encode())
    print(PAGE)


if __name__ == "__main__":
    main()
