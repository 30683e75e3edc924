"""Invariants of where a reservation goes: its segments connect, could be booked, and took their seats.

They judge the end state against the initial one, not the calls in between, so any order of calls passes or fails alike.
What tau2's own data breaks already (connections that do not connect) is not blamed on a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import pairwise

from multigold.environments.airline.changes import (
    ChangedReservation,
    changed_reservations,
    flight_days,
    for_each_reservation,
)
from multigold.environments.common import changed_records
from multigold.state.canonical import Json, clone, same
from multigold.state.database import GONE, EndState


def _itinerary_faults(changed: ChangedReservation) -> Iterator[str]:
    """A reservation on other flights than before still leads from its origin to its destination, and back.

    Every segment goes where the timetable says, begins where the one before it ended, and leaves no earlier than that
    one lands (by the timetable, whose times are all Eastern). A round trip passes through the destination and ends at
    the origin. Two segments that followed each other before are not checked against the clock: some of the
    data's own do not connect.
    """
    if not changed.moved:
        return
    reservation, segments = changed.after, changed.after["flights"]
    if not segments:
        yield "has no flights"
        return
    for segment in segments:
        yield from _timetable_faults(segment, changed.initial)
    yield from _end_faults(reservation, segments)
    followed = set() if changed.before is None else set(pairwise(flight_days(changed.before)))
    for pair, (one, other) in zip(pairwise(flight_days(reservation)), pairwise(segments), strict=True):
        if one["destination"] != other["origin"]:
            yield f"lands in {one['destination']} and goes on from {other['origin']}"
        elif pair not in followed and not _in_time(one, other, changed.initial):
            yield f"leaves with {other['flight_number']} before {one['flight_number']} has landed"


def _end_faults(reservation: Json, segments: list[Json]) -> Iterator[str]:
    origin, destination = reservation["origin"], reservation["destination"]
    returns = reservation["flight_type"] == "round_trip"
    if segments[0]["origin"] != origin:
        yield f"starts in {segments[0]['origin']} and not in {origin}"
    if segments[-1]["destination"] != (origin if returns else destination):
        yield f"ends in {segments[-1]['destination']} and not in {origin if returns else destination}"
    if returns and destination not in [segment["destination"] for segment in segments[:-1]]:
        yield f"does not go to {destination}"


def _timetable_faults(segment: Json, initial: EndState) -> Iterator[str]:
    flight = _flight(initial, segment["flight_number"])
    if flight is None:
        yield f"has a flight {segment['flight_number']} that does not exist"
    elif (flight["origin"], flight["destination"]) != (segment["origin"], segment["destination"]):
        yield f"has {segment['flight_number']} going from {segment['origin']} to {segment['destination']}"


def _flight(state: EndState, flight_number: str) -> Json | None:
    flight = state.agent.find("flights", flight_number)
    return None if flight is GONE else flight


def _in_time(one: Json, other: Json, state: EndState) -> bool:
    """Tell whether one segment lands before the other leaves; True if either is not in the timetable."""
    first, second = _flight(state, one["flight_number"]), _flight(state, other["flight_number"])
    if first is None or second is None:
        return True
    try:
        landing = _moment(one["date"], first["scheduled_arrival_time_est"])
        return landing <= _moment(other["date"], second["scheduled_departure_time_est"])
    except (ValueError, OverflowError):
        return False


def _moment(day: str, clock: str) -> datetime:
    """Return the moment that a date and a time of the timetable name; `01:30:00+1` is on the next day."""
    reading, _, later = clock.partition("+")
    return datetime.combine(date.fromisoformat(day), time.fromisoformat(reading)) + timedelta(days=int(later or 0))


def _stay_faults(changed: ChangedReservation) -> Iterator[str]:
    """Where one new segment follows another on the way, it leaves on the day on which that one lands.

    So the one-stop search lists them (tau2, `search_onestop_flight`): a stop on the way is a connection and no stay.
    Segments that the reservation had, and the turn of a round trip, may be any time apart. Where a trip never gets to
    its destination there is no telling what is on the way; `itineraries-connect` says so.
    """
    places = [segment["destination"] for segment in changed.after["flights"]]
    if not changed.moved or changed.after["destination"] not in places:
        return
    had = set() if changed.before is None else set(flight_days(changed.before))
    days = list(flight_days(changed.after))
    for (first, second), (one, other) in zip(pairwise(days), pairwise(changed.after["flights"]), strict=True):
        on_the_way = one["destination"] != changed.after["destination"]
        if on_the_way and not {first, second} & had and _is_a_stay(one, other, changed.initial):
            yield f"stays in {one['destination']} until {other['flight_number']} on {other['date']}"


def _is_a_stay(one: Json, other: Json, state: EndState) -> bool:
    flight = _flight(state, one["flight_number"])
    if flight is None:
        return False
    try:
        return _moment(one["date"], flight["scheduled_arrival_time_est"]).date() < date.fromisoformat(other["date"])
    except (ValueError, OverflowError):
        return False


def _availability_faults(changed: ChangedReservation) -> Iterator[str]:
    """Every segment is one that the reservation had, at its price, or one that could be booked, at today's price.

    A segment keeps its price only while the cabin stays. Any other must be `available` on its date with a seat for each
    passenger in the reservation's cabin, and costs what the data says for that cabin. Seats are counted as they were
    before the run: bookings of the same run do not count against an update (`seats-follow-bookings` adds them up).
    """
    reservation = changed.after
    kept: dict[tuple[str, str], set[int]] = {}
    if changed.before is not None and changed.before["cabin"] == reservation["cabin"]:
        for segment in changed.before["flights"]:
            kept.setdefault((segment["flight_number"], segment["date"]), set()).add(segment["price"])
    for segment in reservation["flights"]:
        if segment["price"] not in kept.get((segment["flight_number"], segment["date"]), ()):
            yield from _booking_faults(segment, reservation["cabin"], changed.seats, changed.initial)


def _booking_faults(segment: Json, cabin: str, seats: int, initial: EndState) -> Iterator[str]:
    number, day = segment["flight_number"], segment["date"]
    flight = _flight(initial, number)
    on_day = {} if flight is None else flight["dates"].get(day, {})
    if on_day.get("status") != "available":
        yield f"has {number} on {day}, which cannot be booked"
        return
    price, free = on_day["prices"].get(cabin), on_day["available_seats"].get(cabin, 0)
    if free < seats:
        yield f"needs {seats} seats in {cabin} on {number} on {day}, which has {free}"
    if segment["price"] != price:
        yield f"has {number} on {day} at {segment['price']}, which costs {price} in {cabin}"


def seats_follow_bookings(initial: EndState, end: EndState) -> Iterator[str]:
    """Each new reservation, cancelled or not, took a seat per passenger on each of its flights; nothing else moved.

    Updates and cancellations take no seats and give none back, as in tau2. So a booking that was itself moved to other
    flights in the same run is a fault here: the end state does not show where its first seats went.
    """
    taken: Counter[tuple[str, str, str]] = Counter()
    for changed in changed_reservations(initial, end):
        if isinstance(changed, str):
            yield changed
        elif changed.before is None:
            for number, day in flight_days(changed.after):
                taken[number, day, changed.after["cabin"]] += changed.seats
    numbers = {number for number, _, _ in taken} | {number for number, _, _ in changed_records(initial, end, "flights")}
    for number in sorted(numbers):
        yield from _seat_faults(number, taken, initial, end)


def _seat_faults(number: str, taken: Counter[tuple[str, str, str]], initial: EndState, end: EndState) -> Iterator[str]:
    before, after = _flight(initial, number), _flight(end, number)
    if before is None or after is None:
        yield f"flight {number} is not there before and after"
        return
    expected = clone(before)
    for (booked, day, cabin), seats in taken.items():
        if booked == number and cabin in expected["dates"].get(day, {}).get("available_seats", {}):
            expected["dates"][day]["available_seats"][cabin] -= seats
            if expected["dates"][day]["available_seats"][cabin] < 0:
                yield f"flight {number} on {day} has fewer seats in {cabin} than were booked"
    if not same(expected, after):
        yield f"flight {number} does not have the seats that the bookings leave"


itineraries_connect = for_each_reservation(_itinerary_faults)
stops_are_short = for_each_reservation(_stay_faults)
flights_available = for_each_reservation(_availability_faults)
