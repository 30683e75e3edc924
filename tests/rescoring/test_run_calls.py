"""The calls of a run as `show --calls` prints them: what came of each, safe for a terminal, cut to its width."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multigold.errors import DataError
from multigold.model.task import ToolCall
from multigold.rendering.calls import call_heading, call_lines, call_notes
from multigold.rescoring import Options, rescore
from multigold.rescoring.run_calls import CallKind, CallWithOutcome, runs_with_calls

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "airline_results.json"


@pytest.fixture(scope="module")
def airline_data() -> None:
    """The airline database; skip where it is not there."""
    from multigold.benchmark_data import find_data

    try:
        find_data("tau2-airline")
    except DataError as error:
        pytest.skip(f"tau2's airline data is not here: {error}")


def results(tmp_path: Path, *messages: dict[str, Any]) -> Path:
    """A file with one run of task 32 that has these messages."""
    document = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    run = next(run for run in document["simulations"] if run["task_id"] == "32")
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**document, "simulations": [{**run, "messages": list(messages)}]}), encoding="utf-8")
    return path


def called(name: str, arguments: Any, role: str = "assistant", call_id: str = "a") -> dict[str, Any]:
    call = {"id": call_id, "requestor": role, "name": name, "arguments": arguments}
    return {"role": role, "content": None, "tool_calls": [call]}


def answer(content: str, *, error: bool, call_id: str = "a") -> dict[str, Any]:
    return {"role": "tool", "id": call_id, "requestor": "assistant", "content": content, "error": error}


# What came of the calls


@pytest.mark.usefixtures("airline_data")
def test_each_call_has_what_the_file_says_came_of_it_and_what_its_tool_does(tmp_path: Path) -> None:
    path = results(
        tmp_path,
        called("get_reservation_details", {"reservation_id": "OWZ4XL"}),
        answer("{}", error=False),
        called("cancel_reservation", {"reservation_id": "NONE"}),
        answer("Error: Reservation NONE not found", error=True),
        called("fly", {}),
        answer("Tool 'fly' not found", error=True),
    )
    (run,) = runs_with_calls(path, task_id="32", options=Options(benchmark_release="37199f3"))
    assert run.calls is not None
    assert [(call.call.name, call.kind, call.outcome, call.message) for call in run.calls] == [
        ("get_reservation_details", "read", "ok", ""),
        ("cancel_reservation", "write", "refused", "Error: Reservation NONE not found"),
        ("fly", "unknown", "refused", "Tool 'fly' not found"),
    ]


@pytest.mark.usefixtures("airline_data")
def test_a_call_without_a_recorded_answer_says_so_and_what_a_replay_makes_of_it(tmp_path: Path) -> None:
    path = results(
        tmp_path,
        called("get_reservation_details", {"reservation_id": "OWZ4XL"}),
        called("cancel_reservation", {"reservation_id": "NONE"}, call_id="b"),
    )
    (run,) = runs_with_calls(path, task_id="32", options=Options(benchmark_release="37199f3"))
    assert [(call.outcome, call.replayed) for call in run.calls or ()] == [
        ("not_recorded", True),
        ("not_recorded", False),
    ]


@pytest.mark.usefixtures("airline_data")
def test_a_call_that_was_passed_over_is_said_to_be_unanswered(tmp_path: Path) -> None:
    path = results(
        tmp_path,
        called("get_reservation_details", {"reservation_id": "OWZ4XL"}),
        answer("{}", error=False),
        called("cancel_reservation", {"reservation_id": "OWZ4XL"}, call_id="b"),
    )
    (run,) = runs_with_calls(path, task_id="32", options=Options(benchmark_release="37199f3"))
    assert [(call.outcome, call.replayed) for call in run.calls or ()] == [("ok", None), ("unanswered", None)]


@pytest.mark.usefixtures("airline_data")
def test_the_verdicts_are_those_of_the_runs_without_their_calls() -> None:
    options = Options(benchmark_release="37199f3")
    runs = runs_with_calls(EXAMPLE, task_id="32", options=options)
    assert [run.verdict for run in runs] == [one for one in rescore(EXAMPLE, options=options) if one.task_id == "32"]
    assert len(runs) == 4


@pytest.mark.usefixtures("airline_data")
def test_a_directory_may_hold_files_of_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(EXAMPLE.read_bytes())
    (tmp_path / "settings.json").write_text('{"colour": "red"}')
    assert len(runs_with_calls(tmp_path, task_id="32", trial=1)) == 1


# Lines

KINDS: tuple[CallKind, ...] = ("read", "write", "generic", "unknown", "")
LONG = st.text(max_size=200)
CALLS = st.builds(
    lambda name, arguments, who, kind, outcome, message: CallWithOutcome(
        call=ToolCall(name, arguments, requestor=who), kind=kind, outcome=outcome, message=message
    ),
    LONG,
    st.none() | st.dictionaries(LONG, LONG | st.integers() | st.none(), max_size=3),
    st.sampled_from(["assistant", "user"]),
    st.sampled_from(KINDS),
    st.sampled_from(["ok", "refused", "unanswered", "not_recorded"]),
    LONG,
)


@given(st.lists(CALLS, max_size=12), st.integers(min_value=60, max_value=240))
def test_every_call_is_one_line_that_fits_and_that_a_terminal_only_shows(
    calls: list[CallWithOutcome], width: int
) -> None:
    lines = list(call_lines(calls, width=width))
    assert [line.kind for line in lines] == [call.kind for call in calls]
    assert all(line.text.isprintable() and len(line.text) <= width for line in lines)
    assert [int(line.text.split()[0]) for line in lines] == list(range(len(calls)))


def line_of(call: CallWithOutcome, width: int = 120) -> str:
    (line,) = call_lines([call], width=width)
    return line.text


def test_a_line_has_who_called_what_with_which_arguments_and_what_came_of_it() -> None:
    read = CallWithOutcome(call=ToolCall("look", {"id": "7", "deep": [1, 2.5]}), kind="read", outcome="ok")
    assert line_of(read) == '  0 agent   look {"id":"7","deep":[1,2.5]}  ok'
    write = CallWithOutcome(
        call=ToolCall("drop", {}, requestor="user"), kind="write", outcome="refused", message="Error: no\nsuch \x1b[31m"
    )
    assert line_of(write) == r"  0 user  * drop {}  refused: no such \x1b[31m"
    unanswered = CallWithOutcome(call=ToolCall("drop", {}), kind="write", outcome="unanswered")
    assert line_of(unanswered) == "  0 agent * drop {}  never answered"
    odd = CallWithOutcome(call=ToolCall("drop", None), kind="unknown", replayed=False)
    assert line_of(odd) == "  0 agent ? drop (arguments that are not a JSON object)  not recorded (a replay refuses it)"


def test_arguments_give_way_before_what_came_of_the_call() -> None:
    call = CallWithOutcome(call=ToolCall("tell", {"text": "x" * 500}), outcome="refused", message="the line is busy")
    line = line_of(call, 80)
    assert line.endswith("...  refused: the line is busy")
    assert len(line) == 80


def test_the_heading_counts_and_the_notes_explain_only_marks_that_are_there() -> None:
    read = CallWithOutcome(call=ToolCall("look"), kind="read", outcome="ok")
    write = CallWithOutcome(call=ToolCall("drop"), kind="write", outcome="refused")
    assert call_heading([read, write]) == "calls: 2 (1 may change the database, 1 refused)"
    assert call_heading([read]) == "calls: 1"
    assert call_heading([]) == "calls: none were made"
    assert call_heading(None) == "calls: the file holds none of this run"
    assert call_notes([read]) == ""
    assert "*" in call_notes([read, write])
    assert "?" not in call_notes([read, write])
