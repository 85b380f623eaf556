#!/usr/bin/env python3
"""Two terms with random names: their solutions earn all points, the kit's own lose some to a message that names the task of
another term, their pages have their values and no others.

    grader/proof/terms_test.py terms [--seed N] [--labs 2] [--all]     two terms, in each that many labs at random; or all labs
    grader/proof/terms_test.py terms --every-value                     as many terms as draw each value of each constant once
    grader/proof/terms_test.py repositories                            what `make course-repo` leaves, and what it refuses

`make graders` comes first: of what a term leaves as it is, the objects are taken over.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys

import grader_proof

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import lab_files
import term_values
from making import apart

OUT = "build/terms"
TAKEN_OVER = ("obj", "gpu", "bin", "cu2cpp", "headers", "labs")
FAILED = []


def expect(right, what):
    if not right:
        FAILED.append(what)
        print(f"terms: {what}", flush=True)


def run(*command, **options):
    return subprocess.run(command, check=False, capture_output=True, text=True, errors="replace", env=apart(), **options)


# ---- one term ----------------------------------------------------------------------------------------

def take_over_objects(staff):
    """The objects of all that is the same in both trees: files keep their times, so make knows."""
    for build in ("build", "build/access"):
        os.makedirs(f"{staff}/{build}", exist_ok=True)
        for name in [name for name in TAKEN_OVER if os.path.exists(f"{build}/{name}")]:
            subprocess.run(["cp", "-a", "--reflink=auto", f"{build}/{name}", f"{staff}/{build}/"], check=True)


def make_staff(term):
    shutil.rmtree(f"{OUT}/{term}", ignore_errors=True)
    made = run("tools/course_repo.py", "--term", term, "--lab", lab_files.all_labs()[0], "--out", f"{OUT}/{term}",
               "--staff-only")
    if made.returncode:
        sys.exit(f"terms: {term} is not made: {made.stderr}")
    staff = os.path.abspath(f"{OUT}/{term}/staff")
    take_over_objects(staff)
    return staff


def build_grader(staff, lab):
    access = "ACCESS=1" if lab_files.has_cuda(lab) else "ACCESS="
    done = run("make", "--no-print-directory", "-s", "-j2", access, "graders-run", f"GRADED_LABS={lab}", cwd=staff)
    if done.returncode:
        sys.exit(f"terms: the grader of {lab} is not built: {(done.stdout + done.stderr)[-2000:]}")


def in_staff(staff, *words):
    done = run("grader/proof/grader_proof.py", *words, cwd=staff)
    return done.returncode == 0 and "0 passed" not in done.stdout, (done.stdout + done.stderr).strip()[-600:]


def pages_follow(term, staff, lab):
    """In the lines that the list names this term's value stands, and the kit's stands nowhere in what students read."""
    for name, constant in term_values.constants_of(lab).items():
        number = term_values.draws(term, lab)[name]
        read = [path for path in constant["lines"] if path.startswith(("labs/", "solutions/"))]
        expect(any(path.startswith("labs/") for path in read), f"{lab}: no page says what {name} is")
        for path in read:
            text = term_values.read(f"{staff}/{path}")
            for line in constant["lines"][path]:
                said = term_values.spelt(line, constant, number)
                expect(said in text, f"{term} {path} does not say '{said}'")
        new = {term_values.spelt(trace, constant, number) for trace in constant["traces"]}
        for path in [path for path in term_values.read_by_students(lab) if os.path.exists(f"{staff}/{path}")]:
            text = term_values.read(f"{staff}/{path}")
            for old in {term_values.spelt(trace, constant, 0) for trace in constant["traces"]} - new:
                expect(old not in text, f"{term} {path} still says '{old}'")


def former_loses(staff, lab):
    """The kit's own solution, graded by the term: it loses in each check that varies, and learns why."""
    folder = f"{staff}/build/former/{lab}"
    os.makedirs(folder, exist_ok=True)
    for file in lab_files.files_of(lab):
        with open(f"{folder}/{file}", "w", encoding="utf-8") as to:
            to.write(grader_proof.solution(lab, file))
    here = os.getcwd()
    os.chdir(staff)   # the grader names its files as from there
    try:
        record = grader_proof.grade(lab, folder)
    finally:
        os.chdir(here)
    lost = grader_proof.lost_rows(record)
    for name, constant in term_values.constants_of(lab).items():
        kept = [check for check in constant["checks"] if check not in lost]
        expect(not kept, f"{lab}: the solution of another {name} earns {kept}")
        words = f"the task of another term ({constant['values'][0]['says']})"
        expect(words in grader_proof.said_of(lost), f"{lab}: no check says '{words}': {grader_proof.said_of(lost)[:400]}")
    return f"{sum(row['points'] for row in lost.values()):g} points lost"


def try_lab(term, staff, lab):
    build_grader(staff, lab)
    pages_follow(term, staff, lab)
    right, told = in_staff(staff, "solutions", "--lab", lab[:2], "--seeds", "1")
    expect(right, f"{term} {lab}: its solution: {told}")
    right, told = in_staff(staff, "mutants", "--lab", lab[:2], "--only", "of_another_term")
    expect(right, f"{term} {lab}: mutants of another term: {told}")
    lost = former_loses(staff, lab)
    drawn = ", ".join(term_values.constants_of(lab)[name]["values"][number]["says"] for name, number in term_values.draws(term, lab).items())
    print(f"  {term} {lab}: {drawn}; the kit's own solution: {lost}", flush=True)


