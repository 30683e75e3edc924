"""Which environment a file is about: by the name that it states, else by the tools that it names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

DOMAINS: Final = ("airline", "retail", "telecom", "mock", "banking_knowledge")
"""The domains of tau2, by its own names."""

_TOOLS: Final[Mapping[str, frozenset[str]]] = {
    "airline": frozenset(
        (
            *("book_reservation", "cancel_reservation", "get_flight_status", "get_reservation_details"),
            *("list_all_airports", "search_direct_flight", "search_onestop_flight", "send_certificate"),
            *("update_reservation_baggages", "update_reservation_flights", "update_reservation_passengers"),
        )
    ),
    "retail": frozenset(
        (
            *("cancel_pending_order", "exchange_delivered_order_items", "find_user_id_by_email"),
            *("find_user_id_by_name_zip", "get_order_details", "get_product_details", "list_all_product_types"),
            *("modify_pending_order_address", "modify_pending_order_items", "modify_pending_order_payment"),
            *("modify_user_address", "return_delivered_order_items"),
        )
    ),
    "telecom": frozenset(
        (
            *("check_network_status", "check_status_bar", "enable_roaming", "get_bills_for_customer"),
            *("get_customer_by_id", "get_customer_by_name", "get_customer_by_phone", "get_data_usage"),
            *("get_details_by_id", "refuel_data", "reseat_sim_card", "resume_line", "run_speed_test"),
            *("send_payment_request", "suspend_line", "toggle_airplane_mode", "toggle_data", "toggle_roaming"),
        )
    ),
}
"""Tools that only one domain has."""

_ENOUGH: Final = 5


def environment_name(domain: str) -> tuple[str, tuple[str, ...]]:
    """Return the environment's name for a domain as tau2 files write it, with a warning where that is a guess.

    Forks and variants call themselves `airline-relaxed`, `telecom-workflow`: their tools and data are taken to be those
    of the domain that they are named after.
    """
    if not domain:
        return "", ()
    base = next((known for known in DOMAINS if domain.startswith((f"{known}-", f"{known}_"))), None)
    if domain in DOMAINS or base is None:
        return f"tau2-{domain}", ()
    return f"tau2-{base}", (f"the file calls its domain {domain!r}: tools and data are taken to be those of {base!r}",)


def guess_domain(tools: Iterable[str]) -> str:
    """Return the domain whose tools are named, looking no further than needed; empty if none is, or several are."""
    votes: Counter[str] = Counter()
    for tool in tools:
        votes.update(domain for domain, names in _TOOLS.items() if tool in names)
        if votes.total() >= _ENOUGH:
            break
    return next(iter(votes)) if len(votes) == 1 else ""


def guessed(domain: str, benchmark: str) -> tuple[str, tuple[str, ...]]:
    """Return an environment's name for a guessed domain, and a warning that says so."""
    if not domain:
        return "", ("the file does not say which domain it is of, and its tools do not tell",)
    return f"{benchmark}-{domain}", (f"the file does not name its domain: by its tools it is {domain!r}",)
