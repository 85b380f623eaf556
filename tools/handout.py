#!/usr/bin/env python3
"""Cuts what a student of a lab gets: `make handout LAB=03 [SOLUTIONS=none] [HINTS=2] [AGENTS=no] [OUT=folder] [BUILT=folder]`.

A folder and an archive of it with the kit, the labs up to this one, and the solutions of the labs before it (none with
SOLUTIONS=none: students go on with their own). No solution of this lab or a later one, no mutants, no attacks, no hidden
checks, no tests of the kit, and nothing that git does not track (tools/kit_files.py). HINTS=2 leaves the third of three hints
out, which leads to the line. AGENTS.md has a tutor's rules for programs that help students, unless AGENTS=no. The
folder is searched for lines of the solutions before it is put in place.
"""
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile

from arguments import Parser
from handout_files import KIT_PROBE, MOST_HINTS, read, shown, theirs
from handout_leaks import ALIKE, found_leaks
from kit_files import Stays, check_labs, leaving, stop
from lab_files import all_labs, files_of, path_of, read_lab
from labs import points, title
from making import apart
from needs import points_with, runs_with, sentence

TUTOR, RULES = "tools/tutor.md", "AGENTS.md"   # where the rules for a tutor stand, and what they are called in a handout

PAGE = """# {title}

    make setup                 # install what is missing, on Debian or Ubuntu
    make                       # what there is
{runs}    make grade{number}               # what your files are worth, and what to look at
    make watch{number}               # grade again each time you save a file, and say what has changed
    make hint{number} TASK=1         # a hint, one more each time
    make handin{number} NAME=anna    # pack your files to hand them in
    make reset{number}               # the stub again; what you wrote is kept beside it
    make demo                  # train a GPT of a million parameters for a minute, show what it did
    make train ARGS=--help     # train on a text of yours
    make docs                  # the handbook

Nothing asks for a GPU. Grading runs on {platforms}: the judges are built for it, and come without their source.

{labs}

Begin with [labs/{lab}/README.md](labs/{lab}/README.md). [docs/glossary.md](docs/glossary.md) explains the letters and words,
[docs/grading.md](docs/grading.md) what `make grade{number}` prints.
{earlier}

What is here is yours to read: the kit, the probes and the checks{earlier_too}. The hints are in `hints.md` of each lab, {tiers} for
each task. The handbook is that of the whole kit: some programs and commands that it names, such as those of `cudasim/broken/` and
`make nccl-check`, are not in here.
{rules}"""
RULED = "A program that helps you finds its rules in [AGENTS.md](AGENTS.md): it explains and asks, and does not fill in holes.\n"
SOLVED = "The labs before this one are solved in `solutions/`; with `OWN=1` yours in `labs/` are taken instead."
UNSOLVED = """There are no solutions here, so labs run with your own files of the others: the order above is the order of work. What you have
already done in another folder belongs into `labs/`."""
BEFORE = "## Before you start\n\n"


