#!/usr/bin/env python3
"""Takes the lab's files out of an untrusted hand-in: a folder, a .zip or a .tar.gz.

    tools/hand_in_reader.py HAND-IN FOLDER LAB FILE...

Copies the listed files, where they are there, into FOLDER and prints what it knows as JSON: sha256 sums, notes from
a manifest, and the student's bets. Only regular files of modest size are taken, whatever else is in there is left. What
no honest hand-in has is refused by name, with exit status 3: a path that climbs out, a link in place of a file, a bomb.
Bets earn no points, so bad ones cost none: they are left out with a note.

It is a program of its own, so that a hand-in which breaks Python's readers costs one process under limits of its own.
"""
import gzip
import hashlib
import json
import os
import re
import resource
import stat
import sys
import tarfile
import zipfile

MOST_FILE = 1 << 20        # bytes of one file: what the grader takes
MOST_ARCHIVE = 16 << 20    # bytes of an archive as it was handed in
MOST_UNPACKED = 64 << 20   # bytes of all that is in it
MOST_ENTRIES = 10000
MEMORY, SECONDS = 512 << 20, 30
REFUSED = 3
MANIFEST = "manifest.json"
MOST_BETS, MOST_BET_BYTES, MOST_NUMBER = 32, 16 << 10, 1e15


class Refused(Exception):
    """Why a hand-in is not looked at any further."""


def shown(name):
    return ascii(name)[1:-1][:100]


def size_of(size):
    return f"{size / 1048576:.1f} MiB" if size >= 1 << 20 else f"{size} bytes"


# ---- which entries are the lab's files --------------------------------------------------------------

