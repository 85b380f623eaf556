#!/usr/bin/env python3
"""Cuts what a student of a lab gets: `make handout LAB=03 [SOLUTIONS=none] [HINTS=2] [AGENTS=no] [OUT=folder] [BUILT=folder]`.

A folder and an archive of it with the kit, the labs up to this one, and the solutions of the labs before it (none with
SOLUTIONS=none: students go on with their own). No solution of this lab or a later one, no mutants, no attacks, no hidden
checks, no tests of the kit, and nothing that git does not track (tools/kit_files.py). HINTS=2 leaves the third of three hints
out, which leads to the line. AGENTS.md has a tutor's rules for programs that help students, unless AGENTS=no. The
folder is searched for lines of the solutions before it is put in place.
"""
import ast
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import leaks
from arguments import Parser
from kit_files import Stays, check_labs, leaving, stop
from lab_files import all_labs, files_of, path_of, read_lab
from labs import points, title
from making import apart
from needs import points_with, runs_with, sentence

# What students have no use for. Of tools/ and of the folders in grader/ what they get is listed, so that what comes to
# lie there later is not theirs. Of docs/ they do not get the chapter Teaching.
TEACHING = ("docs/instructors", "docs/exports", "docs/students_data", "docs/publishing", "docs/similar", "docs/outcomes", "docs/tracks",
            "docs/other_courses", "docs/cheating", "docs/mutant_ids", "docs/porting_hidden_checks", "docs/first_lab",
            "docs/lab_json", "docs/handing_out", "docs/grading_a_class", "docs/own_checks", "docs/teaching_a_term", "docs/terms", "docs/translating")
NOT_THEIRS = (".ci/", ".github/", "CONTRIBUTING.md", "SUPPORT.md", "common/fuzz/", "train/check/", "train/fuzz/", "cudasim/broken/", "labs/.stubs/", *TEACHING)
TOOLS = {"bets.py", "book.py", "class_folder.py", "debug.py", "demo.sh", "export.py", "exports/__init__.py", "exports/formats.py",
         "exports/language.py", "exports/record.py", "foreign.py", "foreign_result.py", "from_hand_in.py", "hand_in_reader.py", "handin.py", "hint.py", "inner.sh", "lab_files.py", "labs.py",
         "labs_mk.py", "link.sh", "links.py", "making.py", "meter.py", "mpi_env.sh", "mpirun.sh", "needs.py", "overlap.py", "page_rows.py", "pareto.py", "picture.py", "release.py", "reset.sh", "say.py",
         "ring_picture.py", "setup.sh", "step.sh", "stub.sh", "table.py", "table_ranks.py", "traffic.py", "train.sbatch", "watch.py"}
FOR_LABS = "grader/labs/"
TUTOR, RULES = "tools/tutor.md", "AGENTS.md"   # where the rules for a tutor stand, and what they are called in a handout
MOST_HINTS = 3   # for a task: a question, where to look, the way to the line

PAGE = """# {title}

    make setup                 # install what is missing, on Debian or Ubuntu
    make                       # what there is
    make bet{number}                 # a few numbers to predict before lab {number} runs
    make lab{number}                 # build lab {number} from your files in labs/, and run it
    make grade{number}               # what your files are worth, and what to look at
    make watch{number}               # grade again each time you save a file, and say what has changed
    make hint{number} TASK=1         # a hint, one more each time
    make handin{number} NAME=anna    # pack your files to hand them in
    make reset{number}               # the stub again; what you wrote is kept beside it
    make demo                  # train a GPT of a million parameters for a minute, show what it did
    make train ARGS=--help     # train on a text of yours
    make docs                  # the handbook

Nothing asks for a GPU. Grading runs on {platforms}: the judges are built for it, and come without their source.

{labs}

Begin with [labs/{lab}/README.md](labs/{lab}/README.md).
{earlier}

What is here is yours to read: the kit, the probes and the checks{earlier_too}. The hints are in `hints.md` of each lab, {tiers} for
each task.
{rules}"""
RULED = "A program that helps you finds its rules in [AGENTS.md](AGENTS.md): it explains and asks, and does not fill in holes.\n"
SOLVED = "The labs before this one are solved in `solutions/`; with `OWN=1` yours in `labs/` are taken instead."
UNSOLVED = """There are no solutions here, so labs run with your own files of the others: the order above is the order of work. What you have
already done in another folder belongs into `labs/`."""
BEFORE = "## Before you start\n\n"


