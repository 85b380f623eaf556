#!/usr/bin/env python3
"""Which hand-ins are alike: `make similar LAB=03 IN=collected [REFERENCES=folder,...] [OUT=folder] [JPLAG=jplag.jar]`.

Compares what is in the holes, without names, comments, types, braces and the stub. IN and each folder of REFERENCES hold
hand-ins as `make grade-all` takes them; a folder with the lab's files right in it is one reference. The kit's solution
always is one. Writes OUT/similar/: index.html, a page for each pair, similar.json. It names students, so nobody else may
read it. With JPLAG it makes the folders that JPlag takes as well, and runs it.
"""
import concurrent.futures
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

import jinja2
from arguments import Parser

import from_hand_in
import hand_ins
import jplag
from class_folder import Stopped, file_name, write_json, write_whole
from exports.record import clean, one_line, told
from grade_all import check_folders
from hand_ins import shown
from handout_files import solution
from lab_files import all_labs, files_of, path_of
from leaks import names_of_the_kit
from report import templates
from similarity import LEAST, LEAST_IN_ONE, LINE, Corpus, Source, is_above

NEXT = 20        # pairs below the line that are shown as well
SOLUTION = "the kit's solution"


# ---- what is compared -------------------------------------------------------------------------------

def read_hand_in(place, lab):
    """({file: text}, why it cannot be read), by the reader of make grade-all, in a process of its own."""
    path, loose = place
    with tempfile.TemporaryDirectory(prefix="similar-") as folder:
        why = from_hand_in.read(lab, path, folder, loose).get("refused", "")
        return ({}, why) if why else (texts_in(folder, lab), "")


def newest_of(folder, lab):
    """{name: (path, loose files)} of each student's newest hand-in."""
    try:
        students = hand_ins.find(folder, lab.split("_", maxsplit=1)[0])
    except hand_ins.Unclear as error:
        raise Stopped(str(error)) from None
    newest = {name: max(several, key=lambda each: hand_ins.moment(each.handed_in()[0])) for name, several in students.items()}
    return {name: (each.path, each.files) for name, each in newest.items()}


def texts_in(folder, lab):
    found = {}
    for name in files_of(lab):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                found[name] = file.read()
    return found


def stub_texts(lab):
    return {name: subprocess.run(["tools/stub.sh", lab, name], stdout=subprocess.PIPE, check=True, text=True).stdout
            for name in files_of(lab)}


def solution_texts(lab):
    return {name: solution(path_of(lab, name, kind="solutions")) for name in files_of(lab)}


def read_all(folder, lab, label, jobs):
    """(sources' texts by name, [(name, why)] of those that cannot be read) of a folder of hand-ins."""
    if not os.path.isdir(folder):
        raise Stopped(f"{folder}: there is no such folder")
    if label and any(os.path.isfile(os.path.join(folder, name)) for name in files_of(lab)):
        paths = {label: (folder, ())}
    else:
        paths = {label + ("/" if label else "") + name: place for name, place in newest_of(folder, lab).items()}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        read = dict(zip(paths, pool.map(lambda place: read_hand_in(place, lab), paths.values())))
    return ({name: texts for name, (texts, why) in read.items() if not why},
            [(name, why) for name, (_, why) in read.items() if why])


# ---- comparing --------------------------------------------------------------------------------------

class Pair:
    """Two sources, and what they have in common."""

    def __init__(self, corpus, i, k):
        self.corpus, self.i, self.k = corpus, i, k
        self.left, self.right = corpus.sources[i], corpus.sources[k]
        self.whole, self.files = corpus.alike(i, k)
        likest = max(self.files.values(), key=lambda alike: (is_above(alike, LEAST_IN_ONE), alike.tokens))
        self.above = is_above(self.whole) or is_above(likest, LEAST_IN_ONE)
        self.best = likest if is_above(likest, LEAST_IN_ONE) and not is_above(self.whole) else self.whole
        self.page = ""

    def order(self):
        return not self.above, self.best.tokens < LEAST / 2, -self.best.share, -self.best.tokens, self.left.name, self.right.name


