#!/usr/bin/env python3
"""Every export is held to its schema or specimen, for records that are good, bad, and hostile.

    grader/proof/export_test.py      needs python3-jsonschema
"""
import contextlib
import copy
import csv
import functools
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
from exports import formats, record as reading

SECRET = "5eedc0de5eedc0de"
EVIL = ["<script>alert(1)</script>", "]]></failure><testcase name='fake'/>", "=cmd()|' /C calc'!A0", "@SUM(1)", "+1", "-1",
        "\x1b[2J\x00\x07\r", "\ud800 half", "\u202egnp.exe", "\ufffe", '"},{"name":"fake","status":"passed"', "a,b\n\"c\"\r\nd",
        "::set-output name=result::x", "</svg><img src=x onerror=alert(1)>", "{{ 7*7 }}{% raw %}", "x" * 100000, "\u5b66\u751f"]


def row(name, state, points, **more):
    return {"name": name, "state": state, "points": points, "earned": points if state == "pass" else 0, "title": name,
            "visibility": "always", "message": "", "mistake": "", "output": "", "seconds": 0.25, "cpu_seconds": 0.2,
            "peak_bytes": 4096, "judge_bytes": 8192, "sandbox_level": 2} | more


def record(*rows, **more):
    return {"version": 1, "lab": "00_bytes", "name": "ada", "from": "ada.zip", "seed": SECRET, "sandbox": "2: limits",
            "score": 0, "total": 0, "full": False, "checks": list(rows)} | more


def mixed():
    """One check of every state, and of every visibility."""
    states = ("pass", "fail", "not started", "crashed", "timeout", "over budget", "build error", "not run")
    rows = [row(state.replace(" ", "_"), state, 0 if state == "not run" else 10, message=f"saw {state}", mistake="likely: this")
            for state in states]
    rows += [row("late", "fail", 5, visibility="after_due_date", message="LATE", title="LATE"),
             row("never", "pass", 5, visibility="never", message="NEVER", title="NEVER")]
    return record(*rows)


def told():
    """Two checks with one mistake, one of them hidden from students until later, and a part to blame."""
    story = {"mistake": "divided twice", "checks": ["a", "b", "late"], "lost": 3}
    return record(row("a", "fail", 10, mistake="likely: divided twice"), row("b", "fail", 10, mistake="likely: divided twice"),
                  row("late", "fail", 10, visibility="after_due_date"), story=story,
                  blamed=["with the kit's `f()` in place of yours all 2 lost checks pass"])


def hostile(text):
    return record(row("evil", "fail", 10, title=text, message=text, mistake=text, output=text),
                  row("fine", "pass", 10, title=text), name=text,
                  story={"mistake": text, "checks": ["evil", "fine"], "lost": 2}, blamed=[text], sandbox=text, hand_in={"refused": text},
                  **{"from": text})


def records():
    yield "full", record(row("a", "pass", 60), row("b", "pass", 40))
    yield "mixed", mixed()
    yield "told", told()
    yield "undecided", record(row("a", "pass", 60), row("b", "grader error", 40, message="no probe"))
    yield "sandbox", record(row("a", "sandbox error", 60))
    yield "unbuilt", record(row("a", "build error", 60, message="loop.c:1: error"), row("b", "build error", 40))
    yield "no points", record(row("a", "not run", 0))
    for i, text in enumerate(EVIL):
        yield f"hostile {i}", hostile(text)


def schema(name):
    with open(f"grader/schemas/{name}.json", encoding="utf-8") as file:
        return json.load(file)


def check(value, name):
    jsonschema.validate(value, schema(name), cls=jsonschema.Draft202012Validator)


def strict(text):
    """JSON as a strict reader takes it: no NaN, no name twice."""
    def unique(pairs):
        assert len(dict(pairs)) == len(pairs), "a name is there twice"
        return dict(pairs)
    return json.loads(text, object_pairs_hook=unique, parse_constant=reading.no_number)


def run(*arguments, said=None):
    """The program, as it is used, where a runner has `said` what it knows."""
    return subprocess.run(["tools/export.py", *arguments], capture_output=True, check=False, env=os.environ | (said or {}))


