"""Small files of real shapes whose calls were skipped, lost or believed once: what their runs come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from multigold.benchmark_data import find_data
from multigold.errors import DataError
from multigold.rescoring import Options, rescore

# file: options; runs as outcome, benchmark_matched and reason
CASES: dict[str, tuple[dict[str, Any], list[tuple[str, bool | None, str]]]] = {
    "fmt_anthropic_messages.jsonl": ({"benchmark_release": "37199f3"}, [("matched", True, "")]),
    "fmt_langchain.jsonl": ({"benchmark_release": "37199f3"}, [("matched", True, "")]),
    "fmt_inspect_messages.jsonl": ({"benchmark_release": "37199f3"}, [("matched", True, "")]),
    "tau1_python_repr_arguments.json": ({"data_dir": "tau1"}, [("matched", True, "")]),
    "tau2_399_ticks.json": ({}, [("matched", True, "")] * 3),
    "hostile/never-answered.json": ({}, [("unscored", None, "calls_unanswered")]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_calls_of_a_file_are_those_that_were_carried_out(shared: Path, name: str) -> None:
    options, expected = CASES[name]
    try:
        find_data("tau2-airline")
    except DataError as error:
        pytest.skip(f"tau2's airline data is not here: {error}")
    if "data_dir" in options:
        options = {**options, "data_dir": shared / "data" / options["data_dir"]}
    done = rescore(shared / "data" / "cases" / name, options=Options(**options))
    found = [(v.outcome, v.benchmark_matched, v.reason.code if v.reason else "") for v in done]
    assert found == expected
