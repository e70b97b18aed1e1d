"""The look-up: how well an entry answers a question, from 0 to 1.

A question that holds one of an entry's phrases whole scores 0.75 or more, and more if it is about
nothing else; one that shares no phrase scores below 0.4.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from nkiport.skills.database import Category, Entry, entries

WHOLE = 0.75
"""The score of a whole phrase in a question that is about much else."""
PARTIAL = 0.4
"""A phrase that is only partly there scores below this."""


FILLERS = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "by", "do", "does", "for", "from", "how", "i", "in",
        "into", "is", "it", "kernel", "module", "nki", "nn", "of", "on", "or", "row", "rowwise",
        "that", "the", "this", "to", "torch", "triton", "cuda", "use", "using", "what", "when",
        "where", "which", "with", "write",
    }
)  # fmt: skip
"""Words that say nothing about which entry is meant."""


@dataclass(frozen=True)
class Words:
    """A text's words in lower case, camel case split, and each pair of neighbours as one word."""

    plain: tuple[str, ...]
    joined: frozenset[str]


@dataclass(frozen=True)
class Hit:
    """An entry and how well it answers."""

    entry: Entry
    score: float


def lookup(query: str, *, top: int = 5, category: Category | None = None) -> tuple[Hit, ...]:
    """The best entries for a question, best first; those that score 0 are left out.

    >>> lookup("row-wise softmax kernel", top=1)[0].entry.id
    'softmax'
    """
    question = _words(query)
    hits = [
        Hit(entry, score)
        for entry in entries()
        if category in {None, entry.category} and (score := _score(entry, question)) > 0
    ]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.entry.id))[:top])


def _score(entry: Entry, question: Words) -> float:
    return max(_phrase_score(_words(phrase), question) for phrase in entry.asks)


def _phrase_score(phrase: Words, question: Words) -> float:
    plain, asked = set(phrase.plain), set(question.plain) | question.joined
    if plain <= asked or "".join(phrase.plain) in asked:
        return WHOLE + (1 - WHOLE) * min(len(plain) / len(question.plain), 1.0)
    return PARTIAL * len(plain & asked) / len(plain)


def _words(text: str) -> Words:
    split = re.sub(r"([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\2 ", text)
    plain = [word for word in re.findall(r"[a-z0-9]+", split.lower()) if word not in FILLERS]
    pairs = pairwise(plain)
    return Words(tuple(plain), frozenset(first + second for first, second in pairs))
