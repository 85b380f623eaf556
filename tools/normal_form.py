"""A program without what a copier changes at no cost: macros, names of types, the form of a loop, code without effect, and
functions that were cut in two.

Words come in as a lexer gives them, and go out in their order, each with its place in the text; only the step of a `for`
stands where it is done, and a function that is called in one place stands there. What cannot be read as C goes out as it came in.
"""
import collections
import re

from pygments.token import Keyword, Name, Number

Word = collections.namedtuple("Word", "kind word begin end")

DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()\n]*\))?((?:[^\n\\]|\\[^\n]|\\\n)*)", re.M)
MOST_WORDS, MOST_IN_CONDITION = 100000, 16
QUALIFIERS = {"const", "static", "inline", "restrict", "volatile", "register", "extern", "signed", "unsigned", "struct", "enum", "union",
              "__restrict__"}
TYPE = re.compile(r"[A-Z]+[a-z]\w*$|\w+_t$")   # Trainer, size_t: as the kit and C call their types
CLOSING = {"(": ")", "[": "]", "{": "}"}
ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
LOOP = "while"


class NotRead(Exception):
    """C as it is understood here is something else."""


def texts(words):
    return [word.word for word in words]


# ---- macros -----------------------------------------------------------------------------------------

def macros_of(text, lex):
    """{name: (parameters or None, words)} of all that a text defines. `lex`: of a text its words."""
    return {name: (re.findall(r"\w+", parameters) if parameters else None, lex(body.replace("\\\n", " ")))
            for name, parameters, body in DEFINE.findall(text)}


def arguments(words, i):
    """(the words of each argument, where it goes on) of the brackets at i; None where there are none."""
    if i >= len(words) or words[i].word != "(":
        return None
    found, depth = [[]], 0
    for k in range(i, len(words)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(words[k].word, 0)
        if depth == 0:
            return found, k + 1
        if depth == 1 and words[k].word == ",":
            found.append([])
        elif k > i:
            found[-1].append(words[k])
    return None


def expand(words, macros, out, hidden=frozenset(), place=None):
    """Appends the words with all macros written out. `place`: that of the macro in which they stand."""
    i = 0
    while i < len(words):
        word = words[i]
        parameters, body = macros.get(word.word, (None, None)) if word.word not in hidden else (None, None)
        given = arguments(words, i + 1) if parameters is not None else ([], i + 1)
        if body is None or given is None:
            out.append(word._replace(begin=place[0], end=place[1]) if place else word)
            i += 1
            continue
        values = dict(zip(parameters or [], given[0]))
        inner = [each for part in body for each in values.get(part.word, [part])]
        expand(inner, macros, out, hidden | {word.word}, place or (word.begin, words[given[1] - 1].end))
        if len(out) > MOST_WORDS:
            raise NotRead
        i = given[1]


# ---- types ------------------------------------------------------------------------------------------

def is_type(word, own=frozenset()):
    """`own`: names of the text's own types."""
    return word.kind in Keyword.Type or word.word in QUALIFIERS or word.word in own or (word.kind in Name and TYPE.match(word.word) is not None)


def own_types(words):
    """What `typedef float real;` calls a type."""
    found, statement, depth = set(), [], 0
    for word in words:
        statement.append(word)
        depth += {"{": 1, "}": -1}.get(word.word, 0)
        if word.word == ";" and depth == 0:
            if statement[0].word == "typedef" and len(statement) > 3 and statement[-2].kind in Name:
                found.add(statement[-2].word)
            statement = []
        elif word.word == "}" and depth == 0 and statement[0].word not in ("typedef", "struct", "enum", "union"):
            statement = []
    return found


# ---- statements -------------------------------------------------------------------------------------

class Node:
    """A statement: its words up to its parts, the parts, and what stands between and after them."""

    def __init__(self, kind, head, parts=(), between=(), after=()):
        self.kind, self.head, self.parts, self.between, self.after = kind, list(head), list(parts), list(between), list(after)

    def words(self):
        inner = [self.parts[0].words(), self.between, *(part.words() for part in self.parts[1:])] if self.kind == "if" and self.parts else \
            [part.words() for part in self.parts]
        return [*self.head, *(word for words in inner for word in words), *self.after]

    def condition(self):
        """Of an if or a loop."""
        if self.kind == "for":
            return self.parts_of_for()[1]
        return self.after[2:-2] if self.kind == "do" else self.head[2:-1]

    def parts_of_for(self):
        """What is done before, the condition, what is done after each turn."""
        inner, found, depth = self.head[2:-1], [[]], 0
        for word in inner:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(word.word, 0)
            if word.word == ";" and depth == 0:
                found.append([])
            else:
                found[-1].append(word)
        if len(found) != 3:
            raise NotRead
        return found


class Reader:
    """Makes nodes of words."""

    def __init__(self, words):
        self.words, self.at, self.match, opened = words, 0, {}, []
        for i, word in enumerate(words):
            if word.word in CLOSING:
                opened.append(i)
            elif word.word in CLOSING.values():
                if not opened or CLOSING[words[opened[-1]].word] != word.word:
                    raise NotRead
                self.match[opened.pop()] = i
        if opened:
            raise NotRead

    def word(self, ahead=0):
        return self.words[self.at + ahead].word if self.at + ahead < len(self.words) else ""

    def take(self, end):
        """The words up to there."""
        found, self.at = self.words[self.at:end], end
        return found

    def head(self):
        """A keyword and its condition."""
        if self.word(1) != "(":
            raise NotRead
        return self.take(self.match[self.at + 1] + 1)

    def to(self, stop, begin=None):
        """After the next `stop` that is in no brackets."""
        i = self.at if begin is None else begin
        while i < len(self.words) and self.words[i].word != stop:
            if self.words[i].word in CLOSING.values():
                raise NotRead
            i = self.match.get(i, i) + 1
        if i >= len(self.words):
            raise NotRead
        return i + 1

    def statement(self):
        word = self.word()
        if word == "{":
            end = self.match[self.at]
            head, parts = self.take(self.at + 1), []
            while self.at < end:
                parts.append(self.statement())
            return Node("block", head, parts, after=self.take(end + 1))
        if word == "if":
            head, parts, between = self.head(), [self.statement()], []
            if self.word() == "else":
                between = self.take(self.at + 1)
                parts.append(self.statement())
            return Node("if", head, parts, between)
        if word in ("while", "for", "switch"):
            return Node(word, self.head(), [self.statement()])
        if word == "do":
            head, parts = self.take(self.at + 1), [self.statement()]
            if self.word() != "while":
                raise NotRead
            return Node("do", head, parts, after=self.take(self.to(";")))
        if word in ("case", "default") or self.word(1) == ":":
            return Node("label", self.take(self.to(":")))
        return Node("simple", self.take(self.to(";")))

    def outside(self):
        """A function, or what else stands outside of all."""
        begin, i = self.at, self.at
        while i < len(self.words) and self.words[i].word != ";":
            if self.words[i].word == "{" and i > begin and self.words[i - 1].word == ")" and "=" not in texts(self.words[begin:i]):
                return Node("function", self.take(i), [self.statement()])
            if self.words[i].word in CLOSING.values():
                raise NotRead
            i = self.match.get(i, i) + 1
        return Node("simple", self.take(min(i + 1, len(self.words))))

    def all(self):
        nodes = []
        while self.at < len(self.words):
            nodes.append(self.outside())
        return nodes


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
