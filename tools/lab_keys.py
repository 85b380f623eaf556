#!/usr/bin/env python3
"""The page about lab.json, from its schema: docs/lab_json.md.

    tools/lab_keys.py          writes the page
    tools/lab_keys.py --check  is it what the schema says, and is every lab.json of the kit as the schema says?
"""
import argparse
import glob
import json
import sys

import jsonschema

from class_folder import write_whole

SCHEMA = "grader/schemas/lab.json"
PAGE = "docs/lab_json.md"
LABS = ("labs/*/lab.json", "grader/proof/example/labs/*/lab.json")
HEAD = """Every key of lab.json {#lab_json}
=====================

Written by `tools/lab_keys.py` from `grader/schemas/lab.json`: do not edit. A lab's `lab.json` stands beside its page, and is all that the kit knows of the
lab: make, the grader, handouts and the book read it. `make` holds the ones of `LABS=` to the schema, and ends with exit status 2 and a line that names file
and key. @ref first_lab makes one.
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def form(schema):
    """The type of a value, in words."""
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    kind = schema["type"]
    if kind == "array":
        return f"list of {form(schema['items'])}s"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"{form(schema['additionalProperties'])} by name".replace("by name by name", "by name, by name")
    return {"string": "text", "boolean": "true or false", "integer": "whole number"}.get(kind, kind)


def rows(schema):
    yield "| key | value | |"
    yield "|---|---|---|"
    for name, value in schema["properties"].items():
        needed = ". Required" if name in schema["required"] else ""
        yield f"| `{name}` | {form(value)} | {value['description']}{needed} |"


def page():
    schema = read(SCHEMA)
    holes = schema["properties"]["holes"]["items"]
    return "\n".join([HEAD, *rows(schema), "\nEach of `holes`:\n", *rows(holes)]) + "\n"


def problems():
    with open(PAGE, encoding="utf-8") as file:
        if file.read() != page():
            yield f"{PAGE} is not current: tools/lab_keys.py writes it"
    checker = jsonschema.Draft202012Validator(read(SCHEMA))
    for path in sorted(path for pattern in LABS for path in glob.glob(pattern)):
        for error in checker.iter_errors(read(path)):
            yield f"{path}: {error.json_path}: {error.message}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="only check, write nothing")
    if not parser.parse_args().check:
        write_whole(PAGE, page().encode())
        return
    found = list(problems())
    print("\n".join(found) or "lab.json: as the schema and the page say")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
