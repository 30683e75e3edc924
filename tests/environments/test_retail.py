"""tau2's retail domain on a made-up shop: what each tool does, answers and refuses. Needs no data and no tau2."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from tiny_retail import (
    ADDRESS,
    SOLD_OUT,
    cancel,
    environment,
    exchange,
    give_back,
    modify,
    readdress,
    repay,
    tables,
)

from multigold.environments.replay import Replay, replay
from multigold.environments.retail.queries import OPTIONAL_FIELDS
from multigold.model.task import ToolCall
from multigold.state.canonical import same
from multigold.state.delta import diff

SHOP = environment()


def run(*calls: ToolCall) -> Replay:
    return replay(SHOP, calls)


def succeed(*calls: ToolCall) -> Replay:
    done = run(*calls)
    assert done.refusals == ()
    return done


def order(done: Replay, order_id: str = "#P") -> Any:
    return done.end_state.agent.get("orders", order_id)


def balance(done: Replay, user: str = "uma", card: str = "gift_u") -> float:
    return float(done.end_state.agent.get("users", user)["payment_methods"][card]["balance"])


def history(done: Replay, order_id: str = "#P") -> list[tuple[str, float, str]]:
    entries = order(done, order_id)["payment_history"]
    return [(e["transaction_type"], e["amount"], e["payment_method_id"]) for e in entries]


def test_there_are_fifteen_tools_of_which_seven_write() -> None:
    kinds = [tool.kind for tool in SHOP.tools.values()]
    assert {kind: kinds.count(kind) for kind in sorted(set(kinds))} == {"generic": 2, "read": 6, "write": 7}
    assert not SHOP.user_tools


# Looking up


def test_an_order_is_shown_with_null_for_what_was_not_asked_for() -> None:
    shown = succeed(ToolCall("get_order_details", {"order_id": "#P"})).outcomes[0].observation
    assert shown == {**tables()["orders"]["#P"], **dict.fromkeys(OPTIONAL_FIELDS)}


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("find_user_id_by_email", {"email": "UMA@example.com"}, "uma"),
        ("find_user_id_by_name_zip", {"first_name": "vIC", "last_name": "ito", "zip": "10001"}, "vic"),
        ("list_all_product_types", {}, '{"Cup": "cup", "Hat": "hat"}'),
        ("calculate", {"expression": "2 * (3 + 4)"}, "14.0"),
        ("transfer_to_human_agents", {"summary": "help"}, "Transfer successful"),
    ],
)
def test_reads_answer(name: str, arguments: dict[str, Any], answer: str) -> None:
    assert succeed(ToolCall(name, arguments)).outcomes[0].observation == answer


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("get_order_details", {"order_id": "P"}),
        ToolCall("get_order_details", {"order_id": ["#P"]}),
        ToolCall("get_product_details", {"product_id": "cup-s"}),
        ToolCall("get_user_details", {"user_id": "Uma"}),
        ToolCall("find_user_id_by_email", {"email": None}),
        ToolCall("find_user_id_by_email", {"email": "nobody@example.com"}),
        ToolCall("find_user_id_by_name_zip", {"first_name": "Uma", "last_name": "Ito", "zip": 10001}),
    ],
)
def test_what_is_not_there_is_refused(call: ToolCall) -> None:
    assert run(call).outcomes[0].refusal is not None


def test_reads_change_nothing() -> None:
    done = run(*(ToolCall(name, {}) for name, tool in SHOP.tools.items() if tool.kind != "write"))
    assert done.end_state == SHOP.initial


# Cancelling


def test_a_cancellation_refunds_every_payment_and_a_gift_card_at_once() -> None:
    done = succeed(cancel("#G"))
    assert order(done, "#G")["status"] == "cancelled"
    assert order(done, "#G")["cancel_reason"] == "no longer needed"
    assert history(done, "#G") == [("payment", 30.3, "gift_v"), ("refund", 30.3, "gift_v")]
    assert balance(done, "vic", "gift_v") == 33.3


@pytest.mark.parametrize("call", [cancel("#D"), cancel(reason="too expensive"), cancel(reason=["x"]), cancel("#X")])
def test_only_a_pending_order_is_cancelled_and_for_two_reasons(call: ToolCall) -> None:
    done = run(call)
    assert done.outcomes[0].refusal is not None
    assert done.end_state == SHOP.initial


def test_a_cancellation_that_fails_half_way_has_credited_the_gift_cards_before() -> None:
    data = tables()
    data["orders"]["#G"]["payment_history"].append(
        {"transaction_type": "payment", "amount": 1.0, "payment_method_id": "gone"}
    )
    done = replay(environment(data), [cancel("#G")])
    assert done.outcomes[0].refusal is not None
    assert balance(done, "vic", "gift_v") == 33.3
    assert order(done, "#G")["status"] == "pending"


# Modifying items


def test_one_item_gets_its_own_price_and_options_and_the_difference_is_paid() -> None:
    done = succeed(modify(["cup-s"], ["cup-m"]))
    item = order(done)["items"][0]
    assert (item["item_id"], item["price"], item["options"]) == ("cup-m", 15.15, {"kind": "m"})
    assert history(done)[1:] == [("payment", 15.15 - 10.1, "card_u")]
    assert order(done)["status"] == "pending (item modified)"


def test_several_items_all_get_price_and_options_of_the_last_variant_as_in_tau2() -> None:
    done = succeed(modify(["cup-s", "hat-r"], ["cup-m", "hat-b"]))
    changed = [(i["item_id"], i["price"], i["options"]["kind"]) for i in order(done)["items"]]
    assert changed == [("cup-m", 25.25, "b"), ("cup-l", 20.2, "l"), ("hat-b", 25.25, "b")]


def test_the_same_pairs_in_another_order_end_in_another_state() -> None:
    one = succeed(modify(["cup-s", "hat-r"], ["cup-m", "hat-b"]))
    other = succeed(modify(["hat-r", "cup-s"], ["hat-b", "cup-m"]))
    assert "/agent/orders/#P/items" in diff(one.end_state, other.end_state)


def test_differences_are_summed_as_floats_in_the_order_of_the_call_and_not_rounded() -> None:
    done = succeed(modify(["cup-s", "cup-l"], ["cup-m", "cup-m"]))
    noise = (15.15 - 10.1) + (15.15 - 20.2)
    assert noise > 0
    assert history(done)[1:] == [("payment", noise, "card_u")]


def test_a_gift_card_pays_in_whole_cents() -> None:
    done = succeed(modify(["cup-s"], ["cup-m"], "gift_u"))
    assert balance(done) == 6.95
    done = succeed(modify(["cup-l"], ["cup-s"], "gift_u"))
    assert balance(done) == 22.1


def test_a_pair_whose_new_item_is_the_next_old_one_changes_one_item_twice_as_in_tau2() -> None:
    done = succeed(modify(["cup-s", "cup-l"], ["cup-l", "cup-m"]))
    assert [item["item_id"] for item in order(done)["items"]] == ["cup-m", "cup-l", "hat-r"]


@pytest.mark.parametrize(
    "call",
    [
        modify(["cup-s"], ["cup-s"]),
        modify(["cup-s"], ["hat-b"]),
        modify(["cup-s"], [SOLD_OUT]),
        modify(["cup-s"], ["cup-m", "cup-l"]),
        modify(["cup-s", "cup-s"], ["cup-m", "cup-m"]),
        modify(["cup-m"], ["cup-l"]),
        modify(["cup-s"], ["cup-m"], "gift_v"),
        modify(["cup-s", "cup-l"], ["cup-l", "cup-m"], None),
        modify("cup-s", ["cup-m"]),
        modify(None, None),
        modify(["cup-s"], ["cup-m"], order="#D"),
    ],
)
def test_what_cannot_be_modified_is_refused_and_leaves_no_trace(call: ToolCall) -> None:
    done = run(call)
    assert done.outcomes[0].refusal is not None
    assert done.end_state == SHOP.initial


def test_items_are_modified_once_and_such_an_order_is_not_cancelled() -> None:
    done = run(modify(["cup-s"], ["cup-m"]), modify(["cup-m"], ["cup-l"]), cancel())
    assert [index for index, _ in done.refusals] == [1, 2]


def test_nothing_to_modify_is_accepted_and_writes_a_refund_of_nothing() -> None:
    done = succeed(modify([], []))
    assert history(done)[1:] == [("refund", 0.0, "card_u")]
    assert order(done)["status"] == "pending (item modified)"


def test_a_gift_card_must_cover_the_difference() -> None:
    assert run(modify(["hat-r"], ["hat-b"], "gift_u")).refusals == ()
    poor = tables()
    poor["users"]["uma"]["payment_methods"]["gift_u"]["balance"] = 5.0
    assert replay(environment(poor), [modify(["cup-s"], ["cup-m"], "gift_u")]).refusals != ()


# Modifying payment and addresses


def test_another_method_pays_and_the_first_is_refunded() -> None:
    done = succeed(repay("card_v", "#G"))
    assert history(done, "#G")[1:] == [("payment", 30.3, "card_v"), ("refund", 30.3, "gift_v")]
    assert balance(done, "vic", "gift_v") == 33.3


@pytest.mark.parametrize("call", [repay("card_u"), repay("gift_u"), repay("nope"), repay("card_u", "#D")])
def test_a_payment_is_not_modified_to_itself_nor_beyond_a_balance(call: ToolCall) -> None:
    done = run(call)
    assert done.outcomes[0].refusal is not None
    assert done.end_state == SHOP.initial


def test_a_payment_is_modified_once() -> None:
    assert [index for index, _ in run(repay("card_v", "#G"), repay("gift_v", "#G")).refusals] == [1]


def test_a_payment_whose_first_method_is_gone_fails_after_it_was_written() -> None:
    data = tables()
    data["orders"]["#P"]["payment_history"][0].update(payment_method_id="gone", amount=5.0)
    done = replay(environment(data), [repay("gift_u")])
    assert done.outcomes[0].refusal is not None
    assert len(order(done)["payment_history"]) == 3
    assert balance(done) == 7.0


def test_an_address_is_replaced_while_the_order_is_pending_in_any_way() -> None:
    done = succeed(modify(["cup-s"], ["cup-m"]), readdress(city="Bonn"))
    assert order(done)["address"] == {**ADDRESS, "city": "Bonn"}
    assert run(readdress("#D")).refusals != ()
    moved = succeed(ToolCall("modify_user_address", {"user_id": "uma", **ADDRESS, "zip": "2"}))
    assert moved.end_state.agent.get("users", "uma")["address"]["zip"] == "2"
    assert moved.end_state.agent.get("orders", "#P")["address"] == ADDRESS


def test_every_part_of_an_address_is_a_string() -> None:
    assert run(readdress(zip=10001)).refusals != ()
    assert run(ToolCall("modify_user_address", {"user_id": "uma", **ADDRESS, "address2": None})).refusals != ()


# Exchanges and returns


def test_an_exchange_notes_what_is_asked_for_sorted_with_the_difference_in_cents() -> None:
    done = succeed(exchange(["cup-s", "cup-s"], ["cup-m", "cup-l"]))
    noted = {field: order(done, "#D")[field] for field in OPTIONAL_FIELDS if field.startswith("exchange")}
    assert noted == {
        "exchange_items": ["cup-s", "cup-s"],
        "exchange_new_items": ["cup-l", "cup-m"],
        "exchange_payment_method_id": "card_u",
        "exchange_price_difference": 15.15,
    }
    assert list(diff(SHOP.initial, done.end_state)) == sorted(
        f"/agent/orders/#D/{field}" for field in (*noted, "status")
    )


def test_an_item_may_be_exchanged_for_itself_but_not_modified_to_itself() -> None:
    assert order(succeed(exchange(["cup-s"], ["cup-s"])), "#D")["exchange_price_difference"] == 0
    assert run(modify(["cup-s"], ["cup-s"])).refusals != ()


def test_a_return_goes_to_the_first_payment_or_to_a_gift_card() -> None:
    assert order(succeed(give_back(["cup-s"])), "#D")["return_items"] == ["cup-s"]
    assert run(give_back(["cup-s"], "card_u")).refusals != ()
    data = tables()
    data["orders"]["#D"]["payment_history"][0]["payment_method_id"] = "card_u"
    for method in ("card_u", "gift_u"):
        assert replay(environment(data), [give_back(["cup-s"], method)]).refusals == ()


@pytest.mark.parametrize(
    "call",
    [
        give_back(["cup-s"] * 3),
        give_back(["hat-r"]),
        give_back(["cup-s"], order="#P"),
        exchange(["cup-s"], ["hat-b"]),
        exchange(["cup-s"], [SOLD_OUT]),
        exchange(["cup-s", "cup-s"], ["cup-l", "cup-l"], "gift_u"),
        exchange(["cup-s"], []),
    ],
)
def test_what_cannot_be_exchanged_or_returned_is_refused_and_leaves_no_trace(call: ToolCall) -> None:
    done = run(call)
    assert done.outcomes[0].refusal is not None
    assert done.end_state == SHOP.initial


def test_an_order_is_exchanged_or_returned_once() -> None:
    assert [index for index, _ in run(give_back(["cup-s"]), exchange(["cup-s"], ["cup-m"])).refusals] == [1]


def test_ids_can_be_looked_up_in_any_case_as_an_option_of_the_replay() -> None:
    heard = attrs.evolve(SHOP, ids="case-insensitive")
    call = ToolCall("modify_user_address", {"user_id": "UMA", **ADDRESS, "zip": "2"})
    assert replay(heard, [call]).end_state.agent.get("users", "uma")["address"]["zip"] == "2"
    assert replay(SHOP, [call]).refusals != ()


# Case 6: number spelling


def test_case_6_a_whole_amount_is_the_same_as_float_and_as_int_and_a_fraction_is_never_cut() -> None:
    data, whole = tables(), tables()
    for prices, value in ((data, 25.0), (whole, 25)):
        prices["products"]["hat"]["variants"]["hat-b"]["price"] = value
    calls = [modify(["hat-r"], ["hat-b"])]
    ends = [replay(environment(prices), calls).end_state.agent.get("orders", "#P") for prices in (data, whole)]
    assert same(*ends)
    data["products"]["hat"]["variants"]["hat-b"]["price"] = 2500.5
    end = replay(environment(data), calls).end_state
    assert end.agent.get("orders", "#P")["items"][2]["price"] == 2500.5
    assert end != replay(environment(whole), calls).end_state
