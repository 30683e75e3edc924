"""Success rates with their denominators, and Wilson's interval.

A rate is a record and not a float: the same 50 % means different things for 1 of 2 runs and for 50 of 100, with and
without unscored runs, so the counts travel with the number wherever it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Literal, TypeAlias

import attrs

from multigold.errors import CallError
from multigold.stats.rows import MISSING, Missing, RunRow, cells, check_option

IntervalMethod: TypeAlias = Literal[
    "beta-binomial",
    "bootstrap",
    "exact-bootstrap",
    "bca",
    "t",
    "logit",
    "effective-wilson",
    "wilson",
    "adjusted",
]
"""How an interval was found."""

By: TypeAlias = Literal["tasks", "trials"]
"""What is taken as independent."""

BY: Mapping[By, str] = {
    "tasks": "tasks are independent, the trials of one task are not",
    "trials": "every trial is taken as independent (the paper, appendix A.4)",
}
"""What may be taken as independent, in a sentence each."""


@attrs.frozen(kw_only=True)
class Rate:
    """A success rate and what it is of.

    Attributes:
        successes: Runs whose reward is within 1e-6 of 1.
        scored: Runs that have a reward.
        unscored: Runs that have none.
        absent: Planned trials that are not there.
        tasks: Different tasks among the runs, those without a scored run included.
        missing: What becomes of unscored and absent trials.
        of: The denominator under the convention.
        value: The rate, 0..1; None if the denominator is 0.
        lowest: The rate if every unscored run and every absent trial were a failure; None if there are no runs.
        highest: The rate if each were a success.
    """

    successes: int
    scored: int
    unscored: int = 0
    absent: int = 0
    tasks: int = 0
    missing: Missing = "left_out"
    of: int = attrs.field(init=False)
    value: float | None = attrs.field(init=False)

    lowest: float | None = attrs.field(init=False)
    highest: float | None = attrs.field(init=False)

    @lowest.default
    def _if_lost(self) -> float | None:
        return self.successes / self.planned if self.planned else None

    @highest.default
    def _if_won(self) -> float | None:
        return (self.successes + self.planned - self.scored) / self.planned if self.planned else None

    @property
    def planned(self) -> int:
        """Runs in all: scored, unscored and absent."""
        return self.scored + self.unscored + self.absent

    @property
    def mostly_unscored(self) -> bool:
        """Whether fewer than half of the planned runs are scored, so that the rate says little of the agent."""
        return 2 * self.scored < self.planned

    @of.default
    def _denominator(self) -> int:
        return self.scored + (self.unscored + self.absent if self.missing == "failed" else 0)

    @value.default
    def _share(self) -> float | None:
        return self.successes / self.of if self.of else None


@attrs.frozen(kw_only=True)
class Interval:
    """An interval for a metric.

    Attributes:
        low: Its lower end.
        high: Its upper end.
        level: How often such intervals should cover, 0..1.
        method: How it was found.
        by: What was taken as independent.
        units: How many of those there were; for a gap, in the smaller stratum.
        resamples: How many resamples were drawn; 0 if none were.
        note: What to know before trusting it; empty if there is nothing.
    """

    low: float
    high: float
    level: float
    method: IntervalMethod
    by: By
    units: int
    resamples: int = 0
    note: str = ""


def success_rate(
    rows: Iterable[RunRow], *, missing: Missing = "left_out", planned: int | None = None, tasks: Iterable[str] = ()
) -> Rate:
    """Count the successes of runs.

    Every run weighs the same (as in tau2's average reward), so a task with more trials weighs more.

    Args:
        rows: The runs, in any order, of any agents.
        missing: The convention for missing trials; see `rows.MISSING`.
        planned: Trials planned of each task; None takes, for each agent, the most that it made of any task.
        tasks: Names of tasks that should be there.

    Raises:
        CallError: `missing` is not a convention.
    """
    check_option("missing", missing, MISSING)
    rows = list(rows)
    grid = cells(rows, planned=planned, tasks=tasks)
    scored = sum(row.reward is not None for row in rows)
    return Rate(
        successes=sum(cell.successes for cell in grid),
        scored=scored,
        unscored=len(rows) - scored,
        absent=sum(cell.absent for cell in grid),
        tasks=len({cell.task for cell in grid}),
        missing=missing,
    )


def wilson_interval(successes: int, of: int, *, level: float = 0.95) -> Interval | None:
    """Return Wilson's score interval of a proportion, without continuity correction; None if `of` is 0.

    With p = successes / of, n = of and z the normal quantile of (1 + level) / 2, the ends are
    (p + z²/2n ± z sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n). Source: Wilson, J. Am. Stat. Assoc. 22 (1927) 209;
    recommended for small n by Brown, Cai and DasGupta, Stat. Sci. 16 (2001) 101.

    It takes all runs as independent. Several trials of one task are not, so over many tasks with several trials each
    the task-clustered bootstrap is the one to quote.

    Args:
        successes: Number of successes.
        of: Number of runs.
        level: Coverage, between 0 and 1.

    Raises:
        CallError: The counts or the level make no sense.
    """
    check_level(level)
    if not 0 <= successes <= of:
        raise CallError(f"there cannot be {successes} successes in {of} runs.")
    if of == 0:
        return None
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    share, weight = successes / of, z * z / of
    middle = share + weight / 2
    reach = z * sqrt(share * (1 - share) / of + weight / (4 * of))
    # At 0 and at 1 one end is exact; rounding must not move it outside.
    low = 0.0 if successes == 0 else (middle - reach) / (1 + weight)
    high = 1.0 if successes == of else (middle + reach) / (1 + weight)
    return Interval(low=low, high=high, level=level, method="wilson", by="trials", units=of)


def check_level(level: float) -> None:
    """Refuse a coverage that is not between 0 and 1.

    Raises:
        CallError: It is not.
    """
    if not 0 < level < 1:
        raise CallError(f"level must lie between 0 and 1, such as 0.95; it is {level}.")
