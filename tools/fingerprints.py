"""Fingerprints of source: what two programs have in common after names, comments, types and braces were changed.

Winnowing (Schleimer, Wilkerson and Aiken, 2003) over tokens: of GRAM tokens in a row a number is made, and of WINDOW such
numbers in a row the least is kept. So a passage of GRAM + WINDOW - 1 tokens that two texts have in common always leaves a
fingerprint in both, wherever it stands. Pygments cuts the tokens.
"""
import collections
import hashlib

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Name, Number, Operator, String, Text, Whitespace

import c_reader
import normal_form
from c_reader import Word, is_type

GRAM, WINDOW = 8, 4

Token = collections.namedtuple("Token", "word begin end")      # as it is compared, and its place in the text
Print = collections.namedtuple("Print", "number first last")   # a fingerprint, and its tokens

LEFT_OUT = {"{", "}"}
SAME = {"->": "."}
FREE = "name"


def lexer_of(file):
    return get_lexer_by_name("cuda" if file.endswith((".cu", ".cuh")) else "c", stripnl=False, ensurenl=False)


def lexed(text, file):
    """The words that a compiler reads. Pygments cuts `->` and `+=` in two: here they are one again."""
    found = []
    for begin, kind, word in lexer_of(file).get_tokens_unprocessed(text):
        if kind in Comment or kind in Text or kind in Whitespace or not word.strip():
            continue
        before = found[-1] if found else None
        if before and kind not in Name and before.end == begin and before.word + word in JOINED:
            found[-1] = before._replace(word=before.word + word, end=begin + len(word))
        elif kind in Number and word[0] in "+-":   # Pygments takes the sign for a part of the number
            found += [Word(Operator, word[0], begin, begin + 1), Word(kind, word[1:], begin + 1, begin + len(word))]
        else:
            found.append(Word(kind, word, begin, begin + len(word)))
    return found


def written_out(text, file):
    """The words, macros written out."""
    words, found = lexed(text, file), []
    try:
        c_reader.expand(words, c_reader.macros_of(text, lambda part: lexed(part, file)), found)
    except (c_reader.NotRead, RecursionError):
        return words
    return found


JOINED = set("-> ++ -- += -= *= /= %= &= |= ^= == != <= >= && || << >> <<= >>=".split())


def without_announcements(words):
    """Prototypes are not compared, nor other names of types: those who change the order of functions need some."""
    kept, statement, depth = [], [], 0
    for each in words:
        statement.append(each)
        depth += {"{": 1, "}": -1}.get(each.word, 0)
        if depth == 0 and each.word in (";", "}"):
            body = c_reader.texts(statement)
            announces = each.word == ";" and "{" not in body and (body[0] == "typedef" or ("(" in body and "=" not in body))
            kept += [] if announces else statement
            statement = []
    return kept + statement


def number(word):
    """The value: 1, 1u and 1.0f are the same."""
    text = word.lower()
    try:
        return f"{float(int(text.rstrip('ul'), 0)):g}"
    except ValueError:
        try:
            return f"{float(text.rstrip('fl')):g}"
        except ValueError:
            return text


def declared_in(words):
    """Names of functions and their parameters: a writer may choose them, also where the kit has one that is called so."""
    found, depth = set(), 0
    for kind, word, _, _ in words:
        depth += {"{": 1, "}": -1}.get(word, 0)
        if depth == 0 and kind in Name:
            found.add(word)
    return found


def word_of(words, i, fixed, own):
    """How the i-th is compared. A name that the kit gives stays, where it is called, a field or a constant."""
    kind, word, _, _ = words[i]
    if kind in Number:
        return number(word)
    if kind in String:
        return '""'
    if kind in Name:
        called = i + 1 < len(words) and words[i + 1].word in ("(", "<<<") and word not in own
        used = called or word.isupper() or (i > 0 and words[i - 1].word in (".", "->"))
        return word if used and word in fixed else FREE
    return SAME.get(word, word)


def without_casts(tokens, types):
    """`(float)x` is x. `types` has the tokens that were left out for being types, as the number of tokens before each."""
    kept, i = [], 0
    while i < len(tokens):
        stars = i + 1
        while stars < len(tokens) and tokens[stars].word == "*":
            stars += 1
        if tokens[i].word == "(" and i + 1 in types and stars < len(tokens) and tokens[stars].word == ")":
            i = stars + 1
        else:
            kept.append(tokens[i])
            i += 1
    return kept


def tokens_of(text, file, fixed=frozenset(), whole=True):
    """The tokens that are compared. `fixed`: names that a writer cannot choose; `whole`: the text is complete, as a stub is not."""
    words = written_out(text, file)
    named = c_reader.own_types(words)
    words, tokens, types = normal_form.of(without_announcements(words), named, whole), [], set()
    own = declared_in(words)
    for i, word in enumerate(words):
        if is_type(word, named):
            types.add(len(tokens))
        elif word.word not in LEFT_OUT:
            tokens.append(Token(word_of(words, i, fixed, own), word.begin, word.end))
    return without_casts(tokens, types)


def grams(tokens):
    """The number of each GRAM tokens in a row."""
    words = [token.word for token in tokens]
    return [int.from_bytes(hashlib.blake2b(" ".join(words[i:i + GRAM]).encode(errors="replace"), digest_size=8).digest(), "big")
            for i in range(len(words) - GRAM + 1)]


def statements(tokens):
    """(its words, first token, the one after its last) of each that is long enough to be recognised."""
    first = 0
    for at, token in enumerate(tokens):
        if token.word == ";":
            if at + 1 - first >= GRAM // 2:
                yield " ".join(each.word for each in tokens[first:at + 1]), first, at + 1
            first = at + 1


def winnowed(numbers):
    """Of each window the least, of equal ones the last: places, in order."""
    if not numbers:
        return []
    size = min(WINDOW, len(numbers))
    return sorted({min(range(i, i + size), key=lambda at: (numbers[at], -at)) for i in range(len(numbers) - size + 1)})


def prints_of(tokens):
    numbers = grams(tokens)
    return [Print(numbers[at], at, at + GRAM) for at in winnowed(numbers)]
