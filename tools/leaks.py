"""Is a part of a solution in a text? Runs of tokens are compared, with the names taken out that a writer is free to
choose, and all numbers: so a part is still found after a variable was renamed or a line broken elsewhere."""
import glob
import re

RUN = 26   # tokens that two texts may have in common by chance
KEYWORDS = set("break case char const continue do double else enum extern float for goto if int long return short signed sizeof "
               "static struct switch typedef union unsigned void while bool true false NULL size_t".split())
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|->|\+\+|--|<<|>>|[-+*/%&|^!=<>]=|&&|\|\||\S', re.S)
HEADERS = ("kernels/*.h", "kernels/*.cuh", "common/*.h", "labs/*/contract.h")


def tokens_of(text):
    return [word for word in TOKEN.findall(text) if not word.startswith(("/*", "//"))]


def names_of_the_kit():
    """Functions, fields, types and constants of the headers: who uses them cannot call them otherwise."""
    names = set()
    for pattern in HEADERS:
        for path in glob.glob(pattern):
            with open(path, encoding="utf-8") as file:
                names.update(word for word in tokens_of(file.read()) if word[0].isalpha())
    return names


class Search:
    """Of solutions, each given with its stub, in whatever is shipped."""

    def __init__(self):
        self.fixed = names_of_the_kit()
        self.secret = {}   # {run: path of the solution}

    def plain(self, words):
        """The words with what is free taken out. A name is fixed where it is called, a field, a type or a constant."""
        found = []
        for i, word in enumerate(words):
            if word[0] == '"':
                word = '""'
            elif word[0].isdigit():
                word = "0"
            elif (word[0].isalpha() or word[0] == "_") and word not in KEYWORDS:
                used = words[i + 1:i + 2] == ["("] or (i > 0 and words[i - 1] in (".", "->")) or word[0].isupper()
                word = word if used and word in self.fixed else "name"
            found.append(word)
        return found

    def runs(self, text):
        words = self.plain(tokens_of(text))
        return [tuple(words[i:i + RUN]) for i in range(len(words) - RUN + 1)]

    def keep_secret(self, path, solution, stub):
        """Every run that the solution has and the stub has not."""
        known = set(self.runs(stub))
        self.secret.update((run, path) for run in self.runs(solution) if run not in known)

    def keep_public(self, text):
        """What the kit says in the same words is not a secret."""
        for run in self.runs(text):
            self.secret.pop(run, None)

    def leak(self, text):
        """(the solution, the run) of the first run of a text that is secret, or None."""
        return next(((self.secret[run], " ".join(run)) for run in self.runs(text) if run in self.secret), None)