def lab_of(path):
    """The lab that a file belongs to: "03" of labs/03_x/y, solutions/03_x/y, grader/labs/03_x/y; or "" of what serves all."""
    parts = path.split("/")
    if parts[0] in ("labs", "solutions") and len(parts) > 2:
        return parts[1][:2]
    return parts[2][:2] if path.startswith(FOR_LABS) and len(parts) > 3 else ""


def theirs(path, number, solutions):
    if path.startswith(NOT_THEIRS) or path.endswith(("_test.c", ".mutants", ".variants", "/terms.json", "/outcomes.json")) or ".kept-" in path:
        return False
    if path.startswith("labs/") and path.endswith("/contract.h"):
        return True
    if judge_is_built(path):
        return False
    if path.startswith("languages/"):
        return path.endswith(".mo")
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


def fewer_hints(text, tiers):
    """A page of hints with that many for each task. One begins with its number and goes on to the next, or to the next task."""
    kept, taken = [], True
    for line in text.splitlines(keepends=True):
        number = re.match(r"(\d)\. |#", line)
        if number:
            taken = int(number[1] or 0) <= tiers
        kept += [line] if taken else []
    return "".join(kept)


def later_lab(name):
    """What the kit must know of a lab that is not there yet, to say that something waits for it."""
    lab = read_lab(name)
    return (json.dumps({key: lab[key] for key in ("holes", "train") if key in lab}, indent=2) + "\n").encode()


def shown(path, source, hints=MOST_HINTS):
    """The text of a file as it comes into a handout."""
    if path.endswith("/hints.md"):
        return fewer_hints(read(source), hints)
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

