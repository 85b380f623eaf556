#!/usr/bin/env python3
"""Opens the reports in headless Chromium: no console error, nothing asked of the network, no text of a student's alive.

    grader/proof/html_test.py         needs Debian's chromium and python3-jinja2; pictures in build/html/*.png

Pages of a made-up class, among them one whose every text is hostile, narrow and wide, light and dark.
"""
import html.parser
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import zlib

from export_test import EVIL, hostile, mixed, record, row

OUT = "build/html"
KINDS = ["weights", "gradients", "optimizer", "activations", "workspace", "data"]
SIZES = {"narrow": (400, 1500), "wide": (1280, 1500)}
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
            "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND"]
DIAGNOSES = ["likely: the mean of the micro-batches' means: each token must count the same, whatever batch it is in",
             "likely: divided twice: once in the loss and once in the gradients", "likely: only the last micro-batch is left", ""]


# ---- a class ----------------------------------------------------------------------------------------

def sawtooth():
    """Memory of a step with checkpoints: activations of a block come and go again."""
    moments = []
    for i in range(160):
        saved = min(i, 160 - i) // 20 * 3 << 20
        moments.append([12 << 20, 12 << 20, 24 << 20, saved + (i % 20) * (600 << 10), 1 << 20, 64 << 10])
    return {"title": "one step with checkpoints", "kinds": KINDS, "bytes": moments, "budget": 80 << 20}


def student(i):
    """The i-th of a class: most have nearly all, some nothing."""
    rows = []
    for j, points in enumerate((20, 20, 15, 15, 10, 10)):
        good = math.sin(12.9898 * i + 78.233 * j) > (-0.4 if j < 4 else 0.2) and i % 9
        wrong = {"message": "wte.weight[17, 3] is -0.0412, should be -0.0103: 4.0 times", "mistake": DIAGNOSES[(i + j) % 4],
                 "output": "step 1 loss 5.54"}
        state = "pass" if good else "not started" if i % 9 == 0 else "fail"
        rows.append(row(f"check_{j}", state, points, title=f"task {j + 1}: gradients of the mean loss over the window",
                        timelines=[sawtooth()] if j == 1 else [], **({} if good else wrong)))
    rows.append(row("later", "fail" if i % 2 else "pass", 10, visibility="after_due_date", title="a shape nobody has seen"))
    bets = {"64 micro-batches": {"bet": 1 + i % 5, "measured": 1}, "time of 1 x 64": {"bet": 1 + i / 9}, EVIL[i % len(EVIL)]: {"bet": 5}}
    return record(*rows, lab="03_accumulate", hand_in={"bets": bets if i % 3 else {}}, name=f"student {i:02d}", sandbox="2: limits, system call filter, Landlock 7, another user")


def people():
    for i in range(40):
        yield f"s{i:02d}", student(i)
    for i, text in enumerate(EVIL):
        yield f"evil{i}", hostile(text) | {"lab": "03_accumulate"}
    yield "mixed", mixed() | {"lab": "03_accumulate"}
    yield "undecided", record(row("a", "sandbox error", 100), lab="03_accumulate", name="left undecided")
    yield "<img src=x onerror=alert(1)>&\"'#?%41", student(41) | {"name": ""}


def make_class():
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(f"{OUT}/records")
    for name, data in people():
        with open(f"{OUT}/records/{name}.json", "w", encoding="ascii") as file:
            json.dump(data, file)
    with open(f"{OUT}/records/broken.json", "wb") as file:
        file.write(b"\xff{<script>")
    return subprocess.run(["tools/report.py", OUT], capture_output=True, text=True, check=False)


# ---- looking at it ----------------------------------------------------------------------------------

class Page(html.parser.HTMLParser):
    """Elements, attributes, links of a page, and the text that is shown."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.attributes, self.links, self.text = set(), set(), [], ""
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        self.feed(self.source)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data):
        self.text += data


def chromium(*arguments):
    """What Chromium says on the console of a page, and what it prints."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run([*CHROMIUM, f"--user-data-dir={profile}", *arguments], capture_output=True, text=True,
                              errors="replace", timeout=120, check=False)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return said, done.stdout


def first_pixel(path):
    """Red, green and blue of the corner of a PNG: no filter changes the first pixel."""
    with open(path, "rb") as file:
        data = file.read()
    packed, at = b"", 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    return zlib.decompressobj().decompress(packed, 4)[1:]


