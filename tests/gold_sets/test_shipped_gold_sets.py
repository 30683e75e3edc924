"""Every shipped gold set: clean under lint, its negative examples out, its golds where it says they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from multigold.benchmark_data import load_environment, load_policy
from multigold.catalogues import load_catalogue, shipped_catalogues
from multigold.catalogues.lint import LintContext, lint_directory
from multigold.catalogues.loading import shipped_directory
from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.errors import DataError
from multigold.model.catalogue import Catalogue
from multigold.model.gold import Actions, GoldSet, NegativeExample
from multigold.model.task import Task
from multigold.model.trajectory import RecordedCall, Trajectory
from multigold.scoring import CompiledGolds, compile_golds
from multigold.scoring.judging import score

AIRLINE = load_catalogue("tau2-airline")

GOLD_WITHOUT_EVIDENCE = {
    "9": "the benchmark's gold searches for a flight and opens none of the reservations that it declines to cancel",
    "13": "the benchmark's gold transfers without looking anything up; the gold set says why that is not enough",
}
"""Tasks whose benchmark gold, run as it stands, does not bring the evidence that its reading asks for."""

WITHOUT_SIDES = {
    "15": "nothing was basic economy: only whether steps may be joined is open",
    "16": "as task 15",
}
"""Tasks whose readings take no side of the loophole that they are listed under."""


def shipped(name: str) -> Path:
    directory = shipped_directory()
    assert directory is not None
    return directory / name


@pytest.mark.parametrize("name", shipped_catalogues())
def test_a_shipped_catalogue_has_no_fault_in_its_files(name: str) -> None:
    _, found = lint_directory(shipped(name), LintContext())
    assert [str(finding) for finding in found if finding.level == "error"] == []


@pytest.mark.parametrize("name", shipped_catalogues())
def test_a_shipped_catalogue_holds_against_environment_and_policy(name: str) -> None:
    try:
        context = LintContext(environment=load_environment(name), policy=load_policy(name).path.read_bytes())
    except DataError as error:
        pytest.skip(f"the data of {name} is not here: {error.message}")
    _, found = lint_directory(shipped(name), context)
    assert [str(finding) for finding in found] == []


def test_the_airline_gold_sets_hold_against_the_tasks_of_all_releases(
    airline: Environment, release_tasks: dict[str, dict[str, Task]]
) -> None:
    tasks = tuple(task for release in release_tasks.values() for task in release.values())
    _, found = lint_directory(shipped("tau2-airline"), LintContext(environment=airline, tasks=tasks))
    assert [str(finding) for finding in found if finding.code != "policy-not-seen"] == []


def test_the_gold_sets_know_every_text_and_gold_of_their_tasks(release_tasks: dict[str, dict[str, Task]]) -> None:
    for gold_set in AIRLINE:
        for release, tasks in release_tasks.items():
            task = tasks[gold_set.task_id]
            (text,) = [known for known in gold_set.texts if known.fingerprint == task.text_fingerprint()]
            assert release in text.releases
            assert task.gold_fingerprint() in text.golds


def negatives() -> Iterator[tuple[str, str, str]]:
    for gold_set in AIRLINE:
        for text in gold_set.texts:
            for negative in gold_set.select(text).negatives:
                yield gold_set.task_id, text.id, negative.id


def compiled(task_id: str, text_id: str, environment: Environment) -> CompiledGolds:
    gold_set = AIRLINE.gold_sets[task_id]
    (text,) = [known for known in gold_set.texts if known.id == text_id]
    return compile_golds(Task(task_id), gold_set.select(text), environment)


def negative_example(gold_set: GoldSet, name: str) -> NegativeExample:
    (found,) = [negative for negative in gold_set.negatives if negative.id == name]
    return found


@pytest.mark.parametrize(("task", "text", "name"), tuple(negatives()))
def test_a_negative_example_is_in_no_core_reading(task: str, text: str, name: str, airline: Environment) -> None:
    golds = compiled(task, text, airline)
    assert golds.gold_set is not None
    negative = negative_example(golds.gold_set, name)
    assert isinstance(negative.admits, Actions)
    done = replay(airline, negative.admits.calls)
    assert bool(done.refusals) == negative.refused
    prepared = golds.prepare(done.end_state)
    core = [admitted for admitted in golds.readings if admitted.reading.standing == "core"]
    if not negative.refused:
        assert [admitted.reading.id for admitted in core if admitted.find(prepared)] == []


def golds_of(releases: dict[str, dict[str, Task]]) -> Iterator[tuple[Task, str]]:
    for tasks in releases.values():
        for gold_set in AIRLINE:
            task = tasks[gold_set.task_id]
            selected = AIRLINE.gold_set(task)
            assert selected is not None
            (text,) = [known for known in selected.texts if known.id == selected.text]
            expected = text.golds[task.gold_fingerprint() or ""]
            if expected is not None:
                yield task, expected


def test_a_run_that_makes_the_calls_of_a_gold_matches_the_reading_of_that_gold(
    airline: Environment, release_tasks: dict[str, dict[str, Task]]
) -> None:
    without = set()
    for task, expected in golds_of(release_tasks):
        assert task.criteria is not None
        recorded = tuple(RecordedCall(call=call, refused=False) for call in task.criteria.actions or ())
        trajectory = Trajectory(calls=recorded, termination="user_stop")
        verdict = score(task, trajectory, AIRLINE.gold_set(task), environment=airline)
        (match,) = [match for match in verdict.matches if match.reading == expected]
        if match.vacuous:
            without.add(task.id)
    assert without == set(GOLD_WITHOUT_EVIDENCE)


@pytest.mark.parametrize("gold_set", tuple(AIRLINE), ids=lambda gold_set: gold_set.task_id)
def test_every_reading_gives_its_reasons(gold_set: GoldSet, catalogue: Catalogue) -> None:
    for reading in gold_set.readings:
        assert reading.title
        assert reading.rationale
        for text in gold_set.texts:
            assert text.standing[reading.id][1]


@pytest.mark.parametrize("gold_set", tuple(AIRLINE), ids=lambda gold_set: gold_set.task_id)
def test_every_core_reading_takes_a_side_on_every_loophole_of_its_task(gold_set: GoldSet) -> None:
    sided = {loophole for loophole in gold_set.loopholes if AIRLINE.loopholes[loophole].sides}
    for text in gold_set.texts:
        for reading in gold_set.select(text).readings:
            if reading.standing == "core" and gold_set.task_id not in WITHOUT_SIDES:
                assert set(reading.positions) == sided, reading.id
