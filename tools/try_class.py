#!/usr/bin/env python3
"""`make try-class`: a class of fourteen, from hand-in to grades, to look at before one has students.

Their files are made of the solution of lab 00, of its known mistakes and of an attack, so all that should come out is known;
it is held against what does. Writes build/try-class: collected/, graded/, roster.csv, policy.json.
"""
import argparse
import csv
import datetime
import os
import shutil
import subprocess
import sys
import time
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../grader/proof"))
import class_hand_ins as made   # pylint: disable=wrong-import-position
import grader_proof as proof    # pylint: disable=wrong-import-position
from making import making    # pylint: disable=wrong-import-position
from exports import layout   # pylint: disable=wrong-import-position

LAB = "00_bytes"
DEADLINE = datetime.datetime.fromisoformat("2026-03-06T23:59:00+01:00")
POLICY = """{
  "time_zone": "Europe/Berlin",
  "deadline": "2026-03-06T23:59",
  "grace_minutes": 15,
  "loss_per_day": 10,
  "most_lost": 50,
  "extensions": {"student-03": {"days": 2, "why": "ill"}}
}
"""
ENDLESS = ["    for (volatile int on = 1; on;) {", "    }"]
LOSS = {7: 30}   # of the seventh, in points: three days have begun
HOUR = 3600


def mutant(*names):
    """The solution with these of its known mistakes, and the checks that it still earns."""
    blocks = [block for block in proof.blocks_of(LAB, "mutants") if block["name"] in names]
    edits = {"file": blocks[0]["file"], "edits": [edit for block in blocks for edit in block["edits"]]}
    return made.edited(LAB, edits), {name for block in blocks for name in block["fails"]}


def endless(name):
    """A loop without an end, where a known mistake is made: only its checks wait for it."""
    block = next(block for block in proof.blocks_of(LAB, "mutants") if block["name"] == name)
    return made.edited(LAB, block | {"edits": [(old, ENDLESS) for old, _ in block["edits"]]}), set(block["fails"])


def attack(name):
    found = next(each for each in made.attacks(LAB) if each["name"] == name)
    return {**made.right_files(LAB), found["file"]: found["text"]}, set(made.points_of(LAB)) - set(found["honest"])


def climbing(path, files):
    """A zip file that would write beside the folder it is unpacked in."""
    with zipfile.ZipFile(path + ".zip", "w") as archive:
        for name, text in files.items():
            archive.writestr("../../" + name, text)


def hand_ins():
    """Of each: what it is, its files, the checks it loses, how it is packed, and how many hours after the deadline it comes. The
    third has an extension of two days, and the last one comes within the grace."""
    right, every = made.right_files(LAB), set(made.points_of(LAB))
    other = made.edited(LAB, next(block for block in proof.blocks_of(LAB, "variants")))
    folder, packed, archive = made.pack_folder, made.pack_zip, made.pack_tar
    return [("right", right, set(), archive, -30), ("right, written in another way", other, set(), packed, -2),
            ("right, late with an extension", right, set(), folder, 30),
            ("a mistake: the head is counted twice", *mutant("untied_head"), archive, -1),
            ("a mistake: gradients in half", *mutant("half_gradients"), packed, -100),
            ("a mistake: attention without probabilities", *mutant("no_probabilities"), folder, -5),
            ("a mistake, and three days late", *mutant("unpadded_logits"), archive, 60),
            ("two mistakes", *mutant("half_gradients", "no_targets"), archive, -3), ("the stub", made.stub_files(LAB), every, packed, -7),
            ("an empty folder", {}, every, folder, -7), ("hostile: climbs out of its folder", right, every, climbing, -8),
            ("endless in two checks", *endless("no_targets"), archive, -9), ("a copy of student-06", *mutant("no_probabilities"), archive, -4),
            ("hostile: prints that it has passed; within the grace", *attack("print_pass"), archive, 0.2)]


def write_class(folder):
    """{name: (what it is, points, what counts of them)}; the files get the times at which they were handed in."""
    collected, points, known = os.path.join(folder, "collected"), made.points_of(LAB), {}
    os.makedirs(collected)
    for i, (what, files, lost, pack, hours) in enumerate(hand_ins(), 1):
        name = f"student-{i:02d}"
        pack(os.path.join(collected, name), files)
        worth = sum(points[check] for check in points.keys() - lost)
        known[name] = (what, worth, max(0, worth - LOSS.get(i, 0)))
        at = DEADLINE.timestamp() + hours * HOUR
        for place, _, inside in [*os.walk(os.path.join(collected, name)), (collected, [], [e for e in os.listdir(collected) if e.startswith(name)])]:
            for entry in inside:
                os.utime(os.path.join(place, entry), (at, at))
    with open(os.path.join(folder, "policy.json"), "w", encoding="utf-8") as file:
        file.write(POLICY)
    with open(os.path.join(folder, "roster.csv"), "w", encoding="utf-8") as file:
        file.write("name,id,mail\n" + "".join(f"student-{i:02d},{1000 + i},student-{i:02d}@example.org\n" for i in range(1, len(known) + 2)))
    return known


def make(*words, bad=()):
    """Runs make, with what it prints. A class always has someone who is not in a table: the statuses `bad` are expected."""
    print(f"\n$ make {' '.join(words)}", flush=True)
    done = subprocess.run(["make", "-s", "--no-print-directory", *words], env=making(), stderr=subprocess.STDOUT, check=False)
    if done.returncode not in (0, *bad):
        sys.exit(f"try-class: make {words[0]} failed")


def read_table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def same_files(records):
    """Names of those who handed in the same bytes."""
    by_sums = {}
    for record in records:
        if not record["refused"]:
            by_sums.setdefault(record["sums"], []).append(record["name"])
    return [names for names in by_sums.values() if len(names) > 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", default="build/try-class")
    options = parser.parse_args()
    begin, out = time.monotonic(), options.out
    shutil.rmtree(out, ignore_errors=True)
    graded, rules = f"{out}/graded", (f"POLICY={out}/policy.json", f"ROSTER={out}/roster.csv")
    known = write_class(out)
    print(f"{out}/collected: {len(known)} hand-ins")
    print("\n".join(f"  {name}  {what}" for name, (what, _, _) in known.items()))
    make("grade-all", f"LAB={LAB[:2]}", f"IN={out}/collected", f"OUT={graded}", "BLAME=10")
    make("late", f"OUT={graded}", *rules)
    make("report", f"OUT={graded}", *rules)
    make("columns", f"OUT={graded}", "LMS=moodle", *rules)
    records, bad = layout.newest(graded)
    print("\nThe same files: " + "; ".join(" and ".join(names) for names in same_files(records)))
    scores = {record["name"]: record["score"] for record in records}
    finals = {line["name"]: line["final"] for line in read_table(f"{graded}/late.csv")}
    wrong = [f"{name}, {what}: {scores.get(name)} points, {finals.get(name)} of them count; not {points:g} and {final:g}"
             for name, (what, points, final) in known.items() if scores.get(name) != points or float(finals.get(name, -1)) != final]
    print("\n".join(wrong + bad) or f"All {len(known)} have the points that their files are worth, and lose what the policy says.")
    print(f"Open {os.path.abspath(graded)}/report/index.html\nThat took {time.monotonic() - begin:.0f} s. `rm -r {out}` removes it.")
    sys.exit(1 if wrong or bad else 0)


if __name__ == "__main__":
    main()
