#!/usr/bin/env python3
"""Arrows by call, as tools/check_includes.awk checks them by include: no object uses what a room above it defines.

    tools/check_calls.py BUILD      the build's folder, with the objects of `make all` in it
"""
import os
import subprocess
import sys

# A room may call itself, CUDA's runtime, which is cudasim here, and these. The GPU's table of ops names ops that labs write, so it is a room of its own.
MAY_CALL = {
    "cudasim": {"kernels"},
    "kernels": {"cudasim"},
    "common": {"kernels"},
    "table": {"kernels", "labs"},
    "testkit": {"common", "kernels", "table"},
    "labs": {"common", "kernels", "labs"},
    "train": {"labs", "common", "kernels", "table"},
    "grader": {"testkit", "labs", "common", "kernels", "table"},
}


def room(source):
    if source.endswith("_test.c") or source == "kernels/ops_gpu.c":
        return "table" if source.endswith("ops_gpu.c") else None
    if source.startswith("labs/") and source.endswith("/tests.c"):
        return "grader"
    if source.startswith("common/testkit/"):
        return "testkit"
    top = source.split("/", maxsplit=1)[0]
    return "labs" if top in ("labs", "solutions") else top if top in MAY_CALL else None


def objects(build):
    """(room, path) of each object whose source is still there."""
    for kind in ("obj", "gpu", "lab"):
        for place, _, names in os.walk(f"{build}/{kind}"):
            for name in names:
                path = os.path.join(place, name)
                stem = os.path.relpath(path, f"{build}/{kind}").split(".")[0]
                source = next((stem + end for end in (".c", ".cu") if os.path.isfile(stem + end)), None)
                if name.endswith(".o") and source and room(source):
                    yield room(source), path


def symbols(paths):
    """(path, kind, name) of the global symbols."""
    listed = subprocess.run(["nm", "-A", "-g", "--no-demangle", *paths], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        path, rest = line.split(":", maxsplit=1)
        *_, kind, name = rest.split()
        yield path, kind, name


def main():
    rooms = {path: where for where, path in objects(sys.argv[1])}
    if not {"kernels", "common", "train", "labs"} <= set(rooms.values()):
        sys.exit(f"calls: {sys.argv[1]} has no objects to look at: make all")
    listed = list(symbols(list(rooms)))
    homes = {}
    for path, kind, name in listed:
        if kind in "TDBRC":
            homes.setdefault(name, set()).add(rooms[path])
    wrong = [(path, name) for path, kind, name in listed if kind in "Uvw" and name in homes
             and not homes[name] & (MAY_CALL[rooms[path]] | {rooms[path], "cudasim"})]
    for path, name in wrong:
        print(f"{path}: {rooms[path]} must not use {name} of {', '.join(sorted(homes[name]))}")
    if wrong:
        sys.exit(1)
    print("calls: good")


if __name__ == "__main__":
    main()
