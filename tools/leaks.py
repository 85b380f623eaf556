"""Is a part of a solution in a text? Looked for in two ways, so that an answer in other words is found as well.

Runs of tokens are compared, with the names taken out that a writer is free to choose, and all numbers: so a part is still
found after a variable was renamed or a line broken elsewhere. And one function that has most of the kit's names that a
solution has, calls, fields and constants that its stub has not, does the same work, in whatever order it is written.
"""
import glob
import re

RUN = 26   # tokens that two texts may have in common by chance
NAMES, SHARE = 6, 0.6   # names of the kit, and that share of the solution's, which one function may not have
KEYWORDS = set("break case char const continue do double else enum extern float for goto if int long return short signed sizeof "
               "static struct switch typedef union unsigned void while bool true false NULL size_t".split())
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|->|\+\+|--|<<|>>|[-+*/%&|^!=<>]=|&&|\|\||\S', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*", re.M)
HEADERS = ("kernels/*.h", "kernels/*.cuh", "common/*.h", "labs/*/contract.h")


def tokens_of(text):
    return [word for word in TOKEN.findall(text) if not word.startswith(("/*", "//"))]


def functions_of(text):
    """The bodies of all functions, as lists of tokens."""
    words, depth, start = tokens_of(DIRECTIVE.sub("", text)), 0, 0
    for i, word in enumerate(words):
        if word == "{":
            start = start if depth else i
            depth += 1
        elif word == "}" and depth:
            depth -= 1
            if depth == 0 and words[start - 1] == ")":
                yield words[start:i + 1]


def headers():
    return [path for pattern in HEADERS for path in glob.glob(pattern)]


def names_of_the_kit():
    """Functions, fields, types and constants of the headers: who uses them cannot call them otherwise."""
    names = set()
    for path in headers():
        with open(path, encoding="utf-8") as file:
            names.update(word for word in tokens_of(file.read()) if word[0].isalpha())
    return names


class Search:
    """Of solutions, each given with its stub, in whatever is shipped."""

    def __init__(self):
        self.fixed = names_of_the_kit()
        self.secret = {}   # {run: path of the solution}
        self.names = {}    # {path of the solution: names of the kit in what a student writes}

    def is_fixed(self, words, i):
        """A name is fixed where it is called, a field, a type or a constant. After a type of functions its parameters follow: no call."""
        word = words[i]
        used = (words[i + 1:i + 2] == ["("] and not word.endswith("_fn")) or (i > 0 and words[i - 1] in (".", "->")) or word[0].isupper()
        return used and word in self.fixed

    def plain(self, words):
        """The words with what is free taken out."""
        found = []
        for i, word in enumerate(words):
            if word[0] == '"':
                word = '""'
            elif word[0].isdigit():
                word = "0"
            elif (word[0].isalpha() or word[0] == "_") and word not in KEYWORDS:
                word = word if self.is_fixed(words, i) else "name"
            found.append(word)
        return found

    def runs(self, text):
        words = self.plain(tokens_of(text))
        return [tuple(words[i:i + RUN]) for i in range(len(words) - RUN + 1)]

    def names_in(self, words):
        return {word for i, word in enumerate(words) if len(word) > 1 and word not in KEYWORDS and self.is_fixed(words, i)}

    def names_of(self, text):
        return set().union(*(self.names_in(words) for words in functions_of(text)))

    def keep_secret(self, path, solution, stub):
        """Every run that the solution has and the stub has not, and every name."""
        known = set(self.runs(stub))
        self.secret.update((run, path) for run in self.runs(solution) if run not in known)
        self.names[path] = self.names_of(solution) - self.names_of(stub)

    def keep_public(self, text):
        """What a solution that is shipped says in the same words is not a secret."""
        for run in self.runs(text):
            self.secret.pop(run, None)

    def leaks(self, text):
        """{the solution: what of it is in the text}"""
        found = {}
        for run in self.runs(text):
            if run in self.secret:
                found.setdefault(self.secret[run], " ".join(run))
        for words in functions_of(text):
            here = self.names_in(words)
            for path, names in self.names.items():
                same = sorted(here & names)
                if len(same) >= max(NAMES, SHARE * len(names)):
                    found.setdefault(path, f"one function with {' '.join(same)}")
        return found
