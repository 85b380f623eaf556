"""What more a copy may be disguised by than disguise.py does: macros, other loops, functions cut in two, dead code, names for
types, statements in another order. For the test of `make similar`. Each keeps what the program does.

Text must be formatted as in solutions/.
"""
import random
import re

import another_hand
import disguise
from disguise import WORDS

HEAD = re.compile(r"^(?!static_assert|typedef|struct|enum|#)([A-Za-z_][^;={}()]*?)\b(\w+)\(([^;{}]*)\) \{$", re.M)
DECLARED = re.compile(r"    (?:const )?((?:unsigned )?\w+) (\**)(?:const )?(\w+)(?: = [^;]*)?;")
TYPES = {"float": "real", "double": "exact", "int": "whole", "size_t": "amount", "bool": "truth"}
SPELT = {"return": "GIVE", "if": "WHEN", "else": "OTHERWISE", "for": "LOOP", "while": "AS_LONG_AS", "const": "FIXED", "NULL": "NOTHING"}


def fresh(text, dice):
    """A name that the text does not have."""
    return next(word for word in iter(lambda: "_".join(dice.sample(WORDS, 3)), None) if word not in text)


def after_includes(text, lines):
    """Lines below the last directive #include, or at the top."""
    found = list(re.finditer(r"^#include.*\n", text, re.M))
    at = found[-1].end() if found else 0
    return text[:at] + "".join(f"{line}\n" for line in lines) + text[at:]


def code_only(text, change):
    """`change` of what is neither a string nor a directive."""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#.*$|(?:(?!["\']|^[ \t]*#)[\s\S])+',
                  lambda found: found[0] if found[0].lstrip()[:1] in ('"', "'", "#") else change(found[0]), text, flags=re.M)


def macros(text, dice):
    """Keywords, numbers, and the kit's functions by other names."""
    called = sorted(set(re.findall(r"\b([a-z]\w*_\w+)\(", text)) - set(re.findall(r"^(?:[\w*]+ )+\**(\w+)\([^;]*$", text, re.M)))
    new = {word: name for word, name in SPELT.items() if dice.random() < 0.7}
    new |= {word: fresh(text, dice).upper() for word in called if dice.random() < 0.7}
    new |= {number: fresh(text, dice).upper() for number in sorted(set(re.findall(r"(?<![\w.])(?<![eE][-+])[1-9]\d*(?:\.\d+)?f?(?![\w.])", text))) if dice.random() < 0.5}
    pattern = re.compile("|".join(rf"(?<![\w.])(?<![eE][-+]){re.escape(word)}(?![\w.])" for word in sorted(new, key=len, reverse=True)))
    text = code_only(text, lambda part: pattern.sub(lambda found: new[found[0]], part)) if new else text
    return after_includes(text, [f"#define {name} {word}" for word, name in new.items()])


def aliases(text, dice):
    """typedef float real;"""
    chosen = {word: name for word, name in TYPES.items() if re.search(rf"\b{word}\b", text) and dice.random() < 0.8 and not re.search(rf"\b{name}\b", text)}
    pattern = re.compile("|".join(rf"\b{word}\b(?! (?:long|char))" for word in chosen))
    text = code_only(text, lambda part: pattern.sub(lambda found: chosen[found[0]], part)) if chosen else text
    return after_includes(text, [f"typedef {word} {name};" for word, name in chosen.items()])


def loops(text, dice):
    """for as while, while as for (;;), while as for."""
    hand = another_hand.Hand(dice.random())
    hand.habits = {rule: 0.9 for rule in another_hand.RULES}
    text = another_hand.whiles(hand, text)
    text = another_hand.endless(hand, text)
    return re.sub(r"^( +)while \((.*)\) \{$", r"\1for (; \2;) {", text, flags=re.M)


def dead_code(text, dice):
    """Blocks that never run, values that nobody reads, a function that nobody calls."""
    lines, whole, fields = [], False, False
    for line in text.split("\n"):
        indent = re.match(r" +", line)
        fields = not line.startswith("}") if fields else re.match(r"(typedef |static |const )*(struct|union|enum)\b.*\{$", line) is not None
        if not fields and whole and indent and len(indent[0]) >= 4 and re.match(r" +[\w*(][^\n]*;$", line) and not re.match(r" +(case|default|break|else)\b", line) \
                and dice.random() < 0.25:
            one, other = dice.sample(WORDS, 2)
            lines.append(dice.choice((f"{indent[0]}if (0) {{\n{indent[0]}    int {one} = {dice.randrange(99)};\n{indent[0]}    {one} += {dice.randrange(99)};\n{indent[0]}}}",
                                      f"{indent[0]}{{\n{indent[0]}    int {one} = {dice.randrange(99)}, {other} = {one} * {dice.randrange(9)};\n"
                                      f"{indent[0]}    (void){other};\n{indent[0]}}}",
                                      f"{indent[0]}for (int {one} = 0; {one} < 0; {one}++) {{\n{indent[0]}}}")))
        lines.append(line)
        whole = line.rstrip().endswith((";", "}", ") {")) and not line.rstrip().endswith(") {\\") and not line.startswith("#")
    one, other = dice.sample(WORDS, 2)
    return "\n".join(lines) + (f"\nstatic inline int {fresh(text, dice)}(int {one}, int {other}) {{\n    while ({one} > {other}) {{\n        {one} -= {other} + 1;\n    }}\n"
                               f"    return {one} % 2 ? {other} : -{other};\n}}\n")


