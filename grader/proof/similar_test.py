#!/usr/bin/env python3
"""A class of 200 with planted copies: `make similar` finds all, and no pair that nobody planted. And what bad input gets.

    grader/proof/similar_test.py [--seed N] [--write] [Copies|Input|Report|...]

Hand-ins that nobody copied are right solutions by the suite's own material: each takes, at every place where lab.variants
knows other ways, one of them by chance, every second one a mistake of the mutants as well, and all is written in another
hand (another_hand.py). Ten are copied and disguised (disguise.py), and one hand-in is the kit's solution in disguise.
--write brings the figures into docs/similar.md.
"""
import functools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import another_hand
import disguise
import grader_proof as proof   # which finds tools/
import similarity
from class_hand_ins import right_files, stub_files
from lab_files import read_lab
from leaks import names_of_the_kit
from similar import SOLUTION, pieces, stub_texts
from similarity import Source

HAND_INS, COPIES, MISTAKES, OWN_TOKENS = 200, 10, 1, 60
LABS = ("03_accumulate", "07_optimizers", "11_data_parallel")
PAGE, ROWS = "docs/similar.md", re.compile(r"(?<=\|---\|---\|---\|---\|---\|\n)(?:\| \d\d_.*\n)*")
OUT = "build/similar-test"
SEED = 1


# ---- a class ----------------------------------------------------------------------------------------

def places_of(lines, edits):
    """The lines that edits change; none where they do not apply."""
    places = set()
    try:
        for old, _ in edits:
            for part in ([old] if len(proof.places_of(lines, old)) == 1 else [[line] for line in old]):
                at = proof.find(lines, part)
                places.update(range(at, at + len(part)))
    except ValueError:
        return set()
    return places


def with_blocks(lab, blocks):
    """The solution with as many of the blocks as there is room for, the first ones first."""
    files, changed, chosen = right_files(lab), {}, {}
    for block in blocks:
        places, used = places_of(files[block["file"]].split("\n"), block["edits"]), changed.setdefault(block["file"], set())
        if places and not places & used:
            used |= places
            chosen.setdefault(block["file"], []).extend(block["edits"])
    return {name: formatted(proof.apply_edits(text, chosen[name]), name) if name in chosen else text for name, text in files.items()}


@functools.lru_cache(maxsize=None)
def formatted(text, name):
    """As in solutions/: hands and disguises know no other form."""
    return subprocess.run(["clang-format", f"--assume-filename={name}"], input=text, capture_output=True, text=True, check=True).stdout


def disguised(lab, files, seed):
    kept = [name for hole in read_lab(lab)["holes"] for name in hole["functions"]]
    return {name: disguise.disguise(text, kept, f"{lab} {seed} {name}") for name, text in files.items()}


class Known:
    """What the stub and the kit's solution have. Of little else nobody can say who wrote it."""

    def __init__(self, lab):
        self.fixed = frozenset(names_of_the_kit())
        self.parts = Source("", stub_texts(lab), self.fixed, whole=False).parts() | Source("", right_files(lab), self.fixed).parts()

    def own_tokens(self, files):
        return sum(sum(similarity.Own(tokens, self.parts).tokens.values()) for tokens in Source("", files, self.fixed).tokens.values())


def to_copy(lab, made, count, dice):
    """The names of some who have written enough of their own."""
    known = Known(lab)
    return dice.sample([name for name in sorted(made) if known.own_tokens(made[name]) >= OWN_TOKENS], count)


def innocents(lab, count, seed, dice):
    """{name: files} of those who copied nothing."""
    variants, mutants, made = proof.blocks_of(lab, "variants"), proof.blocks_of(lab, "mutants"), {}
    for i in range(count):
        hand = another_hand.Hand(f"{lab} {seed} {i}")
        mistakes = dice.sample(mutants, MISTAKES) if i % 2 else []
        files = with_blocks(lab, mistakes + dice.sample(variants, len(variants)))
        made[f"student {i:03d}"] = {name: hand.write(text) for name, text in files.items()}
    return made


def planted_class(lab, seed):
    """({name: files}, the pairs that are to be found)"""
    dice, pairs = random.Random(f"{lab} {seed}"), {("from the book", SOLUTION)}
    made = innocents(lab, HAND_INS - COPIES - 1, seed, dice)
    for i, name in enumerate(to_copy(lab, made, COPIES, dice)):
        made[f"copy {i}"] = disguised(lab, made[name], f"{seed} {i}")
        pairs.add((f"copy {i}", name))
    made["from the book"] = disguised(lab, right_files(lab), seed)
    return made, {frozenset(pair) for pair in pairs}


