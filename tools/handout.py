#!/usr/bin/env python3
"""Cuts what a student of a lab gets: `make handout LAB=03 [SOLUTIONS=none] [OUT=folder]`.

A folder and an archive of it with the kit, the labs up to this one, and the solutions of the labs before it (none with
SOLUTIONS=none: students go on with their own). No solution of this lab or a later one, no mutants, no attacks, no hidden
checks, no tests of the kit. What is in the folder is looked through for lines of the solutions before it is there.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys

from handin import files_of, kit_version

# What students have no use for. Of tools/ and of the folders in grader/ what they get is listed, so that what comes to
# lie there later is not theirs.
NOT_THEIRS = (".ci/", "CONTRIBUTING.md", "grader/oracle.py", "common/fuzz/", "kernels/cudasim/broken/", "docs/instructors", "docs/exports",
              "labs/.stubs/")
TOOLS = {"class_folder.py", "demo.sh", "export.py", "exports/__init__.py", "exports/formats.py", "exports/record.py", "handin.py",
         "hint.sh", "labs.py", "links.py", "pareto.py", "reset.sh", "setup.sh", "stub.sh", "table.py"}
UNLINKED = ("instructors", "exports")   # pages that the main page has a line about
FOR_LABS = ("grader/probes/", "grader/judges/")
WINDOW = 3   # lines of a solution in a row that may not be anywhere

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

Nothing asks for a GPU.

Begin with [labs/{lab}/README.md](labs/{lab}/README.md). {earlier}
"""
SOLVED = "The labs before this one are solved in `solutions/`; with `OWN=1` yours in `labs/` are taken instead."
UNSOLVED = "Your own files of the labs before this one belong into `labs/`; the kit is built with them."


def tracked():
    """The files of the kit: as git knows them, or all but what make has made."""
    done = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True,
                          text=True, check=False)
    if done.returncode == 0:
        return [path for path in done.stdout.split("\0") if path and os.path.isfile(path)]
    return [os.path.normpath(os.path.join(folder, name)) for folder, _, names in os.walk(".") for name in names
            if not os.path.normpath(folder).startswith(("build", ".git", "runs"))]


def lab_of(path):
    """The lab that a file belongs to: "03" of labs/03_x/y, solutions/03_x/y, grader/probes/03_x.c; or "" of what serves all."""
    parts = path.split("/")
    if parts[0] in ("labs", "solutions") and len(parts) > 2:
        return parts[1][:2]
    return parts[2][:2] if path.startswith(FOR_LABS) and parts[2][:2].isdigit() else ""


def theirs(path, number, solutions):
    if path.startswith(NOT_THEIRS) or path.endswith("_test.c") or ".kept-" in path:
        return False
    if path.startswith("tools/"):
        return path[len("tools/"):] in TOOLS
    if path.startswith("grader/") and path.count("/") > 1 and not path.startswith(FOR_LABS):
        return False
    lab = lab_of(path)
    if path.startswith("solutions/"):
        return solutions and lab < number
    return lab <= number


def write(folder, path, data):
    place = os.path.join(folder, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as to:
        to.write(data)


def cut_stubs(folder, lab):
    """Stubs as they are made from the solutions, not as somebody has tried them out in labs/; each twice, for `make reset`."""
    for name in files_of(lab):
        stub = subprocess.run(["tools/stub.sh", lab, name], stdout=subprocess.PIPE, check=True).stdout
        write(folder, f"labs/{lab}/{name}", stub)
        write(folder, f"labs/.stubs/{lab}/{name}", stub)


# ---- looking through it -----------------------------------------------------------------------------

def lines_of(text):
    """Lines that could be of interest, without their indent."""
    return [line for line in (line.strip() for line in text.splitlines()) if len(line) > 8]


def windows(lines):
    return ["\n".join(lines[i:i + WINDOW]) for i in range(len(lines) - WINDOW + 1)]


def solved_windows(path):
    """Each few lines in a row that a solution has and its stub has not."""
    cut = [subprocess.run(["unifdef", "-x2", flag, path], stdout=subprocess.PIPE, text=True, check=True).stdout
           for flag in ("-DSOLUTION", "-USOLUTION")]
    return set(windows(lines_of(cut[0]))) - set(windows(lines_of(cut[1])))


def leaks(folder, number, solutions):
    """Where something of a solution that is not theirs stands."""
    secret = {}
    for path in glob.glob("solutions/*/*"):
        if not theirs(path, number, solutions):
            secret.update((window, path) for window in solved_windows(path))
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), folder)
            with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                text = file.read()
            # What the kit's C twin of an op says in the same words is no secret; kit.txt has those twins.
            if path.startswith(("kernels/", "common/data/")):
                continue
            found += [f"{path} has lines of {secret[w]}" for w in windows(lines_of(text)) if w in secret][:1]
            if path.startswith("labs/") and "SOLUTION" in text:
                found.append(f"{path} has a marker of the solution")
    return found


# ---- the whole --------------------------------------------------------------------------------------

def cut(folder, lab, solutions):
    number = lab[:2]
    for path in tracked():
        if theirs(path, number, solutions):
            os.makedirs(os.path.dirname(os.path.join(folder, path)) or folder, exist_ok=True)
            shutil.copy2(path, os.path.join(folder, path))
    for path in glob.glob("labs/[0-9]*/grade.json"):
        if lab_of(path) <= number:
            cut_stubs(folder, path.split("/")[1])
    page = os.path.join(folder, "docs/mainpage.md")
    with open(page, encoding="utf-8") as file:
        text = "".join(line for line in file if not any(f"@ref {name}" in line for name in UNLINKED))
    write(folder, "docs/mainpage.md", text.encode())
    write(folder, "VERSION", (kit_version() + "\n").encode())
    page = PAGE.format(lab=lab, number=number, earlier=SOLVED if solutions else UNSOLVED)
    write(folder, "README.md", page.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", required=True)
    parser.add_argument("--out", required=True, help="folder, made anew; an archive comes to lie beside it")
    parser.add_argument("--no-solutions", action="store_true", help="not even of the labs before")
    options = parser.parse_args()
    out, aside = options.out.rstrip("/"), options.out.rstrip("/") + ".new"
    if os.path.exists(out) and not os.path.exists(f"{out}/labs/.stubs"):
        sys.exit(f"handout: {out} is there and is no handout")
    shutil.rmtree(aside, ignore_errors=True)
    os.makedirs(aside)
    cut(aside, options.lab, not options.no_solutions)
    found = leaks(aside, options.lab[:2], not options.no_solutions)
    if found:
        shutil.rmtree(aside)
        sys.exit("handout: not made\n" + "\n".join(found))
    shutil.rmtree(out, ignore_errors=True)
    os.rename(aside, out)
    shutil.make_archive(out, "gztar", os.path.dirname(out) or ".", os.path.basename(out))
    print(f"{out}: {sum(len(names) for _, _, names in os.walk(out))} files, and {out}.tar.gz")


if __name__ == "__main__":
    main()