def pairs_of(corpus, only=None):
    """Those of which something may be said, with `only` one source; of two references nobody asks."""
    found = [Pair(corpus, i, k) for i, k in itertools.combinations(range(len(corpus.sources)), 2)
             if not corpus.sources[i].reference and only in (None, corpus.sources[k])]
    return [pair for pair in found if pair.best.tokens >= LEAST / 2]


class Comparison:
    """A class, the references, and the pairs that are shown."""

    def __init__(self, lab, texts, references):
        fixed = frozenset(names_of_the_kit())
        self.lab = lab
        self.hand_ins = [Source(name, files, fixed) for name, files in texts.items()]
        self.references = [Source(name, files, fixed, reference=True) for name, files in references.items()]
        stub = Source("", stub_texts(lab), fixed, whole=False).parts()
        solved = Source(SOLUTION, solution_texts(lab), fixed, reference=True)
        among = Corpus(self.hand_ins + self.references, stub | solved.parts())
        with_solution = Corpus(self.hand_ins + [solved], stub)
        pairs = sorted(pairs_of(among) + pairs_of(with_solution, solved), key=Pair.order)
        self.above = [pair for pair in pairs if pair.above]
        self.below = [pair for pair in pairs if not pair.above][:NEXT]
        self.short = sorted(source.name for i, source in enumerate(self.hand_ins) if among.size(i) < LEAST)
        for number, pair in enumerate(self.above + self.below, 1):
            pair.page = f"pair-{number:03d}.html"

    def shown(self):
        return self.above + self.below


# ---- what is written --------------------------------------------------------------------------------

def pieces(text, places):
    """[(text, number of the passage or 0)]. `places`: (begin, end, number); of two that overlap the second begins where the first ends."""
    found, at = [], 0
    for begin, end, number in sorted(places):
        begin, end = max(begin, at), max(end, at)
        found += [(text[at:begin], 0), (text[begin:end], number)]
        at = end
    return [each for each in [*found, (text[at:], 0)] if each[0]]


def side_by_side(pair):
    """Of each file: both texts in pieces, and how much is alike."""
    found = []
    for file, alike in pair.files.items():
        passages = pair.corpus.passages(pair.i, pair.k, file)
        sides = [pieces(source.texts.get(file, ""), [(*passage[side], number) for number, passage in enumerate(passages, 1)])
                 for side, source in enumerate((pair.left, pair.right))]
        found.append({"name": file, "alike": alike, "sides": sides, "count": len(passages)})
    return found


def as_json(comparison, unreadable):
    return {"version": 1, "lab": comparison.lab, "line": {"share": LINE, "tokens": LEAST, "tokens_in_one_file": LEAST_IN_ONE},
            "hand_ins": len(comparison.hand_ins), "references": [source.name for source in comparison.references] + [SOLUTION],
            "pairs": [{"names": [pair.left.name, pair.right.name], "reference": pair.right.reference, "above": pair.above,
                       "share": round(pair.best.share, 3), "tokens": round(pair.best.tokens, 1), "page": pair.page,
                       "files": {file: {"share": round(alike.share, 3), "tokens": round(alike.tokens, 1)}
                                 for file, alike in pair.files.items()}}
                      for pair in comparison.shown()],
            "short": comparison.short, "unreadable": [{"name": name, "why": why} for name, why in unreadable]}


