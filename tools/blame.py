"""Which part of a hand-in is to blame for the checks it lost: each part in turn is taken from the kit's solution.

A part is a function, or a whole file of CUDA. Only who has the solutions can do this: it is for a class and for packs, never
for a handout. A run with a part of the kit earns nothing, and its program is deleted with the grader's folder.
"""
import os
import time

from lab_files import path_of, read_lab

ASKED = ("fail", "crashed", "timeout", "over budget")   # what another part may change
MOST_PARTS = 12


def parts_of(lab):
    """The parts of a lab; none where there is one alone, or no solution of it here."""
    parts = []
    for hole in read_lab(lab)["holes"]:
        if not os.path.isfile(path_of(lab, hole["file"], kind="solutions")):
            return []
        parts += [hole["file"]] if hole["file"].endswith(".cu") or hole.get("probe") else hole["functions"]
    return parts if 1 < len(parts) <= MOST_PARTS else []


def lost_checks(record):
    return [row["name"] for row in record["checks"] if row["state"] in ASKED and row["visibility"] == "always"]


def try_parts(record, seconds, grade):
    """[{"part", "passes"}] of the parts of the kit with which lost checks pass."""
    lost, found, end = lost_checks(record), [], time.monotonic() + seconds
    for part in parts_of(record["lab"]) if lost else []:
        if time.monotonic() < end:
            tried = grade(["--kits-part", part, "--solutions", path_of(record["lab"], kind="solutions"), "--check", ",".join(lost)])
            passes = [row["name"] for row in tried["checks"] if row["state"] == "pass"]
            found += [{"part": part, "passes": passes}] if passes else []
    return found


def sentences(found, lost):
    """What is said of them, the part that explains most first."""
    for entry in sorted(found, key=lambda entry: -len(entry["passes"])):
        name = entry["part"] if "." in entry["part"] else f"{entry['part']}()"
        passes = entry["passes"]
        rest = f"{len(passes)} of {len(lost)} lost checks pass: {', '.join(passes)}" if len(passes) < len(lost) else \
            f"all {len(lost)} lost checks pass" if len(lost) > 1 else "the lost check passes"
        yield f"with the kit's `{name}` in place of yours {rest}"


def add(record, seconds, grade):
    """Puts the finding into a record, as sentences, "blamed"; after that many seconds no other part is tried. `grade(options)`
    runs the grader with these as well, on the same hand-in with the same seed, and gives the record."""
    said = list(sentences(try_parts(record, seconds, grade), lost_checks(record)))
    if said:
        record["blamed"] = said
