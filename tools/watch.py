#!/usr/bin/env python3
"""Grades a lab again each time one of its files is saved, and says what has changed: `make watch03 [CHECK=name] [DEVICE=gpu]`.

    tools/watch.py LAB [SETTING=value...]

q ends it, or Ctrl-C. All runs take the inputs of the first one, so a check that changes has changed with the file.
"""
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

from exports.record import spoken
from lab_files import files_of, path_of
from making import apart

POLL_SECONDS = 0.3
ENDS = (b"q", b"Q", b"\x03", b"\x04", b"")   # the keys q, Ctrl-C and Ctrl-D; nobody at the terminal


class Ended(Exception):
    """The student has had enough."""


# ---- the terminal -------------------------------------------------------------------------------------

class Keys:
    """Keys come one by one, unseen, Ctrl-C too: make would take it for itself, and say so. Afterwards all is as it was."""
    def __enter__(self):
        self.before = termios.tcgetattr(sys.stdin)
        now = termios.tcgetattr(sys.stdin)
        now[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, now)

    def __exit__(self, *_):
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self.before)


def wait():
    """A moment, or until a key is pressed that ends it all."""
    if select.select([sys.stdin], [], [], POLL_SECONDS)[0] and os.read(sys.stdin.fileno(), 1) in ENDS:
        raise Ended


def end(*_):
    raise Ended


# ---- grading ------------------------------------------------------------------------------------------

def saved_at(lab):
    """When each file was saved; an editor may just be putting one in place."""
    times = {}
    for name in files_of(lab):
        try:
            times[name] = os.stat(path_of(lab, name)).st_mtime_ns
        except OSError:
            pass
    return times


def read_record(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file), os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return None, 0


def grade(lab, settings):
    """(the record, or None where there is none; what was said)"""
    path = f"build/grades/{'one-' if any(word.startswith('CHECK=') for word in settings) else ''}{lab}.json"
    before = read_record(path)[1]
    with tempfile.TemporaryFile() as said, subprocess.Popen(["make", "--no-print-directory", f"grade{lab.split('_')[0]}", *settings], env=apart(),
                                                            stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True) as make:
        try:
            while make.poll() is None:
                wait()
        except Ended:
            os.killpg(make.pid, signal.SIGTERM)
            raise
        said.seek(0)
        record, after = read_record(path)
        return (record if after > before else None), said.read().decode(errors="replace")


# ---- what has changed ---------------------------------------------------------------------------------

def sentence(row):
    """The likely mistake, or else the first line of what was seen."""
    return "" if row["state"] == "pass" else spoken((row.get("mistake") or row.get("message") or "").split("\n")[0])


def changes(before, after):
    """A line for each check with other points, another state or another sentence."""
    rows = {row["name"]: row for row in before["checks"]}
    for row in after["checks"]:
        old = rows.get(row["name"], row)
        gained = row["earned"] - old["earned"]
        if gained or row["state"] != old["state"] or sentence(row) != sentence(old):
            yield f"  {f'{gained:+g}' if gained else '':>4}  {row['name']:<22} {spoken(row['state']):<12} {sentence(row)}".rstrip()


def report(before, after):
    for line in changes(before, after) if before else ():
        print(line)
    same = before and before["score"] == after["score"]
    print(f"  Score: {after['score']:g} of {after['total']:g} points" + (", as before" if same else ""), flush=True)


def compiles(record):
    """Whether there is something to compare. What the compiler says is shown as it is."""
    first = record["checks"][0]
    if first["state"] == "build error":
        print("  " + first["message"].rstrip().replace("\n", "\n  "), flush=True)
    return first["state"] != "build error"


def watch(lab, settings):
    number, before = lab.split("_")[0], None
    print(f"Watching {', '.join(files_of(lab))}. q ends it; make grade{number} shows everything.", flush=True)
    while True:
        seen = saved_at(lab)
        print(f"{time.strftime('%H:%M:%S')} grading ...", flush=True)
        record, said = grade(lab, settings)
        if record is None:
            sys.exit(said.strip() or "watch: nothing was graded")
        if compiles(record):
            report(before, record)
            settings = [*settings, f"SEED={record['seed']}"] if before is None else settings
            before = record
        while saved_at(lab) == seen:
            wait()


def main():
    lab, *settings = sys.argv[1:]
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print(f"watch: this needs a terminal; make grade{lab.split('_')[0]} grades once", file=sys.stderr)
        sys.exit(2)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, end)
    try:
        with Keys():
            watch(lab, settings)
    except Ended:
        print("The end.")


if __name__ == "__main__":
    main()
