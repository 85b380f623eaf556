"""How much of two hand-ins is alike, weighed by how few others have it.

A fingerprint that only two have counts in full, one that all have counts for nothing, and one of the stub, or of what a
public solution has, is left out. The tokens below the fingerprints that two hand-ins share, so weighed, make `tokens`; their
part of all weighed tokens of the two is `share`. A pair is above the line if both are large, in all files together or in one.
"""
import collections
import itertools
import math

import fingerprints

# The share and the tokens, in all files and in one, from which on a pair is looked at: docs/similar.md says what was measured.
LINE, LEAST, LEAST_IN_ONE = 0.85, 30, 100

Alike = collections.namedtuple("Alike", "share tokens")
Run = collections.namedtuple("Run", "left right length")      # the same in tokens
Passage = collections.namedtuple("Passage", "left right")   # (begin, end) in two texts, in characters


def is_above(alike, least=LEAST):
    return alike.share >= LINE and alike.tokens >= least


class Source:
    """A hand-in, or what hand-ins are compared with: its files as they are read."""

    def __init__(self, name, texts, fixed=frozenset(), reference=False, whole=True):
        self.name, self.texts, self.reference = name, texts, reference
        self.tokens = {file: fingerprints.tokens_of(text, file, fixed, whole) for file, text in texts.items()}

    def parts(self):
        """What a base is made of: numbers of GRAM tokens, and whole statements, which may stand in another order."""
        return {part for tokens in self.tokens.values() for part in
                [*fingerprints.grams(tokens), *(words for words, _, _ in fingerprints.statements(tokens))]}


class Own:
    """A file without what it has in common with the base. A token belongs to the last fingerprint that begins at it or before."""

    def __init__(self, tokens, base):
        self.known = {at for first, number in enumerate(fingerprints.grams(tokens)) if number in base
                      for at in range(first, first + fingerprints.GRAM)}
        self.known |= {at for words, first, last in fingerprints.statements(tokens) if words in base for at in range(first, last)}
        self.prints = [each for each in fingerprints.prints_of(tokens) if each.number not in base and self.is_own(each)]
        self.tokens = collections.Counter()   # of each number
        for each, after in itertools.zip_longest(self.prints, self.prints[1:]):
            last = min(each.last, after.first) if after else each.last
            self.tokens[each.number] += self.count(each.first, last)
        for words, first, last in fingerprints.statements(tokens):   # whole ones also count where their order has changed
            if words not in base:
                self.tokens[words] += self.count(first, last)
        self.tokens = collections.Counter({part: count / 2 for part, count in self.tokens.items() if count})

    def is_own(self, each):
        """Not those at the border of the base, nor those between two parts of it that changed places."""
        return self.count(each.first, each.last) > fingerprints.GRAM // 2

    def count(self, first, last):
        """Tokens of its own."""
        return sum(at not in self.known for at in range(first, last))

    def weight(self, weights, numbers):
        """Of the tokens of these fingerprints: one that few have weighs more."""
        return sum(weights[number] * self.tokens[number] for number in numbers)


def rarity(having, all_of_them):
    """1 for what two of them have, 0 for what all have; between, by the logarithm."""
    return 1.0 if having <= 2 else math.log(all_of_them / having) / math.log(all_of_them / 2)


class Corpus:
    """Sources that are compared with each other. `base`: the numbers that say nothing."""

    def __init__(self, sources, base):
        self.sources = sources
        self.own = [{file: Own(tokens, base) for file, tokens in source.tokens.items()} for source in sources]
        having = collections.Counter(number for files in self.own
                                     for number in {each for own in files.values() for each in own.tokens})
        self.weights = {number: rarity(count, len(sources)) for number, count in having.items()}
        self.totals = [{file: own.weight(self.weights, own.tokens) for file, own in files.items()} for files in self.own]

    def size(self, i):
        """Its own tokens, weighed: what a pair with it can have in common at most."""
        return sum(self.totals[i].values())

    def alike(self, i, k):
        """(of all files together, {file: of one}) that two sources have in common."""
        files, common, both = {}, 0.0, 0.0
        for file in sorted(self.own[i].keys() | self.own[k].keys()):
            total = sum(self.totals[each].get(file, 0.0) for each in (i, k))
            tokens = self.shared(self.own[i][file], self.own[k][file]) if file in self.own[i] and file in self.own[k] else 0.0
            files[file] = Alike(2 * tokens / total if total else 0.0, tokens)
            common, both = common + tokens, both + total
        return Alike(2 * common / both if both else 0.0, common), files

    def shared(self, one, other):
        numbers = one.tokens.keys() & other.tokens.keys()
        return min(one.weight(self.weights, numbers), other.weight(self.weights, numbers))

    def passages(self, i, k, file):
        """What two sources have in common in a file, from the longest on, none inside of another."""
        if file not in self.own[i] or file not in self.own[k]:
            return []
        left, right = self.own[i][file], self.own[k][file]
        words = [[token.word for token in self.sources[each].tokens[file]] for each in (i, k)]
        places = collections.defaultdict(list)
        for each in right.prints:
            places[each.number].append(each.first)
        runs = {longest_run(*words, each.first, other, left.known) for each in left.prints if self.weights.get(each.number, 0) > 0
                for other in places[each.number]}
        taken = []
        for run in sorted(runs, key=lambda run: (-run.length, run)):
            if run.length >= fingerprints.GRAM // 2 and not any(overlap(run, other) for other in taken):
                taken.append(run)
        left, right = (self.sources[each].tokens[file] for each in (i, k))
        return [Passage((left[run.left].begin, left[run.left + run.length - 1].end), (right[run.right].begin, right[run.right + run.length - 1].end))
                for run in sorted(part for run in taken for part in in_order(run, left, right))]


def in_order(run, left, right):
    """Its parts that stand in the texts in the order of the tokens: what was moved for comparison is a part of its own."""
    begin, found = 0, []
    for at in range(1, run.length + 1):
        if at == run.length or any(tokens[first + at].begin < tokens[first + at - 1].begin for tokens, first in ((left, run.left), (right, run.right))):
            found += [Run(run.left + begin, run.right + begin, at - begin)] if at - begin >= fingerprints.GRAM // 2 else []
            begin = at
    return found


def longest_run(words, others, first, other, known):
    """The passage around GRAM tokens that are the same in both, as far as it is not of the base."""
    begin, end = 0, fingerprints.GRAM
    while begin < min(first, other) and words[first - begin - 1] == others[other - begin - 1] and first - begin - 1 not in known:
        begin += 1
    while (first + end < len(words) and other + end < len(others) and words[first + end] == others[other + end]
           and first + end not in known):
        end += 1
    while end > -begin and first + end - 1 in known:
        end -= 1
    while begin > -end and first - begin in known:
        begin -= 1
    return Run(first - begin, other - begin, begin + end)


def overlap(one, other):
    return (one.left < other.left + other.length and other.left < one.left + one.length) or (
        one.right < other.right + other.length and other.right < one.right + one.length)
