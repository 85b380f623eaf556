#!/usr/bin/env python3
"""Which files may leave the house: those of the kit that git tracks, and the packages that LABS= names. Nothing else.

A class is graded beside the kit, so its secret, its records and its hand-ins may lie anywhere in here. Handouts and packs
are therefore made of a list. A copy without git has the list in MANIFEST, which `make manifest` wrote in a checkout.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

from lab_files import OWN, all_labs, files_of, root_of

LIST = "MANIFEST"
FILES = ("Makefile", "README.md", "course.json", "CONTRIBUTING.md", "SUPPORT.md", "LICENSE", "VERSION", "Dockerfile", ".clang-format", ".dockerignore",
         ".editorconfig", ".gitattributes", ".gitignore")
FOLDERS = (".ci", ".devcontainer", ".github", "common", "cudasim", "docs", "grader", "kernels", "labs", "languages", "machines", "solutions", "tools", "train")
OF_A_LAB = ("labs", "solutions", "grader/labs")
LEFT_THERE = re.compile(r"my_bets\d\d\.json|.*\.kept-\d+")   # by trying a lab: make betNN, make resetNN
PACKED = re.compile(r"\d\d-.+\.(tar\.gz|tgz|zip)")   # as `make handinNN` calls it
OF_A_CLASS = "is of a graded class"
HANDED_IN = "is a student's hand-in"


class Stays(Exception):
    """Why nothing leaves: one line, for exit status 2."""


def stop(tool, error):
    print(f"{tool}: nothing is made: {error}", file=sys.stderr)
    sys.exit(2)


def tracked():
    """What git knows of this folder, or else what MANIFEST says."""
    done = subprocess.run(["git", "ls-files", "-z", "--cached"], capture_output=True, text=True, check=False)
    names = [name for name in done.stdout.split("\0") if name] if done.returncode == 0 else []
    if "Makefile" in names:
        return names
    try:
        with open(LIST, encoding="utf-8") as file:
            return file.read().splitlines()
    except OSError:
        why = (done.stderr.strip().splitlines() or ["git does not track the kit here"])[0]
        raise Stays(f"which files are the kit's? There is no {LIST}, and {why}. `make manifest` in a checkout writes one") from None


def holes():
    """{file that students write: the labs in which they do}"""
    found = {}
    for lab in all_labs():
        for name in files_of(lab):
            found.setdefault(name, []).append(lab)
    return found


def is_of_the_kit(folders, labs):
    """Whether the kit has a file that is called as one of `labs` in that place: the stub, the solution, or another of its name."""
    top, *inside = folders or [""]
    return inside in [[lab] for lab in labs] if top in ("labs", "solutions") else top in FOLDERS


def reason_to_stay(path, known):
    """What a file is that must not leave, by its place: of a class, or of a student; or "". `known`: holes()"""
    *folders, name = path.split("/")
    if name == "secret" or "records" in folders:
        return OF_A_CLASS
    return HANDED_IN if PACKED.fullmatch(name) or (name in known and not is_of_the_kit(folders, known[name])) else ""


def check(files):
    """Of {path in the kit: where it is} each may leave."""
    known = holes()
    for path, source in files.items():
        reason = reason_to_stay(path, known)
        if reason:
            raise Stays(f"{source} {reason}: take it out of the kit first")
        if os.path.islink(source):
            raise Stays(f"{source} is a link: what it points to is not the kit's")
    return files


def kit_files():
    """The kit's own files that are there."""
    names = tracked()
    check({name: name for name in names})
    return [name for name in names if os.path.isfile(name) and (name in FILES or name.split("/")[0] in FOLDERS)]


def package_files():
    """{path as it would be in the kit: where it is} of all labs in the folder that LABS= names."""
    folders = [f"{OWN}/{kind}/{lab}" for lab in all_labs() if root_of(lab) != "." for kind in OF_A_LAB]
    return check({os.path.relpath(path, OWN): path for folder in folders for path in glob.glob(f"{folder}/**", recursive=True)
                  if os.path.isfile(path) and not LEFT_THERE.fullmatch(os.path.basename(path))})


def leaving():
    """{path: where it is} of all that may leave."""
    return {**{path: path for path in kit_files()}, **package_files()}


def check_labs(labs, files):
    """Make finds a lab and the sources of its judge by looking: what it would build and git does not know stays too."""
    for lab in labs:
        for path in [f"labs/{lab}/lab.json", *glob.glob(f"grader/labs/{lab}/*.c")]:
            if path not in files and not path.endswith("_test.c"):
                raise Stays(f"{path} is not tracked: `git add` it, or take it away")


def main():
    """Writes the list, for a copy that is not a checkout."""
    argparse.ArgumentParser(description=main.__doc__).parse_args()
    try:
        names = kit_files()
    except Stays as error:
        stop("manifest", error)
    with open(LIST, "w", encoding="utf-8") as file:
        file.write("".join(f"{name}\n" for name in sorted(names)))
    print(f"{LIST}: {len(names)} files")


if __name__ == "__main__":
    main()
