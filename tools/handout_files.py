"""What of the kit a student of a lab gets in a handout (tools/handout.py), and as what text."""
import os
import re
import subprocess

from lab_files import all_labs, files_of

# What students have no use for. Of tools/ and of the folders in grader/ what they get is listed, so that what comes to
# lie there later is not theirs. Of docs/ they do not get the chapter Teaching.
TEACHING = ("docs/instructors", "docs/exports", "docs/students_data", "docs/publishing", "docs/similar", "docs/outcomes", "docs/tracks",
            "docs/other_courses", "docs/cheating", "docs/mutant_ids", "docs/porting_hidden_checks", "docs/first_lab",
            "docs/lab_json", "docs/handing_out", "docs/grading_a_class", "docs/own_checks", "docs/teaching_a_term", "docs/terms", "docs/translating")
NOT_THEIRS = (".ci/", ".github/", "CONTRIBUTING.md", "SUPPORT.md", "common/fuzz/", "train/check/", "train/fuzz/", "cudasim/broken/", "labs/.stubs/", *TEACHING)
TOOLS = {"arguments.py", "bets.py", "book.py", "class_folder.py", "debug.py", "demo.sh", "ending.py", "export.py", "exports/__init__.py", "exports/formats.py",
         "exports/language.py", "exports/record.py", "foreign.py", "foreign_result.py", "from_hand_in.py", "hand_in_reader.py", "handin.py", "hint.py", "inner.sh", "lab_files.py", "labs.py",
         "labs_mk.py", "link.sh", "links.py", "making.py", "meter.py", "mpi_env.sh", "mpirun.sh", "needs.py", "overlap.py", "page_rows.py", "pareto.py", "picture.py", "release.py", "reset.sh", "say.py",
         "ring_picture.py", "setup.sh", "step.sh", "stub.sh", "table.py", "table_ranks.py", "traffic.py", "train.sbatch", "watch.py"}
FOR_LABS = "grader/labs/"
KIT_PROBE = "probe_kit.c"   # what the kit does by itself, where a lab asks for as much
MOST_HINTS = 3   # for a task: a question, where to look, the way to the line


def lab_of(path):
    """The lab that a file belongs to: "03" of labs/03_x/y, solutions/03_x/y, grader/labs/03_x/y; or "" of what serves all."""
    parts = path.split("/")
    if parts[0] in ("labs", "solutions") and len(parts) > 2:
        return parts[1][:2]
    return parts[2][:2] if path.startswith(FOR_LABS) and len(parts) > 3 else ""


def judge_is_built(path):
    """A judge holds right versions of what its lab asks, and what each mistake makes of them: it is shipped as objects.
    Its checks, its probes and its headers are there to be read."""
    shared = ("grader/judge_peak.c", "train/show/planted.c", "train/show/pareto.c")   # tasks of labs 04, 03 and 06
    name = os.path.basename(path)
    to_read = name in ("probe.c", "protocol.c", "shared.c") or (name.startswith(("probe_", "part_")) and name != KIT_PROBE)
    return path in shared or (path.startswith(FOR_LABS) and path.endswith(".c") and not to_read)


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
