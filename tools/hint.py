#!/usr/bin/env python3
"""The next hint for a task, and how many were read: `make hint03 TASK=2`.

    tools/hint.py LAB [TASK]

Three for a task, or as many as the handout has, one more each time; then again from the first. Without a task: how many
were read of each. What was read is kept in build/hints, for the student's own eyes: it is not handed in.
"""
import json
import os
import re
import sys
import textwrap

from class_folder import Stopped, write_json
from lab_files import path_of

WIDTH = 100


def read_hints(lab):
    """{task: [hint, hint, hint]} of a page of hints. A hint begins with its number and goes on to the next."""
    path = path_of(lab, "hints.md")
    if not os.path.exists(path):   # a lab that is being written
        print(f"lab {lab.split('_')[0]} has no hints.md: docs/first_lab.md says how hints are written", file=sys.stderr)
        sys.exit(2)
    with open(path, encoding="utf-8") as file:
        sections = re.split(r"^## Task (\d+).*\n", file.read(), flags=re.M)[1:]
    return {int(task): [text.strip("\n") for text in re.split(r"^[123]\. ", section, flags=re.M)[1:]]
            for task, section in zip(sections[::2], sections[1::2])}


class Seen:
    """For each task the hint that was shown last, and the highest one ever. A file that is damaged counts as none."""

    def __init__(self, lab):
        self.path, self.tasks = f"build/hints/{lab}.json", {}
        try:
            with open(self.path, encoding="utf-8") as file:
                self.tasks = {int(task): (int(last), int(most)) for task, (last, most) in json.load(file).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            pass

    def next(self, task, count):
        """The number of the hint to show, from 1; notes it."""
        last, most = self.tasks.get(task, (0, 0))
        tier = last % count + 1
        self.tasks[task] = (tier, max(most, tier))
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            write_json(self.path, self.tasks)
        except (OSError, Stopped) as error:   # the hint is shown: only the count of the next call is wrong
            print(f"hint: that it was read is not noted: {error}", file=sys.stderr)
        return tier

    def read(self, task, count):
        return min(max(self.tasks.get(task, (0, 0))[1], 0), count)


def wrapped(text):
    """Its paragraphs, for a terminal: in the page the lines of a list are indented."""
    return "\n\n".join(textwrap.fill(" ".join(part.split()), WIDTH, break_long_words=False, break_on_hyphens=False) for part in text.split("\n\n"))


def of_lab(hints, seen):
    return f"{sum(seen.read(task, len(texts)) for task, texts in hints.items())} of {sum(map(len, hints.values()))}"


def list_tasks(number, hints, seen):
    print(f"Hints of lab {number} that you have read (make hint{number} TASK=n shows the next one of a task):")
    for task, texts in hints.items():
        print(f"  task {task}: {seen.read(task, len(texts))} of {len(texts)}")
    print(f"  in all: {of_lab(hints, seen)}")


def main():
    lab, task = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    number, hints, seen = lab.split("_")[0], read_hints(lab), Seen(lab)
    if not task:
        return list_tasks(number, hints, seen)
    if not task.isdecimal() or int(task) not in hints:
        print(f"lab {number} has no task {task}; make hint{number} TASK=n, for n in: {' '.join(map(str, hints))}", file=sys.stderr)
        sys.exit(2)
    texts = hints[int(task)]
    tier = seen.next(int(task), len(texts))
    print(f"Lab {number}, task {task}, hint {tier} of {len(texts)}:\n{wrapped(texts[tier - 1])}\n")
    print(f"You have read {seen.read(int(task), len(texts))} of {len(texts)} hints of task {task}; {of_lab(hints, seen)} of this lab.")
    return None


if __name__ == "__main__":
    main()
