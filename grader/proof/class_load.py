#!/usr/bin/env python3
"""A large class, graded once: hand-ins a minute and core, and the memory that all of it has at most.

    grader/proof/class_load.py [--lab 00_bytes] [--hand-ins 2000] [--jobs N] [--kills N] [--out FOLDER]

Right hand-ins, and wrong ones of which is known what they lose at least, in turn, each with bytes of its own, so that each
is compiled. With --kills the grader is killed that many times on the way, and what has a record must not be graded again.
`make bench-class LAB=12 HAND_INS=100` builds the lab first. Ends with a line `load: all good`.
"""
import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import threading
import time

import expecting
import grader_proof as proof
from class_hand_ins import edited, pack_tar, points_of, right_files
from class_test import give_secret, records_of, whole_files
from expecting import expect
from lab_files import has_cuda

FLAT = 16 << 20   # bytes by which the grader of all may grow from the first quarter to the end


def cases(lab):
    """(files, (least, most) of its score) in turn: solutions, variants, mutants. A mutant may lose more than it is made for."""
    points = points_of(lab, build_of(lab))
    total = sum(points.values())
    found = [(files, (total, total)) for files in [right_files(lab)] + [edited(lab, block) for block in proof.blocks_of(lab, "variants")[:3]]]
    found += [(edited(lab, block), (0, sum(worth for name, worth in points.items() if name not in block["fails"])))
              for block in proof.blocks_of(lab, "mutants")[:6]]
    return found


def build_of(lab):
    """Where its judge is: of a lab with kernels in the build that looks at every access."""
    return "build/access" if has_cuda(lab) else "build"


def make(lab, count, folder):
    """{name: (least, most) of its score}"""
    right, turn = {}, cases(lab)
    os.makedirs(folder)
    for i in range(count):
        files, score = turn[i % len(turn)]
        first = next(iter(files))
        pack_tar(f"{folder}/student {i:04d}", files | {first: files[first] + f"/* {i} */\n"})
        right[f"student {i:04d}"] = score
    return right


def children():
    """{process: those that it has started}"""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        found.setdefault(parent, []).append(int(pid))
    return found


def resident(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


class Memory(threading.Thread):
    """Looks at a process and all that it has started, a few times a second: [(seconds, its own, all)]"""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.seen, self.begin = pid, [], time.monotonic()

    def run(self):
        while os.path.exists(f"/proc/{self.pid}"):
            below, todo, tree = 0, [self.pid], children()
            while todo:
                pid = todo.pop()
                below += resident(pid)
                todo += tree.get(pid, [])
            self.seen.append((time.monotonic() - self.begin, resident(self.pid), below))
            time.sleep(0.3)


def grade(command, kills):
    """Runs it, killing it now and then. (the last run's status, seconds, memory seen, whether a record was written twice)"""
    chance, begin, seen, twice = random.Random(1), time.monotonic(), [], []
    before = {}
    for left in range(kills, -1, -1):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
            memory = Memory(running.pid)
            memory.start()
            try:
                running.wait(chance.uniform(4, 12) if left else None)
            except subprocess.TimeoutExpired:
                running.kill()
        memory.join()
        seen += memory.seen
        now = whole_files(command[command.index("--out") + 1])
        twice += [name for name, state in before.items() if now.get(name) != state]
        before = now
    return running.returncode, time.monotonic() - begin, seen, twice


def check(lab, options):
    out = f"{options.out}/{lab}"
    shutil.rmtree(out, ignore_errors=True)
    right = make(lab, options.hand_ins, f"{out}/in")
    give_secret(f"{out}/graded")
    command = [sys.executable, "tools/grade_all.py", "--lab", lab, "--build", build_of(lab), "--in", f"{out}/in", "--out", f"{out}/graded",
               "--jobs", str(options.jobs), "--blame", "0"]
    status, seconds, seen, twice = grade(command, options.kills)
    records = records_of(f"{out}/graded")
    wrong = [name for name, score in right.items() if name not in records or not score[0] - 1e-9 <= records[name]["score"] <= score[1] + 1e-9]
    expect(status == 0 and len(records) == len(right), f"{lab}: {len(records)} of {len(right)} hand-ins have a record")
    expect(not wrong, f"{lab}: no score but those that are known {wrong[:3]}")
    expect(not twice, f"{lab}: killed {options.kills} times, no record was lost or written twice {twice[:3]}")
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    quarter = max((own for _, own, _ in seen[:max(1, len(seen) // 4)]), default=0)
    own, everything = (max((entry[key] for entry in seen), default=0) for key in (1, 2))
    expect(own <= quarter + FLAT, f"{lab}: the grader of all has {quarter >> 20} MiB in the first quarter, {own >> 20} MiB at most")
    print(f"{lab}: {len(right)} hand-ins in {seconds / 60:.1f} minutes with {options.jobs} at a time: "
          f"{60 * len(right) / seconds / min(options.jobs, os.cpu_count() or 1):.1f} a minute and core, "
          f"{(cpu.ru_utime + cpu.ru_stime) / len(right):.2f} s of CPU each; at most {everything >> 20} MiB for all processes together")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", default="00_bytes")
    parser.add_argument("--hand-ins", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--out", default="build/class-load")
    options = parser.parse_args()
    check(options.lab, options)
    expecting.end("load")


if __name__ == "__main__":
    main()
