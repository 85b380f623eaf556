#!/usr/bin/env python3
"""What a lab asks in one term and not in another: tools/term_values.py check|headers|table|show [TERM] (docs/terms.md).

grader/labs/NN_topic/terms.json lists the lab's constants. Of each:

    "values"   the first is that of the kit as it stands; a term draws one of the others by a hash of its name. A value is a
               set of spellings: "is" in C, "says" in a message, and what else the lines below ask for
    "lines"    {file: [texts]}, in which [[is]] stands for that spelling of the present value, and [[other.is]] for the next
               value's. Each text is in its file with the present value, and is there with another value afterwards
    "traces"   texts that only the present value leaves in what a student reads: none may be left afterwards
    "checks"   those that a solution of another term must lose

From them grader/labs/NN_topic/term.h is made, which the lab's judge reads. No hand-in sees it: a rule that a header of the
kit gave a name would be followed by last year's solution, too.
"""
import argparse
import glob
import hashlib
import json
import os
import re
import signal
import sys

from lab_files import all_labs, files_of, path_of

COURSE_FILE, PAGE = "course.json", "docs/terms.md"
COURSE = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,31}")
SLOT = re.compile(r"\[\[(other\.)?(\w+)\]\]")
LIST, HEADER = "terms.json", "term.h"
HEADER_TOP = """/* Of {path}, by tools/term_values.py headers. */
/* clang-format off */
#ifndef {guard}
#define {guard}

#include "grader/terms.h"
"""
CONSTANT = """
/** {about} (task {task}). */
#define TERM_{name}_IS {value}
#define TERM_{name}_EACH \\
    {{{each}}}
#define TERM_{name} \\
    ((Term){{.now = {now}, .count = {count}, .says = {{ \\
        {says}}}}})
"""


class Wrong(Exception):
    """What of a list does not hold: one line."""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def labs_with_terms():
    return [lab for lab in all_labs() if os.path.isfile(path_of(lab, LIST, kind="grader/labs"))]


def constants_of(lab):
    return json.loads(read(path_of(lab, LIST, kind="grader/labs")))


# ---- drawing ------------------------------------------------------------------------------------------

def check_name(name):
    if not isinstance(name, str) or not COURSE.fullmatch(name):
        raise Wrong(f"'{name}' is not the name of a term: up to 32 letters, digits, dots, dashes, as 2027s")
    return name


def term_here():
    """The term of this repository, or None: the kit as it stands."""
    try:
        settings = json.loads(read(COURSE_FILE))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise Wrong(f"{COURSE_FILE} is not JSON: {error}") from None
    return check_name(settings["term"]) if isinstance(settings, dict) and "term" in settings else None


def drawn(term, lab, name, count):
    """The number of the value of a constant in a term: never 0, whose solution is public."""
    if term is None:
        return 0
    digest = hashlib.sha256(f"{term}/{lab}/{name}".encode()).hexdigest()
    return 1 + int(digest, 16) % (count - 1)


def draws(term, lab):
    """{constant: the number of its value}"""
    return {name: drawn(term, lab, name, len(constant["values"])) for name, constant in constants_of(lab).items()}


# ---- texts --------------------------------------------------------------------------------------------

def spelt(text, constant, number):
    """A text with that value in its slots."""
    values = constant["values"]

    def spelling(slot):
        value = values[(number + 1) % len(values) if slot[1] else number]
        if slot[2] not in value:
            raise Wrong(f"'{text}' asks for [[{slot[2]}]], which value {number} does not have")
        return value[slot[2]]
    return SLOT.sub(spelling, text)


def apart(path, text, places):
    """The places in their order, without those that lie inside another: of a block of lines the block is meant."""
    kept = []
    for place in sorted(places, key=lambda place: (place[0], -place[1])):
        if kept and place[1] <= kept[-1][1]:
            continue
        if kept and place[0] < kept[-1][1]:
            raise Wrong(f"{path}: two texts lie over each other at '{text[place[0]:kept[-1][1]]}'")
        kept.append(place)
    return kept


def exchanged(text, path, changes):
    """A file's text with other values. `changes`: [(constant, its number now, its number then)]

    All places are looked up before any is changed, so that no text stands in what another one has put there."""
    places = []
    for constant, now, then in changes:
        for line in constant["lines"].get(path, []):
            old, new = spelt(line, constant, now), spelt(line, constant, then)
            if old.count("\n") != new.count("\n"):
                raise Wrong(f"{path}: '{line}' has more lines with another value, and pages name lines")
            found = [at.start() for at in re.finditer(re.escape(old), text)]
            if not found:
                raise Wrong(f"{path} does not say '{old}'")
            places += [(at, at + len(old), new) for at in found]
    for begin, end, new in reversed(apart(path, text, places)):
        text = text[:begin] + new + text[end:]
    return text


def new_texts(lab, now, then):
    """{path: text} of all files of a lab in which a value stands. `now`, `then`: {constant: number}"""
    constants = constants_of(lab)
    changes = [(constant, now[name], then[name]) for name, constant in constants.items()]
    paths = sorted({path for constant in constants.values() for path in constant["lines"]})
    return {path: exchanged(read(path), path, changes) for path in paths}


