#!/usr/bin/env python3
"""Counted traffic: the sectors of programs of which they are known, in each build that counts, and the table beside the formulas.

    cudasim/tests/traffic_test.py

Builds what it runs. Ends with a line `traffic: all good`, or with what failed and status 1.
"""
import json
import os
import subprocess
import sys
import tempfile

STRIDED = {"rows": (128, 128), "columns": (1024, 1024), "banks": (0, 128), "few": (1024, 128)}
KNOWN = {"all": (16384, 16384), "again": (512, 512), "between": (160, 160), "wide": (16384, 16384), "adds": (16384, 16384), "atomics": (32, 32),
         "structs": (256, 256), "sets": (0, 1024), "volatiles": (128, 128), "staged": (512, 512), "local": (0, 0)}
MOVED = [(0, 16384), (0, 32), (4096, 4096), (0, 4096), (4096, 0)]   # fills and copies of traffic.cu, in their order
BUILDS = (("TRAFFIC=1",), ("TRAFFIC=1", "CC=clang"), ("ACCESS=1",))
TRAIN = "--device gpu --n_layer 1 --n_head 2 --n_embd 32 --n_positions 32 --max_steps 1 --eval_fraction 0 --per_device_train_batch_size 2"
# Ops that one kernel does, and that read and write nothing twice: what is counted is the formula.
EXACT = {"gelu_forward", "gelu_backward", "residual_forward", "residual_backward", "layernorm_forward", "crossentropy_backward"}

problems = []


def check(good, what):
    if not good:
        problems.append(what)


def run(*command, **settings):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDASIM_")}
    environment.update({f"CUDASIM_{name}": value for name, value in settings.items()})
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def make(*words, **settings):
    return run("make", "-s", "--no-print-directory", *words, **settings)


def build(source, out, *settings):
    done = make("cu-build", f"FILE={source}", f"OUT={out}", *settings)
    if done.returncode != 0:
        sys.exit(f"{source}: {done.stderr}")
    return out


def refused(done, words):
    lines = done.stderr.strip().split("\n")
    check(done.returncode == 2 and len(lines) == 1 and words in lines[0] and not done.stdout,
          f"{done.args}: status {done.returncode}, wanted 2 and a line with '{words}': {done.stdout}{done.stderr}")


def entries(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def check_counts(how, strided, known, folder):
    """In a build with TRAFFIC=1 nobody has to ask."""
    path = f"{folder}/traffic.jsonl"
    asked = {"TRAFFIC": "1"} if "ACCESS=1" in how else {}
    for program, wanted in ((strided, STRIDED), (known, KNOWN)):
        done = run(program, RECORD=path, **asked)
        counted = {line["name"]: (line["read"], line["written"]) for line in entries(path) if line["kind"] == "launch"}
        check(done.returncode == 0 and counted == wanted, f"{how}: {counted}, not {wanted}: {done.stderr}")
    moved = [(line["read"], line["written"]) for line in entries(path) if line["kind"] in ("copy", "fill")]
    check(moved == MOVED, f"{how}: copies and fills {moved}, not {MOVED}")
    run(strided, RECORD=path, TRAFFIC="0")
    check(all("read" not in line for line in entries(path)), f"{how}: traffic is counted though nobody asked")
    refused(run(strided, TRAFFIC="1", DRY="1"), "CUDASIM_TRAFFIC and CUDASIM_DRY")


def rows_of(text):
    """name -> the numbers of its line."""
    _, _, table = text.partition("Traffic of device memory:")
    return {line.split()[0]: line.replace(",", "").split()[1:] for line in table.split("\n")[2:] if line.strip()}


def check_table(ordinary, folder):
    """The commands of a student whose tree is the ordinary one."""
    wanted = {name: ["1", str(read), str(written), "-", "-"] for name, (read, written) in STRIDED.items()}
    for done in (make("cu", "FILE=cudasim/tests/strided.cu", "TRAFFIC=1"), make("cu", "FILE=cudasim/tests/strided.cu", TRAFFIC="1"),
                 make("cu", "FILE=cudasim/tests/strided.cu", "TRAFFIC=1", "ACCESS=1")):
        check(done.returncode == 0 and done.stdout.startswith("no error\n") and rows_of(done.stdout) == wanted, f"{done.args}: {done.stdout}{done.stderr}")
    check("Traffic" not in make("cu", "FILE=cudasim/tests/strided.cu", TRAFFIC="0").stdout, "CUDASIM_TRAFFIC=0 counts")
    refused(run(ordinary, TRAFFIC="1"), "make cu FILE=x.cu TRAFFIC=1")
    refused(run(ordinary, PROFILE="1"), "make cu FILE=x.cu ACCESS=1")
    record = f"{folder}/kept-%p.jsonl"
    make("cu", "FILE=cudasim/tests/strided.cu", "TRAFFIC=1", RECORD=record)
    kept = [name for name in os.listdir(folder) if name.startswith("kept-")]
    check(len(kept) == 1, f"CUDASIM_RECORD beside TRAFFIC=1: {kept}")
    check(rows_of(run("tools/traffic.py", f"{folder}/{kept[0]}").stdout) == wanted, "the table of a record")


def check_formulas(folder):
    done = make("train", "TRAFFIC=1", f"ARGS={TRAIN} --output_dir {folder}/out")
    rows = rows_of(done.stdout)
    check(done.returncode == 0 and EXACT <= set(rows) and all(rows[op][-1] == "1.000" for op in EXACT), f"formulas: {done.stdout}{done.stderr}")
    check(float(rows["matmul_backward_first"][-1]) > 1.2, "matmul_backward_first reads dout twice, and the table does not say so")


def check_bad(ordinary, folder):
    refused(run("tools/traffic.py"), "usage")
    refused(run("tools/traffic.py", "--"), "usage")
    refused(run("tools/traffic.py", f"{folder}/none"), "No such file")
    refused(run("tools/traffic.py", "--", f"{folder}/none"), "No such file")
    for number, text in enumerate(("", "{", "[1]\n", '{"id":1}\n', '{"kind":"launch","name":"k","read":"x"}\n')):
        path = f"{folder}/bad{number}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        refused(run("tools/traffic.py", path), "not a record" if text else "no launch")
    run(ordinary, RECORD=f"{folder}/uncounted")
    refused(run("tools/traffic.py", f"{folder}/uncounted"), "build it with TRAFFIC=1")
    refused(run("tools/traffic.py", "--", ordinary), "make cu FILE=x.cu TRAFFIC=1")
    failed = run("tools/traffic.py", "--", "sh", "-c", "exit 7")
    check((failed.returncode, failed.stdout, failed.stderr) == (7, "", ""), f"a program that fails: {failed}")


def main():
    with tempfile.TemporaryDirectory() as programs, tempfile.TemporaryDirectory() as folder:
        ordinary = build("cudasim/tests/strided.cu", f"{programs}/ordinary")
        for settings in BUILDS:
            strided = build("cudasim/tests/strided.cu", f"{programs}/strided", *settings)
            known = build("cudasim/tests/traffic.cu", f"{programs}/known", *settings)
            check_counts(" ".join(settings), strided, known, folder)
        check_table(ordinary, folder)
        check_formulas(folder)
        check_bad(ordinary, folder)
    for problem in problems:
        print(f"traffic: {problem}")
    print("traffic: all good" if not problems else f"traffic: {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
