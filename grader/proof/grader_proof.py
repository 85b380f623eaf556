#!/usr/bin/env python3
"""The grader is graded: wrong solutions must lose the points they should, right ones none, attacks earn nothing.

    grader/proof/grader_proof.py stubs|solutions|mutants|variants|attacks ... [--lab 00,01] [--only NAME] [--part 1/2]
                          [--seeds N] [--device gpu] [--threads N] [--compiler clang] [--setting user] [--random] [--named]
                          [--table FILE]

Settings: as it is started; `user`: without privileges (started as root); `contained`: without the system calls that
containers deny. The layers that the sandbox has then are fixed, and each record must name them.

Ends with a line `grader: N passed, N failed`. Programs must be built: `make graders`.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import lab_files
from class_folder import write_whole


OUT = "build/proof"
JOBS = int(os.environ.get("JOBS", "2"))
ENDLESS = "a loop that does not end"
KINDS = ("stubs", "solutions", "mutants", "variants", "attacks")


# ---- grading one folder ---------------------------------------------------------------------------

def labs():
    return lab_files.all_labs("tests.c")


COMPILER = ""  # of the submission, where it is not the kit's
FIXED_SEED = 0x1234567  # the same inputs each time, so that what passes here passes elsewhere
RANDOM = False


# How the grader is started, and what its sandbox then has and has not.
UNTRUSTED = 65534
SETTINGS = {
    "": ([], []),
    "root": ([], ["2: ", "system call filter", ", another user"]),
    "user": (["setpriv", f"--reuid={UNTRUSTED}", f"--regid={UNTRUSTED}", "--clear-groups"],
             ["2: ", "system call filter", ", Landlock ", ", same user"]),
    "contained": (["build/bin/contained"], ["2: ", "system call filter", ", Landlock ", ", another user"]),
}
SETTING = ""


def cache():
    return f"{OUT}/cache" if SETTING == "user" else "build/cache"


def give_to_user(folder):
    """Where the grader may write, when it has no privileges."""
    for path in (folder, cache()):
        os.makedirs(path, exist_ok=True)
        os.chown(path, UNTRUSTED, UNTRUSTED)


def build_of(lab):
    return "build/access" if lab_files.has_cuda(lab) else "build"


def recipes_of(lab):
    return f"{build_of(lab)}/grade{'-' + COMPILER if COMPILER else ''}/{lab}.json"


def left_behind(folder):
    """What is still in a folder after the grader that worked there has ended, and which programs of it still run."""
    left = os.listdir(folder)
    for process in glob.glob("/proc/[0-9]*"):
        try:
            left += [process] if os.readlink(f"{process}/exe").startswith(folder) else []
        except OSError:
            pass   # it has ended meanwhile
    return left


def grade(lab, folder, seed=None, checks=None):
    """The record of a folder with the lab's files; of some checks only, where they are given."""
    build, output = build_of(lab), folder.rstrip("/") + ".json"
    prefix, layers = SETTINGS[SETTING]
    if SETTING == "user":
        give_to_user(os.path.dirname(output))
    command = prefix + [f"{build}/bin/grade", "--lab", lab, "--from", folder, "--judge", f"{build}/judge/{lab}",
               "--plan", lab_files.path_of(lab, "lab.json"), "--recipes", recipes_of(lab),
               "--cache", cache(), "--output", output]
    if checks:
        command += ["--check", ",".join(checks)]
    if not RANDOM:
        command += ["--seed", f"{seed or FIXED_SEED:x}"]
    with tempfile.TemporaryDirectory(prefix="proof-") as temporary:
        os.chmod(temporary, 0o711)
        if SETTING == "user":
            os.chown(temporary, UNTRUSTED, UNTRUSTED)
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=600, check=False,
                              env={**os.environ, "TMPDIR": temporary})
        left = left_behind(temporary)
    with open(output, encoding="utf-8") as file:
        record = json.load(file)
    if left:
        raise ValueError(f"left behind: {left}")
    missing = [layer for layer in layers if layer not in record["sandbox"]]
    if missing:
        raise ValueError(f"the sandbox is '{record['sandbox']}', without '{missing[0]}'")
    record["status"] = done.returncode
    record["rows"] = {row["name"]: row for row in record["checks"]}
    return record


