#!/usr/bin/env python3
"""`make bench-growth`: does a step's time grow as its formula? One size of a small model at a time, from a small one to a large one.

    tools/bench/growth.py build/bin/bench [--rounds 5] [--most FACTOR] [--table FILE]     measures; status 1 where time grows faster
    tools/bench/growth.py --table FILE --picture FILE.svg                               draws what was measured
    tools/bench/growth.py --table FILE --markdown                                       the same as a table of the handbook

The formula is the bound of `bench`: products at the rate of fused multiplications, everything else at that of a copy. A step may grow
by up to a tenth faster than its bound from one size to the next. Each round takes all sizes in turn and medians count, so that a slow
minute of the machine meets neighbours alike; a busy one can still break the rule by itself: look at it twice.
"""
import argparse
import csv
import os
import statistics
import subprocess
import sys

import bench

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from picture import draw

BASE = dict(layers=4, heads=4, width=128, vocabulary=256, time=128, batch=8)
SIZES = {"batch": (1, 2, 4, 8, 16, 32, 64), "time": (64, 128, 256, 512, 1024, 2048), "width": (128, 256, 512, 1024)}
NAMES = {"threads": "threads", "batch": "B, sequences", "time": "T, tokens of a sequence", "width": "C, channels"}
COLUMNS = ("size", "value", "ms", "bound_ms", "mib")
FASTER = 1.10
WORK = 40e9   # FLOPs that a round has at the least, so that it takes most of a second


def cores():
    return len(os.sched_getaffinity(0))


def shape_of(size, value):
    shape = BASE | ({} if size == "threads" else {size: value})
    return shape | ({"heads": value // 32} if size == "width" else {})


def flops(shape):
    """Of a step, roughly: 6 for each weight and token."""
    return 6 * shape["batch"] * shape["time"] * (12 * shape["layers"] * shape["width"] ** 2 + shape["vocabulary"] * shape["width"])


def model_of(size, value):
    """What is measured: (threads, or 0 for all cores, shape). Several sizes may have the same, and then the same times."""
    all_cores = size != "threads" or value == cores()
    return 0 if all_cores else value, tuple(shape_of(size, value).items())


def measure(binary, model):
    threads, shape = model[0], dict(model[1])
    steps = max(3, round(WORK / flops(shape)))
    if threads:
        os.environ["OMP_NUM_THREADS"] = str(threads)
    result = bench.kit(binary, shape, steps)
    os.environ.pop("OMP_NUM_THREADS", None)
    if result is None:
        print(f"growth: {binary} fails for {threads or cores()} threads, {shape}", file=sys.stderr)
        sys.exit(2)
    return result


def median_row(size, value, results):
    return {"size": size, "value": value, "mib": round(results[0]["counted_mib"], 1)} | {
        key: round(statistics.median(result[key] for result in results), 3) for key in ("ms", "bound_ms")}


def all_sizes(most):
    yield from (("threads", n) for n in (1, 2, 4, 8, 16) if n <= cores())
    for size, values in SIZES.items():
        yield from ((size, value) for value in values if value <= most * values[0])


def growths(rows):
    """Of neighbours of one size: the row, by how much time has grown, and by how much the bound."""
    for before, row in zip(rows, rows[1:]):
        if before["size"] == row["size"] != "threads":
            yield row, row["ms"] / before["ms"], row["bound_ms"] / before["bound_ms"]


def print_row(row):
    print(f"{row['size']:<8} {row['value']:6} {row['ms']:10.2f} {row['bound_ms']:10.2f} {row['bound_ms'] / row['ms']:6.2f} {row['mib']:8.1f}", flush=True)


def efficiency(rows):
    """T(1) / (n T(n)) of each number of threads."""
    threads = [row for row in rows if row["size"] == "threads"]
    return [(row["value"], threads[0]["ms"] / (row["value"] * row["ms"])) for row in threads]


def measure_all(options):
    sizes = list(all_sizes(options.most))
    models = dict.fromkeys(model_of(size, value) for size, value in sizes)
    rounds = [{model: measure(options.binary, model) for model in models} for _ in range(options.rounds)]
    print(f"{'size':<8} {'value':>6} {'ms':>10} {'bound':>10} {'share':>6} {'MiB':>8}")
    rows = [median_row(size, value, [results[model_of(size, value)] for results in rounds]) for size, value in sizes]
    for row in rows:
        print_row(row)
    for threads, share in efficiency(rows)[1:]:
        print(f"{threads} threads: efficiency {share:.2f}")
    faster = [(row, time, formula) for row, time, formula in growths(rows) if not time <= FASTER * formula]
    for row, time, formula in faster:
        print(f"{row['size']} {row['value']}: {time:.2f} times as long as the size before, and the formula says {formula:.2f}")
    print(f"growth: {len(faster)} of {sum(1 for _ in growths(rows))} sizes grow faster than the formula")
    if options.table:
        with open(options.table, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return 1 if faster else 0


# ---- what was measured -----------------------------------------------------------------------------------

def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{key: value if key == "size" else float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def panel(rows, size):
    points = [row for row in rows if row["size"] == size]
    ticks = ", ".join(f"'{row['value']:.0f}' {row['value']:.0f}" for row in points)
    data = "".join("$%s << EOD\n%s\nEOD\n" % (size, "\n".join(f"{row['value']} {row['ms']} {row['bound_ms']}" for row in points)) for _ in (0,))
    return data, (f"set xlabel '{NAMES[size]}'\nset xtics ({ticks})\n"
                  f"plot ${size} using 1:2 with linespoints pt 7 ps 0.6 lc rgb '#205090' title 'a step', "
                  f"${size} using 1:3 with lines dt 2 lc rgb '#c05020' title 'its bound'\n")


def picture(rows, path):
    panels = [panel(rows, size) for size in NAMES if any(row["size"] == size for row in rows)]
    script = "".join(data for data, _ in panels) + ("set multiplot layout 2,2\nset logscale xy\nset ylabel 'ms'\nset key top left\nset grid\n"
                                                    + "".join(plot for _, plot in panels) + "unset multiplot\n")
    return draw(script, (860, 640), path, "The time of a step and its bound, by threads, sequences, tokens and channels: both grow alike")


def markdown(rows):
    print("| | | step, ms | bound, ms | share | counted, MiB |\n|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {NAMES[row['size']].split(',', maxsplit=1)[0]} | {row['value']:.0f} | {row['ms']:.1f} | {row['bound_ms']:.1f} | {row['bound_ms'] / row['ms']:.2f} | {row['mib']:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=64, metavar="FACTOR", help="the largest size, of the smallest")
    parser.add_argument("--table", metavar="FILE", help="where the figures are or go")
    parser.add_argument("--picture", metavar="FILE")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if options.binary:
        return measure_all(options)
    if not options.table:
        parser.error("a program to measure, or a --table that was measured")
    rows = read_table(options.table)
    if options.markdown:
        markdown(rows)
    return 0 if not options.picture or picture(rows, options.picture) else 1


if __name__ == "__main__":
    sys.exit(main())
