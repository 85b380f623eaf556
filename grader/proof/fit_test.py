#!/usr/bin/env python3
"""What `tools/outcomes.py` and `make slides` refuse, and what slides have in them."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../tools")
import outcomes  # pylint: disable=wrong-import-position

LAB, SVG = "03_accumulate", "{http://www.w3.org/2000/svg}"


class InACopy(unittest.TestCase):
    """In a folder with one lab, where anything may be broken."""

    def setUp(self):
        self.before, self.place = os.getcwd(), tempfile.mkdtemp(prefix="fit-test-")
        shutil.copytree(f"labs/{LAB}", f"{self.place}/labs/{LAB}")
        shutil.copy("LICENSE", self.place)
        os.mkdir(f"{self.place}/docs")
        os.chdir(self.place)
        self.addCleanup(shutil.rmtree, self.place)
        self.addCleanup(os.chdir, self.before)

    def run_tool(self, name, *words):
        return subprocess.run([sys.executable, f"{HERE}/../../tools/{name}", *words], capture_output=True, text=True, check=False)

    def refused(self, words, done):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(words, done.stderr)
        self.assertNotIn("Traceback", done.stderr)


class Outcomes(InACopy):
    """Each check that is worth points has one."""

    def change(self, edit):
        path = f"labs/{LAB}/outcomes.json"
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        edit(found)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(found, file)

    def test_as_it_is(self):
        self.assertEqual(outcomes.faults(LAB), [])
        self.assertEqual(self.run_tool("outcomes.py", "--write").returncode, 0)
        self.assertEqual(self.run_tool("outcomes.py").returncode, 0)

    def test_a_check_without_one(self):
        self.change(lambda found: found[next(iter(found))].remove("by_hand"))
        self.refused("by_hand is worth points and has no outcome", self.run_tool("outcomes.py"))

    def test_a_check_that_is_not_there(self):
        self.change(lambda found: found[next(iter(found))].append("nobody"))
        self.refused("nobody is not a check that is worth points", self.run_tool("outcomes.py", "--write"))
        self.assertEqual(os.listdir("docs"), [])

    def test_a_check_with_two(self):
        self.change(lambda found: found[list(found)[1]].append("by_hand"))
        self.refused("by_hand has several outcomes", self.run_tool("outcomes.py"))

    def test_an_old_page(self):
        self.run_tool("outcomes.py", "--write")
        with open("docs/outcomes.md", "a", encoding="utf-8") as file:
            file.write("more\n")
        self.refused("is not what the labs say", self.run_tool("outcomes.py"))

    def test_broken(self):
        for text in ("{", "[]", '{"no full stop": ["by_hand"]}', '{"A sentence.": "by_hand"}', '{"A sentence.": [1]}'):
            with open(f"labs/{LAB}/outcomes.json", "w", encoding="utf-8") as file:
                file.write(text)
            self.refused("outcomes.json", self.run_tool("outcomes.py"))


class Slides(InACopy):
    """Figures with licence and description."""

    def test_what_is_in_them(self):
        done = self.run_tool("slides.py", "--out", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir("out")), [f"{LAB}-figure.svg", "LICENSE", "README.md", "figures.json"])
        with open("out/figures.json", encoding="utf-8") as file:
            row, = json.load(file)
        root = xml.parse(f"out/{row['file']}").getroot()
        self.assertEqual(root.find(f"{SVG}desc").text, row["description"])
        with open(f"labs/{LAB}/README.md", encoding="utf-8") as page:
            self.assertIn(f"![{row['description']}](figure.svg)", page.read())
        self.assertTrue(root.find(f"{SVG}title").text)
        self.assertEqual([child.tag for child in root][:3], [f"{SVG}{name}" for name in ("title", "desc", "metadata")])
        self.assertIn("Copyright", "".join(root.find(f"{SVG}metadata").itertext()))
        with open("out/README.md", encoding="utf-8") as page:
            self.assertIn(row["description"], page.read())

    def test_drawn_as_before(self):
        """Nothing but description and licence is new."""
        self.run_tool("slides.py", "--out", "out")
        before, after = (xml.parse(path).getroot() for path in (f"labs/{LAB}/figure.svg", f"out/{LAB}-figure.svg"))
        for name in ("desc", "metadata"):
            after.remove(after.find(f"{SVG}{name}"))
        self.assertEqual([(each.tag, each.attrib, (each.text or "").strip()) for each in before.iter()],
                         [(each.tag, each.attrib, (each.text or "").strip()) for each in after.iter()])

    def test_again(self):
        for _ in range(2):
            self.assertEqual(self.run_tool("slides.py", "--out", "out/").returncode, 0)

    def test_what_it_does_not_replace(self):
        os.mkdir("mine")
        with open("mine/notes.txt", "w", encoding="utf-8") as file:
            file.write("mine")
        self.refused("has something else in it", self.run_tool("slides.py", "--out", "mine"))
        self.assertEqual(os.listdir("mine"), ["notes.txt"])

    def test_a_broken_figure(self):
        with open(f"labs/{LAB}/figure.svg", "w", encoding="utf-8") as file:
            file.write("<svg>")
        self.refused("figure.svg", self.run_tool("slides.py", "--out", "out"))
        self.assertEqual(sorted(os.listdir(".")), ["LICENSE", "docs", "labs"])

    def test_no_description(self):
        path = f"labs/{LAB}/README.md"
        with open(path, encoding="utf-8") as page:
            text = page.read()
        with open(path, "w", encoding="utf-8") as page:
            page.write(text.replace("![A window of four micro-batches, the last window of two]", "![]"))
        self.refused("has no description", self.run_tool("slides.py", "--out", "out"))

    def test_no_such_lab(self):
        self.refused("there is no such lab", self.run_tool("slides.py", "--out", "out", "--lab", "99_nothing"))


if __name__ == "__main__":
    unittest.main()
