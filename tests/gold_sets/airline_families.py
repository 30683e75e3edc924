"""The families of the airline gold sets, generated from the database by a rule of dates, stops and payments.

A family is written in a gold set as a pattern or as choices. Here it is written a second time, as calls: the members
that the analysis behind the gold sets counted one by one. The two must agree.

Rules. An itinerary is a nonstop, or two flights of which the second leaves no earlier than the first lands, at the same
airport, on the day of landing; every flight is `available` on its date. Seats and gift cards are left to the tools: a
member of which a call fails is infeasible and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import permutations, product
from typing import Any

import attrs

from multigold.environments.base import Environment
from multigold.model.task import ToolCall

Days = tuple[tuple[str, str], ...]
Calls = tuple[ToolCall, ...]


@attrs.frozen(kw_only=True)
class Family:
    """The members of one reading.

    Attributes:
        task: The task.
        text: The text under which the reading counts.
        reading: The reading.
        feasible: How many members the tools carry out.
        infeasible: How many they refuse.
        members: The calls of each.
        siblings: The calls of further members, which one altered field leads to.
    """

    task: str
    text: str
    reading: str
    feasible: int
    infeasible: int = 0
    members: Callable[[Environment], Iterator[Calls]]
    siblings: Callable[[Environment], Iterator[Calls]] = lambda environment: iter(())

    def __str__(self) -> str:
        return f"{self.task}-{self.reading}"


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


def update(reservation: str, cabin: str, days: Days, payment: str) -> ToolCall:
    flights = [{"flight_number": number, "date": date} for number, date in days]
    return call(
        "update_reservation_flights", reservation_id=reservation, cabin=cabin, flights=flights, payment_id=payment
    )


def cancel(reservation: str) -> ToolCall:
    return call("cancel_reservation", reservation_id=reservation)


def certificate(user: str, amount: int) -> ToolCall:
    return call("send_certificate", user_id=user, amount=amount)


def moment(date: str, clock: str) -> datetime:
    time, _, later = clock.partition("+")
    return datetime.fromisoformat(f"{date}T{time}") + timedelta(days=int(later or 0))


def departures(environment: Environment, date: str, origin: str, destination: str | None = None) -> Iterator[str]:
    for number in environment.initial.agent.ids("flights"):
        flight = environment.initial.agent.get("flights", number)
        fits = flight["origin"] == origin and destination in (None, flight["destination"])
        if fits and flight["dates"].get(date, {}).get("status") == "available":
            yield number


def itineraries(
    environment: Environment, date: str, origin: str, destination: str, stops: Sequence[int] = (0, 1)
) -> Iterator[Days]:
    if 0 in stops:
        yield from (((number, date),) for number in departures(environment, date, origin, destination))
    for first in departures(environment, date, origin) if 1 in stops else ():
        flight = environment.initial.agent.get("flights", first)
        landing = moment(date, flight["scheduled_arrival_time_est"])
        onward = landing.date().isoformat()
        for second in departures(environment, onward, flight["destination"], destination):
            other = environment.initial.agent.get("flights", second)
            if moment(onward, other["scheduled_departure_time_est"]) >= landing:
                yield ((first, date), (second, onward))


def _27_strict_change(environment: Environment) -> Iterator[Calls]:
    """16 May nonstop and one stop, 17 and 18 May nonstop; the difference on either method."""
    days = [("2024-05-16", (0, 1)), ("2024-05-17", (0,)), ("2024-05-18", (0,))]
    for date, stops in days:
        for onward in itineraries(environment, date, "ATL", "SEA", stops):
            for payment in ("credit_card_5447957", "gift_card_5853954"):
                kept: Days = (("HAT223", "2024-05-15"),)
                yield (
                    update("M61CQM", "economy", kept + onward, payment),
                    certificate("ethan_martin_2396", 150),
                )


_5_METHODS = ("gift_card_8987598", "credit_card_4920843", "credit_card_1815425", "credit_card_5667188")


def _5_strict_change(environment: Environment) -> Iterator[Calls]:
    """Another flight of 16 May from PHX to SEA that lands before the next leg leaves; the refund on any method."""
    rest: Days = (("HAT194", "2024-05-16"), ("HAT182", "2024-05-22"), ("HAT153", "2024-05-22"))
    onward = moment("2024-05-16", environment.initial.agent.get("flights", "HAT194")["scheduled_departure_time_est"])
    for first in departures(environment, "2024-05-16", "PHX", "SEA"):
        clock = environment.initial.agent.get("flights", first)["scheduled_arrival_time_est"]
        if moment("2024-05-16", clock) <= onward:
            for payment in _5_METHODS:
                days = (("" + first, "2024-05-16"), *rest)
                yield update("3JA7XV", "business", days, payment), certificate("mei_brown_7075", 200)


_13_CARDS = {"gift_card_1712795": 88, "gift_card_4643416": 113, "gift_card_3166319": 223}
_13_PASSENGERS = (
    {"first_name": "James", "last_name": "Lee", "dob": "1995-06-11"},
    {"first_name": "Mason", "last_name": "Lopez", "dob": "1966-03-13"},
)


def _13_booking(flight: str, cabin: str, payments: Sequence[tuple[str, int]]) -> ToolCall:
    return call(
        "book_reservation",
        user_id="james_lee_6136",
        origin="ATL",
        destination="LAS",
        flight_type="one_way",
        cabin=cabin,
        flights=[{"flight_number": flight, "date": "2024-05-21"}],
        passengers=list(_13_PASSENGERS),
        payment_methods=[{"payment_id": payment, "amount": amount} for payment, amount in payments],
        total_baggages=0,
        nonfree_baggages=0,
        insurance="no",
    )


def _13_bookings() -> Iterator[ToolCall]:
    """Four bookings: HAT174 in basic economy on one card and on two, in economy on two, and HAT052 in economy."""
    yield _13_booking("HAT174", "basic_economy", [("gift_card_3166319", 138)])
    yield _13_booking("HAT174", "basic_economy", [("gift_card_1712795", 88), ("gift_card_4643416", 50)])
    yield _13_booking("HAT174", "economy", [("gift_card_3166319", 223), ("gift_card_4643416", 41)])
    yield _13_booking("HAT052", "economy", [("gift_card_3166319", 223), ("gift_card_4643416", 27)])


def _13_letter_book(environment: Environment) -> Iterator[Calls]:
    yield from ((booking,) for booking in _13_bookings())


def _13_letter_cancel_rebook(environment: Environment) -> Iterator[Calls]:
    yield from ((cancel("XEWRD9"), booking) for booking in _13_bookings())


def _13_other_orders(*before: ToolCall) -> Callable[[Environment], Iterator[Calls]]:
    """The same bookings with passengers or payments in the other order."""

    def calls(environment: Environment) -> Iterator[Calls]:
        for booking in _13_bookings():
            for field in ("passengers", "payment_methods"):
                turned = {**(booking.arguments or {}), field: (booking.arguments or {})[field][::-1]}
                yield (*before, attrs.evolve(booking, arguments=turned))

    return calls


_29_CARDS = ("credit_card_8003957", "credit_card_7686643", "credit_card_8782472")
_29_GIFT = "gift_card_6468981"
_29_DAYS: Days = (("HAT169", "2024-05-17"), ("HAT033", "2024-05-19"))


def _29_bookings() -> Iterator[ToolCall]:
    """Insured or not; on one credit card, or on the whole gift card and the rest on a credit card, in either order."""
    for insurance, card in product(("no", "yes"), _29_CARDS):
        total = 312 if insurance == "yes" else 282
        pair = [(_29_GIFT, 279), (card, total - 279)]
        for payments in ([(card, total)], *map(list, permutations(pair))):
            yield call(
                "book_reservation",
                user_id="raj_brown_5782",
                origin="DTW",
                destination="JFK",
                flight_type="round_trip",
                cabin="economy",
                flights=[{"flight_number": number, "date": date} for number, date in _29_DAYS],
                passengers=[{"first_name": "Raj", "last_name": "Brown", "dob": "1967-03-12"}],
                payment_methods=[{"payment_id": payment, "amount": amount} for payment, amount in payments],
                total_baggages=1,
                nonfree_baggages=0,
                insurance=insurance,
            )


def _bag(nonfree: int = 0) -> ToolCall:
    return call(
        "update_reservation_baggages",
        reservation_id="VA5SGQ",
        total_baggages=1,
        nonfree_baggages=nonfree,
        payment_id="credit_card_8003957",
    )


def _29_letter_cancel_rebook(environment: Environment) -> Iterator[Calls]:
    yield from ((cancel("VA5SGQ"), booking) for booking in _29_bookings())


def _29_letter_book(environment: Environment) -> Iterator[Calls]:
    yield from ((booking,) for booking in _29_bookings())


def _29_modify_direct(environment: Environment) -> Iterator[Calls]:
    yield from ((update("VA5SGQ", "economy", _29_DAYS, card), _bag()) for card in (*_29_CARDS, _29_GIFT))


def _29_spirit(environment: Environment) -> Iterator[Calls]:
    yield from ((), (_bag(),))


_32_OLD: Days = (("HAT202", "2024-05-21"), ("HAT232", "2024-05-21"))
_32_NEW: Days = (("HAT041", "2024-05-21"),)
_32_METHODS = ("credit_card_9659780", "gift_card_7344518", "gift_card_9823297")


def _32_two_step(environment: Environment) -> Iterator[Calls]:
    for first, second in product(_32_METHODS, _32_METHODS):
        yield update("OWZ4XL", "economy", _32_OLD, first), update("OWZ4XL", "economy", _32_NEW, second)


def _32_single_call(environment: Environment) -> Iterator[Calls]:
    yield from ((update("OWZ4XL", "economy", _32_NEW, method),) for method in _32_METHODS)


_45_OLD: Days = (("HAT176", "2024-05-20"), ("HAT097", "2024-05-20"))
_45_CARDS = ("credit_card_9302073", "credit_card_5237144")


def _45_trips(environment: Environment) -> Iterator[tuple[str, Days]]:
    yield from product(("economy", "business"), itineraries(environment, "2024-05-22", "CLT", "PHX"))


def _45_two_step(environment: Environment) -> Iterator[Calls]:
    for (cabin, days), first, second in product(_45_trips(environment), _45_CARDS, _45_CARDS):
        yield update("PEP4E0", cabin, _45_OLD, first), update("PEP4E0", cabin, days, second)


def _45_single_call(environment: Environment) -> Iterator[Calls]:
    for (cabin, days), card in product(_45_trips(environment), _45_CARDS):
        yield (update("PEP4E0", cabin, days, card),)


def _45_business_then_cancel(environment: Environment) -> Iterator[Calls]:
    yield from ((update("PEP4E0", "business", _45_OLD, card), cancel("PEP4E0")) for card in _45_CARDS)


_44_CARD, _44_GIFT = "credit_card_4196779", "gift_card_5094406"
_44_S61CZX: Days = (
    ("HAT228", "2024-05-23"),
    ("HAT043", "2024-05-24"),
    ("HAT157", "2024-05-24"),
    ("HAT041", "2024-05-25"),
)


def _44_upgrades(*, kc18k6: bool = True) -> Iterator[Calls]:
    nm1vx1 = update("NM1VX1", "business", (("HAT300", "2024-05-25"), ("HAT208", "2024-05-27")), _44_CARD)
    last = update("KC18K6", "business", (("HAT300", "2024-05-21"), ("HAT215", "2024-05-21")), _44_CARD)
    for method in (_44_CARD, _44_GIFT):
        h8q05l = update("H8Q05L", "business", (("HAT268", "2024-05-24"),), method)
        yield (nm1vx1, h8q05l, last) if kc18k6 else (nm1vx1, h8q05l)


def _44_re_annotated(environment: Environment) -> Iterator[Calls]:
    """In every order of the three upgrades."""
    for calls in _44_upgrades():
        yield from permutations(calls)


def _44_without_kc18k6(environment: Environment) -> Iterator[Calls]:
    yield from _44_upgrades(kc18k6=False)


def _44_business_then_cancel(environment: Environment) -> Iterator[Calls]:
    first = (update("S61CZX", "business", _44_S61CZX, _44_CARD), cancel("S61CZX"))
    yield from ((*first, *calls) for calls in _44_upgrades())


_7_CARDS = ("credit_card_2408938", "credit_card_4303738")
_7_XEHM4B: Days = (("HAT005", "2024-05-20"), ("HAT178", "2024-05-30"))
_7_59XX6W: Days = (("HAT007", "2024-05-19"), ("HAT174", "2024-05-29"))


def _7_business_and_cancel(environment: Environment) -> Iterator[Calls]:
    """XEHM4B alone on either card; both, each on either card: more than the analysis counted, which had both on one."""
    for card in _7_CARDS:
        alone = (update("XEHM4B", "business", _7_XEHM4B, card), cancel("XEHM4B"))
        yield alone
        yield from ((*alone, update("59XX6W", "business", _7_59XX6W, other), cancel("59XX6W")) for other in _7_CARDS)


def _7_upgrade_economy_only(environment: Environment) -> Iterator[Calls]:
    yield from ((update("XEHM4B", "economy", _7_XEHM4B, card),) for card in _7_CARDS)


_14_DAYS: Days = (("HAT023", "2024-05-26"), ("HAT204", "2024-05-28"), ("HAT100", "2024-05-28"))
_14_CARD = "credit_card_2198526"
_14_GIFTS = (("gift_card_8020792", 198), ("gift_card_6136092", 129))
_14_PEOPLE = (("Mohamed", "Silva", "1960-11-26"), ("Raj", "Sanchez", "1986-09-12"), ("Liam", "Wilson", "1980-03-27"))
_23_SAID = (_14_PEOPLE[0], ("Aarav", "Sanchez", "1986-09-12"), ("Evelyn", "Wilson", "1980-03-27"))


def _14_booking(people: Sequence[tuple[str, str, str]], payments: Sequence[tuple[str, int]]) -> ToolCall:
    return call(
        "book_reservation",
        user_id="mohamed_silva_9265",
        origin="JFK",
        destination="SFO",
        flight_type="round_trip",
        cabin="business",
        flights=[{"flight_number": number, "date": date} for number, date in _14_DAYS],
        passengers=[{"first_name": first, "last_name": last, "dob": dob} for first, last, dob in people],
        payment_methods=[{"payment_id": payment, "amount": amount} for payment, amount in payments],
        total_baggages=0,
        nonfree_baggages=0,
        insurance="no",
    )


def _14_cancel_and_rebook(environment: Environment) -> Iterator[Calls]:
    """Passengers in every order, and payments in every order."""
    payments = (("certificate_3765853", 500), *_14_GIFTS, (_14_CARD, 1786))
    for people, paid in product(permutations(_14_PEOPLE), permutations(payments)):
        yield cancel("K1NW8N"), _14_booking(people, paid)


def _23_three_bookings(people: Sequence[tuple[str, str, str]]) -> Callable[[Environment], Iterator[Calls]]:
    """The bookings in every order."""
    bookings = (
        _14_booking(people[:1], [("certificate_3765853", 500), *_14_GIFTS, (_14_CARD, 44)]),
        _14_booking(people[1:2], [("certificate_9984806", 250), (_14_CARD, 621)]),
        _14_booking(people[2:], [("certificate_2765295", 250), (_14_CARD, 621)]),
    )
    return lambda environment: ((cancel("K1NW8N"), *order) for order in permutations(bookings))


def _15_two_step(environment: Environment) -> Iterator[Calls]:
    """The cabin first or the flights first."""
    old: Days = (("HAT227", "2024-05-23"), ("HAT139", "2024-05-23"))
    new: Days = (("HAT110", "2024-05-24"), ("HAT172", "2024-05-24"))
    for cabin, days in (("economy", old), ("business", new)):
        steps = ((cabin, days), ("economy", new))
        yield tuple(update("M05KNL", step, on, "gift_card_8887175") for step, on in steps)


def _17_booked_cabin(environment: Environment) -> Iterator[Calls]:
    """The paid bag on either gift card, in every order of the three calls."""
    upgrade = update("FQ8APE", "economy", (("HAT056", "2024-05-25"), ("HAT138", "2024-05-25")), "gift_card_8190333")
    omar = {"first_name": "Omar", "last_name": "Rossi", "dob": "1970-06-06"}
    passenger = call("update_reservation_passengers", reservation_id="FQ8APE", passengers=[omar])
    for card in ("gift_card_8190333", "gift_card_6490722"):
        bags = call(
            "update_reservation_baggages",
            reservation_id="FQ8APE",
            total_baggages=3,
            nonfree_baggages=1,
            payment_id=card,
        )
        yield from permutations((upgrade, passenger, bags))


FAMILIES = (
    Family(task="5", text="37199f3", reading="strict-change", feasible=12, members=_5_strict_change),
    Family(task="7", text="37199f3", reading="business-and-cancel", feasible=6, members=_7_business_and_cancel),
    Family(task="7", text="37199f3", reading="upgrade-economy-only", feasible=2, members=_7_upgrade_economy_only),
    Family(
        task="13",
        text="37199f3",
        reading="letter-book",
        feasible=4,
        members=_13_letter_book,
        siblings=_13_other_orders(),
    ),
    Family(
        task="13",
        text="37199f3",
        reading="letter-cancel-rebook",
        feasible=4,
        members=_13_letter_cancel_rebook,
        siblings=_13_other_orders(cancel("XEWRD9")),
    ),
    Family(task="14", text="01e812d", reading="cancel-and-rebook", feasible=144, members=_14_cancel_and_rebook),
    Family(task="15", text="37199f3", reading="two-step", feasible=2, members=_15_two_step),
    Family(task="16", text="01e812d", reading="two-step", feasible=2, members=_15_two_step),
    Family(task="17", text="37199f3", reading="booked-cabin", feasible=12, members=_17_booked_cabin),
    Family(task="22", text="37199f3", reading="booked-cabin", feasible=12, members=_17_booked_cabin),
    Family(task="23", text="37199f3", reading="as-recorded", feasible=6, members=_23_three_bookings(_14_PEOPLE)),
    Family(task="23", text="37199f3", reading="as-said", feasible=6, members=_23_three_bookings(_23_SAID)),
    Family(task="27", text="37199f3", reading="strict-change", feasible=35, infeasible=27, members=_27_strict_change),
    Family(task="29", text="37199f3", reading="letter-cancel-rebook", feasible=18, members=_29_letter_cancel_rebook),
    Family(task="29", text="37199f3", reading="letter-book", feasible=18, members=_29_letter_book),
    Family(task="29", text="37199f3", reading="modify-direct", feasible=4, members=_29_modify_direct),
    Family(task="29", text="37199f3", reading="spirit", feasible=2, members=_29_spirit),
    Family(task="32", text="37199f3", reading="two-step", feasible=3, infeasible=6, members=_32_two_step),
    Family(task="32", text="37199f3", reading="single-call", feasible=3, members=_32_single_call),
    Family(task="44", text="37199f3", reading="re-annotated", feasible=12, members=_44_re_annotated),
    Family(task="44", text="01e812d", reading="without-kc18k6", feasible=2, members=_44_without_kc18k6),
    Family(task="44", text="37199f3", reading="business-then-cancel", feasible=2, members=_44_business_then_cancel),
    Family(task="45", text="37199f3", reading="two-step", feasible=72, members=_45_two_step),
    Family(task="45", text="37199f3", reading="single-call", feasible=36, members=_45_single_call),
    Family(task="45", text="37199f3", reading="business-then-cancel", feasible=2, members=_45_business_then_cancel),
)
"""Every reading of more than one member. The counts of the paper's tasks and of task 44 are those of the analysis, but
for task 44 in every order of the calls, with the gift card in business-then-cancel; for task 7 see the generator."""
