"""Every statistic of a set of verdicts, as one flat list.

A metric is a row: what it is, of whom, on what, its value, its interval, its numerator and denominator, and a note. The
same list is printed, written as JSON and CSV, and put into a data frame, so that no form says less than another. How
each metric is defined, and from which source, stands with the functions of `multigold.stats` that compute it.

    verdicts -> rows (one column of rewards) -> metrics

The functions named `_..._figures` below are the table of contents: each turns one part of `multigold.stats` into rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, TypeAlias

import attrs

from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.state.canonical import Json
from multigold.stats import intervals, item_diagnostics, loophole_sides, pass_k, resampling
from multigold.stats.aggregation import WITHOUT_WORK, AboveChance, ReportBuilder, above_chance, reward
from multigold.stats.beta_binomial import Counts, posterior
from multigold.stats.exact import exact_bootstrap_gap, exact_bootstrap_interval
from multigold.stats.intervals import DEFAULT, DRAWN, METHODS, IntervalSettings
from multigold.stats.rates import By, Interval, IntervalMethod, Rate, success_rate
from multigold.stats.reaggregation import reaggregate
from multigold.stats.resampling import RESAMPLES
from multigold.stats.rows import MISSING, Missing, RunRow, by_agent, cells, check_option, leave_out

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
        lowest: What it would be if every unscored or absent run were a failure; None for metrics that are not rates.
        highest: What it would be if each were a success.
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
    lowest: float | None = None
    highest: float | None = None
    numerator: int | None = None
    denominator: int | None = None
    method: str = ""
    note: str = ""

    def within(self, interval: Interval | None) -> Metric:
        """Return the metric with an interval; as it is where there is none."""
        if interval is None:
            return self
        method = described(interval)
        note = "; ".join(part for part in (self.note, interval.note) if part)
        return attrs.evolve(self, low=interval.low, high=interval.high, method=method, note=note)

    def to_json(self) -> dict[str, Json]:
        """Return the metric as plain data."""
        return attrs.asdict(self)


FIELDS = tuple(field.name for field in attrs.fields(Metric))
"""The columns, in the order in which they are written."""


@attrs.frozen(kw_only=True)
class Plan:
    """What an agent was to run: so many trials of each task.

    Attributes:
        agent: The agent.
        domain: The domain.
        trials: Trials of each task.
        tasks: The tasks' ids.
    """

    agent: str
    domain: str
    trials: int
    tasks: tuple[str, ...]


@attrs.frozen(kw_only=True)
class MetricSettings:
    """How metrics are computed.

    Attributes:
        column: The reward column.
        missing: What becomes of missing trials; see `multigold.stats.rows.MISSING`.
        interval: How intervals are found; see `multigold.stats.intervals.METHODS`.
        by: What a bootstrap resamples: `tasks`, because four trials of one task are not four tasks, or `trials`.
        seed: The seed of every interval that is drawn.
        resamples: Resamples per interval; 0 enumerates a bootstrap, which then needs no numpy.
        level: Coverage of the intervals.
        plans: What agents were to run, where that is known.
    """

    column: str = "core"
    missing: Missing = "left_out"
    interval: IntervalMethod = DEFAULT
    by: By = "tasks"
    seed: int = 0
    resamples: int = RESAMPLES
    level: float = 0.95
    plans: tuple[Plan, ...] = ()

    def __attrs_post_init__(self) -> None:
        check_option("interval", self.interval, METHODS)
        if self.by == "trials" and self.interval != "bootstrap":
            raise CallError(
                f"only a bootstrap can take trials as independent, and the intervals asked for are {self.interval}.",
                remedy="Add --interval bootstrap (in Python: interval='bootstrap').",
            )

    def described(self) -> str:
        """Return the settings in a sentence, to print above the metrics."""
        interval = f"{self.level:.0%} {METHODS[self.interval]}"
        if self.interval in DRAWN:
            drawn = f"{self.resamples} resamples, seed {self.seed}" if self.resamples else "enumerated"
            interval = f"{interval}{f' by {self.by}' if self.interval == 'bootstrap' else ''}, {drawn}"
        return f"column {self.column}; {MISSING[self.missing]}; intervals: {interval}"

    def planned(self, rows: Sequence[RunRow]) -> dict[str, Any]:
        """Return what is known of what was planned for the runs of one agent, as `success_rate` takes it."""
        for plan in self.plans:
            if rows and plan.agent == rows[0].agent and rows[0].domain in ("", plan.domain):
                prefix = f"{rows[0].domain}/" if rows[0].domain else ""
                return {"planned": plan.trials, "tasks": [f"{prefix}{task}" for task in plan.tasks]}
        return {}

    def intervals(self, *names: str) -> IntervalSettings:
        """Return how the interval of one metric is found; what the metric is called decides its stream of chance."""
        drawn = self.interval in DRAWN and self.resamples
        rng = resampling.generator(self.seed, *names) if drawn else None
        return IntervalSettings(method=self.interval, level=self.level, rng=rng, resamples=self.resamples or 1)


def described(interval: Interval) -> str:
    """Return how an interval was found, in a few words."""
    return METHODS.get(interval.method) or f"{interval.method} by {interval.by}"


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
    builder = RowBuilder(column, summary)
    for verdict in verdicts:
        builder.add(verdict)
    return builder.rows(several_domains=several_domains)


class RowBuilder:
    """Rows that are made verdict by verdict, so that the verdicts themselves need not be kept.

    Args:
        column: A reward column; an unscored run has a reward in `recorded` at most.
        summary: Says which stratum a run is in.
    """

    def __init__(self, column: str, summary: ReportBuilder) -> None:
        self._column = column
        self._summary = summary
        self._rows: list[RunRow] = []
        # Most runs of a task have the same sides and baselines: each is held once.
        self._held: dict[object, Mapping[str, Any]] = {}

    def add(self, verdict: Verdict) -> None:
        """Take one run."""
        sides = tuple(sorted(verdict.positions.items()))
        baselines = tuple(self._baselines(verdict))
        self._rows.append(
            RunRow(
                agent=verdict.agent,
                task=verdict.task_id,
                trial=verdict.trial,
                reward=reward(verdict, self._column),
                domain=verdict.domain,
                stratum=self._summary.stratum(verdict),
                loopholes=verdict.loopholes,
                positions=self._held.setdefault(("sides", sides), dict(sides)),
                baselines=self._held.setdefault(("baselines", baselines), dict(baselines)),
            )
        )

    def _baselines(self, verdict: Verdict) -> Iterator[tuple[str, float]]:
        if self._column == "recorded" or verdict.outcome == "unscored":
            return
        for name in WITHOUT_WORK:
            value = getattr(getattr(verdict, name), self._column)
            if value is not None:
                yield name, value

    def rows(self, *, several_domains: bool = False) -> tuple[RunRow, ...]:
        """Return the rows; those of one domain alone do not name it."""
        if several_domains or len({row.domain for row in self._rows}) > 1:
            return tuple(self._rows)
        return tuple(attrs.evolve(row, domain="") for row in self._rows)


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
    whole = counted if stratum else _by_plan(rows, settings)
    return Metric(
        metric="success_rate",
        agent=agent,
        stratum=stratum,
        value=counted.value,
        lowest=whole.lowest,
        highest=whole.highest,
        numerator=counted.successes,
        denominator=counted.of,
        note=_missing_note(counted, whole),
    ).within(_rate_interval(rows, settings, agent, stratum))


def _by_plan(rows: Sequence[RunRow], settings: MetricSettings) -> Rate:
    """Return the rate with what was planned, as far as that is known: for bounds, and to know whether it is whole."""
    return success_rate(rows, missing=settings.missing, **settings.planned(rows))


def _missing_note(rate: Rate, whole: Rate) -> str:
    parts = [f"{rate.unscored} unscored"] if rate.unscored else []
    parts += [f"{rate.absent} planned trials absent"] if rate.absent else []
    counted = "counted as failed" if rate.missing == "failed" else "left out"
    notes = [f"{', '.join(parts)}, {counted}"] if parts else []
    if whole.absent > rate.absent:
        notes.append(f"{whole.absent} runs of the file's plan are missing")
    if whole.mostly_unscored:
        notes.insert(0, "mostly unscored")
    return "; ".join(notes)


def _rate_interval(rows: Sequence[RunRow], settings: MetricSettings, agent: str, stratum: str) -> Interval | None:
    how = settings.intervals("success_rate", agent, stratum)
    if settings.by == "trials":
        sample = resampling.units(rows, by="trials", missing=settings.missing)
        if how.rng is None:
            return _if_enumerable(settings, lambda: exact_bootstrap_interval(sample, level=how.level))
        return resampling.bootstrap_interval(sample, how.rng, resamples=how.resamples, level=how.level)
    return _if_enumerable(settings, lambda: intervals.rate_interval(_counts(rows, settings), how))


def _counts(rows: Sequence[RunRow], settings: MetricSettings) -> list[Counts]:
    """Return successes and trials of each task, all agents in the rows together."""
    found: dict[str, Counts] = {}
    for cell in cells(rows):
        successes, trials = found.get(cell.task, (0, 0))
        found[cell.task] = (successes + cell.successes, trials + cell.trials(settings.missing))
    return list(found.values())


def _if_enumerable(settings: MetricSettings, find: Callable[[], Interval | None]) -> Interval | None:
    """Return an interval; None if a bootstrap is to be enumerated and cannot be."""
    try:
        return find()
    except CallError:
        if settings.resamples or settings.interval not in DRAWN:
            raise
        return None


def _chance_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:
    """Yield what agents score that did not do the work, and what each agent's rate leaves above that."""
    for agent, own in by_agent(rows).items():
        scored = [row for row in own if row.reward is not None]
        rate = success_rate(own, missing=settings.missing)
        interval = _rate_interval(own, settings, agent, "")
        for name in WITHOUT_WORK:
            known = [row.baselines[name] for row in scored if name in row.baselines]
            if not known or len(known) < len(scored):
                continue
            found = above_chance(rate.value, fsum(known) / len(known))
            theirs = Metric(metric="without_work", agent=agent, part=name.replace("_", " "), value=found.baseline)
            yield attrs.evolve(theirs, denominator=len(known), note="on the same runs, by the database factor alone")
            if name != "adversarial":  # it is no level of chance: the golds are given away
                yield _above(theirs, found, rate, interval)


