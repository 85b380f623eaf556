#!/usr/bin/env python3
"""`make bench-simulator`: what kernels cost in the simulator, against plain C, in one run, in turn.

    tools/bench/simulator.py build/bench/simulator build/bench/simulator-access build/bench/devices [--rounds 5]

The programs are tools/bench/simulator.cu in the ordinary build and with ACCESS=1, and tools/bench/devices.cu. Each round runs the ordinary
one on one core and on two, and then the other; a ratio is of one round, and the median of the rounds counts.

    ns        processor time for a unit of work: a thread, an element, a barrier or shuffle of one thread, a multiply-add
    to C      that over plain C with the same compiler and flags; `narrow`: over plain C with vectors of 128 bits
    2 cores   how much sooner two cores are done than one, by the clock: on a machine that does nothing else
    access    ACCESS=1 over the ordinary build

Below the table: processor time of R devices that do the same work each, over R times that of one device.
"""

import argparse
import os
import re
import statistics
import subprocess

# Of a kernel: the largest figures that we want to see. None: no aim.
AIMS = {
    "barriers": {"ns": 15},
    "shuffles": {"ns": 16},
    "matmul": {"access": 30},
    "matmul_tiled": {"narrow": 20, "access": 30},
}
DEVICES = (1, 2, 4, 8)
DEVICES_AIM = 1.5  # the cost of R devices over R times that of one
COLUMNS = ("ns", "to C", "narrow", "2 cores", "access")


def run(program, times, threads, devices=1):
    """The figures of each kernel: {name: {"cpu": ns, "wall": ns, "plain": ns, "narrow": ns}}."""
    environment = dict(os.environ, CUDASIM_THREADS=str(threads), CUDASIM_DEVICES=str(devices))
    done = subprocess.run([program, str(times)], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"failed: {program}: {done.stderr}")
    lines = [dict(re.findall(r"(\w+)=(\S+)", line)) for line in done.stdout.splitlines()]
    return {line.pop("name"): {key: float(value) for key, value in line.items()} for line in lines}


def ratio(a, b):
    return a / b if b > 0 else None


def figures(one, two, access):
    return {"ns": one["cpu"], "to C": ratio(one["cpu"], one["plain"]), "narrow": ratio(one["cpu"], one["narrow"]),
            "2 cores": ratio(one["wall"], two["wall"]), "access": ratio(access["cpu"], one["cpu"])}


def devices_of_round(program):
    """{R: the cost of R devices over R times that of one}."""
    cpu = {count: run(program, 100, 1, count)["devices"]["cpu"] for count in DEVICES}
    return {count: cpu[count] / (count * cpu[1]) for count in DEVICES}


def median(rounds, column):
    values = [figures[column] for figures in rounds]
    return None if None in values else statistics.median(values)


def cell(value, aim):
    text = "-" if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"
    return f"{text:>8}{'!' if aim and not value <= aim else ' '}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ordinary")
    parser.add_argument("access")
    parser.add_argument("devices")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rounds, of_devices = {}, []
    for _ in range(options.rounds):
        one, two, access = run(options.ordinary, 20, 1), run(options.ordinary, 20, 2), run(options.access, 1, 1)
        for name, of_one in one.items():
            rounds.setdefault(name, []).append(figures(of_one, two[name], access[name]))
        of_devices.append(devices_of_round(options.devices))
    print(f"medians of {options.rounds} rounds; ! beyond the aim")
    print(f"{'':<14}" + "".join(f"{column:>8} " for column in COLUMNS))
    missed = 0
    for name, of_name in rounds.items():
        aims = AIMS.get(name, {})
        values = {column: median(of_name, column) for column in COLUMNS}
        missed += sum(not values[column] <= aim for column, aim in aims.items())
        print(f"{name:<14}" + "".join(cell(values[column], aims.get(column)) for column in COLUMNS))
    print(f"\n{'devices':<14}" + "".join(f"{count:>8} " for count in DEVICES))
    values = {count: statistics.median(ratios[count] for ratios in of_devices) for count in DEVICES}
    missed += sum(value > DEVICES_AIM for value in values.values())
    print(f"{'to R times 1':<14}" + "".join(cell(value, DEVICES_AIM) for value in values.values()))
    print(f"\n{missed} aim{'s' * (missed != 1)} missed" if missed else "\nevery aim met")


if __name__ == "__main__":
    main()
