#!/usr/bin/env python3
"""`make bench`: the kit's training step against PyTorch, in one run, in turn.

    tools/bench/bench.py build/bin/bench [--rounds 3] [--only small,medium,t64,t256,half]
    tools/bench/bench.py build/bin/bench --device gpu [--only gpt2-124M] [--precisions bf16]

Each configuration is run in alternation with its peer, a process at a time, and the median of the
rounds is compared. What is printed are ratios: of two programs on one machine in one hour, and of
the least time that the machine could take (peak.h) to the kit's, the share, and to PyTorch's, the
ratio of a step that takes no longer. Set PYTHON to a Python with PyTorch (make bench PYTHON=...);
without PyTorch only the kit is timed.

On the CPU the peer is PyTorch eager; on a GPU eager and torch.compile, and the kit runs with flash
and with plain attention. torch_gpt.py says how the peer's step differs from ours. A simulated GPU
runs a tiny configuration only, to show that it runs.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time

PEER = os.path.join(os.path.dirname(__file__), "torch_gpt.py")

# name: shape, steps a round, the largest ratio to PyTorch and the smallest share of the bound that we want to see
CONFIGURATIONS = {
    "small": (dict(layers=4, heads=4, width=128, vocabulary=256, time=128, batch=8), 120, 0.50, 0.75),
    "medium": (dict(layers=6, heads=6, width=384, vocabulary=256, time=256, batch=8), 14, 0.62, 0.85),
    "t64": (dict(layers=12, heads=12, width=768, vocabulary=50257, time=64, batch=4), 8, 0.49, 0.88),
    "t256": (dict(layers=12, heads=12, width=768, vocabulary=50257, time=256, batch=4), 3, 0.54, 0.88),
}

# So much may the peak of products differ between the runs of a quiet machine.
QUIET = 0.05

# On a GPU, what matters most first. Name: shape, steps a round.
GPU_CONFIGURATIONS = {
    "gpt2-124M": (dict(layers=12, heads=12, width=768, vocabulary=50257, time=1024, batch=8), 10),
    "medium": (dict(layers=6, heads=6, width=384, vocabulary=256, time=256, batch=8), 50),
    "small": (dict(layers=4, heads=4, width=128, vocabulary=256, time=128, batch=8), 100),
}
TINY = (dict(layers=1, heads=2, width=32, vocabulary=256, time=16, batch=2), 1)
# The largest ratio to torch.compile that we want to see.
GPU_AIMS = {("gpt2-124M", "bf16"): 1.5}


def run(command, complain=False):
    """The numbers of a program's last line, or None where it failed; then perhaps says why."""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    try:
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}; `make bench` builds it")
    if result.returncode != 0:
        if complain:
            print(*result.stderr.strip().splitlines()[-1:], file=sys.stderr, flush=True)
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


def kit_on_gpu(binary, shape, steps, precision, attention):
    """The numbers of the kit's line. Where the kit fails there is nothing to compare."""
    command = [binary, *words(shape, steps), "--precision", precision, "--attention", attention,
               "--device", "gpu"]
    result = run(command, complain=True)
    if result is None:
        sys.exit("failed: " + " ".join(command))
    return result


def peer_on_gpu(shape, steps, precision, compiled):
    return run([sys.executable, PEER, *words(shape, steps), "--threads", "1", "--device", "cuda",
                "--precision", precision, *(["--compile"] if compiled else [])], complain=True)


def median(results, key):
    values = [result[key] for result in results if result is not None]
    return statistics.median(values) if values else None


def told(missed):
    """The end of a row: which of its aims are missed, {what: whether}. An aim that is missed by less than a digit is, too."""
    names = [what for what, is_missed in missed.items() if is_missed]
    return f"  MISSED: {', '.join(names)}" if names else ""


