from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_samples import counted, runs

from multigold.errors import CallError
from multigold.stats import paired_comparison
from multigold.stats.paired_comparison import compare_agents, sensitivity, sign_flip
from multigold.stats.resampling import generator
from multigold.stats.rows import RunRow

fractions = st.builds(Fraction, st.integers(-12, 12), st.sampled_from([1, 2, 3, 4, 12]))


def one_trial_each(agent: str, letters: str) -> list[RunRow]:
    return runs(agent, {str(task): letter for task, letter in enumerate(letters)})


@given(st.lists(fractions, max_size=8))
def test_the_exact_test_counts_every_sign_pattern(differences: list[Fraction]) -> None:
    observed = abs(sum(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in product((1, -1), repeat=len(differences))]  # fmt: skip
    found = sign_flip(differences)
    assert found.p_value == float(Fraction(sum(s >= observed for s in sums), len(sums)))
    assert found.method == "exact"
    assert found.smallest <= found.p_value
    assert found.differing == sum(d != 0 for d in differences)


def test_the_exact_test_is_scipys_over_all_sign_patterns() -> None:
    stats = pytest.importorskip("scipy.stats")
    np = pytest.importorskip("numpy")
    differences = [Fraction(n, 4) for n in (4, -1, 2, 3, 0, 1, -2, 1, 1, 2)]
    theirs = stats.permutation_test(
        ([float(d) for d in differences],), np.sum, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip(differences).p_value == pytest.approx(theirs.pvalue)


@given(st.integers(0, 30), st.integers(0, 30))
def test_with_one_trial_per_task_the_test_is_mcnemars_exact_one(first_only: int, second_only: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = sign_flip([Fraction(1)] * first_only + [Fraction(-1)] * second_only + [Fraction(0)] * 5)
    number = first_only + second_only
    expected = stats.binomtest(first_only, number).pvalue if number else 1.0
    assert found.p_value == pytest.approx(expected)


def test_too_many_sums_are_sampled_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = [Fraction(n, 12) for n in (5, -3, 7, 2, 9, -1, 4, 4, 3, -6)]
    exact = sign_flip(differences)
    monkeypatch.setattr(paired_comparison, "_MOST_BITS", 1)
    monkeypatch.setattr(paired_comparison, "_BLOCK", 1000)
    with pytest.raises(CallError, match="Pass a generator"):
        sign_flip(differences)
    sampled = sign_flip(differences, rng=generator(5), resamples=50_000)
    assert (sampled.method, sampled.resamples) == ("sampled", 50_000)
    assert sampled.p_value == pytest.approx(exact.p_value, abs=5 * sqrt(exact.p_value / 50_000))
    with pytest.raises(CallError, match="at least one"):
        sign_flip(differences, rng=generator(5), resamples=0)


def test_a_sampled_p_value_is_never_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired_comparison, "_MOST_BITS", 1)
    assert sign_flip([Fraction(1)] * 60, rng=generator(1), resamples=999).p_value == 1 / 1000


def test_two_runs_of_one_agent_ten_points_apart_on_fifty_tasks_are_not_distinguishable() -> None:
    first = one_trial_each("model", "1" * 22 + "1" * 8 + "0" * 3 + "0" * 17)
    second = one_trial_each("model", "1" * 22 + "0" * 8 + "1" * 3 + "0" * 17)
    found = compare_agents(first, second, rng=generator(42))
    assert found.difference == pytest.approx(0.10)
    assert (found.tasks, found.first_rate, found.second_rate) == (50, 0.6, 0.5)
    assert found.decision == "not_distinguishable"
    assert found.interval is not None
    assert found.interval.low < 0 < found.interval.high
    assert found.test is not None
    # Eleven tasks differ, eight of them one way: 2 (C(11,0) + ... + C(11,3)) / 2^11.
    assert found.test.p_value == pytest.approx(2 * (1 + 11 + 55 + 165) / 2048)
    assert found.sensitivity is not None
    assert found.sensitivity.floor > 0.10
    assert len(found.deciding) == 11
    assert found.lead_rests_on == ("22", "23", "24", "25", "26")


def test_a_clear_difference_is_told_and_the_other_way_round_for_the_other() -> None:
    better, worse = counted("a", {str(i): 3 for i in range(20)}), counted("b", {str(i): 1 for i in range(20)})
    assert compare_agents(better, worse).decision == "first"
    assert compare_agents(worse, better).decision == "second"


def test_an_agent_against_itself_differs_nowhere() -> None:
    own = counted("a", {str(i): i % 5 for i in range(10)})
    found = compare_agents(own, own)
    assert (found.difference, found.decision, found.deciding, found.lead_rests_on) == (0, "not_distinguishable", (), ())
    assert found.test is not None
    assert found.test.p_value == 1
    assert found.sensitivity is not None
    assert found.sensitivity.floor == 0
    assert found.interval is not None
    assert found.interval.low < 0 < found.interval.high


counts = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12)


@given(counts)
def test_exchanging_the_agents_turns_every_sign(pairs: list[tuple[int, int]]) -> None:
    first, second = (counted(agent, {str(t): pair[i] for t, pair in enumerate(pairs)}) for i, agent in enumerate("ab"))
    one, other = compare_agents(first, second), compare_agents(second, first)
    assert one.difference == -(other.difference or 0)
    assert one.test == other.test
    assert one.sensitivity == other.sensitivity
    assert [d.task for d in one.deciding] == [d.task for d in other.deciding]
    assert {one.decision, other.decision} in ({"first", "second"}, {"not_distinguishable"})


@given(counts)
def test_the_lead_rests_on_the_fewest_tasks(pairs: list[tuple[int, int]]) -> None:
    first, second = (counted(agent, {str(t): pair[i] for t, pair in enumerate(pairs)}) for i, agent in enumerate("ab"))
    found = compare_agents(first, second)
    differences = {d.task: d.exact for d in found.by_task}
    total = sum(differences.values())
    sign = 1 if total >= 0 else -1

    def led_without(tasks: tuple[str, ...]) -> bool:
        return sign * (total - sum(differences[task] for task in tasks)) > 0

    assert not led_without(found.lead_rests_on)
    if found.lead_rests_on and len(differences) <= 8:
        assert all(led_without(tasks) for tasks in combinations(differences, len(found.lead_rests_on) - 1))


def test_the_enumerated_interval_is_what_the_resampled_one_tends_to() -> None:
    first, second = counted("a", {str(i): i % 5 for i in range(30)}), counted("b", {str(i): i % 3 for i in range(30)})
    exact = compare_agents(first, second, interval="bootstrap").interval
    drawn = compare_agents(first, second, interval="bootstrap", rng=generator(1), resamples=100_000).interval
    assert exact is not None
    assert drawn is not None
    assert (exact.method, drawn.method, exact.by) == ("exact-bootstrap", "bootstrap", "tasks")
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.01)


