#!/usr/bin/env python3
"""What goes out and what comes back: handout, hand-in, reset, hidden checks. Ends with `handout: all good`.

Works in build/handout-test, in a handout that is given the objects of this build, so that little is compiled.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile

import expecting
import grader_proof as proof   # which finds tools/
import handout
import handout_files
import handout_leaks
import kit_files
import lab_files
from expecting import expect
from making import apart

OUT = os.path.abspath("build/handout-test")
LAB, NUMBER = "01_loop", "01"
BUILT = ("obj", "gpu", "absent", "libkit.a", "libcudasim.a", "cu2cpp", "access/obj", "access/gpu",
         "access/absent", "access/libkit.a", "access/libcudasim.a")


def run(*command, folder="."):
    """(exit status, everything it says)"""
    done = subprocess.run(command, cwd=folder, env=apart(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return done.returncode, done.stdout


def make(*words, folder="."):
    return run("make", "--no-print-directory", *words, folder=folder)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as to:
        to.write(text)


def files_in(folder):
    return {os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names}


# ---- the handout ------------------------------------------------------------------------------------

def check_handout(folder, solutions):
    there = files_in(folder)
    secret = [path for path in there if path.startswith(("solutions/01", "solutions/02", "labs/02", "grader/labs/02",
              "grader/proof", "grader/attacks", "grader/hidden"))
              or path.endswith("_test.c") and os.path.basename(path) not in lab_files.files_of(LAB)]
    secret.remove("labs/02_kernels/lab.json")   # says what waits for lab 02, and nothing else
    expect(set(json.loads(read(f"{folder}/labs/02_kernels/lab.json"))) <= {"holes", "train"}, "of later labs it knows the holes")
    expect(not secret, f"nothing is in it that should not be {secret[:3]}")
    expect(("solutions/00_bytes/bytes.c" in there) == solutions, "solutions of earlier labs as was asked for")
    expect({"Makefile", "README.md", "VERSION", f"labs/{LAB}/loop.c", f"labs/{LAB}/tests.c"} <= there, "what is needed is")
    expect(not any(path.startswith("grader/labs/") and path.endswith(".c") and not re.search(r"/(probe(_(?!kit\.)\w+)?|protocol|shared)\.c$", path) for path in there),
           "judges come without their source")
    built = {os.path.basename(path) for path in there if path.startswith("grader/built/")}
    expect(f"{LAB}-loops.a" in built and not any(path.endswith(("/loops.c", "/step.c")) for path in there), "so do the loops under test")
    expect("TODO(" in read(f"{folder}/labs/{LAB}/loop.c"), "the stub is a stub")
    expect(("AGENTS.md" in there, "AGENTS.md" in read(f"{folder}/README.md")) == (solutions, solutions), "a tutor's rules, unless AGENTS=no")
    expect(not any(path.endswith(("/outcomes.json", "tutor.md")) for path in there), "what only teachers read is not in it")


def check_every_lab():
    """No handout of any lab would hold a part of a solution."""
    for number in (lab[:2] for lab in lab_files.all_labs()):
        for solutions in (True, False):
            search = handout_leaks.search_of(number, solutions)
            found = [path for path, source in kit_files.leaving().items()
                     if handout_files.theirs(path, number, solutions) and handout_leaks.leaks_in(search, path, handout_files.shown(path, source))]
            expect(not found, f"lab {number}, {'with' if solutions else 'without'} solutions: no leak {found[:3]}")


def check_other_folder():
    """A folder that is not a handout is not overwritten."""
    os.makedirs(f"{OUT}/other")
    write(f"{OUT}/other/VERSION", "2.1\n")
    status, said = make("handout", "LAB=01", f"OUT={OUT}/other")
    expect(status != 0 and "is not a handout" in said and os.listdir(f"{OUT}/other") == ["VERSION"], "other folders are left alone")


def check_repository():
    """The next handout, cut into the repository of the one before, is a change to it; the archive is without its history."""
    out = f"{OUT}/repository"
    write_in(f"{out}/.git", "HEAD")
    write_in(f"{out}/labs/.stubs", "old")
    write_in(f"{out}.new/labs/.stubs", "new")
    handout.take_the_place(f"{out}.new", out)
    packed = run("tar", "tf", f"{out}.tar.gz")[1]
    expect(files_in(out) == {".git/HEAD", "labs/.stubs/new"} and ".git/" not in packed and "new" in packed, f"a repository stays: {files_in(out)}")


def write_in(folder, name):
    os.makedirs(folder)
    write(f"{folder}/{name}", "")


def give_objects(folder):
    os.makedirs(f"{folder}/build/access")
    for name in BUILT:
        if os.path.exists(f"build/{name}"):
            run("cp", "-a", f"build/{name}", f"{folder}/build/{name}")
    # What is compiled from the labs' own files must be: a file that was not cut would not be missed otherwise.
    for name in ("obj/labs", "obj/grader", "gpu/labs"):
        shutil.rmtree(f"{folder}/build/{name}", ignore_errors=True)
        shutil.rmtree(f"{folder}/build/access/{name}", ignore_errors=True)


# ---- a student --------------------------------------------------------------------------------------

def check_make(folder):
    """`make` lists what a handout can do; what it cannot, and what is mistyped, is refused in a line."""
    status, said = make(folder=folder)
    listed = {word for word in ("test", "check", "prove", "stubs", "grade-all", "gpu-check") if f"make {word} " in said}
    expect(status == 0 and "make grade01 " in said and not listed, f"make lists nothing that is not there: {listed}")
    expect(said.endswith(f"Next: labs/{LAB}/README.md\n"), f"the first lab whose solution is not here comes next: {said[-40:]}")
    status, said = make("grade01", "CHECK=nix", folder=folder)
    expect(status != 0 and "there is no check nix; there are gradients" in said and "Score" not in said,
           "a check that is not there is named, and nothing graded")
    for words in (("prove",), ("test",), ("grade01", "DEVICE=tpu"), ("grade01", "AGENTS=maybe"), ("grade01", "FROM=nowhere"), ("lab01", "BLAS=mine")):
        status, said = make(*words, folder=folder)
        expect(status == 2 and said.count("\n") == 1 and words[-1] in said, f"refused: {said.strip()}")


def check_crash(folder):
    """A crash is reported with the student's line, and the debugger stops there."""
    source, solution = f"{folder}/labs/{LAB}/loop.c", proof.solution(LAB, "loop.c")
    stub, right = read(source), "float share ="
    line = next(number for number, text in enumerate(solution.split("\n"), 1) if right in text)
    write(source, solution.replace(right, "float share = ((const float *)(size_t)batch->B)[1000] +"))
    status, said = make("grade01", "CHECK=gradients", folder=folder)
    expect(status != 0 and f"at loop.c:{line}" in said and "make debug01 CHECK=gradients" in said, f"a crash has a line: {said[:200]}")
    if shutil.which("gdb"):
        status, said = run("sh", "-c", "printf 'run\\nbt\\n' | make debug01 CHECK=gradients", folder=folder)
        expect(f"loop.c:{line}" in said, f"gdb stops at the crash: {said[-120:]}")
    write(source, stub)


