#!/usr/bin/env python3
"""A lab is a package: grader/proof/example has one in three folders, 90_example, that no other file knows.

By LABS=, and copied into a clone whose path has a space, it is built, graded, handed in and handed out, and its handout is
searched for leaks. Works in build/package; ends with `package: all good`. Programs must be built: `make graders`.
"""
import json
import os
import shutil
import subprocess
import sys

import expecting
import handout_test
from expecting import expect
from handout_test import files_in, make, read, run, write

OUT = os.path.abspath("build/package")
EXAMPLE, LAB = "grader/proof/example", "90_example"
FOLDERS = ("labs", "solutions", "grader/labs")
FILES = ("mean.c", "square.cu")


def expect_grade(what, words, folder, score, text):
    status, said = make("grade90", *words, folder=folder)
    expect(f"Score:   {score} of 100" in said and text in said and (status == 0) == (score == 100), f"{what}: {score} points{said[-300:] if f'Score:   {score} of' not in said else ''}")


def check_graded(folder, words):
    """The solution as it stands has full points, the stub none; each mutant loses, each variant does not."""
    expect_grade("the solution", (*words, "FROM=solutions"), folder, 100, "pass")
    expect_grade("the stub", words, folder, 0, "not started")
    mine = f"{OUT}/my files/{LAB}"
    shutil.copytree(f"{EXAMPLE}/solutions/{LAB}", mine, dirs_exist_ok=True)
    expect_grade("a folder with a space", (*words, f"FROM={OUT}/my files"), folder, 100, "pass")


def check_proof():
    """As grader_proof.py proves the kit's labs."""
    make("graders-run", "ACCESS=1", f"GRADED_LABS={LAB}", f"LABS={EXAMPLE}")
    done = subprocess.run([sys.executable, "grader/proof/grader_proof.py", "stubs", "solutions", "mutants", "variants", "--lab", "90",
                           "--seeds", "1"], env={**os.environ, "LABS": EXAMPLE}, capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and "6 passed, 0 failed" in done.stdout, f"mutants lose, variants do not: {done.stdout.strip()[-200:]}")


def check_handed_in(folder, words, place):
    """From the solution in place of the stub; then the stub again."""
    for name in FILES:
        shutil.copy(f"{EXAMPLE}/solutions/{LAB}/{name}", f"{place}/labs/{LAB}/{name}")
    status, said = make("handin90", "NAME=anna", *words, folder=folder)
    expect(status == 0 and os.path.exists(f"{folder}/build/handin/90-anna.tar.gz"), f"packed: {said.strip()[-80:]}")
    os.makedirs(f"{OUT}/hand ins", exist_ok=True)
    shutil.copy(f"{folder}/build/handin/90-anna.tar.gz", f"{OUT}/hand ins")
    shutil.rmtree(f"{OUT}/with records", ignore_errors=True)
    status, said = make("grade-all", "LAB=90", f"IN={OUT}/hand ins", f"OUT={OUT}/with records", *words, folder=folder)
    record = json.loads(read(f"{OUT}/with records/records/anna.json")) if status == 0 else {}
    expect(record.get("score") == 100, f"graded with the class: {record.get('score')} {said[-200:] if status else ''}")
    make("reset90", *words, folder=folder)
    expect("TODO(" in read(f"{place}/labs/{LAB}/mean.c"), "the stub is back")
    for name in FILES:
        os.unlink(f"{place}/labs/{LAB}/{name}.kept-1")


def check_handed_out(folder, words, place):
    out = f"{OUT}/hand out"
    shutil.rmtree(out, ignore_errors=True)
    status, said = make("handout", "LAB=90", f"OUT={out}", *words, folder=folder)
    there = files_in(out) if status == 0 else set()
    expect(status == 0 and {f"labs/{LAB}/mean.c", f"labs/{LAB}/tests.c", f"grader/labs/{LAB}/probe.c"} <= there, f"handed out: {said.strip()[-80:]}")
    expect(not any(path.startswith((f"solutions/{LAB}", "grader/proof")) or path.endswith((".mutants", ".variants")) for path in there),
           "without solution, mutants, proofs")
    page = f"{place}/labs/{LAB}/README.md"
    text = read(page)
    write(page, text + read(f"{EXAMPLE}/solutions/{LAB}/mean.c"))
    try:
        status, said = make("handout", "LAB=90", f"OUT={OUT}/leak", *words, folder=folder)
    finally:
        write(page, text)
    expect(status != 0 and f"labs/{LAB}/README.md has" in said and not os.path.exists(f"{OUT}/leak"), f"a leak is named: {said.strip()[:120]}")
    return out


def check_handout(folder):
    """What a student does with it."""
    handout_test.give_objects(folder)
    status, said = make(folder=folder)
    expect(status == 0 and f"  {LAB} " in said, "the handout lists the lab")
    expect_grade("the stub in the handout", (), folder, 0, "not started")
    for name in FILES:
        shutil.copy(f"{EXAMPLE}/solutions/{LAB}/{name}", f"{folder}/labs/{LAB}/{name}")
    expect_grade("the solution in the handout", (), folder, 100, "pass")


def clone():
    """A clean clone, in a path with a space, with the example's folders in it."""
    folder = f"{OUT}/a clone"
    run("git", "clone", "-q", ".", folder)
    for kind in FOLDERS:
        shutil.copytree(f"{EXAMPLE}/{kind}/{LAB}", f"{folder}/{kind}/{LAB}")
    handout_test.give_objects(folder)
    return folder


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    words = (f"LABS={EXAMPLE}",)
    status, said = make(*words)
    expect(status == 0 and f"  {LAB} " in said and "  06_fit " in said, "it is listed beside the kit's labs")
    status, said = make("lab90", *words)
    expect(status == 0 and "lab 90 is compiled" in said, f"it is built: {said.strip()[-60:]}")
    check_graded(".", words)
    check_proof()
    check_handed_in(".", words, EXAMPLE)
    check_handed_out(".", words, EXAMPLE)
    folder = clone()
    status, said = make("handout", "LAB=90", folder=folder)
    expect(status == 2 and f"labs/{LAB}/lab.json is not tracked" in said, f"what git does not know is not handed out: {said.strip()[:120]}")
    run("git", "add", *FOLDERS, folder=folder)
    before = run("git", "status", "--porcelain", "-uall", folder=folder)[1].splitlines()
    expect(before and all(LAB in line and line.startswith("A ") for line in before), "in the clone nothing else is touched")
    check_graded(folder, ())
    check_handed_in(folder, (), folder)
    check_handout(check_handed_out(folder, (), folder))
    expect(run("git", "status", "--porcelain", "-uall", folder=folder)[1].splitlines() == before, "and nothing else is afterwards")
    expecting.end("package")


if __name__ == "__main__":
    main()
