#!/usr/bin/env python3
"""`make table`: the experiment series of the Hugging Face page, on this kit.

    tools/table.py build/bin/train [--short] [--device cpu|gpu] [--size kit|seeds|tiny] [--sequences N]

Each row is a run of `train` in a process of its own: time, samples per second, peak bytes by kind,
what the formulas predict, and the ratio to the first row beside the published one (transformers,
perf_train_gpu_one.mdx, one V100). The bytes must be the predicted ones, to the byte: else the exit
status is 1. docs/series.md says how to read all this.

The model of that page's size is run on a real GPU only (--device gpu --size seeds); its predicted
bytes are printed in any case.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from arguments import Parser
from meter import Meter

MIB = 1024 * 1024
KINDS = ("weights", "gradients", "optimizer", "activations", "workspace", "data")
STATES = KINDS[:3]

# Rows of the series: name, micro-batches per update, options, published time and memory as ratios.
CHECKPOINTED = ["--gradient_checkpointing"]
ADAFACTOR, ADAMW_8BIT = ["--optim", "adafactor"], ["--optim", "adamw_8bit"]
ROWS = (
    ("vanilla", 1, [], 1.0, 1.0),
    ("accumulation", 4, [], 1.142, 0.581),
    ("+ checkpointing", 4, CHECKPOINTED, 1.478, 0.453),
    ("fp16", 1, ["--fp16"], 0.475, 0.932),
    ("all combined", 4, [*CHECKPOINTED, "--fp16"], 0.878, 0.487),
    ("adafactor", 1, ADAFACTOR, 1.112, 0.822),
    ("all + adafactor", 4, [*CHECKPOINTED, "--fp16", *ADAFACTOR], 0.978, 0.324),
    ("adamw_8bit", 1, ADAMW_8BIT, 0.968, 0.875),
    ("all + adamw_8bit", 4, [*CHECKPOINTED, "--fp16", *ADAMW_8BIT], 0.855, 0.359),
)
# Sizes: options of the model, batches, sequences that a row trains on.
KIT = ("--n_layer 4 --n_head 4 --n_embd 128 --n_positions 128".split(), (4, 32), 256)
SHORT = (KIT[0], (8,), 128)
TINY = ("--n_layer 3 --n_head 2 --n_embd 16 --n_positions 16".split(), (4,), 8)
SEEDS = ("--n_layer 24 --n_head 16 --n_embd 1024 --n_positions 512".split(), (4,), 128)
# What the published rows took at that size, MiB, without the 1,343 of CUDA's context.
PUBLISHED_MIB = (13606, 7338, 5432, 12596, 5932, 10952, 3504, 11742, 4020)


NAMES = 26  # characters of the first column


class Missing(Exception):
    """A lab is not there, or not done: the row waits for it."""


def run(command):
    """The last line of a run's metrics: its summary. Ends the program where train failed for a reason of its own."""
    with tempfile.TemporaryDirectory() as folder:
        metrics = os.path.join(folder, "metrics.jsonl")
        result = subprocess.run([*command, "--metrics", metrics], capture_output=True, text=True)
        if result.returncode == 0:
            with open(metrics, encoding="utf-8") as file:
                return json.loads(file.readlines()[-1])
    said = (result.stderr.strip().splitlines() or [""])[-1]
    if result.returncode == 77 or (result.returncode == 2 and said.startswith("needs lab")):
        raise Missing(said)
    sys.exit(f"{' '.join(command)}\nfailed with status {result.returncode}: {said}")


