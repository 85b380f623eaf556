"""A program without what a copier changes at no cost: macros, names of types, the form of a loop, code without effect, and
functions that were cut in two.

Words come in as a lexer gives them, and go out in their order, each with its place in the text; only the step of a `for`
stands where it is done, and a function that is called in one place stands there. What cannot be read as C goes out as it came in.
"""
import collections
import re

from pygments.token import Name, Number

from c_reader import ASSIGNING, Node, NotRead, Reader, arguments, is_type, texts

MOST_IN_CONDITION = 16
LOOP = "while"


# ---- what never runs --------------------------------------------------------------------------------

def truth(words):
    """Of a condition that is a number, or compares two; None of any other."""
    said = [word for word in texts(words) if word not in ("(", ")")]
    if len(words) <= MOST_IN_CONDITION and said and said[0] == "!":
        inner = truth(words[1:])
        return None if inner is None else not inner
    values = {"false": 0, "true": 1, "NULL": 0}
    numbers = [values.get(word, int(word) if re.fullmatch(r"\d{1,9}", word) else None) for word in said[::2]]
    if None in numbers or len(said) not in (1, 3):
        return None
    if len(said) == 1:
        return bool(numbers[0])
    one, other = numbers
    return {"<": one < other, ">": one > other, "<=": one <= other, ">=": one >= other, "==": one == other, "!=": one != other}.get(said[1])


def runs(node):
    """Whether a loop runs at all, as far as the condition and what is done before it tell."""
    said = truth(node.condition())
    if said is None and node.kind == "for":
        first = node.parts_of_for()[0]
        if len(first) >= 3 and first[-2].word == "=" and first[-1].kind in Number:
            return truth([first[-1] if word.word == first[-3].word else word for word in node.condition()])
    return said


def nothing():
    return Node("block", [])


def without_what_never_runs(node):
    node.parts = [without_what_never_runs(part) for part in node.parts]
    if node.kind == "if" and truth(node.condition()) is not None:
        return node.parts[0] if truth(node.condition()) else node.parts[1] if len(node.parts) > 1 else nothing()
    if node.kind in ("while", "for") and node.condition() and runs(node) is False:
        return nothing()
    if node.kind == "do" and truth(node.condition()) is False:
        return node.parts[0]
    return node


# ---- what nobody reads ------------------------------------------------------------------------------

Definition = collections.namedtuple("Definition", "names declares")


def split(words, at=","):
    """Between commas that are in no brackets."""
    found, depth = [[]], 0
    for word in words:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(word.word, 0)
        if word.word == at and depth == 0:
            found.append([])
        else:
            found[-1].append(word)
    return found


def is_pure(words):
    """Whether nothing is called or changed."""
    return not any(word.word in ASSIGNING or word.word in ("++", "--", "<<<") or (word.word == "(" and i and words[i - 1].kind in Name)
                   for i, word in enumerate(words))


def definition(words, own):
    """What a statement without its semicolon defines, where it does nothing else; None of any other."""
    if words and all(texts(part)[:3] == ["(", "void", ")"] and len(part) == 4 for part in split(words)):
        return Definition((), False)
    count = 0
    while count < len(words) and (is_type(words[count], own) or (count and words[count].word == "*")):
        count += 1
    names = []
    for part in split(words[count:]) if count else [words]:
        part = part[next((i for i, word in enumerate(part) if word.word != "*"), 0):] if count else part
        step = [word for word in part if word.word not in ("++", "--")]
        if not count and len(part) == 2 and len(step) == 1 and step[0].kind in Name:
            names.append(step[0].word)
            continue
        at = next((i for i, word in enumerate(part) if word.word in ASSIGNING), len(part))
        if not part or part[0].kind not in Name or not is_pure(part[at + 1:]) or (at == len(part) and not count) or \
                (at > 1 and not (count and part[1].word == "[" and is_pure(part[1:at]))):
            return None
        names.append(part[0].word)
    return Definition(tuple(names), bool(count))


class Effects:
    """Which statements of a function matter: those that do more than define what nobody reads."""

    def __init__(self, function, own):
        self.own, self.read = own, set()
        self.mine = {name for words in self.single(function) for found in [definition(words, own)] if found and found.declares for name in found.names}
        before = -1
        while before != len(self.read):
            before = len(self.read)
            self.matters(function)

    def single(self, node):
        """The words of each statement that has no parts, without its semicolon."""
        if node.kind == "simple":
            yield node.head[:-1]
        elif node.kind == "for":
            yield node.parts_of_for()[0]
        for part in node.parts:
            yield from self.single(part)

    def does(self, words):
        """Whether words have an effect. If so, all that they name is read."""
        found = definition(words, self.own) if words else Definition((), False)
        matters = found is None or any(name not in self.mine or name in self.read for name in found.names)
        if matters:
            self.read |= set(texts(words))
        return matters

    def matters(self, node):
        if node.kind == "simple":
            return self.does(node.head[:-1])
        inside = [self.matters(part) for part in node.parts]
        if node.kind == "block":
            return any(inside)
        if node.kind == "for":
            before, condition, after = node.parts_of_for()
            steps = [self.does(before), self.does(after)]
            if not any([*inside, *steps, not is_pure(condition)]) and condition:
                return False
        elif node.kind == "if" and not any(inside) and is_pure(node.condition()):
            return False
        self.read |= set(texts([*node.head, *node.after])) if node.kind != "function" else set()
        return True

    def kept(self, node):
        """The node without what does not matter."""
        if node.kind == "block":
            node.parts = [self.kept(part) for part in node.parts if self.matters(part)]
        else:
            node.parts = [self.kept(part) if self.matters(part) else nothing() for part in node.parts]
        return node


