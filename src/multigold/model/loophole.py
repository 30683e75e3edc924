"""Where a policy can be read in more than one way, and which sides there are to take."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Literal, TypeAlias

import attrs


class LoopholeCategory(Enum):
    """The five kinds of loophole (the paper, section 3)."""

    SCOPE_GAP = "scope_gap"
    SILENT_ON_EDGE = "silent_on_edge"
    CONFLICTING_CLAUSES = "conflicting_clauses"
    IMPLICIT_PRECONDITION = "implicit_precondition"
    COMPOSITIONAL_AMBIGUITY = "compositional_ambiguity"


EntryKind: TypeAlias = Literal["loophole", "conflict"]
Status: TypeAlias = Literal["published", "proposed"]


@attrs.frozen(kw_only=True)
class Clause:
    """A reference to a few lines of a policy. The text itself stays in the user's copy of that policy.

    Attributes:
        id: The clause's name in the catalogue.
        heading: Headings above it, outermost first.
        first_line: Its first line in the policy file, counted from 1.
        last_line: Its last line.
        fingerprint: SHA-256 of those lines joined by newlines, without a newline at the end.
        summary: What it says, in our own words.
    """

    id: str
    heading: tuple[str, ...] = ()
    first_line: int
    last_line: int
    fingerprint: str
    summary: str = ""


@attrs.frozen(kw_only=True)
class Side:
    """One of the ways to read a loophole.

    Attributes:
        id: Its name.
        sentence: The way, in a sentence.
    """

    id: str
    sentence: str


@attrs.frozen(kw_only=True)
class Loophole:
    """An entry of the catalogue.

    Attributes:
        id: Its name, such as `L6`.
        title: A few words.
        kind: `loophole`, or `conflict` where the benchmark's gold contradicts a clear clause.
        category: Its place in the taxonomy; None for a conflict.
        question: What the policy leaves open, in our own words.
        sides: The ways to read it.
        clauses: Ids of the clauses that it stands on.
        effect: `direct`, `indirect`, `borderline`, `untested` or `conflict`.
        stages: Stages of the audit that found it, such as `("S1", "S2")`.
        tasks: Ids of the tasks that exercise it.
        proposed: Ids of further tasks that this catalogue adds to those published, each with the evidence.
        status: `published` in the paper, or `proposed` by this catalogue.
        decision_rule: How a run's side is decided; empty if there is no rule.
        fix: How the policy could be mended; empty if nothing is proposed.
        notes: Anything else.
    """

    id: str
    title: str
    kind: EntryKind = "loophole"
    category: LoopholeCategory | None = None
    question: str
    sides: tuple[Side, ...] = ()
    clauses: tuple[str, ...] = ()
    effect: str = ""
    stages: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    proposed: Mapping[str, str] = attrs.field(factory=dict)
    status: Status = "published"
    decision_rule: str = ""
    fix: str = ""
    notes: str = ""