def test_the_sensitivity_is_that_of_the_mean_difference_and_detection_asks_for_more() -> None:
    first, second = counted("a", {str(i): i % 5 for i in range(30)}), counted("b", {str(i): i % 3 for i in range(30)})
    found = compare_agents(first, second)
    differences = [d.difference for d in found.by_task]
    mean = sum(differences) / 30
    deviation = sqrt(sum((d - mean) ** 2 for d in differences) / 29)
    assert found.sensitivity is not None
    assert found.sensitivity.deviation == pytest.approx(deviation)
    assert found.sensitivity.floor == pytest.approx(1.959964 * deviation / sqrt(30), rel=1e-6)
    # (z + z_power) s / sqrt(n), with z 1.959964 and, for a power of 0.8, 0.841621.
    assert found.sensitivity.detectable == pytest.approx(2.801585 * deviation / sqrt(30), rel=1e-6)


def test_a_true_difference_of_the_detectable_size_is_found_with_that_power() -> None:
    np = pytest.importorskip("numpy")
    rng = np.random.default_rng(8)
    base, other = rng.uniform(0.3, 0.7, size=200), 0.12
    found = detectable = 0.0
    for _ in range(60):
        wins = (rng.random((200, 2)) < np.column_stack([base + other, base])).astype(int)
        first, second = (one_trial_each(agent, "".join(map(str, wins[:, i]))) for i, agent in enumerate("ab"))
        result = compare_agents(first, second, rng=generator(0), resamples=1)
        found += result.decision == "first"
        assert result.sensitivity is not None
        detectable += result.sensitivity.detectable
    # 0.12 is a little below what 200 tasks of one trial detect with 80 %; the share found must agree with that.
    assert detectable / 60 == pytest.approx(0.138, abs=0.01)
    assert 0.5 < found / 60 < 0.85


