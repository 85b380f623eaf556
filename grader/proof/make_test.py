#!/usr/bin/env python3
"""The Makefile: short, a folder for each set of settings, and of use before anything is installed. Ends with
`make: all good`.
"""
import os
import shutil

import expecting
from expecting import expect
from handout_test import make, read, run

OUT = os.path.abspath("build/make-test")
MOST_LINES = 150


def folder_of(*settings):
    return make("-s", "print-build", *settings)[1].strip()


def check_flavours():
    """Objects that are compiled otherwise lie elsewhere."""
    settings = [(), ("ARCH=-march=x86-64",), ("ARCH=",), ("CFLAGS=-DX",), ("CPPFLAGS=-DX",), ("LDFLAGS=-s",), ("CC=clang",), ("CC=/usr/bin/gcc",),
                ("OPT=-O0 -g",), ("OPT=-O0 -g3",), ("OPT=-O3 -g -funroll-loops",), ("DEBUG=1",), ("SAN=1",), ("CHECKED=1",), ("ACCESS=1",),
                ("BLAS=none",)]
    folders = {words: folder_of(*words) for words in settings}
    expect(folders[()] == "build" and len(set(folders.values())) == len(settings), f"a folder for each: {sorted(folders.values())}")
    expect(folder_of("WERROR=1") == "build" and folder_of("V=1") == "build", "the same for what compiles the same")
    status, said = make("-s", "print-build", "CHECK=1")
    expect(status == 0 and said.strip().endswith(folders[("ACCESS=1",)]) and "ACCESS=1 now" in said, f"CHECK=1 says its new name: {said.strip()}")


def check_bare():
    """What a machine without Python can do: ask what there is, and have it installed."""
    tools = f"{OUT}/bin"
    os.makedirs(tools)
    for name in ("sh", "make", "sed", "uname", "gcc", "tr", "cksum", "cut", "find", "git", "printf", "echo", "env", "ls", "rm", "mkdir"):
        os.symlink(shutil.which(name), f"{tools}/{name}")
    run("git", "clone", "-q", ".", f"{OUT}/clone")
    status, said = run("env", f"PATH={tools}", "make", "--no-print-directory", folder=f"{OUT}/clone")
    expect(status == 0 and "make lab01" in said and "make setup" in said, f"help: {said.strip()[-80:]}")
    status, said = run("env", f"PATH={tools}", "make", "--no-print-directory", "-n", "setup", folder=f"{OUT}/clone")
    expect(status == 0 and "tools/setup.sh" in said, f"set-up: {said.strip()[-80:]}")
    status, said = run("env", f"PATH={tools}", "make", "--no-print-directory", "grade01", folder=f"{OUT}/clone")
    expect(status == 2 and "python3 is not installed: make setup" in said and said.count("\n") == 1, f"what is missing: {said.strip()[-80:]}")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    lines = read("Makefile").count("\n")
    expect(lines <= MOST_LINES, f"the Makefile has {lines} lines, at most {MOST_LINES}")
    check_flavours()
    check_bare()
    expecting.end("make")


if __name__ == "__main__":
    main()
