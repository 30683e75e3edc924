"""How long statistics take: 2,000 runs (125 tasks, 4 agents, 4 trials) and 10,000 resamples.

python -m pytest benchmarks/bench_stats.py --benchmark-only
"""

from __future__ import annotations

from typing import Any

import pytest

from multigold.stats.exact import exact_bootstrap_gap
from multigold.stats.item_diagnostics import diagnose_items
from multigold.stats.loophole_sides import coherent_rate, side_counts, splits
from multigold.stats.paired_comparison import compare_agents
from multigold.stats.pass_k import pass_at_k, pass_hat_k, pass_hat_k_on_one_side, trial_variance
from multigold.stats.rates import success_rate, wilson_interval
from multigold.stats.reaggregation import reaggregate
from multigold.stats.resampling import bootstrap_gap, bootstrap_interval, generator, units
from multigold.stats.rows import RunRow, by_agent, leave_out

AGENTS, TASKS, TRIALS, RESAMPLES = 4, 125, 4, 10_000
AFFECTED = frozenset(str(task) for task in range(20))


def make_rows() -> list[RunRow]:
    np = pytest.importorskip("numpy")
    rng = np.random.default_rng(1)
    draws = rng.random((AGENTS, TASKS, TRIALS, 2)) < rng.random((1, TASKS, 1, 1))
    return [
        RunRow(
            agent=f"agent-{agent}", task=str(task), trial=trial, reward=float(draws[agent, task, trial, 0]),
            loopholes=("L6",) if str(task) in AFFECTED else (),
            positions={"L6": ("x" if draws[agent, task, trial, 1] else "y",)} if str(task) in AFFECTED else {},
        )
        for agent in range(AGENTS) for task in range(TASKS) for trial in range(TRIALS)
    ]  # fmt: skip


def everything(rows: list[RunRow]) -> list[Any]:
    """Every figure of a report: per agent rates, intervals and gaps by task and by trial, and all the tables."""
    found: list[Any] = [trial_variance(rows), side_counts(rows), splits(rows), diagnose_items(rows)]
    found.append(reaggregate(rows, leave_out(rows, AFFECTED)))
    agents = by_agent(rows)
    for agent, own in agents.items():
        affected, others = [row for row in own if row.task in AFFECTED], leave_out(own, AFFECTED)
        rate = success_rate(own)
        found += [rate, wilson_interval(rate.successes, rate.of), coherent_rate(own)]
        found += [pass_hat_k(own), pass_at_k(own), pass_hat_k_on_one_side(own)]
        for by in ("tasks", "trials"):
            rng = generator(42, agent, by)
            found.append(bootstrap_interval(units(own, by=by), rng, resamples=RESAMPLES))
            found.append(bootstrap_gap(units(others, by=by), units(affected, by=by), rng, resamples=RESAMPLES))
    names = sorted(agents)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            rng = generator(42, first, second)
            found.append(compare_agents(agents[first], agents[second], rng=rng, resamples=RESAMPLES))
    return found


@pytest.fixture(scope="module")
def rows() -> list[RunRow]:
    return make_rows()


def test_a_whole_report_of_2000_runs_with_10000_resamples(benchmark: Any, rows: list[RunRow]) -> None:
    assert len(rows) == 2000
    assert benchmark(everything, rows)


@pytest.mark.parametrize("by", ["tasks", "trials"])
def test_one_gap_of_2000_runs_with_10000_resamples(benchmark: Any, rows: list[RunRow], by: str) -> None:
    affected, others = [row for row in rows if row.task in AFFECTED], leave_out(rows, AFFECTED)
    found = benchmark(
        lambda: bootstrap_gap(units(others, by=by), units(affected, by=by), generator(42), resamples=RESAMPLES)
    )
    assert found.resamples == RESAMPLES


def test_one_exact_gap_of_2000_runs(benchmark: Any, rows: list[RunRow]) -> None:
    affected, others = [row for row in rows if row.task in AFFECTED], leave_out(rows, AFFECTED)
    assert benchmark(lambda: exact_bootstrap_gap(units(others), units(affected))).resamples == 0


def test_one_comparison_of_500_against_500_runs(benchmark: Any, rows: list[RunRow]) -> None:
    first, second, *_ = by_agent(rows).values()
    assert benchmark(lambda: compare_agents(first, second, rng=generator(42), resamples=RESAMPLES)).tasks == TASKS


def test_one_interval_of_2000_tasks_that_are_all_different(benchmark: Any) -> None:
    ragged = [
        RunRow(agent="a", task=str(task), trial=trial, reward=float(trial < task % 41))
        for task in range(2000) for trial in range(1 + task % 50)
    ]  # fmt: skip
    sample = units(ragged)
    assert benchmark(lambda: bootstrap_interval(sample, generator(42), resamples=RESAMPLES)).units == 2000
