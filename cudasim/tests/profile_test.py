#!/usr/bin/env python3
"""Asserts what the kernels ask of the memory, as the simulator counts it in check mode.

    cudasim/tests/profile_test.py TRAIN STRIDED VECTORS

TRAIN, STRIDED and VECTORS are programs built with ACCESS=1: the trainer, cudasim/tests/strided.cu
and vectors.cu. Every line of every kernel must stay within 1.15 times the ideal
number of 32-byte sectors, and of repetitions in shared memory.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

LIMIT = 1.15
MODEL = ["--device", "gpu", "--n_layer", "1", "--n_embd", "64", "--n_head", "2",
         "--n_positions", "64", "--per_device_train_batch_size", "2", "--max_steps", "1",
         "--dropout", "0.1", "--eval_fraction", "0.01"]
# Each source with kernels of its own must have been seen, or the test would see nothing.
SOURCES = {"gelu.cu", "residual.cu", "adamw.cu", "embedding.cu", "layernorm.cu", "matmul.cu", "attention.cu",
           "flash.cu", "crossentropy.cu", "sumsq.cu"}


def profile(command, **settings):
    """Runs a program; {(kernel, line, memory, access): (cost, ideal)}."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile")
        environment = dict(os.environ, CUDASIM_PROFILE=path, **settings)
        output = ["--output_dir", folder] if "--device" in command else []
        done = subprocess.run(command + output, env=environment, capture_output=True, text=True,
                              timeout=300, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
        totals = collections.defaultdict(lambda: [0, 0])
        with open(path) as lines:
            for line in map(json.loads, lines):
                key = line["kernel"], line["line"], line["memory"], line["access"]
                totals[key][0] += line.get("sectors", line.get("ways"))
                totals[key][1] += line["ideal"]
    return totals


def check_counting(strided):
    """The profile itself: costs that are known."""
    ratio = {(kernel, memory, access): cost / ideal
             for (kernel, _, memory, access), (cost, ideal) in profile([strided]).items()}
    wanted = {("rows", "global", "read"): 1, ("rows", "global", "write"): 1,
              ("columns", "global", "read"): 8, ("columns", "global", "write"): 8,
              ("banks", "shared", "write"): 32, ("banks", "shared", "read"): 32}
    return [f"strided.cu: {key} is {ratio.get(key)} times the ideal, not {want}"
            for key, want in wanted.items() if ratio.get(key) != want]


def check_sample(strided):
    """Warps are drawn of those that touch memory, whatever the number: one of 32 is always found."""
    problems = []
    for number in range(10):
        seen = {(kernel, access): cost / ideal for (kernel, _, _, access), (cost, ideal)
                in profile([strided], CUDASIM_SAMPLE=str(number)).items()}
        got = seen.get(("few", "read")), seen.get(("few", "write"))
        if got != (8, 1):
            problems.append(f"strided.cu: CUDASIM_SAMPLE={number}: few is {got} times the ideal, not (8, 1)")
    return problems


def check_vectors(vectors):
    """A copy of a vector type is one access."""
    seen = profile([vectors])
    print(f"profile: {len(seen)} lines of vectors.cu")
    kernels = {kernel for kernel, *_ in seen}
    return [f"vectors.cu: {key} is {cost / ideal:.2f} times the ideal" for key, (cost, ideal) in seen.items()
            if cost > ideal] + ([] if len(kernels) == 4 else [f"vectors.cu: kernels seen: {kernels}"])


def check_kernels(train):
    problems, seen, worst = [], set(), (0, None)
    for attention in "plain", "flash":
        for key, (cost, ideal) in profile([train, *MODEL, "--attention", attention]).items():
            seen.add(key[1].split(":")[0])
            ratio = cost / ideal
            worst = max(worst, (ratio, key[:2]))
            if not ratio <= LIMIT:
                problems.append(f"{key[0]} at {key[1]}: {ratio:.2f} times the ideal "
                                f"({key[2]} {key[3]})")
    problems += [f"no access of {source} was seen" for source in sorted(SOURCES - seen)]
    print(f"profile: worst is {worst[0]:.2f} times the ideal, {worst[1]}")
    return problems


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    problems = check_counting(sys.argv[2]) + check_sample(sys.argv[2]) + check_vectors(sys.argv[3]) + check_kernels(sys.argv[1])
    for problem in problems:
        print(problem)
    print("profile:", "all within 1.15 times the ideal" if not problems else "too much traffic")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
