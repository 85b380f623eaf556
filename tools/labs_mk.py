#!/usr/bin/env python3
"""Tells make which labs there are, from their lab.json: no list of labs stands anywhere else.

    tools/labs_mk.py OUT [ROOT]

Writes a fragment for make into OUT, and into OUT/absent a source for each hole: what stands in for the file in a program that is
built without it. LABS= has more labs, beside those of the kit; ROOT leads to that folder by a path without a space. Where they
cannot be taken, the fragment says why: WRONG_LABS.
"""
import glob
import json
import os
import sys

from lab_files import OWN, all_labs, labs_in, read_lab, root_of, wrong_folder, wrong_json

SCHEMA = "grader/schemas/lab.json"

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


def wrong_keys(path):
    """What in a lab.json is not as its schema says, as a line; or None."""
    try:
        import jsonschema   # pylint: disable=import-outside-toplevel # only labs of LABS= are looked at here
    except ImportError:
        return "python3-jsonschema is not installed: make setup"
    with open(SCHEMA, encoding="utf-8") as file:
        checker = jsonschema.Draft202012Validator(json.load(file))
    with open(path, encoding="utf-8") as file:
        error = jsonschema.exceptions.best_match(checker.iter_errors(json.load(file)))
    where = error and error.json_path.removeprefix("$").removeprefix(".")
    return error and f"{where + ': ' * bool(where)}{error.message}".replace("\n", " ")


def wrong():
    """What keeps the labs of LABS= from being taken, as a line; or None."""
    if not OWN:
        return None
    why = wrong_folder(OWN)
    for lab in () if why else labs_in(OWN):
        keys = wrong_keys(f"{OWN}/labs/{lab}/lab.json")
        why = why or (keys and f"labs/{lab}/lab.json: {keys}")
    return why and f"LABS={OWN}: {why}"


def damaged():
    """Which lab.json of the kit cannot be read, as a line; or None."""
    found = ((path, wrong_json(path)) for path in sorted(glob.glob("labs/*/lab.json")))
    return next((f"{path}: {why}" for path, why in found if why), None)


def read_labs(root):
    """{name: (where make finds it, what its lab.json says)}, in the order of their numbers."""
    return {name: ("" if root_of(name) == "." else root, read_lab(name)) for name in all_labs()}


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
             f"GPU_ONLY := {' '.join(name for name, (_, lab) in labs.items() if lab.get('device') == 'gpu')}",
             f"APART := {' '.join(path for path, hole in every if 'probe' in hole)}"]
    for name, (root, lab) in labs.items():
        lines += [f"ROOT_{name} := {root}"] if root else []
        probes = sorted({hole["probe"] for hole in lab["holes"] if "probe" in hole})
        lines += [f"PROBES_{name} := {' '.join(probes)}"] if probes else []
        lines += [f"CHECKS_{name} := {' '.join(lab['points'])}"] if "points" in lab else []
        lines += [f"RUN_{name} := {lab['run']} --max_steps 20 --logging_steps 5"] if "run" in lab else []
    return "\n".join(lines) + "\n"


def for_make(text):
    return text.replace("#", "\\#").replace("$", "$$")


def main():
    out, *roots = sys.argv[1:]
    why = damaged() or wrong()
    labs = {} if why else read_labs(*roots or [""])
    for name, (_, lab) in labs.items():
        for hole in lab["holes"]:
            write(f"{out}/absent/{name}/{os.path.splitext(hole['file'])[0]}.c", stand_in(name, lab, hole))
    write(f"{out}/labs.mk", f"WRONG_LABS := {for_make(why)}\n" if why else fragment(labs))
    os.utime(f"{out}/labs.mk")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:   # a disk that is full, a folder that is another's
        sys.exit(f"{error.filename}: {error.strerror}")
