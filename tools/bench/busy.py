#!/usr/bin/env python3
"""`make bench-busy`: what other programs on the same cores cost a training step.

    tools/bench/busy.py build/bin/bench [--rounds 5] [--steps 40] [--spin COUNT]

A neighbour is a process with one thread that computes without end. The fair share of a step with P
threads on P cores beside n neighbours is P / (P + n) of the machine, so it takes (P + n) / P times as
long as alone; of k copies of it, k times. Printed is the time over that: 1.0 is fair, more is what
waiting costs. Each round measures every row once, in turn; a row's ratio is to `alone` of the same
round, and the median of the rounds counts.

The rows with spinning threads (GOMP_SPINCOUNT at gcc's own default) are there to compare: alone they
must not be faster than ours. --spin tries another count for ours than the one of kernels/threads.c.
"""

import argparse
import contextlib
import os
import re
import statistics
import subprocess

SPINNING = {"GOMP_SPINCOUNT": "300000"}  # gcc's, where nothing is set
# name, copies of the step, neighbours, environment, the largest ratio that we want to see
ROWS = [
    ("alone", 1, 0, {}, None),
    ("beside 1 neighbour", 1, 1, {}, 1.3),
    ("beside 2 neighbours", 1, 2, {}, 1.3),
    ("3 copies at once", 3, 0, {}, 1.3),
    ("alone, spinning", 1, 0, SPINNING, None),
    ("3 copies at once, spinning", 3, 0, SPINNING, None),
]


@contextlib.contextmanager
def neighbours(count):
    """So many processes that each keep a core busy."""
    running = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def milliseconds(options, copies, extra):
    """The median step of copies that run at once: the median of theirs."""
    kept = {k: v for k, v in os.environ.items()
            if k not in ("OPENBLAS_CORETYPE", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    command = [options.binary, "--steps", str(options.steps)]
    running = [subprocess.Popen(command, env=kept | extra, stdout=subprocess.PIPE, text=True)
               for _ in range(copies)]
    lines = [process.communicate()[0] for process in running]
    if any(process.returncode != 0 for process in running):
        raise SystemExit("failed: " + " ".join(command))
    return statistics.median(float(re.search(r"\bms=(\S+)", line)[1]) for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--spin", help="GOMP_SPINCOUNT for ours")
    options = parser.parse_args()
    threads = int(os.environ.get("OMP_NUM_THREADS", len(os.sched_getaffinity(0))))
    ours = {"GOMP_SPINCOUNT": options.spin} if options.spin else {}
    times = {name: [] for name, *_ in ROWS}
    for _ in range(options.rounds):
        for name, copies, count, extra, _ in ROWS:
            with neighbours(count):
                times[name].append(milliseconds(options, copies, ours | extra))
    print(f"{threads} threads; medians of {options.rounds} rounds")
    print(f"{'the small step':<28} {'ms':>8} {'fair':>6} {'ratio':>6} {'aim':>5}")
    missed = 0
    for name, copies, count, _, aim in ROWS:
        fair = copies * (threads + count) / threads
        ratio = statistics.median(
            ms / (fair * alone) for ms, alone in zip(times[name], times["alone"]))
        missed += aim is not None and not ratio <= aim
        print(f"{name:<28} {statistics.median(times[name]):8.1f} {fair:6.2f} {ratio:6.2f} "
              f"{aim or '-':>5}")
    idle = statistics.median(
        ours / theirs for ours, theirs in zip(times["alone"], times["alone, spinning"]))
    missed += not idle <= 1.03
    print(f"{'alone, over spinning':<28} {'':>8} {'':>6} {idle:6.2f} {1.03:>5}")
    print(f"\n{missed} aim{'s' * (missed != 1)} missed" if missed else "\nevery aim met")


if __name__ == "__main__":
    main()
