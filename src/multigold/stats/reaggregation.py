"""What success rates and ranks become when a benchmark is put together otherwise.

The paper's counterfactual re-aggregation (section 4.1) leaves the affected tasks out. The same comparison serves for
another reward column, or for one side of a loophole as the gold: what changes is the rows (`rows.leave_out`,
`loophole_sides.take_sides`, or rows of the other column), and `reaggregate` compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations

import attrs

from multigold.stats.rates import Rate, success_rate
from multigold.stats.rows import MISSING, Missing, RunRow, by_agent, check_option


@attrs.frozen(kw_only=True)
class RankChange:
    """One agent before and after.

    Attributes:
        agent: The agent.
        before: Its rate before.
        after: Its rate after; of nothing if it has no runs left.
        lift: Rate after minus rate before; None if one of them is unknown.
        rank_before: 1 for the best; agents with equal rates share the better rank. None if the rate is
            unknown, or most of the agent's runs are not scored.
        rank_after: The same after.
    """

    agent: str
    before: Rate
    after: Rate
    lift: float | None
    rank_before: int | None
    rank_after: int | None


@attrs.frozen(kw_only=True)
class Lead:
    """The lead of one agent over another, before and after.

    Attributes:
        leader: The agent that is ahead before.
        other: The other agent.
        before: Its lead in rate.
        after: The lead after; below 0 if they have changed places.
    """

    leader: str
    other: str
    before: float
    after: float


@attrs.frozen(kw_only=True)
class Reaggregation:
    """Agents before and after.

    Attributes:
        moves: Every agent, the best before first.
        leads: Every pair of agents with known rates, in the same order.
    """

    moves: tuple[RankChange, ...]
    leads: tuple[Lead, ...]


def reaggregate(before: Iterable[RunRow], after: Iterable[RunRow], *, missing: Missing = "left_out") -> Reaggregation:
    """Compare the agents' rates and ranks under one set of rows with those under another.

    Args:
        before: The runs as they were scored, in any order.
        after: The runs as they would be.
        missing: The convention for missing trials, for both.

    Raises:
        CallError: `missing` is not a convention.
    """
    check_option("missing", missing, MISSING)
    old = {agent: success_rate(rows, missing=missing) for agent, rows in by_agent(before).items()}
    new = {agent: success_rate(rows, missing=missing) for agent, rows in by_agent(after).items()}
    old_ranks, new_ranks = _ranks(old), _ranks(new)
    nothing = Rate(successes=0, scored=0, missing=missing)
    moves = [
        RankChange(
            agent=agent,
            before=old.get(agent, nothing),
            after=new.get(agent, nothing),
            lift=_lift(old.get(agent, nothing), new.get(agent, nothing)),
            rank_before=old_ranks.get(agent),
            rank_after=new_ranks.get(agent),
        )
        for agent in sorted({*old, *new}, key=lambda agent: (old_ranks.get(agent, len(old) + 1), agent))
    ]
    known = [(move.agent, _exact(move.before), _exact(move.after)) for move in moves if move.lift is not None]
    leads = tuple(
        Lead(leader=a, other=b, before=float(a_old - b_old), after=float(a_new - b_new))
        for (a, a_old, a_new), (b, b_old, b_new) in combinations(known, 2)
    )
    return Reaggregation(
        moves=tuple(moves),
        leads=leads,
    )


def _ranks(rates: Mapping[str, Rate]) -> dict[str, int]:
    known = {agent: _exact(rate) for agent, rate in rates.items() if rate.of and not rate.mostly_unscored}
    return {agent: 1 + sum(other > own for other in known.values()) for agent, own in known.items()}


def _lift(before: Rate, after: Rate) -> float | None:
    return float(_exact(after) - _exact(before)) if before.of and after.of else None


def _exact(rate: Rate) -> Fraction:
    return Fraction(rate.successes, rate.of)
