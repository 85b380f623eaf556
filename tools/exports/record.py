"""A record as the formats see it: read, cleaned, and cut down to what a student may see.

A record is written by the grader, but names and texts in it come from a student. Here they become plain text; each
format then escapes them in its own way.
"""
import json
import os
import re

from exports import language
from release import same_points

STATES = ("grader error", "pass", "fail", "not started", "crashed", "timeout", "over budget", "build error",
          "sandbox error", "not run")
PACKED = "packed with kit "                     # a note that is for the instructor
UNDECIDED = ("grader error", "sandbox error")   # they say nothing about the hand-in
MOST_TEXT = 4000                                # characters of one text: a results file must stay below 1 MB
MOST_CHECKS = 1000
MOST_BYTES = 64 << 20                           # of a record

# Control characters, halves of characters, what turns the direction of writing, what XML does not have.
NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")


class BadRecord(Exception):
    """What is not right about a record, in one line."""


def clean(text, most=MOST_TEXT):
    """Text that is only text, of modest length."""
    text = NO_TEXT.sub("\ufffd", text.replace("\r\n", "\n"))
    return text if len(text) <= most else text[:most] + "\n[...]"


def one_line(text):
    """For a name or a title."""
    return " ".join(clean(text, 200).split())


def told(error):
    """An error as one line; of the system's the file, and what is wrong with it."""
    text = f"{os.fsdecode(error.filename)}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    return " ".join(clean(text).split())


# ---- reading ----------------------------------------------------------------------------------------

def want(condition, what):
    if not condition:
        raise BadRecord(what)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e15


def number(entry, key):
    value = entry.get(key, 0)
    want(is_number(value), f"{key} is not a number")
    return float(value)


def text(entry, key, default=""):
    value = entry.get(key, default)
    want(isinstance(value, str), f"{key} is not text")
    return value


def read_row(entry):
    want(isinstance(entry, dict), "a check is not an object")
    name = text(entry, "name")
    want(re.fullmatch(r"\w{1,100}", name, re.ASCII), f"{name[:40]!a} is not the name of a check")
    state = text(entry, "state")
    want(state in STATES, f"check {name}: {state[:40]!a} is not a state")
    want("points" in entry, f"check {name} has no points")
    points = number(entry, "points")
    row = {"name": name, "state": state, "points": points, "earned": points if state == "pass" else 0.0,
           "title": one_line(text(entry, "title")), "visibility": text(entry, "visibility", "always"),
           "seconds": number(entry, "seconds"), "peak_bytes": number(entry, "peak_bytes"),
           "timelines": read_timelines(entry.get("timelines", []))}
    want(row["visibility"] in ("always", "after_due_date", "never"), f"check {name}: no such visibility")
    return row | {key: clean(text(entry, key)).strip() for key in ("message", "mistake", "output")}


def read_timelines(entries):
    """Bytes in use over a step, by kind: each of {title, kinds: [name], bytes: [[bytes of each kind]], budget}."""
    want(isinstance(entries, list) and len(entries) <= 16, "timelines is not a list")
    return [read_timeline(entry) for entry in entries]


def read_timeline(entry):
    want(isinstance(entry, dict), "a timeline is not an object")
    kinds, moments = entry.get("kinds"), entry.get("bytes")
    want(isinstance(kinds, list) and 0 < len(kinds) <= 16 and all(isinstance(kind, str) for kind in kinds),
         "a timeline has no kinds")
    want(isinstance(moments, list) and 0 < len(moments) <= 100000
         and all(isinstance(moment, list) and len(moment) == len(kinds) and all(map(is_number, moment))
                 for moment in moments), "a timeline has no bytes for each kind")
    return {"title": one_line(text(entry, "title")), "kinds": [one_line(kind) for kind in kinds], "bytes": moments,
            "budget": number(entry, "budget")}


