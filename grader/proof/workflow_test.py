#!/usr/bin/env python3
"""Holds .github/ against the kit: what a step of a workflow runs is there, what is published is what `make docs` writes, and forms for
issues ask for no seed. The workflow that `make classroom50` packs is one of them.

Needs PyYAML, which yamllint brings along.
"""
import glob
import json
import os
import re
import subprocess
import sys

try:
    import yaml
except ImportError:   # Debian's Python has it, where another one comes first
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])


def read(path):
    """A workflow that is packed is of some lab."""
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file.read().replace("@LAB@", "00_bytes").replace("@NUMBER@", "00"))


def mistakes(path):
    flow = read(path)
    jobs = flow["jobs"]
    for name, job in jobs.items():
        if "timeout-minutes" not in job:
            yield f"job {name} has no limit of time"
        for needed in [job["needs"]] if "needs" in job else []:
            if needed not in jobs:
                yield f"job {name} needs {needed}, which is not there"
        for step in job["steps"]:
            yield from of_step(step)
    if "deploy" in jobs and jobs["deploy"]["permissions"] != {"pages": "write", "id-token": "write"}:
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


# ---- forms for issues -------------------------------------------------------------------------------

FORMS = ".github/ISSUE_TEMPLATE"
KINDS = {"markdown", "input", "textarea", "checkboxes", "dropdown"}   # what GitHub can show


def mistakes_of_form(path):
    form = read(path)
    for key in ("name", "description", "body"):
        if not form.get(key):
            yield f"it has no {key}"
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    for field in form["body"]:
        if field["type"] not in KINDS or not field.get("attributes", {}).get("value" if field["type"] == "markdown" else "label"):
            yield f"a field that GitHub cannot show: {field}"
    ids = [field.get("id") for field in fields]
    if None in ids or len(set(ids)) < len(ids):
        yield "a field has no id, or two have one"
    if any(field.get("id") == "record" for field in fields):
        promises = [option for field in fields if field["type"] == "checkboxes" for option in field["attributes"]["options"]]
        if not any(option.get("required") and "seed" in option["label"] for option in promises):
            yield "it asks for a record, and not for a promise that there is no seed in it"
        if "record-to-share" not in json.dumps(form):
            yield "it asks for a record, and does not say how one is made"
    named = re.findall(r"(?<![\w/])make ([a-z-]+)", json.dumps(form))
    with open("tools/tools.mk", encoding="utf-8") as file:
        made = file.read()
    for goal in named:
        if f"\n{goal}:" not in made:
            yield f"`make {goal}` is not a target"


def published():
    with open("docs/docs.mk", encoding="utf-8") as file:
        return re.search(r'@echo "(.*)/index\.html"', file.read())[1]


if __name__ == "__main__":
    flows = [*sorted(glob.glob(".github/workflows/*.yml")), "tools/pack/github.yml"]
    forms = [path for path in sorted(glob.glob(f"{FORMS}/*.yml")) if not path.endswith("/config.yml")]
    found = [f"{path}: {mistake}" for paths, look in ((flows, mistakes), (forms, mistakes_of_form)) for path in paths for mistake in look(path)]
    found += [] if forms else [f"{FORMS}: there are no forms"]
    print(*found or ["workflows: good"], sep="\n")
    sys.exit(bool(found))
