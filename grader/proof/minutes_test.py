#!/usr/bin/env python3
"""A student's first minutes, in a handout without solutions: what each target prints, how it ends, and what `make` says of the
labs afterwards. Ends with `minutes: all good`. With `docs` as its argument it looks at `make docs` and `make demo` alone, with
`needs` at what each lab.json says that a lab needs of others.

Works in build/minutes-test, in a handout that is given the objects of this build, so that little is compiled.
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import sys
import time

import expecting
import grader_proof as proof   # which finds tools/
import lab_files
from expecting import expect
from handout_test import give_objects, make, read, run, write
from making import apart

OUT = os.path.abspath("build/minutes-test")
KIT = f"{OUT}/kit"
BYTES = f"{KIT}/labs/00_bytes/bytes.c"
SECONDS = 90   # for what is done at a terminal

# ---- what may be said ---------------------------------------------------------------------------------

BUILD = (r"  (compile|archive|link   ) \S+", r"The first build takes a minute or two: \d+ steps\. Later ones take seconds\.")
HOLE = r"\S+\.cu?:\d+: TODO: task \d+.*"
GRADE = (r"Lab \d\d_\w+, from \S+", r"  \w+ +[\d.]+/\d+ +[a-z ]+ [\d.]+ s   .*", rf"        (needs lab \d\d: )?{HOLE}", r"Sandbox: .*",
         r"Inputs:  SEED=[0-9a-f]{16}", r"Score:   [\d.]+ of \d+ points")
DEBUG = (r"Type:   break \w+.*, run; then .*", r"Here:   the program of the check \w+.*", r"Leave:  quit", r"\(gdb\) ?")
BETS = r"Bets: measured after task \d\. make bet\d\d asks for \d numbers before that\."
WAITS = r"lab \d\d runs with your lab \d\d, and labs/\S+ has \d tasks? to do: make lab\d\d"


def expect_quiet(words, status, *patterns):
    """Each line is one that is meant, and the status is true. Returns them, without those of the build."""
    ended, said = make(*words, folder=KIT)
    lines = [line for line in said.splitlines() if line and not any(re.fullmatch(pattern, line) for pattern in BUILD)]
    odd = [line for line in lines if not any(re.fullmatch(pattern, line) for pattern in patterns)]
    expect(ended == status and lines and not odd, f"make {' '.join(words)}: status {ended}, and nothing that is not meant {odd[:3]}")
    return lines


def check_targets():
    """Every target of a student who has written nothing yet."""
    said = make(folder=KIT)[1]
    expect("Next: labs/00_bytes/README.md" in said and "find:" not in said and said.count("not started") == 4, f"make says where to begin: {said[-90:]}")
    expect_quiet(("lab00",), 0, HOLE, BETS, "Device: .*")
    for number in ("01", "02", "03"):
        expect_quiet((f"lab{number}",), 0, WAITS)
    expect_quiet(("train",), 0, HOLE, "Device: .*")
    for number in ("00", "01", "03"):
        lines = expect_quiet((f"grade{number}",), 1, *GRADE)
        expect(lines[-1] == "Score:   0 of 100 points", f"the score comes last: {lines[-1]}")
        expect_quiet((f"hint{number}", "TASK=1"), 0, r"(?!.*(\*\*\*|find: |make: )).*")
        expect_quiet((f"reset{number}",), 0, "labs/.*: is the stub already")
        expect_quiet((f"handin{number}", "NAME=anna"), 1, "handin: labs/.* is still the stub", "handin: nothing is packed; ANYWAY=1 packs it as it is")
        expect_quiet((f"watch{number}",), 1, rf"watch: this needs a terminal; make grade{number} grades once")
    for number, check, function in (("00", "block_plain", "bytes_block"), ("01", "tells_clip", "test_clip"), ("03", "by_hand", "share_of")):
        lines = expect_quiet((f"debug{number}", f"CHECK={check}"), 0, *DEBUG) if shutil.which("gdb") else []
        expect(not lines or len(lines) == 4 and f"break {function}" in lines[0], f"three lines, and gdb waits: {lines[:1]}")
    expect_quiet(("loops01",), 0, HOLE, "        clip        zero        mean        rate        no_targets")


def check_refused():
    """What cannot be done: one line of the program's own, and not success."""
    for words, text in ((("hint00", "TASK=9"), "lab 00 has no task 9; make hint00 TASK=n, for n in: 1 2 3 4 5"), (("debug00",), r"which check\? make debug00 CHECK=name, for name in: params .*"),
                        (("grade00", "CHECK=nix"), "grade: there is no check nix; there are params .*"),
                        (("debug00", "CHECK=nix"), "grade: there is no check nix; there are params .*"),
                        (("reset00", "FILE=x.c"), "reset: lab 00_bytes has no file x.c, but: bytes.c"),
                        (("lab00", "ARGS=--nix"), ".*nix.*")):
        expect_quiet(words, 1, text)
    expect_quiet(("grade00", "FROM=missing"), 2, r"Makefile:\d+: \*\*\* FROM=missing: there is no such folder\.  Stop\.")
    expect_quiet(("grade00", "hint00", "TASK=9"), 1, *GRADE, "lab 00 has no task 9; .*")


