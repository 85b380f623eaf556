"""The commands that a page shows, and what it says they print: read from the page, run, and compared.

In an indented block a line that begins with `$ ` is a command. The lines below it are what it prints: they must come in this
order, perhaps with others between them. `...` in such a line stands for any text, and a last line `[2]` is the exit status, where
that is not 0. A line that begins with `make ` is a command of which the page says no more.
"""
import re
import shlex
import subprocess
import time

from expecting import expect
from handout_test import read
from making import apart


class Shown:
    """One command of a page."""

    def __init__(self, line):
        self.command, self.printed, self.status = line, [], 0

    def add(self, line):
        status = re.fullmatch(r"\[(\d+)\]", line)
        if status:
            self.status = int(status[1])
        elif line not in ("", "..."):
            self.printed.append(line)

    def words(self):
        """As a shell takes them, without the comment that says how long it takes."""
        return shlex.split(self.command, comments=True)

    def missing(self, said):
        """The first line that is not printed after those before it; or None."""
        place = 0
        for line in self.printed:
            pattern = r"\s+".join(re.escape(word).replace(r"\.\.\.", ".*?") for word in line.split())
            found = re.compile(rf"^\s*{pattern}\s*$", re.M).search(said, place)
            if not found:
                return line
            place = found.end()
        return None


def commands(page):
    """All that a page shows, in order."""
    found, open_block = [], False
    for line in page.splitlines():
        inside, text = line.startswith("    "), line.strip()
        if inside and re.match(r"\$ |make ", text):
            found.append(Shown(text.removeprefix("$ ")))
            open_block = text.startswith("$ ")
        elif inside and open_block:
            found[-1].add(text)
        elif text:
            open_block = False
    return found


def run(shown, folder):
    """Runs it as a reader would who types it in `folder`, and says how long it took."""
    began = time.monotonic()
    done = subprocess.run(["bash", "-c", shown.command], cwd=folder, env=apart(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    took, missing = time.monotonic() - began, shown.missing(done.stdout)
    why = f"status {done.returncode}" if done.returncode != shown.status else missing and f"not printed: {missing}"
    expect(not why, f"{shown.command.split(' #')[0]}  ({took:.1f} s)" + (f": {why}\n{done.stdout[-2000:]}" if why else ""))


def walk(path, folder):
    """Every command of a page, one after the other."""
    shown = commands(read(path))
    expect(len(shown) > 0, f"{path} shows {len(shown)} commands")
    for each in shown:
        run(each, folder)
