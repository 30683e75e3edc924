"""tau-bench v1's airline domain: the tools that are not tau2's.

Ported from observed behaviour. Nothing is validated or coerced, and what is stored is what was given:

- Booking takes no seats. Its flights keep whatever else the call says of them, and its list of payment methods is the
  payment history. The third new id is given to every further booking, which overwrites the one before.
- An update of flights does not store the new cabin, so that a later call still sees the old one.
- A fourth certificate does nothing and says nothing.
- A connection on the next day is shown with the seats and prices of the day before.
"""

from __future__ import annotations

from multigold.environments.airline import queries
from multigold.environments.airline.queries import AIRPORTS, find_reservation, find_user, show_reservation
from multigold.environments.airline.tools import (
    BAG_PRICE,
    CERTIFICATE_IDS,
    INSURANCE_PRICE,
    NOW,
    RESERVATION_IDS,
    charge,
    check_payments,
    new_segment,
    spend,
)
from multigold.environments.base import RefusalError
from multigold.state.canonical import Json
from multigold.state.database import Draft

_LOOKED_UP = ("origin", "destination", "price")
"""What a segment gains over what the call says of it."""


def list_all_airports(draft: Draft) -> Json:  # noqa: ARG001 - every tool is given the draft
    """Return every airport's code and city."""
    return dict(AIRPORTS)


def search_onestop_flight(draft: Draft, origin: Json, destination: Json, date: Json) -> Json:
    """Return pairs of bookable flights that connect.

    The second one's seats and prices are those of the date that was asked for, also where it leaves the day after.

    Raises:
        ValueError: Where a flight lands on the next day and the date does not end in two digits.
        KeyError: Where the second flight does not fly on the date that was asked for.
    """
    pairs: list[list[dict[str, Json]]] = queries.search_onestop_flight(draft, origin, destination, date)
    return [[first, {**second, **_details(draft, second["flight_number"], date)}] for first, second in pairs]


def _details(draft: Draft, flight_number: str, date: str) -> dict[str, Json]:
    day = draft.get("flights", flight_number)["dates"][date]
    return {field: value for field, value in day.items() if field != "status"}


def book_reservation(
    draft: Draft,
    user_id: Json,
    origin: Json,
    destination: Json,
    flight_type: Json,
    cabin: Json,
    flights: Json,
    passengers: Json,
    payment_methods: Json,
    total_baggages: Json,
    nonfree_baggages: Json,
    insurance: Json,
) -> Json:
    """Book a trip: flights, balances and the total are checked, in this order.

    Returns:
        The new reservation.

    Raises:
        RefusalError: Where something is unknown or not available, or the payments do not add up.
        KeyError: Where a certificate is named twice, after the first one was used up.
    """
    user = find_user(draft, user_id)
    seats = len(passengers)
    booked = [_priced(segment, new_segment(draft, segment, cabin, seats)) for segment in flights]
    price = sum(segment["price"] * seats for segment in booked)
    price += INSURANCE_PRICE * seats if insurance == "yes" else 0
    price += BAG_PRICE * nonfree_baggages
    check_payments(user, payment_methods, price)
    spend(draft, user_id, payment_methods)
    reservation = {
        "reservation_id": _new_reservation_id(draft),
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "flights": booked,
        "passengers": passengers,
        "payment_history": payment_methods,
        "created_at": NOW,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    draft.put("reservations", reservation["reservation_id"], reservation)
    draft.edit("users", user_id)["reservations"].append(reservation["reservation_id"])
    return show_reservation(reservation)


def _priced(segment: Json, known: Json) -> Json:
    return {**segment, **{field: known[field] for field in _LOOKED_UP}}


def _new_reservation_id(draft: Draft) -> str:
    free = (i for i in RESERVATION_IDS if not draft.has("reservations", i))
    return next(free, RESERVATION_IDS[-1])


def update_reservation_flights(
    draft: Draft, reservation_id: Json, cabin: Json, flights: Json, payment_id: Json
) -> Json:
    """Replace a reservation's flights; the difference in price is paid or refunded by one payment method.

    A flight that the reservation has on that date keeps its price where the cabin asked for is the one that is stored.

    Returns:
        The reservation.

    Raises:
        RefusalError: Where something is unknown or not available, or the payment method will not do.
    """
    reservation = find_reservation(draft, reservation_id)
    seats = len(reservation["passengers"])
    wanted = []
    for segment in flights:
        kept = _kept(reservation, segment) if cabin == reservation["cabin"] else None
        wanted.append(_priced(segment, kept or new_segment(draft, segment, cabin, seats)))
    price = sum(segment["price"] for segment in wanted) - sum(segment["price"] for segment in reservation["flights"])
    charge(draft, reservation_id, payment_id, price * seats, entry=dict)
    reservation = draft.edit("reservations", reservation_id)
    reservation["flights"] = wanted
    return show_reservation(reservation)


def _kept(reservation: Json, segment: Json) -> Json | None:
    for kept in reservation["flights"]:
        if kept["flight_number"] == segment["flight_number"] and kept["date"] == segment["date"]:
            return kept
    return None


def update_reservation_baggages(
    draft: Draft, reservation_id: Json, total_baggages: Json, nonfree_baggages: Json, payment_id: Json
) -> Json:
    """Set a reservation's bag counts; each non-free bag beyond the present number is paid, none is refunded.

    Returns:
        The reservation.

    Raises:
        RefusalError: Where there is no such reservation, or the payment method will not do.
        TypeError: Where the number of non-free bags is no number.
    """
    reservation = find_reservation(draft, reservation_id)
    price = BAG_PRICE * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    charge(draft, reservation_id, payment_id, price, entry=dict)
    reservation = draft.edit("reservations", reservation_id)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    return show_reservation(reservation)


def update_reservation_passengers(draft: Draft, reservation_id: Json, passengers: Json) -> Json:
    """Replace a reservation's passengers by as many others, whatever they are.

    Returns:
        The reservation.

    Raises:
        RefusalError: Where there is no such reservation, or the number differs.
    """
    if len(passengers) != len(find_reservation(draft, reservation_id)["passengers"]):
        raise RefusalError("Number of passengers does not match")
    reservation = draft.edit("reservations", reservation_id)
    reservation["passengers"] = passengers
    return show_reservation(reservation)


def send_certificate(draft: Draft, user_id: Json, amount: Json) -> Json:
    """Give a user a certificate; the fourth one does nothing.

    Returns:
        A sentence that names the certificate; None for the fourth.

    Raises:
        RefusalError: Where there is no such user.
    """
    methods = find_user(draft, user_id)["payment_methods"]
    certificate_id = next((i for i in CERTIFICATE_IDS if i not in methods), None)
    if certificate_id is None:
        return None
    certificate = {"source": "certificate", "amount": amount, "id": certificate_id}
    draft.edit("users", user_id)["payment_methods"][certificate_id] = certificate
    return f"Certificate {certificate_id} added to user {user_id} with amount {amount}."
