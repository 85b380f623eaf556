#!/usr/bin/env python3
"""tools/prove.py with proofs of its own, in a repository of its own: what it runs, leaves out, resumes and writes.

    tools/prove_test.py         ends with `prove_test: all good`
"""
import importlib
import os
import re
import subprocess
import sys
import tempfile
import time

PROVE = os.path.abspath("tools/prove.py")

# A proof leaves a line in build/ran; `bad` fails while there is no file build/mended.
PROOFS = """
import collections
Proof = collections.namedtuple("Proof", "name files command needs reason always", defaults=("", "", False))
def all_proofs():
    ran = "mkdir -p build; echo {0} >>build/ran; "
    return [Proof("a", ("a/",), ran.format("a") + "sleep 1"), Proof("b", ("b/", "a/*.h"), ran.format("b")),
            Proof("bad", ("c/",), ran.format("bad") + "echo FAIL: it is bad; test -e build/mended"),
            Proof("lacks", ("c/",), ran.format("lacks"), "false", "it is not here")]
"""

wrong = []


def expect(good, what):
    if not good:
        wrong.append(what)
        print(f"prove_test: {what}")


def write(path, text=""):
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def commit(*paths):
    """A commit that changes these files. Returns its name."""
    for path in paths:
        write(path, f"{path} {os.urandom(4).hex()}")
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "change"], check=True)
    return subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout


