#!/usr/bin/env python3
"""`make table RANKS=4`: what each way to share a model among ranks takes, and what it gives.

    tools/table_ranks.py build/bin/train build/bin/makespan --ranks 4 [--machine machines/a100.json] [--size kit|gpt2]
                         [--page docs/when_which.md]

Each row is the same window of R micro-batches, by R ranks: bytes of the fullest rank by kind; how far bytes, on all ranks and
on the wire, are from the formulas; bytes that ranks send in a step; and the makespan of a step on a declared machine, which is a lower bound and no measurement.
Tensor parallel has a row where its slices divide the heads. Nothing is computed: the runs are dry (docs/clock.md), which changes neither bytes nor calls. A step is the second one: what
a run of two steps has more than a run of one. The error must be 0 bytes, else the exit status is 1; so it is where --page names a page
that lacks the figures of a row.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import picture
from arguments import Parser
from meter import Meter
from page_rows import has_rows

MIB = 1024 * 1024
KINDS = ("weights", "gradients", "optimizer", "activations", "workspace", "data")
COLOURS = {"weights": "#4c72b0", "gradients": "#55a868", "optimizer": "#c44e52", "activations": "#dd8452"}
SIZES = {
    "kit": "--n_layer 4 --n_head 4 --n_embd 128 --n_positions 128 --per_device_train_batch_size 8".split(),
    "gpt2": ("--n_layer 12 --n_head 12 --n_embd 768 --n_positions 1024 --vocab_size 50257 --attention flash --bf16 "
             "--per_device_train_batch_size 4").split(),
}


def rows(ranks, heads):
    """Name, ranks, micro-batches of a rank, options: each has R micro-batches in its window. A slice has whole heads."""
    half = ranks // 2
    listed = [
        ("one rank", 1, ranks, []),
        ("ddp", ranks, 1, ["--ddp"]),
        *((f"zero {stage}", ranks, 1, ["--zero", str(stage)]) for stage in (1, 2, 3)),
        (f"pipeline {ranks}", ranks, ranks, ["--pipeline", str(ranks)]),
        (f"tensor {ranks}", ranks, ranks, ["--tensor", str(ranks)]),
    ]
    if ranks % 2 == 0 and half > 1:
        listed += [(f"ddp 2 x pipeline {half}", ranks, half, ["--ddp", "--pipeline", str(half)]),
                   (f"ddp 2 x tensor {half}", ranks, half, ["--ddp", "--tensor", str(half)])]
    return [row for row in listed if "--tensor" not in row[3] or heads % int(row[3][-1]) == 0]


class Refused(Exception):
    """Train has said in a line why it does not run."""


def run(command, environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if not line.startswith("[cudasim] note")]
        raise Refused(said[-1] if said else f"status {done.returncode}")
    return done.stdout


def measure(options, row, steps, folder):
    """A run of some steps: its summary, and its makespan in seconds."""
    _, ranks, micros, more = row
    metrics, record = os.path.join(folder, "metrics.jsonl"), os.path.join(folder, "record.jsonl")
    run([options.train, *SIZES[options.size], "--device", "gpu", "--eval_fraction", "0", "--max_steps", str(steps), "--metrics", metrics,
         "--gradient_accumulation_steps", str(micros), *(["--nproc_per_node", str(ranks)] if ranks > 1 else []), *more],
        {"CUDASIM_DRY": "1", "CUDASIM_RECORD": record, "CUDASIM_MEMORY": "32000"})
    said = run([options.makespan, record, "--machine", options.machine, *(["--trace", options.trace] if options.trace else [])], {})
    milliseconds = re.match(r"([\d.e+-]+) ms on", said)
    if not milliseconds:
        sys.exit(f"{options.makespan}: no makespan in: {said}")
    with open(metrics, encoding="utf-8") as file:
        return json.loads(file.readlines()[-1]), 1e-3 * float(milliseconds[1])


def figures(options, row):
    with tempfile.TemporaryDirectory() as folder:
        _, first = measure(options, row, 1, folder)
        summary, both = measure(options, row, 2, folder)
    ranks = summary.get("ranks", [{"sent": 0, "predicted_sent": 0, **summary}])
    sent = [rank["sent"] for rank in ranks]
    error = sum(abs(rank["memory_by_kind"][kind] - rank["predicted_by_kind"][kind]) for rank in ranks for kind in KINDS)
    error += sum(abs(rank["sent"] - rank["predicted_sent"]) for rank in ranks if rank["predicted_sent"])
    fullest = max((rank["memory_by_kind"] for rank in ranks), key=lambda use: sum(use.values()))
    return {"fullest": fullest, "error": round(error), "sent": round(max(sent)), "all": round(sum(sent)), "seconds": both - first}


def print_row(row, got):
    if not isinstance(got, dict):
        print(f"{row[0]:22}{got}")
        return
    use = got["fullest"]
    print(f"{row[0]:22}" + "".join(f"{use[kind] / MIB:12.2f}" for kind in KINDS[:4]) +
          f"{sum(use.values()):14}{got['error']:6}{got['sent']:14}{got['all']:14}{1e3 * got['seconds']:10.3f}")


def cells(got):
    """The figures of a row as the handbook's table has them, after the name."""
    use = got["fullest"]
    return [*(f"{use[kind] / MIB:.2f}" for kind in KINDS[:4]), f"{got['sent']:,}", f"{got['all']:,}", f"{1e3 * got['seconds']:.3f}"]


