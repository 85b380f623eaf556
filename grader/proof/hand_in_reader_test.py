#!/usr/bin/env python3
"""Hand-ins with bytes changed, cut and doubled: each is read or refused, within its limits, and nothing else happens.
Before them those that fuzzing found worth keeping: grader/fuzz/hand_in.py.

    grader/proof/hand_in_reader_test.py [--seconds N] [--seed N]
"""
import argparse
import glob
import gzip
import io
import os
import random
import sys
import tarfile
import tempfile
import time
import traceback
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import hand_in_reader as reader


CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fuzz/corpus/hand_in")
NAMES = ["loop.c", "other.c"]
TEXT = "int loop;\n" * 40


def seeds():
    """Honest archives of several kinds, to begin with."""
    found = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", method) as archive:
            archive.writestr("a/loop.c", TEXT)
            archive.writestr("a/other.c", TEXT)
            archive.writestr("manifest.json", '{"lab": "x", "kit": "1", "files": {}}')
        found.append((".zip", data.getvalue()))
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w", format=form) as archive:
            for name in ("loop.c", "a" * 120 + "/other.c", "ü.txt"):
                entry = tarfile.TarInfo(name)
                entry.size = len(TEXT)
                archive.addfile(entry, io.BytesIO(TEXT.encode()))
        found.append((".tar.gz", data.getvalue()))
    return found


def changed(data, chance):
    """A few mistakes of the kinds that files have."""
    data = bytearray(data)
    for _ in range(chance.choice((0, 1, 1, 2, 4, 16))):
        place = chance.randrange(len(data)) if data else 0
        kind = chance.randrange(5)
        if kind == 0 and data:
            data[place] = chance.randrange(256)
        elif kind == 1 and data:
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del data[place:place + chance.randrange(1, 64)]
        elif kind == 3:
            data[place:place] = data[place:place + chance.randrange(1, 512)]
        else:
            data[place:place + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"7777", b"\x7f\xff\xff\xff"))
    return bytes(data)


def compressed(data):
    """A tar is broken before it is packed, or the damage would not be seen."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as to:
        to.write(data)
    return packed.getvalue()


def archive_of(data):
    """What an input of the fuzzer stands for: (ending, bytes)."""
    kind, rest = data[:1], data[1:]
    return (".zip", rest) if kind <= b"U" else (".tar.gz", rest) if kind <= b"f" else (".tar.gz", compressed(rest))


def inputs_of_seeds():
    """The honest archives as such inputs."""
    return [(b"A" if ending == ".zip" else b"t") + data for ending, data in seeds()]


def kept_inputs():
    paths = sorted(glob.glob(os.path.join(CORPUS, "*")))
    if not paths:
        sys.exit(f"{CORPUS} is empty")
    for path in paths:
        with open(path, "rb") as file:
            yield path, file.read()


def try_one(folder, ending, data):
    """What went wrong, or None."""
    path = os.path.join(folder, "hand-in" + ending)
    with open(path, "wb") as file:
        file.write(data)
    begin = time.monotonic()
    try:
        files = reader.read(path, NAMES)
        reader.check_manifest(files, "x")
        if not set(files) <= set(NAMES) or any(len(text) > reader.MOST_FILE for text in files.values()):
            return f"gave {sorted(files)}"
    except reader.Refused as reason:
        if not str(reason).isprintable():
            return f"says {str(reason)!a}"
    except BaseException:  # pylint: disable=broad-except # this is what is looked for
        return traceback.format_exc()
    return None if time.monotonic() - begin < 5 else "took more than 5 s"


def check_names(folder):
    """A lab's file is found under each name that a packer may give it."""
    for name in ("loop.c", "./loop.c", "a/b/loop.c", "a\\loop.c", "a/loop.c/."):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            entry = tarfile.TarInfo(name)
            entry.size = len(TEXT)
            archive.addfile(entry, io.BytesIO(TEXT.encode()))
        with open(os.path.join(folder, "names.tar.gz"), "wb") as file:
            file.write(data.getvalue())
        found = reader.read(file.name, NAMES)
        if found != {"loop.c": TEXT.encode()}:
            sys.exit(f"of {name}: {sorted(found)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance, tried, begin, start = random.Random(options.seed), 0, time.monotonic(), seeds()
    with tempfile.TemporaryDirectory() as folder:
        check_names(folder)
        for path, data in kept_inputs():
            problem = try_one(folder, *archive_of(data))
            if problem:
                sys.exit(f"{path}: {problem}")
        while time.monotonic() - begin < options.seconds:
            ending, data = chance.choice(start)
            data = changed(data, chance)
            if ending == ".tar.gz":
                data = compressed(data)
                data = changed(data, chance) if chance.random() < 0.2 else data
            problem = try_one(folder, ending, data)
            if problem:
                sys.exit(f"hand-in {tried}, {ending}: {problem}")
            tried += 1
    print(f"hand-ins: {tried} read or refused")


if __name__ == "__main__":
    main()
