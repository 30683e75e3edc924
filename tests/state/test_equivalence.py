"""Equivalences: their laws, what each does, and the cases they were made for."""

from __future__ import annotations

from random import Random
from typing import Any

import hotel
import pytest
from hotel import CONVENTIONS, INITIAL, Plain, alike, book, form, give, plain, state
from hypothesis import example, given
from hypothesis import strategies as st
from state_values import essence, respelt

from multigold.errors import CallError, StateError
from multigold.state.database import Database, EndState
from multigold.state.delta import diff
from multigold.state.equivalence import (
    EQUIVALENCES,
    Conventions,
    PaymentLog,
    check_names,
    comparable,
    normal_form,
)

seeds = st.integers(0, 999)
combinations = hotel.combinations_of_equivalences


# Laws


@given(hotel.stays(), combinations, combinations)
def test_a_normal_form_is_its_own_normal_form_and_that_of_more_equivalences_its_start(
    data: Plain, names: tuple[str, ...], more: tuple[str, ...]
) -> None:
    once = form(data, *names)
    assert form(once, *names) == once
    assert form(once, *names, *more) == form(data, *names, *more)


@given(hotel.stays(), combinations, seeds)
def test_equal_states_have_equal_normal_forms_whatever_their_root_and_spelling(
    data: Plain, names: tuple[str, ...], seed: int
) -> None:
    """Law 6: turning an equivalence on never unmatches anything."""
    elsewhere = EndState(Database.from_json(respelt(data, Random(seed))))
    assert state(data) == elsewhere
    assert form(data, *names) == form(elsewhere, *names)


@given(hotel.stays(), combinations, combinations, seeds)
def test_what_is_equivalent_stays_so_with_more_equivalences(
    data: Plain, names: tuple[str, ...], more: tuple[str, ...], seed: int
) -> None:
    other = Random(seed).choice(hotel.all_relabellings(data))
    if alike(data, other, *names):
        assert alike(data, other, *names, *more)


@given(hotel.stays(), combinations)
def test_a_normal_form_changes_neither_the_state_nor_the_initial_one(data: Plain, names: tuple[str, ...]) -> None:
    end, before = state(data), repr(INITIAL.agent.to_json())
    normal_form(end, INITIAL, names, CONVENTIONS)
    assert essence(end.agent.to_json()) == essence(data)
    assert repr(INITIAL.agent.to_json()) == before


@given(combinations)
def test_the_initial_state_is_its_own_normal_form(names: tuple[str, ...]) -> None:
    assert form(INITIAL, *names) == INITIAL


@given(hotel.stays(), st.booleans(), seeds)
def test_touching_a_record_without_changing_it_makes_no_difference(data: Plain, minted: bool, seed: int) -> None:
    names = ("minted-ids", "unordered") if minted else ("unordered", "net-payments")
    touched = state(data).agent.draft()
    touched.put("bookings", "OLD1", respelt(touched.get("bookings", "OLD1"), Random(seed)))
    assert form(EndState(touched.freeze()), *names) == form(data, *names)


# Unordered lists


def test_declared_lists_are_sorted_by_canonical_text_from_the_inside_out_and_others_are_not() -> None:
    data = plain()
    book(data, "NEW1", "ada", 1, ("cash", 2), ("V9", 1), people=[["Zoe", "Ada"], ["Bob"]])
    other = plain()
    book(other, "NEW1", "ada", 1, ("cash", 2), ("V9", 1), people=[["Bob"], ["Ada", "Zoe"]])
    assert state(data) != state(other)
    assert alike(data, other, "unordered")
    record = form(data, "unordered").agent.get("bookings", "NEW1")
    assert record["people"] == [{"names": ["Ada", "Zoe"]}, {"names": ["Bob"]}]
    assert [entry["by"] for entry in record["paid"]] == ["cash", "V9"]
    other["bookings"]["NEW1"]["paid"].reverse()
    assert not alike(data, other, "unordered")


def test_a_list_that_is_missing_something_is_not_the_same_unordered() -> None:
    data, other = plain(), plain()
    data["guests"]["ada"]["bookings"] = ["OLD1", "OLD2", "OLD2"]
    other["guests"]["ada"]["bookings"] = ["OLD1", "OLD2", "OLD1"]
    assert not alike(data, other, "unordered")


def test_a_record_that_only_changed_its_order_is_the_initial_one() -> None:
    data = plain()
    data["bookings"]["OLD1"]["people"][0]["names"].reverse()
    assert state(data) != INITIAL
    assert form(data, "unordered") == INITIAL
    assert not diff(INITIAL, form(data, "unordered"))


# Payments


def paid(*entries: tuple[str, float]) -> Plain:
    data = plain()
    data["bookings"]["OLD2"]["paid"] += [{"by": by, "amount": amount} for by, amount in entries]
    return data


