"""Places in a policy where looking is likely to pay: found by words alone, so each is a proposal and no finding.

    hedge        `may`, `as a gesture`, `generally`: who decides, and by what?
    choice       `or` in a condition: does one suffice, and must all be looked at?
    conjunction  `and` in a condition: what where only one part holds?
    limit        numbers and spans: what exactly at the limit, and from when?
    order        `after`, `first`, `before`: a condition, or the usual course?
    residue      `other`, `otherwise`, `such as`: what falls under it?
    undefined    a word that stands in conditions and nowhere else: what is meant by it?
    opposites    two clauses about one thing, one that allows and one that forbids: how do they go together?

Each kind belongs to one of the four tests. The lists of words are English.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import attrs

from multigold.policies.clauses import PolicyClause
from multigold.state.canonical import Json

MOST_PAIRS = 20
"""Most pairs of opposites that are proposed: those that share the rarest words."""


@attrs.frozen(kw_only=True)
class Hint:
    """A place to look at.

    Attributes:
        line: First line of the clause.
        test: The test that it is for.
        kind: Why it is proposed; see the module.
        words: The words that gave rise to it.
        question: What to ask of the clause.
        other_line: First line of the other clause, for opposites; 0 otherwise.
    """

    line: int
    test: str
    kind: str
    words: tuple[str, ...]
    question: str
    other_line: int = 0

    def to_json(self) -> dict[str, Json]:
        """Return the hint as plain data."""
        return {**attrs.asdict(self), "words": list(self.words)}


@attrs.frozen(kw_only=True)
class _HintKind:
    """A kind of hint that needs one clause only."""

    name: str
    test: str
    question: str
    pattern: re.Pattern[str]
    in_conditions: bool = False


def _words(*words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)


_HEDGES = _words(
    *("may", "might", "should", "try", "generally", "usually", "typically", "normally", "necessary", "if possible"),
    *("appropriate", "reasonable", "reasonably", "as a gesture", "proactively", "explicitly"),
)
_KINDS = (
    _HintKind(name="hedge", test="assumption", question="Who decides, and by what?", pattern=_HEDGES),
    _HintKind(
        name="choice",
        test="boundary",
        question="Does one of them suffice, and must all be looked at?",
        pattern=_words("or", "either", "any of"),
        in_conditions=True,
    ),
    _HintKind(
        name="conjunction",
        test="boundary",
        question="What if only one part holds?",
        pattern=_words("and", "both"),
        in_conditions=True,
    ),
    _HintKind(
        name="limit",
        test="boundary",
        question="What exactly at the limit, from when, and for each of what?",
        pattern=re.compile(
            r"\b(?:within|at most|at least|up to|more than|less than|higher than|lower than|per|times|once|last)\b"
            r"|\b\d+(?:\.\d+)?\s*(?:hrs?|hours?|days?|weeks?|months?|years?|%|percent)",
            re.IGNORECASE,
        ),
    ),
    _HintKind(
        name="order",
        test="composition",
        question="Is the order a condition, or only the usual course?",
        pattern=_words("after", "before", "first", "then", "already", "once", "until"),
    ),
    _HintKind(
        name="residue",
        test="scope",
        question="What falls under it, and what under nothing?",
        pattern=_words("other", "others", "otherwise", "etc", "such as", "similar", "some", r"any other"),
    ),
)

_CONDITION = re.compile(
    r"\b(?:if|unless|only|when|whenever|where|while|until|provided|given|without)\b([^.;:]*)",
    re.IGNORECASE,
)
_FORBIDS = _words(
    *("cannot", "can't", "can not", "must not", "may not", "should not", "do not", "don't", "never", "no longer"),
    *("not possible", "not allowed", "not refundable"),
)
_ALLOWS = re.compile(r"\b(?:can|may|allowed|able to|free to)\b(?!\s*(?:not|only)|not\b|'t)", re.IGNORECASE)
_ENDINGS = (("ations", ""), ("ation", ""), ("ings", ""), ("ing", ""), ("ied", "y"), ("ies", "y"), ("ed", ""), ("s", ""))
_HIGHLIGHTED = re.compile(r"\*\*([^*\n]+)\*\*|(?<!\w)'([^'\n]+)'(?!\w)")
_WORD = re.compile(r"[a-z][a-z'-]+")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """about above again agent agents all also and any are because been before being both but can cannot could does
        done each either every first following from given has have help her his how into its itself just know last
        least less like made make many may might more most must need needs never not now off once one only other others
        otherwise out over own per please same should since some such than that the their them then there these they
        this those through true two under unless until upon use used user users using very was way were what when where
        whether which while who whom whose will with within without would you your customer""",
    )
)


def find_hints(clauses: Sequence[PolicyClause]) -> tuple[Hint, ...]:
    """Return the places that are worth a look, by clause and then by kind.

    Args:
        clauses: The clauses of one policy.
    """
    alone = [hint for clause in clauses for hint in _alone(clause)]
    found = [*alone, *_undefined(clauses), *_opposites(clauses)]
    order = {clause.first_line: position for position, clause in enumerate(clauses)}
    return tuple(sorted(found, key=lambda hint: order[hint.line]))


def _alone(clause: PolicyClause) -> Iterator[Hint]:
    conditions = " ; ".join(conditions_of(clause))
    for kind in _KINDS:
        words = [w.lower() for w in kind.pattern.findall(conditions if kind.in_conditions else clause.words)]
        if words:
            yield _hint(clause, kind.test, kind.name, words, kind.question)


def _hint(clause: PolicyClause, test: str, kind: str, words: Iterable[str], question: str, other: int = 0) -> Hint:
    once = tuple(dict.fromkeys(words))
    return Hint(line=clause.first_line, test=test, kind=kind, words=once, question=question, other_line=other)


def conditions_of(clause: PolicyClause) -> list[str]:
    """Return the parts of a clause that seem to be conditions; all of it if it completes a line that states one."""
    if clause.lead and _CONDITION.search(clause.lead):
        return [clause.words]
    return [match.group(1) for match in _CONDITION.finditer(clause.words) if match.group(1).strip()]


def content_words(text: str) -> list[str]:
    """Return the words of a text that carry meaning, in lower case."""
    return [word.strip("'") for word in _WORD.findall(text.lower()) if len(word) > 3 and word not in _COMMON]


def stem(word: str) -> str:
    """Return a word without its commonest endings: enough to see that `cancelled` and `cancel` are one."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return re.sub(r"([b-df-hj-np-rtv-z])\1$", r"\1", word.removesuffix(ending) + instead)
    return word


