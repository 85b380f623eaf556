#!/usr/bin/env python3
"""Every clause of a contract and every known mistake is a committed mutant, or has a reason why it cannot exist.

    grader/proof/mutant_ids.py [--table FILE]

Reads grader/proof/ids.txt and the `id:` lines of all mutants. Prints the tables, or writes them as a page. Status 1 if an id
has neither mutant nor reason, has both, or is not in the list. L3.07 is a clause of lab 03, GA07 a mistake.
"""
import argparse
import glob
import os
import re
import sys

IDS = "grader/proof/ids.txt"
MUTANTS = ("grader/labs/*/*.mutants", "grader/proof/kit/*.mutants")

PAGE = """# Clauses, known mistakes, and the mutants that break and make them {{#mutant_ids}}

Written by `grader/proof/mutant_ids.py --table`: do not edit. A wrong solution must lose points in the checks that it names; a mistake in the
kit must turn a unit test red.

## Clauses of the contracts

{clauses}

## Known mistakes

Each has been seen in real projects.

{mistakes}
"""
HEAD = "| id | {what} | made by |\n|---|---|---|\n"


def read_ids():
    """{id: [what it is, why it cannot exist, the heading that it stands under]}"""
    ids, heading = {}, ""
    with open(IDS, encoding="utf-8") as file:
        for line in file:
            head = re.match(r"([A-Z]{2}\d\d|L\d+\.\d\d) (.+)", line)
            if head and head[1] in ids:
                raise ValueError(f"{head[1]} is listed twice")
            if head:
                ids[head[1]] = [head[2], "", heading]
            elif line.startswith("## "):
                heading = line[3:].strip()
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
    for number, (_, cannot, _) in ids.items():
        if number not in made and not cannot:
            yield f"{number} has no mutant, and no reason why it cannot exist"
        if number in made and cannot:
            yield f"{number} has a mutant, and a reason why it cannot exist"
    for number, where, name in mutants:
        if number[:2] in listed and number not in ids:
            yield f"{where} {name}: {number} is not in {IDS}"


def rows(ids, mutants, wanted):
    for number, (what, cannot, heading) in ids.items():
        if heading == wanted:
            made = [f"`{name}` ({where})" for other, where, name in mutants if other == number]
            yield f"| {number} | {what} | {'cannot exist: ' + cannot if cannot else ', '.join(made)} |"


def is_clause(number):
    return "." in number


def tables(ids, mutants, clauses):
    """A table for each heading."""
    wanted = dict.fromkeys(heading for number, (_, _, heading) in ids.items() if is_clause(number) == clauses)
    head = HEAD.format(what="clause" if clauses else "mistake")
    return "\n\n".join(f"### {heading}\n\n{head}" + "\n".join(rows(ids, mutants, heading)) for heading in wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--table", help="write a page to this file")
    options = parser.parse_args()
    ids, mutants = read_ids(), read_mutants()
    clauses, mistakes = tables(ids, mutants, True), tables(ids, mutants, False)
    wrong = list(problems(ids, mutants))
    if options.table:
        with open(options.table + ".new", "w", encoding="utf-8") as file:
            file.write(PAGE.format(clauses=clauses, mistakes=mistakes))
        os.replace(options.table + ".new", options.table)
    else:
        print(clauses, mistakes, sep="\n\n")
    for problem in wrong:
        print(f"mutant ids: {problem}", file=sys.stderr)
    count = sum(map(is_clause, ids))
    print(f"mutant ids: {len(ids) - len(wrong)} of {len(ids)} are accounted for: {count} clauses, {len(ids) - count} mistakes")
    sys.exit(1 if wrong or not ids else 0)


if __name__ == "__main__":
    main()
