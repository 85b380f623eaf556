#!/usr/bin/env python3
"""Ranks of cudasim, in the ordinary build and with ACCESS=1, by gcc and by clang: runs cudasim/tests/ranks.cu in three
orders, then ranks_wrong.cu in the ways that must be reported, of which each must say what is wanted here.

    cudasim/tests/ranks_test.py [--cc gcc,clang]

Ends with a line `ranks: N runs, all good`, or with what failed and status 1."""

import argparse
import os
import re
import subprocess
import sys

GOOD, WRONG = "ranks", "ranks_wrong"
OUT = "build/ranks"
SECONDS = 120  # for one run; a way that is broken ends at once
SCHEDULES = ("forward", "reverse", "random:1", "random:2")
HERE = r"ranks\w*\.cuh?:\d+"

# The name of a broken way, its status, and patterns of which each must be found in what it says.
BROKEN = [
    ("one_ends", 86, [rf"deadlock: \[rank 0\] barrier at {HERE} waits forever for 1 more ranks",
                      rf"rank 1: barrier at {HERE} waits for 1 more ranks", r"rank 2 has ended"]),
    ("sum_without_one", 86, [rf"deadlock: \[rank 0\] sum at {HERE} waits forever for 1 of 3 ranks", r"rank 1 has ended",
                             rf"rank 2, in cudaDeviceSynchronize at {HERE}: sum at {HERE} waits for 1 of 3"]),
    ("sums_in_other_order", 86, [rf"deadlock: .*rank \d's sum at {HERE} waits for the others",
                                 r"each waits for the next, and the last for the first"]),
    ("one_exits", 3, []),
    ("overflow", 86, [rf"stack overflow: \[rank 1\] the host code of rank 1 has more than 8 MiB of local variables, at {HERE}"]),
    ("wait_in_region", -6, [r"CHECK\(!omp_in_parallel\(\)\) failed"]),
    ("wait_in_host_function", -6, [r"cannot change within a"]),
    ("kernel_fails", 86, [rf"out-of-bounds access: \[rank 2\] [\w ]* ?at {HERE}", r"launched at"]),
    ("unseen_error", 86, [rf"unchecked error: \[rank 1\] fill failed at {HERE}"]),
    ("reads_memory", 86, [rf"memory of another rank: \[rank 2\] read at [\w ]* ?{HERE}.* of memory of rank 0", "send the data"]),
    ("writes_stack", 86, [rf"memory of another rank: \[rank 1\] write at [\w ]* ?{HERE}.* of memory of rank 0"]),
    ("half_a_page", 86, [rf"unsupported: .*cudasim_rank_memory at {HERE}: not whole pages"]),
    ("no_ranks", 86, [rf"deadlock: barrier at {HERE} waits forever", r"and nobody else would do anything"]),
]


def build(name, cc, access, out):
    source = f"cudasim/tests/{name}.cu"
    command = ["make", "-s", "--no-print-directory", "cu-build", f"FILE={source}", f"CC={cc}", f"OUT={out}"]
    done = subprocess.run(command + (["ACCESS=1"] if access else []), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"ranks: {source} does not compile: {done.stderr}")


def run(program, arguments, schedule):
    env = dict(os.environ, CUDASIM_SCHED=schedule, CUDASIM_DEVICES="3")
    try:
        return subprocess.run([program, *arguments], capture_output=True, text=True, env=env, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(program, "no end", "", "")


def wrong_run(done, status, patterns):
    """What is wrong with a run, if anything."""
    if done.returncode != status:
        return f"status {done.returncode}, wanted {status}: {done.stderr}"
    missing = [p for p in patterns if not re.search(p, done.stderr)]
    if missing:
        return f"does not say {missing[0]}: {done.stderr}"
    if status in (0, 3) and "[cudasim]" in done.stderr:
        return f"reports {done.stderr}"
    return None


def main():
    parser = argparse.ArgumentParser(description="runs cudasim/tests/ranks.cu")
    parser.add_argument("--cc", default="gcc,clang")
    compilers = parser.parse_args().cc.split(",")
    runs, failed = 0, []
    for cc in compilers:
        for access in (False, True):
            how = f"{cc}{', ACCESS=1' if access else ''}"
            good, bad = (f"{OUT}/{cc}{'-access' if access else ''}/{name}" for name in (GOOD, WRONG))
            build(GOOD, cc, access, good)
            build(WRONG, cc, access, bad)
            orders = set()
            for schedule in SCHEDULES:
                done = run(good, [], schedule)
                orders.add(done.stdout)
                failed += [f"{how}, {schedule}: {w}" for w in [wrong_run(done, 0, [])] if w]
                for name, status, patterns in BROKEN if schedule != "random:2" else []:
                    runs += 1
                    wrong = wrong_run(run(bad, [name], schedule), status, patterns)
                    failed += [f"{how}, {schedule}, {name}: {wrong}"] if wrong else []
            runs += len(SCHEDULES)
            failed += [f"{how}: the schedules give {len(orders)} orders"] if len(orders) < 3 else []
    for wrong in failed:
        print(f"ranks: FAILED: {wrong}")
    print(f"ranks: {runs} runs, {f'{len(failed)} failures' if failed else 'all good'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
