"""The hand-ins of a class whose scores are known: solutions, stubs, mutants, variants, attacks, and archives that are not
honest ones. class_test.py grades them.
"""
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile

import grader_proof as proof

LEFT_OUT = ("fork", "memory_bomb",   # a test must not endanger the machine it runs on
            "loops_by_time")         # guesses by a clock: its report is another each time
SLOW = "sleep_long"                  # of those that time out one is enough


# ---- hand-ins and what they are worth ---------------------------------------------------------------

def points_of(lab, build="build"):
    done = subprocess.run([f"{build}/judge/{lab}", "--plan", f"labs/{lab}/lab.json"], capture_output=True, check=True)
    return {row["name"]: row["points"] for row in json.loads(done.stdout)}


def right_files(lab):
    return {name: proof.solution(lab, name) for name in proof.files(lab)}


def stub_files(lab):
    return {name: proof.read(f"labs/{lab}/{name}") for name in proof.files(lab)}


def edited(lab, block):
    return {**right_files(lab), block["file"]: proof.apply_edits(proof.solution(lab, block["file"]), block["edits"])}


def attacks(lab):
    found = (proof.read_attack(f"grader/attacks/{name}") for name in sorted(os.listdir("grader/attacks"))
             if name.endswith(".c") and not name.startswith(LEFT_OUT))
    return [attack for attack in found if attack["lab"] == lab
            and (attack["name"] == SLOW or not any("timeout" in state for state in attack["states"]))]


def known(lab):
    """(what it is, files, names of the checks that it earns) of all hand-ins there are."""
    every = set(points_of(lab))
    cases = [("solution", right_files(lab), every), ("stub", stub_files(lab), set())]
    cases += [(f"variant {block['name']}", edited(lab, block), every) for block in proof.blocks_of(lab, "variants")]
    cases += [(f"mutant {block['name']}", edited(lab, block), every - set(block["fails"]))
              for block in proof.blocks_of(lab, "mutants")]
    cases += [(f"attack {attack['name']}", {**right_files(lab), attack["file"]: attack["text"]}, set(attack["honest"]))
              for attack in attacks(lab)]
    return cases


# ---- as folders and archives ------------------------------------------------------------------------

def pack_folder(path, files):
    os.makedirs(path)
    for name, text in files.items():
        with open(f"{path}/{name}", "w", encoding="utf-8") as to:
            to.write(text)


def pack_zip(path, files):
    with zipfile.ZipFile(path + ".zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr("some folder/" + name, text)


def tar_entry(name, kind=tarfile.REGTYPE, size=0, link=""):
    entry = tarfile.TarInfo(name)
    entry.type, entry.size, entry.linkname = kind, size, link
    return entry


def pack_tar(path, files):
    with tarfile.open(path + ".tar.gz", "w:gz") as archive:
        for name, text in files.items():
            data = text.encode()
            archive.addfile(tar_entry(name, size=len(data)), io.BytesIO(data))


def write_hostile(folder, name):
    """What no honest hand-in is. All of it must be refused by name, and take nothing with it."""
    def zipped(path, *entries):
        with zipfile.ZipFile(f"{folder}/{path}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for entry, data in entries:
                archive.writestr(entry, data)

    def tarred(path, *entries):
        with tarfile.open(f"{folder}/{path}.tar.gz", "w:gz") as archive:
            for entry in entries:
                archive.addfile(entry, io.BytesIO(bytes(entry.size)))

    link = zipfile.ZipInfo(name)
    link.external_attr = 0o120777 << 16
    zipped("x_slip", (f"../../{name}", "int x;"), (name, ""))
    zipped("x_absolute", (f"/tmp/{name}", "int x;"))
    zipped("x_backslash", (f"..\\..\\{name}", "int x;"))
    zipped("x_link", (link, "/etc/passwd"))
    zipped("x_bomb", (name, bytes(64 << 20)))
    zipped("x_twice", (f"a/{name}", "int x;"), (f"b/{name}", "int x;"))
    zipped("x_entries", *((f"{i}", "") for i in range(20000)))
    tarred("x_symlink", tar_entry(name, tarfile.SYMTYPE, link="/etc/passwd"))
    tarred("x_hardlink", tar_entry(name, tarfile.LNKTYPE, link="/etc/passwd"))
    tarred("x_device", tar_entry(name, tarfile.CHRTYPE))
    tarred("x_pipe", tar_entry(name, tarfile.FIFOTYPE))
    tarred("x_tarbomb", tar_entry("other", size=200 << 20), tar_entry(name))
    for path, data in (("x_garbage.zip", b"PK\3\4 is how they begin"), ("x_garbage2.tar.gz", b"\x1f\x8b and no more"),
                       ("x_empty.zip", b""), ("x_what.rar", b"Rar!")):
        with open(f"{folder}/{path}", "wb") as file:
            file.write(data)
    os.makedirs(f"{folder}/x_folder_link")
    os.symlink("/etc/passwd", f"{folder}/x_folder_link/{name}")
    os.makedirs(f"{folder}/x_folder_pipe")
    os.mkfifo(f"{folder}/x_folder_pipe/{name}")
    os.symlink("student 000", f"{folder}/x_somebody_else")


def make_class(lab, count, out):
    """Writes a class into out/LAB/in; {name: (what it is, checks that it earns)}."""
    folder, cases, right = f"{out}/{lab}/in", known(lab), {}
    shutil.rmtree(f"{out}/{lab}", ignore_errors=True)
    os.makedirs(folder)
    write_hostile(folder, proof.files(lab)[0])
    for entry in os.listdir(folder):
        right[entry.removesuffix(".zip").removesuffix(".tar.gz").removesuffix(".rar")] = ("refused", set())
    for i in range(max(10, count - len(right))):
        what, files, earned = cases[i % len(cases)]
        name = f"student {i:03d}"
        (pack_folder, pack_zip, pack_tar)[i % 3](f"{folder}/{name}", files)
        right[name] = (what, earned)
    return right