def write_report(folder, comparison, unreadable, others):
    environment = templates()
    environment.filters.update(one_line=one_line, only_text=lambda text: clean(text, len(text)))
    words = {"lab": comparison.lab, "line": LINE, "least": LEAST, "least_in_one": LEAST_IN_ONE}
    index = environment.get_template("similar.html").render(comparison=comparison, unreadable=unreadable, left_out=others, **words)
    write_whole(os.path.join(folder, "index.html"), index.encode(errors="replace"))
    page = environment.get_template("similar_pair.html")
    for pair in comparison.shown():
        write_whole(os.path.join(folder, pair.page), page.render(pair=pair, files=side_by_side(pair), **words).encode(errors="replace"))
    write_json(os.path.join(folder, "similar.json"), as_json(comparison, unreadable))


def put_in_place(aside, folder):
    """The new folder, whole, where the old one was."""
    old = f"{folder}.old"
    shutil.rmtree(old, ignore_errors=True)
    if os.path.exists(folder):
        os.rename(folder, old)
    os.rename(aside, folder)
    shutil.rmtree(old, ignore_errors=True)


def print_summary(comparison, unreadable, folder):
    count = len(comparison.hand_ins)
    print(f"{count} hand-in{'s' * (count != 1)} compared; above the line: {len(comparison.above)}")
    for pair in comparison.above[:NEXT]:
        print(f"  {100 * pair.best.share:3.0f} %  {shown(pair.left.name)}  {shown(pair.right.name)}")
    if len(comparison.above) > NEXT:
        print(f"  and {len(comparison.above) - NEXT} more")
    if comparison.short:
        print(f"{len(comparison.short)} too short to compare, after what is common was taken out")
    for name, why in unreadable:
        print(f"not compared: {shown(name)}: {shown(why)}")
    print(f"{folder}/index.html: read both texts before you speak to anyone; likeness proves nothing")


# ---- the command line -------------------------------------------------------------------------------

def parse():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", required=True, help="folder in labs/")
    parser.add_argument("--in", dest="folder", required=True, help="folder with the hand-ins")
    parser.add_argument("--out", required=True, help="the report comes to lie in OUT/similar")
    parser.add_argument("--references", default="", help="folders with other hand-ins, between commas")
    parser.add_argument("--jplag", help="jplag.jar, to run it as well")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="hand-ins read side by side")
    return parser.parse_args()


def labels_of(folders):
    """{what its hand-ins are called by: folder}. Two of one name would be one."""
    found = {}
    for folder in folders:
        label = os.path.basename(os.path.abspath(folder))
        if label in found:
            raise Stopped(f"{folder} and {found[label]}: two references are called {label}")
        found[label] = folder
    return found


def run(options):
    if options.lab not in all_labs():
        raise Stopped(f"{options.lab}: there is no such lab")
    if not os.path.isdir(options.folder):
        raise Stopped(f"{options.folder}: there is no such folder")
    check_folders(options.folder, options.out)
    if options.jplag:
        jplag.check(options.jplag)
    texts, unreadable = read_all(options.folder, options.lab, "", options.jobs)
    references = {}
    for label, folder in labels_of(filter(None, options.references.split(","))).items():
        more, bad = read_all(folder, options.lab, label, options.jobs)
        references.update(more)
        unreadable += bad
    comparison = Comparison(options.lab, texts, references)
    folder = os.path.join(options.out, "similar")
    os.makedirs(options.out, exist_ok=True)
    aside = tempfile.mkdtemp(prefix=".similar-", dir=options.out)   # for nobody else to read
    try:
        write_report(aside, comparison, unreadable, hand_ins.left_out(options.folder, options.lab.split("_", maxsplit=1)[0]))
        if options.jplag:
            jplag.run(options.jplag, os.path.join(aside, "jplag"), stub_texts(options.lab),
                      {file_name(name): files for name, files in (texts | references | {SOLUTION: solution_texts(options.lab)}).items()})
        put_in_place(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    print_summary(comparison, unreadable, folder)
    return 1 if unreadable else 0


def main():
    sys.stdout.reconfigure(errors="replace")
    try:
        sys.exit(run(parse()))
    except (Stopped, OSError, jinja2.TemplateError) as error:
        print(f"similar: {told(error) if isinstance(error, OSError) else error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
