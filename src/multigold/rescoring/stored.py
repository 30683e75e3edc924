"""Verdicts that were stored by `multigold rescore --json`, taken as they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from multigold.errors import MultigoldError
from multigold.model.trajectory import Recorded
from multigold.model.verdict import Comparison, Fidelity, Match, Reason, Rewards, Verdict
from multigold.readers import ResultsFile, Run
from multigold.rescoring.options import FileReport
from multigold.state.canonical import Json
from multigold.state.delta import Delta

_TEXTS = ("file", "domain", "agent", "task_id", "run_id", "stratum", "end_state")
_LISTS = ("matched", "benchmark_faults", "benchmark_readings", "loopholes", "ignored")
_OUTCOMES = ("matched", "unmatched", "unscored")
_STRATA = ("affected", "resolved", "free", "conflict", "other_version")
_STANDINGS = ("core", "contested", "off")
_EVIDENCE = ("not_asked", "met", "unmet", "unknown")
_COUNTS = ("calls", "replayed", "refused", "unknown", "skipped", "differing")


def stored_verdict(run: Run) -> Verdict:
    """Return the verdict that stands in a file; one that is not of the form is unscored.

    Only the nearest reading is stored of those that do not match, so `explain` can name no other.
    """
    data = run.extra.get("verdict")
    try:
        if run.problem is None and isinstance(data, dict):
            return _verdict(data)
        reason = run.problem or Reason(code="unreadable_run", sentence=f"{run.place} is no verdict")
    except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError, MultigoldError) as error:
        sentence = f"{run.place} is not of the form of a verdict ({type(error).__name__}: {error})"
        reason = Reason(code="unreadable_run", sentence=sentence)
    trajectory = run.trajectory
    return Verdict(
        outcome="unscored",
        reason=reason,
        task_id=run.task_id,
        run_id=trajectory.run_id,
        trial=trajectory.trial,
        agent=trajectory.agent,
    )


def _verdict(data: Mapping[str, Any]) -> Verdict:
    if data["outcome"] not in _OUTCOMES or data["stratum"] not in _STRATA:
        raise ValueError("its outcome or stratum is none that is known")
    if data["outcome"] == "unscored" and data["reason"] is None:
        raise ValueError("it is unscored without a reason")
    texts: dict[str, Any] = {name: _is(data.get(name, ""), str) for name in _TEXTS}
    lists: dict[str, Any] = {name: _strings(data[name]) for name in _LISTS}
    bounds = data["bounds"]
    return Verdict(
        **texts,
        **lists,
        outcome=data["outcome"],
        trial=_is(data["trial"], int),
        matches=tuple(_match(match) for match in _is(data["matches"], list)),
        comparisons=_nearest(data["nearest"]),
        benchmark_matched=_is(data["benchmark_matched"], bool | None),
        repaired_matched=_is(data["repaired_matched"], bool | None),
        reason=None if data["reason"] is None else Reason(**{k: _is(v, str) for k, v in data["reason"].items()}),
        rewards=_rewards(data["rewards"]),
        bounds=None if bounds is None else (_number(bounds[0]), _number(bounds[1])),
        recorded=_recorded(data["recorded"]),
        termination=_is(data["termination"], str | None),
        fidelity=_fidelity(data["fidelity"]),
        do_nothing=_rewards(data["baselines"]["do_nothing"]),
        always_refuse=_rewards(data["baselines"]["always_refuse"]),
        random=_rewards(data["baselines"].get("random") or {}),
        adversarial=_rewards(data["baselines"].get("adversarial") or {}),
        positions={loophole: _strings(sides) for loophole, sides in data["positions"].items()},
        other_scorer=_is(data.get("other_scorer") or {}, dict),
    )


def _is(value: Json, kind: Any) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{str(value)[:40]!r} is of another type than it should be")
    return value


def _strings(values: Json) -> tuple[str, ...]:
    return tuple(_is(value, str) for value in _is(values, list))


def _number(value: Json) -> float:
    if isinstance(value, bool):
        raise TypeError("a number is needed, not true or false")
    return float(_is(value, int | float))


def _match(data: Mapping[str, Any]) -> Match:
    if data["standing"] not in _STANDINGS or data["evidence"] not in _EVIDENCE:
        raise ValueError("a match has a standing or an evidence that is not known")
    return Match(
        reading=_is(data["reading"], str),
        standing=data["standing"],
        equivalences=_strings(data["equivalences"]),
        evidence=data["evidence"],
        vacuous=_is(data["vacuous"], bool),
        member=_is(data["member"], str),
        positions={loophole: _is(side, str) for loophole, side in _is(data.get("positions") or {}, dict).items()},
        reward=None if data.get("reward") is None else _reward(data["reward"]),
    )


def _rewards(data: Mapping[str, Json]) -> Rewards:
    return Rewards(**{column: None if value is None else _reward(value) for column, value in data.items()})


def _reward(value: Json) -> float:
    reward = _number(value)
    if not 0 <= reward <= 1:
        raise ValueError("a reward is between 0 and 1")
    return reward


def _recorded(data: Mapping[str, Any]) -> Recorded:
    basis = data["reward_basis"]
    return Recorded(
        reward=None if data["reward"] is None else _number(data["reward"]),
        db_match=_is(data["db_match"], bool | None),
        breakdown={name: _number(value) for name, value in data["breakdown"].items()},
        reward_basis=None if basis is None else _strings(basis),
    )


def _fidelity(data: Mapping[str, Json]) -> Fidelity:
    counts = {name: _is(data[name], int) for name in _COUNTS}
    return Fidelity(**counts, first_difference=_is(data["first_difference"], str), drift=_is(data["drift"], str))


def _nearest(data: Mapping[str, Any] | None) -> tuple[Comparison, ...]:
    if data is None:
        return ()
    delta = None if data["delta"] is None else Delta.from_json(data["delta"])
    reading = _is(data["reading"], str)
    return (Comparison(reading=reading, standing="core", delta=delta, faults=_strings(data["faults"])),)


# What they were made from


def stored_reports(results: ResultsFile) -> dict[str, FileReport]:
    """Return what a file of verdicts says of each file that they were made from, by its name; counts are left out."""
    reports = (_report(entry, results) for entry in results.origin.get("files") or ())
    return {report.name: report for report in reports}


_REPORTED = ("name", "digest", "format", "domain", "data_digest", "catalogue_digest", "policy_digest", "problem")


def _report(entry: Mapping[str, Any], results: ResultsFile) -> FileReport:
    texts: dict[str, Any] = {
        name: entry[name] if isinstance(entry.get(name), str) else ""
        for name in (
            "name",
            "digest",
            "format",
            "domain",
            "data_digest",
            "catalogue_digest",
            "policy_digest",
            "problem",
        )
    }
    split = entry.get("paper_split") is True
    equivalences = made_with(results)
    said = f", equivalences {', '.join(equivalences)}" if equivalences else ""
    taken = f"the verdicts are taken as they stand in {results.name} (multigold {_version(results)}{said})"
    return FileReport(
        **texts, paper_split=split, warnings=(*_texts(entry.get("warnings")), taken), equivalences=equivalences
    )


def _texts(values: Json) -> Sequence[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def made_with(results: ResultsFile) -> tuple[str, ...]:
    """Return the equivalences that were in force when a file's verdicts were made."""
    provenance = results.origin.get("provenance")
    return tuple(_texts(provenance.get("equivalences"))) if isinstance(provenance, dict) else ()


def _version(results: ResultsFile) -> str:
    provenance = results.origin.get("provenance")
    version = provenance.get("multigold") if isinstance(provenance, dict) else None
    return version if isinstance(version, str) else "of an unknown version"


def counted(report: FileReport, counts: FileReport) -> FileReport:
    """Return a file's report with the counts of another."""
    names = ("agents", "runs", "matched", "unmatched", "unscored", "fidelity", "other_scorer")
    return attrs.evolve(report, **{name: getattr(counts, name) for name in names})
