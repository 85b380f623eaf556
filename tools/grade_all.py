#!/usr/bin/env python3
"""Grades every hand-in of a folder: `make grade-all LAB=03 IN=folder OUT=folder`.

One record for each in OUT/records (tools/class_folder.py). Killed at any moment and started again, it goes on where it
was: a hand-in that has a whole record is not graded again, unless its files have changed. Who has handed in what, the
names in IN say (tools/hand_ins.py). Records that were made by other checks, or by a kit that gives other points, are
said before anything is graded, and stand in no table with new ones. A student has a seed of its own, made from the name
and the secret of the class.
"""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import blame
import checks
import course as settings_file
import from_hand_in
import hand_ins as handed_in
import summary
from arguments import Parser
from class_folder import Class, Stopped, Unusable, lock, now, undecided, work_folder, write_json, write_whole
from exports.record import told
from hand_ins import shown
from lab_files import path_of
from release import kit_version
from slurm import done_note, of_shard, on_slurm, shard

LIMIT_SECONDS = 3600        # for one hand-in: only a fault of the grader reaches it
WORK_ROOM, OUT_ROOM = 64 << 20, 256 << 10   # bytes that must be free, or results are not believed
MOST_NAMED = 8


# ---- one hand-in ------------------------------------------------------------------------------------

class Grader:
    """How hand-ins of one lab are graded. Judge and recipes are copied, so that a `make` meanwhile changes nothing."""

    def __init__(self, course, options, work):
        self.course, self.work, self.min_sandbox = course, work, options.min_sandbox
        self.blame_seconds, self.points = options.blame, options.points
        self.checks, self.kit = options.checks, kit_version()
        self.program = f"{options.build}/bin/grade"
        self.plan, self.cache = path_of(course.lab, "lab.json"), "build/cache"
        self.judge, self.recipes = f"{work}/judge/{course.lab}", f"{work}/recipes.json"
        self.copy_judge(f"{options.build}/judge/{course.lab}")
        shutil.copy(f"{options.build}/grade/{course.lab}.json", self.recipes)
        os.makedirs(self.cache, exist_ok=True)
        # A compiler's name for the folder it worked in is of no use.
        self.built_in = re.compile(re.escape(work) + r"/grade-\w+/(work/)?(submission/)?")

    def copy_judge(self, built):
        """The judge, and the programs that run beside its probes."""
        os.makedirs(os.path.dirname(self.judge), mode=0o711)
        for path in [built, *sorted(glob.glob(glob.escape(built) + "-*"))]:
            shutil.copy(path, os.path.dirname(self.judge))

    def run(self, name, folder, refused, more=()):
        """Runs the sandboxed grader; its record. The seed goes through a pipe: anyone can see arguments."""
        output = f"{folder}.json"
        command = [self.program, "--parent", str(os.getpid()), "--lab", self.course.lab, "--from", folder,
                   "--judge", self.judge, "--plan", self.plan, "--recipes", self.recipes, "--cache", self.cache,
                   "--output", output, "--min-sandbox", str(self.min_sandbox), "--kit", self.kit, "--seed", "-", *more]
        command += ["--refuse", f"refused: {refused}"] if refused else []
        said = self.run_twice(command, self.course.seed(name))
        try:
            with open(output, encoding="utf-8") as file:
                return json.loads(self.built_in.sub("", file.read()))
        except (OSError, ValueError):
            raise Stopped(f"{shown(name)} has no record: {said or 'the grader said nothing'}") from None

    def run_twice(self, command, seed):
        """Once, or once more where the grader was killed: a queue that ends a job may come to it before it comes to us, and its
        record says of each check that nothing is decided. A hand-in that kills it each time stays so. Returns what it said."""
        for _ in range(2):
            try:
                done = subprocess.run(command, input=seed + "\n", text=True, errors="replace", check=False,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT_SECONDS,
                                      env={**os.environ, "TMPDIR": self.work})
            except subprocess.TimeoutExpired:
                return f"not finished after {LIMIT_SECONDS} s"
            if done.returncode >= 0:
                break
        return done.stderr.strip() or ("" if done.returncode >= 0 else f"killed by signal {-done.returncode}")

    def check_room(self):
        """A compiler on a full disk fails as for a student's mistake."""
        for folder, room in ((self.work, WORK_ROOM), (self.course.out, OUT_ROOM)):
            disk = os.statvfs(folder)
            if disk.f_bavail * disk.f_frsize < room:
                raise Stopped(f"{folder}: the disk is full: less than {room >> 10} KiB are free. Make room and start again")

    def is_current(self, record):
        return checks.is_current(record, self.checks, self.kit)

    def grade(self, hand_in, again, newest):
        """(path, record, whether it was made now) of a hand-in. It was not if one is there of the same files, by the same checks."""
        hand_in.look_again()
        known = [(path, record) for path, record in self.course.known(hand_in.name) if self.is_current(record)]
        path, before = self.course.record_of(hand_in, known)
        if before and not again(before):
            before = self.in_time(path, before, hand_in)
            return self.course.make_latest(hand_in, path, newest), before, False
        self.check_room()
        folder = tempfile.mkdtemp(prefix="in-", dir=self.work)
        try:
            taken = from_hand_in.read(self.course.lab, hand_in.path, folder, hand_in.files)
            path, same = next(((path, record) for path, record in known if not before and has_taken(record, taken)), (None, None))
            if same:
                return path, self.course.note_same(path, same, hand_in, taken), False
            record = self.run(hand_in.name, folder, taken.get("refused"))
            blame.add(record, self.blame_seconds, lambda more: self.run(hand_in.name, folder, None, more))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.check_room()
        at, where = self.course.handed_in(hand_in, before)
        record.update(name=hand_in.name, judge=self.checks, graded=now(), handed_in=at, handed_in_from=where)
        record.update({"from": hand_in.entry, "hand_in": {"stamp": hand_in.stamp(), "sha256": hand_in.sha256(), **taken}})
        record["hand_in"].update({"lms": hand_in.lms} if hand_in.lms else {})
        add_up(record, self.points)
        return self.course.save(record, newest), record, True

    def in_time(self, path, record, hand_in):
        """The same record. A time in a name counts before one that was taken from a file."""
        if hand_in.said and record["handed_in"] != hand_in.handed_in()[0]:
            record["handed_in"], record["handed_in_from"] = hand_in.handed_in()
            write_json(path, record)
        return record

    def grade_student(self, hand_ins, again, progress):
        """All that a student has handed in, the newest last, whose record is then the student's."""
        known = self.course.known(hand_ins[0].name)
        times = {each: self.course.handed_in(each, self.course.record_of(each, known)[1])[0] for each in hand_ins}
        hand_ins = sorted(hand_ins, key=lambda each: handed_in.moment(times[each]))
        for hand_in in hand_ins:
            path, record, fresh = self.grade(hand_in, again, hand_in is hand_ins[-1])
            progress.line(hand_in.name, record, fresh)
        self.course.make_latest(hand_in, path, True)


