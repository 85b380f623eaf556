#!/usr/bin/env python3
"""All sentences that a student can be told, as gettext's tools take them: tools/sentences.py write|check|count

They are the texts of at least two words in the judges, in the checks of the labs, and in what runs and reports them, and the
words of a student's page. `write` puts them into languages/sentences.pot, `check` says whether that is current.
"""
import glob
import re
import sys

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Name, String

from class_folder import write_whole
from exports.language import CONVERSION, SHOWN, WORDS, letters

CATALOGUE = "languages/sentences.pot"
SOURCES = ("labs/*/tests.c", "grader/labs/*/*.[ch]", "grader/*.c", "common/testkit/compare.c", "common/memory*.c", "common/crash.c", "cudasim/*.c",
           "cudasim/nccl/*.c")
TASKS = "solutions/*/*.c*"   # of these the texts of TODO() alone
PAGE = "tools/report/student.html"
NOT_THEIRS = {"CHECK", "EXPECT", "json_pack", "json_object_get", "getenv", "setenv", "sscanf", "strstr", "static_assert", "_Static_assert", "perror",
              "cr_assert", "cr_expect", "file_error", "problem", "RUN", "system", "fopen", "check_after"}   # a caller's mistake, the instructor's trouble, no text
HEAD = '''# What a student can be told. By tools/sentences.py: do not edit. docs/translating.md says how it is translated.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

'''
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "0": "\0", "r": "\r"}


# ---- reading C --------------------------------------------------------------------------------------

def unescaped(text):
    return re.sub(r"\\x([0-9a-fA-F]{1,2})|\\(.)", lambda found: chr(int(found[1], 16)) if found[1] else ESCAPES.get(found[2], found[2]), text)


def is_sentence(text):
    """Not a name, a path, a format of numbers, an environment, or C."""
    return letters(text) >= WORDS and " " in text.strip() and not re.search(r"[{};]\s*$|^#|^[A-Z_]+=|^-[a-z-]+ ", text)


def strings_of(text):
    """(string, the innermost function that is called around it) of each string; neighbours are one."""
    calls, before, found, joined = [], "", [], None
    for kind, word in get_lexer_by_name("c").get_tokens(text):
        if kind in String and kind not in String.Char:
            if joined is None:
                joined = ["", calls[-1] if calls else ""]
            joined[0] += word
        elif word.strip() and kind not in Comment:
            if joined is not None:
                found.append(joined)
                joined = None
            calls += [before] if word == "(" else []
            calls = calls[:-1] if word == ")" else calls
            before = word if kind in Name else ""
    return [(unescaped("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', raw))), call) for raw, call in found]


def of_sources():
    """{sentence: [where it stands]}"""
    found, tasks = {}, sorted(glob.glob(TASKS))
    for path in sorted({path for pattern in SOURCES for path in glob.glob(pattern)}) + tasks:
        if path.endswith("_test.c"):
            continue
        with open(path, encoding="utf-8") as file:
            for text, call in strings_of(file.read()):
                if is_sentence(text) and (call == "TODO" if path in tasks else call not in NOT_THEIRS):
                    found.setdefault(text, {})[path] = True
    return found


def of_pages():
    with open(PAGE, encoding="utf-8") as file:
        marked = re.findall(r'"([^"]+)"\|said', file.read())
    return {text: {"tools/report": True} for text in [*SHOWN, *marked]}


# ---- writing gettext's file --------------------------------------------------------------------------

def quoted(text):
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r").replace("\0", "")
    return f'"{inner}"'


def catalogue():
    found = of_sources()
    for text, paths in of_pages().items():
        found.setdefault(text, {}).update(paths)
    entries = []
    for text, paths in found.items():
        entries.append((sorted(paths), f"#: {' '.join(sorted(paths))}\n" + ("#, c-format\n" if CONVERSION.search(text) else "") + f"msgid {quoted(text)}\nmsgstr \"\"\n"))
    return HEAD + "\n".join(entry for _, entry in sorted(entries)), found


def read():
    try:
        with open(CATALOGUE, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("write", "check", "count"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    text, found = catalogue()
    if sys.argv[1] == "write":
        write_whole(CATALOGUE, text.encode())
    elif sys.argv[1] == "check" and read() != text:
        print(f"sentences: {CATALOGUE} is not current: make sentences", file=sys.stderr)
        sys.exit(1)
    print(f"sentences: {len(found)}, of {sum(len(each.split()) for each in found)} words")


if __name__ == "__main__":
    main()
