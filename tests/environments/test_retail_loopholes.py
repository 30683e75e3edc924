"""Retail's two loopholes (R1, R2) have no affected task: each ambiguous reading is tried, and the tools refuse it.

R1  Is a failed call the one call that an order may be exchanged or modified by?
R2  May an order whose items were modified be cancelled, returned or exchanged later?

What the tools do not close is said as well: a call that failed may be repeated (R1), so that the reading "one attempt"
would show in an agent that gives up after a failure. The benchmark's own golds do not take that side: the few that try
an order twice fail first and succeed then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_retail import cancel, environment, exchange, give_back, modify, readdress, repay

from multigold.catalogues import load_catalogue
from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.model.task import ToolCall

SHOP = environment()
MODIFY, EXCHANGE = modify(["cup-s"], ["cup-m"]), exchange(["cup-s"], ["cup-m"])
ONCE = ("modify_pending_order_items", "exchange_delivered_order_items", "return_delivered_order_items")


def modified_before() -> Environment:
    """The shop as it is when the order's items were modified before the talk began."""
    return environment(replay(SHOP, [MODIFY]).end_state.agent.to_json())


# R1


@pytest.mark.parametrize("again", [modify(["cup-m"], ["cup-l"]), modify(["cup-l"], ["cup-s"]), modify([], [])])
def test_r1_a_second_modification_after_one_that_succeeded_is_refused(again: ToolCall) -> None:
    once = replay(SHOP, [MODIFY])
    twice = replay(SHOP, [MODIFY, again])
    assert [index for index, _ in twice.refusals] == [1]
    assert twice.end_state == once.end_state


@pytest.mark.parametrize("again", [exchange(["cup-s"], ["cup-l"]), exchange([], []), give_back(["cup-s"])])
@pytest.mark.parametrize("first", [EXCHANGE, give_back(["cup-s"])])
def test_r1_a_second_exchange_or_return_after_one_that_succeeded_is_refused(first: ToolCall, again: ToolCall) -> None:
    twice = replay(SHOP, [first, again])
    assert [index for index, _ in twice.refusals] == [1]
    assert twice.end_state == replay(SHOP, [first]).end_state


@pytest.mark.parametrize(
    ("failed", "right"), [(modify(["cup-s"], ["hat-b"]), MODIFY), (exchange(["cup-s"], ["hat-b"]), EXCHANGE)]
)
def test_r1_a_call_that_failed_uses_nothing_up(failed: ToolCall, right: ToolCall) -> None:
    done = replay(SHOP, [failed, right])
    assert [index for index, _ in done.refusals] == [0]
    assert done.end_state == replay(SHOP, [right]).end_state


# R2


@pytest.mark.parametrize(
    "later",
    [
        cancel(),
        modify(["cup-l"], ["cup-s"]),
        repay("gift_u"),
        exchange(["cup-l"], ["cup-s"], order="#P"),
        give_back(["cup-l"], "card_u", order="#P"),
    ],
    ids=lambda call: call.name,
)
def test_r2_whatever_would_follow_a_modification_is_refused(later: ToolCall) -> None:
    done = replay(SHOP, [MODIFY, later])
    assert [index for index, _ in done.refusals] == [1]
    assert done.end_state == replay(SHOP, [MODIFY]).end_state
    assert replay(modified_before(), [later]).end_state == modified_before().initial


def test_r2_only_the_address_of_a_modified_order_may_still_change() -> None:
    assert replay(SHOP, [MODIFY, readdress(city="Bonn")]).refusals == ()


def delivered(shop: Environment, *calls: ToolCall) -> set[str]:
    end = replay(shop, calls).end_state.agent
    return {order for order in end.ids("orders") if end.get("orders", order)["status"] == "delivered"}


@pytest.mark.parametrize(
    "call",
    [MODIFY, readdress(), cancel(), cancel("#G"), repay("card_v", "#G"), EXCHANGE, give_back(["cup-s"])],
    ids=lambda call: call.name,
)
def test_r2_no_tool_makes_an_order_delivered_so_that_a_modified_one_never_can_be_returned(call: ToolCall) -> None:
    assert replay(SHOP, [call]).refusals == ()
    assert delivered(SHOP, call) <= delivered(SHOP)


# The benchmark's tasks


def golds(shared: Path, release: str) -> dict[str, list[ToolCall]]:
    tasks: list[dict[str, Any]] = json.loads((shared / f"data/tau2/retail/tasks.{release}.json").read_bytes())
    return {
        task["id"]: [ToolCall(action["name"], action["arguments"]) for action in task["evaluation_criteria"]["actions"]]
        for task in tasks
    }


def writes(retail: Environment, calls: list[ToolCall]) -> dict[str, list[tuple[str, bool]]]:
    """Order to the writing calls of a gold on it, each with whether it succeeded."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for outcome in replay(retail, calls).outcomes:
        tool = retail.tool(outcome.call.name)
        if tool is not None and tool.kind == "write":
            order = str((outcome.call.arguments or {}).get("order_id"))
            found.setdefault(order, []).append((outcome.call.name, outcome.refusal is None))
    return found


@pytest.mark.parametrize("release", ["01e812d", "37199f3"])
def test_r2_no_gold_writes_to_an_order_after_its_items_were_modified(
    retail: Environment, shared: Path, release: str
) -> None:
    for calls in golds(shared, release).values():
        for done in writes(retail, calls).values():
            assert ("modify_pending_order_items", True) not in done[:-1]


@pytest.mark.parametrize(("release", "repeating"), [("01e812d", ["64"]), ("37199f3", ["13", "64"])])
def test_r1_the_golds_that_try_an_order_twice_fail_first_and_so_take_the_side_that_a_failure_uses_nothing_up(
    retail: Environment, shared: Path, release: str, repeating: list[str]
) -> None:
    found = []
    for task_id, calls in golds(shared, release).items():
        for done in writes(retail, calls).values():
            once = [succeeded for name, succeeded in done if name in ONCE]
            assert sum(once) <= 1
            if len(once) > 1:
                assert once == [False, True]
                found.append(task_id)
    assert sorted(found) == repeating


def test_the_catalogue_lists_both_without_an_affected_task() -> None:
    catalogue = load_catalogue("tau2-retail")
    assert [(entry.id, entry.tasks, entry.effect) for entry in catalogue.loopholes.values()] == [
        ("R1", (), "untested"),
        ("R2", (), "untested"),
    ]
    assert not catalogue.gold_sets
