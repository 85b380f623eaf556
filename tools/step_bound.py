#!/usr/bin/env python3
"""The least time of a training step on the declared machines, op by op: the table in docs/gpu.md.

    tools/step_bound.py            a dry run of the step in the simulator; writes the table
    tools/step_bound.py --check    the same, and status 1 where the page has another table
    tools/step_bound.py --measured FILE --on "NVIDIA H100, 2027-01-31"    beside it what `train --profile` has printed on a GPU

The step is that of COMMAND. Its bytes and arithmetic are those of kernels/cost.h, its rates those of machines/*.json: no kernel
reaches them. PAGE=file writes another page.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

from class_folder import write_whole

PAGE = os.environ.get("PAGE", "docs/gpu.md")
TRAIN, MAKESPAN = "build/bin/train", "build/bin/makespan"
# As in tools/gpu_check.sh, which measures it.
COMMAND = ["--device", "gpu", "--bf16", "--attention", "flash", "--n_layer", "12", "--n_head", "12", "--n_embd", "768", "--n_positions", "1024",
           "--vocab_size", "50257", "--per_device_train_batch_size", "8", "--eval_fraction", "0", "--max_steps", "3"]
FIRST = "embedding_forward"   # the op that begins a step
OTHERS = "fills and copies"
BEGIN, END = "<!-- step bound: tools/step_bound.py -->\n", "<!-- end of step bound -->\n"
UNITS = {"GB/s": 1e9, "TFLOP/s": 1e12, "us": 1e-6}


class Wrong(Exception):
    """Why there is no table."""


@dataclass
class Op:
    """What a step asks of an op; of each call the bytes, and the FLOPs by precision."""
    calls: int = 0
    launches: int = 0
    costs: list = field(default_factory=list)


# ---- the step ------------------------------------------------------------------------------------------

def run(words, **settings):
    done = subprocess.run(words, env=os.environ | settings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Wrong(f"{words[0]} ends with status {done.returncode}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    return done.stdout


def last_step(entries):
    """Those from the last op that begins a step, but one, to the last: a whole step that is not the first."""
    begins = [i for i, entry in enumerate(entries) if entry.get("op") == FIRST]
    if len(begins) < 3:
        raise Wrong(f"the record has {len(begins)} steps, and three are needed")
    return entries[begins[-2]:begins[-1]]


def by_itself(entries):
    """A record of its own: numbered from 1, what came before is over."""
    before = entries[0]["id"] - 1
    return [entry | {"id": entry["id"] - before, "after": [other - before for other in entry["after"] if other > before]} for entry in entries]


def record_step(folder):
    path = f"{folder}/record.jsonl"
    run([TRAIN, *COMMAND], CUDASIM_DRY="1", CUDASIM_RECORD=path, CUDASIM_MEMORY="64000")
    with open(path, encoding="utf-8") as file:
        return by_itself(last_step([json.loads(line) for line in file]))


def ops_of(entries):
    """{name: Op} in the order of the step. The first launch of a call has the cost of all."""
    ops = {}
    for entry in entries:
        if entry["kind"] in ("launch", "product", "fill", "copy"):
            op = ops.setdefault(entry.get("op", OTHERS), Op())
            cost = (entry.get("bytes", 0), entry.get("flops", 0), entry.get("precision", "f32"))
            op.launches += 1
            if cost[0] or cost[1]:
                op.calls += 1
                op.costs.append(cost)
    return ops


# ---- a machine -----------------------------------------------------------------------------------------

def machine(path):
    with open(path, encoding="utf-8") as file:
        keys = json.load(file)
    return {key: value if key == "name" else value["value"] * UNITS.get(value["unit"], 1) for key, value in keys.items()}


def bound(op, rates):
    """The least time of an op in a step [s], and what sets it: bytes, arithmetic or the host's launches."""
    times = [(moved / rates["memory"], flops / rates[precision]) for moved, flops, precision in op.costs]
    device, by_bytes = sum(map(max, times)), sum(max(pair) for pair in times if pair[0] >= pair[1])
    host = op.launches * rates["launch"]
    return max(device, host), "launches" if host > device else "bytes" if by_bytes >= device / 2 else "arithmetic"


