#!/usr/bin/env python3
"""The table of labs that `make` prints: title, points, state; from the pages and the last records. Below it, where to go on."""
import glob
import hashlib
import json
import os
import re
import signal

from lab_files import all_labs, path_of, read_lab


def title(lab):
    with open(path_of(lab, "README.md"), encoding="utf-8") as page:
        return re.sub(r"^#\s*(Lab \d+:\s*)?", "", page.readline()).strip()


def points(lab):
    """The sum over the checks."""
    return sum(read_lab(lab).get("points", {}).values())


def holes(lab):
    """{file: how many tasks it has to do}, of those that have some."""
    found = {}
    for path in sorted(glob.glob(path_of(lab, "*.c")) + glob.glob(path_of(lab, "*.cu"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            tasks = set(re.findall(r'^\s*TODO\("(task \d+|)', file.read(), re.M))
        if tasks:
            found[path] = len(tasks)
    return found


def changed(lab, record):
    """Whether a file that was graded is another one now."""
    for name, graded in record.get("objects", {}).items():
        try:
            with open(path_of(lab, name), "rb") as file:
                now = hashlib.sha256(file.read()).hexdigest()
        except OSError:
            now = None
        if graded["source"] != now:
            return True
    return False


def state(lab):
    """What the last `make gradeNN` of the student's files has found, and whether they are still the same."""
    try:
        with open(f"build/grades/{lab}.json", encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError):
        return "not started" if holes(lab) else "not graded yet"
    score = f"{record['score']:g}/{record['total']:g}"
    if changed(lab, record):
        return f"changed since {score}"
    if len(record["checks"]) > 1 and all(row["state"] in ("not started", "not run") for row in record["checks"]):
        return "not started"
    return "done" if record["full"] else score


def solved(lab):
    """Whether a handout has the lab's solution: its student may begin after it."""
    return os.path.isdir("labs/.stubs") and os.path.isdir(path_of(lab, kind="solutions"))


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)   # `| head` ends it without a word
    labs = all_labs("README.md")
    name_width, width = (max(map(len, texts), default=0) for texts in (labs, [title(lab) for lab in labs]))
    states = {lab: state(lab) for lab in labs}
    print("Labs:")
    for lab in labs:
        print(f"  {lab:<{name_width}}  {title(lab):<{width}} {points(lab):>4g} points  {states[lab]}")
    left = sorted((lab for lab in labs if states[lab] != "done"), key=lambda lab: (solved(lab), lab))
    if left:
        print(f"\nNext: {path_of(left[0], 'README.md')}")


if __name__ == "__main__":
    main()