def parts_of(path):
    """The folders and the name of an entry. Windows' own packers write backslashes."""
    path = path.replace("\\", "/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or re.match(r"[A-Za-z]:", path) or ".." in parts:
        raise Refused(f"{shown(path)} climbs out of the folder it is unpacked in")
    return parts


class Chosen:
    """The entries that are the lab's files: by name, and of two the one that is less deep. `spare` may be bad: it is then
    None among the files."""

    def __init__(self, names, spare):
        self.names, self.spare, self.found, self.entries = {*names, spare}, spare, {}, 0

    def look(self, path, entry):
        """Notes an entry if it is one of the files. Which one, or None."""
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise Refused(f"more than {MOST_ENTRIES} entries")
        parts = parts_of(path)
        if not parts or parts[-1] not in self.names or "__MACOSX" in parts:
            return None
        name, depth = parts[-1], len(parts)
        before = self.found.get(name)
        if before and before[0] == depth and name != self.spare:
            raise Refused(f"{name} is there twice: {shown(before[1])} and {shown(path)}")
        if before and before[0] < depth:
            return None
        self.found[name] = (depth, path, entry)
        return name

    def take(self, name, reader, *where):
        """What the reader gives, of one of the files."""
        try:
            return reader(*where)
        except Exception:   # pylint: disable=broad-except # whatever is wrong with it
            if name != self.spare:
                raise
            return None


def bounded(file, name):
    """All of a file that says nothing true about its size."""
    data = file.read(MOST_FILE + 1)
    if len(data) > MOST_FILE:
        raise Refused(f"{shown(name)} has more than {size_of(MOST_FILE)}")
    return data


# ---- the three kinds of hand-in ---------------------------------------------------------------------

def read_regular(path, name):
    """No link is followed, and no pipe waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(f"{shown(name)} is a link or cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Refused(f"{shown(name)} is not a regular file")
    with os.fdopen(handle, "rb") as file:
        return bounded(file, name)


def read_folder(path, names, spare):
    chosen = Chosen(names, spare)
    for folder, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = os.path.relpath(folder, path)
        for name in files + [name for name in folders if name in chosen.names]:
            chosen.look(os.path.join(inside, name), os.path.join(folder, name))
    return {name: chosen.take(name, read_regular, entry, where)
            for name, (_, where, entry) in chosen.found.items()}


def read_zip_entry(archive, entry, where):
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise Refused(f"{shown(where)} is a link or not a regular file")
    if entry.flag_bits & 1:
        raise Refused(f"{shown(where)} is encrypted")
    with archive.open(entry) as file:
        return bounded(file, where)


def read_zip(path, names, spare):
    chosen = Chosen(names, spare)
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                chosen.look(entry.filename, entry)
        return {name: chosen.take(name, read_zip_entry, archive, entry, where)
                for name, (_, where, entry) in chosen.found.items()}


class Counted:
    """A stream that ends with a word when it gives more than it should."""

    def __init__(self, stream):
        self.stream, self.left = stream, MOST_UNPACKED

    def read(self, size):
        data = self.stream.read(min(size, self.left + 1))
        self.left -= len(data)
        if self.left < 0:
            raise Refused(f"unpacks to more than {size_of(MOST_UNPACKED)}")
        return data


def read_tar_entry(archive, entry):
    if not entry.isreg() or entry.issparse():
        raise Refused(f"{shown(entry.name)} is a link or not a regular file")
    return bounded(archive.extractfile(entry), entry.name)


def read_tar(path, names, spare):
    """A stream cannot go back, so each file is read as it comes by."""
    chosen, files = Chosen(names, spare), {}
    with gzip.open(path) as stream, tarfile.open(fileobj=Counted(stream), mode="r|") as archive:
        for entry in archive:
            name = None if entry.isdir() else chosen.look(entry.name, None)
            if name is not None:
                files[name] = chosen.take(name, read_tar_entry, archive, entry)
    return files


def reader_of(path):
    name = os.path.basename(path).lower()
    if os.path.islink(path):
        raise Refused(f"{shown(os.path.basename(path))} is a link")
    if os.path.isdir(path):
        return read_folder
    if not os.path.isfile(path):
        raise Refused(f"{shown(os.path.basename(path))} is not a regular file")
    reader = read_zip if name.endswith(".zip") else read_tar if name.endswith((".tar.gz", ".tgz")) else None
    if reader is None:
        raise Refused(f"{shown(os.path.basename(path))} is neither a folder nor a .zip nor a .tar.gz")
    size = os.path.getsize(path)
    if size > MOST_ARCHIVE:
        raise Refused(f"the archive has {size_of(size)}, more than {size_of(MOST_ARCHIVE)}")
    return reader


def read(path, names, spare=""):
    """{name: bytes} of the listed files that a hand-in has; None for `spare` where that is there and bad."""
    try:
        return reader_of(path)(path, list(names) + [MANIFEST], spare)
    except Refused:
        raise
    except Exception as error:  # pylint: disable=broad-except # broken archives break Python's readers in many ways
        raise Refused(f"it cannot be unpacked: {type(error).__name__}: {shown(str(error))}") from error


# ---- the manifest that `make handinNN` writes -------------------------------------------------------

def check_manifest(files, lab):
    """What the manifest says, as far as it matters: notes. It is the student's word, nothing more."""
    text = files.pop(MANIFEST, None)
    if text is None:
        return []
    try:
        manifest = json.loads(text)
        packed_for, kit, sums = str(manifest["lab"]), str(manifest["kit"]), dict(manifest["files"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ["its manifest cannot be read"]
    if packed_for != lab:
        raise Refused(f"it was packed for lab {shown(packed_for)}, not for {lab}")
    changed = [name for name, data in sorted(files.items())
               if sums.get(name) != hashlib.sha256(data).hexdigest()]
    return [f"packed with kit {shown(kit)}"] + [f"{name} was changed after it was packed" for name in changed]


# ---- the bets that `make betNN` keeps ----------------------------------------------------------------

def one_bet(entry):
    """{"bet", "formula", "measured"}: numbers, and nothing else."""
    if not isinstance(entry, dict) or not set(entry) <= {"bet", "formula", "measured"}:
        raise ValueError
    for value in entry.values():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= MOST_NUMBER:
            raise ValueError
    return {key: float(value) for key, value in entry.items()}


def read_bets(text, lab):
    """({name: {"bet": 5.5, ...}}, notes) of a student's file of bets. None stands for one that could not be read."""
    try:
        if text is None or len(text) > MOST_BET_BYTES:
            raise ValueError
        kept = json.loads(text)
        if not isinstance(kept, dict) or kept.get("lab") != lab or not isinstance(kept["bets"], dict) or len(kept["bets"]) > MOST_BETS:
            raise ValueError
        if not all(re.fullmatch(r"[\w ./-]{1,60}", name, re.ASCII) for name in kept["bets"]):
            raise ValueError
        return {name: one_bet(entry) for name, entry in kept["bets"].items()}, []
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}, ["its bets cannot be read: they are left out"]


# ---- as a program -----------------------------------------------------------------------------------

def unpack(path, folder, lab, names):
    bets_file = f"my_bets{lab.split('_', maxsplit=1)[0]}.json"
    files = read(path, names, bets_file)
    bets, said = read_bets(files.pop(bets_file), lab) if bets_file in files else ({}, [])
    notes = check_manifest(files, lab) + said
    if not files:
        raise Refused("none of the lab's files is in it: " + " ".join(names))
    for name, data in files.items():
        with open(os.path.join(folder, name), "xb") as to:
            to.write(data)
    return {"files": {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}, "notes": notes, "bets": bets}


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    path, folder, lab, *names = sys.argv[1:]
    try:
        print(json.dumps(unpack(path, folder, lab, names)))
    except Refused as reason:
        print(reason)
        sys.exit(REFUSED)


if __name__ == "__main__":
    main()
