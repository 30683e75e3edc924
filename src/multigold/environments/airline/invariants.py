"""What holds of every airline state that sensible calls lead to: named checks of what changed.

A pattern of a gold set says which records may differ; these say that the differences belong together. Each invariant
is a pure function of the initial and the end state, looks at nothing but records that differ, and yields one sentence
per fault. They judge end states, not paths: whether a trip was moved in one call or in two, the payments add up to the
same, though they are written differently.

They are stricter than the tools, which let through much that no policy would: a reservation without flights, a paid bag
that is taken off again, an overdrawn gift card, a change to a cancelled reservation. Such a state is reported although
calls lead to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from multigold.environments.airline.changes import (
    ChangedReservation,
    changed_reservations,
    for_each_reservation,
)
from multigold.environments.airline.money import balances_follow_payments, payments_cover_changes
from multigold.environments.airline.tools import NOW, RESERVATION_IDS
from multigold.environments.airline.trips import (
    flights_available,
    itineraries_connect,
    seats_follow_bookings,
    stops_are_short,
)
from multigold.environments.common import changed_records
from multigold.environments.tools import Invariant
from multigold.state.canonical import Json, same
from multigold.state.database import GONE, EndState

_TABLES = ("flights", "reservations", "users")
_FIXED = ("reservation_id", "user_id", "origin", "destination", "flight_type", "created_at", "insurance")
"""Fields of a reservation that no tool changes."""

_PROFILE = ("payment_methods", "reservations")
"""The fields of a user that tools change."""


def _reservation_faults(changed: ChangedReservation) -> Iterator[str]:
    before, after = changed.before, changed.after
    if after["reservation_id"] != changed.id:
        yield f"says that it is {after['reservation_id']}"
    if not 0 <= after["nonfree_baggages"] <= after["total_baggages"]:
        yield "has more bags that are paid for than bags"
    if before is None:
        yield from _birth_faults(changed)
        return
    for field in _FIXED:
        if before[field] != after[field]:
            yield f"has another {field}"
    if len(before["passengers"]) != changed.seats:
        yield f"has {changed.seats} passengers and had {len(before['passengers'])}"
    if before.get("status") == "cancelled" and after.get("status") is None:
        yield "is no longer cancelled"


def _birth_faults(changed: ChangedReservation) -> Iterator[str]:
    if changed.id not in RESERVATION_IDS:
        yield "has an id that the domain does not give out"
        return
    for earlier in RESERVATION_IDS[: RESERVATION_IDS.index(changed.id)]:
        if changed.end.agent.find("reservations", earlier) is GONE:
            yield f"was booked, and {earlier} was not"
    if changed.after["created_at"] != NOW:
        yield f"was booked at {changed.after['created_at']} and not at {NOW}"
    if changed.end.agent.find("users", changed.after["user_id"]) is GONE:
        yield f"belongs to {changed.after['user_id']}, who is not a user"


def records_belong(initial: EndState, end: EndState) -> Iterator[str]:
    """Records are of the proper form and hang together, and what no tool changes has not changed.

    A reservation keeps its user, route, kind of trip, insurance and number of passengers; its cabin is one of three. A
    new one has the next free id, the time at which the clock stands, and is listed once by its user. Users change in
    nothing but payment methods and reservations. Nothing disappears, and no user or flight appears.
    """
    yield from for_each_reservation(_reservation_faults)(initial, end)
    booked = _booked_by_user(initial, end)
    for user_id in sorted(booked.keys() | {user_id for user_id, _, _ in changed_records(initial, end, "users")}):
        before, after = initial.agent.find("users", user_id), end.agent.find("users", user_id)
        yield from (f"user {user_id} {fault}" for fault in _user_faults(before, after, booked.get(user_id, [])))
    for number, before, after in changed_records(initial, end, "flights"):
        if GONE in (before, after):
            yield f"flight {number} is not there before and after"
    for table, record_id in initial.agent.touched(end.agent):
        if table not in _TABLES:
            yield f"the record {record_id!r} of the table {table} is none of the domain's"


def _booked_by_user(initial: EndState, end: EndState) -> dict[str, list[str]]:
    booked: dict[str, list[str]] = {}
    for changed in changed_reservations(initial, end):
        if isinstance(changed, ChangedReservation) and changed.before is None:
            booked.setdefault(changed.after["user_id"], []).append(changed.id)
    return booked


def _user_faults(before: Json, after: Json, booked: list[str]) -> Iterator[str]:
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield "is not there before and after"
        return
    for field in sorted((before.keys() | after.keys()) - set(_PROFILE)):
        if field not in before or field not in after or not same(before[field], after[field]):
            yield f"has another {field}"
    listed, expected = after.get("reservations"), [*before.get("reservations", []), *booked]
    if not isinstance(listed, list) or sorted(map(str, listed)) != sorted(expected):
        yield f"does not list just the reservations {', '.join(expected)}"


INVARIANTS: Mapping[str, Invariant] = {
    "records-belong": records_belong,
    "itineraries-connect": itineraries_connect,
    "stops-are-short": stops_are_short,
    "flights-available": flights_available,
    "seats-follow-bookings": seats_follow_bookings,
    "payments-cover-changes": payments_cover_changes,
    "balances-follow-payments": balances_follow_payments,
}
"""Name to invariant: what a pattern names, and what the audit of golds runs."""