def read(data):
    """A record from what JSON gave. The score is added up again, never believed."""
    want(isinstance(data, dict) and isinstance(data.get("checks"), list), "this is not a record")
    want(0 < len(data["checks"]) <= MOST_CHECKS, "it has no checks, or too many")
    lab = text(data, "lab")
    want(re.fullmatch(r"\w{1,100}", lab, re.ASCII), f"{lab[:40]!a} is not a lab")
    rows = [read_row(entry) for entry in data["checks"]]
    hand_in = data.get("hand_in", {})
    want(isinstance(hand_in, dict), "its hand_in is not an object")
    return {"lab": lab, "name": one_line(text(data, "name")), "from": one_line(text(data, "from")),
            "sandbox": one_line(text(data, "sandbox")), "rows": rows,
            "score": sum(row["earned"] for row in rows), "total": sum(row["points"] for row in rows),
            "seconds": sum(row["seconds"] for row in rows), "refused": one_line(text(hand_in, "refused")),
            "undecided": any(row["state"] in UNDECIDED for row in rows),
            "bets": read_bets(hand_in.get("bets", {})), "notes": read_notes(hand_in.get("notes", [])),
            "sums": sums_of(hand_in), "packed": {text(hand_in, "sha256"), *names_of(hand_in, "same")}, "lms": lms_of(hand_in),
            **{key: one_line(text(data, key)) for key in ("kit", "judge", "handed_in", "handed_in_from", "graded")},
            "story": read_story(data.get("story")), "blamed": read_blamed(data.get("blamed", []))}


def read_bets(entries):
    """What was bet on each of the lab's questions: {name: {"bet", "formula", "measured"}}, each where there is one."""
    want(isinstance(entries, dict) and len(entries) <= 64, "bets is not an object")
    for entry in entries.values():
        want(isinstance(entry, dict) and all(isinstance(value, (int, float)) and is_number(abs(value)) for value in entry.values()),
             "a bet is not a number")
    return {one_line(name): {key: float(value) for key, value in entry.items()} for name, entry in entries.items()}


def sums_of(hand_in):
    """What two records of the same files have in common: their sha256, or why they were refused."""
    files = hand_in.get("files", {})
    want(isinstance(files, dict) and all(isinstance(value, str) for value in files.values()), "files is not an object")
    return json.dumps([sorted(files.items()), text(hand_in, "refused") if not files else ""])


def lms_of(hand_in):
    """(which LMS has named the hand-in, its number of the student), each "" where that is not known."""
    entry = hand_in.get("lms", {})
    want(isinstance(entry, dict), "lms is not an object")
    return one_line(text(entry, "system")), one_line(text(entry, "id"))


def names_of(entry, key):
    names = entry.get(key, [])
    want(isinstance(names, list) and all(isinstance(name, str) for name in names), f"{key} is not a list of names")
    return names


def read_story(entry):
    """The mistake that several lost checks have in common, {mistake, checks}, or None."""
    if entry is None:
        return None
    want(isinstance(entry, dict), "the story is not an object")
    return {"mistake": one_line(text(entry, "mistake")), "checks": names_of(entry, "checks")}


def read_blamed(entries):
    """With which part of the kit lost checks pass: sentences."""
    want(isinstance(entries, list) and len(entries) <= 16 and all(isinstance(entry, str) for entry in entries),
         "blamed is not a list of sentences")
    return [clean(entry, 600) for entry in entries]


def read_notes(entries):
    """What was said when the hand-in was unpacked."""
    want(isinstance(entries, list) and len(entries) <= 64 and all(isinstance(entry, str) for entry in entries), "notes is not a list of sentences")
    return [one_line(entry) for entry in entries]


def no_number(word):
    raise ValueError(f"{word} is not a number in JSON")


def no_name_twice(pairs):
    names = dict(pairs)
    if len(names) < len(pairs):
        raise ValueError("a name is there twice")
    return names


def parse(data):
    """A record from the bytes of a file. BadRecord with one line if they hold none."""
    try:
        want(len(data) <= MOST_BYTES, "it is too large")
        return read(json.loads(data.decode(errors="replace"), object_pairs_hook=no_name_twice, parse_constant=no_number))
    except json.JSONDecodeError as error:
        raise BadRecord(f"this is not JSON: {error}") from None
    except (ValueError, RecursionError) as error:
        raise BadRecord(str(error)) from None


def load(path):
    """The record in a file. BadRecord or OSError if there is none."""
    with open(path, "rb") as file:
        try:
            return parse(file.read(MOST_BYTES + 1))
        except BadRecord as error:
            raise BadRecord(f"{path}: {error}") from None


# ---- records together -------------------------------------------------------------------------------

