"""Golds on opposite sides of one loophole: between tasks of a release, between releases, in a fork."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

import multigold
from multigold.audit.golds.contradictions import (
    Contradiction,
    GoldPosition,
    computed_positions,
    find_contradictions,
    stated_positions,
)
from multigold.benchmark_data.releases import read_release
from multigold.catalogues import load_catalogue
from multigold.cli._group import multigold as cli
from multigold.errors import CallError, DataError
from multigold.model.gold import Explicit, TaskText
from multigold.state.delta import Delta

CATALOGUE = multigold.Catalogue(domain="d")


def position(task: str, side: str, *releases: str, loophole: str = "L1") -> GoldPosition:
    return GoldPosition(loophole=loophole, side=side, task_id=task, releases=releases, text="t", readings=(side,))


def pairs(*positions: GoldPosition) -> list[tuple[str, tuple[str, ...]]]:
    return [(found.kind, found.tasks) for found in find_contradictions(positions, CATALOGUE)]


def test_two_tasks_of_one_release_on_opposite_sides_contradict_each_other() -> None:
    assert pairs(position("10", "a", "r"), position("2", "b", "r")) == [("one_release", ("2", "10"))]


def test_the_same_side_is_no_contradiction_and_neither_are_two_tasks_of_two_releases() -> None:
    assert pairs(position("1", "a", "r"), position("2", "a", "r")) == []
    assert pairs(position("1", "a", "r"), position("2", "b", "s")) == []
    assert pairs(position("1", "a", "r"), position("2", "b", "r", loophole="L2")) == []


def test_one_task_between_two_releases_contradicts_itself() -> None:
    assert pairs(position("1", "a", "r"), position("1", "b", "s")) == [("between_releases", ("1",))]


def test_a_pair_is_named_once_with_all_its_releases_and_loopholes() -> None:
    both = [position(task, side, release, loophole=loophole) for task, side in (("1", "a"), ("2", "b"))
            for release in ("r", "s") for loophole in ("L1", "L2")]  # fmt: skip
    (found,) = find_contradictions(both, CATALOGUE)
    assert (found.loopholes, found.shared) == (("L1", "L2"), ("r", "s"))
    assert dict(found.first.sides) == {"L1": "a", "L2": "a"}


def test_a_gold_whose_release_is_unknown_contradicts_no_other_task() -> None:
    assert pairs(position("1", "a"), position("2", "b", "r")) == []


def gold_set(*texts: TaskText) -> multigold.GoldSet:
    readings = [
        multigold.Reading(id=side, positions={"L1": side}, admits=(Explicit(delta=Delta({})),)) for side in ("a", "b")
    ]
    return multigold.GoldSet(task_id="1", readings=tuple(readings), texts=texts)


STANDING = {"a": ("core", ""), "b": ("core", "")}


def test_a_conflict_takes_no_side_and_a_shared_text_with_two_golds_leaves_the_releases_open() -> None:
    text = TaskText(id="t", fingerprint="f", releases=("r", "s"), standing=STANDING, golds={"1": "a", "2": "b"})
    conflict = TaskText(id="u", fingerprint="g", releases=("q",), standing=STANDING, golds={"3": None})
    catalogue = attrs.evolve(CATALOGUE, gold_sets={"1": gold_set(text, conflict)})
    stated = stated_positions(catalogue)
    assert [(p.side, p.releases) for p in stated] == [("a", ()), ("b", ())]
    assert [found.kind for found in find_contradictions(stated, catalogue)] == ["between_releases"]


def test_a_side_is_forced_where_the_text_leaves_no_other_core_reading() -> None:
    free = TaskText(id="t", fingerprint="f", releases=("r",), standing=STANDING, golds={"1": "a"})
    forced = attrs.evolve(free, id="u", fingerprint="g", standing={"a": ("core", ""), "b": ("off", "")})
    for text, expected in ((free, False), (forced, True)):
        (stated,) = stated_positions(attrs.evolve(CATALOGUE, gold_sets={"1": gold_set(text)}))
        assert stated.forced is expected


# The shipped catalogue


def named(found: tuple[Contradiction, ...]) -> set[tuple[str, tuple[str, ...], str]]:
    return {(one.kind, one.tasks, loophole) for one in found for loophole in one.loopholes}


EXPECTED = {
    ("one_release", ("32", "45"), "L6"),
    ("one_release", ("13", "29"), "L16"),
    ("between_releases", ("2",), "L3"),
    ("between_releases", ("2",), "L4"),
}


def test_the_shipped_catalogue_names_the_paper_s_contradictions() -> None:
    catalogue = load_catalogue("tau2-airline")
    assert named(find_contradictions(stated_positions(catalogue), catalogue)) >= EXPECTED


FILES = {
    "37199f3": "tau2/airline/tasks.37199f3.json",
    "01e812d": "tau2/airline/tasks.01e812d.json",
    "tau2-verified": "tau2-verified/airline/tasks.json",
}


def test_replaying_the_golds_finds_them_too_and_agrees_with_what_is_stated(shared: Path) -> None:
    try:
        environment = multigold.load_environment("tau2-airline")
    except DataError as error:
        pytest.skip(f"tau2's data is not here: {error}")
    catalogue = load_catalogue("tau2-airline")
    computed = [
        p
        for release, name in FILES.items()
        for p in computed_positions(
            [version.task for version in read_release(shared / "data" / name).tasks.values()],
            catalogue,
            environment,
            release=release,
        )
    ]
    found = find_contradictions(computed, catalogue)
    assert named(found) >= EXPECTED
    assert named(found) >= named(find_contradictions(stated_positions(catalogue), catalogue))
    sides = {(p.task_id, p.loophole, release): p.side for p in computed for release in p.releases}
    for stated in stated_positions(catalogue):
        for release in stated.releases:
            assert sides[stated.task_id, stated.loophole, release] == stated.side


def test_the_command_prints_the_pairs_with_their_clauses_and_exits_with_one() -> None:
    done = CliRunner().invoke(cli, ["audit", "contradictions", "tau2-airline"])
    assert done.exit_code == 1, done.output
    assert "change-basic-economy (110)" in done.output
    done = CliRunner().invoke(cli, ["audit", "contradictions", "tau2-retail", "--json", "-"])
    assert (done.exit_code, json.loads(done.output)["domains"]) == (0, {"tau2-retail": []})


def test_tasks_of_a_domain_without_a_catalogue_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text('[{"id": "1"}]')
    done = CliRunner().invoke(cli, ["audit", "contradictions", "--tasks", str(tmp_path / "tasks.json")])
    assert isinstance(done.exception, CallError)
    assert "no catalogue" in str(done.exception)
