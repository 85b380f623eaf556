#!/usr/bin/env python3
"""Records as files, dry runs, and the program that reckons makespans.

    cudasim/tests/record_test.py TRAIN MAKESPAN

TRAIN and MAKESPAN are build/bin/train and build/bin/makespan. Ends with a line `record: all good`, or with what failed and
status 1.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

T4 = "machines/t4.json"
SAYS = "declared, a lower bound, not measured"
GPT2 = ["--n_layer", "12", "--n_embd", "768", "--n_head", "12", "--n_positions", "1024", "--vocab_size", "50257", "--attention", "flash",
        "--bf16", "--per_device_train_batch_size", "2", "--max_steps", "1", "--eval_fraction", "0"]

# Ends in one way or another: the first argument says how.
ENDS = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __global__ void fill(float *x) {
    x[threadIdx.x] = 7;
}

int main(int count, char **word) {
    float *x, y[32];
    size_t bytes = (size_t)(count > 2 ? atoi(word[2]) : 1) << 20, left, all;
    if (cudaMalloc(&x, bytes) != cudaSuccess) {
        return 3;
    }
    cudaMemGetInfo(&left, &all);
    fill<<<1, 32>>>(x);
    cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost);
    printf("%g %zu\\n", y[31], (all - left) >> 20);
    fflush(stdout);
    if (strcmp(word[1], "killed") == 0) {
        raise(SIGKILL);
    }
    if (strcmp(word[1], "reported") == 0) {
        printf("%g\\n", x[0]);
    }
    return strcmp(word[1], "badly") == 0 ? 5 : 0;
}
"""

problems = []


def check(good, what):
    if not good:
        problems.append(what)


