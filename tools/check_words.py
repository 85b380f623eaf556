#!/usr/bin/env python3
"""Holds the kit's words against the kit, for `make check`.

Pages and comments name only files and functions that exist; headers and the labs' pages quote only messages that a source
prints; the tables of modules in docs/architecture.md list the headers of common/ and train/; and codespell and a list of
patterns find nothing in pages, comments and messages. Prints a line for each finding, and ends with status 1 if there is
one.
"""
import functools
import glob
import os
import re
import shutil
import subprocess
import sys

TEXT = (".c", ".cu", ".cuh", ".h", ".py", ".sh", ".md", ".mk", ".dox", "Makefile", ".ci/run")
C = (".c", ".cu", ".cuh", ".h", ".dox")
# Text that is not the kit's own voice: frozen, found by a fuzzer, an intruder's, or wrong on purpose.
NOT_OURS = re.compile(r"common/data/kit\.txt|.*/corpus/|grader/attacks/.*\.c|grader/proof/example/|cudasim/broken/.*\.cu")
# Names in examples, and of other projects.
EXAMPLES = {"00_bytes.c", "blur.cu", "file.cu", "labs.mk", "llm.c", "my.cu", "name.c", "op.c", "op.cu", "op.h", "op_test.c",
            "sum.cu", "test17.cu", "train_gpt2_fp32.cu", "x.cu"}
# Where a path may begin: here, in labs/, or at the toy lab of a package test.
ROOTS = ("", "labs/", "grader/proof/example/")
# Folders that a reader makes while a page is walked: a package, and hand-ins.
OF_THE_READER = re.compile(r"^(?:mine|class/\w+)/")
ARCHITECTURE = "docs/architecture.md"
FORMER_NAMES = "docs/porting_hidden_checks.md"   # names files of the release before
# Pages that are made from other files, and this one, which has the patterns.
GENERATED = re.compile(r"docs/(cheating_table|instructors_table|outcomes|cudasim_table|kernels_table|mutant_ids)\.md|tools/check_words\.py")
SPELT_RIGHT = "dout,datas,nin,nd,statics"
# Behind as in leave behind, and gnuplot's word.
ALLOWED = re.compile(r"\b[Ll](?:eft|eaves?|eaving)\b(?: [\w,*]+){0,6}\s(?:\* )?behind|#\w+' behind|^\s+\"behind", re.M)
# What a native reader stumbles over, and what to write instead.
PATTERNS = [(re.compile(pattern, re.M), instead) for pattern, instead in (
    (r"\bbehind\b", "after, past"),
    (r"(?<![Tt]here )\b(?:is|are|was|were)\s+no\s+(?!longer|more|other|need|way|two\b|one\b|less)", "is not a ..."),
    (r"\b(?:[Ss]omebody|[Ww]hoever)\b", "name who: the caller, a thread, a student"),
    (r"\b(?:is|are|was|were)\s+told\b", "reported, learns, is given"),
    (r"\ball\s+the\s+same\b", "even so, anyway, nevertheless"),
    (r"\bso\s+many\b", "that many, or the number's name"),
    (r"\bof\s+the\s+limits?\s+used\b", "times the limit"),
    (r"\blimit 0\b", "must be equal bit for bit"),
    (r"\b(?:nan|Nan)\b(?![(\"'])", "NaN"),
    (r"\bc[oa]m(?:e|es|ing)? to (?:an|its|their) end\b", "end, finish"),
    (r"\bfor ever\b", "forever"),
    (r"\bproducts of matrices\b", "matrix products"),
    (r"/\*\*? What [^?*]*\*/|^ \* What [^?]*?\.$", "a noun: the state of, the bytes in, the tensors that"),
)]


@functools.lru_cache(maxsize=None)
def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout
    return sorted(path for path in listed.split("\0") if os.path.isfile(path))


@functools.lru_cache(maxsize=None)
def ours():
    return [path for path in tracked() if path.endswith(TEXT) and not NOT_OURS.match(path)]


