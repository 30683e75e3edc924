"""The lines of a policy, and references to them that never repeat their text.

What a line is (heading, label, item, fenced block) is decided here and only here; `clauses.py` joins lines to clauses.

A policy is its benchmark's own. A catalogue names a clause by first and last line and by the fingerprint of those
lines; the text is read from the user's copy. Where that copy is another version, the same lines are looked for
elsewhere in it, and what is not found is said to be missing rather than shown wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Literal, TypeAlias

import attrs

from multigold.files.reading import sha256
from multigold.model.loophole import Clause

LABEL_WORDS = 4
"""A line of at most this many words that ends with a colon is a label: a heading of the clauses below it."""

ITEM: Final = re.compile(r"^(\s*)(?:[-*+]|\d{1,9}[.)])\s+(.*)$")
"""An item of a list: its indent, and what it says."""

LineKind: TypeAlias = Literal["blank", "heading", "label", "rule", "text", "fence", "code"]
"""What a line of a policy is; a fenced block begins with `fence` and goes on as `code`."""

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$|^\s*\|?[\s:|-]*-{3,}[\s:|-]*$|^=+\s*$")


@attrs.frozen(kw_only=True)
class ClauseText:
    """A clause as it stands in one copy of a policy.

    Attributes:
        clause: The clause.
        text: Its lines in that copy; empty if they are missing.
        found: `same` where they stand where the catalogue says, `moved` where they stand elsewhere, or `missing`.
        first_line: Where they begin in that copy, counted from 1; 0 if they are missing.
    """

    clause: Clause
    text: str = ""
    found: Literal["same", "moved", "missing"] = "missing"
    first_line: int = 0


def policy_lines(policy: bytes) -> list[str]:
    """Return the lines of a policy, without their ends (LF or CRLF); index 0 is line 1."""
    return policy.decode("utf-8", errors="replace").replace("\r\n", "\n").split("\n")


def policy_fingerprint(policy: bytes) -> str:
    """Return the SHA-256 of a policy's bytes as 64 hexadecimal digits."""
    return sha256(policy)


def lines_fingerprint(lines: Sequence[str]) -> str:
    """Return the SHA-256 of lines joined by newlines, without one at the end, as 64 hexadecimal digits."""
    return sha256("\n".join(lines).encode("utf-8"))


def make_clause(lines: Sequence[str], clause_id: str, first: int, last: int, *, summary: str = "") -> Clause:
    """Return a reference to some lines of a policy: what the author of a catalogue writes into `clauses.json`.

    Args:
        lines: All the lines of the policy.
        clause_id: The clause's name in the catalogue.
        first: Its first line, counted from 1.
        last: Its last line.
        summary: What it says, in the author's words.
    """
    return Clause(
        id=clause_id,
        heading=heading_of(lines, first),
        first_line=first,
        last_line=last,
        fingerprint=lines_fingerprint(lines[first - 1 : last]),
        summary=summary,
    )


def heading_of(lines: Sequence[str], line: int) -> tuple[str, ...]:
    """Return the headings above a line (counted from 1), as `headings` does."""
    return next(islice(headings(lines), line - 1, None), ())


def headings(lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the headings above each line, outermost first: Markdown headings, then the label of its group.

    The document's title, its only heading of the first level, is left out.
    """
    levels: dict[int, str] = {}
    label = ""
    for kind, text in zip(line_kinds(lines), lines, strict=True):
        above = [heading for level, heading in sorted(levels.items()) if level > 1]
        yield tuple(above + [label] * bool(label))
        if kind == "heading":
            level = len(text) - len(text.lstrip("#"))
            levels = {known: heading for known, heading in levels.items() if known < level}
            levels[level] = text.lstrip("#").strip()
            label = ""
        elif kind == "label":
            label = text.strip().rstrip(":")


def line_kinds(lines: Sequence[str]) -> Iterator[LineKind]:
    """Yield what each line is. Nothing inside a fenced block is a heading, a label or a rule."""
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            yield "code" if fenced else "fence"
            fenced = not fenced
        else:
            yield "code" if fenced else _kind(line)


def _kind(line: str) -> LineKind:
    if not line.strip():
        return "blank"
    if line.startswith("#"):
        return "heading"
    if _RULE.match(line):
        return "rule"
    return "label" if is_label(line) else "text"


def is_label(line: str) -> bool:
    """Tell whether a line is a label such as `Change cabin:`, which only names the clauses below it; no item is one."""
    return line.rstrip().endswith(":") and len(line.split()) <= LABEL_WORDS and not ITEM.match(line)


def clause_text(policy: bytes, clause: Clause) -> ClauseText:
    """Return a clause as it stands in one copy of its policy."""
    lines = policy_lines(policy)
    size = clause.last_line - clause.first_line + 1
    starts = [clause.first_line, *range(1, len(lines) - size + 2)]
    for start in starts:
        window = lines[start - 1 : start - 1 + size]
        if lines_fingerprint(window) == clause.fingerprint:
            found: Literal["same", "moved"] = "same" if start == clause.first_line else "moved"
            return ClauseText(clause=clause, text="\n".join(window), found=found, first_line=start)
    return ClauseText(clause=clause)