def test_how_much_of_the_noise_more_trials_would_take_away() -> None:
    # Each difference is 0 by chance alone: one of two trials on both sides. v / n = (1/2) / 2 on either side.
    first, second = counted("a", {"1": 1, "2": 2, "3": 0}, of=2), counted("b", {"1": 1, "2": 0, "3": 2}, of=2)
    found = compare_agents(first, second).sensitivity
    assert found is not None
    assert found.trial_share == pytest.approx((0.25 + 0.25) / 3 / 1)
    single = compare_agents(one_trial_each("a", "101"), one_trial_each("b", "011")).sensitivity
    assert single is not None
    assert single.trial_share is None


def test_fewer_than_two_tasks_have_no_sensitivity() -> None:
    assert sensitivity([]) is None
    assert compare_agents(counted("a", {"1": 1}), counted("b", {"1": 2})).sensitivity is None


def test_tasks_that_one_agent_lacks_are_listed_and_not_counted() -> None:
    found = compare_agents(runs("a", {"1": "11", "2": "1", "3": "-"}), runs("b", {"1": "10", "3": "1", "10": "0"}))
    assert (found.tasks, found.only_first, found.only_second) == (1, ("2",), ("3", "10"))
    assert (found.difference, found.uncounted) == (0.5, 0)


def test_agents_without_a_common_task_are_not_compared() -> None:
    found = compare_agents(counted("a", {"1": 1}), counted("b", {"2": 1}))
    assert (found.difference, found.interval, found.test) == (None, None, None)
    assert found.decision == "not_distinguishable"
    assert "no task" in found.note
    assert compare_agents([], []).first == ""


def test_pairing_by_trial_counts_only_trials_that_both_have() -> None:
    first, second = runs("a", {"1": "1-10", "2": "11"}), runs("b", {"1": "01-0", "2": "--"})
    by_trial = compare_agents(first, second, pairing="trials")
    (only,) = by_trial.by_task
    assert (only.first, only.second, only.difference) == ((1, 2), (0, 2), 0.5)
    assert (by_trial.only_first, by_trial.uncounted) == (("2",), 4)
    by_task = compare_agents(first, second)
    assert (by_task.by_task[0].first, by_task.by_task[0].second) == ((2, 3), (1, 3))


def test_pairing_by_trial_leaves_out_tasks_without_a_common_trial() -> None:
    found = compare_agents(runs("a", {"1": "1-", "2": "1"}), runs("b", {"1": "-1", "2": "0"}), pairing="trials")
    assert [d.task for d in found.by_task] == ["2"]
    assert found.uncounted == 4


def test_runs_that_cannot_be_paired_by_trial_are_refused() -> None:
    twice = [RunRow(agent="a", task="1", trial=0, reward=1.0), RunRow(agent="a", task="1", trial=0, reward=0.0)]
    with pytest.raises(CallError, match="trial 0 of task 1"):
        compare_agents(twice, counted("b", {"1": 1}), pairing="trials")
    assert compare_agents(twice, counted("b", {"1": 2})).difference == 0


def test_too_few_differing_tasks_to_tell_anything_are_said() -> None:
    found = compare_agents(one_trial_each("a", "111110"), one_trial_each("b", "000000"))
    assert found.test is not None
    assert found.test.smallest == found.test.p_value == 2 / 32
    assert found.decision == "not_distinguishable"
    assert "too few" in found.note


def test_several_agents_on_one_side_and_unknown_options_are_refused() -> None:
    own = counted("a", {"1": 1})
    with pytest.raises(CallError, match="one agent"):
        compare_agents(own + counted("b", {"1": 1}), own)
    with pytest.raises(CallError, match="pairing must be"):
        compare_agents(own, own, pairing="runs")  # type: ignore[arg-type]
    with pytest.raises(CallError, match="level"):
        compare_agents(own, own, power=1.0)
