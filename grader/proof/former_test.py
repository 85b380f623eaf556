#!/usr/bin/env python3
"""Hand-ins written for the former release earn today what they earned there.

    grader/proof/former_test.py [solutions] [variants] [attacks] [--lab 00,01] [--part 1/2]

They come out of the repository's history: solutions and variants earn full points, attacks none. Where a contract has
changed since, lab.json says so for that file (`changed`), and a check that is lost says that sentence. Ends with
`grader: N passed, N failed`. Programs must be built: `make graders`.
"""
import argparse
import glob
import io
import json
import os
import subprocess
import sys
import tarfile

import grader_proof as proof

FORMER = "b74ce47"
WORTH = {"01_loop": 60}   # where a lab has got more files: the points of those of that time
ROOT = "build/former"


def extract():
    """The former release's hand-ins, as git has them."""
    packed = subprocess.run(["git", "archive", FORMER, "solutions", "grader/mutants", "grader/attacks"],
                            capture_output=True, check=False)
    if packed.returncode != 0:
        print(f"former: left out, the history of this checkout has no {FORMER}")
        print("grader: 0 passed, 0 failed")
        sys.exit(0)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(ROOT, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(ROOT)


def former_solution(lab, name):
    """A file as it was handed in then: both parts stood in one file, under SOLUTION."""
    done = subprocess.run(["unifdef", "-x2", "-DSOLUTION", f"{ROOT}/solutions/{lab}/{name}"], text=True,
                          capture_output=True, check=False)
    return done.stdout


def edited(lab, block):
    return {block["file"]: proof.apply_edits(former_solution(lab, block["file"]), block["edits"])}


def changed(lab):
    """The sentences that files written for the former contract get."""
    with open(f"labs/{lab}/lab.json", encoding="utf-8") as file:
        return list(json.load(file).get("changed", {}).values())


def folder_of(lab, name, changed_files):
    """A hand-in of that time: it has the files that there were."""
    folder = proof.write_folder(lab, name, changed_files)
    for file in proof.files(lab):
        if not os.path.exists(f"{ROOT}/solutions/{lab}/{file}"):
            os.unlink(f"{folder}/{file}")
    return folder


def expect_points(lab, record):
    """Full points, or the one sentence that says what has changed. Files that are new since are not started, and what
    the others are worth is earned."""
    sentences = changed(lab)
    new = [file for file in proof.files(lab) if not os.path.exists(f"{ROOT}/solutions/{lab}/{file}")]
    lost = proof.lost_rows(record)
    if new and not sentences:
        other = [name for name, row in lost.items() if row["state"] != "not started" or new[0] not in row["message"]]
        return f"loses {other}" if other or not lost or record["score"] < WORTH.get(lab, 100) else None
    if not sentences:
        return proof.all_points(record)
    said = proof.said_of(proof.lost_rows(record))
    if any(sentence in said for sentence in sentences):
        return None
    return f"the contract has changed, and this is said: {said[:300]}"


def expect_nothing(attack):
    folder = proof.write_folder(attack["lab"], "attack_" + attack["name"], {attack["file"]: attack["text"]})
    rows = proof.grade(attack["lab"], folder)["rows"].values()
    stolen = sorted({row["name"] for row in rows if row["earned"] > 0} - set(attack["honest"]))
    return f"earns {stolen}" if stolen else None


def read_attack(path):
    """Its parts are named as from the root of that release."""
    here = os.getcwd()
    os.chdir(ROOT)
    try:
        return proof.read_attack(os.path.relpath(path, ROOT))
    finally:
        os.chdir(here)


def cases(kinds, labs):
    found = []
    for lab in labs:
        if "solutions" in kinds:
            found.append((f"{lab} solution", lambda lab=lab: expect_points(
                lab, proof.grade(lab, folder_of(lab, "solution", {})))))
        if "variants" in kinds:
            found += [(f"{lab} {block['name']}", lambda lab=lab, block=block: expect_points(
                lab, proof.grade(lab, folder_of(lab, block["name"], edited(lab, block)))))
                for block in proof.read_table(f"{ROOT}/grader/mutants/{lab}/lab.variants")]
    if "attacks" in kinds:
        attacks = [read_attack(path) for path in sorted(glob.glob(f"{ROOT}/grader/attacks/*.c"))]
        found += [(f"attack {attack['name']}", lambda attack=attack: expect_nothing(attack)) for attack in attacks
                  if attack["lab"] in labs]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kinds", nargs="*", default=[], help="solutions, variants, attacks; all of them if none is named")
    parser.add_argument("--lab", help="numbers, with commas between")
    parser.add_argument("--part", default="1/1", help="2/3: the second of three parts of the cases")
    options = parser.parse_args()
    extract()
    proof.OUT, proof.solution = "build/proof/former", former_solution
    numbers = options.lab.split(",") if options.lab else None
    labs = [lab for lab in sorted(os.listdir(f"{ROOT}/solutions")) if not numbers or lab[:2] in numbers]
    failed = 0
    part, count = map(int, options.part.split("/"))
    tried = cases(options.kinds or ["solutions", "variants", "attacks"], labs)[part - 1::count]
    for name, run in tried:
        wrong = run()
        failed += wrong is not None
        if wrong:
            print(f"FAIL {name}: {wrong}")
    print(f"grader: {len(tried) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
