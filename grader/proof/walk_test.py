#!/usr/bin/env python3
"""A student's walk through a lab: from the handout, one task after the other, to full points.

    grader/proof/walk_test.py [--lab 05]        any lab
    grader/proof/walk_test.py --page docs/first_lab.md     an instructor's, through a page: every command, and what it prints

Works in build/walk, in a handout that is given the objects of this build, so that little is compiled. The tasks are
filled with the solution's parts in their order. Points must come as the lab's README says, and what is printed must
name the hole that comes next. A page is walked in a clean clone. Ends with `walk: all good`.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

import expecting
import grader_proof as proof
import shown
from expecting import expect
from handout_test import give_objects, make, read, run, write

OUT = os.path.abspath("build/walk")


# ---- a file with the first tasks filled ---------------------------------------------------------------

def tasks_of_blocks(lines):
    """The task of each `#ifndef STUB`: of the last TODO or comment in it that names one, or else of the next part
    that has one."""
    tasks, open_parts, inside = [], [], False
    for line in lines:
        named = re.search(r'(?:TODO\("|/\* )task (\d+)', line)
        if line.startswith("#ifndef STUB"):
            tasks.append(None)
            open_parts.append(len(tasks) - 1)
        if named:
            for part in open_parts:
                tasks[part] = max(int(named[1]), tasks[part] or 0)
        inside = inside or line.startswith("#ifndef STUB")
        if line.startswith("#endif") and inside:
            inside = False
            open_parts = [part for part in open_parts if tasks[part] is None]
    return tasks


def filled(lab, name, done):
    """The file with the tasks up to `done` as the solution has them."""
    lines = read(f"solutions/{lab}/{name}").splitlines(keepends=True)
    tasks = iter(tasks_of_blocks(lines))
    marked = "".join(f"#ifdef TASK_{next(tasks)}\n" if line.startswith("#ifndef STUB") else line for line in lines)
    flags = [f"-{'D' if task <= done else 'U'}TASK_{task}" for task in range(1, 20)]
    return subprocess.run(["unifdef", "-x2", *flags], input=marked, stdout=subprocess.PIPE, text=True, check=True).stdout


# ---- what the README says ----------------------------------------------------------------------------

def points_of_tasks(lab):
    """{1: 10, 2: 20, ...}: of a list, or of a table, in which a row without a number belongs to the task above it."""
    section = read(f"labs/{lab}/README.md").split("\n## Tasks\n")[1].split("\n## ")[0]
    points, task = {}, 0
    for line in section.splitlines():
        row = re.match(r"(\d+)\. \*\*.*?, ([\d.]+) points", line) or re.match(r"\| (\d*) ?\| .* \| ([\d. +]+) \|$", line)
        if row:
            task = int(row[1] or task)
            points[task] = points.get(task, 0) + sum(float(worth) for worth in row[2].split("+"))
    return points


def state(folder, lab):
    """What `make` says of a lab: "not started", "35/60", "done"."""
    line = next(line for line in make(folder=folder)[1].splitlines() if line.split()[:1] == [lab])
    return re.search(r"points\s+(.*)", line)[1].strip()


def show(folder, lab):
    """Each command that the README shows runs, now that the lab is solved; grades, hints and bets have been looked at."""
    for command in shown.commands(read(f"labs/{lab}/README.md")):
        if re.match(r"make (?!grade|hint|lab|debug|bet)", command.command):
            shown.run(command, folder)


# ---- the walk -----------------------------------------------------------------------------------------

def next_hole(folder, lab, task):
    """`make labNN` ends with file and line of a hole that is still there; or runs to its end, if it meets none."""
    status, said = make(f"lab{lab[:2]}", folder=folder)
    hole = re.search(rf"labs/{lab}/[\w.]+:\d+: TODO: task (\d+)", said)
    if hole is None:
        expect(status == 0 and "Memory" in said, "the lab runs to its end")
    else:
        expect(status == 0 and task is not None and int(hole[1]) >= task, f"the run ends with a hole: {hole[0]}")


def grade(folder, lab):
    status, said = make(f"grade{lab[:2]}", folder=folder)
    record = json.loads(read(f"{folder}/build/grades/{lab}.json"))
    return status, said, record


def debug(folder, lab, check):
    """The debugger gets the student's run of a check, not the kit's that it is compared with."""
    if shutil.which("gdb"):
        run("sh", "-c", f"make debug{lab[:2]} CHECK={check} </dev/null", folder=folder)
        last = read(f"{folder}/build/debug/command").strip().splitlines()[-1]
        expect(re.search(r"/probe(_\w+)? ", last) and "/probe plain" not in last, f"what is debugged: {last[-120:]}")


def walk(folder, lab):
    points = points_of_tasks(lab)
    expect(sum(points.values()) == 100, f"the README's points are 100: {points}")
    expect(state(folder, lab) == "not started", "nothing is started")
    score = 0
    for done in range(max(points) + 1):
        for name in proof.files(lab):
            write(f"{folder}/labs/{lab}/{name}", filled(lab, name, done))
        last = done == max(points)
        next_hole(folder, lab, None if last else done + 1)
        status, said, record = grade(folder, lab)
        score += points.get(done, 0)
        lost = [f"{row['name']}: {row['message']}" for row in record["checks"] if row["state"] != "pass" and row["points"] > 0]
        expect(record["score"] == score, f"after task {done}: {record['score']:g} points, the README says {score:g}; {lost}")
        wanted = "not started" if done == 0 else "done" if last else f"{score:g}/100"
        expect(state(folder, lab) == wanted, f"and `make` says {wanted}: {state(folder, lab)}")
        expect((status == 0) == last, "the exit status is 0 for full points only")
        if not last:
            expect("not started" in said, "what is not there yet is called not started")
    show(folder, lab)
    debug(folder, lab, record["checks"][0]["name"])
    for name in proof.files(lab):
        expect(read(f"{folder}/labs/{lab}/{name}") == proof.solution(lab, name), f"{name} is the solution's now")


def demo(folder, lab):
    """The short table runs what there is, and names the lab of what there is not."""
    make("build/bin/train", folder=folder)
    done = subprocess.run(["tools/table.py", "build/bin/train", "--short", "--size", "tiny"], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    rows = [line for line in done.stdout.splitlines() if re.match(r"(vanilla|accumulation|\+ check|fp16|all comb)", line)]
    waits = [line for line in rows if "TODO" in line or "needs lab" in line]
    named = {"01": "vanilla, accumulation, +, fp16, all", "03": "accumulation, +, all", "04": "+, all", "05": "fp16, all"}
    later = {word for number, words in named.items() if number >= lab[:2] for word in words.split(", ")}
    expect(done.returncode == 0 and len(rows) >= 5, f"the table has its rows: {done.stdout[-200:]}")
    expect({re.split(r"[ ,]", line)[0] for line in waits} == later, f"these wait: {sorted(later)}; {waits}")


def walk_lab(number):
    lab = next((lab for lab in proof.labs() if lab[:2] == number), None)
    if lab is None:
        sys.exit(f"walk: there is no lab {number}")
    folder = f"{OUT}/{lab}"
    shutil.rmtree(folder, ignore_errors=True)
    status, said = make("handout", f"LAB={number}", f"OUT={folder}")
    expect(status == 0, f"the handout is cut: {said.strip()[-100:]}")
    give_objects(folder)
    demo(folder, lab)
    walk(folder, lab)


def walk_page(path):
    """In a folder beside which nothing is, since a page may write there."""
    place = f"{OUT}/{os.path.splitext(os.path.basename(path))[0]}"
    shutil.rmtree(place, ignore_errors=True)
    expect(run("git", "clone", "-q", ".", f"{place}/gradus")[0] == 0, "a clean clone")
    give_objects(f"{place}/gradus")
    shown.walk(path, f"{place}/gradus")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lab", default="05", help="two digits")
    parser.add_argument("--page", help="a page whose commands run, in place of a lab")
    options = parser.parse_args()
    if options.page:
        walk_page(options.page)
    else:
        walk_lab(options.lab)
    expecting.end("walk")


if __name__ == "__main__":
    main()
