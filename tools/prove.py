#!/usr/bin/env python3
"""The long proofs: what make test leaves out because it takes too long for every day. CI runs both.

    tools/prove.py [--minutes 30]       what has changed since the last full proof, then a sample of the rest
    tools/prove.py --all [--shard 2/3]  every proof, or every third one; goes on where it stopped
    tools/prove.py --list               what --minutes would run, in which order

.ci/proved names the commit at which all was proved last. The few that always run come first, then those whose files
have changed since; the order is another one for each commit, so that what time cuts off is not always the same. When
the minutes are over no proof is started, and the one that runs has five more; those not run to their end are listed,
and have not passed.

What passed is kept in build/prove/, by the contents of the files on which it depends: --all leaves that out. When all
have passed at a tree that is committed, it writes .ci/proved. Ends with `prove: N passed, N failed`.
"""
import argparse
import fnmatch
import glob
import hashlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time

from making import apart

PROVED = ".ci/proved"
OUT = "build/prove"
KEPT = 40  # lines of a proof that failed
MORE = 300  # seconds that a proof has after the minutes, if it has begun within them


# ---- what has changed ---------------------------------------------------------------------------------

def git(*words):
    done = subprocess.run(["git", *words], capture_output=True, check=False)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def not_committed():
    """Files of the tree that differ from the commit, or are not in it."""
    listed = (git("diff", "--name-only", "-z", "HEAD") or "") + (git("ls-files", "-oz", "--exclude-standard") or "")
    return {path for path in listed.split("\0") if path and path != PROVED}


def tree():
    """The files, each with a word that changes with its contents: that of git, also where it is not committed."""
    files = {}
    for line in (git("ls-tree", "-rz", "HEAD") or "").split("\0")[:-1]:
        entry, path = line.split("\t", 1)
        files[path] = entry.split()[2]
    for path in not_committed():
        files.pop(path, None)
        if os.path.isfile(path):
            files[path] = (git("hash-object", "--", path) or "").strip()
    return files


def changed_files():
    """The files that differ from the last full proof; None where that is not known."""
    if not os.path.exists(PROVED):
        return None
    with open(PROVED, encoding="utf-8") as file:
        commit = file.read().strip()
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        return None
    listed = git("diff", "--name-only", "-z", commit, "HEAD")
    return None if listed is None else {path for path in listed.split("\0") if path} - {PROVED} | not_committed()


def names(pattern, path):
    """`folder/` is all that is in it, `folder/*.c` only what is right in it."""
    if pattern.endswith("/"):
        return path.startswith(pattern)
    return pattern.count("/") == path.count("/") and fnmatch.fnmatchcase(path, pattern)


def depends(proof, path):
    return any(names(pattern, path) for pattern in proof.files)


def touched(proofs, changed):
    """The names of the proofs that the changed files can have touched. A file that no proof names touches all."""
    if changed is None or any(not any(depends(proof, path) for proof in proofs) for path in changed):
        return {proof.name for proof in proofs}
    return {proof.name for proof in proofs if any(depends(proof, path) for path in changed)}


def in_order(proofs, changed):
    commit = (git("rev-parse", "HEAD") or "").strip()
    first = touched(proofs, changed)
    return sorted(proofs, key=lambda proof: (not proof.always, proof.name not in first,
                                             hashlib.sha256(f"{commit} {proof.name}".encode()).digest()))


# ---- what has passed ----------------------------------------------------------------------------------

class State:
    """What was proved, and of which contents: lines of JSON, of which the last one for a proof and contents counts."""

    def __init__(self, proofs):
        self.tree = tree()
        self.unnamed = {path for path in self.tree if path != PROVED and not any(depends(proof, path) for proof in proofs)}
        self.path = f"{OUT}/proved.jsonl"
        self.lines = {}
        for path in sorted(glob.glob(f"{OUT}/*.jsonl")):
            with open(path, encoding="utf-8") as file:
                self.lines.update({(line["name"], line["of"]): line for line in map(json.loads, file)})

    def contents(self, proof):
        """A name for what a proof runs and all files on which it depends; one that no proof names is one of them."""
        name = hashlib.sha256(f"{proof.command}\0{proof.needs}\0".encode())
        for path, word in sorted(self.tree.items()):
            if path in self.unnamed or path != PROVED and depends(proof, path):
                name.update(f"{path}\0{word}\0".encode())
        return name.hexdigest()[:16]

    def line(self, proof):
        return self.lines.get((proof.name, self.contents(proof)), {"verdict": "not run", "seconds": 0.0})

    def add(self, proof, verdict, seconds=0.0):
        if tree() != self.tree:
            return  # the files were changed meanwhile: of which it is true is not known
        line = {"name": proof.name, "of": self.contents(proof), "verdict": verdict, "seconds": round(seconds, 1)}
        self.lines[proof.name, line["of"]] = line
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


# ---- running ------------------------------------------------------------------------------------------