def _above(theirs: Metric, found: AboveChance, rate: Rate, interval: Interval | None) -> Metric:
    """Return (rate - theirs) / (1 - theirs), the interval's ends likewise."""
    metric = attrs.evolve(
        theirs,
        metric="above_chance",
        part=f"over {theirs.part}",
        value=found.corrected,
        numerator=rate.successes,
        denominator=rate.of,
        note="" if found.baseline is None else f"which scores {found.baseline:.4f}",
    )
    if interval is None or found.corrected is None:
        return metric
    low, high = (above_chance(end, found.baseline).corrected for end in (interval.low, interval.high))
    return attrs.evolve(metric, low=low, high=high, method=described(interval))


def _rank_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:
    """Yield each agent's rank, and the ranks that it could have, whatever became of the runs that are not scored."""
    rates = {agent: _by_plan(own, settings) for agent, own in by_agent(rows).items()}
    for agent, rate in rates.items() if len(rates) > 1 else ():
        others = [other for name, other in rates.items() if name != agent]
        ranked = rate.value is not None and not rate.mostly_unscored
        rivals = [other.value for other in others if other.value is not None and not other.mostly_unscored]
        yield Metric(
            metric="rank",
            agent=agent,
            value=float(1 + sum(value > (rate.value or 0.0) for value in rivals)) if ranked else None,
            lowest=float(1 + sum((other.lowest or 0.0) > (rate.highest or 0.0) for other in others)),
            highest=float(1 + sum((other.highest or 0.0) > (rate.lowest or 0.0) for other in others)),
            denominator=len(rates),
            note="" if ranked else f"not ranked: {rate.scored} of {rate.planned} runs are scored",
        )


