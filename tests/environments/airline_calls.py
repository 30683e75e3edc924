"""Airline calls made up at random: mostly plausible ones on a small cast, some of them broken on purpose.

A small cast (a few users, their reservations, a few flights) makes calls of one sequence meet each other.
"""

from __future__ import annotations

import random
from typing import Any

import attrs

from multigold.environments.airline.tools import CERTIFICATE_IDS, RESERVATION_IDS
from multigold.model.task import ToolCall
from multigold.state.canonical import clone

Json = Any
CABINS = ("basic_economy", "economy", "business")

ODD_VALUES: tuple[Json, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 10**30, 10**400, 1.0, 0.5, 1.01, -2.0, 2.5, 1e19, 1e300,
    "", " ", "0", "1", " 2 ", "1.0", "1.5", "2e0", "1_0", "-1", "+1", "0x1", "nan", "inf", "1e999", "yes", "no",
    "economy", "first", "round_trip", "2024-05-20", "2024-5-20", "JFK", "jfk", "None", "null", "é", "\ud800", "a\x00b",
    [], {}, [[]], [None], [{}], [1, "x"], {"a": 1}, {"a": 1, "b": [2]}, ["economy"], "ab", "abc",
    [{"first_name": "A"}], [{"first_name": "A", "last_name": "B", "dob": "C"}, "x"],
)  # fmt: skip

NUMBERS = ("0", "1", "2", "7", "10", "007", "00", "3.5", ".5", "2.", "1000", "99.99")
SIGNS = ("+", "-", "*", "/", "//", "**", " + ", " * ", " - ", " / ")


@attrs.frozen
class Cast:
    """Who and what the made-up calls are about.

    Attributes:
        raw: The data.
        users: Ids.
        reservations: Ids: the users' own, and those that a run may mint.
        days: Flight number and date, most of them available.
    """

    raw: dict[str, Any]
    users: tuple[str, ...]
    reservations: tuple[str, ...]
    days: tuple[tuple[str, str], ...]

    @classmethod
    def choose(cls, raw: dict[str, Any], size: int = 8) -> Cast:
        """Choose users that have every kind of payment method, or many, with their reservations and some flights."""
        rich = sorted(raw["users"].values(), key=lambda u: (-_richness(u), u["user_id"]))[:size]
        owned = [r for user in rich for r in user["reservations"] if r in raw["reservations"]]
        days = {(s["flight_number"], s["date"]) for r in owned for s in raw["reservations"][r]["flights"]}
        choice = random.Random(7)
        every = sorted((f, d) for f, flight in raw["flights"].items() for d in flight["dates"])
        available = [(f, d) for f, d in every if raw["flights"][f]["dates"][d]["status"] == "available"]
        days |= set(choice.sample(available, min(20, len(available)))) | set(choice.sample(every, min(8, len(every))))
        users = tuple(user["user_id"] for user in rich)
        return cls(raw, users, (*owned, *RESERVATION_IDS), tuple(sorted(days)))


def _richness(user: Json) -> int:
    sources = [method["source"] for method in user["payment_methods"].values()]
    return 10 * len(set(sources)) + len(sources) + len(user["reservations"])


def make_call(cast: Cast, rng: random.Random) -> ToolCall:
    """Return a call, made up with a generator that is passed in."""
    name = rng.choice(WEIGHTED)
    arguments = MAKERS[name](cast, rng)
    if rng.random() < 0.22:
        name, arguments = _broken(name, arguments, rng)
    return ToolCall(name, arguments, requestor="user" if rng.random() < 0.005 else "assistant")


