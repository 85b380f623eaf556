#!/usr/bin/env python3
"""Grades of a class as tables: policies, rosters, columns of grade books, who moved, feedback, and one student forgotten.

    grader/proof/grades_test.py      needs python3-jsonschema and python3-jinja2; no judge
"""
import contextlib
import csv
import glob
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

from export_test import EVIL, SECRET, hostile, record, row

import share_record   # export_test finds tools/
from exports import layout, policy, record as reading, roster

BERLIN = {"time_zone": "Europe/Berlin", "deadline": "2027-03-05T23:59", "loss_per_day": 10}
ON_TIME, LATE = "2027-03-05T23:59:00+01:00", "2027-03-06T00:00:00+01:00"


def hand_in(name, earned, at=ON_TIME, files="", **more):
    """A record of two checks, of 60 and 40 points."""
    a, b = (("pass" if earned & bit else "fail") for bit in (1, 2))
    return record(row("a", a, 60), row("b", b, 40), **({"name": name, "from": f"{name}.zip", "handed_in": at, "handed_in_from": "archive",
                  "graded": at, "kit": "1", "judge": "0123456789abcdef", "hand_in": {"stamp": "s", "files": {"bytes.c": files or name}}} | more))


def run(tool, *arguments):
    return subprocess.run([f"tools/{tool}", *arguments], capture_output=True, text=True, check=False)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


