"""Counting: nothing is lost, no order matters, no rate stands without its denominator."""

from __future__ import annotations

import re
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from multigold.model.trajectory import Recorded
from multigold.model.verdict import Match, Reason, Rewards, Verdict
from multigold.stats.aggregation import COLUMNS, Tally, cells_of, summarise_verdicts

REWARD = st.sampled_from([None, 0.0, 0.5, 0.9999999, 1.0])


@st.composite
def verdicts(draw: Any) -> Verdict:
    outcome = draw(st.sampled_from(["matched", "unmatched", "unscored"]))
    rewards = Rewards(
        **{c: draw(REWARD) for c in ("single", "core", "core_or_single", "with_contested", "core_strict")}
    )
    return Verdict(
        outcome=outcome,
        rewards=rewards,
        recorded=Recorded(reward=draw(REWARD)),
        reason=Reason(code=draw(st.sampled_from(["a", "b"])), sentence="") if outcome != "matched" else None,
        stratum=draw(st.sampled_from(["affected", "resolved", "free", "conflict", "other_version"])),
        task_id=draw(st.sampled_from(["2", "10", "x"])),
        agent=draw(st.sampled_from(["one", "two"])),
        domain="d",
        termination=draw(st.sampled_from([None, "user_stop"])),
        matches=draw(st.sampled_from([(), (Match(reading="r", standing="core", vacuous=True),)])),
    )


def tally(runs: list[Verdict]) -> Tally:
    """The counts of runs of one agent and domain."""
    (group,) = summarise_verdicts(runs).overall
    return group.tally


@given(st.lists(verdicts(), max_size=12))
def test_law_12_strata_partition_the_runs_and_outcomes_add_up(runs: list[Verdict]) -> None:
    report = summarise_verdicts(runs)
    for groups in (report.overall, report.by_stratum, report.by_task):
        assert sum(group.tally.runs for group in groups) == len(runs)
        for group in groups:
            counts = group.tally
            assert counts.matched + counts.unmatched + sum(counts.unscored.values()) == counts.runs