def against_pytorch(options, threads):
    print(f"{'configuration':<14} {'kit ms':>9} {'bound':>9} {'share':>6} {'aim':>5}   {'PyTorch':>9} {'ratio':>6} {'least':>6} {'aim':>5}   "
          f"{'kit MiB':>8} {'PyTorch':>8} {'ratio':>6}")
    missed, rates = 0, []
    for name, (shape, steps, aim, share_aim) in CONFIGURATIONS.items():
        if name not in options.only:
            continue
        ours, theirs = [], {"fused": [], "foreach": []}
        for _ in range(options.rounds):
            ours.append(kit(options.binary, shape, steps))
            for optimizer, results in theirs.items():
                results.append(peer(shape, steps, threads, optimizer))
        ms, mib = median(ours, "ms"), median(ours, "peak_mib")
        # Both of one process: a neighbour on the same cores takes as much from one as from the other.
        share = statistics.median(result["bound_ms"] / result["ms"] for result in ours)
        rates += ours
        wrong = {"share": share < share_aim}
        print(f"{name:<14} {ms:9.1f} {median(ours, 'bound_ms'):9.1f} {share:6.3f} {share_aim:5.2f}   ", end="")
        best = min((r for r in theirs.values() if median(r, "ms")), key=lambda r: median(r, "ms"),
                   default=None)
        if best is None:
            print(f"{'-':>9} {'-':>6} {'-':>6} {aim:5.2f}   {mib:8.0f}{told(wrong)}", flush=True)
            missed += any(wrong.values())
            continue
        ratio, memory = ms / median(best, "ms"), mib / median(best, "peak_mib")
        wrong |= {"ratio": ratio > aim, "memory": memory > 1}
        missed += sum(wrong.values())
        least = median(ours, "bound_ms") / median(best, "ms")
        print(f"{median(best, 'ms'):9.1f} {ratio:6.2f} {least:6.2f} {aim:5.2f}   "
              f"{mib:8.0f} {median(best, 'peak_mib'):8.0f} {memory:6.2f}{told(wrong)}", flush=True)
    if rates:
        print(f"bound: products at {median(rates, 'peak_gflops'):.0f} GFLOP/s, everything else at {median(rates, 'copy_gbs'):.1f} GB/s")
        spread = spread_of(rates)
        if spread > QUIET:
            print(f"NOT QUIET: the rate of products was {100 * spread:.0f} % higher in one run than in another; a time of this table says little")
    return missed


def spread_of(results):
    """By how much the fastest peak exceeds the slowest: alone on a machine all are the same."""
    rates = [result["peak_gflops"] for result in results]
    return max(rates) / min(rates) - 1


def half_storage(options):
    # A step on a virtual machine differs from the next by 7 %, what is looked for is 5 %: three rounds decide nothing.
    several = 3 * options.rounds
    print(f"\nforward and backward with half storage (arithmetic is float), ratio to f32, medians of {several} rounds; aim 1.05, small 1.25")
    missed = 0
    for name in ("small", "medium", "t64"):
        shape, steps, *_ = CONFIGURATIONS[name]
        rounds = {p: [] for p in ("f32", "f16", "bf16")}
        for _ in range(several):
            for precision, results in rounds.items():
                results.append(kit(options.binary, shape, steps, precision))
        base = median(rounds["f32"], "pass_ms")
        ratios = {p: median(rounds[p], "pass_ms") / base for p in ("f16", "bf16")}
        wrong = {precision: ratio > (1.25 if name == "small" else 1.05) for precision, ratio in ratios.items()}
        missed += sum(wrong.values())
        print(f"{name:<14} f32 {base:8.1f} ms   f16 {ratios['f16']:.3f}   bf16 {ratios['bf16']:.3f}{told(wrong)}", flush=True)
    return missed


def simulated_gpu(options):
    """Says whether the GPU is simulated; then shows that a tiny step runs in each precision."""
    shape, steps = TINY
    first = kit_on_gpu(options.binary, shape, steps, "f32", "flash")
    if not first["simulated"]:
        return False
    print("the GPU is SIMULATED: its times mean nothing, only that the steps run")
    for precision in options.precisions:
        for attention in ("flash", "plain"):
            result = kit_on_gpu(options.binary, shape, steps, precision, attention)
            print(f"tiny {precision:<5} {attention}  {result['ms']:9.1f} ms  "
                  f"loss {result['loss']:.4f}", flush=True)
    return True


def cell(value, width, digits=1):
    return f"{'-':>{width}}" if value is None else f"{value:{width}.{digits}f}"