class Class(unittest.TestCase):
    """A folder as a class is graded into it."""
    def setUp(self):
        self.out = self.enterContext(tempfile.TemporaryDirectory()) + "/graded"
        os.makedirs(self.out + "/records")

    def put(self, *records, old=None):
        """The newest record of each, and {name: records} of those before."""
        for data in records:
            self.write(f"records/{data['name'].replace('/', '%2F')}.json", data)
        for name, before in (old or {}).items():
            for i, data in enumerate(before, 1):
                self.write(f"records/old/{name}/{i}.json", data)

    def write(self, name, data):
        path = os.path.join(self.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(data if isinstance(data, str) else json.dumps(data))
        return path

    def policy(self, **more):
        return self.write("../policy.json", BERLIN | more)

    def roster(self, text):
        return self.write("../roster.csv", text)

    def late(self, *arguments, status=0):
        done = run("grades.py", "late", self.out, *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return {line["name"]: line for line in table(self.out + "/late.csv")} if status != 2 else done


# ---- when a hand-in is late -----------------------------------------------------------------------------

class Lateness(unittest.TestCase):
    def loss(self, handed_in, score=100, names=("ada",), **rules):
        made = policy.Policy(BERLIN | rules, "03_accumulate")
        return made.loss(layout.time_of(handed_in), score, 100, set(names))

    def test_the_edge_of_the_deadlines_second(self):
        for at, late in (("2027-03-05T23:58:59.999+01:00", 0), (ON_TIME, 0), ("2027-03-05T23:59:00.999999+01:00", 0),
                         ("2027-03-05T22:59:00Z", 0), ("2027-03-05T23:59:01+01:00", 1), (LATE, 60), ("2027-03-05T23:59:01+00:00", 3601)):
            found = self.loss(at)
            self.assertEqual((found["late"], found["loss"]), (late, 10 if late else 0), at)

    def test_each_day_that_has_begun(self):
        for at, days in ((LATE, 1), ("2027-03-06T23:59:00+01:00", 1), ("2027-03-06T23:59:01+01:00", 2), ("2027-03-15T23:59:00+01:00", 10),
                         ("2027-03-16T00:00:00+01:00", 11)):
            found = self.loss(at)
            self.assertEqual((found["days"], found["loss"]), (days, min(100, 10 * days)), at)

    def test_a_day_ends_at_the_same_time_of_day_when_clocks_change(self):
        """On 28 March 2027 the day has 23 hours in Berlin, on 31 October 25."""
        for deadline, at, days in (("2027-03-27T23:59", "2027-03-28T23:59:00+02:00", 1), ("2027-03-27T23:59", "2027-03-28T23:59:01+02:00", 2),
                                   ("2027-10-30T23:59", "2027-10-31T23:59:00+01:00", 1), ("2027-10-30T23:59", "2027-10-31T23:59:01+01:00", 2)):
            self.assertEqual(self.loss(at, deadline=deadline)["days"], days, at)

    def test_an_hour_that_the_clocks_repeat_is_the_second(self):
        self.assertEqual(self.loss("2027-10-31T02:30:00+01:00", deadline="2027-10-31T02:30")["late"], 0)
        self.assertEqual(self.loss("2027-10-31T02:30:01+01:00", deadline="2027-10-31T02:30")["late"], 1)

    def test_a_day_that_ends_in_an_hour_that_the_clocks_skip(self):
        """In the student's favour: the later of the two moments that 02:30 could be."""
        self.assertEqual(self.loss("2027-03-28T03:30:00+02:00", deadline="2027-03-27T02:30")["days"], 1)
        self.assertEqual(self.loss("2027-03-28T03:30:01+02:00", deadline="2027-03-27T02:30")["days"], 2)

    def test_grace(self):
        self.assertEqual(self.loss("2027-03-06T00:14:00+01:00", grace_minutes=15)["loss"], 0)
        found = self.loss("2027-03-06T00:14:01+01:00", grace_minutes=15)
        self.assertEqual((found["loss"], found["days"]), (10, 1))
        self.assertEqual(self.loss("2027-03-06T23:59:01+01:00", grace_minutes=15)["days"], 2)   # counted from the deadline

    def test_cap_and_of_what(self):
        late = "2027-03-12T12:00:00+01:00"   # seven days
        self.assertEqual(self.loss(late)["loss"], 70)
        self.assertEqual(self.loss(late, most_lost=50)["loss"], 50)
        self.assertEqual(self.loss(late, 40, loss_of="score")["loss"], 28)
        self.assertEqual(self.loss(late, 40)["loss"], 40)   # never below nothing
        self.assertIn("no more than that", self.loss(late, most_lost=50)["why"])

    def test_extensions(self):
        two = {"extensions": {"Ada": {"days": 2, "why": "ill"}}}
        self.assertEqual(self.loss("2027-03-07T23:59:00+01:00", **two)["why"], "on time, extension (ill)")
        self.assertEqual(self.loss("2027-03-07T23:59:01+01:00", **two)["days"], 1)
        self.assertEqual(self.loss("2027-03-07T12:00:00+01:00", names=("bob",), **two)["days"], 2)
        fixed = {"extensions": {"ada": {"deadline": "2027-04-01T12:00"}}}
        self.assertEqual(self.loss("2027-04-01T12:00:00+02:00", **fixed)["late"], 0)
        over_clocks = {"extensions": {"ada": {"days": 30}}}
        self.assertEqual(self.loss("2027-04-04T23:59:00+02:00", **over_clocks)["late"], 0)
        self.assertEqual(self.loss("2027-04-04T23:59:01+02:00", **over_clocks)["late"], 1)

    def test_each_lab_has_its_own(self):
        for lab in ("03", "03_accumulate"):
            self.assertEqual(self.loss("2027-03-19T23:59:00+01:00", labs={lab: {"deadline": "2027-03-19T23:59"}})["late"], 0)
        self.assertEqual(self.loss("2027-03-19T23:59:00+01:00", labs={"04": {"deadline": "2027-03-19T23:59"}})["days"], 14)

    def test_without_deadline_or_time(self):
        self.assertEqual(policy.Policy({}, "03_x").loss(None, 5, 100, set())["why"], "no deadline")
        found = self.loss("")
        self.assertEqual((found["late"], found["loss"]), (None, 0))
        self.assertIn("does not say when", found["why"])


class BadPolicies(Class):
    BAD = ((("deadline", "2027-03-28T02:30"), "deadline: 2027-03-28T02:30 does not exist in Europe/Berlin"),
           (("deadline", "5 March"), "deadline: must be a moment"), (("deadline", "2027-13-01T00:00"), "deadline: 2027-13-01T00:00 is not a moment"),
           (("deadline", 5), "deadline: 5 is not of type"), (("time_zone", "Europe/Bern"), "time_zone: 'Europe/Bern' is not a time zone"),
           (("time_zone", "../../etc/passwd"), "time_zone: "), (("time_zone", None), "time_zone: None is not of type"),
           (("los_per_day", 10), "los_per_day: there is no such key"), (("loss_per_day", 101), "loss_per_day: 101 is greater"),
           (("loss_per_day", "10"), "loss_per_day: '10' is not of type"), (("grace_minutes", -1), "grace_minutes: -1 is less"),
           (("most_lost", True), "most_lost: True is not of type"), (("counts", "first"), "counts: 'first' is not one of"),
           (("extensions", {"a": {}}), "extensions.a: must have either"), (("extensions", {"a": {"days": 1, "deadline": "2027-03-05T23:59"}}), "extensions.a: "),
           (("extensions", {"a": {"days": 1.5}}), "extensions.a"), (("extensions", {"a": {"deadline": "2027-03-28T02:30"}}), "extensions.a.deadline: "),
           (("labs", {"three": {}}), "labs: 'three': a lab is meant"), (("labs", {"03": {"x": 1}}), "labs.03.x: there is no such key"),
           (("labs", {"03": {"deadline": "2027-03-28T02:30"}}), "labs.03.deadline: "))

    def refused(self, text):
        self.put(hand_in("ada", 3))
        path = self.write("../policy.json", text)
        for tool in (["grades.py", "late", self.out], ["export.py", "scores", self.out, "--output", self.out + "/scores.csv"], ["feedback.py", self.out]):
            done = run(*tool, "--policy", path)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), done.stderr)
        self.assertEqual(os.listdir(self.out), ["records"])
        return done.stderr

    def test_one_line_with_the_key(self):
        for (key, value), said in self.BAD:
            with self.subTest(key=key, value=value):
                self.assertRaisesRegex(policy.BadPolicy, re.escape(said), policy.check, BERLIN | {key: value})
        self.assertRaisesRegex(policy.BadPolicy, "has no offset, and there is no time_zone", policy.check, {"deadline": "2027-03-05T23:59"})
        policy.check({"deadline": "2027-03-05T23:59:30+01:00"})

    def test_nothing_is_written(self):
        self.assertIn("loss_per_day: -1 is less", self.refused('{"loss_per_day": -1}'))
        for text in ("", "{", "[]", "\0", '{"deadline": "2027-03-05T23:59Z", "deadline": "2027-03-06T23:59Z"}', "[" * 100000):
            with self.assertRaises(policy.BadPolicy) as caught:
                policy.load(self.write("../policy.json", text))
            self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_a_file_that_is_not_there(self):
        self.put(hand_in("ada", 3))
        done = run("grades.py", "late", self.out, "--policy", self.out + "/none.json")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))


