#!/usr/bin/env python3
"""A lab is a package: grader/proof/example has one in three folders, 90_example, that no other file knows.

By LABS=, and copied into a clone whose path has a space, it is built, graded, bet on, handed in and handed out, its handout is
searched for leaks, and a pack for Gradescope holds it. A folder that cannot be LABS= is refused in one line. Works in
build/package; ends with `package: all good`. Programs must be built: `make graders`.
"""
import json
import os
import shutil
import subprocess
import sys
import zipfile

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


def check_wrong_tables():
    """A table of mutants that says what nobody reads is refused in one line."""
    folder = f"{OUT}/wrong tables"
    shutil.copytree(EXAMPLE, folder)
    for block, words in (("[x] mean.c\n    fails: mean\n    say: y\n", "`say: y`: neither"), ("[x] maen.c\n    fails: mean\n    says: y\n", "no file maen.c"),
                         ("[x] mean.c\n    fails: nope\n    says: y\n", "no check nope"), ("[x] mean.c\n    fails: mean\n", "neither `says:` nor `numbers:`")):
        write(f"{folder}/grader/labs/{LAB}/lab.mutants", block)
        done = subprocess.run([sys.executable, "grader/proof/grader_proof.py", "mutants", "--lab", "90"], env={**os.environ, "LABS": folder},
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 1 and not done.stdout and words in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr.strip()[:160]}")
    done = subprocess.run([sys.executable, "grader/proof/grader_proof.py", "mutants", "--lab", "91"], capture_output=True, text=True, check=False)
    expect(done.returncode == 1 and "there is no lab 91" in done.stderr, f"a lab that is not there: {done.stderr.strip()[:160]}")


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
    expect("With the solutions of labs 00, 01, " in said and "make bet90" not in read(f"{out}/README.md"), f"what is in it is said: {said.strip()[-120:]}")
    solved = f"{place}/solutions/{LAB}/mean.c"
    text = read(solved)
    write(solved, run("unifdef", "-x2", "-USTUB", solved)[1])
    try:
        status, said = make("handout", "LAB=90", f"OUT={OUT}/solved", *words, folder=folder)
    finally:
        write(solved, text)
    expect(status == 2 and "has no TODO()" in said and not os.path.exists(f"{OUT}/solved"), f"a stub that would be the solution: {said.strip()[:160]}")
    page = f"{place}/labs/{LAB}/README.md"
    text = read(page)
    write(page, text + read(f"{EXAMPLE}/solutions/{LAB}/mean.c"))
    try:
        status, said = make("handout", "LAB=90", f"OUT={OUT}/leak", *words, folder=folder)
    finally:
        write(page, text)
    expect(status != 0 and f"labs/{LAB}/README.md has" in said and not os.path.exists(f"{OUT}/leak"), f"a leak is named: {said.strip()[:120]}")
    return out


def check_alike():
    """What lab.json allows is allowed in that file alone."""
    folder, page = f"{OUT}/alike", f"labs/{LAB}/README.md"
    shutil.copytree(EXAMPLE, folder)
    write(f"{folder}/{page}", read(f"{folder}/{page}") + run("unifdef", "-x2", "-USTUB", f"{EXAMPLE}/solutions/{LAB}/mean.c")[1])
    for alike, made in (({}, False), ({"mean.c": {f"labs/{LAB}/hints.md": "another file"}}, False), ({"mean.c": {page: "a page that shows it"}}, True)):
        change_list(folder, alike=alike)
        status, said = make("handout", "LAB=90", f"OUT={OUT}/with alike", f"LABS={folder}")
        expect((status == 0) == made and (made or (f"{page} has a part of" in said and '"alike"' in said)), f"alike {alike}: {said.strip()[:120]}")