def write_class(folder, hand_ins):
    for name, files in hand_ins.items():
        os.makedirs(f"{folder}/{name}")
        for file, text in files.items():
            with open(f"{folder}/{name}/{file}", "w", encoding="utf-8") as to:
                to.write(text)


def similar(lab, folder, out, *more):
    """(what ran, the report as JSON or None)"""
    done = subprocess.run([sys.executable, "tools/similar.py", "--lab", lab, "--in", folder, "--out", out, *more], capture_output=True,
                          text=True, check=False)
    path = f"{out}/similar/similar.json"
    return done, json.loads(proof.read(path)) if os.path.exists(path) else None


# ---- ten copies among two hundred -------------------------------------------------------------------

class Copies(unittest.TestCase):
    """All that were planted, and nothing else."""

    rows = []

    def look(self, lab):
        folder = f"{OUT}/{lab}"
        shutil.rmtree(folder, ignore_errors=True)
        made, planted = planted_class(lab, SEED)
        write_class(f"{folder}/in", made)
        done, report = similar(lab, f"{folder}/in", f"{folder}/out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shares = {frozenset(row["names"]): row["share"] for row in report["pairs"]}
        above = {frozenset(row["names"]) for row in report["pairs"] if row["above"]}
        likest = max((share for pair, share in shares.items() if pair not in planted), default=0)
        least = min((shares.get(pair, 0) for pair in planted), default=0)
        found, wrong = len(above & planted), len(above - planted)
        row = (f"| {lab} | {found} of {len(planted)} | {100 * least:.0f} % | {wrong} of {HAND_INS * (HAND_INS - 1) // 2 + HAND_INS - len(planted):,} "
               f"| {100 * likest:.0f} % |")
        print(row, flush=True)
        Copies.rows.append(row)
        self.assertEqual(planted - above, set(), "planted and not found")
        self.assertEqual(above - planted, set(), "found and not planted")

    def test_lab_03(self):
        self.look(LABS[0])

    def test_lab_07(self):
        self.look(LABS[1])

    def test_lab_11(self):
        self.look(LABS[2])


# ---- small classes ----------------------------------------------------------------------------------

class Small(unittest.TestCase):
    """Each in a folder of its own."""

    lab = LABS[0]

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="similar-test-")
        self.folder, self.out = f"{self.place}/in", f"{self.place}/out"
        os.makedirs(self.folder)
        self.addCleanup(shutil.rmtree, self.place)

    def written(self, seed):
        hand, dice, mutants = another_hand.Hand(seed), random.Random(seed), proof.blocks_of(self.lab, "mutants")
        blocks = dice.sample(mutants, len(mutants))
        return {name: hand.write(text) for name, text in with_blocks(self.lab, blocks).items()}

    def refused(self, words, *more, folder=None):
        """One line, exit status 2, nothing written."""
        done, _ = similar(self.lab, folder or self.folder, self.out, *more)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertFalse(os.path.exists(f"{self.out}/similar"))
        self.assertEqual([name for name in os.listdir(self.out) if "similar" in name] if os.path.exists(self.out) else [], [])


