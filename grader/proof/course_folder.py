"""A class in a folder, graded by a stand-in of a few lines that passes the checks which a hand-in names: so hundreds are graded
in a minute. For course_test.py, layouts_test.py and ends_test.py.
"""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))

LAB, TWO = "00_bytes", "01_loop"   # of one file, and of two
PLAN = [{"name": "params", "points": 60.0, "title": "", "visibility": "always"}, {"name": "states", "points": 40.0, "title": "", "visibility": "always"}]
GRADE = '''\
#!/usr/bin/python3 -IS
import json, os, sys, time
of = dict(zip(sys.argv[1::2], sys.argv[2::2]))
rows = json.load(open({plan!r}))
words = "" if "--refuse" in of else open(of["--from"] + "/bytes.c").read()
time.sleep(float(words.split("sleep=")[1].split()[0]) if "sleep=" in words else 0)
for row in rows:
    row.update(state="pass" if row["name"] in words.split() else "build error" if "--refuse" in of else "grader error" if "fault" in words else "fail",
               message=of.get("--refuse", ""), mistake="", output="", seconds=0.0, peak_bytes=0, earned=0)
record = dict(version=1, lab=of["--lab"], seed=sys.stdin.readline().strip(), sandbox="none", kit=of["--kit"], checks=rows, score=0, total=0)
with open(of["--output"] + ".new", "w") as to:
    json.dump(record, to)
os.rename(of["--output"] + ".new", of["--output"])
with open({log!r}, "a") as log:
    log.write(of["--lab"] + "\\n")
'''


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def tarred(path, files, mode="w:gz"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tarfile.open(path, mode) as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))


def at(path, seconds):
    """Sets the time of a file, or of all files of a folder."""
    for place in [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names] or [path]:
        os.utime(place, (seconds, seconds))


class Folder(unittest.TestCase):
    """A class in a folder of its own, with a grader that is a stand-in."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="course-test-")
        self.addCleanup(shutil.rmtree, self.place)
        self.hand_ins, self.out, self.build = (f"{self.place}/{name}" for name in ("in", "out", "kit"))
        os.makedirs(self.hand_ins)
        self.plan(PLAN)
        write(f"{self.build}/judge/{LAB}", f"#!/bin/sh\ncat {self.build}/plan.json\n", 0o755)
        write(f"{self.build}/bin/grade", GRADE.format(plan=f"{self.build}/plan.json", log=f"{self.place}/log"), 0o755)
        write(f"{self.build}/grade/{LAB}.json", "{}")

    def plan(self, rows):
        write(f"{self.build}/plan.json", json.dumps(rows))

    def give(self, entry, words="params states"):
        write(f"{self.hand_ins}/{entry}/bytes.c", words + "\n")
        return f"{self.hand_ins}/{entry}"

    def command(self, *more):
        return [sys.executable, "tools/grade_all.py", "--lab", LAB, "--build", self.build, "--in", self.hand_ins, "--out", self.out,
                "--jobs", "2", "--blame", "0", *more]

    def grade(self, *more, status=0):
        done = subprocess.run(self.command(*more), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_tool(self, *command, status=0):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def graded(self):
        """How often the grader ran."""
        try:
            with open(f"{self.place}/log", encoding="utf-8") as file:
                return len(file.readlines())
        except OSError:
            return 0

    def scores(self):
        return {entry[:-5]: read(f"{self.out}/records/{entry}")["score"] for entry in os.listdir(f"{self.out}/records") if entry.endswith(".json")}

    def old(self, name):
        folder = f"{self.out}/records/old/{name}"
        return [read(f"{folder}/{entry}") for entry in sorted(os.listdir(folder), key=lambda each: int(each[:-5]))] if os.path.isdir(folder) else []

    def rows(self):
        return read(f"{self.out}/hand_ins.json")["hand_ins"]

    def table(self):
        self.run_tool("tools/export.py", "scores", f"{self.out}/records", "--output", f"{self.out}/scores.csv")
        with open(f"{self.out}/scores.csv", encoding="utf-8-sig", newline="") as file:
            return {line["name"]: line for line in csv.DictReader(file)}
