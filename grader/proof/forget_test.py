#!/usr/bin/env python3
"""One student forgotten, and a record that may be shared: nothing of the student is left where it should not be.

    grader/proof/forget_test.py      needs python3-jsonschema and python3-jinja2; no judge
"""
import contextlib
import json
import os
import subprocess
import tempfile
import unittest

from export_test import EVIL, SECRET, hostile, row   # which finds tools/
from grades_folder import Class, contents, hand_in, run
import class_folder
import share_record
from exports import layout, record as reading


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

    def files(self):
        return [name for _, _, names in os.walk(self.out) for name in names if name != ".lock"]

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

    def test_names_that_no_file_has_as_they_are(self):
        """A line break, bytes that are not UTF-8, 250 letters: tables and files have them otherwise."""
        for i, name in enumerate(("new\nline", "J\udcf6rg", "x" * 250, "tab\there", "a%41")):
            os.makedirs(self.collected + "/" + name)
            self.write(f"records/{class_folder.file_name(name)}.json", hand_in(name, 3))
            for tool in ("feedback.py", "report.py"):
                run(tool, self.out)
            run("export.py", "scores", self.out, "--output", self.out + "/scores.csv")
            before = self.files()
            done = self.forget(name, self.out, "--in", self.collected)
            self.assertEqual((done.returncode, done.stderr), (0, ""), ascii(name))
            self.assertNotRegex(self.text_of(self.out), ("new.line|new%", "J.{1,9}rg", "xxxx", "tab.here|tab%", "a%41|a%25")[i])
            self.assertNotRegex(done.stdout, "new\nline|tab\there")
            self.assertEqual(len(before) - len(self.files()), 5, done.stdout)   # record, page, zip, both tables
            self.assertFalse(os.path.exists(self.collected + "/" + name))

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
