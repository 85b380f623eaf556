#!/usr/bin/env python3
"""The settings of a course in one file, course.json, in place of words that each command line would have to repeat.

    {
      "hidden": "my_checks",                       folder of hidden checks
      "hints": 2,                                  how many of three hints a handout has
      "secret": "secret",                          of the class, for all labs
      "roster": "roster.csv",                      who takes part
      "policy": "policy.json",                     deadlines, late days
      "time_zone": "Europe/Berlin",                of times that say none, where the policy has none
      "points": {"03_accumulate": {"by_hand": 20}},   what a check is worth in this course
      "labs": {"01_loop": 1, "03_accumulate": 2}   those of the course, with their weights in a term's table
    }

Paths are taken from the folder of the file. It is COURSE_FILE=file, or else course.json in the folder that a class is graded
into, or in the one above. What a command line says counts before it.

    tools/course.py KEY [--out OUT] [--course FILE]     prints one setting, or nothing
"""
import argparse
import json
import os
import sys
import zoneinfo

from class_folder import Unusable
from lab_files import all_labs

NAME = "course.json"
PATHS = {"hidden": os.path.isdir, "secret": lambda path: True, "roster": os.path.isfile, "policy": os.path.isfile}
KEYS = (*PATHS, "time_zone", "hints", "points", "labs")
OTHERS = ("term", "language")   # of the kit itself: the name of the term, what students read


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e6


def find(out=None, given=None):
    """The path of a course's settings, or None."""
    if given:
        return given
    beside = [os.path.normpath(os.path.join(out, *above, NAME)) for above in ((), (os.pardir,))] if out else []
    return next(filter(os.path.isfile, beside), None)   # OUT itself may not be there yet


def full_name(lab):
    """"03" is "03_accumulate"."""
    return next((each for each in all_labs() if lab in (each, each.split("_")[0])), None)


def by_lab(settings, key, path):
    """{full name of a lab: value}"""
    entries = settings.get(key, {})
    if key == "labs" and isinstance(entries, list):
        entries = {lab: 1 for lab in entries if isinstance(lab, str)}
    if not isinstance(entries, dict):
        raise Unusable(f"{path}: {key} must be an object: lab by lab")
    found = {}
    for lab, value in entries.items():
        if full_name(lab) is None:
            raise Unusable(f"{path}: {key}: there is no lab {lab}")
        found[full_name(lab)] = value
    return found


def check_points(points, path):
    for lab, checks in points.items():
        if not isinstance(checks, dict) or not all(map(is_number, checks.values())):
            raise Unusable(f"{path}: points: {lab} must be an object of checks with their points")


def read(path):
    """The settings of a file, each of which is right as far as that can be seen; paths as they are from here."""
    try:
        with open(path, encoding="utf-8-sig") as file:   # some editors put a mark in front
            settings = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise Unusable(f"{path}: {error.strerror if isinstance(error, OSError) else error}") from None
    if not isinstance(settings, dict):
        raise Unusable(f"{path}: this is not an object of settings")
    for key in settings:
        if key not in KEYS + OTHERS:
            raise Unusable(f"{path}: there is no setting {key}; there are {', '.join(KEYS)}")
    for key, is_there in PATHS.items():
        if key in settings:
            if not isinstance(settings[key], str) or not settings[key]:
                raise Unusable(f"{path}: {key} is not a path")
            settings[key] = os.path.normpath(os.path.join(os.path.dirname(path), settings[key]))
            if not is_there(settings[key]):
                raise Unusable(f"{path}: {key}: {settings[key]} is not there")
    if settings.get("hints", 3) not in (1, 2, 3) or isinstance(settings.get("hints"), bool):
        raise Unusable(f"{path}: hints must be 1, 2 or 3")
    settings["points"], settings["labs"] = by_lab(settings, "points", path), by_lab(settings, "labs", path)
    check_points(settings["points"], path)
    if not all(map(is_number, settings["labs"].values())):
        raise Unusable(f"{path}: labs: a weight is not a number")
    return settings


def load(out=None, given=None):
    """The settings of a course; where there is no file, none."""
    path = find(out, given)
    return read(path) if path else {"points": {}, "labs": {}}


def time_zone_in(path):
    """The time_zone that a policy names, or None. Whether the rest of it is right, the tools say that apply it."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise Unusable(f"{path}: {error.strerror if isinstance(error, OSError) else error}") from None
    return data.get("time_zone") if isinstance(data, dict) else None


def zone_of(settings):
    """The zone of times that say none: that of the policy, or else of course.json; None: that of this machine."""
    name = settings.get("policy") and time_zone_in(settings["policy"]) or settings.get("time_zone")
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, TypeError, ValueError, OSError):
        raise Unusable(f"time_zone: {name!r} is not a time zone of this machine, such as Europe/Berlin") from None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("key", choices=KEYS)
    parser.add_argument("--out", help="folder that a class is graded into")
    parser.add_argument("--course", help="file of settings")
    options = parser.parse_args()
    try:
        value = load(options.out, options.course).get(options.key, "")
    except Unusable as error:
        print(f"course: {error}", file=sys.stderr)
        sys.exit(2)
    if value != "":
        print(value if isinstance(value, (str, int)) else json.dumps(value))


if __name__ == "__main__":
    main()
