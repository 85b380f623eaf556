"""A copy as it is disguised: the same program in other words. For the test of `make similar`.

Names are changed, comments taken out and others put in, static functions stand in another order, neighbouring statements
that commute change places, single statements gain or lose their braces, types become others of the same use. What it writes
compiles, and does what the original does.
"""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import fingerprints

WORDS = "alpha bravo delta echo foxtrot golf hotel india kilo lima mike oscar papa quebec romeo sierra tango uniform victor xray yankee zulu".split()
COMMENTS = ("first things first", "see the lecture", "this took me a while", "careful here", "as in the notes", "done below")
LOCAL = re.compile(r"\b(?:int|long|size_t|float|double|bool|char|unsigned|[A-Z]\w*[a-z]\w*)(?:\s+const)?[\s*]+(\w+)(?=\s*(?:[=;,)\[:]))")
ALSO = re.compile(r"^[ ]+(?:const )?(?:int|long|size_t|float|double|bool|char)\b[^;(]*;|for \((?:int|size_t) [^;]*;", re.M)
STATIC = re.compile(r"^(?:template <[^\n]*>\n)?(static [^;={}]*?\b(\w+)\([^;{}]*\)) \{\n.*?^\}\n", re.M | re.S)
BRACED = re.compile(r"^( *)((?:if|for|while) \(.*\)) \{\n +([^\n{}]*;)\n\1\}\n(?! *else)", re.M)
BARE = re.compile(r"^( *)((?:if|for|while) \([^\n]*\))\n( +[^\n{}]*;)\n", re.M)
DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.M)


def without_comments(text):
    return re.sub(r'("(?:[^"\\\n]|\\.)*")|/\*.*?\*/|//[^\n]*', lambda found: found[1] or "", text, flags=re.S)


def own_names(text, kept):
    """What is declared in here and nobody else calls: local variables, parameters, static functions."""
    names = set(LOCAL.findall(text)) | {found[2] for found in STATIC.finditer(text)}
    for found in ALSO.finditer(text):
        names.update(re.findall(r"[,\s*](\w+)\s*(?==|,|;|\[)", found[0]))
    fields = set(re.findall(r"(?:\.|->)\s*(\w+)", text))
    return sorted(name for name in names - set(kept) - fields if re.fullmatch(r"[a-z]\w*", name) and name not in KEYWORDS)


KEYWORDS = set("return else sizeof const int long size_t float double bool char unsigned static struct for if while do void true false".split())


def renamed(text, kept, dice):
    """Each own name becomes another, which is not in use."""
    names = own_names(text, kept)
    used, new = set(re.findall(r"\w+", text)), {}
    for name in names:
        fresh = next(word for word in iter(lambda: dice.choice(WORDS) + dice.choice(["", "_" + dice.choice(WORDS)]), None) if word not in used)
        used.add(fresh)
        new[name] = fresh
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\b[a-z]\w*\b', lambda found: new.get(found[0], found[0]), text)


def in_another_order(text, dice):
    """Static functions, each announced at the top."""
    found = list(STATIC.finditer(text))
    if len(found) < 2 or any("template" in each[0] or "__" in each[1] for each in found):
        return text
    order = found[:]
    dice.shuffle(order)
    for place, other in sorted(zip(found, order), key=lambda pair: -pair[0].start()):
        text = text[:place.start()] + other[0] + text[place.end():]
    announced = "".join(f"{' '.join(each[1].split())};\n" for each in found)
    at = min(each.start() for each in found)
    return text[:at] + announced + "\n" + text[at:]


def parts_of(line):
    """(what it writes, what it reads) of a statement that does nothing else, or None."""
    found = re.fullmatch(r"\s*(?:const )?(?:(?:int|size_t|float|double|bool|long|char|[A-Z]\w*) \*?)?([\w.\->\[\]]+) ([-+*/]?)= ([^(){}]*);", line)
    return (found[1], set(re.findall(r"\w+", found[1] + " " + found[3]))) if found else None


def commute(one, other):
    parts = parts_of(one), parts_of(other)
    if None in parts:
        return False
    (left, first), (right, second) = parts
    return re.findall(r"[a-zA-Z_]\w*", left)[-1] not in second and re.findall(r"[a-zA-Z_]\w*", right)[-1] not in first


def with_swaps(text, dice):
    """Neighbouring statements of one block that commute."""
    lines, i = text.split("\n"), 0
    while i + 1 < len(lines):
        same = len(lines[i]) - len(lines[i].lstrip()) == len(lines[i + 1]) - len(lines[i + 1].lstrip()) > 0
        before = lines[i - 1].strip() if i else ""
        whole = before.endswith((";", "{", "}")) or not before
        if same and whole and commute(lines[i], lines[i + 1]) and dice.random() < 0.8:
            lines[i], lines[i + 1] = lines[i + 1], lines[i]
            i += 1
        i += 1
    return "\n".join(lines)


def other_braces(text, dice):
    text = BRACED.sub(lambda found: f"{found[1]}{found[2]}\n{found[1]}    {found[3]}\n" if dice.random() < 0.6 else found[0], text)
    return BARE.sub(lambda found: f"{found[1]}{found[2]} {{\n{found[3]}\n{found[1]}}}\n" if dice.random() < 0.6 else found[0], text)


def other_types(text, dice):
    """Of local variables and casts: counters and sizes by other names of their types, truths as numbers."""
    for old, new in (("size_t", "unsigned long"), ("int", "long"), ("bool", "int")):
        text = re.sub(rf"^(  +(?:for \(|const )?){old} (?=\w+ = )",
                      lambda found, new=new: f"{found[1]}{new} " if dice.random() < 0.6 else found[0], text, flags=re.M)
    return text


def with_comments(text, dice):
    lines = []
    for line in text.split("\n"):
        indented = re.match(r"( +)\w[^\n]*;$", line)
        if indented and dice.random() < 0.15 and lines and lines[-1].rstrip().endswith((";", "{", "}")):
            lines.append(f"{indented[1]}/* {dice.choice(COMMENTS)} */")
        lines.append(line)
    return "\n".join(lines)


def disguise(text, kept, seed):
    """`kept`: names that others call."""
    dice = random.Random(seed)
    text = without_comments(text)
    text = in_another_order(text, dice)
    text = with_swaps(text, dice)
    text = other_braces(text, dice)
    text = other_types(text, dice)
    text = renamed(text, kept, dice)
    return with_comments(text, dice)
