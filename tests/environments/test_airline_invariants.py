"""What the airline invariants let through and what they report: sane paths pass, a dollar or a seat off does not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from airline_calls import ODD_VALUES
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_airline import bags, booking, cancelling, certificate, environment, leg, moving, passengers, tables

from multigold.environments.airline import build
from multigold.environments.airline.invariants import INVARIANTS
from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.model.task import ToolCall
from multigold.state.canonical import clone
from multigold.state.database import GONE, Database, EndState

AIRLINE = environment()
UMA = {"first_name": "Uma", "last_name": "Ito", "dob": "1980-01-01"}
IDA = {**UMA, "first_name": "Ida"}


def faults(initial: EndState, end: EndState) -> dict[str, list[str]]:
    found = {name: list(invariant(initial, end)) for name, invariant in INVARIANTS.items()}
    return {name: sentences for name, sentences in found.items() if sentences}


def end_of(*calls: ToolCall, airline: Environment = AIRLINE) -> EndState:
    done = replay(airline, calls)
    assert done.refusals == ()
    return done.end_state


def pay(**amounts: int) -> list[dict[str, Any]]:
    return [{"payment_id": method, "amount": amount} for method, amount in amounts.items()]


LATER = moving(flights=[leg("TN1", 21), leg("TN2", 21)])
ROUND = {"flight_type": "round_trip", "flights": [leg("TN1", 20), leg("TN3", 20)]}
SANE: dict[str, list[ToolCall]] = {
    "nothing": [],
    "moved": [LATER],
    "moved, refund on a gift card": [moving(flights=[leg("TN1", 21), leg("TN2", 21)], payment_id="gift_u")],
    "one leg moved, one kept": [moving(flights=[leg("TN1", 20), leg("TN2", 21)])],
    "upgraded": [moving(cabin="business")],
    "upgraded and moved in one call": [moving(cabin="business", flights=[leg("TN1", 21), leg("TN2", 21)])],
    "upgraded, then moved": [
        moving(cabin="business"),
        moving(cabin="business", flights=[leg("TN1", 21), leg("TN2", 21)]),
    ],
    "upgraded and back": [moving(cabin="business"), moving()],
    "moved and back": [LATER, moving()],
    "upgraded, then cancelled": [moving(cabin="business"), cancelling()],
    "bags, moved, cancelled": [bags(3, 1, method="gift_u"), LATER, cancelling()],
    "paid bags": [bags(3, 1), bags(4, 2)],
    "free bags": [bags(2, 0)],
    "passengers": [passengers([IDA])],
    "cancelled": [cancelling(), cancelling("R2")],
    "round trip moved": [
        moving("R2", cabin="basic_economy", flights=[leg("TN1", 20), leg("TN3", 20)], payment_id="gift_v")
    ],
    "certificates": [certificate(50), certificate("100"), certificate(5, user="vic")],
    "booked": [booking()],
    "booked insured with bags, paid in three ways": [
        booking(
            insurance="yes", nonfree_baggages=2, total_baggages=2,
            payment_methods=pay(cert_u=50, gift_u=100, card_u=60),
        ),
    ],
    "booked round trip": [booking(**ROUND, payment_methods=pay(card_u=180))],
    "booked for two": [booking(passengers=[UMA, IDA], payment_methods=pay(card_u=160))],
    "booked twice on one flight": [booking(), booking()],
    "booked for two users": [booking(), booking(user_id="vic", payment_methods=pay(gift_v=80))],
    "booked, cancelled, booked": [booking(), cancelling("HATHAT"), booking()],
    "booked, then bags": [booking(), bags(1, 1, reservation="HATHAT")],
    "paid with a certificate that was sent": [certificate(90), booking(payment_methods=pay(certificate_3221322=80))],
    "and sent another one": [
        certificate(90), booking(payment_methods=pay(certificate_3221322=80)), certificate(70), certificate(60),
    ],
    "sent two, paid with the first": [
        certificate(90), certificate(60), booking(payment_methods=pay(certificate_3221322=80)),
    ],
    "cancelled and booked": [cancelling(), booking(), certificate(20)],
}  # fmt: skip


@pytest.mark.parametrize("name", SANE)
def test_sensible_calls_violate_nothing(name: str) -> None:
    assert faults(AIRLINE.initial, end_of(*SANE[name])) == {}


# Each of these states is reached by calls that the tools let through.
LOOSE: dict[str, tuple[list[ToolCall], dict[str, str]]] = {
    "no flights": ([moving(flights=[])], {"itineraries-connect": "reservation R1 has no flights"}),
    "ends elsewhere": ([moving(flights=[leg("TN1", 20)])], {"itineraries-connect": "ends in BBB and not in CCC"}),
    "starts elsewhere": ([moving(flights=[leg("TN2", 20)])], {"itineraries-connect": "starts in BBB and not in AAA"}),
    "in reverse": (
        [moving(flights=[leg("TN2", 20), leg("TN1", 20)])],
        {"itineraries-connect": "starts in BBB and not in AAA"},
    ),
    "leaves before it lands": (
        [moving(flights=[leg("TN1", 21), leg("TN2", 20)])],
        {"itineraries-connect": "leaves with TN2 before TN1 has landed"},
    ),
    "the same day, a night early": (
        [
            booking(
                origin="BBB",
                destination="BBB",
                flights=[leg("TN3", 20), leg("TN1", 20)],
                payment_methods=pay(card_u=180),
            )
        ],
        {"itineraries-connect": "leaves with TN1 before TN3 has landed"},
    ),
    "does not come back": (
        [moving("R2", cabin="basic_economy", flights=[leg("TN1", 20)], payment_id="card_v")],
        {"itineraries-connect": "ends in BBB and not in AAA"},
    ),
    "turns round elsewhere": (
        [booking(**{**ROUND, "destination": "CCC"}, payment_methods=pay(card_u=180))],
        {"itineraries-connect": "does not go to CCC"},
    ),
    "a gap on the way": (
        [
            booking(
                **{**ROUND, "flights": [leg("TN1", 20), leg("TN2", 20), leg("TN3", 20)]},
                payment_methods=pay(card_u=255),
            )
        ],
        {"itineraries-connect": "lands in CCC and goes on from BBB"},
    ),
    "a night on the way": (
        [booking(destination="CCC", flights=[leg("TN1", 20), leg("TN2", 21)], payment_methods=pay(card_u=155))],
        {"stops-are-short": "stays in BBB until TN2 on 2024-05-21"},
    ),
    "fewer paid bags": (
        [bags(3, 2), bags(3, 1)],
        {"payments-cover-changes": "payments of 100 for changes that cost 50"},
    ),
    "cancelled twice": ([cancelling(), cancelling()], {"payments-cover-changes": "for changes that cost 0"}),
    "changed after it was cancelled": (
        [cancelling(), bags(3, 1)],
        dict.fromkeys(("payments-cover-changes", "balances-follow-payments"), "are not refunded one by one"),
    ),
    "overdrawn in one booking": (
        [booking(**ROUND, insurance="yes", payment_methods=[*pay(gift_u=100), *pay(gift_u=100), *pay(card_u=10)])],
        {"balances-follow-payments": "user uma has overdrawn gift_u"},
    ),
    "a certificate below nothing": ([certificate(-5)], {"balances-follow-payments": "has a new certificate_3221322"}),
    "a booking that was moved": (
        [booking(), moving("HATHAT", flights=[leg("TN1", 22)])],
        {"seats-follow-bookings": "flight TN1 does not have the seats that the bookings leave"},
    ),
    "one flight twice": (
        [booking(flights=[leg("TN1", 21)] * 2, passengers=[UMA, IDA], payment_methods=pay(card_u=320))],
        {"seats-follow-bookings": "has fewer seats in economy than were booked", "itineraries-connect": "lands in BBB"},
    ),
    "bags as text": ([bags("2", 0)], dict.fromkeys(INVARIANTS, "has a total_baggages that is not of")),
    "passengers as text": ([passengers("x")], dict.fromkeys(INVARIANTS, "has a passengers that is not")),
    "a cabin of one's own": ([moving(cabin="first", flights=[])], dict.fromkeys(INVARIANTS, "has a cabin that is not")),
    "more paid bags than bags": ([bags(1, 2)], {"records-belong": "has more bags that are paid for than bags"}),
}


@pytest.mark.parametrize("name", LOOSE)
def test_what_the_tools_let_through_is_reported(name: str) -> None:
    calls, expected = LOOSE[name]
    found = faults(AIRLINE.initial, end_of(*calls))
    assert found.keys() == expected.keys()
    for invariant, sentence in expected.items():
        assert any(sentence in fault for fault in found[invariant])


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (
            [bags(2, 1.01, method="gift_u")],
            {"balances-follow-payments": "has 49.5 on gift_u, where the payments leave 100"},
        ),
        (
            [booking(payment_methods=[*pay(cert_u=40), *pay(cert_u=40)])],
            {"balances-follow-payments": "has lost cert_u, which paid 0 times"},
        ),
    ],
)
def test_the_partial_effect_of_a_call_that_fails_is_reported(calls: list[ToolCall], expected: dict[str, str]) -> None:
    found = faults(AIRLINE.initial, replay(AIRLINE, calls).end_state)
    assert found.keys() == expected.keys()
    for invariant, sentence in expected.items():
        assert any(sentence in fault for fault in found[invariant])


# States that no calls lead to


def altered(state: EndState, table: str, record_id: str, change: Callable[[Any], Any]) -> EndState:
    """Return a state with a record changed in place, or replaced where the change returns something."""
    draft = state.agent.draft()
    present = draft.get(table, record_id) if draft.has(table, record_id) else None
    replaced = change(clone(present)) if present is None else None
    if present is not None:
        record = clone(present)
        replaced = change(record)
        draft.put(table, record_id, record)
    if replaced is GONE:
        draft.remove(table, record_id)
    elif replaced is not None:
        draft.put(table, record_id, replaced)
    return EndState(draft.freeze())


def setting(*path: Any) -> Callable[[Any], None]:
    """Return the change that puts the last item of a path at the place that the others name."""

    def change(record: Any) -> None:
        for part in path[:-2]:
            record = record[part]
        record[path[-2]] = path[-1]

    return change


BELONG, CONNECT, STOPS, AVAILABLE, SEATS, PAYMENTS, BALANCES = INVARIANTS
Change = tuple[str, str, Callable[[Any], Any]]


def r1(*path: Any) -> Change:
    return "reservations", "R1", setting(*path)


def hathat(*path: Any) -> Change:
    return "reservations", "HATHAT", setting(*path)


def uma(*path: Any) -> Change:
    return "users", "uma", setting(*path)


def tn1(*path: Any) -> Change:
    return "flights", "TN1", setting(*path)


def a_certificate(name: str, amount: int = 5) -> Any:
    return {"source": "certificate", "id": name, "amount": amount}


BOOKED = [
    booking(insurance="yes", total_baggages=1, nonfree_baggages=1, payment_methods=pay(cert_u=50, gift_u=60, card_u=50))
]
FORGED: dict[str, tuple[list[ToolCall], Change, str, str]] = {
    "another user's reservation": ([], r1("user_id", "vic"), BELONG, "has another user_id"),
    "another origin": ([], r1("origin", "BBB"), BELONG, "has another origin"),
    "insured later": ([], r1("insurance", "yes"), BELONG, "has another insurance"),
    "another id inside": ([], r1("reservation_id", "R3"), BELONG, "says that it is R3"),
    "a passenger more": ([], r1("passengers", [UMA, IDA]), BELONG, "has 2 passengers and had 1"),
    "gone": ([], ("reservations", "R1", lambda _: GONE), BELONG, "reservation R1 is gone"),
    "no longer cancelled": ([], r1("status", "ok"), BELONG, "has an unknown status"),
    "an id of nobody's": (
        BOOKED,
        ("reservations", "R7", lambda _: {**record_of(BOOKED), "reservation_id": "R7"}),
        BELONG,
        "has an id that the domain does not give out",
    ),
    "an id out of turn": (
        [],
        ("reservations", "HATHAU", lambda _: {**record_of(BOOKED), "reservation_id": "HATHAU"}),
        BELONG,
        "was booked, and HATHAT was not",
    ),
    "booked yesterday": (BOOKED, hathat("created_at", "2024-05-14T15:00:00"), BELONG, "was booked at 2024-05-14"),
    "booked for nobody": (BOOKED, hathat("user_id", "zoe"), BELONG, "belongs to zoe, who is not a user"),
    "not listed": (BOOKED, uma("reservations", ["R1"]), BELONG, "does not list just the reservations R1, HATHAT"),
    "listed twice": (BOOKED, uma("reservations", ["R1", "HATHAT", "HATHAT"]), BELONG, "does not list just"),
    "an old one no longer listed": ([], uma("reservations", []), BELONG, "does not list just"),
    "a promotion": ([], uma("membership", "gold"), BELONG, "user uma has another membership"),
    "a user more": (
        [],
        ("users", "zoe", lambda _: {"payment_methods": {}}),
        BELONG,
        "user zoe is not there before and after",
    ),
    "a flight more": (
        [],
        ("flights", "TN4", lambda _: {"dates": {}}),
        BELONG,
        "flight TN4 is not there before and after",
    ),
    "another table": ([], ("coupons", "C1", lambda _: {}), BELONG, "the table coupons is none of the domain's"),
    "a flight that does not exist": (
        [LATER],
        r1("flights", 0, "flight_number", "TN9"),
        CONNECT,
        "has a flight TN9 that does not exist",
    ),
    "a flight from elsewhere": ([LATER], r1("flights", 0, "origin", "CCC"), CONNECT, "has TN1 going from CCC to BBB"),
    "a date that is none": ([LATER], r1("flights", 0, "date", "soon"), CONNECT, "leaves with TN2 before"),
    "the last of all dates": (
        [LATER],
        r1(
            "flights",
            [
                {"flight_number": "TN3", "origin": "BBB", "destination": "AAA", "date": "9999-12-31", "price": 1},
                {"flight_number": "TN1", "origin": "AAA", "destination": "BBB", "date": "9999-12-31", "price": 1},
            ],
        ),
        CONNECT,
        "leaves with TN1 before TN3 has landed",
    ),
    "a charge that the card could not bear, refunded since": (
        [],
        r1("payment_history", [*pay(card_u=160), *pay(gift_u=150), *pay(gift_u=-150)]),
        BALANCES,
        "has overdrawn gift_u",
    ),
    "a payment of nothing": (
        [LATER],
        r1("payment_history", [*pay(card_u=160), *pay(card_u=-20), *pay(card_u=0)]),
        PAYMENTS,
        "has a payment of nothing",
    ),
    "a flight that has landed": (
        [LATER],
        r1("flights", 0, "date", "2024-05-10"),
        AVAILABLE,
        "has TN1 on 2024-05-10, which cannot be booked",
    ),
    "a price of one's own": (
        [LATER],
        r1("flights", 0, "price", 79),
        AVAILABLE,
        "has TN1 on 2024-05-21 at 79, which costs 80 in economy",
    ),
    "the price of another cabin": ([LATER], r1("cabin", "business"), AVAILABLE, "which costs 250 in business"),
    "kept, at a better price": ([], r1("flights", 0, "price", 89), AVAILABLE, "at 89, which costs 95"),
    "more passengers than seats": (
        [booking()],
        hathat("passengers", [UMA] * 3),
        AVAILABLE,
        "needs 3 seats in economy on TN1 on 2024-05-21, which has 2",
    ),
    "seats that nobody took": (
        [],
        tn1("dates", "2024-05-21", "available_seats", "economy", 1),
        SEATS,
        "flight TN1 does not have the seats",
    ),
    "a price that moved": (
        [],
        tn1("dates", "2024-05-21", "prices", "economy", 1),
        SEATS,
        "flight TN1 does not have the seats",
    ),
    "an old payment gone": ([], r1("payment_history", []), PAYMENTS, "does not begin as before"),
    "a refund short": ([cancelling()], r1("payment_history", 1, "amount", -159), PAYMENTS, "not refunded one by one"),
    "a refund elsewhere": (
        [cancelling()],
        r1("payment_history", 1, "payment_id", "gift_u"),
        PAYMENTS,
        "not refunded one by one",
    ),
    "cancelled without refund": ([], r1("status", "cancelled"), PAYMENTS, "not refunded one by one"),
    "a stranger's card": (
        [LATER],
        r1("payment_history", 1, "payment_id", "card_v"),
        BALANCES,
        "pays with card_v, which is not in the profile",
    ),
    "an update on a certificate": (
        [LATER],
        r1("payment_history", 1, "payment_id", "cert_u"),
        BALANCES,
        "pays for an update with cert_u",
    ),
    "a certificate worth less": (
        BOOKED,
        hathat("payment_history", 0, "amount", 51),
        BALANCES,
        "has paid 51 with cert_u, which was worth 50",
    ),
    "a certificate that paid and stays": (
        BOOKED,
        uma("payment_methods", "cert_u", a_certificate("cert_u", 50)),
        BALANCES,
        "or has it still after it paid",
    ),
    "a certificate that grew": ([], uma("payment_methods", "cert_u", "amount", 60), BALANCES, "has another cert_u"),
    "a card renamed": ([], uma("payment_methods", "card_u", "brand", "x"), BALANCES, "has another card_u"),
    "a gift card renamed": ([], uma("payment_methods", "gift_u", "id", "x"), BALANCES, "has another gift_u"),
    "a card lost": (
        [],
        ("users", "uma", lambda u: u["payment_methods"].pop("card_u") and None),
        BALANCES,
        "has lost card_u",
    ),
    "a gift card more": (
        [],
        uma("payment_methods", "gift_x", {"source": "gift_card", "id": "gift_x", "amount": 5}),
        BALANCES,
        "has a new gift_x",
    ),
    "a certificate by another name": (
        [],
        uma("payment_methods", "certificate_3221322", a_certificate("c")),
        BALANCES,
        "has a new certificate_3221322",
    ),
    "the second certificate first": (
        [],
        uma("payment_methods", "certificate_3221323", a_certificate("certificate_3221323")),
        BALANCES,
        "has a new certificate after certificate_3221322, which was never sent",
    ),
    "no payment methods": (
        [],
        uma("payment_methods", []),
        BALANCES,
        "is not a user with payment methods before and after",
    ),
}


def record_of(calls: Sequence[ToolCall]) -> Any:
    return end_of(*calls).agent.get("reservations", "HATHAT")


@pytest.mark.parametrize("name", FORGED)
def test_a_state_that_no_calls_lead_to_is_reported(name: str) -> None:
    calls, change, invariant, sentence = FORGED[name]
    forged = altered(end_of(*calls), *change)
    assert any(sentence in fault for fault in faults(AIRLINE.initial, forged).get(invariant, []))


def test_two_segments_that_followed_each_other_before_are_not_held_against_the_clock() -> None:
    data = tables()
    trip = data["reservations"]["R1"]
    trip["destination"] = "BBB"
    trip["flights"] = [
        {"flight_number": number, "origin": origin, "destination": destination, "date": date, "price": 80}
        for number, origin, destination, date in (
            ("TN1", "AAA", "BBB", "2024-05-21"),
            ("TN3", "BBB", "AAA", "2024-05-20"),
            ("TN1", "AAA", "BBB", "2024-05-21"),
        )
    ]
    airline = build(Database.from_json(data))
    connects = airline.invariants[CONNECT]
    last_moved = end_of(moving(flights=[leg("TN1", 21), leg("TN3", 20), leg("TN1", 22)]), airline=airline)
    assert list(connects(airline.initial, last_moved)) == []
    first_moved = end_of(moving(flights=[leg("TN1", 22), leg("TN3", 20), leg("TN1", 21)]), airline=airline)
    assert list(connects(airline.initial, first_moved)) == ["reservation R1 leaves with TN3 before TN1 has landed"]


# Every number counts


def numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every number of a record."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(item, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def is_free(table: str, path: tuple[Any, ...], off: int) -> bool:
    """Whether a number may be another: the amount of a compensation, free bags, paid bags that are taken off again."""
    if table == "users":
        return str(path[1]).startswith("certificate_32213")
    return path == ("total_baggages",) or (path == ("nonfree_baggages",) and off < 0)


@pytest.mark.parametrize("name", [name for name, calls in SANE.items() if calls])
@pytest.mark.parametrize("off", [1, -1])
def test_no_number_can_be_off_by_one(name: str, off: int) -> None:
    initial, end = AIRLINE.initial, end_of(*SANE[name])
    tried = 0
    for table, record_id in end.agent.touched(initial.agent):
        record = end.agent.find(table, record_id)
        for path in numbers(record):
            if not is_free(table, path, off):
                value = record
                for part in path:
                    value = value[part]
                forged = altered(end, table, record_id, setting(*path, value + off))
                assert faults(initial, forged), f"{table}/{record_id}/{'/'.join(map(str, path))}"
                tried += 1
    assert tried or name in ("passengers", "certificates")


# Anything at all

PLACES = [("reservations", "R1"), ("reservations", "HATHAT"), ("users", "uma"), ("flights", "TN1"), ("users", "zoe")]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))


@settings(max_examples=400, deadline=None)
@given(st.randoms(use_true_random=True), st.sampled_from(PLACES), st.sampled_from(sorted(SANE)))
def test_no_state_whatever_makes_an_invariant_fail_itself(
    rng: random.Random, place: tuple[str, str], name: str
) -> None:
    end = end_of(*SANE[name])
    record = end.agent.find(*place)
    odd = clone(rng.choice([*ODD_VALUES, GONE]))
    if record is GONE:
        forged = altered(end, *place, lambda _: None if odd is GONE else odd)
    else:
        path = rng.choice(list(leaves(record)))
        if odd is GONE or not path:
            forged = altered(end, *place, lambda _: odd)
        else:
            forged = altered(end, *place, setting(*path, odd))
    for sentences in faults(AIRLINE.initial, forged).values():
        assert all(isinstance(sentence, str) and sentence for sentence in sentences)


def test_another_copy_of_the_same_state_violates_nothing() -> None:
    """An end state of another process shares nothing with the initial one."""
    assert faults(AIRLINE.initial, environment().initial) == {}
