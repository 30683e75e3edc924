"""Item diagnostics: tasks whose outcomes alone suggest that the gold is wrong or too narrow.

Neither sign is proof: with few agents a correlation is negative by chance, and a borderline task varies. End states
that several agents share although the gold fails them are a stronger sign; `multigold audit discover` lists those.

- `inverted`: agents that are stronger on the other tasks do worse on this one. The measure is Kendall's rank
  correlation, with ties (tau-b: Kendall, Biometrika 33 (1945) 239), of the agents' success on this task with their
  success on the other tasks that all of them have run: the item-rest correlation by which test theory finds wrongly
  keyed items (Lord and Novick, Statistical Theories of Mental Test Scores, 1968, chapter 15), as ranks. With few
  agents it comes out negative by chance often: with three and no ties, half the time.
- `varied`: the trials of one agent on the task often disagree; by the mean variance of `pass_k.trial_variance`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Literal, TypeAlias

import attrs

from multigold.stats.pass_k import cell_variance
from multigold.stats.rows import Cell, RunRow, cells

Flag: TypeAlias = Literal["inverted", "varied"]
"""Why a task is flagged."""

VARIED = 3 / 16
"""Mean variance from which a task counts as varied: as if, for every agent, one trial of four went the other way."""

FEWEST_AGENTS = 3
"""Agents below which a rank correlation says nothing."""


@attrs.frozen(kw_only=True)
class ItemDiagnostics:
    """What the outcomes of one task suggest about its gold.

    Attributes:
        task: The task's name.
        flags: Why it is flagged; empty if it is not.
        agents: Agents with a scored run of it.
        runs: Scored runs.
        successes: Successful ones among them.
        correlation: Rank correlation of success here with success elsewhere, -1..1; None if it is not defined.
        variance: Mean over agents of the variance between trials; None if no agent has two scored trials.
    """

    task: str
    flags: tuple[Flag, ...]
    agents: int
    runs: int
    successes: int
    correlation: float | None = None
    variance: float | None = None


def diagnose_items(rows: Iterable[RunRow], *, varied: float = VARIED) -> tuple[ItemDiagnostics, ...]:
    """Measure every task, in natural order; those that deserve a look have flags.

    Args:
        rows: The runs of all agents, in any order.
        varied: Mean variance from which a task counts as varied, 0..0.25.
    """
    tasks: dict[str, dict[str, Cell]] = {}
    for cell in cells(rows):
        found = tasks.setdefault(cell.task, {})
        if cell.scored:
            found[cell.agent] = cell
    rests = _rest_rates(tasks)
    return tuple(_measure(task, tuple(own.values()), rests, varied) for task, own in tasks.items())


def rank_correlation(pairs: Sequence[tuple[Fraction, Fraction]]) -> float | None:
    """Return Kendall's tau-b of paired values; None if one side has no two different values.

    (concordant - discordant) / sqrt((pairs not tied on the left) (pairs not tied on the right)).
    """
    agreeing = left = right = 0
    for (a, b), (c, d) in combinations(pairs, 2):
        agreeing += _sign(a - c) * _sign(b - d)
        left += a != c
        right += b != d
    return agreeing / sqrt(left * right) if left and right else None


def _measure(
    task: str, own: Sequence[Cell], rests: Mapping[tuple[str, str], Fraction], varied: float
) -> ItemDiagnostics:
    successes = sum(cell.successes for cell in own)
    correlation = _item_rest(task, own, rests)
    repeated = [cell_variance(cell.successes, cell.scored) for cell in own if cell.scored >= 2]
    variance = float(sum(repeated, Fraction(0)) / len(repeated)) if repeated else None
    flags: dict[Flag, bool] = {
        "inverted": correlation is not None and correlation < 0,
        "varied": variance is not None and variance >= varied,
    }
    return ItemDiagnostics(
        task=task,
        flags=tuple(flag for flag, present in flags.items() if present),
        agents=len(own),
        runs=sum(cell.scored for cell in own),
        successes=successes,
        correlation=correlation,
        variance=variance,
    )


def _rest_rates(tasks: Mapping[str, Mapping[str, Cell]]) -> dict[tuple[str, str], Fraction]:
    """Return each agent's mean success over the tasks that all agents have run, without each task in turn."""
    everyone = {agent for own in tasks.values() for agent in own}
    rates = {
        task: {agent: Fraction(cell.successes, cell.scored) for agent, cell in own.items()}
        for task, own in tasks.items()
        if set(own) == everyone
    }
    totals = {agent: sum((own[agent] for own in rates.values()), Fraction(0)) for agent in everyone}
    found = {}
    for task in tasks:
        number = len(rates) - (task in rates)
        for agent in everyone if number else ():
            found[task, agent] = (totals[agent] - rates.get(task, {}).get(agent, Fraction(0))) / number
    return found


def _item_rest(task: str, own: Sequence[Cell], rests: Mapping[tuple[str, str], Fraction]) -> float | None:
    pairs = [
        (rests[task, cell.agent], Fraction(cell.successes, cell.scored)) for cell in own if (task, cell.agent) in rests
    ]
    return rank_correlation(pairs) if len(pairs) >= FEWEST_AGENTS else None


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)
