#!/usr/bin/env python3
"""Grades of a class that was graded into OUT, by a policy and a roster.

    tools/grades.py late OUT --policy policy.json [--roster roster.csv]
        prints for each student the points, how late, the loss, what is left and why; OUT/late.csv has it too
    tools/grades.py columns OUT --lms canvas|moodle|blackboard --roster roster.csv [--policy policy.json] [--column TITLE]
        writes OUT/columns/LMS.csv for the grade book, and OUT/columns/unmatched.csv: who is not in it, and why

Exit status 1: written, but a hand-in has no grade in it; 2: the roster or the policy is wrong, and nothing is written.
"""
import os

import by_rules
import ending
from arguments import Parser
from class_folder import Unusable, write_whole
from exports import formats, layout, policy, roster
from exports.formats import cell, number


def read(options):
    """(results, rows of the roster, complaints)"""
    layout.settle(options, options.out)
    rows = roster.load(options.roster) if options.roster else []
    data = policy.load(options.policy) if options.policy else None
    records, bad = layout.newest(options.out)
    if not records:
        raise Unusable(f"{options.out}: there is no record in {options.out}/records")
    if len({record["lab"] for record in records}) > 1:
        raise Unusable(f"{options.out}: records of several labs: {', '.join(sorted({record['lab'] for record in records}))}")
    results, said = policy.results(data, records, rows)
    return sorted(results, key=lambda result: result["name"].casefold()), rows, bad + said


# ---- late ---------------------------------------------------------------------------------------------

HEAD = ("name", "points", "total", "late by", "loss", "final", "why")


def say_withdrawn(out):
    """They are in no table, and no error."""
    names = layout.withdrawn(out)
    if names:
        print(f"withdrawn, in no table: {', '.join(sorted(names))}")


def late_row(result):
    points, loss, final = ("", "", "") if result["undecided"] else map(number, (result["raw"], result["loss"], result["final"]))
    why = "the grader could not decide" if result["undecided"] else result["why"]
    return [result["name"], points, number(result["total"]), policy.duration(result["late"]), loss, final, why]


def aligned(rows):
    """Lines with numbers to the right and words to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = (0, len(widths) - 1)
    return ["  ".join(text.ljust(width) if i in left else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths))).rstrip()
            for row in rows]


def late(options):
    results, _, said = read(options)
    if not options.policy:
        raise Unusable("late: a policy is wanted: POLICY=policy.json, or in course.json")
    rows = [late_row(result) for result in results]
    write_whole(os.path.join(options.out, "late.csv"),
                formats.table(HEAD, [[cell(row[0]), *row[1:-1], cell(row[-1])] for row in rows]).encode())
    print("\n".join(aligned([list(HEAD), *rows])))
    say_withdrawn(options.out)
    return said


# ---- columns of a grade book --------------------------------------------------------------------------

def canvas_number(result, row):
    """Canvas' own number of the student: of the roster, or of the name that it gave the hand-in."""
    lms, number_of = result["record"]["lms"]
    return row["canvas"] or (number_of if lms == "canvas" and number_of.isdecimal() else "")


def canvas(pairs, column, total):
    """Five columns of a student come first, and a row with the points: so Canvas' own export has it."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column]
    points = ["    Points Possible", "", "", "", "", number(total)]
    return formats.table(head, [points, *([row["name"], row["canvas"], row["id"], row["login"] or row["mail"], row["section"],
                                           number(result["final"])] for result, row in pairs)])


def moodle(pairs, column, _):
    """Moodle asks which column is which; these have the names that it suggests by itself."""
    head = ["Full name", "ID number", "Email address", column, f"{column} (feedback)"]
    return formats.table(head, [[row["name"], row["id"], row["mail"], number(result["final"]), result["why"] if result["loss"] else ""]
                                for result, row in pairs])


def blackboard(pairs, column, _):
    """Blackboard knows a student by the user name alone."""
    return formats.table(["Username", column], [[row["login"] or row["id"], number(result["final"])] for result, row in pairs])


LMS = {"canvas": (canvas, ("canvas", "id", "login", "mail")), "moodle": (moodle, ("id", "mail")), "blackboard": (blackboard, ("login", "id"))}


def unknown_to(lms, row):
    """Why the LMS would not find a student of the roster; "" if it would."""
    texts = [row[column] for column in LMS[lms][1] if row[column]]
    if not texts:
        return f"the roster has none of {', '.join(LMS[lms][1])}, by which {lms.capitalize()} knows a student"
    if any(cell(text) != text for text in texts):
        return "the roster has something that a spreadsheet would take for a formula"
    return ""


def columns(options):
    results, rows, said = read(options)
    if not options.roster:
        raise Unusable("columns: a roster is wanted: ROSTER=roster.csv, or in course.json")
    pairs, left, absent = roster.join(results, rows)
    said_of = [("the grader could not decide" if result["undecided"] else unknown_to(options.lms, row), result, row) for result, row in pairs]
    left += [(result, why) for why, result, _ in said_of if why]
    pairs = [(result, row) for why, result, row in said_of if not why]
    lab, total = results[0]["lab"], max(result["total"] for result in results)
    made = LMS[options.lms][0]([(result, row | {"name": cell(row["name"]), "section": cell(row["section"]), "canvas": canvas_number(result, row)})
                                for result, row in pairs],
                               cell(options.column or lab), total)
    folder = os.path.join(options.out, "columns")
    os.makedirs(folder, exist_ok=True)
    unmatched = [["hand-in", cell(result["name"]), "" if result["undecided"] else number(result["final"]), why] for result, why in left]
    rows_of = roster.finder(rows)
    waits = {row["line"] for name in layout.waiting(options.out) for row in rows_of(name)}
    unmatched += [["student", cell(row["name"]), "", f"line {row['line']} of the roster: {'a hand-in that waits' if row['line'] in waits else 'no hand-in'}"]
                  for row in absent]
    write_whole(os.path.join(folder, "unmatched.csv"), formats.table(["kind", "name", "points", "why"], unmatched).encode())
    path = os.path.join(folder, f"{options.lms}.csv")
    write_whole(path, made.encode())
    print(f"{path}: {len(pairs)} of {len(results)} hand-ins, of {len(rows)} students")
    for kind, name, points, why in unmatched:
        print(f"  not in it: {kind} {name}{', ' + points + ' points' if points else ''}: {why}")
    say_withdrawn(options.out)
    return said + [f"{len(left)} of {len(results)} hand-ins have no grade in {path}"] * bool(left)


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("table", choices=["late", "columns"])
    parser.add_argument("out", help="the folder that the class was graded into")
    by_rules.add_options(parser)
    parser.add_argument("--lms", choices=LMS, default="moodle")
    parser.add_argument("--column", help="the title of the grade book's column; otherwise the lab's name")
    options = parser.parse_args()
    ending.end("grades", lambda: {"late": late, "columns": columns}[options.table](options))


if __name__ == "__main__":
    main()