def without_the_uncalled(nodes):
    """Without static functions that nobody names but they themselves."""
    while True:
        named = collections.Counter(word for node in nodes for word in set(texts(node.words())))
        kept = [node for node in nodes if node.kind != "function" or "static" not in texts(node.head) or named[name_of(node)] > 1]
        if len(kept) == len(nodes):
            return nodes
        nodes = kept


def name_of(node):
    """That of a function: the name before the last brackets."""
    depth = 0
    for word in reversed(node.head if node.kind == "function" else []):
        depth += {")": 1, "(": -1}.get(word.word, 0)
        if depth == 0 and word.kind in Name:
            return word.word
    return ""


# ---- functions that were cut off --------------------------------------------------------------------

def called_in(node):
    """The function that a statement calls, where it does nothing else, or gives back what it gives."""
    said = node.head[1:] if node.kind == "simple" and node.head and node.head[0].word == "return" else node.head if node.kind == "simple" else []
    found = arguments(said, 1) if said and said[0].kind in Name else None
    return said[0].word if found and texts(said[found[1]:]) == [";"] else ""


def with_those_called_once(nodes):
    """A static function that is called in one place stands in that place."""
    named = collections.Counter(word for node in nodes for word in texts(node.words()))
    cut_off = {name_of(node): node for node in nodes if node.kind == "function" and "static" in texts(node.head) and named[name_of(node)] == 2}
    taken = set()

    def inside(node):
        name = called_in(node)
        if name in cut_off and name not in taken:
            taken.add(name)
            return inside(cut_off[name].parts[0])
        node.parts = [inside(part) for part in node.parts]
        return node

    for node in reversed(nodes):   # a function is called below it
        if name_of(node) not in taken:
            inside(node)
    return [node for node in nodes if node.kind != "function" or name_of(node) not in taken]


# ---- loops ------------------------------------------------------------------------------------------

def leaves(node):
    """The condition under which a statement leaves its loop, where it does nothing else."""
    if node.kind != "if" or len(node.parts) != 1:
        return None
    then = [word for word in texts(node.parts[0].words()) if word not in ("{", "}")]
    return node.condition() if then == ["break", ";"] else None


def contrary(words):
    """!(a) is the contrary of a."""
    if len(words) > 3 and texts(words[:2]) == ["!", "("] and words[-1].word == ")":
        depth = 0
        for i, word in enumerate(words[1:], 1):
            depth += {"(": 1, ")": -1}.get(word.word, 0)
            if depth == 0 and i < len(words) - 1:
                return None
        return words[2:-1]
    return None


def as_while(node):
    """Every loop as `while`, with its condition in its head."""
    node.parts = [as_while(part) for part in node.parts]
    if node.kind not in ("for", "while"):
        return node
    first, bracket, body = node.head[0], node.head[1], node.parts[0]
    before, condition, after = node.parts_of_for() if node.kind == "for" else ([], node.condition(), [])
    if truth(condition) or not condition:
        condition = []
        inner = contrary(leaves(body.parts[0]) or []) if body.kind == "block" and body.parts else None
        if inner:
            condition, body.parts = inner, body.parts[1:]
    semicolon = first._replace(word=";")
    head = [*before, semicolon] if before else []
    head += [first._replace(word=LOOP), bracket, *condition, node.head[-1]]
    return Node(LOOP, head, [body], after=[*after, semicolon] if after else [])


# ---- all of it --------------------------------------------------------------------------------------

def of(words, own, whole=True):
    """The words of a program in its normal form. `own`: its own names of types; `whole`: code without effect is left out, which
    a stub still needs."""
    try:
        nodes = Reader(words).all()
        if whole:
            nodes = [without_what_never_runs(node) for node in nodes]
            nodes = [Effects(node, own).kept(node) if node.kind == "function" else node for node in nodes]
            nodes = with_those_called_once(without_the_uncalled(nodes))
        return [word for node in map(as_while, nodes) for word in node.words()]
    except (NotRead, RecursionError):
        return words