def write(folder, path, data):
    place = os.path.join(folder, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as to:
        to.write(data)


# ---- what is cut ------------------------------------------------------------------------------------

def later_lab(name):
    """What the kit must know of a lab that is not there yet, to say that something waits for it."""
    lab = read_lab(name)
    return (json.dumps({key: lab[key] for key in ("holes", "train") if key in lab}, indent=2) + "\n").encode()


def cut_stubs(folder, lab):
    """Stubs as they are made from the solutions, not from what is in labs/; each twice, for `make reset`."""
    for hole in read_lab(lab)["holes"]:
        name = hole["file"]
        stub = subprocess.run(["tools/stub.sh", lab, name], stdout=subprocess.PIPE, check=True).stdout
        if b"TODO(" not in stub and not hole.get("given"):
            raise Stays(f"the stub of {lab}/{name} has no TODO(): it would be the solution. In solutions/ the answer stands between `#ifndef STUB` and `#else`")
        write(folder, f"labs/{lab}/{name}", stub)
        write(folder, f"labs/.stubs/{lab}/{name}", stub)


def keep_bets(folder):
    """A student's bets are a part of the student's work, so git shall see them there."""
    lines = read(".gitignore").splitlines(keepends=True)
    write(folder, ".gitignore", "".join(line for line in lines if "my_bets" not in line).encode())


def cut(folder, lab, solutions, hints, rules):
    number, files = lab[:2], leaving()
    check_labs([each for each in all_labs() if each[:2] <= number], files)
    for path, source in files.items():
        if theirs(path, number, solutions):
            os.makedirs(os.path.dirname(os.path.join(folder, path)) or folder, exist_ok=True)
            if path.startswith("solutions/") or path.endswith("/hints.md"):
                write(folder, path, shown(path, source, hints).encode())
            else:
                shutil.copy2(source, os.path.join(folder, path))
    for each in all_labs():
        if each[:2] <= number:
            cut_stubs(folder, each)
        else:
            write(folder, f"labs/{each}/lab.json", later_lab(each))
    keep_bets(folder)
    for each in all_labs("README.md"):
        if each[:2] <= number and not solutions:
            say_needs(folder, each)
    if rules:
        write(folder, RULES, read(TUTOR).encode())


def say_needs(folder, lab):
    """On the page of a lab, where there are no solutions."""
    path, said = f"labs/{lab}/README.md", sentence(lab)
    if said:
        text = read(os.path.join(folder, path))
        if BEFORE not in text:
            raise Stays(f"{path} has no heading 'Before you start', below which it says which labs its points need")
        write(folder, path, text.replace(BEFORE, f"{BEFORE}{said}\n\n", 1).encode())


def missing_modules(folder):
    """What a shipped program of tools/ imports of tools/, as soon as it starts, that is not shipped."""
    missing = []
    for place, _, names in os.walk(f"{folder}/tools"):
        for program in sorted(name for name in names if name.endswith(".py")):
            nodes = ast.parse(read(os.path.join(place, program))).body
            modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
            modules += [name for node in nodes if isinstance(node, ast.ImportFrom) and node.module
                        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))]
            files = [f"tools/{module.replace('.', '/')}.py" for module in modules]
            missing += [f"{program} imports {file}, which is not in TOOLS" for file in files if os.path.exists(file) and not os.path.exists(f"{folder}/{file}")]
    return missing


# ---- what is shipped built --------------------------------------------------------------------------

def build_judges(folder, labs, others):
    """Objects for this platform, of the oldest processors that the kit knows; `others` has those of other platforms."""
    machine = os.uname()
    settings = ["OPT=-O2", "BLAS=none", "CC=gcc", "ARCH=" + ("-march=x86-64-v2" if machine.machine == "x86_64" else "-mtune=generic")]
    make = ["make", "--no-print-directory", "-s", f"-j{len(os.sched_getaffinity(0))}", *settings]
    subprocess.run([*make, "built", f"BUILT_LABS={' '.join(labs)}"], check=True, env=apart(), stdout=subprocess.DEVNULL)
    build = subprocess.run([*make, "print-build"], check=True, env=apart(), stdout=subprocess.PIPE, text=True).stdout.strip()
    place = f"{folder}/grader/built/{machine.machine}-{machine.sysname}"
    os.makedirs(place)
    beside = [f"{lab}-{hole['probe']}.a" for lab in labs for hole in read_lab(lab)["holes"] if "probe" in hole]
    kits = [f"{lab}-kit.o" for lab in labs if os.path.exists(path_of(lab, KIT_PROBE, kind="grader/labs"))]
    for name in [f"{lab}.a" for lab in labs] + kits + ["shared.a", "planted.o", "pareto.o", *beside]:
        shutil.copy(f"{build}/built/{name}", place)
    if others:
        take_built(folder, others)
    return sorted(os.listdir(f"{folder}/grader/built"))


def take_built(folder, others):
    """Those of other platforms: in each folder objects, and archives of objects."""
    for place, _, names in os.walk(others):
        for name in names:
            platform = os.path.relpath(place, others)
            if "/" in platform or platform == "." or not name.endswith((".a", ".o")):
                raise Stays(f"{place}/{name} is not an object: BUILT= is the folder grader/built of another handout")
            os.makedirs(f"{folder}/grader/built/{platform}", exist_ok=True)
            shutil.copy(f"{place}/{name}", f"{folder}/grader/built/{platform}")


# ---- the whole --------------------------------------------------------------------------------------

def lines_of_run(lab):
    """What the page says of `make lab` and `make bet`: a lab may have no program, and none to bet on."""
    number, lines = lab[:2], ""
    if os.path.exists(path_of(lab, "bets.json")):
        lines += f"    make bet{number}                 # a few numbers to predict before lab {number} runs\n"
    run = ", and run it" if "run" in read_lab(lab) else ""
    return lines + f"    make lab{number}                 # build lab {number} from your files in labs/{run}\n"


def solved_in(folder):
    """The numbers of the labs whose solutions are there."""
    solutions = f"{folder}/solutions"
    return sorted({lab[:2] for lab in os.listdir(solutions) if os.path.isdir(f"{solutions}/{lab}")}) if os.path.isdir(solutions) else []