# ---- which hand-in counts -------------------------------------------------------------------------------

class Counts(Class):
    def test_the_table(self):
        self.put(hand_in("ada", 3), hand_in("bob", 3, "2027-03-07T12:00:00+01:00"), hand_in("carl", 1, "2027-03-06T00:10:00+01:00"))
        done = run("grades.py", "late", self.out, "--policy", self.policy(grace_minutes=15))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {line["name"]: line for line in table(self.out + "/late.csv")}
        self.assertEqual(list(lines["bob"].values()), ["bob", "100", "100", "1 d 12:01:00", "20", "80", "2 days late: 20 % of the total"])
        self.assertEqual((lines["carl"]["final"], lines["carl"]["why"]), ("60", "within the grace"))
        self.assertRegex(done.stdout, r"bob +100 +100 +1 d 12:01:00 +20 +80  2 days late")

    def test_a_policy_never_touches_a_record(self):
        self.put(hand_in("bob", 3, LATE))
        before = contents(self.out + "/records/bob.json")
        self.late("--policy", self.policy())
        run("export.py", "scores", self.out, "--policy", self.policy(), "--output", self.out + "/scores.csv")
        self.assertEqual(contents(self.out + "/records/bob.json"), before)
        line, = table(self.out + "/scores.csv")
        self.assertEqual([line[key] for key in ("score", "late", "loss", "final")], ["100", "00:01:00", "10", "90"])

    def several(self, counts, newest, *before):
        self.put(newest, old={"ada": before})
        return self.late("--policy", self.policy(counts=counts))["ada"]

    def test_last_and_best(self):
        first, last = hand_in("ada", 3, files="one"), hand_in("ada", 1, LATE, files="two")
        self.assertEqual(self.several("last", last, first)["final"], "50")
        line = self.several("best", last, first)
        self.assertEqual((line["final"], line["why"]), ("100", "the best of 2; on time"))

    def test_best_is_what_is_left_after_the_loss(self):
        """All points nine days late are fewer than 60 on time."""
        line = self.several("best", hand_in("ada", 3, "2027-03-14T12:00:00+01:00", files="two"), hand_in("ada", 1, files="one"))
        self.assertEqual((line["points"], line["final"]), ("60", "60"))

    def test_the_same_hand_in_graded_again_counts_once_and_by_the_newest(self):
        line = self.several("best", hand_in("ada", 1), hand_in("ada", 3))
        self.assertEqual((line["final"], line["why"]), ("60", "on time"))

    def test_the_same_files_again_and_late_lose_nothing(self):
        line = self.several("best", hand_in("ada", 3, LATE), hand_in("ada", 3))
        self.assertEqual((line["final"], line["why"]), ("100", "the best of 2; on time"))

    def test_points_of_other_checks_are_not_compared(self):
        line = self.several("best", hand_in("ada", 1, files="two"), hand_in("ada", 3, files="one", judge="f" * 16))
        self.assertEqual((line["final"], line["why"]), ("60", "on time; 1 graded by other checks not counted"))

    def test_an_extension_for_nobody_is_said(self):
        self.put(hand_in("ada", 3))
        done = run("grades.py", "late", self.out, "--policy", self.policy(extensions={"adda": {"days": 1}}))
        self.assertEqual((done.returncode, done.stderr), (1, "grades: extensions.adda: neither a hand-in of 00_bytes nor the roster has that name\n"))
        path = self.roster("name,id\nAda Adams,17\nBob,18\n")
        done = run("grades.py", "late", self.out, "--policy", self.policy(extensions={"18": {"days": 1}}), "--roster", path)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_extension_by_what_the_roster_says(self):
        self.put(hand_in("ada", 3, LATE))
        path = self.roster("name,id,mail\nAda Adams,17,ada@example.org\n")
        for name in ("17", "ADA@example.org"):
            line = self.late("--policy", self.policy(extensions={name: {"days": 1}}), "--roster", path)["ada"]
            self.assertEqual(line["final"], "100", name)

    def test_undecided_withdrawn_and_broken(self):
        self.put(hand_in("ada", 3), hand_in("bob", 3, checks=[row("a", "grader error", 60)]), hand_in("carl", 3))
        self.write("hand_ins.json", {"version": 1, "lab": "00_bytes", "hand_ins": [{"name": "carl", "state": "withdrawn", "file": "carl.zip"},
                                     {"name": "ada", "state": "graded"}, {"name": "ada", "state": "withdrawn"}]})
        self.write("records/half.json", '{"lab": "00_by')
        lines = self.late("--policy", self.policy(), status=1)
        self.assertEqual(set(lines), {"ada", "bob"})
        self.assertEqual((lines["bob"]["points"], lines["bob"]["final"]), ("", ""))
        self.write("hand_ins.json", "{}")
        self.assertEqual(run("grades.py", "late", self.out, "--policy", self.policy()).returncode, 2)