def gpu_row(options, name, precision, with_torch, end):
    """Times one configuration and prints its line. Returns the ratio to torch.compile, or None.
    After `end` no further round begins."""
    shape, steps = GPU_CONFIGURATIONS[name]
    kits, peers = {"flash": [], "plain": []}, {"eager": [], "compile": []}
    for number in range(options.rounds):
        if number > 0 and time.monotonic() > end:
            print(f"{name} {precision}: {number} of {options.rounds} rounds, time is up")
            break
        for attention, results in kits.items():
            results.append(kit_on_gpu(options.binary, shape, steps, precision, attention))
        for way, results in peers.items() if with_torch else ():
            results.append(peer_on_gpu(shape, steps, precision, way == "compile"))
    best = min(kits, key=lambda attention: median(kits[attention], "ms"))
    ms, tokens = median(kits[best], "ms"), median(kits[best], "tokens_per_s")
    theirs = {way: median(results, "ms") for way, results in peers.items()}
    ratio = {way: ms / value if value else None for way, value in theirs.items()}
    print(f"{name:<10} {precision:<5} {cell(median(kits['flash'], 'ms'), 9, 2)} "
          f"{cell(median(kits['plain'], 'ms'), 9, 2)} {tokens:10.0f} "
          f"{median(kits[best], 'counted_mib'):8.0f}   {cell(theirs['eager'], 9, 2)} "
          f"{cell(ratio['eager'], 6, 2)} {cell(median(peers['eager'], 'peak_mib'), 8, 0)}   "
          f"{cell(theirs['compile'], 9, 2)} {cell(ratio['compile'], 6, 2)} "
          f"{cell(median(peers['compile'], 'peak_mib'), 8, 0)}", flush=True)
    return ratio["compile"]


def on_gpu(options):
    """The whole table. Returns how many aims were met, were missed, and had no peer to judge by."""
    with_torch = False
    try:
        import torch
        with_torch = torch.cuda.is_available()
    except ImportError:
        pass
    if with_torch:
        print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}; "
              f"medians of {options.rounds} rounds; ratios are of the kit's faster attention")
    else:
        print("this Python has no PyTorch with a GPU: only the kit is timed")
    print(f"{'':<16} {'flash ms':>9} {'plain ms':>9} {'tokens/s':>10} {'MiB':>8}   "
          f"{'eager ms':>9} {'ratio':>6} {'MiB':>8}   {'compile':>9} {'ratio':>6} {'MiB':>8}")
    end = time.monotonic() + options.limit
    met, missed, unjudged = 0, 0, 0
    for name in GPU_CONFIGURATIONS:
        for precision in options.precisions if name in options.only else ():
            if time.monotonic() > end:
                print(f"{name:<10} {precision:<5} left out: {options.limit:.0f} s are over")
                ratio = None
            else:
                ratio = gpu_row(options, name, precision, with_torch, end)
            aim = GPU_AIMS.get((name, precision))
            if aim is not None:
                met += ratio is not None and ratio <= aim
                missed += ratio is not None and not ratio <= aim
                unjudged += ratio is None
    return met, missed, unjudged


def gpu_main(options):
    if simulated_gpu(options):
        return
    met, missed, unjudged = on_gpu(options)
    print(f"\naims: {met} met, {missed} missed, {unjudged} without a peer to judge by")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--precisions", default="bf16,f16,f32", help="gpu: which, in this order")
    parser.add_argument("--limit", type=float, default=3600, metavar="SECONDS",
                        help="gpu: begin nothing more after so long")
    options = parser.parse_args()
    everything = [*GPU_CONFIGURATIONS] if options.device == "gpu" else [*CONFIGURATIONS, "half"]
    options.only = options.only.split(",") if options.only else everything
    options.precisions = options.precisions.split(",")
    unknown = {*options.only} - {*everything} | {*options.precisions} - {"f32", "f16", "bf16"}
    if unknown:
        parser.error("there is no " + ", ".join(sorted(unknown)))
    if options.device == "gpu":
        gpu_main(options)
        return
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
    print(f"\n{missed} aim{'s' * (missed != 1)} missed" if missed else "\nevery aim met")


if __name__ == "__main__":
    main()
