#!/usr/bin/env python3
"""Writes the recipe by which `grade` compiles and links a hand-in: recipe.py FILE.json HEADERS.sum, from lines of make.

Each line is a name and a text: `c`, `cu`, `link` and `link-NAME` are command lines with {kit} for this folder; `read` and
`linked` are lists of paths.
"""
import json
import os
import shlex
import sys

from headers import write


def main():
    path, sum_path = sys.argv[1:]
    kit = os.getcwd()
    recipe = {}
    for line in sys.stdin:
        name, _, text = line.strip().partition(" ")
        if name in ("read", "linked"):
            recipe[name] = [os.path.join(kit, word) for word in text.split()]
        else:
            recipe[name] = text.replace("{kit}", shlex.quote(kit))
    with open(sum_path, encoding="ascii") as file:
        recipe["headers"] = file.read().strip()
    write(path, (json.dumps(recipe, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
