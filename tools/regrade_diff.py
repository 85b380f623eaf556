#!/usr/bin/env python3
"""Who moved when a class was graded again, and by which check.

    tools/regrade_diff.py OLD NEW      two records, or two folders that a class was graded into
    tools/regrade_diff.py --out OUT    of each student of one folder the newest record and the one before it

Exit status 0: compared; 1: compared, but for what cannot be read; 2: these cannot be compared.
"""
import datetime
import os
import sys

from arguments import Parser
from class_folder import Stopped, write_whole
from exports import formats, layout
from exports.formats import cell, number
from exports.record import BadRecord, told

NEVER = datetime.datetime.min.replace(tzinfo=datetime.timezone.utc)
HEAD = ("name", "check", "old", "new", "old state", "new state", "files")


class Bad(Exception):
    """Why nothing is compared."""


def of_place(path):
    """({name: record}, complaints) of a folder, or of one record under the name ""."""
    if not os.path.isdir(path):
        return {"": layout.read(path)}, []
    records, bad = layout.newest(path)
    if not records:
        raise Bad(f"{path}: there is no record in {path}/records")
    return {record["name"]: record for record in records}, bad


def one_before(record, old):
    """Of the same files the last one; else that of the hand-in before."""
    same = [each for each in old if each["sums"] == record["sums"]]
    return same[-1] if same else max(reversed(old), key=lambda each: (layout.time_of(each["handed_in"]) or NEVER))


def before_and_now(out):
    """The records of one folder that have another before them."""
    now, bad = of_place(out)
    before = {}
    for name, record in now.items():
        old, said = layout.older(record)
        bad += said
        if old:
            before[name] = one_before(record, old)
    return before, {name: now[name] for name in before}, bad


def moved(old, new):
    """A row of HEAD for each check that is not what it was, the name left out."""
    files = "the same" if old["sums"] == new["sums"] else "others"
    was, now = ({row["name"]: row for row in record["rows"]} for record in (old, new))
    for name in dict.fromkeys([*was, *now]):
        one, other = was.get(name), now.get(name)
        said = [(f"{number(row['earned'])} of {number(row['points'])}", row["state"]) if row else ("", "not a check") for row in (one, other)]
        if said[0] != said[1]:
            yield [name, said[0][0], said[1][0], said[0][1], said[1][1], files]


def compare(old, new):
    """(rows of HEAD, sentences)"""
    labs = {record["lab"] for records in (old, new) for record in records.values()}
    if len(labs) > 1:
        raise Bad(f"these are of several labs: {', '.join(sorted(labs))}")
    rows, said, by_check, changed = [], [], {}, 0
    for name in sorted(old.keys() & new.keys(), key=str.casefold):
        of_one = list(moved(old[name], new[name]))
        rows += [[name, *row] for row in of_one]
        was, now = old[name]["score"], new[name]["score"]
        changed += was != now
        for row in of_one:
            by_check[row[0]] = by_check.get(row[0], 0) + 1
        if of_one:
            again = "" if of_one[0][-1] == "the same" else ", other files"
            said.append(f"{name or new[name]['name']}: {number(was)} -> {number(now)} points{again}: "
                        + "; ".join(f"{check} {before or 'not there'} -> {after or 'not there'} ({state})" for check, before, after, _, state, _ in of_one))
    said += [f"{name}: only in the old" for name in sorted(old.keys() - new.keys())]
    said += [f"{name}: only in the new" for name in sorted(new.keys() - old.keys())]
    both = len(old.keys() & new.keys())
    total = f"{changed} of {both} have another score"
    most = sorted(by_check.items(), key=lambda entry: -entry[1])
    return rows, said + [total + (f"; by check: {', '.join(f'{check} {count}' for check, count in most)}" if most else "")]


def run(options):
    if options.out:
        old, new, bad = before_and_now(options.out)
    else:
        (old, bad), (new, more) = of_place(options.old), of_place(options.new)
        bad += more
        if ("" in old) != ("" in new):
            raise Bad("one is a record, the other a folder")
    rows, said = compare(old, new)
    if options.csv:
        write_whole(options.csv, formats.table(HEAD, [[cell(row[0]), *row[1:]] for row in rows]).encode())
    print("\n".join(said))
    return bad


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("old", nargs="?")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--out", help="one folder, compared with its own older records")
    parser.add_argument("--csv", help="a table of all checks that moved")
    options = parser.parse_args()
    if bool(options.out) == bool(options.new):
        parser.error("either OLD and NEW, or --out OUT")
    sys.stdout.reconfigure(errors="replace")
    try:
        bad = run(options)
    except (Bad, BadRecord, OSError) as error:
        print(f"regrade-diff: {told(error)}", file=sys.stderr)
        sys.exit(2)
    except Stopped as error:
        sys.exit(f"regrade-diff: {error}")
    for line in bad:
        print(f"regrade-diff: {line}", file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
