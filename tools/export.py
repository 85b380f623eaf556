#!/usr/bin/env python3
"""Takes grades to where they are kept: from one record, or for `scores` from all records of a folder.

    tools/export.py gradescope|classroom|autolab|prairielearn|junit|text RECORD
                    [--output FILE] [--after-due-date]
    tools/export.py scores RECORDS-FOLDER [--output FILE]
    tools/export.py pending LAB            what lies at Gradescope until a record does

Without --output it writes to standard output. See docs/exports.md.
"""
import argparse
import glob
import os
import sys

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


def export(options):
    """The text, and what to complain of."""
    if options.format == "pending":
        return formats.gradescope_pending(options.path), []
    if options.format == "scores":
        records, bad = load_all(options.path)
        if not records and not bad:
            raise BadRecord(f"{options.path}: there are no records")
        return formats.scores(records), bad
    return formats.FORMATS[options.format](load(options.path), options.after_due_date), []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("format", choices=[*formats.FORMATS, "scores", "pending"])
    parser.add_argument("path", help="a record; for scores a folder of them; for pending a lab")
    parser.add_argument("--output", help="write to this file, whole or not at all")
    parser.add_argument("--after-due-date", action="store_true", help="show what students may see from then on")
    parser.add_argument("--build", help=argparse.SUPPRESS)   # named the program that wrote JUnit; no longer needed
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