def write_tests(folder):
    """The lab's other file, as the solution has it."""
    write(f"{folder}/labs/{LAB}/loop_test.c", proof.solution(LAB, "loop_test.c"))


def check_student(folder):
    source, solution = f"{folder}/labs/{LAB}/loop.c", proof.solution(LAB, "loop.c")
    packed = f"{folder}/build/handin/01-anna.tar.gz"
    stub = read(source)
    status, said = make("grade01", folder=folder)
    expect(status != 0 and "not started" in said and "Score:   0 of 100" in said, "the stub is not started")
    write_tests(folder)
    status, said = make("handin01", "NAME=anna", folder=folder)
    expect(status != 0 and "still the stub" in said and not os.path.exists(packed), "a stub is not packed")
    write(source, stub.replace("TODO(", "TODO ((", 1))
    status, said = make("handin01", "NAME=anna", folder=folder)
    expect(status != 0 and "does not compile" in said, "nor what does not compile")
    write(source, "")
    status, said = make("grade01", "CHECK=gradients", folder=folder)
    expect(status != 0 and "`loop_step` is missing" in said and "collect2" not in said, "an empty file lacks a function")
    write(source, solution)
    status, said = make("handin01", "NAME=anna", folder=folder)
    expect(status == 0 and "Score:   100 of 100" in said and os.path.exists(packed), "what is good is packed")
    first = open(packed, "rb").read()
    write(source, solution.replace("1.0f / (float)batch->valid", "1.0f / (float)(batch->B * batch->T)"))
    status, said = make("handin01", "NAME=anna", folder=folder)
    expect(status != 0 and "you had 100 before" in said, "fewer points than before are said")
    expect(open(packed, "rb").read() == first, "and the last hand-in stays")
    status, said = make("handin01", "NAME=anna", "ANYWAY=1", folder=folder)
    expect(status == 0 and open(packed, "rb").read() != first, "ANYWAY=1 packs anyway")
    os.unlink(source)
    status, said = make("handin01", "NAME=anna", folder=folder)
    expect(status != 0 and "loop.c is missing" in said, "a missing file is named")
    make("reset01", folder=folder)
    expect(read(source) == stub, "reset brings the stub back")
    write(source, "mine")
    make("reset01", folder=folder)
    write(source, "mine too")
    make("reset01", folder=folder)
    expect((read(source), read(source + ".kept-1"), read(source + ".kept-2")) == (stub, "mine", "mine too"),
           "and keeps what was there, each time")
    write(source, solution)
    write_tests(folder)
    make("handin01", "NAME=anna", folder=folder)
    expect(open(packed, "rb").read() == first, "the same files give the same bytes")
    return packed