def has_taken(record, taken):
    """Whether a record is of the same files. One that was refused is looked at again."""
    return "files" in taken and record["hand_in"].get("files") == taken["files"]


def add_up(record, points):
    """With the points that the course gives."""
    for row in checks.worth(record["checks"], points):
        row["earned"] = row["points"] if row["state"] == "pass" else 0
    record["score"], record["total"] = (sum(row[key] for row in record["checks"]) for key in ("earned", "points"))


# ---- all of them ------------------------------------------------------------------------------------

class Progress:
    """One line, written over on a terminal. Records that are there already say nothing of the time that is left, nor does
    anything once the last are being graded."""

    def __init__(self, total):
        self.total, self.begun, self.done, self.fresh = total, 0, 0, 0
        self.begin, self.terminal, self.lock = time.monotonic(), sys.stdout.isatty(), threading.Lock()

    def start(self, count):
        with self.lock:
            self.begun += count

    def left(self):
        if self.begun == self.total:
            return f"{self.total - self.done} at work" if self.done < self.total else "all done"
        seconds = (time.monotonic() - self.begin) / self.fresh * (self.total - self.done)
        return f"left {int(seconds // 60)}:{int(seconds % 60):02d}"

    def line(self, name, record, fresh):
        with self.lock:
            self.done, self.fresh = self.done + 1, self.fresh + fresh
            if fresh:
                text = (f"{self.done}/{self.total}  {self.left()}  {shown(name)}: "
                        f"{record['score']:g} of {record['total']:g}{', not decided' if undecided(record) else ''}")
                print(f"\r\033[K{text}" if self.terminal else text, end="" if self.terminal else "\n", flush=True)

    def end(self):
        seconds = max(time.monotonic() - self.begin, 1e-3)
        print(f"{chr(10) if self.terminal and self.fresh else ''}{self.fresh} graded, {self.done - self.fresh} had a record"
              + (f"; {60 * self.fresh / seconds:.0f} a minute" if self.fresh else ""))


def grade_them(grader, students, again, jobs):
    """Side by side. The first trouble of the grader's own stops all."""
    stop, progress = threading.Event(), Progress(sum(map(len, students.values())))

    def one(hand_ins):
        if not stop.is_set():
            progress.start(len(hand_ins))
            grader.grade_student(hand_ins, again, progress)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(one, hand_ins) for hand_ins in students.values()]
        try:
            for future in concurrent.futures.as_completed(futures):
                future.result()
        finally:
            stop.set()
            progress.end()


