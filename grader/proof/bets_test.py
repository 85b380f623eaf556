#!/usr/bin/env python3
"""Bets: asked from stdin, kept, measured, shown, handed in, and shown to the instructor. Ends with `bets: all good`.

Works in build/bets-test: a lab that is made up, with a program of a few lines; then the labs of the kit with their
solutions; then a handout without solutions, which is given the objects of this build.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import expecting
import grader_proof as proof   # which finds tools/
import bets
import hand_in_reader
import handin
import lab_files
import report
from expecting import expect
from exports import record as reader
from handout_test import give_objects, make, read, run, write
from making import apart

KIT, OUT = os.getcwd(), os.path.abspath("build/bets-test")
LAB, MINE = "90_example", "labs/90_example/my_bets90.json"


# ---- a lab that is made up ----------------------------------------------------------------------------

LIST = {"runs": {"more": {"train": "--more 2"}, "echo": {"make": "-f made.mk said", "match": {"count": "count is (\\d+)"}}},
        "bets": [{"name": "loss", "ask": "Which loss?", "unit": "nats", "formula": "ln(V)", "measured": "first_loss", "because": "It knows nothing."},
                 {"name": "factor", "ask": "Which factor?", "unit": "% of one", "formula": "more.B / B", "measured": "more.counted.data / counted.data",
                  "because": "Twice the rows."},
                 {"name": "count", "ask": "How many?", "unit": "of them", "measured": "echo.count", "because": "Counted."}]}
# As `train`: --metrics FILE, and --more N for N times the rows; a record where one is asked for. HOLE, MISSING and BROKEN end it as train ends.
PROGRAM = """#!/usr/bin/env python3
import json, os, sys
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
rows = 3 * int(words.get("--more", "1"))
if os.environ.get("HOLE") and ("--more" in words) == (os.environ["HOLE"] == "more"):
    sys.exit(print("labs/90_example/mean.c:7: TODO: task 4: all of it", file=sys.stderr) or 77)
if os.environ.get("MISSING") and "--more" in words:
    sys.exit(print("needs lab 91", file=sys.stderr) or 2)
if os.environ.get("BROKEN") and "--more" in words:
    sys.exit(print("train: the disk is full", file=sys.stderr) or 1)
print("Time: 1 s")
kinds = {"weights": 8, "data": 4 * rows}
if "CUDASIM_RECORD" in os.environ:
    with open(os.environ["CUDASIM_RECORD"], "w") as file:
        file.writelines(json.dumps(entry) + "\\n" for entry in
                        ({"kind": "launch"}, {"kind": "product"}, {"kind": "copy"}, {"kind": "graph"}, {"kind": "launch", "graph": 4}))
with open(words["--metrics"], "w") as file:
    file.write(json.dumps({"step": 1, "loss": 5, "learning_rate": 0.5}) + "\\n")
    file.write(json.dumps({"seconds": 2, "first_loss": 5.5, "memory_by_kind": kinds, "predicted_by_kind": kinds,
                           "shape": {"V": 256, "L": 2, "B": rows, "K": 1}}) + "\\n")
