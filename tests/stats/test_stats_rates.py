from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_samples import counted, rows, runs

from multigold.errors import BugError, CallError
from multigold.stats.rates import Rate, success_rate, wilson_interval
from multigold.stats.rows import RunRow, by_agent, cells, leave_out, natural, plain


@given(
    st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.8, 0.95, 0.99])
)
def test_wilson_interval_is_scipys(counts: tuple[int, int], level: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    ours = wilson_interval(*counts, level=level)
    theirs = stats.binomtest(*counts).proportion_ci(confidence_level=level, method="wilson")
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= ours.low <= counts[0] / counts[1] <= ours.high <= 1


def test_wilson_interval_by_hand() -> None:
    # 9 of 28, z = 1.959964: (0.321429 + 0.068598 -+ 1.959964 * sqrt(0.007790 + 0.001225)) / 1.137196.
    found = wilson_interval(9, 28)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.1793, 0.5066), abs=5e-5)


def test_wilson_interval_of_nothing_is_none_and_of_one_run_is_wide() -> None:
    assert wilson_interval(0, 0) is None
    one = wilson_interval(1, 1)
    assert one is not None
    assert one.high == 1
    assert one.low < 0.21


@pytest.mark.parametrize(("successes", "of", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0), (1, 2, 0.0)])
def test_wilson_interval_refuses_what_cannot_be(successes: int, of: int, level: float) -> None:
    with pytest.raises(CallError):
        wilson_interval(successes, of, level=level)


def test_success_is_a_reward_within_a_millionth_of_one_and_fractions_are_never_added_up_to_one() -> None:
    halves = success_rate([RunRow(agent="a", task="1", reward=0.5), RunRow(agent="a", task="2", reward=0.5)])
    assert (halves.successes, halves.scored, halves.value) == (0, 2, 0.0)
    nearly = success_rate([RunRow(agent="a", task="1", reward=0.9999999), RunRow(agent="a", task="2", reward=0.99999)])
    assert (nearly.successes, nearly.scored) == (1, 2)


def test_unscored_runs_are_in_no_denominator_and_are_counted_beside() -> None:
    found = success_rate(runs("a", {"1": "11-", "2": "0--"}))
    assert (found.successes, found.scored, found.unscored, found.of, found.value) == (2, 3, 3, 3, 2 / 3)


def test_missing_trials_count_as_failed_only_where_that_convention_is_named() -> None:
    ragged = runs("a", {"1": "111-", "2": "1"})
    found = success_rate(ragged, missing="failed", tasks=["1", "2", "3"])
    assert (found.unscored, found.absent, found.of, found.value) == (1, 3 + 4, 12, 4 / 12)
    assert success_rate(ragged, tasks=["1", "2", "3"]).of == 4
    assert success_rate(ragged, missing="failed", planned=5).of == 10


def test_an_agent_with_few_trials_is_not_missing_those_that_another_made() -> None:
    mixed = runs("a", {"1": "1111"}) + runs("b", {"1": "1"})
    assert success_rate(mixed, missing="failed").absent == 0


def test_a_rate_of_nothing_is_none() -> None:
    assert success_rate([]).value is None
    assert success_rate(runs("a", {"1": "--"})).value is None
    assert success_rate(runs("a", {"1": "--"}), missing="failed").value == 0


@given(rows())
def test_successes_scored_and_unscored_add_up(some: list[RunRow]) -> None:
    found = success_rate(some)
    assert found.scored + found.unscored == len(some)
    assert 0 <= found.successes <= found.scored
    assert sum(len(cell.rows) for cell in cells(some)) == len(some)
    assert sum(len(own) for own in by_agent(some).values()) == len(some)


def test_an_unknown_convention_is_refused_with_those_that_exist() -> None:
    with pytest.raises(CallError, match="failed, left_out"):
        success_rate([], missing="zero")  # type: ignore[arg-type]


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_a_reward_that_is_no_number_is_refused(reward: float) -> None:
    with pytest.raises(CallError, match="finite"):
        RunRow(agent="a", task="1", reward=reward)


def test_tasks_of_two_domains_with_one_id_stay_apart() -> None:
    both = [RunRow(agent="a", task="2", domain=domain, reward=1.0) for domain in ("airline", "retail")]
    assert [cell.task for cell in cells(both)] == ["airline/2", "retail/2"]
    assert leave_out(both, ["airline/2"]) == (both[1],)


def test_tasks_come_in_natural_order() -> None:
    names = ["10", "2", "a10", "a9", "007", "7", "9" * 5000]
    assert sorted(names, key=natural) == ["2", "007", "7", "10", "9" * 5000, "a9", "a10"]


def test_records_become_plain_data_with_every_field() -> None:
    found = plain({"rate": success_rate(counted("a", {"1": 3})), "half": Fraction(1, 2), "list": (1, None)})
    assert json.loads(json.dumps(found)) == {
        "rate": {
            "successes": 3, "scored": 4, "unscored": 0, "absent": 0, "tasks": 1, "missing": "left_out",
            "of": 4, "value": 0.75, "lowest": 0.75, "highest": 0.75,
        },
        "half": 0.5,
        "list": [1, None],
    }  # fmt: skip
    assert isinstance(Rate(successes=1, scored=2).value, float)
    with pytest.raises(BugError):
        plain({1, 2})
