#!/usr/bin/env python3
"""Cuts what a student of a lab gets: `make handout LAB=03 [SOLUTIONS=none] [OUT=folder] [BUILT=folder]`.

A folder and an archive of it with the kit, the labs up to this one, and the solutions of the labs before it (none with
SOLUTIONS=none: students go on with their own). No solution of this lab or a later one, no mutants, no attacks, no hidden
checks, no tests of the kit. The folder is searched for lines of the solutions before it is put in place.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import leaks
from handin import kit_version
from lab_files import all_labs, files_of, package_files, path_of, read_lab

# What students have no use for. Of tools/ and of the folders in grader/ what they get is listed, so that what comes to
# lie there later is not theirs.
NOT_THEIRS = (".ci/", "CONTRIBUTING.md", "common/fuzz/", "train/fuzz/", "cudasim/broken/", "docs/instructors", "docs/exports",
              "labs/.stubs/")
TOOLS = {"class_folder.py", "demo.sh", "export.py", "exports/__init__.py", "exports/formats.py", "exports/record.py", "handin.py",
         "hint.sh", "lab_files.py", "labs.py", "labs_mk.py", "link.sh", "links.py", "pareto.py", "reset.sh", "setup.sh", "stub.sh", "table.py"}
UNLINKED = ("instructors", "exports")   # pages that the main page has a line about
FOR_LABS = "grader/labs/"

PAGE = """# Lab {lab}

    make setup                 # install what is missing, on Debian or Ubuntu
    make                       # what there is
    make lab{number}                 # build it from your files in labs/{lab}/, and run it
    make grade{number}               # what your files are worth, and what to look at
    make hint{number} TASK=1         # a hint, one more each time
    make handin{number} NAME=anna    # pack your files to hand them in
    make reset{number}               # the stub again; what you wrote is kept beside it
    make demo                  # train a GPT of a million parameters for a minute, show what it did
    make train ARGS=--help     # train on a text of yours
    make docs                  # the handbook

Nothing asks for a GPU. Grading runs on {platforms}: the judges are built for it, and come without their source.

