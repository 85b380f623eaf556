#!/usr/bin/env python3
"""The Makefile: short, a folder for each set of settings, and of use before anything is installed. Ends with
`make: all good`.
"""
import glob
import os
import shutil

import expecting
from expecting import expect
from handout_test import make, read, run, write

OUT = os.path.abspath("build/make-test")
MOST_LINES = 150


def folder_of(*settings):
    return make("-s", "print-build", *settings)[1].strip()


def check_flavours():
    """Objects that are compiled otherwise lie elsewhere."""
    settings = [(), ("ARCH=-march=x86-64",), ("ARCH=",), ("CFLAGS=-DX",), ("CPPFLAGS=-DX",), ("LDFLAGS=-s",), ("CC=clang",), ("CC=/usr/bin/gcc",),
                ("OPT=-O0 -g",), ("OPT=-O0 -g3",), ("OPT=-O3 -g -funroll-loops",), ("DEBUG=1",), ("SAN=1",), ("CHECKED=1",), ("ACCESS=1",), ("TRAFFIC=1",),
                ("BLAS=none",)]
    folders = {words: folder_of(*words) for words in settings}
    expect(folders[()] == "build" and len(set(folders.values())) == len(settings), f"a folder for each: {sorted(folders.values())}")
    expect(folder_of("WERROR=1") == "build" and folder_of("V=1") == "build", "the same for what compiles the same")
    for switch in ("ACCESS", "CHECKED", "DEBUG", "SAN", "TRAFFIC"):
        expect(folder_of(f"{switch}=0") == "build", f"{switch}=0 is off")
    status, said = make("-s", "print-build", "CHECK=1")
    expect(status == 0 and said.strip().endswith(folders[("ACCESS=1",)]) and "ACCESS=1 now" in said, f"CHECK=1 says its new name: {said.strip()}")


def check_mistyped():
    """A lab's number that is none, and what was likely meant."""
    for words, text in ((("grade3",), "make grade3: a lab's number has two digits: make grade03"),
                        (("hint", "01", "TASK=2"), "make hint: a lab's number follows without a space: make hint00"),
                        (("lab99",), "make lab99: there is no such lab: make alone lists them"),
                        (("handout", "LAB=3"), "LAB=3: a lab's number has two digits: LAB=03"),
                        (("grade-all", "LAB=77", "IN=.", "OUT=none"), "LAB=77: there is no such lab: make alone lists them")):
        status, said = make(*words)
        expect(status == 2 and f"*** {text}.  Stop." in said and said.count("\n") == 1, f"{words}: {said.strip()[-120:]}")


def check_settings():
    """A setting that is mistyped: one line, with the setting or the option that make has made of it, and nothing is done."""
    for words, text in ((("handout", "LAB=00", "SOLUTIONS=all"), "SOLUTIONS=all: must be none"),
                        (("handout", "LAB=00", "HINTS=9"), "HINTS=9: must be one of 1 2 3"),
                        (("report", f"OUT={OUT}/none"), f"report: OUT={OUT}/none: there is no such folder")):
        status, said = make(*words)
        lines = [line for line in said.splitlines() if not line.startswith("make: ***")]
        expect(status == 2 and len(lines) == 1 and text in lines[0], f"{words}: {said.strip()[-160:]}")
    for words, text in ((("grade_all", "--lab", "00_bytes", "--in", ".", "--out", f"{OUT}/none", "--jobs", "x"), "grade-all: argument --jobs: invalid int value: 'x'"),
                        (("report", ".", "--nope"), "report: unrecognized arguments: --nope"),
                        (("table_ranks", "train", "makespan", "--ranks", "x"), "table-ranks: argument --ranks: invalid int value: 'x'"),
                        (("foreign", "--dir", ".", "--jobs", "x"), "foreign: argument --jobs: invalid positive value: 'x'")):
        status, said = run(f"tools/{words[0]}.py", *words[1:])
        expect((status, said) == (2, text + "\n"), f"{words[0]}: {said.strip()[-160:]}")
    expect(not os.path.exists(f"{OUT}/none"), "nothing is made")