def address(name):
    return "file://" + urllib.parse.quote(os.path.abspath(f"{OUT}/report/{name}"))


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = make_class()
        cls.pages = {name: Page(f"{OUT}/report/{name}") for name in sorted(os.listdir(f"{OUT}/report"))}

    def test_every_record_has_a_page_and_the_broken_one_is_said(self):
        self.assertEqual(self.made.returncode, 1, self.made.stderr)
        self.assertEqual(len(self.pages), len(list(people())) + 1)
        self.assertIn("broken.json", self.pages["index.html"].text)

    def test_no_element_comes_from_a_student(self):
        known = set("html head meta link title style body h1 h2 p div small span b a pre details summary figure figcaption svg "
                    "path rect line text ul li table tr th td".split())
        for name, page in self.pages.items():
            self.assertLessEqual(page.tags, known, name)
            self.assertFalse([attribute for attribute in page.attributes if attribute.startswith("on")], name)
            self.assertFalse([link for link in page.links if not re.fullmatch(r"data:,|student-[A-Za-z0-9%_.@-]+\.html", link)], name)
            self.assertNotRegex(page.source, "[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]")

    def test_what_a_student_wrote_is_there_as_text(self):
        shown = self.pages["student-evil0.html"].text
        self.assertGreaterEqual(shown.count(EVIL[0]), 4)
        template = self.pages[f"student-evil{EVIL.index('{{ 7*7 }}{% raw %}')}.html"].text
        self.assertIn("{{ 7*7 }}{% raw %}", template)

    def test_bets_of_the_class_are_on_its_page(self):
        self.assertIn("what to teach again", self.pages["index.html"].text)
        self.assertIn("64 micro-batches", self.pages["index.html"].text)
        self.assertNotIn("teach again", self.pages["student-s01.html"].text)

    def test_hidden_checks_stay_hidden(self):
        for word in ("LATE", "NEVER"):
            self.assertNotIn(word, self.pages["student-mixed.html"].source)
        self.assertIn("worth another 10 points", self.pages["student-mixed.html"].text)

    def test_links_lead_somewhere(self):
        for link in self.pages["index.html"].links:
            if not link.startswith("data:"):
                self.assertIn(urllib.parse.unquote(link), self.pages)

    def test_console_is_quiet(self):
        evil = [name for name in self.pages if "evil" in name or "img" in name]
        for name in ["index.html", "student-s03.html", *evil[:6], evil[-1]]:
            said, tree = chromium("--dump-dom", address(name))
            self.assertEqual(said, [], name)
            self.assertIn("</html>", tree, name)
            self.assertNotIn("<script", tree.lower(), name)

    def test_chromium_would_say_something(self):
        """The test above can fail."""
        with open(f"{OUT}/report/zz-bad.html", "w", encoding="utf-8") as file:
            file.write("<script>console.error('here')</script>")
        said, _ = chromium("--dump-dom", address("zz-bad.html"))
        os.unlink(f"{OUT}/report/zz-bad.html")
        self.assertTrue(any("here" in line for line in said))

    def test_nothing_is_wider_than_the_window(self):
        """Asked of a copy that may run a script."""
        ask = "<script>document.title = [document.documentElement.scrollWidth, innerWidth].join(' of ')</script></body>"
        for page in ("index.html", "student-s03.html", "student-evil15.html"):
            source = re.sub(r"<meta http-equiv.*", "", self.pages[page].source).replace("</body>", ask)
            with open(f"{OUT}/asked.html", "w", encoding="utf-8") as file:
                file.write(source)
            for width, height in SIZES.values():
                _, tree = chromium(f"--window-size={width},{height}", "--dump-dom", address("../asked.html"))
                wide, room = map(int, re.search(r"<title>(\d+) of (\d+)</title>", tree).groups())
                self.assertLessEqual(wide, room, page)

    def test_pictures(self):
        """Narrow and wide, light and dark, to be looked at; and dark is dark."""
        for name, page in (("class", "index.html"), ("student", "student-s03.html"), ("evil", "student-evil15.html")):
            for size, (width, height) in SIZES.items():
                for scheme, low, high in (("light", 200, 255), ("dark", 0, 60)):
                    path = os.path.abspath(f"{OUT}/{name}-{size}-{scheme}.png")
                    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
                    chromium(*dark, f"--window-size={width},{height}", f"--screenshot={path}", address(page))
                    for part in first_pixel(path):
                        self.assertTrue(low <= part <= high, path)


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        sys.exit("html_test: there is no chromium here: apt-get install chromium")
    unittest.main()
