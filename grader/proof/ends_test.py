#!/usr/bin/env python3
"""Grading a class that does not end as it should: killed, on a full disk, with a clock that jumps.

    grader/proof/ends_test.py [TestCase...]
"""
import contextlib
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import unittest

from course_folder import LAB, PLAN, Folder, at, read, write   # which finds tools/
import class_folder

# A grader that dies the first time that it sees a hand-in, and of one hand-in each time.
KILLED = '''\
#!/usr/bin/python3 -IS
import os, re, signal, subprocess, sys
of = dict(zip(sys.argv[1::2], sys.argv[2::2]))
words = open(of["--from"] + "/bytes.c").read()
seen, key = {seen!r}, words.replace(" ", "-").strip()
subprocess.run([{whole!r}, *sys.argv[1:]], check=True)
if "kills" in words or not os.path.exists(seen + key):
    open(seen + key, "w").close()
    with open(of["--output"]) as file:
        text = file.read()
    with open(of["--output"], "w") as file:
        file.write(re.sub('"state": "[a-z ]*"', '"state": "grader error"', text))
    os.kill(os.getpid(), signal.SIGKILL)
'''


class Ends(Folder):
    """Killed, with a full disk, by a clock that jumps: nothing is lost, and nothing graded twice."""

    def check_whole(self, expected):
        """Each hand-in has its record once, and nothing else lies in the folder."""
        rows = self.rows()
        self.assertEqual(sorted((row["name"], row["score"]) for row in rows), sorted(expected))
        found = [path for path in class_folder.glob.glob(f"{self.out}/records/**/*", recursive=True) if os.path.isfile(path)]
        self.assertEqual(len(found), len(expected), found)
        self.assertEqual(len({row["record"] for row in rows}), len(expected))

    def test_kill_at_any_moment(self):
        expected, chance = [], random.Random(1)
        for i in range(30):
            for day, words, score in (("01", "params", 60), ("02", "states", 40), ("03", "params states", 100))[:1 + i % 3]:
                self.give(f"student {i}@202703{day}T120000Z", f"{words} sleep=0.15")   # or a fast machine is through before it is killed
                expected.append((f"student {i}", score))
        kills = 0
        while True:
            with subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, start_new_session=True) as running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    running.wait(chance.uniform(0.3, 1.2) * (1 + kills / 8))
                if running.poll() is not None:
                    break
                os.killpg(running.pid, signal.SIGKILL)
                kills += 1
                self.assertLess(kills, 200)
        self.assertEqual(running.returncode, 0)
        self.assertGreater(kills, 2)
        self.check_whole(expected)
        self.assertLessEqual(self.graded(), len(expected) + 2 * kills)   # what was at work when it was killed
        self.assertIn(f"0 graded, {len(expected)} had a record", self.grade())

    def test_tables_of_a_part_say_so(self):
        """Nobody whose hand-in waits is listed as one without a hand-in, and each table ends with a status."""
        for name in ("anna", "bert", "carl@20270301T120000Z", "carl@20270302T120000Z"):
            self.give(name, "params" if name == "anna" else "states sleep=30")
        write(f"{self.place}/roster.csv", "name,id\nanna,1\nbert,2\nzoe,3\n")
        write(f"{self.place}/policy.json", '{"deadline": "2027-03-02T12:00Z"}')
        with subprocess.Popen([*self.command(), "--jobs", "1"], stdout=subprocess.DEVNULL, start_new_session=True) as running:
            begin = time.monotonic()
            while not os.path.exists(f"{self.out}/records/anna.json") and time.monotonic() - begin < 60:
                time.sleep(0.05)
            os.killpg(running.pid, signal.SIGKILL)
        rules = ["--roster", f"{self.place}/roster.csv", "--policy", f"{self.place}/policy.json"]
        for tool in (["grades.py", "late", self.out, *rules], ["grades.py", "columns", self.out, *rules], ["report.py", self.out], ["feedback.py", self.out],
                     ["export.py", "scores", self.out], ["class_table.py", self.place]):
            said = self.run_tool(f"tools/{tool[0]}", *tool[1:], status=1)
            if tool[0] != "report.py":   # on whose page it stands
                self.assertIn("grading was stopped, or could not read all: 3 hand-ins wait: bert, carl\n", said, tool)
        said = self.run_tool("tools/grades.py", "columns", self.out, *rules, status=1)
        self.assertIn("student bert: line 3 of the roster: a hand-in that waits\n", said)
        self.assertIn("student zoe: line 4 of the roster: no hand-in\n", said)
        with open(f"{self.out}/report/index.html", encoding="utf-8") as file:
            self.assertIn("3 hand-ins wait: bert, carl", file.read())
        for name in ("bert", "carl@20270301T120000Z", "carl@20270302T120000Z"):
            self.give(name, "states")
        self.grade()
        self.run_tool("tools/report.py", self.out)

    def test_a_grader_that_is_killed_decides_nothing(self):
        """Its record says "not decided" from the beginning. A queue that ends a job kills each of its processes, this one
        perhaps a moment before the one above it: that must not take the record for what was found."""
        grader = f"{self.build}/bin/grade"
        os.rename(grader, f"{grader}-whole")
        write(grader, KILLED.format(seen=f"{self.place}/seen", whole=f"{grader}-whole"), 0o755)
        for name in ("anna", "kills"):
            self.give(name, "params states" if name == "anna" else "kills")
        said = self.grade(status=1)
        self.assertIn("ONLY=failed", said)
        self.assertEqual(self.scores(), {"anna": 100, "kills": 0})
        self.assertEqual({row["state"] for row in read(f"{self.out}/records/kills.json")["checks"]}, {"grader error"})
        self.assertEqual(self.graded(), 4)   # once more each, and not again and again

    def test_every_step_of_saving_may_be_the_last(self):
        """Of each call that changes the disk one time the end comes before it, one time there is no room."""
        def record(score):
            row = PLAN[0] | {"state": "pass" if score else "fail"}
            return {"name": "anna", "lab": LAB, "judge": "x", "checks": [row], "hand_in": {"stamp": str(score), "sha256": str(score)}}

        class Killed(BaseException):
            pass

        calls = ("open", "fsync", "replace", "makedirs", "unlink")
        for failure in (Killed, lambda: OSError(errno.ENOSPC, "No space left on device")):
            for last in range(40):
                shutil.rmtree(self.out, ignore_errors=True)
                course = class_folder.Class(self.out, LAB)
                course.save(record(0), True)
                real, count = {name: getattr(os, name) for name in calls}, [0]

                def failing(name, *arguments, real=real, count=count, last=last, failure=failure, **more):
                    count[0] += 1
                    if count[0] > last and (failure is Killed or name == "open"):
                        raise failure()
                    return real[name](*arguments, **more)

                for name in calls:
                    setattr(os, name, lambda *arguments, name=name, **more: failing(name, *arguments, **more))
                try:
                    course.save(record(60), True)
                    ended = True
                except (Killed, class_folder.Stopped, OSError):
                    ended = False
                finally:
                    for name, call in real.items():
                        setattr(os, name, call)
                self.assertIsNotNone(course.load("anna"), last)
                self.assertIn(0.0, [each["score"] for _, each in course.known("anna")])
                course.remove_parts()
                course.save(record(60), True) if not ended else None
                self.assertEqual([each["score"] for _, each in course.known("anna")], [60.0, 0.0], last)
                if ended:
                    break
            self.assertTrue(ended)
            self.assertGreater(last, 3)

    def test_a_clock_that_jumps(self):
        """Each run at another time, far ahead and far back: the newest hand-in stays the newest."""
        path = self.give("anna", "params")
        clock = textwrap.dedent("""
            import sys; sys.path.insert(0, "tools"); sys.argv = sys.argv[1:]
            import class_folder; class_folder.now = lambda when=sys.argv.pop(): when
            import grade_all; grade_all.now = class_folder.now; grade_all.main()""")

        def grade(when):
            done = subprocess.run([sys.executable, "-c", clock, *self.command()[1:], when], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        at(path, 4e9)
        grade("2096-01-01T00:00:00+00:00")
        self.assertIn("0 graded", grade("1970-01-01T00:00:00+00:00"))
        self.give("anna", "states")
        at(path, 1e9)   # handed in later, by a machine whose clock is slow
        self.assertIn("changed: anna 60 -> 40", grade("1971-01-01T00:00:00+00:00"))
        self.assertEqual((self.scores(), self.graded()), ({"anna": 40}, 2))
        self.assertEqual([each["score"] for each in self.old("anna")], [60])
        self.assertIn("0 graded", grade("1969-01-01T00:00:00+00:00"))

    def test_two_hundred(self):
        """A class of two hundred, with as many kills as fit: the memory of all stays what it is for ten."""
        own = []
        for count in (10, 200):
            for i in range(count):
                self.give(f"student {i}", "params" if i % 2 else "params states")
            self.grade()
            own.append(read(f"{self.out}/summary.json")["own_bytes"] >> 20)
        self.assertEqual((len(self.scores()), self.graded()), (200, 200))
        self.assertEqual(read(f"{self.out}/summary.json")["mean"], 80)
        self.assertLess(own[1], own[0] + 8, "MiB")


if __name__ == "__main__":
    unittest.main()
