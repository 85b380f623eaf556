#!/usr/bin/env python3
"""What one student of a class saw: `make grade-one LAB=03 IN=collected OUT=graded NAME='Tina Berg' [CHECK=name]`.

Finds the student's newest hand-in as grade-all does, unpacks it into build/from, and runs the same checks with the same
inputs: the seed is made from the secret in OUT. OUT is left as it is. The exit status is 0 when it was
graded, whatever the points; 1 when it was refused, or the grader could not decide.
"""
import os
import subprocess
import sys

import course as settings_file
import hand_ins
from arguments import Parser
from class_folder import Class, Stopped, Unusable
from exports import record as reader
from exports.record import told
from from_hand_in import unpack
from hand_ins import shown
from lab_files import path_of
from release import kit_version


def the_hand_in(course, options, zone):
    """The newest one of the student, as records tell the time."""
    students = hand_ins.find(options.folder, course.lab.split("_")[0], zone)
    if options.name not in students:
        like = [name for name in students if options.name.casefold() in name.casefold()]
        raise Unusable(f"no hand-in is called {shown(options.name)}" + (f"; there is {', '.join(map(shown, like[:8]))}" if like else ""))
    known = course.known(options.name)
    return max(students[options.name], key=lambda each: hand_ins.moment(course.handed_in(each, course.record_of(each, known)[1])[0]))


def grade(course, hand_in, folder, options):
    """Runs the grader as grade-all does; 0 if it has decided."""
    number, output = course.lab.split("_")[0], "build/grades/one-" + course.lab + ".json"
    os.makedirs("build/grades", exist_ok=True)
    os.makedirs("build/cache", exist_ok=True)
    command = [f"{options.build}/bin/grade", "--lab", course.lab, "--from", folder, "--judge", f"{options.build}/judge/{course.lab}",
               "--plan", path_of(course.lab, "lab.json"), "--recipes", f"{options.build}/grade/{course.lab}.json", "--cache", "build/cache",
               "--output", output, "--min-sandbox", str(options.min_sandbox), "--kit", kit_version(), "--seed", "-"]
    command += ["--check", options.check] if options.check else []
    print(f"{shown(hand_in.name)}: {shown(hand_in.entry)}, unpacked into {folder}; make debug{number} FROM={folder} "
          f"SEED={course.seed(hand_in.name)} CHECK=name stops at a check", flush=True)
    if os.path.exists(output):
        os.unlink(output)
    subprocess.run(command, input=course.seed(hand_in.name) + "\n", text=True, check=False)
    return int(not is_decided(output))


def is_decided(path):
    try:
        return not reader.load(path)["undecided"]
    except (OSError, reader.BadRecord):
        return False


def compare(course, name):
    """What the record says, where there is one."""
    record = course.load(name)
    if record is not None:
        print(f"In {course.path(name)}: {record['score']:g} of {record['total']:g} points, graded {record['graded'] or 'before 1.0.0'} "
              f"by kit {record['kit'] or 'before 1.0.0'}")


def run(options):
    if not os.path.isdir(os.path.join(options.out, "records")):
        raise Unusable(f"OUT={options.out}: no class was graded into it")
    if not os.path.isdir(options.folder):
        raise Unusable(f"IN={options.folder}: there is no such folder")
    told = settings_file.load(options.out, options.course)
    course = Class(options.out, options.lab, options.secret or told.get("secret"))
    hand_in = the_hand_in(course, options, settings_file.zone_of(told))
    folder, reason = unpack(course.lab, hand_in.path, hand_in.files)
    if reason:
        print(f"{shown(hand_in.name)}: {shown(hand_in.entry)} is refused: {reason}")
    status = 1 if reason else grade(course, hand_in, folder, options)
    compare(course, hand_in.name)
    return status


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", required=True, help="folder in labs/")
    parser.add_argument("--build", default="build", help="where the programs are")
    parser.add_argument("--in", dest="folder", required=True, help="folder with the hand-ins")
    parser.add_argument("--out", required=True, help="folder that the class was graded into")
    parser.add_argument("--name", required=True, help="the student")
    parser.add_argument("--check", help="only this one")
    parser.add_argument("--min-sandbox", type=int, default=2)
    parser.add_argument("--secret", help="file with the secret of the class; OUT/secret")
    parser.add_argument("--hidden", help="for the judge, which has them already")
    parser.add_argument("--course", help="settings of the course; course.json in OUT or above it")
    sys.stdout.reconfigure(errors="replace")
    try:
        sys.exit(run(parser.parse_args()))
    except (Unusable, hand_ins.Unclear) as error:
        print(f"grade-one: {error}", file=sys.stderr)
        sys.exit(2)
    except (Stopped, OSError) as error:
        sys.exit(f"grade-one: {told(error)}")


if __name__ == "__main__":
    main()
