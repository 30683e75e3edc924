"""A verdict as text: every reading, matched or with the fields that differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from multigold.state.explain import explain_delta, printable

if TYPE_CHECKING:
    from multigold.model.verdict import Comparison, Verdict


def explain_verdict(verdict: Verdict, *, limit: int = 30) -> str:
    """Return a verdict as text.

    Args:
        verdict: The verdict.
        limit: Lines per reading; what is left out is counted.
    """
    return "\n".join(_lines(verdict, limit))


def _lines(verdict: Verdict, limit: int) -> Iterator[str]:
    yield f"{verdict.outcome}: {_headline(verdict)}"
    for comparison in verdict.comparisons:
        yield from _comparison_lines(comparison, limit)
    yield from _benchmark_lines(verdict)
    if verdict.ignored:
        yield f"  not looked at: {printable(', '.join(verdict.ignored))} (a log)"


def _headline(verdict: Verdict) -> str:
    if verdict.reason is not None:
        return printable(verdict.reason.sentence)
    return ", ".join(verdict.matched)


def _comparison_lines(comparison: Comparison, limit: int) -> Iterator[str]:
    title = f" ({comparison.title})" if comparison.title else ""
    name = f"  {comparison.reading} [{comparison.standing}]{title}"
    match = comparison.match
    if match is None and comparison.delta is not None and not comparison.delta:
        yield f"{name}: does not differ, but a run that did not end normally matches nothing"
        return
    if match is None:
        yield f"{name}: differs"
        details = explain_delta(comparison.delta, limit=limit) if comparison.delta is not None else comparison.faults
        yield from (f"      {printable(line)}" for line in details)
        return
    remarks = [f"under {', '.join(match.equivalences)}"] if match.equivalences else []
    remarks += [f"evidence {match.evidence}"] if match.evidence in ("unmet", "unknown") else []
    remarks += ["vacuous, does not count"] if match.vacuous else []
    remarks += [f"as {printable(match.member)}"] if match.member else []
    yield f"{name}: matched{' (' + '; '.join(remarks) + ')' if remarks else ''}"


def _benchmark_lines(verdict: Verdict) -> Iterator[str]:
    if verdict.benchmark_matched is not None:
        state = "matched" if verdict.benchmark_matched else "not matched"
        yield f"  the benchmark's own gold: {state}{_identity(verdict)}"
    if verdict.repaired_matched is not None:
        yield f"  the same, synchronised: {'matched' if verdict.repaired_matched else 'not matched'}"


def _identity(verdict: Verdict) -> str:
    return f" (it is {', '.join(verdict.benchmark_readings)})" if verdict.benchmark_readings else ""