@given(st.lists(verdicts(), max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_runs_changes_no_number(runs: list[Verdict], random: Any) -> None:
    shuffled = list(runs)
    random.shuffle(shuffled)
    assert summarise_verdicts(shuffled) == summarise_verdicts(runs)


def test_unscored_runs_are_in_no_denominator_but_the_recorded_one() -> None:
    unscored = Verdict(
        outcome="unscored",
        reason=Reason(code="no_calls", sentence=""),
        rewards=Rewards(core=1.0),
        recorded=Recorded(reward=1.0),
    )
    scored = Verdict(outcome="unmatched", rewards=Rewards(core=0.0), recorded=Recorded(reward=0.0))
    counts = tally([unscored, scored])
    assert (counts.columns["recorded"].successes, counts.columns["recorded"].of) == (1, 2)
    assert (counts.columns["core"].successes, counts.columns["core"].of) == (0, 1)
    assert counts.unscored == {"no_calls": 1}


def test_case_17_a_success_is_a_reward_near_one_and_halves_never_add_up_to_one() -> None:
    halves = [Verdict(outcome="matched", rewards=Rewards(core=0.5)) for _ in range(2)]
    assert tally(halves).columns["core"].successes == 0
    nearly = Verdict(outcome="matched", rewards=Rewards(core=0.9999999))
    assert tally([nearly]).columns["core"].value == 1.0


def test_no_runs_have_no_share() -> None:
    assert tally([Verdict(outcome="matched")]).columns["core"].value is None


def test_the_papers_split_goes_by_task_whatever_the_text() -> None:
    runs = [Verdict(outcome="matched", domain="d", task_id=task, stratum="free") for task in ("2", "3")]
    report = summarise_verdicts(runs, strata="paper", paper_split={"d": ["2"]})
    assert [group.keys["stratum"] for group in report.by_stratum] == ["loophole-affected", "loophole-free"]


def test_the_papers_split_of_one_domain_says_nothing_of_another() -> None:
    runs = [Verdict(outcome="matched", domain=domain, task_id="2", stratum="free") for domain in ("d", "e", "f")]
    report = summarise_verdicts(runs, strata="paper", paper_split={"d": ["2"], "e": ["3"]})
    strata = {group.keys["domain"]: group.keys["stratum"] for group in report.by_stratum}
    assert strata == {"d": "loophole-affected", "e": "loophole-free", "f": "loophole-free"}


def test_strict_core_is_shown_only_while_an_equivalence_is_on() -> None:
    assert "core_strict" not in summarise_verdicts([]).columns
    assert summarise_verdicts([], equivalences=["unordered"]).columns == COLUMNS


def test_tasks_stand_in_natural_order() -> None:
    runs = [Verdict(outcome="matched", task_id=task) for task in ("10", "x", "2")]
    assert [group.keys["task"] for group in summarise_verdicts(runs).by_task] == ["2", "10", "x"]


def test_a_vacuous_match_is_counted() -> None:
    run = Verdict(outcome="unmatched", matches=(Match(reading="r", standing="core", vacuous=True),))
    assert tally([run, attrs.evolve(run, matches=())]).vacuous == 1


# As text


@given(st.lists(verdicts(), min_size=1, max_size=12))
def test_printed_a_report_has_every_group_with_every_cell_in_columns_that_line_up(runs: list[Verdict]) -> None:
    report = summarise_verdicts(runs)
    text = report.to_text(by_task=True)
    for groups in (report.overall, report.by_stratum, report.by_task):
        for group in groups:
            cells = [re.escape(cell) for cell in cells_of(group, report.columns)]
            assert re.search(r" +".join(cells), text)
    for table in text.split("\n\n")[:-1]:
        title, *lines = table.splitlines()
        assert title.startswith("By ")
        assert len({len(line) for line in lines}) == 1


def test_printed_a_report_is_what_the_command_shows_and_says_what_the_baselines_are() -> None:
    rewards = Rewards(single=0.0, core=1.0, core_or_single=1.0, with_contested=1.0)
    run = Verdict(outcome="matched", agent="mine\x1b[31m", domain="d", stratum="affected", task_id="2", rewards=rewards)
    report = summarise_verdicts([run])
    lines = str(report).splitlines()
    assert lines[0] == "By agent, domain d"
    assert lines[1].split()[:4] == ["agent", "runs", "unscored", "recorded"]
    assert lines[2].startswith("mine\\x1b[31m     1")
    assert "0/1 0.0%  1/1 100.0%" in lines[2]
    assert lines[-1].startswith("Baselines")
    assert "By task" not in str(report)
    assert "By task" in report.to_text(by_task=True)


def test_printed_columns_line_up_where_a_letter_takes_two_places_or_none() -> None:
    agents = ("plain-agent", "模型", "e\u0301t\u00e9")
    runs = [Verdict(task_id="1", domain="d", agent=agent, outcome="matched", matched=("a",)) for agent in agents]
    rows = summarise_verdicts(runs).to_text().splitlines()[2:5]
    ends = {row.split("  ")[0]: row.index(" 1 ") for row in rows}
    plain = ends["plain-agent"]
    assert ends == {"plain-agent": plain, "模型": plain - 2, "e\u0301t\u00e9": plain + 1}


def test_printed_a_report_of_nothing_says_so() -> None:
    assert str(summarise_verdicts([])) == "there are no runs to count"


def test_a_title_does_not_name_an_agent_that_has_no_name() -> None:
    nameless = Verdict(outcome="matched", task_id="1", domain="d", stratum="free", rewards=Rewards(core=1.0))
    titles = [line for line in str(summarise_verdicts([nameless], note="")).splitlines() if line.startswith("By ")]
    assert titles == ["By agent, domain d", "By stratum, domain d"]
