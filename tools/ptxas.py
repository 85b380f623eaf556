#!/usr/bin/env python3
"""What becomes of every kernel in nvcc's hands, as a page of the handbook: docs/kernels_table.md.

    tools/ptxas.py            compiles every kernel for sm_80 and sm_90, and writes the page
    tools/ptxas.py --check    compiles them and writes nothing: status 1 where a rule is broken or the page says something else

The rules: no kernel spills registers, and none has local memory. They hold with any nvcc. The page is compared only where nvcc is
of the version that wrote it, since each version has a register allocator of its own. JOBS=n: compilations at a time.
"""
import argparse
import concurrent.futures
import difflib
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from class_folder import write_whole

PAGE = "docs/kernels_table.md"
ARCHS = ("sm_80", "sm_90")
# Of a multiprocessor, by NVIDIA's tables of compute capabilities. A block takes 1 KiB of shared memory besides its own.
WARPS, BLOCKS, REGISTERS, WARP, OF_SYSTEM = 64, 32, 1 << 16, 32, 1024
SHARED = {"sm_80": 164 << 10, "sm_90": 228 << 10}
REGISTERS_AT_ONCE = 256   # a warp's are a multiple of it
SHARED_AT_ONCE = 128
USUAL_THREADS = 256       # of a block whose kernel has no launch bounds
BYTES = 16                # of the widest access

HEAD = """What nvcc makes of the kernels {{#kernels_table}}
==============================

Written by `tools/ptxas.py` with nvcc {version}: do not edit.

Each row is a kernel, in the precisions for which the compiler says the same. A cell with two numbers is for sm_80 and for sm_90.
No kernel spills registers or keeps an array in local memory: `tools/ptxas.py --check`, which CI runs, ends with an error if one does.

- **registers**: of a thread. **shared**: bytes of a block that are known to the compiler; a launch may add to them.
- **threads**: of a block, at most, where the kernel declares it. **warps**: those of {warps} that fit on a multiprocessor, as far as registers and
  shared memory limit them; without a declaration in blocks of {threads} threads. Few warps hide little of the time that memory takes.
- **loads** and **stores**: instructions that access global memory, and in brackets those of {bytes} bytes, the widest. One that the compiler has
  unrolled counts several times. Beside wide accesses often stand narrow ones, for the end of a tensor.

| source | kernel | precision | registers | shared | threads | warps | loads | stores |
|---|---|---|---|---|---|---|---|---|
"""


class Wrong(Exception):
    """Why there is no page."""


@dataclass
class Unit:
    """A source in one precision; "" where it has none."""
    source: str
    precision: str


@dataclass
class Kernel:
    """One kernel, compiled for one architecture."""
    registers: int = 0
    shared: int = 0
    stack: int = 0     # bytes of local memory
    stores: int = 0    # bytes of spilled registers
    loads: int = 0
    threads: int = 0   # 0: it has no launch bounds


@dataclass
class Accesses:
    """Instructions that access global memory, and those that move as much as one can."""
    loads: int = 0
    wide_loads: int = 0
    stores: int = 0
    wide_stores: int = 0


# ---- what nvcc says ----------------------------------------------------------------------------------

def kernels_of(said):
    """{(kernel, arch): Kernel} of what `ptxas -v` has printed. Memory of a function that a kernel calls is the kernel's."""
    found, kernel = {}, None
    for line in said.splitlines():
        entry = re.search(r"Compiling entry function '(\w+)' for '(\w+)'", line)
        if entry:
            kernel = found[entry.groups()] = Kernel()
        memory = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if memory and kernel:
            kernel.stack, kernel.stores, kernel.loads = (old + int(new) for old, new in zip((kernel.stack, kernel.stores, kernel.loads), memory.groups()))
        used = re.search(r"Used (\d+) registers", line)
        if used and kernel:
            shared = re.search(r"(\d+) bytes smem", line)
            kernel.registers, kernel.shared = int(used[1]), int(shared[1]) if shared else 0
    return found


