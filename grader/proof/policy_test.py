#!/usr/bin/env python3
"""policy.json: when a hand-in is late, what it loses, which of several counts, and what is wrong with a policy.

    grader/proof/policy_test.py      needs python3-jsonschema; no judge
"""
import datetime
import os
import re
import unittest

from export_test import row   # which finds tools/
from grades_folder import BERLIN, LATE, ON_TIME, Class, contents, hand_in, run, table
from exports import layout, policy


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
           (("labs", {"03": {"deadline": "2027-03-28T02:30"}}), "labs.03.deadline: "), (("labs", {"77": {}}), "labs.77: there is no such lab"),
           (("labs", {"03": {}, "03_accumulate": {}}), "labs.03_accumulate: labs.03 is the same lab"),
           (("labs", {"03": {"extensions": {"a": {"days": 1}, "A": {"days": 2}}}}), "labs.03.extensions.A: labs.03.extensions.a is the same name"),
           (("extensions", {"J\u00f6rg": {"days": 1}, "Jo\u0308rg": {"days": 2}}), "is the same name"), (("extensions", {" ": {"days": 1}}), "must not be empty"),
           (("deadline", "0001-01-01T00:00"), "deadline: 0001-01-01T00:00 is in no year of a course"),
           (("deadline", "9999-12-31T23:59-12:00"), "is in no year of a course"))

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
        for text in ("", "{", "[]", "\0", '{"loss_per_day": NaN}', '{"grace_minutes": Infinity}', '{"deadline": "2027-03-05T23:59Z", "deadline": "2027-03-06T23:59Z"}', "[" * 100000):
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

    def taken_out(self, **row):
        """What counts for ada, of whose two hand-ins the better one is not in IN any more. `row`: of it in hand_ins.json."""
        def packed(sha256):
            return {"stamp": "s", "sha256": sha256, "files": {"bytes.c": sha256}}
        self.put(hand_in("ada", 1, LATE, hand_in=packed("2")), hand_in("bob", 3), old={"ada": [hand_in("ada", 3, hand_in=packed(row.get("sha256", "1")))]})
        of = {"handed_in_from": "name", "lms": row.pop("lms", {})}
        rows = [{"name": "ada", "state": "withdrawn", "record": "records/old/ada/1.json", "handed_in": ON_TIME, "sha256": "1", **of, **row},
                {"name": "ada", "state": "graded", "record": "records/ada.json", "handed_in": LATE, "sha256": "2", **of,
                 **({"handed_in_from": "archive"} if row.get("handed_in_from") == "newest file" else {})},
                {"name": "bob", "state": "graded", "record": "records/bob.json", "handed_in": ON_TIME, "handed_in_from": "name", "sha256": "3"}]
        self.write("hand_ins.json", {"version": 1, "lab": "00_bytes", "hand_ins": rows})
        line = self.late("--policy", self.policy(counts="best"))["ada"]
        return line["final"], line["why"]

    def test_what_was_taken_out_does_not_count(self):
        """By a hand, or since it is another student's."""
        left = ("50", "1 day late: 10 % of the total; 1 taken out of the class's hand-ins not counted")
        self.assertEqual(self.taken_out(), left)
        self.assertEqual(self.taken_out(handed_in_from="newest file", sha256="3"), left)
        self.assertEqual(self.taken_out(lms={"system": "blackboard"}, handed_in="2027-03-07T00:00:00+01:00"), left)   # newer than what is left

    def test_what_a_system_has_replaced_still_counts(self):
        """A system may show the newest alone: in the same place, or Blackboard's last attempt."""
        for row in ({"handed_in_from": "newest file"}, {"lms": {"system": "blackboard"}}):
            self.assertEqual(self.taken_out(**row), ("100", "the best of 2; on time"), row)

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

    def test_an_extension_of_two_is_refused(self):
        """Whom it is for must be said by what only one has."""
        self.put(hand_in("17", 3, at=LATE), hand_in("bob", 3, at=LATE))
        roster = self.roster("name,id,login\nAda Adams,17,\nAda Adams,18,bob\nEve,19,\n")
        for extensions, words in (({"Ada Adams": {"days": 2}}, "extensions.Ada Adams: it fits 17 and bob"),
                                  ({"18": {"days": 2}, "Bob": {"days": 3}}, "extensions: 18 and Bob are both of bob: keep one")):
            done = self.late("--policy", self.policy(extensions=extensions), "--roster", roster, status=2)
            self.assertEqual((done.stderr.count("\n"), os.path.exists(self.out + "/late.csv")), (1, False), done.stderr)
            self.assertIn(words, done.stderr)
        rows = self.late("--policy", self.policy(extensions={"18": {"days": 2}}), "--roster", roster)
        self.assertEqual({name: row["loss"] for name, row in rows.items()}, {"17": "10", "bob": "0"})

    def test_an_extension_of_the_lab_comes_first(self):
        self.put(hand_in("ada", 3, at=LATE))
        rows = self.late("--policy", self.policy(extensions={"ada": {"deadline": "2027-03-01T23:59"}}, labs={"00": {"extensions": {"17": {"days": 2}}}}),
                         "--roster", self.roster("name,id\nada,17\n"))
        self.assertEqual(rows["ada"]["loss"], "0")

    def test_who_fits_two_rows_has_the_extension_of_neither(self):
        self.put(hand_in("ada", 3, at=LATE))
        for number in ("17", "18"):
            rows = self.late("--policy", self.policy(extensions={number: {"days": 2}}), "--roster", self.roster("name,id\nada,17\nada,18\n"), status=1)
            self.assertEqual(rows["ada"]["loss"], "10")

    def test_times_at_the_ends_of_the_calendar(self):
        for name, at in (("ada", "0001-01-01T00:00:00+12:00"), ("bob", "9999-12-31T23:59:59-12:00"), ("eve", "9998-12-31T23:59:59+00:00")):
            self.put(hand_in(name, 3, at=at))
        rows = self.late("--policy", self.policy())
        self.assertEqual({name: row["why"].split(":")[0] for name, row in rows.items()}, {
            "ada": "the record does not say when it was handed in", "bob": "the record does not say when it was handed in", "eve": f"{(datetime.date(9999, 1, 1) - datetime.date(2027, 3, 5)).days} days late"})

    def test_two_records_of_one_name(self):
        """One would be overlooked in every table that goes by names."""
        self.put(hand_in("ada", 3), hand_in("bob", 3))
        self.write("records/copy.json", hand_in("ada", 1))
        rows = self.late("--policy", self.policy(), status=1)
        self.assertEqual({name: row["points"] for name, row in rows.items()}, {"ada": "100", "bob": "100"})
        for tool in (["report.py", self.out], ["export.py", "scores", self.out], ["feedback.py", self.out]):
            done = run(*tool)
            self.assertEqual(done.returncode, 1)
            self.assertIn("copy.json", done.stderr + contents(self.out + "/report/index.html").decode())

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


if __name__ == "__main__":
    unittest.main()
