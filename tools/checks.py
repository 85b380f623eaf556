"""The checks that a record was graded by: their rows, and a digest of all that says what is right.

The digest is one of sources and rows, not of a program: the same checks have it whatever compiled them. Two records may
stand in one table where the digests are the same and the versions of the kit give the same points.
"""
import glob
import hashlib
import json
import os
import subprocess

from class_folder import Stopped
from lab_files import path_of
from release import same_points

HIDDEN = "grader/hidden"
SHARED = ("grader/*.[ch]", "common/testkit/*.[ch]")
ROW = ("name", "points", "visibility")
MOST_NAMED = 6


def hidden_sources(lab, folder):
    """The instructor's own checks of a lab, and what they may include."""
    folder = folder or HIDDEN
    own = os.path.join(folder, f"{lab}.c")
    return [own, *glob.glob(os.path.join(glob.escape(folder), "*.h"))] if os.path.isfile(own) else []


def sources(lab, hidden):
    """{name: path} of all that says what is right in a lab."""
    folder = path_of(lab, kind="grader/labs")
    paths = [path_of(lab, name) for name in ("tests.c", "lab.json", "contract.h")]
    paths += glob.glob(f"{glob.escape(folder)}/**/*.[ch]", recursive=True) + [path for pattern in SHARED for path in glob.glob(pattern)]
    named = {os.path.normpath(path): path for path in paths if os.path.isfile(path) and not path.endswith("_test.c")}
    return named | {f"hidden/{os.path.basename(path)}": path for path in hidden_sources(lab, hidden)}


def plan_of(judge, lab, points):
    """The rows that a judge will give, with the points of the course."""
    done = subprocess.run([judge, "--plan", path_of(lab, "lab.json")], capture_output=True, text=True, check=False)
    try:
        rows = json.loads(done.stdout)
    except ValueError:
        raise Stopped(f"{judge}: {done.stderr.strip() or 'it does not say which checks it has'}") from None
    return worth(rows, points)


def worth(rows, points):
    """Rows with the points that a course gives in place of the kit's."""
    for row in rows:
        row["points"] = points.get(row["name"], row["points"])
    return rows


def key(row):
    return [row["name"], float(row["points"]), row.get("visibility", "always")]


def digest(lab, hidden, plan):
    seen = hashlib.sha256(json.dumps([key(row) for row in plan]).encode())
    for name, path in sorted(sources(lab, hidden).items()):
        with open(path, "rb") as file:
            seen.update(f"\n{name} {hashlib.sha256(file.read()).hexdigest()}".encode())
    return seen.hexdigest()[:16]


# ---- what has changed -------------------------------------------------------------------------------

def difference(before, now):
    """From the rows of a record to those of now, in words."""
    was, has = ({row["name"]: key(row) for row in rows} for rows in (before, now))
    said = [f"{name} is gone" for name in was if name not in has] + [f"{name} is new" for name in has if name not in was]
    for name in was:
        if name in has and was[name][1] != has[name][1]:
            said.append(f"{name} was worth {was[name][1]:g}, now {has[name][1]:g}")
        elif name in has and was[name] != has[name]:
            said.append(f"{name} was shown: {was[name][2]}, now: {has[name][2]}")
    return ", ".join(said[:MOST_NAMED]) + (", ..." if len(said) > MOST_NAMED else "") or "the same rows, from other sources"


def is_current(record, checks, kit):
    return record["judge"] == checks and same_points(record["kit"], kit)


def why_not(record, plan, kit):
    """Why a record is of another kind than those that would be made now."""
    former = record["kit"]
    if not same_points(former, kit):
        return f"made by kit {former or 'before 1.0.0'}, and this is {kit}"
    return f"graded by other checks: {difference(record['checks'], plan)}"