def prove(*words):
    """Its status, what it said, and which proofs ran, in their order."""
    write("build/ran")
    done = subprocess.run([sys.executable, PROVE, "--proofs", "proofs.py", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    with open("build/ran", encoding="utf-8") as file:
        return done.returncode, done.stdout, file.read().split()


def check_failure():
    status, said, ran = prove()
    expect(status == 1 and sorted(ran) == ["a", "b", "bad"], f"all run, one fails: {status}, {ran}")
    expect(said.endswith("prove: 2 passed, 1 failed\n"), f"the last line counts: {said[-60:]}")
    expect(said.count("FAIL: it is bad") == 3, "what a proof said stands below it, and at the end")
    expect("left out  lacks: it is not here" in said, "what cannot run is said")
    expect(" s)" in said, "each proof says how long it took")


def check_limit():
    status, said, ran = prove("--minutes", "0")
    expect(status == 1 and not ran and "not run, for the time is over: 4" in said, "without time nothing runs, and nothing has passed")
    status, said, ran = prove("--minutes", "0.005", "--only", "a")   # a takes longer: what is begun is ended
    expect(said.count("(1 s)") + said.count("not run") >= 1, f"a proof that was begun ends: {said}")
    for _ in range(20):   # the order is another one for each commit
        commit("d/x")
        status, said, ran = prove("--minutes", "0.005")
        if ran == ["a"]:
            break
    listed = re.search(r"not run, for the time is over: \d\n((?:    \w+\n)+)", said)
    expect(listed and {"b", "bad"} <= set(listed[1].split()) <= {"b", "bad", "lacks"}, f"those after it are listed: {said}")
    expect(said.endswith("prove: 1 passed, 0 failed\n") and status == 0, "and have not passed")


def check_stopped():
    """A proof that runs long after the minutes is stopped, with all that it has started, and has neither passed nor failed."""
    write("slow.py", PROOFS + """
def all_proofs():
    return [Proof("slow", ("a/",), "echo $$ >build/group; sleep 1000 & wait")]
""")
    program = f"import sys; sys.path.insert(0, {os.path.dirname(PROVE)!r}); import prove; prove.MORE = 1; sys.exit(prove.main())"
    done = subprocess.run([sys.executable, "-c", program, "--proofs", "slow.py", "--minutes", "0.001"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=60)
    expect("prove: stopped  slow (" in done.stdout and "the time is over: 1\n    slow\n" in done.stdout, f"it is stopped: {done.stdout}")
    expect(done.stdout.endswith("prove: 0 passed, 0 failed\n") and done.returncode == 1, "and has neither passed nor failed")
    with open("build/group", encoding="utf-8") as file:
        group = file.read().strip()
    for _ in range(50):
        left = subprocess.run(["pgrep", "-r", "RSD", "-g", group], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
        if not left:
            break
        time.sleep(0.1)
    expect(not left, f"nothing of it runs on: {left}")
    os.remove("slow.py")
    os.remove("build/group")


def check_always():
    """A proof that always runs comes before all others, whatever has changed, and is not a sample."""
    write("always.py", PROOFS + """
rest = all_proofs
def all_proofs():
    return rest() + [Proof("last", ("z/",), "true", always=True)]
""")
    for _ in range(6):   # the order of the others is another one for each commit
        commit("a/x")
        said = subprocess.run([sys.executable, PROVE, "--proofs", "always.py", "--list"], stdout=subprocess.PIPE, text=True, check=False).stdout
        expect(said.split("\n")[0].split()[-1] == "last", f"it comes first: {said}")
    os.remove("always.py")
    commit()


def check_changes():
    """What has changed comes first; what no proof names, or an unknown commit, changes all."""
    def first():
        said = prove("--list")[1]
        return {line.split()[-1] for line in said.splitlines() if line.startswith("touched")}
    everything = {"a", "b", "bad", "lacks"}
    expect(first() == everything, "without .ci/proved everything has changed")
    write(".ci/proved", commit("a/x"))
    expect(first() == set(), f"nothing has changed: {first()}")
    commit("a/deep/x.h")
    expect(first() == {"a"}, f"a folder is all in it, a pattern what is right in it: {first()}")
    expect(prove("--list")[1].startswith("touched  a\n"), "touched proofs come first")
    write("b/new")
    expect(first() == {"a", "b"}, "a file that is not committed counts")
    commit("unknown/x")
    expect(first() == everything, "a file that no proof names touches all")
    write(".ci/proved", "0123456789" * 4 + "\n")
    expect(first() == everything, "a commit that git does not know: all has changed")
    os.remove(".ci/proved")


def check_all():
    head = commit("a/y")
    ran = [prove("--all", "--shard", f"{k}/3")[2] for k in (1, 2, 3)]
    expect(ran == [["a"], ["b"], ["bad"]], f"each shard has its part: {ran}")
    status, said, ran = prove("--all")
    expect(ran == ["bad"] and said.endswith("prove: 2 passed, 1 failed\n"), f"what has passed is not run again: {ran}")
    expect(not os.path.exists(".ci/proved"), "one has failed: it is not proved")
    write("build/mended")
    status, said, ran = prove("--all", "--shard", "3/3")
    expect(status == 0 and ran == ["bad"], f"what had failed runs again: {ran}")
    expect(os.path.exists(".ci/proved") and open(".ci/proved", encoding="utf-8").read() == head, "all shards have passed: the commit is written")
    commit()
    status, said, ran = prove("--all")
    expect(status == 0 and ran == [], "the commit of .ci/proved has the same tree")
    os.remove(".ci/proved")
    write("a/dirty")
    status, said, ran = prove("--all")
    expect(ran == ["a"] and status == 0 and not os.path.exists(".ci/proved"), f"what a new file touches is proved anew; of no commit, it is not written: {ran}")
    commit()
    ran = prove("--all")[2]
    expect(ran == [] and os.path.exists(".ci/proved"), f"the same contents, now in a commit: {ran}")
    commit("unknown/y")
    expect(prove("--all")[2] == ["a", "b", "bad"], "a file that no proof names is one of all")
    expect(prove("--shard", "4/3", "--all")[0] == 2 and prove("--shard", "1/3")[0] == 2, "a shard that is none")


def check_list():
    """What tools/proofs.py names is there: files that have moved would no longer be seen."""
    sys.path.insert(0, "tools")
    proofs = importlib.import_module("proofs").all_proofs()
    patterns = {pattern for proof in proofs for pattern in proof.files if "*" not in pattern}
    programs = {word for proof in proofs for word in re.findall(r"[\w/]+\.(?:py|sh)\b", f"{proof.command} {proof.needs}")}
    gone = sorted(path for path in patterns | programs if not os.path.exists(path))
    expect(not gone, f"tools/proofs.py names what is not there: {' '.join(gone)}")


def main():
    check_list()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run(["git", "init", "-q"], check=True)
        write(".gitignore", "build/\n")
        write("proofs.py", PROOFS)
        commit("a/x", "b/x", "c/x")
        for check in (check_failure, check_limit, check_stopped, check_always, check_changes, check_all):
            check()
        os.chdir("/")
    print(f"prove_test: {len(wrong)} wrong" if wrong else "prove_test: all good")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
