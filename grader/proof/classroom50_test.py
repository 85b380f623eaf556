#!/usr/bin/env python3
"""What `make classroom50` packs, in a checkout as its runner has it: solutions, a stub, a changed judge, a link, no runner.

Works in build/classroom50-test. Ends with `classroom50: all good`.
"""
import json
import os
import shutil
import subprocess
import sys

import jsonschema

import expecting
import grader_proof as proof
from expecting import expect
from export_test import RUNNER

LAB = "00_bytes"
OUT = os.path.abspath("build/classroom50-test")
PACK, CHECKOUT = f"{OUT}/autograders/lab-00", f"{OUT}/checkout"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(said):
    """(exit status, result.json or None)"""
    path = f"{CHECKOUT}/result.json"
    if os.path.exists(path):
        os.unlink(path)
    done = subprocess.run([sys.executable, f"{PACK}/autograder.py"], cwd=CHECKOUT, env=os.environ | said, capture_output=True, text=True, check=False)
    if not os.path.exists(path):
        return done.returncode, None, done.stdout + done.stderr
    with open(path, encoding="ascii") as file:
        return done.returncode, json.load(file), done.stdout + done.stderr


def expect_result(what, score):
    status, result, said = run(RUNNER)
    expect(status == 0 and result and result["score"] == score and result["max-score"] == 100, f"{what}: {result and result['score']} points{'' if result else said[-400:]}")
    if result:
        with open("grader/schemas/classroom50.json", encoding="utf-8") as file:
            jsonschema.validate(result, json.load(file), cls=jsonschema.Draft202012Validator)
        expect(len(result["tests"]) == 10 and result["owner"] == "student-1", f"{what}: a test for each check")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    done = subprocess.run(["make", "-s", "classroom50", f"LAB={LAB[:2]}", f"OUT={PACK}"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and sorted(os.listdir(PACK)) == [f"{LAB}.tar.gz", "autograder.py", "grade.yml", "runtime.json"], f"packed: {done.stderr.strip()}")
    name = f"{CHECKOUT}/labs/{LAB}/bytes.c"
    write(name, proof.solution(LAB, "bytes.c"))
    write(f"{CHECKOUT}/Makefile", "grade00:\n\techo forged\n")
    write(f"{CHECKOUT}/tools/export.py", "raise SystemExit('forged')\n")
    expect_result("the solution, with a Makefile and an export that are the student's", 100)
    os.rename(name, f"{CHECKOUT}/elsewhere.c")
    os.symlink("../../elsewhere.c", name)
    status, result, said = run(RUNNER | {"OWNER": ""})
    expect(f"labs/{LAB}/bytes.c is not a file of at most 1 MiB: the stub is graded" in said and " 0 of 100 points" in said, "a link in place of the file: the stub is graded")
    expect(status == 2 and result is None and "OWNER is not set" in said, f"without a runner there is no result: {said[-120:].strip()}")
    expecting.end("classroom50")


if __name__ == "__main__":
    main()
