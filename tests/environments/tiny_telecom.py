"""A carrier of two customers, made up for tests that need no data of anybody else.

C1  Uma Ito, lines L1 (555-1, plan P1 of 5 GB, active) and L2 (555-2, suspended); bills B1 paid, B2 issued, B3 draft
C2  Vic Poe, line L3 (555-3, plan P2 of 10 GB, active); bill B4 (issued) and no draft
"""

from __future__ import annotations

from typing import Any

from multigold.environments.base import Environment
from multigold.environments.telecom import build
from multigold.model.task import Requestor, ToolCall
from multigold.state.database import Database, EndState

Json = Any


def _customer(number: int, name: str, lines: list[str], bills: list[str]) -> Json:
    return {
        "customer_id": f"C{number}",
        "full_name": name,
        "date_of_birth": "1990-01-02",
        "email": "x@example.com",
        "phone_number": f"555-10{number}",
        "address": {"street": "1 Elm", "city": "Rome", "state": "NY", "zip_code": "10001"},
        "created_at": "2025-01-15T10:30:00",
        "line_ids": lines,
        "bill_ids": bills,
    }


def _bill(number: int, customer: str, issued: str, due: float, status: str) -> Json:
    item = {"description": "Plan", "amount": due, "date": issued, "item_type": "Plan Charge"}
    return {
        "bill_id": f"B{number}",
        "customer_id": customer,
        "period_start": "2025-01-01",
        "period_end": "2025-01-31",
        "issue_date": issued,
        "total_due": due,
        "due_date": "2025-02-20",
        "status": status,
        "line_items": [item] if due else [],
    }


def lists() -> dict[str, Any]:
    """Return the agent's data as tau2 keeps it, anew each time: lists of records that leave out what is as usual."""
    return {
        "plans": [
            {"plan_id": p, "name": p, "data_limit_gb": gb, "price_per_month": usd, "data_refueling_price_per_gb": more}
            for p, gb, usd, more in (("P1", 5.0, 40.0, 2.5), ("P2", 10.0, 60.0, 2.0))
        ],
        "customers": [
            _customer(1, "Uma Ito", ["L1", "L2"], ["B1", "B2", "B3"]),
            _customer(2, "Vic Poe", ["L3"], ["B4"]),
        ],
        "lines": [
            {"line_id": "L1", "phone_number": "555-1", "status": "Active", "plan_id": "P1", "data_used_gb": 3.2},
            {
                "line_id": "L2",
                "phone_number": "555-2",
                "status": "Suspended",
                "plan_id": "P1",
                "suspension_start_date": "2025-02-01",
            },
            {"line_id": "L3", "phone_number": "555-3", "status": "Active", "plan_id": "P2", "device_id": "D1"},
        ],
        "bills": [
            _bill(1, "C1", "2025-01-05", 40.0, "Paid"),
            _bill(2, "C1", "2025-02-05", 45.5, "Issued"),
            _bill(3, "C1", "2025-03-01", 0.0, "Draft"),
            _bill(4, "C2", "2025-02-05", 60.0, "Issued"),
        ],
        "devices": [
            {
                "device_id": "D1",
                "device_type": "phone",
                "model": "X",
                "is_esim_capable": True,
                "activation_date": "2025-01-20T14:30:00",
            }
        ],
    }


def environment(**more: Any) -> Environment:
    """Return the carrier, with a phone as usual."""
    return build(Database.adopt(lists()), **more)


def scene(environment: Environment, *actions: tuple[str, dict[str, Json]], phone: str | None = "555-1") -> EndState:
    """Return the state after functions were called, on the user's side unless they are the agent's."""
    who = [("set_user_info", {"name": "Uma Ito", "phone_number": phone})] if phone else []
    stated = [
        {"env_type": "assistant" if name in AGENT_SIDE else "user", "func_name": name, "arguments": arguments}
        for name, arguments in (*who, *actions)
    ]
    assert environment.prepare is not None
    return environment.prepare(environment.initial, {"initialization_actions": stated})


AGENT_SIDE = {"set_data_usage", "suspend_line_for_overdue_bill", "enable_roaming", "disable_roaming", "suspend_line"}


def agent(name: str, **arguments: Json) -> ToolCall:
    return ToolCall(name, arguments)


def user(name: str, **arguments: Json) -> ToolCall:
    requestor: Requestor = "user"
    return ToolCall(name, arguments, requestor=requestor)


LINE = {"customer_id": "C1", "line_id": "L1"}
