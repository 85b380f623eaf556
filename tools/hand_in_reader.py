#!/usr/bin/env python3
"""Takes the lab's files out of an untrusted hand-in: a folder, an archive, or loose files.

    tools/hand_in_reader.py HAND-IN FOLDER LAB FILE...     HAND-IN may be --loose: pairs [name, path] on standard input

Copies the listed files, where they are there, into FOLDER and prints what it knows as JSON: sha256 sums, notes, and the
student's bets. Only regular files of modest size are taken, whatever else is in there is left. A hand-in in which none
of the files lies, but one archive, is that archive. What no honest hand-in has is refused by name, with exit status 3: a
path that climbs out, a link in place of a file, a bomb. Bets earn no points, so bad ones cost none: they are left out
with a note.

Everything that grades reads hand-ins with it: grade-all, grade-one, gradeNN with FROM=, and what is packed for others.
It is a program of its own, so that a hand-in which breaks Python's readers costs one process under limits of its own.
"""
import bz2
import contextlib
import errno
import gzip
import hashlib
import io
import json
import lzma
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
MOST_NAMES = 5             # that a message lists
MEMORY, SECONDS = 512 << 20, 30
REFUSED, LOOSE = 3, "--loose"
MANIFEST = "manifest.json"
MOST_BETS, MOST_BET_BYTES, MOST_NUMBER = 32, 16 << 10, 1e15
ENDINGS = (".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar", ".zip")   # of archives


