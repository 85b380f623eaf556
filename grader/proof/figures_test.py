#!/usr/bin/env python3
"""Looks at every figure in headless Chromium, with DejaVu fonts: is each label whole, by itself, and not struck through?

    grader/proof/figures_test.py      needs Debian's chromium, gnuplot and fonts-dejavu-core, and build/bin; pictures in build/figures

What grader/proof/figures.js asks of each text of an SVG, where its ink is (its box without the room above capitals):
- it lies within the picture;
- the ink of no two texts meets;
- no outline crosses it: of a line, path, rectangle, circle, filled or not, sampled every half pixel and as wide as its stroke,
  unless something opaque lies on the outline and under the text. So a word half on a bar is found, one within a box is not;
- nothing opaque lies on it.
What it cannot see: a text that is inside of a shape of nearly its own colour; outlines of a marker; ink that leaves its box.
Figures are those in git, and those that the kit draws when it runs.
"""
import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from html_test import CHROMIUM

OUT = "build/figures"
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>/usr/share/fonts/truetype/dejavu</dir><cachedir>{cache}</cachedir>
<alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias></fontconfig>
"""
HERE = os.path.dirname(os.path.abspath(__file__))


def look(source):
    """What figures.js finds in an SVG: {"texts": how many, "found": [what is wrong], "named": [title and description]}."""
    source = re.sub(r"<\?xml.*?\?>|<!DOCTYPE[^>]*>", "", source)
    with tempfile.TemporaryDirectory() as folder, open(f"{HERE}/figures.js", encoding="utf-8") as script:
        with open(f"{folder}/page.html", "w", encoding="utf-8") as page:
            page.write(f'<!DOCTYPE html><meta charset="utf-8"><body style="margin: 0">{source}<script>{script.read()}</script>')
        with open(f"{folder}/fonts.conf", "w", encoding="utf-8") as fonts:
            fonts.write(FONTS.format(cache=f"{folder}/cache"))
        done = subprocess.run([*CHROMIUM, f"--user-data-dir={folder}/profile", "--window-size=1600,1600", "--dump-dom", f"file://{folder}/page.html"],
                              env=os.environ | {"FONTCONFIG_FILE": f"{folder}/fonts.conf"}, capture_output=True, text=True, timeout=120, check=False)
    title = re.search(r"<head>.*?<title>(.*?)</title>", done.stdout, re.S)
    return json.loads(html.unescape(title[1]))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(*command, **settings):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **settings)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def plan_lines():
    """As build/bin/pareto prints them: two micro-batches, each precision, some of it noisy."""
    yield "plans 12 windows 4 tokens 1024 seconds 1.0 busy_from 1.30"
    for i in range(12):
        precision, micro = ("f32", "f16", "bf16")[i % 3], 1 << i // 3
        size = (10 + 4 * i) << 20
        yield f"{micro} {8 // micro} {precision} plain {i % 2} 0 {size} {size} {12000 + 90 * i} {11000 + 2000 * (i % 4)} {1.1 + i % 2} {int(i == 3)}"


def draw_all():
    """Every picture that a command of the kit draws."""
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(f"{OUT}/stub")
    for name in ("histogram", "frozen", "crossover"):
        run("build/bin/fp16", name, OUT, env=os.environ | {"OMP_NUM_THREADS": "1"})
    run("build/bin/checkpoint", "--folder", f"{OUT}/stub")
    run("build/bin/checkpoint-solved", "--folder", OUT)
    run("build/bin/train", *"--n_layer 2 --max_steps 12 --eval_steps 4 --logging_steps 2 --output_dir".split(), f"{OUT}/run")
    program = os.path.abspath(f"{OUT}/plans")
    with open(program, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\ncat <<E\n" + "\n".join(plan_lines()) + "\nE\n")
    os.chmod(program, 0o755)
    run("tools/pareto.py", program, "--picture", f"{OUT}/pareto.svg")


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100" font-family="sans-serif" font-size="13"><title>t</title>{}</svg>'
GOOD = {
    "a word in a box": '<rect x="10" y="10" width="100" height="30" fill="#9cc3e6" stroke="#555"/><text x="20" y="30">in a box</text>',
    "a line under a word that has a background": '<path d="M10 25 H200" stroke="#000"/><rect x="38" y="10" width="60" height="30" fill="#fff"/>'
                                                 '<text x="40" y="30">label</text>',
    "two lines": '<text x="10" y="20">gradients</text><text x="10" y="36">add up</text>',
    "an underline": '<text x="10" y="30">total</text><path d="M10 36 H60" stroke="#000"/>',
    "turned": '<text transform="translate(20, 90) rotate(-90)">tokens</text><path d="M26 5 V95" stroke="#000"/>',
}
BAD = {
    "is cut off": '<text x="250" y="30">a label that is too long</text>',
    "lie on each other": '<text x="10" y="30">gradients</text><text x="50" y="34">add up</text>',
    "is struck through by a path": '<path d="M5 26 H290" stroke="#000"/><text x="10" y="30">label</text>',
    "is struck through by a line": '<line x1="20" y1="0" x2="20" y2="90" stroke="#000" stroke-dasharray="2 9"/><text x="10" y="30">label</text>',
    "is struck through by a rect": '<rect x="10" y="10" width="30" height="30" fill="#9cc3e6"/><text x="20" y="30">half on a bar</text>',
    "is struck through by a circle": '<circle cx="30" cy="26" r="3" fill="#c02020"/><text x="10" y="30">label</text>',
    "is struck through by a use": '<defs><path id="p" d="M-4 0 H4 M0 -4 V4" stroke="#000"/></defs><use href="#p" x="30" y="26"/><text x="10" y="30">label</text>',
    "is hidden by a rect": '<text x="20" y="30">label</text><rect x="5" y="5" width="200" height="60" fill="#fff"/>',
    '"tokens" is struck': '<text transform="translate(20, 90) rotate(-90)">tokens</text><path d="M16 5 V95" stroke="#000"/>',
}


class Figures(unittest.TestCase):
    def expect_good(self, path):
        seen = look(read(path))
        self.assertEqual(seen["found"], [], path)
        self.assertGreater(seen["texts"], 3, path)
        words = " ".join(seen["named"])
        self.assertRegex(words, r"title: .{20}", f"{path}: <title> says what it shows")
        self.assertNotRegex(words, "(?i)gnuplot", path)

    def test_what_is_good_passes(self):
        for name, drawing in GOOD.items():
            self.assertEqual(look(SVG.format(drawing))["found"], [], name)

    def test_what_is_wrong_is_found(self):
        for words, drawing in BAD.items():
            found = look(SVG.format(drawing))["found"]
            self.assertTrue(any(words in line for line in found), f"{words}: {found}")

    def test_figures_of_the_pages(self):
        paths = subprocess.run(["git", "ls-files", "*.svg"], capture_output=True, text=True, check=True).stdout.split()
        self.assertGreater(len(paths), 7)
        for path in paths:
            with self.subTest(path):
                self.expect_good(path)

    def test_figures_that_are_drawn(self):
        draw_all()
        paths = glob.glob(f"{OUT}/**/*.svg", recursive=True)
        self.assertEqual(len(paths), 8)
        for path in paths:
            with self.subTest(path):
                self.expect_good(path)


class Pages(unittest.TestCase):
    """A page shows each figure, and says in words what it shows."""

    def test_alt_text(self):
        shown = set()
        for page in subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split():
            for alt, path in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", read(page)):
                shown.add(os.path.normpath(os.path.join(os.path.dirname(page), path)))
                self.assertGreaterEqual(len(alt), 20, f"{page}: {path}")
        drawn = set(subprocess.run(["git", "ls-files", "*.svg"], capture_output=True, text=True, check=True).stdout.split())
        self.assertEqual(drawn - shown, set(), "no page shows them")


if __name__ == "__main__":
    for needed in ("chromium", "gnuplot"):
        if shutil.which(needed) is None:
            sys.exit(f"figures_test: there is no {needed} here: tools/setup.sh --prove")
    unittest.main()