def bodies(ptx):
    """{kernel: its text} of a file of PTX."""
    parts = re.split(r"\.entry\s+(\w+)", ptx)
    return dict(zip(parts[1::2], parts[2::2]))


def threads_of(body):
    """Of a block, by its launch bounds; 0 without."""
    bounds = re.search(r"\.maxntid\s+([\d, ]+)", body)
    threads = 1
    for size in bounds[1].split(",") if bounds else ("0",):
        threads *= int(size)
    return threads


def accesses_of(body):
    count = Accesses()
    for kind, vector, bits in re.findall(r"\b(ld|st)\.global(?:\.\w+)*?(?:\.v([248]))?\.[busf](\d+)\b", body):
        wide = int(vector or 1) * int(bits) // 8 >= BYTES
        if kind == "ld":
            count.loads, count.wide_loads = count.loads + 1, count.wide_loads + wide
        else:
            count.stores, count.wide_stores = count.stores + 1, count.wide_stores + wide
    return count


# ---- what follows from it ----------------------------------------------------------------------------

def round_up(n, step):
    return -(-n // step) * step


def warps_resident(kernel, arch):
    """Those that fit on a multiprocessor at once, in whole blocks."""
    of_block = -(-(kernel.threads or USUAL_THREADS) // WARP)
    by_registers = REGISTERS // round_up(kernel.registers * WARP, REGISTERS_AT_ONCE) // of_block
    by_shared = SHARED[arch] // round_up(kernel.shared + OF_SYSTEM, SHARED_AT_ONCE)
    return min(WARPS // of_block, BLOCKS, by_registers, by_shared) * of_block


def broken_rules(name, arch, kernel):
    """A line for each rule that the kernel breaks."""
    spilled = [f"{name}, {arch}: spills {kernel.stores} bytes, and loads {kernel.loads}"] if kernel.stores or kernel.loads else []
    return spilled + ([f"{name}, {arch}: {kernel.stack} bytes of local memory"] if kernel.stack else [])


# ---- the page ----------------------------------------------------------------------------------------

def for_both(values):
    """One number where all architectures agree."""
    values = [str(value) for value in values]
    return values[0] if len(set(values)) == 1 else " / ".join(values)


def cells(kernels, accesses):
    """Of a kernel in one precision: `kernels` are those of ARCHS."""
    return (for_both(kernel.registers for kernel in kernels), for_both(kernel.shared for kernel in kernels),
            for_both(kernel.threads or "" for kernel in kernels), for_both(warps_resident(*pair) for pair in zip(kernels, ARCHS)),
            for_both(f"{a.loads} ({a.wide_loads})" for a in accesses), for_both(f"{a.stores} ({a.wide_stores})" for a in accesses))


def table(rows):
    """Lines of [(source, kernel, precision, cells)]: precisions that are alike share one."""
    alike = {}
    for source, kernel, precision, numbers in sorted(rows, key=lambda row: row[:2]):
        alike.setdefault((source, kernel, numbers), []).append(precision)
    return [f"| {source} | `{kernel}` | {' '.join(filter(None, precisions))} | {' | '.join(numbers)} |"
            for (source, kernel, numbers), precisions in alike.items()]


def page(version, rows):
    head = HEAD.format(version=version, warps=WARPS, threads=USUAL_THREADS, bytes=BYTES)
    return head + "\n".join(table(rows)) + "\n"


def version_of(text):
    """Of the nvcc that wrote the page."""
    written = re.search(r"with nvcc (\S+): do not edit", text)
    return written[1] if written else ""


def differences(there, made):
    """Lines of the page that are no longer so, and those that are now."""
    return [line for line in difflib.unified_diff(there.splitlines(), made.splitlines(), lineterm="", n=0)
            if not line.startswith(("---", "+++", "@@"))]


# ---- compilation -------------------------------------------------------------------------------------

def build():
    """The command of the build, without the source, and the units that it compiles."""
    done = subprocess.run(["make", "-s", "BACKEND=cuda", "print-cu"], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != 2:
        raise Wrong((done.stderr.strip() or "make print-cu says nothing").splitlines()[0])
    units = [re.fullmatch(r"(.*?)(?:\.(f32|f16|bf16))?\.o", name).groups("") for name in lines[1].split()]
    return shlex.split(lines[0]), [Unit(f"{stem}.cu", precision) for stem, precision in units]


def nvcc_version(nvcc):
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"V(\d+\.\d+\.\d+)", said)[1]


def demangled(names):
    said = subprocess.run(["c++filt", "-p", *names], capture_output=True, text=True, check=True).stdout
    return dict(zip(names, said.splitlines()))


def compiled(command, unit):
    """What ptxas says of a unit, and {arch: its PTX}."""
    real = [f"-DREAL_{unit.precision.upper()}"] if unit.precision else []
    archs = [f"-gencode=arch={arch.replace('sm', 'compute')},code={arch}" for arch in ARCHS]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*command, *real, *archs, "-Xptxas=-v", "--keep", f"--keep-dir={folder}", "--fatbin", unit.source,
                               "-o", f"{folder}/fatbin"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Wrong(f"{unit.source}: nvcc ends with status {done.returncode}\n{done.stdout}{done.stderr}")
        ptx = {}
        for arch in ARCHS:
            path, = glob.glob(f"{folder}/*.{arch.replace('sm', 'compute')}.ptx")
            with open(path, encoding="utf-8") as file:
                ptx[arch] = file.read()
    return done.stdout + done.stderr, ptx


def rows_of(unit, said, ptx):
    """The rows of a unit, and a line for each rule that one of its kernels breaks."""
    kernels, text = kernels_of(said), {arch: bodies(ptx[arch]) for arch in ARCHS}
    rows, broken = [], []
    for mangled, name in sorted(demangled(sorted({name for name, _ in kernels})).items(), key=lambda pair: pair[1]):
        each = [kernels[mangled, arch] for arch in ARCHS]
        for kernel, arch in zip(each, ARCHS):
            kernel.threads = threads_of(text[arch][mangled])
            broken += broken_rules(f"{unit.source} {unit.precision}: {name}".replace(" :", ":"), arch, kernel)
        rows.append((unit.source, name, unit.precision, cells(each, [accesses_of(text[arch][mangled]) for arch in ARCHS])))
    return rows, broken


def all_rows(command, units):
    jobs = int(os.environ.get("JOBS", len(os.sched_getaffinity(0))))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        made = list(pool.map(lambda unit: rows_of(unit, *compiled(command, unit)), units))
    return [row for rows, _ in made for row in rows], [line for _, lines in made for line in lines]


# ---- the two ways to run it --------------------------------------------------------------------------

def compare(version, rows):
    """Lines that say what the page has wrong."""
    try:
        with open(PAGE, encoding="utf-8") as file:
            there = file.read()
    except OSError as error:
        return [f"{PAGE}: {error.strerror}"]
    if version_of(there) != version:
        print(f"ptxas: {PAGE} is of nvcc {version_of(there)}, and this is {version}: only the rules are checked")
        return []
    found = differences(there, page(version, rows))
    return [f"{PAGE} is not what nvcc says: tools/ptxas.py", *found] if found else []


def run(check):
    command, units = build()
    version = nvcc_version(command[0])
    rows, wrong = all_rows(command, units)
    if check:
        wrong += compare(version, rows)
    elif not wrong:
        write_whole(PAGE, page(version, rows).encode())
    if wrong:
        raise Wrong("\n".join(wrong))
    print(f"ptxas: {len(rows)} kernels of {len(units)} compilations, for {' and '.join(ARCHS)}: no spills, no local memory")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help=f"compare with {PAGE}")
    try:
        run(parser.parse_args().check)
    except Wrong as error:
        print(f"ptxas: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