OTHER_ENDINGS = (".rar", ".7z", ".tar.zst", ".zst", ".zipx")   # of archives that are not read
BEGINNINGS = (b"PK\3\4", b"PK\5\6", b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh", b"Rar!", b"7z\xbc\xaf\x27\x1c", b"\x28\xb5\x2f\xfd")   # of archives of all kinds
OF_OFFICES = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp")   # which begin like a zip


class Refused(Exception):
    """Why a hand-in is not looked at any further."""


def shown(name):
    return ascii(name)[1:-1][:100]


def listed(names):
    return ", ".join(map(shown, names[:MOST_NAMES])) + (", ..." if len(names) > MOST_NAMES else "")


def size_of(size):
    return f"{size / 1048576:.1f} MiB" if size >= 1 << 20 else f"{size} bytes"


def ending_of(name):
    """That of an archive, or ""."""
    return next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")


def stem_of(name):
    """A name without the ending of an archive, also of one that is not read."""
    ending = ending_of(name) or next((ending for ending in OTHER_ENDINGS if name.lower().endswith(ending)), "")
    return name[:len(name) - len(ending)]


def is_archive(path):
    """Whether a file is an archive by its name or by its first bytes. One that cannot be read may be one."""
    name = os.path.basename(path)
    if stem_of(name) != name:
        return True
    try:
        with open(path, "rb") as file:
            begin = file.read(512)
    except OSError:
        return True
    return not name.lower().endswith(OF_OFFICES) and (begin.startswith(BEGINNINGS) or begin[257:262] == b"ustar")


def plain(name):
    """A file's name without what browsers, systems and hands put to it: a number, a copy, capitals, a second ending."""
    stem, ending = os.path.splitext(name.lower().strip().removesuffix(".txt"))
    return re.sub(r"(\s*\(\d+\)|[ _-]*copy|[ _-]+\d+)+$", "", stem) + ending


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
    None among the files. Of the others it keeps the archives and some names. An entry is a path and `read(most)`, its
    bytes; in a stream these must be had at once."""

    def __init__(self, names, spare, opened):
        self.names, self.spare, self.stream, self.entries = {*names, spare}, spare, False, 0
        self.opened = opened   # what is to be closed when the files are read
        self.wanted = {plain(name): name for name in names if name != MANIFEST}
        self.found, self.files, self.archives, self.like, self.others = {}, {}, [], {}, []
        self.deeper, self.differ = [], []

    def look(self, path, read, entry=""):
        """Keeps an entry if it is one of the files, or an archive. `entry`: how a loose file is called in the class's folder."""
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise Refused(f"more than {MOST_ENTRIES} entries")
        parts = parts_of(path)
        if not parts or "__MACOSX" in parts:
            return
        name, depth = parts[-1], len(parts)
        if name not in self.names:
            self.note_other(name, path, read)
            return
        before, path = self.found.get(name), entry or "/".join(parts)
        if before and before[0] == depth and name != self.spare:
            raise Refused(f"{name} is there twice: {shown(before[1])} and {shown(path)}")
        if before and before[0] < depth:
            self.pass_over(name, path, read)
        else:
            if before and before[0] > depth:
                self.pass_over(name, *before[1:])
            self.found[name] = (depth, path, self.had(name, read))

    def pass_over(self, name, path, read):
        """Keeps a few of the entries that have a file's name and lie deeper than the file, to be compared with it."""
        if name in self.wanted.values() and len(self.deeper) < MOST_NAMES:
            data = quietly(read) if self.stream else None
            self.deeper.append((name, path, (lambda most: data) if self.stream else read))

    def note_other(self, name, path, read):
        if ending_of(name):
            first = not self.archives and not self.files_found()
            data = read(MOST_ARCHIVE) if self.stream and first else None
            self.archives.append((path, read if data is None else lambda most: data))
        elif plain(name) in self.wanted:
            self.like.setdefault(self.wanted[plain(name)], name)
        if len(self.others) <= MOST_NAMES and not name.startswith("."):
            self.others.append(name)

    def had(self, name, read):
        """What gives the bytes later."""
        if not self.stream:
            return read
        data = self.take(name, read)
        return lambda most: data

    def take(self, name, read):
        """The bytes of one of the files."""
        return quietly(read) if name == self.spare else read(MOST_FILE)

    def files_found(self):
        return any(name in self.wanted.values() for name in self.found)

    def close(self):
        """Reads the files. After that what they come from is no longer needed."""
        self.files = {name: self.take(name, read) for name, (_, _, read) in self.found.items()}
        self.differ = [(name, path) for name, path, read in self.deeper if quietly(read) != self.files[name]]

    def notes(self):
        """What a student may have meant, beside the files that were found."""
        missing = [f"{name} is not in it; {shown(other)} is, and would have to be called {name}"
                   for name, other in self.like.items() if name not in self.found]
        twice = [f"{shown(path)} was not looked at: {shown(self.found[name][1])} is another file of that name, and lies less deep" for name, path in self.differ]
        return missing + twice + [f"{shown(path)} was not looked at: it lies beside the files" for path, _ in self.archives[:MOST_NAMES]]

    def nothing(self):
        """Why none of the files is there."""
        said = "none of the lab's files is in it: " + " ".join(sorted(self.wanted.values()))
        renamed = [f"{shown(other)} would have to be called {name}" for name, other in self.like.items()]
        return "; ".join([said, *renamed]) if renamed else f"{said}; {f'there is {listed(self.others)}' if self.others else 'it is empty'}"


def quietly(read):
    """The bytes of an entry that no points hang on; None where something is wrong with it."""
    try:
        return read(MOST_FILE)
    except Exception:   # pylint: disable=broad-except # whatever it is
        return None


def bounded(file, name, most):
    """All of a file that says nothing true about its size."""
    data = file.read(most + 1)
    if len(data) > most:
        raise Refused(f"{shown(name)} has more than {size_of(most)}")
    return data


# ---- the kinds of hand-in ---------------------------------------------------------------------------

def open_regular(path, name):
    """No link is followed, and no pipe waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        reason = "is a link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
        raise Refused(f"{shown(name)} {reason}") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Refused(f"{shown(name)} is not a regular file")
    return os.fdopen(handle, "rb")


def look_at_file(chosen, path, name, entry=""):
    def read(most):
        with open_regular(path, name) as file:
            return bounded(file, name, most)
    chosen.look(name, read, entry)


def look_at_folder(chosen, path):
    def stop(error):
        raise Refused(f"{shown(os.path.relpath(error.filename, path))} in it cannot be read: {error.strerror}")

    for folder, folders, files in os.walk(path, onerror=stop):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files + [name for name in folders if name in chosen.names]:
            look_at_file(chosen, os.path.join(folder, name), os.path.join(os.path.relpath(folder, path), name))


def look_at_zip(chosen, file):
    def reader_of(archive, entry):
        def read(most):
            if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
                raise Refused(f"{shown(entry.filename)} is a link or not a regular file")
            if entry.flag_bits & 1:
                raise Refused(f"{shown(entry.filename)} is encrypted")
            with archive.open(entry) as opened:
                return bounded(opened, entry.filename, most)
        return read

    archive = zipfile.ZipFile(file)
    for entry in archive.infolist():
        if not entry.is_dir():
            chosen.look(entry.filename, reader_of(archive, entry))


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


def look_at_tar(chosen, stream):
    """A stream cannot go back, so each file is read as it comes by."""
    chosen.stream = True
    with tarfile.open(fileobj=Counted(stream), mode="r|") as archive:
        for entry in archive:
            def read(most, entry=entry):
                if not entry.isreg() or entry.issparse():
                    raise Refused(f"{shown(entry.name)} is a link or not a regular file")
                return bounded(archive.extractfile(entry), entry.name, most)
            if not entry.isdir():
                chosen.look(entry.name, read)


def look_at_archive(chosen, file, name):
    """What an archive is, its first bytes say: names are changed on the way."""
    begin = file.read(512)
    file.seek(0)
    unpackers = ((b"\x1f\x8b", gzip.open), (b"\xfd7zXZ\0", lzma.open), (b"BZh", bz2.open))
    unpacker = next((unpacker for magic, unpacker in unpackers if begin.startswith(magic)), None)
    if not begin:
        raise Refused(f"{name} is a file without a byte")
    if begin.startswith((b"PK\3\4", b"PK\5\6")):
        look_at_zip(chosen, file)
    elif unpacker:
        with unpacker(file) as stream:
            look_at_tar(chosen, stream)
    elif begin[257:262] == b"ustar":
        look_at_tar(chosen, file)
    else:
        raise Refused(f"{name} is neither a folder nor an archive (.zip, .tar.gz, .tar.xz, .tar.bz2, .tar)")


def look_at_hand_in(chosen, path, files):
    """`path`: a folder or an archive. Or `files`, loose ones, by the names that the student gave them."""
    if path and os.path.islink(path):
        raise Refused("it is a link")
    if path and os.path.isdir(path):
        look_at_folder(chosen, path)
    elif path:
        file = chosen.opened.enter_context(open_regular(path, "it"))
        size = os.fstat(file.fileno()).st_size
        if size > MOST_ARCHIVE:
            raise Refused(f"the archive has {size_of(size)}, more than {size_of(MOST_ARCHIVE)}")
        look_at_archive(chosen, file, "it")
    for name, place in files:
        look_at_file(chosen, place, name, os.path.basename(place))


def choose(names, spare, look, nested=False):
    """What `look` shows of the files. Where it shows none of them, and one archive: what is in that."""
    with contextlib.ExitStack() as opened:
        chosen = Chosen(names, spare, opened)
        look(chosen)
        if nested or chosen.files_found() or not chosen.archives:
            chosen.close()
            return chosen
        if len(chosen.archives) > 1:
            raise Refused(f"none of the lab's files is in it, but {len(chosen.archives)} archives: "
                          f"{listed([path for path, _ in chosen.archives])}; hand in one")
        path, read = chosen.archives[0]
        packed = io.BytesIO(read(MOST_ARCHIVE))
    return choose(names, spare, lambda inner: look_at_archive(inner, packed, shown(path)), nested=True)


def take(path, names, spare="", files=()):
    """What is chosen of a hand-in: `path`, or loose `files` as pairs (name, path)."""
    try:
        return choose([*names, MANIFEST], spare, lambda chosen: look_at_hand_in(chosen, path, files))
    except Refused:
        raise
    except Exception as error:  # pylint: disable=broad-except # broken archives break Python's readers in many ways
        raise Refused(f"it cannot be unpacked: {type(error).__name__}: {shown(str(error))}") from error


def read(path, names, spare=""):
    """{name: bytes} of the listed files that a hand-in has; None for `spare` where that is there and bad."""
    return take(path, names, spare).files


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

def unpack(path, folder, lab, names, loose=()):
    bets_file = f"my_bets{lab.split('_', maxsplit=1)[0]}.json"
    taken = take(path, names, bets_file, loose)
    files = taken.files
    bets, said = read_bets(files.pop(bets_file), lab) if bets_file in files else ({}, [])
    notes = check_manifest(files, lab) + said + taken.notes()
    if not files:
        raise Refused(taken.nothing())
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
    path, loose = (None, json.load(sys.stdin)) if path == LOOSE else (path, ())
    try:
        print(json.dumps(unpack(path, folder, lab, names, loose)))
    except Refused as reason:
        print(reason)
        sys.exit(REFUSED)


if __name__ == "__main__":
    main()