def export(form, data, after_due_date=False):
    """The same within this process: there are many."""
    return formats.FORMATS[form](reading.read(strict(json.dumps(data))), after_due_date)


RUNNER = {"CLASSROOM": "gpu", "ASSIGNMENT": "lab-00", "SUBMISSION_TAG": "submit/2026-10-28T21-58-07Z-0a1b2c3", "OWNER": "student-1",
          "COMMIT_URL": "https://example.org/c", "RELEASE_URL": "https://example.org/r", "ASSIGNMENT_TYPE": "individual"}


def classroom50(data, after_due_date=False, **more):
    """As Classroom 50's runner starts it."""
    return formats.classroom50(reading.read(strict(json.dumps(data))), after_due_date, RUNNER | more)


class Formats(unittest.TestCase):
    def each(self, form):
        """What a format makes of every record."""
        for name, data in records():
            written = export(form, data)
            self.assertLess(len(written), formats.MOST_BYTES, name)
            self.assertNotIn(SECRET, written, name)
            yield data, written

    def test_the_program_writes_what_the_functions_make(self):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "record.json"), os.path.join(folder, "out")
            with open(path, "w", encoding="ascii") as file:
                json.dump(mixed(), file)
            for form in formats.FORMATS.keys() - {"classroom50"}:
                self.assertEqual(run(form, path).stdout.decode(), export(form, mixed()), form)
            written, made = strict(run("classroom50", path, said=RUNNER).stdout), strict(classroom50(mixed()))
            self.assertEqual(written | {"graded_at": ""}, made | {"graded_at": ""})
            self.assertEqual(run("autolab", path, "--after-due-date", "--output", out).returncode, 0)
            with open(out, encoding="utf-8") as file:
                self.assertEqual(file.read(), export("autolab", mixed(), True))

    def test_the_records_here_are_records(self):
        for name, data in records():
            with self.subTest(record=name):
                check(data, "record")

    def test_gradescope(self):
        check(schema("specimen-gradescope"), "gradescope")
        for data, written in self.each("gradescope"):
            result = strict(written)
            check(result, "gradescope")
            rows = data["checks"]
            self.assertEqual(result["score"], sum(test["score"] for test in result["tests"]))
            self.assertEqual(result["score"], sum(each["points"] for each in rows if each["state"] == "pass"))
            self.assertEqual(sum(test["max_score"] for test in result["tests"]), sum(each["points"] for each in rows))

    def test_gradescope_hides_what_is_hidden(self):
        result = strict(export("gradescope", mixed()))
        seen = {test["name"].split(":")[0]: test["visibility"] for test in result["tests"]}
        self.assertEqual((seen["fail"], seen["late"], seen["never"]), ("visible", "after_due_date", "hidden"))
        self.assertNotIn("late", result["output"])
        self.assertNotIn("never", result["output"])

    def test_what_is_hidden_is_not_called_passed(self):
        for visibility, words in (("never", "Every check that you see passed."), ("after_due_date", "Every check that you see passed."),
                                  ("always", "1 check lost points: far")):
            said = strict(export("gradescope", record(row("a", "pass", 60), row("far", "fail", 40, visibility=visibility))))["output"]
            self.assertEqual(said.splitlines()[0], words)
        self.assertTrue(strict(export("gradescope", record(row("a", "pass", 100))))["output"].startswith("Every check passed."))

    def test_gradescope_before_there_is_a_record(self):
        result = strict(run("pending", "00_bytes").stdout)
        check(result, "gradescope")
        self.assertEqual(result["score"], 0)

    def test_specimens_are_what_the_schemas_describe(self):
        for name in ("gradescope", "classroom50", "prairielearn"):
            check(schema(f"specimen-{name}"), name)
        with open("grader/schemas/specimen-autolab.txt", encoding="utf-8") as file:
            feedback, result = file.read().splitlines()
        check(strict(feedback), "autolab-feedback")
        check(strict(result), "autolab-result")

    def test_classroom50(self):
        for _, data in records():
            if any(each["state"] in reading.UNDECIDED for each in data["checks"]):
                with self.assertRaisesRegex(reading.BadRecord, "the grader itself failed"):
                    classroom50(data)
                continue
            result = strict(classroom50(data))
            check(result, "classroom50")
            self.assertGreater(len(result["tests"]), 0)
            self.assertEqual(result["score"], sum(each["points"] for each in data["checks"] if each["state"] == "pass"))
            for key in ("score", "max-score"):
                self.assertEqual(result[key], sum(test[key] for test in result["tests"]))
        self.assertEqual(result["datetime"], "2026-10-28T21:58:07Z")
        self.assertEqual(set(schema("specimen-classroom50")) - set(result), {"submitted_by"})   # the runner writes it

    def test_classroom50_refuses_what_its_runner_would(self):
        full = dict(records())["full"]
        for key in ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "OWNER", "COMMIT_URL", "RELEASE_URL"):
            with self.assertRaisesRegex(reading.BadRecord, f"{key} is not set"):
                classroom50(full, **{key: ""})
        for key, value in (("SUBMISSION_TAG", "v1"), ("SUBMISSION_TAG", "submit/2026-13-28T21-58-07Z-a"), ("ASSIGNMENT_TYPE", "pair")):
            with self.assertRaisesRegex(reading.BadRecord, key):
                classroom50(full, **{key: value})
        with self.assertRaisesRegex(reading.BadRecord, "check a has 2.5 points"):
            classroom50(record(row("a", "pass", 2.5)))
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "record.json"), os.path.join(folder, "result.json")
            for data, more in ((full, {"OWNER": ""}), (dict(records())["undecided"], {})):
                with open(path, "w", encoding="ascii") as file:
                    json.dump(data, file)
                done = run("classroom50", path, "--output", out, said=RUNNER | more)
                self.assertEqual((done.returncode, done.stderr.count(b"\n"), os.path.exists(out)), (2, 1, False), done.stderr)

    def test_autolab(self):
        for data, written in self.each("autolab"):
            feedback, result = written.splitlines()
            check(strict(feedback), "autolab-feedback")
            check(strict(result), "autolab-result")
            decided = all(each["state"] not in reading.UNDECIDED for each in data["checks"])
            self.assertEqual(list(strict(result)["scores"]), ["00_bytes"] if decided else [])

    def test_prairielearn(self):
        for _, written in self.each("prairielearn"):
            check(strict(written), "prairielearn")
        made = {name: strict(export("prairielearn", data)) for name, data in records() if not name.startswith("hostile")}
        self.assertEqual(made["full"]["score"], 1)
        self.assertEqual(made["mixed"]["score"], 15 / 80)
        self.assertEqual([name for name, result in made.items() if not result["gradable"]],
                         ["undecided", "sandbox", "unbuilt"])

    def test_what_is_known_of_all_comes_first(self):
        blamed = "With the kit's `f()` in place of yours all 2 lost checks pass."
        self.assertIn(f"One mistake explains all 3 lost checks: divided twice\n{blamed}", export("text", told()))
        shown = strict(export("gradescope", told()))["output"]
        self.assertIn(f"One mistake explains all 2 lost checks: divided twice\n{blamed}", shown)
        self.assertIn(blamed, strict(export("prairielearn", told()))["message"])

    def test_junit(self):
        def shapes(tree):
            return {(element.tag, attribute) for element in tree.iter() for attribute in [*element.attrib, None]}
        specimen = shapes(xml.etree.ElementTree.parse("grader/schemas/junit.xml").getroot())
        for data, written in self.each("junit"):
            tree = xml.etree.ElementTree.fromstring(written)
            self.assertLessEqual(shapes(tree), specimen)
            seen = [each["name"] for each in data["checks"] if each["visibility"] == "always"]
            names = seen + ["hidden"] * (len(seen) < len(data["checks"]))
            self.assertEqual([case.get("name") for case in tree], names)
            self.assertEqual(int(tree.get("tests")), len(names))
            self.assertNotIn("LATE", written)
            for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                self.assertEqual(int(tree.get(kind)), len(tree.findall(f"testcase/{tag}")))

    def test_text(self):
        for data, written in self.each("text"):
            lines = written.splitlines()
            self.assertEqual([line.split()[0] for line in lines if re.match("  [^ ]", line)], [each["name"] for each in data["checks"]])
            self.assertNotRegex(written, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
        self.assertTrue(export("text", mixed()).endswith("Score:   15 of 80 points\n"))

    def test_hidden_rows_are_a_sum_where_nothing_can_be_hidden(self):
        makers = [classroom50] + [functools.partial(export, form) for form in ("autolab", "prairielearn")]
        for make in makers:
            self.assertNotIn("LATE", make(mixed()))
            self.assertNotIn("NEVER", make(mixed()))
            self.assertIn("LATE", make(mixed(), True))
            self.assertNotIn("NEVER", make(mixed(), True))


class Scores(unittest.TestCase):
    def table(self, datas, extra=()):
        with tempfile.TemporaryDirectory() as folder:
            for i, data in enumerate(datas):
                with open(os.path.join(folder, f"{i:03d}.json"), "w", encoding="ascii") as file:
                    json.dump(data, file)
            for name, data in extra:
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
            done = run("scores", folder)
        return done, list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8-sig"), newline="")))

    def test_one_line_each(self):
        done, lines = self.table([data for _, data in records()])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(lines), len(list(records())))
        self.assertEqual({line["lab"] for line in lines}, {"00_bytes"})

    def test_excel_takes_it_for_utf_8(self):
        done, _ = self.table([hostile("J\u00f6rg")])
        self.assertTrue(done.stdout.startswith("\ufeffname,".encode()))

    def test_two_kinds_of_checks_are_in_no_table(self):
        full = dict(records())["full"]
        for one, other, said in (({"judge": "a"}, {"judge": "b"}, b"different checks"), ({"kit": "1.0.0"}, {"kit": "1.1.0"}, b"kit 1.1.0 and kit 1.0.0"),
                                 ({"kit": "1.0.0"}, {}, b"kit before 1.0.0 and kit 1.0.0")):
            done, lines = self.table([full | one, full | other])
            self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (2, b"", 1))
            self.assertIn(said, done.stderr)
        done, lines = self.table([full | {"kit": "1.0.0"}, full | {"kit": "1.0.7"}, full | {"lab": "01_loop", "kit": "1.1.0", "judge": "b"}])
        self.assertEqual((done.returncode, len(lines)), (0, 3))

    def test_no_formula(self):
        _, lines = self.table([hostile(text) for text in EVIL])
        for line in lines:
            for value in line.values():
                self.assertNotRegex(value, r"\A\s*[=+\-@|%]")
                self.assertNotRegex(value, "[\x00-\x1f\x7f]")

    def test_what_is_not_decided_has_no_score(self):
        _, lines = self.table([dict(records())["undecided"]])
        self.assertEqual((lines[0]["score"], lines[0]["state"]), ("", "not decided"))

    def test_a_broken_record_is_said_and_the_others_are_there(self):
        done, lines = self.table([dict(records())["full"]], [("half.json", b'{"lab": "00_by'), ("utf8.json", b"\xff\xfe{")])
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(lines), 1)
        self.assertEqual(done.stderr.count(b"left out"), 2)


