"""From "does the database match" to the reward.

tau2: the reward is the product of the factors that `reward_basis` names (`evaluator.py`; absent: DB and COMMUNICATE).
multigold replaces the DB factor, recomputes COMMUNICATE from the messages, takes the rest as recorded, and invents none:
a factor that is needed and missing makes the reward unknown, between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from multigold.model.task import Criteria
from multigold.model.trajectory import Message, Trajectory

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
    """Tell whether the agent said every string: lower-cased, commas removed from what it said, as in tau2
    (`evaluator_communicate.py`), each within one message.
    """
    said = [message.text.lower().replace(",", "") for message in messages if message.role == "assistant"]
    return all(any(string.lower() in text for text in said) for string in strings)


def other_factors(
    criteria: Criteria | None, trajectory: Trajectory, *, communicate: Sequence[str] | None = None
) -> float | None:
    """Return the product of every factor but the database's.

    Args:
        criteria: What the benchmark checks.
        trajectory: The run.
        communicate: What must be said under a reading, where that differs from the benchmark's.

    Returns:
        The product in 0..1; None where a needed factor is missing and no other one is 0.
    """
    factors = [
        _factor(name, criteria, trajectory, communicate) for name in reward_basis(criteria, trajectory) if name != "DB"
    ]
    known = 1.0
    for factor in factors:
        known *= 1.0 if factor is None else factor
    return None if known != 0 and None in factors else known


def _factor(
    name: str, criteria: Criteria | None, trajectory: Trajectory, communicate: Sequence[str] | None
) -> float | None:
    if name == "COMMUNICATE":
        strings = communicate if communicate is not None else (criteria.communicate if criteria else ())
        if not strings:
            return 1.0
        if trajectory.messages:
            return float(communicated(strings, trajectory.messages))
    return trajectory.recorded.breakdown.get(name)


def combine(database: bool | None, others: float | None, basis: Sequence[str]) -> float | None:
    """Return the reward of a run.

    Args:
        database: Whether the database matches; None where that is unknown.
        others: Product of the other factors; None where one is missing.
        basis: Names of the factors.

    Returns:
        The reward in 0..1; None where it is unknown. No match, or another factor of 0, makes it 0 whatever is missing.
    """
    factor: float | None = 1.0
    if "DB" in basis:
        factor = None if database is None else float(database)
    if 0.0 in (factor, others):
        return 0.0
    return None if factor is None or others is None else factor * others


def best(rewards: Iterable[float | None]) -> float | None:
    """Return the highest of several rewards; None where an unknown one could still be the highest."""
    rewards = list(rewards)
    known = [reward for reward in rewards if reward is not None]
    highest = max(known, default=None)
    return None if None in rewards and highest != 1.0 else highest
