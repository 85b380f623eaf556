#!/usr/bin/env python3
"""A class with known scores is graded twice, once with kill -9 every few seconds: same records, every score as known.

    grader/proof/class_test.py [--hand-ins N] [--jobs N] [--kill SECONDS] [--slurm N] [--once] [--lab 00_bytes]

Hand-ins are solutions, stubs, mutants, variants and attacks (none that forks) of labs that are built, as folders, .zip
and .tar.gz, and archives that are not honest hand-ins. Ends with a line `class: all good`.
"""
import argparse
import difflib
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import expecting
from class_hand_ins import known, make_class, pack_folder, points_of, stub_files
from expecting import expect

OUT = "build/class"
MEASURED = ("seconds", "cpu_seconds", "peak_bytes", "judge_bytes")
# What of a message is so too: names that compilers give their files for a moment, bytes that they had, the thread that
# is the first to crash.
MEASURED_TEXT = re.compile(r"\bcc\w{6}\.|(?<=after a total of )\d+|(?<=crash: ).*")
# Lost or not with the inputs: there the gradient is so small that the epsilon of clipping shows.
CHANCE = {"mutant divided_twice": {"clip_large"}}


# ---- grading ----------------------------------------------------------------------------------------

def command(lab, out, options):
    return [sys.executable, "tools/grade_all.py", "--lab", lab, "--in", f"{OUT}/{lab}/in", "--out", out, "--jobs",
            str(options.jobs), "--blame", "0"]


def records_of(out):
    records = {}
    for name in sorted(os.listdir(f"{out}/records")):
        if name.endswith(".json"):
            with open(f"{out}/records/{name}", encoding="utf-8") as file:
                record = json.load(file)
            records[record["name"]] = record
    return records


def lasting(record):
    """A record without what is measured."""
    rows = [{key: MEASURED_TEXT.sub("", value) if isinstance(value, str) else value
             for key, value in row.items() if key not in MEASURED} for row in record["checks"]]
    return {**record, "checks": rows, "graded": ""}


def whole_files(out):
    """{record: what changes when it is written again}."""
    folder, found = f"{out}/records", {}
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if name.endswith(".json"):
            state = os.stat(f"{folder}/{name}")
            found[name] = (state.st_ino, state.st_mtime_ns)
    return found