def draw(found, path, machine):
    """Bars of bytes by kind, and the time of a step beside each."""
    data = "".join(f"\"{name}\" " + " ".join(f"{got['fullest'][kind] / MIB}" for kind in KINDS[:4]) + f" {1e3 * got['seconds']:.2f}\n"
                   for name, got in found)
    bars = ", ".join(f"$rows using {i + 2}:xtic(1) title '{kind}' lc rgb '{COLOURS[kind]}'" for i, kind in enumerate(KINDS[:4]))
    times = "$rows using 0:($2+$3+$4+$5):(sprintf('%.2f ms', $6)) with labels offset 0,0.7 notitle"
    script = (f"$rows << end\n{data}end\nset style data histogram\nset style histogram rowstacked\nset style fill solid 0.85\n"
              f"set boxwidth 0.7\nset grid y lc rgb '#dddddd'\nset ylabel 'MiB of the fullest rank'\nset yrange [0:*]\nset offsets 0,0,4,0\n"
              f"set xtics rotate by -25\nset key outside top center horizontal\nset title 'A step on {machine}: a lower bound, not measured'\n"
              f"plot {bars}, {times}\n")
    return picture.draw(script, (820, 460), path, "Bytes of the fullest rank by kind, and the time of a step, for each way to share a model")


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("makespan")
    parser.add_argument("--ranks", type=int, required=True, help="2 to 64")
    parser.add_argument("--machine", default="machines/a100.json")
    parser.add_argument("--size", choices=sorted(SIZES), default="kit")
    parser.add_argument("--trace", help="a file for ui.perfetto.dev: of the last row, or of the one that --only names")
    parser.add_argument("--picture", help="an SVG of all rows that ran")
    parser.add_argument("--page", help="a page of the handbook that should have the figures of all rows")
    parser.add_argument("--only", default="", help="rows with this in their name")
    options = parser.parse_args()
    if not 2 <= options.ranks <= 64:
        parser.error(f"--ranks {options.ranks}: 2 to 64")
    try:
        with open(options.machine, encoding="utf-8") as file:
            machine = json.load(file)["name"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"{options.machine}: no declared machine: {error}")
    heads = int(SIZES[options.size][SIZES[options.size].index("--n_head") + 1])
    chosen = [row for row in rows(options.ranks, heads) if options.only in row[0]]
    if not chosen:
        parser.error(f"--only {options.only}: no such row")
    meter = Meter("rows", len(chosen))
    got = []
    for row in chosen:
        try:
            got.append(figures(options, row))
        except Refused as refused:
            got.append(str(refused))
        meter.tell(len(got))
    meter.clear()
    print(f"A window of {options.ranks} micro-batches; {' '.join(SIZES[options.size])}")
    print(f"A step on {machine}: declared, a lower bound, not measured\n")
    print(f"{'':22}" + f"{'MiB of the fullest rank':>48}{'bytes':>14}{'error':>6}{'sent by one':>14}{'sent by all':>14}{'step ms':>10}")
    print(f"{'':22}" + "".join(f"{kind:>12}" for kind in KINDS[:4]))
    for row, result in zip(chosen, got):
        print_row(row, result)
    found = [(row[0], result) for row, result in zip(chosen, got) if isinstance(result, dict)]
    drawn = not (options.picture and found) or draw(found, options.picture, machine)
    lacking = options.page and not has_rows(options.page, [cells(result) for _, result in found])
    if len(found) < len(got):
        print(f"{len(got) - len(found)} of {len(got)} rows have no figures: {next(result for result in got if isinstance(result, str))}", file=sys.stderr)
    sys.exit(bool(not drawn or lacking or len(found) < len(got)) or any(result["error"] != 0 for _, result in found))


if __name__ == "__main__":
    main()
