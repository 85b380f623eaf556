#!/usr/bin/env python3
"""What `make foreign` says of a folder in which each thing happens once: cudasim/tests/foreign_table.py.

Every program's result and words; the folder is as it was; bad input is refused in a line; after a signal no process is left, nor
what they were working on. Ends with a line `foreign_table: N checks, all good`, or with what failed and status 1."""

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

def launch(how):
    return "int main() {\nint *x;\ncudaMalloc(&x, 4);\ncudaMemset(x, 0, 4);\n" + how + "(x);\ncudaDeviceSynchronize();\n}"


STORE = "__global__ void k(int *x) { x[threadIdx.x] = 1; }\n"

# Of each file: its text, the result, and how the words begin; no result for one without a main().
FILES = {
    "own/header.h": ("#define N 5\n", None, None),
    "own/ran/main.cu": ("""#include "op.h"
        int twice(int x);
        extern "C" int one(int new_one);
        __global__ void k(int *x) { *x = N; }
        int main() {
            int y, *x;
            cudaMalloc(&x, 4);
            k<<<1, 1>>>(x);
            cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost);
            fclose(fopen("written.txt", "w"));
            printf("first\\n%d\\n", one(twice(y)));
        }""", "ran", "10"),
    "own/ran/twice.cpp": ("int twice(int x) { return 2 * x; }", None, None),
    "own/ran/one.c": ("int one(int new) { return new; }", None, None),
    "own/include/op.h": ('#include "header.h"', None, None),
    "with space/bounds.cu": (STORE + launch("k<<<1, 100>>>"), "reported", "out-of-bounds access: write"),
    "nested.cu": (STORE + "__global__ void outer(int *x) { k<<<1, 1>>>(x); }\n" + launch("outer<<<1, 1>>>"), "refused", "dynamic parallelism"),
    "library.cu": ("#include <cudnn.h>\nint main() { cudnnHandle_t handle; cudnnCreate(&handle); }", "refused", "cuDNN"),
    "inline.cu": ('__global__ void k(int *x) { asm("vote.all.pred p, q;"); }\nint main() { }', "refused", "inline PTX"),
    "barrier.cu": ("#include <cuda/barrier>\nint main() { }", "refused", "cuda::barrier"),
    "syntax.cu": ("int main() {\n    return 3\n}", "failed", "expected"),
    "status.cu": ('int main() { puts("usage: status FILE"); return 3; }', "failed", "exit status 3: usage: status FILE"),
    "signal.cu": ("#include <signal.h>\nint main() { raise(SIGSEGV); }", "failed", "signal SIGSEGV"),
    "link.cu": ("int elsewhere();\nint main() { return elsewhere(); }", "failed", "undefined reference to"),
    "forever/wait.cu": ("#include <unistd.h>\nint main() { fork(); pause(); }", "timeout", "not over after 2 s"),
    "forever/work.cu": ("int main() { for (volatile int i = 0;; i++) { } }", "timeout", "not over after 2 s"),
    "forever/kernel.cu": ("__global__ void k(volatile int *x) { while (*x == 0) { } }\n" + launch("k<<<1, 1>>>"), "timeout",
                          "a block has run for 1 s"),
    "no_main.cu": ("/* int main() { } */ int f() { return 1; }", None, None),
}
failures = []
checks = 0


def must(condition, what):
    global checks
    checks += 1
    if not condition:
        failures.append(what)


def foreign(*settings, **options):
    return subprocess.run(["make", "-s", "--no-print-directory", "foreign", *settings], capture_output=True, text=True, check=False, **options)


def write_files(folder):
    for path, (text, _, _) in FILES.items():
        os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
        with open(f"{folder}/{path}", "w", encoding="utf-8") as file:
            file.write(text)


def contents(folder):
    return sorted((place, tuple(sorted(names))) for place, _, names in os.walk(folder))