"""


def play(*words, text="", **settings):
    """bets.py in the folder of the made-up lab: (exit status, what it says, its lines on stderr)."""
    done = subprocess.run([f"{KIT}/tools/bets.py", *words], cwd=f"{OUT}/made", env=apart("LABS") | settings, input=text, capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def kept():
    return json.loads(read(f"{OUT}/made/{MINE}"))["bets"]


def begin():
    if os.path.exists(f"{OUT}/made/{MINE}"):
        os.unlink(f"{OUT}/made/{MINE}")


def make_lab():
    os.makedirs(f"{OUT}/made/labs/{LAB}")
    write(f"{OUT}/made/labs/{LAB}/lab.json", "{}")
    write(f"{OUT}/made/labs/{LAB}/bets.json", json.dumps(LIST))
    write(f"{OUT}/made/made.mk", "said:\n\t@echo count is 12\n")
    write(f"{OUT}/made/program", PROGRAM)
    os.chmod(f"{OUT}/made/program", 0o755)


def row(said, name):
    """(bet, formula, measured) of a line of the table."""
    found = re.search(rf"^  {name} +(\S+) +(\S+) +(.*?)  \S", said, re.M)
    return found.groups() if found else None


def check_asking():
    status, said, _ = play("ask", LAB, text="5.5\n\n12\n")
    expect(status == 0 and kept() == {"loss": {"bet": 5.5}, "count": {"bet": 12}}, f"numbers are kept, an empty line skips: {kept()}")
    expect("Which loss?" in said and "[nats]" in said and "2 of 3 bets are made" in said, "question, unit, and how many")
    expect(not re.search(r"5\.545|5\.54|ln\(V\)", said), "and not a word of the answer")
    status, said, _ = play("ask", LAB, text="6\n\n\n")
    expect(kept()["loss"] == {"bet": 6} and kept()["count"] == {"bet": 12} and "empty line: 5.5 stays" in said, "before the run a bet may be changed")


def check_bad_input():
    for word in ("x", "nan", "inf", "-inf", "5,5", "1_000", "0x10", "1e400", "1e99", "5 5", "12 MiB", "٣", "$(ls)", "\x1b[2J", "5" * 5000):
        begin()
        status, said, error = play("ask", LAB, text=f"{word}\n7\n")
        expect(status == 0 and not error and "is not a number" in said and kept() == {"loss": {"bet": 7}} and "\x1b" not in said
               and said.count("[nats]") == 2,
               f"{word[:20]!a} is asked again")
    for text, want in (("", {}), ("3", {"loss": {"bet": 3}}), ("3\nx", {"loss": {"bet": 3}}),
                       ("1\n2\n-3e-1\n9\n9", {"loss": {"bet": 1}, "factor": {"bet": 2}, "count": {"bet": -0.3}})):
        begin()
        status, _, error = play("ask", LAB, text=text)
        found = kept() if os.path.exists(f"{OUT}/made/{MINE}") else {}
        expect(status == 0 and not error and found == want, f"the input ends after {text!a}: what was answered is kept {found}")
    begin()
    play("ask", LAB, text="50%\n7\n%\n5 %\n")
    expect(kept() == {"loss": {"bet": 7}, "factor": {"bet": 5}}, f"a share may have its sign, nats may not: {kept()}")
    begin()
    done = subprocess.run([f"{KIT}/tools/bets.py", "ask", LAB], cwd=f"{OUT}/made", input=b"\xff\xfe\n4\n", stdout=subprocess.PIPE, check=False)
    expect(done.returncode == 0 and kept() == {"loss": {"bet": 4}}, "what is not text is not a number")
    status, said, error = play("ask", "91_none")
    expect(status == 1 and not said and error == "lab 91 has no bets\n", "a lab without bets says so")


def heeds_interrupts():
    """A shell starts what runs in the background deaf to them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def check_interrupt():
    begin()
    with subprocess.Popen([f"{KIT}/tools/bets.py", "ask", LAB], cwd=f"{OUT}/made", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, preexec_fn=heeds_interrupts) as asked:
        asked.stdin.write("8\n")
        asked.stdin.flush()
        until = time.monotonic() + 20
        while not os.path.exists(f"{OUT}/made/{MINE}") and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.3)
        asked.send_signal(signal.SIGINT)
        said, error = asked.stdout.read(), asked.stderr.read()
    expect(asked.returncode == 130 and "1 of 3 bets are made" in said and kept() == {"loss": {"bet": 8}} and not error,
           f"Ctrl-C keeps what was answered {error[-200:]}")


