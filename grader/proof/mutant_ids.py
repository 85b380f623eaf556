#!/usr/bin/env python3
"""Every known mistake is a committed mutant, or has a reason why it cannot exist.

    grader/proof/mutant_ids.py [--table FILE]

Reads grader/proof/ids.txt and the `id:` lines of all mutants. Prints the table, or writes it as a page. Status 1 if an id
has neither mutant nor reason, has both, or is not in the list.
"""
import argparse
import glob
import os
import re
import sys

IDS = "grader/proof/ids.txt"
MUTANTS = ("grader/labs/*/*.mutants", "grader/proof/kit/*.mutants")

PAGE = """# Known mistakes and the mutants that make them {{#mutant_ids}}

Written by `grader/proof/mutant_ids.py --table`: do not edit. Each mistake has been seen in real projects. A wrong solution must lose points in
the checks that it names; a mistake in the kit must turn a unit test red.

| id | mistake | made by |
|---|---|---|
{rows}
"""


def read_ids():
    """{id: [what it is, why it cannot exist]}"""
    ids = {}
    with open(IDS, encoding="utf-8") as file:
        for line in file:
            head = re.match(r"([A-Z]{2}\d\d) (.+)", line)
            if head:
                ids[head[1]] = [head[2], ""]
            elif line.strip().startswith("cannot: "):
                ids[list(ids)[-1]][1] = line.strip()[8:]
    return ids


def read_mutants():
    """[(id, where, name)] of all id lines; one mutant may have several ids."""
    found = []
    for path in sorted(path for pattern in MUTANTS for path in glob.glob(pattern)):
        where, name = os.path.basename(os.path.dirname(path)), ""
        with open(path, encoding="utf-8") as file:
            for line in file:
                head = re.match(r"\[(\w+)\]", line)
                name = head[1] if head else name
                if line.strip().startswith("id: "):
                    found += [(number, where, name) for number in line.split()[1:]]
    return found


def problems(ids, mutants):
    made = {number for number, _, _ in mutants}
    listed = {number[:2] for number in ids}
    for number, (_, cannot) in ids.items():
        if number not in made and not cannot:
            yield f"{number} has no mutant, and no reason why it cannot exist"
        if number in made and cannot:
            yield f"{number} has a mutant, and a reason why it cannot exist"
    for number, where, name in mutants:
        if number[:2] in listed and number not in ids:
            yield f"{where} {name}: {number} is not in {IDS}"


def table(ids, mutants):
    for number, (what, cannot) in ids.items():
        made = [f"`{name}` ({where})" for other, where, name in mutants if other == number]
        yield f"| {number} | {what} | {'cannot exist: ' + cannot if cannot else ', '.join(made)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--table", help="write a page to this file")
    options = parser.parse_args()
    ids, mutants = read_ids(), read_mutants()
    rows, wrong = "\n".join(table(ids, mutants)), list(problems(ids, mutants))
    if options.table:
        with open(options.table + ".new", "w", encoding="utf-8") as file:
            file.write(PAGE.format(rows=rows))
        os.replace(options.table + ".new", options.table)
    else:
        print(rows)
    for problem in wrong:
        print(f"mutant ids: {problem}", file=sys.stderr)
    print(f"mutant ids: {len(ids) - len(wrong)} of {len(ids)} are accounted for")
    sys.exit(1 if wrong or not ids else 0)


if __name__ == "__main__":
    main()
