"""What repeated trials of one task show: pass^k, pass@k, and the variance between trials.

With c successes in n trials of a task, the chance that k of them, drawn without replacement,

- all succeed is C(c, k) / C(n, k): pass^k (Yao et al., tau-bench, arXiv 2406.12045, section 3);
- do not all fail is 1 - C(n - c, k) / C(n, k): pass@k (Chen et al., arXiv 2107.03374, section 2.1).

Both are unbiased where n >= k, and undefined where n < k: such a task is left out and listed, or its missing trials are
counted as failed, as the named convention says. The metric of an agent is the mean over its tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import Literal, TypeAlias

import attrs

from multigold.errors import CallError
from multigold.stats.resampling import Units, units_of_totals
from multigold.stats.rows import MISSING, Cell, Missing, RunRow, cells, cells_of_one_agent, check_option

PassKind: TypeAlias = Literal["pass^k", "pass@k", "pass^k on one side"]
"""The metrics over k trials."""


@attrs.frozen(kw_only=True)
class PassK:
    """A metric over k trials of one agent, with the tasks that it rests on.

    Attributes:
        kind: Which metric.
        k: How many trials.
        missing: The convention for missing trials.
        exact: The metric as a fraction; None if no task can be counted.
        value: The same as a float.
        tasks: Tasks that are counted.
        left_out: Tasks that have too few trials for this k.
        assumed_failed: Missing trials that are counted as failed.
        single: Tasks that are counted on one trial.
        note: What to know before quoting the metric; empty if there is nothing.
        by_task: The metric of each task that is counted.
    """

    kind: PassKind
    k: int
    missing: Missing
    exact: Fraction | None
    tasks: int
    left_out: tuple[str, ...] = ()
    assumed_failed: int = 0
    single: tuple[str, ...] = ()
    by_task: Mapping[str, Fraction] = attrs.field(factory=dict)
    value: float | None = attrs.field(init=False)
    note: str = attrs.field(init=False)

    @value.default
    def _float(self) -> float | None:
        return None if self.exact is None else float(self.exact)

    @note.default
    def _say(self) -> str:
        total = self.tasks + len(self.left_out)
        parts = []
        if self.left_out:
            parts.append(f"{len(self.left_out)} of {total} tasks have fewer than {self.k} trials and are left out")
        if self.single:
            parts.append(f"{len(self.single)} of {self.tasks} tasks rest on a single trial")
        if self.assumed_failed:
            parts.append(f"{self.assumed_failed} missing trials count as failed")
        return "; ".join(parts)

    def units(self) -> Units:
        """Return the tasks as units to resample, for an interval."""
        return units_of_totals((value, 1) for value in self.by_task.values())


@attrs.frozen(kw_only=True)
class TrialVariance:
    """How much the trials of one agent on one task differ.

    Attributes:
        exact: Mean over cells of the population variance of success, as a fraction; None without cells.
        value: The same as a float, 0..0.25.
        cells: Cells that are counted: those with at least two scored trials.
        flips: Cells with both a success and a failure.
        left_out: Cells with fewer than two scored trials, which cannot vary.
        by_task: For each task, the sum of its cells' variances and how many cells those are.
    """

    exact: Fraction | None
    cells: int
    flips: int
    left_out: int = 0
    by_task: Mapping[str, tuple[Fraction, int]] = attrs.field(factory=dict)
    value: float | None = attrs.field(init=False)

    @value.default
    def _float(self) -> float | None:
        return None if self.exact is None else float(self.exact)

    def units(self) -> Units:
        """Return the tasks as units to resample, for an interval."""
        return units_of_totals(self.by_task.values())


def pass_hat(successes: int, trials: int, k: int) -> Fraction | None:
    """Return pass^k of one task: the chance that k of its trials all succeed; None if it has fewer than k.

    Raises:
        CallError: k is less than 1, or the counts are impossible.
    """
    _check_counts(successes, trials, k)
    return None if trials < k else Fraction(comb(successes, k), comb(trials, k))


def pass_at(successes: int, trials: int, k: int) -> Fraction | None:
    """Return pass@k of one task: the chance that k of its trials do not all fail; None if it has fewer than k.

    Raises:
        CallError: k is less than 1, or the counts are impossible.
    """
    _check_counts(successes, trials, k)
    return None if trials < k else 1 - Fraction(comb(trials - successes, k), comb(trials, k))


def pass_hat_k(
    rows: Iterable[RunRow], *, missing: Missing = "left_out", planned: int | None = None, tasks: Iterable[str] = ()
) -> tuple[PassK, ...]:
    """Return pass^k of one agent for every k that its trials allow.

    Under `left_out`, the largest k is the most scored trials that any task has; up to the fewest, the metrics are
    tau2's own (its `pass_hat_k`, mean over tasks). Under `failed`, every task has the planned number of trials.

    Args:
        rows: The runs of one agent, in any order.
        missing: The convention for missing trials; see `rows.MISSING`.
        planned: Trials planned of each task; None takes the most that any task has.
        tasks: Names of tasks that should be there; those without a run are left out, or fail, by the convention.

    Raises:
        CallError: The rows are of several agents, or `missing` is not a convention.
    """
    return _for_every_k("pass^k", lambda cell, n, k: pass_hat(cell.successes, n, k), rows, missing, planned, tasks)


def pass_at_k(
    rows: Iterable[RunRow], *, missing: Missing = "left_out", planned: int | None = None, tasks: Iterable[str] = ()
) -> tuple[PassK, ...]:
    """Return pass@k of one agent for every k that its trials allow; arguments and errors as for `pass_hat_k`."""
    return _for_every_k("pass@k", lambda cell, n, k: pass_at(cell.successes, n, k), rows, missing, planned, tasks)


def pass_hat_k_on_one_side(
    rows: Iterable[RunRow], *, missing: Missing = "left_out", planned: int | None = None, tasks: Iterable[str] = ()
) -> tuple[PassK, ...]:
    """Return pass^k of one agent with all k trials on one side of each loophole; arguments as for `pass_hat_k`.

    An agent that succeeds every time, under a different reading each time, is not reliable, and this shows it. For one
    loophole and runs with one side each it is the sum over sides of C(c_side, k) / C(n, k). Runs that are compatible
    with several sides agree with all of these; a run that takes no side of a loophole contradicts none. On tasks that
    exercise no loophole it is pass^k itself.

    Raises:
        CallError: The rows are of several agents, or `missing` is not a convention.
    """
    agreeing: dict[str, Counter[int]] = {}

    def metric(cell: Cell, trials: int, k: int) -> Fraction | None:
        if cell.task not in agreeing:
            agreeing[cell.task] = _agreeing([row.taken for row in cell.rows if row.success])
        if trials < k:
            return None
        return Fraction(sum(times * comb(number, k) for number, times in agreeing[cell.task].items()), comb(trials, k))

    return _for_every_k("pass^k on one side", metric, rows, missing, planned, tasks)


def trial_variance(rows: Iterable[RunRow]) -> TrialVariance:
    """Return the variance between trials within tasks: ddof 0 per cell of agent and task, mean over cells.

    The paper, appendix A.4. With c successes in n trials a cell's variance is c (n - c) / n²: 0 if the trials agree,
    1/4 if they split evenly. Cells with one scored trial are left out, for they would add a 0 that means nothing.

    Args:
        rows: The runs, in any order, of any agents.
    """
    by_task: dict[str, tuple[Fraction, int]] = {}
    grid = [cell for cell in cells(rows) if cell.rows]
    counted = [cell for cell in grid if cell.scored >= 2]
    for cell in counted:
        total, number = by_task.get(cell.task, (Fraction(0), 0))
        by_task[cell.task] = (total + cell_variance(cell.successes, cell.scored), number + 1)
    total = sum((total for total, _ in by_task.values()), Fraction(0))
    return TrialVariance(
        exact=total / len(counted) if counted else None,
        cells=len(counted),
        flips=sum(0 < cell.successes < cell.scored for cell in counted),
        left_out=len(grid) - len(counted),
        by_task=by_task,
    )


def cell_variance(successes: int, trials: int) -> Fraction:
    """Return the population variance (ddof 0) of the outcomes of one cell.

    Raises:
        CallError: There are no trials, or the counts are impossible.
    """
    _check_counts(successes, trials, 1)
    if not trials:
        raise CallError("a cell without trials has no variance.")
    return Fraction(successes * (trials - successes), trials * trials)


def variance_ratio(one: TrialVariance, other: TrialVariance) -> float | None:
    """Return one mean variance by another; None if either is unknown or the other is 0."""
    return None if one.exact is None or not other.exact else float(one.exact / other.exact)


def _for_every_k(
    kind: PassKind,
    metric: Callable[[Cell, int, int], Fraction | None],
    rows: Iterable[RunRow],
    missing: Missing,
    planned: int | None,
    tasks: Iterable[str],
) -> tuple[PassK, ...]:
    check_option("missing", missing, MISSING)
    grid = cells_of_one_agent(rows, planned=planned, tasks=tasks)
    most = max((cell.trials(missing) for cell in grid), default=0)
    return tuple(_pass_k(kind, metric, grid, missing, k) for k in range(1, most + 1))


def _pass_k(
    kind: PassKind, metric: Callable[[Cell, int, int], Fraction | None], grid: Sequence[Cell], missing: Missing, k: int
) -> PassK:
    found = {cell.task: metric(cell, cell.trials(missing), k) for cell in grid}
    counted = {task: value for task, value in found.items() if value is not None}
    cells_counted = [cell for cell in grid if cell.task in counted]
    return PassK(
        kind=kind,
        k=k,
        missing=missing,
        exact=sum(counted.values(), Fraction(0)) / len(counted) if counted else None,
        tasks=len(counted),
        left_out=tuple(task for task, value in found.items() if value is None),
        assumed_failed=sum(cell.trials(missing) - cell.scored for cell in cells_counted),
        single=tuple(cell.task for cell in cells_counted if cell.trials(missing) == 1),
        by_task=counted,
    )


_Common: TypeAlias = frozenset[tuple[str, frozenset[str]]]
"""The sides that some trials share, of each loophole of which any of them takes one."""


def _agreeing(successes: Sequence[Mapping[str, Sequence[str]]]) -> Counter[int]:
    """Return how often each number of trials stands in the count of the sets that share a side of every loophole.

    The number of sets of k successful trials that share a side is the sum of times x C(number, k), over what is
    returned. No set of trials is ever listed: what any of them share is the common part of some kinds of trial, and
    there are few. The sets that share at least something are those drawn from the trials that are on all of it; those
    that share exactly that are these without those that share more (Moebius inversion).
    """
    alike = Counter(frozenset((name, frozenset(sides)) for name, sides in one.items()) for one in successes)
    shared: set[_Common] = {frozenset()}
    for kind in alike:
        shared |= {met for common in shared if (met := _meet(common, kind)) is not None}
    exactly: dict[_Common, Counter[int]] = {}
    # What is shared by fewer trials is more, and comes first.
    on = {common: sum(n for kind, n in alike.items() if _meet(common, kind) == common) for common in shared}
    for common in sorted(shared, key=lambda one: (on[one], len(one), -sum(len(sides) for _, sides in one))):
        exactly[common] = Counter({on[common]: 1})
        for more, numbers in exactly.items():
            if more != common and _meet(more, common) == common:
                exactly[common].subtract(numbers)
    total: Counter[int] = Counter()
    for numbers in exactly.values():
        total.update(numbers)
    return total


def _meet(common: _Common, other: _Common) -> _Common | None:
    met = dict(common)
    for loophole, sides in other:
        met[loophole] = met.get(loophole, sides) & sides
        if not met[loophole]:
            return None
    return frozenset(met.items())


def _check_counts(successes: int, trials: int, k: int) -> None:
    if k < 1:
        raise CallError(f"k must be at least 1; it is {k}.")
    if not 0 <= successes <= trials:
        raise CallError(f"there cannot be {successes} successes in {trials} trials.")
