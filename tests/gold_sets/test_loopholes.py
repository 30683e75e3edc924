"""The catalogues' entries against what the paper counts, and their clauses against the policies."""

from __future__ import annotations

import pytest

from multigold.benchmark_data import load_policy
from multigold.catalogues import load_catalogue
from multigold.errors import DataError
from multigold.model.loophole import Loophole
from multigold.policies.lines import clause_text, is_label, policy_fingerprint, policy_lines

NAMES = ("tau2-airline", "tau2-retail")


def entries() -> list[Loophole]:
    return [entry for name in NAMES for entry in load_catalogue(name).loopholes.values()]


def published() -> list[Loophole]:
    return [entry for entry in entries() if entry.status == "published"]


def policy_of(name: str) -> bytes:
    try:
        return load_policy(name).path.read_bytes()
    except DataError as error:
        pytest.skip(f"the policy of {name} is not here: {error.message}")


def test_there_are_eighteen_published_entries_of_which_one_is_a_conflict() -> None:
    assert [entry.id for entry in published()] == [*(f"L{n}" for n in range(1, 17)), "R1", "R2"]
    assert [entry.id for entry in published() if entry.kind == "conflict"] == ["L15"]


def test_five_loopholes_are_confirmed_in_both_stages_and_twelve_in_the_first_only() -> None:
    stages = [entry.stages for entry in published() if entry.kind == "loophole"]
    assert (stages.count(("S1", "S2")), stages.count(("S1",)), len(stages)) == (5, 12, 17)


def test_the_direct_loopholes_account_for_the_seven_tasks_of_the_papers_split() -> None:
    tasks = {task for entry in published() if entry.effect == "direct" for task in entry.tasks}
    assert tasks == set(load_catalogue("tau2-airline").paper_split)
    assert len(tasks) == 7


def test_what_the_paper_does_not_list_is_proposed_with_its_evidence() -> None:
    proposed = {task for entry in entries() for task in entry.proposed}
    assert {"38", "15", "16", "14", "23", "17", "22", "7", "9", "33", "37", "39", "29"} <= proposed
    assert all(evidence for entry in entries() for evidence in entry.proposed.values())


def test_proposed_entries_list_no_task_as_published() -> None:
    assert [entry.id for entry in entries() if entry.status == "proposed" and entry.tasks] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_the_policy_is_in_one_clause(name: str) -> None:
    catalogue, lines = load_catalogue(name), policy_lines(policy_of(name))
    covered = [n for c in catalogue.clauses.values() for n in range(c.first_line, c.last_line + 1)]
    assert len(covered) == len(set(covered))
    spoken = [n for n, text in enumerate(lines, 1) if text.strip() and not text.startswith("#") and not is_label(text)]
    assert set(spoken) <= set(covered)
    assert all(n in spoken or not lines[n - 1].strip() for n in covered)


@pytest.mark.parametrize("name", NAMES)
def test_every_clause_stands_where_the_index_says(name: str) -> None:
    catalogue, policy = load_catalogue(name), policy_of(name)
    assert policy_fingerprint(policy) == catalogue.policy_fingerprint
    assert {clause_text(policy, clause).found for clause in catalogue.clauses.values()} == {"same"}


@pytest.mark.parametrize("name", NAMES)
def test_no_summary_repeats_the_words_of_its_clause(name: str) -> None:
    catalogue, policy = load_catalogue(name), policy_of(name)
    for clause in catalogue.clauses.values():
        text = clause_text(policy, clause).text.casefold()
        words = clause.summary.casefold().replace("'", "").split()
        runs = [" ".join(words[i : i + 8]) for i in range(len(words) - 7)]
        assert not any(run in text for run in runs), clause.id


def test_every_task_that_an_entry_lists_has_a_gold_set() -> None:
    for name in NAMES:
        catalogue = load_catalogue(name)
        listed = {task for entry in catalogue.loopholes.values() for task in (*entry.tasks, *entry.proposed)}
        assert sorted(listed - catalogue.gold_sets.keys()) == []


def test_what_the_paper_does_not_list_stays_outside_its_strata() -> None:
    catalogue = load_catalogue("tau2-airline")
    proposed = {gold_set.task_id for gold_set in catalogue if gold_set.status == "proposed"}
    assert proposed == {"7", "9", "14", "15", "16", "17", "22", "23", "33", "37", "38", "39"}
    assert not proposed & set(catalogue.paper_split)
