#!/usr/bin/env python3
"""Holds .github/workflows/*.yml against the kit: what a step runs is there, and what is published is what `make docs` writes.

Needs PyYAML, which yamllint brings along.
"""
import glob
import os
import re
import subprocess
import sys

try:
    import yaml
except ImportError:   # Debian's Python has it, where another one comes first
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])


def mistakes(path):
    with open(path, encoding="utf-8") as file:
        flow = yaml.safe_load(file)
    jobs = flow["jobs"]
    for name, job in jobs.items():
        if "timeout-minutes" not in job:
            yield f"job {name} has no limit of time"
        for needed in [job["needs"]] if "needs" in job else []:
            if needed not in jobs:
                yield f"job {name} needs {needed}, which is not there"
        for step in job["steps"]:
            yield from of_step(step)
    if jobs["deploy"]["permissions"] != {"pages": "write", "id-token": "write"}:
        yield "deploy-pages wants to write pages and id-token, and nothing else"


def of_step(step):
    if "uses" in step and not re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]):
        yield f"{step['uses']}: an action of GitHub's own, with its major version"
    if "upload-pages-artifact" in step.get("uses", "") and step["with"]["path"] != published():
        yield f"{step['with']['path']} is published, and make docs writes {published()}"
    tool, *words = step.get("run", "make print-build").split()
    if tool == "make" and subprocess.run(["make", "-n", *words], capture_output=True, check=False).returncode:
        yield f"`{step['run']}` is not a target"
    if tool != "make" and not os.access(tool, os.X_OK):
        yield f"`{step['run']}`: {tool} is not a program of the kit"


def published():
    with open("docs/docs.mk", encoding="utf-8") as file:
        return re.search(r'@echo "(.*)/index\.html"', file.read())[1]


if __name__ == "__main__":
    found = [f"{path}: {mistake}" for path in sorted(glob.glob(".github/workflows/*.yml")) for mistake in mistakes(path)]
    print(*found or ["workflows: good"], sep="\n")
    sys.exit(bool(found))