def check_handout(folder):
    """What a student does with it."""
    handout_test.give_objects(folder)
    status, said = make(folder=folder)
    expect(status == 0 and f"  {LAB} " in said and "make format" not in said, "the handout lists the lab, and no goal that it lacks")
    status, said = make("format", folder=folder)
    expect(status == 2 and "'make format' is not available in this handout" in said, f"which is refused: {said.strip()[:120]}")
    expect_grade("the stub in the handout", (), folder, 0, "not started")
    for name in FILES:
        shutil.copy(f"{EXAMPLE}/solutions/{LAB}/{name}", f"{folder}/labs/{LAB}/{name}")
    expect_grade("the solution in the handout", (), folder, 100, "pass")


# ---- LABS= that cannot be ------------------------------------------------------------------------------

LIST = f"labs/{LAB}/lab.json"
REFUSED = (   # (what is done to a copy of the example, words of the line)
    ("no folder", lambda folder: shutil.rmtree(folder), "there is no such folder"),
    ("no labs/", lambda folder: shutil.rmtree(f"{folder}/labs"), "there is no folder labs/ in it"),
    ("no lab in it", lambda folder: shutil.rmtree(f"{folder}/labs/{LAB}"), "labs/ in it has no lab"),
    ("a lab without lab.json", lambda folder: os.unlink(f"{folder}/{LIST}"), f"labs/{LAB} has no lab.json"),
    ("a lab without README.md", lambda folder: os.unlink(f"{folder}/labs/{LAB}/README.md"), f"labs/{LAB} has no README.md"),
    ("lab.json cut off", lambda folder: write(f"{folder}/{LIST}", '{"holes": [\n'), f"{LIST}: line 2: "),
    ("bytes in place of lab.json", lambda folder: open(f"{folder}/{LIST}", "wb").write(b"\xff\xfe{"), f"{LIST}: 'utf-8' codec"),
    ("an unknown key", lambda folder: change_list(folder, hole=[]), f"{LIST}: Additional properties are not allowed ('hole'"),
    ("a hole without a file", lambda folder: change_list(folder, holes=[{"functions": ["f"]}]), f"{LIST}: holes[0]: 'file' is a required property"),
    ("points in quotes", lambda folder: change_list(folder, points={"mean": "40"}), f"{LIST}: points.mean: '40' is not of type 'number'"),
    ("the name of a lab of the kit", lambda folder: os.rename(f"{folder}/labs/{LAB}", f"{folder}/labs/01_loop"), "01_loop has the number 01 already"),
    ("the number of a lab of the kit", lambda folder: os.rename(f"{folder}/labs/{LAB}", f"{folder}/labs/03_mine"), "labs/03_mine: 03_accumulate has the number 03"),
    ("two labs of one number", lambda folder: shutil.copytree(f"{folder}/labs/{LAB}", f"{folder}/labs/90_again"), f"labs/{LAB}: 90_again has the number 90"),
    ("a folder with another kind of name", lambda folder: os.makedirs(f"{folder}/labs/mean"), "labs/mean: a lab's folder is called by two digits"),
)


def change_list(folder, **keys):
    write(f"{folder}/{LIST}", json.dumps({**json.loads(read(f"{folder}/{LIST}")), **keys}))


def check_refused():
    """In one line with status 2, whatever the goal; by the tools that make does not start, too. A table that was made before must not hide it."""
    for what, spoil, words in REFUSED:
        folder = f"{OUT}/to refuse"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(EXAMPLE, folder)
        make(f"LABS={folder}")
        spoil(folder)
        for goal in ((), ("grade90",), ("grade-all", "LAB=90", f"IN={folder}", f"OUT={OUT}/none")):
            status, said = make(*goal, f"LABS={folder}")
            expect(status == 2 and said.count("\n") == 1 and words in said, f"{what}, {goal or 'the table'}: {said.strip()[:160]}")
        if "Additional" not in words and "holes" not in words and "points" not in words:   # a tool reads no schema
            status, said = run("env", f"LABS={folder}", "grader/proof/grader_proof.py", "stubs", "--lab", "90")
            expect(status == 2 and said.count("\n") == 1 and words in said, f"{what}, a tool: {said.strip()[:160]}")


# ---- what else a lab has -------------------------------------------------------------------------------

