#!/usr/bin/env python3
"""A student's way through all labs, from a handout without solutions, with every stumble on it that students have met.

    grader/proof/stumbles_test.py [--labs 00,01,02,03]
    grader/proof/stumbles_test.py --check               plays none: is each of stumbles.txt a mutant?

Works in build/stumbles, in a handout that is given the objects of this build. A lab is begun as a stub, then each mistake of
stumbles.txt is made in its solved files: what is said names it, and says none of the words that once misled. Then the lab is
solved, and the next begins. Ends with `stumbles: all good`.
"""
import argparse
import collections
import json
import os
import re
import shutil

import expecting
import grader_proof as proof
from expecting import expect
from handout_test import give_objects, make, read, run, write

OUT = os.path.abspath("build/stumbles")
# Never the right words, whatever the mistake: numbers of the grader's own, grammar, what a build tool or a shell says.
NEVER = ("make: ***", "make[", "find: ", "No such file", "inf of the limit", "(layer -1)", "-nan", "18446744073709551615",
         r"\b1 (elements|micro-batches|bytes|plans|targets|checks|blocks|tokens)\b", "limit used, relative error of the norm")

Stumble = collections.namedtuple("Stumble", "mutant never")


def stumbles():
    """{"00": [Stumble, ...], ...}"""
    of_lab = collections.defaultdict(list)
    for line in read("grader/proof/stumbles.txt").splitlines():
        entry = re.match(r"(\d\d) (\w+):(.*)", line)
        if entry:
            of_lab[entry[1]].append(Stumble(entry[2], [words.strip() for words in entry[3].split("|") if words.strip()]))
        elif line.strip() and not line.startswith("#"):
            raise SystemExit(f"grader/proof/stumbles.txt: not a line of it: {line}")
    return of_lab


def not_mutants(of_lab):
    """What stumbles.txt names that is not a mutant of its lab."""
    for lab in proof.labs():
        names = {block["name"] for block in proof.blocks_of(lab, "mutants")}
        yield from (f"{lab[:2]} {stumble.mutant}" for stumble in of_lab[lab[:2]] if stumble.mutant not in names)


def misled(said, never):
    """The words that are said and should not be."""
    return [words for words in NEVER if re.search(words if words.startswith(r"\b") else re.escape(words), said)] + \
           [words for words in never if words in said]


# ---- first contact ------------------------------------------------------------------------------------

def first_contact(folder, labs):
    page, (status, said) = read(f"{folder}/README.md"), make(folder=folder)
    expect(all(lab in page for lab in labs), "the handout's page lists its labs")
    expect(f"labs/{labs[0]}/README.md" in page, "and says where to begin")
    expect(status == 0 and all(f"  {lab}" in said for lab in labs), f"`make` lists them: {misled(said, [])}")
    status, said = make("lab01", folder=folder)
    expect("00_bytes" in said and "compile" not in said, f"a lab that needs lab 00 says so before it builds: {said.strip()[-160:]}")


def before_it_is_filled(folder, lab):
    """A stub: the run and the grade name its first hole, and what a lab shows is there from the beginning."""
    number = lab[:2]
    for goal in (f"lab{number}", f"grade{number}"):
        _, said = make(goal, folder=folder)
        expect("task" in said and not misled(said, []), f"{goal} of a stub names what is to do: {misled(said, []) or said.strip()[-100:]}")
    _, said = run("sh", "-c", f"printf '\\n\\n1\\n' | make bet{number}", folder=folder)
    expect("1 of " in said and "bets are made" in said and "measured" not in said, f"bet{number} asks before anything runs, and shows no answer")
    _, said = make(f"hint{number}", folder=folder)
    expect("task 1" in said.lower() and not misled(said, []), f"hint{number} lists the tasks")
    shows = {"03": ("planted03",), "04": ("picture04",)}
    for goal in shows.get(number, ()):
        status, said = make(goal, folder=folder)
        expect(status == 0 and len(said.splitlines()) > 4 and not misled(said, []), f"{goal} shows something before a hole is filled")