def _gap_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:
    for agent, own in by_agent(rows).items():
        free = tuple(row for row in own if row.stratum in UNAFFECTED)
        affected = tuple(row for row in own if row.stratum in AFFECTED)
        one, other = (success_rate(part, missing=settings.missing) for part in (free, affected))
        if one.value is None or other.value is None:
            continue
        yield Metric(
            metric="gap",
            agent=agent,
            value=one.value - other.value,
            lowest=(one.lowest or 0.0) - (other.highest or 0.0),
            highest=(one.highest or 0.0) - (other.lowest or 0.0),
            note="unaffected minus affected; the report says how the affected tasks were selected",
        ).within(_gap_interval(free, affected, agent, settings))


def _gap_interval(
    free: Sequence[RunRow], affected: Sequence[RunRow], agent: str, settings: MetricSettings
) -> Interval | None:
    how = settings.intervals("gap", agent)
    if settings.by == "tasks":
        ones, others = _counts(free, settings), _counts(affected, settings)
        return _if_enumerable(settings, lambda: intervals.gap_interval(ones, others, how))
    one, other = (resampling.units(part, by="trials", missing=settings.missing) for part in (free, affected))
    if how.rng is None:
        return _if_enumerable(settings, lambda: exact_bootstrap_gap(one, other, level=how.level))
    return resampling.bootstrap_gap(one, other, how.rng, resamples=how.resamples, level=how.level)