def solution(lab, name):
    """The file of the solution, without its stub."""
    done = subprocess.run(["unifdef", "-x2", "-USTUB", lab_files.path_of(lab, name, kind="solutions")], text=True,
                          capture_output=True, check=False)
    return done.stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(lab):
    return lab_files.files_of(lab)


def write_folder(lab, name, changed):
    """A hand-in: the solution's files, but for those in `changed`."""
    folder = f"{OUT}/{lab}/{name}"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for file in files(lab):
        with open(f"{folder}/{file}", "w", encoding="utf-8") as to:
            to.write(changed.get(file) or solution(lab, file))
    return folder


# ---- mutants and variants -------------------------------------------------------------------------

LISTS, TEXTS = ("fails", "keeps"), ("id", "says", "also", "numbers", "gpu")   # what a block may say, a line each


def read_table(path):
    """Blocks of a .mutants or .variants file; lines of one edit that follow each other belong together."""
    blocks = []
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            text = line.strip()
            key, _, value = text.partition(": ")
            head = re.match(r"\[(\w+)\] (\S+)$", text)
            if head:
                blocks.append({"name": head[1], "file": head[2], "edits": []} | {key: [] for key in LISTS} | {key: "" for key in TEXTS})
            elif blocks and key in LISTS:
                blocks[-1][key] = value.split()
            elif blocks and key in TEXTS:
                blocks[-1][key] = value.strip()
            elif blocks and text.startswith("- "):
                edits = blocks[-1]["edits"]
                if not edits or edits[-1][1]:
                    edits.append(([], []))
                edits[-1][0].append(text[2:].strip())
            elif text.startswith("+") and blocks and blocks[-1]["edits"]:
                blocks[-1]["edits"][-1][1].append(text[2:])
            elif text and not text.startswith("#"):
                sys.exit(f"{path}:{number}: `{text[:60]}`: neither `[name] file`, nor an edit, nor one of {', '.join(f'{key}:' for key in LISTS + TEXTS)}")
    return blocks


def blocks_of(lab, kind):
    """Those of all the lab's tables of a kind, "mutants" or "variants"."""
    known, checks, blocks = files(lab), lab_files.read_lab(lab).get("points", {}), []
    for path in sorted(glob.glob(lab_files.path_of(lab, f"*.{kind}", kind="grader/labs"))):
        for block in read_table(path):
            where = f"{path}: {block['name']}"
            if block["file"] not in known:
                sys.exit(f"{where}: the lab has no file {block['file']}, only {', '.join(known)}")
            unknown = [name for name in block["fails"] + block["keeps"] if name not in checks]
            if unknown:
                sys.exit(f"{where}: the lab has no check {unknown[0]}")
            if kind == "mutants" and not (block["says"] or block["numbers"]):
                sys.exit(f"{where}: neither `says:` nor `numbers:` (grader/labs/README.md)")
            blocks.append(block)
    return blocks


def places_of(lines, old):
    """Where the lines `old` stand, one after the other."""
    return [i for i in range(len(lines) - len(old) + 1)
            if [line.strip() for line in lines[i:i + len(old)]] == old]


def find(lines, old):
    places = places_of(lines, old)
    if len(places) != 1:
        raise ValueError(f"{len(places)} places are `{old}`")
    return places[0]


def apply_edits(text, edits):
    """All places are looked up in the solution, before any is changed."""
    lines, changes = text.split("\n"), []
    for old, new in edits:
        if len(places_of(lines, old)) == 1 or len(old) == 1:
            changes.append((find(lines, old), len(old), new))
        else:
            # Lines that do not stand together: the last is replaced, the others go.
            changes += [(find(lines, [line]), 1, []) for line in old[:-1]]
            changes.append((find(lines, old[-1:]), 1, new))
    for place, count, new in sorted(changes, reverse=True):
        lines[place:place + count] = new
    return "\n".join(lines)