# ---- stumbles -----------------------------------------------------------------------------------------

def fill(folder, lab, changed=None):
    for name in proof.files(lab):
        write(f"{folder}/labs/{lab}/{name}", (changed or {}).get(name) or proof.solution(lab, name))


def stumble(folder, lab, block, never):
    """One mistake in a lab that is right otherwise: graded as the student grades it."""
    fill(folder, lab, {block["file"]: proof.apply_edits(proof.solution(lab, block["file"]), block["edits"])})
    goal = f"grade{lab[:2]}"
    status, said = make(goal, f"CHECK={','.join(block['fails'])}", "SEED=1234567", folder=folder)
    if block["says"] not in " ".join(said.split()):
        status, said = make(goal, "SEED=1234567", folder=folder)   # another check may say it
    text = " ".join(said.split())
    expect(status != 0 and block["says"] in text, f"lab {lab[:2]}, {block['name']}: `{block['says']}`" +
           ("" if block["says"] in text else f" is not in: {text[-400:]}"))
    wrong = misled(text, never)
    expect(not wrong, f"lab {lab[:2]}, {block['name']}: no words that misled: {wrong}")


def solved(folder, lab):
    number = lab[:2]
    fill(folder, lab)
    status, said = make(f"grade{number}", folder=folder)
    record = json.loads(read(f"{folder}/build/grades/{lab}.json"))
    lost = [f"{row['name']}: {row['state']}" for row in record["checks"] if row["earned"] < row["points"]]
    expect(status == 0 and record["full"] and not misled(said, []), f"lab {number} is done: {record['score']:g} of {record['total']:g} {lost or ''}")
    status, said = make(f"lab{number}", folder=folder)
    expect(status == 0 and not misled(said, []) and "TODO" not in said, f"and make lab{number} runs to its end {misled(said, [])}")
    expect("predicted by formula" in said, "with the numbers that were bet on: predicted and measured")


def reset(folder, lab):
    """A stub is never called done, whatever its last grade was."""
    make(f"reset{lab[:2]}", folder=folder)
    line = next(line for line in make(folder=folder)[1].splitlines() if line.split()[:1] == [lab])
    expect("changed since" in line or "not started" in line, f"after a reset `make` says: {line.strip()}")
    fill(folder, lab)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--labs", help="whose stumbles are played, as 00,01; all")
    parser.add_argument("--check", action="store_true", help="play none: is each of stumbles.txt a mutant?")
    options = parser.parse_args()
    labs, of_lab = proof.labs(), stumbles()
    chosen = options.labs.split(",") if options.labs else [lab[:2] for lab in labs]
    unknown = [number for number in [*chosen, *of_lab] if number not in {lab[:2] for lab in labs}]
    if unknown:
        parser.error(f"there is no lab {unknown[0]}")
    absent = list(not_mutants(of_lab))
    if absent:
        raise SystemExit(f"grader/proof/stumbles.txt names what is not a mutant: {', '.join(absent)}")
    if options.check:
        print(f"stumbles: {sum(map(len, of_lab.values()))}, each a mutant")
        return
    shutil.rmtree(OUT, ignore_errors=True)
    status, said = make("handout", f"LAB={labs[-1][:2]}", "SOLUTIONS=none", f"OUT={OUT}")
    expect(status == 0, f"the handout is cut: {said.strip()[-100:]}")
    give_objects(OUT)
    first_contact(OUT, labs)
    for lab in labs:
        if lab[:2] in chosen:
            before_it_is_filled(OUT, lab)
            blocks = {block["name"]: block for block in proof.blocks_of(lab, "mutants")}
            for name, never in of_lab[lab[:2]]:
                stumble(OUT, lab, blocks[name], never)
            solved(OUT, lab)
            reset(OUT, lab)
        else:
            fill(OUT, lab)
    expecting.end("stumbles")


if __name__ == "__main__":
    main()
