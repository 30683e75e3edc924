"""Deltas in words: what differs is said, briefly, and nothing in it can act on a terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from state_values import essence, related_states

import multigold
from multigold.state.database import Database, EndState
from multigold.state.delta import ABSENT, Change, Delta, diff
from multigold.state.explain import MAX_ITEMS, MAX_PARTS, WIDTH, explain_delta, printable


def lines(before: dict[str, Any], after: dict[str, Any], **options: int) -> list[str]:
    return explain_delta(diff(Database.from_json(before), Database.from_json(after)), **options)


def line(before: Any, after: Any) -> str:
    """Return the line for one value that changed, without its pointer."""
    (only,) = explain_delta(Delta({"/agent/t/r": Change(before, after)}))
    assert only.startswith("/agent/t/r: ")
    return only.removeprefix("/agent/t/r: ")


def test_each_pointer_is_a_line_with_what_stood_there_and_what_stands_there() -> None:
    before = {"t": {"r": {"cabin": "basic", "bags": 1, "status": None}, "gone": {"a": True}}}
    after = {"t": {"r": {"cabin": "economy", "bags": 2.5}, "new": {"é": "ü"}}}
    assert lines(before, after) == [
        '/agent/t/gone: {"a": true} -> absent',
        '/agent/t/new: absent -> {"é": "ü"}',
        "/agent/t/r/bags: 1 -> 2.5",
        '/agent/t/r/cabin: "basic" -> "economy"',
        "/agent/t/r/status: null -> absent",
    ]


def test_nothing_differs_nothing_is_said() -> None:
    assert explain_delta(Delta({})) == []
    assert explain_delta(Delta({}), limit=0) == []


def test_the_word_absent_is_not_mistaken_for_an_absence() -> None:
    assert line("absent", ABSENT) == '"absent" -> absent'
    assert line("1", 1) == '"1" -> 1'
    assert line(True, "true") == 'true -> "true"'


@pytest.mark.parametrize(("limit", "shown"), [(30, 30), (1, 1), (0, 0), (-5, 0), (99, 99), (100, 100), (200, 100)])
def test_case_18_at_most_so_many_lines_and_the_count_of_the_rest(limit: int, shown: int) -> None:
    said = lines({}, {"t": {f"{number:03}": number for number in range(100)}}, limit=limit)
    rest = [f"... and {100 - shown} more"] if shown < 100 else []
    assert said == [f"/agent/t/{number:03}: absent -> {number}" for number in range(shown)] + rest


def test_case_18_thirty_lines_unless_asked_for_more() -> None:
    assert len(lines({}, {"t": {str(number): number for number in range(100)}})) == 31


def test_lists_are_looked_into() -> None:
    paid = [{"id": "card", "amount": 522}, {"id": "card", "amount": 396}, {"id": "card", "amount": -510}]
    once = [{"id": "card", "amount": 522}, {"id": "card", "amount": -114}]
    assert line(paid, once) == 'at /1/amount 396 -> -114; at /2 {"id": "card", "amount": -510} -> absent'
    assert line(once, [*once, None]) == "at /2 absent -> null"
    assert line([{"a/b": {"__x": 1}}], [{"a/b": {"__x": 2}}]) == "at /0/a~1b/__x 1 -> 2"
    assert line([1, "1", [2]], [True, "1", [2.5]]) == "at /0 1 -> true; at /2/0 2 -> 2.5"
    assert line([None], ["null"]) == 'at /0 null -> "null"'
    assert line(["b", "a"], ["a", "b"]) == 'at /0 "b" -> "a"; at /1 "a" -> "b"'


def test_differences_inside_of_a_list_come_in_order_and_the_rest_is_counted() -> None:
    said = line(list(range(12)), [-number - 1 for number in range(12)])
    assert said == f"at /0 0 -> -1; at /1 1 -> -2; at /2 2 -> -3; at /3 3 -> -4; ... and {12 - MAX_PARTS} more"


def test_lists_too_large_to_align_are_shown_from_where_they_differ() -> None:
    before = list(range(MAX_ITEMS + 1))
    said = line(before, [*before[:-1], "last"])
    assert "100] (" in said.split(" -> ")[0]
    assert '"last"] (' in said.split(" -> ")[1]


def test_long_values_are_cut_with_their_length_and_show_where_they_differ() -> None:
    assert line("x" * 500, 1) == f'"{"x" * (WIDTH - 1)}... (502 characters) -> 1'
    said = line("x" * 300 + "a" + "y" * 300, "x" * 300 + "b" + "y" * 300)
    before, after = said.split(" -> ")
    assert before.endswith("... (603 characters)")
    assert after == before.replace("a", "b", 1).replace("chbracters", "characters")
    assert "xay" in before
    assert "xby" in after


ESCAPED = [
    ("a\nb", r'"a\nb"'),
    ("\x1b[31mred", r'"\u001b[31mred"'),
    ("\x9b31m", r'"\x9b31m"'),
    ("\u202eabc", r'"\u202eabc"'),
    ("\u2028", r'"\u2028"'),
    ("\x7f", r'"\x7f"'),
    ("é😀", '"é😀"'),
]


@pytest.mark.parametrize(("text", "shown"), ESCAPED)
def test_whatever_a_terminal_could_act_on_is_escaped_in_values(text: str, shown: str) -> None:
    assert line(text, 1) == f"{shown} -> 1"
    assert line([text], [1]) == f"at /0 {shown} -> 1"


def test_whatever_a_terminal_could_act_on_is_escaped_in_pointers() -> None:
    assert lines({}, {"t": {"a\n\x1b": 1}}) == [r"/agent/t/a\n\x1b: absent -> 1"]
    assert lines({"t": {"r": [{"\r": 1}]}}, {"t": {"r": [{"\r": 2}]}}) == [r"/agent/t/r: at /0/\r 1 -> 2"]


def test_a_pointer_without_end_is_cut() -> None:
    (only,) = lines({}, {"t": {"k" * 100_000: 1}})
    assert only.endswith("... (100009 characters): absent -> 1")
    assert len(only) < 300


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


UNSHOWABLE = [(10**5000, "int"), ({"a": 10**5000}, "dict"), (deep(50_000), "list"), ({1, 2}, "set")]


@pytest.mark.parametrize(("value", "kind"), UNSHOWABLE, ids=["huge", "holding huge", "deep", "set"])
def test_values_that_cannot_be_written_do_not_stop_the_explanation(value: Any, kind: str) -> None:
    assert line(1, value) == f"1 -> a {kind} that cannot be shown"
    assert line([1], [2, value]).startswith("[1] -> a list that cannot be shown")


def test_half_a_character_is_shown_as_an_escape() -> None:
    assert line("\ud800", 1) == r'"\ud800" -> 1'
    assert line(["\ud800"], [1]).isprintable()


@given(related_states())
def test_every_difference_is_a_printable_line_that_begins_with_its_pointer(pair: tuple[EndState, EndState]) -> None:
    delta = diff(*pair)
    said = explain_delta(delta, limit=10_000)
    assert len(said) == len(delta)
    for pointer, text in zip(delta, said, strict=True):
        assert text.isprintable()
        assert " -> " in text
        assert len(pointer) > 3 * WIDTH or text.startswith(f"{printable(pointer)}: ")


small_lists = st.lists(st.integers(0, 1) | st.booleans() | st.lists(st.integers(0, 1), max_size=2), max_size=5)


@given(small_lists, small_lists)
def test_what_differs_inside_of_a_list_is_said_also_where_python_sees_no_difference(a: list[Any], b: list[Any]) -> None:
    if essence(a) != essence(b):
        assert line(a, b).startswith("at /")


@given(st.text())
def test_printable_text_is_left_alone_and_the_rest_becomes_so(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(text) == text or not text.isprintable()
    assert printable(printable(text)) == printable(text)


def test_deepdiff_is_imported_for_lists_alone() -> None:
    program = (
        "import sys\n"
        "from multigold.state.delta import Change, Delta\n"
        "from multigold.state.explain import explain_delta\n"
        "explain_delta(Delta({'/agent/t/r': Change(1, [2])})); print('deepdiff' in sys.modules)\n"
        "explain_delta(Delta({'/agent/t/r': Change([1], [2])})); print('deepdiff' in sys.modules)\n"
    )
    environment = {"PYTHONPATH": str(Path(multigold.__file__).parents[1]), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    assert done.stdout.split() == ["False", "True"]
