#!/usr/bin/env python3
"""Removes one student from a folder that a class was graded into: `make forget STUDENT=name OUT=folder`.

    tools/forget.py NAME OUT [--in IN] [--also FOLDER]...

Removed are the records, old ones too, pages and feedback; the entries of hand_ins.json and of summaries; the cache of compiled
files; and each table or report that names the student, which its command makes again without. --in also removes the hand-in;
--also searches another folder, such as that of a similarity report. Exit status 1: something that names the student is left
and is listed; 2: nobody is called so, and nothing is removed.
"""
import glob
import html
import json
import os
import re
import shutil
import sys
import urllib.parse
import zipfile

import course
import hand_ins
from arguments import Parser
from class_folder import Stopped, Unusable, file_name, lock, write_whole
from exports import layout
from exports.record import clean, one_line, told

CACHE, GRADES = "build/cache", "build/grades"
KEPT = ("secret", ".lock", ".work")
YOURS = ("course.json", "roster.csv", "policy.json")   # the instructor's own, however often they name the student
TERM = ("term.csv", "term.html")   # of `make term`, beside OUT
SOURCES = ("hand_ins.json", "summary.json", "settings.json")   # not made of the records alone: only the student's part goes
CANNOT = """Not here, so not removed:
  backups and snapshots of these folders, and what was copied from them
  what was handed in, graded and sent through an LMS, by mail or at Gradescope: their own settings delete it
  grades in other folders: one for each lab (OUT=), and the roster and the extensions of policy.json, which are yours to edit
  temporary folders grade-all-* of a grader that was killed: the next run removes its own"""


def pattern_of(name):
    """The name as a word, in each way in which a file may have it: as it is, as tables show it, as files are called by it."""
    bases = {name, clean(name), one_line(name)}
    bases |= {file_name(base) for base in bases} | {file_name(file_name(base)) for base in bases}
    ways = {way for base in bases for way in (base, html.escape(base), urllib.parse.quote(base, errors="surrogateescape"), json.dumps(base)[1:-1],
                                              json.dumps(base, ensure_ascii=False)[1:-1])}
    return re.compile(b"|".join(rb"(?<![\w-])" + re.escape(way.encode(errors="surrogateescape")) + rb"(?![\w-])" for way in sorted(ways)))


def names_it(pattern, path):
    """Whether a file has the name, in its own name or in its text; of a zip file also in what is packed."""
    if pattern.search(os.fsencode(os.path.basename(path))):
        return True
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return any(pattern.search(entry.encode()) or pattern.search(archive.read(entry)) for entry in archive.namelist())
    with open(path, "rb") as file:
        return pattern.search(file.read()) is not None


def files_in(folder):
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(place, name) for name in sorted(names))


def naming(pattern, folders):
    """The files of these folders that name the student, but for the grader's own notes."""
    return [path for folder in folders for path in files_in(folder)
            if not os.path.basename(path).startswith(KEPT) and not os.path.islink(path) and os.path.isfile(path) and names_it(pattern, path)]


def is_yours(path, out):
    """Whether a file is a setting of the course, by its name or as course.json has it."""
    told = course.load(out)
    return os.path.basename(path) in YOURS or any(os.path.exists(told.get(key, "")) and os.path.samefile(path, told[key]) for key in ("roster", "policy"))


def tables_of_the_term(pattern, out):
    """Those that name the student."""
    paths = [os.path.normpath(os.path.join(out, os.pardir, name)) for name in TERM]
    return [path for path in paths if os.path.isfile(path) and names_it(pattern, path)]


# ---- what is the student's alone ----------------------------------------------------------------------

def own(name, out):
    """Files and folders that have nothing of others in them."""
    plain = file_name(name)
    places = [os.path.join(out, "records", plain + ".json"), os.path.join(out, "records", "old", plain),
              os.path.join(out, "report", f"student-{file_name(plain)}.html"), os.path.join(out, "feedback", file_name(one_line(name)) + ".zip")]
    return [place for place in places if os.path.lexists(place)]


