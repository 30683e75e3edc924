"""Pairs of paths through the airline domain that a person might call the same, and whether tau2's hash does.

Each row was run in tau2. The rows are data: an id, two lists of calls on tau2's own database, whether they end in one
state in tau2's spelling (where 1, 1.0, true and "1" are four values), and which calls of the second path are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from multigold.model.task import ToolCall

Json = Any


@attrs.frozen
class Paths:
    """Two paths and what becomes of them.

    Attributes:
        one: Calls; none of them is refused.
        other: Calls.
        same: Whether tau2's hash of the two end states is one.
        refused: Index of a call of `other` to what its refusal says.
        canonical: Whether the states are the same in canonical form, where whole floats are ints; None: as `same`.
    """

    one: tuple[ToolCall, ...]
    other: tuple[ToolCall, ...]
    same: bool
    refused: Mapping[int, str] = {}
    canonical: bool | None = None


def call(name: str, **arguments: Json) -> ToolCall:
    return ToolCall(name, arguments)


def legs(*flights: str) -> list[Json]:
    """Return flights as calls name them from `HAT041 05-21`."""
    return [{"flight_number": leg.split()[0], "date": f"2024-{leg.split()[1]}"} for leg in flights]


def move(reservation: str, cabin: str, legs: list[Json], method: str) -> ToolCall:
    arguments = {"reservation_id": reservation, "cabin": cabin, "flights": legs, "payment_id": method}
    return ToolCall("update_reservation_flights", arguments)


def bags(reservation: str, total: Json, nonfree: Json, method: str) -> ToolCall:
    arguments = {"reservation_id": reservation, "total_baggages": total, "nonfree_baggages": nonfree}
    return ToolCall("update_reservation_baggages", {**arguments, "payment_id": method})


def people(reservation: str, *people: Json) -> ToolCall:
    return call("update_reservation_passengers", reservation_id=reservation, passengers=list(people))


def cancel(reservation: str, **more: Json) -> ToolCall:
    return call("cancel_reservation", reservation_id=reservation, **more)


def certificate(amount: Json, user: str = "noah_muller_9847") -> ToolCall:
    return call("send_certificate", user_id=user, amount=amount)


def pay(*payments: tuple[str, Json]) -> list[Json]:
    return [{"payment_id": method, "amount": amount} for method, amount in payments]


RAJ_VISA, RAJ_MASTER, RAJ_GIFT = "credit_card_8003957", "credit_card_7686643", "gift_card_6468981"  # gift card: 279
IVAN_CARD, IVAN_GIFT_A, IVAN_GIFT_B = "credit_card_9659780", "gift_card_7344518", "gift_card_9823297"  # 183, 224
RAJ = {"first_name": "Raj", "last_name": "Brown", "dob": "1967-03-12"}
IVAN = {"first_name": "Ivan", "last_name": "Rossi", "dob": "1954-01-14"}
OLIVIA = {"first_name": "Olivia", "last_name": "Santos", "dob": "1984-06-23"}
LEI = {"first_name": "Lei", "last_name": "Johansson", "dob": "1995-10-22"}
OMAR = {"first_name": "Omar", "last_name": "Rossi", "dob": "1970-06-06"}
NEW_YORK = legs("HAT169 05-17", "HAT033 05-19")
STAY = legs("HAT202 05-21", "HAT232 05-21")
DIRECT = legs("HAT041 05-21")


def book(**changes: Json) -> ToolCall:
    """Return the booking of task 29 (282 dollars), with some arguments changed."""
    arguments = {
        "user_id": "raj_brown_5782", "origin": "DTW", "destination": "JFK", "flight_type": "round_trip",
        "cabin": "economy", "flights": NEW_YORK, "passengers": [RAJ], "payment_methods": pay((RAJ_VISA, 282)),
        "total_baggages": 1, "nonfree_baggages": 0, "insurance": "no",
    }  # fmt: skip
    return ToolCall("book_reservation", {**arguments, **changes})


def one_way(origin: str, destination: str, leg: str, amount: int, **changes: Json) -> ToolCall:
    trip = {"origin": origin, "destination": destination, "flight_type": "one_way", "flights": legs(leg)}
    return book(**trip, total_baggages=0, payment_methods=pay((RAJ_VISA, amount)), **changes)


UPGRADE, THEN_MOVE = move("OWZ4XL", "economy", STAY, IVAN_CARD), move("OWZ4XL", "economy", DIRECT, IVAN_CARD)
TWO_STEP = (UPGRADE, THEN_MOVE)
UPGRADE_ON_GIFT = move("OWZ4XL", "economy", STAY, IVAN_GIFT_B)
MOVE_29 = move("VA5SGQ", "economy", NEW_YORK, RAJ_VISA)
OUT, BACK = one_way("DTW", "JFK", "HAT169 05-17", 171), one_way("JFK", "DTW", "HAT033 05-19", 111)
STAY_29 = legs("HAT035 05-17", "HAT066 05-17", "HAT002 05-19", "HAT106 05-20")
MOVE_27 = move("M61CQM", "economy", legs("HAT223 05-15", "HAT039 05-16"), "credit_card_5447957")
FULL = move("M61CQM", "economy", legs("HAT223 05-15", "HAT133 05-16"), "credit_card_5447957")
UPGRADES_44 = tuple(
    move(reservation, "business", legs(*flights), "credit_card_4196779")
    for reservation, *flights in (
        ("NM1VX1", "HAT300 05-25", "HAT208 05-27"),
        ("H8Q05L", "HAT268 05-24"),
        ("KC18K6", "HAT300 05-21", "HAT215 05-21"),
    )
)
GIFT_17 = "gift_card_8190333"
MOVE_17 = move("FQ8APE", "economy", legs("HAT056 05-25", "HAT138 05-25"), GIFT_17)
NEW_15, GIFT_15 = legs("HAT110 05-24", "HAT172 05-24"), "gift_card_8887175"
STAY_15 = legs("HAT227 05-23", "HAT139 05-23")
READS = (
    call("get_user_details", user_id="raj_brown_5782"),
    call("search_direct_flight", origin="DTW", destination="JFK", date="2024-05-17"),
    call("calculate", expression="171 + 111"),
    call("transfer_to_human_agents", summary="x"),
)

PATHS: dict[str, Paths] = {
    "reads, calculate and transfer": Paths((MOVE_29,), (READS[0], MOVE_29, *READS[1:]), True),
    "a read that fails": Paths(
        (), (call("get_reservation_details", reservation_id="NOPE"),), True, {0: "Reservation NOPE not found"}
    ),
    "certificate: 50 or 50.0": Paths((certificate(50),), (certificate(50.0),), True),
    "certificate: 50 or text": Paths((certificate(50),), (certificate("50"),), True),
    "certificate: one of 150 or three of 50": Paths((certificate(150),), (certificate(50),) * 3, False),
    "certificates: 50, 100 or 100, 50": Paths(
        (certificate(50), certificate(100)), (certificate(100), certificate(50)), False
    ),
    "certificates to two users in either order": Paths(
        (certificate(50), certificate(100, "raj_brown_5782")),
        (certificate(100, "raj_brown_5782"), certificate(50)),
        True,
    ),
    "certificate before or after a cancellation": Paths(
        (certificate(50), cancel("VA5SGQ")), (cancel("VA5SGQ"), certificate(50)), True
    ),
    "certificate before or after a move (task 27)": Paths(
        (MOVE_27, certificate(150, "ethan_martin_2396")), (certificate(150, "ethan_martin_2396"), MOVE_27), True
    ),
    "a fourth certificate": Paths(
        (certificate(1),) * 3, (certificate(1),) * 4, True, {3: "Too many certificates"}
    ),
    "32: two steps or one call": Paths(TWO_STEP, (THEN_MOVE,), False),
    "32: two steps or moved first": Paths(
        TWO_STEP, (move("OWZ4XL", "basic_economy", DIRECT, IVAN_CARD), THEN_MOVE), False
    ),
    "32: refund on the card or on a gift card": Paths(
        TWO_STEP, (UPGRADE, move("OWZ4XL", "economy", DIRECT, IVAN_GIFT_A)), False
    ),
    "32: upgrade on a short gift card": Paths((), (UPGRADE_ON_GIFT,), True, {0: "Gift card balance is not enough"}),
    "32: after a failed attempt": Paths(
        TWO_STEP, (UPGRADE_ON_GIFT, *TWO_STEP), True, {0: "Gift card balance is not enough"}
    ),
    "32: and the same passengers": Paths(TWO_STEP, (*TWO_STEP, people("OWZ4XL", IVAN, OLIVIA, LEI)), True),
    "32: and passengers in another order": Paths(TWO_STEP, (*TWO_STEP, people("OWZ4XL", OLIVIA, IVAN, LEI)), False),
    "32: up and down again": Paths((), (UPGRADE, move("OWZ4XL", "basic_economy", STAY, IVAN_CARD)), False),
    "an update that keeps everything": Paths((), (move("OWZ4XL", "basic_economy", STAY, IVAN_CARD),), True),
    "flights in reverse": Paths((), (move("OWZ4XL", "basic_economy", STAY[::-1], IVAN_CARD),), False),
    "no flights at all": Paths((), (move("OWZ4XL", "basic_economy", [], IVAN_CARD),), False),
    "29: cancelled, then booked, or the other way": Paths(
        (cancel("VA5SGQ"), book()), (book(), cancel("VA5SGQ")), True
    ),
    "29: bag in the booking or afterwards": Paths(
        (book(),), (book(total_baggages=0), bags("HATHAT", 1, 0, RAJ_VISA)), True
    ),
    "29: who pays for a free bag": Paths(
        (MOVE_29, bags("VA5SGQ", 1, 0, RAJ_VISA)), (MOVE_29, bags("VA5SGQ", 1, 0, RAJ_GIFT)), True
    ),
    "29: which card": Paths((book(),), (book(payment_methods=pay((RAJ_MASTER, 282))),), False),
    "29: insured or not": Paths(
        (book(),), (book(insurance="yes", payment_methods=pay((RAJ_VISA, 312))),), False
    ),
    "29: order of payments": Paths(
        (book(payment_methods=pay((RAJ_GIFT, 279), (RAJ_VISA, 3))),),
        (book(payment_methods=pay((RAJ_VISA, 3), (RAJ_GIFT, 279))),),
        False,
    ),
    "29: one round trip or two one-ways": Paths((book(total_baggages=0),), (OUT, BACK), False),
    "29: two one-ways in either order": Paths((OUT, BACK), (BACK, OUT), False),
    "29: the kind of trip is what was said": Paths((book(),), (book(flight_type="one_way"),), False),
    "29: booked, cancelled and booked again": Paths((book(),), (book(), cancel("HATHAT"), book()), False),
    "29: move and free bag in either order": Paths(
        (MOVE_29, bags("VA5SGQ", 1, 0, RAJ_VISA)), (bags("VA5SGQ", 1, 0, RAJ_VISA), MOVE_29), True
    ),
    "move and paid bag in either order": Paths(
        (MOVE_29, bags("VA5SGQ", 1, 1, RAJ_VISA)), (bags("VA5SGQ", 1, 1, RAJ_VISA), MOVE_29), False
    ),
    "bags in one call or two": Paths(
        (bags("VA5SGQ", 2, 1, RAJ_VISA),),
        (bags("VA5SGQ", 1, 0, RAJ_VISA), bags("VA5SGQ", 2, 1, RAJ_VISA)),
        True,
    ),
    "two paid bags in one call or two": Paths(
        (bags("VA5SGQ", 2, 2, RAJ_VISA),),
        (bags("VA5SGQ", 1, 1, RAJ_VISA), bags("VA5SGQ", 2, 2, RAJ_VISA)),
        False,
    ),
    "updated bags: 1 or 1.0": Paths(
        (bags("VA5SGQ", 1, 0, RAJ_VISA),), (bags("VA5SGQ", 1.0, 0, RAJ_VISA),), False, canonical=True
    ),
    "updated bags: 1 or text": Paths((bags("VA5SGQ", 1, 0, RAJ_VISA),), (bags("VA5SGQ", "1", 0, RAJ_VISA),), False),
    "updated bags: 1 or true": Paths((bags("VA5SGQ", 1, 0, RAJ_VISA),), (bags("VA5SGQ", True, 0, RAJ_VISA),), False),
    "booking: paid 282 or 282.0": Paths((book(),), (book(payment_methods=pay((RAJ_VISA, 282.0))),), True),
    "booking: paid 282 or text": Paths((book(),), (book(payment_methods=pay((RAJ_VISA, "282"))),), True),
    "booking: bags 1 or 1.0": Paths((book(),), (book(total_baggages=1.0),), True),
    "booking: a passenger's extra key": Paths((book(),), (book(passengers=[{**RAJ, "seat": "1A"}]),), True),
    "booking: a flight in lower case": Paths(
        (book(),), (book(flights=legs("hat169 05-17", "HAT033 05-19")),), False, {0: "Flight hat169 not found"}
    ),
    "refund to a card or a gift card": Paths((MOVE_29,), (move("VA5SGQ", "economy", NEW_YORK, RAJ_GIFT),), False),
    "cancelled once or twice": Paths((cancel("VA5SGQ"),), (cancel("VA5SGQ"), cancel("VA5SGQ")), False),
    "a cancellation gives a gift card nothing": Paths((), (cancel("OWZ4XL"),), False),
    "two cancellations in either order": Paths(
        (cancel("VA5SGQ"), cancel("OWZ4XL")), (cancel("OWZ4XL"), cancel("VA5SGQ")), True
    ),
    "upgrade and cancellation in either order": Paths(
        (UPGRADE, cancel("OWZ4XL")), (cancel("OWZ4XL"), UPGRADE), False
    ),
    "three updates on one card in either order": Paths(UPGRADES_44, UPGRADES_44[::-1], True),
    "booking with one certificate twice": Paths(
        (),
        (
            book(
                user_id="mei_brown_7075",
                payment_methods=pay(("certificate_6761175", 141), ("certificate_6761175", 141)),
            ),
        ),
        False,
        {0: "KeyError"},
    ),
    "booking with one gift card twice": Paths(
        (book(payment_methods=pay((RAJ_GIFT, 279), (RAJ_VISA, 3))),),
        (book(payment_methods=pay((RAJ_GIFT, 141), (RAJ_GIFT, 141))),),
        False,
    ),
    "booking with a wrong total": Paths(
        (), (book(payment_methods=pay((RAJ_VISA, 281))),), True, {0: "total price is 282, but paid 281"}
    ),
    "booking with a negative payment": Paths(
        (book(),), (book(payment_methods=pay((RAJ_VISA, 382), (RAJ_GIFT, -100))),), False
    ),
    "update on an unknown method": Paths(
        (), (move("VA5SGQ", "economy", NEW_YORK, "credit_card_1"),), True, {0: "Payment method not found"}
    ),
    "update on a certificate": Paths(
        (),
        (move("SDZQKO", "economy", legs("HAT228 05-27"), "certificate_8301303"),),
        True,
        {0: "Certificate cannot be used to update reservation"},
    ),
    "27: update to a full flight": Paths((), (FULL,), True, {0: "Not enough seats on flight HAT133"}),
    "13: another cabin after landed flights": Paths(
        (),
        (
            move(
                "XEWRD9",
                "economy",
                legs("HAT030 05-13", "HAT223 05-14", "HAT174 05-21"),
                "gift_card_4643416",
            ),
        ),
        True,
        {0: "Flight HAT030 not available on date 2024-05-13"},
    ),
    "paid bags as text": Paths((), (bags("VA5SGQ", 1, "1", RAJ_VISA),), True, {0: "TypeError"}),
    "fewer bags": Paths(
        (bags("VA5SGQ", 2, 2, RAJ_VISA),), (bags("VA5SGQ", 2, 2, RAJ_VISA), bags("VA5SGQ", 0, 0, RAJ_VISA)), False
    ),
    "a passenger too many": Paths(
        (), (people("VA5SGQ", RAJ, OMAR),), True, {0: "Number of passengers does not match"}
    ),
    "an unknown argument": Paths((), (cancel("VA5SGQ", reason="x"),), True, {0: "unexpected argument 'reason'"}),
    "an unknown tool": Paths((), (call("refund", reservation_id="VA5SGQ"),), True, {0: "not found"}),
    "a fraction of a paid bag on a gift card": Paths(
        (), (bags("VA5SGQ", 2, 1.01, RAJ_GIFT),), False, {0: "a whole number is needed"}
    ),
    "15: one call or two": Paths(
        (move("M05KNL", "economy", NEW_15, GIFT_15),),
        (move("M05KNL", "economy", STAY_15, GIFT_15), move("M05KNL", "economy", NEW_15, GIFT_15)),
        False,
    ),
    "17: free bags first": Paths(
        (MOVE_17, people("FQ8APE", OMAR), bags("FQ8APE", 3, 0, GIFT_17)),
        (bags("FQ8APE", 3, 0, GIFT_17), people("FQ8APE", OMAR), MOVE_17),
        True,
    ),
    "17: bags first, one of them paid": Paths(
        (MOVE_17, people("FQ8APE", OMAR), bags("FQ8APE", 3, 0, GIFT_17)),
        (bags("FQ8APE", 3, 1, GIFT_17), people("FQ8APE", OMAR), MOVE_17),
        False,
    ),
}  # fmt: skip
"""What the two paths are about, to the paths."""
