"""The voice-agent evaluation's own success rates over the runs of a file."""

from __future__ import annotations

import attrs

from multigold.model.verdict import Verdict
from multigold.state.canonical import Json


@attrs.define
class VoiceRates:
    """Their rates over the runs of one file, recomputed while they pass: `theirs`, `single` and `core`."""

    _counts: dict[str, dict[str, list[int]]] = attrs.field(factory=dict)

    def add(self, verdict: Verdict) -> None:
        """Count one run. A verdict that is "N/A" is in no rate, and a stalled run not in that of the database."""
        for kind, numbers in verdict.other_scorer.items():
            if not isinstance(numbers, dict):
                continue
            counts = self._counts.setdefault(kind, {})
            stalled = verdict.recorded.breakdown.get("STALLED") == 0.0
            for name in ("is_successful", "is_task_successful", "db_state_match"):
                value = numbers.get(name)
                if isinstance(value, bool) and not (stalled and name == "db_state_match"):
                    passed = counts.setdefault(name, [0, 0])
                    passed[0] += value
                    passed[1] += 1

    def to_json(self) -> dict[str, Json]:
        """Return `{kind: {number: [passed, of]}}`; empty if no run has a verdict of theirs."""
        return {kind: {name: list(pair) for name, pair in counts.items()} for kind, counts in self._counts.items()}