def hand_in(lab, block):
    return write_folder(lab, block["name"],
                        {block["file"]: apply_edits(solution(lab, block["file"]), block["edits"])})


def lost_rows(record):
    return {name: row for name, row in record["rows"].items() if row["state"] not in ("pass", "not run")}


def said_of(rows):
    return " ".join(row.get("mistake", "") + " " + row.get("message", "") for row in rows.values())


TOLD = []   # of each mutant: lab, name, and how its report tells the mistake


def other_suspects(lost, *stated):
    """What is called likely and is not the stated mistake. Of several that nobody can tell apart one must be it."""
    told = [row.get("mistake", "") for row in lost.values() if row.get("mistake", "").startswith("likely: ")]
    return [text for text in told if not any(words and words in text for words in stated)]


def note_words(lab, block, lost):
    """named: the stated sentence; numbers: none, for a stated reason; misleading: another mistake is called likely."""
    others = other_suspects(lost, block["says"], block["also"])
    kind = "misleading" if others else "named" if block["says"] else "numbers"
    TOLD.append((lab, block["name"], kind, others[0] if others else block["numbers"]))


def print_words():
    """How many mutants of each lab are named, get numbers only, or report another mistake. Returns how many have wrong words."""
    for lab in sorted({told[0] for told in TOLD}):
        count = collections.Counter(told[2] for told in TOLD if told[0] == lab)
        print(f"words {lab}: {count['named']} named, {count['numbers']} numbers, {count['misleading']} misleading, of {sum(count.values())}")
    wrong = [told for told in sorted(TOLD) if told[2] == "misleading"]
    for lab, name, _, text in wrong:
        print(f"mutant {lab} {name}: another mistake is called likely: {text}")
    return len(wrong)


def print_spare(options, kinds):
    """Of a lab of one's own the checks that no mutant fails: nothing shows that they can."""
    for lab in labs():
        if "mutants" in kinds and not options.only and lab.startswith(tuple(options.lab.split(","))) and lab_files.root_of(lab) != ".":
            failed = {name for block in blocks_of(lab, "mutants") for name in block["fails"]}
            spare = [name for name in lab_files.read_lab(lab).get("points", {}) if name not in failed]
            if spare:
                print(f"lab {lab[:2]}: no mutant fails {', '.join(spare)}: nothing shows that {'they' if len(spare) > 1 else 'it'} can fail (docs/own_checks.md)")


def try_mutant(lab, block, checks=None):
    """In all checks, as a student's hand-in: no row may call another mistake likely. With `checks` in these, and in all where they do not say it."""
    folder = hand_in(lab, block)
    record = grade(lab, folder, checks=checks)
    if checks and block["says"] and block["says"] not in said_of(lost_rows(record)):
        record = grade(lab, folder)
    lost = lost_rows(record)
    passed = [name for name in block["fails"] if name not in lost]
    if not block["fails"] or passed:
        return f"earns the points of {passed or 'everything: no check is named'}; lost: {sorted(lost)}"
    taken = [name for name in block["keeps"] if name in lost]
    if taken:
        return f"takes the points of {taken}: {lost[taken[0]]['state']}: {lost[taken[0]].get('message', '')[:300]}"
    said = said_of(lost)
    refused = block["says"] and block["says"] in said  # a function that the lab does not have
    if not refused and any(row["state"] == "build error" for row in lost.values()):
        return "does not compile: " + next(iter(lost.values()))["message"][:400]
    if block["says"] and block["says"] not in said:
        return f"the report lacks `{block['says']}`: {said[:400]}"
    note_words(lab, block, lost)
    return None if record["status"] != 0 else "the exit status is 0"


# What is right takes so much of a limit at most: with other inputs one that takes more may lose. The limit of `sumsq` is a bound, which two
# roundings may reach and never pass.
NEAR, BOUNDS = 0.6, ("sumsq",)
BITS = ("00_bytes", "04_checkpoint", "08_prefetch", "11_data_parallel", "12_zero", "13_pipeline")   # all is bit for bit, or a whole number


