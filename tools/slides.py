#!/usr/bin/env python3
"""The figures of the labs for slides: `make slides OUT=folder [LAB=03]`.

SVG files, each with a title, a description and its licence in it, README.md with the same in words, figures.json, LICENSE.
A figure's description is its alt text on the page of the lab.
"""
import json
import os
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree as xml

from arguments import Parser
from class_folder import Stopped, write_json, write_whole
from lab_files import all_labs, path_of
from labs import title

IMAGE = re.compile(r"!\[([^\]]*)\]\((\w[\w-]*\.svg)\)")
SVG, DC, CC, RDF = ("http://www.w3.org/2000/svg", "http://purl.org/dc/elements/1.1/", "http://creativecommons.org/ns#",
                    "http://www.w3.org/1999/02/22-rdf-syntax-ns#")
TERMS = "https://spdx.org/licenses/MIT.html"
README = """# Figures of Gradus

{rights}. MIT License: use, change and show them, in a course or elsewhere, and keep the notice in LICENSE with them: one line on a slide will do.
The description is for those who do not see a figure: give it to the slide as its alternative text.

| figure | lab | description |
|---|---|---|
{rows}
"""


def rights():
    """The copyright line of LICENSE, without its full stop."""
    with open("LICENSE", encoding="utf-8") as file:
        return next(line.strip() for line in file if line.startswith("Copyright"))


def figures(lab):
    """[(file, description)] of those on a lab's page."""
    with open(path_of(lab, "README.md"), encoding="utf-8") as page:
        found = [(name, alt.strip()) for alt, name in IMAGE.findall(page.read())]
    for name, alt in found:
        if not alt:
            raise Stopped(f"{path_of(lab, 'README.md')}: {name} has no description")
    return found


def with_licence(path, description, terms):
    """The figure with a description, and whose it is."""
    try:
        tree = xml.parse(path)
    except (OSError, xml.ParseError) as error:
        raise Stopped(f"{path}: {error}") from error
    root = tree.getroot()
    for old in root.findall(f"{{{SVG}}}desc") + root.findall(f"{{{SVG}}}metadata"):
        root.remove(old)
    desc, metadata = xml.Element(f"{{{SVG}}}desc"), xml.Element(f"{{{SVG}}}metadata")
    desc.text = description
    work = xml.SubElement(xml.SubElement(metadata, f"{{{RDF}}}RDF"), f"{{{CC}}}Work", {f"{{{RDF}}}about": ""})
    xml.SubElement(work, f"{{{DC}}}rights").text = terms
    xml.SubElement(work, f"{{{CC}}}license", {f"{{{RDF}}}resource": TERMS})
    root[1 if root.find(f"{{{SVG}}}title") is not None else 0:0] = [desc, metadata]
    return xml.tostring(root, encoding="utf-8", xml_declaration=True)


def write_all(folder, labs):
    terms, listed = rights(), []
    for lab in labs:
        for name, description in figures(lab):
            file = f"{lab}-{name}"
            write_whole(os.path.join(folder, file), with_licence(path_of(lab, name), description, terms))
            listed.append({"file": file, "lab": lab, "title": title(lab), "description": description, "rights": terms, "licence": "MIT"})
    if not listed:
        raise Stopped("these labs have no figure")
    write_json(os.path.join(folder, "figures.json"), listed)
    rows = "\n".join(f"| {row['file']} | {row['lab']} | {row['description'].replace('|', chr(92) + '|')} |" for row in listed)
    write_whole(os.path.join(folder, "README.md"), README.format(rights=terms, rows=rows).encode())
    shutil.copy("LICENSE", folder)
    return listed


def ours(folder):
    """Whether a folder was made by this program: nothing else is replaced."""
    try:
        with open(os.path.join(folder, "figures.json"), encoding="utf-8") as file:
            known = {row["file"] for row in json.load(file)} | {"figures.json", "README.md", "LICENSE"}
        return set(os.listdir(folder)) <= known
    except (OSError, ValueError, KeyError, TypeError):
        return False


def run(out, lab):
    if lab and lab not in all_labs("README.md"):
        raise Stopped(f"{lab}: there is no such lab")
    if os.path.lexists(out) and not ours(out):
        raise Stopped(f"{out} is there, and has something else in it: take another OUT")
    parent = os.path.dirname(out) or "."
    os.makedirs(parent, exist_ok=True)
    aside = tempfile.mkdtemp(prefix=".slides-", dir=parent)
    try:
        listed = write_all(aside, [lab] if lab else all_labs("README.md"))
        os.chmod(aside, 0o755)
        shutil.rmtree(out, ignore_errors=True)
        os.rename(aside, out)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    print(f"{out}: {len(listed)} figure{'s' * (len(listed) != 1)}")


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", required=True, help="folder, made anew")
    parser.add_argument("--lab", help="the figures of one lab")
    options = parser.parse_args()
    for prefix, name in (("", SVG), ("dc", DC), ("cc", CC), ("rdf", RDF)):
        xml.register_namespace(prefix, name)
    try:
        run(options.out.rstrip("/"), options.lab)
    except (Stopped, OSError) as error:
        print(f"slides: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