def split(text, dice):
    """The end of a long function is one of its own, which takes what it needs."""
    found = [each for each in HEAD.finditer(text) if "template" not in each[0] and "\n#" not in each[0]]
    for head in reversed(found):
        end = text.index("\n}", head.end())
        body = text[head.end() + 1:end + 1]
        made = cut_in_two(head, body, fresh(text, dice), dice)
        if made:
            first = text.rfind("\n\n", 0, head.start()) + 2 if text.rfind("\n\n", 0, head.start()) >= 0 else head.start()
            text = text[:first] + made[0] + "\n" + text[first:head.end() + 1] + made[1] + text[end + 1:]
    return text


def body_depth(lines):
    """How many brackets are open: in a switch labels stand as far left as statements around it."""
    return sum(line.count("{") - line.count("}") for line in lines)


def cut_in_two(head, body, name, dice):
    """(the new function, what is left of the body), or None where it cannot be told what the new one needs."""
    lines = body.split("\n")
    starts = [i for i, line in enumerate(lines) if re.match(r"    [\w*(]", line) and i and lines[i - 1].rstrip().endswith((";", "}")) and not lines[i].startswith("    else")]
    starts = [i for i in starts if 3 <= i <= len(lines) - 3 and body_depth(lines[:i]) == 0 and not lines[i].startswith(("    case ", "    default:"))]
    kind = head[1].strip()
    if not starts or "..." in head[3] or "__global__" in kind and "__shared__" in body or "goto" in body or "static " in body:
        return None
    at = dice.choice(starts)
    before, rest = "\n".join(lines[:at]), "\n".join(lines[at:])
    if re.search(r"^    [\w ]+\*?\w+\[", before, re.M) or re.search(r"^    (?:const )?\w+ \**\w+(?: = [^;]*)?, ", before, re.M) or "__auto_type" in before:
        return None
    declared = {each[3]: f"{each[1]} {each[2]}{each[3]}" for each in map(DECLARED.fullmatch, lines[:at]) if each and each[1] != "return"}
    others = set(re.findall(r"^    (?:const )?[\w ]+? \**(?:const )?(\w+)(?= =|;)", before, re.M)) - set(declared) - {"return"}
    used = set(re.findall(r"\w+", rest))
    if others & used and not others <= set(re.findall(r"\w+", head[3])) | {"x"}:
        return None
    if any(re.search(rf"const \w+ \**{each}\b", before) for each in declared if each in used):
        return None
    given = [each.split("[")[0].strip() for each in re.sub(r"\s+", " ", head[3]).split(",")] if head[3].strip() not in ("", "void") else []
    names = [re.search(r"(\w+)$", each)[1] for each in given if re.search(r"(\w+)$", each)]
    if len(names) != len(given) or "(" in head[3] or "[" in head[3]:
        return None
    needed = [(each, one) for each, one in zip(given, names) if one in used] + [(declared[one], one) for one in declared if one in used]
    result = kind.replace("__global__", "__device__")
    result = result if "static" in result else "static " + result
    call = f"{name}({', '.join(one for _, one in needed)});"
    returns = not re.search(r"\bvoid$", kind.replace("static", "").strip())
    return (f"{result.rstrip()}{'' if result.endswith('*') else ' '}{name}({', '.join(each for each, _ in needed) or 'void'}) {{\n{rest}}}\n",
            before + f"\n    {'return ' if returns else ''}{call}\n")


def reordered(text, dice):
    """Statements that commute, again and again."""
    for _ in range(6):
        text = disguise.with_swaps(text, dice)
    return text


WAYS = {"macros": macros, "loops": loops, "split": split, "dead code": dead_code, "aliases": aliases, "order": reordered}


def disguise_by(ways, text, kept, seed):
    """A text in other words by some of WAYS, and its own names changed."""
    dice = random.Random(f"more {seed}")
    text = disguise.without_comments(text)
    for way in ("loops", "order", "split", "dead code"):
        if way in ways:
            text = WAYS[way](text, dice)
    text = disguise.renamed(text, kept, dice)
    for way in ("aliases", "macros"):   # last, since they hide what the others look for
        if way in ways:
            text = WAYS[way](text, dice)
    return text
