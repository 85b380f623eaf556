#!/usr/bin/env python3
"""Grades every hand-in of a folder: `make grade-all LAB=03 IN=folder OUT=folder`.

One record each in OUT/records. Killed at any moment and started again, it goes on where it was: a hand-in that has a
whole record is not graded again, unless its files have changed. A hand-in has a name of its own, NAME or NAME.zip or
NAME.tar.gz, and a seed made from that name and the secret of the class, in OUT/secret.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import blame
import hand_in_reader
from lab_files import path_of
from class_folder import Class, Stopped, lock, undecided, work_folder, write_json, write_whole

LIMIT_SECONDS = 3600        # for one hand-in: only a fault of the grader reaches it
WORK_ROOM, OUT_ROOM = 64 << 20, 256 << 10   # bytes that must be free, or results are not believed
ENDINGS = (".tar.gz", ".tgz", ".zip")


# ---- the hand-ins -----------------------------------------------------------------------------------

class HandIn:
    """A name and where it lies."""

    def __init__(self, path, number):
        base = os.path.basename(path)
        ending = next((e for e in ENDINGS if base.lower().endswith(e) and not os.path.isdir(path)), "")
        name = base[:len(base) - len(ending)]
        self.name = name.removeprefix(number + "-") or name   # as `make handin03` calls it
        self.path = path

    def stamp(self):
        """Changes when the hand-in might have."""
        seen = hashlib.sha256()
        places = [self.path]
        if os.path.isdir(self.path):
            places += sorted(os.path.join(folder, name) for folder, _, files in os.walk(self.path) for name in files)
        for place in places:
            found = os.lstat(place)
            seen.update(f"{place.removeprefix(self.path)!a} {found.st_size} {found.st_mtime_ns}\n".encode())
        return seen.hexdigest()[:32]


def is_hand_in(entry):
    """What a system or an editor leaves beside hand-ins is called so."""
    return not entry.startswith(".") and entry != "__MACOSX"


def left_out(folder):
    """What is in the folder and not looked at. A student's work might be called so."""
    return sorted(entry for entry in os.listdir(folder) if not is_hand_in(entry))


def find_hand_ins(folder, lab):
    """All of them by name. A name that is there twice is the instructor's to settle."""
    found = {}
    for entry in sorted(filter(is_hand_in, os.listdir(folder))):
        hand_in = HandIn(os.path.join(folder, entry), lab.split("_")[0])
        if hand_in.name in found:
            raise Stopped(f"{shown(hand_in.name)} has handed in twice: "
                          f"{shown(found[hand_in.name].path)} and {shown(hand_in.path)}; keep one")
        found[hand_in.name] = hand_in
    if not found:
        others = ", ".join(map(shown, left_out(folder)))
        raise Stopped(f"{folder}: there is no hand-in in it" + (f"; not looked at, by its name: {others}" if others else ""))
    return list(found.values())


def shard(text):
    """"0/3", and so on to "2/3"."""
    part, parts = (int(number) for number in text.split("/"))
    if not 0 <= part < parts:
        raise ValueError(text)
    return text


def of_shard(hand_ins, shard):
    """A part that does not change when others hand in."""
    if shard is None:
        return hand_ins
    part, parts = (int(number) for number in shard.split("/"))
    return [each for each in hand_ins if zlib.crc32(os.fsencode(each.name)) % parts == part]


# ---- one hand-in ------------------------------------------------------------------------------------

