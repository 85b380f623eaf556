#!/usr/bin/env python3
"""`make bench`: the kit's training step against PyTorch eager, in one run, in turn.

    common/bench/bench.py build/bin/bench [--rounds 3] [--only small,medium,t64,t256,half]

Each configuration is run in alternation with its peer, a process at a time, and the median of the
rounds is compared. What is printed is a ratio: of two programs on one machine in one hour. Set
PYTHON to a Python with PyTorch (make bench PYTHON=...); without PyTorch only the kit is timed.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys

PEER = os.path.join(os.path.dirname(__file__), "torch_gpt.py")

# name: shape, steps a round, and the largest ratio to PyTorch that we want to see
CONFIGURATIONS = {
    "small": (dict(layers=4, heads=4, width=128, vocabulary=256, time=128, batch=8), 40, 0.55),
    "medium": (dict(layers=6, heads=6, width=384, vocabulary=256, time=256, batch=8), 6, 0.70),
    "t64": (dict(layers=12, heads=12, width=768, vocabulary=50257, time=64, batch=4), 4, 0.60),
    "t256": (dict(layers=12, heads=12, width=768, vocabulary=50257, time=256, batch=4), 3, 0.66),
}


def run(command):
    """The numbers of a program's last line, or None where it failed."""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        return None
    return {k: float(v) for k, v in re.findall(r"(\w+)=(\d+\.?\d*)(?=\s|$)", result.stdout)}


def words(shape, steps):
    return [str(word) for key, value in [*shape.items(), ("steps", steps)]
            for word in (f"--{key}", value)]


def kit(binary, shape, steps, precision="f32", attention="flash"):
    return run([binary, *words(shape, steps), "--precision", precision, "--attention", attention])


def peer(shape, steps, threads, optimizer):
    return run([sys.executable, PEER, *words(shape, steps), "--threads", str(threads),
                "--optimizer", optimizer])


def median(results, key):
    values = [result[key] for result in results if result is not None]
    return statistics.median(values) if values else None


def against_pytorch(options, threads):
    print(f"{'configuration':<14} {'kit ms':>9} {'PyTorch':>9} {'ratio':>6} {'aim':>5}   "
          f"{'kit MiB':>8} {'PyTorch':>8} {'ratio':>6}")
    missed = 0
    for name, (shape, steps, aim) in CONFIGURATIONS.items():
        if name not in options.only:
            continue
        ours, theirs = [], {"fused": [], "foreach": []}
        for _ in range(options.rounds):
            ours.append(kit(options.binary, shape, steps))
            for optimizer, results in theirs.items():
                results.append(peer(shape, steps, threads, optimizer))
        ms, mib = median(ours, "ms"), median(ours, "peak_mib")
        best = min((r for r in theirs.values() if median(r, "ms")), key=lambda r: median(r, "ms"),
                   default=None)
        if best is None:
            print(f"{name:<14} {ms:9.1f} {'-':>9} {'-':>6} {aim:5.2f}   {mib:8.0f}")
            continue
        ratio, memory = ms / median(best, "ms"), mib / median(best, "peak_mib")
        missed += ratio > aim or memory > 1
        print(f"{name:<14} {ms:9.1f} {median(best, 'ms'):9.1f} {ratio:6.2f} {aim:5.2f}   "
              f"{mib:8.0f} {median(best, 'peak_mib'):8.0f} {memory:6.2f}", flush=True)
    return missed


def half_storage(options):
    print("\nforward and backward with half storage (arithmetic is float), ratio to f32; aim 1.25")
    missed = 0
    for name in ("small", "medium", "t64"):
        shape, steps, _ = CONFIGURATIONS[name]
        rounds = {p: [] for p in ("f32", "f16", "bf16")}
        for _ in range(options.rounds):
            for precision, results in rounds.items():
                results.append(kit(options.binary, shape, steps, precision))
        base = median(rounds["f32"], "pass_ms")
        ratios = {p: median(rounds[p], "pass_ms") / base for p in ("f16", "bf16")}
        missed += max(ratios.values()) > 1.25
        print(f"{name:<14} f32 {base:8.1f} ms   f16 {ratios['f16']:.2f}   "
              f"bf16 {ratios['bf16']:.2f}", flush=True)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="small,medium,t64,t256,half")
    options = parser.parse_args()
    options.only = options.only.split(",")
    threads = int(os.environ.get("OMP_NUM_THREADS", len(os.sched_getaffinity(0))))
    try:
        import torch
        print(f"PyTorch {torch.__version__} eager, {threads} threads, the faster of its fused and "
              f"foreach AdamW; medians of {options.rounds} rounds")
    except ImportError:
        print("PyTorch is not installed for this Python: only the kit is timed")
    missed = against_pytorch(options, threads)
    if "half" in options.only:
        missed += half_storage(options)
    print(f"\n{missed} aims missed" if missed else "\nevery aim met")


if __name__ == "__main__":
    main()
