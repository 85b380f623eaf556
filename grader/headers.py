#!/usr/bin/env python3
"""Copies the headers that a hand-in may include into a folder, which is all that its compiler sees: headers.py OUT [ROOT]

They are those of kernels, common, cudasim and the labs' contracts, of ROOT/labs too. OUT/.sum is a checksum of them all.
"""
import glob
import hashlib
import os
import sys

PATTERNS = ("kernels/*.h", "kernels/*.cuh", "common/*.h", "labs/*/contract.h", "cudasim/include/**")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def write(path, data):
    """Whole or not at all, and only if it changes something."""
    if read(path) != data:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        aside = f"{path}.{os.getpid()}"
        with open(aside, "wb") as file:
            file.write(data)
        os.rename(aside, path)


def main():
    out, *roots = sys.argv[1:]
    found = {os.path.relpath(path, root or "."): path for root in ["", *roots] for pattern in PATTERNS
             for path in glob.glob(root + pattern, recursive=True) if os.path.isfile(path)}
    total = hashlib.sha256()
    for name, path in sorted(found.items()):
        data = read(path)
        total.update(name.encode() + b"\0" + data)
        write(f"{out}/{name}", data)
    for place, _, names in os.walk(out):
        for name in names:
            path = os.path.join(place, name)
            if os.path.relpath(path, out) not in found and name != ".sum":
                os.unlink(path)
    write(f"{out}/.sum", total.hexdigest()[:16].encode() + b"\n")


if __name__ == "__main__":
    main()
