#!/usr/bin/env python3
"""Where the files of a lab are in what FROM= names: `make grade03 FROM=collected/anna.zip`.

    tools/from_hand_in.py LAB FROM      prints a folder with the lab's files

A folder in which they lie, or in which a folder of the lab does, is that folder. Anything else is read as grade-all reads
a hand-in (tools/hand_in_reader.py), and its files are put into build/from/LAB.
"""
import json
import os
import shutil
import subprocess
import sys

import hand_in_reader
from lab_files import files_of


def read(lab, path, folder, loose=()):
    """Puts the files of a hand-in into a folder; what the reader says of it: {"files", "notes", "bets"}, or {"refused"}."""
    done = subprocess.run([sys.executable, "-I", hand_in_reader.__file__, path or hand_in_reader.LOOSE, folder, lab, *files_of(lab)],
                          input=json.dumps(loose).encode(), capture_output=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if done.returncode == hand_in_reader.REFUSED:
        return {"refused": done.stdout.decode(errors="replace").strip()}
    return {"refused": "it cannot be unpacked within the limits of time and memory"}


def unpack(lab, path, loose=()):
    """(a folder with the files of a hand-in, why not or "")"""
    folder = f"build/from/{lab}"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder, read(lab, path, folder, loose).get("refused", "")


def main():
    lab, path = sys.argv[1:]
    path = os.path.realpath(path)
    for folder in (os.path.join(path, lab), path):
        if any(os.path.isfile(os.path.join(folder, name)) for name in files_of(lab)):
            print(os.path.relpath(folder))
            return
    folder, reason = unpack(lab, path)
    if reason:
        print(f"FROM={sys.argv[2]}: {reason}", file=sys.stderr)
        sys.exit(2)
    print(folder)


if __name__ == "__main__":
    main()
