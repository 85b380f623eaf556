"""A right solution as another student might have written it: the same calculation, another program. For the test of `make similar`.

Each hand has habits of its own: whether it counts with while or for, writes += or the sum, names parts of an expression, asks
with ?: or if, takes a short name for a long one, returns early. Every rule keeps what the program does. Text must be
formatted as in solutions/.
"""
import random
import re

SIMPLE = r"[\w.]+(?:->\w+|\.\w+|\[\w+\])*"


def block_end(lines, i):
    """The line that closes the block which line i opens."""
    indent = len(lines[i]) - len(lines[i].lstrip())
    return next((k for k in range(i + 1, len(lines)) if lines[k].startswith(" " * indent + "}") and lines[k].strip() == "}"
                 and len(lines[k]) - len(lines[k].lstrip()) == indent), None)


def on_lines(text, rule):
    """`rule` gives of a line that begins a statement what takes its place, or None."""
    written, whole = [], True
    for line in text.split("\n"):
        new = rule(line) if whole else None
        written.append(line if new is None else new)
        whole = re.sub(r"/\*.*?\*/|//.*", "", line).rstrip().endswith((";", "{", "}")) or not line.strip() or line.startswith("#")
    return "\n".join(written)


class Hand:
    """The habits of one who writes."""

    def __init__(self, seed):
        self.dice = random.Random(f"hand {seed}")
        self.habits = {rule: self.dice.uniform(0.1, 0.9) for rule in RULES}

    def now(self, rule):
        return self.dice.random() < self.habits[rule]

    def write(self, text):
        for rule in RULES:
            text = rule(self, text)
        return text

    def fresh(self, text, stem):
        return next(name for name in (f"{stem}{i or ''}" for i in range(1000)) if not re.search(rf"\b{name}\b", text))


def sums_in_full(hand, text):
    """x += e is x = x + (e)"""
    def rule(line):
        found = re.fullmatch(rf"( +)({SIMPLE}) ([-+*])= ([^;]+);", line)
        return f"{found[1]}{found[2]} = {found[2]} {found[3]} ({found[4]});" if found and hand.now(sums_in_full) else None
    return on_lines(text, rule)


def counts(hand, text):
    """x++ is x += 1, or ++x"""
    form = hand.dice.choice(("{} += 1", "++{}", "{} = {} + 1"))

    def rule(line):
        found = re.fullmatch(rf"( +)({SIMPLE})\+\+;", line)
        if found and hand.now(counts):
            return f"{found[1]}{form.replace('{}', found[2])};"
        if re.match(r" +for \(", line) and hand.now(counts):
            return re.sub(r"; (\w+)\+\+\) \{$", lambda end: f"; {form.replace('{}', end[1])}) {{", line)
        return None
    return on_lines(text, rule)


def whiles(hand, text):
    """A loop with for is one with while, in a block of its own."""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        found = re.fullmatch(r"( +)for \(([^;]+); ([^;]+); ([^;{}]+)\) \{", lines[i])
        end = block_end(lines, i) if found else None
        if end is not None and hand.now(whiles) and not any("continue" in line or "__" in line for line in lines[i:end]):
            space, begin, condition, step = found.groups()
            if "," not in step:
                body = ["    " + line if line else line for line in lines[i + 1:end]]
                lines[i:end + 1] = [f"{space}{{", f"{space}    {begin};", f"{space}    while ({condition}) {{", *body,
                                    f"{space}        {step};", f"{space}    }}", f"{space}}}"]
        i += 1
    return "\n".join(lines)


def choices(hand, text):
    """x = a ? b : c asks with if"""
    def rule(line):
        found = re.fullmatch(rf"( +)((?:(?:const )?(?:int|size_t|float|double|bool) )?)({SIMPLE}) = ([^?;={{}}]+?) \? ([^?:;{{}}]+) : ([^?:;{{}}]+);", line)
        if not found or not hand.now(choices) or line.count("(") != line.count(")") or "," in found[5] + found[6]:
            return None
        space, kind, left, condition, one, other = found.groups()
        kind = kind.replace("const ", "")
        if any(part.count("(") != part.count(")") for part in (condition, one, other)):
            return None
        if kind:
            return f"{space}{kind}{left};\n{space}if ({condition}) {{\n{space}    {left} = {one};\n{space}}} else {{\n{space}    {left} = {other};\n{space}}}"
        return f"{space}if ({condition}) {{\n{space}    {left} = {one};\n{space}}} else {{\n{space}    {left} = {other};\n{space}}}"
    return on_lines(text, rule)


def named_results(hand, text):
    """return f(x) names the result first; or the other way round."""
    name = hand.dice.choice(("result", "answer", "r", "value"))

    def rule(line):
        found = re.fullmatch(r"( +)return ([^;]*[-+*/(][^;]*);", line)
        if not found or not hand.now(named_results) or line.count("(") != line.count(")") or "{" in line:
            return None
        return f"{found[1]}{{\n{found[1]}    __auto_type {name} = {found[2]};\n{found[1]}    return {name};\n{found[1]}}}"
    return on_lines(text, rule)


def split_declarations(hand, text):
    """int a = x; is int a; a = x;"""
    def rule(line):
        found = re.fullmatch(r"( +)(int|size_t|float|double|bool) (\w+) = ([^;,{}]+);", line)
        return f"{found[1]}{found[2]} {found[3]};\n{found[1]}{found[3]} = {found[4]};" if found and hand.now(split_declarations) else None
    return on_lines(text, rule)


