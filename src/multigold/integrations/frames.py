"""Verdicts and metrics as data frames, for pandas and for polars: one row each, the same columns whatever the rows.

    frame = verdict_frame(multigold.rescore("results.json").verdicts)
    frame[frame.stratum == "affected"].groupby("agent").core.mean()

A missing value is missing: an unscored run has no reward, which is not 0. Lists are text, joined by a space.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Final, Literal, TypeAlias

from multigold.errors import CallError, MissingExtraError
from multigold.model.verdict import Verdict
from multigold.state.canonical import Json
from multigold.stats.aggregation import WITHOUT_WORK
from multigold.stats.summary import Metric

__all__ = ["METRIC_COLUMNS", "VERDICT_COLUMNS", "metric_frame", "verdict_frame"]

Library: TypeAlias = Literal["pandas", "polars"]
ColumnType: TypeAlias = Literal["text", "truth", "whole", "number"]

REWARDS: Final = ("single", "core", "core_or_single", "with_contested", "core_strict")

VERDICT_COLUMNS: Final[Mapping[str, ColumnType]] = {
    "file": "text",
    "domain": "text",
    "agent": "text",
    "task_id": "text",
    "trial": "whole",
    "run_id": "text",
    "outcome": "text",
    "stratum": "text",
    "matched": "text",
    "readings": "text",
    "equivalences": "text",
    "vacuous": "truth",
    "benchmark_matched": "truth",
    "benchmark_faults": "text",
    "recorded_reward": "number",
    "recorded_db_match": "truth",
    **dict.fromkeys(REWARDS, "number"),
    **dict.fromkeys((f"{name}_{column}" for name in WITHOUT_WORK for column in REWARDS), "number"),
    "nearest": "text",
    "distance": "whole",
    "reason": "text",
    "termination": "text",
    "loopholes": "text",
    "end_state": "text",
}
"""The columns of `verdict_frame`. `readings` are all that the end state is in, `matched` those that count; `distance`
is the number of differing pointers to the nearest reading."""

METRIC_COLUMNS: Final[Mapping[str, ColumnType]] = {
    **dict.fromkeys(("metric", "agent", "domain", "stratum", "task", "loophole", "part"), "text"),
    **dict.fromkeys(("value", "low", "high", "lowest", "highest"), "number"),
    **dict.fromkeys(("numerator", "denominator"), "whole"),
    **dict.fromkeys(("method", "note"), "text"),
}
"""The columns of `metric_frame`: the fields of `multigold.stats.summary.Metric`."""

_PANDAS: Final[Mapping[ColumnType, str]] = {"text": "string", "truth": "boolean", "whole": "Int64", "number": "Float64"}
_POLARS: Final[Mapping[ColumnType, str]] = {"text": "String", "truth": "Boolean", "whole": "Int64", "number": "Float64"}


def verdict_frame(verdicts: Iterable[Verdict], library: Library = "pandas") -> Any:
    """Return verdicts as a data frame, one row each, with `VERDICT_COLUMNS`.

    Args:
        verdicts: The verdicts.
        library: `pandas` or `polars`.

    Raises:
        MissingExtraError: The library is not installed.
        CallError: It is another library.
    """
    return _frame([_verdict_row(verdict) for verdict in verdicts], VERDICT_COLUMNS, library)


def metric_frame(metrics: Iterable[Metric], library: Library = "pandas") -> Any:
    """Return metrics as a data frame, one row each, with `METRIC_COLUMNS`.

    Args:
        metrics: The metrics.
        library: `pandas` or `polars`.

    Raises:
        MissingExtraError: The library is not installed.
        CallError: It is another library.
    """
    return _frame([metric.to_json() for metric in metrics], METRIC_COLUMNS, library)


def _verdict_row(verdict: Verdict) -> dict[str, Json]:
    nearest = verdict.nearest
    rewards = {"": verdict.rewards, **{f"{name}_": getattr(verdict, name) for name in WITHOUT_WORK}}
    named = ("file", "domain", "agent", "task_id", "trial", "run_id", "outcome", "stratum", "benchmark_matched")
    return {
        **{name: getattr(verdict, name) for name in (*named, "termination")},
        **{f"{prefix}{column}": getattr(row, column) for prefix, row in rewards.items() for column in REWARDS},
        "matched": " ".join(verdict.matched),
        "readings": " ".join(match.reading for match in verdict.matches),
        "equivalences": " ".join(sorted({name for match in verdict.matches for name in match.equivalences})),
        "vacuous": any(match.vacuous for match in verdict.matches),
        "benchmark_faults": " ".join(verdict.benchmark_faults),
        "recorded_reward": verdict.recorded.reward,
        "recorded_db_match": verdict.recorded.db_match,
        "nearest": nearest.reading if nearest else None,
        "distance": None if nearest is None else len(nearest.faults if nearest.delta is None else nearest.delta),
        "reason": verdict.reason.code if verdict.reason else None,
        "loopholes": " ".join(verdict.loopholes),
        "end_state": verdict.end_state or None,
    }


def _frame(rows: list[dict[str, Json]], columns: Mapping[str, ColumnType], library: Library) -> Any:
    if library not in ("pandas", "polars"):
        raise CallError(f"data frames of {library!r} are not supported", remedy="Use pandas or polars.")
    try:
        module: Any = import_module(library)
    except ImportError as error:
        raise MissingExtraError(
            f"{library} cannot be imported ({error})", remedy=f'Install it with: pip install "multigold[{library}]".'
        ) from None
    values = {name: [row[name] for row in rows] for name in columns}
    if library == "polars":
        return module.DataFrame(values, schema={name: getattr(module, _POLARS[kind]) for name, kind in columns.items()})
    series = {name: module.array(values[name], dtype=_PANDAS[kind]) for name, kind in columns.items()}
    return module.DataFrame(series)
