"""The example that recomputes the paper's figures, run whole."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def tables(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("paper_tables", root / "examples" / "paper_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_computed_figure_is_the_papers_but_the_one_lead(tables: ModuleType) -> None:
    figures = [figure for figure in tables.figures() if figure not in tuple(tables.texts())]
    computed = [figure for figure in figures if figure.paper and figure.ours and not figure.stand_in]
    assert len(computed) == 19
    assert [(f.name, f.paper, f.ours) for f in computed if not f.agrees] == [
        ("the same without the seven", "16.2", "16.3")
    ]


def test_figures_of_the_texts_agree_where_these_are_here_and_say_where_they_come_from(tables: ModuleType) -> None:
    figures = tuple(tables.texts())
    assert len(figures) == 4
    assert all(figure.note for figure in figures)
    assert all(figure.agrees for figure in figures if figure.ours)


def test_the_changed_tasks_are_counted_from_two_task_files(tables: ModuleType, shared: Path) -> None:
    files = [shared / "data" / "tau2" / "airline" / f"tasks.{release}.json" for release in ("37199f3", "01e812d")]
    changed = next(tables.texts(files))
    assert (changed.paper, changed.ours) == ("29 of 50", "29 of 50")


def test_only_these_totals_round_to_the_papers_rates(tables: ModuleType) -> None:
    for agent, printed in zip(tables.OTHER_SUCCESSES, ("64.5", "48.3", "40.7"), strict=True):
        assert [n for n in range(173) if f"{100 * n / 172:.1f}" == printed] == [tables.OTHER_SUCCESSES[agent]]


def test_the_printed_variances_leave_one_sum_for_the_cells_that_are_not_printed(tables: ModuleType) -> None:
    assert tables.fitting_sums(tables.trial_variance(tables.of_stratum(tables.all_rows(), "affected"))) == [140]
    assert [figure.agrees for figure in tables.figures() if figure.stand_in] == [True, True]
    numbers = list(tables.OTHER_TASKS.values())
    assert [sum(cells.values()) for cells in numbers] == [43, 43, 43]
    assert sum(3 * (cells.get(1, 0) + cells.get(3, 0)) + 4 * cells.get(2, 0) for cells in numbers) == 140


def test_the_example_runs_and_prints_the_paper_beside_ours(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(root / "examples" / "paper_tables.py")],
        capture_output=True, text=True, check=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
    )  # fmt: skip
    assert done.stdout.count("DIFFERS") == 1
    assert done.stdout.count("assumed") == 2
    assert "28/172 is 16.28" in done.stdout
    assert "13.29 to 50.66, -14.70 to 25.00, -14.62 to 23.84" in done.stdout
    assert done.stderr == ""
