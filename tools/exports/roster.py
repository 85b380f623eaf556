"""roster.csv: who is in the class. The first line names the columns; all but the first may be missing or empty.

    name          as it is shown, and as the student hands in, if nothing else fits
    id            the number that the institution gives
    mail          address
    login         the account in the LMS, if it is not the id
    section       of Canvas
    canvas        Canvas' own number of the student
    participant   Moodle's number of the student in the assignment

A hand-in belongs to the row that has its name in one of the first four columns, or before the @ of the address. Where none has it, it
belongs to the one that has the same letters and digits: `make handin03` writes a hyphen for a blank.
"""
import csv
import io
import re
import unicodedata

from exports.record import BadRecord, one_line

COLUMNS = ("name", "id", "mail", "login", "section", "canvas", "participant")
KEYS = ("name", "id", "mail", "login")
MOST_ROWS, MOST_BYTES = 100000, 64 << 20


def key(text):
    """What counts as the same: whatever the case, the spaces, and the way in which an umlaut is written."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def letters(text):
    """What counts as the same where nothing else fits: the letters and digits alone."""
    return " ".join(re.findall(r"[^\W_]+", key(text)))


def load(path):
    """The rows, each a dictionary with all of COLUMNS and the number of its line."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRecord(f"{path}: it is not UTF-8: save it as \"CSV UTF-8\"") from None
    first = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        head = [key(cell) for cell in next(reader, [])]
        known(path, head)
        rows = [row_of(path, reader.line_num, head, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise BadRecord(f"{path}:{reader.line_num}: {error}") from None
    if not rows or len(rows) > MOST_ROWS:
        raise BadRecord(f"{path}: it has no students, or more than {MOST_ROWS}")
    unique(path, rows)
    return rows


def known(path, head):
    for name in head:
        if name not in COLUMNS:
            raise BadRecord(f"{path}:1: {one_line(name)!r} is not a column: {', '.join(COLUMNS)}")
        if head.count(name) > 1:
            raise BadRecord(f"{path}:1: the column {name} is there twice")
    if "name" not in head:
        raise BadRecord(f"{path}:1: it has no column `name`")


def row_of(path, line, head, cells):
    if len(cells) != len(head):
        raise BadRecord(f"{path}:{line}: {len(cells)} cells, and {len(head)} columns")
    row = {name: "" for name in COLUMNS} | {name: one_line(cell) for name, cell in zip(head, cells)} | {"line": line}
    if not row["name"]:
        raise BadRecord(f"{path}:{line}: it has no name")
    if row["participant"] and not re.fullmatch("[0-9]+", row["participant"]):
        raise BadRecord(f"{path}:{line}: participant is Moodle's number of the student, not {row['participant']!r}")
    return row


def unique(path, rows):
    """Two of one name may be; of an id, an address or an account there is one."""
    for column in ("id", "mail", "login", "canvas", "participant"):
        seen = {}
        for row in rows:
            if row[column] and seen.setdefault(key(row[column]), row) is not row:
                raise BadRecord(f"{path}:{row['line']}: the {column} {row[column]} is in line {seen[key(row[column])]['line']} too")


def keys_of(row):
    """All that a hand-in of this student may be called."""
    return {key(row[column]) for column in KEYS if row[column]} | ({key(row["mail"].split("@")[0])} if row["mail"] else set())


def rows_by_key(rows):
    """{what a hand-in may be called: the rows that it fits}"""
    found = {}
    for row in rows:
        for each in keys_of(row):
            found.setdefault(each, []).append(row)
    return found


def finder(rows):
    """A function that gives the rows which a hand-in of some name fits."""
    by_key, by_letters = rows_by_key(rows), {}
    for row in rows:
        for each in {letters(name) for name in keys_of(row)} - {""}:
            by_letters.setdefault(each, []).append(row)
    return lambda name: by_key.get(key(name)) or by_letters.get(letters(name), [])


def join(records, rows):
    """(pairs, records without a row with the reason, rows without a record). A row or a record that fits several fits none."""
    rows_of = finder(rows)
    claims, unmatched = {}, []
    for record in records:
        found = rows_of(record["name"])
        if len(found) == 1:
            claims.setdefault(found[0]["line"], (found[0], []))[1].append(record)
        else:
            why = "not in the roster" if not found else "in the roster on lines " + ", ".join(str(row["line"]) for row in found)
            unmatched.append((record, why))
    for row, several in claims.values():
        if len(several) > 1:
            names = ", ".join(record["name"] for record in several)
            unmatched += [(record, f"one row, on line {row['line']}, for several hand-ins: {names}") for record in several]
    pairs = [(several[0], row) for row, several in claims.values() if len(several) == 1]
    taken = {row["line"] for row, _ in claims.values()}
    return pairs, unmatched, [row for row in rows if row["line"] not in taken]
