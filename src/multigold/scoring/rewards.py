"""From "does the database match" to the reward.

tau2: the reward is the product of the factors that `reward_basis` names (`evaluator.py`; absent: DB and
COMMUNICATE). multigold replaces the DB factor; recomputes COMMUNICATE from the messages, ENV_ASSERTION from the end
state and ACTION from the calls; takes the rest as recorded; and invents none: a factor that is needed and missing makes
the reward unknown, between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from multigold.environments.assertions import all_hold
from multigold.environments.base import Environment
from multigold.model.task import Criteria, ToolCall
from multigold.model.trajectory import Message, Trajectory
from multigold.state.database import EndState

DEFAULT_BASIS = ("DB", "COMMUNICATE")


def reward_basis(criteria: Criteria | None, trajectory: Trajectory) -> tuple[str, ...]:
    """Return the names of the factors that multiply to the reward.

    The task's own basis wins over the one recorded with the run. A task of which nothing but states is known has the
    database factor alone.
    """
    if criteria is None:
        return ("DB",)
    return criteria.reward_basis or trajectory.recorded.reward_basis or DEFAULT_BASIS


def communicated(strings: Iterable[str], messages: Iterable[Message]) -> bool:
    """Tell whether the agent said every string, each within one message.

    As in tau2 (`evaluator_communicate.py`) both are lower-cased, and commas are removed from what was said.
    """
    said = [message.text.lower().replace(",", "") for message in messages if message.role == "assistant"]
    return all(any(string.lower() in text for text in said) for string in strings)


def acted(golds: Iterable[ToolCall], calls: Sequence[ToolCall]) -> bool:
    """Tell whether every gold call is among a run's calls, of either side and whatever came of them.

    As in tau2 (`tasks.py`, `compare_with_tool_call`): by name and by the arguments that the gold says are compared;
    where it does not say, by those that the run's call has, so that a call without any counts whatever the gold's are.
    """
    return all(any(_same_call(gold, call) for call in calls) for gold in golds)


def _same_call(gold: ToolCall, call: ToolCall) -> bool:
    if gold.name != call.name or call.arguments is None:
        return False
    names = call.arguments.keys() if gold.compared is None else gold.compared
    wanted = {name: value for name, value in (gold.arguments or {}).items() if name in names}
    return wanted == {name: value for name, value in call.arguments.items() if name in names}


def recomputed_factors(
    names: Sequence[str],
    criteria: Criteria | None,
    trajectory: Trajectory,
    end_state: EndState,
    environment: Environment | None,
) -> dict[str, float]:
    """Return the factors that follow from what a run did, whatever the file says of them.

    Args:
        names: The factors that the reward looks at; no others are worked out.
        criteria: What the benchmark checks.
        trajectory: The run.
        end_state: Where it ended.
        environment: Knows the assertions' predicates; None if there is none.

    Returns:
        `ENV_ASSERTION` and `ACTION`, each 0 or 1, as far as they can be told. Where the benchmark asserts nothing, or
        has no gold calls, the factor is 1 (tau2, `evaluator_env.py`, `evaluator_action.py`).
    """
    told = {
        "ENV_ASSERTION": lambda: _asserted(criteria, end_state, environment),
        "ACTION": lambda: _acted(criteria, trajectory),
    }
    values = {name: told[name]() for name in names if name in told} if criteria is not None else {}
    return {name: float(value) for name, value in values.items() if value is not None}


def _asserted(criteria: Criteria | None, end_state: EndState, environment: Environment | None) -> bool | None:
    assertions = criteria.env_assertions if criteria else None
    if not assertions:
        return True
    return None if environment is None else all_hold(environment, end_state, assertions)


def _acted(criteria: Criteria | None, trajectory: Trajectory) -> bool | None:
    golds = criteria.actions if criteria else None
    if not golds:
        return True
    return None if trajectory.calls is None else acted(golds, [recorded.call for recorded in trajectory.calls])


def other_factors(
    criteria: Criteria | None,
    trajectory: Trajectory,
    basis: Sequence[str],
    *,
    communicate: Sequence[str] | None = None,
    recomputed: Mapping[str, float] | None = None,
) -> float | None:
    """Return the product of every factor but the database's.

    Args:
        criteria: What the benchmark checks.
        trajectory: The run.
        basis: Names of the factors; see `reward_basis`.
        communicate: What must be said under a reading, where that differs from the benchmark's.
        recomputed: Factors that are known, and so not taken from the record.

    Returns:
        The product in 0..1; None if a needed factor is missing and no other one is 0.
    """
    lowest, highest = other_bounds(criteria, trajectory, basis, communicate=communicate, recomputed=recomputed)
    return lowest if lowest == highest else None


def other_bounds(
    criteria: Criteria | None,
    trajectory: Trajectory,
    basis: Sequence[str],
    *,
    communicate: Sequence[str] | None = None,
    recomputed: Mapping[str, float] | None = None,
) -> tuple[float, float]:
    """Return the lowest and the highest product of every factor but the database's; `other_factors` has the arguments.

    A needed factor that is missing is anything in 0..1; where none is, the two are equal.
    """
    known_factors = recomputed or {}
    factors = [
        known_factors[name] if name in known_factors else _factor(name, criteria, trajectory, communicate)
        for name in basis
        if name != "DB"
    ]
    known = 1.0
    for factor in factors:
        known *= 1.0 if factor is None else factor
    return (0.0 if None in factors else known), known


def _factor(
    name: str, criteria: Criteria | None, trajectory: Trajectory, communicate: Sequence[str] | None
) -> float | None:
    if name == "COMMUNICATE":
        strings = communicate if communicate is not None else (criteria.communicate if criteria else ())
        if not strings:
            return 1.0
        if trajectory.messages:
            return float(communicated(strings, trajectory.messages))
        if criteria is None or tuple(strings) != tuple(criteria.communicate):
            return None  # what is recorded is of the benchmark's strings, not of the reading's
    return trajectory.recorded.breakdown.get(name)


def combine(database: bool | None, others: float | None, basis: Sequence[str]) -> float | None:
    """Return the reward of a run.

    Args:
        database: Whether the database matches; None if that is unknown.
        others: Product of the other factors; None if one is missing.
        basis: Names of the factors.

    Returns:
        The reward in 0..1; None if it is unknown. No match, or another factor of 0, makes it 0 whatever is missing.
    """
    factor: float | None = 1.0
    if "DB" in basis:
        factor = None if database is None else float(database)
    if 0.0 in (factor, others):
        return 0.0
    return None if factor is None or others is None else factor * others


def best(rewards: Iterable[float | None]) -> float | None:
    """Return the highest of several rewards; None if an unknown one could still be the highest."""
    rewards = list(rewards)
    known = [reward for reward in rewards if reward is not None]
    highest = max(known, default=None)
    return None if None in rewards and highest != 1.0 else highest
