"""The canonical form: what is the same, what is refused."""

from __future__ import annotations

import math
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from state_values import essence, respelt, values, words

from multigold.errors import StateError
from multigold.state.canonical import MAX_DEPTH, canonical, canonical_text, clone, digest, same

SAME = [(25, 25.0), (0, -0.0), (1e22, 10**22), ([1, {"a": 2.0}], [1.0, {"a": 2}]), ({"a": 1, "b": 2}, {"b": 2, "a": 1})]
DIFFERENT = [
    (True, 1),
    (False, 0),
    ([True], [1]),
    ({"a": [{"b": False}]}, {"a": [{"b": 0.0}]}),
    (2500.5, 2500),
    ("1", 1),
    ("none", None),
    ("a", "A"),
    ("a", "a "),
    ({"a": None}, {}),
    ([1, 2], [2, 1]),
    ([], {}),
    (2**53 + 1, float(2**53)),
    ("é", "e\u0301"),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_spelling_and_key_order_make_no_difference(a: Any, b: Any) -> None:
    assert same(a, b)
    assert canonical_text(a) == canonical_text(b)
    assert digest(a) == digest(b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_everything_else_makes_a_difference(a: Any, b: Any) -> None:
    assert not same(a, b)
    assert not same(b, a)
    assert canonical_text(a) != canonical_text(b)


@given(values, values)
@example([1, True], [True, 1])
@example(2.0**60, 2**60)
def test_same_is_equality_of_canonical_text_and_of_an_independent_oracle(a: Any, b: Any) -> None:
    expected = essence(a) == essence(b)
    assert same(a, b) == expected
    assert (canonical_text(a) == canonical_text(b)) == expected


@given(values, st.integers(0, 99))
def test_a_respelt_value_is_the_same(value: Any, seed: int) -> None:
    other = respelt(value, Random(seed))
    assert same(value, other)
    assert canonical_text(value) == canonical_text(other)


@given(values)
def test_the_canonical_form_is_its_own_and_a_new_value(value: Any) -> None:
    form = canonical(value)
    assert repr(canonical(form)) == repr(form)
    assert same(form, value)
    assert not isinstance(value, dict | list) or form is not value


@given(values)
def test_a_clone_is_equal_in_everything_and_shares_nothing(value: Any) -> None:
    copy = clone(value)
    assert repr(copy) == repr(value)
    assert not containers(value) & containers(copy)


def containers(value: Any) -> set[int]:
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return {id(value)}.union(*map(containers, inside))
    return set()


def test_tuples_are_read_as_lists() -> None:
    assert canonical({"a": (1, (2,))}) == {"a": [1, [2]]}


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


REFUSED = [
    (math.nan, "nan is not a JSON number"),
    (math.inf, "inf is not a JSON number"),
    (-math.inf, "-inf is not a JSON number"),
    ({1, 2}, "a set is not a JSON value"),
    (b"x", "a bytes is not a JSON value"),
    ({1: 2}, "a key is a int, not a string"),
    ({None: 2}, "a key is a NoneType, not a string"),
    ("\ud800", "half a character"),
    ("a\udfffb", "half a character"),
    ({"\ud83d": 1}, "half a character"),
    ("\ud83d\ude00", "half a character"),
    (10**5000, "is larger than"),
    (-(2**2048), "is larger than"),
    (nested(MAX_DEPTH + 1), "nested deeper than 100 levels"),
    (nested(5000), "nested deeper than 100 levels"),
]


@pytest.mark.parametrize(("value", "sentence"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_json_is_refused_with_its_place(value: Any, sentence: str) -> None:
    for work in (canonical, canonical_text, digest):
        with pytest.raises(StateError) as caught:
            work({"a/b": [0, value]})
        assert sentence in caught.value.message
        assert caught.value.where.startswith("/a~1b/1")


def test_what_is_just_allowed_is_not_refused() -> None:
    assert canonical(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    assert canonical_text(2**2048 - 1) == str(2**2048 - 1)
    assert canonical(["\ud7ff\ue000😀"]) == ["\ud7ff\ue000😀"]


def test_the_largest_integer_prints_under_the_lowest_limit_that_python_can_be_given() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(sys.int_info.str_digits_check_threshold)
    try:
        assert len(canonical_text(2**2048 - 1)) == 617
    finally:
        sys.set_int_max_str_digits(limit)


def test_values_too_deep_to_compare_or_copy_are_an_error_and_no_crash() -> None:
    for work in (lambda: same(nested(50_000), nested(50_000)), lambda: clone(nested(50_000))):
        with pytest.raises(StateError, match="nested deeper"):
            work()


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(StateError, match="nested deeper"):
        canonical(loop)
    with pytest.raises(StateError, match="nested deeper"):
        clone(loop)


@given(words)
def test_strings_are_exact(text: str) -> None:
    assert canonical(text) == text
    assert not same(text, text + " ")
