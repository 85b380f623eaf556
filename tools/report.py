#!/usr/bin/env python3
"""Reports of records in HTML: for a student, and for a class. No script in them, and every text of a student escaped.

    tools/report.py RECORD --output FILE      the page of one student
    tools/report.py OUT                       of a class that was graded into OUT: OUT/report/index.html, a page for each

A student's page shows what a student may see: --after-due-date shows what waits for that, --everything all.
"""
import collections
import os
import statistics
import sys
import urllib.parse

import ending
import jinja2
from arguments import Parser

from bets import declared, shown
from class_folder import file_name, write_whole
from exports import language, layout
from exports.record import UNDECIDED, BadRecord, check_one_kind, headline, in_words_of_the_course, load, may_see, notes, passed, spoken, written

WIDTH, HEIGHT, FLOOR = 720, 220, 190   # of a chart, in units of its own
BINS, MOST_DIAGNOSES = 10, 15
TO_LOOK = "To look at it: "   # with the name of the check


def mib(size):
    return f"{size / (1 << 20):.1f} MiB" if size >= 1 << 20 else f"{size / 1024:.1f} KiB"


def templates():
    """Everything is escaped; what is missing is an error."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "report")
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True, trim_blocks=True,
                                     undefined=jinja2.StrictUndefined)
    environment.filters |= {"mib": mib, "said": spoken}
    return environment


# ---- memory over a step -----------------------------------------------------------------------------

def outline(lower, upper, step, scale):
    """The path around what lies between two lines, each a number of bytes for each moment."""
    def point(i, size):
        return f"{i * step:.1f} {FLOOR - size * scale:.1f}"
    there = [point(i + end, size) for i, size in enumerate(upper) for end in (0, 1)]
    back = [point(i + end, size) for i, size in reversed(list(enumerate(lower))) for end in (1, 0)]
    return "M" + " L".join(there + back) + " Z"


def timeline_chart(timeline):
    """Kinds on top of each other, a step for each moment."""
    moments, budget = timeline["bytes"], timeline["budget"]
    totals = [sum(moment) for moment in moments]
    peak = max(totals)
    top = max(peak, budget, 1) * 1.05
    step, scale = WIDTH / len(moments), FLOOR / top
    areas, lower = [], [0] * len(moments)
    for kind, name in enumerate(timeline["kinds"]):
        upper = [below + moment[kind] for below, moment in zip(lower, moments)]
        if upper != lower:
            areas.append({"kind": name, "color": kind % 6, "path": outline(lower, upper, step, scale),
                          "peak": moments[totals.index(peak)][kind]})
        lower = upper
    return {"title": timeline["title"], "width": WIDTH, "height": FLOOR + 10, "floor": FLOOR, "areas": areas, "peak": peak,
            "budget": budget, "limit": round(FLOOR - budget * scale, 1) if budget else 0}


# ---- a student --------------------------------------------------------------------------------------

def tone(row):
    return "good" if row["state"] == "pass" else "odd" if row["state"] in (*UNDECIDED, "not run") else "bad"


def student_page(environment, record, after_due_date, everything=False):
    record = in_words_of_the_course(record)
    rows = [row for row in record["rows"] if everything or may_see(row, after_due_date)]
    shown = [row | {"tone": tone(row), "passed": passed(row), "written": written(row),
                    "charts": [timeline_chart(timeline) for timeline in row["timelines"]]} for row in rows]
    earned, points = (sum(row[key] for row in rows) for key in ("earned", "points"))
    return environment.get_template("student.html").render(
        record=record, rows=shown, headline=headline(record, rows), notes=notes(record, rows), earned=earned, points=points,
        hidden_points=record["total"] - points, language=language.here().name)


# ---- a class ----------------------------------------------------------------------------------------

def histogram(scores, total):
    """Bars of how many have how many points. The last takes the full score as well."""
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, int(BINS * score / total) if total else 0)] += 1
    width, most = WIDTH / BINS, max(counts)
    bars = []
    for i, count in enumerate(counts):
        height = (FLOOR - 30) * count / most
        low, high = total * i / BINS, total * (i + 1) / BINS
        bars.append({"x": round(i * width + 4, 1), "width": round(width - 8, 1), "y": round(FLOOR - height, 1),
                     "height": round(height, 1), "middle": round((i + 0.5) * width, 1), "count": count,
                     "low": f"{low:g}", "label": f"{low:g} to {high:g}"})
    return {"width": WIDTH, "height": HEIGHT, "floor": FLOOR, "bars": bars}


def lost_by_check(records):
    """Which checks cost most, the worst first."""
    checks = {}
    for record in records:
        for row in record["rows"]:
            check = checks.setdefault(row["name"], {"name": row["name"], "title": row["title"], "count": 0, "lost": 0.0,
                                                    "worth": 0.0, "hidden": ""})
            check["hidden"] = "" if row["visibility"] == "always" else row["visibility"].replace("_", " ")
            check["count"] += not passed(row)
            check["lost"] += row["points"] - row["earned"]
            check["worth"] += row["points"]
    for check in checks.values():
        check["share"] = check["lost"] / check["worth"] if check["worth"] else 0.0
    return sorted(checks.values(), key=lambda check: (-check["lost"], -check["count"]))


def topic(row):
    """What was said of a lost check, without what is about this check alone: one endless loop is one topic."""
    said = row["mistake"].removeprefix("likely: ").split(TO_LOOK, maxsplit=1)[0].strip()
    first = (row["message"].splitlines() or [""])[0]
    if row["state"] == "build error":
        return "(it does not compile)" if ": error: " in row["message"] or not first else first
    return said or f"({row['state']}, without a likely mistake)"


def frequent_diagnoses(records):
    """What was said most often. A student is counted once for each, however many checks say it."""
    students, checks = collections.Counter(), collections.defaultdict(dict)
    for record in records:
        said = {}
        for row in record["rows"]:
            if not passed(row):
                said.setdefault(topic(row), []).append(row["name"])
        students.update(said.keys())
        for text, names in said.items():
            checks[text].update(dict.fromkeys(names))
    return [{"text": text, "count": count, "checks": list(checks[text])} for text, count in
            students.most_common(MOST_DIAGNOSES)]


NEAR, FAR = 0.1, 2   # how far from what was measured: within a tenth, within a factor


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def share(bets, close):
    """Of pairs (bet, measured): how many in a hundred are close; None where nobody has measured."""
    return 100 * sum(close(bet, truth) for bet, truth in bets) / len(bets) if bets else None


def bets_on(question, records):
    """How a class has bet on one question. A bet is compared with what the same student has measured, or else with the
    median of those who have: on another machine a time is another one."""
    entries = [record["bets"].get(question["name"], {}) for record in records]
    measured = [entry["measured"] for entry in entries if "measured" in entry]
    truth = statistics.median(measured) if measured else None
    made = [entry for entry in entries if "bet" in entry]
    pairs = [(entry["bet"], entry.get("measured", truth)) for entry in made] if measured else []
    low, middle, high = map(shown, quartiles([entry["bet"] for entry in made]) or [None] * 3)
    near = share(pairs, lambda bet, truth: abs(bet - truth) <= NEAR * abs(truth))
    far = share(pairs, lambda bet, truth: bet * truth > 0 and 1 / FAR <= bet / truth <= FAR or bet == truth)
    return {"name": question["name"], "ask": question["ask"], "unit": question["unit"], "count": len(made), "low": low, "middle": middle,
            "high": high, "near": near, "far": far, "measured": shown(truth)}


def bets_of(lab, records):
    """All questions of the lab with a bet of any student; the one that fewest came near to is the first."""
    found = [bets_on(question, records) for question in (declared(lab) or {"bets": []})["bets"]]
    asked = [bets for bets in found if bets["count"]]
    return sorted(asked, key=lambda bets: (bets["near"] is None, bets["near"]))


def class_page(environment, lab, records, bad):
    decided = [record for record in records if not record["undecided"]]
    graded, refused = ([record for record in decided if bool(record["refused"]) == is_refused] for is_refused in (False, True))
    scores = [record["score"] for record in graded]
    total = max((record["total"] for record in graded), default=0)
    return environment.get_template("class.html").render(
        lab=lab, records=records, graded=graded, refused=refused, undecided=[record for record in records if record["undecided"]], bad=bad,
        mean=statistics.fmean(scores) if scores else 0, median=statistics.median(scores) if scores else 0, total=total,
        bars=histogram(scores, total) if scores else None, checks=lost_by_check(graded),
        diagnoses=frequent_diagnoses(graded), bets=bets_of(lab, records))


def read_class(out):
    """The records of all who have a hand-in, by name, each with the address of its page; and what is wrong with others."""
    records, bad = layout.newest(out)
    for record in records:
        file = "student-" + file_name(os.path.basename(record["path"])[:-5]) + ".html"
        record |= {"file": file, "page": urllib.parse.quote(file)}
    if not records and not bad:
        raise BadRecord(f"{out}: there is no record in {out}/records")
    return sorted(records, key=lambda record: record["name"].casefold()), bad


def write_class(environment, out, options):
    records, bad = read_class(out)
    labs = {record["lab"] for record in records}
    if len(labs) > 1:
        raise BadRecord(f"{out}: records of several labs: {', '.join(sorted(labs))}")
    check_one_kind(records)
    folder = os.path.join(out, "report")
    os.makedirs(folder, exist_ok=True)
    for record in records:
        page = student_page(environment, record, options.after_due_date, options.everything)
        write_whole(os.path.join(folder, record["file"]), page.encode())
    for left in set(os.listdir(folder)) - {record["file"] for record in records}:   # of students who are gone
        if left.startswith("student-"):
            os.unlink(os.path.join(folder, left))
    index = os.path.join(folder, "index.html")
    write_whole(index, class_page(environment, "".join(labs), records, bad).encode())
    print(index)
    return bad


def run(options):
    """Writes the page or pages, and returns what to complain of."""
    environment = templates()
    if os.path.isdir(options.path):
        return write_class(environment, options.path, options)
    page = student_page(environment, load(options.path), options.after_due_date, options.everything).encode()
    if options.output:
        write_whole(options.output, page)
    else:
        sys.stdout.buffer.write(page)
    return []


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("path", help="a record, or the folder that a class was graded into")
    parser.add_argument("--output", help="file for one student's page")
    parser.add_argument("--after-due-date", action="store_true", help="show what students may see from then on")
    parser.add_argument("--everything", action="store_true", help="show every row, for the instructor")
    options = parser.parse_args()
    ending.end("report", lambda: run(options))


if __name__ == "__main__":
    main()