def check_one_kind(records):
    """Those of a lab stand in one table where the same checks and a kit that gives the same points have made them."""
    first = {}
    for record in records:
        other = first.setdefault(record["lab"], record)
        mine, theirs = (each["kit"] or "before 1.0.0" for each in (record, other))
        names = f"{record['name'] or 'a record'} and {other['name'] or 'another'}"
        if not same_points(record["kit"], other["kit"]):
            raise BadRecord(f"{names}: made by kit {mine} and kit {theirs}, not for one table: REGRADE=changed grades the older ones again")
        if record["judge"] != other["judge"]:
            raise BadRecord(f"{names}: graded by different checks, not for one table: REGRADE=changed grades the older ones again")


# ---- what a student may see -------------------------------------------------------------------------

HIDDEN_ROW = "hidden"   # stands for all that may not be seen


def may_see(row, after_due_date):
    return row["visibility"] == "always" or (after_due_date and row["visibility"] == "after_due_date")


def for_student(record, after_due_date):
    """The rows for formats that know no hidden rows: those that may be seen, the others as one sum without a word."""
    shown = [row for row in record["rows"] if may_see(row, after_due_date)]
    hidden = [row for row in record["rows"] if not may_see(row, after_due_date)]
    if hidden:
        points, earned = (sum(row[key] for row in hidden) for key in ("points", "earned"))
        undecided = any(row["state"] in UNDECIDED for row in hidden)
        state = "grader error" if undecided else "pass" if earned == points else "fail"
        shown.append({"name": HIDDEN_ROW, "title": spoken("checks that are not shown"), "state": state, "points": points,
                      "earned": earned, "seconds": 0.0, "peak_bytes": 0.0, "message": "", "mistake": "", "output": "",
                      "timelines": [], "visibility": "always"})
    return shown


def passed(row):
    """Whether a row is nothing to look at. One that was not run for want of a GPU has no points to lose."""
    return row["state"] in ("pass", "not run")


def spoken(text):
    """In the language of the course."""
    return language.here().said(text)


def in_words_of_the_course(record):
    """The record with its sentences in the language of the course. How a check ended stays a word of the kit's."""
    rows = [row | {key: spoken(row[key]) for key in ("title", "message", "mistake")} for row in record["rows"]]
    story = record["story"] and record["story"] | {"mistake": spoken(record["story"]["mistake"])}
    lists = {key: [text if text.startswith(PACKED) else spoken(text) for text in record[key]] for key in ("notes", "blamed")}
    return record | {"rows": rows, "story": story, "refused": spoken(record["refused"])} | lists


def diagnosis(row):
    """How a check ended, what was seen, and the likely mistake; "" where nothing is wrong."""
    return "" if passed(row) else "\n".join(filter(None, (spoken(row["state"]), row["message"], row["mistake"])))


def written(row):
    """What the program wrote, where that may help and has not been said."""
    return "" if passed(row) or row["output"] in row["message"] else row["output"]


def explain(row):
    """Both together, as one text."""
    output = written(row)
    return clean(diagnosis(row) + (f"\n\n{spoken('The program wrote:')}\n{output}" if output else ""))


def are_all(record, rows):
    """Whether `rows` stand for every check of the record: those that may not be seen may be one row."""
    names = {row["name"] for row in rows}
    return HIDDEN_ROW in names or all(row["name"] in names for row in record["rows"])


def headline(record, rows):
    """What comes first, above all rows."""
    if record["undecided"]:
        return spoken("The grader itself failed. This says nothing about your work: it will be graded again.")
    if record["refused"]:
        return spoken(f"The hand-in was refused: {record['refused']}")
    lost = [row["name"] for row in rows if not passed(row)]
    if lost:
        return spoken(f"{len(lost)} check{'s' * (len(lost) > 1)} lost points: {', '.join(lost)}")
    return spoken("Every check passed." if are_all(record, rows) else "Every check that you see passed.")


def notes(record, rows):
    """What is known of several lost checks together: their one mistake, and the part that is to blame; and of the hand-in, what
    was not as it should be."""
    lost = [row["name"] for row in rows if not passed(row)]
    story = record["story"]
    told = [name for name in lost if story and name in story["checks"]]
    which = f"all {len(lost)}" if len(told) == len(lost) else f"{len(told)} of {len(lost)}"
    found = [spoken(f"One mistake explains {which} lost checks: {story['mistake']}")] if len(told) > 1 else []
    found += [note for note in record["notes"] if not note.startswith(PACKED)]
    return found + ([sentence[:1].upper() + sentence[1:] + "." for sentence in record["blamed"]] if lost else [])


def overview(record, rows):
    """Headline and notes as one text."""
    return "\n".join([headline(record, rows), *notes(record, rows)])
