"""tau2's airline domain: the tools that write.

Ported from observed behaviour, oddities included, because a verdict must be what the benchmark would say:

- Booking takes seats. Updates and cancellations never touch them, and a cancelled booking's id stays used.
- A cancellation appends the negated payments and gives a gift card nothing back.
- An update that costs nothing writes no payment. A gift card's balance is moved before the payment is written, so an
  amount that is not a whole number (bag counts are not validated) debits the card and then fails.
- A certificate that pays is used up whatever it was worth. Named twice in one booking, it is used up by the first
  entry, and then the second fails.
- Bag counts, and a cabin if the list of flights is empty, are stored as they were given.

Money is checked in tau2's order and computed with the numbers as given, so that a float stays one where tau2 keeps it.

tau-bench v1's tools are these as well, under rules of its own; a tool to which that makes a difference takes the rules
first (`writing_tools`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from multigold.environments.airline.queries import (
    find_flight,
    find_flight_day,
    find_reservation,
    find_user,
    show_reservation,
)
from multigold.environments.coercion import integer, literal, model, number, text
from multigold.environments.common import bound
from multigold.environments.tools import RefusalError, ToolFunction
from multigold.state.canonical import Json
from multigold.state.database import Draft

NOW = "2024-05-15T15:00:00"
"""The clock of the domain stands still."""

RESERVATION_IDS = ("HATHAT", "HATHAU", "HATHAV")
"""Ids for new reservations, in the order in which they are given out."""

CERTIFICATE_IDS = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
"""Ids for new certificates, in the order in which each user is given them."""

BAG_PRICE = 50
"""Dollars for each bag that is not free."""

INSURANCE_PRICE = 30
"""Dollars per passenger."""

_FLIGHT = model({"flight_number": text, "date": text})
_PASSENGER = model({"first_name": text, "last_name": text, "dob": text})
_PAYMENT = model({"payment_id": text, "amount": integer})
_CERTIFICATE = model({"id": text, "amount": number, "source": literal("certificate")})
_BOOKING = model(
    {
        "reservation_id": text,
        "user_id": text,
        "origin": text,
        "destination": text,
        "flight_type": literal("round_trip", "one_way"),
        "cabin": literal("business", "economy", "basic_economy"),
        "created_at": text,
        "total_baggages": integer,
        "nonfree_baggages": integer,
        "insurance": literal("yes", "no"),
    }
)

_LOOKED_UP = ("origin", "destination", "price")
"""What a segment has in addition to what the call says."""


class AirlineRules(NamedTuple):
    """All in which tau2's airline tools that write and tau-bench v1's differ.

    Attributes:
        validates: Whether what a call gives is taken as tau2's models take it; otherwise it is stored as it comes.
        takes_seats: Whether a booking takes seats.
        stores_cabin: Whether an update of flights stores the cabin; otherwise a later call still sees the old one.
        ids_run_out: Whether a fourth booking or certificate is refused; otherwise the booking overwrites the third one,
            and the certificate does nothing and says nothing.
    """

    validates: bool
    takes_seats: bool
    stores_cabin: bool
    ids_run_out: bool


TAU2_RULES = AirlineRules(validates=True, takes_seats=True, stores_cabin=True, ids_run_out=True)


def book_reservation(
    rules: AirlineRules,
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
    """Book a trip: flights at today's prices, paid in full by any of the user's payment methods.

    Returns:
        The new reservation.

    Raises:
        RefusalError: If something is of the wrong type, unknown, not available, or the payments do not add up.
        KeyError: If a certificate is named twice, after the first one was used up.
    """
    segments = _all_objects(rules, flights, _FLIGHT, "flight")
    travellers = _all_objects(rules, passengers, _PASSENGER, "passenger")
    payments = _all_objects(rules, payment_methods, _PAYMENT, "payment")
    user = find_user(draft, user_id)
    seats = len(travellers)
    stated = {
        "reservation_id": _new_reservation_id(rules, draft),
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "created_at": NOW,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    reservation = _taken(rules, stated, _BOOKING)
    booked = [_new_segment(draft, segment, cabin, seats) for segment in segments]
    price = sum(segment["price"] * seats for segment in booked)
    if insurance == "yes":
        price += INSURANCE_PRICE * seats
    price += BAG_PRICE * nonfree_baggages  # as given: "1" is stored as 1, but cannot be added to a price
    _check_payments(user, payments, price)
    _spend(draft, user_id, payments)
    if rules.takes_seats:
        _take_seats(draft, booked, cabin, seats)
    reservation |= {"flights": booked, "passengers": travellers, "payment_history": payments}
    draft.put("reservations", reservation["reservation_id"], reservation)
    draft.edit("users", user_id)["reservations"].append(reservation["reservation_id"])
    return show_reservation(reservation)


def writing_tools(rules: AirlineRules) -> tuple[ToolFunction, ...]:
    """Return the tools that write, under rules."""
    ruled = (
        book_reservation,
        send_certificate,
        update_reservation_baggages,
        update_reservation_flights,
        update_reservation_passengers,
    )
    return *bound(rules, ruled), cancel_reservation


def _taken(rules: AirlineRules, value: Json, field_type: Callable[[Json], Json]) -> Json:
    return field_type(value) if rules.validates else value


def _objects(values: Json, item: Callable[[Json], Json]) -> list[Json] | None:
    """Take a list argument as tau2's tools do: item by item, and only if every item is an object.

    tau2 tests nothing but that, so anything empty (an empty string, an empty object) is an empty list, and a list with
    a single item of another kind is not looked at: None, and the caller goes on with the argument as it is.
    """
    if not all(isinstance(value, dict) for value in values):
        return None
    return [item(value) for value in values]


def _all_objects(rules: AirlineRules, values: Json, item: Callable[[Json], Json], title: str) -> Json:
    if not rules.validates:
        return values
    taken = _objects(values, item)
    if taken is None:
        raise RefusalError(f"every {title} must be an object")
    return taken


def _new_reservation_id(rules: AirlineRules, draft: Draft) -> str:
    for reservation_id in RESERVATION_IDS:
        if not draft.has("reservations", reservation_id):
            return reservation_id
    if rules.ids_run_out:
        raise RefusalError("Too many reservations")
    return RESERVATION_IDS[-1]


def _new_segment(draft: Draft, segment: Json, cabin: Json, seats: int) -> dict[str, Json]:
    """Return a segment of a reservation at today's price, if there are seats; takes none.

    Raises:
        RefusalError: If there is no such flight, it cannot be booked that day, or has too few seats.
    """
    flight_number, date = segment["flight_number"], segment["date"]
    day = find_flight_day(draft, flight_number, date)
    if day["status"] != "available":
        raise RefusalError(f"Flight {flight_number} not available on date {date}")
    if day["available_seats"][cabin] < seats:
        raise RefusalError(f"Not enough seats on flight {flight_number}")
    flight = find_flight(draft, flight_number)
    price = day["prices"][cabin]
    return {**segment, "origin": flight["origin"], "destination": flight["destination"], "price": price}


def _check_payments(user: Json, payments: list[Json], price: Any) -> None:
    """Refuse if a booking's payments name a method that the user has not, exceed a balance, or miss the price.

    Raises:
        RefusalError: If they do.
    """
    for payment in payments:
        payment_id = payment["payment_id"]
        if payment_id not in user["payment_methods"]:
            raise RefusalError(f"Payment method {payment_id} not found")
        method = user["payment_methods"][payment_id]
        # Each entry alone is compared with the balance: two entries on one gift card may overdraw it.
        if method["source"] != "credit_card" and method["amount"] < payment["amount"]:
            raise RefusalError(f"Not enough balance in payment method {payment_id}")
    paid = sum(payment["amount"] for payment in payments)
    if paid != price:
        raise RefusalError(f"Payment amount does not add up, total price is {price}, but paid {paid}")


def _spend(draft: Draft, user_id: str, payments: list[Json]) -> None:
    """Take a booking's payments: gift cards are debited, certificates used up.

    Raises:
        KeyError: If a certificate is named twice, after the first one was used up.
    """
    methods = draft.edit("users", user_id)["payment_methods"]
    for payment in payments:
        method = methods[payment["payment_id"]]
        if method["source"] == "gift_card":
            method["amount"] -= payment["amount"]
        elif method["source"] == "certificate":
            del methods[payment["payment_id"]]


def _take_seats(draft: Draft, segments: list[dict[str, Json]], cabin: str, seats: int) -> None:
    for segment in segments:
        day = draft.edit("flights", segment["flight_number"])["dates"][segment["date"]]
        day["available_seats"][cabin] -= seats


def cancel_reservation(draft: Draft, reservation_id: Json) -> Json:
    """Cancel a reservation: its payments are appended with the opposite sign, and its status is `cancelled`.

    Returns:
        The reservation.

    Raises:
        RefusalError: If there is no such reservation.
        UnicodeEncodeError: If the reservation holds half of a surrogate pair, on which tau2 fails as well.
    """
    json.dumps(find_reservation(draft, reservation_id), ensure_ascii=False).encode()
    reservation = draft.edit("reservations", reservation_id)
    history = reservation["payment_history"]
    history += [{"payment_id": p["payment_id"], "amount": -p["amount"]} for p in history]
    reservation["status"] = "cancelled"
    return show_reservation(reservation)


def update_reservation_flights(
    rules: AirlineRules, draft: Draft, reservation_id: Json, cabin: Json, flights: Json, payment_id: Json
) -> Json:
    """Replace a reservation's flights and cabin; the difference in price is paid or refunded by one payment method.

    A flight that the reservation has already, on that date and in that cabin, keeps its price and needs no seats. Any
    other is taken at today's price.

    Returns:
        The reservation.

    Raises:
        RefusalError: If something is unknown or not available, or the payment method will not do.
    """
    segments = _all_objects(rules, flights, _FLIGHT, "flight")
    reservation = find_reservation(draft, reservation_id)
    seats = len(reservation["passengers"])
    find_user(draft, reservation["user_id"])
    wanted = [
        _kept_segment(reservation, segment, cabin) or _new_segment(draft, segment, cabin, seats) for segment in segments
    ]
    price = sum(segment["price"] for segment in wanted) - sum(segment["price"] for segment in reservation["flights"])
    _charge(rules, draft, reservation_id, payment_id, price * seats)
    reservation = draft.edit("reservations", reservation_id)
    reservation["flights"] = wanted
    if rules.stores_cabin:
        reservation["cabin"] = cabin
    return show_reservation(reservation)


def _kept_segment(reservation: Json, segment: Json, cabin: Json) -> Json | None:
    """Return a segment as the reservation has it already; None if it has none, or in another cabin."""
    if cabin != reservation["cabin"]:
        return None
    for kept in reservation["flights"]:
        if kept["flight_number"] == segment["flight_number"] and kept["date"] == segment["date"]:
            return {**segment, **{field: kept[field] for field in _LOOKED_UP}}
    return None


def _charge(rules: AirlineRules, draft: Draft, reservation_id: str, payment_id: Json, price: Any) -> None:
    """Take (or give back) the price of an update by a credit card or a gift card, and write it in the history.

    Raises:
        RefusalError: If the payment method is unknown or will not do; with a gift card debited already if the
            entry is not a valid one.
    """
    user_id = draft.get("reservations", reservation_id)["user_id"]
    methods = draft.get("users", user_id)["payment_methods"]
    if payment_id not in methods:
        raise RefusalError("Payment method not found")
    source = methods[payment_id]["source"]
    if source == "certificate":
        raise RefusalError("Certificate cannot be used to update reservation")
    if source == "gift_card":
        if methods[payment_id]["amount"] < price:
            raise RefusalError("Gift card balance is not enough")
        draft.edit("users", user_id)["payment_methods"][payment_id]["amount"] -= price
    if price != 0:
        # This may refuse, with the gift card debited.
        payment = _taken(rules, {"payment_id": payment_id, "amount": price}, _PAYMENT)
        draft.edit("reservations", reservation_id)["payment_history"].append(payment)


def update_reservation_baggages(
    rules: AirlineRules,
    draft: Draft,
    reservation_id: Json,
    total_baggages: Json,
    nonfree_baggages: Json,
    payment_id: Json,
) -> Json:
    """Set a reservation's bag counts, as given; each non-free bag beyond the present number is paid, none is refunded.

    Returns:
        The reservation.

    Raises:
        RefusalError: If something is unknown, or the payment method will not do; also, with a gift card debited
            already, if the price is not a whole number.
        TypeError: If the number of non-free bags is not a number; to `step` that is a refusal as any other.
    """
    reservation = find_reservation(draft, reservation_id)
    find_user(draft, reservation["user_id"])
    price = BAG_PRICE * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    _charge(rules, draft, reservation_id, payment_id, price)
    reservation = draft.edit("reservations", reservation_id)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    return show_reservation(reservation)


def update_reservation_passengers(rules: AirlineRules, draft: Draft, reservation_id: Json, passengers: Json) -> Json:
    """Replace a reservation's passengers by as many others.

    As in tau2, something that is not a list of objects but has the right length is stored as it is.

    Returns:
        The reservation.

    Raises:
        RefusalError: If there is no such reservation, the number differs, or a passenger lacks a field.
    """
    travellers = _objects(passengers, _PASSENGER) if rules.validates else None
    stored = passengers if travellers is None else travellers
    if len(stored) != len(find_reservation(draft, reservation_id)["passengers"]):
        raise RefusalError("Number of passengers does not match")
    reservation = draft.edit("reservations", reservation_id)
    reservation["passengers"] = stored
    return show_reservation(reservation)


def send_certificate(rules: AirlineRules, draft: Draft, user_id: Json, amount: Json) -> Json:
    """Give a user a certificate.

    Returns:
        A sentence that names the certificate; None if three were sent already and that is not a refusal.

    Raises:
        RefusalError: If there is no such user, the amount is not a number, or three were sent already.
    """
    user = find_user(draft, user_id)
    for certificate_id in CERTIFICATE_IDS:
        if certificate_id not in user["payment_methods"]:
            stated = {"id": certificate_id, "amount": amount, "source": "certificate"}
            certificate = _taken(rules, stated, _CERTIFICATE)
            draft.edit("users", user_id)["payment_methods"][certificate_id] = certificate
            return f"Certificate {certificate_id} added to user {user_id} with amount {amount}."
    if rules.ids_run_out:
        raise RefusalError("Too many certificates")
    return None
