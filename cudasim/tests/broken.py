#!/usr/bin/env python3
"""Proves that the simulator sees what it says it sees: runs cudasim/broken/*.cu.

    cudasim/tests/broken.py [--filter SUBSTR] [--part 1/2] [--mode fast,order,check] [--cc gcc,clang] [--table FILE]

Each program has one bug, on a line marked with its class; with -DMENDED it has none. A broken
program must be reported with that class and line by the fast or the check build, by the latter once, and a
mended one must run clean in every mode. Which mode saw what is printed as a table. Settings: JOBS=2.

Ends with a line `broken: N programs, all caught` or what failed, and status 1 then.
"""

import argparse
import concurrent.futures
import contextlib
import glob
import os
import re
import subprocess
import sys
from collections import namedtuple

FOLDER = "cudasim/broken"
OUT = "build/broken"
SCHEDULES = ("forward", "reverse", "random:1", "random:2")
MODES = ("fast", "order", "check")
STATUS = 86  # of a program about which something was reported
SECONDS = 20  # for one run
CLASSES = (
    "out-of-bounds access", "host access to device memory", "host pointer passed to a kernel",
    "host memory in a kernel", "null pointer", "misaligned access", "use after free", "double free",
    "invalid free", "uninitialized device memory", "uninitialized shared memory", "race",
    "barrier divergence", "undefined shuffle", "stack overflow", "launch failed", "unchecked error",
    "invalid copy", "invalid symbol", "timeout", "pending copy", "pending kernel", "stream race", "cuBLAS argument", "cuRAND argument", "unsupported",
    "undefined behaviour", "unseen write", "unseen read", "event misuse", "another thread's local",
    "overlapping arrays", "constant written", "uninitialized local", "graph misuse", "fragment misuse",
    "leak", "memory of another device", "memory of another rank", "deadlock", "collective mismatch", "NCCL argument", "NCCL misuse",
)

SPREAD = {"timeout", "uninitialized local"}  # what may be found on one of several lines

ASIDES = ("launched at", "address is", "the copy was begun")

Program = namedtuple("Program", "name file kind lines says more two clang_blind devices ordinary")
Run = namedtuple("Run", "status stdout reports stderr")
Report = namedtuple("Report", "kind text")


# ---- the programs --------------------------------------------------------------------------------

