"""Real airline results and the whole benchmark: the strict verdict is the recorded one, and the baselines are known."""

from __future__ import annotations

from pathlib import Path

import pytest

import multigold
from multigold.benchmark_data import load_tasks
from multigold.environments.base import Environment
from multigold.errors import DataError
from multigold.model.task import Task
from multigold.readers.tasks import read_task_file
from multigold.scoring import compile_golds

RECORDED = {
    "airline_claude-sonnet-4-5": 50,
    "airline_grok-3_4trials": 16,
    "airline_grok-4-fast-reasoning": 66,
    "airline_gpt-oss-120b": 44,
    "airline_qwen2.5-7b": 40,
    "airline_whissle_tau3": 50,
}
"""File to the number of its runs that carry a recorded database verdict."""


@pytest.fixture(scope="module")
def environment() -> Environment:
    try:
        return multigold.load_environment("tau2-airline")
    except DataError as error:
        pytest.skip(f"tau2's airline data is not here: {error}")


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.usefixtures("environment")
def test_law_8_the_strict_verdict_is_the_recorded_one(name: str, shared: Path) -> None:
    (check,) = multigold.check_recorded(shared / "data" / "results" / "tau2" / f"{name}.json")
    assert check.recorded == RECORDED[name]
    assert check.differ == ()
    assert (check.agree, check.unscored, check.spelling) == (RECORDED[name], {}, 0)


def tasks_of(release: str, shared: Path | None) -> dict[str, Task]:
    if shared is None:
        return load_tasks("tau2-airline", release)
    table = read_task_file((shared / "data/tau2/airline" / f"tasks.{release}.json").read_bytes(), "tau2-airline")
    assert table is not None
    return dict(table.tasks)


def do_nothing_passes(tasks: dict[str, Task], environment: Environment) -> list[str]:
    """Score a run without any call on every task; return the tasks whose single gold it matches."""
    idle = multigold.Trajectory.from_calls([], termination="user_stop")
    verdicts = [multigold.score(task, idle, environment=environment) for task in tasks.values()]
    for verdict in verdicts:
        assert (verdict.do_nothing.single == 1.0) == verdict.benchmark_matched
        assert all(match.vacuous for match in verdict.matches)
    return [verdict.task_id for verdict in verdicts if verdict.benchmark_matched]


def test_case_14_doing_nothing_passes_20_of_50_tasks_and_is_marked_vacuous(environment: Environment) -> None:
    tasks = tasks_of("37199f3", None)
    assert (len(tasks), len(do_nothing_passes(tasks, environment))) == (50, 20)


def test_case_14_doing_nothing_passes_24_of_50_tasks_of_the_later_release(
    environment: Environment, shared: Path
) -> None:
    tasks = tasks_of("01e812d", shared)
    assert (len(tasks), len(do_nothing_passes(tasks, environment))) == (50, 24)


def test_case_14_always_refusing_scores_on_every_affected_task(environment: Environment) -> None:
    catalogue = multigold.load_catalogue("tau2-airline")
    tasks = tasks_of("37199f3", None)
    for task_id in ("2", "5", "27", "32", "45"):
        golds = compile_golds(tasks[task_id], catalogue.gold_set(tasks[task_id]), environment)
        assert (golds.stratum, golds.do_nothing.core, golds.always_refuse.core) == ("affected", 0.0, 1.0)


def test_eleven_gold_states_differ_between_the_releases(environment: Environment, shared: Path) -> None:
    old, new = tasks_of("37199f3", shared), tasks_of("01e812d", shared)

    def state(task: Task) -> multigold.EndState:
        benchmark = compile_golds(task, None, environment).benchmark
        assert benchmark is not None
        assert benchmark.faults == ()
        return benchmark.state

    differ = [name for name in old if state(old[name]) != state(new[name])]
    assert differ == ["2", "7", "9", "23", "27", "29", "33", "35", "37", "38", "44"]
