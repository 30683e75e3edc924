"""tau2's airline domain: looking things up. Nothing here writes to a draft.

The lookups at the top are what the write tools use too; the tools that only read follow. What they return may be a
record of the draft itself: `step` copies every observation, so that a later write leaves it alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from multigold.environments.common import finder
from multigold.environments.tools import RefusalError
from multigold.state.canonical import Json
from multigold.state.database import Draft

AIRPORTS = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}
"""IATA code to city, in the order in which tau2 lists them."""


find_user = finder("users", "User {id} not found")
find_reservation = finder("reservations", "Reservation {id} not found")
find_flight = finder("flights", "Flight {id} not found")


def find_flight_day(draft: Draft, flight_number: Json, date: Json) -> Json:
    """Return what is known of a flight on one date, to be read only.

    Raises:
        RefusalError: If there is no such flight, or it does not fly that day.
        TypeError: If the date cannot be looked up (a list); to `step` that is a refusal as any other.
    """
    flight = find_flight(draft, flight_number)
    if date not in flight["dates"]:
        raise RefusalError(f"Flight {flight_number} not found on date {date}")
    return flight["dates"][date]


def show_reservation(reservation: Json) -> Json:
    """Return a reservation as the agent sees it: with the null that an uncancelled one has for its status."""
    return {**reservation, "status": reservation.get("status")}


def get_user_details(draft: Draft, user_id: Json) -> Json:
    """Return a user's profile.

    Raises:
        RefusalError: If there is no such user.
    """
    return find_user(draft, user_id)


def get_reservation_details(draft: Draft, reservation_id: Json) -> Json:
    """Return a reservation.

    Raises:
        RefusalError: If there is no such reservation.
    """
    return show_reservation(find_reservation(draft, reservation_id))


def get_flight_status(draft: Draft, flight_number: Json, date: Json) -> Json:
    """Return a flight's status on a date, such as `available` or `landed`.

    Raises:
        RefusalError: If there is no such flight, or it does not fly that day.
    """
    return find_flight_day(draft, flight_number, date)["status"]


def list_all_airports(draft: Draft) -> Json:  # noqa: ARG001 - every tool is given the draft
    """Return every airport as `{"iata", "city"}`."""
    return [{"iata": code, "city": city} for code, city in AIRPORTS.items()]


def search_direct_flight(draft: Draft, origin: Json, destination: Json, date: Json) -> Json:
    """Return the flights from one airport to another that can be booked on a date; null stands for any airport."""
    return list(_bookable(_flights(draft), origin, destination, date))


def search_onestop_flight(draft: Draft, origin: Json, destination: Json, date: Json) -> Json:
    """Return pairs of bookable flights that connect, the second one leaving on the day on which the first one lands.

    As in tau2, times are compared as they are written (a landing at `01:30:00+1` lets one leave at 02:00:00 the next
    day, and not at 01:30:00), and the day after the 8th of May is looked up as `2024-05-9`, which no flight has.

    Raises:
        ValueError: If a flight lands on the next day and the date does not end in two digits; to `step` that is a
            refusal as any other.
    """
    flights, pairs = _flights(draft), []
    for first in _bookable(flights, origin, None, date):
        landing = first["scheduled_arrival_time_est"]
        next_date = f"2024-05-{int(date[-2:]) + 1}" if "+1" in landing else date
        for second in _bookable(flights, first["destination"], destination, next_date, leave_after=landing):
            pairs.append([{**first, "date": date}, {**second, "date": next_date}])  # noqa: PERF401
    return pairs


def _flights(draft: Draft) -> list[Json]:
    return [draft.get("flights", flight_number) for flight_number in draft.ids("flights")]


def _bookable(
    flights: list[Json], origin: Json, destination: Json, date: Json, *, leave_after: str | None = None
) -> Iterator[dict[str, Json]]:
    for flight in flights:
        if origin is not None and flight["origin"] != origin:
            continue
        if destination is not None and flight["destination"] != destination:
            continue
        # The date is looked at last: tau2 refuses one that cannot be looked up only if some flight gets this far.
        if date not in flight["dates"] or flight["dates"][date]["status"] != "available":
            continue
        if leave_after is None or flight["scheduled_departure_time_est"] >= leave_after:
            yield _show_flight(flight, flight["dates"][date])


def _show_flight(flight: Json, day: Json) -> dict[str, Json]:
    return {
        "flight_number": flight["flight_number"],
        "origin": flight["origin"],
        "destination": flight["destination"],
        "status": "available",
        "scheduled_departure_time_est": flight["scheduled_departure_time_est"],
        "scheduled_arrival_time_est": flight["scheduled_arrival_time_est"],
        "date": None,
        "available_seats": day["available_seats"],
        "prices": day["prices"],
    }
