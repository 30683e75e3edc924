"""An airline of three flights and two users, made up for tests that need no data of anybody else.

TN1  AAA 08:00 - BBB 09:00        R1  uma, one way AAA - BBB - CCC on the 20th, economy, one passenger
TN2  BBB 10:00 - CCC 11:30        R2  vic, round trip AAA - BBB - AAA on the 20th and 21st, basic economy, two
TN3  BBB 20:00 - AAA 01:30+1          passengers, insured, one bag paid for
"""

from __future__ import annotations

from typing import Any

from multigold.environments.airline import build
from multigold.environments.base import Environment
from multigold.model.task import ToolCall
from multigold.state.database import Database

Json = Any


def _available(basic: int, economy: int, business: int, *, seats: int = 5) -> Json:
    return {
        "status": "available",
        "available_seats": {"basic_economy": seats, "economy": seats, "business": 1},
        "prices": {"basic_economy": basic, "economy": economy, "business": business},
    }


def _flight(number: str, origin: str, destination: str, leaves: str, lands: str, dates: Json) -> Json:
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": leaves,
        "scheduled_arrival_time_est": lands,
        "dates": dates,
    }


def _segment(number: str, origin: str, destination: str, date: str, price: int) -> Json:
    return {"flight_number": number, "origin": origin, "destination": destination, "date": date, "price": price}


def tables() -> dict[str, Any]:
    """Return the data, anew each time."""
    landed = {"status": "landed", "actual_departure_time_est": "", "actual_arrival_time_est": ""}
    return {
        "flights": {
            "TN1": _flight("TN1", "AAA", "BBB", "08:00:00", "09:00:00", {
                "2024-05-10": landed,
                "2024-05-20": _available(60, 95, 300),
                "2024-05-21": _available(50, 80, 250, seats=2),
                "2024-05-22": _available(40, 70, 200),
            }),
            "TN2": _flight("TN2", "BBB", "CCC", "10:00:00", "11:30:00", {
                "2024-05-20": _available(30, 75, 210),
                "2024-05-21": _available(35, 60, 220),
                "2024-05-22": {"status": "cancelled"},
            }),
            "TN3": _flight("TN3", "BBB", "AAA", "20:00:00", "01:30:00+1", {
                "2024-05-08": _available(20, 30, 90),
                "2024-05-20": _available(45, 85, 260),
                "2024-05-21": _available(55, 88, 270),
            }),
        },
        "users": {
            "uma": {
                "user_id": "uma", "name": {"first_name": "Uma", "last_name": "Ito"}, "membership": "silver",
                "payment_methods": {
                    "card_u": {"source": "credit_card", "id": "card_u", "brand": "visa", "last_four": "0001"},
                    "gift_u": {"source": "gift_card", "id": "gift_u", "amount": 100.0},
                    "cert_u": {"source": "certificate", "id": "cert_u", "amount": 50.0},
                },
                "saved_passengers": [], "reservations": ["R1"],
            },
            "vic": {
                "user_id": "vic", "name": {"first_name": "Vic", "last_name": "Joy"}, "membership": "regular",
                "payment_methods": {
                    "card_v": {"source": "credit_card", "id": "card_v", "brand": "visa", "last_four": "0002"},
                    "gift_v": {"source": "gift_card", "id": "gift_v", "amount": 500.0},
                },
                "saved_passengers": [], "reservations": ["R2"],
            },
        },
        "reservations": {
            "R1": {
                "reservation_id": "R1", "user_id": "uma", "origin": "AAA", "destination": "CCC",
                "flight_type": "one_way", "cabin": "economy",
                "flights": [
                    _segment("TN1", "AAA", "BBB", "2024-05-20", 90),
                    _segment("TN2", "BBB", "CCC", "2024-05-20", 70),
                ],
                "passengers": [{"first_name": "Uma", "last_name": "Ito", "dob": "1980-01-01"}],
                "payment_history": [{"payment_id": "card_u", "amount": 160}],
                "created_at": "2024-05-01T10:00:00", "total_baggages": 1, "nonfree_baggages": 0, "insurance": "no",
            },
            "R2": {
                "reservation_id": "R2", "user_id": "vic", "origin": "AAA", "destination": "BBB",
                "flight_type": "round_trip", "cabin": "basic_economy",
                "flights": [
                    _segment("TN1", "AAA", "BBB", "2024-05-20", 58),
                    _segment("TN3", "BBB", "AAA", "2024-05-21", 52),
                ],
                "passengers": [
                    {"first_name": "Vic", "last_name": "Joy", "dob": "1981-01-01"},
                    {"first_name": "Wes", "last_name": "Joy", "dob": "1982-01-01"},
                ],
                "payment_history": [{"payment_id": "gift_v", "amount": 330}],
                "created_at": "2024-05-02T10:00:00", "total_baggages": 1, "nonfree_baggages": 1, "insurance": "yes",
            },
        },
    }  # fmt: skip


def environment() -> Environment:
    """Return the airline environment on this data."""
    return build(Database.from_json(tables()))


def leg(number: str, day: int) -> Json:
    """Return a flight of May as calls name it."""
    return {"flight_number": number, "date": f"2024-05-{day}"}


def booking(**changes: Json) -> ToolCall:
    """Return a booking that succeeds (uma, TN1 on the 21st, economy, 80 on the card), with some arguments changed."""
    arguments = {
        "user_id": "uma", "origin": "AAA", "destination": "BBB", "flight_type": "one_way", "cabin": "economy",
        "flights": [leg("TN1", 21)],
        "passengers": [{"first_name": "Uma", "last_name": "Ito", "dob": "1980-01-01"}],
        "payment_methods": [{"payment_id": "card_u", "amount": 80}],
        "total_baggages": 0, "nonfree_baggages": 0, "insurance": "no",
    }  # fmt: skip
    return ToolCall("book_reservation", {**arguments, **changes})


def moving(reservation: str = "R1", **changes: Json) -> ToolCall:
    """Return an update of flights that keeps R1 as it is, with some arguments changed."""
    arguments = {"cabin": "economy", "flights": [leg("TN1", 20), leg("TN2", 20)], "payment_id": "card_u"}
    return ToolCall("update_reservation_flights", {"reservation_id": reservation, **arguments, **changes})


def bags(total: Json, nonfree: Json, *, reservation: Json = "R1", method: Json = "card_u") -> ToolCall:
    """Return an update of bags."""
    counts = {"total_baggages": total, "nonfree_baggages": nonfree}
    return ToolCall("update_reservation_baggages", {"reservation_id": reservation, **counts, "payment_id": method})


def passengers(value: Json, *, reservation: Json = "R1") -> ToolCall:
    """Return an update of passengers."""
    return ToolCall("update_reservation_passengers", {"reservation_id": reservation, "passengers": value})


def cancelling(reservation: Json = "R1") -> ToolCall:
    """Return a cancellation."""
    return ToolCall("cancel_reservation", {"reservation_id": reservation})


def certificate(amount: Json, *, user: Json = "uma") -> ToolCall:
    """Return a certificate."""
    return ToolCall("send_certificate", {"user_id": user, "amount": amount})
