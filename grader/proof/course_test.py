#!/usr/bin/env python3
"""Grading a class from week to week: what is kept, what is said, what is refused; the settings of a course; versions.

    grader/proof/course_test.py [TestCase...]

Only the grader itself is a stand-in (course_folder.py). grader/proof/class_test.py grades with the real one.
"""
import csv
import json
import os
import re
import shutil
import subprocess
import time
import unittest
from unittest import mock

from course_folder import LAB, PLAN, TWO, Folder, at, read, tarred, write   # which finds tools/
import class_folder
import release


class Weeks(Folder):
    """What is graded again, what is kept, what is said."""

    def test_nothing_is_graded_twice(self):
        for name in ("anna", "bert", "Tina Berg_12_assignsubmission_file_"):
            self.give(name)
        self.assertIn("3 of 3 students are graded", self.grade())
        self.assertIn("0 graded, 3 had a record", self.grade())
        record = read(f"{self.out}/records/anna.json")
        self.assertEqual((record["kit"], record["handed_in_from"], record["score"]), (release.kit_version(), "newest file", 100))
        self.assertRegex(record["handed_in"] + record["graded"], r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00){2}$")
        self.assertRegex(record["hand_in"]["sha256"], "^[0-9a-f]{64}$")
        self.assertEqual(self.graded(), 3)

    def test_a_new_hand_in_keeps_the_old_record(self):
        self.give("anna")
        self.give("bert", "params")
        self.grade()
        self.give("bert")
        self.assertIn("changed: bert 60 -> 100", self.grade())
        self.assertEqual([each["score"] for each in self.old("bert")], [60])
        states = [(row["name"], row["state"], row["score"]) for row in self.rows()]
        self.assertEqual(sorted(states), [("anna", "graded", 100), ("bert", "graded", 100), ("bert", "withdrawn", 60)])

    def test_several_hand_ins(self):
        self.give("anna@20270301T120000Z", "params states")
        self.give("anna@20270305T120000Z", "params")
        self.give("bert")
        self.grade()
        self.assertEqual(self.scores(), {"anna": 60, "bert": 100})
        self.assertEqual([each["score"] for each in self.old("anna")], [100])
        rows = [row for row in self.rows() if row["name"] == "anna"]
        self.assertEqual([(row["handed_in"][:10], row["record"], row["state"]) for row in rows],
                         [("2027-03-01", "records/old/anna/1.json", "graded"), ("2027-03-05", "records/anna.json", "graded")])
        self.assertIn("0 graded, 3 had a record", self.grade())
        self.give("anna@20270303T120000Z", "states")   # arrives late, and is not the newest
        self.grade()
        self.assertEqual((self.scores()["anna"], self.graded()), (60, 4))
        shutil.rmtree(f"{self.hand_ins}/anna@20270305T120000Z")
        self.grade()
        self.assertEqual((self.scores()["anna"], self.graded()), (40, 4))
        self.assertEqual([row["state"] for row in self.rows() if row["name"] == "anna"], ["graded", "graded", "withdrawn"])
        self.give("anna@20270305T120000Z", "params")
        self.grade()
        self.assertEqual((self.scores()["anna"], self.graded()), (60, 4))

    def test_the_best_is_of_those_that_are_there(self):
        """A hand-in that is moved to the student whose it is counts for that one alone."""
        write(f"{self.place}/policy.json", '{"counts": "best", "deadline": "2027-03-31T12:00Z"}')

        def counts():
            self.run_tool("tools/grades.py", "late", self.out, "--policy", f"{self.place}/policy.json")
            with open(f"{self.out}/late.csv", encoding="utf-8-sig", newline="") as file:
                return {line["name"]: (line["final"], line["why"]) for line in csv.DictReader(file)}
        for entry, words in (("finn@20270301T120000Z", "params"), ("finn@20270302T120000Z", "params states"), ("gina", "params states")):
            self.give(entry, words)
        self.grade()
        self.assertEqual(counts(), {"finn": ("100", "the best of 2; on time"), "gina": ("100", "on time")})
        os.rename(f"{self.hand_ins}/finn@20270302T120000Z", f"{self.hand_ins}/emma@20270302T120000Z")
        self.give("gina", "params")   # a system shows the newest in the place of the one before
        at(f"{self.hand_ins}/gina", 1.75e9)
        self.grade()
        self.assertEqual(counts(), {"emma": ("100", "on time"), "finn": ("60", "on time; 1 taken out of the class's hand-ins not counted"),
                                    "gina": ("100", "the best of 2; on time")})

    def test_a_copy_has_the_time_of_the_first(self):
        path = self.give("anna")
        at(path, 1.7e9)
        self.grade()
        at(path, 1.8e9)   # as `cp -r` would
        self.assertIn("0 graded, 1 had a record", self.grade())
        self.assertEqual([row["handed_in"][:10] for row in self.rows()], ["2023-11-14"])
        os.rename(path, f"{self.hand_ins}/anna@20270301T120000+0100")
        self.grade()
        self.assertEqual((read(f"{self.out}/records/anna.json")["handed_in"], self.graded()), ("2027-03-01T12:00:00+01:00", 1))

    def test_the_same_files_packed_again(self):
        tarred(f"{self.hand_ins}/anna.tar.gz", {"bytes.c": "params\n"})
        self.grade()
        tarred(f"{self.hand_ins}/anna.tar.gz", {"folder/bytes.c": "params\n", "notes.txt": "x"})
        self.assertIn("0 graded, 1 had a record", self.grade())
        self.assertIn("0 graded, 1 had a record", self.grade())
        self.assertEqual(([row["state"] for row in self.rows()], self.graded()), (["graded"], 1))

    def test_who_is_gone_is_in_no_table(self):
        for name in ("anna", "carl"):
            self.give(name)
        self.grade()
        self.run_tool("tools/report.py", self.out)
        os.rename(f"{self.hand_ins}/carl", f"{self.place}/carl")
        self.assertIn("1 without a hand-in now, out of all tables: carl", self.grade())
        self.assertEqual((list(self.table()), read(f"{self.out}/summary.json")["students"]), (["anna"], 1))
        self.run_tool("tools/report.py", self.out)
        with open(f"{self.out}/report/index.html", encoding="utf-8") as file:
            self.assertNotIn("carl", file.read())
        self.assertEqual(sorted(os.listdir(f"{self.out}/report")), ["index.html", "student-anna.html"])
        os.rename(f"{self.place}/carl", f"{self.hand_ins}/carl")
        self.assertIn("0 graded, 2 had a record", self.grade())
        self.assertEqual((sorted(self.table()), self.graded()), (["anna", "carl"], 2))

    def test_regrade_takes_several(self):
        for name in ("anna", "bert", "carl", "A, B"):
            self.give(name)
        self.grade()
        time.sleep(1.1)   # equal records of one second are one record
        self.assertIn("2 graded", self.grade("--regrade", "anna, bert"))
        self.assertIn("1 graded", self.grade("--regrade=A, B"))
        time.sleep(1.1)
        self.assertIn("4 graded", self.grade("--regrade", "all"))
        self.assertIn("nobody", self.grade("--regrade", "anna,nobody", status=2))
        self.assertEqual(len(self.old("anna")), 2)

    def test_refused_is_not_graded(self):
        self.give("anna")
        write(f"{self.hand_ins}/bert/report.pdf", "x")
        said = self.grade()
        self.assertIn("1 of 2 students are graded, 1 refused", said)
        self.assertIn("mean 100.0", said)
        self.assertIn("bert: none of the lab's files is in it: bytes.c; there is report.pdf", said)
        self.run_tool("tools/report.py", self.out)
        with open(f"{self.out}/report/index.html", encoding="utf-8") as file:
            page = file.read()
        self.assertIn("1 graded, 1 refused", page)
        self.assertIn("100.0 <small>mean", page)
        self.assertEqual([row["state"] for row in self.rows()], ["graded", "refused"])

    def test_two_files_of_one_name_are_said(self):
        write(f"{self.give('anna')}/labs/bytes.c", "other")
        self.assertIn("1 with a note about the files, on the student's page: anna\n", self.grade())
        self.run_tool("tools/report.py", self.out)
        with open(f"{self.out}/report/student-anna.html", encoding="utf-8") as file:
            self.assertIn("labs/bytes.c was not looked at: bytes.c is another file", file.read())

    def test_all_that_are_refused_are_named(self):
        for i in range(12):
            write(f"{self.hand_ins}/student {i:02d}/x", "")
        self.assertEqual(len(re.findall(r"^    student \d\d: ", self.grade(), re.M)), 12)

    def test_a_broken_record_does_not_stop_the_report(self):
        for name in ("anna", "bert"):
            self.give(name)
        self.grade()
        write(f"{self.out}/records/zoe.json", '{"lab": "00_by')
        done = subprocess.run(["make", "--no-print-directory", "report", f"OUT={self.out}"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("zoe.json", done.stderr)
        with open(f"{self.out}/report/index.html", encoding="utf-8") as file:
            page = file.read()
        self.assertTrue("zoe.json" in page and "student-anna.html" in page)
        self.assertIn("1 not a record, and nobody's here: look at it: zoe.json", self.grade())

    def test_undecided_is_graded_again_when_asked(self):
        self.give("anna", "params fault")
        self.give("bert")
        self.grade(status=1)
        self.assertIn("0 graded", self.grade(status=1))
        self.assertIn("1 graded", self.grade("--only", "failed", status=1))
        self.give("carl@20270301T120000Z", "fault")
        self.give("carl@20270302T120000Z")
        self.assertIn("2 the grader's own fault, not decided: start again with ONLY=failed: anna, carl", self.grade(status=1))
        self.assertIn("2 graded", self.grade("--only", "failed", status=1))   # of carl's two the one

    def test_entries_with_a_dot_are_named(self):
        self.give("anna")
        self.give(".berta")
        write(f"{self.hand_ins}/notes.txt", "x")
        write(f"{self.hand_ins}/carl.rar", "Rar!")
        self.assertIn("2 not looked at, by its name, or as neither a folder nor an archive: .berta, notes.txt\n", said := self.grade())
        self.assertIn("carl: it is neither a folder nor an archive", said)
        self.assertEqual(read(f"{self.out}/hand_ins.json")["not_looked_at"], [".berta", "notes.txt"])

    def test_folders_that_are_not_there(self):
        self.assertIn("there is no such folder", self.grade("--in", f"{self.place}/nowhere", status=2))
        self.assertFalse(os.path.exists(self.out))


class One(Folder):
    """What one student saw, and what a hand-in is to `make grade00 FROM=`."""

    def one(self, name, *more, status=0):
        return self.run_tool("tools/grade_one.py", "--lab", LAB, "--build", self.build, "--in", self.hand_ins, "--out", self.out, "--name", name,
                             *more, status=status)

    def test_the_newest_hand_in_with_its_seed(self):
        tarred(f"{self.hand_ins}/Tina Berg_12_assignsubmission_file_/00-tina.tar.gz", {"bytes.c": "params\n"})
        self.give("anna@20270301T120000Z")
        self.give("anna@20270302T120000Z", "states")
        write(f"{self.hand_ins}/carl/x", "")
        self.grade()
        before = sorted((path, os.stat(path).st_mtime_ns) for path in class_folder.glob.glob(f"{self.out}/**", recursive=True))
        for name, score, words in (("Tina Berg", 60, "params"), ("anna", 40, "states")):
            said = self.one(name)
            seed = read(f"{self.out}/records/{name}.json")["seed"]
            self.assertIn(f"SEED={seed} ", said)
            self.assertEqual(read(f"build/grades/one-{LAB}.json")["seed"], seed)
            self.assertIn(f"{score} of 100 points", said)
            with open(f"build/from/{LAB}/bytes.c", encoding="utf-8") as file:
                self.assertEqual(file.read(), words + "\n")
        self.assertIn("is refused: none of the lab's files is in it: bytes.c; there is x", self.one("carl", status=1))
        self.assertIn("no hand-in is called tina; there is Tina Berg", self.one("tina", status=2))
        self.assertIn("no class was graded into it", self.one("anna", "--out", f"{self.place}/nowhere", status=2))
        after = sorted((path, os.stat(path).st_mtime_ns) for path in class_folder.glob.glob(f"{self.out}/**", recursive=True))
        self.assertEqual(before, after)

    def test_what_from_names(self):
        tarred(f"{self.place}/moodle/Tina_1_assignsubmission_file_/00-x.tar.gz", {"a/bytes.c": "x"})
        self.assertEqual(self.run_tool("tools/from_hand_in.py", LAB, f"{self.place}/moodle/Tina_1_assignsubmission_file_").strip(), f"build/from/{LAB}")
        self.assertEqual(os.listdir(f"build/from/{LAB}"), ["bytes.c"])
        self.give("anna")
        self.assertEqual(os.path.realpath(self.run_tool("tools/from_hand_in.py", LAB, f"{self.hand_ins}/anna").strip()), os.path.realpath(f"{self.hand_ins}/anna"))
        os.makedirs(f"{self.place}/empty")
        self.assertIn("it is empty", self.run_tool("tools/from_hand_in.py", LAB, f"{self.place}/empty", status=2))


class Kinds(Folder):
    """Records of other checks, or of a kit that gives other points, are said before anything is graded."""

    def setUp(self):
        super().setUp()
        for name in ("anna", "bert"):
            self.give(name, "params")
        self.grade()

    def refused(self, words, *more):
        """Nothing is graded, nothing is changed."""
        before = self.graded(), self.scores()
        said = self.grade(*more, status=2)
        self.assertRegex(said, words)
        self.assertIn("REGRADE=changed", said)
        self.assertEqual((self.graded(), self.scores()), before)

    def test_a_check_is_worth_more(self):
        self.plan([PLAN[0] | {"points": 70.0}, PLAN[1]])
        self.give("carl")
        self.refused("2 records graded by other checks: params was worth 60, now 70: anna, bert")
        self.refused("1 record graded by other checks.*: bert", "--regrade", "anna")
        self.assertIn("changed: anna 60 -> 70, bert 60 -> 70", self.grade("--regrade", "changed"))
        self.assertEqual((self.scores(), self.graded()), ({"anna": 70, "bert": 70, "carl": 110}, 5))
        self.assertEqual([each["score"] for each in self.old("anna")], [60])
        self.assertIn("0 graded", self.grade("--regrade", "changed"))

    def test_hidden_checks(self):
        write(f"{self.place}/mine/{LAB}.c", "/* checks */")
        self.plan(PLAN + [{"name": "huge", "points": 5.0, "title": "", "visibility": "never"}])
        self.refused("huge is new", "--hidden", f"{self.place}/mine")
        self.assertIn("unlike the last time: HIDDEN is", self.grade("--hidden", f"{self.place}/mine", "--regrade", "all"))
        self.plan(PLAN)
        self.refused("unlike the last time: HIDDEN is not given, and was .*mine(.|\n)*huge is gone")
        self.assertIn("0 graded, 2 had a record", self.grade("--regrade", "changed"))   # they had one by these checks
        self.assertEqual(self.scores(), {"anna": 60, "bert": 60})
        self.plan(PLAN + [{"name": "huge", "points": 5.0, "title": "", "visibility": "never"}])
        self.assertIn("0 graded, 2 had a record", self.grade("--regrade", "changed", "--hidden", f"{self.place}/mine"))
        write(f"{self.place}/mine/{LAB}.c", "/* other checks */")
        self.plan(PLAN + [{"name": "huge", "points": 5.0, "title": "", "visibility": "never"}])
        self.refused("the same rows, from other sources", "--hidden", f"{self.place}/mine")

    def change(self, name, **more):
        path = f"{self.out}/records/{name}.json"
        write(path, json.dumps(read(path) | more))

    def test_another_version(self):
        first, second, _ = map(int, release.kit_version().split("."))
        self.change("anna", kit=f"{first}.{second}.999")
        self.assertIn("0 graded, 2 had a record", self.grade())
        other = f"{first}.{second + 1}.0"
        self.change("anna", kit=other)
        self.refused(f"1 record made by kit {re.escape(other)}, and this is {re.escape(release.kit_version())}: anna")
        for tool in (["tools/report.py", self.out], ["tools/export.py", "scores", f"{self.out}/records"]):
            self.assertIn(f"kit {release.kit_version()} and kit {other}", self.run_tool(*tool, status=2))
        self.assertFalse(os.path.exists(f"{self.out}/report"))
        self.grade("--regrade", "changed")
        self.assertEqual(self.graded(), 3)
        self.assertEqual([each["kit"] for each in self.old("anna")], [other])

    def test_a_record_of_before(self):
        path = f"{self.out}/records/anna.json"
        record = read(path)
        for key in ("kit", "handed_in", "handed_in_from", "graded"):
            del record[key]
        del record["hand_in"]["sha256"]
        write(path, json.dumps(record))
        self.refused("made by kit before 1.0.0")
        self.grade("--regrade", "changed")
        self.assertEqual(self.graded(), 3)

    def test_mixed_records_are_in_no_table(self):
        self.change("anna", judge="another")
        self.assertIn("different checks", self.run_tool("tools/report.py", self.out, status=2))
        self.assertIn("different checks", self.run_tool("tools/export.py", "scores", f"{self.out}/records", status=2))
        self.assertIn("different checks", self.run_tool("tools/class_table.py", self.place, status=2))

    def test_an_older_hand_in_counts_too(self):
        self.give("carl@20270301T120000Z", "params")
        self.give("carl@20270302T120000Z", "params states")
        self.grade()
        path = f"{self.out}/records/old/carl/1.json"
        write(path, json.dumps(read(path) | {"judge": "another"}))
        self.refused("1 record graded by other checks")

    def test_another_secret(self):
        write(f"{self.place}/secret", "ab" * 32 + "\n")
        self.assertIn("the secret is another one", self.grade("--secret", f"{self.place}/secret"))


class Course(Folder):
    """course.json in place of words."""

    def setUp(self):
        super().setUp()
        self.give("anna", "params")

    def settings(self, text, where=None):
        path = f"{where or self.place}/course.json"
        write(path, text if isinstance(text, str) else json.dumps(text))
        return path

    def test_points_and_secret(self):
        write(f"{self.place}/s", "cd" * 32 + "\n")
        self.settings({"points": {"00": {"params": 90}}, "secret": "s"})
        self.grade()
        self.assertEqual((read(f"{self.out}/records/anna.json")["total"], self.scores()), (130, {"anna": 90}))
        self.assertFalse(os.path.exists(f"{self.out}/secret"))
        self.settings({"points": {"00": {"params": 95}}, "secret": "s"})
        said = self.grade(status=2)
        self.assertIn("unlike the last time: points of the course is", said)
        self.assertIn("params was worth 90, now 95", said)

    def test_a_secret_that_is_not_there_yet(self):
        self.settings({"secret": "s"})
        self.assertIn("/s: a new secret is drawn; keep it, and keep it to yourself\n", self.grade())
        self.assertNotIn("a new secret", self.grade())

    def test_where_it_is_looked_for(self):
        self.settings({"points": {LAB: {"params": 1}}})
        self.settings({"points": {LAB: {"params": 2}}}, self.out)
        given = self.settings({"points": {LAB: {"params": 3}}}, f"{self.place}/elsewhere")
        self.grade()
        self.assertEqual(self.scores(), {"anna": 2})
        self.grade("--course", given, "--regrade", "changed")
        self.assertEqual(self.scores(), {"anna": 3})

    def test_the_command_line_counts_first(self):
        os.makedirs(f"{self.place}/mine")
        self.settings({"hidden": "mine"})
        self.assertEqual(self.run_tool("tools/course.py", "hidden", "--out", self.out).strip(), f"{self.place}/mine")
        self.grade("--hidden", f"{self.place}/in")
        self.assertEqual(read(f"{self.out}/settings.json")["hidden"], f"{self.place}/in")

    def test_the_zone_of_times_that_say_none(self):
        """Of the policy, or of course.json, or else this machine's; and it is said which."""
        self.give("bert@2027-03-01T23:59")
        self.give("carl@2027-03-01T23:59Z")
        write(f"{self.hand_ins}/Lab 0_dora_attempt_2027-07-01-23-59-00_bytes.c", "params")
        line = "time zone of entries whose time has none: "

        def times():
            return [read(f"{self.out}/records/{name}.json")["handed_in"] for name in ("bert", "carl", "dora")]
        for settings, words, zones in (({}, "this machine's, UTC (time_zone in policy.json or course.json names another)", ("+00:00", "+00:00")),
                                       ({"time_zone": "Asia/Tokyo"}, "Asia/Tokyo\n", ("+09:00", "+09:00")),
                                       ({"time_zone": "Asia/Tokyo", "policy": "policy.json"}, "Europe/Berlin\n", ("+01:00", "+02:00"))):
            write(f"{self.place}/policy.json", '{"time_zone": "Europe/Berlin"}')
            self.settings(settings)
            with mock.patch.dict(os.environ, {"TZ": "UTC"}):
                self.assertIn(line + words, self.grade())
            self.assertEqual(times(), [f"2027-03-01T23:59:00{zones[0]}", "2027-03-01T23:59:00+00:00", f"2027-07-01T23:59:00{zones[1]}"])
        self.assertEqual(self.graded(), 4)
        self.settings({"time_zone": "Europe/Bern"})
        self.assertIn("time_zone: 'Europe/Bern' is not a time zone", self.grade(status=2))

    def test_what_is_wrong_is_said(self):
        for text, words in (("{", "Expecting"), ("[]", "not an object"), ({"hide": "x"}, "there is no setting hide;"), ({"hidden": "x"}, "is not there"),
                            ({"hidden": 5}, "not a path"), ({"points": {"77": {}}}, "there is no lab 77"), ({"points": {LAB: {"params": "x"}}}, "points"),
                            ({"points": {LAB: {"nothing": 5}}}, "has no check nothing"), ({"labs": {LAB: -1}}, "weight"), ({"hints": 4}, "hints"), ({"hints": True}, "hints"), ('{"labs": {"00": NaN}}', "weight"),
                            ({"roster": "no.csv"}, "is not there"), ("[" * 100000, "recursion")):
            self.settings(text)
            said = self.grade(status=2)
            self.assertIn(words, said)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertFalse(os.path.exists(f"{self.out}/settings.json"))

    def test_a_term(self):
        self.give("bert")
        write(f"{self.hand_ins}/carl/x", "")
        self.grade()
        other = f"{self.place}/lab01"
        shutil.copytree(self.out, other)
        for path in (f"{other}/records/{name}.json" for name in ("anna", "bert", "carl")):
            write(path, json.dumps(read(path) | {"lab": TWO}))
        os.unlink(f"{other}/records/bert.json")
        self.settings("\ufeff" + json.dumps({"labs": {"00": 1, "01": 3}}))
        self.assertIn("3 students, 2 labs", self.run_tool("tools/class_table.py", self.place))
        with open(f"{self.place}/term.csv", encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file))
        self.assertEqual(lines, [["name", LAB, TWO, "per cent"], ["(weight)", "1", "3", ""], ["anna", "60", "60", "60.00"],
                                 ["bert", "100", "", "25.00"], ["carl", "0", "0", "0.00"]])
        with open(f"{self.place}/term.html", encoding="utf-8") as file:
            self.assertIn("refused", file.read())
        shutil.copytree(other, f"{self.place}/twice")
        self.assertIn("keep one", self.run_tool("tools/class_table.py", self.place, status=2))


class Release(unittest.TestCase):
    """VERSION and CHANGELOG.md."""

    def test_here(self):
        done = subprocess.run(["tools/release.py"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_wrong(self):
        def entry(version, points="no"):
            return f"## {version}, 2027-01-01\n\nChanges points: {points}\n\n- x\n"
        for version, text, words in (("1.0.0", "# Changes\n", "no entry"), ("1.0.1", entry("1.0.0"), "VERSION says 1.0.1"),
                                     ("1.0.0", entry("1.0.0", "perhaps"), "needs one line"), ("1.0.0", "## 1.0.0\n- x\n", "needs one line"),
                                     ("1.0", entry("1.0"), "three numbers"), ("1.0.0", entry("1.0.0") + entry("1.0.1"), "is not newer"),
                                     ("1.0.1", entry("1.0.1", "yes") + entry("1.0.0"), "first or second number")):
            self.assertIn(words, " ".join(release.wrong(version, text)), text)
        self.assertEqual(release.wrong("1.1.0", entry("1.1.0", "yes") + entry("1.0.1") + entry("1.0.0", "yes")), [])

    def test_which_records_go_together(self):
        self.assertTrue(release.same_points("1.2.3", "1.2.9") and release.same_points("", ""))
        self.assertFalse(release.same_points("1.2.3", "1.3.3") or release.same_points("1.2.3", "") or release.same_points("1.2.3", "v1.2"))


if __name__ == "__main__":
    unittest.main()