# Trials of one task


def _pass_k_metrics(rows: Sequence[RunRow], settings: MetricSettings) -> Iterator[Metric]:
    kinds = {
        "pass^k": pass_k.pass_hat_k,
        "pass@k": pass_k.pass_at_k,
        "pass^k on one side": pass_k.pass_hat_k_on_one_side,
    }
    for agent, own in by_agent(rows).items():
        counts = _counts(own, settings)
        for name, compute in kinds.items():
            for found in compute(own, missing=settings.missing):
                metric = Metric(
                    metric=name,
                    agent=agent,
                    part=str(found.k),
                    value=found.value,
                    denominator=found.tasks,
                    method=f"missing trials {found.missing}",
                    note=_pass_k_note(found),
                )
                yield metric.within(_pass_k_interval(found, counts, agent, settings))
        yield from _shrunk_metrics(agent, counts)


_MOST_SHRUNK = 8
"""The largest k for which pass^k is shrunk."""


def _shrunk_metrics(agent: str, counts: Sequence[Counts]) -> Iterator[Metric]:
    """Yield pass^k with each task shrunk to what all tasks have in common."""
    if not any(trials for _, trials in counts):
        return
    found = posterior(counts)
    most = min(_MOST_SHRUNK, max(trials for _, trials in counts))
    for k, value in enumerate(found.shrunk_pass_hats(most), start=1):
        yield Metric(
            metric="pass^k, shrunk",
            agent=agent,
            part=str(k),
            value=value,
            denominator=len(found.counts),
            method=METHODS["beta-binomial"],
            note=f"correlation of two trials of one task {found.correlation:.2f}",
        )


def _pass_k_interval(
    found: pass_k.PassK, counts: Sequence[Counts], agent: str, settings: MetricSettings
) -> Interval | None:
    if settings.by == "trials" or found.kind == "pass^k on one side" or found.value is None:
        return None
    how = settings.intervals(found.kind, agent, str(found.k))
    compute = intervals.pass_at_interval if found.kind == "pass@k" else intervals.pass_hat_interval
    return _if_enumerable(settings, lambda: compute(counts, found.k, how))


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
    "above_chance": _chance_metrics,
    "rates": _rate_metrics,
    "ranks": _rank_metrics,
    "gap": _gap_metrics,
    "pass_at_k": _pass_k_metrics,
    "trial_variance": _variance_metrics,
    "sides": _side_metrics,
    "counterfactual": _counterfactual_metrics,
    "item_diagnostics": _diagnostic_metrics,
}
"""Which metrics there are, in the order in which they are shown."""