class Input(Small):
    """What an instructor gives by mistake, and what students hand in."""

    def test_nothing_in_it(self):
        self.refused("there is no hand-in in it")

    def test_no_such_folder(self):
        self.refused("there is no such folder", folder=f"{self.place}/elsewhere")

    def test_out_among_the_hand_ins(self):
        write_class(self.folder, {"anna": stub_files(self.lab)})
        done, _ = similar(self.lab, self.folder, f"{self.folder}/out")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(os.listdir(self.folder), ["anna"])

    def test_one_name_twice(self):
        """One of the two would not be compared."""
        write_class(self.folder, {"anna": stub_files(self.lab)})
        with zipfile.ZipFile(f"{self.folder}/anna.zip", "w") as archive:
            archive.writestr("accumulate.c", "")
        self.refused("anna has handed in twice")

    def test_no_such_reference(self):
        write_class(self.folder, {"anna": stub_files(self.lab)})
        self.refused("there is no such folder", "--references", f"{self.place}/nowhere")

    def test_two_references_of_one_name(self):
        write_class(self.folder, {"anna": stub_files(self.lab)})
        for name in ("a", "b"):
            write_class(f"{self.place}/{name}/term", {"x": stub_files(self.lab)})
        self.refused("two references are called term", "--references", f"{self.place}/a/term,{self.place}/b/term")

    def test_one_hand_in(self):
        write_class(self.folder, {"anna": self.written(1)})
        done, report = similar(self.lab, self.folder, self.out)
        self.assertEqual((done.returncode, report["hand_ins"]), (0, 1))
        self.assertIn("1 hand-in compared", done.stdout)

    def test_unreadable_ones_are_listed(self):
        """A broken archive, two files of the name, no file of the lab, a name that is not text."""
        write_class(self.folder, {"anna": self.written(1), "other": {"README.txt": "hello"}, "nul": {"accumulate.c": "\0\1\2\udcff".encode(
            "utf-8", "replace").decode()}})
        os.makedirs(f"{self.folder}/twice/a")
        os.makedirs(f"{self.folder}/twice/b")
        for name in ("a", "b"):
            shutil.copy(f"{self.folder}/anna/accumulate.c", f"{self.folder}/twice/{name}")
        with open(f"{self.folder}/broken.zip", "wb") as file:
            file.write(b"PK\3\4 and nothing else")
        with open(os.fsencode(self.folder) + b"/\xff\xfe.zip", "wb") as file:
            file.write(b"")
        done, report = similar(self.lab, self.folder, self.out)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(report["hand_ins"], 2)
        self.assertEqual(len(report["unreadable"]), 4, report["unreadable"])
        page = proof.read(f"{self.out}/similar/index.html")
        for name, words in (("broken", "cannot be unpacked"), ("twice", "is there twice"), ("other", "none of the lab")):
            self.assertIn(words, next(row["why"] for row in report["unreadable"] if row["name"] == name))
            self.assertIn(f"<b>{name}</b>", page)
            self.assertIn(f"not compared: {name}", done.stdout)

    def test_a_report_before_is_replaced_whole(self):
        write_class(self.folder, {"anna": self.written(1)})
        os.makedirs(f"{self.out}/similar")
        with open(f"{self.out}/similar/pair-099.html", "w", encoding="ascii") as file:
            file.write("of the time before")
        similar(self.lab, self.folder, self.out)
        self.assertEqual(sorted(os.listdir(self.out)), ["similar"])
        self.assertNotIn("pair-099.html", os.listdir(f"{self.out}/similar"))
        self.assertEqual(os.stat(f"{self.out}/similar").st_mode & 0o077, 0, "nobody else reads it")