# ---- rosters and grade books ----------------------------------------------------------------------------

class Rosters(Class):
    def test_what_is_wrong_is_said_in_a_line(self):
        for text, said in (("", "has no column `name`"), ("name\n", "no students"), ("name,nme\na,b\n", "'nme' is not a column"), ("id\n1\n", "no column `name`"),
                           ("name,name\na,b\n", "there twice"), ("name,id\na\n", ":2: 1 cells, and 2 columns"), ("name,id\n,5\n", ":2: it has no name"),
                           ("name,id\na,5\nb,5\n", ":3: the id 5 is in line 2 too"), ("name,mail\na,X@y.z\nb,x@y.z\n", "the mail x@y.z"),
                           ("name,participant\na,x7\n", "Moodle's number"), ('name\n"a\n', "unexpected end of data")):
            with self.assertRaisesRegex(reading.BadRecord, re.escape(said)) as caught:
                roster.load(self.roster(text))
            self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_latin_1_is_refused(self):
        self.put(hand_in("ada", 3))
        path = self.roster("")
        with open(path, "wb") as file:
            file.write("name\nJörg\n".encode("latin-1"))
        done = run("grades.py", "columns", self.out, "--roster", path)
        self.assertEqual((done.returncode, done.stderr.count("\n"), "not UTF-8" in done.stderr), (2, 1, True))
        self.assertEqual(os.listdir(self.out), ["records"])

    def test_what_a_spreadsheet_writes_is_read(self):
        for text in ("\ufeffname,id\r\nJörg,5\r\n", "Name;ID\nJörg;5\n", "name\tid\n\nJörg\t5\n"):
            rows = roster.load(self.roster(text))
            self.assertEqual([(each["name"], each["id"]) for each in rows], [("Jörg", "5")])

    def test_joined_by_name_id_account_and_address(self):
        rows = roster.load(self.roster("name,id,mail,login\nJörg Müller,17,jm@example.org,jmueller\nBob,18,bob@example.org,\n"))
        for name in ("jo\u0308rg  mu\u0308ller", "17", "JM@example.org", "jm", "jmueller"):
            pairs, left, absent = roster.join([{"name": name}], rows)
            self.assertEqual(([each["name"] for _, each in pairs], left, [each["name"] for each in absent]), (["Jörg Müller"], [], ["Bob"]), name)

    def test_what_fits_several_fits_none(self):
        rows = roster.load(self.roster("name,id\nAda,1\nAda,2\nBob,3\n"))
        pairs, left, absent = roster.join([{"name": "ada"}, {"name": "bob"}, {"name": "3"}, {"name": "zoe"}], rows)
        self.assertEqual(pairs, [])
        self.assertEqual({each["name"]: why for each, why in left}, {
            "ada": "in the roster on lines 2, 3", "zoe": "not in the roster", "bob": "one row, on line 4, for several hand-ins: bob, 3",
            "3": "one row, on line 4, for several hand-ins: bob, 3"})
        self.assertEqual([each["line"] for each in absent], [2, 3])


ROSTER = "name,id,mail,login,section,canvas\nAda Adams,17,ada@example.org,aadams,A,901\nBob,18,bob@example.org,,,\nEve,19,eve@example.org,,,\n"