def check_collected(packed):
    with tarfile.open(packed) as archive:
        manifest = json.load(archive.extractfile("manifest.json"))
        sums = {name: hashlib.sha256(archive.extractfile(name).read()).hexdigest() for name in ("loop.c", "loop_test.c")}
    expect(manifest["lab"] == LAB and manifest["files"] == sums and manifest["kit"],
           "the manifest has lab, sums and kit version")
    os.makedirs(f"{OUT}/in")
    shutil.copy(packed, f"{OUT}/in")
    os.makedirs(f"{OUT}/in/.bert")
    status, said = make("grade-all", "LAB=01", f"IN={OUT}/in", f"OUT={OUT}/out")
    record = json.loads(read(f"{OUT}/out/records/anna.json")) if status == 0 else {}
    expect(record.get("score") == 100 and record["hand_in"]["notes"][0].startswith("packed with kit"), "graded: 100 points")
    expect("1 not looked at, by its name, or as neither a folder nor an archive: .bert" in said, f"an entry with a dot is named: {said[-200:]}")
    status, said = make("grade-all", "LAB=00", f"IN={OUT}/in", f"OUT={OUT}/out00")
    expect("it was packed for lab 01_loop, not for 00_bytes" in read(f"{OUT}/out00/records/01-anna.json"), "not as another lab")
    seed = run("tools/grade_all.py", "--lab", LAB, "--in", f"{OUT}/in", "--out", f"{OUT}/out", "--seed-of", "anna")[1].strip()
    expect(record.get("seed") == seed, "the seed can be had again")


# ---- hidden checks ----------------------------------------------------------------------------------

def plan():
    return {row["name"]: row for row in json.loads(run("build/judge/00_bytes", "--plan", "labs/00_bytes/lab.json")[1])}


def check_hidden():
    os.makedirs(f"{OUT}/hidden")
    shutil.copy("grader/hidden/example.c", f"{OUT}/hidden/00_bytes.c")
    os.makedirs(f"{OUT}/class/right")
    os.makedirs(f"{OUT}/class/cut")
    solution = proof.solution("00_bytes", "bytes.c")
    write(f"{OUT}/class/right/bytes.c", solution)
    write(f"{OUT}/class/cut/bytes.c", solution.replace("return V * C + T * C", "return (V > 1000000 ? (uint32_t)(V * C) : V * C) + T * C"))
    try:
        status, said = make("grade-all", "LAB=00", f"IN={OUT}/class", f"OUT={OUT}/graded", f"HIDDEN={OUT}/hidden")
        expect(status == 0, "graded with hidden checks" + ("" if status == 0 else f": {said}"))
        rows = plan()
        expect(rows["huge"]["visibility"] == "after_due_date" and rows["one_of_each"]["visibility"] == "never"
               and rows["params"]["visibility"] == "always" and list(rows)[-2:] == ["huge", "one_of_each"],
               "they come after the others, with their visibility")
        right, wrong = (json.loads(read(f"{OUT}/graded/records/{name}.json")) for name in ("right", "cut"))
        expect((right["score"], right["total"]) == (105, 105), "their points count")
        lost = {row["name"]: row for row in wrong["checks"] if row["state"] != "pass"}
        expect(set(lost) == {"huge"} and "does not fit into an int" in lost["huge"]["mistake"]
               and lost["huge"]["visibility"] == "after_due_date", f"what only they see is seen {sorted(lost)}")
    finally:
        make("build/judge/00_bytes")
    expect("huge" not in plan(), "and where there are none, the judge has none")


def check_first_lab():
    """Its page speaks of no lab before it."""
    for words in ((), ("SOLUTIONS=none",)):
        status, said = make("handout", "LAB=00", f"OUT={OUT}/first", *words)
        page = read(f"{OUT}/first/README.md") if status == 0 else said
        expect(page.startswith("# Lab 00_bytes\n") and "solutions" not in page and "\n\n\n" not in page, f"the first lab's page {words}")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    for name, words in (("with", ()), ("without", ("SOLUTIONS=none", "AGENTS=no"))):
        status, said = make("handout", "LAB=01", f"OUT={OUT}/{name}", *words)
        expect(status == 0 and os.path.exists(f"{OUT}/{name}.tar.gz"), f"handout {name} solutions: {said.strip()[-80:]}")
        check_handout(f"{OUT}/{name}", name == "with")
    check_first_lab()
    check_every_lab()
    check_other_folder()
    check_repository()
    give_objects(f"{OUT}/with")
    check_make(f"{OUT}/with")
    check_crash(f"{OUT}/with")
    check_collected(check_student(f"{OUT}/with"))
    give_objects(f"{OUT}/without")
    shutil.copy("solutions/00_bytes/bytes.c", f"{OUT}/without/labs/00_bytes/bytes.c")
    write(f"{OUT}/without/labs/{LAB}/loop.c", proof.solution(LAB, "loop.c"))
    write_tests(f"{OUT}/without")
    status, said = make("grade01", folder=f"{OUT}/without")
    expect(status == 0 and "Score:   100 of 100" in said, "without solutions, one's own files serve")
    check_hidden()
    expecting.end("handout")


if __name__ == "__main__":
    main()
