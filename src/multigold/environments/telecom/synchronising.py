"""How the two sides of tau2's telecom domain are brought in step after a call.

What the agent's database says of the user's line shows on the phone, a payment that the user made marks the bill, and a
bill that awaits payment becomes a request to the user. tau2 does this after every call of a run that succeeds, and
after no call of a gold.
"""

from __future__ import annotations

from multigold.environments.base import Drafts
from multigold.environments.telecom.phone import SURROUNDINGS
from multigold.environments.telecom.queries import (
    bills_of,
    find_bill,
    find_line_by_phone,
    find_plan,
    get_customer_by_phone,
)
from multigold.state.canonical import Json
from multigold.state.database import Draft


def synchronise(drafts: Drafts) -> None:
    """Bring the two sides in step; nothing to do before the user has a phone number.

    Raises:
        RefusalError: If no line has the user's number, or refers to something that is not there.
    """
    agent, user = drafts.agent, drafts.user
    if user is None or user.get(SURROUNDINGS, "phone_number") is None:
        return
    phone_number = user.get(SURROUNDINGS, "phone_number")
    line = find_line_by_phone(agent, phone_number)
    _set(user, "line_active", line["status"] == "Active")
    _set(user, "roaming_allowed", bool(line["roaming_enabled"]))
    limit = find_plan(agent, line["plan_id"])["data_limit_gb"] + line["data_refueling_gb"]
    _set(user, "mobile_data_usage_exceeded", line["data_used_gb"] >= limit)
    _settle_payment(agent, user, phone_number)


def _set(user: Draft, field: str, value: Json) -> None:
    if user.get(SURROUNDINGS, field) is not value:
        user.put(SURROUNDINGS, field, value)


def _settle_payment(agent: Draft, user: Draft, phone_number: str) -> None:
    request = user.get(SURROUNDINGS, "payment_request")
    if request is not None and request["paid"]:
        find_bill(agent, request["bill_id"])
        agent.edit("bills", request["bill_id"])["status"] = "Paid"
        user.put(SURROUNDINGS, "payment_request", None)
        request = None
    if request is None:
        waiting = list(bills_of(agent, get_customer_by_phone(agent, phone_number), "Awaiting Payment"))
        if waiting:
            asked = {"bill_id": waiting[0]["bill_id"], "amount_due": float(waiting[0]["total_due"]), "paid": False}
            user.put(SURROUNDINGS, "payment_request", asked)
