"""tau2's telecom domain, the agent's side: the tools that write.

Ported from observed behaviour. tau2 checks little here: a line can be refuelled while it is suspended, and a paid bill
can be sent for payment again.

A charge goes to the customer's draft bill. Where there is none, tau2 mints a bill with a *random* id, so that no two
runs of it could ever end in the same state. Here the id follows from the customer and the number of the customer's
bills (`next_bill_id`): the same charges give the same state, in whatever order the customers come. A caller may inject
another way to mint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from multigold.environments.telecom.queries import bills_of, find_bill, find_customer, find_own_line, find_plan
from multigold.environments.telecom.records import TODAY, free_key
from multigold.environments.tools import RefusalError, ToolFunction, ToolKind
from multigold.state.canonical import Json
from multigold.state.database import Draft

Mint: TypeAlias = Callable[[Json], str]
"""`mint(customer)` is the id of the next bill that is made for a customer."""


def next_bill_id(customer: Json) -> str:
    """Return the id of the next bill of a customer: a B and 8 hexadecimal digits, like tau2's, but not random."""
    text = f"{customer['customer_id']}:{len(customer['bill_ids'])}"
    return f"B{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def suspend_line(draft: Draft, customer_id: Json, line_id: Json, reason: Json) -> Json:  # noqa: ARG001 - only logged
    """Suspend an active line from today on.

    Raises:
        RefusalError: If there is no such line of that customer, or it is not active.
    """
    if find_own_line(draft, customer_id, line_id)["status"] != "Active":
        raise RefusalError("Line must be active to suspend")
    line = draft.edit("lines", line_id)
    line.update(status="Suspended", suspension_start_date=TODAY)
    return {"message": "Line suspended successfully. $5/month holding fee will apply.", "line": line}


def resume_line(draft: Draft, customer_id: Json, line_id: Json) -> Json:
    """Activate a line that is suspended or was never active.

    Raises:
        RefusalError: If there is no such line of that customer, or it is neither.
    """
    if find_own_line(draft, customer_id, line_id)["status"] not in ("Suspended", "Pending Activation"):
        raise RefusalError("Line must be suspended to resume")
    line = draft.edit("lines", line_id)
    line.update(status="Active", suspension_start_date=None)
    return {"message": "Line resumed successfully", "line": line}


def send_payment_request(draft: Draft, customer_id: Json, bill_id: Json) -> Json:
    """Ask a customer to pay a bill, whatever its status; one bill at a time.

    Raises:
        RefusalError: If a bill awaits payment already, or the bill is not the customer's.
    """
    customer = find_customer(draft, customer_id)
    if list(bills_of(draft, customer, "Awaiting Payment")):
        raise RefusalError("A bill is already awaiting payment for this customer")
    if bill_id not in customer["bill_ids"]:
        raise RefusalError(f"Bill {bill_id} not found for customer {customer_id}")
    find_bill(draft, bill_id)
    draft.edit("bills", bill_id)["status"] = "Awaiting Payment"
    return f"Payment request sent to the customer for bill {bill_id}"


def enable_roaming(draft: Draft, customer_id: Json, line_id: Json) -> Json:
    """Allow a line to roam.

    Raises:
        RefusalError: If there is no such line of that customer.
    """
    if find_own_line(draft, customer_id, line_id)["roaming_enabled"]:
        return "Roaming was already enabled"
    draft.edit("lines", line_id)["roaming_enabled"] = True
    return "Roaming enabled successfully"


def disable_roaming(draft: Draft, customer_id: Json, line_id: Json) -> Json:
    """Forbid a line to roam.

    Raises:
        RefusalError: If there is no such line of that customer.
    """
    if not find_own_line(draft, customer_id, line_id)["roaming_enabled"]:
        return "Roaming was already disabled"
    draft.edit("lines", line_id)["roaming_enabled"] = False
    return "Roaming disabled successfully"


def refuel_data_with(mint: Mint) -> ToolFunction:
    """Return the tool that sells data, which makes bills by a given way to mint."""

    def refuel_data(draft: Draft, customer_id: Json, line_id: Json, gb_amount: Json) -> Json:
        """Add data to a line, whatever its status, and charge it by the plan's price.

        Raises:
            RefusalError: If there is no such line of that customer, or the amount is not above 0.
            TypeError: If the amount is not a number; to `step` that is a refusal as any other.
        """
        line = find_own_line(draft, customer_id, line_id)
        if gb_amount <= 0:
            raise RefusalError("Refuel amount must be positive")
        price = find_plan(draft, line["plan_id"])["data_refueling_price_per_gb"]
        charge = gb_amount * price
        line = draft.edit("lines", line_id)
        line["data_refueling_gb"] += gb_amount
        _charge(draft, customer_id, charge, f"Data refueling: {gb_amount} GB at ${price}/GB", mint)
        return {
            "message": f"Successfully added {gb_amount} GB of data for line {line_id} for ${charge:.2f}",
            "new_data_refueling_gb": str(line["data_refueling_gb"]),
            "charge": str(charge),
        }

    return refuel_data


def _charge(draft: Draft, customer_id: str, amount: float, description: str, mint: Mint) -> None:
    """Put a charge on the customer's first draft bill, or on a new one for the next month."""
    found = next(bills_of(draft, find_customer(draft, customer_id), "Draft"), None)
    bill = draft.edit("bills", found["bill_id"]) if found else _new_bill(draft, customer_id, mint)
    bill["line_items"].append(line_item(description, amount))
    bill["total_due"] += amount


def line_item(description: str, amount: float) -> Json:
    """Return today's item of a bill; a negative amount is a credit."""
    kind = "Credit" if amount < 0 else "Charge"
    return {"description": description, "amount": float(amount), "date": TODAY, "item_type": kind}


def _new_bill(draft: Draft, customer_id: str, mint: Mint) -> Json:
    bill: dict[str, Json] = {
        "bill_id": mint(find_customer(draft, customer_id)),
        "customer_id": customer_id,
        "period_start": "2025-03-01",
        "period_end": "2025-03-31",
        "issue_date": "2025-03-01",
        "total_due": 0.0,
        "due_date": "2025-03-15",
        "line_items": [],
        "status": "Draft",
    }
    add_bill(draft, bill)
    return bill


def add_bill(draft: Draft, bill: Json) -> None:
    """Store a bill, which the caller gives away, and list it with its customer."""
    draft.put("bills", free_key(dict.fromkeys(draft.ids("bills")), bill["bill_id"]), bill)
    draft.edit("customers", bill["customer_id"])["bill_ids"].append(bill["bill_id"])


def writing_tools(mint: Mint) -> Mapping[ToolKind, Iterable[ToolFunction]]:
    """Return the agent's tools that write, with a given way to mint the ids of bills."""
    return {
        "write": (
            suspend_line,
            resume_line,
            send_payment_request,
            enable_roaming,
            disable_roaming,
            refuel_data_with(mint),
        )
    }