def read_program(path):
    """The marker stands at the end of the line it means, or alone on the line before. A loop that never
    ends may have it on several lines, since the time limit finds the block on any of them; so may a local
    variable, of which compilers name the declaration or the use."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    markers = []
    for number, line in enumerate(text.split("\n"), 1):
        for kind in re.findall(r"/\* expect: (.+?) \*/", line):
            markers.append((kind, number + line.strip().startswith("/* expect:")))
    kinds = {kind for kind, _ in markers}
    if len(kinds) != 1 or not kinds <= set(CLASSES) or (len(markers) > 1 and not kinds <= SPREAD):
        sys.exit(f"{path}: one marker /* expect: CLASS */ is wanted, with a class of cudasim/tests/broken.py")
    if not re.match(r"/\* \w", text):
        sys.exit(f"{path}: the first thing must be a comment that says what is wrong")
    return Program(os.path.basename(path)[:-3], path, markers[0][0],
                   [line for _, line in markers], re.findall(r"/\* says: (.+?) \*/", text),
                   "/* more reports follow */" in text, "/* two reports: " in text,
                   "/* clang: not seen */" in text,
                   "".join(re.findall(r"/\* devices: (\d+) \*/", text)) or "1",
                   "".join(re.findall(r"/\* ordinary build: (.+?) \*/", text)))


def find_programs(part):
    return [read_program(p) for p in sorted(glob.glob(f"{FOLDER}/*.cu")) if part in p]


# ---- compiling and running -----------------------------------------------------------------------

def binary(program, mended, cc, check):
    return f"{OUT}/{cc}-{'check' if check else 'fast'}/{program.name}{'.mended' if mended else ''}"


def compile_one(program, mended, cc, check):
    """Returns what the compiler said if it failed, or said anything about the program."""
    command = ["make", "-s", "--no-print-directory", "cu-build", f"FILE={program.file}", f"CC={cc}",
               f"OUT={binary(program, mended, cc, check)}"]
    command += ["ACCESS=1"] if check else []
    command += ["DEFINES=-DMENDED"] if mended else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0 and program.file not in done.stderr:
        return None
    return "\n".join(done.stderr.split("\n")[:12]) or "make failed"


def compiler_sees(program, said):
    """A local variable that was never set is known to the compiler: its warning is the report."""
    lines = "|".join(map(str, program.lines))
    warned = rf"{re.escape(program.file)}:({lines}):\d+: warning: .*uninitialized"
    return program.kind == "uninitialized local" and re.search(warned, said) is not None


def parse(stderr):
    reports = []
    for line in stderr.split("\n"):
        head = re.match(r"\[cudasim\] ([^:]+): ", line)
        if head and head[1] in CLASSES:
            reports.append(Report(head[1], line))
        elif line.startswith(" ") and reports:
            reports[-1] = Report(reports[-1].kind, reports[-1].text + "\n" + line)
    return reports


def run(path, schedule, program):
    env = dict(os.environ, CUDASIM_TIMEOUT="2", CUDASIM_SCHED=schedule)
    env.update({"CUDASIM_LEAKS": "1"} if program.kind == "leak" else {})
    env.update({"CUDASIM_DEVICES": program.devices} if program.devices != "1" else {})
    try:
        done = subprocess.run([path], capture_output=True, text=True, errors="replace", env=env,
                              timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Run("no end", "", [], "")
    return Run(done.returncode, done.stdout, parse(done.stderr), done.stderr)


# ---- judging -------------------------------------------------------------------------------------

def names_line(report, program):
    """Where the kernel was launched or the memory made is said too, but is not what is wrong."""
    lines = [line for line in report.text.split("\n") if not line.strip().startswith(ASIDES)]
    numbers = "|".join(map(str, program.lines))
    return re.search(rf"\b{program.name}\.cu:({numbers})\b", "\n".join(lines)) is not None


def judge(result, program, check):
    """What one run of the broken form showed: 'yes', '' or 'result'; and what is wrong with that."""
    if not result.reports:
        if result.status == "no end":
            return "", f"did not end within {SECONDS} s"
        if result.status == STATUS:
            return "", f"status {STATUS} without a report that could be read"
        if result.status not in (0, 1):
            return "", f"died with status {result.status}"
        return "result" if result.status == 1 else "", None
    if program.ordinary and not check:
        right = [r.kind for r in result.reports] == [program.ordinary]
        return "", None if right else f"expected {program.ordinary}, but: {result.stderr}"
    first = result.reports[:1] if program.more else result.reports
    strangers = [r for r in first if not names_line(r, program)]
    if strangers:
        return "", f"expected line {program.lines}, but: {strangers[0].text}"
    kinds = {r.kind for r in first}
    if program.kind not in kinds:
        return "", f"expected {program.kind}, but: {result.reports[0].text}"
    unsaid = [words for words in program.says if words not in first[0].text]
    if check and (unsaid or len(first) != 1 + program.two):
        return "", f"expected one report that says {unsaid}, but: {result.stderr}"
    if result.status != STATUS:
        return "", f"reported, but the status is {result.status}"
    return "yes", None


def try_broken(program, mode, cc):
    results = [run(binary(program, False, cc, mode == "check"), s, program)
               for s in (SCHEDULES if mode == "order" else SCHEDULES[:1])]
    if mode != "order":
        return judge(results[0], program, mode == "check")
    return "differs" if len({r.stdout for r in results}) > 1 else "", None


def try_mended(program, mode, cc):
    """What is wrong with the mended form, if anything."""
    outputs = set()
    for schedule in SCHEDULES[:1] if mode == "fast" else SCHEDULES:
        result = run(binary(program, True, cc, mode == "check"), schedule, program)
        outputs.add(result.stdout)
        if result.status != 0 or result.reports or "[cudasim]" in result.stderr:
            return f"status {result.status} ({schedule}): {result.stderr or result.stdout}"
    return None if len(outputs) == 1 else "its output depends on the schedule"


# ---- everything ----------------------------------------------------------------------------------

def test(program, modes, cc):
    """Compiles and runs both forms; returns what each mode saw, and what went wrong. Binaries of
    programs about which nothing is wrong are removed: all of them together take 3 GB."""
    seen, wrong = test_forms(program, modes, cc)
    for mended in () if wrong else (False, True):
        for check in (False, True):
            with contextlib.suppress(FileNotFoundError):
                os.remove(binary(program, mended, cc, check))
    return seen, wrong


def test_forms(program, modes, cc):
    seen, wrong, warned = {}, [], set()
    for mended in (False, True):
        for check in sorted({mode == "check" for mode in modes}):
            said = compile_one(program, mended, cc, check)
            if said and not mended and compiler_sees(program, said):
                warned.add(check)
            elif said:
                return seen, [f"{'mended' if mended else 'broken'}: does not compile: {said}"]
    for mode in modes:
        by_compiler = mode != "order" and (mode == "check") in warned
        seen[mode], trouble = ("yes", None) if by_compiler else try_broken(program, mode, cc)
        if trouble:
            wrong.append(f"{mode}: {trouble}")
        trouble = try_mended(program, mode, cc)
        if trouble:
            wrong.append(f"mended, {mode}: {trouble}")
    caught = any(seen.get(mode) == "yes" for mode in ("fast", "check"))
    blind = cc.startswith("clang") and program.clang_blind
    if not caught and not blind and set(modes) != {"order"} and "check" in modes:
        wrong.append("not caught")
    if caught and blind:
        wrong.append("is caught although it is marked as not seen")
    return seen, wrong


def test_all(programs, modes, compilers):
    """Yields program, compiler, what was seen, what went wrong."""
    jobs = int(os.environ.get("JOBS", "2"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for cc in compilers:
            # The first compilation makes the library, which the others must not do side by side.
            for check in sorted({mode == "check" for mode in modes}):
                os.makedirs(os.path.dirname(binary(programs[0], False, cc, check)), exist_ok=True)
                compile_one(programs[0], False, cc, check)
            for program, outcome in zip(programs, pool.map(lambda p: test(p, modes, cc), programs)):
                yield program, cc, *outcome


def cell(seen, program, mode, compilers):
    """One word for all compilers, or a word for each."""
    words = [seen[program.name, cc].get(mode, "") for cc in compilers]
    if len(set(words)) == 1:
        return words[0]
    return ", ".join(f"{word} ({cc})" for word, cc in zip(words, compilers) if word)


def table(programs, seen, modes, compilers):
    rows = [f"| Program | Class | {' | '.join(modes)} |", "|---" * (2 + len(modes)) + "|"]
    for p in programs:
        cells = [cell(seen, p, mode, compilers) for mode in modes]
        rows.append(f"| `{p.name}` | {p.kind} | {' | '.join(cells)} |")
    return "\n".join(rows)


def count(programs, seen, modes, compilers):
    lines = []
    for cc in compilers:
        parts = []
        for mode in modes:
            word = "differs" if mode == "order" else "yes"
            n = sum(seen[p.name, cc].get(mode) == word for p in programs)
            parts.append(f"{mode} {n}")
        lines.append(f"Seen with {cc}, of {len(programs)}: {', '.join(parts)}.")
    return "\n".join(lines)


PAGE = """# Which mode sees what {{#cudasim_table}}