def a_name(chance):
    return f"t{chance.randrange(16 ** 6):06x}"


def two_terms(chance, options):
    """(term, labs to try)"""
    labs = term_values.labs_with_terms()
    for _ in range(2):
        term = a_name(chance)
        yield term, labs if options.all else sorted(chance.sample(labs, min(options.labs, len(labs))))


def terms_of_every_value(chance):
    """(term, labs to try) until each value that can be drawn has been: of many names always the one that brings most."""
    def values_of(term):
        return {(lab, name, number) for lab in term_values.labs_with_terms() for name, number in term_values.draws(term, lab).items()}

    left = {(lab, name, number) for lab in term_values.labs_with_terms() for name, constant in term_values.constants_of(lab).items()
            for number in range(1, len(constant["values"]))}
    names = [a_name(chance) for _ in range(1000)]
    while left:
        term = max(names, key=lambda each: len(values_of(each) & left))
        new = values_of(term) & left
        if not new:
            sys.exit(f"terms: none of {len(names)} names draws {sorted(left)}")
        left -= new
        yield term, sorted({lab for lab, _, _ in new})


def try_terms(options):
    chance = random.Random(options.seed)
    for term, labs in terms_of_every_value(chance) if options.every_value else two_terms(chance, options):
        staff = make_staff(term)
        expect(term_values.draws(term, labs[0]) == term_values.draws(term, labs[0]), "a term draws twice differently")
        for lab in labs:
            try_lab(term, staff, lab)
        shutil.rmtree(f"{OUT}/{term}")


# ---- repositories --------------------------------------------------------------------------------------

def refused(what, words, *command):
    done = run(*command)
    expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr and not done.stdout,
           f"{what}: status {done.returncode}, '{done.stdout}{done.stderr}'")


def commits(folder):
    return run("git", "-C", folder, "rev-list", "--count", "--all").stdout.strip()


def try_repositories(_):
    out, lab = f"{OUT}/repositories", lab_files.all_labs()[0]
    shutil.rmtree(out, ignore_errors=True)
    make = ("make", "--no-print-directory", "-s", "course-repo", f"LAB={lab[:2]}", f"OUT={out}")
    unnamed = run("env", "COURSE=2027s", *make)
    expect(unnamed.returncode == 2 and not os.path.exists(out), "the environment names a term")
    other = run("make", "-s", "report", "OUT=x", "COURSE=2027s")
    expect(other.returncode == 2 and "COURSE_FILE=" in other.stderr, f"COURSE= for another goal: {other.stderr}")
    made = run(*make, "COURSE=2027s")
    if made.returncode:
        sys.exit(f"terms: make course-repo: {made.stderr}")
    expect(not os.path.exists(f"{out}.new"), "something is left aside")
    for kind in ("staff", "students"):
        folder = f"{out}/{kind}"
        expect(commits(folder) == "1", f"{kind} has {commits(folder)} commits")
        expect(run("git", "-C", folder, "status", "--short").stdout == "", f"{kind} is not clean")
        expect(json.loads(term_values.read(f"{folder}/course.json")) == {"term": "2027s"}, f"{kind}: course.json")
    students = [os.path.join(place, name) for place, _, names in os.walk(f"{out}/students") for name in names]
    expect(not [path for path in students if path.endswith(term_values.LIST)], "students have a list of the values of other terms")
    expect(not os.path.exists(f"{out}/students/solutions"), "students of the first lab have a solution")
    checked = run("tools/term_values.py", "check", cwd=f"{out}/staff")
    expect(checked.returncode == 0, f"the staff's lists do not hold: {checked.stderr}")
    shown = {run("tools/term_values.py", "show", cwd=f"{out}/staff").stdout, run("tools/term_values.py", "show", "2027s").stdout,
             run("env", "COURSE=2026f", "tools/term_values.py", "show", cwd=f"{out}/staff").stdout}
    expect(len(shown) == 1 and len(shown.pop()) > 0, "the same term draws differently, or what the environment says")
    refused("a folder that is there", "exists", "tools/course_repo.py", "--term", "2027s", "--lab", lab, "--out", out)
    refused("a name with a slash", "not the name of a term", "tools/course_repo.py", "--term", "a/b", "--lab", lab,
            "--out", f"{out}-no")
    expect(not os.path.exists(f"{out}-no"), "a term that is refused leaves a folder")
    done = run("tools/course_repo.py", "--term", "2028s", "--lab", lab, "--out", os.path.abspath(f"{out}-no"),
               cwd=f"{out}/staff")
    expect(done.returncode == 2 and "repository of 2027s already" in done.stderr, f"a term of a term: {done.stderr}")
    shutil.rmtree(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("terms", "repositories"))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    parser.add_argument("--labs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="every lab")
    parser.add_argument("--every-value", action="store_true")
    options = parser.parse_args()
    print(f"terms: --seed {options.seed}", flush=True)
    (try_terms if options.what == "terms" else try_repositories)(options)
    print(f"terms: {'failed' if FAILED else 'all good'}")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
