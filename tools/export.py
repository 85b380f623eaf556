#!/usr/bin/env python3
"""Takes grades to where they are kept: from one record, or for `scores` from a folder that a class was graded into.

    tools/export.py gradescope|classroom50|autolab|prairielearn|junit|text RECORD
                    [--output FILE] [--after-due-date]
    tools/export.py scores OUT [--output FILE] [--policy FILE] [--roster FILE]
    tools/export.py pending LAB            what lies at Gradescope until a record does

Without --output it writes to standard output. See docs/exports.md.
"""
import argparse
import os
import signal
import sys

import ending
from class_folder import write_whole
from exports import formats
from exports.record import BadRecord, in_words_of_the_course, load


def scores(options):
    """The table of a class. Without a policy it takes nothing but Python."""
    from exports import layout   # pylint: disable=import-outside-toplevel # a handout has single records only
    folder = options.path
    records, bad = layout.newest(folder) if os.path.isdir(os.path.join(folder, "records")) else layout.some(layout.json_in(folder))
    if not records and not bad:
        raise BadRecord(f"{folder}: there are no records")
    layout.settle(options, folder)
    if not options.policy:
        return formats.scores(records), bad
    from exports import policy, roster   # pylint: disable=import-outside-toplevel # they need jsonschema
    rows = roster.load(options.roster) if options.roster else ()
    results, said = policy.results(policy.load(options.policy), records, rows)
    return formats.scores(records, results, policy.duration), bad + said


def export(options):
    """The text, and what to complain of."""
    if options.format == "pending":
        return formats.gradescope_pending(options.path), []
    if options.format == "scores":
        return scores(options)
    return formats.FORMATS[options.format](in_words_of_the_course(load(options.path)), options.after_due_date), []


def run(options):
    """Writes the text, and returns what to complain of."""
    written, bad = export(options)
    data = written.encode()
    if options.output:
        write_whole(options.output, data)
    else:
        sys.stdout.buffer.write(data)
    return bad


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)   # `| head` ends it without a word
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("format", choices=[*formats.FORMATS, "scores", "pending"])
    parser.add_argument("path", help="a record; for scores the folder of a class, or one of records; for pending a lab")
    parser.add_argument("--output", help="write to this file, whole or not at all")
    parser.add_argument("--after-due-date", action="store_true", help="show what students may see from then on")
    parser.add_argument("--policy", help="for scores: policy.json")
    parser.add_argument("--roster", help="for scores: roster.csv, whose names the policy may use")
    parser.add_argument("--course", help="for scores: course.json, which may name both")
    parser.add_argument("--build", help=argparse.SUPPRESS)   # named the program that wrote JUnit; no longer needed
    options = parser.parse_args()
    ending.end("export", lambda: run(options))


if __name__ == "__main__":
    main()
