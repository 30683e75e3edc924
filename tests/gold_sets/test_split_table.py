"""`examples/split_table.py`: the seven tasks of the paper's split, counted again from the verdicts one by one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from multigold.environments.base import Environment
from multigold.rescoring import rescore
from multigold.stats.aggregation import reward


@pytest.fixture(scope="module")
def split_table(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("split_table", root / "examples" / "split_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_column_is_the_count_of_the_verdicts(split_table: ModuleType, airline: Environment, shared: Path) -> None:
    file = shared / "data" / "results" / "tau2" / "airline_grok-4-fast-reasoning.json"
    (cells,) = split_table.lines(str(file))
    row = dict(zip(split_table.HEADINGS, cells, strict=True))
    runs = [verdict for verdict in rescore(file) if verdict.task_id in split_table.SPLIT["tau2-airline"]]
    assert row["runs"] == str(len(runs)) == "11"
    for column in split_table.COLUMNS:
        assert row[column] == f"{sum(reward(run, column) == 1.0 for run in runs)}/{len(runs)}"
    coherent, core = (int(row[name].split("/")[0]) for name in ("coherent", "core"))
    assert 0 < coherent <= core


def test_doing_nothing_earns_nothing_under_core_and_refusing_with_evidence_does(
    split_table: ModuleType, airline: Environment, shared: Path
) -> None:
    file = shared / "data" / "results" / "tau2" / "airline_qwen2.5-7b.json"
    (cells,) = split_table.lines(str(file))
    row = dict(zip(split_table.HEADINGS, cells, strict=True))
    assert row["do nothing"] == "3/7, 0/7"
    assert row["always refuse"] == "3/7, 7/7"


def test_a_file_without_tasks_of_the_split_gives_no_lines(split_table: ModuleType, shared: Path) -> None:
    assert list(split_table.lines(str(shared / "data" / "results" / "odd" / "zero_simulations.json"))) == []
