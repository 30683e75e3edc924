"""Law 1, and what a delta looks like."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from deepdiff import DeepDiff
from hypothesis import given
from hypothesis import strategies as st
from state_values import database_essence, related_states, respelt

from multigold.errors import StateError
from multigold.state.canonical import canonical, digest
from multigold.state.database import Database, EndState
from multigold.state.delta import ABSENT, Change, Delta, diff, escape, join_pointer, shortest_diff, split_pointer

Pair = tuple[EndState, EndState]


@given(related_states())
def test_fingerprints_are_equal_exactly_when_nothing_differs(pair: Pair) -> None:
    a, b = pair
    assert (a.fingerprint() == b.fingerprint()) == (not diff(a, b))
    assert (a == b) == (not diff(a, b))


FIELDS = tuple("abcde")


@given(st.lists(st.sets(st.sampled_from(FIELDS), min_size=1), min_size=1, max_size=5))
def test_the_shortest_delta_is_the_whole_of_the_first_of_the_shortest(changed: list[set[str]]) -> None:
    """No state is the end itself, so that no delta is empty; equally short ones differ in what they hold."""
    end = EndState(Database.from_json({"t": {"r": dict.fromkeys(FIELDS, 0)}}))
    befores = [
        EndState(Database.from_json({"t": {"r": {**dict.fromkeys(FIELDS, 0), **dict.fromkeys(fields, number)}}}))
        for number, fields in enumerate(changed, start=1)
    ]
    fewest = min(changed, key=len)
    first = changed.index(fewest) + 1
    expected = {f"/agent/t/r/{field}": {"before": first, "after": 0} for field in sorted(fewest)}
    assert shortest_diff(befores, end).to_json() == expected


def test_there_is_no_shortest_delta_from_nowhere() -> None:
    with pytest.raises(ValueError, match="no state to start from"):
        shortest_diff([], EndState(Database.from_json({})))


@given(related_states())
def test_the_fingerprint_of_a_delta_is_that_of_its_plain_data(pair: Pair) -> None:
    delta = diff(*pair)
    assert delta.fingerprint() == digest(delta.to_json())


@given(related_states())
def test_a_delta_applied_to_the_one_state_is_the_other_and_its_inverse_leads_back(pair: Pair) -> None:
    a, b = pair
    delta = diff(a, b)
    assert delta.apply(a) == b
    assert delta.inverted().apply(b) == a
    assert delta.inverted() == diff(b, a)
    assert delta.inverted().inverted() == delta


@given(related_states())
def test_applying_a_delta_changes_neither_state(pair: Pair) -> None:
    before = [repr(state_json(state)) for state in pair]
    diff(*pair).apply(pair[0])
    assert [repr(state_json(state)) for state in pair] == before


@given(related_states())
def test_a_delta_written_as_json_says_the_same(pair: Pair) -> None:
    a, b = pair
    read = Delta.from_json(json.loads(json.dumps(diff(a, b).to_json())))
    assert read == diff(a, b)
    assert read.apply(a) == b
    assert read.inverted().apply(b) == a


@given(related_states())
def test_an_empty_delta_is_what_an_independent_tool_and_an_oracle_call_no_difference(pair: Pair) -> None:
    a, b = (state_json(state) for state in pair)
    assert (not diff(*pair)) == (not DeepDiff(plain(a), plain(b), ignore_private_variables=False))
    assert (not diff(*pair)) == ([*map(database_essence, a.values())] == [*map(database_essence, b.values())])


@given(related_states(), st.integers(0, 99))
def test_spelling_and_order_make_no_delta(pair: Pair, seed: int) -> None:
    """Law 2."""
    a, b = pair
    random = Random(seed)
    sides = [Database.from_json(respelt(database.to_json(), random)) for _, database in a.sides()]
    other = EndState(sides[0], user=sides[1] if len(sides) > 1 else None)
    assert not diff(a, other)
    assert diff(other, b) == diff(a, b)


@given(related_states())
def test_every_pointer_leads_to_what_the_delta_says_stands_there(pair: Pair) -> None:
    before, after = (state_json(state) for state in pair)
    for pointer, change in diff(*pair).changes.items():
        assert Change(look_up(before, pointer), look_up(after, pointer)) == change
        assert not isinstance(change.before, dict) or not isinstance(change.after, dict)


def state_json(state: EndState) -> dict[str, Any]:
    return {side: database.to_json() for side, database in state.sides()}


def plain(state: dict[str, Any]) -> Any:
    """Return a state as deepdiff can read it: without empty tables, and with booleans that are not 1 and 0."""
    sides = {side: {t: v for t, v in data.items() if v != {}} for side, data in state.items()}
    return booleans_apart(canonical(sides))


def booleans_apart(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: booleans_apart(item) for key, item in value.items()}
    if isinstance(value, list):
        return [booleans_apart(item) for item in value]
    return {"this is": str(value)} if isinstance(value, bool) else value


def look_up(value: Any, pointer: str) -> Any:
    for token in split_pointer(pointer):
        if not isinstance(value, dict) or token not in value:
            return ABSENT
        value = value[token]
    is_table = len(split_pointer(pointer)) == 2 and isinstance(value, dict)
    return ABSENT if is_table else value


def state(agent: dict[str, Any], user: dict[str, Any] | None = None) -> EndState:
    return EndState(Database.from_json(agent), user=None if user is None else Database.from_json(user))


def test_objects_are_entered_lists_are_not_and_records_come_and_go_whole() -> None:
    before = state({"t": {"r": {"o": {"x": 1, "y": 2}, "l": [1, 2]}, "old": {"a": 1}}}, {"n": 1})
    after = state({"t": {"r": {"o": {"x": 1, "y": 3, "z": None}, "l": [2, 1]}, "new": {"b": 1}}}, {"n": [1]})
    assert diff(before, after).to_json() == {
        "/agent/t/new": {"after": {"b": 1}},
        "/agent/t/old": {"before": {"a": 1}},
        "/agent/t/r/l": {"before": [1, 2], "after": [2, 1]},
        "/agent/t/r/o/y": {"before": 2, "after": 3},
        "/agent/t/r/o/z": {"after": None},
        "/user/n": {"before": 1, "after": [1]},
    }


def test_keys_with_slashes_and_tildes_are_escaped_as_rfc_6901_says() -> None:
    delta = diff(state({"a/b": {"~1": {"": 1}}}), state({"a/b": {"~1": {"": 2}}}))
    assert list(delta) == ["/agent/a~1b/~01/"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_pointers_split_into_what_they_were_joined_from(tokens: list[str]) -> None:
    if tokens:
        assert list(split_pointer(join_pointer(tokens))) == tokens
        assert split_pointer(f"/{escape(tokens[0])}") == (tokens[0],)


def test_null_and_absence_differ() -> None:
    assert Change(None, 1) != Change(ABSENT, 1)
    assert Change(1, True) != Change(1, 1)
    assert Change(1, 2.0) == Change(1.0, 2)
    assert Change(1, 2) != "a change"


def test_a_table_can_become_a_value_and_back() -> None:
    before, after = state({"t": {"r": 1, "s": 2}}), state({"t": [1]})
    assert list(diff(before, after)) == ["/agent/t", "/agent/t/r", "/agent/t/s"]
    assert diff(before, after).apply(before) == after
    assert diff(after, before).apply(after) == before


def test_a_delta_that_does_not_fit_its_base_is_refused() -> None:
    base = state({"t": {"r": {"a": 1, "l": [1]}}})
    misfits = {
        "/agent/t/r/a": {"before": 2, "after": 3},
        "/agent/t/r/b": {"before": 2, "after": 3},
        "/agent/t/r/a/deep": {"after": 3},
        "/agent/t/r/l/0": {"before": 1, "after": 3},
        "/agent/t/s/a": {"after": 3},
        "/agent/t/s": {"before": {"a": 1}},
        "/agent/t/r": {"after": {"a": 1}},
        "/user/t/r": {"after": 1},
        "/agent/t": {"before": [1], "after": [2]},
    }
    for pointer, change in misfits.items():
        with pytest.raises(StateError) as caught:
            Delta.from_json({pointer: change}).apply(base)
        assert caught.value.where == pointer


MALFORMED: list[tuple[Any, str]] = [
    ([], "a delta is an object"),
    ({"agent/t/r": {"after": 1}}, "is not a JSON Pointer"),
    ({"/agent": {"after": 1}}, "names a side, a table"),
    ({"/agent/t/": {"after": 1}}, "names a side, a table"),
    ({"/agent/t/r": {}}, "before, after, or both"),
    ({"/agent/t/r": {"now": 1}}, "before, after, or both"),
    ({"/agent/t/r": [1, 2]}, "before, after, or both"),
    ({"/agent/t/r": None}, "before, after, or both"),
    ({"/agent/t": {"after": {"r": 1}}}, "record by record"),
    ({"/agent/t/r": {"after": float("nan")}}, "not a JSON number"),
    ({"/agent/t/r": {"after": "\ud800"}}, "half a character"),
]


@pytest.mark.parametrize(("data", "sentence"), MALFORMED)
def test_malformed_deltas_are_refused(data: Any, sentence: str) -> None:
    with pytest.raises(StateError, match=sentence):
        Delta.from_json(data)


def test_states_with_and_without_a_user_side_cannot_be_compared() -> None:
    with pytest.raises(StateError, match="one state has a user database"):
        diff(state({}), state({}, {}))


def test_records_too_deep_to_compare_are_an_error_and_no_crash() -> None:
    value: Any = 1
    for _ in range(50_000):
        value = {"a": value}
    deep, deeper = (EndState(Database.adopt({"t": {"r": record}})) for record in (value, {"a": value}))
    with pytest.raises(StateError, match="nested deeper"):
        diff(deep, deeper)
