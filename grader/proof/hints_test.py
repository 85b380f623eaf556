#!/usr/bin/env python3
"""Hints: one more each time, then round again; how many were read; and no third hint is the code. Ends with `hints: all good`."""
import os
import re
import shutil
import subprocess
import sys

import expecting
from expecting import expect

KIT, OUT = os.getcwd(), os.path.abspath("build/hints-test")
LAB = "90_example"
PAGE = "# Hints\n\n## Task 1\n\n1. A question.\n\n2. Where to look:\n   on line two.\n\n3. The way.\n\n## Task 2 (file.c)\n\n1. One.\n2. Two.\n"
OF_THE_KIT = [lab for lab in sorted(os.listdir("labs")) if os.path.exists(f"labs/{lab}/hints.md")]
TOLD_IN_WORDS = ("00", "03", "04", "05", "06")   # the labs whose third hints lead to the line


def hint(*words):
    done = subprocess.run([f"{KIT}/tools/hint.py", LAB, *words], cwd=OUT, capture_output=True, text=True, check=False,
                          env={key: value for key, value in os.environ.items() if key != "LABS"})
    return done.returncode, done.stdout, done.stderr


def check_rounds():
    said = [hint("1") for _ in range(4)]
    heads = [out.splitlines()[0] for _, out, _ in said]
    expect(heads == [f"Lab 90, task 1, hint {tier} of 3:" for tier in (1, 2, 3, 1)], f"one more each time, then round again: {heads}")
    expect("Where to look: on line two.\n" in said[1][1] and "The way" not in said[1][1] and "question" not in said[1][1],
           "a hint is shown whole, and alone")
    counts = [out.splitlines()[-1] for _, out, _ in said]
    expect(counts[0] == "You have read 1 of 3 hints of task 1; 1 of 5 of this lab.", counts[0])
    expect(counts[3] == "You have read 3 of 3 hints of task 1; 3 of 5 of this lab.", f"what was read stays read: {counts[3]}")


def check_list():
    status, said, _ = hint()
    expect(status == 0 and "task 1: 3 of 3\n" in said and "task 2: 0 of 2\n" in said and "in all: 3 of 5\n" in said,
           f"without a task: a list {said!r}")
    hint("2")
    expect("task 2: 1 of 2\n" in hint()[1] and "in all: 4 of 5\n" in hint()[1], "which counts what was read")


def check_bad():
    for word in ("3", "0", "x", "-1", "1.5", "²"):
        status, said, error = hint(word)
        expect(status == 2 and not said and error.count("\n") == 1 and "for n in: 1 2" in error, f"TASK={word} is refused in a line: {error.strip()}")
    for damage in ("", "{", "[1, 2]", '{"1": 5}', '{"1": [1, "a"]}', '{"x": [1, 2]}'):
        with open(f"{OUT}/build/hints/{LAB}.json", "w", encoding="utf-8") as file:
            file.write(damage)
        status, said, _ = hint("1")
        expect(status == 0 and "hint 1 of 3" in said, f"a note {damage!r} counts as none")
    with open(f"{OUT}/build/hints/{LAB}.json", "w", encoding="utf-8") as file:
        file.write('{"1": [7, 99], "2": [-5, -9]}')
    status, said, _ = hint()
    expect(status == 0 and "task 1: 3 of 3\n" in said and "task 2: 0 of 2\n" in said, "nor does it count more than there are")


def check_none():
    """A lab that is being written has none yet."""
    os.rename(f"{OUT}/labs/{LAB}/hints.md", f"{OUT}/hints.md")
    status, said, error = hint("1")
    expect(status == 2 and not said and error == "lab 90 has no hints.md: docs/first_lab.md says how hints are written\n", f"no hints: {error.strip()}")
    os.rename(f"{OUT}/hints.md", f"{OUT}/labs/{LAB}/hints.md")


def check_unwritable():
    """A hint is shown where nothing can be noted, as on a disk that is full."""
    shutil.rmtree(f"{OUT}/build")
    with open(f"{OUT}/build", "w", encoding="utf-8"):
        pass
    status, said, error = hint("1")
    expect(status == 0 and "hint 1 of 3" in said and error.startswith("hint: that it was read is not noted: ") and error.count("\n") == 1,
           f"a note that cannot be written: {error.strip()}")
    os.remove(f"{OUT}/build")


CODE = re.compile(r"[;=?<>+]|\(.+\)|\w \* \w|->\w+\s*\(")   # what a statement has and a name has not


def third_hints(lab):
    with open(f"labs/{lab}/hints.md", encoding="utf-8") as file:
        for section in re.split(r"^## ", file.read(), flags=re.M)[1:]:
            found = re.search(r"^3\. .*", section, re.M | re.S)
            if found:
                yield section.split("\n")[0], found[0]


def check_third():
    """They name functions and fields. A span of code in them holds no expression."""
    for lab in (each for each in OF_THE_KIT if each.startswith(TOLD_IN_WORDS)):
        for task, text in third_hints(lab):
            spans = [span.replace("->", ".") for span in re.findall(r"`([^`]*)`", text.replace("\n", " "))]
            code = [span for span in spans if CODE.search(span)]
            expect(not code, f"{lab}, {task}: the third hint leads to the line, and is not the line {code}")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(f"{OUT}/labs/{LAB}")
    for name, text in (("hints.md", PAGE), ("lab.json", "{}")):
        with open(f"{OUT}/labs/{LAB}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    check_rounds()
    check_list()
    check_bad()
    check_none()
    check_unwritable()
    check_third()
    expecting.end("hints")


if __name__ == "__main__":
    sys.exit(main())
