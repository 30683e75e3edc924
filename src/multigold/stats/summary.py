"""Every statistic of a set of verdicts, as one flat list.

A metric is a row: what it is, of whom, on what, its value, its interval, its numerator and denominator, and a note. The
same list is printed, written as JSON and CSV, and put into a data frame, so that no form says less than another. How
each metric is defined, and from which source, stands with the functions of `multigold.stats` that compute it.

    verdicts -> rows (one column of rewards) -> metrics

The functions named `_..._figures` below are the table of contents: each turns one part of `multigold.stats` into rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

import attrs

from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.state.canonical import Json
from multigold.stats import item_diagnostics, loophole_sides, pass_k, resampling
from multigold.stats.aggregation import ReportBuilder, reward
from multigold.stats.exact import exact_bootstrap_gap
from multigold.stats.rates import By, Interval, Rate, success_rate, wilson_interval
from multigold.stats.reaggregation import reaggregate
from multigold.stats.resampling import RESAMPLES
from multigold.stats.rows import MISSING, Missing, RunRow, by_agent, leave_out

AFFECTED = ("affected", "loophole-affected")
UNAFFECTED = ("free", "resolved", "other_version", "loophole-free")
"""The strata on either side of the gap. Conflicts are on neither: there the single gold itself is in doubt."""


@attrs.frozen(kw_only=True)
class Metric:
    """One metric.

    Attributes:
        metric: What it is, such as `success_rate` or `pass^k`.
        agent: Of whom; empty if it is of all agents.
        domain: On which domain.
        stratum: On which stratum; empty if it is on all.
        task: On which task; empty if it is on several.
        loophole: About which loophole; empty if about none.
        part: Which part of the metric: how many trials, which side, over whom; empty if it has none.
        value: The metric; None if it cannot be had.
        low: Lower end of its interval; None if it has none.
        high: Upper end.
        numerator: What was counted; None if the metric is not a ratio of counts.
        denominator: Of how many.
        method: How the interval, or the metric, was found.
        note: What to know before quoting it.
    """

    metric: str
    agent: str = ""
    domain: str = ""
    stratum: str = ""
    task: str = ""
    loophole: str = ""
    part: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    numerator: int | None = None
    denominator: int | None = None
    method: str = ""
    note: str = ""

    def within(self, interval: Interval | None) -> Metric:
        """Return the metric with an interval; as it is where there is none."""
        if interval is None:
            return self
        method = f"{interval.method} by {interval.by}"
        note = "; ".join(part for part in (self.note, interval.note) if part)
        return attrs.evolve(self, low=interval.low, high=interval.high, method=method, note=note)

    def to_json(self) -> dict[str, Json]:
        """Return the metric as plain data."""
        return attrs.asdict(self)


FIELDS = tuple(field.name for field in attrs.fields(Metric))
"""The columns, in the order in which they are written."""


@attrs.frozen(kw_only=True)
class MetricSettings:
    """How metrics are computed.

    Attributes:
        column: The reward column.
        missing: What becomes of missing trials; see `multigold.stats.rows.MISSING`.
        by: What is resampled: `tasks`, because four trials of one task are not four tasks, or `trials`.
        seed: The seed of every interval.
        resamples: Resamples per interval; 0 for no bootstrap, which then needs no numpy.
        level: Coverage of the intervals.
    """

    column: str = "core"
    missing: Missing = "left_out"
    by: By = "tasks"
    seed: int = 0
    resamples: int = RESAMPLES
    level: float = 0.95

    def described(self) -> str:
        """Return the settings in a sentence, to print above the metrics."""
        interval = f"{self.level:.0%} percentile bootstrap by {self.by}, {self.resamples} resamples, seed {self.seed}"
        return f"column {self.column}; {MISSING[self.missing]}; intervals: {interval if self.resamples else 'Wilson'}"


def rows_of(
    verdicts: Iterable[Verdict], column: str, summary: ReportBuilder, *, several_domains: bool = False
) -> tuple[RunRow, ...]:
    """Return one row per verdict, with its reward in a column.

    Args:
        verdicts: The verdicts.
        column: A reward column; an unscored run has a reward in `recorded` at most.
        summary: Says which stratum a run is in.
        several_domains: Whether rows of other domains are compared with these. Then, as if the verdicts themselves were
            of several, a task is named with its domain: task 5 of one domain is not task 5 of another.
    """
    verdicts = list(verdicts)
    several = several_domains or len({verdict.domain for verdict in verdicts}) > 1
    return tuple(
        RunRow(
            agent=verdict.agent,
            task=verdict.task_id,
            trial=verdict.trial,
            reward=reward(verdict, column),
            domain=verdict.domain if several else "",
            stratum=summary.stratum(verdict),
            loopholes=verdict.loopholes,
            positions=verdict.positions,
        )
        for verdict in verdicts
    )


def metrics(rows: Sequence[RunRow], settings: MetricSettings) -> tuple[Metric, ...]:
    """Return every metric of some runs. Their order changes nothing.

    Args:
        rows: The runs, of any agents and domains; see `rows_of`.
        settings: How.

    Raises:
        CallError: If there are no runs.
        MissingExtraError: If intervals are asked for and numpy is not installed.
    """
    if not rows:
        raise CallError("there are no runs to count")
    return tuple(
        attrs.evolve(metric, domain=metric.domain or domain)
        for domain in sorted({row.domain for row in rows})
        for part in PARTS.values()
        for metric in part(tuple(row for row in rows if row.domain == domain), settings)
    )


# Rates and gaps


def _rate_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:
    for agent, own in by_agent(rows).items():
        for stratum, chosen in _strata(own).items():
            yield _rate(agent, stratum, chosen, settings)


def _strata(rows: Sequence[RunRow]) -> dict[str, tuple[RunRow, ...]]:
    """Return all rows under the empty name, then the rows of each stratum."""
    names = sorted({row.stratum for row in rows})
    return {"": tuple(rows), **{name: tuple(row for row in rows if row.stratum == name) for name in names}}


def _rate(agent: str, stratum: str, rows: Sequence[RunRow], settings: MetricSettings) -> Metric:
    counted = success_rate(rows, missing=settings.missing)
    interval = _interval_of(rows, settings, agent, stratum, counted)
    return Metric(
        metric="success_rate",
        agent=agent,
        stratum=stratum,
        value=counted.value,
        numerator=counted.successes,
        denominator=counted.of,
        note=_missing_note(counted),
    ).within(interval)


def _missing_note(rate: Rate) -> str:
    parts = [f"{rate.unscored} unscored"] if rate.unscored else []
    parts += [f"{rate.absent} planned trials absent"] if rate.absent else []
    return f"{', '.join(parts)}, {'counted as failed' if rate.missing == 'failed' else 'left out'}" if parts else ""


def _interval_of(
    rows: Sequence[RunRow], settings: MetricSettings, agent: str, stratum: str, rate: Rate
) -> Interval | None:
    if not settings.resamples:
        return wilson_interval(rate.successes, rate.of, level=settings.level)
    sample = resampling.units(rows, by=settings.by, missing=settings.missing)
    rng = resampling.generator(settings.seed, "success_rate", agent, stratum)
    return resampling.bootstrap_interval(sample, rng, resamples=settings.resamples, level=settings.level)


def _gap_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:
    for agent, own in by_agent(rows).items():
        free = tuple(row for row in own if row.stratum in UNAFFECTED)
        affected = tuple(row for row in own if row.stratum in AFFECTED)
        one, other = (success_rate(part, missing=settings.missing).value for part in (free, affected))
        if one is None or other is None:
            continue
        yield Metric(
            metric="gap",
            agent=agent,
            value=one - other,
            note="unaffected minus affected; the report says how the affected tasks were selected",
        ).within(_gap_interval(free, affected, agent, settings))


def _gap_interval(
    free: Sequence[RunRow], affected: Sequence[RunRow], agent: str, settings: MetricSettings
) -> Interval | None:
    one, other = (resampling.units(part, by=settings.by, missing=settings.missing) for part in (free, affected))
    if not settings.resamples:
        with suppress(CallError):  # tasks of different sizes, or too many of them: no exact interval is known
            return exact_bootstrap_gap(one, other, level=settings.level)
        return None
    rng = resampling.generator(settings.seed, "gap", agent)
    return resampling.bootstrap_gap(one, other, rng, resamples=settings.resamples, level=settings.level)


# Trials of one task


def _pass_k_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:
    kinds = {
        "pass^k": pass_k.pass_hat_k,
        "pass@k": pass_k.pass_at_k,
        "pass^k on one side": pass_k.pass_hat_k_on_one_side,
    }
    for agent, own in by_agent(rows).items():
        for name, compute in kinds.items():
            for found in compute(own, missing=settings.missing):
                yield Metric(
                    metric=name,
                    agent=agent,
                    part=str(found.k),
                    value=found.value,
                    denominator=found.tasks,
                    method=f"missing trials {found.missing}",
                    note=_pass_k_note(found),
                )


def _pass_k_note(found: pass_k.PassK) -> str:
    parts = [found.note] if found.note else []
    if found.left_out:
        parts.append(f"too few trials on {len(found.left_out)} tasks: {', '.join(found.left_out)}")
    if found.assumed_failed:
        parts.append(f"{found.assumed_failed} missing trials counted as failed")
    return "; ".join(parts)


def _variance_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:  # noqa: ARG001  (one shape for all)
    for agent, own in {**by_agent(rows), "": tuple(rows)}.items():
        parts = _strata(own)
        for stratum, chosen in parts.items():
            found = pass_k.trial_variance(chosen)
            yield Metric(
                metric="trial_variance",
                agent=agent,
                stratum=stratum,
                value=found.value,
                denominator=found.cells,
                note=f"{found.flips} cells flip; {found.left_out} with fewer than two scored trials left out",
            )
        affected, free = (
            pass_k.trial_variance(tuple(row for row in own if row.stratum in names)) for names in (AFFECTED, UNAFFECTED)
        )
        yield Metric(
            metric="trial_variance_ratio",
            agent=agent,
            value=pass_k.variance_ratio(affected, free),
            note="affected by unaffected",
        )


# Sides of loopholes


def _side_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:  # noqa: ARG001
    for counted in loophole_sides.side_counts(rows):
        for side, number in counted.counts.items():
            yield Metric(
                metric="side",
                agent=counted.agent,
                loophole=counted.loophole,
                part=side,
                value=counted.shares[side],
                numerator=number,
                denominator=counted.known,
                note=f"{counted.runs} runs: {counted.several} fit several sides, {counted.none} none, "
                f"{counted.unscored} unscored",
            )
    for split in loophole_sides.splits(rows):
        agents = f"agents with known sides: {len(split.agents)}"
        for name, value in (
            ("split_score", split.score),
            ("split_score_adjusted", split.adjusted),
            ("agreement_between_agents", split.agreement),
        ):
            yield Metric(
                metric=name,
                loophole=split.loophole,
                task=split.task,
                value=value,
                denominator=split.runs,
                note=agents,
            )
    for agent, own in by_agent(rows).items():
        found = loophole_sides.coherent_rate(own)
        chosen = ", ".join(f"{loophole}: {side}" for loophole, side in found.sides.items())
        yield Metric(
            metric="coherent",
            agent=agent,
            value=found.rate.value,
            numerator=found.rate.successes,
            denominator=found.rate.of,
            note=f"one side per loophole for all tasks and trials{': ' + chosen if chosen else ''}",
        )


# What if


def _counterfactual_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:
    affected = {row.name for row in rows if row.stratum in AFFECTED}
    conflicts = {row.name for row in rows if row.stratum == "conflict"}
    choices = {"without affected tasks": affected, "without affected and conflict tasks": affected | conflicts}
    for label, tasks in choices.items():
        if not tasks:
            continue
        found = reaggregate(rows, leave_out(rows, tasks), missing=settings.missing)
        for move in found.moves:
            ranks = f"rank {move.rank_before} before, {move.rank_after} after"
            yield Metric(
                metric=f"success_rate {label}",
                agent=move.agent,
                value=move.after.value,
                numerator=move.after.successes,
                denominator=move.after.of,
                note=ranks,
            )
        for lead in found.leads:
            yield Metric(
                metric=f"lead {label}",
                agent=lead.leader,
                part=f"over {lead.other}",
                value=lead.after,
                note=f"{lead.before:.4f} before",
            )


def _diagnostic_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:  # noqa: ARG001
    for found in item_diagnostics.diagnose_items(rows):
        if found.flags:
            yield Metric(
                metric="item_diagnostics",
                task=found.task,
                value=found.correlation,
                numerator=found.successes,
                denominator=found.runs,
                note=", ".join(found.flags)
                + ("" if found.variance is None else f"; trial variance {found.variance:.4f}"),
            )


Part: TypeAlias = Callable[[Sequence[RunRow], MetricSettings], Iterable[Metric]]

PARTS: Mapping[str, Part] = {
    "rates": _rate_metrics,
    "gap": _gap_metrics,
    "pass_at_k": _pass_k_metrics,
    "trial_variance": _variance_metrics,
    "sides": _side_metrics,
    "counterfactual": _counterfactual_metrics,
    "item_diagnostics": _diagnostic_metrics,
}
"""Which metrics there are, in the order in which they are shown."""
