#!/usr/bin/env python3
"""Tells make which labs there are, from their lab.json: no list of labs stands anywhere else.

    tools/labs_mk.py OUT [ROOT]

Writes a fragment for make into OUT, and into OUT/absent a source for each hole: what stands in for the file in a program that is
built without it. ROOT/labs has more labs, beside those of the kit.
"""
import glob
import json
import os
import sys

STAND_IN = """/* Stands in for {file}, which is not here: made from the lab's lab.json by tools/labs_mk.py. */
#include "train/absent.h"

LAB_ABSENT("{number}", "{file}", "{options}")
{functions}
"""
PRECISIONS = ("_f32", "_f16", "_bf16")


def write(path, text):
    """Only if it changes something: what is made from it stays as it is."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except OSError:
        pass
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read_labs(roots):
    """{name: (root, what its lab.json says)}, in the order of their numbers."""
    labs = {}
    for root in roots:
        for path in glob.glob(f"{root}labs/[0-9]*_*/lab.json"):
            name = path.split("/")[-2]
            if name in labs:
                sys.exit(f"labs: {name} is in {labs[name][0] or 'the kit'} and in {root}")
            with open(path, encoding="utf-8") as file:
                try:
                    labs[name] = root, json.load(file)
                except ValueError as error:
                    sys.exit(f"{path}: {error}")
    return dict(sorted(labs.items()))


def stand_in(name, lab, hole):
    functions = [function + suffix for function in hole["functions"] for suffix in (PRECISIONS if hole.get("precisions") else ("",))]
    return STAND_IN.format(number=name.split("_")[0], file=f"{name}/{hole['file']}", options=" ".join(lab.get("train", [])),
                           functions="\n".join(f"LAB_STAND_IN({function})" for function in functions))


def fragment(labs):
    every = [(f"{name}/{hole['file']}", hole) for name, (_, lab) in labs.items() for hole in lab["holes"]]
    holes = [(path, hole) for path, hole in every if "probe" not in hole]
    lines = ["# Made by tools/labs_mk.py from labs/*/lab.json.",
             f"LAB_NAMES := {' '.join(labs)}",
             f"HOLES := {' '.join(path for path, _ in holes)}",
             f"PRECISE := {' '.join(path for path, hole in holes if hole.get('precisions'))}",
             f"KNOWN := {' '.join(path for path, _ in holes if not labs[path.split('/')[0]][0])}",
             f"APART := {' '.join(path for path, hole in every if 'probe' in hole)}"]
    for name, (root, lab) in labs.items():
        lines += [f"ROOT_{name} := {root}"] if root else []
        probes = sorted({hole["probe"] for hole in lab["holes"] if "probe" in hole})
        lines += [f"PROBES_{name} := {' '.join(probes)}"] if probes else []
        lines += [f"CHECKS_{name} := {' '.join(lab['points'])}"] if "points" in lab else []
        lines += [f"RUN_{name} := {lab['run']} --max_steps 20 --logging_steps 5"] if "run" in lab else []
    return "\n".join(lines) + "\n"


def main():
    out, *roots = sys.argv[1:]
    labs = read_labs([""] + roots)
    for name, (_, lab) in labs.items():
        for hole in lab["holes"]:
            write(f"{out}/absent/{name}/{os.path.splitext(hole['file'])[0]}.c", stand_in(name, lab, hole))
    write(f"{out}/labs.mk", fragment(labs))
    os.utime(f"{out}/labs.mk")


if __name__ == "__main__":
    main()
