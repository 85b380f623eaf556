#!/usr/bin/env python3
"""What grading prints, in the language of the course: tools/say.py COMMAND...

Runs the command, and prints its standard output line by line, each in the other language as far as it has it. Ends as the
command does. In English the command takes this process's place.
"""
import os
import re
import subprocess
import sys

from exports import language

ROW = re.compile(r"(  \S+ +\S+  )(\S+(?: \S+)?)( +[\d.]+ s   )(.*)", re.S)   # of a table: name, points, how it ended, seconds, title


def line_of(line, spoken):
    row = ROW.fullmatch(line)
    return f"{row[1]}{spoken.said(row[2])}{row[3]}{spoken.said(row[4])}" if row else spoken.said(line)


def main():
    command = sys.argv[1:]
    spoken = language.here()
    if spoken is language.ENGLISH:
        os.execvp(command[0], command)
    sys.stdout.reconfigure(errors="replace")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout:
            print(line_of(line.rstrip("\n"), spoken), flush=True)
    sys.exit(process.returncode if process.returncode >= 0 else 128 - process.returncode)


if __name__ == "__main__":
    main()
