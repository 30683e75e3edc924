"""Two agents on the same tasks: how much they differ, and whether that is more than noise.

Both agents meet the same tasks, so what counts is the difference on each task: d = the first agent's success rate there
minus the second's. The metric is the mean of d over the tasks that both have, every task weighing the same.

*Interval.* By default `intervals.paired_interval`, which holds with few tasks; or the paired bootstrap, clustered by
task: tasks are drawn with replacement, each with its difference. Without a generator the bootstrap is enumerated.

*Test.* If the two agents were the same, each d could as well have the other sign. The p-value is the share of the sign
patterns whose sum is at least as far from 0 as the observed one (Fisher's randomisation test for pairs, The Design of
Experiments, 1935, section 21; Good, Permutation, Parametric and Bootstrap Tests, 2005, section 3.7). All 2^n patterns
are counted, exactly, by convolution, wherever that fits; else they are sampled, and the p-value is
(1 + as extreme) / (1 + sampled) (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010) 39). With one trial per
task this is McNemar's exact test. Swapping whole tasks leaves it valid whatever the trials of a task have in common.

*Sensitivity.* With s the standard deviation of d (ddof 1) over n tasks, differences below z s / sqrt(n) are what two
equal agents show, z being the normal quantile of the level; the smallest true difference that a comparison of this
size would find with some power is (z + z_power) s / sqrt(n) (Miller, arXiv 2411.00640, sections 4 and 5). Turned
round, it says how many tasks, or trials of these, would tell the two apart if they differ by as much as they seem to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, gcd, lcm, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

from multigold.errors import CallError
from multigold.stats.exact import exact_bootstrap_interval, unpack
from multigold.stats.intervals import paired_interval
from multigold.stats.pass_k import cell_variance
from multigold.stats.rates import Interval, check_level
from multigold.stats.resampling import RESAMPLES, Units, bootstrap_interval, import_numpy, units_of_totals
from multigold.stats.rows import Cell, RunRow, cells_of_one_agent, check_option, natural

if TYPE_CHECKING:
    import numpy as np

Pairing: TypeAlias = Literal["tasks", "trials"]
"""What is paired."""

PAIRING: Mapping[Pairing, str] = {
    "tasks": "paired by task: all scored trials of a task count, whatever their numbers",
    "trials": "paired by task and trial: only trials that both agents have scored count",
}
"""What may be paired, in a sentence each."""

PairedInterval: TypeAlias = Literal["adjusted", "bootstrap"]
"""How the interval of a difference is found."""

PAIRED_INTERVALS: Mapping[str, str] = {
    "adjusted": "adjusted for matched tasks (Agresti and Min)",
    "bootstrap": "paired bootstrap by tasks",
}
"""How the interval of a difference may be found, in a few words each; the first is the default."""

Decision: TypeAlias = Literal["first", "second", "not_distinguishable"]
"""Which agent is better, if the test can say."""

_MOST_BITS = 1 << 24
"""Largest integer that the sign patterns may fill: well under a second of work."""

_BLOCK = 4_000_000
"""Most signs drawn at once."""


@attrs.frozen(kw_only=True)
class TaskDifference:
    """Two agents on one task.

    Attributes:
        task: The task's name.
        first: Successes and trials of the first agent.
        second: The same of the second.
        exact: The first's rate minus the second's, as a fraction.
        difference: The same as a float, -1..1.
    """

    task: str
    first: tuple[int, int]
    second: tuple[int, int]
    exact: Fraction = attrs.field(init=False)
    difference: float = attrs.field(init=False)

    @exact.default
    def _subtract(self) -> Fraction:
        return Fraction(*self.first) - Fraction(*self.second)

    @difference.default
    def _float(self) -> float:
        return float(self.exact)


@attrs.frozen(kw_only=True)
class SignFlip:
    """A sign-flip test.

    Attributes:
        p_value: Two-sided.
        method: `exact` if all sign patterns were counted, `sampled` if they were drawn.
        differing: Tasks on which the agents differ; only their signs matter.
        smallest: The smallest p-value that so many differing tasks can give.
        resamples: Patterns drawn; 0 if all were counted.
    """

    p_value: float
    method: Literal["exact", "sampled"]
    differing: int
    smallest: float
    resamples: int = 0


@attrs.frozen(kw_only=True)
class Sensitivity:
    """How small a difference a comparison of this size can see.

    Attributes:
        tasks: Tasks compared.
        deviation: Standard deviation (ddof 1) of the differences between tasks.
        floor: Differences below this are what two equal agents show.
        detectable: Smallest true difference that would be found with the given power.
        level: Coverage that `floor` belongs to.
        power: Chance that `detectable` belongs to.
        trial_share: Share of the variance of the differences that comes from chance between trials of one task, which
            more trials would reduce; the rest only more tasks do. None if no task has two trials by both agents.
        tasks_needed: Tasks like these on which a true difference as large as the one seen would be found with the given
            power; None if none is seen.
        trials_needed: Trials of each of these tasks by either agent that would do, if they have the same number now on
            average; None if no number of trials would, or that cannot be told.
    """

    tasks: int
    deviation: float
    floor: float
    detectable: float
    level: float
    power: float
    trial_share: float | None
    tasks_needed: int | None = None
    trials_needed: int | None = None


@attrs.frozen(kw_only=True)
class PairedComparison:
    """Two agents compared.

    Attributes:
        first: The first agent's name.
        second: The second's.
        pairing: What is paired.
        tasks: Tasks that both have.
        only_first: Tasks that only the first has scored.
        only_second: Tasks that only the second has.
        uncounted: Runs of shared tasks that are not in the metric: unscored, or without a partner.
        first_rate: The first agent's rate, mean over shared tasks; None if there are none.
        second_rate: The second's.
        difference: The first's minus the second's.
        bounds: Lowest and highest that it would be if unscored runs were lost by one and won by the other, over all
            tasks that both have runs of; None without such tasks.
        interval: Its paired interval, clustered by task.
        test: The sign-flip test; None if no task is shared.
        decision: `not_distinguishable` unless the test's p-value is at most 1 - level.
        sensitivity: How small a difference could be seen; None with fewer than two tasks.
        by_task: Every shared task, in natural order.
        deciding: The tasks on which they differ, the largest differences first.
        lead_rests_on: The fewest tasks without which the leader no longer leads, largest first; empty without a leader.
        note: What to know before quoting the comparison; empty if there is nothing.
    """

    first: str
    second: str
    pairing: Pairing
    tasks: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    uncounted: int
    first_rate: float | None
    second_rate: float | None
    difference: float | None
    bounds: tuple[float, float] | None
    interval: Interval | None
    test: SignFlip | None
    decision: Decision
    sensitivity: Sensitivity | None
    by_task: tuple[TaskDifference, ...]
    deciding: tuple[TaskDifference, ...]
    lead_rests_on: tuple[str, ...]
    note: str


def compare_agents(
    first: Iterable[RunRow],
    second: Iterable[RunRow],
    *,
    pairing: Pairing = "tasks",
    interval: PairedInterval = "adjusted",
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    power: float = 0.8,
) -> PairedComparison:
    """Compare two agents, or two sets of runs of one agent, on the tasks that both have.

    Args:
        first: The runs of one, in any order.
        second: The runs of the other.
        pairing: What is paired; by trial only if both ran their trials from the same seeds.
        interval: How the interval is found; see `PAIRED_INTERVALS`.
        rng: The source of randomness; None enumerates the bootstrap and the sign patterns.
        resamples: How many resamples to draw, where any are.
        level: Coverage of the interval; 1 - level is the test's significance.
        power: Chance that the smallest detectable difference belongs to.

    Raises:
        CallError: One side is of several agents, an option makes no sense, or there is too much to enumerate and no
            generator.
        MissingExtraError: A generator is given and numpy is not installed.
    """
    check_option("pairing", pairing, PAIRING)
    check_option("interval", interval, PAIRED_INTERVALS)
    check_level(level)
    check_level(power)
    first, second = tuple(first), tuple(second)
    ours, theirs = _scored_cells(first), _scored_cells(second)
    shared = [task for task in ours if task in theirs]
    by_task = tuple(
        found for task in shared if (found := _task_difference(ours[task], theirs[task], pairing)) is not None
    )
    differences = [found.exact for found in by_task]
    test = sign_flip(differences, rng=rng, resamples=resamples) if by_task else None
    mean = _mean(differences)
    return PairedComparison(
        first=_name(first),
        second=_name(second),
        pairing=pairing,
        tasks=len(by_task),
        only_first=tuple(task for task in ours if task not in theirs),
        only_second=tuple(task for task in theirs if task not in ours),
        uncounted=_uncounted((*first, *second), set(shared), by_task),
        first_rate=_float(_mean([Fraction(*found.first) for found in by_task])),
        second_rate=_float(_mean([Fraction(*found.second) for found in by_task])),
        difference=_float(mean),
        bounds=_bounds(first, second),
        interval=_adjusted(by_task, level) if interval == "adjusted" else _interval(differences, rng, resamples, level),
        test=test,
        decision=_decide(mean, test, level),
        sensitivity=sensitivity(by_task, level=level, power=power),
        by_task=by_task,
        deciding=tuple(sorted((d for d in by_task if d.exact), key=lambda d: (-abs(d.exact), natural(d.task)))),
        lead_rests_on=_lead_rests_on(by_task),
        note=_note(by_task, test, level),
    )


def sign_flip(
    differences: Sequence[Fraction], *, rng: np.random.Generator | None = None, resamples: int = RESAMPLES
) -> SignFlip:
    """Return the sign-flip test of paired differences, two-sided.

    Args:
        differences: One per task.
        rng: The source of randomness if there are too many sums to enumerate; used for nothing else.
        resamples: How many sign patterns to draw then.

    Raises:
        CallError: There are too many sums to enumerate, and no generator.
        MissingExtraError: There are, and numpy is not installed.
    """
    steps, observed = _whole_steps(differences)
    slot = (len(steps) + 8) // 8
    if slot * (sum(steps) + 1) * 8 <= _MOST_BITS:
        extreme, patterns, method = *_count_patterns(steps, observed, slot), "exact"
    elif rng is None:
        raise CallError("there are too many sums of differences to enumerate.", remedy="Pass a generator.")
    else:
        extreme, patterns, method = *_draw_patterns(steps, observed, rng, resamples), "sampled"
    return SignFlip(
        p_value=float(Fraction(extreme, patterns)),
        method="exact" if method == "exact" else "sampled",
        differing=len(steps),
        smallest=float(Fraction(min(2, 2 ** len(steps)), 2 ** len(steps))),
        resamples=0 if method == "exact" else resamples,
    )


def sensitivity(by_task: Sequence[TaskDifference], *, level: float = 0.95, power: float = 0.8) -> Sensitivity | None:
    """Return how small a difference a comparison like this one can see; None with fewer than two tasks.

    The share of the variance that comes from trials is the mean over tasks of v1 / n1 + v2 / n2, v being the unbiased
    variance between the trials of one agent, by the variance of the differences.

    Args:
        by_task: The differences.
        level: Coverage that the floor belongs to.
        power: Chance that the detectable difference belongs to.
    """
    count = len(by_task)
    if count < 2:
        return None
    differences = [found.exact for found in by_task]
    middle = sum(differences, Fraction(0)) / count
    variance = sum(((d - middle) ** 2 for d in differences), Fraction(0)) / (count - 1)
    error = sqrt(variance / count)
    from statistics import NormalDist

    reach = NormalDist().inv_cdf((1 + level) / 2)
    from_trials = [
        _trial_variance(found.first) + _trial_variance(found.second) for found in by_task if _repeated(found)
    ]
    trial_variance = sum(from_trials, Fraction(0)) / len(from_trials) if from_trials else None
    both = reach + NormalDist().inv_cdf(power)
    return Sensitivity(
        tasks=count,
        deviation=sqrt(variance),
        floor=reach * error,
        detectable=both * error,
        level=level,
        power=power,
        trial_share=float(min(Fraction(1), trial_variance / variance)) if trial_variance and variance else None,
        tasks_needed=ceil(both**2 * variance / middle**2) if middle else None,
        trials_needed=_trials_needed(by_task, middle, variance, trial_variance, both),
    )


def _trials_needed(
    by_task: Sequence[TaskDifference],
    middle: Fraction,
    variance: Fraction,
    trial_variance: Fraction | None,
    reach: float,
) -> int | None:
    """Return how many trials of each task would bring the error down to where the difference is found.

    With f times as many trials the variance is that between tasks plus that from trials by f.
    """
    if not middle or trial_variance is None:
        return None
    now = sum(found.first[1] + found.second[1] for found in by_task) / (2 * len(by_task))
    between = max(0.0, float(variance - trial_variance))
    left = len(by_task) * float(middle) ** 2 / reach**2 - between
    return ceil(now * float(trial_variance) / left) if left > 0 else None


def _scored_cells(rows: Iterable[RunRow]) -> dict[str, Cell]:
    return {cell.task: cell for cell in cells_of_one_agent(rows) if cell.scored}


def _task_difference(first: Cell, second: Cell, pairing: Pairing) -> TaskDifference | None:
    if pairing == "tasks":
        return TaskDifference(
            task=first.task, first=(first.successes, first.scored), second=(second.successes, second.scored)
        )
    ours, theirs = _by_trial(first), _by_trial(second)
    both = sorted(set(ours) & set(theirs))
    if not both:
        return None
    return TaskDifference(
        task=first.task,
        first=(sum(ours[trial] for trial in both), len(both)),
        second=(sum(theirs[trial] for trial in both), len(both)),
    )


def _by_trial(cell: Cell) -> dict[int, bool]:
    numbers = Counter(row.trial for row in cell.rows)
    repeated = sorted(trial for trial, number in numbers.items() if number > 1)
    if repeated:
        raise CallError(
            f"{cell.agent} has several runs that are trial {repeated[0]} of task {cell.task}: they cannot be paired.",
            remedy='Use pairing="tasks".',
        )
    return {row.trial: bool(row.success) for row in cell.rows if row.reward is not None}


def _whole_steps(differences: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return the sizes of the differences that are not 0, as whole multiples of one step, and their signed sum."""
    present = [d for d in differences if d]
    scale = lcm(*(d.denominator for d in present)) if present else 1
    whole = [int(d * scale) for d in present]
    step = gcd(*whole) or 1
    return sorted(abs(d) // step for d in whole), sum(whole) // step


def _count_patterns(steps: Sequence[int], observed: int, slot: int) -> tuple[int, int]:
    """Count the sign patterns whose sum is at least as far from 0 as the observed one.

    A pattern's sum is 2 x - total, x being the sum of the steps that are counted up; the number of patterns for each x
    is a coefficient of the product of (1 + z^step).
    """
    total, packed = sum(steps), 1
    for step in steps:
        packed += packed << (8 * slot * step)
    ways = unpack(packed, slot, total + 1)
    extreme = sum(number for x, number in enumerate(ways) if abs(2 * x - total) >= abs(observed))
    return extreme, 2 ** len(steps)


def _draw_patterns(steps: Sequence[int], observed: int, rng: np.random.Generator, resamples: int) -> tuple[int, int]:
    np = import_numpy()
    if resamples < 1:
        raise CallError(f"a test by sampling needs at least one resample, not {resamples}.")
    # Steps may be larger than a float can hold exactly; by their largest, a sum is good to 1e-9 of the whole.
    sizes = np.array([step / steps[-1] for step in steps])
    threshold = abs(observed) / steps[-1] - 1e-9 * len(steps)
    extreme, left = 0, resamples
    while left:
        drawn = min(left, max(1, _BLOCK // len(steps)))
        sums = (2.0 * rng.integers(0, 2, size=(drawn, len(steps))) - 1.0) @ sizes
        extreme += int((abs(sums) >= threshold).sum())
        left -= drawn
    return 1 + extreme, 1 + resamples


def _adjusted(by_task: Sequence[TaskDifference], level: float) -> Interval | None:
    trials = sum(found.first[1] + found.second[1] for found in by_task) / (2 * len(by_task)) if by_task else 1.0
    ends = paired_interval([found.exact for found in by_task], trials=trials, level=level)
    if ends is None:
        return None
    return Interval(low=ends[0], high=ends[1], level=level, method="adjusted", by="tasks", units=len(by_task))


def _bounds(first: Sequence[RunRow], second: Sequence[RunRow]) -> tuple[float, float] | None:
    ours, theirs = ({cell.task: cell for cell in cells_of_one_agent(rows)} for rows in (first, second))
    shared = [task for task in ours if task in theirs]
    if not shared:
        return None
    lost_won = [(_lost_won(ours[task]), _lost_won(theirs[task])) for task in shared]
    low = sum((one[0] - other[1] for one, other in lost_won), Fraction(0)) / len(shared)
    high = sum((one[1] - other[0] for one, other in lost_won), Fraction(0)) / len(shared)
    return float(low), float(high)


def _lost_won(cell: Cell) -> tuple[Fraction, Fraction]:
    """Return the rate of a task if every unscored run were lost, and were won."""
    runs = len(cell.rows)
    return Fraction(cell.successes, runs), Fraction(cell.successes + cell.unscored, runs)


def _interval(
    differences: Sequence[Fraction], rng: np.random.Generator | None, resamples: int, level: float
) -> Interval | None:
    sample: Units = units_of_totals((difference, 1) for difference in differences)
    if rng is None:
        return exact_bootstrap_interval(sample, level=level)
    return bootstrap_interval(sample, rng, resamples=resamples, level=level)


def _decide(mean: Fraction | None, test: SignFlip | None, level: float) -> Decision:
    if not mean or test is None or test.p_value > 1 - level + 1e-12:
        return "not_distinguishable"
    return "first" if mean > 0 else "second"


def _lead_rests_on(by_task: Sequence[TaskDifference]) -> tuple[str, ...]:
    """Return the fewest tasks without which the leader no longer leads: its largest, until the rest no longer leads."""
    total = sum((found.exact for found in by_task), Fraction(0))
    sign = -1 if total < 0 else 1
    lead, removed = total * sign, []
    for found in sorted(by_task, key=lambda found: (-found.exact * sign, natural(found.task))):
        if lead <= 0:
            break
        lead -= found.exact * sign
        removed.append(found.task)
    return tuple(removed)


def _note(by_task: Sequence[TaskDifference], test: SignFlip | None, level: float) -> str:
    if test is None:
        return "the two share no task that both have scored"
    if test.smallest > 1 - level:
        return (
            f"they differ on {test.differing} of {len(by_task)} tasks: too few for this test to tell them apart at "
            f"level {level:g}, whatever the outcome"
        )
    return ""


def _uncounted(rows: Sequence[RunRow], shared: set[str], by_task: Sequence[TaskDifference]) -> int:
    counted = sum(found.first[1] + found.second[1] for found in by_task)
    return sum(row.name in shared for row in rows) - counted


def _repeated(found: TaskDifference) -> bool:
    return found.first[1] >= 2 and found.second[1] >= 2


def _trial_variance(counts: tuple[int, int]) -> Fraction:
    """Return the unbiased variance between trials by their number: what chance adds to the variance of their mean."""
    successes, trials = counts
    return cell_variance(successes, trials) / (trials - 1)


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _name(rows: Sequence[RunRow]) -> str:
    return rows[0].agent if rows else ""
