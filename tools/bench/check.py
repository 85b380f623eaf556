#!/usr/bin/env python3
"""Do the bench programs run, and do they time what there is? No time is judged.

    tools/bench/check.py build/bin/bench build/bin/bench-ops build/bin/bench-techniques
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OPS_H = os.path.join(HERE, "..", "..", "kernels", "ops.h")
TINY = ["--layers", "1", "--heads", "2", "--width", "32", "--vocabulary", "256", "--time", "16",
        "--batch", "2", "--steps", "1"]
mistakes = []


def expect(truth, what):
    if not truth:
        mistakes.append(what)
        print("WRONG:", what, flush=True)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def table_of_ops():
    """Names in kernels/ops.h: those that exist once per precision, and those on floats."""
    with open(OPS_H, encoding="ascii") as file:
        each, floats = file.read().split("#define EACH_FLOAT_OP(X)")
    return ({*re.findall(r"^    X\((\w+)\)", each, re.M)},
            {*re.findall(r"^    X\((\w+)\)", floats, re.M)})


def check_line(line):
    name = f"{line['op']} {line['where']} {line['precision']}"
    expect(line["microseconds"] > 0 and line["bytes"] > 0, f"{name}: nothing measured")
    rate = 1e-3 * line["bytes"] / line["microseconds"]
    expect(math.isclose(rate, line["gb_per_s"], rel_tol=1e-3), f"{name}: GB/s")
    rate = 1e-6 * line["flops"] / line["microseconds"]
    expect(math.isclose(rate, line["tflop_per_s"], rel_tol=1e-3), f"{name}: TFLOP/s")
    copied = not re.match("matmul|attention|flash", line["op"])
    expect(line["bound"] == ("copy" if copied else "matmul"), f"{name}: against the wrong rate")


def check_ops(program, device):
    """Every op of the table is timed in every precision, and the rates are those of the times."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ops.jsonl")
        result = run(program, "--device", device, "--small", "--json", path)
        expect(result.returncode == 0, f"bench-ops --device {device}: {result.stderr}")
        if result.returncode != 0:
            return
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    first = result.stdout.splitlines()[0]
    expect(lines[0]["simulated"] == ("SIMULATED" in first), "the first line says what GPU it is")
    expect("no verdict" in result.stdout.splitlines()[-1], "a small run judges nothing")
    ratios = [l["ratio"] for l in lines if "ratio" in l and l["times"] > 0]
    expect(ratios == ["adam8", "adafactor"], f"{device}: ratios {ratios}")
    bounds = [(l["bound"], l["precision"]) for l in lines if "op" not in l and "ratio" not in l]
    expect(bounds == [("copy", "")] + [("matmul", p) for p in ("f32", "f16", "bf16")],
           f"{device}: bounds {bounds}")
    per_precision, floats = table_of_ops()
    for precision in ("f32", "f16", "bf16"):
        timed = {l["op"] for l in lines if "op" in l and l["precision"] == precision}
        there = per_precision | floats if precision == "f32" else per_precision
        expect(timed == there, f"{device} {precision}: timed or missing {sorted(timed ^ there)}")
    for line in lines:
        if "op" in line:
            check_line(line)


def check_step(program, device):
    """A step runs in each precision with either attention; its loss is that of a fresh model."""
    for precision in ("f32", "f16", "bf16"):
        for attention in ("plain", "flash"):
            result = run(program, *TINY, "--device", device, "--precision", precision,
                         "--attention", attention)
            name = f"bench {device} {precision} {attention}"
            expect(result.returncode == 0, f"{name}: {result.stderr}")
            loss = re.search(r" loss=(\S+)", result.stdout)
            expect(loss and abs(float(loss[1]) - math.log(256)) < 0.1, f"{name}: {result.stdout}")
            check_bound(name, device, dict(re.findall(r"(\w+)=([\d.]+)", result.stdout)))


def check_bound(name, device, said):
    """On the CPU the least time of a step, by the rates that are printed; a GPU has none."""
    if device == "gpu":
        expect("bound_ms" not in said, f"{name}: a bound of a GPU")
        return
    bound, flops, rate = (float(said.get(key, 0)) for key in ("bound_ms", "peak_gflops", "copy_gbs"))
    expect(min(bound, flops, rate) > 0, f"{name}: no bound, {said}")
    products = 3 * 2 * 32 * (12 * 32 * 32 + 256 * 32) # without attention; TINY has 32 tokens of 32 channels
    expect(1e-6 * products / max(flops, 1e-9) < bound < 1, f"{name}: bound of {bound} ms at {flops} GFLOP/s")


def check_techniques(program):
    """Each technique is timed, and checkpointing keeps the bytes that it should."""
    result = run(program, "--rounds", "1")
    expect(result.returncode == 0, f"bench-techniques: {result.stderr}")
    for name in ("accumulation", "checkpointing", "adapters"):
        expect(re.search(rf"^{name} .*ratio \d", result.stdout, re.M), f"{name}: {result.stdout}")
    kept = re.search(r"one block +ratio ([\d.]+), aim ([\d.]+)", result.stdout)
    expect(kept and float(kept[1]) <= float(kept[2]), f"activations: {result.stdout}")


def main():
    bench, bench_ops, techniques = sys.argv[1:]
    check_techniques(techniques)
    for device in ("cpu", "gpu"):
        check_ops(bench_ops, device)
        check_step(bench, device)
    expect(run(bench_ops, "--precision", "f64").returncode == 2, "there is no f64")
    expect(run(bench_ops, "--small", "--device", "cpu", "--json", "/nowhere/x").returncode == 1,
           "a file that cannot be written")
    expect(run(bench, "--device", "tpu").returncode == 2, "there is no such device")
    print(f"bench: {len(mistakes)} mistakes" if mistakes else "bench: the programs run")
    sys.exit(bool(mistakes))


if __name__ == "__main__":
    main()