def state(lab):
    line = next(line for line in make(folder=KIT)[1].splitlines() if line.split()[:1] == [lab])
    return line.split("points")[1].strip()


def check_changed():
    """Points are those of the file that was graded: `make` says where it is another one now."""
    stub = read(BYTES)
    write(BYTES, proof.solution("00_bytes", "bytes.c"))
    expect(state("00_bytes") == "changed since 0/100", f"after an edit: {state('00_bytes')}")
    status, said = make("grade00", folder=KIT)
    expect(status == 0 and said.endswith("Score:   100 of 100 points\n") and state("00_bytes") == "done", f"graded: {state('00_bytes')}")
    os.utime(BYTES)
    expect(state("00_bytes") == "done", "a file that is saved as it was has not changed")
    make("reset00", folder=KIT)
    expect(read(BYTES) == stub and state("00_bytes") == "changed since 100/100", f"a stub is never done: {state('00_bytes')}")
    expect_quiet(("lab01",), 0, WAITS)


def check_half_done():
    """`make lab00` shows what is predicted already."""
    stub, solution, task = read(BYTES), proof.solution("00_bytes", "bytes.c"), "size_t bytes_activations("
    write(BYTES, solution.split(task)[0] + task + stub.split(task)[1])
    lines = expect_quiet(("lab00",), 0, BETS, "Device: .*", "So far +counted +predicted .bytes.", r"  (weights|gradients|optimizer) +(\d+) +\2", HOLE)
    expect(len([line for line in lines if line.startswith("  ")]) == 3 and "task 4" in lines[-1], f"three kinds, and the hole: {lines[-1:]}")
    write(BYTES, stub)


def check_endless():
    """A loop that does not end: the line on which it is, and after two of them nobody waits as long for another."""
    stub, solution, begins = read(BYTES), proof.solution("00_bytes", "bytes.c"), "size_t bytes_block("
    before, after = solution.split(begins)
    signature, body = after.split("{\n", 1)
    loop = f"{before}{begins}{signature}{{\n"
    write(BYTES, f"{loop}    for (volatile int i = 0; i < 1;) {{\n    }}\n{body}")
    started = time.monotonic()
    status, said = make("grade00", "SIDE_BY_SIDE=2", folder=KIT)
    took = time.monotonic() - started
    told = re.findall(r"not finished after ([\d.]+) s(, a quarter of its time, since two runs before it did not end)?; it was at bytes\.c:(\d+) \(bytes_block\)", said)
    full, part = ([float(row[0]) for row in told if bool(row[1]) == hurried] for hurried in (False, True))
    expect(status == 1 and said.count("timeout") == len(told) > 3, f"each says where it was: {said.count('timeout')}, {len(told)}, {said[-300:]}")
    expect(2 <= len(full) <= 3 and all(seconds == full[0] / 4 for seconds in part), f"two wait for all of their time: {full} {part}")
    expect(took < sum(full) + sum(part), f"{took} s")
    expect({int(row[2]) - loop.count("\n") for row in told} <= {1, 2}, f"the line is that of the loop: {told[:1]}")
    write(BYTES, stub)


# ---- at a terminal ------------------------------------------------------------------------------------

