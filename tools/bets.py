#!/usr/bin/env python3
"""Bets: numbers of a lab that a student predicts before anything runs. `make bet03` asks, `make lab03` prints them beside
what a formula predicts and what was measured.

    tools/bets.py ask LAB               asks, and keeps the answers in labs/LAB/my_betsNN.json
    tools/bets.py run LAB COMMAND...    runs the lab's program, then shows the table

A lab declares its bets in labs/LAB/bets.json: of each its name, the question, the unit, two expressions (`formula` and
`measured`) and a sentence that is shown with the numbers. Expressions are Python's, over the facts of the lab's own run: the
last object of its metrics, with the letters V, L, NH, C, B, T, K, R, S and P, and `sent`: the bytes that a rank sends in
an update. `runs` has more runs, each for the bets whose
expressions have its name in them: other options of the same program (`train`), or a command of make whose output has numbers
(`make`, `match`). With `record`, the run has `launches`, counted in the simulator's record. They are made only where a bet was made.
"""
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import threading
import types

from class_folder import Stopped, write_json
from lab_files import path_of
from making import apart

MOST, WIDTH = 1e15, 100
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
FAILED = "failed"
HOLE = 77   # the exit status of a program that has reached a hole
TOOLS = {"ln": math.log, "cos": math.cos, "pi": math.pi, "gcd": math.gcd, "MiB": 1 << 20, "min": min, "max": max, "__builtins__": {}}


# ---- what the lab asks, and what was answered --------------------------------------------------------

def number_of(lab):
    return lab.split("_")[0]


