"""tau2's telecom domain, the agent's side: looking things up. Nothing here writes to a draft.

The lookups at the top are what the write tools use too; the tools that only read follow.
"""

from __future__ import annotations

from collections.abc import Iterator

from multigold.environments.common import finder
from multigold.environments.tools import RefusalError
from multigold.state.canonical import Json
from multigold.state.database import Draft

CYCLE_END = "2025-02-28"
"""Last day of the current billing cycle."""


find_customer = finder("customers", "Customer with ID {id} not found")
find_line = finder("lines", "Line with ID {id} not found")
find_plan = finder("plans", "Plan with ID {id} not found")
find_bill = finder("bills", "Bill with ID {id} not found")
find_device = finder("devices", "Device with ID {id} not found")


def find_own_line(draft: Draft, customer_id: Json, line_id: Json) -> Json:
    """Return a line of a customer, to be read only.

    Raises:
        RefusalError: If there is no such customer, or the line is not the customer's.
    """
    if line_id not in find_customer(draft, customer_id)["line_ids"]:
        raise RefusalError(f"Line {line_id} not found for customer {customer_id}")
    return find_line(draft, line_id)


def find_line_by_phone(draft: Draft, phone_number: Json) -> Json:
    """Return the first line with this number, to be read only.

    Raises:
        RefusalError: If there is none.
    """
    for line_id in draft.ids("lines"):
        line = draft.get("lines", line_id)
        if line["phone_number"] == phone_number:
            return line
    raise RefusalError(f"Line with phone number {phone_number} not found")


def bills_of(draft: Draft, customer: Json, status: str) -> Iterator[Json]:
    """Yield a customer's bills that have a status, to be read only, in the order in which the customer lists them.

    Raises:
        RefusalError: If the customer lists a bill that is not there.
    """
    bills = (find_bill(draft, bill_id) for bill_id in customer["bill_ids"])
    return (bill for bill in bills if bill["status"] == status)


def get_customer_by_phone(draft: Draft, phone_number: Json) -> Json:
    """Return the first customer who has this number, as a contact or as a line.

    Raises:
        RefusalError: If there is none.
    """
    for customer_id in draft.ids("customers"):
        customer = draft.get("customers", customer_id)
        if customer["phone_number"] == phone_number:
            return customer
        if any(find_line(draft, line_id)["phone_number"] == phone_number for line_id in customer["line_ids"]):
            return customer
    raise RefusalError(f"Customer with phone number {phone_number} not found")


def get_customer_by_id(draft: Draft, customer_id: Json) -> Json:
    """Return a customer.

    Raises:
        RefusalError: If there is no such customer.
    """
    return find_customer(draft, customer_id)


def get_customer_by_name(draft: Draft, full_name: Json, dob: Json) -> Json:
    """Return all customers of that name, in any case, born on that day; there may be none.

    Raises:
        AttributeError: If the name is not a string; to `step` that is a refusal as any other.
    """
    customers = (draft.get("customers", customer_id) for customer_id in draft.ids("customers"))
    return [c for c in customers if c["full_name"].lower() == full_name.lower() and c["date_of_birth"] == dob]


_BY_LETTER = {"L": find_line, "D": find_device, "B": find_bill, "C": find_customer, "P": find_plan}
"""First letter of an id to the look-up of its table."""


def get_details_by_id(draft: Draft, id: Json) -> Json:
    """Return a line, device, bill, customer or plan: by the id's first letter.

    Raises:
        RefusalError: If there is none, or no such letter.
        TypeError: If the id is not a string; to `step` that is a refusal as any other.
    """
    find = _BY_LETTER.get(id[:1])
    if find is None:
        raise RefusalError(f"Unknown ID format or type: {id}")
    return find(draft, id)


def get_bills_for_customer(draft: Draft, customer_id: Json, limit: Json = 12) -> Json:
    """Return a customer's bills, those issued last first, not more than the limit.

    Raises:
        RefusalError: If there is no such customer.
        TypeError: If the limit is not a whole number; to `step` that is a refusal as any other.
    """
    bills = [find_bill(draft, bill_id) for bill_id in find_customer(draft, customer_id)["bill_ids"]]
    return sorted(bills, key=lambda bill: bill["issue_date"], reverse=True)[:limit]


def get_data_usage(draft: Draft, customer_id: Json, line_id: Json) -> Json:
    """Return how much data a line has used in this cycle, and how much it may use; numbers are text, as in tau2.

    Raises:
        RefusalError: If there is no such line of that customer.
    """
    line = find_own_line(draft, customer_id, line_id)
    return {
        "line_id": line_id,
        "data_used_gb": str(line["data_used_gb"]),
        "data_limit_gb": str(find_plan(draft, line["plan_id"])["data_limit_gb"]),
        "data_refueling_gb": str(line["data_refueling_gb"]),
        "cycle_end_date": CYCLE_END,
    }
