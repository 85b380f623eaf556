#!/usr/bin/env python3
"""Takes grades to where they are kept: from one record, or for `scores` from all records of a folder.

    tools/export.py gradescope|classroom|autolab|prairielearn|junit RECORD [--output FILE] [--after-due-date]
    tools/export.py scores RECORDS-FOLDER [--output FILE]
    tools/export.py pending LAB            what lies at Gradescope until a record does

Without --output it writes to standard output. See docs/exports.md.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

from class_folder import Stopped, write_whole
from exports import formats
from exports.record import BadRecord, load, one_line


def load_all(folder):
    """The records of a folder. One that cannot be read is said, and no grade is invented for it."""
    records, bad = [], []
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.json"))):
        try:
            record = load(path)
            records.append(record | {"name": record["name"] or one_line(os.path.basename(path)[:-5])})
        except BadRecord as error:
            bad.append(str(error))
    return records, bad


def junit(record, build):
    """By the grader's own writer, from a copy in which every text is clean."""
    if not os.path.exists(f"{build}/bin/record"):
        raise BadRecord(f"{build}/bin/record writes JUnit, and is not there: make {build}/bin/record")
    with tempfile.TemporaryDirectory() as folder:
        copy, xml = os.path.join(folder, "record.json"), os.path.join(folder, "junit.xml")
        with open(copy, "w", encoding="ascii") as file:
            json.dump({"version": 1, "lab": record["lab"], "from": record["name"], "checks": record["rows"]}, file)
        done = subprocess.run([f"{build}/bin/record", copy, "--junit", xml], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BadRecord(done.stderr.strip())
        with open(xml, encoding="utf-8") as file:
            return file.read()


def export(options):
    """The text, and what to complain of."""
    if options.format == "pending":
        return formats.gradescope_pending(options.path), []
    if options.format == "scores":
        records, bad = load_all(options.path)
        if not records and not bad:
            raise BadRecord(f"{options.path}: there are no records")
        return formats.scores(records), bad
    record = load(options.path)
    if options.format == "junit":
        return junit(record, options.build), []
    return formats.FORMATS[options.format](record, options.after_due_date), []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("format", choices=[*formats.FORMATS, "junit", "scores", "pending"])
    parser.add_argument("path", help="a record; for scores a folder of them; for pending a lab")
    parser.add_argument("--output", help="write to this file, whole or not at all")
    parser.add_argument("--after-due-date", action="store_true", help="show what students may see from then on")
    parser.add_argument("--build", default="build", help="where the programs are")
    options = parser.parse_args()
    try:
        written, bad = export(options)
        data = written.encode()
        if options.output:
            write_whole(options.output, data)
        else:
            sys.stdout.buffer.write(data)
    except (BadRecord, Stopped, OSError) as error:
        sys.exit(f"export: {error}")
    for line in bad:
        print(f"export: left out: {line}", file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