def processes_of(work):
    """Command lines that have the work folder in them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                line = file.read().replace("\0", " ")
        except OSError:
            continue
        found += [line] if work in line else []
    return found


def left_behind(out):
    """What a killed run has left running. The process that unpacks has half a minute at most, a grader ends at once."""
    try:
        with open(f"{out}/.work", encoding="utf-8") as file:
            work = file.read().strip().partition(":")[2]
    except OSError:
        return []
    begin = time.monotonic()
    left = processes_of(work)
    while left and time.monotonic() - begin < (40 if all("hand_in_reader" in line for line in left) else 5):
        time.sleep(0.05)
        left = processes_of(work)
    return left


def wait_to_kill(running, out, seen, seconds):
    """Every other time at any moment, else when a record is new: so the class gets finished. False if that is over."""
    deadline = time.monotonic() + seconds
    while running.poll() is None:
        if (time.monotonic() > deadline) if seconds else whole_files(out).keys() != seen.keys():
            return True
        time.sleep(0.01)
    return False


def grade_with_kills(lab, out, options):
    """kill -9 every few seconds, until the class is through."""
    chance, kills, left, seen, changed = random.Random(1), 0, [], {}, []
    while True:
        with subprocess.Popen(command(lab, out, options), stdout=subprocess.DEVNULL) as running:
            killed = wait_to_kill(running, out, seen, options.kill * chance.uniform(0.2, 1.5) if kills % 2 else 0)
            if killed:
                running.kill()
        kills += killed
        left += left_behind(out)
        now = whole_files(out)
        changed += [name for name, state in seen.items() if now.get(name) != state]
        seen = now
        if not killed:
            break
    expect(kills > 0 and running.returncode == 0, f"{lab}: killed {kills} times on the way")
    expect(not changed, f"{lab}: no record was lost or written twice {changed[:3]}")
    expect(not left, f"{lab}: a killed run leaves no process {left[:3]}")


def check_scores(lab, out, right):
    records, points = records_of(out), points_of(lab)
    expect(set(records) == set(right), f"{lab}: {len(records)} of {len(right)} hand-ins have a record")
    wrong = []
    for name, (what, earned) in right.items():
        record = records.get(name, {"checks": [], "score": -1, "hand_in": {}})
        got = {row["name"] for row in record["checks"] if row["earned"] > 0}
        earned = earned - (CHANCE.get(what, set()) - got)
        if (got != {check for check in earned if points[check] > 0}
                or abs(record["score"] - sum(points[check] for check in earned)) > 1e-9
                or (what == "refused") != ("refused" in record["hand_in"])):
            wrong.append(f"{name}, {what}: {record['score']:g}, earns {sorted(got ^ earned)} otherwise")
    expect(not wrong, f"{lab}: every score as known" + "".join(f"\n    {line}" for line in wrong))


def difference(one, other):
    """The lines of two records that are not the same."""
    lines = [json.dumps(lasting(record), indent=1).splitlines() for record in (one, other)]
    return [line for line in difflib.unified_diff(*lines, n=0, lineterm="") if not line.startswith(("---", "+++"))]


def check_same(lab, one, other):
    first, second = records_of(one), records_of(other)
    different = [name for name in first if name not in second or lasting(first[name]) != lasting(second[name])]
    for name in different[:3]:
        print(name, *difference(first[name], second.get(name, {"checks": []})), sep="\n    ")
    expect(first.keys() == second.keys() and not different, f"{lab}: both times the same records {different[:5]}")


# ---- a full disk ------------------------------------------------------------------------------------

def on_small_disk(lab, place):
    """Room for a few records, then none, then enough."""
    few = f"{OUT}/{lab}/few"
    for i in range(8):
        pack_folder(f"{few}/student {i}", stub_files(lab))
    with open(f"{place}/filler", "wb") as file:
        file.write(bytes(230 << 10))
    start = [sys.executable, "tools/grade_all.py", "--lab", lab, "--in", few, "--out", f"{place}/out", "--jobs", "1"]
    done = subprocess.run(start, capture_output=True, text=True, check=False)
    before = whole_files(f"{place}/out")
    expect(done.returncode != 0 and "the disk is full" in done.stderr, f"{lab}: a full disk stops it: {done.stderr.strip()}")
    expect(0 < len(before) < 8 and len(records_of(f"{place}/out")) == len(before),
           f"{lab}: {len(before)} records are whole, and there is no part of one")
    os.unlink(f"{place}/filler")
    done = subprocess.run(start, capture_output=True, text=True, check=False)
    after = whole_files(f"{place}/out")
    expect(done.returncode == 0 and len(after) == 8 and all(after[name] == before[name] for name in before),
           f"{lab}: with room again it goes on")


def check_full_disk(lab):
    place = os.path.abspath(f"{OUT}/{lab}/small")
    os.makedirs(place)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", place], capture_output=True,
                      check=False).returncode != 0:
        print("left out: a full disk needs the right to mount one")
        return
    try:
        on_small_disk(lab, place)
    finally:
        subprocess.run(["umount", place], check=False)


# ---- what happens to folders -----------------------------------------------------------------------

def students(folder):
    """The records of those who are not hostile."""
    return sorted(name for name in os.listdir(folder) if name.startswith("student"))


def break_records(folder):
    """One in each way that a hand or a disk may have broken it; their names."""
    ways = [lambda text: text[:len(text) // 2], lambda text: "", lambda text: "null", lambda text: "[" * 100000,
            lambda text: text.replace('"hand_in"', '"hand"'), lambda text: text.replace('"stamp": "', '"stamp": 1, "x": "'),
            lambda text: re.sub(r'"checks": \[.*?\],\n', '"checks": "all",\n', text, flags=re.S),
            lambda text: text.replace('"state": "', '"state": "very ')]
    names = students(folder)[:-1][:len(ways)]
    for name, way in zip(names, ways):
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            text = file.read()
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(way(text))
    return set(names)


def refuses(start, words, what, status=2):
    """It stops at once, in one line with these words."""
    done = subprocess.run(start, capture_output=True, text=True, check=False)
    expect(done.returncode == status and words in done.stderr and done.stderr.count("\n") == 1, f"{what}: {done.stderr[-300:].strip()}")


def check_folders(lab, options):
    """Broken records are made again and no other; nothing is graded into the wrong place, or by two at once."""
    plain, hurt, few = (f"{OUT}/{lab}/{name}" for name in ("plain", "hurt", "few"))
    shutil.copytree(plain, hurt)
    last = f"{hurt}/records/{students(f'{hurt}/records')[-1]}"
    with open(last, encoding="utf-8") as file:
        edited = file.read()
    with open(last, "w", encoding="utf-8") as file:
        file.write(re.sub(r'"score": [0-9.]+', '"score": 4711', edited))
    broken, before = break_records(f"{hurt}/records"), whole_files(hurt)
    with subprocess.Popen(command(lab, hurt, options), stdout=subprocess.PIPE, text=True) as first:
        first.stdout.readline()
        refuses(command(lab, hurt, options), "is being graded into", f"{lab}: two at once", 1)
        first.communicate()
    after = whole_files(hurt)
    expect(first.returncode == 0 and {name for name in after if after[name] != before.get(name)} == broken,
           f"{lab}: {len(broken)} broken records are made again, and no other")
    with open(f"{hurt}/summary.json", encoding="utf-8") as file:
        expect(4711 not in json.load(file)["scores"].values(), f"{lab}: a score that was written by hand does not count")
    refuses(command(lab, f"{OUT}/{lab}/in/graded", options), "lies in", f"{lab}: OUT in IN")
    refuses([word.replace(lab, {"00_bytes": "01_loop"}.get(lab, "00_bytes")) if word == lab else word
             for word in command(lab, hurt, options)], "has the records of", f"{lab}: another lab's OUT")
    os.makedirs(f"{few}-none", exist_ok=True)
    refuses([word if not word.endswith("/in") else f"{few}-none" for word in command(lab, hurt, options)], "no hand-in",
            f"{lab}: an empty IN")


def check_blame(lab):
    """What one part of the kit mends is said; it earns nothing."""
    place = f"{OUT}/{lab}/blamed"
    files, earned = next((files, earned) for what, files, earned in known(lab) if what.startswith("mutant "))
    pack_folder(f"{place}/in/student", files)
    give_secret(f"{place}/out")
    done = subprocess.run([sys.executable, "tools/grade_all.py", "--lab", lab, "--in", f"{place}/in", "--out", f"{place}/out"],
                          capture_output=True, text=True, check=False)
    record = records_of(f"{place}/out").get("student", {"score": -1})
    said = " ".join(record.get("blamed", []))
    expect("in place of yours" in said and "lost check" in said, f"{lab}: the part to blame is named: {said or done.stderr}")
    expect(record["score"] == sum(points_of(lab)[check] for check in earned), f"{lab}: it earns {record['score']:g} even so")


# ---- more than one machine --------------------------------------------------------------------------

def cancel_a_shard(out):
    """Once there are some records. True if a shard was at work."""
    running, deadline = [], time.monotonic() + 60
    while (len(whole_files(out)) < 3 or not running) and time.monotonic() < deadline:
        time.sleep(0.2)
        queue = subprocess.run(["squeue", "-h", "-r", "-t", "RUNNING", "-o", "%i"], capture_output=True, text=True, check=True)
        running = queue.stdout.split()
    return bool(running) and subprocess.run(["scancel", "--signal=KILL", "--full", running[0]], check=False).returncode == 0


def grade_on_slurm(lab, out, options):
    """One shard is killed. The same line again grades what it has left, and nothing else."""
    start = command(lab, out, options) + ["--slurm", str(options.slurm), "--poll", "0.5"]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as first:
        expect(cancel_a_shard(out), f"{lab}: a shard is killed")
        said = first.communicate()[0]
    before = whole_files(out)
    expect(first.returncode != 0, f"{lab}: {len(before)} have a record, and it is said that some have none: {said[-200:]}")
    done = subprocess.run(start, capture_output=True, text=True, check=False)
    after = whole_files(out)
    print(done.stdout + done.stderr, end="")
    expect(done.returncode == 0, f"{lab}: graded by Slurm in {options.slurm} shards")
    expect(all(after[name] == before[name] for name in before), f"{lab}: what had a record was not graded again")
    with subprocess.Popen(start + ["--regrade", "all"], stdout=subprocess.PIPE, text=True) as again:
        cancel_a_shard(out)
        said = again.communicate()[0]
    expect(again.returncode == 1 and "did not finish" in said, f"{lab}: a shard that dies while all are graded again is said")


# ---- the whole --------------------------------------------------------------------------------------

def check_memory(lab, out):
    """What all have together must not depend on how many they are."""
    with open(f"{out}/summary.json", encoding="utf-8") as file:
        summary = json.load(file)
    own, judge = summary["own_bytes"] >> 20, summary["judge_bytes"] >> 20
    expect(own < 64 and judge < 96, f"{lab}: {own} MiB for all, {judge} MiB for a judge at most")


def give_secret(out):
    """The same inputs each time, so that what passes here passes elsewhere."""
    os.makedirs(out)
    with open(f"{out}/secret", "w", encoding="utf-8") as file:
        file.write(hashlib.sha256(b"class_test").hexdigest() + "\n")


def check_class(lab, options):
    right = make_class(lab, options.hand_ins, OUT)
    plain, other = f"{OUT}/{lab}/plain", f"{OUT}/{lab}/{'slurm' if options.slurm else 'killed'}"
    give_secret(plain)
    done = subprocess.run(command(lab, plain, options), capture_output=True, text=True, check=False)
    print("\n".join(done.stdout.splitlines()[-6:]) + "\n" + done.stderr, end="")
    expect(done.returncode == 0, f"{lab}: {len(right)} hand-ins graded")
    check_scores(lab, plain, right)
    check_memory(lab, plain)
    if options.once:
        return
    os.makedirs(other)
    shutil.copy(f"{plain}/secret", f"{other}/secret")
    if options.slurm:
        grade_on_slurm(lab, other, options)
    else:
        grade_with_kills(lab, other, options)
        check_full_disk(lab)
        check_folders(lab, options)
        check_blame(lab)
    check_same(lab, plain, other)
    seeds = {record["seed"] for record in records_of(plain).values()}
    expect(len(seeds) == len(right), f"{lab}: each student has a seed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--hand-ins", type=int, default=60, help="all labs together; of each lab all hostile ones and ten more at least")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kill", type=float, default=4, help="seconds between two kills")
    parser.add_argument("--slurm", type=int, default=0, help="instead of kills: this many shards")
    parser.add_argument("--once", action="store_true", help="grade once: how fast is it?")
    parser.add_argument("--lab", default="", help="only this one")
    parser.add_argument("--out", default=OUT, help="folder to work in")
    options = parser.parse_args()
    globals()["OUT"] = options.out
    labs = [options.lab] if options.lab else ["00_bytes", "01_loop"]
    options.hand_ins //= len(labs)
    for lab in labs:
        check_class(lab, options)
    expecting.end("class")


if __name__ == "__main__":
    main()
