#!/usr/bin/env python3
"""What another system needs to grade a lab: `make gradescope LAB=01`, `make autolab LAB=01`, `make classroom50 LAB=01`.

    gradescope    autograder.zip: the kit, setup.sh, run_autograder
    autolab       autograde.tar: the kit, setup.sh, grade_one; autograde-Makefile
    classroom50   autograder.py and the handout beside it; runtime.json; grade.yml for a repository without a classroom

A kit that is packed for the first two has its solutions and hidden checks in it. It is for the instructor alone; students get
`make handout`.
"""
import io
import json
import os
import re
import secrets
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import course as settings_file
from arguments import Parser
from class_folder import Stopped, Unusable, write_whole
from kit_files import Stays, check_labs, leaving, stop
from lab_files import files_of, has_cuda
from making import making

SCRIPTS = "tools/pack"
# For any x86-64 machine, not the one that made the image; without a BLAS: the checks' matrices are small.
SETTINGS = "BLAS=none ARCH=-march=x86-64-v2"
HIDDEN = "grader/hidden"
LEFT_OUT = (".", "Dockerfile", "docs/", "labs/", "common/fuzz/", "tools/bench/", "grader/attacks/", "grader/proof/", "grader/fuzz/", "grader/hidden/",
            "grader/schemas/", "train/fuzz/")
NOT_PACKED = (".mutants", ".variants", "_test.c")


def packed_files(lab, hidden):
    """{name: where it is} of what building and running the judge of a lab takes. Hidden checks may be unknown to git."""
    files = leaving()
    check_labs([lab], files)
    wanted = {name: path for name, path in files.items() if not name.endswith(NOT_PACKED) and
              (not name.startswith(LEFT_OUT) or name.startswith(f"labs/{lab}/") or re.fullmatch(r"labs/\w+/(contract.h|lab.json)", name))}
    return {**wanted, **hidden_files(lab, hidden)}


def hidden_files(lab, hidden):
    """The instructor's own checks of a lab, where the packed kit looks for them. Who names a folder wants what is in it."""
    path = os.path.join(hidden or HIDDEN, f"{lab}.c")
    if os.path.isfile(path):
        return {f"{HIDDEN}/{name}": os.path.join(os.path.dirname(path), name) for name in sorted(os.listdir(os.path.dirname(path)))
                if name == f"{lab}.c" or name.endswith(".h")}
    if hidden:
        raise Stays(f"HIDDEN={hidden}: there is no {lab}.c in it")
    return {}


def settings(lab, options):
    """Read by the scripts that are packed."""
    make = SETTINGS + (" ACCESS=1" if has_cuda(lab) else "")
    build = subprocess.run(["make", "-s", *make.split(), "print-build"], env=making(), capture_output=True, text=True, check=True)
    return (f"LAB={lab}\nMAKE_SETTINGS='{make}'\nJUDGE_BUILD={build.stdout.strip()}\nSECONDS_LIMIT={options.seconds}\n"
            f"MIN_SANDBOX={options.min_sandbox}\n")


def secret(path):
    """Of the class: seeds are made from it. A new one, unless there is one to keep."""
    if path is None:
        return (secrets.token_hex(32) + "\n").encode()
    with open(path, "rb") as file:
        return file.read()


def take_settings(options):
    told = settings_file.load(given=options.course)
    if options.system != "classroom50":
        options.hidden = options.hidden or told.get("hidden")
    options.secret = options.secret or told.get("secret")
    options.points = {lab: points for lab, points in told["points"].items() if lab == options.lab}


def entries(lab, scripts, options):
    """(name, mode, bytes) of all that is packed."""
    places = [(script, f"{SCRIPTS}/{script}") for script in scripts] + sorted(packed_files(lab, options.hidden).items())
    points = json.dumps({"points": options.points}) + "\n"
    packed = [("pack.conf", 0o644, settings(lab, options).encode()), ("secret", 0o600, secret(options.secret)),
              ("course.json", 0o644, points.encode())]
    for name, path in places:
        with open(path, "rb") as file:
            packed.append((name, 0o755 if os.access(path, os.X_OK) else 0o644, file.read()))
    return packed


def zipped(packed):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, mode, data in packed:
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return out.getvalue()


def tarred(packed):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, mode, data in packed:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def script_for(lab, name):
    with open(f"{SCRIPTS}/{name}", encoding="utf-8") as file:
        text = file.read()
    for word, said in (("@LAB@", lab), ("@NUMBER@", lab.split("_")[0]), ("@FILES@", " ".join(files_of(lab)))):
        text = text.replace(word, said)
    return text.encode()


def packages():
    """What setup.sh installs to grade, as Debian calls it."""
    listed = subprocess.run(["tools/setup.sh", "--grade", "--list"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines()]


def handout(lab):
    """The bytes of a handout of one lab: what Classroom 50 publishes, students may have."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["tools/handout.py", "--lab", lab, "--out", f"{folder}/{lab}"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise Stays(f"the handout: {(done.stderr.strip().splitlines() or ['it was not made'])[0]}")
        with open(f"{folder}/{lab}.tar.gz", "rb") as file:
            return file.read()


def files(options):
    """{name: (bytes, mode)} of what this system is given."""
    lab = options.lab
    if options.system == "gradescope":
        return {"autograder.zip": (zipped(entries(lab, ["setup.sh", "run_autograder", "grade_one"], options)), 0o600)}
    if options.system == "autolab":
        return {"autograde.tar": (tarred(entries(lab, ["setup.sh", "grade_one"], options)), 0o600),
                "autograde-Makefile": (script_for(lab, "autograde-Makefile"), 0o644)}
    if options.hidden:
        raise Stays(f"HIDDEN={options.hidden}: Classroom 50 publishes its autograders, so they have no hidden checks")
    runtime = {"runs-on": "ubuntu-latest", "apt": packages()}
    return {"autograder.py": (script_for(lab, "autograder.py"), 0o644), f"{lab}.tar.gz": (handout(lab), 0o644),
            "runtime.json": ((json.dumps(runtime, indent=2) + "\n").encode(), 0o644),
            "grade.yml": (script_for(lab, "github.yml"), 0o644)}


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("system", choices=["gradescope", "autolab", "classroom50"])
    parser.add_argument("lab", help="folder in labs/")
    parser.add_argument("--out", required=True, help="folder to write into")
    parser.add_argument("--secret", help="file with the secret of the class; otherwise a new one")
    parser.add_argument("--hidden", help=f"folder with the instructor's own checks; {HIDDEN}, where there are some")
    parser.add_argument("--seconds", type=int, default=540, help="limit for one submission: below that of the machine")
    parser.add_argument("--min-sandbox", type=int, default=2, help="refuse to grade below this level")
    parser.add_argument("--course", help="settings of the course, where the command line says nothing: hidden, secret, points")
    options = parser.parse_args()
    try:
        take_settings(options)
        os.makedirs(options.out, exist_ok=True)
        for name, (data, mode) in files(options).items():
            path = os.path.join(options.out, name)
            write_whole(path, data, mode)
            note = ", with solutions in it: not for students" if mode == 0o600 else ""
            print(f"{path}: {len(data) / 1024:.0f} KiB{note}")
    except (Stays, Unusable) as error:
        stop("pack", error)
    except (OSError, Stopped, subprocess.CalledProcessError) as error:
        sys.exit(f"pack: {error}")


if __name__ == "__main__":
    main()
