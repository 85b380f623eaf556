#!/usr/bin/env python3
"""Compiles and runs every .cu with a main() below a folder, and says what became of each: `make foreign DIR=folder`.

    make foreign DIR=folder [ACCESS=1] [SECONDS=20] [JOBS=n] [ONLY=text] [ARGS="..."] [INCLUDE=folder] [JSON=file]

A program is built as `make cu` does it, with the settings of this make (ACCESS=1, CC=clang, DEFINES=-DN=64, ...). Headers are
looked for beside it, in the folders above it up to FOLDER, and in those of their folders that are called common, inc, include or
utils, last in INCLUDE; where functions are missing, the other sources beside it that have no main() are linked too. Everything happens in a copy of
FOLDER, without its .git, which is removed in the end; programs run where they lie in it, with ARGS, the same for all, and without input.

SECONDS is the processor time of one compiler or program; four times that is what it may take by the clock. What a program has
started ends with it. The table is on stdout, and in JSON for other programs. The status is 0 when all programs
were tried, whatever became of them.
"""
import collections
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import foreign_result
from making import making
from arguments import Parser
from meter import Meter, duration_text

NEIGHBOURS = {"common", "inc", "include", "utils"}
SOURCES = (".cu", ".cpp", ".cc", ".c")
OUTPUT_KIB = 64 * 1024   # what a program may write into one file
CLOCK = 4                # times the processor time
KEPT = 1 << 20           # bytes that are read of what was said

Program = collections.namedtuple("Program", "name result words seconds")


# ---- the copy -----------------------------------------------------------------------------------------

def in_copy(path):
    """A name without spaces, which make would split."""
    return re.sub(r"[\s$#:%'\"()&;]", "_", path)


def copy_tree(folder, copy):
    """Plain files, links followed; {name in the folder: name in the copy} of the sources. The copy may lie below the folder: in build/."""
    sources, ours = {}, os.path.realpath("build")
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each not in (".git", ".svn") and os.path.realpath(os.path.join(place, each)) != ours)
        within = os.path.relpath(place, folder)
        os.makedirs(os.path.join(copy, in_copy(within)), exist_ok=True)
        for name in sorted(names):
            path = os.path.normpath(os.path.join(within, name))
            if os.path.isfile(os.path.join(place, name)):
                shutil.copyfile(os.path.join(place, name), os.path.join(copy, in_copy(path)))
                if name.endswith(".cu"):
                    sources[path] = in_copy(path)
    return sources


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def code_of(path):
    """Without comments and strings."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", " ", read(path), flags=re.S)


def has_main(path):
    return re.search(r"\b(?:int|void|auto)\s+main\s*\(|^\s*main\s*\(", code_of(path), re.M) is not None


def headers_of(path):
    """Those that it names itself."""
    return re.findall(r"^\s*#\s*include\s*[\"<]([^\">]+)[\">]", read(path), re.M)


def include_folders(copy, source):
    """Of a source: its folder, and each above it, with their neighbours."""
    found, place = [], os.path.dirname(os.path.join(copy, source))
    while True:
        found += [place] + sorted(each.path for each in os.scandir(place) if each.is_dir() and each.name.lower() in NEIGHBOURS)
        if os.path.samefile(place, copy):
            return found
        place = os.path.dirname(place)


def other_sources(path):
    """The sources beside it without a main(), but for those that one of them includes."""
    folder = os.path.dirname(path)
    all_of_them = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(SOURCES)]
    included = {os.path.basename(header) for each in all_of_them for header in headers_of(each)}
    return [each for each in all_of_them if each != path and os.path.basename(each) not in included and not has_main(each)]


# ---- processes ----------------------------------------------------------------------------------------

class Processes:
    """Those that run, so that all can be ended; each leads a group, in which is what it has started."""

    def __init__(self):
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def start(self, command, **where):
        with self.lock:
            if self.stopped:
                raise concurrent.futures.CancelledError
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **where)
            self.running.add(process)
            return process

    def end(self, process):
        with self.lock:
            self.running.discard(process)
            kill_group(process)
        process.wait()

    def end_all(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                kill_group(process)


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Run:
    """One command under limits: its status, None if its time was up; and what it said."""

    def __init__(self, processes, command, seconds, files, **where):
        limited = f"ulimit -S -t {seconds}; ulimit -c 0 -f {OUTPUT_KIB}; exec " + " ".join(shlex.quote(word) for word in command)
        with open(files + ".out", "wb") as out, open(files + ".err", "wb") as err:
            process = processes.start(["bash", "-c", limited], stdout=out, stderr=err, **where)
            try:
                self.status = process.wait(seconds * CLOCK)
            except subprocess.TimeoutExpired:
                self.status = None
            finally:
                processes.end(process)
        self.printed, self.said = tail(files + ".out"), tail(files + ".err")
        if self.status == -signal.SIGXCPU or "CPU time limit exceeded" in self.said:
            self.status = None


def tail(path):
    """The beginning and the end of a file."""
    with open(path, "rb") as file:
        data = file.read(KEPT)
        file.seek(max(file.tell(), os.path.getsize(path) - KEPT))
        data += file.read()
    os.remove(path)
    return data.decode(errors="replace")


# ---- one program --------------------------------------------------------------------------------------

class Trial:
    def __init__(self, options, scratch, processes):
        self.seconds, self.scratch, self.processes, self.arguments = options.seconds, scratch, processes, options.args
        self.copy, self.more = f"{scratch}/t", [shlex.quote(os.path.abspath(folder)) for folder in options.include]
        threads = os.environ.get("CUDASIM_THREADS") or str(max(1, len(os.sched_getaffinity(0)) // options.jobs))
        self.threads = int(threads) if threads.isdigit() else 1
        settings = {"CUDASIM_THREADS": threads, "CUDASIM_TIMEOUT": str(max(1, options.seconds * 3 // 4))}
        self.environment = settings | os.environ | {"TMPDIR": os.path.abspath(scratch)}
        self.making = self.environment | {"MAKEFLAGS": making()["MAKEFLAGS"]}

    def build(self, source, program, more):
        flags = " ".join(f"-iquote {folder} -I {folder}" for folder in [*include_folders(self.copy, source), *self.more])
        settings = [f"FILE={self.copy}/{source}", f"OUT={program}", f"MORE={' '.join(more)}", f"CU_PATHS={flags}"]
        return Run(self.processes, ["make", "-s", "--no-print-directory", "cu-build", *settings], self.seconds, program, env=self.making)

    def built(self, source, program):
        """Alone, or with the sources beside it if that is not all of it."""
        run = self.build(source, program, [])
        if run.status and "undefined reference" in run.said:
            more = other_sources(f"{self.copy}/{source}")
            run = self.build(source, program, more) if more else run
        return run

    def outcome(self, source, program):
        run = self.built(source, program)
        if run.status is None:
            return "timeout", f"the compiler took more than {self.seconds} s"
        if run.status:
            return foreign_result.compiled(run.said)
        place = os.path.dirname(f"{self.copy}/{source}")
        run = Run(self.processes, [os.path.abspath(program), *self.arguments], self.seconds * self.threads, program, cwd=place, env=self.environment)
        os.remove(program)
        if run.status is None:
            return "timeout", f"not over after {self.seconds} s"
        return foreign_result.ended(run.status, run.said, run.printed)

    def of(self, number, name, source):
        began = time.monotonic()
        result, words = self.outcome(source, f"{self.scratch}/p{number}")
        return Program(name, result, " ".join(words.split()), round(time.monotonic() - began, 1))


def try_all(trial, programs, jobs):
    """All programs, in the order of their names."""
    meter, tried = Meter("programs", len(programs)), []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            work = [pool.submit(trial.of, number, name, source) for number, (name, source) in enumerate(programs)]
            for job in concurrent.futures.as_completed(work):
                tried.append(job.result())
                meter.tell(len(tried))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            trial.processes.end_all()
            meter.clear()
    return sorted(tried)


# ---- what is said -------------------------------------------------------------------------------------

def counted(words):
    return ", ".join(f"{word} {count}" for word, count in sorted(collections.Counter(words).items(), key=lambda each: (-each[1], each[0])))


def show(programs, without_main):
    width = min(60, max((len(program.name) for program in programs), default=0))
    for result in foreign_result.RESULTS:
        rows = [program for program in programs if program.result == result]
        if rows:
            print(f"{result}: {len(rows)}")
            for row in rows:
                print(f"  {row.name:{width}}  {duration_text(row.seconds):>7}  {row.words[:120]}".rstrip())
    if without_main:
        print(f"without a main(): {len(without_main)}")
        for name in without_main:
            print(f"  {name}")
    totals = [f"{result} {sum(program.result == result for program in programs)}" for result in foreign_result.RESULTS]
    print(f"{len(programs)} programs: {', '.join(totals)}; {len(without_main)} files without a main()")
    refused = [program.words.split(": ")[0] for program in programs if program.result == "refused"]  # the feature
    if refused:
        print(f"refused for: {counted(refused)}")


def save(path, programs, without_main):
    """Under another name first, so that no half of it is ever there."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"programs": [program._asdict() for program in programs], "without_main": without_main}, file, indent=2)
        file.write("\n")
    os.replace(path + ".new", path)