Begin with [labs/{lab}/README.md](labs/{lab}/README.md). {earlier}
"""
SOLVED = "The labs before this one are solved in `solutions/`; with `OWN=1` yours in `labs/` are taken instead."
UNSOLVED = "Your own files of the labs before this one belong into `labs/`; the kit is built with them."


def tracked():
    """{path: where it is} of the files of the kit, as git knows them, or all but what make has made; and of LABS=."""
    return {**{path: path for path in kit_files()}, **package_files()}


def kit_files():
    done = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True,
                          text=True, check=False)
    if done.returncode == 0:
        return [path for path in done.stdout.split("\0") if path and os.path.isfile(path)]
    return [os.path.normpath(os.path.join(folder, name)) for folder, _, names in os.walk(".") for name in names
            if not os.path.normpath(folder).startswith(("build", ".git", "runs"))]


def lab_of(path):
    """The lab that a file belongs to: "03" of labs/03_x/y, solutions/03_x/y, grader/labs/03_x/y; or "" of what serves all."""
    parts = path.split("/")
    if parts[0] in ("labs", "solutions") and len(parts) > 2:
        return parts[1][:2]
    return parts[2][:2] if path.startswith(FOR_LABS) and len(parts) > 3 else ""


def theirs(path, number, solutions):
    if path.startswith(NOT_THEIRS) or path.endswith(("_test.c", ".mutants", ".variants")) or ".kept-" in path:
        return False
    if path.startswith("labs/") and path.endswith("/contract.h"):
        return True
    if judge_is_built(path):
        return False
    if path.startswith("tools/") and not path.startswith("tools/bench/"):
        return path[len("tools/"):] in TOOLS
    if path.startswith("grader/") and path.count("/") > 1 and not path.startswith(FOR_LABS):
        return False
    lab = lab_of(path)
    if path.startswith("solutions/"):
        return solutions and lab < number
    return lab <= number


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def write(folder, path, data):
    place = os.path.join(folder, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as to:
        to.write(data)


def cut_out(path, flag):
    return subprocess.run(["unifdef", "-x2", flag, path], stdout=subprocess.PIPE, text=True, check=True).stdout


def solution(path):
    """As it is printed in a handout: without its stub."""
    return cut_out(path, "-USTUB")


def later_lab(name):
    """What the kit must know of a lab that is not there yet, to say that something waits for it."""
    lab = read_lab(name)
    return (json.dumps({key: lab[key] for key in ("holes", "train") if key in lab}, indent=2) + "\n").encode()


def shown(path, source):
    """The text of a file as it comes into a handout."""
    lab = path.split("/")[1] if path.startswith("labs/") else ""
    if path.startswith("solutions/"):
        return solution(source)
    if lab in all_labs() and os.path.basename(path) in files_of(lab):
        return subprocess.run(["tools/stub.sh", lab, os.path.basename(path)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return read(source)


def cut_stubs(folder, lab):
    """Stubs as they are made from the solutions, not from what is in labs/; each twice, for `make reset`."""
    for name in files_of(lab):
        stub = subprocess.run(["tools/stub.sh", lab, name], stdout=subprocess.PIPE, check=True).stdout
        write(folder, f"labs/{lab}/{name}", stub)
        write(folder, f"labs/.stubs/{lab}/{name}", stub)


# ---- looking through it -----------------------------------------------------------------------------

# Who says the same for a reason: (a shipped file, a solution).
ALLOWED = {
    ("grader/labs/05_fp16/probe.c", "solutions/03_accumulate/accumulate.c"): "the windows in which an update is tried",
    ("grader/labs/05_fp16/probe.c", "solutions/02_kernels/crossentropy.cu"): "parameters of the op that it watches",
    ("tools/bench/bench.c", "solutions/05_fp16/mixed.c"): "a walk over the parameters of an optimizer",
}


def search_of(number, solutions):
    """For all solutions that are not theirs. What the kit itself or an earlier solution has in the same words, they have."""
    search = leaks.Search()
    every = {path: source for path, source in tracked().items() if path.startswith("solutions/")}
    secret = {path: source for path, source in every.items() if not theirs(path, number, solutions)}
    for path, source in secret.items():
        search.keep_secret(path, solution(source), cut_out(source, "-DSTUB"))
    for path in glob.glob("kernels/*.c*") + glob.glob("kernels/*.h") + glob.glob("common/*.[ch]"):
        search.keep_public(read(path))
    for path in every.keys() - secret.keys():
        search.keep_public(solution(every[path]))
    return search


def leak_in(search, path, text):
    """What leaks.py finds in a file that is shipped, if nothing allows it."""
    if path.startswith("common/data/") or path.endswith("/hints.md"):
        return None
    leak = search.leak(text)
    return leak if leak and (path, leak[0]) not in ALLOWED else None


def found_leaks(folder, number, solutions):
    """Where something of a solution that is not theirs stands. A third hint shows a line or two on purpose, and the
    text to train on is old sources of the kit."""
    search, found = search_of(number, solutions), []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), folder)
            text = read(os.path.join(place, name))
            leak = leak_in(search, path, text)
            if leak:
                found.append(f"{path} has a part of {leak[0]}: {leak[1]}")
            if path.startswith(("labs/", "solutions/")) and re.search(r"^#.*\bSTUB\b", text, re.M):
                found.append(f"{path} has a marker of the stub")
    return found


# ---- what is shipped built --------------------------------------------------------------------------

KIT_PROBE = "probe_kit.c"   # what the kit does by itself, where a lab asks for as much


def judge_is_built(path):
    """A judge holds right versions of what its lab asks, and what each mistake makes of them: it is shipped as objects.
    Its checks, its probes and its headers are there to be read."""
    shared = ("grader/judge_peak.c", "train/show/planted.c", "train/show/pareto.c")   # tasks of labs 04, 03 and 06
    name = os.path.basename(path)
    to_read = name in ("probe.c", "protocol.c", "shared.c") or (name.startswith("probe_") and name != KIT_PROBE)
    return path in shared or (path.startswith(FOR_LABS) and path.endswith(".c") and not to_read)


def build_judges(folder, labs, others):
    """Objects for this platform, of the oldest processors that the kit knows; `others` has those of other platforms."""
    machine = os.uname()
    settings = ["OPT=-O2", "BLAS=none", "CC=gcc", "ARCH=" + ("-march=x86-64-v2" if machine.machine == "x86_64" else "-mtune=generic")]
    make = ["make", "--no-print-directory", "-s", f"-j{len(os.sched_getaffinity(0))}", *settings]
    clean = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    subprocess.run([*make, "built", f"BUILT_LABS={' '.join(labs)}"], check=True, env=clean, stdout=subprocess.DEVNULL)
    build = subprocess.run([*make, "print-build"], check=True, env=clean, stdout=subprocess.PIPE, text=True).stdout.strip()
    place = f"{folder}/grader/built/{machine.machine}-{machine.sysname}"
    os.makedirs(place)
    kits = [f"{lab}-kit.o" for lab in labs if os.path.exists(path_of(lab, KIT_PROBE, kind="grader/labs"))]
    for name in [f"{lab}.a" for lab in labs] + kits + ["shared.a", "planted.o", "pareto.o"]:
        shutil.copy(f"{build}/built/{name}", place)
    if others:
        shutil.copytree(others, f"{folder}/grader/built", dirs_exist_ok=True)
    return sorted(os.listdir(f"{folder}/grader/built"))


# ---- the whole --------------------------------------------------------------------------------------

def cut(folder, lab, solutions, built):
    number = lab[:2]
    for path, source in tracked().items():
        if theirs(path, number, solutions):
            os.makedirs(os.path.dirname(os.path.join(folder, path)) or folder, exist_ok=True)
            if path.startswith("solutions/"):
                write(folder, path, solution(source).encode())
            else:
                shutil.copy2(source, os.path.join(folder, path))
    for each in all_labs():
        if each[:2] <= number:
            cut_stubs(folder, each)
        else:
            write(folder, f"labs/{each}/lab.json", later_lab(each))
    page = os.path.join(folder, "docs/mainpage.md")
    with open(page, encoding="utf-8") as file:
        text = "".join(line for line in file if not any(f"@ref {name}" in line for name in UNLINKED))
    write(folder, "docs/mainpage.md", text.encode())
    write(folder, "VERSION", (kit_version() + "\n").encode())
    platforms = build_judges(folder, [each for each in all_labs("tests.c") if each[:2] <= number], built)
    page = PAGE.format(lab=lab, number=number, platforms=" and ".join(name.replace("-", " ") for name in platforms), earlier=SOLVED if solutions else UNSOLVED)
    write(folder, "README.md", page.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", required=True)
    parser.add_argument("--out", required=True, help="folder, made anew; an archive comes to lie beside it")
    parser.add_argument("--no-solutions", action="store_true", help="not even of the labs before")
    parser.add_argument("--built", help="folder with judges that are built for other platforms")
    options = parser.parse_args()
    out, aside = options.out.rstrip("/"), options.out.rstrip("/") + ".new"
    if os.path.exists(out) and not os.path.exists(f"{out}/labs/.stubs"):
        sys.exit(f"handout: {out} exists and is not a handout")
    shutil.rmtree(aside, ignore_errors=True)
    os.makedirs(aside)
    cut(aside, options.lab, not options.no_solutions, options.built)
    found = found_leaks(aside, options.lab[:2], not options.no_solutions)
    if found:
        shutil.rmtree(aside)
        sys.exit("handout: not made\n" + "\n".join(found))
    shutil.rmtree(out, ignore_errors=True)
    os.rename(aside, out)
    shutil.make_archive(out, "gztar", os.path.dirname(out) or ".", os.path.basename(out))
    print(f"{out}: {sum(len(names) for _, _, names in os.walk(out))} files, and {out}.tar.gz")


if __name__ == "__main__":
    main()
