#!/usr/bin/env python3
"""Makes each mistake of grader/proof/kit/*.mutants in a copy of the tree, and expects the tests that it names to fail.

    grader/proof/kit_mutants.py [NAME ...] [--part 2/3]     all, those named, every third
    grader/proof/kit_mutants.py --check       builds nothing: does the table fit the sources, and name enough tests?

Only what a mistake touches is compiled again. Ends with a line `kit mutants: N killed, N survived` and status 1 if one survived.
Leave the checkout as it is while this runs: its build is the good one.
"""
import argparse
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

TABLES = "grader/proof/kit/*.mutants"
COPY = "build/mutants"
LOG = "build/mutants.log"
SOURCES = ("Makefile", "kernels", "common", "train", "cudasim", "grader", "solutions", "labs", "machines", "tools")
BUILT = ("build/obj", "build/gpu", "build/lab", "build/absent", "build/labs*", "build/bin", "build/*.a", "build/cu2cpp")
TARGET = "build/bin/unit"  # and the programs that its tests start
NAMED = 0.75  # of the unit tests, at least
SECONDS = 600  # for the tests of one mutant


def read_tables():
    mutants = []
    for path in sorted(glob.glob(TABLES)):
        with open(path, encoding="utf-8") as table:
            for line in table:
                head = re.match(r"\[(\w+)\] (.+) (\S+)$", line)
                if head:
                    mutants.append({"name": head[1], "tests": head[2].split(), "file": head[3]})
                elif line.startswith(("- ", "+ ")):
                    if line[0] in mutants[-1]:
                        sys.exit(f"{path}: {mutants[-1]['name']}: one line each, this has two of {line[0]}")
                    mutants[-1][line[0]] = line[2:].strip()
    return mutants


# ---- does the table fit the sources? ----------------------------------------------------------


def unit_tests():
    """{suite/test: the file that has it}"""
    tests = {}
    for path in glob.glob("**/*_test.c", recursive=True):
        if not path.startswith("build/"):
            with open(path, encoding="utf-8") as file:
                for suite, test in re.findall(r"^Test\((\w+),\s*(\w+)", file.read(), re.MULTILINE):
                    tests[f"{suite}/{test}"] = path
    return tests


def place_of(mutant):
    """Lines of its file, and which one it changes. The same line may occur more than once: the last place is the one that is meant."""
    with open(mutant["file"], encoding="utf-8") as file:
        lines = file.read().split("\n")
    places = [i for i, line in enumerate(lines) if line.strip() == mutant["-"]]
    return lines, places[-1] if places else None


def problems(mutants, tests):
    names = [mutant["name"] for mutant in mutants]
    for mutant in mutants:
        name = mutant["name"]
        if names.count(name) > 1:
            yield f"{name}: the name is taken"
        for test in mutant["tests"]:
            if test not in tests:
                yield f"{name}: there is no test {test}"
        if not os.path.exists(mutant["file"]):
            yield f"{name}: there is no file {mutant['file']}"
        elif place_of(mutant)[1] is None:
            yield f"{name}: its line is not in {mutant['file']}"
        elif mutant["-"] == mutant["+"]:
            yield f"{name}: it changes nothing"
    named = {test for mutant in mutants for test in mutant["tests"]} & set(tests)
    for path in sorted(set(tests.values()) - {tests[test] for test in named}):
        yield f"{path}: no test of it is named by a mutant"
    if len(named) < NAMED * len(tests):
        yield f"only {len(named)} of {len(tests)} tests are named by a mutant"
    print(f"kit mutants: {len(mutants)} name {len(named)} of {len(tests)} tests")


# ---- making mistakes ----------------------------------------------------------------------------


