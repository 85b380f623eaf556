#!/usr/bin/env python3
"""Makes each mistake of grader/mutants/kit/kit.mutants in a copy of the tree, and expects its test to fail.

    tools/kit_mutants.py [NAME ...]

Ends with a line `kit mutants: N killed, N survived` and status 1 if one survived.
"""

import os
import re
import shutil
import subprocess
import sys

TABLE = "grader/mutants/kit/kit.mutants"
COPY = "build/mutants"
PARTS = ("Makefile", "kernels", "common", "grader", "solutions", "labs", "tools", "docs", "README.md")


def read_table():
    mutants, current = [], None
    with open(TABLE, encoding="utf-8") as table:
        for line in table:
            head = re.match(r"\[(\w+)\] (\S+) (\S+)$", line)
            if head:
                current = {"name": head[1], "test": head[2], "file": head[3]}
                mutants.append(current)
            elif line.startswith(("- ", "+ ")):
                current[line[0]] = line[2:].strip()
    return mutants


def mutate(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    places = [i for i, line in enumerate(lines) if line.strip() == old]
    if not places:
        return None
    # The same line may occur more than once: the last place is the one that is meant.
    lines[places[-1]] = new
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return text


def run(command, log):
    return subprocess.run(command, cwd=COPY, stdout=log, stderr=log, check=False).returncode


def build(log):
    return run(["make", "-s", "-j2", "build/bin/unit", "build/bin/train"], log)


def outcome(mutant, log):
    path = os.path.join(COPY, mutant["file"])
    original = mutate(path, mutant["-"], mutant["+"])
    if original is None:
        return "its line is not in the file"
    try:
        if build(log) != 0:
            return "does not compile"
        os.environ["OMP_WAIT_POLICY"] = "passive"
        status = run(["build/bin/unit", "--filter", mutant["test"]], log)
        return "survived" if status == 0 else "killed"
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(original)


def main():
    mutants = [m for m in read_table() if not sys.argv[1:] or m["name"] in sys.argv[1:]]
    shutil.rmtree(COPY, ignore_errors=True)
    os.makedirs(COPY)
    for part in PARTS:
        if os.path.isdir(part):
            shutil.copytree(part, os.path.join(COPY, part))
        elif os.path.exists(part):
            shutil.copy(part, COPY)
    results = {}
    with open("build/mutants.log", "w", encoding="utf-8") as log:
        if build(log) != 0:
            sys.exit("kit mutants: the tree itself does not build (build/mutants.log)")
        for mutant in mutants:
            result = outcome(mutant, log)
            results[mutant["name"]] = result
            print(f"  {result:<9} {mutant['name']:<34} {mutant['test']}", flush=True)
    alive = [name for name, result in results.items() if result != "killed"]
    print(f"kit mutants: {len(results) - len(alive)} killed, {len(alive)} survived" + "".join(f"\n    {name}" for name in alive))
    sys.exit(1 if alive else 0)


if __name__ == "__main__":
    main()
