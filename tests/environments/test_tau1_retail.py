"""tau-bench v1's retail tools on a made-up shop, and tau2's golds on v1's own shards."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tiny_retail import ADDRESS, tables

from multigold.benchmark_data import load_environment
from multigold.environments.replay import Replay, replay
from multigold.environments.tau1_retail import build
from multigold.model.task import ToolCall
from multigold.state.database import Database

ENVIRONMENT = build(Database.from_json(tables()))
PLACE = {name: f"new {name}" for name in ADDRESS}


def run(*calls: tuple[str, dict[str, Any]]) -> Replay:
    return replay(ENVIRONMENT, [ToolCall(name, arguments) for name, arguments in calls])


def order(done: Replay, name: str) -> Any:
    return done.end_state.agent.get("orders", name)


def balance(done: Replay, user: str, card: str) -> float:
    value: float = done.end_state.agent.get("users", user)["payment_methods"][card]["balance"]
    return value


def modify(order_id: str, old: list[str], new: list[str], method: str) -> tuple[str, dict[str, Any]]:
    arguments = {"order_id": order_id, "item_ids": old, "new_item_ids": new, "payment_method_id": method}
    return "modify_pending_order_items", arguments


def test_there_are_sixteen_tools_of_which_seven_write() -> None:
    assert len(ENVIRONMENT.tools) == 16
    assert Counter(tool.kind for tool in ENVIRONMENT.tools.values())["write"] == 7


@pytest.mark.parametrize(
    "call",
    [
        ("cancel_pending_order", {"order_id": "#D", "reason": "no longer needed"}),
        ("cancel_pending_order", {"order_id": "#P", "reason": "bored"}),
        modify("#P", ["cup-s"], ["cup-x"], "card_u"),
        modify("#P", ["cup-s"], ["cup-m", "cup-l"], "card_u"),
        modify("#P", ["cup-s"], ["cup-m"], "card_v"),
        ("modify_pending_order_payment", {"order_id": "#P", "payment_method_id": "card_u"}),
        ("modify_pending_order_address", {"order_id": "#D", **PLACE}),
        ("return_delivered_order_items", {"order_id": "#D", "item_ids": ["hat-r"], "payment_method_id": "gift_u"}),
        ("find_user_id_by_email", {"email": None}),
    ],
)
def test_a_refusal_is_a_text_that_begins_with_error_and_changes_nothing(call: tuple[str, dict[str, Any]]) -> None:
    done = run(call)
    assert done.outcomes[0].refusal is not None
    assert done.outcomes[0].refusal.message.startswith("Error: ")
    assert done.end_state == ENVIRONMENT.initial


def test_each_item_gets_the_price_and_options_of_its_own_variant() -> None:
    done = run(modify("#P", ["cup-s", "hat-r"], ["cup-m", "hat-b"], "card_u"))
    assert [(item["item_id"], item["price"]) for item in order(done, "#P")["items"]] == [
        ("cup-m", 15.15),
        ("cup-l", 20.2),
        ("hat-b", 25.25),
    ]
    assert order(done, "#P")["status"] == "pending (item modified)"


def test_the_sum_of_differences_is_not_rounded_and_moves_a_gift_card_in_whole_cents() -> None:
    difference = (15.15 - 10.1) + (25.25 - 30.3)
    done = run(modify("#P", ["cup-s", "hat-r"], ["cup-m", "hat-b"], "gift_u"))
    entry = order(done, "#P")["payment_history"][-1]
    assert entry["amount"] == abs(difference)
    assert entry["transaction_type"] == ("payment" if difference > 0 else "refund")
    before = tables()["users"]["uma"]["payment_methods"]["gift_u"]["balance"]
    assert balance(done, "uma", "gift_u") == round(before - difference, 2)


def test_an_item_may_be_exchanged_for_itself_as_a_refund_of_nothing() -> None:
    done = run(modify("#P", ["cup-s"], ["cup-s"], "card_u"))
    assert order(done, "#P")["payment_history"][-1]["transaction_type"] == "refund"
    assert order(done, "#P")["payment_history"][-1]["amount"] == 0


def test_an_order_whose_items_were_modified_is_no_longer_pending_for_any_tool() -> None:
    first = modify("#P", ["cup-s"], ["cup-m"], "card_u")
    later = [
        ("modify_pending_order_address", {"order_id": "#P", **PLACE}),
        ("modify_pending_order_payment", {"order_id": "#P", "payment_method_id": "gift_u"}),
        ("cancel_pending_order", {"order_id": "#P", "reason": "no longer needed"}),
    ]
    assert [index for index, _ in run(first, *later).refusals] == [1, 2, 3]


def test_a_cancellation_refunds_every_payment_and_credits_gift_cards_at_once() -> None:
    done = run(("cancel_pending_order", {"order_id": "#G", "reason": "ordered by mistake"}))
    assert [e["transaction_type"] for e in order(done, "#G")["payment_history"]] == ["payment", "refund"]
    assert (order(done, "#G")["status"], order(done, "#G")["cancel_reason"]) == ("cancelled", "ordered by mistake")
    before = tables()["users"]["vic"]["payment_methods"]["gift_v"]["balance"]
    assert balance(done, "vic", "gift_v") == round(before + 30.3, 2)


def test_addresses_are_replaced_as_given() -> None:
    odd = {**PLACE, "zip": 10001}
    done = run(
        ("modify_pending_order_address", {"order_id": "#P", **odd}),
        ("modify_user_address", {"user_id": "uma", **odd}),
    )
    assert order(done, "#P")["address"] == odd
    assert done.end_state.agent.get("users", "uma")["address"] == odd


def test_exchange_and_return_note_what_is_asked_for_in_sorted_order() -> None:
    exchange = {
        "order_id": "#D",
        "item_ids": ["cup-s", "cup-s"],
        "new_item_ids": ["cup-m", "cup-l"],
        "payment_method_id": "card_u",
    }
    noted = order(run(("exchange_delivered_order_items", exchange)), "#D")
    assert noted["exchange_new_items"] == ["cup-l", "cup-m"]
    assert noted["exchange_price_difference"] == round(15.15 - 10.1 + 20.2 - 10.1, 2)
    returned = {"order_id": "#D", "item_ids": ["cup-s"], "payment_method_id": "gift_u"}
    assert order(run(("return_delivered_order_items", returned)), "#D")["status"] == "return requested"


def test_the_shards_of_a_checkout_are_one_database(shared: Path) -> None:
    loaded = load_environment("tau1-retail", data_dir=shared / "data" / "tau1")
    assert loaded.initial.agent.tables() == ["orders", "products", "users"]
    assert len(loaded.data_digest) == 64