class Columns(Class):
    def columns(self, lms, *arguments, text=ROSTER, status=0):
        done = run("grades.py", "columns", self.out, "--lms", lms, "--roster", self.roster(text), *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        with open(f"{self.out}/columns/{lms}.csv", "rb") as file:
            data = file.read()
        self.assertEqual(data[:3], b"\xef\xbb\xbf")
        return done, list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))

    def setUp(self):
        super().setUp()
        self.put(hand_in("aadams", 3, LATE), hand_in("bob", 1))

    def test_canvas(self):
        _, rows = self.columns("canvas", "--policy", self.policy(), "--column", "Lab 00 (4711)")
        self.assertEqual(rows, [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 00 (4711)"], ["    Points Possible", "", "", "", "", "100"],
                                ["Ada Adams", "901", "17", "aadams", "A", "90"], ["Bob", "", "18", "bob@example.org", "", "60"]])

    def test_canvas_number_of_the_hand_in(self):
        self.put(hand_in("bob", 1, hand_in={"stamp": "s", "files": {}, "lms": {"lms": "canvas", "id": "77"}}))
        self.assertEqual(self.columns("canvas")[1][3][:3], ["Bob", "77", "18"])

    def test_moodle(self):
        _, rows = self.columns("moodle", "--policy", self.policy())
        self.assertEqual(rows, [["Full name", "ID number", "Email address", "00_bytes", "00_bytes (feedback)"],
                                ["Ada Adams", "17", "ada@example.org", "90", "1 day late: 10 % of the total"], ["Bob", "18", "bob@example.org", "60", ""]])

    def test_blackboard(self):
        _, rows = self.columns("blackboard", "--column", "Lab 00 [Total Pts: 100 Score] |98765")
        self.assertEqual(rows, [["Username", "Lab 00 [Total Pts: 100 Score] |98765"], ["aadams", "100"], ["18", "60"]])

    def test_both_sides_are_listed(self):
        self.put(hand_in("zoe", 3), hand_in("=zed", 3), hand_in("carl", 3, checks=[row("a", "grader error", 60)]), hand_in("nil", 3))
        text = ROSTER + "carl,20,,,,\nnil,,,,,\n"
        done, rows = self.columns("moodle", text=text, status=1)
        self.assertEqual([each[0] for each in rows[1:]], ["Ada Adams", "Bob"])
        listed = {line["name"]: (line["kind"], line["points"]) for line in table(self.out + "/columns/unmatched.csv")}
        self.assertEqual(listed, {"zoe": ("hand-in", "100"), "'=zed": ("hand-in", "100"), "carl": ("hand-in", ""), "nil": ("hand-in", "100"),
                                  "Eve": ("student", "")})
        for name in listed:
            self.assertIn(f" {name}", done.stdout)
        self.assertIn("4 of 6 hand-ins have no grade", done.stderr)

    def test_no_formula(self):
        bad = [text for text in EVIL if text.strip()] + ["@x", "\t=1", " +1", "\uff1d1"]
        text = "name,id,section\n" + "".join(f'"{each.replace(chr(34), chr(34) * 2)}",{i + 100},=s{i}\n' for i, each in enumerate(bad)
                                             if reading.one_line(each) and len(each) < 1000 and "\ud800" not in each)
        for each in glob.glob(self.out + "/records/*"):
            os.unlink(each)
        self.put(*(hand_in(str(i + 100), 3) for i in range(len(bad))))
        for lms in ("canvas", "moodle", "blackboard"):
            self.columns(lms, text=text, status=1)
            for path in glob.glob(self.out + "/columns/*.csv"):
                with open(path, encoding="utf-8-sig", newline="") as file:
                    for line in csv.reader(file):
                        for value in line:
                            self.assertNotRegex(value, r"\A\s*[=+\-@|%\uff1d]")

    def test_an_id_that_is_a_formula_is_listed(self):
        _, rows = self.columns("moodle", text="name,id\nbob,=1+1\naadams,17\n", status=1)
        self.assertEqual([each[0] for each in rows[1:]], ["aadams"])

    def test_several_labs(self):
        self.put(hand_in("eve", 3, lab="01_loop"))
        done = run("grades.py", "columns", self.out, "--roster", self.roster(ROSTER))
        self.assertEqual((done.returncode, done.stderr), (2, f"grades: {self.out}: records of several labs: 00_bytes, 01_loop\n"))

    def test_nobody(self):
        done = run("grades.py", "columns", self.out + "/none", "--roster", self.roster(ROSTER))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))


# ---- who moved ------------------------------------------------------------------------------------------

class RegradeDiff(Class):
    def test_two_folders(self):
        self.put(hand_in("ada", 3), hand_in("bob", 1), hand_in("carl", 1))
        new = self.out + "-new"
        shutil.copytree(self.out, new)
        self.out = new
        self.put(hand_in("ada", 1), hand_in("bob", 1), hand_in("dora", 1), hand_in("eve", 3, judge="f" * 16))
        os.unlink(new + "/records/carl.json")
        done = run("regrade_diff.py", new[:-4], new, "--csv", new + "/diff.csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines(), ["ada: 100 -> 60 points: b 40 of 40 -> 0 of 40 (fail)", "carl: only in the old", "dora: only in the new",
                                                    "eve: only in the new", "1 of 2 have another score; by check: b 1"])
        self.assertEqual(table(new + "/diff.csv"), [{"name": "ada", "check": "b", "old": "40 of 40", "new": "0 of 40", "old state": "pass",
                                                     "new state": "fail", "files": "the same"}])

    def test_a_check_that_is_worth_more_and_one_that_is_new(self):
        self.put(hand_in("ada", 3), old={"ada": [hand_in("ada", 3, checks=[row("a", "pass", 50)])]})
        done = run("regrade_diff.py", "--out", self.out)
        self.assertIn("ada: 50 -> 100 points: a 50 of 50 -> 60 of 60 (pass); b not there -> 40 of 40 (pass)", done.stdout)

    def test_one_folder_takes_the_record_before(self):
        """Of the same files, if it was graded again; else of the hand-in before."""
        self.put(hand_in("ada", 3), hand_in("bob", 3, LATE, "two"), hand_in("carl", 3),
                 old={"ada": [hand_in("ada", 1), hand_in("ada", 0, files="other")], "bob": [hand_in("bob", 2, files="one"), hand_in("bob", 0, "", "zero")]})
        said = run("regrade_diff.py", "--out", self.out).stdout
        self.assertIn("ada: 60 -> 100 points: b", said)
        self.assertIn("bob: 40 -> 100 points, other files: a", said)
        self.assertNotIn("carl", said)

    def test_two_records(self):
        self.put(hand_in("ada", 3), hand_in("bob", 1))
        done = run("regrade_diff.py", self.out + "/records/ada.json", self.out + "/records/bob.json")
        self.assertIn("100 -> 60 points", done.stdout)

    def test_what_cannot_be_compared(self):
        self.put(hand_in("ada", 3))
        other = self.write("../other.json", hand_in("ada", 3, lab="01_loop"))
        for pair in ((self.out, other), (self.out, self.out + "/none"), (self.out + "/records/ada.json", other)):
            done = run("regrade_diff.py", *pair)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), pair)


