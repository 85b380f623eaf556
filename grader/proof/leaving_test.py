#!/usr/bin/env python3
"""What leaves the house is made of the kit's own files: nothing of a graded class, no hand-in, no file that git does not know.

Works on a copy of the kit in build/leaving-test, where a class was graded as docs/instructors.md says, and looks into every
archive for what was planted. Ends with `leaving: all good`.
"""
import os
import re
import shutil
import tarfile
import zipfile

import expecting
import grader_proof as proof   # which finds tools/
import handout_files
import handout_leaks
import kit_files
import lab_files
from expecting import expect
from handout_test import make, read, run, write

OUT = os.path.abspath("build/leaving-test")
KIT = f"{OUT}/kit"
MARK = "planted-7f3a"   # in each planted file: in no archive
OF_A_CLASS = ("graded00/secret", "graded00/records/bob.json", "graded00/summary.json")
HANDED_IN = ("collected00/bob/bytes.c", "collected00/00-anna.tar.gz", "labs/collected/bytes.c")
UNKNOWN = ("exam.md", "docs/exam.md", "labs/00_bytes/answers.md", "kernels/mine.h", "tools/pack/mine", "grader/hidden/mine.md", "mine/x.txt")


def plant(*paths):
    for path in paths:
        os.makedirs(os.path.dirname(f"{KIT}/{path}"), exist_ok=True)
        write(f"{KIT}/{path}", f"/* {MARK} {path} */\n")


def copy_kit():
    """A checkout of its own, of the files as they are now."""
    for path in kit_files.kit_files():
        os.makedirs(os.path.dirname(f"{KIT}/{path}"), exist_ok=True)
        shutil.copy2(path, f"{KIT}/{path}")
    run("git", "init", "-q", folder=KIT)
    run("git", "add", "-A", folder=KIT)


def contents(path):
    """{name: bytes} of an archive."""
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(path) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}


ARCHIVES = {"handout": "build/handout/00_bytes.tar.gz", "gradescope": "build/gradescope/autograder.zip",
            "autolab": "build/autolab/autograde.tar"}


def check_archives(what, *words):
    """Each is made, and has nothing that was planted, by name or by content. Their names, for what comes next."""
    names = {}
    for goal, path in ARCHIVES.items():
        if os.path.exists(f"{KIT}/{path}"):
            os.unlink(f"{KIT}/{path}")
        status, said = make(goal, "LAB=00", *words, folder=KIT)
        found = contents(f"{KIT}/{path}") if status == 0 else {}
        bad = [name for name, data in found.items() if MARK.encode() in data or "graded" in name or "collected" in name]
        expect(status == 0 and len(found) > 100 and not bad, f"{what}: {goal} is made of the kit alone {bad[:3]}{said[-200:] if status else ''}")
        names[goal] = sorted(found)
    return names


def expect_refused(what, words, text):
    for goal in ARCHIVES:
        status, said = make(goal, "LAB=00", *words, folder=KIT)
        lines = [line for line in said.splitlines() if not line.startswith("make")]
        expect(status == 2 and len(lines) == 1 and text in lines[0], f"{what}: {goal} says {said.strip()[:160]}")


def check_committed():
    """What an instructor has added to git by mistake."""
    for path, text in [(path, "is of a graded class") for path in OF_A_CLASS[:2]] + [(path, "is a student's hand-in") for path in HANDED_IN]:
        run("git", "add", "-f", path, folder=KIT)
        expect_refused("committed", (), f"{path} {text}")
        run("git", "rm", "-q", "--cached", path, folder=KIT)
    os.symlink("/etc/passwd", f"{KIT}/docs/link.md")
    run("git", "add", "docs/link.md", folder=KIT)
    expect_refused("a link", (), "docs/link.md is a link")
    run("git", "rm", "-qf", "docs/link.md", folder=KIT)


def check_judge():
    """A source that make would compile into the judge."""
    plant("grader/labs/00_bytes/exam.c")
    expect_refused("a judge's source", (), "grader/labs/00_bytes/exam.c is not tracked")
    os.unlink(f"{KIT}/grader/labs/00_bytes/exam.c")


