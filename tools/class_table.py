#!/usr/bin/env python3
"""All labs of a term in one table: `make term CLASS=folder [COURSE_FILE=file]`.

CLASS has a folder in it for each lab that was graded. Writes CLASS/term.csv and CLASS/term.html: a line for each student,
a column for each lab, and the weighted mean in per cent. With a policy in course.json the points are those that it leaves.
Weights are those of "labs" in course.json; without it each lab counts the same. Who has no record in a lab has 0 there, and who waits for a decision has no mean yet.
With a roster in course.json a line is a row of it, whatever the student's hand-ins are called; who is in no row has a line and is said.
"""
import csv
import io
import os

import course as settings_file
import ending
from arguments import Parser
from class_folder import Unusable, write_whole
from exports import layout, roster
from exports.formats import BYTE_ORDER_MARK, cell
from exports.record import BadRecord, check_one_kind
from report import templates

NONE, WAITS, REFUSED = "-", "not decided", "refused"
UNCLEAR = {"undecided": True, "refused": "", "score": 0.0, "total": 0.0}   # in place of a record: whose it is, is not known


def graded_folders(folder):
    """Folders with records in them, by name."""
    found = [os.path.join(folder, entry) for entry in sorted(os.listdir(folder))]
    return [path for path in found if os.path.isdir(os.path.join(path, "records"))]


def roster_of(told):
    """The rows of the course's roster; none where it has no roster."""
    return roster.load(told["roster"]) if told.get("roster") else []


def counted(records, told, rows):
    """The records with the points that the course's policy leaves of them, and what it complains of."""
    if not told.get("policy"):
        return records, []
    from exports import policy   # pylint: disable=import-outside-toplevel # it needs jsonschema
    results, said = policy.results(policy.load(told["policy"]), records, rows)
    return [result["record"] | {"score": result["final"]} for result in results], said


def people_of(rows):
    """{line of the roster: name}. Two of one name have more than that."""
    names = [roster.key(row["name"]) for row in rows]
    return {row["line"]: row["name"] if names.count(name) == 1 else f"{row['name']} ({row['id'] or row['login'] or row['mail'] or row['line']})"
            for row, name in zip(rows, names)}


def by_person(records, rows):
    """({line of the roster, or the name of one who is in no row: record}, complaints). Whose a record is, the roster says as for columns."""
    if not rows:
        return {record["name"]: record for record in records}, []
    pairs, left, _ = roster.join(records, rows)
    found, rows_of = {row["line"]: record for record, row in pairs}, roster.finder(rows)
    for record, _ in left:
        found[record["name"]] = record
        found = {row["line"]: UNCLEAR for row in rows_of(record["name"])} | found
    return found, [f"{record['lab']}: {record['name']}: {why}" for record, why in left]


def read_labs(folder, told, rows):
    """({lab: {person: record}}, lines about what cannot be read)"""
    labs, lines, places = {}, [], {}
    for path in graded_folders(folder):
        try:
            records, bad = layout.newest(path)
            check_one_kind(records)
            records, said = counted(records, told, rows)
        except BadRecord as error:
            raise BadRecord(f"{path}: {error}") from None
        lines += bad + said
        for record in records:
            if places.setdefault(record["lab"], path) != path:
                raise BadRecord(f"{record['lab']} was graded into {places[record['lab']]} and into {path}: keep one")
        for lab in sorted({record["lab"] for record in records}):
            labs[lab], unclear = by_person([record for record in records if record["lab"] == lab], rows)
            lines += unclear
    if not labs:
        raise BadRecord(f"{folder}: no lab was graded into a folder of it")
    return dict(sorted(labs.items())), lines


def weights_of(labs, told):
    """{lab: weight}. A lab that the course does not name has none."""
    weights = {lab: told.get(lab, 0) if told else 1 for lab in labs}
    if not any(weights.values()):
        raise Unusable("course.json: none of the graded labs has a weight in it")
    return weights


def result(record):
    """What stands in a table for a record, or for none."""
    if record is None:
        return NONE
    return WAITS if record["undecided"] else REFUSED if record["refused"] else f"{record['score']:g}"


def mean(person, labs, weights):
    """Per cent of what the labs are worth, or None where one is not decided."""
    total = 0.0
    for lab, records in labs.items():
        record = records.get(person)
        if record and record["undecided"] and weights[lab]:
            return None
        total += weights[lab] * record["score"] / record["total"] if record and record["total"] else 0.0
    return 100 * total / sum(weights.values())


def table(labs, weights, people):
    """[{name, results, mean}] of all students, by name. `people`: those of the roster."""
    names = people | {person: person for records in labs.values() for person in records if person not in people}
    return [{"name": name, "results": [result(records.get(person)) for records in labs.values()], "mean": mean(person, labs, weights)}
            for person, name in sorted(names.items(), key=lambda each: each[1].casefold())]


def as_csv(labs, weights, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["name", *labs, "per cent"])
    writer.writerow(["(weight)", *(f"{weights[lab]:g}" for lab in labs), ""])
    for row in rows:
        results = ["" if each in (NONE, WAITS) else "0" if each == REFUSED else each for each in row["results"]]
        writer.writerow([cell(row["name"]), *results, "" if row["mean"] is None else f"{row['mean']:.2f}"])
    return BYTE_ORDER_MARK + out.getvalue()


def run(options):
    if not os.path.isdir(options.folder):
        raise Unusable(f"CLASS={options.folder}: there is no such folder")
    told = settings_file.load(options.folder, options.course)
    listed = roster_of(told)
    labs, bad = read_labs(options.folder, told, listed)
    weights = weights_of(labs, told["labs"])
    rows = table(labs, weights, people_of(listed))
    totals = {lab: max(record["total"] for record in records.values()) for lab, records in labs.items()}
    page = templates().get_template("term.html").render(labs=labs, weights=weights, totals=totals, rows=rows, bad=bad)
    write_whole(os.path.join(options.folder, "term.csv"), as_csv(labs, weights, rows).encode())
    write_whole(os.path.join(options.folder, "term.html"), page.encode())
    print(f"{os.path.join(options.folder, 'term.html')}: {len(rows)} student{'s' if len(rows) > 1 else ''}, {len(labs)} lab{'s' if len(labs) > 1 else ''}")
    return bad


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", help="with a folder in it for each lab that was graded")
    parser.add_argument("--course", help="settings of the course; course.json in the folder or above it")
    options = parser.parse_args()
    ending.end("term", lambda: run(options))


if __name__ == "__main__":
    main()
