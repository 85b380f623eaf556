#!/usr/bin/env python3
"""What labs show: runs before its hole is filled, says how far it is, and when the machine is too busy to be believed.

    grader/proof/shows_test.py        needs build/bin/{train,checkpoint,checkpoint-solved,planted,planted-solved} and gnuplot
"""
import glob
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, "tools")
import meter    # pylint: disable=wrong-import-position
import pareto   # pylint: disable=wrong-import-position


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Picture04(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def show(self, program, *options):
        return run(f"build/bin/{program}", "--folder", self.folder.name, *options)

    def test_before_any_task(self):
        status, said, _ = self.show("checkpoint")
        self.assertEqual(status, 0, said)
        for task in (1, 2, 5):
            self.assertEqual(len(re.findall(rf"^not yet: labs/04_checkpoint/checkpoint\.c:\d+: TODO: task {task}:", said, re.M)), 1, said)
        self.assertIn("Task 5 chooses the segment", said)
        self.assertIn("timeline of a plain step", said)
        self.assertTrue(os.path.getsize(f"{self.folder.name}/memory04.svg"))

    def test_when_all_is_done(self):
        status, said, _ = self.show("checkpoint-solved")
        self.assertEqual(status, 0, said)
        rows = re.findall(r"^ +(\d) +(\d+) +(\d+) +(\d+) +[\d.]+(  <- the picture)?$", said, re.M)
        self.assertEqual(len(rows), 8, said)
        for segment, predicted, counted, _, chosen in rows:
            self.assertEqual(predicted, counted, segment)
            self.assertEqual(bool(chosen), segment == "2")
        self.assertNotIn("not yet", said)
        self.assertNotIn("is not predicted", said)

    def test_what_cannot_be(self):
        for options, status, words in ((("--segment", "9"), 2, "usage: checkpoint"), (("--budget", "1"), 1, "no segment fits into 1 MiB"),
                                       (("--folder", "/proc/none"), 1, "/proc/none")):
            got, _, errors = self.show("checkpoint-solved", *options)
            self.assertEqual(got, status, options)
            self.assertIn(words, errors)
            self.assertEqual(errors.count("\n"), 1, errors)


class Planted03(unittest.TestCase):
    def show(self, program):
        """The table: [window, three losses, three errors]; first the lines of it all."""
        status, said, _ = run(f"build/bin/{program}")
        self.assertEqual(status, 0, said)
        self.assertRegex(said.splitlines()[0], "^Three trainings, 200 windows")
        self.assertRegex(said.splitlines()[1], "about 20 seconds")
        rows = [line.split() for line in said.splitlines() if re.match(r" +\d+ +", line)]
        self.assertEqual(len(rows), 10, said)
        return said, rows

    def test_before_its_hole_is_filled(self):
        said, rows = self.show("planted")
        self.assertRegex(said, r"not there yet: labs/03_accumulate/accumulate\.c:\d+: TODO: task 3")
        for row in rows:
            self.assertEqual((row[1], row[4]), ("-", "-"))
            self.assertGreater(float(row[5]), 0.01)
            self.assertGreater(float(row[6]), 100)

    def test_when_it_is(self):
        for row in self.show("planted-solved")[1]:
            self.assertLess(float(row[4]), 1e-5)
            self.assertLess(abs(float(row[1]) - float(row[2])), 0.2, "losses do not tell them apart")


class Lab05(unittest.TestCase):
    def test_the_scale_falls_and_rises(self):
        with open(glob.glob("labs/05_*/lab.json")[0], encoding="utf-8") as file:
            options = json.load(file)["run"].split()
        status, said, _ = run("build/bin/train", *options, "--max_steps", "20", "--eval_fraction", "0")
        self.assertEqual(status, 0, said)
        moves = re.findall(r"the loss scale (falls|rises) from 2\^(\d+) to 2\^(\d+)(?:, |$)", said, re.M)
        self.assertRegex(" ".join(move[0] for move in moves), "^(falls )+(rises )+(falls )+rises")
        for before, after in zip(moves, moves[1:]):
            self.assertEqual(before[2], after[1])


class SlowSteps(unittest.TestCase):
    def test_a_line_in_between(self):
        status, said, _ = run("env", "OMP_NUM_THREADS=1", "build/bin/train", *"--n_layer 6 --n_embd 256 --per_device_train_batch_size 24 --eval_fraction 0".split(),
                              *"--max_steps 16 --logging_steps 16".split())
        self.assertEqual(status, 0, said)
        seconds = float(re.search(r"^Time: +([\d.]+) s", said, re.M)[1])
        self.assertGreater(seconds, 6, "steps that were meant to be slow")
        self.assertRegex(said, r"(?m)^step \d+/16  left [\d:.]+( s)?$")


class Pareto(unittest.TestCase):
    HEAD = "plans 3 windows 4 tokens 1024 seconds 1.0 busy_from 1.30"

    def program(self, folder, noise=1.01, end="exit 0"):
        path = f"{folder}/plans"
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho " + self.HEAD + "\n")
            for i in range(3):
                file.write(f"echo 1 8 f32 plain {i} 0 {1 << 20} {1 << 20} 3000 {2000 + i} {noise} 0\nsleep 0.5\n")
            file.write(end + "\n")
        os.chmod(path, 0o755)
        return path

    def test_each_plan_when_it_is_done(self):
        with tempfile.TemporaryDirectory() as folder:
            seen, began = [], time.monotonic()
            with subprocess.Popen(["tools/pareto.py", self.program(folder), "--picture", f"{folder}/p.svg"], stdout=subprocess.PIPE, text=True) as shown:
                for line in shown.stdout:
                    seen.append((time.monotonic() - began, line))
            plans = [(at, line) for at, line in seen if re.match(" +[0-9] of 3  ", line)]
            self.assertEqual(len(plans), 3)
            self.assertGreater(plans[2][0] - plans[0][0], 0.7, "all of them at once")
            self.assertRegex(plans[0][1], r"^ +1 of 3  8 x 1 f32 plain +1\.00 MiB +2000 tokens/s, left \d")
            self.assertIn("3 plans run, 4 windows each: about 4.0 s", "".join(line for _, line in seen[:3]))
            self.assertNotIn("busy", "".join(line for _, line in seen))
            self.assertEqual(shown.returncode, 0)

    def test_a_busy_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            _, said, _ = run("tools/pareto.py", self.program(folder, noise=8.1), "--picture", f"{folder}/p.svg")
            self.assertIn("The machine is busy: a window of one plan takes up to 8.1 times", said)
            with open(f"{folder}/p.svg", encoding="utf-8") as file:
                self.assertIn("the machine is busy", file.read())

    def test_one_slow_plan_of_many_is_not_busy(self):
        quiet = [{"noise": 1.0}] * 19
        self.assertEqual(pareto.busy({"busy_from": 1.3}, quiet + [{"noise": 3}]), "")
        self.assertIn("3.0 times", pareto.busy({"busy_from": 1.3}, quiet + [{"noise": 3}] * 3))

    def test_a_hole_ends_it(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, _ = run("tools/pareto.py", self.program(folder, end="exit 77"), "--picture", f"{folder}/p.svg")
            self.assertEqual(status, 77)
            self.assertFalse(os.path.exists(f"{folder}/p.svg"))


class Progress(unittest.TestCase):
    def told(self, terminal, *steps):
        to = io.StringIO()
        to.isatty = lambda: terminal
        one = meter.Meter("runs", 10, to)
        one.every, one.began = 0, one.began - 100
        for done in steps:
            one.tell(done)
        one.clear()
        return to.getvalue()

    def test_plain_lines(self):
        self.assertEqual(self.told(False, 0, 2, 5, 10), "2 of 10 runs, left 6:40\n5 of 10 runs, left 1:40\n")

    def test_one_line_on_a_terminal(self):
        self.assertEqual(self.told(True, 2, 5), "\r\x1b[K2 of 10 runs, left 6:40\r\x1b[K5 of 10 runs, left 1:40\r\x1b[K")

    def test_durations(self):
        self.assertEqual([meter.duration_text(s) for s in (1.46, 123, 3723)], ["1.5 s", "2:03", "1:02:03"])


if __name__ == "__main__":
    unittest.main()
