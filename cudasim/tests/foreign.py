#!/usr/bin/env python3
"""Programs as others write them: each of cudasim/tests/foreign/*.cu uses one feature of CUDA, checks its own results and
ends with status 0. Each is run in the ordinary build and with ACCESS=1, by gcc and by clang, in two orders of threads;
the compiler must not warn. With --nvcc, nvcc must compile each, and nothing is run. With --pack it makes programs for a
machine with a GPU, of these and of cudasim/tests/ what asks about CUDA: tools/gpu_check.sh runs them.

    cudasim/tests/foreign.py [--filter SUBSTR] [--cc gcc,clang] [--nvcc]
    cudasim/tests/foreign.py --pack DIR [--arch sm_90]

Settings: JOBS=2. Ends with a line `foreign: N programs, all good`, or with what failed and status 1."""

import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys

FOLDER = "cudasim/tests/foreign"
OUT = "build/foreign"
ASKING = ("semantics", "half", "cublas")
SECONDS = 60  # for one run


def said(done):
    return "\n".join((done.stderr + done.stdout).split("\n")[:15])


def more_files(source):
    """The other files of a program, which it names after `more:`."""
    with open(source, encoding="utf-8") as file:
        named = re.search(r"more: ([\w./ ]+?) \*/", file.read())
    return named[1].split() if named else []


def compile_one(source, cc, access, out):
    command = ["make", "-s", "--no-print-directory", "cu-build", f"FILE={source}", f"CC={cc}", f"OUT={out}", f"MORE={' '.join(more_files(source))}"]
    done = subprocess.run(command + (["ACCESS=1"] if access else []), capture_output=True, text=True, check=False)
    return done.returncode == 0, said(done)


def devices_of(source):
    """How many devices a program wants, which it says after `devices:`."""
    with open(source, encoding="utf-8") as file:
        wanted = re.search(r"devices: (\d+) \*/", file.read())
    return wanted[1] if wanted else "1"


def libraries_of(source):
    """The libraries that nvcc links for a program alone, which it names after `library:`."""
    with open(source, encoding="utf-8") as file:
        return [f"-l{name}" for name in re.findall(r"library: (\w+) \*/", file.read())]


def run_one(program, schedule, devices):
    environment = dict(os.environ, CUDASIM_SCHED=schedule, CUDASIM_DEVICES=devices)
    try:
        done = subprocess.run([program], capture_output=True, text=True, errors="replace", env=environment, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"not over after {SECONDS} s"
    reported = re.search(r"\[cudasim\] (?!note: )", done.stderr)
    return None if done.returncode == 0 and not reported else f"status {done.returncode}: {said(done)}"


def simulated(source, cc, access):
    """What is wrong with the program in the simulator, if anything."""
    name = os.path.basename(source)[:-3]
    program = f"{OUT}/{cc}{'-access' if access else ''}/{name}"
    how = f"{name}, {cc}{', ACCESS=1' if access else ''}"
    good, message = compile_one(source, cc, access, program)
    if not good:
        return f"{how}: does not compile: {message}"
    if "warning:" in message:
        return f"{how}: a warning of a right program: {message}"
    for schedule in ("forward", "reverse"):
        wrong = run_one(program, schedule, devices_of(source))
        if wrong:
            return f"{how}, {schedule}: {wrong}"
    return None


def by_nvcc(nvcc, source, arch, program):
    """In a pack the runtime's library lies in the folder above."""
    done = subprocess.run([nvcc, "-std=c++17", f"-arch={arch}", "-I.", "-cudart", "shared", "-Xlinker", "-rpath=$ORIGIN/..", "-o", program, source, *more_files(source),
                           "-lcublas", "-lcublasLt", "-lcuda", *libraries_of(source)], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{os.path.basename(source)}: nvcc does not compile it: {said(done)}"


def find_nvcc():
    usual = "/usr/local/cuda/bin/nvcc"
    return shutil.which("nvcc") or (usual if os.access(usual, os.X_OK) else None)


def main():
    parser = argparse.ArgumentParser(description="runs cudasim/tests/foreign")
    parser.add_argument("--filter", default="")
    parser.add_argument("--cc", default="gcc,clang")
    parser.add_argument("--nvcc", action="store_true")
    parser.add_argument("--pack")
    parser.add_argument("--arch", default="sm_80")
    options = parser.parse_args()
    sources = [s for s in sorted(glob.glob(f"{FOLDER}/*.cu")) if options.filter in s]
    if options.pack:
        options.nvcc = True
        sources = [s for s in sources if devices_of(s) == "1"] + [f"cudasim/tests/{name}.cu" for name in ASKING]
    if not sources:
        sys.exit(f"foreign: no program in {FOLDER} has '{options.filter}' in its name")
    nvcc = find_nvcc() if options.nvcc else None
    if options.nvcc and nvcc is None:
        sys.exit("foreign: there is no nvcc here")
    os.makedirs(options.pack or OUT, exist_ok=True)
    builds = [] if nvcc else [(cc, access) for cc in options.cc.split(",") for access in (False, True)]
    for cc, access in builds:  # the first compilation makes the library, which the others must not do side by side
        compile_one(sources[0], cc, access, f"{OUT}/first")
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        work = [pool.submit(simulated, source, *build) for source in sources for build in builds]
        work += [pool.submit(by_nvcc, nvcc, source, options.arch, f"{options.pack or OUT}/{'' if options.pack else 'by_nvcc-'}{os.path.basename(source)[:-3]}")
                 for source in sources if nvcc]
        failed = [wrong for wrong in (job.result() for job in work) if wrong]
    for wrong in failed:
        print(f"foreign: FAILED: {wrong}")
    print(f"foreign: {len(sources)} programs, {f'{len(failed)} failures' if failed else 'all good'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