# ---- feedback -------------------------------------------------------------------------------------------

def packed(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


class Feedback(Class):
    NAMES = ("ada", "bob", "Tina Berg", "a_b", "<zed>&co")

    def setUp(self):
        super().setUp()
        self.put(*(hand_in(name, 1, LATE) for name in self.NAMES), hand_in("carl", 3, checks=[row("a", "grader error", 60)]))

    def test_a_zip_each_with_nothing_of_others(self):
        done = run("feedback.py", self.out, "--policy", self.policy())
        self.assertEqual((done.returncode, done.stderr), (1, "feedback: carl: no feedback: the grader could not decide\n"))
        self.assertEqual(len(os.listdir(self.out + "/feedback")), len(self.NAMES))
        for name in ("ada", "bob", "Tina Berg"):
            files = packed(f"{self.out}/feedback/{name}.zip")
            self.assertEqual(set(files), {"00_bytes.html", "result.txt"})
            self.assertEqual(files["result.txt"], f"Lab 00_bytes, {name}\npoints    60 of 100\nloss      10: 1 day late: 10 % of the total\n"
                             "late by   00:01:00\ncounts    50\n")
            self.assertIn(name, files["00_bytes.html"])
            for other in {"ada", "bob", "Tina Berg", "carl"} - {name}:
                self.assertNotRegex("".join(files.values()), rf"\b{other}\b")
            self.assertNotIn(SECRET, "".join(files.values()))

    def test_moodle(self):
        self.put(hand_in("Tina Berg", 1, **{"from": "Tina Berg_12345_assignsubmission_file_"}),
                 hand_in("a_b", 1, hand_in={"stamp": "s", "files": {}, "lms": {"lms": "moodle", "id": "678"}}))
        done = run("feedback.py", self.out, "--moodle", "--roster", self.roster("name,participant\nbob,99\n"))
        files = packed(self.out + "/feedback-moodle.zip")
        self.assertEqual({name.split("/")[0] for name in files}, {"Tina Berg_12345_assignsubmission_file_", "a b_678_assignsubmission_file_",
                                                                  "bob_99_assignsubmission_file_"})
        for path in files:   # as Moodle cuts it: name, number, kind, plugin, rest
            name, number, kind, plugin, rest = path.split("/")[0].split("_", 4)
            self.assertEqual((kind, plugin, rest, number.isdecimal()), ("assignsubmission", "file", "", True), name)
        for name in ("ada", "<zed>&co"):
            self.assertIn(f"feedback: {name}: not for Moodle", done.stderr)

    def test_one_who_has_withdrawn_is_gone(self):
        run("feedback.py", self.out)
        os.unlink(self.out + "/records/ada.json")
        run("feedback.py", self.out)
        self.assertNotIn("ada.zip", os.listdir(self.out + "/feedback"))

    def test_what_a_student_may_see(self):
        self.put(hand_in("ada", 1, checks=[row("a", "fail", 60), row("late", "fail", 40, visibility="after_due_date", message="LATE")]))
        run("feedback.py", self.out)
        self.assertNotIn("LATE", packed(self.out + "/feedback/ada.zip")["00_bytes.html"])
        run("feedback.py", self.out, "--after-due-date")
        self.assertIn("LATE", packed(self.out + "/feedback/ada.zip")["00_bytes.html"])


# ---- the settings of a course ---------------------------------------------------------------------------

class Course(Class):
    def test_policy_and_roster_of_course_json(self):
        self.put(hand_in("17", 3, LATE))
        self.policy()
        self.roster("name,id\nAda,17\n")
        self.write("../course.json", {"policy": "policy.json", "roster": "roster.csv"})
        self.assertEqual(self.late()["17"]["final"], "90")
        run("export.py", "scores", self.out, "--output", self.out + "/scores.csv")
        self.assertEqual(table(self.out + "/scores.csv")[0]["final"], "90")
        run("grades.py", "columns", self.out)
        self.assertEqual(table(self.out + "/columns/moodle.csv")[0]["00_bytes"], "90")
        run("feedback.py", self.out)
        self.assertIn("counts    90", packed(self.out + "/feedback/17.zip")["result.txt"])
        other = self.write("../other.json", BERLIN | {"loss_per_day": 25})
        self.assertEqual(self.late("--policy", other)["17"]["final"], "75")   # what is said counts before it

    def test_a_term(self):
        self.put(hand_in("ada", 3, LATE), hand_in("bob", 3))
        self.policy()
        self.write("../course.json", {"policy": "policy.json"})
        done = run("class_table.py", os.path.dirname(self.out))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {line["name"]: line["00_bytes"] for line in table(os.path.dirname(self.out) + "/term.csv")}
        self.assertEqual((lines["ada"], lines["bob"]), ("90", "100"))

    def test_a_wrong_one(self):
        self.put(hand_in("ada", 3))
        self.write("../course.json", {"policy": "none.json"})
        for tool in (["grades.py", "late", self.out], ["grades.py", "columns", self.out], ["export.py", "scores", self.out], ["feedback.py", self.out]):
            done = run(*tool)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), done.stderr)
        self.assertEqual(os.listdir(self.out), ["records"])

    def test_two_kinds_of_checks_are_in_no_table(self):
        self.put(hand_in("ada", 3), hand_in("bob", 3, judge="f" * 16))
        for tool in (["grades.py", "late", self.out, "--policy", self.policy()], ["grades.py", "columns", self.out, "--roster", self.roster(ROSTER)]):
            done = run(*tool)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), done.stderr)
            self.assertIn("graded by different checks", done.stderr)


