"""Retail's invariants hold of what single sensible calls do, and name what is wrong where something is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tiny_retail import cancel, environment, exchange, give_back, modify, readdress, repay

from multigold.environments.replay import replay
from multigold.environments.retail.invariants import INVARIANTS
from multigold.model.task import ToolCall
from multigold.state.database import Draft, EndState

SHOP = environment()
GOOD = {
    "cancel": [cancel()],
    "cancel by gift card": [cancel("#G")],
    "modify one item": [modify(["cup-s"], ["cup-m"])],
    "modify by gift card": [modify(["cup-l"], ["cup-s"], "gift_u")],
    "modify two items to the same variant": [modify(["cup-s", "cup-l"], ["cup-m", "cup-m"])],
    "exchange": [exchange(["cup-s", "cup-s"], ["cup-l", "cup-m"])],
    "return": [give_back(["cup-s"])],
    "pay otherwise": [repay("card_v", "#G")],
    "another address": [readdress(city="Bonn")],
    "address and items": [readdress(city="Bonn"), modify(["cup-s"], ["cup-m"])],
    "nothing": [],
}


def faults(end: EndState) -> dict[str, list[str]]:
    found = {name: list(invariant(SHOP.initial, end)) for name, invariant in INVARIANTS.items()}
    return {name: sentences for name, sentences in found.items() if sentences}


@pytest.mark.parametrize("calls", GOOD.values(), ids=GOOD.keys())
def test_what_sensible_calls_do_has_no_fault(calls: list[ToolCall]) -> None:
    done = replay(SHOP, calls)
    assert done.refusals == ()
    assert faults(done.end_state) == {}


def test_the_multi_item_fault_of_the_tool_is_named() -> None:
    end = replay(SHOP, [modify(["cup-s", "hat-r"], ["cup-m", "hat-b"])]).end_state
    assert faults(end).keys() == {"items-are-variants", "payments-add-up"}


def _edit_order(**fields: Any) -> Callable[[Draft], None]:
    return lambda draft: draft.edit("orders", "#P").update(fields)


def _pay_more(draft: Draft) -> None:
    draft.edit("orders", "#P")["payment_history"][0]["amount"] = 70.0


def _keep_balance(draft: Draft) -> None:
    draft.edit("users", "uma")["payment_methods"]["gift_u"]["balance"] = 1.0


def _lose_card(draft: Draft) -> None:
    del draft.edit("users", "uma")["payment_methods"]["gift_u"]


def _unknown_item(draft: Draft) -> None:
    draft.edit("orders", "#P")["items"][0]["item_id"] = "cup-q"


def _other_options(draft: Draft) -> None:
    order = draft.edit("orders", "#P")
    order["items"][0]["options"] = {"kind": "l"}
    order["status"] = "pending (item modified)"


def _ask_exchange(draft: Draft, *, wanted: list[str], difference: float) -> None:
    draft.edit("orders", "#D").update(
        status="exchange requested",
        exchange_items=["cup-s"],
        exchange_new_items=wanted,
        exchange_payment_method_id="card_u",
        exchange_price_difference=difference,
    )


BAD: dict[str, tuple[Callable[[Draft], None], set[str]]] = {
    "paid too much": (_pay_more, {"payments-add-up"}),
    "a balance that moved for nothing": (_keep_balance, {"gift-cards-follow-payments"}),
    "a gift card that is gone": (_lose_card, {"gift-cards-follow-payments"}),
    "an item of no variant": (_unknown_item, {"items-are-variants", "statuses-fit"}),
    "options of another variant": (_other_options, {"items-are-variants"}),
    "cancelled without a refund": (
        _edit_order(status="cancelled", cancel_reason="no longer needed"),
        {"payments-add-up"},
    ),
    "a move that no tool makes": (_edit_order(status="delivered"), {"statuses-fit"}),
    "a reason without a cancellation": (_edit_order(cancel_reason="no longer needed"), {"statuses-fit"}),
    "an order that is gone": (lambda draft: draft.remove("orders", "#P"), {"statuses-fit"}),
    "an exchange at another price": (
        lambda draft: _ask_exchange(draft, wanted=["cup-m"], difference=1.0),
        {"requests-fit"},
    ),
    "an exchange for another product": (
        lambda draft: _ask_exchange(draft, wanted=["hat-b"], difference=1.0),
        {"requests-fit"},
    ),
}


@pytest.mark.parametrize(("change", "names"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_named(change: Callable[[Draft], None], names: set[str]) -> None:
    draft = SHOP.initial.agent.draft()
    change(draft)
    assert faults(EndState(draft.freeze())).keys() == names


def test_a_cancellation_for_no_known_reason_and_a_return_of_foreign_items_are_named() -> None:
    cancelled = replay(SHOP, [cancel()]).end_state.agent.draft()
    cancelled.edit("orders", "#P")["cancel_reason"] = "boredom"
    assert faults(EndState(cancelled.freeze())).keys() == {"statuses-fit"}
    returned = replay(SHOP, [give_back(["cup-s"])]).end_state.agent.draft()
    returned.edit("orders", "#D")["return_items"] = ["hat-r"]
    assert faults(EndState(returned.freeze())).keys() == {"requests-fit"}