# Put in the place of anything in a record.
WRONG = (None, True, -1, 2 ** 70, 10 ** 4000, 1e308, float("inf"), float("nan"), "", "a\0", "../x", "\ud800", "]]>&\x1b[2J", [], {},
         [[]] * 3, "x" * 10000)


def places(value, path=()):
    """Each place in a value from JSON, as the keys that lead to it."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(value[key], (*path, key))


def changed(data):
    """The bytes of records, each with one thing in it wrong, missing or there twice."""
    for *path, last in places(data):
        for wrong in WRONG:
            other = copy.deepcopy(data)
            functools.reduce(lambda value, key: value[key], path, other)[last] = wrong
            yield json.dumps(other).encode()
        del functools.reduce(lambda value, key: value[key], path, other)[last]
        yield json.dumps(other).encode()
    whole = json.dumps(data).encode()
    for i in range(len(whole)):
        yield whole[:i]
        yield whole[:i] + b"\xff" + whole[i:]
        yield whole[:i] + whole[i + 1:]
        yield whole[:i] + whole[i // 2:]


class Reader(unittest.TestCase):
    """What is not a record is refused with one line, and nothing is written."""
    def broken(self):
        good = record(row("a", "pass", 60))
        for key, value in (("lab", None), ("lab", "../x"), ("checks", []), ("checks", {}), ("checks", [1]), ("lab", "a\0")):
            yield good | {key: value}
        for key, value in (("name", "a b"), ("name", ""), ("state", "passed"), ("state", None), ("points", -1), ("points", "60"),
                           ("points", True), ("message", 5), ("seconds", "x"), ("visibility", "x"), ("visibility", None), ("title", None), ("timelines", {})):
            bad = copy.deepcopy(good)
            bad["checks"][0][key] = value
            yield bad

    def refused(self, data):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "record.json"), os.path.join(folder, "out")
            with open(path, "wb") as file:
                file.write(data)
            done = run("junit", path, "--output", out)
            self.assertEqual((done.returncode, done.stderr.count(b"\n"), done.stdout), (2, 1, b""), done.stderr)
            self.assertEqual(os.listdir(folder), ["record.json"])

    def test_what_is_no_json(self):
        done = run("text", "README.md")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"export: README.md: this is not JSON: ", done.stderr)

    def test_what_is_no_record(self):
        for data in self.broken():
            with self.subTest(data=str(data)[:200]):
                self.refused(json.dumps(data).encode())

    def test_a_check_without_points(self):
        bad = record(row("a", "pass", 60))
        del bad["checks"][0]["points"]
        self.refused(json.dumps(bad).encode())

    def test_too_large(self):
        self.refused(json.dumps(record(row("a", "pass", 60))).encode() + b" " * reading.MOST_BYTES)

    def test_one_thing_wrong(self):
        """As a fuzzer would have it: refused with one line, or a record that every format can write."""
        small = record(row("a", "fail", 60, timelines=[{"title": "t", "kinds": ["k"], "bytes": [[1]], "budget": 2}]),
                       hand_in={"refused": ""})
        refused = 0
        for data in changed(small):
            try:
                made = reading.parse(data)
            except reading.BadRecord as error:
                self.assertEqual(len(str(error).splitlines()), 1, data)
                refused += 1
                continue
            for form in formats.FORMATS.keys() - {"classroom50"}:
                formats.FORMATS[form](made, False).encode()
            with contextlib.suppress(reading.BadRecord):   # parts of points, and what was not decided
                formats.classroom50(made, False, RUNNER).encode()
            xml.etree.ElementTree.fromstring(formats.junit(made, False))
            self.assertLessEqual(made["score"], made["total"], data)
        self.assertGreater(refused, 500)

    def test_what_is_no_json(self):
        for data in (b"", b"null", b"\0", b'"\\', b"[" * 100000, b'{"lab":' * 100000, b'{"lab":', b"\xff\xff", b"\x8e",
                     b'{"lab":"a","score":NaN,"checks":[{"name":"a","state":"pass","points":1}]}',
                     b'{"lab":"a","lab":"a","checks":[{"name":"a","state":"pass","points":1}]}',
                     b'{"lab":"a","checks":[{"name":"a","state":"pass","points":' + b"9" * 5000 + b"}]}", b'{"lab":"a","checks":[{"name":"a","state":"pass","points":NaN}]}',
                     b'{"lab":"a","checks":[{"name":"a","state":"pass","points":1e999}]}'):
            with self.subTest(data=data[:40]):
                self.refused(data)

    def test_the_score_is_added_up_again(self):
        data = record(row("a", "fail", 60, earned=60), row("b", "pass", 40, earned=1000), score=100)
        self.assertEqual(strict(export("gradescope", data))["score"], 40)

    def test_a_full_disk_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.json")
            with open(path, "w", encoding="ascii") as file:
                json.dump(mixed(), file)
            done = run("gradescope", path, "--output", os.path.join(folder, "no", "such", "place"))
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1))


if __name__ == "__main__":
    unittest.main()
