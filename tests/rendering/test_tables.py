"""Reports as terminal tables: whatever the width of the terminal, no number is cut short."""

from __future__ import annotations

import re
import sys
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from multigold.cli._common import print_all
from multigold.cli._rescore import command as rescore
from multigold.errors import MissingExtraError
from multigold.model.verdict import Rewards, Verdict
from multigold.rendering.tables import report_tables
from multigold.stats.aggregation import Report, summarise_verdicts

AGENTS = ("a-vendor/a-model-with-a-long-name (llm_agent)", "another-vendor/another-model (llm_agent_solo)")


def report(agents: tuple[str, ...] = AGENTS) -> Report:
    """Thirty runs for each agent and stratum, of which ten match."""
    rewards = Rewards(single=0.0, core=1.0, core_or_single=1.0, with_contested=1.0)
    return summarise_verdicts(
        [
            Verdict(
                outcome="matched" if trial < 10 else "unmatched",
                task_id=stratum,
                trial=trial,
                agent=agent,
                domain="tau2-airline",
                stratum=stratum,
                rewards=rewards
                if trial < 10
                else Rewards(single=1.0, core=0.0, core_or_single=1.0, with_contested=0.0),
            )
            for agent in agents
            for stratum in ("affected", "free")
            for trial in range(30)
        ],
        note="",
    )


def printed(width: int, agents: tuple[str, ...] = AGENTS) -> str:
    console = Console(file=StringIO(), width=width, markup=False, highlight=False)
    for table in report_tables(report(agents), by_task=True):
        console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_a_pipe_gets_the_plain_text_of_the_report_and_nothing_that_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report()
    monkeypatch.setattr(sys, "stdout", StringIO())
    monkeypatch.setitem(sys.modules, "rich.console", None)
    print_all(report_tables(whole, by_task=True))
    assert sys.stdout.getvalue() == f"{whole.to_text(by_task=True)}\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [80, 100, 120, 240])
def test_no_number_is_cut_short_and_no_line_is_too_long(width: int) -> None:
    text = printed(width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    everything = re.findall(r"\d+/\d+", printed(240))
    assert sorted(re.findall(r"\d+/\d+", text)) == sorted(everything)
    assert text.count("33.3%") == printed(240).count("33.3%")


def test_a_name_is_whole_at_80_columns_in_the_table_by_task() -> None:
    by_task = printed(80).split("By task")[1].split("Baselines")[0]
    assert "stratum" in by_task
    rows = [line.split()[:2] for line in by_task.splitlines() if line.split()[:1] in (["affected"], ["free"])]
    assert rows == [["affected", "affected"], ["free", "free"]]


def test_baselines_stand_beside_the_scores_only_where_there_is_room() -> None:
    assert "Baselines by stratum" not in printed(240)
    assert "Baselines by stratum" in printed(120)


def test_what_is_the_same_everywhere_stands_in_the_title_and_what_the_table_is_by_is_a_column() -> None:
    text = printed(240, AGENTS[:1])
    assert "By agent, domain tau2-airline" in text
    assert f"By stratum, agent {AGENTS[0]}, domain tau2-airline" in text
    header = next(line for line in text.splitlines() if "single gold" in line)
    assert header.split()[0] == "agent"


def test_where_there_are_no_runs_there_are_no_empty_tables(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('{"domain": "mine"}')
    done = CliRunner().invoke(rescore, [str(tmp_path)])
    assert "notes.json: left out" in done.output
    assert "there are no runs to count" in done.output
    assert "By agent" not in done.output


def test_a_page_without_jinja2_is_refused_before_anything_is_scored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    results, page, document = (tmp_path / name for name in ("absent.json", "page.html", "verdicts.json"))
    done = CliRunner().invoke(rescore, [str(results), "--html", str(page), "--json", str(document)])
    assert isinstance(done.exception, MissingExtraError)
    assert not document.exists()
