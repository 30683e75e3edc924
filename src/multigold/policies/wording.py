"""Small questions about English text: its sentences, whether two texts say the same, what a sentence does.

Everything here is a heuristic about words. It proposes, and a person decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher

from multigold.state.canonical import Json
from multigold.state.json_values import strings

ALIKE = 0.6
"""Share of words in the same order from which two texts count as versions of one."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_REFUSES = re.compile(
    r"\b(?:never|refuse|decline|unwilling|under no circumstances|only want|no longer want)\b"
    r"|\b(?:do|does|will|would|did|must) not (?:want|wish|accept|agree|change|cancel|book|modify|upgrade)\b"
    r"|\b(?:don't|doesn't|won't|wouldn't) (?:want|wish|accept|agree|change|cancel|book|modify|upgrade)\b"
)
_REQUESTS = re.compile(
    r"^(?:first|then|ask|request|insist|demand|tell|try)\b|\bask(?: the agent| them)? (?:to|for)\b"
    r"|\b(?:you|they) (?:also )?(?:want|would like|wish|need|insist)\b"
)


def sentences(value: Json) -> list[str]:
    """Return the sentences and lines of all strings in a JSON value."""
    pieces = (piece.strip() for text in strings(value, keys=False) for piece in _SENTENCE_END.split(text))
    return [piece for piece in pieces if piece]


def plain(text: str) -> str:
    """Return a text as it is compared for wording: one space between words, no case, no mark at the end."""
    return " ".join(text.split()).casefold().rstrip(".!?;, ")


def new_sentences(old: Json, new: Json) -> tuple[str, ...]:
    """Return the sentences of one value that another does not have, each as often as it is new, in order."""
    known = Counter(plain(sentence) for sentence in sentences(old))
    found = []
    for sentence in sentences(new):
        if known[plain(sentence)]:
            known[plain(sentence)] -= 1
        else:
            found.append(sentence)
    return tuple(found)


def same_wording(old: Json, new: Json) -> bool:
    """Tell whether two JSON values differ in nothing but white space, letter case and marks at the end of sentences."""
    return [plain(sentence) for sentence in sentences(old)] == [plain(sentence) for sentence in sentences(new)]


def rewords(sentence: str, others: Iterable[str]) -> bool:
    """Tell whether a sentence is one of the others in slightly other words; see `ALIKE`."""
    words = plain(sentence).split()
    return any(SequenceMatcher(None, words, plain(other).split()).ratio() >= ALIKE for other in others)


def refuses(sentence: str) -> bool:
    """Tell whether a sentence seems to say that the user will not do or accept something."""
    return _REFUSES.search(plain(sentence)) is not None


def requests(sentence: str) -> bool:
    """Tell whether a sentence seems to ask for something to be done, and refuses nothing."""
    return not refuses(sentence) and _REQUESTS.search(plain(sentence)) is not None


def slug(text: str) -> str:
    """Return a text as a name: its words and numbers in lower case, joined by hyphens."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower().replace("'", "")))
