#!/usr/bin/env python3
"""`make bench-scaling`: what more ranks give, measured over MPI on these cores, and beyond them a lower bound.

    tools/bench/scaling.py --mpi build/mpi/bin/train --train build/bin/train --makespan build/bin/makespan
                           [--rounds 3] [--most 64] [--machine machines/a100.json] [--page docs/when_which.md]

Measured: N ranks with one thread each, from 1 to the cores there are. *Strong*: the window stays, each rank gets its share
of it; the ratio is T(1) / (N T(N)). *Weak*: each rank keeps its micro-batches; the ratio is T(1) / T(N). 1.0 is ideal. The
median of the rounds counts, and each round measures every row once, in turn.

Beyond: dry runs of up to --most ranks on a declared machine; --most 1024 takes some minutes and 6 GB. In the strong rows the window
has --most micro-batches, in the weak ones each rank has one. `step` is the makespan: what the machine's rates allow at best. `least` is the
formula max(T(1) / R, wire), in the weak rows max(T(1), wire), with wire = 2 (R - 1) / R * S / rate for the gradients' S bytes.
A step that is shorter than the formula ends the program with status 1, and so does a page that lacks the figures of a row.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from page_rows import has_rows

WINDOW = 8
MEASURED = "--n_layer 2 --n_embd 128 --n_positions 128 --per_device_train_batch_size 2 --eval_fraction 0 --max_steps 12".split()
DRY = "--n_layer 2 --n_embd 128 --n_positions 128 --per_device_train_batch_size 8 --eval_fraction 0 --device gpu".split()


def train(command, environment):
    """The summary of a run; ends the program where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "metrics.jsonl")
        done = subprocess.run([*command, "--metrics", path], capture_output=True, text=True, env={**os.environ, **environment})
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nfailed with status {done.returncode}: {done.stderr.strip()}")
        with open(path, encoding="utf-8") as file:
            return json.loads(file.readlines()[-1])


def seconds(options, ranks, micros):
    here = os.path.dirname(os.path.abspath(__file__))
    start = [os.path.join(here, "..", "mpirun.sh"), str(ranks), options.mpi]
    return train([*start, *MEASURED, "--gradient_accumulation_steps", str(micros)], {"OMP_NUM_THREADS": "1"})["seconds"]


def measured(options):
    cores = len(os.sched_getaffinity(0))
    counts = [n for n in (1, 2, 4, 8) if n <= cores]
    times = {}
    for _ in range(options.rounds):
        for n in counts:
            times.setdefault(("strong", n), []).append(seconds(options, n, WINDOW // n))
            times.setdefault(("weak", n), []).append(seconds(options, n, WINDOW // counts[-1]))
    print(f"Measured over MPI on {cores} cores, a thread for each rank; medians of {options.rounds} rounds")
    print(f"{'':8}{'ranks':>6}{'s':>9}{'ratio':>8}")
    for kind in ("strong", "weak"):
        for n in counts:
            ideal = n if kind == "strong" else 1
            ratio = statistics.median(one / (ideal * many) for one, many in zip(times[kind, 1], times[kind, n]))
            print(f"{kind:8}{n:6}{statistics.median(times[kind, n]):9.2f}{ratio:8.2f}")


def bound(options, ranks, micros, steps, folder):
    """The makespan in seconds, and the bytes that a rank sends in a step."""
    record = os.path.join(folder, "record.jsonl")
    several = ["--nproc_per_node", str(ranks)] if ranks > 1 else []
    summary = train([options.train, *DRY, *several, "--gradient_accumulation_steps", str(micros), "--max_steps", str(steps)],
                    {"CUDASIM_DRY": "1", "CUDASIM_RECORD": record})
    said = subprocess.run([options.makespan, record, "--machine", options.machine], capture_output=True, text=True)
    found = re.match(r"([\d.e+-]+) ms on", said.stdout)
    if not found:
        sys.exit(f"{options.makespan}: {said.stderr.strip() or said.stdout}")
    return 1e-3 * float(found[1]), max((rank["sent"] for rank in summary.get("ranks", [])), default=0)


def beyond(options):
    """Prints the lower bounds. @return their rows as the handbook has them"""
    rows = []
    with open(options.machine, encoding="utf-8") as file:
        machine = json.load(file)
    print(f"\nA step on {machine['name']}: declared, a lower bound, not measured; data parallel")
    print(f"{'':8}{'ranks':>6}{'micro-batches':>15}{'step ms':>10}{'wire ms':>10}{'least ms':>10}{'ratio':>8}{'sent by one':>14}")
    for kind in ("strong", "weak"):
        first, ranks = None, 1
        while ranks <= options.most:
            micros = options.most // ranks if kind == "strong" else 1
            with tempfile.TemporaryDirectory() as folder:
                (once, _), (twice, sent) = (bound(options, ranks, micros, steps, folder) for steps in (1, 2))
            step, rate = twice - once, machine["link" if ranks <= machine["node"]["value"] else "network"]["value"]
            first = first or step
            wire, ideal = 1e-9 * sent / rate, first / ranks if kind == "strong" else first
            print(f"{kind:8}{ranks:6}{micros:15}{1e3 * step:10.3f}{1e3 * wire:10.3f}{1e3 * max(ideal, wire):10.3f}{ideal / step:8.2f}"
                  f"{round(sent):14}", flush=True)
            rows.append([str(ranks), str(micros), *(f"{1e3 * t:.3f}" for t in (step, max(ideal, wire))), f"{ideal / step:.2f}", f"{round(sent):,}"])
            if step < (1 - 1e-6) * max(ideal, wire):
                sys.exit("a step is shorter than the formula allows")
            ranks *= 4
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", help="train of a build with MPI=1; without it nothing is measured")
    parser.add_argument("--train", required=True)
    parser.add_argument("--makespan", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=64)
    parser.add_argument("--machine", default="machines/a100.json")
    parser.add_argument("--page", help="a page of the handbook that should have the figures of all lower bounds")
    options = parser.parse_args()
    if options.mpi:
        measured(options)
    rows = beyond(options)
    sys.exit(bool(options.page and not has_rows(options.page, rows)))


if __name__ == "__main__":
    main()
