#!/usr/bin/env python3
"""Grades of a class as tables: rosters, columns of grade books, who moved, feedback, the settings of a course.

    grader/proof/grades_test.py      needs python3-jsonschema and python3-jinja2; no judge
"""
import csv
import glob
import io
import os
import re
import shutil
import subprocess
import unittest
import zipfile

from export_test import EVIL, SECRET, row   # which finds tools/
from grades_folder import BERLIN, LATE, Class, hand_in, run, table
from exports import record as reading, roster


# ---- rosters and grade books ----------------------------------------------------------------------------

class Rosters(Class):
    def test_what_is_wrong_is_said_in_a_line(self):
        for text, said in (("", "has no column `name`"), ("name\n", "no students"), ("name,nme\na,b\n", "'nme' is not a column"), ("id\n1\n", "no column `name`"),
                           ("name,name\na,b\n", "there twice"), ("name,id\na\n", ":2: 1 cells, and 2 columns"), ("name,id\n,5\n", ":2: it has no name"),
                           ("name,id\na,5\nb,5\n", ":3: the id 5 is in line 2 too"), ("name,mail\na,X@y.z\nb,x@y.z\n", "the mail x@y.z"),
                           ("name,participant\na,x7\n", "Moodle's number"), ("name,participant\na,\u0661\n", "Moodle's number"),
                           ("sep=;\nname;id\na;1\n", "'sep=' is not a column"), ("name,id\n" + "a" * 200000 + ",1\n", ":2: field larger"), ('name\n"a\n', "unexpected end of data")):
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
        for text in ("\ufeffname,id\r\nJörg,5\r\n", "Name;ID\nJörg;5\n", "name\tid\n\nJörg\t5\n", 'name,id\r"Jörg",5\r', '"name";"id"\n"Jo\u0308rg\n";5\n'):
            rows = roster.load(self.roster(text))
            self.assertEqual([(roster.key(each["name"]), each["id"]) for each in rows], [("jörg", "5")])

    def test_joined_by_name_id_account_and_address(self):
        rows = roster.load(self.roster("name,id,mail,login\nJörg Müller,17,jm@example.org,jmueller\nBob,18,bob@example.org,\n"))
        for name in ("jo\u0308rg  mu\u0308ller", "17", "JM@example.org", "jm", "jmueller"):
            pairs, left, absent = roster.join([{"name": name}], rows)
            self.assertEqual(([each["name"] for _, each in pairs], left, [each["name"] for each in absent]), (["Jörg Müller"], [], ["Bob"]), name)

    def test_joined_by_its_letters_where_nothing_else_fits(self):
        """As `make handin03` writes a name; and two students never become one."""
        rows = roster.load(self.roster("name,login\nJ\u00f6rg M\u00fcller,\nSean O'Brien,\nA B,a-b\nC D,a_b\nE F,e-f\nE,e_f\n"))
        for name, owner in (("J\u00f6rg-M\u00fcller", "J\u00f6rg M\u00fcller"), ("Sean-O-Brien", "Sean O'Brien"), ("a-b", "A B"), ("a_b", "C D"), ("A B", "A B")):
            pairs, _, _ = roster.join([{"name": name}], rows)
            self.assertEqual([each["name"] for _, each in pairs], [owner], name)
        for name in ("a--b", "e.f", "--"):
            pairs, left, _ = roster.join([{"name": name}], rows)
            self.assertEqual((pairs, len(left)), ([], 1), name)
        _, left, _ = roster.join([{"name": "J\u00f6rg-M\u00fcller"}, {"name": "J\u00f6rg M\u00fcller"}], rows)
        self.assertEqual(len(left), 2)

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
        self.put(hand_in("bob", 1, hand_in={"stamp": "s", "files": {}, "lms": {"system": "canvas", "id": "77"}}))
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
                 hand_in("a_b", 1, hand_in={"stamp": "s", "files": {}, "lms": {"system": "moodle", "id": "678"}}))
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
        self.put(hand_in("bob", 1, checks=[row("a", "fail", 60), row("far", "fail", 40, visibility="never")]))
        done = run("feedback.py", self.out)
        files = packed(self.out + "/feedback/ada.zip")
        self.assertNotIn("LATE", files["00_bytes.html"])
        self.assertEqual(set(files), {"00_bytes.html"})   # the points would tell
        self.assertIn("result.txt is left out", done.stdout)
        self.assertIn("result.txt", packed(self.out + "/feedback/bob.zip"))
        run("feedback.py", self.out, "--after-due-date")
        files = packed(self.out + "/feedback/ada.zip")
        self.assertIn("LATE", files["00_bytes.html"])
        self.assertIn("counts    0", files["result.txt"])


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

    def term(self, text, status=0):
        """(lines of term.csv, what is complained of) of two labs, with a roster."""
        self.roster(text)
        self.write("../course.json", {"roster": "roster.csv"})
        done = run("class_table.py", os.path.dirname(self.out))
        self.assertEqual(done.returncode, status, done.stderr)
        return {line["name"]: list(line.values())[1:] for line in table(os.path.dirname(self.out) + "/term.csv")[1:]}, done.stderr

    def test_a_term_goes_by_the_roster(self):
        """Whatever the hand-ins are called, a person has one line; so has one without any hand-in."""
        self.put(hand_in("ada", 3), hand_in("J\u00f6rg M\u00fcller", 1))
        for name, earned in (("Ada Adams", 1), ("jm", 3)):
            self.write(f"../second/records/{name}.json", hand_in(name, earned, lab="01_loop"))
        text = "name,login\nAda Adams,ada\nJ\u00f6rg M\u00fcller,jm\nNobody N,nn\n"
        lines, said = self.term(text)
        self.assertEqual((lines, said), ({"Ada Adams": ["100", "60", "80.00"], "J\u00f6rg M\u00fcller": ["60", "100", "80.00"], "Nobody N": ["", "", "0.00"]}, ""))
        self.put(hand_in("zoe", 3), hand_in("Ada Adams", 3))
        lines, said = self.term(text + "Bob B,1\nBob B,2\n", status=1)
        self.assertEqual(lines["zoe"], ["100", "", "50.00"])
        self.assertEqual((lines["Ada Adams"], lines["ada"][0]), (["100", "", "50.00"], "100"))
        self.assertEqual([name for name in lines if name.startswith("Bob")], ["Bob B (1)", "Bob B (2)"])
        self.assertIn("term: 00_bytes: zoe: not in the roster\n", said)
        self.assertIn("term: 00_bytes: ada: one row, on line 2, for several hand-ins: ", said)

    def test_a_wrong_one(self):
        self.put(hand_in("ada", 3))
        self.write("../course.json", {"policy": "none.json"})
        for tool in (["grades.py", "late", self.out], ["grades.py", "columns", self.out], ["export.py", "scores", self.out], ["feedback.py", self.out]):
            done = run(*tool)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), done.stderr)
        self.assertEqual(os.listdir(self.out), ["records"])

    def test_the_exit_status_of_make(self):
        """It is 2 whatever the tool's is, and so the pages say it that show make alone."""
        self.put(hand_in("ada", 3))
        done = subprocess.run(["make", "late", f"OUT={self.out}", f"POLICY={self.policy(extensions={'adda': {'days': 1}})}"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "extensions.adda" in done.stderr, os.path.exists(f"{self.out}/late.csv")), (2, True, True), done.stderr)
        for page in ("exports", "grading_a_class", "instructors", "students_data", "similar", "grading", "series", "when_which"):
            with open(f"docs/{page}.md", encoding="utf-8") as file:
                self.assertNotRegex(file.read(), r"(?i)status\s(is\s)?1\b", page)

    def test_two_kinds_of_checks_are_in_no_table(self):
        self.put(hand_in("ada", 3), hand_in("bob", 3, judge="f" * 16))
        for tool in (["grades.py", "late", self.out, "--policy", self.policy()], ["grades.py", "columns", self.out, "--roster", self.roster(ROSTER)]):
            done = run(*tool)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), done.stderr)
            self.assertIn("graded by different checks", done.stderr)


if __name__ == "__main__":
    unittest.main()
