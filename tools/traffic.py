#!/usr/bin/env python3
"""Traffic of device memory, as the simulator has counted it, beside the formula that was noted.

    tools/traffic.py RECORD               of a record that was made while traffic was counted
    tools/traffic.py -- PROGRAM [ARG...]  runs a program that counts, then prints its table; its status is the program's

A line for each op or kernel: how often it was launched; the bytes of the distinct 32-byte sectors that each launch has read and
written, added up; the bytes of the formula (cudasim_note(); for the kit's ops kernels/cost.h), and how many times that was moved.
"""
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

HOLE = 77   # the exit status of a program that has reached a hole
HEAD = ("kernel or op", "launches", "bytes read", "written", "formula", "ratio")


@dataclass
class Moved:
    launches: int = 0
    read: float = 0
    written: float = 0
    formula: float = 0

    def add(self, other):
        self.launches += other.launches
        self.read += other.read
        self.written += other.written
        self.formula += other.formula

    def cells(self, name):
        """Of a table; a formula that is not known stays empty."""
        known = self.formula > 0
        return (name, f"{self.launches:,}", f"{self.read:,.0f}", f"{self.written:,.0f}", f"{self.formula:,.0f}" if known else "-",
                f"{(self.read + self.written) / self.formula:.3f}" if known else "-")


def stop(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def by_name(path):
    """The launches of an op count together: its formula is that of all of them."""
    moved = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            if entry["kind"] in ("launch", "product"):
                one = Moved(1, entry.get("read", 0), entry.get("written", 0), entry.get("bytes", 0))
                moved.setdefault(entry.get("op", entry["name"]), Moved()).add(one)
    return moved


def read(path):
    try:
        return by_name(path)
    except OSError as error:
        stop(f"{path}: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError):
        stop(f"{path}: not a record of the simulator")


def show(moved, of):
    if not any(one.read + one.written for one in moved.values()):
        stop(f"{of}: no launch of which traffic was counted: build it with TRAFFIC=1")
    names = sorted(moved, key=lambda name: (-moved[name].read - moved[name].written, name))
    rows = [HEAD] + [moved[name].cells(name) for name in names]
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEAD))]
    print("\nTraffic of device memory: distinct 32-byte sectors of each launch, counted; what one reads again is found in a cache.")
    for row in rows:
        print("  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]))


def run(command):
    """As the program ends; one that leaves no record has said why."""
    with tempfile.TemporaryDirectory() as folder:
        record = os.environ.get("CUDASIM_RECORD") or f"{folder}/traffic.jsonl"
        try:
            child = subprocess.Popen(command, env=dict(os.environ, CUDASIM_RECORD=record, CUDASIM_TRAFFIC="1"))
        except OSError as error:
            stop(f"{command[0]}: {error.strerror}")
        status = child.wait()
        path = record.replace("%p", str(child.pid))
        moved = read(path) if os.path.isfile(path) and status in (0, HOLE) else {}
        if moved:
            show(moved, command[0])
    return status if status >= 0 else 128 - status


def main(words):
    if len(words) > 1 and words[0] == "--":
        sys.exit(run(words[1:]))
    if len(words) != 1 or words[0].startswith("-"):
        stop("usage: tools/traffic.py RECORD, or tools/traffic.py -- PROGRAM [ARG...]")
    show(read(words[0]), words[0])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