class Grader:
    """How hand-ins of one lab are graded. Judge and recipes are copied, so that a `make` meanwhile changes nothing."""

    def __init__(self, course, options, work):
        self.course, self.work, self.min_sandbox = course, work, options.min_sandbox
        self.blame_seconds = options.blame
        self.program = f"{options.build}/bin/grade"
        self.plan, self.cache = path_of(course.lab, "lab.json"), "build/cache"
        self.judge, self.recipes = f"{work}/judge/{course.lab}", f"{work}/recipes.json"
        programs = self.copy_judge(f"{options.build}/judge/{course.lab}")
        shutil.copy(f"{options.build}/grade/{course.lab}.json", self.recipes)
        os.makedirs(self.cache, exist_ok=True)
        # A compiler's name for the folder it worked in is of no use.
        self.built_in = re.compile(re.escape(work) + r"/grade-\w+/(work/)?(submission/)?")
        with open(self.plan, encoding="utf-8") as file:
            text = file.read()
        self.checks = hashlib.sha256(programs + text.encode()).hexdigest()[:16]
        self.files = [hole["file"] for hole in json.loads(text)["holes"]]

    def copy_judge(self, built):
        """The judge, and the programs that run beside its probes; the bytes of all."""
        contents = b""
        os.makedirs(os.path.dirname(self.judge), mode=0o711)
        for path in [built, *sorted(glob.glob(glob.escape(built) + "-*"))]:
            shutil.copy(path, os.path.dirname(self.judge))
            with open(path, "rb") as file:
                contents += file.read()
        return contents

    def unpack(self, hand_in, folder):
        """What the reader says: {"files", "notes"}, or {"refused"}."""
        done = subprocess.run([sys.executable, "-I", hand_in_reader.__file__, hand_in.path, folder, self.course.lab,
                               *self.files], capture_output=True, check=False)
        if done.returncode == 0:
            return json.loads(done.stdout)
        if done.returncode == hand_in_reader.REFUSED:
            return {"refused": done.stdout.decode(errors="replace").strip()}
        return {"refused": "it cannot be unpacked within the limits of time and memory"}

    def run(self, name, folder, refused, more=()):
        """Runs the sandboxed grader; its record. The seed goes through a pipe: anyone can see arguments."""
        output = f"{folder}.json"
        command = [self.program, "--parent", str(os.getpid()), "--lab", self.course.lab, "--from", folder,
                   "--judge", self.judge, "--plan", self.plan, "--recipes", self.recipes, "--cache", self.cache,
                   "--output", output, "--min-sandbox", str(self.min_sandbox), "--seed", "-", *more]
        command += ["--refuse", f"refused: {refused}"] if refused else []
        try:
            done = subprocess.run(command, input=self.course.seed(name) + "\n", text=True, errors="replace", check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT_SECONDS,
                                  env={**os.environ, "TMPDIR": self.work})
            said = done.stderr.strip()
        except subprocess.TimeoutExpired:
            said = f"not finished after {LIMIT_SECONDS} s"
        try:
            with open(output, encoding="utf-8") as file:
                return json.loads(self.built_in.sub("", file.read()))
        except (OSError, ValueError):
            raise Stopped(f"{shown(name)} has no record: {said or 'the grader said nothing'}") from None

    def check_room(self):
        """A compiler on a full disk fails as for a student's mistake."""
        for folder, room in ((self.work, WORK_ROOM), (self.course.out, OUT_ROOM)):
            disk = os.statvfs(folder)
            if disk.f_bavail * disk.f_frsize < room:
                raise Stopped(f"{folder}: the disk is full: less than {room >> 10} KiB are free")

    def grade(self, hand_in, again):
        """The record of a hand-in, and whether it was made now: not if the one that is there is of the same files."""
        before = None if again else self.course.load(hand_in.name)
        stamp = hand_in.stamp()
        if before and before["hand_in"]["stamp"] == stamp:
            return before, False
        self.check_room()
        folder = tempfile.mkdtemp(prefix="in-", dir=self.work)
        try:
            taken = self.unpack(hand_in, folder)
            if before and all(before["hand_in"].get(key) == taken.get(key) for key in ("files", "refused")):
                if before["hand_in"].get("bets", {}) != taken.get("bets", {}):   # they have no part in the grade
                    self.course.save(before | {"hand_in": {"stamp": stamp, **taken}})
                return before, False
            record = self.run(hand_in.name, folder, taken.get("refused"))
            blame.add(record, self.blame_seconds, lambda more: self.run(hand_in.name, folder, None, more))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.check_room()
        record.update(name=hand_in.name, judge=self.checks, hand_in={"stamp": stamp, **taken})
        record["from"] = os.path.basename(hand_in.path)
        self.course.save(record)
        return record, True


# ---- all of them ------------------------------------------------------------------------------------

def shown(name):
    """Nothing that a terminal could take for more than text."""
    return "".join(c if c.isprintable() else "?" for c in name)


class Progress:
    """One line, written over on a terminal. Records that are there already say nothing of the time that is left."""

    def __init__(self, total):
        self.total, self.done, self.fresh = total, 0, 0
        self.begin, self.terminal = time.monotonic(), sys.stdout.isatty()

    def line(self, name, record, fresh):
        self.done, self.fresh = self.done + 1, self.fresh + fresh
        if fresh:
            left = (time.monotonic() - self.begin) / self.fresh * (self.total - self.done)
            text = (f"{self.done}/{self.total}  left {int(left // 60)}:{int(left % 60):02d}  {shown(name)}: "
                    f"{record['score']:g} of {record['total']:g}{', not decided' if undecided(record) else ''}")
            print(f"\r\033[K{text}" if self.terminal else text, end="" if self.terminal else "\n", flush=True)

    def end(self):
        seconds = max(time.monotonic() - self.begin, 1e-3)
        print(f"{chr(10) if self.terminal and self.fresh else ''}{self.fresh} graded, {self.done - self.fresh} had a record"
              + (f"; {60 * self.fresh / seconds:.0f} a minute" if self.fresh else ""))