@functools.lru_cache(maxsize=None)
def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def line_of(text, place):
    return text.count("\n", 0, place) + 1


@functools.lru_cache(maxsize=None)
def prose(path):
    """A page, or the comments of a source with everything else blanked out, so that places stay."""
    text = read(path)
    if path.endswith(".md"):
        return text
    if path.endswith(C):
        parts = re.finditer(r'"(?:[^"\\\n]|\\.)*"|(/\*.*?\*/|//[^\n]*)', text, re.S)
    else:
        parts = re.finditer(r'(""".*?"""|(?m:^|(?<=\s))#[^\n]*)', text, re.S)
    blank = list(re.sub(r"[^\n]", " ", text))
    for part in parts:
        if part[1]:
            blank[part.start():part.end()] = part[0]
    return "".join(blank)


@functools.lru_cache(maxsize=None)
def words(path):
    """The prose of a file and its messages."""
    text = read(path)
    if not path.endswith(C):
        return text
    shown = list(prose(path))
    for literal in re.finditer(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/', text, re.S):
        shown[literal.start():literal.end()] = literal[0]
    return "".join(shown)


# ---- what is named --------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def names_of_files():
    return {os.path.basename(path) for path in tracked()}


@functools.lru_cache(maxsize=None)
def names_in_code():
    code = [re.sub(r"/\*.*?\*/|//[^\n]*", " ", read(path), flags=re.S) for path in tracked() if path.endswith(C)]
    code += [read(path) for path in tracked() if path.endswith((".py", ".sh"))]
    return set(re.findall(r"\w+", "\n".join(code)))


def wrong_names(path):
    """Files and functions, and in a page the lines of a source that it shows."""
    text = prose(path)
    for named in re.finditer(r"(?<![\w.<>/$*%}-])[\w./-]+\.(?:h|cu|cuh|c|py|sh|mk|mutants|variants)\b(?!\.)", text):
        name = OF_THE_READER.sub("", named[0])
        if "NN" in name or os.path.basename(name) in EXAMPLES or path == FORMER_NAMES:
            continue
        if not (any(os.path.exists(root + name) for root in ROOTS) if "/" in name else name in names_of_files()):
            yield line_of(text, named.start()), f"there is no {name}"
    for shown in re.finditer(r"^@dontinclude (\S+)\n((?:@(?:skip|until|skipline|line) .*\n)+)", text, re.M):
        for at in re.findall(r"@\w+ (.*)", shown[2]):
            if at not in read(shown[1]):
                yield line_of(text, shown.start()), f"{shown[1]} has no line with `{at}`"
    for named in re.finditer(r"\b([a-z]\w*)\(\)", text):
        if named[1] not in names_in_code():
            yield line_of(text, named.start()), f"there is no {named[0]}"


# ---- messages that are quoted ---------------------------------------------------------------------

FILLED = "\0"   # stands where a message has a number or a name
BEFORE = re.compile(r"\[cudasim\] |likely: |\S+:\d+: |TODO: |(\S+: )?CHECK\(.*?\) failed(: )?")   # printed on its own


def words_of(text):
    return [word.strip(":;,.") for word in text.split() if word.strip(":;,.")]


@functools.lru_cache(maxsize=None)
def messages():
    """What the sources can print, as lists of words, each with the set of them."""
    found = []
    for path in ours():
        if not path.endswith(C + (".py",)):
            continue
        text = re.sub(r"/\*.*?\*/", " ", read(path), flags=re.S) if path.endswith(C) else read(path)
        text = re.sub(r'"\s*(?:PRI\w+\s*)*f?"', "", text).replace(r"\"", '\1').replace(r"\n", " ")
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
            filled = re.sub(r"%[-+#0-9.*]*(?:hh|h|ll|l|z|j|t)?[a-zA-Z]|\{[^{}]*\}", FILLED, literal.replace("\1", '"'))
            found.append((words_of(filled), set(words_of(filled))))
    return found


def same(pattern, word):
    return pattern == word or (FILLED in pattern
                               and re.fullmatch(".+".join(map(re.escape, pattern.split(FILLED))), word) is not None)


def fits(quote, message, whole):
    """Whether a quote's words follow each other in a message, in full or in part, a third or half of them literally."""
    def go(q, m, literal):
        if q == len(quote):
            return 3 * literal >= len(quote) if whole and m == len(message) else not whole and 2 * literal >= len(quote)
        if m == len(message):
            return False
        if same(message[m], quote[q]) and go(q + 1, m + 1, literal + (FILLED not in message[m])):
            return True
        return message[m] == FILLED and any(go(end, m + 1, literal) for end in range(q + 2, min(len(quote), q + 8) + 1))

    return any(go(0, start, 0) for start in ((0,) if whole else range(len(message))))


def printed(text, whole):
    quote = words_of(text)
    if any(fits(quote, message, whole) for message, words in messages()
           if (3 if whole else 2) * len(words & set(quote)) >= len(set(quote))):
        return True
    parts = re.split(r": |; | \(", text)   # of several messages
    return not whole and len(parts) > 1 and all(printed(part, False) for part in parts if len(words_of(part)) > 1)


def wrong_quotes(path):
    """Headers: what `Prints` is followed by, in full. Labs' pages: the first column of a table, in part."""
    header, text = path.endswith(".h"), prose(path)
    pattern = r"\bPrints `([^`]+)`" if header else r"^\| `([^`\n]+ [^`\n]+)`"
    if header or re.match(r"labs/.*\.md", path):
        for quote in re.finditer(pattern, text, re.M):
            for part in [quote[1]] if header else re.split(r"\.\.\.", BEFORE.sub("", quote[1])):
                if (header or len(words_of(part)) > 1) and not printed(part, header):
                    yield line_of(text, quote.start()), f"nothing prints `{part.strip()}`"


# ---- the tables of modules ------------------------------------------------------------------------

def wrong_modules():
    """The tables `in common/` and `in train/` against the headers that lie there."""
    text = read(ARCHITECTURE)
    for folder in ("common", "train"):
        table = re.search(rf"^\| in `{folder}/` \|.*\n(?:\|.*\n)*", text, re.M)
        listed = set(re.findall(r"\b\w+\.h\b", table[0])) if table else set()
        there = {os.path.basename(path) for path in glob.glob(f"{folder}/*.h")
                 if not re.search(r"/lab\d\d\.h$", path)}   # these forward to the labs' contracts
        for name in sorted(listed ^ there):
            why = f"{folder}/{name} is not in the table" if name in there else f"the table lists {name}, not in {folder}/"
            yield line_of(text, table.start() if table else 0), why


# ---- how it is said -------------------------------------------------------------------------------

def wrong_words(path):
    if not GENERATED.fullmatch(path):
        text = ALLOWED.sub(lambda allowed: " " * len(allowed[0]), words(path))
        for pattern, instead in PATTERNS:
            for found in pattern.finditer(text):
                yield line_of(text, found.start()), f"`{' '.join(found[0].split())[:60]}`: rather {instead}"


def misspelt():
    """What codespell finds, as FILE, LINE, what. It is left out where it is not installed: tools/setup.sh --prove."""
    if shutil.which("codespell") is None:
        return
    paths = [path for path in ours() if not GENERATED.fullmatch(path)]
    said = subprocess.run(["codespell", "-L", SPELT_RIGHT, *paths], capture_output=True, text=True, check=False).stdout
    for path, line, why in re.findall(r"^(.*?):(\d+): (.*)$", said, re.M):
        yield path, int(line), why


def main():
    found = [(ARCHITECTURE, *finding) for finding in wrong_modules()] + list(misspelt())
    for path in ours():
        found += [(path, *finding) for check in (wrong_names, wrong_quotes, wrong_words) for finding in check(path)]
    for path, line, why in found:
        print(f"{path}:{line}: {why}")
    if found:
        sys.exit(1)
    print("words: true")


if __name__ == "__main__":
    main()
