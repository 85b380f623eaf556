#!/usr/bin/env python3
"""What each student gets back: `make feedback OUT=folder`.

    OUT/feedback/NAME.zip     for each student: the page, and what counts (result.txt)
    OUT/feedback-moodle.zip   with --moodle: the same in the folders by which Moodle knows its participants

No file of one student has the name of another in it. Exit status 1: made, but a student is not in it; 2: the roster or the
policy is wrong, and nothing is made.
"""
import io
import os
import re
import zipfile

import by_rules
import ending
from arguments import Parser
from class_folder import file_name, write_whole
from exports import layout, policy, roster
from exports.formats import number
from exports.record import BadRecord, spoken
from report import student_page, templates

PARTICIPANT = re.compile(r"_(\d+)_assignsubmission_")   # in the name of a hand-in as Moodle gives it
WHEN = (2000, 1, 1, 0, 0, 0)


def sentence(result):
    """What counts, for the student."""
    lines = [f"Lab {result['lab']}, {result['name']}", f"points    {number(result['raw'])} of {number(result['total'])}"]
    if result["why"] not in ("", "no deadline"):
        lines += [f"loss      {number(result['loss'])}: {', '.join(map(spoken, result['why'].split(', ')))}"]
        lines += [f"late by   {policy.duration(result['late'])}"] if result["late"] else []
    return "\n".join(map(spoken, [*lines, f"counts    {number(result['final'])}"])) + "\n"


def tells_too_early(result, after_due_date):
    """Whether its points would tell of a check that students may see from the due date on."""
    return not after_due_date and any(row["visibility"] == "after_due_date" for row in result["record"]["rows"])


def files_of(environment, result, after_due_date):
    """{name: bytes} of one student."""
    page = {f"{result['lab']}.html": student_page(environment, result["record"], after_due_date).encode()}
    return page if tells_too_early(result, after_due_date) else page | {"result.txt": sentence(result).encode()}


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, WHEN)
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return out.getvalue()


def participants(results, rows):
    """{name: Moodle's number}, from the hand-in's own name, or else from the roster."""
    found = {}
    pairs, _, _ = roster.join([result["record"] for result in results], rows)
    for record, row in pairs:
        found[record["name"]] = row["participant"]
    for result in results:
        named, (lms, number_of) = PARTICIPANT.search(result["record"]["from"]), result["record"]["lms"]
        if named or lms == "moodle" and number_of:
            found[result["name"]] = named[1] if named else number_of
    return found


def moodle_folder(name, number_of):
    """Moodle cuts at underscores, so the name has none."""
    return f"{re.sub('[_/]', ' ', file_name(name))}_{number_of}_assignsubmission_file_"


def run(options):
    layout.settle(options, options.out)
    rows = roster.load(options.roster) if options.roster else []
    data = policy.load(options.policy) if options.policy else None
    records, told = layout.newest(options.out)
    if not records:
        raise BadRecord(f"{options.out}: there is no record in {options.out}/records")
    results, more = policy.results(data, records, rows)
    told += more + [f"{result['name']}: no feedback: the grader could not decide" for result in results if result["undecided"]]
    results = [result for result in results if not result["undecided"]]
    environment = templates()
    folder = os.path.join(options.out, "feedback")
    os.makedirs(folder, exist_ok=True)
    made, numbers, in_moodle = set(), participants(results, rows), {}
    for result in results:
        files = files_of(environment, result, options.after_due_date)
        made.add(file_name(result["name"]) + ".zip")
        write_whole(os.path.join(folder, file_name(result["name"]) + ".zip"), zipped(files))
        if options.moodle and numbers.get(result["name"]):
            in_moodle.update({f"{moodle_folder(result['name'], numbers[result['name']])}/{name}": text for name, text in files.items()})
        elif options.moodle:
            told.append(f"{result['name']}: not for Moodle: neither the hand-in's name nor the roster has the participant's number")
    for left in sorted(name for name in os.listdir(folder) if name.endswith(".zip") and name not in made):
        os.unlink(os.path.join(folder, left))   # of one who has withdrawn since
    print(f"{folder}: {len(made)} zip files")
    if any(tells_too_early(result, options.after_due_date) for result in results):
        print("result.txt is left out: it would tell of checks that are shown from the due date on (--after-due-date)")
    if options.moodle:
        path = os.path.join(options.out, "feedback-moodle.zip")
        write_whole(path, zipped(in_moodle))
        print(f"{path}: {len({name.split('/')[0] for name in in_moodle})} folders: \"Upload multiple feedback files in a zip\"")
    return told


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out", help="the folder that the class was graded into")
    parser.add_argument("--moodle", action="store_true", help="also one zip in Moodle's layout")
    by_rules.add_options(parser)
    parser.add_argument("--after-due-date", action="store_true", help="show what students may see from then on")
    options = parser.parse_args()
    ending.end("feedback", lambda: run(options))


if __name__ == "__main__":
    main()