def handed_in(name, folder, out):
    """Files and folders of IN that are the student's hand-ins."""
    records, _ = layout.some(layout.paths_of(out))
    number = records[0]["lab"].split("_")[0] if records else ""
    try:
        found = hand_ins.find(folder, number).get(name, [])
    except hand_ins.Unclear as error:
        raise Stopped(str(error)) from None
    return [path for each in found for path in ([each.path] if each.path else [path for _, path in each.files])]


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
    print(f"removed  {hand_ins.shown(path)}")


# ---- what others are in as well -----------------------------------------------------------------------

def without(value, name):
    """A value from JSON without what belongs to the student."""
    if isinstance(value, dict):
        return {key: without(each, name) for key, each in value.items() if key != name}
    if isinstance(value, list):
        return [without(each, name) for each in value if each != name and not (isinstance(each, dict) and each.get("name") == name)]
    return value


def cut_sources(name, out):
    for source in SOURCES:
        path = os.path.join(out, source)
        if not os.path.exists(path):
            continue
        try:
            with open(path, encoding="utf-8") as file:
                value = json.load(file)
        except (ValueError, RecursionError):
            raise Stopped(f"{path}: this is not JSON: mend or remove it, then start again") from None
        rest = without(value, name)
        if rest != value:
            write_whole(path, (json.dumps(rest, indent=2, ensure_ascii=True) + "\n").encode())
            print(f"cut out  {path}")


def is_of_another(path, out):
    """A record of another student is never removed for a word in it."""
    return os.path.abspath(path).startswith(os.path.join(os.path.abspath(out), "records") + os.sep)


def forget(options):
    """Lines about what is left."""
    name, out = options.name, options.out
    course.load(out)   # it must be readable before anything is removed
    searched = [out, *options.also]
    known = name.strip(".") and (own(name, out) or any(entry["name"] == name for entry in layout.hand_ins(out)) or naming(pattern_of(name), searched))
    if not known:
        print(f"forget: {out}: nothing in it is called {name!r}", file=sys.stderr)
        sys.exit(2)
    pattern, taken = pattern_of(name), handed_in(name, options.folder, out) if options.folder else []
    for path in own(name, out):
        remove(path)
    cut_sources(name, out)
    for path in naming(pattern, [*searched, *([GRADES] if os.path.isdir(GRADES) else [])]) + tables_of_the_term(pattern, out):
        if os.path.exists(path) and not is_of_another(path, out) and os.path.basename(path) not in SOURCES and not is_yours(path, out):
            remove(path)
    for path in glob.glob(f"{CACHE}/*"):
        (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)
    print(f"emptied  {CACHE}: compiled files, which do not say whose they are")
    for path in taken:
        remove(path)
    left = [f"{hand_ins.shown(path)}: names {hand_ins.shown(name)}" for path in naming(pattern, searched)]
    if options.folder:
        left += [f"{hand_ins.shown(os.path.join(options.folder, entry))}: is called so" for entry in sorted(os.listdir(options.folder)) if pattern.search(os.fsencode(entry))]
    else:
        print("The hand-in itself stays: the next `make grade-all` would grade it again. IN=folder removes it too.")
    print("Tables and reports that were removed: `make report`, `make late`, `make columns`, `make feedback`, `make term` write them again.")
    print(CANNOT)
    return left


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("name", help="of the student, as in the records")
    parser.add_argument("out", help="the folder that the class was graded into")
    parser.add_argument("--in", dest="folder", help="the folder of the hand-ins: remove this student's there")
    parser.add_argument("--also", action="append", default=[], help="another folder to search: reports, tables")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="replace")
    for folder in [options.out, *options.also, *([options.folder] if options.folder else [])]:
        if not os.path.isdir(folder):
            print(f"forget: {folder}: there is no such folder", file=sys.stderr)
            sys.exit(2)
    try:
        with lock(options.out, None):
            left = forget(options)
    except Unusable as error:
        print(f"forget: {error}", file=sys.stderr)
        sys.exit(2)
    except (layout.BadRecord, Stopped, OSError) as error:
        sys.exit(f"forget: {told(error)}")
    for line in left:
        print(f"forget: left: {line}", file=sys.stderr)
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