def command_of(options, shape, batch, row):
    _, micro_batches, more, _, _ = row
    return [options.train, *shape, "--device", options.device, "--eval_fraction", "0",
            "--per_device_train_batch_size", str(batch // micro_batches),
            "--gradient_accumulation_steps", str(micro_batches), *more]


def measure(options, shape, batch, sequences, row):
    updates = sequences // batch
    got = run([*command_of(options, shape, batch, row), "--max_steps", str(updates)])
    return {
        "device": f"{got['device']['name']}, {got['device']['note']}",
        "seconds": got["seconds"],
        "speed": got["samples_per_second"],
        "counted": got["memory_by_kind"],
        "predicted": got["predicted_by_kind"],
        "overhead": got["device_overhead"] / MIB,
    }


def predict(options, shape, batch, row):
    return run([*command_of(options, shape, batch, row), "--predict_only"])["predicted_by_kind"]


def total(use, kinds=KINDS):
    return sum(use[kind] for kind in kinds)


def name_of(row, batch):
    k = row[1]
    return f"{row[0]}, {f'{k} x ' if k > 1 else ''}{batch // k}"


def print_speeds(rows, batch, emulated):
    """Time and memory of each row, and their ratios to the first one. Returns the mistakes."""
    print(f"{'':{NAMES}}{'time':>8} {'samples/s':>10} {'ratio':>6} {'publ.':>6}   {'peak MiB':>9} "
          f"{'ratio':>6} {'publ.':>6} {'floor':>6}   {'predicted':>13} {'error':>6}")
    first = next((got for _, got in rows if isinstance(got, dict)), None)
    mistakes = 0
    for row, got in rows:
        name = name_of(row, batch) + ("*" if emulated and "--fp16" in row[2] else "")
        if not isinstance(got, dict):
            print(f"{name:{NAMES}}{got}")
            continue
        counted, base = total(got["counted"]), first["counted"]
        floor = total(got["counted"], STATES) / total(base, (*STATES, "activations"))
        error = sum(abs(got["counted"][kind] - got["predicted"][kind]) for kind in KINDS)
        mistakes += error != 0
        print(f"{name:{NAMES}}{got['seconds']:7.2f}s {got['speed']:10.2f} "
              f"{got['seconds'] / first['seconds']:6.3f} {row[3]:6.3f}   {counted / MIB:9.2f} "
              f"{counted / total(base):6.3f} {row[4]:6.3f} {floor:6.3f}   "
              f"{total(got['predicted']):13} {error:6}")
    return mistakes


def print_kinds(rows, batch):
    print(f"\n{'MiB by kind':{NAMES}}" + "".join(f"{kind:>12}" for kind in KINDS))
    for row, got in rows:
        if isinstance(got, dict):
            overhead = f"   + {got['overhead']:.0f} of the driver's" if got["overhead"] else ""
            print(f"{name_of(row, batch):{NAMES}}" +
                  "".join(f"{got['counted'][kind] / MIB:12.2f}" for kind in KINDS) + overhead)


def series(options, size, batch, meter):
    """Runs and prints the rows at one batch. The meter counts runs. Returns the rows whose bytes are not the predicted."""
    shape, _, sequences = size
    rows = []
    for row in ROWS:
        try:
            got = measure(options, shape, batch, options.sequences or sequences, row)
        except Missing as missing:
            got = str(missing)
        rows.append((row, got))
        meter.tell(size[1].index(batch) * len(ROWS) + len(rows))
    meter.clear()
    device = next((got["device"] for _, got in rows if isinstance(got, dict)), options.device)
    print(f"\nBatch {batch} on {device}\n")
    emulated = options.device == "cpu"
    mistakes = print_speeds(rows, batch, emulated)
    if emulated:
        print("* the CPU stores half in 2 bytes and computes in float: its time is not a GPU's")
    if not options.short:
        print_kinds(rows, batch)
    return mistakes


def predicted_series(options):
    """Prints what a step on a GPU takes at the size of the published rows, by the formulas. Returns
    how many rows take more than the published ones."""
    shape, (batch,), _ = SEEDS
    options = argparse.Namespace(**{**vars(options), "device": "gpu"})
    print(f"\nPredicted at the size of the published rows ({' '.join(shape)}), MiB\n")
    print(f"{'':{NAMES}}{'total':>9} {'publ.':>7}   " + "".join(f"{kind:>12}" for kind in KINDS))
    above = 0
    for row, limit in zip(ROWS, PUBLISHED_MIB):
        try:
            use = predict(options, shape, batch, row)
        except Missing as missing:
            print(f"{name_of(row, batch):{NAMES}}{missing}")
            continue
        above += total(use) > limit * MIB
        print(f"{name_of(row, batch):{NAMES}}{total(use) / MIB:9.1f} {limit:7}   " +
              "".join(f"{use[kind] / MIB:12.1f}" for kind in KINDS))
    return above


def refuse_without_gpu(options):
    """A step of that size takes minutes on a CPU, and forever in the simulator."""
    if options.device != "gpu" or run([options.train, "--device", "gpu", "--predict_only"])["device"]["simulated"]:
        sys.exit("--size seeds: on a real GPU only (make table BACKEND=cuda DEVICE=gpu SIZE=seeds)")


def main():
    parser = Parser(description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("--short", action="store_true", help="one batch, the main columns")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--size", choices=("kit", "seeds", "tiny"), default="kit",
                        help="of the model; tiny: to see that it runs")
    parser.add_argument("--sequences", type=int, default=0, help="per row")
    options = parser.parse_args()
    size = {"kit": SHORT if options.short else KIT, "seeds": SEEDS, "tiny": TINY}[options.size]
    if size is SEEDS:
        refuse_without_gpu(options)
    meter = Meter("runs", len(ROWS) * len(size[1]))
    print(f"{meter.all} runs, {options.sequences or size[2]} sequences each", flush=True)
    mistakes = sum(series(options, size, batch, meter) for batch in size[1])
    if not options.short:
        above = predicted_series(options)
        if above:
            print(f"\n{above} rows take more than the published ones")
        mistakes += above
    sys.exit(mistakes > 0)


if __name__ == "__main__":
    main()
