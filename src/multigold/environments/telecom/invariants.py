"""What holds of every telecom state that sensible calls lead to: named checks of what changed.

Each invariant is a pure function of the initial and the end state, and yields one sentence per fault. All but the last
look at nothing but records that differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from multigold.environments.base import Drafts
from multigold.environments.common import changed_records
from multigold.environments.telecom.synchronising import synchronise
from multigold.environments.tools import Invariant, RefusalError
from multigold.state.canonical import Json
from multigold.state.database import GONE, EndState
from multigold.state.delta import diff

HALF_A_CENT = 0.005


def _billed_customers(initial: EndState, end: EndState) -> list[str]:
    """Return the customers whose bills differ."""
    bills = (bill for _, _, bill in changed_records(initial, end, "bills") if bill is not GONE)
    return list(dict.fromkeys(bill["customer_id"] for bill in bills))


def bills_add_up(initial: EndState, end: EndState) -> Iterable[str]:
    """A bill is for what its items come to, and is its customer's."""
    for key, _, bill in changed_records(initial, end, "bills"):
        if bill is GONE:
            yield f"bill {key} was removed"
            continue
        total = sum(item["amount"] for item in bill["line_items"])
        if abs(total - bill["total_due"]) >= HALF_A_CENT:
            yield f"bill {key} is for {bill['total_due']:.2f}, and its items come to {total:.2f}"
        customer = end.agent.find("customers", bill["customer_id"])
        if customer is GONE or bill["bill_id"] not in customer["bill_ids"]:
            yield f"bill {key} is not listed with its customer"


def charges_follow_data(initial: EndState, end: EndState) -> Iterable[str]:
    """What lines were refuelled by is charged at their plans' prices on their customers' bills."""
    owners = {line: name for name, c in _records(end, "customers") for line in c["line_ids"]}
    due: dict[str, float] = {}
    for key, before, line in changed_records(initial, end, "lines"):
        if before is GONE or line is GONE:
            yield f"line {key} was {'added' if before is GONE else 'removed'}"
            continue
        price = end.agent.get("plans", line["plan_id"])["data_refueling_price_per_gb"]
        more = line["data_refueling_gb"] - before["data_refueling_gb"]
        due[owners[key]] = due.get(owners[key], 0.0) + more * price
    for name in dict.fromkeys([*due, *_billed_customers(initial, end)]):
        charged = _billed(end, name) - _billed(initial, name)
        if abs(charged - due.get(name, 0.0)) >= HALF_A_CENT:
            yield f"customer {name} is charged {charged:.2f} for data that costs {due.get(name, 0.0):.2f}"


def _records(state: EndState, table: str) -> Iterator[tuple[str, Json]]:
    return ((key, state.agent.get(table, key)) for key in state.agent.ids(table))


def _billed(state: EndState, customer_id: str) -> float:
    bills = (bill for _, bill in _records(state, "bills") if bill["customer_id"] == customer_id)
    return sum(float(bill["total_due"]) for bill in bills)


def lines_fit(initial: EndState, end: EndState) -> Iterable[str]:
    """A line is suspended since a day exactly while it is suspended."""
    for key, _, line in changed_records(initial, end, "lines"):
        if line is not GONE and (line["status"] == "Suspended") != (line["suspension_start_date"] is not None):
            yield f"line {key} is {line['status']} and suspended since {line['suspension_start_date']}"


def one_request_at_a_time(initial: EndState, end: EndState) -> Iterable[str]:
    """No customer is asked to pay two bills at once."""
    for name in _billed_customers(initial, end):
        bills = (b for _, b in _records(end, "bills") if b["customer_id"] == name and b["status"] == "Awaiting Payment")
        count = len(list(bills))
        if count > 1:
            yield f"customer {name} is asked to pay {count} bills"


def sides_in_step(initial: EndState, end: EndState) -> Iterable[str]:  # noqa: ARG001 - it is about the end alone
    """The phone shows what the agent's database says; a benchmark's gold that was not synchronised fails here."""
    drafts = Drafts(end)
    try:
        synchronise(drafts)
    except RefusalError as error:
        yield f"the two sides cannot be brought in step: {error}"
        return
    for pointer in diff(end, drafts.freeze()):
        yield f"{pointer} is out of step with the other side"


INVARIANTS: Mapping[str, Invariant] = {
    "bills-add-up": bills_add_up,
    "charges-follow-data": charges_follow_data,
    "lines-fit": lines_fit,
    "one-request-at-a-time": one_request_at_a_time,
    "sides-in-step": sides_in_step,
}
"""Name to invariant: what a pattern names, and what the audit of golds runs."""