def read_by_students(lab):
    """The pages and the stubs of a lab, and its solution."""
    return sorted(path for kind in ("labs", "solutions") for path in glob.glob(path_of(lab, "*", kind=kind))
                  if os.path.isfile(path))


def traces_left(lab, now, then, texts):
    """Where a value of before still stands in what students read."""
    stubs = {path_of(lab, file) for file in files_of(lab)}   # cut anew from the solutions
    for name, constant in constants_of(lab).items():
        olds = {spelt(trace, constant, now[name]) for trace in constant["traces"]}
        olds -= {spelt(trace, constant, then[name]) for trace in constant["traces"]}
        for path in [path for path in read_by_students(lab) if path not in stubs]:
            text = texts.get(path) or read(path)
            for old in [old for old in olds if old in text]:
                raise Wrong(f"{path} still says '{old}', of {name}: its list names the line")


# ---- the header ---------------------------------------------------------------------------------------

def quoted(text):
    return json.dumps(text)


def header(lab, numbers):
    """The text of term.h."""
    path = path_of(lab, LIST, kind="grader/labs")
    guard = re.sub(r"\W", "_", f"grader/labs/{lab}/{HEADER}").upper()
    text = HEADER_TOP.format(path=path, guard=guard)
    for name, constant in constants_of(lab).items():
        values, number = constant["values"], numbers[name]
        text += CONSTANT.format(about=constant["about"], task=constant["task"], name=name.upper(), value=values[number]["is"],
                                each=", ".join(value["is"] for value in values), now=number, count=len(values),
                                says=", \\\n        ".join(quoted(value["says"]) for value in values))
    return text + "\n#endif\n"


# ---- a whole tree -------------------------------------------------------------------------------------

def rewritten(lab, term):
    """{path: text} of all files of a lab that another term has otherwise, its header among them."""
    now, then = draws(term_here(), lab), draws(term, lab)
    texts = new_texts(lab, now, then)
    traces_left(lab, now, then, texts)
    return {**texts, path_of(lab, HEADER, kind="grader/labs"): header(lab, then)}


def check_list(lab):
    """Every value of every constant can be put in the place of the present one."""
    now = draws(term_here(), lab)
    for name, constant in constants_of(lab).items():
        if len(constant["values"]) < 3:
            raise Wrong(f"{name} has {len(constant['values'])} values: with fewer than 3 all terms draw the same one")
        planned = json.loads(read(path_of(lab, "lab.json")))["points"]
        for check in constant["checks"]:
            if check not in planned:
                raise Wrong(f"{name} names the check '{check}', which the lab does not have")
        for number in range(len(constant["values"])):
            then = {**now, name: number}
            texts = new_texts(lab, now, then)
            traces_left(lab, now, then, texts)
            for path, text in texts.items():
                back = exchanged(text, path, [(each, then[other], now[other]) for other, each in constants_of(lab).items()])
                if back != read(path):
                    raise Wrong(f"{path}: {name} does not go back from '{constant['values'][number]['says']}'")
    if read(path_of(lab, HEADER, kind="grader/labs")) != header(lab, now):
        raise Wrong(f"{HEADER} is not what its list says: tools/term_values.py headers")


def table():
    """The rows of docs/terms.md."""
    return "".join(f"| {lab} | {constant['about']} | {'; '.join(value['says'] for value in constant['values'])} | "
                   f"{', '.join(constant['checks'])} |\n" for lab in labs_with_terms() for constant in constants_of(lab).values())


def check():
    """Whether all lists hold. Prints a line for each that does not."""
    wrong = 0
    if term_here() is None and os.path.exists(PAGE) and f"|---|\n{table()}\n" not in read(PAGE):
        print(f"terms: the table of {PAGE} is not what `tools/term_values.py table` prints", file=sys.stderr)
        wrong += 1
    for lab in labs_with_terms():
        try:
            check_list(lab)
        except (Wrong, KeyError, OSError, ValueError) as error:
            print(f"terms: {lab}: {error}", file=sys.stderr)
            wrong += 1
    if not wrong:
        print(f"terms: every value of {sum(len(constants_of(lab)) for lab in labs_with_terms())} constants can take the place "
              f"of the present one")
    return wrong == 0


def show(term):
    """A line for each constant: the lab, what it is about, and its value in this term."""
    for lab in labs_with_terms():
        for name, number in draws(term, lab).items():
            constant = constants_of(lab)[name]
            print(f"  {lab:<17} {name:<16} {constant['values'][number]['says']}")


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)   # `| head` ends it without a word
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("check", "headers", "show", "table"))
    parser.add_argument("term", nargs="?", help="whose values are shown; those of this repository if it is left out")
    options = parser.parse_args()
    try:
        term = check_name(options.term) if options.term else term_here()
        if options.what == "check":
            sys.exit(0 if check() else 1)
        if options.what == "table":
            print(table(), end="")
            return
        if options.what == "headers":
            for lab in labs_with_terms():
                with open(path_of(lab, HEADER, kind="grader/labs"), "w", encoding="utf-8") as file:
                    file.write(header(lab, draws(term_here(), lab)))
            return
        show(term)
    except Wrong as error:
        print(f"term_values: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