# ---- what leaves, and what is forgotten -----------------------------------------------------------------

class Forget(Class):
    def setUp(self):
        super().setUp()
        self.put(hand_in("ada", 3), hand_in("adam", 1), hand_in("Tina Berg", 1), old={"ada": [hand_in("ada", 1)]})
        self.write("hand_ins.json", {"version": 1, "lab": "00_bytes", "hand_ins": [
            {"name": "ada", "file": "00-ada.tar.gz", "state": "graded"}, {"name": "ada", "file": "ada@20270301T000000+0100.zip", "state": "graded"},
            {"name": "adam", "file": "adam.zip", "state": "graded"}]})
        self.write("summary.json", {"scores": {"ada": 100, "adam": 60}, "refused": ["ada"], "mean": 80})
        self.write("secret", "ada")
        self.write("slurm-0.log", "1/2 ada: 100 of 100\n")
        self.also = self.out + "-similar"
        os.makedirs(self.also)
        self.write("../graded-similar/pairs.html", "<td>Ada</td><td>ada</td>")
        self.write("../graded-similar/other.html", "<td>adam</td>")
        self.collected = self.out + "-in"
        for name in ("00-ada.tar.gz", "ada@20270301T000000+0100.zip", "adam.zip", "tina_12_34_bytes.c", "tina_12_35_more.c",
                     "Tina Berg_77_assignsubmission_file_/bytes.c"):
            self.write(f"../graded-in/{name}", "x")
        run("feedback.py", self.out, "--moodle", "--roster", self.roster("name,participant\nada,1\nadam,2\n"))
        run("export.py", "scores", self.out, "--output", self.out + "/scores.csv")
        run("report.py", self.out)
        self.cache = self.enterContext(tempfile.TemporaryDirectory())

    def test_the_courses_own_files_stay_and_the_terms_table_goes(self):
        course = os.path.dirname(os.path.abspath(self.out))
        for name, text in (("roster.csv", "name\nada\n"), ("who.csv", "name\nada\n"), ("policy.json", '{"extensions": {"ada": {"days": 1}}}'),
                           ("course.json", '{"roster": "who.csv"}'), ("term.csv", "name\nada\n"), ("term.html", "adam"), ("late.csv", "name\nada\n")):
            self.write(f"../{name}", text)
        done = self.forget("ada", self.out, "--also", course)
        there = set(os.listdir(course))
        self.assertTrue({"roster.csv", "who.csv", "policy.json", "course.json", "term.html"} <= there, done.stdout)
        self.assertFalse({"term.csv", "late.csv"} & there, done.stdout)

    def test_a_course_that_cannot_be_read_removes_nothing(self):
        self.write("../course.json", "{")
        done = self.forget("ada", self.out)
        self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), done.stderr)

    def forget(self, *arguments):
        """Elsewhere, since the cache of the checkout may be in use."""
        tool = os.path.abspath("tools/forget.py")
        return subprocess.run([tool, *arguments], capture_output=True, text=True, check=False, cwd=self.cache)

    def text_of(self, folder):
        text = ""
        for place, folders, names in os.walk(folder):
            text += "\n".join([*folders, *(name for name in names if name != ".lock")]) + "\n"
            for name in names:
                if name not in ("secret", ".lock"):
                    with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                        text += file.read()
        return text

    def test_everywhere_and_nobody_else(self):
        self.assertRegex(self.text_of(self.out) + self.text_of(self.also), r"\bada\b")
        os.makedirs(self.cache + "/build/cache/ab")
        before = contents(self.out + "/records/adam.json")
        done = self.forget("ada", self.out, "--in", self.collected, "--also", self.also)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotRegex(self.text_of(self.out) + self.text_of(self.also) + self.text_of(self.collected), r"\bada(?![a-z])")
        self.assertEqual(sorted(os.listdir(self.collected)), ["Tina Berg_77_assignsubmission_file_", "adam.zip", "tina_12_34_bytes.c", "tina_12_35_more.c"])
        self.assertEqual(os.listdir(self.cache + "/build/cache"), [])
        self.assertEqual(contents(self.out + "/records/adam.json"), before)
        self.assertTrue(os.path.exists(self.out + "/report/student-adam.html"))
        self.assertTrue(os.path.exists(self.also + "/other.html"))
        with open(self.out + "/summary.json", encoding="ascii") as file:
            self.assertEqual(json.load(file), {"scores": {"adam": 60}, "refused": [], "mean": 80})
        self.assertEqual([each["name"] for each in layout.hand_ins(self.out)], ["adam"])
        self.assertIn("backups", done.stdout)
        for path in ("records/ada.json", "records/old/ada", "report/student-ada.html", "feedback/ada.zip", "feedback-moodle.zip", "scores.csv"):
            self.assertIn(f"removed  {self.out}/{path}\n", done.stdout)

    def test_a_name_with_a_space(self):
        done = self.forget("Tina Berg", self.out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("Tina", self.text_of(self.out))
        self.assertIn("The hand-in itself stays", done.stdout)

    def test_what_an_lms_calls_a_hand_in(self):
        for name in ("Tina Berg", "tina"):
            self.put(hand_in(name, 3))
            done = self.forget(name, self.out, "--in", self.collected)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.collected)), ["00-ada.tar.gz", "ada@20270301T000000+0100.zip", "adam.zip"])

    def test_nobody_of_that_name(self):
        before = self.text_of(self.out)
        for name in ("ad", "zoe", ""):
            done = self.forget(name, self.out)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), name)
        self.assertEqual(self.text_of(self.out), before)

    def test_what_is_left_is_said(self):
        self.put(hand_in("bob", 3, checks=[row("a", "fail", 60, message="copied from ada")]))
        done = self.forget("ada", self.out)
        self.assertEqual((done.returncode, done.stderr), (1, f"forget: left: {self.out}/records/bob.json: names ada\n"))

    def test_not_while_it_is_graded(self):
        with contextlib.ExitStack() as held:
            file = held.enter_context(open(self.out + "/.lock", "w", encoding="ascii"))
            __import__("fcntl").flock(file, 2)
            done = self.forget("ada", self.out)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(os.path.exists(self.out + "/records/ada.json"))


