"""Verdicts counted: per agent, stratum, task, with every denominator and both baselines.

A rate never stands without how many runs it is of, "any reading" never without the single gold and what doing nothing
would have scored. Unscored runs are in no denominator; they are counted beside, by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import attrs

from multigold.model.verdict import Rewards, Verdict, is_success
from multigold.state.canonical import Json

COLUMNS = ("recorded", "single", "core", "core_strict", "core_or_single", "with_contested")
"""The reward columns, in the order in which they are shown."""

BASELINES = ("do_nothing", "always_refuse")
"""What a run that touches nothing scores by the database factor alone: without, and with, the evidence asked for."""

StrataOption: TypeAlias = Literal["default", "paper", "extended"]

STRATA: Mapping[StrataOption, str] = {
    "default": "by the published entries of the catalogue, for the text at hand",
    "paper": "the paper's split: the tasks of its Table 1 against all others, whatever their text",
    "extended": "as default, with the entries that the catalogue proposes",
}
"""How runs are put into strata."""

PAPER_AFFECTED, PAPER_OTHERS = "loophole-affected", "loophole-free"


@attrs.frozen(kw_only=True)
class Rate:
    """Successes of runs that have a reward.

    Attributes:
        successes: Runs whose reward is within 1e-6 of 1.
        of: Runs that have a reward in this column.
    """

    successes: int
    of: int

    @property
    def share(self) -> float | None:
        """Successes by runs, 0..1; None where there are no runs."""
        return self.successes / self.of if self.of else None

    def to_json(self) -> dict[str, Json]:
        """Return the rate as plain data."""
        return {"successes": self.successes, "of": self.of, "share": self.share}


@attrs.frozen(kw_only=True)
class Tally:
    """Runs of one group, counted.

    Attributes:
        runs: All runs.
        tasks: Different tasks among them.
        matched: Runs that match a reading that counts.
        unmatched: Runs that match none.
        unscored: Reason code to number of runs.
        columns: Reward column to its rate.
        do_nothing: The same columns for a run that does nothing at all, by the database factor alone.
        always_refuse: The same for a run that leaves the database untouched and has all evidence.
        vacuous: Runs with a match that is worth nothing.
        termination_unknown: Runs whose file does not say how they ended, so that the gate was not applied.
    """

    runs: int
    tasks: int
    matched: int
    unmatched: int
    unscored: Mapping[str, int]
    columns: Mapping[str, Rate]
    do_nothing: Mapping[str, Rate]
    always_refuse: Mapping[str, Rate]
    vacuous: int
    termination_unknown: int

    def to_json(self) -> dict[str, Json]:
        """Return the tally as plain data."""
        plain: dict[str, Json] = attrs.asdict(self, recurse=False)
        for name in ("columns", *BASELINES):
            plain[name] = {column: rate.to_json() for column, rate in getattr(self, name).items()}
        return {**plain, "unscored": dict(self.unscored)}


@attrs.frozen(kw_only=True)
class Group:
    """Runs that share some keys.

    Attributes:
        keys: What they share, such as `{"agent": ..., "stratum": ...}`.
        tally: Their counts.
    """

    keys: Mapping[str, str]
    tally: Tally

    def to_json(self) -> dict[str, Json]:
        """Return the group as plain data."""
        return {**self.keys, **self.tally.to_json()}


@attrs.frozen(kw_only=True)
class Report:
    """The counts of a set of verdicts.

    Attributes:
        strata: Which strata option was used.
        strata_note: What that means, and how the affected tasks were selected.
        overall: By agent and domain.
        by_stratum: By agent, domain and stratum.
        by_task: By domain and task.
        columns: The columns to show: `core_strict` only where an equivalence was on.
    """

    strata: StrataOption
    strata_note: str
    overall: tuple[Group, ...]
    by_stratum: tuple[Group, ...]
    by_task: tuple[Group, ...]
    columns: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the report as plain data."""
        groups = ("overall", "by_stratum", "by_task")
        return {
            "strata": self.strata,
            "strata_note": self.strata_note,
            "columns": list(self.columns),
            **{name: [group.to_json() for group in getattr(self, name)] for name in groups},
        }


