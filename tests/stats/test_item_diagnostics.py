from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_samples import counted, rows, runs

from multigold.stats.item_diagnostics import diagnose_items, rank_correlation
from multigold.stats.rows import RunRow

values = st.integers(0, 4).map(Fraction)


@given(st.lists(st.tuples(values, values), max_size=8))
def test_the_rank_correlation_is_scipys_tau_b(pairs: list[tuple[Fraction, Fraction]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = rank_correlation(pairs)
    left, right = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    if len(set(left)) < 2 or len(set(right)) < 2:
        assert found is None
    else:
        assert found == pytest.approx(stats.kendalltau(left, right).statistic)


def test_a_task_on_which_stronger_agents_do_worse_is_suspected() -> None:
    strong, middle, weak = (
        counted(agent, {**{str(i): right for i in range(5)}, "9": there})
        for agent, right, there in (("strong", 4, 0), ("middle", 2, 2), ("weak", 1, 4))
    )
    found = {s.task: s for s in diagnose_items(strong + middle + weak)}
    assert found["9"].correlation == -1
    assert "inverted" in found["9"].flags
    assert found["0"].correlation == 1
    assert found["0"].flags == ()


def test_strength_leaves_the_task_itself_out() -> None:
    # On the whole all three are equal; without task 1, its winner is the weakest.
    some = [*counted("a", {"1": 4, "2": 0}), *counted("b", {"1": 2, "2": 2}), *counted("c", {"1": 0, "2": 4})]
    assert [s.correlation for s in diagnose_items(some)] == [-1, -1]


def test_strength_is_compared_on_tasks_that_all_agents_have() -> None:
    some = counted("a", {"1": 4, "2": 1, "3": 4}) + counted("b", {"1": 2, "2": 2}) + counted("c", {"1": 0, "2": 3})
    found = {s.task: s for s in diagnose_items(some)}
    assert found["1"].correlation == -1
    assert (found["3"].correlation, found["3"].agents) == (None, 1)


def test_two_agents_are_too_few_to_call_a_gap_inverted() -> None:
    some = counted("a", {"1": 4, "2": 0}) + counted("b", {"1": 0, "2": 4})
    assert all(s.correlation is None for s in diagnose_items(some))


def test_a_task_whose_trials_disagree_is_varied() -> None:
    some = counted("a", {"1": 2, "2": 4, "3": 1}) + counted("b", {"1": 2, "2": 4, "3": 4})
    found = {s.task: s for s in diagnose_items(some)}
    assert (found["1"].variance, found["2"].variance, found["3"].variance) == (0.25, 0, 3 / 32)
    assert [s.task for s in diagnose_items(some) if "varied" in s.flags] == ["1"]
    assert [s.task for s in diagnose_items(some, varied=0.09) if "varied" in s.flags] == ["1", "3"]
    assert diagnose_items(runs("a", {"1": "1-"}))[0].variance is None


@given(rows())
def test_every_task_is_measured_once_in_natural_order(some: list[RunRow]) -> None:
    found = diagnose_items(some)
    assert [s.task for s in found] == sorted({row.task for row in some}, key=int)
    assert sum(s.runs for s in found) == sum(row.reward is not None for row in some)