def check_bare():
    """What a machine without Python can do: ask what there is, and have it installed."""
    tools = f"{OUT}/bin"
    os.makedirs(tools, exist_ok=True)
    for name in ("sh", "make", "sed", "uname", "gcc", "tr", "cksum", "cut", "find", "git", "printf", "echo", "env", "ls", "rm", "mkdir", "grep"):
        os.symlink(shutil.which(name), f"{tools}/{name}")
    run("git", "clone", "-q", ".", f"{OUT}/clone")
    status, said = run("env", f"PATH={tools}", "make", "--no-print-directory", folder=f"{OUT}/clone")
    expect(status == 0 and "make lab01" in said and "make setup" in said, f"help: {said.strip()[-80:]}")
    status, said = run("env", f"PATH={tools}", "make", "--no-print-directory", "-n", "setup", folder=f"{OUT}/clone")
    expect(status == 0 and "tools/setup.sh" in said, f"set-up: {said.strip()[-80:]}")
    status, said = run("env", f"PATH={tools}", "make", "--no-print-directory", "grade01", folder=f"{OUT}/clone")
    expect(status != 0 and "python3 is not installed: make setup" in said and said.count("\n") == 1, f"what is missing: {said.strip()[-80:]}")


def check_closed():
    """A folder of another's: make alone says what there is, and every goal is refused, each in its own words alone."""
    run("git", "clone", "-q", ".", f"{OUT}/closed")
    run("chmod", "-R", "a-w", f"{OUT}/closed")
    student = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.getuid() == 0 else ()
    status, said = run(*student, "make", "--no-print-directory", folder=f"{OUT}/closed")
    expect(status == 0 and said.startswith("Gradus: ") and "denied" not in said, f"help in a closed folder: {said.strip()[:80]}")
    status, said = run(*student, "make", "--no-print-directory", "grade00", folder=f"{OUT}/closed")
    expect(status == 2 and "closed/build cannot be written to: work in a copy" in said and said.count("\n") == 1, f"a goal there: {said.strip()[:160]}")
    run("chmod", "-R", "u+w", f"{OUT}/closed")


ENDINGS = """
good: ; @:
bad: ; @(echo 0 of 100; exit 3) $(told)
hole: ; @(exit 77) $(quiet77)
no_word: ; @$(call refuse,which one? it's not said)
within: ; @$(MAKE) bad
later: ; @echo later
broken: ; @exit 3
starts: ; @env -u MAKEFLAGS -u MAKELEVEL make -f {file} bad; echo it was $$?
.PHONY: good bad hole no_word within later broken starts
"""


def check_endings():
    """What fails has said why: make adds nothing, and its status is true."""
    file = f"{OUT}/ends.mk"
    write(file, f"MAKE += -f {file}\ncomma := ,\nin_quotes = '$(subst ','\\'',$1)'\n.DEFAULT_GOAL := good\ninclude common/front.mk\nifndef OUTER"
          + ENDINGS.replace("{file}", file) + "endif\n")
    for words, wanted, text in (((), 0, ""), (("good",), 0, ""), (("bad",), 1, "0 of 100\n"), (("hole",), 0, ""), (("no_word",), 1, "which one? it's not said\n"),
                                (("within",), 1, "0 of 100\n"), (("bad", "later"), 1, "0 of 100\nlater\n"), (("-k", "-j2", "bad", "good"), 1, "0 of 100\n"),
                                (("-s", "bad"), 1, "0 of 100\n"), (("bad", "quiet=question q"), 1, "0 of 100\n"),
                                (("starts",), 0, "0 of 100\nit was 1\n")):
        status, said = make("-f", file, *words)
        expect((status, said) == (wanted, text), f"make {' '.join(words)}: {status}, {said.strip()!r}")
    status, said = make("-f", file, "broken")
    expect(status != 0 and said.count("Error 3") == 1 and said.count("***") == 1, f"what says nothing is reported once: {said.strip()!r}")
    status, said = make("-f", file, "-n", "bad")
    expect(status == 0 and "echo 0 of 100; exit 3" in said, "make -n shows the commands, and none has failed")
    expect(not glob.glob("build/.ended-*") and not glob.glob("build/.steps-*"), "nothing is left behind")


def check_files():
    """A file or folder is a goal too, and of what make itself reads as well: nothing is to be done."""
    for goal in ("labs", "Makefile", "common/front.mk", "common/labs.mk", "tools/labs_mk.py", "labs/00_bytes/lab.json"):
        status, said = run("timeout", "20", "make", "--no-print-directory", goal)
        expect(status == 0 and said.count("\n") == 1 and "Nothing to be done" in said, f"make {goal}: {status}, {said.strip()[:80]!r}")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    lines = read("Makefile").count("\n")
    expect(lines <= MOST_LINES, f"the Makefile has {lines} lines, at most {MOST_LINES}")
    check_endings()
    check_files()
    check_flavours()
    check_mistyped()
    check_settings()
    check_bare()
    check_closed()
    expecting.end("make")


if __name__ == "__main__":
    main()