class Report(Small):
    """What is in it."""

    EVIL = "<script>alert('x')</script> & \"a\" \u202e"

    def setUp(self):
        super().setUp()
        self.text = self.written(1)
        copy = disguised(self.lab, self.text, 1)
        copy["accumulate.c"] = copy["accumulate.c"].replace("{", "{ /* </pre><script>1</script> */", 1)
        write_class(self.folder, {"anna": self.text, self.EVIL.replace("/", ":"): copy, **{f"other {i}": self.written(10 + i) for i in range(20)}})

    def test_a_pair_side_by_side(self):
        done, report = similar(self.lab, self.folder, self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        first = report["pairs"][0]
        self.assertTrue(first["above"] and "anna" in first["names"] and any("script" in name for name in first["names"]), first)
        page = proof.read(f"{self.out}/similar/{first['page']}")
        self.assertNotIn("<script", page)
        left, right = (set(re.findall(rf'id="{side}1-(\d+)"', page)) for side in "lr")
        self.assertTrue(left and left == right, "each passage has its number on both sides")
        self.assertEqual(set(re.findall(r"⟦(\d+)", page)), left, "a number in the text, not a colour alone")
        self.assertIn("Likeness proves nothing", page)
        pages = [name for name in os.listdir(f"{self.out}/similar") if name.endswith(".html")]
        for name in pages:
            self.assertFalse(re.search("<script|\u202e", proof.read(f"{self.out}/similar/{name}")), name)

    def test_sorted(self):
        _, report = similar(self.lab, self.folder, self.out)
        order = [(not row["above"], row["tokens"] < similarity.LEAST / 2, -row["share"]) for row in report["pairs"]]
        self.assertEqual(order, sorted(order))
        self.assertGreater(len(order), 1)

    def test_of_an_earlier_term(self):
        """Found among the references, and two references are not compared."""
        write_class(f"{self.place}/2026", {"old": disguised(self.lab, self.written(15), 3), "older": self.written(15)})
        _, report = similar(self.lab, self.folder, self.out, "--references", f"{self.place}/2026")
        self.assertIn("2026/old", report["references"])
        found = [set(row["names"]) for row in report["pairs"] if row["above"] and row["reference"]]
        self.assertIn({"other 5", "2026/old"}, found)
        self.assertIn({"other 5", "2026/older"}, found)
        self.assertNotIn({"2026/old", "2026/older"}, [set(row["names"]) for row in report["pairs"]])

    def test_of_a_public_solution(self):
        """A folder with the files right in it is one reference."""
        write_class(self.place, {"public": disguised(self.lab, self.written(16), 4)})
        _, report = similar(self.lab, self.folder, self.out, "--references", f"{self.place}/public")
        self.assertIn({"other 6", "public"}, [set(row["names"]) for row in report["pairs"] if row["above"]])

    def test_pieces(self):
        self.assertEqual(pieces("abcdef", [(4, 5, 2), (1, 3, 1)]), [("a", 0), ("bc", 1), ("d", 0), ("e", 2), ("f", 0)])


class Names(unittest.TestCase):
    """What is taken out before texts are compared."""

    def same(self, one, other, fixed=frozenset()):
        words = [[token.word for token in similarity.fingerprints.tokens_of(f"void f(void) {{ {text}\n }}", "x.cu", fixed)]
                 for text in (one, other)]
        return words[0] == words[1]

    def test_what_a_copy_changes(self):
        for one, other in (("int a = b;", "long c = d;"), ("if (a) { f(); }", "if (a) f(); // now"), ("x = (float)y;", "x = y;"),
                           ("p->x = 1;", "p.x = 1.0f;"), ("const size_t n = 0x10;", "int n = 16u;"), ("x = (Real *)y;", "x = y;"),
                           ('puts("a");', 'puts("b");')):
            self.assertTrue(self.same(one, other), (one, other))
        tokens = similarity.fingerprints.tokens_of
        self.assertEqual([token.word for token in tokens("static int f(int a);\nint g = 1;", "x.c")], ["name", "=", "1", ";"])

    def test_what_differs(self):
        fixed = frozenset(["model_forward", "model_backward"])
        for one, other in (("a + b", "a - b"), ("x = 1;", "x = 2;"), ("model_forward(m)", "model_backward(m)"), ("a >>= 1", "a > 1")):
            self.assertFalse(self.same(one, other, fixed), (one, other))


class JPlag(Small):
    """What it is started with; the program itself is not here."""

    def fake(self, status):
        os.makedirs(f"{self.place}/bin")
        with open(f"{self.place}/bin/java", "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\necho "$@"\nwhile [ $# -gt 1 ]; do [ "$1" = -r ] && touch "$2.jplag"; shift; done\nexit {status}\n')
        os.chmod(f"{self.place}/bin/java", 0o755)
        open(f"{self.place}/jplag.jar", "wb").close()
        before = os.environ["PATH"]
        os.environ["PATH"] = f"{self.place}/bin:{before}"
        self.addCleanup(os.environ.__setitem__, "PATH", before)

    def test_folders(self):
        self.lab = LABS[1]
        self.fake(0)
        write_class(self.folder, {"anna": right_files(self.lab)})
        done, _ = similar(self.lab, self.folder, self.out, "--jplag", f"{self.place}/jplag.jar")
        self.assertEqual(done.returncode, 0, done.stderr)
        place = f"{self.out}/similar/jplag"
        self.assertEqual(sorted(os.listdir(f"{place}/hand-ins/anna")), ["adafactor.cu.cpp", "adam8.cu.cpp", "choose.c", "codebook.c"])
        self.assertIn("TODO(", proof.read(f"{place}/base/adam8.cu.cpp"))
        self.assertTrue(os.path.exists(f"{place}/result.jplag"))
        self.assertRegex(proof.read(f"{place}/jplag.log"), r"-jar \S+ -l cpp -M RUN -bc \S+/base -r \S+/result \S+/hand-ins")

    def test_its_failure(self):
        self.fake(3)
        write_class(self.folder, {"anna": right_files(self.lab)})
        self.refused("JPlag ended with status 3", "--jplag", f"{self.place}/jplag.jar")

    def test_no_jar(self):
        self.fake(0)
        write_class(self.folder, {"anna": right_files(self.lab)})
        self.refused("there is no such file", "--jplag", f"{self.place}/another.jar")


def main():
    global SEED   # pylint: disable=global-statement
    words = sys.argv[1:]
    write = "--write" in words
    words = [word for word in words if word != "--write"]
    if "--seed" in words:
        SEED = int(words.pop(words.index("--seed") + 1))
        words.remove("--seed")
    good = unittest.main(argv=[sys.argv[0], *words], exit=False).result.wasSuccessful()
    if good and write:
        text = proof.read(PAGE)
        proof.write_whole(PAGE, ROWS.sub("".join(f"{row}\n" for row in Copies.rows), text, count=1).encode())
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