def reward(verdict: Verdict, column: str) -> float | None:
    """Return a run's reward in a column; None where it has none. An unscored run has only its recorded one."""
    if column == "recorded":
        return verdict.recorded.reward
    if verdict.outcome == "unscored":
        return None
    value: float | None = getattr(verdict.rewards, column)
    return value


def summarise_verdicts(
    verdicts: Iterable[Verdict],
    *,
    strata: StrataOption = "default",
    paper_split: Sequence[str] = (),
    note: str = "",
    equivalences: Sequence[str] = (),
) -> Report:
    """Count verdicts by agent, stratum and task. Their order changes nothing.

    Args:
        verdicts: The verdicts.
        strata: How runs are put into strata; see `STRATA`.
        paper_split: Task ids of the paper's split, for `strata="paper"`.
        note: How the affected tasks were selected, kept with the report.
        equivalences: Those in force, which decide whether `core_strict` is shown.
    """
    verdicts = list(verdicts)

    def stratum(verdict: Verdict) -> str:
        if strata != "paper":
            return verdict.stratum
        return PAPER_AFFECTED if verdict.task_id in paper_split else PAPER_OTHERS

    return Report(
        strata=strata,
        strata_note=f"{STRATA[strata]}{'; ' + note if note else ''}",
        overall=group_by(verdicts, agent=lambda v: v.agent, domain=lambda v: v.domain),
        by_stratum=group_by(verdicts, agent=lambda v: v.agent, domain=lambda v: v.domain, stratum=stratum),
        by_task=group_by(verdicts, domain=lambda v: v.domain, task=lambda v: v.task_id, stratum=stratum),
        columns=tuple(column for column in COLUMNS if equivalences or column != "core_strict"),
    )


def group_by(verdicts: Iterable[Verdict], **keys: Callable[[Verdict], str]) -> tuple[Group, ...]:
    """Tally verdicts by the values of some keys, in natural order of those values (task 2 before task 10)."""
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(tuple(key(verdict) for key in keys.values()), []).append(verdict)
    return tuple(
        Group(keys=dict(zip(keys, values, strict=True)), tally=tally(groups[values]))
        for values in sorted(groups, key=lambda values: [natural(value) for value in values])
    )


def natural(text: str) -> tuple[int, int, str]:
    """Return a sort key that puts whole numbers first, by size, and other text after, by letters."""
    return (0, int(text), text) if text.isdecimal() and len(text) < 10 else (1, 0, text)


def tally(verdicts: Sequence[Verdict]) -> Tally:
    """Count the verdicts of one group; matched, unmatched and unscored add up to its runs (law 12)."""
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    scored = [verdict for verdict in verdicts if verdict.outcome != "unscored"]
    reasons = Counter(v.reason.code for v in verdicts if v.outcome == "unscored" and v.reason is not None)
    return Tally(
        runs=len(verdicts),
        tasks=len({(verdict.domain, verdict.task_id) for verdict in verdicts}),
        matched=outcomes["matched"],
        unmatched=outcomes["unmatched"],
        unscored=dict(sorted(reasons.items())),
        columns={column: rate(reward(verdict, column) for verdict in verdicts) for column in COLUMNS},
        do_nothing=_baseline_rates([verdict.do_nothing for verdict in scored]),
        always_refuse=_baseline_rates([verdict.always_refuse for verdict in scored]),
        vacuous=sum(any(match.vacuous for match in verdict.matches) for verdict in verdicts),
        termination_unknown=sum(verdict.termination is None for verdict in scored),
    )


def rate(rewards: Iterable[float | None]) -> Rate:
    """Count successes among the rewards that are known."""
    outcomes = [is_success(value) for value in rewards if value is not None]
    return Rate(successes=sum(outcome is True for outcome in outcomes), of=len(outcomes))


def _baseline_rates(rewards: Sequence[Rewards]) -> dict[str, Rate]:
    return {column: rate(getattr(r, column) for r in rewards) for column in COLUMNS if column != "recorded"}
