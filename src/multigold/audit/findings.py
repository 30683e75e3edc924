"""Findings of all audits: as plain data, counted, and compared with a list of findings that were accepted before.

A finding is the same record whether it was found in a catalogue's files or by an audit
(`multigold.files.cursor.Finding`). What is accepted is named by code, task and place, so that a baseline file
survives a change of words and does not hide a new fault at another place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from multigold.files.cursor import Finding, Level
from multigold.files.records import open_records, refuse_faults
from multigold.state.canonical import Json, clone

__all__ = [
    "BaselineComparison",
    "Finding",
    "Level",
    "baseline_json",
    "compare_with_baseline",
    "counts_by_code",
    "finding_json",
    "read_baseline",
]

BASELINE_SCHEMA = "multigold/baseline/1"
"""Name and version of the form of a baseline file."""

FindingKey = tuple[str, str, str]
"""Code, task and place: what names a finding in a baseline."""


def key_of(finding: Finding) -> FindingKey:
    """Return what names a finding in a baseline."""
    return finding.code, finding.task, finding.where


def finding_json(finding: Finding) -> dict[str, Json]:
    """Return a finding as plain data: `{code, severity, task, place, sentence, evidence, remedy}`."""
    return {
        "code": finding.code,
        "severity": finding.level,
        "task": finding.task,
        "place": finding.where,
        "sentence": finding.sentence,
        "evidence": clone(finding.evidence),
        "remedy": finding.remedy,
    }


def counts_by_code(findings: Iterable[Finding], codes: Iterable[str] = ()) -> dict[str, int]:
    """Return how many findings there are of each code, in the order of `codes` (zeros included), then sorted."""
    counts = Counter(finding.code for finding in findings)
    return {code: counts[code] for code in (*codes, *sorted(counts.keys() - set(codes)))}


@attrs.frozen(kw_only=True)
class BaselineComparison:
    """Findings compared with a baseline: which of them are new.

    Attributes:
        new: Those that the baseline does not accept.
        accepted: Those that it does.
        stale: What it accepts although it is not found any more: code, task and place.
    """

    new: tuple[Finding, ...]
    accepted: tuple[Finding, ...] = ()
    stale: tuple[FindingKey, ...] = ()

    @property
    def failing(self) -> bool:
        """Whether there is anything new that is more than a note: exit status 1."""
        return any(finding.level != "note" for finding in self.new)


def compare_with_baseline(findings: Sequence[Finding], accepted: Iterable[FindingKey] = ()) -> BaselineComparison:
    """Compare findings with what was accepted before."""
    known = dict.fromkeys(accepted)
    found = {key_of(finding) for finding in findings}
    return BaselineComparison(
        new=tuple(finding for finding in findings if key_of(finding) not in known),
        accepted=tuple(finding for finding in findings if key_of(finding) in known),
        stale=tuple(key for key in known if key not in found),
    )


def baseline_json(findings: Iterable[Finding], reasons: Mapping[FindingKey, str] | None = None) -> dict[str, Json]:
    """Return a baseline that accepts these findings; notes need no accepting and are left out.

    Args:
        findings: What is accepted.
        reasons: Why each is accepted, if that was stated.
    """
    keys = dict.fromkeys(key_of(finding) for finding in findings if finding.level != "note")
    rows = [
        {"code": code, "task": task, "place": place, "reason": (reasons or {}).get((code, task, place), "")}
        for code, task, place in keys
    ]
    return {"schema": BASELINE_SCHEMA, "accepted": rows}


def read_baseline(path: Path) -> dict[FindingKey, str]:
    """Read a baseline file: what it accepts, and why.

    Raises:
        CallError: If it cannot be read or has faults; all of them are named, each with its place.
    """
    top = open_records(path, BASELINE_SCHEMA, remedy="--write-baseline FILE writes a valid one.")
    top.keys({"schema", "accepted"}, {"notes"})
    accepted: dict[FindingKey, str] = {}
    for row in top.items("accepted"):
        row.keys({"code", "task", "place"}, {"reason"})
        accepted[row.text("code"), row.text("task"), row.text("place")] = row.text("reason")
    refuse_faults(top.found, path)
    return accepted