def make_copy():
    """Times are kept, so that make finds the copy as finished as the checkout."""
    shutil.rmtree(COPY, ignore_errors=True)
    for path in [path for pattern in SOURCES + BUILT for path in glob.glob(pattern)]:
        to = os.path.join(COPY, path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        (shutil.copytree if os.path.isdir(path) else shutil.copy2)(path, to)


def make(where, log):
    return subprocess.run(["make", "-s", "-j2", TARGET], cwd=where, stdout=log, stderr=log, check=False).returncode == 0


MARK = {"KIT_MUTANTS": str(os.getpid())}  # in the environment of all that tests start


def end_leftovers():
    """A test that its time limit ends leaves behind what it has started: that would go on with the next mutant's programs."""
    mark = b"KIT_MUTANTS=" + MARK["KIT_MUTANTS"].encode()
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as variables:
                if mark in variables.read().split(b"\0"):
                    os.kill(int(path.split("/")[2]), signal.SIGKILL)
        except OSError:  # it has ended, or is another user's
            continue


def failing(tests, log):
    """Those of the tests that fail in the copy."""
    environment = dict(os.environ, OMP_NUM_THREADS="2", **MARK)
    command = [TARGET, "--filter", f"@({'|'.join(tests)})"]
    try:
        result = subprocess.run(
            command, cwd=COPY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False
        )
    finally:
        end_leftovers()
    text = result.stdout.decode("utf-8", "replace")
    log.write(text)
    return {f"{suite}/{test}" for suite, test in re.findall(r"\[FAIL\] (\w+)::(\w+)", text)}


def restore(mutant, built):
    """The source and all that was built of it, from the checkout; in new files, since a program that still runs cannot be written over."""
    changed = [path for path, time in built.items()
               if not os.path.exists(os.path.join(COPY, path)) or os.path.getmtime(os.path.join(COPY, path)) != time]
    for path in [mutant["file"], *changed]:
        shutil.copy2(path, os.path.join(COPY, "restored"))
        os.replace(os.path.join(COPY, "restored"), os.path.join(COPY, path))


def built_files():
    found = {}
    for folder, _, files in os.walk(os.path.join(COPY, "build")):
        for file in files:
            path = os.path.join(folder, file)
            found[os.path.relpath(path, COPY)] = os.path.getmtime(path)
    return found


def outcome(mutant, built, log):
    lines, place = place_of(mutant)
    lines[place] = mutant["+"]
    with open(os.path.join(COPY, mutant["file"]), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    try:
        if not make(COPY, log):
            return "does not compile"
        alive = set(mutant["tests"]) - failing(mutant["tests"], log)
        return "unseen by " + " ".join(sorted(alive)) if alive else "killed"
    except subprocess.TimeoutExpired:
        return "does not end"
    finally:
        restore(mutant, built)


def run(mutants, log):
    if not make(".", log):
        sys.exit(f"kit mutants: the tree itself does not build ({LOG})")
    make_copy()
    built = built_files()
    tests = sorted({test for mutant in mutants for test in mutant["tests"]})
    red = failing(tests, log)
    if red or not make(COPY, log) or built_files() != built:
        sys.exit(f"kit mutants: the copy is not as good as the tree: {' '.join(sorted(red))} ({LOG})")
    alive = []
    for mutant in mutants:
        result = outcome(mutant, built, log)
        print(f"  {result:<9} {mutant['name']:<34} {' '.join(mutant['tests'])}", flush=True)
        if result != "killed":
            alive.append(f"\n    {mutant['name']}: {result}")
    print(f"kit mutants: {len(mutants) - len(alive)} killed, {len(alive)} survived" + "".join(alive))
    return 1 if alive else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="every N-th mutant, from the K-th on")
    parser.add_argument("--check", action="store_true", help="build nothing")
    options = parser.parse_args()
    mutants, names = read_tables(), options.names
    part, parts = map(int, options.part.split("/"))
    wrong = list(problems(mutants, unit_tests()))
    for problem in wrong:
        print(f"kit mutants: {problem}", file=sys.stderr)
    if options.check:
        sys.exit(1 if wrong else 0)
    mutants = [mutant for mutant in mutants if not names or mutant["name"] in names][part - 1::parts]
    with open(LOG, "w", encoding="utf-8") as log:
        status = run(mutants, log)
    sys.exit(status or (1 if wrong and not names else 0))


if __name__ == "__main__":
    main()