def _broken(name: str, arguments: dict[str, Json], rng: random.Random) -> tuple[str, dict[str, Json]]:
    """Break a call in one or two places: a value, a part of a list, a name left out or added, another tool."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        way = rng.random()
        key = rng.choice(list(arguments) or ["summary"])
        inner = arguments.get(key)
        if way < 0.08:
            arguments.pop(key, None)
        elif way < 0.13:
            arguments[rng.choice(("reason", "self", "draft", "requestor", "tool_name", "confirm"))] = _odd(rng)
        elif way < 0.16:
            name = rng.choice(("refund", "think", "Calculate", "", "cancel_reservations"))
        elif way < 0.6 and isinstance(inner, list) and inner:
            _break_item(inner, rng)
        else:
            arguments[key] = _odd(rng)
    return name, arguments


def _break_item(items: list[Json], rng: random.Random) -> None:
    at = rng.randrange(len(items))
    item = items[at]
    way = rng.random()
    if way < 0.15:
        items[at] = _odd(rng)
    elif way < 0.25:
        items.append(items[at])
    elif isinstance(item, dict) and item:
        key = rng.choice(list(item))
        if way < 0.4:
            del item[key]
        elif way < 0.5:
            item[rng.choice(("note", "self", "price", "origin"))] = _odd(rng)
        else:
            item[key] = _other_spelling(item[key], rng)


def _other_spelling(value: Json, rng: random.Random) -> Json:
    if isinstance(value, int) and rng.random() < 0.6:
        return rng.choice((float(value), str(value), f" {value}.0 ", -value, value + 1, value + 0.5, f"{value}e0"))
    return _odd(rng)


def _odd(rng: random.Random) -> Json:
    return clone(rng.choice(ODD_VALUES))


def _user(cast: Cast, rng: random.Random) -> str:
    return rng.choice(cast.users) if rng.random() < 0.97 else rng.choice(("nobody", "sara_doe_496"))


def _reservation(cast: Cast, rng: random.Random) -> str:
    return rng.choice(cast.reservations) if rng.random() < 0.97 else rng.choice(("NOPE", "hathat"))


def _segments(cast: Cast, rng: random.Random) -> list[Json]:
    chosen = [rng.choice(cast.days) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
    return [{"flight_number": number, "date": date} for number, date in chosen]


def _owner(cast: Cast, reservation: str, rng: random.Random) -> str:
    record = cast.raw["reservations"].get(reservation)
    return record["user_id"] if record else rng.choice(cast.users)


def _method(cast: Cast, user: str, rng: random.Random) -> str:
    methods = [*cast.raw["users"].get(user, {}).get("payment_methods", {})]
    if methods and rng.random() < 0.93:
        return rng.choice(methods)
    return rng.choice((*CERTIFICATE_IDS, "credit_card_0", "gift_card_0"))


def _passengers(rng: random.Random, number: int) -> list[Json]:
    names = ("Ada", "Bo", "Chi", "Dee")
    return [{"first_name": rng.choice(names), "last_name": "Roe", "dob": "1990-01-02"} for _ in range(number)]


def _price(cast: Cast, segments: list[Json], cabin: str) -> int:
    total = 0
    for segment in segments:
        day = cast.raw["flights"].get(segment["flight_number"], {}).get("dates", {}).get(segment["date"], {})
        total += day.get("prices", {}).get(cabin, 100)
    return total


def _payments(cast: Cast, user: str, total: int, rng: random.Random) -> list[Json]:
    """Split a total over methods: mostly right, sometimes one short, sometimes with one method twice."""
    ways = rng.choice((1, 1, 2, 2, 3))
    methods = [_method(cast, user, rng) for _ in range(ways)]
    amounts, rest = [], total + (rng.choice((1, -1, 50)) if rng.random() < 0.1 else 0)
    for method in methods[:-1]:
        balance = cast.raw["users"].get(user, {}).get("payment_methods", {}).get(method, {}).get("amount", rest)
        amounts.append(rng.choice((int(balance), rest // 2, 10, 0, -5)))
        rest -= amounts[-1]
    amounts.append(rest)
    return [{"payment_id": method, "amount": amount} for method, amount in zip(methods, amounts, strict=True)]


def _book(cast: Cast, rng: random.Random) -> dict[str, Json]:
    user, cabin, number = _user(cast, rng), rng.choice(CABINS), rng.choice((0, 1, 1, 1, 2, 3))
    segments, insurance, bags = _segments(cast, rng), rng.choice(("yes", "no")), rng.choice((0, 0, 1, 2))
    total = _price(cast, segments, cabin) * number + (30 * number if insurance == "yes" else 0) + 50 * bags
    return {
        "user_id": user, "origin": "JFK", "destination": rng.choice(("SEA", "BOS")),
        "flight_type": rng.choice(("one_way", "round_trip")), "cabin": cabin, "flights": segments,
        "passengers": _passengers(rng, number), "payment_methods": _payments(cast, user, total, rng),
        "total_baggages": bags + rng.choice((0, 1)), "nonfree_baggages": bags, "insurance": insurance,
    }  # fmt: skip


def _update_flights(cast: Cast, rng: random.Random) -> dict[str, Json]:
    reservation = _reservation(cast, rng)
    record = cast.raw["reservations"].get(reservation, {"flights": [], "cabin": "economy"})
    own = [{"flight_number": s["flight_number"], "date": s["date"]} for s in record["flights"]]
    segments = own if rng.random() < 0.45 else [s for s in own if rng.random() < 0.6] + _segments(cast, rng)
    if rng.random() < 0.1:
        segments = segments[::-1]
    cabin = record["cabin"] if rng.random() < 0.5 else rng.choice(CABINS)
    method = _method(cast, _owner(cast, reservation, rng), rng)
    return {"reservation_id": reservation, "cabin": cabin, "flights": segments, "payment_id": method}


def _update_bags(cast: Cast, rng: random.Random) -> dict[str, Json]:
    reservation = _reservation(cast, rng)
    nonfree = rng.choice((0, 0, 1, 2, 3, 1.0, 1.01, 2.5))
    method = _method(cast, _owner(cast, reservation, rng), rng)
    total = rng.choice((0, 1, 2, 3, 4.0, "2"))
    return {
        "reservation_id": reservation, "total_baggages": total, "nonfree_baggages": nonfree, "payment_id": method,
    }  # fmt: skip


def _update_passengers(cast: Cast, rng: random.Random) -> dict[str, Json]:
    reservation = _reservation(cast, rng)
    present = cast.raw["reservations"].get(reservation, {}).get("passengers", [])
    number = len(present) if rng.random() < 0.8 else rng.choice((0, 1, 2, 3))
    passengers = [dict(p) for p in present][::-1] if rng.random() < 0.3 else _passengers(rng, number)
    return {"reservation_id": reservation, "passengers": passengers}


def _certificate(cast: Cast, rng: random.Random) -> dict[str, Json]:
    return {"user_id": _user(cast, rng), "amount": rng.choice((50, 100, 150.0, 50.5, "50", "1_000", True, -1))}


def _search(cast: Cast, rng: random.Random) -> dict[str, Json]:
    number, date = rng.choice(cast.days)
    flight = cast.raw["flights"].get(number, {"origin": "JFK", "destination": "SEA"})
    return {"origin": flight["origin"], "destination": flight["destination"], "date": date}


def _status(cast: Cast, rng: random.Random) -> dict[str, Json]:
    number, date = rng.choice(cast.days)
    return {"flight_number": number, "date": date}


def _calculate(cast: Cast, rng: random.Random) -> dict[str, Json]:
    parts = [rng.choice(NUMBERS)]
    for _ in range(rng.randrange(4)):
        # At most one power, so that tau2's eval comes to an end.
        signs = SIGNS if not any("**" in part for part in parts) else [s for s in SIGNS if "**" not in s]
        parts += [rng.choice(signs), rng.choice(("", "", "-", "(", "+")) + rng.choice(NUMBERS)]
    text = "".join(parts)
    return {"expression": text + ")" * (text.count("(") - (rng.random() < 0.05))}


MAKERS = {
    "book_reservation": _book,
    "update_reservation_flights": _update_flights,
    "update_reservation_baggages": _update_bags,
    "update_reservation_passengers": _update_passengers,
    "cancel_reservation": lambda cast, rng: {"reservation_id": _reservation(cast, rng)},
    "send_certificate": _certificate,
    "get_user_details": lambda cast, rng: {"user_id": _user(cast, rng)},
    "get_reservation_details": lambda cast, rng: {"reservation_id": _reservation(cast, rng)},
    "search_direct_flight": _search,
    "search_onestop_flight": _search,
    "get_flight_status": _status,
    "calculate": _calculate,
    "list_all_airports": lambda cast, rng: {},
    "transfer_to_human_agents": lambda cast, rng: {"summary": "x"},
}
WEIGHTS = {
    "book_reservation": 26, "update_reservation_flights": 26, "update_reservation_baggages": 12,
    "update_reservation_passengers": 8, "cancel_reservation": 7, "send_certificate": 8, "get_user_details": 2,
    "get_reservation_details": 2, "search_direct_flight": 1, "search_onestop_flight": 1, "get_flight_status": 2,
    "calculate": 3, "list_all_airports": 1, "transfer_to_human_agents": 1,
}  # fmt: skip
WEIGHTED = tuple(name for name, weight in WEIGHTS.items() for _ in range(weight))
