#!/usr/bin/env python3
"""The end of `make debugNN CHECK=name`: says what to type, then starts gdb on what `grade --debug` has left in build/debug.

    tools/debug.py LAB CHECK

A check may run the program several times: GRADE_RUN says which of them, from 1 on.
"""
import json
import os
import re
import shutil
import subprocess
import sys

from lab_files import files_of, read_lab

LEFT = "build/debug"
FUNCTION = re.compile(r'(?:extern "C" )?\w[\w *]*?\b(?:(GPU)\()?(\w+)[()]')   # at the beginning of a line


def task_of(check):
    """The number of the task that a check is about, from its title; or None."""
    with open(f"{LEFT}/record.json", encoding="utf-8") as file:
        titles = [row["title"] for row in json.load(file)["checks"] if row["name"] == check]
    found = re.match(r"task (\d+)", titles[0] if titles else "")
    return found and found[1]


def with_hole(lab, task):
    """The functions that had a hole of this task in the stub."""
    names, inside = [], ""
    for file in files_of(lab):
        stub = subprocess.run(["tools/stub.sh", lab, file], capture_output=True, text=True, check=False).stdout
        for line in stub.splitlines():
            begins = FUNCTION.match(line)
            inside = begins[2] + ("_gpu_f32" if begins[1] else "") if begins else inside
            if f'TODO("task {task}:' in line and inside not in names:
                names.append(inside)
    return names


def by_its_name(lab, check):
    """Where a check is not about one task: the function that shares most words with its name."""
    words = set(check.split("_"))
    every = [name + "_f32" * ("precisions" in hole) for hole in read_lab(lab)["holes"] for name in hole["functions"]]
    return [max(every, key=lambda name: len(words & set(name.split("_"))))]


def main():
    lab, check = sys.argv[1:]
    if not shutil.which("gdb"):
        sys.exit("debug: gdb is not installed: make setup")
    names, run = with_hole(lab, task_of(check)) or by_its_name(lab, check), os.environ.get("GRADE_RUN", "1")
    if not os.path.exists(f"{LEFT}/command"):
        sys.exit(f"debug: the check {check} has no run {run}, or ends before it: make grade{lab[:2]} CHECK={check} says why")
    print(f"Type:   break {' or '.join(names)}, run; then info locals, print x, next, up")
    print(f"Here:   the program of the check {check}{f', run {run} of it' if run != '1' else ''}, with your files in it, "
          "not started yet; a crash stops it where it happens")
    print("Leave:  quit", flush=True)
    os.execvp("sh", ["sh", f"{LEFT}/command"])


if __name__ == "__main__":
    main()