def near_a_limit(record):
    near = {row["name"]: row["nearest"] for row in record["checks"] if row.get("nearest", 0) > NEAR and not row["name"].startswith(BOUNDS)}
    return f"so near to a limit that other inputs may pass it: {near}" if near else None


def all_points(record):
    lost = lost_rows(record)
    if lost:
        name, row = next(iter(lost.items()))
        return f"loses {sorted(lost)}: {name}: {row['state']}: {row.get('message', '')[:300]} {row.get('mistake', '')[:200]}"
    return near_a_limit(record) if record["status"] == 0 else f"full points, but the exit status is {record['status']}"


# ---- what is tried ----------------------------------------------------------------------------------

def stub_cases(lab, _):
    def run():
        folder = f"{OUT}/{lab}/stub"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(lab_files.path_of(lab), folder)
        passed = [name for name, row in grade(lab, folder)["rows"].items()
                  if row["state"] == "pass" and row["points"] > 0]
        return f"the stub earns {passed}" if passed else None
    return [("stub", run)]


def solution_cases(lab, options):
    def run(seed):
        """The first time the files as they stand, stub and all: they are the solution."""
        as_they_stand = {} if seed else {name: read(lab_files.path_of(lab, name, kind="solutions")) for name in files(lab)}
        record = grade(lab, write_folder(lab, f"solution{seed}", as_they_stand), FIXED_SEED * (seed + 1))
        noted = lab in BITS or lab_files.root_of(lab) != "." or any(row.get("nearest", 0) > 0 for row in record["checks"])
        return all_points(record) or (None if noted else "no row has a `nearest`")
    return [(f"solution, seed {seed}", lambda seed=seed: run(seed)) for seed in range(options.seeds)]


def mutant_cases(lab, options):
    blocks = blocks_of(lab, "mutants")
    gpu = options.device == "gpu"
    named = gpu or options.named
    if gpu:   # where each check of one that does not end takes minutes
        blocks = [block for block in blocks if block["says"] != ENDLESS]
        for block in blocks:
            block["says"] = block["gpu"] or block["says"]
    return [(f"{block['file']} {block['name']}", lambda block=block: try_mutant(lab, block, block["fails"] + block["keeps"] if named else None))
            for block in blocks]


def variant_cases(lab, _):
    return [(block["name"], lambda block=block: all_points(grade(lab, hand_in(lab, block))))
            for block in blocks_of(lab, "variants")]


ATTACKS = []


