#!/usr/bin/env python3
"""Classroom 50 runs this for each submission of @LAB@, in the student's checkout: it writes result.json there.

The handout lies beside this file. It is unpacked anew, and of the checkout only the files that students write are taken,
so a changed Makefile or grader in it counts for nothing. Exit status 0: graded, whatever the score; else the runner reports
an error.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

LAB, NUMBER, FILES = "@LAB@", "@NUMBER@", "@FILES@".split()
MOST_BYTES = 1 << 20   # of a file, as the grader takes it
HERE, CHECKOUT = pathlib.Path(__file__).resolve().parent, pathlib.Path.cwd()


def take(kit):
    """The student's files in place of the stubs. One that is not there, or is a link, leaves the stub."""
    for name in FILES:
        path = CHECKOUT / "labs" / LAB / name
        if path.resolve() == CHECKOUT.resolve() / "labs" / LAB / name and path.is_file() and path.stat().st_size <= MOST_BYTES:
            shutil.copyfile(path, kit / "labs" / LAB / name)
        else:
            print(f"autograder: labs/{LAB}/{name} is not a file of at most 1 MiB: the stub is graded")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o711)   # started as root, the sandbox is another user, who goes through it
        with tarfile.open(HERE / f"{LAB}.tar.gz") as archive:
            archive.extractall(work)
        kit = pathlib.Path(work) / LAB
        take(kit)
        # The status says whether all points were earned; the record says more.
        subprocess.run(["make", "-s", "BLAS=none", f"grade{NUMBER}"], cwd=kit, check=False)
        done = subprocess.run([sys.executable, kit / "tools/export.py", "classroom50", kit / f"build/grades/{LAB}.json",
                               "--output", CHECKOUT / "result.json"], check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