def build(source, out, *settings):
    done = subprocess.run(["make", "-s", "--no-print-directory", "cu-build", f"FILE={source}", f"OUT={out}", *settings],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{source}: {done.stderr}")
    return out


def run(*command, **settings):
    environment = dict(os.environ, **{f"CUDASIM_{name}": value for name, value in settings.items()})
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def entries(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def one_line(done, status, words):
    """The program ended so, with one line that says why."""
    lines = done.stderr.strip().split("\n")
    good = done.returncode == status and len(lines) == 1 and words in lines[0]
    check(good, f"{' '.join(done.args)}: status {done.returncode}, wanted {status} and a line with '{words}': {done.stderr}")


# ---- the file ----------------------------------------------------------------------------------------

def check_ends(ends, folder):
    """The file is there however the program ends by itself, and not when it is killed."""
    for how, status in (("well", 0), ("badly", 5), ("reported", 86)):
        path = f"{folder}/{how}.jsonl"
        done = run(ends, how, RECORD=path)
        check(done.returncode == status, f"ends {how}: status {done.returncode}: {done.stderr}")
        check(os.path.exists(path) and not os.path.exists(f"{path}.part"), f"ends {how}: no record")
        kinds = [entry["kind"] for entry in entries(path)]
        check(kinds[:3] == ["launch", "copy", "host wait"], f"ends {how}: {kinds}")
    path = f"{folder}/killed.jsonl"
    run(ends, "killed", RECORD=path)
    check(not os.path.exists(path), "killed: there is a record")
    one_line(run(ends, "well", RECORD=f"{folder}/none/x"), 2, "CUDASIM_RECORD: ")
    done = subprocess.run(["sh", "-c", f"echo $$; exec {ends} well"], env=dict(os.environ, CUDASIM_RECORD=f"{folder}/of-%p.jsonl"),
                          capture_output=True, text=True, check=False)
    check(os.path.exists(f"{folder}/of-{done.stdout.split()[0]}.jsonl"), f"a record by the number of the process: {os.listdir(folder)}")
    check('"kind":"launch"' in run(ends, "well", RECORD="/dev/stdout").stdout, "a record for /dev/stdout")
    one_line(run(ends, "well", RECORD="/dev/full"), 1, "No space left")


def check_lines(program, folder):
    path = f"{folder}/streams.jsonl"
    done = run(program, RECORD=path)
    lines = entries(path)
    check(done.returncode == 0 and len(lines) > 100, f"record.cu: {done.stderr}")
    check([line["id"] for line in lines] == list(range(1, len(lines) + 1)), "ids do not count")
    check(all(before < line["id"] for line in lines for before in line["after"]), "an entry comes after a later one")
    check(all(line["file"].endswith("record.cu") and line["line"] > 0 for line in lines), "an entry has no line of the program")
    return path


def check_meetings(program):
    """In whatever order ranks and streams run: it is the same record."""
    for order in ("forward", "reverse", "random:1", "random:2"):
        done = run(program, SCHED=order)
        check(done.returncode == 0, f"meetings, {order}: {done.stderr}")


# ---- what does not run ---------------------------------------------------------------------------------

def work(path):
    """Of each rank in its order, for in a dry run they take other turns."""
    lines = sorted(entries(path), key=lambda line: line["rank"])
    return [(line["rank"], line["kind"], line["name"], line.get("bytes"), line["line"]) for line in lines]


def check_dry(ends, ranks, folder):
    """The host reads zeros, memory is counted and not touched, and ranks are many."""
    done = run(ends, "well", "7000", DRY="1")
    check(done.stdout == "0 7000\n" and "note: CUDASIM_DRY" in done.stderr, f"dry: {done.stdout}{done.stderr}")
    check(run(ends, "well", "9000", DRY="1").returncode == 3, "dry: more memory than there is")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check(peak < 1 << 20, f"dry: {peak} KiB of memory were touched")
    wet, dry, many = (f"{folder}/{name}.jsonl" for name in ("wet", "dry", "many"))
    run(ranks, "4", RECORD=wet)
    run(ranks, "4", RECORD=dry, DRY="1")
    check(work(wet) == work(dry) and len(work(wet)) > 0, "a dry run does not record what a run does")
    began = time.monotonic()
    done = run(ranks, "1024", RECORD=many, DRY="1")
    lines = entries(many)
    check(done.returncode == 0 and {line["rank"] for line in lines} == set(range(1024)) and len({line["device"] for line in lines}) == 1024,
          f"1,024 ranks: {done.stderr}")
    check(time.monotonic() - began < 60, "1,024 ranks take minutes")
    check(all(lines[before - 1]["rank"] == line["rank"] for line in lines for before in line["after"]), "1,024 ranks wait for each other")
    default = [line for line in lines if line["kind"] == "copy"]
    check(len(default) == 1024 and all(line["after"] for line in default), "1,024 ranks: the default stream of one is lost")
    return many


def check_split(split, folder):
    """Ranks wait for each other where a communicator is split, however many they are."""
    path, began = f"{folder}/split.jsonl", time.monotonic()
    for rows, columns in ((2, 2), (8, 128)):
        done = run(split, str(rows), str(columns), RECORD=path, DRY="1")
        met = [line for line in entries(path) if line["kind"] == "collective"]
        check(done.returncode == 0 and len(met) == 2 * rows * columns, f"split, {rows} x {columns}: {done.stderr}")
        check({line["ranks"] for line in met} == {rows, columns}, f"split, {rows} x {columns}: ranks of communicators")
        lanes = {}
        for line in met:
            lanes.setdefault(line["rank"], set()).add(line["stream"])
        check(len(lanes) == rows * columns and all(len(streams) == 2 for streams in lanes.values()),
              f"split, {rows} x {columns}: two streams of a rank share a queue")
    check(time.monotonic() - began < 60, "split: 1,024 ranks take minutes")
    return path


def check_train(train, folder):
    """Several ranks of the trainer: what they tell each other of the host is moved, and nothing else."""
    works = []
    for settings in ({}, {"DRY": "1"}):
        path = f"{folder}/train{len(works)}.jsonl"
        done = run(train, "--device", "gpu", "--nproc_per_node", "3", "--max_steps", "1", "--n_layer", "1", "--n_embd", "32", "--n_head", "2", "--n_positions",
                   "32", "--per_device_train_batch_size", "1", "--eval_fraction", "0", "--output_dir", f"{folder}/out", RECORD=path, **settings)
        check(done.returncode == 0, f"train with ranks, {settings}: {done.stderr}")
        works.append([(line["rank"], line["name"], line.get("bytes")) for line in sorted(entries(path), key=lambda line: line["rank"])
                      if line["kind"] == "collective"])
    check(works[0] == works[1] and len(works[0]) > 20, "train with ranks: a dry run records other collectives")
    done = run(train, "--device", "gpu", "--nproc_per_node", "130", "--max_steps", "1", "--n_layer", "1", "--n_embd", "32", "--n_head", "2", "--n_positions",
               "32", "--per_device_train_batch_size", "1", "--eval_fraction", "0", DRY="1")
    check(done.returncode == 0, f"train with 130 ranks, three of which share each queue: {done.stderr}")


def check_gpt2(train, folder):
    path, began = f"{folder}/gpt2.jsonl", time.monotonic()
    done = run(train, "--device", "gpu", *GPT2, RECORD=path, DRY="1", MEMORY="32000")
    check(done.returncode == 0 and time.monotonic() - began < 120, f"GPT-2 124M: {done.stdout}{done.stderr}")
    lines = entries(path)
    ops = {line["op"] for line in lines if "op" in line}
    check({"matmul_forward", "flash_backward", "adamw"} <= ops, f"GPT-2 124M: ops {ops}")
    check(all("op" in line for line in lines if line["kind"] in ("launch", "product")), "GPT-2 124M: a launch belongs to no op")
    products = sum(line.get("flops", 0) for line in lines if line.get("op", "").startswith("matmul"))
    wanted = 6 * 2 * 1024 * 12 * (12 * 768 * 768) + 6 * 2 * 1024 * 768 * 50257
    check(products == wanted, f"GPT-2 124M: {products} FLOPs in products, not {wanted}")
    return path


# ---- the program -------------------------------------------------------------------------------------

def milliseconds(done):
    found = re.match(r"([\d.e+-]+) ms on ", done.stdout)
    return float(found[1]) if found else 0


def check_makespan(program, record, many, folder):
    trace = f"{folder}/trace.json"
    done = run(program, record, "--machine", T4, "--trace", trace)
    check(done.returncode == 0 and f"NVIDIA T4 ({SAYS})" in done.stdout and milliseconds(done) > 0, f"makespan: {done.stdout}{done.stderr}")
    with open(trace, encoding="utf-8") as file:
        whole = json.load(file)
    check(whole["otherData"] == {"machine": "NVIDIA T4", "times": SAYS}, f"trace: {whole['otherData']}")
    spans = [event for event in whole["traceEvents"] if event["ph"] == "X"]
    lanes = {event["args"]["name"] for event in whole["traceEvents"] if event["name"] == "thread_name"}
    check(len(spans) == len(entries(record)) and {"stream 1", "stream 2", "calls"} <= lanes, f"trace: {len(spans)} spans, lanes {lanes}")
    last = max(event["ts"] + event["dur"] for event in spans)
    check(abs(last / 1e3 - milliseconds(done)) < 1e-3, f"trace: ends at {last} us")
    check(run(program, record, "--machine", T4).stdout == done.stdout, "makespan: two runs differ")
    began = time.monotonic()
    check(milliseconds(run(program, many, "--machine", "machines/h100.json")) > 0 and time.monotonic() - began < 60, "makespan: 1,024 ranks")
    one_line(run(program, record, "--machine", T4, "--trace", f"{folder}/none/x"), 1, "cannot write")
    one_line(run(program, record, "--machine", T4, "--trace", "/dev/full"), 1, "No space left")
    check([name for name in os.listdir(folder) if name.endswith(".part")] == ["killed.jsonl.part"], f"left: {os.listdir(folder)}")
    for words, says in (((), "usage"), ((record,), "usage"), ((record, "--machine"), "usage"), ((record, record, "--machine", T4), "usage"),
                        ((record, "--machine", f"{folder}/none"), "none"), ((f"{folder}/none", "--machine", T4), "none"),
                        ((T4, "--machine", T4), f"{T4}:1: ")):
        one_line(run(program, *words), 2, says)
    check_bad(program, record, folder)
    cut = f"{folder}/cut.jsonl"
    with open(record, encoding="utf-8") as file, open(cut, "w", encoding="utf-8") as half:
        half.write(file.read()[:3000])
    one_line(run(program, cut, "--machine", T4), 2, f"{cut}:")


def check_bad(program, record, folder):
    """Records and machines that are none, each in one line."""
    for number, text in enumerate(("", "[]\n", '{"id":1}\n', '{"id":1,"kind":"nap"}\n', '{"id":2,"kind":"launch"}\n', "\0\n")):
        path = f"{folder}/bad{number}.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        one_line(run(program, path, "--machine", T4), 2, "no entries" if not text else f"{path}:1: ")
    one_line(run(program, folder, "--machine", T4), 2, "Is a directory")
    with open(T4, encoding="utf-8") as file:
        good = file.read()
    machine = f"{folder}/machine.json"
    for value in ("0", "-1", "1e400", "1e300", "NaN", '"320"', "null", "1e-400"):
        with open(machine, "w", encoding="utf-8") as file:
            file.write(good.replace('"memory": {"value": 320,', f'"memory": {{"value": {value},'))
        one_line(run(program, record, "--machine", machine), 2, f"{machine}: ")
    for path in (folder, "/dev/null", record):
        one_line(run(program, record, "--machine", path), 2, f"{path}: ")


def check_settings(program, folder):
    """Of the environment; a name that is mistyped is not taken for none."""
    for name, value in (("DEVICES", "0"), ("DEVICES", "-1"), ("DEVICES", "abc"), ("DEVICES", "1000000"), ("SCHED", "junk"), ("SCHED", "random:"),
                        ("SCHEDULE", "reverse"), ("DEVICE", "2"), ("RECORDS", folder), ("DRY", "yes"), ("RECORD", folder)):
        one_line(run(program, "well", **{name: value}), 2, f"CUDASIM_{name}")
    check(run(program, "well", EVENTS="", SCHED="").returncode == 0, "empty settings")
    for command in (("tools/mpirun.sh", "0"), ("tools/mpirun.sh", "-1"), ("tools/mpirun.sh", "abc"), ("tools/mpirun.sh", ""),
                    ("tools/mpirun.sh", "65"), ("tools/mpirun.sh", "2 3")):
        one_line(run(*command), 2, "from 1 to 64")


def check_picture(record, folder):
    """Of the trace that check_makespan() has left."""
    picture = f"{folder}/lanes.svg"
    done = run("tools/overlap.py", f"{folder}/trace.json", "--picture", picture)
    check(done.returncode == 0 and os.path.exists(picture), f"picture: {done.stdout}{done.stderr}")
    with open(picture, encoding="utf-8") as file:
        drawn = file.read()
    check(SAYS in drawn and "device 0, stream 1" in drawn and "Gnuplot" not in drawn, "picture: the words are not there")
    one_line(run("tools/overlap.py", record, "--picture", picture), 2, "not a trace of makespan")
    one_line(run("tools/overlap.py", f"{folder}/none", "--picture", picture), 2, "No such file")
    one_line(run("tools/overlap.py", "--junk"), 2, "overlap.py: ")
    one_line(run("tools/ring_picture.py", "junk"), 2, "usage")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    train, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as programs, tempfile.TemporaryDirectory() as folder:
        with open(f"{programs}/ends.cu", "w", encoding="utf-8") as file:
            file.write(ENDS)
        ends = build(f"{programs}/ends.cu", f"{programs}/ends")
        streams = build("cudasim/tests/record.cu", f"{programs}/record")
        ranks = build("cudasim/tests/record_ranks.cu", f"{programs}/record_ranks")
        check_ends(ends, folder)
        check_settings(ends, folder)
        check_meetings(build("cudasim/tests/record_meetings.cu", f"{programs}/record_meetings"))
        record = check_lines(streams, folder)
        many = check_dry(ends, ranks, folder)
        grid = check_split(build("cudasim/tests/record_split.cu", f"{programs}/record_split"), folder)
        check(milliseconds(run(program, grid, "--machine", T4)) > 0, "split: no makespan")
        check_train(train, folder)
        check_gpt2(train, folder)
        check_makespan(program, record, many, folder)
        check_picture(record, folder)
    for problem in problems:
        print(f"record: {problem}")
    print("record: all good" if not problems else f"record: {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