def check_table():
    begin()
    status, said, _ = play("run", LAB, "./program")
    expect(status == 0 and said.startswith("Time: 1 s\n"), "the program runs as before")
    expect(row(said, "loss") == ("-", "5.545", "5.5") and row(said, "factor") == ("-", "-", "after a bet")
           and "make bet90 asks before you run" in said,
           "without a bet: what this run measures, and who asks")
    expect("Measuring" not in said, "nothing more is run for bets that nobody made")
    status, said, _ = play("ask", LAB, text="2.5\n11\n")
    expect("The answer has been shown, 5.5 nats: you had not bet" in said
           and kept()["loss"] == {"measured": 5.5, "formula": kept()["loss"]["formula"]},
           "an answer that was shown takes no bet")
    expect(kept()["factor"] == {"bet": 2.5} and kept()["count"] == {"bet": 11}, "the others do")
    status, said, _ = play("run", LAB, "./program")
    expect(row(said, "factor") == ("2.5", "2", "2") and row(said, "count") == ("11", "-", "12"),
           f"bet, formula, measured {row(said, 'factor')} {row(said, 'count')}")
    expect("Measuring for your bets, 1 of 2: more, train --more 2" in said and "2 of 2: echo" in said, "what is measured for bets says so")
    begin()
    play("ask", LAB, text="\n2\n")
    expect("echo" not in play("run", LAB, "./program")[1], "and only what a bet waits for")
    begin()
    play("ask", LAB, text="\n2.5\n11\n")
    status, said, _ = play("run", LAB, "./program")
    expect("factor = more.B / B\n    Twice the rows." in said and "count\n    Counted." in said, "with the reason")
    _, said, _ = play("ask", LAB, text="9\n9\n9\n")
    expect("your bet was 2.5; the first bet is kept" in said and kept()["factor"]["bet"] == 2.5, "the first bet is kept")
    _, said, _ = play("run", LAB, "./program", "--more", "4")
    expect(row(said, "factor")[1:] == ("0.5", "0.5"), f"formula and measurement are those of this run's own shape {row(said, 'factor')}")
    expect(kept()["factor"]["measured"] == 2, "what was shown first is what is handed in")


