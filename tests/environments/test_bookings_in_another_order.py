"""Case 2: the bookings of airline task 23 (01e812d) in another order get each other's ids, and nothing else differs."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest

import multigold
from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.model.gold import Actions
from multigold.model.task import ToolCall
from multigold.model.trajectory import Trajectory


@pytest.fixture(scope="module")
def gold(shared: Path) -> list[ToolCall]:
    tasks = json.loads((shared / "data" / "tau2" / "airline" / "tasks.01e812d.json").read_bytes())
    (task,) = [task for task in tasks if task["id"] == "23"]
    return [ToolCall(a["name"], a["arguments"]) for a in task["evaluation_criteria"]["actions"]]


@pytest.mark.parametrize("order", list(permutations(range(3)))[1:])
def test_case_2_strictly_different_and_the_same_under_minted_ids_and_unordered(
    airline: Environment, gold: list[ToolCall], order: tuple[int, ...]
) -> None:
    cancellation, *bookings = gold
    calls = [cancellation, *(bookings[i] for i in order)]
    assert [call.name for call in calls] == ["cancel_reservation", *["book_reservation"] * 3]
    assert replay(airline, calls).refusals == ()
    golds = multigold.GoldSet(readings=(multigold.Reading(id="gold", admits=(Actions(tuple(gold)),)),))

    def verdict(*equivalences: str) -> multigold.Verdict:
        run = Trajectory.from_calls(calls)
        return multigold.score(multigold.Task("23"), run, golds, environment=airline, equivalences=equivalences)

    assert verdict().matched == ()
    assert verdict("unordered").matched == ()
    both = verdict("unordered", "minted-ids")
    assert both.matched == ("gold",)
    assert both.rewards.core_strict == 0.0
    # The verdict names the smallest set of the two that it needed; the ids are always of it.
    assert "minted-ids" in both.matches[0].equivalences


def test_case_2_one_booking_less_is_not_the_same(airline: Environment, gold: list[ToolCall]) -> None:
    golds = multigold.GoldSet(readings=(multigold.Reading(id="gold", admits=(Actions(tuple(gold)),)),))
    run = Trajectory.from_calls(gold[:-1])
    verdict = multigold.score(
        multigold.Task("23"), run, golds, environment=airline, equivalences=("unordered", "minted-ids")
    )
    assert verdict.matched == ()