def test_payments_are_netted_per_method_and_what_nets_to_nothing_is_dropped() -> None:
    data = paid(("card", 0.1), ("gift", 5), ("card", 0.2), ("gift", -5.0), ("card", -0.3), ("cash", 2.5))
    assert form(data, "net-payments").agent.get("bookings", "OLD2")["paid"] == [{"by": "cash", "amount": 10.5}]
    assert form(paid(("card", 1), ("card", -1)), "net-payments") == INITIAL


def test_netting_adds_amounts_as_they_are_written_in_any_order() -> None:
    amounts = [0.1, 0.2, 0.3, 71.96, 1e-9, 1e300, -1e300]
    forms = [form(paid(*(("card", amount) for amount in order)), "net-payments") for order in (amounts, amounts[::-1])]
    assert forms[0] == forms[1]
    assert forms[0].agent.get("bookings", "OLD2")["paid"] == [
        {"by": "card", "amount": 72.560000001},
        {"by": "cash", "amount": 8},
    ]


@example([("a", 1.7e308), ("a", 1.7e308), ("a", 0.5)])
@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(-1e6, 1e6) | st.integers(-3, 3))))
def test_netting_is_idempotent_and_forgets_the_order(entries: list[tuple[str, float]]) -> None:
    once = form(paid(*entries), "net-payments")
    assert form(once, "net-payments") == once
    if entries != [("a", 1.7e308), ("a", 1.7e308), ("a", 0.5)]:  # a sum that no JSON number can be stays a log
        assert form(paid(*sorted(entries)), "net-payments") == once


def test_entries_that_differ_in_more_than_the_amount_stay_apart() -> None:
    data = plain()
    data["bookings"]["OLD2"]["paid"] += [
        {"by": "cash", "amount": 1, "note": "tip"},
        {"by": "cash", "amount": -1, "note": "back"},
    ]
    assert form(data, "net-payments").agent.get("bookings", "OLD2")["paid"] == [
        {"by": "cash", "amount": -1, "note": "back"},
        {"by": "cash", "amount": 1, "note": "tip"},
        {"by": "cash", "amount": 8},
    ]


def test_entries_are_netted_that_differ_in_the_order_of_an_unordered_list_alone() -> None:
    conventions = Conventions(
        payment_logs=(PaymentLog("orders/*/log", method="by"),), unordered=("orders/*/log/*/for",)
    )
    entries = [{"by": "card", "amount": 1, "for": ["a", "b"]}, {"by": "card", "amount": 2, "for": ["b", "a"]}]
    end = EndState(Database.from_json({"orders": {"o": {"log": entries}}}))
    form = normal_form(end, EndState(Database.from_json({})), ["unordered", "net-payments"], conventions)
    assert form.agent.get("orders", "o")["log"] == [{"by": "card", "amount": 3, "for": ["a", "b"]}]


ODD_ENTRIES: list[Any] = ["cash", {"by": 1, "amount": 1}, {"by": "cash"}, {"by": "cash", "amount": True}, {"amount": 1}]


@pytest.mark.parametrize("odd", ODD_ENTRIES)
def test_a_log_that_holds_what_is_no_payment_is_left_as_it_is(odd: Any) -> None:
    data = paid(("cash", 1), ("cash", -1))
    data["bookings"]["OLD2"]["paid"].append(odd)
    assert form(data, "net-payments") == state(data)


def test_a_log_can_say_in_words_which_way_the_money_went() -> None:
    log = PaymentLog("orders/*/log", method="method", direction="type")
    conventions = Conventions(payment_logs=(log,))
    initial = EndState(Database.from_json({}))

    def orders(*entries: tuple[str, str, float]) -> EndState:
        records = [{"type": kind, "method": method, "amount": amount} for kind, method, amount in entries]
        end = EndState(Database.from_json({"orders": {"o": {"log": records}}}))
        return normal_form(end, initial, ["net-payments"], conventions)

    first = orders(("payment", "a", 10), ("payment", "b", 4), ("refund", "a", 10))
    assert first == orders(("payment", "b", 4))
    assert first != orders(("refund", "b", 4))
    assert normal_form(first, initial, ["net-payments"], conventions) == first
    unknown = orders(("payment", "b", 4), ("chargeback", "a", 10))
    assert len(unknown.agent.get("orders", "o")["log"]) == 2


# Cases from people who do this work, in miniature


def test_case_1_two_changes_and_one_change_with_the_same_balance_differ_in_the_log_alone() -> None:
    two, one = paid(("card", 396), ("card", -510)), paid(("card", -114))
    assert list(diff(state(two), state(one))) == ["/agent/bookings/OLD2/paid"]
    assert alike(two, one, "net-payments")
    assert not alike(two, one, "minted-ids", "unordered")
    assert not alike(two, paid(("cash", -114)), "net-payments")


