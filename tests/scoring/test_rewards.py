"""From factors to the reward: what is replaced, recomputed, taken as recorded, and left unknown."""

from __future__ import annotations

import pytest

from multigold.model.task import Criteria
from multigold.model.trajectory import Message, Recorded, Trajectory
from multigold.scoring.rewards import best, combine, communicated, other_factors, reward_basis


def _others(criteria: Criteria, run: Trajectory, communicate: list[str] | None = None) -> float | None:
    return other_factors(criteria, run, reward_basis(criteria, run), communicate=communicate)


SAID = (Message(role="assistant", text="You get 1,628 back."), Message(role="user", text="Thanks, Ada"))


def test_the_basis_is_the_tasks_own_then_the_recorded_one_then_tau2s_default() -> None:
    run = Trajectory(recorded=Recorded(reward_basis=("ENV_ASSERTION",)))
    assert reward_basis(Criteria(reward_basis=("DB",)), run) == ("DB",)
    assert reward_basis(Criteria(), run) == ("ENV_ASSERTION",)
    assert reward_basis(Criteria(), Trajectory()) == ("DB", "COMMUNICATE")
    assert reward_basis(None, Trajectory()) == ("DB",)


def test_what_must_be_said_is_found_without_case_and_without_commas_in_what_the_agent_said() -> None:
    assert communicated(["1628", "YOU GET"], SAID)
    assert not communicated(["1,628"], SAID)  # commas are taken out of the message only, as in tau2
    assert not communicated(["ada"], SAID)  # the user said it
    assert communicated([], ())


def test_communicate_is_recomputed_where_the_talk_is_known_and_taken_as_recorded_where_not() -> None:
    criteria = Criteria(communicate=("1628",))
    lying = Recorded(breakdown={"COMMUNICATE": 0.0})
    assert _others(criteria, Trajectory(messages=SAID, recorded=lying)) == 1.0
    assert _others(criteria, Trajectory(recorded=lying)) == 0.0
    assert _others(criteria, Trajectory()) is None


def test_a_recorded_factor_says_nothing_of_a_readings_own_words() -> None:
    run = Trajectory(recorded=Recorded(breakdown={"COMMUNICATE": 1.0}))
    assert _others(Criteria(communicate=("1628",)), run, communicate=["2000"]) is None
    assert _others(Criteria(communicate=("1628",)), run, communicate=["1628"]) == 1.0
    assert _others(Criteria(communicate=("1628",)), run, communicate=[]) == 1.0


def test_a_reading_may_ask_for_other_words() -> None:
    criteria = Criteria(communicate=("1628",))
    assert _others(criteria, Trajectory(messages=SAID), communicate=["2000"]) == 0.0
    assert _others(criteria, Trajectory(messages=SAID), communicate=[]) == 1.0


def test_a_missing_factor_is_unknown_unless_another_is_zero() -> None:
    criteria = Criteria(reward_basis=("DB", "NL_ASSERTION", "ACTION"))
    assert _others(criteria, Trajectory(recorded=Recorded(breakdown={"ACTION": 1.0}))) is None
    assert _others(criteria, Trajectory(recorded=Recorded(breakdown={"ACTION": 0.0}))) == 0.0


@pytest.mark.parametrize(
    ("database", "others", "basis", "reward"),
    [
        (True, 1.0, ("DB",), 1.0),
        (True, 0.5, ("DB", "X"), 0.5),
        (False, 1.0, ("DB",), 0.0),
        (False, None, ("DB", "X"), 0.0),
        (True, None, ("DB", "X"), None),
        (None, 1.0, ("DB",), None),
        (None, 0.0, ("DB", "X"), 0.0),
        (False, 1.0, ("X",), 1.0),
        (None, None, ("X",), None),
    ],
)
def test_the_reward_is_the_product_and_zero_wins_over_unknown(
    database: bool | None, others: float | None, basis: tuple[str, ...], reward: float | None
) -> None:
    assert combine(database, others, basis) == reward


def test_the_best_is_unknown_where_an_unknown_one_could_be_higher() -> None:
    assert best([0.0, 1.0, None]) == 1.0
    assert best([0.5, None]) is None
    assert best([0.5, 0.0]) == 0.5
    assert best([]) is None
