#!/usr/bin/env python3
"""Copies in harder disguise (disguise_more.py), in labs by which nothing was tuned; and what a normal form makes equal.

    grader/proof/similar_more_test.py [--seed N] [--write] [Copies|Forms|Hands]

--write brings the figures into docs/similar.md.
"""
import random
import re
import shutil
import subprocess
import sys
import unittest

import another_hand
import disguise_more
import grader_proof as proof   # which finds tools/
import c_reader
from class_hand_ins import right_files
from fingerprints import lexed, tokens_of, without_announcements, written_out
from lab_files import all_labs, read_lab
from similar_test import HAND_INS, OUT, innocents, similar, to_copy, write_class

LABS, BY_ALL = ("05_fp16", "13_pipeline"), 10
PAGE, ROWS = "docs/similar.md", re.compile(r"(?<=\|---\|---\|---\|---\|---\|---\|\n)(?:\| \d\d_.*\n)*")
SEED = 1


# ---- copies among two hundred -----------------------------------------------------------------------

def planted_class(lab, seed):
    """({name: files}, {pair: how it was disguised}): a copy by each way alone, and ten by all of them together."""
    dice, kept = random.Random(f"more {lab} {seed}"), [name for hole in read_lab(lab)["holes"] for name in hole["functions"]]
    ways = [[way] for way in disguise_more.WAYS] + [list(disguise_more.WAYS)] * BY_ALL
    made, pairs = innocents(lab, HAND_INS - len(ways), f"more {seed}", dice), {}
    for i, (name, by) in enumerate(zip(to_copy(lab, made, len(ways), dice), ways)):
        made[f"copy {i:02d}"] = {file: disguise_more.disguise_by(by, text, kept, f"{seed} {i} {file}") for file, text in made[name].items()}
        pairs[frozenset((f"copy {i:02d}", name))] = "all of them" if len(by) > 1 else by[0]
    return made, pairs


