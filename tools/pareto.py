#!/usr/bin/env python3
"""Peak bytes against tokens per second of every plan of lab 06, as a table and a picture.

    tools/pareto.py build/bin/pareto [--picture FILE] [options of train: --fit 24 --effective_batch 16 ...]

The front, plans that no other one beats in both, is printed and drawn as a line; the plan that
plan_choose() takes for --fit is marked. Bytes are counted, speed is measured on this machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile

MIB = 1024 * 1024
DEFAULTS = ("--fit", "24", "--effective_batch", "8")
FIELDS = ("micro_batch", "window", "precision", "attention", "segment", "attention_only", "predicted_bytes",
          "counted_bytes", "predicted_speed", "speed", "chosen")
COLOURS = {"f32": "#2b6ca3", "f16": "#b06a10", "bf16": "#4a8a2c"}


def plans(command):
    """A dictionary for each line that the program prints."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    found = []
    for line in done.stdout.splitlines():
        plan = dict(zip(FIELDS, line.split()))
        for field in FIELDS:
            if field not in ("precision", "attention"):
                plan[field] = float(plan[field])
        found.append(plan)
    return found


def front(found):
    """Those that are faster than all that take less."""
    best, kept = 0, []
    for plan in sorted(found, key=lambda plan: (plan["counted_bytes"], -plan["speed"])):
        if plan["speed"] > best:
            best = plan["speed"]
            kept.append(plan)
    return kept


def name(plan):
    text = f"{plan['window']:.0f} x {plan['micro_batch']:.0f} {plan['precision']} {plan['attention']}"
    text += f" segment {plan['segment']:.0f}" if plan["segment"] else ""
    return text + (" attention_only" if plan["attention_only"] else "")


def print_table(found):
    shown = front(found)
    shown += [plan for plan in found if plan["chosen"] and plan not in shown]
    wrong = [plan for plan in found if plan["predicted_bytes"] != plan["counted_bytes"]]
    print(f"{len(found)} plans, {len(shown)} of them are shown: no other is faster with fewer bytes\n")
    print(f"  {'window x micro-batch':<46} {'MiB':>8} {'tokens/s':>9} {'predicted':>9}")
    for plan in sorted(shown, key=lambda plan: plan["counted_bytes"]):
        print(f"  {name(plan):<46} {plan['counted_bytes'] / MIB:8.2f} {plan['speed']:9.0f} "
              f"{plan['predicted_speed']:9.0f}{'  <- chosen' if plan['chosen'] else ''}")
    print(f"\nBytes: {len(found) - len(wrong)} of {len(found)} predicted to the byte")


def points(chosen):
    return "".join(f"{plan['counted_bytes'] / MIB} {plan['speed']}\n" for plan in chosen) + "e\n"


def draw(found, path):
    """gnuplot draws beside the picture's name; only a whole picture gets it."""
    series, data = [], ""
    for precision, colour in COLOURS.items():
        some = [plan for plan in found if plan["precision"] == precision]
        if some:
            series.append(f"'-' with points pt 7 ps 0.5 lc rgb '{colour}' title '{precision}'")
            data += points(some)
    series.append("'-' with steps lc rgb '#888888' title 'the front'")
    data += points(front(found))
    marked = [plan for plan in found if plan["chosen"]]
    if marked:
        series.append("'-' with points pt 4 ps 1.8 lw 2 lc rgb '#c02020' title 'chosen for --fit'")
        data += points(marked)
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        script = (f"set terminal svg size 820,520 dynamic font 'sans-serif,13' background '#ffffff'\n"
                  f"set output '{aside}/picture'\nset encoding utf8\nset grid lc rgb '#dddddd'\n"
                  "set xlabel 'peak bytes, counted (MiB)'\nset ylabel 'tokens per second'\nset key outside\n"
                  f"set yrange [0:*]\nplot {', '.join(series)}\n{data}")
        try:
            subprocess.run(["gnuplot"], input=script, text=True, check=True)
            os.replace(f"{aside}/picture", path)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{path}: no picture: {error}", file=sys.stderr)
            return 1
    print(f"Picture: {path}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--picture", default="build/pareto.svg")
    arguments, options = parser.parse_known_args()
    found = plans([arguments.program, *DEFAULTS, *options])
    print_table(found)
    return draw(found, arguments.picture)


if __name__ == "__main__":
    sys.exit(main())