def check_package():
    """A class that was graded inside of a lab's package."""
    shutil.copytree("grader/proof/example", f"{OUT}/mine", dirs_exist_ok=True)
    os.makedirs(f"{OUT}/mine/labs/90_example/graded")
    write(f"{OUT}/mine/labs/90_example/graded/secret", MARK)
    expect_refused("a package", (f"LABS={OUT}/mine",), "secret is of a graded class")


def check_hidden():
    """Hidden checks that are kept elsewhere are in every pack, or none is made."""
    folder = f"{OUT}/hidden checks"
    os.makedirs(folder)
    for goal in ("gradescope", "autolab", "classroom50"):
        status, said = make(goal, "LAB=00", f"HIDDEN={folder}", folder=KIT)
        expect(status == 2 and f"HIDDEN={folder}: " in said, f"hidden checks that are not there: {goal} says {said.strip()[:160]}")
        status, said = make(goal, "LAB=00", f"HIDDEN={folder}-not", folder=KIT)
        expect(status == 2 and "there is no such folder" in said, f"a folder that is not there: {goal} says {said.strip()[:160]}")
    write(f"{folder}/00_bytes.c", '#include "mine.h"\n')
    write(f"{folder}/mine.h", "/* mine */\n")
    write(f"{folder}/notes.txt", MARK)
    for goal in ("gradescope", "autolab"):
        status, said = make(goal, "LAB=00", f"HIDDEN={folder}", folder=KIT)
        found = contents(f"{KIT}/{ARCHIVES[goal]}")
        hidden = {name: data for name, data in found.items() if name.startswith("grader/hidden/")}
        expect(status == 0 and hidden == {"grader/hidden/00_bytes.c": b'#include "mine.h"\n', "grader/hidden/mine.h": b"/* mine */\n"},
               f"{goal} has the hidden checks: {sorted(hidden)}{said[-200:] if status else ''}")
    status, said = make("classroom50", "LAB=00", f"HIDDEN={folder}", folder=KIT)
    expect(status == 2 and "have no hidden checks" in said, f"what is published cannot: {said.strip()[:160]}")
    plant("grader/hidden/00_bytes.c")
    make("gradescope", "LAB=00", folder=KIT)
    expect("grader/hidden/00_bytes.c" in contents(f"{KIT}/{ARCHIVES['gradescope']}"), "those in grader/hidden/ are in it, known to git or not")
    os.unlink(f"{KIT}/grader/hidden/00_bytes.c")


def check_no_git(names):
    """A copy without git makes the same of a list, and nothing without one."""
    status, said = make("manifest", folder=KIT)
    expect(status == 0 and "MANIFEST: " in said, "a list is made")
    shutil.rmtree(f"{KIT}/.git")
    expect(check_archives("by a list") == names, "by a list the same files leave")
    with open(f"{KIT}/MANIFEST", "a", encoding="utf-8") as to:
        to.write("graded00/secret\n")
    expect_refused("in the list", (), "graded00/secret is of a graded class")
    os.unlink(f"{KIT}/MANIFEST")
    expect_refused("no list", (), "There is no MANIFEST")


# ---- answers and hints --------------------------------------------------------------------------------

# What holds an answer in other words, and the first handout in which it would be one.
ANSWERS = {"train/show/planted.c": "03", "grader/labs/05_fp16/scaler.c": "05", "grader/labs/05_fp16/job.c": "05",
           "grader/labs/06_fit/space.c": "06", "grader/labs/06_fit/costs.c": "06", "grader/labs/06_fit/stack.c": "06",
           "grader/labs/06_fit/stack_best.c": "06"}


def check_answers():
    """Each is built for a handout, and would be found as a source: beside the kit's, under any name."""
    for path, number in ANSWERS.items():
        expect(handout_files.judge_is_built(path) and not handout_files.theirs(path, number, True), f"{path} is not handed out")
        for solutions in (True, False):
            search = handout_leaks.search_of(number, solutions)
            found = [place for place in ("common/planted.c", "train/show/mine.c", "docs/page.md", "cudasim/mine.c")
                     if not handout_leaks.leaks_in(search, place, read(path))]
            expect(not found, f"{path} would be found {found}")