class Share(Class):
    def share(self, data):
        path, out = self.write("records/x.json", data), self.out + "/shared.json"
        done = run("share_record.py", path, "--output", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, encoding="ascii") as file:
            return json.load(file)

    def test_nothing_of_the_student_stays(self):
        said = f"Jörg in /home/jm17/labs/00_bytes/bytes.c:12: seed {SECRET}, C:\\Users\\jm\\x.c, ~/secret/y.c, jm17@example.org, {SECRET.upper()}, m\u00fcller"
        data = hand_in("Jörg Müller", 1, checks=[row("a", "fail", 60, message=said, mistake=said, title=said, output="MY OUTPUT"),
                                                 row("b", "fail", 40, visibility="never", message="UNSEEN", title="UNSEEN")],
                       blamed=[said], story={"mistake": said, "checks": ["a", "b"], "lost": 2}, **{"from": "Jörg Müller_123_assignsubmission_file_"})
        data["hand_in"]["bets"] = {"q": {"bet": 5}}
        made = self.share(data)
        text = json.dumps(made, ensure_ascii=False)
        for word in (SECRET, "Jörg", "Müller", "jm17", "/home", "Users", "example.org", "UNSEEN", "MY OUTPUT", "secret/", "2027-03", "bets"):
            self.assertNotIn(word.lower(), text.lower(), word)
        self.assertIn("bytes.c:12", made["checks"][0]["message"])
        self.assertEqual((made["lab"], made["kit"], made["hidden_rows"], made["judge"]), ("00_bytes", "1", 1, "0123456789abcdef"))
        reading.read(made)   # it is still a record
        self.assertEqual(made.keys() & {"seed", "name", "from", "hand_in", "handed_in", "graded"}, set())

    def test_whatever_is_in_it(self):
        for text in EVIL:
            made = share_record.share(json.loads(json.dumps(hostile(text))))
            self.assertNotIn(SECRET, json.dumps(made))
            reading.read(made)

    def test_what_is_no_record(self):
        out = self.out + "/shared.json"
        for path in (self.write("x.json", "{}"), self.out + "/none.json"):
            done = run("share_record.py", path, "--output", out)
            self.assertEqual((done.returncode, done.stderr.count("\n"), os.path.exists(out)), (2, 1, False))


if __name__ == "__main__":
    unittest.main()