class Run:
    def __init__(self, state):
        self.state = state
        self.passed, self.failed, self.failures = 0, 0, []
        os.makedirs(OUT, exist_ok=True)
        # A proof's own make is not part of the one that started us, and has none of its settings.
        self.environment = apart()

    def shell(self, command, output, seconds=None):
        """Its status; None where it was stopped, with all that it had started, because it took longer than `seconds`."""
        with subprocess.Popen(["sh", "-ec", command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                              env=self.environment, start_new_session=True) as process:
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                if process.returncode is None:   # also after Ctrl-C, which a session of its own does not get
                    os.killpg(process.pid, signal.SIGKILL)

    def prove(self, proof, limit=None):
        """Returns whether it ran to its end, or could not run here at all."""
        if proof.needs and self.shell(proof.needs, subprocess.DEVNULL) != 0:
            self.state.add(proof, "left out")
            print(f"prove: left out  {proof.name}: {proof.reason}", flush=True)
            return True
        log = f"{OUT}/{re.sub(r'[^a-z0-9]+', '-', proof.name.lower()).strip('-')}.log"
        started = time.monotonic()
        with open(log, "wb") as output:
            status = self.shell(proof.command, output, limit)
        seconds = time.monotonic() - started
        if status is None:
            print(f"prove: stopped  {proof.name} ({seconds:.0f} s)", flush=True)
            return False
        good = status == 0
        verdict = "good" if good else "FAILED"
        self.state.add(proof, verdict, seconds)
        self.passed += good
        self.failed += not good
        print(f"prove: {verdict}  {proof.name} ({seconds:.0f} s)", flush=True)
        if not good:
            self.tell(proof, log)
        return True

    def tell(self, proof, log):
        """The end of what a proof has said, and for the end of all what matters of it."""
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        print(*lines[-KEPT:], sep="\n", flush=True)
        matters = [line for line in lines if re.search("FAIL|WRONG|survived|error:", line)]
        self.failures += [f"prove: FAILED  {proof.name}:", *matters[:12], *lines[-12:]]

    def some(self, proofs, minutes):
        """Starts none when the time is over, and stops one that runs long after it. Returns those not run to their end."""
        end = time.monotonic() + 60 * minutes
        for i, proof in enumerate(proofs):
            if time.monotonic() >= end or not self.prove(proof, end + MORE - time.monotonic()):
                return proofs[i:]
        return []

    def every(self, proofs):
        for proof in proofs:
            if self.state.line(proof)["verdict"] == "good":
                self.passed += 1
                print(f"prove: good  {proof.name} ({self.state.line(proof)['seconds']:.0f} s, before)", flush=True)
            else:
                self.prove(proof)

    def end(self, not_run):
        if not_run:
            print(f"prove: not run, for the time is over: {len(not_run)}")
            print(*(f"    {proof.name}" for proof in not_run), sep="\n")
        # Once more, and last: of a long output often only the end is kept.
        print(*self.failures, sep="\n", end="\n" if self.failures else "")
        print(f"prove: {self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def write_proved(proofs, run):
    """Where all have passed at this tree, and it is that of a commit."""
    missing = [proof.name for proof in proofs if run.state.line(proof)["verdict"] not in ("good", "left out")]
    if missing:
        print(f"prove: of all proofs {len(missing)} have not passed at this tree: {PROVED} stays")
    elif not_committed() or tree() != run.state.tree:
        print(f"prove: all have passed, but the tree is not that of a commit: {PROVED} stays")
    else:
        os.makedirs(os.path.dirname(PROVED), exist_ok=True)
        with open(PROVED, "w", encoding="utf-8") as file:
            file.write(git("rev-parse", "HEAD"))
        print(f"prove: all have passed: {PROVED} is to be committed")


# ---- the command line ---------------------------------------------------------------------------------

def shard(text):
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text}: k/n is wanted, with k from 1 to n")
    return int(found[1]), int(found[2])


def load(path):
    spec = importlib.util.spec_from_file_location("proofs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    proofs = module.all_proofs()
    twice = [proof.name for i, proof in enumerate(proofs) if proof.name in (other.name for other in proofs[:i])]
    if twice:
        sys.exit(f"prove: two proofs have one name: {twice[0]}")
    return proofs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30, help="start no proof after so long, and stop it five minutes later")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--shard", type=shard, metavar="K/N", help="with --all: this part of the proofs")
    parser.add_argument("--only", default="", help="proofs with this in their name")
    parser.add_argument("--list", action="store_true", help="run nothing")
    parser.add_argument("--proofs", default=os.path.join(os.path.dirname(__file__), "proofs.py"), metavar="FILE")
    options = parser.parse_args()
    if options.shard and not options.all:
        parser.error("--shard is a part of --all")
    proofs, changed = load(options.proofs), changed_files()
    chosen = [proof for proof in (proofs if options.all else in_order(proofs, changed)) if options.only in proof.name]
    if options.shard:
        chosen = chosen[options.shard[0] - 1::options.shard[1]]
    if options.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)   # `| head` ends it without a word
        first = touched(proofs, changed)
        print(*(f"{'touched' if proof.name in first else 'sample '}  {proof.name}" for proof in chosen), sep="\n")
        return 0
    if not options.all:
        since = "everything counts as changed" if changed is None else f"{len(changed)} files have changed"
        print(f"prove: {since} since the last full proof: {len(touched(proofs, changed))} of {len(proofs)} proofs first", flush=True)
    run = Run(State(proofs))
    if not options.all:
        return run.end(run.some(chosen, options.minutes))
    run.every(chosen)
    if not options.only:
        write_proved(proofs, run)
    return run.end([])


if __name__ == "__main__":
    sys.exit(main())