# Who says the same for a reason: (a shipped file, a solution). Everything else that is shipped is searched, the kit's own
# sources too: an answer does not become public by standing in one of them.
WALK = "a walk over all parameters of a model"
PACKS = "how every kernel reads packs, or how its function begins"
TWIN = "the op of the CPU"
LISTS = "the example of a kernel over a list of tensors"
PARAMETERS = "the parameters of an op"
MAXIMUM = "the largest of a row"
PRODUCTS = "a sum of products"
ALLOWED = {
    ("common/model.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/optimizer.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/testkit/parts.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/testkit/replay.c", "solutions/05_fp16/mixed.c"): WALK,
    ("tools/bench/bench.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/05_fp16/probe.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/data/kit.txt", "solutions/05_fp16/mixed.c"): WALK,
    ("common/data/kit.txt", "solutions/02_kernels/adamw.cu"): TWIN,
    ("kernels/adamw.c", "solutions/02_kernels/adamw.cu"): TWIN,
    ("kernels/embedding.cu", "solutions/02_kernels/crossentropy.cu"): PACKS,
    ("kernels/embedding.cu", "solutions/02_kernels/layernorm.cu"): PACKS,
    ("kernels/matmul.cu", "solutions/02_kernels/layernorm.cu"): PACKS,
    ("kernels/residual.cu", "solutions/05_fp16/unscale.cu"): PACKS,
    ("kernels/scale.cu", "solutions/02_kernels/adamw.cu"): LISTS,
    ("kernels/scale.cu", "solutions/02_kernels/sumsq.cu"): LISTS,
    ("grader/labs/05_fp16/probe.c", "solutions/03_accumulate/accumulate.c"): "the windows in which an update is tried",
    ("grader/labs/05_fp16/probe.c", "solutions/02_kernels/crossentropy.cu"): "parameters of the op that it watches",
    ("grader/labs/05_fp16/probe.c", "solutions/05_fp16/scaler.c"): "a scaler is filled from the inputs and sent back, field by field",
    ("kernels/adam8.c", "solutions/02_kernels/adamw.cu"): TWIN,
    ("kernels/adam8.c", "solutions/07_optimizers/adam8.cu"): TWIN,
    ("kernels/adam8.c", "solutions/09_fusion/control.cu"): TWIN,
    ("kernels/adamw.c", "solutions/09_fusion/control.cu"): TWIN,
    ("kernels/axpby.cu", "solutions/02_kernels/adamw.cu"): PACKS,
    ("kernels/scale.cu", "solutions/09_fusion/control.cu"): LISTS,
    ("kernels/embedding.cu", "solutions/09_fusion/residual_norm.cu"): PACKS,
    ("kernels/gelu.cu", "solutions/09_fusion/residual_norm.cu"): PACKS,
    ("labs/02_kernels/layernorm.cu", "solutions/09_fusion/residual_norm.cu"): PARAMETERS,
    ("labs/.stubs/02_kernels/layernorm.cu", "solutions/09_fusion/residual_norm.cu"): PARAMETERS,
    ("kernels/flash.c", "solutions/07_optimizers/adam8.cu"): MAXIMUM,
    ("kernels/attention.c", "solutions/07_optimizers/adam8.cu"): MAXIMUM,
    ("cudasim/include/cublas_vector.h", "solutions/07_optimizers/adafactor.cu"): PRODUCTS,
    ("cudasim/include/cublas_vector.h", "solutions/10_lora/lora.c"): PRODUCTS,
    ("common/optimizer.c", "solutions/09_fusion/step_graph.c"): WALK,
    ("tools/bench/bench.c", "solutions/09_fusion/step_graph.c"): WALK,
    ("grader/labs/09_fusion/shared.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/09_fusion/shared.c", "solutions/11_data_parallel/ddp.c"): WALK,
    ("common/linear.c", "solutions/14_tensor/linear_tp.c"): "a linear layer that is whole",
    ("common/pass.c", "solutions/14_tensor/loss_tp.c"): "the embedding of a whole vocabulary",
    ("common/optimizer.c", "solutions/14_tensor/split.c"): WALK,
    ("common/model.c", "solutions/14_tensor/split.c"): WALK,
    ("common/model.c", "solutions/13_pipeline/tie.c"): WALK,
    ("train/fused.c", "solutions/13_pipeline/schedule.c"): "tokens and bytes of a number",
    ("train/fused.c", "solutions/14_tensor/bytes_tp.c"): "tokens and bytes of a number",
    ("kernels/vocab.cu", "solutions/02_kernels/crossentropy.cu"): PARAMETERS,
    ("grader/probe_ranks.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/twin.c", "solutions/07_optimizers/adam8.cu"): MAXIMUM,
    ("grader/labs/11_data_parallel/probe.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/12_zero/probe.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/14_tensor/probe.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/11_data_parallel/shared.c", "solutions/01_loop/loop.c"): "an update, as lab 01's page orders it",
    ("labs/12_zero/zero1.c", "solutions/05_fp16/mixed.c"): "one number from the device",
    ("labs/12_zero/zero1.c", "solutions/09_fusion/step_graph.c"): WALK,
    ("labs/14_tensor/loss_tp.c", "solutions/09_fusion/head.c"): PARAMETERS,
    ("labs/14_tensor/loss_tp.c", "solutions/11_data_parallel/ddp.c"): "bytes of a tensor",
    ("labs/.stubs/12_zero/zero1.c", "solutions/05_fp16/mixed.c"): "one number from the device",
    ("labs/.stubs/12_zero/zero1.c", "solutions/09_fusion/step_graph.c"): WALK,
    ("labs/.stubs/14_tensor/loss_tp.c", "solutions/09_fusion/head.c"): PARAMETERS,
    ("labs/.stubs/14_tensor/loss_tp.c", "solutions/11_data_parallel/ddp.c"): "bytes of a tensor",
    ("train/segments.c", "solutions/13_pipeline/schedule.c"): "bytes of blocks that run again",
    ("train/tensor.c", "solutions/06_fit/plan.c"): "bytes by kind",
    ("common/data/kit.txt", "solutions/07_optimizers/adam8.cu"): MAXIMUM,
    ("common/data/kit.txt", "solutions/07_optimizers/choose.c"): "a walk over a table",
    ("common/data/kit.txt", "solutions/09_fusion/control.cu"): TWIN,
    ("common/data/kit.txt", "solutions/09_fusion/step_graph.c"): WALK,
}


