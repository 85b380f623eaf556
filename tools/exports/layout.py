"""The folder that a class was graded into, as exports read it. Where a record lies, and what hand_ins.json says, is known here.

    OUT/records/NAME.json        the newest record of each student
    OUT/records/old/NAME/K.json  those before it
    OUT/hand_ins.json            every hand-in that was seen, and what became of it
"""
import datetime
import glob
import json
import os

from class_folder import file_name
from exports.record import BadRecord, load, one_line, told

HAND_INS = "hand_ins.json"
MOST_NAMED = 8   # of those who wait
BEFORE_ALL = datetime.datetime.min.replace(tzinfo=datetime.timezone.utc)


def settle(options, out):
    """What the command line does not say of policy and roster, course.json does."""
    import course   # pylint: disable=import-outside-toplevel # a handout has none
    said = course.load(out, options.course)
    options.policy, options.roster = options.policy or said.get("policy"), options.roster or said.get("roster")


def json_in(folder):
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.json")))


def paths_of(out):
    """The newest record of each student."""
    return json_in(os.path.join(out, "records"))


def old_folder(path):
    """Where the records before this one lie."""
    folder, name = os.path.split(path)
    return os.path.join(folder, "old", name.removesuffix(".json"))


def old_paths(path):
    """The records before this one, the oldest first."""
    def number(each):
        stem = os.path.basename(each).removesuffix(".json")
        return (int(stem) if stem.isdigit() else 0, stem)
    return sorted(json_in(old_folder(path)), key=number)


def time_of(text):
    """A moment from ISO 8601 with an offset, as UTC has it; None where a record does not say it."""
    try:
        moment = datetime.datetime.fromisoformat(text)
        moment = moment.astimezone(datetime.timezone.utc) if moment.tzinfo is not None else None
        return moment if moment and moment.year < 9999 else None   # to which days can be added
    except (ValueError, OverflowError):
        return None


def read(path):
    """A record with its student's name and the path of its file."""
    record = load(path)
    return record | {"name": record["name"] or one_line(os.path.basename(path).removesuffix(".json")), "path": path}


def some(paths):
    """(records, why others cannot be read)"""
    records, bad = [], []
    for path in paths:
        try:
            records.append(read(path))
        except (BadRecord, OSError) as error:
            bad.append(f"left out: {told(error)}")
    return records, bad


def newest(out):
    """([the newest record of each student who has not withdrawn], [why others are not there]). `taken_out`: see below."""
    records, bad = some(paths_of(out))
    gone, there, taken = withdrawn(out), {}, taken_out(out)
    wait = waiting(out)
    if wait:
        names = ", ".join(list(dict.fromkeys(wait))[:MOST_NAMED]) + (", ..." if len(set(wait)) > MOST_NAMED else "")
        bad.append(f"grading was stopped, or could not read all: {len(wait)} hand-in{'s wait' if len(wait) > 1 else ' waits'}: {names}")
    for record in records:
        record["taken_out"] = taken.get(record["name"], set())
        if record["name"] not in gone and there.setdefault(record["name"], record) is not record:
            bad.append(f"left out: {record['path']}: {there[record['name']]['path']} has the name {record['name']} too")
    return list(there.values()), bad


def older(record):
    """Those before it, the oldest first. One that cannot be read is said with the newest."""
    return some(old_paths(record["path"]))


def hand_ins(out):
    """The entries of hand_ins.json; none where the class was graded by a kit that did not write it."""
    path = os.path.join(out, HAND_INS)
    try:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)["hand_ins"]
        if not all(isinstance(entry["name"], str) and isinstance(entry["state"], str) for entry in entries):
            raise ValueError
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadRecord(f"{path}: this is not a list of hand-ins") from None
    return entries


def withdrawn(out):
    """The names of students all of whose hand-ins are taken back."""
    states = {}
    for entry in hand_ins(out):
        states.setdefault(one_line(entry["name"]), set()).add(entry["state"])
    return {name for name, of in states.items() if of == {"withdrawn"}}


def has_record(out, row):
    """Whether a hand-in that waited when hand_ins.json was written has a record by now."""
    path = os.path.join(out, "records", file_name(row["name"]) + ".json")
    records, _ = some(filter(os.path.exists, [path, *old_paths(path)]))
    return bool(row.get("sha256")) and any(row["sha256"] in record["packed"] for record in records)


def waiting(out):
    """A name for each hand-in in IN that is not graded yet."""
    return [one_line(row["name"]) for row in hand_ins(out) if row["state"] == "not graded" and not has_record(out, row)]


def is_replaced(row, there):
    """Whether the system that a hand-in came from shows a newer one in its place. `there`: the student's hand-ins in IN. The name of
    an entry that says no time is the same for each; Blackboard has a new name for each attempt, and may show the newest alone."""
    if row.get("handed_in_from") != "name":
        return any(each.get("handed_in_from") != "name" for each in there)
    mine = [row, *there]
    of_blackboard = all(each.get("lms", {}).get("system") == "blackboard" for each in mine)
    return of_blackboard and bool(there) and min(mine, key=lambda each: time_of(each["handed_in"]) or BEFORE_ALL) is row


def taken_out(out):
    """{name: sha256 sums} of hand-ins that a hand has taken out of IN. One that is now another student's, the same bytes of the
    same moment, is among them."""
    rows, found = hand_ins(out), {}
    there = [row for row in rows if row["state"] != "withdrawn"]
    owners = {(row["sha256"], row.get("handed_in")): row["name"] for row in there if row.get("sha256")}
    of_name = {}
    for row in there:
        of_name.setdefault(row["name"], []).append(row)
    for row in rows:
        if row["state"] == "withdrawn" and row.get("sha256"):
            mine = owners.get((row["sha256"], row.get("handed_in")), row["name"]) == row["name"]
            if not mine or not is_replaced(row, of_name.get(row["name"], [])):
                found.setdefault(one_line(row["name"]), set()).add(row["sha256"])
    return found