def _undefined(clauses: Sequence[PolicyClause]) -> Iterator[Hint]:
    """Yield the words that stand in conditions only: in no statement, in no heading, and nowhere in bold or quotes."""
    everywhere = Counter(stem(word) for clause in clauses for word in content_words(clause.words))
    inside = Counter(stem(word) for c in clauses for part in conditions_of(c) for word in content_words(part))
    highlighted = [match.group(0) for clause in clauses for match in _HIGHLIGHTED.finditer(clause.words)]
    named = " ".join((*highlighted, *(heading for clause in clauses for heading in clause.heading)))
    known = {stem(word) for word in content_words(named)}
    for clause in clauses:
        words = [word for part in conditions_of(clause) for word in content_words(part)]
        unknown = [w for w in words if inside[stem(w)] >= everywhere[stem(w)] and stem(w) not in known]
        if unknown:
            yield _hint(clause, "assumption", "undefined", unknown, "What does it mean, and where is that said?")


def _opposites(clauses: Sequence[PolicyClause]) -> Iterator[Hint]:
    """Yield pairs of clauses that share at least two words of meaning, one allowing and one forbidding."""
    words = {clause.first_line: frozenset(map(stem, content_words(clause.words))) for clause in clauses}
    rarity = _rarity(words.values())
    allowing = [clause for clause in clauses if _ALLOWS.search(clause.words)]
    forbidding = [clause for clause in clauses if _FORBIDS.search(clause.words)]
    pairs = []
    for one, other in product(allowing, forbidding):
        shared = words[one.first_line] & words[other.first_line]
        if one is not other and len(shared) >= 2:
            pairs.append((sum(rarity[word] for word in shared), one, other, shared))
    pairs.sort(key=lambda pair: (-pair[0], pair[1].first_line, pair[2].first_line))
    for _, one, other, shared in pairs[:MOST_PAIRS]:
        question = "One allows and one forbids: which holds if both apply, and may one follow the other?"
        common = [word for word in content_words(one.words) if stem(word) in shared]
        yield _hint(one, "composition", "opposites", common, question, other.first_line)


def _rarity(texts: Iterable[frozenset[str]]) -> dict[str, float]:
    """Return the inverse document frequency of each word: the logarithm of clauses by clauses that have it."""
    texts = list(texts)
    counts = Counter(word for text in texts for word in text)
    return {word: math.log(len(texts) / count) for word, count in counts.items()}