def refuse(words):
    print(f"foreign: {words}", file=sys.stderr)
    sys.exit(2)


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def arguments():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--dir", required=True)
    parser.add_argument("--seconds", type=positive, default=20, help="of processor time, for a compiler or a program")
    parser.add_argument("--jobs", type=positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", help="programs with this text in their path")
    parser.add_argument("--args", type=shlex.split, default=[], help="of each program, in one word")
    parser.add_argument("--include", action="append", default=[], metavar="FOLDER", help="where headers are looked for last")
    parser.add_argument("--json", default="", help="file for the same, to be read by programs")
    options = parser.parse_args()
    if not os.path.isdir(options.dir):
        refuse(f"{options.dir}: no such folder")
    for folder in options.include:
        if not os.path.isdir(folder):
            refuse(f"{folder}: no such folder")
    if options.json and not os.access(os.path.dirname(options.json) or ".", os.W_OK):
        refuse(f"{options.json}: its folder cannot be written")
    return options


def interrupt(*_):
    raise KeyboardInterrupt


def survey(options, scratch):
    copied = copy_tree(options.dir, f"{scratch}/t")
    sources = {name: source for name, source in sorted(copied.items()) if options.only in name}
    if not sources:
        refuse(f"no .cu file below {options.dir}" + (f" has '{options.only}' in its path" if options.only else ""))
    programs = [(name, source) for name, source in sources.items() if has_main(f"{scratch}/t/{source}")]
    without_main = sorted(sources.keys() - {name for name, _ in programs})
    tried = try_all(Trial(options, scratch, Processes()), programs, options.jobs)
    show(tried, without_main)
    if options.json:
        save(options.json, tried, without_main)


def main():
    options = arguments()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    os.makedirs("build", exist_ok=True)
    scratch = os.path.relpath(tempfile.mkdtemp(prefix="foreign.", dir="build"))
    try:
        survey(options, scratch)
    except KeyboardInterrupt:
        print("foreign: interrupted; nothing is left behind", file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        refuse(error)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
