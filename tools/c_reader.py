"""C as far as `make similar` reads it: words, macros written out, names of types, statements as a tree."""
import collections
import re

from pygments.token import Keyword, Name

Word = collections.namedtuple("Word", "kind word begin end")

DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()\n]*\))?((?:[^\n\\]|\\[^\n]|\\\n)*)", re.M)
MOST_WORDS = 100000
QUALIFIERS = {"const", "static", "inline", "restrict", "volatile", "register", "extern", "signed", "unsigned", "struct", "enum", "union",
              "__restrict__"}
TYPE = re.compile(r"[A-Z]+[a-z]\w*$|\w+_t$")   # Trainer, size_t: as the kit and C call their types
CLOSING = {"(": ")", "[": "]", "{": "}"}
ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


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