def turned_comparisons(hand, text):
    """a < b is b > a"""
    other = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}

    def turn(found):
        return f"{found[1]}{found[4]} {other[found[3]]} {found[2]}{found[5]}" if hand.now(turned_comparisons) else found[0]
    return re.sub(rf"((?:if|while) \(|; )({SIMPLE}) ([<>]=?|[!=]=) ({SIMPLE})(\)|;)", turn, text)


def turned_products(hand, text):
    """a * b is b * a: the bits are the same."""
    def turn(found):
        return f"{found[1]}{found[3]} * {found[2]}{found[4]}" if hand.now(turned_products) else found[0]
    return re.sub(r"((?:= |\+ |\())(\w+) \* (\w+)((?:;| \+|\)|,))", turn, text)


def other_way_round(hand, text):
    """if (c) A else B is if (!(c)) B else A"""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        found = re.fullmatch(r"( +)if \((.*)\) \{", lines[i])
        if found and hand.now(other_way_round):
            space = found[1]
            middle = next((k for k in range(i + 1, len(lines)) if lines[k].startswith(space + "}")), None)
            if middle and lines[middle] == f"{space}}} else {{":
                end = next((k for k in range(middle + 1, len(lines)) if lines[k].startswith(space + "}")), None)
                if end and lines[end] == f"{space}}}":
                    lines[i:end + 1] = [f"{space}if (!({found[2]})) {{", *lines[middle + 1:end], f"{space}}} else {{", *lines[i + 1:middle], f"{space}}}"]
        i += 1
    return "\n".join(lines)


def early_leaves(hand, text):
    """An if without else at the end of a function that gives nothing back leaves early instead."""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        found = re.fullmatch(r"    if \((.*)\) \{", lines[i])
        end = block_end(lines, i) if found else None
        if end is not None and any(line.startswith("    } else") for line in lines[i:end]):
            end = None
        if end is not None and end + 1 < len(lines) and lines[end + 1] == "}" and hand.now(early_leaves):
            head = next(k for k in range(i, -1, -1) if lines[k] and not lines[k].startswith((" ", "}", "#")))
            if "void " in lines[head].split("(")[0] + " ":
                lines[i:end + 1] = [f"    if (!({found[1]})) {{", "        return;", "    }", *[line[4:] for line in lines[i + 1:end]]]
        i += 1
    return "\n".join(lines)


def short_names(hand, text):
    """A long way to a field that a function goes more than once gets a name at its beginning."""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        if lines[i].endswith(") {") and not lines[i].startswith((" ", "#")) and "__" not in lines[i]:
            head = next(k for k in range(i, -1, -1) if lines[k] and not lines[k].startswith(" "))
            end = next(k for k in range(i + 1, len(lines)) if lines[k].startswith("}"))
            signature, body = " ".join(lines[head:i + 1]), "\n".join(lines[i + 1:end])
            found = re.search(r"\b(\w+)->(model|config|device|trainer|params|stream|comm|schedule|optimizer)\b(?=->|\.|,|\))", body)
            if found and re.search(rf"[ *]{found[1]}[,)]", signature) and body.count(found[0]) > 1 and hand.now(short_names) \
                    and not re.search(rf"{found[1]}->{found[2]} = |&{found[0]}", body) and not re.search(rf"\b{found[1]} [!=]= NULL", body):
                name = hand.fresh(body + signature, hand.dice.choice((found[2][0] + "_", "the_" + found[2], found[2] + "_of")))
                if found[2] not in ("config", "schedule"):
                    body = f"    __auto_type {name} = {found[0]};\n" + re.sub(rf"\b{re.escape(found[0])}\b", name, body)
                    new = body.split("\n")
                    lines[i + 1:end] = new
                    i += len(new)
        i += 1
    return "\n".join(lines)


def named_arguments(hand, text):
    """f(g(x)) names g(x) first, where that is the whole statement."""
    def rule(line):
        found = re.fullmatch(rf"( +)((?:{SIMPLE} [-+]?= )?)(\w+)\(([^();]*, )?(\w+\([^();]*\))(, [^();]*)?\);", line)
        if not found or not hand.now(named_arguments) or found[3] in ("CHECK", "EXPECT", "RUN", "sizeof") or found[5].startswith("sizeof"):
            return None
        space, left, call, before, inner, after = (part or "" for part in found.groups())
        return f"{space}{{\n{space}    __auto_type {name} = {inner};\n{space}    {left}{call}({before}{name}{after});\n{space}}}"
    name = hand.dice.choice(("now", "part", "given", "t"))
    return on_lines(text, rule)


def arrows(hand, text):
    """p->x is (*p).x, for those who like it"""
    return re.sub(r"(?<![\w>.)\]&*])(\w+)->(?=\w)", lambda found: f"(*{found[1]})." if hand.now(arrows) else found[0], text)


def endless(hand, text):
    """while (c) is for (;;) that breaks."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        found = re.fullmatch(r"( +)while \((.*)\) \{", line)
        if found and hand.now(endless):
            lines[i] = f"{found[1]}for (;;) {{\n{found[1]}    if (!({found[2]})) {{\n{found[1]}        break;\n{found[1]}    }}"
    return "\n".join(lines)




RULES = (short_names, other_way_round, early_leaves, choices, named_arguments, named_results, whiles, endless, sums_in_full, counts,
         split_declarations, turned_comparisons, turned_products, arrows)
