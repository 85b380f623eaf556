#!/usr/bin/env python3
"""Names of the grader: no function is defined twice among judges and probes, statics included, and no header of grader/
has a function of more than three lines; no type's name has two meanings anywhere in the kit.

names.py [FOLDER]: the checkout. Prints each that is not so, and ends with 1.
"""
import glob
import re
import sys

JUDGES = ("grader/labs/*/*.[ch]", "grader/labs/*/*/*.[ch]", "grader/judge_*.[ch]", "grader/probe*.[ch]", "labs/*/tests.c",
          *(f"grader/{name}.[ch]" for name in ("windows", "quiz", "shape", "param_name")))
HEADERS = ("grader/*.h", "grader/labs/*/*.h", "grader/labs/*/*/*.h")
# Every source but programs that stand alone, and CUDA's own headers.
SOURCES = ("kernels", "common", "train", "cudasim", "grader", "solutions", "tools", "labs/*/contract.h", "labs/*/tests.c")
ALONE = re.compile(r".*(grader/(attacks|proof/example)|cudasim/(broken|tests|lint|include))/")
ONE_TYPE = {"Real"}  # the storage type, for C and for CUDA
# What a probe links in place of the kit's: more than one does.
IN_PLACE_OF_THE_KITS = {"todo_reached", "lab_missing"}
TYPE = re.compile(r"^typedef (?:struct|enum|union)\b[^;{]*\{[^}]*(?:\{[^}]*\}[^}]*)*\}\s*(\w+)|^(?:struct|enum|union) (\w+) \{", re.M)
MOST_LINES = 3  # of a function in a header
# At the first column: a type, the name, its parameters, and the body's brace.
DEFINITION = re.compile(r"^(?!typedef|struct|enum|union|#)[A-Za-z_][\w ]*?[ *]+(\w+)\(([^;{}]*)\)\s*\{", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\])*"')


def code(path):
    """The file without comments and strings; lines stay where they are."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return COMMENT.sub(blank, STRING.sub(lambda match: '"' + " " * (len(match.group()) - 2) + '"', text))


def definitions(path):
    """Name and line of each function that a file defines."""
    text = code(path)
    for match in DEFINITION.finditer(text):
        if match.group(1) != "main" and "(" not in match.group(0)[:match.start(1) - match.start()]:
            yield match.group(1), text.count("\n", 0, match.start(1)) + 1


def long_functions(path):
    """Name, line and lines of each function in a header that should be in a .c file."""
    text = code(path)
    for match in re.finditer(r"^static inline [^;{}]*?(\w+)\([^;{}]*\)\s*\{\n(.*?)^\}", text, re.M | re.S):
        lines = match.group(2).count("\n")
        if lines > MOST_LINES:
            yield match.group(1), text.count("\n", 0, match.start(1)) + 1, lines


def types(folder):
    """Each type's name, and the files that define it."""
    homes = {}
    for pattern in SOURCES:
        found = glob.glob(f"{folder}/{pattern}/**/*", recursive=True) + glob.glob(f"{folder}/{pattern}")
        for path in sorted(path for path in found if path.endswith((".c", ".h", ".cu", ".cuh")) and not ALONE.match(path)):
            for match in TYPE.finditer(code(path)):
                homes.setdefault(match[1] or match[2], set()).add(path[len(folder) + 1:])
    return homes


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    places = {}
    for pattern in JUDGES:
        for path in sorted(glob.glob(f"{folder}/{pattern}")):
            if not path.endswith("_test.c"):
                for name, line in definitions(path):
                    places.setdefault(name, []).append(f"{path[len(folder) + 1:]}:{line}")
    twice = {name: where for name, where in places.items() if len(where) > 1 and name not in IN_PLACE_OF_THE_KITS}
    for name, where in sorted(twice.items()):
        print(f"{name}() is defined twice: {', '.join(where)}")
    shared = {name: where for name, where in types(folder).items() if len(where) > 1 and name not in ONE_TYPE}
    for name, where in sorted(shared.items()):
        print(f"{name} is a type in {' and '.join(sorted(where))}")
    long = [(path, *found) for pattern in HEADERS for path in sorted(glob.glob(f"{folder}/{pattern}"))
            for found in long_functions(path)]
    for path, name, line, lines in long:
        print(f"{path[len(folder) + 1:]}:{line}: {name}() has {lines} lines: a header has at most {MOST_LINES}")
    if not twice and not long and not shared:
        print(f"names: good ({len(places)} functions of judges and probes)")
    return 1 if twice or long or shared else 0


if __name__ == "__main__":
    sys.exit(main())
