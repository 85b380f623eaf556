#!/usr/bin/env python3
"""Writes the recipe by which `grade` compiles and links a hand-in: recipe.py FILE.json HEADERS.sum, from lines of make.

Each line is a name and a text. `c`, `cu` and `link:NAME`, for each program of the lab, are command lines with {kit} for
this folder; `read` and `linked` are lists of paths; `kit` is the path of the program that runs without a hand-in, if
the lab has one.
"""
import json
import os
import shlex
import sys

from headers import write


def main():
    path, sum_path = sys.argv[1:]
    kit = os.getcwd()
    recipe = {"link": {}}
    for line in sys.stdin:
        name, _, text = line.strip().partition(" ")
        if name in ("read", "linked"):
            recipe[name] = [os.path.join(kit, word) for word in text.split()]
        elif name == "kit":
            recipe[name] = os.path.join(kit, text) if text else None
        elif name.startswith("link:"):
            recipe["link"][name.removeprefix("link:")] = text.replace("{kit}", shlex.quote(kit))
        else:
            recipe[name] = text.replace("{kit}", shlex.quote(kit))
    with open(sum_path, encoding="ascii") as file:
        recipe["headers"] = file.read().strip()
    write(path, (json.dumps(recipe, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
