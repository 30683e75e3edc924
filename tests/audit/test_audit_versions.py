"""What changed between two releases: each part by itself, cosmetics apart, golds by their end states."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner

import multigold
from multigold.audit.versions import VersionDiff, compare_releases
from multigold.benchmark_data import find_data
from multigold.benchmark_data.releases import TaskRelease, TaskVersion, domain_of, read_release, read_releases
from multigold.cli._group import multigold as cli
from multigold.environments.base import Environment
from multigold.environments.tools import RefusalError, tool_table
from multigold.errors import CallError, DataError, MultigoldError
from multigold.policies.wording import refuses, requests, rewords, same_wording
from multigold.rendering.versions import version_tables
from multigold.state.database import Database, Draft, EndState

PAPER_TASKS = ("2", "5", "13", "27", "29", "32", "45")


def look(draft: Draft, box: str) -> Any:
    return draft.get("boxes", box)


def fill(draft: Draft, box: str, amount: int) -> Any:
    if amount < 0:
        raise RefusalError("no")
    draft.edit("boxes", box)["amount"] = amount


ENVIRONMENT = Environment(
    name="boxes",
    initial=EndState(Database.from_json({"boxes": {"a": {"amount": 0}, "b": {"amount": 0}}})),
    tools=tool_table({"read": (look,), "write": (fill,)}),
)


def version(*calls: multigold.ToolCall, text: str = "Fill box a.", basis: Any = None, **extra: Any) -> TaskVersion:
    criteria = multigold.Criteria(actions=calls, reward_basis=basis)
    return TaskVersion(task=multigold.Task("1", instructions={"text": text}, criteria=criteria), **extra)


def release(version: TaskVersion, **extra: Any) -> TaskRelease:
    return TaskRelease(name="r", tasks={version.task.id: version}, **extra)


def compare(old: TaskVersion, new: TaskVersion) -> VersionDiff:
    return compare_releases(release(old), release(new), ENVIRONMENT)


FILL_A = multigold.ToolCall("fill", {"box": "a", "amount": 1})
LOOK_A = multigold.ToolCall("look", {"box": "a"})


def test_where_no_task_changed_there_is_no_empty_table() -> None:
    lines = version_tables(compare(version(), version()), replayed=False)
    assert lines
    assert all(isinstance(line, str) for line in lines)
    changed = version_tables(compare(version(), version(text="Fill box b.")), replayed=False)
    assert not all(isinstance(line, str) for line in changed)


def test_a_task_that_is_the_same_is_not_listed() -> None:
    found = compare(version(FILL_A), version(attrs.evolve(FILL_A, id="another")))
    assert found.changes == ()
    assert found.common == ("1",)


def test_each_part_is_compared_by_itself() -> None:
    (change,) = compare(version(LOOK_A, FILL_A), version(FILL_A, assertions=["box a is full"])).changes
    assert change.parts == ("gold_reads", "assertions")
    assert not change.gold_delta


def test_white_space_case_and_full_stops_are_cosmetic_and_so_is_a_basis_that_was_implied() -> None:
    new = version(FILL_A, text="fill  box A", basis=("DB", "COMMUNICATE"), description="For people")
    (change,) = compare(version(FILL_A), new).changes
    assert change.parts == ()
    assert change.cosmetic == ("instructions", "reward_basis", "description")


def test_another_basis_is_no_cosmetic() -> None:
    (change,) = compare(version(FILL_A), version(FILL_A, basis=("DB",))).changes
    assert change.parts == ("reward_basis",)


def test_a_number_spelt_otherwise_is_no_change() -> None:
    spelt = multigold.ToolCall("fill", {"box": "a", "amount": 1.0})
    assert compare(version(FILL_A), version(spelt)).changes == ()


def test_golds_that_differ_in_calls_may_end_in_the_same_state() -> None:
    (change,) = compare(version(FILL_A), version(FILL_A, FILL_A)).changes
    assert change.parts == ("gold_writes",)
    assert change.gold_delta is not None
    assert not change.gold_delta
    assert change.strategies == ()


def test_a_gold_that_ends_elsewhere_is_flipped_and_the_delta_leads_from_old_to_new() -> None:
    (change,) = compare(version(FILL_A), version()).changes
    assert change.gold_delta is not None
    assert change.gold_delta.to_json() == {"/agent/boxes/a/amount": {"before": 1, "after": 0}}
    assert change.gold_untouched is True
    assert change.strategies == ("gold_flipped",)


def test_without_an_environment_every_gold_call_counts_and_states_stay_unknown() -> None:
    found = compare_releases(release(version(FILL_A)), release(version(LOOK_A)))
    (change,) = found.changes
    assert change.parts == ("gold_writes",)
    assert change.gold_delta is None
    assert found.gold_states_differ == ()


@pytest.mark.parametrize(
    ("added", "strategies"),
    [
        ("You do NOT want to fill box b.", ("user_refuses",)),
        ("First fill box b, then box a.", ("user_requests",)),
        ("The box is blue.", ()),
    ],
)
def test_the_strategy_is_read_off_the_new_sentences(added: str, strategies: tuple[str, ...]) -> None:
    (change,) = compare(version(FILL_A), version(FILL_A, text=f"Fill box a. {added}")).changes
    assert change.added == (added,)
    assert change.removed == ()
    assert change.strategies == strategies


def test_a_request_in_other_words_is_no_new_request() -> None:
    old, new = "You want to fill the red box today.", "You want to fill the blue box today."
    assert rewords(new, [old])
    (change,) = compare(version(FILL_A, text=old), version(FILL_A, text=new)).changes
    assert change.strategies == ()


def test_refusing_and_requesting_exclude_each_other() -> None:
    assert refuses("You do not want to ask for it")
    assert not requests("You do not want to ask for it")
    assert requests("Ask the agent to do it")
    assert same_wording({"a": "One. Two"}, {"a": "one.  two."})
    assert not same_wording("You have 1.50", "You have 15")


def test_policy_and_database_are_compared_by_their_bytes_and_clauses_named() -> None:
    old = release(version(), policy=b"# P\n\nOne.\n\nTwo.\n", database="1")
    new = release(version(), policy=b"# P\n\nOne.\n\nThree.\n", database="1")
    found = compare_releases(old, new)
    assert found.database.status == "same"
    assert (found.policy.clauses_added, found.policy.clauses_removed) == (("Three.",), ("Two.",))
    assert compare_releases(old, release(version())).policy.status == "not_given"


def test_the_overlap_is_that_of_the_changed_tasks() -> None:
    tasks = {str(i): TaskVersion(task=multigold.Task(str(i), instructions="x")) for i in range(4)}
    changed = {**tasks, "1": TaskVersion(task=multigold.Task("1", instructions="y"))}
    found = compare_releases(TaskRelease(name="o", tasks=tasks), TaskRelease(name="n", tasks=changed))
    assert found.overlap(["1"]).p_value == 0.25
    with pytest.raises(CallError, match="not among"):
        found.overlap(["9"])


# Files


def test_a_directory_gives_tasks_policy_and_database(tmp_path: Path) -> None:
    tasks = [{"id": 3, "user_scenario": {"instructions": {"domain": "airline", "text": "x"}}}]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    (tmp_path / "policy.md").write_text("One.")
    (tmp_path / "db.json").write_text('{"flights": {}, "reservations": {}, "users": {"u": {}}}')
    found = read_release(tmp_path)
    assert list(found.tasks) == ["3"]
    assert found.policy == b"One."
    assert found.database is not None
    assert domain_of(found) == "tau2-airline"


def test_a_database_of_one_file_and_one_of_a_file_per_table_are_the_same_records(tmp_path: Path) -> None:
    tables = {"flights": {}, "reservations": {"r": {"cabin": "economy"}}, "users": {"u": {}}}
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tasks.json").write_text('[{"id": "1"}]')
    (tmp_path / "one" / "db.json").write_text(json.dumps(tables))
    (tmp_path / "many" / "db").mkdir()
    for table, records in tables.items():
        (tmp_path / "many" / "db" / f"{table}.json").write_text(json.dumps(records))
    one, many = (read_release(tmp_path / name, domain="tau2-airline") for name in ("one", "many"))
    assert compare_releases(one, many).database.status == "same"
    (tmp_path / "many" / "db" / "users.json").write_text('{"u": {"age": 3}}')
    changed = read_release(tmp_path / "many", domain="tau2-airline")
    assert compare_releases(one, changed).database.status == "differs"


@pytest.mark.parametrize("text", ["[]", "{}", '[{"id": "1"}, {"id": "1"}]', "[3]"])
def test_what_holds_no_tasks_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_release(path)
    assert str(path) in str(caught.value)


def test_a_directory_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no tasks\.json"):
        read_release(tmp_path)


# The real releases: figures of the paper's appendix F


@pytest.fixture(scope="module")
def airline() -> Environment:
    try:
        return multigold.load_environment("tau2-airline")
    except DataError as error:
        pytest.skip(f"tau2's data is not here: {error}")


def tasks_at(shared: Path, name: str) -> TaskRelease:
    return read_release(shared / "data" / name)


OLD, NEW, FORK = (
    "tau2/airline/tasks.37199f3.json",
    "tau2/airline/tasks.01e812d.json",
    "tau2-verified/airline/tasks.json",
)


def numbers(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_between_the_two_pinned_commits_29_of_50_airline_tasks_changed(shared: Path, airline: Environment) -> None:
    found = compare_releases(tasks_at(shared, OLD), tasks_at(shared, NEW), airline)
    changed = numbers("2 5 7 9 12 13 14 15 16 18 19 21 23 25 27 29 30 32 33 34 35 36 37 38 39 42 43 44 45")
    assert len(found.common) == 50
    assert found.changed(aside=("reward_basis",)) == changed
    assert set(changed) - set(found.changed(aside=("reward_basis", "description", "notes"))) == {"36", "39"}
    assert found.gold_states_differ == numbers("2 7 9 23 27 29 33 35 37 38 44")
    overlap = found.overlap(PAPER_TASKS)
    assert (overlap.marked, overlap.hits) == (29, 7)
    assert round(overlap.p_value * 100, 2) == 1.56


def test_the_paper_s_strategies_show_in_the_form_of_the_change(shared: Path, airline: Environment) -> None:
    found = compare_releases(tasks_at(shared, OLD), tasks_at(shared, NEW), airline)
    strategies = {change.task_id: change.strategies for change in found.changes}
    assert {task: strategies[task] for task in PAPER_TASKS} == {
        "2": ("user_refuses", "gold_flipped"),
        "5": ("user_refuses",),
        "13": ("user_refuses",),
        "27": ("user_refuses", "gold_flipped"),
        "29": ("gold_flipped",),
        "32": ("user_requests",),
        "45": ("user_refuses",),
    }


def test_against_the_verified_fork_gold_writes_differ_in_eleven_tasks(shared: Path, airline: Environment) -> None:
    old, new, fork = (tasks_at(shared, name) for name in (OLD, NEW, FORK))
    assert compare_releases(old, fork, airline).changed_in("gold_writes") == numbers("2 7 9 21 23 27 29 35 37 38 44")
    assert compare_releases(fork, new, airline).changed_in("gold_writes") == ("21", "33", "35")


def test_policy_and_database_of_the_two_releases_are_the_same(shared: Path) -> None:
    try:
        here = find_data("tau2-airline").directory
    except DataError as error:
        pytest.skip(f"tau2's data is not here: {error}")
    found = compare_releases(read_release(here), read_release(shared / "data" / "nemo" / "fixtures_tau2_airline"))
    assert len(found.changed(aside=("reward_basis",))) == 29
    assert (found.policy.status, found.database.status) == ("same", "same")


def test_the_command_prints_the_figures_and_exits_with_one(shared: Path, airline: Environment) -> None:
    data = shared / "data"
    done = CliRunner().invoke(cli, ["audit", "versions", str(data / OLD), str(data / NEW), "--overlap", "2,5,13"])
    assert done.exit_code == 1, done.output
    assert "reward_basis aside: 29: 2 5 7" in done.output
    assert "3 of the 3 tasks named" in done.output


def test_releases_have_names_and_a_path_that_exists_wins(
    shared: Path, airline: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = shared / "data" / "nemo" / "fixtures_tau2_airline"
    named = read_releases(["37199f3", "01e812d"], domain="tau2-airline", data_dir=newer)
    paths = [tasks_at(shared, name) for name in (OLD, NEW)]
    assert [release.digest for release in named] == [release.digest for release in paths]
    assert [release.name.split()[0] for release in named] == ["37199f3", "01e812d"]
    assert all(release.policy and release.database for release in named)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "37199f3").write_bytes((shared / "data" / NEW).read_bytes())
    here, other = read_releases(["37199f3", "01e812d"], data_dir=newer)
    assert (here.name, here.digest) == ("37199f3", other.digest)


def test_a_compressed_task_file_is_the_release_that_it_holds(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "tasks.json.gz").write_bytes(gzip.compress((shared / "data" / NEW).read_bytes()))
    (found,) = read_releases(["01e812d"], domain="tau2-airline", data_dir=tmp_path)
    assert found.digest == tasks_at(shared, NEW).digest
    assert len(found.tasks) == 50


@pytest.mark.parametrize(
    ("name", "domain", "words"),
    [
        ("0000000", "tau2-airline", ["0000000", "no release", "37199f3"]),
        ("01e812d", "", ["several domains", "--domain"]),
        ("01e812d", "tau2-submarine", ["tau2-submarine", "tau2-airline"]),
        ("tau2-verified", "tau2-telecom", ["tau2-telecom", "tau2-verified", "not found"]),
    ],
)
def test_a_release_that_cannot_be_found_is_told_with_what_to_try(name: str, domain: str, words: list[str]) -> None:
    with pytest.raises(MultigoldError) as caught:
        read_releases([name], domain=domain)
    assert all(word in str(caught.value) for word in words)


def test_tasks_without_a_database_are_compared_without_replay(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_bytes((shared / "data" / NEW).read_bytes())
    where = ["--domain", "tau2-airline", "--data-dir", str(tmp_path)]
    done = CliRunner().invoke(cli, ["audit", "versions", str(shared / "data" / OLD), "01e812d", *where])
    assert done.exit_code == 1, done.output
    assert "golds were not replayed" in done.output
    assert "reward_basis aside: 29: 2 5 7" in done.output


def test_the_command_finds_nothing_between_a_release_and_itself(shared: Path) -> None:
    path = str(shared / "data" / OLD)
    done = CliRunner().invoke(cli, ["audit", "versions", path, path, "--json", "-"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["changed"]["any"] == []
