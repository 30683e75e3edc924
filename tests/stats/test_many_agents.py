"""Any number of agents: Holm against another implementation, groups and ranks by their definitions."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stats_samples import counted, runs

from multigold.errors import CallError
from multigold.rendering.metrics import needed_text
from multigold.stats.many_agents import compare_many, holm
from multigold.stats.paired_comparison import compare_agents, sensitivity

TASKS = [str(i) for i in range(12)]


def agents(**successes: int) -> dict[str, list]:
    return {
        name: counted(name, {task: 4 if i < number else 0 for i, task in enumerate(TASKS)})
        for name, number in successes.items()
    }


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_that_of_another_implementation(p_values: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(expected.tolist())


def test_what_has_no_p_value_is_not_counted() -> None:
    assert holm([0.01, None, 0.04]) == [0.02, None, 0.04]
    assert holm([]) == []


def test_agents_far_apart_are_ranked_and_near_ones_are_not_told_apart() -> None:
    found = compare_many(agents(best=12, second=11, third=1, last=0))
    assert [agent.name for agent in found.agents] == ["best", "second", "third", "last"]
    assert found.groups == (("best", "second"), ("third", "last"))
    assert [(agent.best_rank, agent.worst_rank) for agent in found.agents] == [(1, 2), (1, 2), (3, 4), (3, 4)]
    assert found.agents[0].better_than == ("third", "last")


@given(st.lists(st.integers(0, 12), min_size=2, max_size=5))
@settings(max_examples=30, deadline=None)
def test_groups_are_the_largest_sets_of_which_no_two_are_told_apart(numbers: list[int]) -> None:
    found = compare_many(agents(**{f"a{i}": number for i, number in enumerate(numbers)}))
    alike = {
        frozenset((p.comparison.first, p.comparison.second)) for p in found.pairs if p.decision == "not_distinguishable"
    }
    names = [agent.name for agent in found.agents]
    cliques = [
        set(some)
        for size in range(1, len(names) + 1)
        for some in combinations(names, size)
        if all(frozenset(pair) in alike for pair in combinations(some, 2))
    ]
    largest = [clique for clique in cliques if not any(clique < other for other in cliques)]
    assert sorted(map(sorted, largest)) == sorted(sorted(group) for group in found.groups)


def test_an_agent_most_of_whose_runs_are_unscored_comes_last_and_is_not_ranked() -> None:
    hidden = runs("hidden", {"0": "1---", "1": "----", "2": "----"})
    found = compare_many({**agents(one=6, two=0), "hidden": hidden})
    assert found.agents[-1].name == "hidden"
    assert found.agents[-1].note == "1 of 12 runs are scored: not ranked"


def test_one_agent_is_not_compared() -> None:
    with pytest.raises(CallError, match="at least two"):
        compare_many(agents(one=1))


def test_how_many_tasks_or_trials_would_do_is_what_would_do() -> None:
    """With that many tasks like these, or trials, the smallest detectable difference is the one that is seen."""
    first = counted("a", {str(i): c for i, c in enumerate((4, 3, 3, 2, 4, 2, 3, 1))})
    second = counted("b", {str(i): c for i, c in enumerate((3, 3, 2, 2, 4, 2, 2, 1))})
    found = compare_agents(first, second)
    needed = found.sensitivity
    assert needed is not None
    assert needed.detectable > found.difference
    longer = sensitivity(found.by_task * (needed.tasks_needed // 8 + 1))
    assert longer is not None
    assert longer.detectable <= found.difference * 1.02
    assert "tasks like these" in needed_text(needed)
    # Twice the trials, all as before, leave half of the variance that comes from trials.
    assert needed.trials_needed is None or needed.trials_needed > 4


def test_bounds_of_a_difference_take_unscored_runs_both_ways() -> None:
    found = compare_agents(runs("a", {"1": "11--", "2": "1111"}), runs("b", {"1": "0011", "2": "11--"}))
    assert found.difference == pytest.approx((0.5 + 0.0) / 2)
    assert found.bounds == pytest.approx(((0.5 - 0.5 + 1 - 1) / 2, (1 - 0.5 + 1 - 0.5) / 2))
