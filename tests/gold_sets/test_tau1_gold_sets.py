"""The gold sets of tau-bench v1: what of tau2's carries over, replayed with v1's own tools on v1's own data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import airline_families as families
import attrs
import pytest

from multigold.benchmark_data import load_environment
from multigold.catalogues import load_catalogue
from multigold.catalogues.lint import LintContext, lint_directory
from multigold.catalogues.loading import shipped_directory
from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.model.gold import Actions, Reading
from multigold.model.task import Task, ToolCall
from multigold.model.trajectory import RecordedCall, Trajectory
from multigold.readers.files import open_results
from multigold.scoring import CompiledGolds, compile_golds
from multigold.scoring.judging import score

TAU1 = load_catalogue("tau1-airline")
TAU2 = load_catalogue("tau2-airline")

TAU2_TASKS = {
    "13": "13",
    "16": "27",
    "19": "29",
    "22": "32",
    "23": "33",
    "26": "37",
    "27": "9",
    "28": "39",
    "33": "44",
    "34": "7",
    "35": "45",
    "37": "5",
    "45": "38",
    "46": "2",
}
"""v1's task id to tau2's."""

NOT_CARRIED_OVER = {
    ("33", "without-kc18k6"): "v1's text says nothing of layovers",
    ("34", "upgrade-and-cancel"): "written for the text of 01e812d",
    ("34", "cancel-insured-only"): "written for the text of 01e812d",
}
"""Readings of tau2 that have no place in v1, and why."""

OWN = {("33", "under-three-hours"): "v1's text has one limit, of exactly three hours"}
"""Readings that only v1 has, and why."""

OTHER_STANDING = {
    ("45", "lenient"): ("core", "contested"),
    ("46", "lenient"): ("core", "contested"),
    ("19", "modify-direct"): ("contested", "off"),
    ("33", "business-then-cancel"): ("contested", "off"),
    ("34", "business-and-cancel"): ("contested", "off"),
    ("35", "business-then-cancel"): ("contested", "off"),
}
"""Readings with another standing than in tau2 at 37199f3; each states its reason in the gold set."""


@pytest.fixture(scope="module")
def tau1(shared: Path) -> Environment:
    """v1's airline environment."""
    return load_environment("tau1-airline", data_dir=shared / "data" / "tau1" / "airline")


@pytest.fixture(scope="module")
def tau1_tasks(shared: Path) -> list[Task]:
    """v1's tasks as two results files hold them, which word the first 37 differently."""
    names = ("airline_gpt-4o.json", "airline_grok-4.1_with_error_items.json")
    files = [open_results(shared / "data" / "results" / "tau1" / name) for name in names]
    return [task for file in files for task in file.tasks.values()]


@pytest.fixture(scope="module")
def tau1_policy(shared: Path) -> bytes:
    """v1's policy: agents are given it as their system message."""
    results = open_results(shared / "data" / "results" / "tau1" / "airline_gpt-4o.json")
    message = next(run.trajectory.messages[0] for run in results.runs if run.trajectory.messages)
    assert message.role == "system"
    return message.text.encode()


def test_the_gold_sets_hold_against_tools_data_tasks_and_policy_of_v1(
    tau1: Environment, tau1_tasks: list[Task], tau1_policy: bytes
) -> None:
    directory = shipped_directory()
    assert directory is not None
    context = LintContext(environment=tau1, tasks=tuple(tau1_tasks), policy=tau1_policy)
    _, found = lint_directory(directory / "tau1-airline", context)
    assert [str(finding) for finding in found] == []


def test_every_text_and_gold_that_the_files_hold_is_known(tau1_tasks: list[Task]) -> None:
    seen = 0
    for task in tau1_tasks:
        gold_set = TAU1.gold_sets.get(task.id)
        if gold_set is not None:
            (text,) = [known for known in gold_set.texts if known.fingerprint == task.text_fingerprint()]
            assert task.gold_fingerprint() in text.golds
            seen += 1
    assert seen == 2 * len(TAU1.gold_sets)


def test_a_run_of_the_gold_matches_the_reading_that_the_set_says_and_no_other(
    tau1: Environment, tau1_tasks: list[Task]
) -> None:
    for task in tau1_tasks:
        selected = TAU1.gold_set(task) if task.id in TAU1.gold_sets else None
        if selected is None or task.criteria is None:
            continue
        (text,) = [known for known in selected.texts if known.id == selected.text]
        expected = text.golds[task.gold_fingerprint() or ""]
        recorded = tuple(RecordedCall(call=call, refused=False) for call in task.criteria.actions or ())
        run = Trajectory(calls=recorded, termination="user_stop")
        verdict = score(task, run, selected, environment=tau1)
        assert verdict.benchmark_matched
        assert [match.reading for match in verdict.matches] == ([expected] if expected else [])