def at_terminal(words, steps):
    """Runs make at a terminal of its own. Of steps, (a text, what to do with the terminal once it has come), each waits for the
    one before. Returns (exit status, everything that was shown)."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(KIT)
        signal.signal(signal.SIGINT, signal.SIG_DFL)   # a shell starts what runs in the background deaf to it
        os.execvpe("make", ["make", *words], apart())
    said, seen, until = "", 0, time.monotonic() + SECONDS
    while time.monotonic() < until:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                said += os.read(terminal, 1 << 16).decode(errors="replace")
            except OSError:
                break
        if steps and steps[0][0] in said[seen:]:
            seen = len(said)
            steps.pop(0)[1](terminal)
    else:
        os.write(terminal, b"\x03")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def saves(text):
    return lambda _: write(BYTES, text)


def presses(key):
    return lambda terminal: os.write(terminal, key)


def check_watch():
    """Edits, one that does not compile among them, and how it ends."""
    stub, solution = read(BYTES), proof.solution("00_bytes", "bytes.c")
    wrong = solution.replace("15 *", "16 *")
    status, said = at_terminal(["watch00"], [(" points", saves(solution)), (" points", saves(wrong)), (" points", saves("int x;\n")),
                                             ("take it out", saves(solution)), (" points", presses(b"q"))])
    scores = re.findall(r"Score: (\d+) of 100", said)
    expect(status == 0 and scores[:2] == ["0", "100"] and scores[3:] == ["100"], f"each save is graded: {status}, {scores}")
    expect(re.search(r"\+15  params +pass", said) and re.search(r"-10  block_plain +fail +likely: ", said), "what is gained, what is lost, and why")
    expect("***" not in said and "The end." in said, f"nothing else is said: {said[-60:]!r}")
    status, said = at_terminal(["watch00", "CHECK=params"], [("grading", presses(b"\x03"))])
    expect(status == 0 and "***" not in said and "Interrupt" not in said, f"Ctrl-C ends it while it grades: {status}, {said[-60:]!r}")
    expect(run("sh", "-c", "ls -d build/.ended* build/.steps*", folder=KIT)[0] != 0, "nothing is left behind")
    write(BYTES, stub)


def check_grading():
    """On a terminal a line counts the checks that are over, and is gone before the table comes."""
    write(BYTES, proof.solution("00_bytes", "bytes.c"))
    status, said = at_terminal(["grade00"], [])
    counted = [tuple(map(int, found)) for found in re.findall(r"grading: (\d+) of (\d+)\r", said)]
    expect(status == 0 and counted and counted == sorted(counted) and counted[-1][0] <= counted[0][1] == said.count(" pass "), f"it counts: {counted[:2]} {counted[-2:]}")
    expect("\x1b[KLab 00_bytes" in said.replace("\r", ""), f"and its line goes: {said[:200]!r}")
    make("reset00", folder=KIT)


def check_progress():
    """On a terminal a build is one line, which its last step clears; what a compiler says stays."""
    shutil.rmtree(f"{KIT}/build/obj/train", ignore_errors=True)
    write(BYTES, read(BYTES) + "static int nobody;\n")
    status, said = at_terminal(["lab00"], [])
    steps = [tuple(map(int, found)) for found in re.findall(r"building: (\d+) of (\d+), \d+ %\r", said)]
    expect(status == 0 and len(steps) > 1 and steps == [(k + 1, steps[0][1]) for k in range(steps[0][1] - 1)], f"it counts up: {steps[:2]} {steps[-2:]}")
    expect("compile" not in said and "\x1b[K" in said and "bytes.c" in said and "nobody" in said, f"and its line goes: {said[-100:]!r}")
    make("reset00", folder=KIT)


# ---- by an argument -----------------------------------------------------------------------------------

def check_docs():
    expect_quiet(("docs",), 0, r"  draw +[\w-]+\.svg", rf"  no picture of [\w-]+ yet: .*({HOLE}|needs lab \d\d.*)", r"links: \d+ followed in \d+ pages, 0 broken", "build/docs/html/index.html")
    expect_quiet(("demo-run",), 0, HOLE, "Device: .*", "Training waits for that lab: .*", "Batch 8 on cpu",
                 r"\d+ runs, \d+ sequences each", r" +time  samples/s .*", rf"\S.*  {HOLE}", r"\S.*  needs lab \d\d .*", r"\* the CPU .*")


def check_needs():
    """With stubs in all other labs, these checks wait for one of those that lab.json names, and no others."""
    for lab in proof.labs():
        needs = lab_files.read_lab(lab).get("needs", {})
        make(f"grade{lab[:2]}", "FROM=solutions", "OWN=1")
        rows = json.loads(read(f"build/grades/other-{lab}.json"))["checks"]
        waits = {row["name"]: re.match(r"needs lab (\d\d): ", row["message"]) for row in rows if row["state"] == "not started"}
        expect(waits.keys() == needs.keys(), f"lab {lab[:2]}: {len(waits)} checks wait for other labs {sorted(waits.keys() ^ needs.keys())}")
        expect(all(said and said[1] in [other[:2] for other in needs.get(name, [])] for name, said in waits.items()), "and say for which")


def main():
    what = sys.argv[1:]
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    if what == ["needs"]:
        check_needs()
    else:
        status, said = make("handout", "LAB=03", f"OUT={KIT}", "SOLUTIONS=none")
        expect(status == 0, f"the handout is cut: {said.strip()[-80:]}")
        give_objects(KIT)
        for check in [check_docs] if what == ["docs"] else [check_targets, check_refused, check_half_done, check_changed, check_endless, check_watch, check_grading, check_progress]:
            check()
    expecting.end("minutes")


if __name__ == "__main__":
    main()
