"""Law: the order of runs, files and tasks never changes a number."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_samples import rows

from multigold.stats.exact import exact_bootstrap_interval
from multigold.stats.item_diagnostics import diagnose_items
from multigold.stats.loophole_sides import coherent_rate, side_counts, splits
from multigold.stats.paired_comparison import compare_agents
from multigold.stats.pass_k import pass_at_k, pass_hat_k, pass_hat_k_on_one_side, trial_variance
from multigold.stats.rates import success_rate
from multigold.stats.reaggregation import reaggregate
from multigold.stats.resampling import bootstrap_gap, bootstrap_interval, generator, units
from multigold.stats.rows import RunRow, by_agent, cells, leave_out, plain

pytest.importorskip("numpy")


def each_agent(function: Callable[[tuple[RunRow, ...]], Any]) -> Callable[[list[RunRow]], Any]:
    return lambda some: {agent: function(own) for agent, own in by_agent(some).items()}


def gap(some: list[RunRow]) -> Any:
    affected = {"8", "9"}
    parts = leave_out(some, affected), [row for row in some if row.task in affected]
    return bootstrap_gap(*(units(part) for part in parts), generator(1), resamples=50)


def compared(some: list[RunRow]) -> Any:
    own = by_agent(some)
    first, second = own.get("agent-0", ()), own.get("agent-1", ())
    return compare_agents(first, second, rng=generator(1), resamples=50)


FIGURES: dict[str, Callable[[list[RunRow]], Any]] = {
    "cells": lambda some: [(c.agent, c.task, c.successes, c.scored, c.unscored, c.absent) for c in cells(some)],
    "rate": success_rate,
    "rate, missing failed": lambda some: success_rate(some, missing="failed"),
    "interval by task": lambda some: bootstrap_interval(units(some), generator(1), resamples=50),
    "interval by trial": lambda some: bootstrap_interval(units(some, by="trials"), generator(1), resamples=50),
    "exact interval": lambda some: exact_bootstrap_interval(units(some, by="trials")),
    "gap": gap,
    "pass^k": each_agent(pass_hat_k),
    "pass@k": each_agent(lambda own: pass_at_k(own, missing="failed")),
    "pass^k on one side": each_agent(pass_hat_k_on_one_side),
    "spread": trial_variance,
    "spread interval": lambda some: bootstrap_interval(trial_variance(some).units(), generator(1), resamples=50),
    "side counts": side_counts,
    "splits": splits,
    "coherent": each_agent(coherent_rate),
    "comparison": compared,
    "diagnose_items": diagnose_items,
    "reaggregation": lambda some: reaggregate(some, leave_out(some, {"8"})),
}


@given(rows(), st.randoms(use_true_random=False))
def test_the_order_of_runs_changes_no_number(some: list[RunRow], random: Random) -> None:
    shuffled = random.sample(some, len(some))
    differing = [name for name, compute in FIGURES.items() if plain(compute(shuffled)) != plain(compute(some))]
    assert not differing
