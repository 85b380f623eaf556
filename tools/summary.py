"""What a class comes to: OUT/hand_ins.json, OUT/summary.json, and the lines that say it."""
import datetime
import os
import resource
import statistics

from class_folder import read_record, record_files, undecided, write_json
from exports.record import PACKED
from hand_ins import is_of_the_future, moment, shown

GRADED, REFUSED, UNDECIDED, WITHDRAWN, WAITING = "graded", "refused", "not decided", "withdrawn", "not graded"
MOST_LOST = 5


def state_of(record):
    return UNDECIDED if undecided(record) else REFUSED if "refused" in record["hand_in"] else GRADED


# ---- every hand-in ----------------------------------------------------------------------------------

def row_of(record, path, out, state):
    hand_in = record["hand_in"]
    return {"name": record["name"], "file": record["from"], "sha256": hand_in.get("sha256", ""),
            "handed_in": record["handed_in"], "handed_in_from": record["handed_in_from"],
            **({"lms": hand_in["lms"]} if "lms" in hand_in else {}),
            "graded": record["graded"], "score": record["score"], "total": record["total"],
            "record": os.path.relpath(path, out), "state": state}


def hand_ins_of(course, name, hand_ins):
    """Rows for what a student has handed in, and for what was withdrawn: each hand-in once, with its latest record."""
    known, rows, shown_already = course.known(name), [], set()
    for hand_in in hand_ins:
        path, record = course.record_of(hand_in, known)
        if record is None:
            at, where = hand_in.handed_in()
            rows.append({"name": name, "file": hand_in.entry, "sha256": hand_in.sha256(), "handed_in": at, "handed_in_from": where,
                         "record": None, "state": WAITING})
        else:
            shown_already.add(record["hand_in"].get("sha256", path))
            at, where = course.handed_in(hand_in, record)
            rows.append(row_of(record, path, course.out, state_of(record)) | {"file": hand_in.entry, "sha256": hand_in.sha256(),
                                                                             "handed_in": at, "handed_in_from": where})
    for path, record in known:
        identity = record["hand_in"].get("sha256", path)
        if identity not in shown_already:
            shown_already.add(identity)
            rows.append(row_of(record, path, course.out, WITHDRAWN))
    return sorted(rows, key=lambda row: moment(row["handed_in"]))


def all_names(course, students):
    """Also of those who have old records alone."""
    old = os.path.join(course.records, "old")
    found = set(students)
    for folder in os.listdir(old) if os.path.isdir(old) else []:
        record = next(filter(None, map(read_record, record_files(os.path.join(old, folder)))), None)
        found |= {record["name"]} if record else set()
    return sorted(found)


def write_hand_ins(course, students, left_out):
    """Writes OUT/hand_ins.json; the rows. `left_out`: what else lies among the hand-ins."""
    rows = [row for name in all_names(course, students) for row in hand_ins_of(course, name, students.get(name, []))]
    write_json(os.path.join(course.out, "hand_ins.json"), {"version": 1, "lab": course.lab, "hand_ins": rows, "not_looked_at": left_out})
    return rows


# ---- scores together --------------------------------------------------------------------------------

def broken(course):
    """Files among the records that are none."""
    return [os.path.basename(path) for path in record_files(course.records) if read_record(path) is None]


def names_in(rows, state):
    """Students with a hand-in of that state."""
    return list(dict.fromkeys(row["name"] for row in rows if row["state"] == state))


def summarize(course, students, rows, before):
    """Reads one record after the other, and keeps a few numbers of each. `rows`: of all hand-ins; `before`: {name: score} at the
    start."""
    scores, lost, kinds, judge_bytes = {}, {}, set(), 0
    of_state, noted = {GRADED: [], REFUSED: [], UNDECIDED: []}, []
    for name in students:
        record = course.load(name)
        if record is None:
            continue
        scores[name] = record["score"]
        kinds.add((record["judge"], record["kit"]))
        of_state[state_of(record)].append(name)
        noted += [name] if any(not note.startswith(PACKED) for note in record["hand_in"].get("notes", [])) else []
        for row in record["checks"]:
            judge_bytes = max(judge_bytes, row.get("judge_bytes", 0))
            if "refused" not in record["hand_in"]:
                lost[row["name"]] = lost.get(row["name"], 0) + (row["state"] not in ("pass", "not run"))
    values = [scores[name] for name in of_state[GRADED]]
    changed = {name: [before[name], score] for name, score in scores.items() if name in before and before[name] != score}
    return {"version": 1, "lab": course.lab, "hand_ins": sum(map(len, students.values())), "students": len(students),
            "graded": len(values), "missing": names_in(rows, WAITING), "undecided": names_in(rows, UNDECIDED), "refused": of_state[REFUSED],
            "noted": noted, "judges": sorted({judge for judge, _ in kinds}), "kits": sorted({kit for _, kit in kinds}), "lost": lost, "changed": changed,
            "judge_bytes": judge_bytes, "own_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
            "mean": statistics.fmean(values) if values else None,
            "median": statistics.median(values) if values else None, "scores": scores}


