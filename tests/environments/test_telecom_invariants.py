"""Telecom's invariants hold of what sensible calls do, and name what is wrong where something is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tiny_telecom import LINE, agent, environment, scene, user

from multigold.environments.replay import replay
from multigold.environments.telecom.invariants import INVARIANTS
from multigold.model.task import ToolCall
from multigold.state.database import Draft, EndState

CARRIER = environment()
START = scene(CARRIER)
GOOD = {
    "nothing": [],
    "suspend": [agent("suspend_line", **LINE, reason="x")],
    "resume": [agent("resume_line", customer_id="C1", line_id="L2")],
    "refuel": [agent("refuel_data", **LINE, gb_amount=2)],
    "refuel with a new bill": [agent("refuel_data", customer_id="C2", line_id="L3", gb_amount=1.5)],
    "pay": [agent("send_payment_request", customer_id="C1", bill_id="B2"), user("make_payment")],
    "roam": [agent("enable_roaming", **LINE), user("toggle_roaming")],
}


def faults(end: EndState) -> set[str]:
    return {name for name, invariant in INVARIANTS.items() if list(invariant(START, end))}


@pytest.mark.parametrize("calls", GOOD.values(), ids=GOOD.keys())
def test_what_sensible_calls_do_has_no_fault(calls: list[ToolCall]) -> None:
    done = replay(CARRIER, calls, initial=START)
    assert done.refusals == ()
    assert faults(done.end_state) == set()


def _edit(table: str, record_id: str, **fields: object) -> Callable[[Draft], None]:
    return lambda draft: draft.edit(table, record_id).update(fields)


def _unlist(draft: Draft) -> None:
    draft.edit("bills", "B3")["due_date"] = "2025-03-16"
    draft.edit("customers", "C1")["bill_ids"].remove("B3")


def _ask_for_two(draft: Draft) -> None:
    for bill in ("B1", "B2"):
        draft.edit("bills", bill)["status"] = "Awaiting Payment"


BAD = {
    "a total that is not the items'": (_edit("bills", "B1", total_due=99.0), {"bills-add-up", "charges-follow-data"}),
    "a bill that is not listed": (_unlist, {"bills-add-up"}),
    "a bill that is gone": (lambda draft: draft.remove("bills", "B3"), {"bills-add-up", "sides-in-step"}),
    "data for nothing": (_edit("lines", "L1", data_refueling_gb=2.0), {"charges-follow-data"}),
    "suspended since never": (_edit("lines", "L3", status="Suspended"), {"lines-fit"}),
    "two requests": (_ask_for_two, {"one-request-at-a-time", "sides-in-step"}),
    "a suspension that the phone was not told": (
        _edit("lines", "L1", status="Suspended", suspension_start_date="2025-02-25"),
        {"sides-in-step"},
    ),
    "a line that is gone": (lambda draft: draft.remove("lines", "L3"), {"charges-follow-data"}),
}


@pytest.mark.parametrize(("change", "names"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_named(change: Callable[[Draft], None], names: set[str]) -> None:
    draft = START.agent.draft()
    change(draft)
    assert faults(EndState(draft.freeze(), user=START.user)) == names


def test_a_gold_that_was_not_synchronised_is_out_of_step() -> None:
    calls = [agent("suspend_line", **LINE, reason="x")]
    assert faults(replay(CARRIER, calls, initial=START, synchronise=False).end_state) == {"sides-in-step"}
