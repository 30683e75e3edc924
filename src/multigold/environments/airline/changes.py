"""What changed between two airline states, in the terms that the invariants speak of.

End states may come from strangers, so a record is looked over before anything is computed from it: one that is no
proper reservation (or user) is a fault of every invariant that would have had to look inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import attrs

from multigold.environments.common import changed_records
from multigold.environments.tools import Invariant
from multigold.state.canonical import Json
from multigold.state.database import GONE, EndState

CABINS = ("basic_economy", "economy", "business")

_Check: TypeAlias = Callable[[Json], bool]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ChangedReservation:
    """A reservation that differs between two states.

    Attributes:
        id: Its id.
        before: The record before; None for a new reservation.
        after: The record after.
        initial: The state before.
        end: The state after.
    """

    id: str
    before: Json
    after: Json
    initial: EndState
    end: EndState

    @property
    def seats(self) -> int:
        """How many passengers it has."""
        return len(self.after["passengers"])

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled between the two states."""
        was = self.before is not None and self.before.get("status") == "cancelled"
        return self.after.get("status") == "cancelled" and not was

    @property
    def moved(self) -> bool:
        """Whether it is on other flights, on other dates or in another order; a new one is."""
        return self.before is None or flight_days(self.before) != flight_days(self.after)


ReservationCheck: TypeAlias = Callable[[ChangedReservation], Iterable[str]]
"""`check(changed)` yields faults, each of them the rest of a sentence that begins with the reservation."""


def flight_days(reservation: Json) -> list[tuple[str, str]]:
    """Return flight number and date of each segment."""
    return [(segment["flight_number"], segment["date"]) for segment in reservation["flights"]]


def changed_reservations(initial: EndState, end: EndState) -> Iterator[ChangedReservation | str]:
    """Yield each reservation that differs; a fault, as a sentence, if it is gone or not a proper reservation."""
    for reservation_id, before, after in changed_records(initial, end, "reservations"):
        fault = "is gone" if after is GONE else reservation_fault(after)
        if fault is None and before is not GONE:
            fault = reservation_fault(before)
        if fault is not None:
            yield f"reservation {reservation_id} {fault}"
        else:
            former = None if before is GONE else before
            yield ChangedReservation(id=reservation_id, before=former, after=after, initial=initial, end=end)


def for_each_reservation(check: ReservationCheck) -> Invariant:
    """Return the invariant that applies a check to each reservation that differs."""

    def invariant(initial: EndState, end: EndState) -> Iterator[str]:
        for changed in changed_reservations(initial, end):
            if isinstance(changed, str):
                yield changed
            else:
                yield from (f"reservation {changed.id} {fault}" for fault in check(changed))

    invariant.__doc__ = check.__doc__
    return invariant


_LARGEST = 2**53
"""Numbers below this are exact as floats; no dollars and no bags come near, and larger ones could not be added up."""


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST < value < _LARGEST


def _is_whole(value: Json) -> bool:
    return _is_number(value) and value == int(value)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _one_of(*values: str) -> _Check:
    return lambda value: isinstance(value, str) and value in values


def _objects_with(fields: Mapping[str, _Check]) -> _Check:
    return lambda value: isinstance(value, list) and all(_fits(item, fields) for item in value)


def _fits(value: Json, fields: Mapping[str, _Check]) -> bool:
    return isinstance(value, dict) and all(name in value and check(value[name]) for name, check in fields.items())


_SEGMENT: Mapping[str, _Check] = {
    "flight_number": _is_text,
    "origin": _is_text,
    "destination": _is_text,
    "date": _is_text,
    "price": _is_whole,
}
_RESERVATION: Mapping[str, _Check] = {
    "reservation_id": _is_text,
    "user_id": _is_text,
    "origin": _is_text,
    "destination": _is_text,
    "flight_type": _one_of("round_trip", "one_way"),
    "cabin": _one_of(*CABINS),
    "flights": _objects_with(_SEGMENT),
    "passengers": _objects_with({"first_name": _is_text, "last_name": _is_text, "dob": _is_text}),
    "payment_history": _objects_with({"payment_id": _is_text, "amount": _is_whole}),
    "created_at": _is_text,
    "total_baggages": _is_whole,
    "nonfree_baggages": _is_whole,
    "insurance": _one_of("yes", "no"),
}


def reservation_fault(record: Json) -> str | None:
    """Return what is wrong with the form of a reservation, as the rest of a sentence; None if it is proper."""
    if not isinstance(record, dict):
        return "is not an object"
    for name, check in _RESERVATION.items():
        if name not in record:
            return f"has no {name}"
        if not check(record[name]):
            return f"has a {name} that is not of the proper form"
    if record.get("status") not in (None, "cancelled"):
        return "has an unknown status"
    return None


def payment_methods(user: Json) -> Mapping[str, Json] | None:
    """Return a user's payment methods; None if the record is not a user with proper ones."""
    methods = user.get("payment_methods") if isinstance(user, dict) else None
    if not isinstance(methods, dict) or not all(map(_is_method, methods.values())):
        return None
    return methods


def _is_method(method: Json) -> bool:
    if not isinstance(method, dict):
        return False
    source = method.get("source")
    return source == "credit_card" or (source in ("gift_card", "certificate") and _is_number(method.get("amount")))