def all_decided(course, name, hand_ins):
    known = course.known(name)
    records = [course.record_of(hand_in, known)[1] for hand_in in hand_ins]
    return all(record is not None and not undecided(record) for record in records)


def choose(course, students, options):
    """(whom to look at, which of their records are made again)"""
    if options.only == "failed":
        return {name: hand_ins for name, hand_ins in students.items() if not all_decided(course, name, hand_ins)}, undecided
    if options.regrade and options.regrade != {CHANGED}:
        return {name: students[name] for name in students if name in options.regrade}, lambda record: True
    return students, lambda record: False


# ---- what has changed since the last time -----------------------------------------------------------

ALL, CHANGED = "all", "changed"


def names_to_regrade(words, students):
    """The students that REGRADE names: one, several with commas between them, all; or {CHANGED}."""
    if words == [CHANGED]:
        return {CHANGED}
    names = set()
    for word in words:
        names |= set(students) if word == ALL else {word} if word in students else {name.strip() for name in word.split(",")} - {""}
    for name in sorted(names - set(students)):
        raise Unusable(f"no hand-in is called {shown(name)}")
    return names


def stale(course, students, options):
    """{reason: names} of those with a record of another kind than those that would be made now."""
    found = {}
    for name, hand_ins in students.items():
        known = course.known(name)
        for hand_in in hand_ins:
            _, record = course.record_of(hand_in, known)
            if record and not checks.is_current(record, options.checks, kit_version()):
                found.setdefault(checks.why_not(record, options.plan, kit_version()), {})[name] = True
    return {reason: list(names) for reason, names in found.items()}


def check_stale(course, students, options):
    """Records of two kinds never stand in one table."""
    if options.regrade == {CHANGED}:
        return
    left = stale(course, {name: each for name, each in students.items() if name not in options.regrade}, options)
    for reason, names in left.items():
        print(f"{len(names)} {'record' if len(names) == 1 else 'records'} {reason}: "
              f"{', '.join(map(shown, names[:MOST_NAMED]))}{', ...' if len(names) > MOST_NAMED else ''}")
    if left:
        sys.stdout.flush()
        raise Unusable("nothing is graded: REGRADE=changed grades these again, and keeps the old records; or take another OUT")


def settings_of(course, options):
    return {"hidden": options.hidden or "", "points": options.points, "secret": course.which_secret(), "min_sandbox": options.min_sandbox,
            "kit": kit_version(), "judge": options.checks}


def say_changed_settings(course, now_set):
    """Where the last run had other settings: a line for each."""
    try:
        with open(os.path.join(course.out, "settings.json"), encoding="utf-8") as file:
            before = json.load(file)
    except (OSError, ValueError):
        return
    names = {"hidden": "HIDDEN", "min_sandbox": "MIN_SANDBOX", "points": "points of the course", "kit": "kit"}
    for key, value in now_set.items() if isinstance(before, dict) else ():
        if key in names and before.get(key, value) != value:
            print(f"unlike the last time: {names[key]} is {json.dumps(value) if value else 'not given'}, "
                  f"and was {json.dumps(before[key]) if before[key] else 'not given'}")
    if before.get("secret", now_set["secret"]) != now_set["secret"]:
        print("unlike the last time: the secret is another one, and so are all seeds")
    sys.stdout.flush()


# ---- the command line -------------------------------------------------------------------------------

def parse():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", required=True, help="folder in labs/")
    parser.add_argument("--build", default="build", help="where the programs are")
    parser.add_argument("--in", dest="folder", required=True, help="folder with the hand-ins")
    parser.add_argument("--out", required=True, help="folder for secret, records, summary")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="hand-ins side by side")
    parser.add_argument("--min-sandbox", type=int, default=2, help="refuse to grade below this level")
    parser.add_argument("--blame", type=float, default=120, metavar="SECONDS",
                        help="how long to look for the part of a hand-in that is to blame; 0: not at all")
    parser.add_argument("--secret", help="file with the secret of the class; OUT/secret")
    parser.add_argument("--hidden", help="folder with the instructor's own checks, which are in the judge")
    parser.add_argument("--course", help="settings of the course; course.json in OUT or above it")
    parser.add_argument("--only", choices=["failed"], help="only hand-ins that the grader did not decide")
    parser.add_argument("--regrade", action="append", default=[], metavar="NAMES", help="grade again: a name, several with commas, `all`, or `changed`: those with "
                        "a record by other checks")
    parser.add_argument("--seed-of", metavar="NAME", help="print the seed of a student, and grade nothing")
    parser.add_argument("--shard", type=shard, metavar="I/N", help="only this part of the class")
    parser.add_argument("--slurm", type=int, default=0, metavar="N", help="as a Slurm array of N shards")
    parser.add_argument("--sbatch", default="", help="more options for sbatch")
    parser.add_argument("--poll", type=float, default=2, help="seconds between two polls of Slurm's queue")
    return parser.parse_args()