Written by `cudasim/tests/broken.py --table`: do not edit. Each program in `cudasim/broken/` has one bug; the table
says which way of running it in the simulator (@ref cudasim) shows it. The same programs without their bug are reported by none.

- **fast**: the ordinary build. *yes*: reported with the class and the line; *result*: not reported, but the result is wrong.
- **order**: the ordinary build under the schedules {schedules}. *differs*: the output is not always the same.
- **check**: the build with `ACCESS=1`.

{counts}

{table}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--filter", default="", help="only programs with this in their path")
    parser.add_argument("--part", default="1/1", help="2/3: the second of three parts of the programs")
    parser.add_argument("--mode", default=",".join(MODES), help="fast,order,check")
    parser.add_argument("--cc", default="gcc,clang", help="compilers")
    parser.add_argument("--table", help="write the table to this file, as a page of the handbook")
    options = parser.parse_args()
    modes = [mode for mode in MODES if mode in options.mode.split(",")]
    compilers = options.cc.split(",")
    part, of = map(int, options.part.split("/"))
    programs = find_programs(options.filter)[part - 1::of]
    if not programs or not modes:
        sys.exit("broken: no program or mode of that name")

    seen, failed = {}, {}
    for program, cc, saw, wrong in test_all(programs, modes, compilers):
        seen[program.name, cc] = saw
        for trouble in wrong:
            failed[program.name] = True
            print(f"{program.name}, {cc}: {trouble}\n", flush=True)
    rows, counts = (f(programs, seen, modes, compilers) for f in (table, count))
    print(rows, counts, sep="\n\n")
    if options.table:
        with open(options.table, "w", encoding="utf-8") as file:
            file.write(PAGE.format(table=rows, counts=counts, schedules=", ".join(SCHEDULES)))
    if failed:
        print(f"broken: {len(programs)} programs, {len(failed)} wrong: {', '.join(failed)}")
        sys.exit(1)
    print(f"broken: {len(programs)} programs, all caught")


if __name__ == "__main__":
    main()