def case_2(*order: int) -> Plain:
    data = plain()
    del data["guests"]["ada"]["vouchers"]["V9"]
    for number, room in enumerate(order, start=1):
        book(data, f"NEW{number}", "ada", room, ("cash", 10 * room), people=[["Ada"], [f"Guest {room}"]])
    return data


def test_case_2_the_same_bookings_in_another_order() -> None:
    first, other = case_2(1, 2, 3), case_2(3, 2, 1)
    assert state(first) != state(other)
    assert not alike(first, other, "minted-ids")  # the guest's list of bookings still has the order
    assert not alike(first, other, "unordered")
    assert alike(first, other, "minted-ids", "unordered")
    assert not alike(first, case_2(3, 2, 2), "minted-ids", "unordered")


def test_case_3_payment_methods_in_another_order_differ_in_the_log_alone() -> None:
    first, other = plain(), plain()
    book(first, "NEW1", "ada", 1, ("cash", 3), ("V9", 9))
    book(other, "NEW1", "ada", 1, ("V9", 9), ("cash", 3))
    assert list(diff(state(first), state(other))) == ["/agent/bookings/NEW1/paid"]
    assert not alike(first, other, "minted-ids", "unordered")


def vouchers(*worths: tuple[str, float]) -> Plain:
    data = plain()
    for guest, worth in worths:
        count = sum(key in ("V1", "V2", "V3") for key in data["guests"][guest]["vouchers"])
        give(data, f"V{count + 1}", guest, worth)
    return data


def test_case_4_two_vouchers_in_either_order() -> None:
    one_guest = vouchers(("ada", 50), ("ada", 100)), vouchers(("ada", 100), ("ada", 50))
    assert state(one_guest[0]) != state(one_guest[1])
    assert alike(*one_guest, "minted-ids")
    assert not alike(one_guest[0], vouchers(("ada", 50), ("ada", 50)), "minted-ids")
    assert state(vouchers(("ada", 50), ("bob", 100))) == state(vouchers(("bob", 100), ("ada", 50)))


def test_case_4_a_voucher_that_is_spent_already_is_renamed_where_it_is_mentioned() -> None:
    def spent(first: str, second: str) -> Plain:
        data = plain()
        give(data, second, "ada", 100)
        book(data, "NEW1", "ada", 1, (first, 50))
        return data

    assert state(spent("V1", "V2")) != state(spent("V2", "V1"))
    assert alike(spent("V1", "V2"), spent("V2", "V1"), "minted-ids")


def test_cases_5_and_6_number_spelling_makes_no_difference_and_fractions_do() -> None:
    assert state(vouchers(("ada", 50))) == state(vouchers(("ada", 50.0)))
    assert not alike(vouchers(("ada", 2500.5)), vouchers(("ada", 2500)), *EQUIVALENCES)


# What is asked for


def test_names_come_in_a_fixed_order_each_once() -> None:
    assert check_names(["unordered", "minted-ids", "unordered"]) == ("minted-ids", "unordered")
    assert check_names([]) == ()


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    for work in (lambda: check_names(["sorted"]), lambda: form(plain(), "sorted")):
        with pytest.raises(CallError, match=r"no equivalence 'sorted'.*minted-ids, unordered, net-payments"):
            work()


def test_without_names_a_state_is_left_alone() -> None:
    end = state(case_2(1, 2))
    assert form(end) is end


def test_a_domain_that_declares_nothing_has_no_equivalences() -> None:
    end = state(case_2(1, 2))
    assert normal_form(end, INITIAL, list(EQUIVALENCES), Conventions()) == end


@pytest.mark.parametrize("names", [(), ("unordered",)])
def test_a_table_may_give_way_to_a_value_and_a_value_to_a_table(names: tuple[str, ...]) -> None:
    table, value = EndState(Database.from_json({"t": {"1": {}, "2": {}}})), EndState(Database.from_json({"t": [1]}))
    logs = Conventions(log_tables=("log",), null_defaults={"t": ("gone",)})
    new = EndState(Database.from_json({"t": {"1": {"gone": None}}}))
    for before, after in ((table, value), (value, table)):
        assert normal_form(after, before, names, CONVENTIONS) == after
        assert comparable(after, before, logs) == after
    assert comparable(new, value, logs) == EndState(Database.from_json({"t": {"1": {}}}))


def test_the_users_side_is_left_as_it_is() -> None:
    user = Database.from_json({"guests": {"ada": {"bookings": ["b", "a"]}}})
    assert form(EndState(state(case_2(1)).agent, user=user), *EQUIVALENCES).user is user


def test_records_too_deep_to_be_rewritten_are_an_error_and_no_crash() -> None:
    value: Any = "x"
    for _ in range(50_000):
        value = [value]
    data = Database.adopt({**plain(), "bookings": {"NEW1": {"people": [value]}}})
    with pytest.raises(StateError, match="nested deeper"):
        form(EndState(data), "unordered")
