from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_samples import counted, runs

from multigold.errors import CallError
from multigold.stats.loophole_sides import take_sides
from multigold.stats.reaggregation import reaggregate
from multigold.stats.rows import leave_out


def test_leaving_tasks_out_lifts_agents_and_moves_ranks() -> None:
    some = counted("a", {"1": 4, "2": 0}) + counted("b", {"1": 3, "2": 3}) + counted("c", {"1": 1, "2": 1})
    found = reaggregate(some, leave_out(some, ["2"]))
    assert [(m.agent, m.rank_before, m.rank_after, m.lift) for m in found.moves] == [
        ("b", 1, 2, 0.0), ("a", 2, 1, 0.5), ("c", 3, 3, 0.0),
    ]  # fmt: skip
    assert [(lead.leader, lead.other, lead.before, lead.after) for lead in found.leads] == [
        ("b", "a", 0.25, -0.25), ("b", "c", 0.5, 0.5), ("a", "c", 0.25, 0.75),
    ]  # fmt: skip
    assert sum(lead.before > 0 > lead.after for lead in found.leads) == 1


def test_the_papers_lifts_and_leads_follow_from_its_counts() -> None:
    seven, totals = {"GPT-5": 9, "Kimi": 12, "Mistral": 10}, {"GPT-5": 111, "Kimi": 83, "Mistral": 70}
    some = [
        row
        for agent in seven
        for row in runs(agent, {"affected": "1" * seven[agent] + "0" * (28 - seven[agent]),
                                "others": "1" * totals[agent] + "0" * (172 - totals[agent])})
    ]  # fmt: skip
    found = reaggregate(some, leave_out(some, ["affected"]))
    assert [round(100 * (m.lift or 0), 1) for m in found.moves] == [4.5, 0.8, 0.7]
    lead = found.leads[0]
    assert (lead.leader, lead.other) == ("GPT-5", "Kimi")
    assert (round(100 * lead.before, 1), round(100 * lead.after, 2)) == (12.5, 16.28)


def test_equal_rates_share_the_better_rank() -> None:
    some = counted("a", {"1": 2}) + counted("b", {"1": 2}) + counted("c", {"1": 1})
    assert [m.rank_before for m in reaggregate(some, some).moves] == [1, 1, 3]
    assert all(lead.before == lead.after for lead in reaggregate(some, some).leads)


def test_an_agent_without_runs_left_has_no_rank_and_no_lift() -> None:
    some = counted("a", {"1": 2, "2": 1}) + counted("b", {"1": 2})
    moves = {m.agent: m for m in reaggregate(some, leave_out(some, ["1"])).moves}
    assert (moves["b"].rank_after, moves["b"].lift, moves["b"].after.value) == (None, None, None)
    assert moves["a"].rank_after == 1
    assert reaggregate([], []).moves == ()


def test_missing_trials_follow_the_named_convention() -> None:
    some = runs("a", {"1": "1---"})
    assert reaggregate(some, some).moves[0].before.value == 1
    assert reaggregate(some, some, missing="failed").moves[0].before.value == 0.25
    with pytest.raises(CallError):
        reaggregate(some, some, missing="zero")  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_the_rank_is_one_more_than_the_agents_that_are_better(successes: list[int]) -> None:
    some = [row for i, c in enumerate(successes) for row in counted(f"agent-{i}", {"1": c})]
    for move in reaggregate(some, take_sides(some, {"L6": "x"})).moves:
        own = successes[int(move.agent.removeprefix("agent-"))]
        assert move.rank_before == move.rank_after == 1 + sum(other > own for other in successes)
