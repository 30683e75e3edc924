"""Declared field types: what is stored for what was given, by a table of our own and by pydantic where it is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multigold.environments.coercion import FieldType, integer, literal, model, number, text
from multigold.environments.tools import RefusalError

NO_BREAK = "\u00a0"
ARABIC_FIVE = "\u0665"
REFUSED = object()


def taken(field_type: FieldType, value: Any) -> Any:
    try:
        return field_type(value)
    except RefusalError:
        return REFUSED


def kind_and_text(value: Any) -> tuple[str, str]:
    return ("refused", "") if value is REFUSED else (type(value).__name__, repr(value))


@pytest.mark.parametrize(
    ("value", "as_integer", "as_number"),
    [
        (5, 5, 5.0),
        (5.0, 5, 5.0),
        (True, 1, 1.0),
        (5.5, REFUSED, 5.5),
        (-0.0, 0, -0.0),
        (2**70, 2**70, float(2**70)),
        (10**400, 10**400, REFUSED),
        (float(2**62), 2**62, float(2**62)),
        (float(2**63), REFUSED, float(2**63)),
        (float("inf"), REFUSED, float("inf")),
        ("5", 5, 5.0),
        (f" {NO_BREAK}5\n", 5, 5.0),
        ("\x1c5", REFUSED, REFUSED),
        ("+5", 5, 5.0),
        ("-5.00", -5, -5.0),
        ("5.", REFUSED, 5.0),
        (".5", REFUSED, 0.5),
        ("5e1", REFUSED, 50.0),
        ("1_000", 1000, 1000.0),
        (" 1_000", 1000, REFUSED),
        ("1__0", REFUSED, REFUSED),
        ("_1", REFUSED, REFUSED),
        ("007", 7, 7.0),
        ("0-5", -5, REFUSED),
        ("--5", REFUSED, REFUSED),
        ("0x10", REFUSED, REFUSED),
        (ARABIC_FIVE, REFUSED, REFUSED),
        ("Infinity", REFUSED, float("inf")),
        ("9" * 4300, int("9" * 4300), float("inf")),
        ("9" * 4301, REFUSED, float("inf")),
        ("0" * 5000 + "1", 1, 1.0),
        ("", REFUSED, REFUSED),
        ("five", REFUSED, REFUSED),
        (None, REFUSED, REFUSED),
        ([], REFUSED, REFUSED),
        ([5], REFUSED, REFUSED),
        ({}, REFUSED, REFUSED),
    ],
)
def test_numbers_are_taken_from_what_spells_them(value: Any, as_integer: Any, as_number: Any) -> None:
    assert kind_and_text(taken(integer, value)) == kind_and_text(as_integer)
    assert kind_and_text(taken(number, value)) == kind_and_text(as_number)


@pytest.mark.parametrize("value", ["", " x ", "5", "é", "\ud800"])
def test_a_string_is_taken_as_it_is(value: str) -> None:
    assert text(value) is value


@pytest.mark.parametrize("value", [5, 5.0, True, None, [], {}, ["x"]])
def test_nothing_else_becomes_a_string(value: Any) -> None:
    assert taken(text, value) is REFUSED


@pytest.mark.parametrize(
    ("value", "result"), [("a", "a"), ("A", REFUSED), (" a", REFUSED), (["a"], REFUSED), (1, REFUSED)]
)
def test_a_literal_takes_its_own_strings_only(value: Any, result: Any) -> None:
    assert taken(literal("a", "b"), value) == result


POINT = model({"x": integer, "name": text})


def test_a_model_keeps_declared_fields_in_the_declared_order() -> None:
    assert list(POINT({"z": 1, "name": "n", "x": "3"}).items()) == [("x", 3), ("name", "n")]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"x": 1}, "the field name is missing"),
        ({"x": 1, "name": None}, "a string is needed, not None"),
        ([("x", 1)], "an object is needed, not a list"),
        (None, "an object is needed, not None"),
    ],
)
def test_a_model_refuses_what_does_not_fit_and_says_so(value: Any, message: str) -> None:
    with pytest.raises(RefusalError, match=message):
        POINT(value)


def test_a_message_stays_on_one_line_however_long_the_value() -> None:
    with pytest.raises(RefusalError) as caught:
        integer("x\n" * 10_000)
    assert len(str(caught.value)) < 120
    assert "\n" not in str(caught.value)


PIECES = (
    *"01234590__..+--eE \t\x1c\x85\ufeff\ud800x", NO_BREAK, ARABIC_FIVE, "inf", "nan", "Infinity", "000", ".0", ".00",
)  # fmt: skip
SPELLINGS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
VALUES = st.one_of(
    SPELLINGS,
    st.integers(),
    st.integers(-(2**70), 2**70).map(float),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


def pydantic_reader(annotation: Any) -> Callable[[Any], Any]:
    pydantic = pytest.importorskip("pydantic", reason="pydantic, whose rules these are, comes with the tau2 extra")
    adapter = pydantic.TypeAdapter(annotation)

    def read(value: Any) -> Any:
        try:
            return adapter.validate_python(value)
        except pydantic.ValidationError:
            return REFUSED

    return read


@pytest.mark.parametrize(("annotation", "field_type"), [(int, integer), (float, number), (str, text)])
def test_every_value_is_taken_as_pydantic_takes_it(annotation: Any, field_type: FieldType) -> None:
    read = pydantic_reader(annotation)

    @given(VALUES)
    def agree(value: Any) -> None:
        assert kind_and_text(taken(field_type, value)) == kind_and_text(read(value))

    agree()


@pytest.mark.parametrize("sign", ["", "-", "+", "0-", "000"])
@pytest.mark.parametrize("length", [4298, 4299, 4300, 4301, 4302])
def test_the_longest_integer_is_the_one_that_pydantic_takes(sign: str, length: int) -> None:
    read = pydantic_reader(int)
    for digit in "09":
        for tail in ("", ".0", "_1"):
            value = sign + digit * length + tail
            assert taken(integer, value) == read(value)
