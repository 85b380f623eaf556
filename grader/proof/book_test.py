#!/usr/bin/env python3
"""Opens every page of the book in headless Chromium: the handbook that `make docs` has written.

    grader/proof/book_test.py [--in HANDOUT] [unittest's options]

Narrow and wide, light and dark: nothing is wider than the window, pictures are there, scripts do not complain; the side bar has the
chapters in their order, and the way from page to page visits each page once; the search finds; axe-core (WCAG 2, A and AA) finds
nothing serious; what is printed is the page alone; no page has a part of a solution. Pictures to look at are in build/book/.
Needs Debian's chromium, and build/python with axe and a websocket client (tools/setup.sh --prove).
"""
import glob
import html
import itertools
import os
import re
import shutil
import sys
import unittest

KIT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))   # the book may be that of a handout
sys.path[:0] = [f"{KIT}/tools", f"{KIT}/grader/proof"]
import book            # noqa: E402  pylint: disable=wrong-import-position
import handout_leaks   # noqa: E402  pylint: disable=wrong-import-position
from browser import FROM_PYPI, Browser    # noqa: E402  pylint: disable=wrong-import-position
from lab_files import all_labs   # noqa: E402  pylint: disable=wrong-import-position

BOOK, OUT = "build/docs/html", "build/book"
AXE = f"{FROM_PYPI}/axe_playwright_python/axe.min.js"
CHAPTERS = ["The course", "Ops", "The simulator: a GPU on the CPU", "Teaching", "Reading the code"]
SIZES = {"narrow": (390, 844), "wide": (1280, 900)}
SCHEMES = {"light": False, "dark": True}
# Of the reference one of each sort that doxygen makes.
SAMPLE = ["trainer_8h.html", "trainer_8h_source.html", "structMemoryOptions.html", "group__ops.html", "globals_func.html", "classes.html"]
LOOKED_AT = ("index.html", "lab_03_accumulate.html", "pictures.html", "op_layernorm.html")
RULES = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']"
# Doxygen draws the side bar, and book.js has run, when a page of the tree is marked in it or the time is over.
READY = """new Promise(done => {
    const begin = Date.now();
    (function look() {
        const ready = document.querySelector('#nav-tree .selected') && document.querySelector('#contents-button');
        ready || Date.now() - begin > 3000 ? setTimeout(() => done(!!ready), 50) : setTimeout(look, 20);
    })();
})"""
VIOLATIONS = f"""axe.run({{runOnly: {RULES}}}).then(found => found.violations
    .filter(one => ['serious', 'critical'].includes(one.impact))
    .map(one => `${{one.impact}} ${{one.id}}: ${{one.nodes.length}} times, e.g. ${{one.nodes[0].html.slice(0, 120)}}`))"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pictures_wanted():
    """Page and name of each picture that a page of docs/ shows ("Add a page" in CONTRIBUTING.md)."""
    found = []
    for path in glob.glob("docs/*.md"):
        text = read(path)
        page = re.search(r"\{#(\w+)\}", text)
        found += [(f"{page[1]}.html", name) for name, _ in book.pictures_of(text)]
    return found


class Book(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser()) if hasattr(cls, "enterClassContext") else Browser().__enter__()
        cls.pages = [address for _, address in book.chapters(BOOK, book.tree(BOOK))]
        os.makedirs(OUT, exist_ok=True)

    def open(self, page, size="wide", scheme="light"):
        self.browser.open(f"{BOOK}/{page}", *SIZES[size], SCHEMES[scheme])
        self.browser.ask(READY)


class Look(Book):
    """What a reader sees."""

    def test_the_side_bar_has_the_chapters_in_order(self):
        self.open("index.html")
        rows = self.browser.ask("[...document.querySelectorAll('#nav-tree-contents > ul > li > ul > li > .item .label')].map(e => e.innerText.trim())")
        teaching = os.path.exists("docs/instructors.md")
        self.assertEqual(rows, [chapter for chapter in CHAPTERS if teaching or chapter != "Teaching"])

    def test_every_lab_is_in_the_course_in_order(self):
        labs = [page for page in self.pages if re.match(r"lab_\d", page)]
        self.assertEqual(labs, [f"lab_{lab}.html" for lab in all_labs("README.md")])
        self.assertEqual(self.pages[:3], ["index.html", "course.html", labs[0]])

    def test_nothing_else_is_a_page(self):
        """What doxygen makes of a README that no chapter names."""
        self.assertEqual([name for name in os.listdir(BOOK) if name.startswith("md_")], [])

    def test_no_markdown_is_left(self):
        """Code that doxygen ends at a quote takes the rest of its line along, or its table; text that begins with code is not bold."""
        for page in self.pages:
            with self.subTest(page=page):
                contents = read(f"{BOOK}/{page}").split('<div class="contents">', 1)[1]
                self.assertEqual(re.findall(r".{0,40}(?:`|\*\*[<\w]|\S\*\*|&lsquo;|ilinebr).{0,40}", re.sub(r"<pre.*?</pre>|<div class=\"line\".*?</div>", "", contents, flags=re.S)), [])

    def test_the_way_visits_each_page_once(self):
        """By the links at the foot of the pages, from front to back and back again."""
        for rel, first in (("next", "index.html"), ("prev", self.pages[-1])):
            visited, page = [], first
            while page and page not in visited:
                visited.append(page)
                self.browser.open(f"{BOOK}/{page}", *SIZES["wide"])
                page = self.browser.ask(f"document.querySelector('.way a[rel={rel}]')?.getAttribute('href')")
            self.assertEqual(visited, self.pages if rel == "next" else self.pages[::-1])

    def test_every_page_fits_and_is_whole(self):
        every = itertools.product(LOOKED_AT, SIZES, SCHEMES)
        for page, size, scheme in [*every, *((page, *pair) for page in self.pages + SAMPLE for pair in (("narrow", "dark"), ("wide", "light")))]:
            with self.subTest(page=page, size=size, scheme=scheme):
                self.open(page, size, scheme)
                wide, broken, text = self.browser.ask("""[document.documentElement.scrollWidth,
                    [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src),
                    document.querySelector('#doc-content').innerText.length]""")
                self.assertLessEqual(wide, SIZES[size][0])
                self.assertEqual(broken, [])
                self.assertGreater(text, 100)
                self.assertEqual(self.browser.said(), [])
            if page in LOOKED_AT:
                self.browser.picture(f"{OUT}/{page[:-5]}-{size}-{scheme}.png")

    def test_dark_is_dark_and_light_is_light(self):
        colour = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
        for scheme, low, high in (("light", 200, 255), ("dark", 0, 60)):
            self.open("course.html", scheme=scheme)
            for part in self.browser.ask(colour):
                self.assertTrue(low <= part <= high, scheme)

    def test_figures_and_pictures_are_shown(self):
        sources = "[...document.querySelectorAll('.contents figure img')].map(i => [i.getAttribute('src'), i.alt])"
        for lab in all_labs("README.md"):
            self.open(f"lab_{lab}.html")
            shown = self.browser.ask(sources)
            self.assertIn(f"labs/{lab}/figure.svg", [source for source, _ in shown])
            self.assertNotIn("", [text for _, text in shown])
        drawn, shown, missing = {f"pictures/{name}" for name in os.listdir(f"{BOOK}/pictures")}, [], 0
        wanted = pictures_wanted()
        for page in sorted({page for page, _ in wanted}):
            self.open(page)
            shown += [source for source, _ in self.browser.ask(sources) if source.startswith("pictures/")]
            missing += self.browser.ask("document.querySelector('.contents').innerText.split('Not drawn here').length - 1")
        self.assertEqual(sorted(shown), sorted(drawn))
        self.assertEqual(len(drawn) + missing, len(wanted))

    def test_the_search_finds(self):
        for size in SIZES:
            for word, page in (("accumulate_window", "contract_8h.html"), ("Glossary", "glossary.html")):
                self.open("index.html", size)
                self.browser.ask("document.getElementById('MSearchField').focus()")
                self.browser.send("Input.insertText", text=word[:-1])
                self.browser.press(word[-1], ord(word[-1].upper()), word[-1])
                found = self.browser.ask("""new Promise(done => { const begin = Date.now(); (function look() {
                    const rows = document.getElementById('MSearchResults').contentDocument?.querySelectorAll('.SRResult') || [];
                    const shown = [...rows].filter(row => row.offsetHeight).map(row => row.querySelector('a').href);
                    shown.length || Date.now() - begin > 5000 ? done(shown) : setTimeout(look, 50); })(); })""")
                self.assertTrue(any(page in address for address in found), f"{word}, {size}: {found}")

    def test_the_search_finds_words_of_the_text(self):
        """A word that is in no title and no name."""
        for size in SIZES:
            self.open("index.html", size)
            self.browser.ask("document.getElementById('MSearchField').focus()")
            self.browser.send("Input.insertText", text="ragge")
            self.browser.press("d", 68, "d")
            found = self.browser.ask("""new Promise(done => { const begin = Date.now(); (function look() {
                const shown = [...document.querySelectorAll('#words a')].filter(link => link.offsetHeight).map(link => link.getAttribute('href'));
                shown.length || Date.now() - begin > 5000 ? done(shown) : setTimeout(look, 50); })(); })""")
            self.assertIn("lab_03_accumulate.html", found, size)
            self.assertEqual(self.browser.ask("[document.documentElement.scrollWidth]"), [SIZES[size][0]])
            self.browser.picture(f"{OUT}/search-{size}.png")

    def test_the_side_bar_opens_on_a_phone(self):
        """With the keyboard: the button, a link of the side bar, and Escape."""
        height = "document.getElementById('side-nav').offsetHeight"
        self.open("course.html", "narrow")
        self.assertEqual(self.browser.ask(height), 0)
        self.browser.ask("document.getElementById('contents-button').focus()")
        self.browser.press("Enter", 13, "\r")
        self.assertGreater(self.browser.ask(height), 150)
        self.assertEqual(self.browser.ask("document.getElementById('contents-button').getAttribute('aria-expanded')"), "true")
        self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), SIZES["narrow"][0])
        self.browser.press("Escape", 27)
        self.assertEqual(self.browser.ask(height), 0)

    def test_on_paper_there_is_the_page_alone(self):
        for page in ("lab_03_accumulate.html", "op_layernorm.html"):
            self.browser.open(f"{BOOK}/{page}", 720, 1000, dark=True)
            self.browser.ask(READY)
            self.browser.send("Emulation.setEmulatedMedia", media="print")
            shown, cut = self.browser.ask("""[['#top', '#side-nav', '#nav-path', '.way'].filter(s => document.querySelector(s)?.offsetHeight),
                [...document.querySelectorAll('.contents pre, .contents div.fragment, .contents table')]
                    .filter(e => e.scrollWidth > e.clientWidth + 1 && e.getBoundingClientRect().right > innerWidth).length]""")
            self.browser.send("Emulation.setEmulatedMedia", media="")
            self.assertEqual((shown, cut), ([], 0), page)


class Access(Book):
    """axe-core, and the keyboard."""

    def violations(self):
        self.browser.ask(read(AXE))
        return self.browser.ask(VIOLATIONS)

    def test_axe_finds_nothing_serious(self):
        for scheme in SCHEMES:
            for page in self.pages + SAMPLE:
                with self.subTest(page=page, scheme=scheme):
                    self.open(page, scheme=scheme)
                    self.assertEqual(self.violations(), [])

    def test_axe_finds_nothing_serious_on_a_phone(self):
        for page in self.pages[:10]:
            with self.subTest(page=page):
                self.open(page, "narrow")
                self.assertEqual(self.violations(), [])

    def test_axe_would_find_something(self):
        """The tests above can fail."""
        self.open("course.html")
        self.browser.ask("document.querySelector('.contents').insertAdjacentHTML('beforeend', '<img src=x><p style=\"color:#aaa\">grey on white</p>')")
        found = " ".join(self.violations())
        self.assertIn("image-alt", found)
        self.assertIn("color-contrast", found)

    def test_the_first_stops_of_the_keyboard(self):
        """Tab reaches the search and the side bar."""
        self.open("course.html")
        stops = []
        for _ in range(8):
            self.browser.press("Tab", 9)
            stops.append(self.browser.ask("document.activeElement.id || document.activeElement.innerText"))
        self.assertIn("MSearchField", stops)
        self.assertIn("The course", stops)


def shown_on(path):
    """The sources that a page shows, of which some say the same as a solution for a reason: those of an op, or a header. The table
    of ops has the parameters of each, as the op's own header has them."""
    name = os.path.basename(path).removesuffix(".html")
    if name.startswith("op_"):
        return {f"kernels/{name[3:]}.c", f"kernels/{name[3:]}.cu"}
    header = name.removesuffix("_source").removesuffix("_8h")
    return {f"kernels/{header}.h"} | ({"kernels/matmul.h"} if header == "ops" else set())


class Solutions(unittest.TestCase):
    def test_no_page_has_a_part_of_a_solution(self):
        """Of the sources of labs' files; what tools/handout_leaks.py looks for in a handout, in the text of each page."""
        if not glob.glob("solutions/*/*"):
            self.skipTest("there are no solutions in a handout")
        search, found = handout_leaks.search_of("00", False), []
        for path in sorted(glob.glob(f"{BOOK}/*.html")):
            text = html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"<script.*?</script>", "", read(path), flags=re.S)))
            allowed = {secret for source, secret in handout_leaks.ALLOWED if source in shown_on(path)}
            found += [f"{path}: {what} of {secret}" for secret, what in search.leaks(text).items() if secret not in allowed]
        self.assertEqual(found, [])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in"]:
        os.chdir(sys.argv[2])
        del sys.argv[1:3]
    for needed, how in ((shutil.which("chromium"), "chromium"), (os.path.exists(AXE), AXE), (os.path.exists(f"{BOOK}/index.html"), BOOK)):
        if not needed:
            sys.exit(f"book_test: there is no {how} here: tools/setup.sh --prove, make docs")
    unittest.main()