def check_no_numbers():
    begin()
    play("ask", LAB, text="1\n2\n3\n")
    status, said, error = play("run", LAB, "./program", HOLE="main")
    expect(status == 77 and "TODO: task 4" in error and "Bets: measured after task 4. make bet90 asks for 3 numbers before that." in said
           and "measured" not in kept()["loss"],
           f"a hole: which task it waits for {said}")
    for name, why in (("HOLE", "after task 4"), ("MISSING", "needs lab 91"), ("BROKEN", "failed")):
        begin()
        play("ask", LAB, text="1\n2\n3\n")
        status, said, _ = play("run", LAB, "./program", **{name: "more"})
        expect(status == 0 and row(said, "factor") == ("2", "-", why) and row(said, "loss") == ("1", "5.545", "5.5")
               and "measured" not in kept()["factor"], f"{name}: {row(said, 'factor')}")
        expect((name == "BROKEN") == ("it failed: train: the disk is full" in said), "what failed is said")
    write(f"{OUT}/made/made.mk", "said:\n\t@echo nothing\n")
    expect(row(play("run", LAB, "./program")[1], "count") == ("3", "-", "failed"), "output without the number is not a number")
    for damage in ("", "[]", '{"bets": []}', '{"bets": {"loss": 5}}', "{" * 4000, '{"bets": {"loss": {"bet": "6"}}}', "\udcff"):
        with open(f"{OUT}/made/{MINE}", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(damage)
        status, said, error = play("run", LAB, "./program")
        expect(status == 0 and row(said, "loss") == ("-", "5.545", "5.5") and error.count("\n") <= 1,
               f"a damaged file of bets {damage[:20]!a} is begun anew")


def check_record():
    program, asked = f"{OUT}/made/program", {"train": "--more 1"}
    facts = [bets.run_beside(LAB, program, asked | more)[0] for more in ({"record": True}, {})]
    expect(facts[0]["launches"] == 3, f"a graph is one launch, and what is in it none: {facts[0]['launches']}")
    expect("launches" not in facts[1], "without a record nothing is counted")


def check_one():
    """Of one bet it speaks in the singular."""
    write(f"{OUT}/made/labs/{LAB}/bets.json", json.dumps(LIST | {"bets": LIST["bets"][:1]}))
    begin()
    said = play("ask", LAB, text="\n")[1] + play("run", LAB, "./program", HOLE="main")[1]
    expect("Lab 90: 1 number to predict" in said and "asks for 1 number before that" in said, f"one number {said[-90:]}")
    write(f"{OUT}/made/labs/{LAB}/bets.json", json.dumps(LIST))


# ---- the labs of the kit ------------------------------------------------------------------------------

# A formula is exact but for these; a few bets have none.
NEAR = {"first loss": 0.05, "large vocabulary": 0.05, "time": 1.5, "time of 1 x 64": 20, "speed in 20 MiB": 5}   # relative; times for a busy machine
ONLY_MEASURED = {"become 0", "lose bits", "micro-batch", "launches"}


def check_lab(lab):
    """Every number is measured by the run as it is declared, and what is exact is exact."""
    lists = bets.declared(lab)
    names = [bet["name"] for bet in lists["bets"]]
    expect(3 <= len(names) <= 4 and len(set(names)) == len(names), f"{lab} has three or four bets: {names}")
    expect(all(set(bet) <= {"name", "ask", "unit", "formula", "measured", "because"} for bet in lists["bets"]), "each has what a bet has")
    expect(not any("counted" in bet.get("formula", "") or "seconds" in bet.get("formula", "") for bet in lists["bets"]),
           "no formula looks at what was counted")
    asked = {bet["name"]: {"bet": 1} for bet in lists["bets"]}
    for run in lists["runs"].values():   # GPT-2 itself takes 2 GiB; the formula holds for a narrow one as well
        run.update({"train": run["train"].replace("--n_embd 768", "--n_embd 48")} if "train" in run else {})
    options = lab_files.read_lab(lab)["run"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["build/bin/train", *options.split(), "--max_steps", "3", "--logging_steps", "1", "--metrics", f"{folder}/m"], check=True,
                       stdout=subprocess.DEVNULL)
        facts = bets.facts_of(f"{folder}/m")
    runs = bets.beside(lab, "build/bin/train", lists, asked)
    for bet in lists["bets"]:
        check_number(bet, *bets.measure(bet, facts, runs, lists))


def check_number(bet, formula, measured):
    name = bet["name"]
    expect(bets.is_number(measured), f"{name}: measured {measured} {bet['unit']}")
    expect((formula is None) == (name in ONLY_MEASURED), f"{name}: by the formula {formula}")
    if formula is not None:
        expect(abs(measured - formula) <= NEAR.get(name, 1e-5) * abs(formula), f"{name}: the formula is right")


# ---- a handout ----------------------------------------------------------------------------------------

def run_with(text, *words):
    done = subprocess.run(["make", "--no-print-directory", *words], cwd=f"{OUT}/handout", input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          env=apart("LABS"))
    return done.returncode, done.stdout


def check_handout():
    folder, mine = f"{OUT}/handout", f"{OUT}/handout/labs/03_accumulate/my_bets03.json"
    status, said = make("handout", "LAB=03", "SOLUTIONS=none", f"OUT={folder}")
    expect(status == 0, f"the handout is cut: {said.strip()[-200:]}")
    expect(os.path.exists(f"{folder}/labs/03_accumulate/bets.json") and not os.path.exists(f"{folder}/labs/04_checkpoint/bets.json"),
           "it has the bets of its labs, and of no later one")
    give_objects(folder)
    status, said = run_with("30\nabc\n1.1\n", "bet03")
    expect(status == 0 and said.count("is not a number") == 1 and "2 of 3 bets are made" in said, f"make bet03 asks {said[-200:]}")
    status, said = run_with("", "lab03")
    expect(status == 0 and "lab 03 runs with your lab 00, and labs/00_bytes/bytes.c has 5 tasks to do: make lab00" in said,
           f"with a stub of lab 00 the run says what it waits for {said[-300:]}")
    for lab in (each for each in proof.labs() if each[:2] <= "03"):
        for name in proof.files(lab):
            write(f"{folder}/labs/{lab}/{name}", proof.solution(lab, name))
    status, said = run_with("", "lab03")
    expect(status == 0 and row(said, "peak of 4 x 2")[0] == "30" and row(said, "64 micro-batches") == ("1.1", "1", "1")
           and row(said, "time of 1 x 64")[0] == "-", f"the table {said[-900:]}")
    status, said = run_with("", "lab03", "ARGS=--max_steps 1")
    expect(status == 0 and "Bets:" not in said, "a run with other options is another run")
    run_with("", "clean")
    expect(len(json.loads(read(mine))["bets"]) == 2, "make clean loses none")
    check_hand_in(folder)


def check_hand_in(folder):
    os.chdir(folder)
    with_bets = handin.pack("03_accumulate", f"{OUT}/03-anna.tar.gz")
    os.unlink("labs/03_accumulate/my_bets03.json")
    without = handin.pack("03_accumulate", f"{OUT}/03-bert.tar.gz")
    expect(with_bets == ["accumulate.c", "my_bets03.json"] and without == ["accumulate.c"], f"all that is packed is named {with_bets} {without}")
    os.chdir(KIT)
    for name, bets_made in (("anna", 2), ("bert", 0)):
        os.makedirs(f"{OUT}/in-{name}")
        status, said = run("python3", "-I", "tools/hand_in_reader.py", f"{OUT}/03-{name}.tar.gz", f"{OUT}/in-{name}", "03_accumulate", "accumulate.c")
        taken = json.loads(said) if status == 0 else {"bets": None, "files": {}}
        expect(status == 0 and len(taken["bets"]) == bets_made and set(taken["files"]) == {"accumulate.c"} and len(taken["notes"]) == 1
               and os.listdir(f"{OUT}/in-{name}") == ["accumulate.c"],
               f"{name}: {bets_made} bets come with the hand-in {said[:300]}")


# ---- a class --------------------------------------------------------------------------------------------

def record_of(name, entries):
    return {"lab": "03_accumulate", "name": name, "checks": [{"name": "a", "state": "pass", "points": 1}], "hand_in": {"bets": entries}}


def check_report():
    of_one, of_time = "64 micro-batches", "time of 1 x 64"
    people = [record_of(f"s{i}",
                        {of_one: {"bet": bet, "measured": 1},
                         of_time: {"bet": 15 if bet == 1.5 else bet, "measured": 150 if bet == 1.5 else 10 * bet},
                         "<script>alert(1)</script>": {"bet": 1}})
              for i, bet in enumerate((1, 1.05, 1.5, 2, 64))]
    people += [record_of("none", {}), record_of("unmeasured", {of_one: {"bet": 1}})]
    records = [reader.read(person) for person in people]
    found = {bets["name"]: bets for bets in report.bets_of("03_accumulate", records)}
    one = found[of_one]
    expect((one["count"], one["low"], one["middle"], one["high"], one["measured"]) == (6, "1.012", "1.275", "1.875", "1"),
           f"count, quartiles, measured: {one}")
    expect(one["near"] == 50 and abs(one["far"] - 500 / 6) < 1e-9, f"within a tenth, within a factor of 2: {one['near']} {one['far']}")
    expect(found[of_time]["near"] == 0 and found[of_time]["far"] == 0, "a time is compared with the student's own")
    expect(list(found) == [of_time, of_one], f"what fewest came near to is the first; questions without a bet are not there {list(found)}")
    page = report.class_page(report.templates(), "03_accumulate", [record | {"page": "x", "file": "x"} for record in records], [])
    expect("what to teach again" in page and "<b>64 micro-batches</b>" in page and "alert(1)" not in page,
           "the page has them, and no name that the lab does not ask about")
    page = report.class_page(report.templates(), "03_accumulate", [reader.read(record_of("none", {})) | {"page": "x"}], [])
    expect("teach again" not in page, "a class without bets has no such table")
    for bad in ([], {"a": 5}, {"a": {"bet": "5"}}, {"a": {"bet": None}}, {"a": {"bet": 1e300}}, {str(i): {} for i in range(65)}):
        try:
            reader.read(record_of("bad", bad))
            expect(False, f"a record with {str(bad)[:40]} is bad")
        except reader.BadRecord as error:
            expect("\n" not in str(error), f"a record with {str(bad)[:40]}: {error}")


def grade_class():
    status, said = make("grade-all", "LAB=00", f"IN={OUT}/class", f"OUT={OUT}/graded", "JOBS=2", "BLAME=0", "MIN_SANDBOX=1")
    return status, said, {name: json.loads(read(f"{OUT}/graded/records/{name}.json")) for name in ("anna", "carl")}


def check_class():
    """Graded for real: bets come into the record, bad ones cost no point, and changed ones grade nothing again."""
    for name, text in (("anna", '{"lab": "00_bytes", "bets": {"activations": {"bet": 40, "measured": 80}}}'), ("carl", "<script>alert(1)</script>")):
        os.makedirs(f"{OUT}/class/{name}/labs/00_bytes")
        write(f"{OUT}/class/{name}/labs/00_bytes/bytes.c", proof.solution("00_bytes", "bytes.c"))
        write(f"{OUT}/class/{name}/labs/00_bytes/my_bets00.json", text)
    status, said, records = grade_class()
    expect(status == 0 and [record["score"] for record in records.values()] == [100, 100], f"both have all points {said[-200:]}")
    expect(records["anna"]["hand_in"]["bets"] == {"activations": {"bet": 40, "measured": 80}}, "the bets of the one are in the record")
    expect(records["carl"]["hand_in"]["bets"] == {} and "its bets cannot be read: they are left out" in records["carl"]["hand_in"]["notes"],
           "of the other a note is")
    write(f"{OUT}/class/anna/labs/00_bytes/my_bets00.json", '{"lab": "00_bytes", "bets": {"activations": {"bet": 41, "measured": 80}}}')
    status, said, records = grade_class()
    expect(status == 0 and "0 graded, 2 had a record" in said and records["anna"]["hand_in"]["bets"]["activations"]["bet"] == 41
           and records["anna"]["score"] == 100,
           f"other bets are taken, and nothing is graded again {said[-200:]}")
    status, said = make("report", f"OUT={OUT}/graded")
    page = read(f"{OUT}/graded/report/index.html")
    expect(status == 0 and re.search(r"<b>activations</b>.*?>1<.*?>41<.*?>80<.*?>0 %<.*?>100 %<", page, re.S) and "alert(1)" not in page,
           "the report shows them")


# What a student's file may not be, with the lab 03_accumulate.
BAD_BETS = [b"", b"{", b"[]", b"5", b"null", b"[" * 15000, b"\xff\xfe", b'{"lab": "03_accumulate"}', b'{"lab": "03_accumulate", "bets": []}',
            b'{"lab": "04_checkpoint", "bets": {}}', b'{"lab": "03_accumulate", "bets": {"a": 5}}',
            b'{"lab": "03_accumulate", "bets": {"a": {"bet": "5"}}}',
            b'{"lab": "03_accumulate", "bets": {"a": {"bet": NaN}}}', b'{"lab": "03_accumulate", "bets": {"a": {"bet": 1e999}}}',
            b'{"lab": "03_accumulate", "bets": {"a": {"bet": true}}}',
            b'{"lab": "03_accumulate", "bets": {"a": {"text": 5}}}', b'{"lab": "03_accumulate", "bets": {"<b>": {"bet": 5}}}',
            b'{"lab": "03_accumulate", "bets": {"a": {"bet": ' + b"9" * 6000 + b"}}}",
            b'{"lab": "03_accumulate", "bets": {"a": {"bet": 5}}}' + b" " * 20000,
            json.dumps({"lab": "03_accumulate", "bets": {str(i): {"bet": 1} for i in range(33)}}).encode(), None]


def check_reader():
    """Whatever a file of bets is, the hand-in is taken and loses nothing but that file."""
    for bad in BAD_BETS:
        expect(hand_in_reader.read_bets(bad, "03_accumulate") == ({}, ["its bets cannot be read: they are left out"]), f"left out: {str(bad)[:60]}")
    folder = f"{OUT}/odd"
    for what in ("link", "pipe", "folder", "huge", "twice"):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(f"{folder}/in/b")
        os.makedirs(f"{folder}/out")
        write(f"{folder}/in/accumulate.c", "int x;\n")
        path = f"{folder}/in/my_bets03.json"
        if what == "link":
            os.symlink("/etc/passwd", path)
        elif what == "pipe":
            os.mkfifo(path)
        elif what == "folder":
            os.makedirs(path)
        else:
            write(path, '{"lab": "03_accumulate", "bets": {}}' + " " * (2 << 20 if what == "huge" else 0))
        if what == "twice":
            os.makedirs(f"{folder}/in/c")
            os.rename(path, f"{folder}/in/b/my_bets03.json")
            write(f"{folder}/in/c/my_bets03.json", '{"lab": "03_accumulate", "bets": {}}')
        taken = hand_in_reader.unpack(f"{folder}/in", f"{folder}/out", "03_accumulate", ["accumulate.c"])
        expect(list(taken["files"]) == ["accumulate.c"] and taken["bets"] == {} and (len(taken["notes"]) == 1) == (what != "twice")
               and os.listdir(f"{folder}/out") == ["accumulate.c"],
               f"a {what} in place of bets costs nothing: {taken['notes']}")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    make_lab()
    check_asking()
    check_bad_input()
    check_interrupt()
    check_table()
    check_record()
    check_one()
    check_no_numbers()
    check_report()
    check_reader()
    for lab in proof.labs():
        if bets.declared(lab):
            check_lab(lab)
    check_class()
    check_handout()
    expecting.end("bets")


if __name__ == "__main__":
    sys.exit(main())
