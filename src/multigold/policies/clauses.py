"""A policy in Markdown, split into clauses: the pieces that one test of an audit, or one reference, is about.

A clause is a paragraph, an item of a list, a row of a table or a fenced block. Headings, and labels such as
`Change cabin:`, are not clauses; they name the ones below them. An item that begins with a small letter or a digit is a
fragment (`- user id`), and belongs to the line that it completes; one that begins with a capital letter or is numbered
says something by itself and is a clause. Where a line ends with a colon, the items below it keep it as their `lead`,
since `It is a business flight` means little without `can be cancelled if any of the following is true`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs

from multigold.policies.lines import ITEM, LineKind, headings, line_kinds, lines_fingerprint, policy_lines

_MARK = re.compile(r"^\s*[-*+]\s")
_OUTSIDE = ("heading", "label", "rule")
"""Lines that belong to no clause."""

_EMPHASIS = "*_`\"'( "


@attrs.frozen(kw_only=True)
class PolicyClause:
    """A clause as it stands in one copy of a policy.

    Attributes:
        heading: Headings above it, outermost first, then the label of its group.
        first_line: Its first line, counted from 1.
        last_line: Its last line.
        text: Its lines, joined by newlines.
        lead: The line that it completes, ending with a colon; empty if it stands by itself.
    """

    heading: tuple[str, ...]
    first_line: int
    last_line: int
    text: str
    lead: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of its lines, as a catalogue states it."""
        return lines_fingerprint(self.text.split("\n"))

    @property
    def words(self) -> str:
        """Its text as one line without list markers: what a person reads."""
        parts = (ITEM.sub(r"\2", line).strip() for line in self.text.split("\n"))
        return " ".join(part for part in parts if part)


def split_policy(policy: bytes) -> tuple[PolicyClause, ...]:
    """Split a policy into its clauses, in order.

    Args:
        policy: The bytes of a Markdown file; what is not UTF-8 is replaced.

    Returns:
        The clauses. Every line that is not blank, a heading, a label or a rule is in exactly one of them.
    """
    lines = policy_lines(policy)
    above = list(headings(lines))
    clauses: list[PolicyClause] = []
    leads: list[tuple[int, str]] = []
    for first, last in _spans(lines):
        text = "\n".join(lines[first - 1 : last])
        depth = _depth(lines[first - 1])
        heading = above[first - 1]
        same_place = bool(clauses) and clauses[-1].heading == heading
        leads = [(d, lead) for d, lead in leads if d < depth] if same_place and depth >= 0 else []
        lead = leads[-1][1] if leads else ""
        clause = PolicyClause(heading=heading, first_line=first, last_line=last, text=text, lead=lead)
        if clause.words.endswith(":"):
            leads.append((depth, clause.words))
        clauses.append(clause)
    return tuple(clauses)


def _depth(line: str) -> int:
    """Return how deep a line stands: -1 for a paragraph, the indent of an item."""
    item = ITEM.match(line)
    return len(item.group(1).expandtabs(4)) if item else -1


def _spans(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield first and last line of each clause."""
    span: tuple[int, int] | None = None
    kinds = list(line_kinds(lines))
    before: LineKind = "blank"
    for number, (kind, line) in enumerate(zip(kinds, lines, strict=True), start=1):
        continues = span is not None and _continues(kind, line, lines[span[0] - 1], kinds[span[0] - 1], before)
        if span and (kind in _OUTSIDE or (kind != "blank" and not continues)):
            yield span
            span = None
        if kind in ("text", "fence", "code"):
            span = (span[0] if span else number, number)
        before = kind
    if span:
        yield span


def _continues(kind: LineKind, line: str, head: str, head_kind: LineKind, before: LineKind) -> bool:
    """Tell whether a line belongs to the clause that begins with `head`; `before` is what the line above it is."""
    if kind == "code":
        return True
    if kind != "text" or head_kind == "fence" or head.lstrip().startswith("|") or line.lstrip().startswith("|"):
        return False
    item = ITEM.match(line)
    if item is not None:
        return _is_fragment(item.group(2)) and _MARK.match(line) is not None and _depth(line) >= _depth(head)
    return before != "blank" or (ITEM.match(head) is not None and line.startswith((" ", "\t")))


def _is_fragment(item: str) -> bool:
    first = item.lstrip(_EMPHASIS)[:1]
    return first.islower() or first.isdigit()
