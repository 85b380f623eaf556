#!/usr/bin/env python3
"""Peak bytes against tokens per second of every plan of lab 06, as a table and a picture.

    tools/pareto.py build/bin/pareto [--picture FILE] [options of train: --fit 24 --effective_batch 16 ...]

The front, plans that no other one beats in both, is printed and drawn as a line; the plan that
plan_choose() takes for --fit is marked. Bytes are counted, speed is measured on this machine.
"""

import argparse
import subprocess
import sys
import time

import picture
from meter import duration_text

MIB = 1024 * 1024
DEFAULTS = ("--fit", "24", "--effective_batch", "8")
FIELDS = ("micro_batch", "window", "precision", "attention", "segment", "attention_only", "predicted_bytes",
          "counted_bytes", "predicted_speed", "speed", "noise", "chosen")
SHOWS = "Peak bytes and tokens per second of every plan, the front and the chosen plan"
COLOURS = {"f32": "#2b6ca3", "f16": "#b06a10", "bf16": "#4a8a2c"}


def plan_of(line):
    plan = dict(zip(FIELDS, line.split()))
    for field in FIELDS:
        if field not in ("precision", "attention"):
            plan[field] = float(plan[field])
    return plan


def plans(command):
    """What the program says of them all, and a dictionary for each plan, printed as it is done."""
    print("Measuring this machine's rates: a few seconds", flush=True)
    course, found, done = {}, [], 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        for line in program.stdout:
            if not course:
                words = line.split()
                course = {word: float(number) for word, number in zip(words[::2], words[1::2])}
                print_course(course)
                began = time.monotonic()
                continue
            found.append(plan_of(line))
            done += course["tokens"] / found[-1]["predicted_speed"] / course["seconds"]   # as a share: slow plans come first
            left = (time.monotonic() - began) * max(1 / done - 1, 0)
            print(f"  {len(found):4} of {course['plans']:.0f}  {row(found[-1])} tokens/s, left {duration_text(left)}", flush=True)
    if program.returncode != 0:
        sys.exit(program.returncode)
    return course, found


def print_course(course):
    seconds = course["seconds"] * course["windows"]
    print(f"{course['plans']:.0f} plans run, {course['windows']:.0f} windows each: about {duration_text(seconds)} by these rates\n", flush=True)


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


def row(plan):
    return f"{name(plan):<46} {plan['counted_bytes'] / MIB:8.2f} MiB {plan['speed']:8.0f}"


def busy(course, found):
    """A line where the machine was too busy for its speeds to be believed, or ''."""
    noisy = [plan for plan in found if plan["noise"] > course["busy_from"]]
    if len(noisy) <= len(found) / 10:
        return ""
    most = max(plan["noise"] for plan in noisy)
    return f"the machine is busy: a window of one plan takes up to {most:.1f} times as long as its fastest; believe the bytes, not the speeds"


def print_table(found):
    shown = front(found)
    shown += [plan for plan in found if plan["chosen"] and plan not in shown]
    wrong = [plan for plan in found if plan["predicted_bytes"] != plan["counted_bytes"]]
    print(f"\n{len(found)} plans, {len(shown)} of them are shown: no other is faster with fewer bytes\n")
    print(f"  {'window x micro-batch':<46} {'MiB':>8} {'tokens/s':>9} {'predicted':>9}")
    for plan in sorted(shown, key=lambda plan: plan["counted_bytes"]):
        print(f"  {name(plan):<46} {plan['counted_bytes'] / MIB:8.2f} {plan['speed']:9.0f} "
              f"{plan['predicted_speed']:9.0f}{'  <- chosen' if plan['chosen'] else ''}")
    print(f"\nBytes: {len(found) - len(wrong)} of {len(found)} predicted to the byte")


def points(chosen):
    return "".join(f"{plan['counted_bytes'] / MIB} {plan['speed']}\n" for plan in chosen) + "e\n"


def draw(found, path, title):
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
    script = ("set grid lc rgb '#dddddd'\nset xlabel 'peak bytes, counted (MiB)'\nset ylabel 'tokens per second'\n"
              f"set key outside\nset title '{title}'\nset yrange [0:*]\nplot {', '.join(series)}\n{data}")
    return 0 if picture.draw(script, (820, 520), path, SHOWS) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--picture", default="build/pareto.svg")
    arguments, options = parser.parse_known_args()
    course, found = plans([arguments.program, *DEFAULTS, *options])
    print_table(found)
    warning = busy(course, found)
    if warning:
        print(warning[0].upper() + warning[1:])
    return draw(found, arguments.picture, warning.split(":")[0])


if __name__ == "__main__":
    sys.exit(main())
