#!/usr/bin/env python3
"""Makes the repositories of a term: `make course-repo COURSE=2027s LAB=03 OUT=folder [SOLUTIONS=none] [HINTS=2]`.

OUT/staff is the kit as this term has it, with solutions; OUT/students is what `make handout` cuts from that for LAB. Each is
a git repository of one commit, without history. The term's name, which course.json of both keeps, draws what the labs ask
otherwise than in another term (tools/term_values.py, docs/terms.md). Both are made aside, and come to stand in OUT together.
"""
import json
import os
import shutil
import subprocess
import sys

import term_values
from arguments import Parser
from handout_files import cut_out
from kit_files import Stays, leaving, stop
from lab_files import all_labs, files_of
from making import apart

# Words of `make course-repo`, which mean other things to the make below it.
OURS = ("COURSE", "LAB", "OUT", "SOLUTIONS", "HINTS", "BUILT", "STUDENTS")


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_term(folder, term):
    """The lines in which the labs of a term differ, and stubs that are cut from its solutions."""
    for lab in term_values.labs_with_terms():
        for path, text in term_values.rewritten(lab, term).items():
            write(os.path.join(folder, path), text)
    for lab in all_labs():
        for name in files_of(lab):
            solution = os.path.join(folder, "solutions", lab, name)
            write(os.path.join(folder, "labs", lab, name), cut_out(solution, "-DSTUB"))


def settings_here():
    """What course.json of the kit says already: the language."""
    try:
        with open(term_values.COURSE_FILE, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def write_staff(folder, term):
    for path, source in leaving().items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)) or folder, exist_ok=True)
        shutil.copy2(source, os.path.join(folder, path))
    write_term(folder, term)
    write(os.path.join(folder, term_values.COURSE_FILE), json.dumps(settings_here() | {"term": term}, indent=2) + "\n")


def commit(folder, message):
    """One commit, of nobody in particular: what comes before it is not in here."""
    git = ["git", "-C", folder, "-c", "user.name=course", "-c", "user.email=course@localhost", "-c", "commit.gpgsign=false"]
    for command in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"], ["commit", "--quiet", "--message", message]):
        subprocess.run([*git, *command], check=True)


def write_students(folder, staff, options):
    """What `make handout` makes of the staff's repository."""
    command = ["make", "--no-print-directory", "-s", "-C", staff, "handout", f"LAB={options.lab}", f"OUT={folder}"]
    command += ["SOLUTIONS=none"] if options.no_solutions else []
    command += [f"HINTS={options.hints}"] if options.hints else []
    command += [f"BUILT={os.path.abspath(options.built)}"] if options.built else []
    done = subprocess.run(command, check=False, env=apart(*OURS), stdout=subprocess.DEVNULL)
    if done.returncode:
        raise Stays("the handout was not made")
    os.unlink(f"{folder}.tar.gz")


def make(aside, options):
    staff, students = os.path.join(aside, "staff"), os.path.join(aside, "students")
    write_staff(staff, options.term)
    commit(staff, f"{options.term}: the kit, with solutions")
    if not options.staff_only:
        write_students(students, staff, options)
        commit(students, f"{options.term}: {options.lab}")
        shutil.rmtree(os.path.join(staff, "build"), ignore_errors=True)   # it knows the folder in which it was made


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--term", required=True, help="its name, as 2027s")
    parser.add_argument("--lab", required=True, help="up to which students get labs")
    parser.add_argument("--out", required=True, help="folder that is not there yet")
    parser.add_argument("--no-solutions", action="store_true", help="not even of the labs before")
    parser.add_argument("--hints", help="of each task")
    parser.add_argument("--built", help="folder with judges that are built for other platforms")
    parser.add_argument("--staff-only", action="store_true", help="none for students: their judges take minutes to build")
    options = parser.parse_args()
    out = os.path.abspath(options.out)
    aside = out + ".new"
    try:
        term_values.check_name(options.term)
        if term_values.term_here():
            raise Stays(f"this is the repository of {term_values.term_here()} already: terms are made in the kit")
        if os.path.exists(out):
            raise Stays(f"{options.out} exists: a repository that students have cloned is not made anew")
        shutil.rmtree(aside, ignore_errors=True)
        make(aside, options)
        os.rename(aside, out)
    except (Stays, term_values.Wrong) as error:
        stop("course-repo", error)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    print(f"{options.out}: staff, with solutions{'' if options.staff_only else ', and students'}; {options.term} has")
    sys.stdout.flush()
    term_values.show(options.term)


if __name__ == "__main__":
    main()