def test_every_reading_of_tau2_carries_over_or_is_listed_as_not() -> None:
    for task, other in TAU2_TASKS.items():
        mine = {reading.id for reading in TAU1.gold_sets[task].readings}
        theirs = {reading.id for reading in TAU2.gold_sets[other].readings}
        assert {(task, reading) for reading in theirs - mine} == {key for key in NOT_CARRIED_OVER if key[0] == task}
        assert {(task, reading) for reading in mine - theirs} == {key for key in OWN if key[0] == task}
    assert TAU2_TASKS.keys() == TAU1.gold_sets.keys()


def test_a_standing_differs_from_that_of_tau2_only_where_it_is_listed() -> None:
    found = {}
    for task, other in TAU2_TASKS.items():
        theirs = {reading.id: reading.standing for reading in at_first_release(other)}
        for text in TAU1.gold_sets[task].texts:
            for reading in TAU1.gold_sets[task].select(text).readings:
                before = theirs.get(reading.id, reading.standing)
                assert text.standing[reading.id][1]
                if before != reading.standing:
                    found[task, reading.id] = (before, reading.standing)
    assert found == OTHER_STANDING


def at_first_release(task: str) -> Iterator[Reading]:
    gold_set = TAU2.gold_sets[task]
    (text,) = [known for known in gold_set.texts if "37199f3" in known.releases]
    yield from gold_set.select(text).readings


def compiled(task: str, environment: Environment) -> CompiledGolds:
    gold_set = TAU1.gold_sets[task]
    return compile_golds(Task(task), gold_set.select(gold_set.texts[0]), environment)


def admitting(golds: CompiledGolds, environment: Environment, calls: tuple[ToolCall, ...]) -> list[str] | None:
    """Return the readings that admit the end of these calls; None if v1's tools refuse one."""
    done = replay(environment, calls)
    if done.refusals:
        return None
    prepared = golds.prepare(done.end_state)
    return [admitted.reading.id for admitted in golds.readings if admitted.find(prepared)]


@pytest.mark.parametrize("family", [f for f in families.FAMILIES if f.task in TAU2_TASKS.values()], ids=str)
def test_the_members_that_tau2_counts_are_members_here(family: families.Family, tau1: Environment) -> None:
    (task,) = [mine for mine, other in TAU2_TASKS.items() if other == family.task]
    if (task, family.reading) in NOT_CARRIED_OVER:
        assert family.reading not in [reading.id for reading in TAU1.gold_sets[task].readings]
        return
    golds = compiled(task, tau1)
    ends = [admitting(golds, tau1, calls) for calls in family.members(tau1)]
    assert ends.count(None) == family.infeasible
    assert ends.count([family.reading]) == family.feasible


@pytest.mark.parametrize(
    ("task", "family", "name"), [("16", "27", "strict-change"), ("37", "5", "strict-change")], ids=["16", "37"]
)
def test_a_member_in_another_cabin_or_with_another_sum_is_in_no_reading(
    task: str, family: str, name: str, tau1: Environment
) -> None:
    (found,) = [f for f in families.FAMILIES if f.task == family and f.reading == name]
    golds = compiled(task, tau1)
    tried = 0
    for calls in found.members(tau1):
        if replay(tau1, calls).refusals:
            continue
        change, certificate = calls
        cheaper = attrs.evolve(change, arguments={**(change.arguments or {}), "cabin": "basic_economy"})
        more = attrs.evolve(certificate, arguments={**(certificate.arguments or {}), "amount": 151})
        for altered in ((cheaper, certificate), (change, more), (change,), (*calls, certificate)):
            assert not admitting(golds, tau1, altered)
            tried += 1
    assert tried == 4 * found.feasible


def test_an_upgrade_leaves_the_old_cabin_in_the_record(tau1: Environment) -> None:
    (two_step,) = [reading for reading in compiled("22", tau1).readings if reading.reading.id == "two-step"]
    for member in two_step.members:
        reservation = member.state.agent.get("reservations", "OWZ4XL")
        assert reservation["cabin"] == "basic_economy"
        assert [segment["price"] for segment in reservation["flights"]] == [136]


def test_nothing_of_v1_is_said_to_be_published() -> None:
    assert {gold_set.status for gold_set in TAU1} == {"proposed"}
    assert {entry.status for entry in TAU1.loopholes.values()} == {"proposed"}
    assert TAU1.paper_split == ()


def test_the_negative_examples_are_calls(tau1: Environment) -> None:
    for gold_set in TAU1:
        for negative in gold_set.negatives:
            assert isinstance(negative.admits, Actions)
            assert bool(replay(tau1, negative.admits.calls).refusals) == negative.refused
