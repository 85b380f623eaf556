"""The formats, one function each: from a record to what is written. See docs/exports.md."""
import csv
import datetime
import io
import json
import os
import re
from xml.etree import ElementTree

from exports.record import UNDECIDED, BadRecord, check_one_kind, diagnosis, explain, for_student, headline, notes, overview, passed, spoken, written

MOST_BYTES = 1 << 20   # PrairieLearn takes no more


def as_json(value, indent=2):
    return json.dumps(value, indent=indent, ensure_ascii=True, allow_nan=False) + "\n"


# ---- Gradescope -------------------------------------------------------------------------------------

SEEN = {"always": "visible", "after_due_date": "after_due_date", "never": "hidden"}


def gradescope_test(row):
    test = {"name": f"{row['name']}: {row['title']}", "max_score": row["points"], "score": row["earned"],
            "status": "passed" if passed(row) else "failed", "visibility": SEEN[row["visibility"]]}
    return test | ({"output": explain(row)} if explain(row) else {})


def gradescope(record, _):
    """results.json. Hidden checks keep their rows: Gradescope itself hides them."""
    shown = [row for row in record["rows"] if row["visibility"] == "always"]
    output = overview(record, shown)
    if len(shown) < len(record["rows"]):
        earned, points = (sum(row[key] for row in shown) for key in ("earned", "points"))
        output += "\n" + spoken(f"The checks that you see: {earned:g} of {points:g} points. There are others.")
    return as_json({"score": record["score"], "execution_time": record["seconds"], "output": output,
                    "output_format": "text", "test_output_format": "text", "test_name_format": "text",
                    "stdout_visibility": "hidden", "extra_data": {"undecided": record["undecided"]},
                    "tests": [gradescope_test(row) for row in record["rows"]]})


def gradescope_pending(lab):
    """Stands in for the record until there is one: what the student reads if the grader is killed."""
    return as_json({"score": 0, "output": f"Grading {lab} did not finish: this machine ran out of time or memory, or the "
                    "grader failed. Your instructor can run it again.",
                    "output_format": "text", "stdout_visibility": "hidden", "extra_data": {"undecided": True}})


# ---- Classroom 50 -----------------------------------------------------------------------------------

CLASSROOM50 = {"classroom": "CLASSROOM", "assignment": "ASSIGNMENT", "submission": "SUBMISSION_TAG", "commit": "COMMIT_URL",
               "release": "RELEASE_URL"}   # what its runner says, and in which variable
CLASSROOM50_TIME = "%Y-%m-%dT%H:%M:%SZ"


def classroom50_time(tag):
    """When a tag was made: its name has the time in UTC."""
    found = re.match(r"submit/(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)", tag)
    try:
        made = datetime.datetime.strptime(found[1], "%Y-%m-%dT%H-%M-%SZ")
    except (TypeError, ValueError):
        raise BadRecord("SUBMISSION_TAG is not submit/TIME-COMMIT, as Classroom 50 writes it") from None
    return made.strftime(CLASSROOM50_TIME)


def whole(points, name):
    if points != int(points):
        raise BadRecord(f"check {name} has {points:g} points: Classroom 50 takes whole numbers only")
    return int(points)


def classroom50(record, after_due_date, said=os.environ):
    """result.json, where Classroom 50's runner has started the grading. The runner itself says what it is if the grader could not
    decide, so nothing is written then; and a result without a test would count as a pass, so a record always has one."""
    if record["undecided"]:
        raise BadRecord("the grader itself failed: no result is written, and Classroom 50 reports an error")
    missing = [variable for variable in CLASSROOM50.values() if not said.get(variable)]
    if missing:
        raise BadRecord(f"{missing[0]} is not set: this format is for a run that Classroom 50 has started")
    tests = [{"test-name": f"{row['name']}: {row['title']}", "passed": passed(row), "score": whole(row["earned"], row["name"]),
              "max-score": whole(row["points"], row["name"])} | ({"output": explain(row)} if explain(row) else {})
             for row in for_student(record, after_due_date)]
    result = {"schema": "classroom50/result/v1"} | {key: said[variable] for key, variable in CLASSROOM50.items()}
    kind = said.get("ASSIGNMENT_TYPE") or "individual"
    if kind not in ("individual", "group"):
        raise BadRecord("ASSIGNMENT_TYPE is neither individual nor group")
    owner = said.get("OWNER") or said.get("USERNAME")
    if not owner:
        raise BadRecord("OWNER is not set: this format is for a run that Classroom 50 has started")
    return as_json(result | {
        "assignment_type": kind, "owner": owner, "review": said.get("REVIEW_URL") or said["COMMIT_URL"],
        "datetime": classroom50_time(said["SUBMISSION_TAG"]),
        "graded_at": datetime.datetime.now(datetime.timezone.utc).strftime(CLASSROOM50_TIME),
        "score": sum(test["score"] for test in tests), "max-score": sum(test["max-score"] for test in tests), "tests": tests})


# ---- Autolab ----------------------------------------------------------------------------------------

