#!/usr/bin/env python3
"""What students read in another language: the catalogue has all of it, texts are known by their formats, and a wrong file of
a language breaks nothing.

    grader/proof/language_test.py      needs gettext, python3-pygments, python3-jinja2; no judge
"""
import contextlib
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from export_test import EVIL, hostile, record, row   # which finds tools/
import course
import handout_files
import sentences
from exports import formats, language, record as reading
from feedback import sentence
from report import student_page, templates

CATALOGUE, FOUND = sentences.catalogue()
SAMPLES = {"s": "some text", "c": "c", "d": "12", "i": "12", "u": "12", "x": "1f", "X": "1F", "f": "0.5", "g": "1.5e-07", "e": "1e+3", "p": "0x1f"}


def marked(text):
    """A translation in which one sees what has been translated."""
    core = text.strip("\n")
    return text.replace(core, f"«{core}»")


def spoken(pairs=None):
    return language.Language(pairs or [(text, marked(text)) for text in FOUND], "qps")


def as_printed(text):
    return language.CONVERSION.sub(lambda found: "%" if found[2] == "%" else SAMPLES[found[2]], text)


def in_marks(text):
    return text.strip().startswith("«") and text.strip().endswith("»")


class Catalogue(unittest.TestCase):
    def test_it_is_current(self):
        self.assertEqual(sentences.read(), CATALOGUE, "make sentences")
        self.assertGreater(len(FOUND), 2000)

    def test_gettext_takes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for command in (["msginit", "--no-translator", "-l", "de", "-i", sentences.CATALOGUE, "-o", f"{folder}/de.po"],
                            ["msgfmt", "-c", "-o", f"{folder}/de.mo", f"{folder}/de.po"]):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_strings_of_c(self):
        text = 'f("a b" /* "no" */ "c", g(x, "d\\n\\"e\\"")); // "no"\nstatic const char *t[] = {"one two", "three"}; char c = \'"\'; h("%" PRIu64 " x");'
        self.assertEqual(sentences.strings_of(text), [("a bc", "f"), ('d\n"e"', "g"), ("one two", ""), ("three", ""), ("%", "h"), (" x", "h")])

    def test_what_is_a_sentence(self):
        for text in ("the loss is %g", "%s is still as it was given", "a b is too far: %s"):
            self.assertTrue(sentences.is_sentence(text), text)
        for text in ("layernorm", "%s: %s", "OMP_NUM_THREADS=1 x of", "/proc/self/exe", "#include x of it", "%d of %d", "int main of {"):
            self.assertFalse(sentences.is_sentence(text), text)


class Texts(unittest.TestCase):
    def test_every_sentence_as_it_is_printed(self):
        said = spoken().said
        for text in FOUND:
            for line in [as_printed(text)] if text.count("\n") < 2 else as_printed(text).strip("\n").split("\n"):
                if language.letters(line) >= language.WORDS and (line in FOUND or "\n" not in text.strip("\n")):
                    self.assertTrue(in_marks(said(line)), (text, said(line)))

    def test_values(self):
        said = spoken([("the %s of %d is %g", "%2$d: %3$g (%1$s)"), ("likely: %s", "wohl: %s"), ("a wrong mean", "ein falscher Mittelwert"), ("up to %d %% of it", "bis %d %%"),
                       ("a line\nand another one", "eine Zeile\nund noch eine")]).said
        for text, other in (("the a wrong mean of -3 is 1.5e-07", "-3: 1.5e-07 (ein falscher Mittelwert)"), ("    likely: a wrong mean", "    wohl: ein falscher Mittelwert"),
                            ("up to 30 % of it", "bis 30 %"), ("nothing known", "nothing known"), ("", ""), ("x\nlikely: y\n", "x\nwohl: y\n"),
                            ("a line\nand another one", "eine Zeile\nund noch eine"), ("the x of NaN is inf", "NaN: inf (x)")):
            self.assertEqual(said(text), other)

    def test_the_longer_of_two_is_meant(self):
        self.assertEqual(spoken([("%s is not right", "A %s"), ("the loss of %s is not right", "B %s")]).said("the loss of x is not right"), "B x")

    def test_a_translation_that_asks_for_more(self):
        for other in ("%s %s %s", "%3$s", "%", "%z"):
            spoken([("the loss of %s is bad", other)]).said("the loss of x is bad")

    def test_hostile_texts_take_no_time(self):
        said = spoken().said
        for text in ("a" * 4000, "the " * 1000, "%s" * 2000, "likely: " * 500, "\n" * 4000, "«" * 4000, "is not " * 500):
            said(text)