def declared(lab):
    """What the lab's bets.json says, or None where there is none."""
    path = path_of(lab, "bets.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except ValueError as error:
            sys.exit(f"{path}: {error}")


def answers_path(lab):
    return path_of(lab, f"my_bets{number_of(lab)}.json")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MOST


def answers(lab):
    """{name: {"bet", "formula", "measured"}}, each where there is one: `measured` is there once it has been shown."""
    try:
        with open(answers_path(lab), encoding="utf-8") as file:
            kept = json.load(file)["bets"]
        return {name: {key: value for key, value in entry.items() if is_number(value)} for name, entry in kept.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        print(f"{answers_path(lab)} cannot be read: it is begun anew", file=sys.stderr)
        return {}


def keep(lab, kept):
    write_json(answers_path(lab), {"version": 1, "lab": lab, "bets": kept})


def numbers(count):
    return f"{count} number{'s' * (count != 1)}"


def wrapped(text, indent=""):
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


# ---- asking ------------------------------------------------------------------------------------------

def read_number(prompt, unit):
    """The number, or None for an empty line; "50%" is one where the unit is. EOFError at the end of the input."""
    while True:
        print(prompt, end="", flush=True)
        line = sys.stdin.readline()
        if not sys.stdin.isatty():
            print()
        if not line:
            raise EOFError
        word = line.strip()
        if not word:
            return None
        if unit.startswith("%"):
            word = word.removesuffix("%").rstrip()
        if NUMBER.fullmatch(word) and abs(float(word)) <= MOST:
            return float(word)
        print(f"  {ascii(word[:40])} is not a number. Write one such as 12 or 0.5, or nothing to skip the question.")


def ask_one(bet, entry, place):
    """The answer to one question, or None for none."""
    if "measured" in entry:
        said = f"your bet was {shown(entry['bet'])}; the first bet is kept" if "bet" in entry else "you had not bet"
        print(wrapped(f"{place}: {bet['ask']}") + f"\n  The answer has been shown, {shown(entry['measured'])} {bet['unit']}: {said}.")
        return None
    before = f"; empty line: {shown(entry['bet'])} stays" if "bet" in entry else ""
    print(wrapped(f"{place}: {bet['ask']}"))
    return read_number(f"  [{bet['unit']}{before}] ", bet["unit"])


def ask(lab):
    lists = declared(lab)
    if lists is None:
        sys.exit(f"lab {number_of(lab)} has no bets")
    kept, bets, status = answers(lab), lists["bets"], 0
    print(f"Lab {number_of(lab)}: {numbers(len(bets))} to predict before anything runs. They earn no points.\nAn empty line skips a question.\n")
    try:
        for place, bet in enumerate(bets, 1):
            entry = kept.get(bet["name"], {})
            answer = ask_one(bet, entry, f"{place} of {len(bets)}")
            if answer is not None:
                kept[bet["name"]] = entry | {"bet": answer}
                keep(lab, kept)
    except EOFError:
        print()
    except KeyboardInterrupt:
        print()
        status = 130
    made = sum("bet" in kept.get(bet["name"], {}) for bet in bets)
    waits = any("measured" not in kept.get(bet["name"], {}) for bet in bets)
    print(f"\n{made} of {len(bets)} bets are made" + (f". make lab{number_of(lab)} measures." if waits else "."))
    return status


# ---- facts -------------------------------------------------------------------------------------------

def facts_of(metrics):
    """The names for expressions, of the file that `train --metrics` has written; or None where a run has left none."""
    try:
        with open(metrics, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    except (OSError, ValueError):
        return None
    if not lines or "shape" not in lines[-1]:
        return None
    last = lines[-1]
    steps = [line for line in lines if "learning_rate" in line]
    facts = {key: value for key, value in last.items() if is_number(value)} | last["shape"]
    for name, key in (("counted", "memory_by_kind"), ("predicted", "predicted_by_kind")):
        kinds = last.get(key, {})
        facts[name] = types.SimpleNamespace(**kinds, total=sum(kinds.values()))
    for rank in last.get("ranks", [])[:1]:
        facts |= {key: rank[key] for key in ("sent", "predicted_sent") if key in rank}
    facts["last_rate"] = steps[-1]["learning_rate"] if steps else None
    facts["first_rate"] = max((line["learning_rate"] for line in steps), default=None)
    return facts


def reason(lab, status, said):
    """Why a run has no numbers, for the table."""
    hole = re.search(r"labs/(\w+)/[\w.]+:\d+: TODO: task (\d+)", said)
    if status == HOLE and hole:
        return f"after task {hole[2]}" + ("" if hole[1] == lab else f" of lab {number_of(hole[1])}")
    needs = re.search(r"needs lab \d+", said)
    return needs[0] if needs else FAILED


def launches_in(path):
    """{"launches": n}: what the host had the device launch, kernels, matrix products and whole graphs; {} without a record."""
    try:
        with open(path, encoding="utf-8") as file:
            entries = [json.loads(line) for line in file]
    except (OSError, ValueError):
        return {}
    return {"launches": sum(entry["kind"] in ("launch", "product", "graph") and "graph" not in entry for entry in entries)}


def run_beside(lab, program, run):
    """One of the lab's `runs`: (its facts or None, why there are none)."""
    with tempfile.TemporaryDirectory() as folder:
        metrics, record = os.path.join(folder, "metrics"), os.path.join(folder, "record")
        environment = apart() | ({"CUDASIM_RECORD": record} if run.get("record") else {})
        train = [program, "--metrics", metrics, *shlex.split(run.get("train", ""))]
        make = ["make", "--no-print-directory", *shlex.split(run.get("make", ""))]
        done = subprocess.run(train if "train" in run else make, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, text=True, errors="replace", check=False)
        facts = facts_of(metrics) if "train" in run else {}
        facts = facts | launches_in(record) if facts is not None else None
    for name, pattern in run.get("match", {}).items():
        found = re.search(pattern, done.stdout)
        facts = facts | {name: float(found[1])} if found and facts is not None else None
    if done.returncode == 0 and facts is not None:
        return facts, ""
    why = reason(lab, done.returncode, done.stdout)
    if why == FAILED:
        print(f"  it failed: {(done.stdout.strip().splitlines() or ['without a word'])[-1][:WIDTH]}")
    return None, why


def names_in(bet):
    return set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", f"{bet.get('formula', '')} {bet['measured']}"))


def beside(lab, program, lists, kept):
    """{name: (facts, why there are none)} of the runs that a bet waits for. A line for each says that it goes on."""
    wanted = [name for name in lists.get("runs", {})
              if any("bet" in kept.get(bet["name"], {}) and name in names_in(bet) for bet in lists["bets"])]
    made = {}
    for place, name in enumerate(wanted, 1):
        run = lists["runs"][name]
        what = f"train {run['train']}" if "train" in run else f"make {run['make']}"
        print(textwrap.shorten(f"Measuring for your bets, {place} of {len(wanted)}: {name}, {what}", WIDTH), flush=True)
        made[name] = run_beside(lab, program, run)
    return made


# ---- the table ---------------------------------------------------------------------------------------

def value_of(expression, facts):
    if not expression:
        return None
    try:
        value = eval(expression, dict(TOOLS), facts)   # pylint: disable=eval-used # the kit's own file, as a Makefile is
    except (NameError, AttributeError, TypeError, ZeroDivisionError):   # a fact that this run has not
        return None
    return float(value) if math.isfinite(value) else None


def measure(bet, facts, runs, lists):
    """(by the formula, measured): numbers; or None and the reason."""
    names = [name for name in lists.get("runs", {}) if name in names_in(bet)]
    why = next((runs[name][1] for name in names if name in runs and runs[name][0] is None), "")
    if any(name not in runs for name in names):
        why = "after a bet"
    if why:
        return None, why
    known = facts | {name: types.SimpleNamespace(**runs[name][0]) for name in names}
    return value_of(bet.get("formula"), known), value_of(bet["measured"], known)


def print_table(rows):
    lines = [("bet", "predicted by formula", "measured")]
    lines += [tuple(map(shown, row[1:4])) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(3)]
    left = max(len(row[0]["name"]) for row in rows)
    for name, unit, line in zip(["", *(row[0]["name"] for row in rows)], ["", *(row[0]["unit"] for row in rows)], lines):
        print(f"  {name:<{left}}  " + "  ".join(word.rjust(width) for word, width in zip(line, widths)) + f"  {unit}".rstrip())


def show(lab, lists, facts, program):
    """Measures what is still to be measured, prints the table, and notes what was shown."""
    kept, number, rows = answers(lab), number_of(lab), []
    print()
    runs = beside(lab, program, lists, kept)
    for bet in lists["bets"]:
        entry = kept.get(bet["name"], {})
        formula, measured = measure(bet, facts, runs, lists)
        rows.append((bet, entry.get("bet"), formula, measured))
        if is_number(measured) and "measured" not in entry:
            kept[bet["name"]] = entry | {"measured": measured} | ({} if formula is None else {"formula": formula})
    print("Bets:")
    print_table(rows)
    for bet, _, formula, measured in rows:
        if is_number(measured):
            print(f"\n  {bet['name']}" + (f" = {bet['formula']}" if formula is not None else "") + "\n" + wrapped(bet["because"], "    "))
    if any(row[1] is None for row in rows):
        print(f"\n-: you made no bet; make bet{number} asks before you run.")
    keep(lab, kept)


def tee(pipe, said):
    for line in pipe:
        said.append(line)
        sys.stderr.write(line)
        sys.stderr.flush()


def run_lab(lab, command):
    """The lab's own run, with its output as it comes. Its exit status."""
    lists = declared(lab)
    if lists is None:
        os.execv(command[0], command)
    said = []
    with tempfile.TemporaryDirectory() as folder:
        metrics = os.path.join(folder, "metrics")
        with subprocess.Popen([*command, "--metrics", metrics], stderr=subprocess.PIPE, text=True, errors="replace") as program:
            reader = threading.Thread(target=tee, args=(program.stderr, said))
            reader.start()
            try:
                status = program.wait()
            except KeyboardInterrupt:
                status = program.wait()
            reader.join()
        facts = facts_of(metrics)
    if status == 0 and facts is not None:
        show(lab, lists, facts, command[0])
    elif status == HOLE:
        print(f"Bets: measured {reason(lab, status, ''.join(said))}. make bet{number_of(lab)} asks for {numbers(len(lists['bets']))} before that.")
    return status if status >= 0 else 128 - status


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("ask", "run"):
        sys.exit(__doc__)
    sys.stdin.reconfigure(errors="replace")
    try:
        sys.exit(ask(sys.argv[2]) if sys.argv[1] == "ask" else run_lab(sys.argv[2], sys.argv[3:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except (Stopped, OSError) as error:
        sys.exit(f"bets: {error}")


if __name__ == "__main__":
    main()