def read_attack(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    what = re.match(r"/\*\s*(.*?)\*/", text, re.S)
    lab = re.search(r"/\* lab: (\w+)/(\S+)\s+honest: (.*?) \*/", text, re.S)
    state = re.search(r"/\* state: (.*?) \*/", text)
    if not (what and lab and state):
        sys.exit(f"{path}: wants a comment, a lab line and a state line")
    then = re.search(r"/\* then: (.*?) \*/", text)
    for part in then[1].split() if then else []:
        with open(f"grader/attacks/parts/{part}", encoding="utf-8") as file:
            text += "\n" + file.read()
    text = text.replace("@KIT@", os.getcwd())   # a student knows the path, or guesses it
    honest = [] if lab[3] == "none" else re.findall(r"\w+", lab[3])
    return {"name": os.path.basename(path)[:-2], "what": " ".join(what[1].split()), "lab": lab[1],
            "file": lab[2], "honest": honest, "states": state[1].split("|"), "text": text}


def try_attack(attack):
    folder = write_folder(attack["lab"], "attack_" + attack["name"], {attack["file"]: attack["text"]})
    record = grade(attack["lab"], folder)
    rows = record["rows"].values()
    earned = [row["name"] for row in rows if row["earned"] > 0]
    states = sorted({row["state"] for row in rows if row["name"] not in attack["honest"]})
    ATTACKS.append((attack, states, record["score"]))
    stolen = sorted(set(earned) - set(attack["honest"]))
    if stolen:
        return f"earns {stolen}"
    strange = [state for state in states if state.strip() not in [s.strip() for s in attack["states"]]]
    if strange:
        return f"is reported as {strange}, not {attack['states']}"
    return None


def attack_cases(lab, _):
    attacks = [read_attack(path) for path in sorted(glob.glob("grader/attacks/*.c"))]
    return [(attack["name"], lambda attack=attack: try_attack(attack)) for attack in attacks
            if attack["lab"] == lab]


CASES = dict(zip(KINDS, (stub_cases, solution_cases, mutant_cases, variant_cases, attack_cases)))

PAGE = """# Attacks and what they earned {{#cheating_table}}

Written by `grader/proof/grader_proof.py attacks --table`: do not edit. Each program in `grader/attacks/` is a hand-in that tries to get points
without the work. Its honest part may earn what it is worth; the rest must not.

| attack | what it tries | points of its honest part | points it got | reported as |
|---|---|---|---|---|
{rows}
"""


def write_attacks(path):
    rows = [f"| `{attack['name']}` | {attack['what'].replace('|', '/')} | "
            f"{' '.join(attack['honest']) or 'none'} | {score:g} | {', '.join(states)} |"
            for attack, states, score in sorted(ATTACKS, key=lambda entry: entry[0]["name"])]
    write_whole(path, PAGE.format(rows="\n".join(rows)).encode())


def guarded(run):
    try:
        return run()
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        return f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kinds", nargs="*", default=[], help=", ".join(KINDS))
    parser.add_argument("--lab", default="", help="two digits: only that lab; several: 01,03")
    parser.add_argument("--only", default="", help="only cases with this in their name")
    parser.add_argument("--part", default="1/1", help="2/3: the second of three parts of the cases")
    parser.add_argument("--seeds", type=int, default=3, help="seeds for each solution")
    parser.add_argument("--random", action="store_true", help="unseen inputs, new ones each time")
    parser.add_argument("--named", action="store_true", help="mutants only in the checks that their tables name, as --device gpu does: quicker")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"), help="gpu: as DEVICE=gpu grades")
    parser.add_argument("--threads", type=int, default=1, help="of the probes whose room is closed")
    parser.add_argument("--compiler", default="", help="of the hand-ins: `make graders GRADE_CC=clang`")
    parser.add_argument("--table", help="write the table of attacks to this file")
    parser.add_argument("--setting", default="", choices=SETTINGS, help="how the grader is started")
    options = parser.parse_args()
    global COMPILER, SETTING, RANDOM, OUT
    COMPILER, SETTING, RANDOM = options.compiler, options.setting, options.random
    OUT += f"-{SETTING}" if SETTING else ""
    if options.device == "gpu":
        os.environ["GRADE_DEVICE"] = "gpu"
        OUT += "-gpu"
    if options.threads > 1:
        os.environ["GRADE_THREADS"] = str(options.threads)
        OUT += f"-{options.threads}"
    cases = [(kind, lab, name, run) for kind in options.kinds or KINDS for lab in labs()
             if lab.startswith(tuple(options.lab.split(","))) for name, run in CASES[kind](lab, options)
             if options.only in name]
    if not cases:
        sys.exit(f"grader: nothing is tried: there is no lab {options.lab or '01'}, or no case of it is called {options.only or 'so'}; "
                 "a lab of your own is found with LABS=folder in the environment")
    part, count = map(int, options.part.split("/"))
    cases, failed = cases[part - 1::count], 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        futures = [(case, pool.submit(guarded, case[3])) for case in cases]
        for (kind, lab, name, _), future in futures:
            problem = future.result()
            failed += problem is not None
            if problem:
                print(f"{kind[:-1]} {lab} {name}: {problem}")
    wrong = print_words()
    if options.device == "cpu":  # checks of bytes have other words on the GPU, where there is another workspace
        failed += wrong
    if options.table:
        write_attacks(options.table)
    print_spare(options, options.kinds or KINDS)
    print(f"grader: {len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__":
    main()