def grade_them(grader, hand_ins, again, jobs):
    """Side by side. The first trouble of the grader's own stops all."""
    stop, progress = threading.Event(), Progress(len(hand_ins))

    def one(hand_in):
        return (None, False) if stop.is_set() else grader.grade(hand_in, again)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(one, hand_in): hand_in for hand_in in hand_ins}
        try:
            for future in concurrent.futures.as_completed(futures):
                record, fresh = future.result()
                if record is not None:
                    progress.line(futures[future].name, record, fresh)
        finally:
            stop.set()
            progress.end()


def choose(course, hand_ins, options):
    """Which to look at, and whether to grade them even if they have a record."""
    if options.regrade:
        return [each for each in hand_ins if each.name in options.regrade], True
    if options.only == "failed":
        records = ((each, course.load(each.name)) for each in hand_ins)
        return [each for each, record in records if record is None or undecided(record)], True
    return hand_ins, False


# ---- the summary ------------------------------------------------------------------------------------

def summarize(course, hand_ins):
    """Reads one record after the other, and keeps a few numbers of each."""
    scores, lost, again, refused, missing, judges, judge_bytes = {}, {}, [], [], [], set(), 0
    for hand_in in hand_ins:
        record = course.load(hand_in.name)
        if record is None:
            missing.append(hand_in.name)
            continue
        scores[hand_in.name] = record["score"]
        judges.add(record["judge"])
        (again if undecided(record) else refused if "refused" in record["hand_in"] else []).append(hand_in.name)
        for row in record["checks"]:
            judge_bytes = max(judge_bytes, row.get("judge_bytes", 0))
            lost[row["name"]] = lost.get(row["name"], 0) + (row["state"] not in ("pass", "not run"))
    values = list(scores.values())
    return {"version": 1, "lab": course.lab, "hand_ins": len(hand_ins), "graded": len(scores), "missing": missing,
            "undecided": again, "refused": refused, "judges": sorted(judges), "lost": lost, "judge_bytes": judge_bytes,
            "own_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
            "mean": statistics.fmean(values) if values else None,
            "median": statistics.median(values) if values else None, "scores": scores}


def print_summary(summary, out):
    print(f"{summary['graded']} of {summary['hand_ins']} hand-ins have a record in {out}/records")
    if summary["graded"]:
        print(f"mean {summary['mean']:.1f}, median {summary['median']:g}; lost by: " + ", ".join(
            f"{name} {count}" for name, count in sorted(summary["lost"].items(), key=lambda entry: -entry[1])[:5]))
    for key, text in (("left_out", "not looked at, by its name"), ("refused", "refused, 0 points (the record says why)"),
                      ("missing", "not graded: start again"),
                      ("undecided", "the grader's own fault, not decided: start again with ONLY=failed")):
        if summary[key]:
            names = ", ".join(shown(name) for name in summary[key][:8])
            print(f"{len(summary[key])} {text}: {names}{', ...' if len(summary[key]) > 8 else ''}")
    if len(summary["judges"]) > 1:
        print("the checks have changed since some were graded: REGRADE=all grades all hand-ins by the same")
    print(f"peak memory: {summary['own_bytes'] / 1048576:.0f} MiB for all, {summary['judge_bytes'] / 1048576:.0f} MiB for a judge")


# ---- more than one machine --------------------------------------------------------------------------

def still_runs(job):
    """Slurm forgets a job some time after its end. Where it gives no answer at all, it is asked again."""
    done = subprocess.run(["squeue", "--noheader", "--jobs", job], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) if done.returncode == 0 else "Invalid job id" not in done.stderr


def done_note(out, shard):
    """The file that a shard leaves as its last act."""
    return os.path.join(out, ".done-" + shard.replace("/", "-of-"))