BETS = {"bets": [{"name": "weights", "unit": "MiB", "ask": "How much memory do the weights take?", "formula": "4 * P / MiB",
                  "measured": "counted.weights / MiB", "because": "A float is 4 bytes."}]}


def check_bets():
    """Of a lab that `train` runs. What trying it has left there does not leave with a handout or a pack."""
    folder = f"{OUT}/with bets"
    shutil.copytree(EXAMPLE, folder)
    status, said = make("bet90", f"LABS={folder}")
    expect(status != 0 and "lab 90 has no bets" in said and said.count("\n") == 1, f"a lab without bets says so: {said.strip()}")
    change_list(folder, run="--measure_only")
    write(f"{folder}/labs/{LAB}/bets.json", json.dumps(BETS))
    status, said = run("sh", "-c", f"echo 3 | make --no-print-directory bet90 LABS='{folder}'")
    expect(status == 0 and "1 of 1 bets are made" in said, f"a bet is taken: {said.strip()[-100:]}")
    status, said = make("lab90", f"LABS={folder}")
    expect(status == 0 and "4 * P / MiB" in said and "weights" in said, f"and shown beside what was measured: {said.strip()[-100:]}")
    status, said = make("gradescope", "LAB=90", f"LABS={folder}", f"OUT={OUT}/pack")
    names = set(zipfile.ZipFile(f"{OUT}/pack/autograder.zip").namelist()) if status == 0 else set()
    expect({f"labs/{LAB}/bets.json", f"labs/{LAB}/tests.c", f"solutions/{LAB}/mean.c", f"grader/labs/{LAB}/probe.c"} <= names, f"a pack holds the lab: {said.strip()[-100:]}")
    expect(os.path.exists(f"{folder}/labs/{LAB}/my_bets90.json") and not any("my_bets" in name for name in names), "and not the author's bets")


def check_unfinished():
    """A lab that is being written is compiled, and says what it lacks."""
    folder = f"{OUT}/un finished"
    shutil.copytree(EXAMPLE, folder)
    os.unlink(f"{folder}/labs/{LAB}/tests.c")
    change_list(folder, points={"mean": 1})
    for name in FILES:
        write(f"{folder}/labs/{LAB}/{name}", "mine")
    status, said = make("grade90", f"LABS={folder}")
    expect(status != 0 and said == f"lab 90 has no labs/{LAB}/tests.c: nothing is graded\n", f"without checks: {said.strip()}")
    shutil.copy(f"{EXAMPLE}/labs/{LAB}/tests.c", f"{folder}/labs/{LAB}")
    os.rename(f"{folder}/grader/labs/{LAB}/probe.c", f"{folder}/probe.c")
    status, said = make("grade90", f"LABS={folder}")
    expect(status != 0 and said == f"lab 90 has no grader/labs/{LAB}/probe.c: nothing is graded\n", f"without a probe: {said.strip()}")
    change_list(folder, holes=[{"file": "maen.c", "functions": ["mean_forward"]}])
    status, said = make("stubs", f"LABS={folder}")
    expect(status != 0 and "maen.c, which lab.json names" in said, f"a mistyped name: {said.strip()[-160:]}")
    shutil.copy(f"{EXAMPLE}/labs/{LAB}/lab.json", f"{folder}/labs/{LAB}")
    change_list(folder, points={"mean": 1})
    status, said = make("stubs", f"LABS={folder}")
    kept = [read(f"{folder}/labs/{LAB}/{name}.kept-1") for name in FILES] if status == 0 else []
    expect(kept == ["mine", "mine"] and "TODO(" in read(f"{folder}/labs/{LAB}/mean.c"), f"stubs are cut, and what was there is kept: {said.strip()[-100:]}")


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
    check_refused()
    check_bets()
    check_unfinished()
    status, said = make("lab90", *words)
    expect(status == 0 and "lab 90 is compiled" in said, f"it is built: {said.strip()[-60:]}")
    check_graded(".", words)
    check_proof()
    check_wrong_tables()
    check_handed_in(".", words, EXAMPLE)
    check_handed_out(".", words, EXAMPLE)
    check_alike()
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