class Shown(unittest.TestCase):
    """A record as students see it: every word of the kit's is translated, and none of the student's."""

    def setUp(self):
        language.here.cache_clear()
        self.addCleanup(language.here.cache_clear)
        self.speak = spoken()
        self.enterContext(mock.patch.object(language, "here", lambda: self.speak))

    def a_record(self, **more):
        known = "report.loss is not set"
        data = record(row("a", "pass", 60, title="task 3: in half, where a gradient of one rank overflows"),
                      row("b", "fail", 40, message="y is still as it was given", mistake=f"likely: {known}", output="words of the student"),
                      row("c", "crashed", 5, message="not finished after 3 s"), row("d", "fail", 5, mistake=f"likely: {known}"), name="ada",
                      story={"mistake": known, "checks": ["b", "d"]}, **more)
        return reading.read(json.loads(json.dumps(data)))

    def test_formats(self):
        for name in ("gradescope", "autolab", "prairielearn", "junit", "text"):
            made = formats.FORMATS[name](reading.in_words_of_the_course(self.a_record()), False)
            made = json.loads(json.dumps(made)).encode().decode("unicode_escape") if name != "text" else made
            self.assertIn("«likely: «report.loss is not set»»" if name == "text" else "report.loss is not set", made)
            self.assertNotIn("«words of the student»", made)

    def test_the_page(self):
        page = student_page(templates(), self.a_record(), False)
        self.assertIn('<html lang="qps">', page)

        class Words(html.parser.HTMLParser):
            seen, skip = [], False

            def handle_starttag(self, tag, attrs):
                Words.skip = tag in ("style", "title", "b")

            def handle_endtag(self, tag):
                Words.skip = False

            def handle_data(self, data):
                if not Words.skip and language.letters(data) >= language.WORDS:
                    Words.seen.append(data.strip())
        Words().feed(page)
        self.assertEqual([text for text in Words.seen if not in_marks(text) and text not in ("words of the student",) and not re.match(r"[\d.]+ s|Lab |«?Sandbox", text)], [])
        self.assertGreater(len(Words.seen), 8)

    def test_a_translation_is_text_and_no_markup(self):
        self.speak = spoken([("report.loss is not set", "<script>alert(1)</script> & so")])
        page = student_page(templates(), self.a_record(), False)
        self.assertNotIn("<script", page)
        self.assertIn("&lt;script&gt;", page)

    def test_what_counts(self):
        text = sentence({"lab": "00_bytes", "name": "ada", "raw": 100, "total": 100, "loss": 20, "late": 5, "final": 80,
                         "why": "2 days late: 20 % of the total, no more than that, extension (ill)"})
        self.assertEqual([line for line in text.splitlines() if not in_marks(line)], [])
        self.assertIn("«2 days late: 20 % of the total», «no more than that», «extension (ill)»", text)

    def test_hostile_records(self):
        for text in EVIL:
            with contextlib.suppress(reading.BadRecord):
                student_page(templates(), reading.read(json.loads(json.dumps(hostile(text)))), False)


class Kit(unittest.TestCase):
    """course.json of the kit, files of languages, what grading prints."""

    def setUp(self):
        self.place = self.enterContext(tempfile.TemporaryDirectory())
        os.makedirs(f"{self.place}/languages")
        os.makedirs(f"{self.place}/tools")
        self.tools = os.path.abspath("tools")

    def course(self, text):
        with open(f"{self.place}/course.json", "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))

    def compiled(self, pairs, name="de"):
        text = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n' + "".join(
            f"\nmsgid {sentences.quoted(one)}\nmsgstr {sentences.quoted(other)}\n" for one, other in pairs)
        subprocess.run(["msgfmt", "-o", f"{self.place}/languages/{name}.mo", "-"], input=text.encode(), check=True)

    def say(self, *command, status=0):
        done = subprocess.run([sys.executable, f"{self.tools}/say.py", *command], capture_output=True, text=True, check=False, cwd=self.place)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_a_table(self):
        self.course({"language": "de", "term": "2027s"})
        self.compiled([("the loss is %g", "la perte vaut %g"), ("likely: %s", "wohl: %s"), ("fail", "falsch"), ("one plain step", "ein Schritt"),
                       ("Score:   %g of %g points", "Punkte:  %g von %g")])
        text = ("Lab 01_loop, from labs/01_loop\n  loss                     0/40  fail            0.05 s   one plain step\n"
                "        the loss is 1e-3\n        likely: the loss is 5\n  x                      -  over budget     0.05 s   other\nScore:   0 of 100 points\n")
        done = self.say("sh", "-c", f"cat <<'E'\n{text}E\nexit 7", status=7)
        self.assertEqual(done.stdout, "Lab 01_loop, from labs/01_loop\n  loss                     0/40  falsch            0.05 s   ein Schritt\n"
                         "        la perte vaut 1e-3\n        wohl: la perte vaut 5\n  x                      -  over budget     0.05 s   other\nPunkte:  0 von 100\n")

    def test_english(self):
        self.assertEqual(self.say("sh", "-c", "echo the loss is 1; exit 3", status=3).stdout, "the loss is 1\n")

    def test_what_is_wrong_is_said_in_a_line(self):
        with open(f"{self.place}/languages/xx.mo", "wb") as file:
            file.write(b"no file of gettext's")
        for text, words in (({"language": "de"}, "there is no languages/de.mo"), ({"language": "../../etc/passwd"}, "is not the name of a language"),
                            ({"language": 5}, "is not the name of a language"), ({"language": "xx"}, "not a file of gettext"), ("{", "Expecting"), ("[]", "get")):
            self.course(text)
            done = self.say("sh", "-c", "echo the loss is 1; exit 3", status=3)
            self.assertEqual((done.stdout, done.stderr.count("\n")), ("the loss is 1\n", 1), done.stderr)
            self.assertIn(words, done.stderr)

    def test_an_export(self):
        self.course({"language": "de"})
        self.compiled([("y is still as it was given", "y comme avant"), ("%s is still as it was given", "%s comme avant")])
        path = f"{self.place}/record.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(record(row("b", "fail", 40, message="x is still as it was given")), file)
        done = subprocess.run([sys.executable, f"{self.tools}/export.py", "text", path], capture_output=True, text=True, check=False, cwd=self.place)
        self.assertIn("x comme avant", done.stdout, done.stderr)

    def test_settings_of_a_class_may_stand_beside_it(self):
        self.course({"language": "de", "labs": {"01": 1}})
        self.assertEqual(course.read(f"{self.place}/course.json")["labs"], {"01_loop": 1})

    def test_a_handout_has_the_language_and_not_its_source(self):
        self.assertTrue(handout_files.theirs("languages/de.mo", "03", True))
        for path in ("languages/de.po", "languages/sentences.pot"):
            self.assertFalse(handout_files.theirs(path, "03", True))


if __name__ == "__main__":
    unittest.main()