def on_slurm(course, hand_ins, options, arguments):
    """The same command once for each shard, in an array of jobs; waits for all of them. Those that did not come to their
    end: a hand-in that is graded again has a record in any case."""
    parts = min(options.slurm, len(hand_ins))
    notes = [done_note(course.out, f"{part}/{parts}") for part in range(parts)]
    for note in filter(os.path.exists, notes):
        os.unlink(note)
    submit = ["sbatch", "--parsable", f"--array=0-{parts - 1}", "--job-name", f"grade-{course.lab}",
              "--output", os.path.join(course.out, "slurm-%a.log"), "--chdir", os.getcwd(), *options.sbatch.split(),
              "tools/slurm_shard.sh", *arguments]
    try:
        done = subprocess.run(submit, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Stopped("there is no sbatch here: Slurm's packages are called slurm-wlm and munge") from None
    if done.returncode != 0:
        raise Stopped(f"sbatch: {done.stderr.strip()}")
    job = done.stdout.strip().split(";")[0]
    print(f"Slurm job {job}: {parts} shards, logs in {course.out}/slurm-*.log", flush=True)
    before = -1
    while still_runs(job):
        graded = sum(os.path.exists(course.path(each.name)) for each in hand_ins)
        if graded != before:
            print(f"{graded}/{len(hand_ins)}", flush=True)
        before = graded
        time.sleep(options.poll)
    return [str(part) for part, note in enumerate(notes) if not os.path.exists(note)]


# ---- the command line -------------------------------------------------------------------------------

def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", required=True, help="folder in labs/")
    parser.add_argument("--build", default="build", help="where the programs are")
    parser.add_argument("--in", dest="folder", required=True, help="folder with the hand-ins")
    parser.add_argument("--out", required=True, help="folder for secret, records, summary")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="hand-ins side by side")
    parser.add_argument("--min-sandbox", type=int, default=2, help="refuse to grade below this level")
    parser.add_argument("--blame", type=float, default=120, metavar="SECONDS",
                        help="how long to look for the part of a hand-in that is to blame; 0: not at all")
    parser.add_argument("--secret", help="file with the secret of the class; OUT/secret")
    parser.add_argument("--only", choices=["failed"], help="only hand-ins that the grader did not decide")
    parser.add_argument("--regrade", action="append", default=[], help="grade this one again; `all` for all hand-ins")
    parser.add_argument("--seed-of", metavar="NAME", help="print the seed of a student, and grade nothing")
    parser.add_argument("--shard", type=shard, metavar="I/N", help="only this part of the class")
    parser.add_argument("--slurm", type=int, default=0, metavar="N", help="as a Slurm array of N shards")
    parser.add_argument("--sbatch", default="", help="more options for sbatch")
    parser.add_argument("--poll", type=float, default=2, help="seconds between two polls of Slurm's queue")
    return parser.parse_args()


def shard_arguments(options):
    """What a shard is started with, beside its number."""
    pairs = [("--lab", options.lab), ("--build", options.build), ("--in", os.path.abspath(options.folder)),
             ("--out", os.path.abspath(options.out)), ("--jobs", str(options.jobs)),
             ("--min-sandbox", str(options.min_sandbox)), ("--blame", str(options.blame)), ("--only", options.only)]
    pairs += [("--secret", options.secret and os.path.abspath(options.secret))]
    pairs += [("--regrade", name) for name in options.regrade]
    return [f"{option}={value}" for option, value in pairs if value]   # a name may begin with a dash


def grade_here(course, hand_ins, options):
    """Everything that is to be done on this machine."""
    part = options.shard and options.shard.replace("/", "-of-")
    chosen, again = choose(course, of_shard(hand_ins, options.shard), options)
    with lock(course.out, part), work_folder(course.out, part) as work:
        grade_them(Grader(course, options, work), chosen, again, max(1, options.jobs))


def check_folders(folder, out):
    """OUT would be taken for a hand-in."""
    inside, outside = os.path.realpath(out), os.path.realpath(folder)
    if os.path.commonpath([inside, outside]) == outside:
        raise Stopped(f"{out} lies in {folder}: take a folder outside of the hand-ins")


def run(options):
    check_folders(options.folder, options.out)
    course = Class(options.out, options.lab, options.secret)
    if options.seed_of is not None:
        print(course.seed(options.seed_of))
        return 0
    hand_ins = find_hand_ins(options.folder, options.lab)
    names = [each.name for each in hand_ins]
    if options.regrade == ["all"]:
        options.regrade = names
    for name in set(options.regrade) - set(names):
        raise Stopped(f"no hand-in is called {shown(name)}")
    ended_early = []
    if options.slurm:
        ended_early = on_slurm(course, hand_ins, options, shard_arguments(options))
    else:
        grade_here(course, hand_ins, options)
    if options.shard:
        write_whole(done_note(course.out, options.shard), b"")
        return 0
    summary = {**summarize(course, hand_ins), "left_out": left_out(options.folder)}
    write_json(os.path.join(course.out, "summary.json"), summary)
    print_summary(summary, course.out)
    if ended_early:
        print(f"shards that did not finish: {', '.join(ended_early)}; see {course.out}/slurm-*.log, and start again")
    return 1 if summary["missing"] or summary["undecided"] or ended_early else 0


def main():
    options = parse()
    sys.stdout.reconfigure(errors="replace")
    try:
        sys.exit(run(options))
    except (Stopped, OSError) as error:
        sys.exit(f"grade-all: {error}; what is graded stays, start again to go on")
    except KeyboardInterrupt:
        sys.exit("grade-all: stopped; what is graded stays, start again to go on")


if __name__ == "__main__":
    main()