ALIKE = "Words that tell nothing of a solution are listed in its lab.json, as \"alike\": docs/lab_json.md"


def search_of(number, solutions):
    """For all solutions that are not theirs. What an earlier solution or a header has in the same words, they have."""
    search = leaks.Search()
    every = {path: source for path, source in leaving().items() if path.startswith("solutions/")}
    secret = {path: source for path, source in every.items() if not theirs(path, number, solutions)}
    for path, source in secret.items():
        search.keep_secret(path, solution(source), cut_out(source, "-DSTUB"))
    for path in every.keys() - secret.keys():
        search.keep_public(solution(every[path]))
    for path in leaks.headers():
        search.keep_public(read(path))
    return search


@functools.cache
def allowed():
    """Those above, and what a lab's own lab.json has as "alike"."""
    return ALLOWED.keys() | {(path, f"solutions/{lab}/{name}") for lab in all_labs() for name, paths in read_lab(lab).get("alike", {}).items() for path in paths}


def leaks_in(search, path, text, hints=MOST_HINTS):
    """[(a solution, what of it)] that a file is shipped with and nothing allows. A third hint shows a line or two."""
    if path.endswith("/hints.md") and hints == MOST_HINTS:
        return []
    return [leak for leak in search.leaks(text).items() if (path, leak[0]) not in allowed()]


def found_leaks(folder, number, solutions, hints):
    """Where something of a solution that is not theirs stands."""
    search, found = search_of(number, solutions), []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), folder)
            text = read(os.path.join(place, name))
            found += [f"{path} has a part of {secret}: {part}" for secret, part in leaks_in(search, path, text, hints)]
            if path.startswith(("labs/", "solutions/")) and re.search(r"^#.*\bSTUB\b", text, re.M):
                found.append(f"{path} has a marker of the stub")
    return found


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

KIT_PROBE = "probe_kit.c"   # what the kit does by itself, where a lab asks for as much


def judge_is_built(path):
    """A judge holds right versions of what its lab asks, and what each mistake makes of them: it is shipped as objects.
    Its checks, its probes and its headers are there to be read."""
    shared = ("grader/judge_peak.c", "train/show/planted.c", "train/show/pareto.c")   # tasks of labs 04, 03 and 06
    name = os.path.basename(path)
    to_read = name in ("probe.c", "protocol.c", "shared.c") or (name.startswith(("probe_", "part_")) and name != KIT_PROBE)
    return path in shared or (path.startswith(FOR_LABS) and path.endswith(".c") and not to_read)


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


def keep_bets(folder):
    """A student's bets are a part of the student's work, so git shall see them there."""
    lines = read(".gitignore").splitlines(keepends=True)
    write(folder, ".gitignore", "".join(line for line in lines if "my_bets" not in line).encode())


# ---- the whole --------------------------------------------------------------------------------------

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
    page = PAGE.format(title=f"Lab {options.lab}" if solutions else f"Labs {first[:2]} to {number}", lab=first, number=first[:2],
                       labs=table_of(labs, solutions), platforms=" and ".join(name.replace("-", " ") for name in platforms),
                       earlier=SOLVED if solutions else UNSOLVED, earlier_too=", the solutions of the labs before" if solutions else "",
                       tiers=("one", "two", "three")[options.hints - 1], rules="" if options.no_rules else RULED)
    write(folder, "README.md", page.encode())


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
        take_the_place(aside, out)
    except Stays as error:
        stop("handout", error)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    print(f"{out}: {count} files, and {out}.tar.gz")


if __name__ == "__main__":
    main()
