"""The formats, one function each: from a record to what is written. See docs/exports.md."""
import base64
import csv
import io
import json
from xml.etree import ElementTree

from exports.record import UNDECIDED, diagnosis, explain, for_student, headline, notes, overview, passed, written

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
        output += f"\nThe checks that you see: {earned:g} of {points:g} points. There are others."
    return as_json({"score": record["score"], "execution_time": record["seconds"], "output": output,
                    "output_format": "text", "test_output_format": "text", "test_name_format": "text",
                    "stdout_visibility": "hidden", "extra_data": {"undecided": record["undecided"]},
                    "tests": [gradescope_test(row) for row in record["rows"]]})


def gradescope_pending(lab):
    """Stands in for the record until there is one: what the student reads if the grader is killed."""
    return as_json({"score": 0, "output": f"Grading {lab} did not finish: this machine ran out of time or memory, or the "
                    "grader failed. Your instructor can run it again.",
                    "output_format": "text", "stdout_visibility": "hidden", "extra_data": {"undecided": True}})


# ---- GitHub Classroom -------------------------------------------------------------------------------

def classroom_results(record, after_due_date):
    """What classroom-resources/autograding-grading-reporter reads."""
    rows = for_student(record, after_due_date)
    status = "error" if record["undecided"] else "pass" if all(map(passed, rows)) else "fail"
    return {"version": 1, "status": status, "max_score": record["total"], "tests": [
        {"name": f"{row['name']}: {row['title']}", "score": row["earned"], "message": explain(row),
         "status": "error" if row["state"] == "grader error" else "pass" if passed(row) else "fail",
         "test_code": f"make grade{record['lab'].split('_')[0]} CHECK={row['name']}", "filename": "", "line_no": 0,
         "duration": row["seconds"]} for row in rows]}


def classroom(record, after_due_date):
    """A line for $GITHUB_OUTPUT. In base64 nothing of a student's can end it or begin another."""
    data = as_json(classroom_results(record, after_due_date), None).encode()
    return "result=" + base64.b64encode(data).decode() + "\n"


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


def junit(record, _):
    """One test suite for the record, one test case for each check."""
    outcomes = [outcome(row) for row in record["rows"]]
    suite = ElementTree.Element("testsuite", name=record["lab"], tests=str(len(outcomes)), failures=str(outcomes.count("failure")),
                                errors=str(outcomes.count("error")), skipped=str(outcomes.count("skipped")))
    for row, tag in zip(record["rows"], outcomes):
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
    return (f"  {row['name']:22} {points:>7}  {row['state']:13} {row['seconds']:6.2f} s   {row['title']}{hidden}\n"
            + "".join(f"        {line}\n" for line in lines.splitlines() if line))


def text(record, _):
    """The table that grading printed, for a terminal."""
    return (f"Lab {record['lab']}, from {record['from']}\n" + "".join(f"{note}\n" for note in notes(record, record["rows"]))
            + "".join(map(text_row, record["rows"]))
            + f"Sandbox: {record['sandbox']}\nScore:   {record['score']:g} of {record['total']:g} points\n")


# ---- scores.csv -------------------------------------------------------------------------------------

FORMULA = tuple("=+-@|%\uff1d\uff0b\uff0d\uff20")


def cell(text):
    """What a spreadsheet would take for a formula becomes text: a formula may run commands or fetch addresses."""
    return "'" + text if text.lstrip().startswith(FORMULA) else text


def scores(records):
    """A line for each record, a column for each check. Without a score where the grader has not decided."""
    names = list(dict.fromkeys(row["name"] for record in records for row in record["rows"]))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["name", "lab", "score", "total", "state"] + names)
    for record in sorted(records, key=lambda record: (record["lab"], record["name"])):
        state = "not decided" if record["undecided"] else "refused" if record["refused"] else "graded"
        earned = {row["name"]: f"{row['earned']:g}" for row in record["rows"]}
        score = "" if record["undecided"] else f"{record['score']:g}"
        writer.writerow([cell(record["name"]), record["lab"], score, f"{record['total']:g}", state]
                        + [earned.get(name, "") for name in names])
    return out.getvalue()


FORMATS = {"gradescope": gradescope, "classroom": classroom, "autolab": autolab, "prairielearn": prairielearn, "junit": junit,
           "text": text}