def expect_leak(place, text, lab, solution):
    """A file of the kit with a part of a solution in it stops the cut."""
    write(f"{KIT}/{place}", text)
    run("git", "add", place, folder=KIT)
    status, said = make("handout", f"LAB={lab}", f"OUT={OUT}/leak", folder=KIT)
    run("git", "rm", "-qf", place, folder=KIT)
    expect(status == 2 and f"{place} has a part of {solution}" in said and not os.path.exists(f"{OUT}/leak"),
           f"a leak in {place} is named, and no handout made: {said.strip()[:200]}")


def check_leak_stops():
    """In a page, with other names and in other lines too; and an answer in other words in the kit's own sources."""
    lines = [line for line in proof.solution("01_loop", "loop.c").splitlines() if line.startswith("    ")]
    renamed = re.sub(r"\breport\b", "told", re.sub(r"\b(share|batch)\b", r"\1_2", " ".join(lines))).replace("; ", ";\n\n")
    expect_leak("docs/leak.md", "\n".join(lines), "01", "solutions/01_loop/loop.c")
    expect_leak("docs/leak.md", renamed, "01", "solutions/01_loop/loop.c")
    expect_leak("common/testkit/planted.c", read("train/show/planted.c"), "03", "solutions/03_accumulate/accumulate.c")


def tiers(text):
    return {line[0] for line in text.splitlines() if line[:3] in ("1. ", "2. ", "3. ")}


def check_hints():
    """HINTS=2 leaves the third of each task out, for good: also what its last lines were."""
    for lab in lab_files.all_labs():
        text = read(f"labs/{lab}/hints.md")
        for most in (1, 2, 3):
            cut = handout_files.fewer_hints(text, most)
            expect(tiers(cut) == {str(k + 1) for k in range(most)} and cut.count("\n## Task") == text.count("\n## Task"),
                   f"{lab}: {most} hints for each task")
        expect(handout_files.fewer_hints(text, 3) == text, f"{lab}: three are all")
        search = handout_leaks.search_of(lab[:2], False)
        expect(not handout_leaks.leaks_in(search, f"labs/{lab}/hints.md", handout_files.fewer_hints(text, 2), 2), f"{lab}: two of them have no line of it")
    status, said = make("handout", "LAB=00", "HINTS=2", f"OUT={OUT}/two", folder=KIT)
    expect(status == 0 and tiers(read(f"{OUT}/two/labs/00_bytes/hints.md")) == {"1", "2"}, f"HINTS=2: {said.strip()[-120:]}")
    said = [make("hint00", "TASK=1", folder=f"{OUT}/two")[1].splitlines()[0] for _ in range(3)]
    expect([line.split("hint ")[1] for line in said] == ["1 of 2:", "2 of 2:", "1 of 2:"], f"make hint00 goes round in two {said}")
    status, said = make("handout", "LAB=00", "HINTS=4", folder=KIT)
    expect(status == 2 and "HINTS=4" in said, "HINTS=4 is refused")


def check_built():
    """BUILT= brings objects of another machine, and nothing else."""
    os.makedirs(f"{OUT}/built/arm64-Linux")
    write(f"{OUT}/built/arm64-Linux/00_bytes.a", "!<arch>\n")
    words = ("handout", "LAB=00", f"BUILT={OUT}/built")
    status, said = make(*words, folder=KIT)
    expect(status == 0 and os.path.exists(f"{KIT}/build/handout/00_bytes/grader/built/arm64-Linux/00_bytes.a"), f"BUILT=: {said.strip()[-120:]}")
    write(f"{OUT}/built/arm64-Linux/notes.txt", MARK)
    status, said = make(*words, folder=KIT)
    expect(status == 2 and "notes.txt is not an object" in said, "BUILT= with something else is refused")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    copy_kit()
    check_answers()
    clean = check_archives("a clean checkout")
    plant(*OF_A_CLASS, *HANDED_IN, *UNKNOWN)
    shutil.rmtree(f"{KIT}/build/handout")
    expect(check_archives("a class was graded here") == clean, "the same files leave as before")
    check_committed()
    check_judge()
    check_package()
    check_hidden()
    check_leak_stops()
    check_hints()
    check_built()
    check_no_git(clean)
    expecting.end("leaving")


if __name__ == "__main__":
    main()