def shard_arguments(options):
    """What a shard is started with, beside its number. What has changed was said before it starts."""
    pairs = [("--lab", options.lab), ("--build", options.build), ("--in", os.path.abspath(options.folder)),
             ("--out", os.path.abspath(options.out)), ("--jobs", str(options.jobs)),
             ("--min-sandbox", str(options.min_sandbox)), ("--blame", str(options.blame)), ("--only", options.only)]
    pairs += [(f"--{key}", getattr(options, key) and os.path.abspath(getattr(options, key))) for key in ("secret", "hidden", "course")]
    pairs += [("--regrade", words) for words in options.regrade_words]
    return [f"{option}={value}" for option, value in pairs if value]   # a name may begin with a dash


def grade_here(course, students, options):
    """Everything that is to be done on this machine."""
    part = options.shard and options.shard.replace("/", "-of-")
    chosen, again = choose(course, of_shard(students, options.shard), options)
    with lock(course.out, part), work_folder(course.out, part) as work:
        if part is None:
            course.remove_parts()
        grade_them(Grader(course, options, work), chosen, again, max(1, options.jobs))


def check_folders(folder, out):
    """OUT would be taken for a hand-in."""
    if not os.path.isdir(folder):
        raise Unusable(f"IN={folder}: there is no such folder")
    inside, outside = os.path.realpath(out), os.path.realpath(folder)
    if os.path.commonpath([inside, outside]) == outside:
        raise Unusable(f"{out} lies in {folder}: take a folder outside of the hand-ins")


def complete(options):
    """The settings of the course where the command line says nothing, and what they come to."""
    told = settings_file.load(options.out, options.course)
    options.hidden = options.hidden or told.get("hidden")
    options.secret = options.secret or told.get("secret")
    options.points, options.zone = told["points"].get(options.lab, {}), settings_file.zone_of(told)
    options.plan = checks.plan_of(f"{options.build}/judge/{options.lab}", options.lab, options.points)
    for name in set(options.points) - {row["name"] for row in options.plan}:
        raise Unusable(f"course.json: points: {options.lab} has no check {name}")
    options.checks = checks.digest(options.lab, options.hidden, options.plan)


def run(options):
    check_folders(options.folder, options.out)
    complete(options)
    course = Class(options.out, options.lab, options.secret)
    if options.seed_of is not None:
        print(course.seed(options.seed_of))
        return 0
    number = options.lab.split("_")[0]
    students = handed_in.find(options.folder, number, options.zone)
    readable = {name: each for name, each in students.items() if not any(hand_in.unread for hand_in in each)}
    options.regrade_words, options.regrade = options.regrade, names_to_regrade(options.regrade, students)
    if not options.shard:
        say_changed_settings(course, settings_of(course, options))
        check_stale(course, readable, options)
        write_json(os.path.join(course.out, "settings.json"), settings_of(course, options))
        with lock(course.out, None):   # for tables that are made of a part, if this run is stopped
            summary.write_hand_ins(course, students, handed_in.left_out(options.folder, number))
    before = {record["name"]: record["score"] for _, record in course.all_records()}
    ended_early = []
    if options.slurm:
        ended_early = on_slurm(course, list(readable), options, shard_arguments(options))
    else:
        grade_here(course, readable, options)
    if options.shard:
        write_whole(done_note(course.out, options.shard), b"")
        return 0
    with lock(course.out, None):
        made = summary.finish(course, students, before, handed_in.left_out(options.folder, number), options.zone)
    if ended_early:
        print(f"shards that did not finish: {', '.join(ended_early)}; see {course.out}/slurm-*.log, and start again")
    return 1 if made["missing"] or made["undecided"] or ended_early else 0


def main():
    options = parse()
    sys.stdout.reconfigure(errors="replace")
    try:
        sys.exit(run(options))
    except (Unusable, handed_in.Unclear) as error:
        print(f"grade-all: {error}", file=sys.stderr)
        sys.exit(2)
    except (Stopped, OSError) as error:
        sys.exit(f"grade-all: {told(error)}; what is graded stays")
    except KeyboardInterrupt:
        sys.exit("grade-all: stopped; what is graded stays, start again to go on")


if __name__ == "__main__":
    main()