def makespan(entries, path, folder):
    """Of the whole step [s]."""
    record = f"{folder}/step.jsonl"
    with open(record, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in entries)
    said = run([MAKESPAN, record, "--machine", path])
    return float(said.split()[0]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[said.split()[1]]


def machines_with(precision):
    """A machine whose half is not faster than its floats lacks such products."""
    rates = {path: machine(path) for path in sorted(glob.glob("machines/*.json"))}
    return {path: of for path, of in rates.items() if of[precision] > of["f32"]}


# ---- the table -----------------------------------------------------------------------------------------

def measured_ops(path):
    """{op: ms in a step} and the whole step, of what `train --profile` has printed."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    step = re.search(r"Where the time goes: ([\d.]+) ms a step", text)
    if step is None:
        raise Wrong(f"{path}: train --profile has not printed this")
    found = {op: float(ms) for op, ms in re.findall(r"^  (\w+) +\d+ +([\d.]+) +[\d.]+ %", text, re.MULTILINE)}
    rest = re.search(r"everything else +([\d.]+)", text)
    return found | ({OTHERS: float(rest[1])} if rest else {}), float(step[1])


def cells(values):
    return "| " + " | ".join(str(value) for value in values) + " |"


def table(entries, folder, measured=None, where=""):
    ops, machines = ops_of(entries), machines_with("bf16")
    times, whole = measured or ({}, None)
    head = ["op", "calls", "launches", "GB", "TFLOP"] + [name for rates in machines.values() for name in (f"{rates['name']}, ms", "set by")]
    rows = []
    for name, op in ops.items():
        row = [f"`{name}`" if name != OTHERS else name, op.calls, op.launches, f"{sum(cost[0] for cost in op.costs) / 1e9:.2f}",
               f"{sum(cost[1] for cost in op.costs) / 1e12:.2f}"]
        for rates in machines.values():
            seconds, limit = bound(op, rates)
            row += [f"{1e3 * seconds:.2f}", limit]
        rows.append(row + ([f"{times[name]:.2f}" if name in times else "-"] if measured else []))
    rows.append(["**the step**", "", sum(op.launches for op in ops.values()), f"{sum(c[0] for op in ops.values() for c in op.costs) / 1e9:.2f}",
                 f"{sum(c[1] for op in ops.values() for c in op.costs) / 1e12:.2f}"]
                + [text for path in machines for text in (f"**{1e3 * makespan(entries, path, folder):.2f}**", "")]
                + ([f"**{whole:.2f}**"] if measured else []))
    head += [f"measured on {where}, ms"] if measured else []
    return "\n".join([cells(head), "|" + "---|" * len(head), *map(cells, rows)]) + "\n"


def with_table(page, made):
    return page[:page.index(BEGIN) + len(BEGIN)] + "\n" + made + "\n" + page[page.index(END):]


def table_of(page):
    """The table that stands there, without what was measured."""
    rows = [line.strip("|").split("|") for line in page[page.index(BEGIN):page.index(END)].splitlines() if line.startswith("|")]
    extra = len([name for name in rows[0] if "measured on" in name]) if rows else 0
    return [row[:len(row) - extra] for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--measured", metavar="FILE", help="what train --profile has printed on a GPU")
    parser.add_argument("--on", default="", help="which GPU, and when")
    options = parser.parse_args()
    try:
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
            raise Wrong(f"{PAGE} has no place for the table: {BEGIN.strip()} ... {END.strip()}")
        with tempfile.TemporaryDirectory() as folder:
            made = table(record_step(folder), folder, measured_ops(options.measured) if options.measured else None, options.on)
        if options.check:
            if table_of(with_table(page, made)) != table_of(page):
                raise Wrong(f"{PAGE} has another table: tools/step_bound.py")
            print("step bound: the page is current")
        else:
            write_whole(PAGE, with_table(page, made).encode())
            print(f"step bound: {PAGE}")
    except (Wrong, OSError) as error:
        print(f"step_bound: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