def table_of(labs, solutions):
    """The labs of a handout; what each needs only where no solution stands in."""
    rows = [["lab", "about", "points"] + ["`make lab` runs with", "points that need another lab"] * (not solutions)]
    rows += [["---"] * len(rows[0])]
    for lab in labs:
        needs = [", ".join(other[:2] for other in runs_with(lab)), ", ".join(f"lab {other[:2]}: {worth:g}" for other, worth in points_with(lab).items())]
        rows += [[f"[{lab}](labs/{lab}/README.md)", title(lab), f"{points(lab):g}"] + needs * (not solutions)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def cut_and_search(folder, options):
    """All but what is built."""
    number, solutions = options.lab[:2], not options.no_solutions
    cut(folder, options.lab, solutions, options.hints, not options.no_rules)
    found = missing_modules(folder)
    if found:
        sys.exit("\n".join(["handout: not made", *found]))
    found = found_leaks(folder, number, solutions, options.hints)
    if found:
        sys.exit("\n".join(["handout: not made", *found, ALIKE]))


def make(folder, options):
    """The whole, in a new folder."""
    cut_and_search(folder, options)
    number, solutions = options.lab[:2], not options.no_solutions
    platforms = build_judges(folder, [each for each in all_labs("tests.c") if each[:2] <= number], options.built)
    labs = [each for each in all_labs("README.md") if each[:2] <= number]
    first = options.lab if solutions else labs[0]
    alone = len(labs) == 1   # there is no lab before
    page = PAGE.format(title=f"Lab {options.lab}" if solutions or alone else f"Labs {first[:2]} to {number}", lab=first, number=first[:2],
                       runs=lines_of_run(first),
                       labs=table_of(labs, solutions), platforms=" and ".join(name.replace("-", " ") for name in platforms),
                       earlier="" if alone else SOLVED if solutions else UNSOLVED,
                       earlier_too=", the solutions of the labs before" if solutions and not alone else "",
                       tiers=("one", "two", "three")[options.hints - 1], rules="" if options.no_rules else RULED)
    write(folder, "README.md", page.replace("\n\n\n", "\n\n").encode())


def take_the_place(aside, out):
    """The folder of before goes. A repository in it stays, with what students have cloned: it sees the new cut as a change."""
    before = f"{out}.before"
    if os.path.exists(before):
        raise Stays(f"{before} is left of a run that was ended: take out of it what you need, and remove it")
    if os.path.exists(out):
        os.rename(out, before)
    os.rename(aside, out)
    try:
        shutil.make_archive(out, "gztar", os.path.dirname(out) or ".", os.path.basename(out))
    finally:
        if os.path.exists(f"{before}/.git"):
            os.rename(f"{before}/.git", f"{out}/.git")
        shutil.rmtree(before, ignore_errors=True)


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", required=True)
    parser.add_argument("--out", help="folder, made anew but for a .git in it; an archive comes to lie beside it")
    parser.add_argument("--search", action="store_true", help="only search for solutions in it, and make nothing")
    parser.add_argument("--no-solutions", action="store_true", help="not even of the labs before")
    parser.add_argument("--built", help="folder with judges that are built for other platforms")
    parser.add_argument("--hints", type=int, default=MOST_HINTS, choices=range(1, MOST_HINTS + 1), help="of each task")
    parser.add_argument("--no-rules", action="store_true", help=f"without {RULES}, the rules of a tutor")
    options = parser.parse_args()
    if options.search:
        with tempfile.TemporaryDirectory() as folder:
            cut_and_search(folder, options)
        return
    if options.out is None:
        parser.error("--out is needed")
    out, aside = options.out.rstrip("/"), options.out.rstrip("/") + ".new"
    if os.path.exists(out) and not os.path.exists(f"{out}/labs/.stubs"):
        sys.exit(f"handout: {out} exists and is not a handout")
    shutil.rmtree(aside, ignore_errors=True)
    os.makedirs(aside)
    try:
        make(aside, options)
        count = sum(len(names) for _, _, names in os.walk(aside))
        solved = solved_in(aside)
        take_the_place(aside, out)
    except Stays as error:
        stop("handout", error)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    print(f"{out}: {count} files, and {out}.tar.gz")
    if solved:
        print(f"With the solutions of {'lab' if len(solved) == 1 else 'labs'} {', '.join(solved)}; SOLUTIONS=none leaves them out.")


if __name__ == "__main__":
    main()