def autolab(record, after_due_date):
    """The last two lines of standard output. One problem, named as the lab; none is scored if the grader failed."""
    rows = for_student(record, after_due_date)
    stage = {f"{row['name']} ({row['earned']:g}/{row['points']:g})":
             {"passed": passed(row)} | ({"hint": explain(row)} if explain(row) else {}) for row in rows}
    feedback = {"_presentation": "semantic", "stages": [record["lab"]], record["lab"]: stage}
    result = {"scores": {}} if record["undecided"] else {
        "scores": {record["lab"]: record["score"]}, "scoreboard": [record["score"]]}
    return as_json(feedback, None) + as_json(result, None)


# ---- PrairieLearn -----------------------------------------------------------------------------------

def prairielearn(record, after_due_date):
    """results.json. A hand-in that does not build, or was not decided, costs no attempt."""
    rows = for_student(record, after_due_date)
    unbuilt = all(row["state"] == "build error" for row in record["rows"])
    tests = [{"name": row["name"], "description": row["title"], "points": row["earned"], "max_points": row["points"],
              "message": diagnosis(row), "output": written(row)} for row in rows]
    result = {"gradable": not (unbuilt or record["undecided"]), "message": overview(record, rows), "tests": tests}
    if not result["gradable"]:
        return as_json(result | {"format_errors": [explain(rows[0]) if unbuilt else headline(record, rows)], "tests": []})
    return as_json(result | {"score": record["score"] / record["total"] if record["total"] else 0.0})


# ---- JUnit ------------------------------------------------------------------------------------------

def outcome(row):
    """The element that says how a test ended; None for one that passed."""
    return {"pass": None, "not run": "skipped"}.get(row["state"], "error" if row["state"] in UNDECIDED else "failure")


def junit(record, after_due_date):
    """One test suite for the record, one test case for each row that students may see: CI shows it to them."""
    rows = for_student(record, after_due_date)
    outcomes = [outcome(row) for row in rows]
    suite = ElementTree.Element("testsuite", name=record["lab"], tests=str(len(outcomes)), failures=str(outcomes.count("failure")),
                                errors=str(outcomes.count("error")), skipped=str(outcomes.count("skipped")))
    for row, tag in zip(rows, outcomes):
        case = ElementTree.SubElement(suite, "testcase", classname=record["lab"], name=row["name"], time=f"{row['seconds']:.3f}")
        if tag == "skipped":
            ElementTree.SubElement(case, tag)
        elif tag:
            ElementTree.SubElement(case, tag, message=row["state"]).text = f"{row['message']}\n{row['mistake']}"
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


# ---- text -------------------------------------------------------------------------------------------

def text_row(row):
    points = f"{row['earned']:g}/{row['points']:g}" if row["points"] else "-"
    hidden = "" if row["visibility"] == "always" else f"; students see this: {row['visibility']}"
    lines = "" if passed(row) else f"{row['message']}\n{row['mistake']}"
    return (f"  {row['name']:22} {points:>7}  {spoken(row['state']):13} {row['seconds']:6.2f} s   {row['title']}{hidden}\n"
            + "".join(f"        {line}\n" for line in lines.splitlines() if line))


def text(record, _):
    """The table that grading printed, for a terminal."""
    return (f"Lab {record['lab']}, from {record['from']}\n" + "".join(f"{note}\n" for note in notes(record, record["rows"]))
            + "".join(map(text_row, record["rows"]))
            + spoken(f"Sandbox: {record['sandbox']}") + "\n" + spoken(f"Score:   {record['score']:g} of {record['total']:g} points") + "\n")


# ---- scores.csv -------------------------------------------------------------------------------------

BYTE_ORDER_MARK = "\ufeff"   # by which a spreadsheet knows UTF-8
FORMULA = tuple("=+-@|%\uff1d\uff0b\uff0d\uff20")


def cell(text):
    """What a spreadsheet would take for a formula becomes text: a formula may run commands or fetch addresses."""
    return "'" + text if text.lstrip().startswith(FORMULA) else text


def number(value):
    """Points, to the hundredth."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def table(head, rows):
    """The text of a CSV file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerows([head, *rows])
    return BYTE_ORDER_MARK + out.getvalue()


def state_of(record):
    return "not decided" if record["undecided"] else "refused" if record["refused"] else "graded"


LATE = ("handed_in", "late", "loss", "final", "why")


def late_cells(result, duration):
    """The cells of LATE."""
    decided = not result["undecided"]
    return [result["handed_in"], duration(result["late"]), number(result["loss"]) if decided else "",
            number(result["final"]) if decided else "", cell(result["why"])]


def scores(records, results=None, duration=str):
    """A line for each record, a column for each check. Without a score where the grader has not decided. With the results of a
    policy also what they say; the record is then the one that counts."""
    records = [result["record"] for result in results] if results else records
    check_one_kind(records)
    names = list(dict.fromkeys(row["name"] for record in records for row in record["rows"]))
    rows = []
    for i, record in enumerate(records):
        earned = {row["name"]: f"{row['earned']:g}" for row in record["rows"]}
        score = "" if record["undecided"] else f"{record['score']:g}"
        late = late_cells(results[i], duration) if results else []
        rows.append([cell(record["name"]), record["lab"], score, f"{record['total']:g}", state_of(record), *late]
                    + [earned.get(name, "") for name in names])
    return table(["name", "lab", "score", "total", "state", *(LATE if results else ()), *names], sorted(rows, key=lambda row: (row[1], row[0])))


FORMATS = {"gradescope": gradescope, "classroom50": classroom50, "autolab": autolab, "prairielearn": prairielearn, "junit": junit,
           "text": text}
