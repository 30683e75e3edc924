"""What strict comparison rests on: declared null defaults and log tables."""

from __future__ import annotations

from random import Random

import hotel
from hotel import CONVENTIONS, INITIAL, Plain, book, form, plain, state
from hypothesis import given
from hypothesis import strategies as st

from multigold.state.database import Database, EndState
from multigold.state.delta import diff
from multigold.state.equivalence import (
    comparable,
)

seeds = st.integers(0, 999)


def one_booking() -> Plain:
    data = plain()
    book(data, "NEW1", "ada", 1)
    return data


def two_bookings() -> Plain:
    data = one_booking()
    book(data, "NEW2", "ada", 2)
    return data


def fit(data: Plain) -> EndState:
    return comparable(state(data), INITIAL, CONVENTIONS)


def test_a_declared_null_default_may_be_null_or_absent() -> None:
    spelt, left_out = one_booking(), one_booking()
    spelt["bookings"]["NEW1"]["status"] = None
    del left_out["bookings"]["OLD1"]["status"]
    spelt["bookings"]["OLD2"]["status"] = None
    assert state(spelt) != state(left_out)
    assert fit(spelt) == fit(left_out) == fit(one_booking())


def test_a_change_elsewhere_in_the_record_brings_no_null_into_the_delta() -> None:
    data = plain()
    for key in ("OLD1", "OLD2"):
        data["bookings"][key]["room"] = 9
    del data["bookings"]["OLD1"]["status"]
    data["bookings"]["OLD2"]["status"] = None
    assert list(diff(INITIAL, fit(data))) == ["/agent/bookings/OLD1/room", "/agent/bookings/OLD2/room"]


def test_a_value_in_place_of_the_null_is_a_difference_and_so_is_a_null_that_is_not_declared() -> None:
    for field, value in (("status", "cancelled"), ("status", False), ("remark", None)):
        data = plain()
        data["bookings"]["OLD2"][field] = value
        assert fit(data) != INITIAL
        assert fit(data) == state(data)


def test_log_tables_are_as_they_started() -> None:
    data = plain()
    data["looked_at"] = {"b": 2}
    assert fit(data) == INITIAL
    del data["looked_at"]
    assert comparable(EndState(Database.from_json(data)), INITIAL, CONVENTIONS) == INITIAL


@given(hotel.stays(), seeds)
def test_the_comparable_form_is_idempotent_and_respects_equality(data: Plain, seed: int) -> None:
    random = Random(seed)
    for record in data["bookings"].values():
        if random.random() < 0.5:
            record["status"] = random.choice([None, "cancelled"])
    once = fit(data)
    assert comparable(once, INITIAL, CONVENTIONS) == once
    assert comparable(EndState(Database.from_json(data)), INITIAL, CONVENTIONS) == once


def test_comparing_states_from_elsewhere_costs_no_second_walk() -> None:
    """Whatever root a state came on, its comparable and normal forms are overlays on the initial state's root."""
    elsewhere = EndState(Database.from_json(two_bookings()))
    for made in (comparable(elsewhere, INITIAL, CONVENTIONS), form(elsewhere, "unordered")):
        assert len(list(made.agent.touched(INITIAL.agent))) == 3