def table(folder, out):
    """Results and words, in JSON and as they are printed."""
    before = contents(folder)
    done = foreign(f"DIR={folder}", "SECONDS=2", f"JSON={out}")
    must(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    with open(out, encoding="utf-8") as file:
        told = json.load(file)
    became = {program["name"]: program for program in told["programs"]}
    expected = {path: file for path, file in FILES.items() if file[1]}
    must(sorted(became) == sorted(expected), f"the programs are {sorted(became)}")
    for path, (_, result, words) in expected.items():
        got = became.get(path, {"result": "", "words": ""})
        must(got["result"] == result and got["words"].startswith(words), f"{path}: {got['result']}, {got['words']}")
        must(any(line.split(" ")[2:3] == [path.split(" ")[0]] for line in done.stdout.splitlines()), f"{path} is not in the table")
    must(told["without_main"] == ["no_main.cu"], f"without a main(): {told['without_main']}")
    must("13 programs: ran 1, reported 1, refused 4, failed 4, timeout 3; 1 files without a main()" in done.stdout, f"the totals of {done.stdout}")
    must("refused for: cuDNN 1, cuda::barrier 1, dynamic parallelism 1, inline PTX 1" in done.stdout, "what was refused")
    must(contents(folder) == before, "the folder is not as it was")


def modes(folder):
    """What make is given holds for the programs, and only some of them are tried."""
    race = STORE.replace("threadIdx.x] = 1", "0] += 1") + launch("k<<<2, 1>>>")
    for name, text in (("race", race), ("define", "int main() { return N; }"),
                       ("words", "int main(int argc, char **argv) { return argc == 4 && !strcmp(argv[2], \"b c\") && !strcmp(argv[3], \"-d\"); }")):
        with open(f"{folder}/{name}.cu", "w", encoding="utf-8") as file:
            file.write(text)
    must("ran: 1" in foreign(f"DIR={folder}", "ONLY=race").stdout, "a race is reported without ACCESS=1")
    must("reported: 1" in foreign(f"DIR={folder}", "ONLY=race", "ACCESS=1").stdout, "a race is not reported with ACCESS=1")
    must("exit status 1" in foreign(f"DIR={folder}", "ONLY=words", "ARGS=a 'b c' -d").stdout, "ARGS is not passed on")
    must("exit status 7" in foreign(f"DIR={folder}", "ONLY=define", "DEFINES=-DN=7").stdout, "DEFINES is not passed on")


def refusals(folder):
    for settings, words in ((("DIR=",), "which folder?"), (("DIR=/no such",), "/no such: no such folder"),
                            ((f"DIR={folder}", "ONLY=zz"), "has 'zz' in its path"), ((f"DIR={folder}", "SECONDS=0"), "--seconds"), ((f"DIR={folder}", "ARGS=x 'y"), "--args"),
                            ((f"DIR={folder}", "JSON=/no/x"), "/no/x: its folder cannot be written")):
        done = foreign(*settings)
        must(done.returncode != 0 and words in done.stderr and done.stdout == "", f"{settings}: status {done.returncode}, {done.stdout}{done.stderr}")


def processes(of):
    """Those whose program lies in this folder."""
    found = []
    for link in glob.glob("/proc/[0-9]*/exe"):
        try:
            found += [link] if os.readlink(link).startswith(of) else []
        except OSError:
            pass
    return found


def interrupted(folder, by):
    """The tool gets a signal while a program runs that has started another."""
    before = set(glob.glob("build/foreign.*"))
    command = [sys.executable, "tools/foreign.py", "--dir", folder, "--only", "wait.cu"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as tool:
        until, ours = time.monotonic() + 60, ""
        while time.monotonic() < until and not (ours and len(processes(ours)) == 2):
            time.sleep(0.1)
            ours = next((os.path.abspath(each) for each in set(glob.glob("build/foreign.*")) - before), "")
        must(ours and len(processes(ours)) == 2, "the program has not begun")
        tool.send_signal(by)
        said = tool.communicate(timeout=20)[1]
    must(tool.returncode == 130 and "interrupted" in said, f"{by.name}: status {tool.returncode}, {said}")
    must(ours and not processes(ours) and not os.path.exists(ours), f"{by.name}: something is left of it")


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = f"{place}/programs"
        write_files(folder)
        foreign("DIR=/no such")  # makes the library
        table(folder, f"{place}/out.json")
        refusals(folder)
        interrupted(folder, signal.SIGINT)
        interrupted(folder, signal.SIGTERM)
        modes(folder)
    for each in failures:
        print(f"foreign_table: FAILED: {each}")
    print(f"foreign_table: {checks} checks, {f'{len(failures)} failures' if failures else 'all good'}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
