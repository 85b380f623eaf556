#!/usr/bin/env python3
"""Packs a lab's files to hand them in: `make handin03 [NAME=anna] [ANYWAY=1]`.

Grades them first, and says what would be a pity: a file that is missing or still the stub, one that does not compile,
fewer points than last time. Then nothing is packed, unless ANYWAY=1 is said. Writes build/handin/03-NAME.tar.gz: the
files, the lab's bets where there are some, and a manifest with lab, kit version and sha256 sums. The same files always give the same bytes.
"""
import argparse
import getpass
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile

from bets import answers_path
from class_folder import Stopped, write_json, write_whole
from lab_files import files_of, path_of
from making import apart
from release import kit_version

OUT = "build/handin"


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


# ---- what would be a pity ---------------------------------------------------------------------------

def missing(lab, number):
    return [f"{path_of(lab, name)} is missing: make reset{number} FILE={name} puts the stub there"
            for name in files_of(lab) if not os.path.isfile(path_of(lab, name))]


def unchanged(lab):
    stubs = {name: subprocess.run(["tools/stub.sh", lab, name], capture_output=True, check=False) for name in files_of(lab)}
    return [f"{path_of(lab, name)} is still the stub" for name, stub in stubs.items()
            if stub.returncode == 0 and read(lab, name) == stub.stdout]


def graded(number, before, after):
    """Problems that grading has found. `before`: the best that a record of earlier has."""
    if after is None:
        return [f"make grade{number} has left no record"]
    if any(row["state"] == "build error" for row in after["checks"]):
        return ["it does not compile, or uses what the lab does not allow: see above"]
    if after["score"] < before:
        return [f"{after['score']:g} points; you had {before:g} before"]
    return []


def try_out(lab, number):
    """Grades, with the table on the screen."""
    place = f"build/grades/{lab}.json"
    before = max((record["score"] for record in (load(place), load(f"{OUT}/{lab}.json")) if record), default=0)
    if os.path.exists(place):
        os.unlink(place)
    subprocess.run(["make", "--no-print-directory", f"grade{number}"], check=False,
                   env=apart())
    after = load(place)
    return graded(number, before, after), after


# ---- packing ----------------------------------------------------------------------------------------

def read(lab, name):
    with open(path_of(lab, name), "rb") as file:
        return file.read()


def pack(lab, path):
    """@return the names of what is packed, without the manifest"""
    files = {name: read(lab, name) for name in files_of(lab)}
    manifest = {"manifest": 1, "lab": lab, "kit": kit_version(),
                "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}}
    bets = answers_path(lab)
    if os.path.isfile(bets):
        files[os.path.basename(bets)] = read(lab, os.path.basename(bets))
    packed_names = list(files)
    files["manifest.json"] = (json.dumps(manifest, indent=2) + "\n").encode()
    out = io.BytesIO()
    with gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    write_whole(path, out.getvalue())
    return packed_names


def stop_at(problems, anyway):
    for problem in problems:
        print(f"handin: {problem}", file=sys.stderr)
    if problems and not anyway:
        sys.exit("handin: nothing is packed; ANYWAY=1 packs it as it is")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", required=True)
    parser.add_argument("--name", default=getpass.getuser(), help="yours, for the name of the file")
    parser.add_argument("--anyway", action="store_true", help="pack despite the problems found")
    options = parser.parse_args()
    lab, number = options.lab, options.lab.split("_")[0]
    name = re.sub(r"[^\w.-]+", "-", options.name).strip("-.")
    if not name:
        sys.exit("handin: what is your name? NAME=...")
    stop_at(missing(lab, number), False)
    stop_at(unchanged(lab), options.anyway)
    problems, record = try_out(lab, number)
    stop_at(problems, options.anyway)
    try:
        os.makedirs(OUT, exist_ok=True)
        names = pack(lab, f"{OUT}/{number}-{name}.tar.gz")
        if record:
            write_json(f"{OUT}/{lab}.json", {"score": record["score"]})
    except (Stopped, OSError) as error:
        sys.exit(f"handin: {error}")
    print(f"{OUT}/{number}-{name}.tar.gz: {' '.join(names)}")


if __name__ == "__main__":
    main()