class Copies(unittest.TestCase):
    rows = []

    def look(self, lab):
        folder = f"{OUT}/more-{lab}"
        shutil.rmtree(folder, ignore_errors=True)
        made, planted = planted_class(lab, SEED)
        write_class(f"{folder}/in", made)
        done, report = similar(lab, f"{folder}/in", f"{folder}/out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shares = {frozenset(row["names"]): row["share"] for row in report["pairs"]}
        above = {frozenset(row["names"]) for row in report["pairs"] if row["above"]}
        found = [way for pair, way in planted.items() if pair in above]
        single = [way for way in found if way in disguise_more.WAYS]
        least = min(shares.get(pair, 0) for pair in planted)
        likest = max((share for pair, share in shares.items() if pair not in planted), default=0)
        row = (f"| {lab} | {len(single)} of {len(disguise_more.WAYS)} | {len(found) - len(single)} of {BY_ALL} | {100 * least:.0f} % "
               f"| {len(above - planted.keys())} of {HAND_INS * (HAND_INS - 1) // 2 + HAND_INS - len(planted):,} | {100 * likest:.0f} % |")
        print(row, flush=True)
        Copies.rows.append(row)
        self.assertEqual({way for way in disguise_more.WAYS if way not in found}, set(), "not found, disguised by one way alone")
        self.assertGreaterEqual(len(found) - len(single), BY_ALL - 1, "of those disguised by all ways one may be missed")
        self.assertEqual(above - planted.keys(), set(), "found and not planted")

    def test_lab_05(self):
        self.look(LABS[0])

    def test_lab_13(self):
        self.look(LABS[1])


# ---- what is the same -------------------------------------------------------------------------------

class Forms(unittest.TestCase):
    """Two texts of which the second is the first in another form."""

    def same(self, one, other):
        words = [[token.word for token in tokens_of(text, "x.cu")] for text in (one, other)]
        return words[0] == words[1]

    def check(self, body, *others):
        """Bodies of a function, or whole texts."""
        whole = [text if "f(" in text else f"int f(int n) {{\n{text}\n}}\n" for text in (body, *others)]
        for other in whole[1:]:
            self.assertTrue(self.same(whole[0], other), [token.word for token in tokens_of(other, "x.cu")])

    def test_macros(self):
        right = "int f(int n) { return g(n, 256) + -1; }"
        self.check(right, "#define GIVE return\n#define N 256\nint f(int n) { GIVE g(n, N) + -1; }",
                   "#define CALL(a, b) g(a, b)\n#define LESS -1\nint f(int n) { return CALL(n, 256) + LESS; }",
                   "#define ALL \\\n    return g(n, 256) \\\n    + -1;\nint f(int n) { ALL }", "#define AGAIN AGAIN\n" + right)
        self.assertFalse(self.same("int f(int n) { return 1; }", "#define ONE 2\nint f(int n) { return ONE; }"))

    def test_names_of_types(self):
        self.check("float f(float x) { float y = x; return y; }", "typedef float real;\nreal f(real x) { real y = x; return y; }",
                   "#define real float\nreal f(real x) { real y = (real)x; return y; }")

    def test_loops(self):
        self.check("for (int i = 0; i < n; i++) { g(i); h(i); }", "int i = 0; while (i < n) { g(i); h(i); i++; }",
                   "int i = 0; for (; i < n;) { g(i); h(i); i++; }", "int i = 0; for (;;) { if (!(i < n)) { break; } g(i); h(i); i++; }",
                   "int i = 0; while (1) { if (!(i < n)) break; g(i); h(i); i++; }", "for (int i = 0; i < n; i++) { do { g(i); h(i); } while (0); }")

    def test_code_without_effect(self):
        right = "int a = g(n); return a;"
        self.check(right, "int a = g(n); if (0) { h(a); } return a;", "int a = g(n); while (false) h(a); return a;", "int b = 3; b += 4; int a = g(n); return a;",
                   "int a = g(n); { int b = n, c = b * 2; (void)c; } return a;", "int a = g(n); for (int i = 0; i < 0; i++) { } return a;",
                   "int a = g(n); for (int i = 0; i < 9; i++) { int b = i; b++; } return a;", "int a = g(n); if (n > 3) { int b = 2; } return a;",
                   "if (1) { int a = g(n); return a; } else { return 5; }", "static int x(int a) { return x(a) + 1; }\nint f(int n) { int a = g(n); return a; }")
        for other in ("int b = h(n); int a = g(n); return a;", "int a = g(n); *p = 3; return a;", "int a = g(n); a++; return a;", "int a = g(n); q[0] = 1; return a;",
                      "int a = g(n); if (h(a)) { } return a;", "total += 1; int a = g(n); return a;"):
            self.assertFalse(self.same(f"int f(int n) {{ {right} }}", f"int f(int n) {{ {other} }}"), other)

    def test_a_function_in_two(self):
        self.check("int f(int n) { g(n); h(n); return n + 1; }", "static int rest(int n) { h(n); return n + 1; }\nint f(int n) { g(n); return rest(n); }",
                   "static void first(int n) { g(n); }\nint f(int n) { first(n); h(n); return n + 1; }")

    def test_what_is_no_c(self):
        """Comes out as it came in, and soon."""
        for text in ("int f( {", "}", "if", "int f(int n) { for (a; b) { } }", "(" * 5000, "{" * 20000, "int f(void) {" + "if (x) " * 20000 + ";}",
                     "#define A A A A A A A A\n#define B A A A A A A A A\n" * 3 + "B", "".join(f"#define X{i} X{i + 1} X{i + 1}\n" for i in range(64)) + "X0",
                     "#define F(a) a a\n" + "F(" * 3000, "do x();", "case", "else else"):
            self.assertLessEqual(len(tokens_of(text, "x.c")), c_reader.MOST_WORDS + len(lexed(text, "x.c")), text[:40])


class Hands(unittest.TestCase):
    """Those who copied nothing, and copies, are programs: what is not C would be left in another form than the rest."""

    def is_read(self, text, name):
        try:
            c_reader.Reader(without_announcements(written_out(text, name))).all()
        except c_reader.NotRead:
            self.fail(f"{name}: cannot be read:\n{text}")
        if name.endswith(".c"):
            done = subprocess.run(["gcc", "-I.", "-Icudasim/include", "-std=gnu11", "-fopenmp", "-fsyntax-only", "-x", "c", "-"], input=text,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr + text)

    def test_all(self):
        for lab in all_labs("tests.c"):
            kept = [name for hole in read_lab(lab)["holes"] for name in hole["functions"]]
            for name, text in right_files(lab).items():
                self.is_read(text, name)
                written = another_hand.Hand(f"{lab} {name} {SEED}").write(text)
                self.is_read(written, name)
                self.is_read(disguise_more.disguise_by(list(disguise_more.WAYS), written, kept, SEED), name)


def main():
    global SEED   # pylint: disable=global-statement
    words = [word for word in sys.argv[1:] if word != "--write"]
    if "--seed" in words:
        SEED = int(words.pop(words.index("--seed") + 1))
        words.remove("--seed")
    good = unittest.main(argv=[sys.argv[0], *words], exit=False).result.wasSuccessful()
    if good and "--write" in sys.argv:
        text = proof.read(PAGE)
        proof.write_whole(PAGE, ROWS.sub("".join(f"{row}\n" for row in Copies.rows), text, count=1).encode())
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
