#!/usr/bin/env python3
"""The outside oracle of lab 07: the kit's optimizers against bitsandbytes and transformers.

    grader/proof/oracle_optim.py build/bin/oracle-optim

Codebooks may differ by 2 units in the last place, since bitsandbytes works in float. 8-bit AdamW: after one
step the weights agree to 1e-6, the scales too, and codes are the nearest, but for one in 1000, whose moment lies at the
border of two; without weight decay, which bitsandbytes applies after the step and PyTorch and the kit before.
Adafactor against transformers, as its Trainer sets it: 1e-5 after 5 steps. torch.optim.Adafactor is another
algorithm (its rate is scaled by the weights' size), and is not compared. Codes are held against the nearest in
bitsandbytes' codebook: its own CPU kernel is not exact, and some codes off near 0 (measured with 0.50.2). Its GPU kernel
searches. Where PyTorch, or one of the others, is not
installed, the kit's program runs by itself, this says so, and ends with status 0.
"""

import array
import os
import random
import subprocess
import sys
import tempfile

ROWS, COLS = 96, 128


def run(binary, optim, tensors, rate=0.01, decay=0.1):
    """The kit's bytes for steps from the first of these, whose gradients are the others."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in"), os.path.join(folder, "out")
        with open(path, "wb") as file:
            file.writelines(tensors)
        subprocess.run([binary, optim, str(ROWS), str(COLS), str(len(tensors) - 1), str(rate), str(decay), path, out], check=True)
        with open(out, "rb") as file:
            return file.read()


def floats_of(*tensors):
    return [tensor.numpy().tobytes() for tensor in tensors]


def run_alone(binary):
    """Nobody to compare with: the program must run."""
    some = random.Random(7)
    tensors = [array.array("f", (some.gauss(0, 1) for _ in range(ROWS * COLS))).tobytes() for _ in range(3)]
    for optim in ("adafactor", "adamw_8bit"):
        weights = array.array("f", run(binary, optim, tensors)[:len(tensors[0])])
        if not all(abs(weight) < 10 for weight in weights):
            sys.exit(f"oracle of the optimizers: FAILED: {optim} gives weights far from where it began")


def relative(a, b):
    return ((a.double() - b.double()).norm() / b.double().norm()).item()


def read_floats(np, torch, data, first, count):
    return torch.from_numpy(np.frombuffer(data, dtype=np.float32, count=count, offset=first).copy())


def compare_codebooks(np, binary, functional):
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        subprocess.run([binary, "codebooks", out], check=True)
        ours = np.fromfile(out, dtype=np.float32).reshape(2, 256)
    for book, signed in zip(ours, (True, False)):
        theirs = functional.create_dynamic_map(signed=signed).numpy()
        apart = np.abs(book.view(np.int32).astype(np.int64) - theirs.view(np.int32).astype(np.int64))
        name = "signed" if signed else "unsigned"
        print(f"  codebook, {name}: {int((apart > 0).sum())} of 256 values differ, by at most {apart.max()} in the last place")
        if apart.max() > 2:
            wrong.append(f"{name} codebook")
    return wrong


def compare_adam8(np, torch, binary, bnb, weights, gradients):
    parameter = torch.nn.Parameter(weights.clone().reshape(-1))
    optimizer = bnb.optim.AdamW8bit([parameter], lr=0.01, weight_decay=0.0, betas=(0.875, 0.9375), eps=1e-8)
    parameter.grad = gradients[0].reshape(-1).clone()
    optimizer.step()
    data, n = run(binary, "adamw_8bit", floats_of(weights, gradients[0]), decay=0.0), ROWS * COLS
    error = relative(read_floats(np, torch, data, 0, n), parameter.data)
    state, first, wrong = optimizer.state[parameter], 4 * n, []
    gradient = gradients[0].reshape(-1)
    moments = (("m", 0.125 * gradient, "state1", "absmax1", "qmap1"),
               ("v", 0.0625 * gradient * gradient, "state2", "absmax2", "qmap2"))
    for name, moment, codes, scales, book in moments:
        ours = torch.from_numpy(np.frombuffer(data, dtype=np.uint8, count=n, offset=first).astype(np.int64))
        place = (moment.reshape(-1, 256) / state[scales].reshape(-1, 1)).reshape(-1).double()
        nearest = (place[:, None] - state[book].double()[None, :]).abs().argmin(1)
        nearest -= ((nearest == 127) & (place < 0)).long() if name == "m" else 0  # a sign is kept
        theirs = state[codes].reshape(-1).long()
        off, far = (ours - nearest).abs(), (theirs - nearest).abs()
        scale = relative(read_floats(np, torch, data, first + n, n // 256), state[scales])
        print(f"  adamw_8bit, one step: {name}: of {n} codes {int((off > 0).sum())} are not the nearest in bitsandbytes' codebook "
              f"(bitsandbytes' own on a CPU: {int((far > 0).sum())}, by at most {far.max()}); scales differ by {scale:.1e}")
        if off.max() > 1 or (off > 0).double().mean() > 1e-3 or not scale <= 1e-6:
            wrong.append(f"codes of {name}")
        first += n + 4 * (n // 256)
    print(f"  adamw_8bit, one step: weights differ by {error:.1e}")
    return wrong + ([f"weights: {error}"] if not error <= 1e-6 else [])


def compare_adafactor(np, torch, binary, adafactor, weights, gradients):
    parameter = torch.nn.Parameter(weights.clone())
    optimizer = adafactor([parameter], lr=0.01, weight_decay=0.1, scale_parameter=False, relative_step=False)
    data, n, wrong = run(binary, "adafactor", floats_of(weights, *gradients)), ROWS * COLS, []
    for step, gradient in enumerate(gradients):
        parameter.grad = gradient.clone()
        optimizer.step()
        error = relative(read_floats(np, torch, data, 4 * n * step, n).reshape(ROWS, COLS), parameter.data)
        if not error <= 1e-5:
            wrong.append(f"adafactor, step {step + 1}: {error}")
    print(f"  adafactor, {len(gradients)} steps: weights differ by {error:.1e} from transformers'")
    return wrong


def main():
    os.environ["TRANSFORMERS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"
    binary, wrong = sys.argv[1], []
    try:
        import numpy as np
        import torch
        from transformers.optimization import Adafactor
    except ImportError as error:
        run_alone(binary)
        print(f"oracle of the optimizers: SKIPPED: {error}")
        sys.exit(0)
    torch.manual_seed(7)
    weights = torch.randn(ROWS, COLS)
    gradients = [torch.randn(ROWS, COLS) * torch.exp(torch.randn(ROWS, 1)) * scale for scale in (1, 30, 0.1, 1, 3)]
    print(f"oracle of the optimizers: PyTorch {torch.__version__}")
    wrong += compare_adafactor(np, torch, binary, Adafactor, weights, gradients)
    try:
        import bitsandbytes as bnb
        wrong += compare_codebooks(np, binary, bnb.functional)
        wrong += compare_adam8(np, torch, binary, bnb, weights, gradients)
    except ImportError as error:
        print(f"  bitsandbytes: SKIPPED: {error}")
    for line in wrong:
        print(f"oracle of the optimizers: FAILED: {line}")
    print("oracle of the optimizers: " + ("FAILED" if wrong else "they agree"))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
