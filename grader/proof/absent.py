#!/usr/bin/env python3
"""No program that a hand-in is linked into holds what its lab asks for: absent.py [--show].

Each is linked with a hand-in that uses everything it may: whatever function of the kit is on the lab's list "uses",
where each stands by its own name, or in the lists of grader/free_symbols.c.
What `nm` then shows must not match "absent" of lab.json, where a name or pattern stands for the program `probe`, and
"formulas: name" for probe_formulas. Every pattern must match something of the kit, or it protects from nothing.
--show prints what is in each program.
"""
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import lab_files


def defined(*paths, kinds="TtWwDdBbRrVv"):
    """The names that objects, archives or programs define, those of one file only too."""
    done = subprocess.run(["nm", "-P", "--defined-only", *paths], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[0].split(".")[0] for words in lines if len(words) > 2 and words[1] in kinds}


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def holes_in(lab, program):
    """The holes that are linked into a program: those that name it, or else those that name none."""
    return [hole for hole in lab["holes"] if program == f"probe_{hole.get('probe')}"] or \
        [hole for hole in lab["holes"] if "probe" not in hole]


def free():
    """What a hand-in of any lab may use, in a `.cu` too, but for what compilers call."""
    with open("grader/free_symbols.c", encoding="ascii") as file:
        return re.findall(r'"([A-Za-z]\w+)"', file.read())


def greedy(lab, program, names):
    """The source of a hand-in that defines what it must, and takes the address of all these names."""
    suffixes = {True: ("_f32", "_f16", "_bf16"), False: ("",)}
    there = holes_in(lab, program)
    holes = [name + suffix for hole in there for name in hole["functions"] for suffix in suffixes[bool(hole.get("precisions"))]]
    uses = free() + [use for hole in there for use in hole.get("uses", lab.get("uses", []))]
    wanted = sorted(name for name in names if name not in holes and any(fnmatch.fnmatchcase(name, use) for use in uses))
    lines = [f"extern char {name}[];" for name in wanted]
    lines += ["char *const *greedy_all(void);", "char *const *greedy_all(void) {", "static char *const all[] = {"]
    lines += [f"{name}," for name in wanted] + ["0};", "return all; }"]
    return "\n".join(lines + [f"char *const *{hole}(void) {{ return greedy_all(); }}" for hole in holes]) + "\n"


def recipe_of(name):
    return read_json(f"{'build/access' if lab_files.has_cuda(name) else 'build'}/grade/{name}.json")


def offered_by(name):
    """The functions of what a hand-in is linked with."""
    return defined(*(path for path in recipe_of(name)["linked"] if path.endswith((".a", ".o"))), kinds="TW")


def programs(name, offered, folder):
    """(program, its names) of a lab, linked with the greedy hand-in."""
    recipe, lab = recipe_of(name), read_json(lab_files.path_of(name, "lab.json"))
    source, objects, out = (f"{folder}/{name}{end}" for end in (".c", ".o", ""))
    for program, command in recipe["link"].items():
        with open(source, "w", encoding="ascii") as file:
            file.write(greedy(lab, program, offered))
        subprocess.run(["gcc", "-w", "-fPIC", "-ffunction-sections", "-fdata-sections", "-c", source, "-o", objects], check=True)
        command = command.replace("{objects}", objects).replace("{out}", out)
        subprocess.run(["sh", "-c", command], check=True)
        yield program, defined(out)


def kit():
    """All names that anything of the kit defines."""
    folders = [f"{build}/{kind}" for build in ("build", "build/access") for kind in ("obj", "gpu")]
    return defined(*(path for folder in folders for path in glob.glob(f"{folder}/**/*.o", recursive=True)))


def faults(name, found, offered, known):
    lab = read_json(lab_files.path_of(name, "lab.json"))
    absent = lab.get("absent", [])
    for use in {use for hole in lab["holes"] for use in hole.get("uses", lab.get("uses", []))}:
        allowed = [there for there in fnmatch.filter(offered, use) if not there.startswith("_")] if "*" in use else []
        if allowed:
            yield f"{name}: the pattern {use} of \"uses\" lets {' '.join(sorted(allowed))} through: name them one by one"
    if not absent:
        yield f"{name}: its lab.json has no list \"absent\""
    for entry in absent:
        which, _, pattern = entry.rpartition(": ")
        program = f"probe_{which}" if which else "probe"
        if program not in found:
            yield f"{name}: there is no program {program}, as \"{entry}\" says"
            continue
        if not fnmatch.filter(known, pattern):
            yield f"{name}: nothing is called {pattern}"
        for there in sorted(fnmatch.filter(found[program], pattern)):
            yield f"{name}: {there} is in {program}"


def main():
    known, wrong, count = kit(), [], 0
    with tempfile.TemporaryDirectory(prefix="absent-") as folder:
        for name in lab_files.all_labs("tests.c"):
            offered = offered_by(name)
            found = dict(programs(name, offered, folder))
            count += len(found)
            if "--show" in sys.argv:
                for program, names in found.items():
                    print(name, program, *sorted(names & known))
            wrong += faults(name, found, offered, known)
    print("\n".join(wrong) or f"absent: {count} programs hold no answer")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