def reasons(course, names):
    """A line for each who was refused: why."""
    return [f"    {shown(name)}: {shown(course.load(name)['hand_in']['refused'])}" for name in names]


def print_summary(course, summary):
    refused = summary["refused"]
    print(f"{summary['graded']} of {summary['students']} students are graded{f', {len(refused)} refused' if refused else ''}: "
          f"records in {course.records}")
    if summary["graded"]:
        lost = sorted(((name, count) for name, count in summary["lost"].items() if count), key=lambda entry: -entry[1])[:MOST_LOST]
        print(f"mean {summary['mean']:.1f}, median {summary['median']:g}"
              + ("; lost by: " + ", ".join(f"{name} {count}" for name, count in lost) if lost else ""))
    if summary["changed"]:
        print("changed: " + ", ".join(f"{shown(name)} {before:g} -> {after:g}" for name, (before, after) in summary["changed"].items()))
    for key, text in (("left_out", "not looked at, by its name, or as neither a folder nor an archive"), ("withdrawn", "without a hand-in now, out of all tables"),
                      ("broken", "not a record, and nobody's here: look at it"), ("of_the_future", "handed in at a time that is still to come (a wrong clock?); a name such as NAME@TIME sets the right one"),
                      ("noted", "with a note about the files, on the student's page"), ("missing", "not graded: start again"),
                      ("undecided", "the grader's own fault, not decided: start again with ONLY=failed")):
        if summary[key]:
            print(f"{len(summary[key])} {text}: {', '.join(map(shown, summary[key]))}")
    if summary["zone"]:
        print(f"time zone of entries whose time has none: {summary['zone']}")
    for name, why in summary["unread"].items():
        print(f"    {shown(name)}: cannot be read here: {why}")
    if refused:
        print(f"{len(refused)} refused, 0 points:", *reasons(course, refused), sep="\n")
    print(f"peak memory: {summary['own_bytes'] / 1048576:.0f} MiB for all, {summary['judge_bytes'] / 1048576:.0f} MiB for a judge")


def zone_taken(hand_ins, zone):
    """In which zone times were read that say none; "" where each says its own."""
    if not any(hand_in.local for hand_in in hand_ins):
        return ""
    return str(zone) if zone else f"this machine's, {datetime.datetime.now().astimezone().tzname()} (time_zone in policy.json or course.json names another)"


def finish(course, students, before, left_out, zone):
    """Puts records where they belong, writes and prints what the class comes to; the summary."""
    withdrawn = withdraw(course, students)
    rows = write_hand_ins(course, students, left_out)
    all_of_them = [hand_in for hand_ins in students.values() for hand_in in hand_ins]
    summary = {**summarize(course, students, rows, before), "left_out": left_out, "zone": zone_taken(all_of_them, zone), "withdrawn": withdrawn, "broken": broken(course),
               "unread": {hand_in.name: hand_in.unread for hand_in in all_of_them if hand_in.unread},
               "of_the_future": list(dict.fromkeys(row["name"] for row in rows if row["state"] != WITHDRAWN and is_of_the_future(row["handed_in"])))}
    write_json(os.path.join(course.out, "summary.json"), summary)
    print_summary(course, summary)
    return summary


def withdraw(course, students):
    """Those whose hand-ins are gone leave the newest records; all who have none now, by name."""
    for name in [record["name"] for _, record in course.all_records() if record["name"] not in students]:
        course.withdraw(name)
    return [name for name in all_names(course, students) if name not in students]


