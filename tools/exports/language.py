"""What students read in another language than English. docs/translating.md.

Records are in English: so those of a class compare, and an issue can be read. Translated is what is shown. course.json of the
kit says which language, and languages/LANGUAGE.mo has its sentences, as gettext keeps them. A sentence is a format of C's
printf, and a text is known by it: what stands for %s is looked up again, for one sentence may stand in another.
"""
import functools
import gettext
import json
import re
import struct
import sys

COURSE, FOLDER = "course.json", "languages"
NAME = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?")
CONVERSION = re.compile(r"%(?:(\d+)\$)?[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?([diouxXeEfgGscp%])")
NUMBER = r"([-+]?(?:[\d.]+(?:e[-+]?\d+)?|[nN]a[nN]|inf))"
STANDS_FOR = {"%": "%", "s": "(.+?)", "c": "(.)", "x": r"([\da-f]+)", "X": r"([\dA-F]+)", "p": r"(0x[\da-f]+|\(nil\))"}
MOST_TEXT, MOST_DEPTH = 1000, 6   # of a text that a format may have made, and of sentences in sentences
WORDS = 2   # a sentence has at least as many of letters, or every text would be one

# What is not a sentence of the grader's, and shown with its records; `|said` marks the words of a page.
SHOWN = ("pass", "fail", "not started", "crashed", "timeout", "over budget", "build error", "grader error", "sandbox error", "not run",
         "The grader itself failed. This says nothing about your work: it will be graded again.", "The hand-in was refused: %s",
         "%d check lost points: %s", "%d checks lost points: %s", "Every check passed.", "Every check that you see passed.",
         "One mistake explains all %d lost checks: %s",
         "One mistake explains %d of %d lost checks: %s", "checks that are not shown", "Score:   %g of %g points", "Sandbox: %s", "likely: %s",
         "%s: TODO: %s", "needs lab %s: %s", "the mistake above", "The checks that you see: %g of %g points. There are others.",
         "With the kit's %s in place of yours %s pass.", "none of the lab's files is in it: %s", "Lab %s, %s", "points    %s of %s",
         "loss      %s: %s", "late by   %s", "counts    %s", "on time", "within the grace", "extension", "extension (%s)", "no deadline",
         "%d day late: %s %% of the total", "%d days late: %s %% of the total", "%d day late: %s %% of the points reached",
         "%d days late: %s %% of the points reached", "no more than that")


class Failed(Exception):
    """Why there is no other language: a line."""


def letters(text):
    """How many words a sentence has."""
    return len(re.findall(r"[A-Za-z]{2,}", CONVERSION.sub(" ", text)))


def pattern_of(sentence):
    """What matches a text of this format; a group for each conversion."""
    parts, at = [], 0
    for found in CONVERSION.finditer(sentence):
        parts.append(re.escape(sentence[at:found.start()]))
        parts.append(STANDS_FOR.get(found[2], NUMBER))
        at = found.end()
    return re.compile("".join(parts) + re.escape(sentence[at:]), re.S)


class Sentences(gettext.GNUTranslations):
    """A file of gettext's."""

    def pairs(self):
        """[(sentence, what stands for it)]"""
        return [(one, other) for one, other in self._catalog.items() if isinstance(one, str) and one and other and one != other]


class Language:
    """A language: texts in it."""

    def __init__(self, pairs, name="en"):
        pairs = [(one.strip(), other.strip()) for one, other in pairs]   # white space stays the text's own
        self.name, self.whole = name.replace("_", "-"), dict(pairs)
        formats = [(one, other) for one, other in pairs if CONVERSION.search(one) and (letters(one) >= WORDS or one in SHOWN)]
        # Of two that fit the one with more of its own letters is meant.
        self.formats = [(pattern_of(one), other) for one, other in sorted(formats, key=lambda pair: -len(CONVERSION.sub("", pair[0])))]
        self.said = functools.lru_cache(maxsize=4096)(self.find)

    def find(self, text, depth=0):
        """The text in this language, as far as it has sentences of it."""
        core = text.strip()
        other = self.whole.get(core) or (self.formatted(core, depth) if len(core) <= MOST_TEXT and depth < MOST_DEPTH and self.formats else None)
        if other is not None:
            return text.replace(core, other)
        return "\n".join(self.find(line, depth) for line in text.split("\n")) if "\n" in text else text

    def formatted(self, text, depth):
        """A text that was made by a format, in this language; None for any other."""
        for pattern, other in self.formats:
            found = pattern.fullmatch(text)
            if found:
                return self.filled(other, found.groups(), depth + 1)
        return None

    def filled(self, other, values, depth):
        """A translation with what was found in the text."""
        turn = iter(range(len(values)))

        def value(found):
            if found[2] == "%":
                return "%"
            text = values[int(found[1]) - 1] if found[1] else values[next(turn)]
            return self.find(text, depth) if found[2] == "s" else text
        try:
            return CONVERSION.sub(value, other)
        except (IndexError, StopIteration):
            return CONVERSION.sub("", other)   # msgfmt -c refuses such a file


ENGLISH = Language([])


def load(name):
    """The language of that name."""
    path = f"{FOLDER}/{name}.mo"
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Failed(f"{COURSE}: language: {name!a} is not the name of a language, such as de or pt_BR")
    try:
        with open(path, "rb") as file:
            return Language(Sentences(file).pairs(), name)
    except FileNotFoundError:
        raise Failed(f"{COURSE}: language: there is no {path}; `make languages` makes it of {FOLDER}/{name}.po") from None
    except (OSError, ValueError, IndexError, struct.error):
        raise Failed(f"{path}: this is not a file of gettext's") from None


@functools.lru_cache(maxsize=None)
def here():
    """The language of this kit: English, unless its course.json says another. What is wrong with that is said once."""
    try:
        with open(COURSE, encoding="utf-8") as file:
            name = json.load(file).get("language", "")
        return load(name) if name else ENGLISH
    except FileNotFoundError:
        return ENGLISH
    except (OSError, ValueError, AttributeError) as error:
        print(f"{COURSE}: {error}: English is spoken", file=sys.stderr)
    except Failed as error:
        print(f"{error}: English is spoken", file=sys.stderr)
    return ENGLISH
