"""tau2's airline domain on a made-up airline: what each tool does, answers and refuses. Needs no data and no tau2."""

from __future__ import annotations

from typing import Any

import pytest
from tiny_airline import bags, booking, cancelling, certificate, environment, leg, moving, passengers, tables

from multigold.environments.airline import build
from multigold.environments.airline.tools import NOW
from multigold.environments.replay import Replay, replay
from multigold.model.task import ToolCall
from multigold.state.canonical import canonical_text
from multigold.state.database import Database
from multigold.state.delta import diff

AIRLINE = environment()
UMA = {"first_name": "Uma", "last_name": "Ito", "dob": "1980-01-01"}


def run(*calls: ToolCall) -> Replay:
    return replay(AIRLINE, calls)


def record(done: Replay, table: str, record_id: str) -> Any:
    return done.end_state.agent.get(table, record_id)


def balance(done: Replay, user: str = "uma", card: str = "gift_u") -> float:
    return float(record(done, "users", user)["payment_methods"][card]["amount"])


def history(done: Replay, reservation: str = "R1") -> list[tuple[str, int]]:
    return [(p["payment_id"], p["amount"]) for p in record(done, "reservations", reservation)["payment_history"]]


def succeed(*calls: ToolCall) -> Replay:
    done = run(*calls)
    assert done.refusals == ()
    return done


def test_there_are_fourteen_tools_of_which_six_write() -> None:
    kinds = [tool.kind for tool in AIRLINE.tools.values()]
    assert {kind: kinds.count(kind) for kind in sorted(set(kinds))} == {"generic": 2, "read": 6, "write": 6}


def test_building_reads_nothing_but_the_database_given() -> None:
    made = build(Database.from_json(tables()), data_digest="d")
    assert (made.name, made.data_digest) == ("tau2-airline", "d")
    assert made.initial == AIRLINE.initial


# Looking up


def test_a_reservation_is_shown_with_the_null_status_that_the_data_leaves_out() -> None:
    answer = succeed(ToolCall("get_reservation_details", {"reservation_id": "R1"})).outcomes[0].observation
    assert answer == {**tables()["reservations"]["R1"], "status": None}


def test_a_user_is_shown_whole() -> None:
    answer = succeed(ToolCall("get_user_details", {"user_id": "vic"})).outcomes[0].observation
    assert answer == tables()["users"]["vic"]


def test_an_observation_is_not_changed_by_later_calls() -> None:
    show = ToolCall("get_user_details", {"user_id": "uma"})
    done = succeed(certificate(5), show, certificate(6))
    assert "certificate_3221323" not in done.outcomes[1].observation["payment_methods"]


@pytest.mark.parametrize(("day", "status"), [(10, "landed"), (20, "available")])
def test_a_flight_has_a_status_on_a_date(day: int, status: str) -> None:
    assert succeed(ToolCall("get_flight_status", leg("TN1", day))).outcomes[0].observation == status


def test_there_are_twenty_airports() -> None:
    airports = succeed(ToolCall("list_all_airports")).outcomes[0].observation
    assert len(airports) == 20
    assert {"iata": "SFO", "city": "San Francisco"} in airports


def search(kind: str, origin: Any, destination: Any, date: Any) -> Any:
    arguments = {"origin": origin, "destination": destination, "date": date}
    return succeed(ToolCall(f"search_{kind}_flight", arguments)).outcomes[0].observation


def test_a_direct_search_finds_what_can_be_booked_that_day() -> None:
    assert search("direct", "AAA", "BBB", "2024-05-21") == [
        {
            "flight_number": "TN1",
            "origin": "AAA",
            "destination": "BBB",
            "status": "available",
            "scheduled_departure_time_est": "08:00:00",
            "scheduled_arrival_time_est": "09:00:00",
            "date": None,
            "available_seats": {"basic_economy": 2, "economy": 2, "business": 1},
            "prices": {"basic_economy": 50, "economy": 80, "business": 250},
        }
    ]


@pytest.mark.parametrize(
    ("origin", "destination", "date", "found"),
    [
        ("AAA", "BBB", "2024-05-10", []),  # landed
        ("BBB", "CCC", "2024-05-22", []),  # cancelled
        ("AAA", "CCC", "2024-05-20", []),  # no nonstop
        ("AAA", "BBB", "2024-06-20", []),
        ("AAA", "BBB", None, []),
        ("ZZZ", "BBB", [], []),  # the date is not looked at where no flight gets that far
        (None, None, "2024-05-20", ["TN1", "TN2", "TN3"]),  # null stands for any airport
        (None, "AAA", "2024-05-20", ["TN3"]),
        ([], "AAA", "2024-05-20", []),
    ],
)
def test_a_direct_search_passes_over_everything_else(
    origin: Any, destination: Any, date: Any, found: list[str]
) -> None:
    assert [flight["flight_number"] for flight in search("direct", origin, destination, date)] == found


def numbers(pairs: Any) -> list[list[tuple[str, str]]]:
    return [[(flight["flight_number"], flight["date"]) for flight in pair] for pair in pairs]


def test_a_one_stop_search_pairs_flights_of_the_day() -> None:
    assert numbers(search("onestop", "AAA", "CCC", "2024-05-20")) == [[("TN1", "2024-05-20"), ("TN2", "2024-05-20")]]


def test_a_one_stop_search_goes_on_the_next_day_after_a_landing_past_midnight() -> None:
    assert numbers(search("onestop", "BBB", "BBB", "2024-05-21")) == [[("TN3", "2024-05-21"), ("TN1", "2024-05-22")]]


def test_a_one_stop_search_lets_a_flight_leave_at_the_minute_of_the_landing() -> None:
    data = tables()
    data["flights"]["TN2"]["scheduled_departure_time_est"] = "09:00:00"
    search_it = ToolCall("search_onestop_flight", {"origin": "AAA", "destination": "CCC", "date": "2024-05-20"})
    found = replay(build(Database.from_json(data)), [search_it]).outcomes[0].observation
    assert numbers(found) == [[("TN1", "2024-05-20"), ("TN2", "2024-05-20")]]


def test_a_one_stop_search_misspells_the_day_after_the_eighth_as_tau2_does() -> None:
    assert search("onestop", "BBB", "BBB", "2024-05-08") == []


def test_a_transfer_leaves_no_trace() -> None:
    done = succeed(ToolCall("transfer_to_human_agents", {"summary": "x"}))
    assert done.outcomes[0].observation == "Transfer successful"
    assert done.end_state == AIRLINE.initial


def test_calculate_answers_with_text() -> None:
    assert succeed(ToolCall("calculate", {"expression": "3 * 1.005"})).outcomes[0].observation == "3.01"


# Booking


def test_a_booking_takes_seats_and_money_and_is_listed() -> None:
    done = succeed(
        booking(
            payment_methods=[{"payment_id": "cert_u", "amount": 50}, {"payment_id": "gift_u", "amount": 60}],
            insurance="yes",
        )
    )
    booked = record(done, "reservations", "HATHAT")
    assert booked["flights"] == [
        {"flight_number": "TN1", "origin": "AAA", "destination": "BBB", "date": "2024-05-21", "price": 80}
    ]
    assert booked["created_at"] == NOW
    assert "status" not in booked
    assert done.outcomes[0].observation == {**booked, "status": None}
    assert history(done, "HATHAT") == [("cert_u", 50), ("gift_u", 60)]
    uma = record(done, "users", "uma")
    assert uma["reservations"] == ["R1", "HATHAT"]
    assert sorted(uma["payment_methods"]) == ["card_u", "gift_u"]
    assert balance(done) == 40
    seats = record(done, "flights", "TN1")["dates"]["2024-05-21"]["available_seats"]
    assert seats == {"basic_economy": 2, "economy": 1, "business": 1}


def test_a_booking_costs_fares_insurance_and_paid_bags_for_every_passenger() -> None:
    two = [UMA, {**UMA, "first_name": "Ida"}]
    price = 2 * (80 + 60) + 2 * 30 + 3 * 50
    done = succeed(
        booking(
            flights=[leg("TN1", 21), leg("TN2", 21)],
            passengers=two,
            insurance="yes",
            total_baggages=4,
            nonfree_baggages=3,
            payment_methods=[{"payment_id": "card_u", "amount": price}],
        )
    )
    assert history(done, "HATHAT") == [("card_u", price)]


def test_a_certificate_is_used_up_whatever_it_was_worth() -> None:
    done = succeed(
        booking(payment_methods=[{"payment_id": "cert_u", "amount": 1}, {"payment_id": "card_u", "amount": 79}])
    )
    assert "cert_u" not in record(done, "users", "uma")["payment_methods"]


def test_three_bookings_are_the_most() -> None:
    flights = [leg("TN1", 22)]
    each = booking(flights=flights, payment_methods=[{"payment_id": "card_u", "amount": 70}])
    done = run(each, each, each, each)
    assert [refusal.message for _, refusal in done.refusals] == ["Too many reservations"]
    assert record(done, "users", "uma")["reservations"] == ["R1", "HATHAT", "HATHAU", "HATHAV"]


@pytest.mark.parametrize(
    ("changes", "stored"),
    [
        ({"total_baggages": "1"}, {"total_baggages": 1}),
        ({"total_baggages": 1.0}, {"total_baggages": 1}),
        ({"total_baggages": True}, {"total_baggages": 1}),
        ({"payment_methods": [{"payment_id": "card_u", "amount": "80"}]}, {}),
        ({"payment_methods": [{"payment_id": "card_u", "amount": 80.0, "note": "x"}]}, {}),
        ({"passengers": [{**UMA, "seat": "1A"}]}, {"passengers": [UMA]}),
        ({"flights": [{**leg("TN1", 21), "price": 1}]}, {}),
    ],
)
def test_a_booking_is_stored_as_the_domains_models_read_it(changes: Any, stored: Any) -> None:
    plain = record(succeed(booking()), "reservations", "HATHAT")
    other = record(succeed(booking(**changes)), "reservations", "HATHAT")
    # Python's == takes 1, 1.0 and True for the same; their texts are not.
    assert repr(sorted(other.items())) == repr(sorted({**plain, **stored}.items()))


def test_anything_empty_is_an_empty_list() -> None:
    done = succeed(booking(flights="", passengers={}, payment_methods=[]))
    assert record(done, "reservations", "HATHAT")["flights"] == []


def test_seats_are_held_against_each_segment_alone() -> None:
    twice = [leg("TN1", 21), leg("TN1", 21)]
    two = [UMA, UMA]
    paid = [{"payment_id": "card_u", "amount": 320}]
    done = succeed(booking(flights=twice, passengers=two, payment_methods=paid))
    assert record(done, "flights", "TN1")["dates"]["2024-05-21"]["available_seats"]["economy"] == -2


def test_two_payments_on_one_gift_card_may_overdraw_it() -> None:
    paid = [{"payment_id": "gift_v", "amount": 300}, {"payment_id": "gift_v", "amount": 300}]
    flights, five = [leg("TN1", 20), leg("TN3", 20)], [UMA] * 5
    done = run(booking(user_id="vic", flights=flights, passengers=five, cabin="basic_economy", payment_methods=paid))
    assert done.refusals[0][1].message.startswith("Payment amount does not add up, total price is 525")
    paid[1]["amount"] = 225
    done = succeed(
        booking(user_id="vic", flights=flights, passengers=five, cabin="basic_economy", payment_methods=paid)
    )
    assert balance(done, "vic", "gift_v") == -25


def test_a_certificate_named_twice_is_used_up_although_the_booking_fails() -> None:
    done = run(
        booking(payment_methods=[{"payment_id": "cert_u", "amount": 40}, {"payment_id": "cert_u", "amount": 40}])
    )
    assert done.refusals[0][1].kind == "refused"
    assert list(diff(AIRLINE.initial, done.end_state)) == ["/agent/users/uma/payment_methods/cert_u"]


# Updates and cancellation


def test_a_move_is_paid_by_the_difference_and_keeps_the_price_of_what_stays() -> None:
    done = succeed(moving(flights=[leg("TN1", 20), leg("TN2", 21)]))
    assert [segment["price"] for segment in record(done, "reservations", "R1")["flights"]] == [90, 60]
    assert history(done) == [("card_u", 160), ("card_u", -10)]


def test_another_cabin_takes_every_segment_at_todays_price() -> None:
    done = succeed(moving(cabin="business"))
    assert record(done, "reservations", "R1")["cabin"] == "business"
    assert history(done) == [("card_u", 160), ("card_u", 300 + 210 - 160)]


def test_an_update_moves_no_seats() -> None:
    done = succeed(moving(cabin="business"), moving(flights=[leg("TN1", 21), leg("TN2", 21)]))
    assert not [pointer for pointer in diff(AIRLINE.initial, done.end_state) if pointer.startswith("/agent/flights")]


def test_an_update_that_costs_nothing_leaves_no_trace() -> None:
    assert succeed(moving(), moving(payment_id="gift_u")).end_state == AIRLINE.initial


def test_an_update_debits_a_gift_card_and_a_refund_credits_it() -> None:
    assert balance(succeed(moving(flights=[leg("TN1", 20), leg("TN2", 21)], payment_id="gift_u"))) == 110
    assert balance(succeed(bags(2, 1, method="gift_u"))) == 50


def test_an_update_may_use_a_gift_card_up() -> None:
    assert balance(succeed(bags(3, 2, method="gift_u"))) == 0


def test_an_update_without_flights_wipes_the_trip_and_stores_any_cabin() -> None:
    done = succeed(moving(flights=[], cabin=["first"]))
    changed = record(done, "reservations", "R1")
    assert (changed["flights"], changed["cabin"], history(done)[1:]) == ([], ["first"], [("card_u", -160)])


def test_the_price_of_a_move_counts_every_passenger() -> None:
    done = succeed(moving("R2", cabin="basic_economy", flights=[leg("TN1", 20), leg("TN3", 20)], payment_id="gift_v"))
    assert history(done, "R2") == [("gift_v", 330), ("gift_v", -14)]
    assert balance(done, "vic", "gift_v") == 514


def test_bags_beyond_the_present_number_cost_50_and_fewer_refund_nothing() -> None:
    done = succeed(bags(4, 2), bags(4, 1), bags(4, 3))
    assert history(done) == [("card_u", 160), ("card_u", 100), ("card_u", 100)]


@pytest.mark.parametrize("value", [1, 1.0, "1", True, None, [1]])
def test_the_total_of_bags_is_stored_as_given(value: Any) -> None:
    stored = record(succeed(bags(value, 0)), "reservations", "R1")["total_baggages"]
    assert (type(stored), stored) == (type(value), value)


def test_a_price_that_is_no_whole_number_debits_the_gift_card_and_then_fails() -> None:
    done = run(bags(2, 1.01, method="gift_u"))
    assert done.refusals[0][1].kind == "refused"
    assert list(diff(AIRLINE.initial, done.end_state)) == ["/agent/users/uma/payment_methods/gift_u/amount"]
    assert balance(done) == 49.5


def test_a_price_that_is_no_whole_number_fails_cleanly_on_a_credit_card() -> None:
    done = run(bags(2, 1.01))
    assert done.refusals[0][1].kind == "refused"
    assert done.end_state == AIRLINE.initial


def test_passengers_are_replaced_as_the_domains_model_reads_them() -> None:
    done = succeed(passengers([{"last_name": "B", "first_name": "A", "dob": "C", "seat": 1}]))
    assert record(done, "reservations", "R1")["passengers"] == [{"first_name": "A", "last_name": "B", "dob": "C"}]


@pytest.mark.parametrize("value", ["x", {"first_name": "A"}, ["x"], [None], [[UMA]]])
def test_what_is_no_list_of_objects_but_long_enough_is_stored_as_passengers(value: Any) -> None:
    assert record(succeed(passengers(value)), "reservations", "R1")["passengers"] == value


def test_a_cancellation_negates_the_payments_and_gives_a_gift_card_nothing_back() -> None:
    done = succeed(bags(2, 1, method="gift_u"), cancelling())
    assert record(done, "reservations", "R1")["status"] == "cancelled"
    assert history(done) == [("card_u", 160), ("gift_u", 50), ("card_u", -160), ("gift_u", -50)]
    assert balance(done) == 50


def test_a_cancellation_gives_no_seat_and_no_id_back() -> None:
    done = succeed(booking(), cancelling("HATHAT"), booking())
    assert record(done, "users", "uma")["reservations"] == ["R1", "HATHAT", "HATHAU"]
    assert record(done, "flights", "TN1")["dates"]["2024-05-21"]["available_seats"]["economy"] == 0


def test_a_cancelled_reservation_can_be_cancelled_again_and_changed() -> None:
    done = succeed(cancelling(), cancelling(), bags(2, 1))
    assert [amount for _, amount in history(done)] == [160, -160, -160, 160, 50]


# Certificates


@pytest.mark.parametrize("amount", [50, 50.0, "50", " 5e1 "])
def test_a_certificate_holds_a_float_however_its_amount_was_written(amount: Any) -> None:
    done = succeed(certificate(amount))
    made = record(done, "users", "uma")["payment_methods"]["certificate_3221322"]
    assert repr(made) == repr({"id": "certificate_3221322", "amount": 50.0, "source": "certificate"})
    assert done.outcomes[0].observation == f"Certificate certificate_3221322 added to user uma with amount {amount}."


def test_certificate_ids_are_each_users_own_and_three_are_the_most() -> None:
    done = run(certificate(1), certificate(2, user="vic"), certificate(3), certificate(4), certificate(5))
    assert [(i, refusal.message) for i, refusal in done.refusals] == [(4, "Too many certificates")]
    assert sorted(record(done, "users", "vic")["payment_methods"]) == ["card_v", "certificate_3221322", "gift_v"]


def test_a_certificate_that_was_sent_can_pay_and_its_id_is_free_again() -> None:
    paid = [{"payment_id": "certificate_3221322", "amount": 80}]
    done = succeed(certificate(90), booking(payment_methods=paid), certificate(10))
    assert record(done, "users", "uma")["payment_methods"]["certificate_3221322"]["amount"] == 10


# Refusals: whatever is wrong, nothing changes

CARD = [{"payment_id": "card_u", "amount": 80}]
NOBODY = "nobody"
REFUSED: dict[str, tuple[ToolCall, str]] = {
    "unknown user": (ToolCall("get_user_details", {"user_id": NOBODY}), "User nobody not found"),
    "user id that is no string": (ToolCall("get_user_details", {"user_id": ["uma"]}), "User ['uma'] not found"),
    "unknown reservation": (ToolCall("get_reservation_details", {"reservation_id": "r1"}), "Reservation r1 not found"),
    "unknown flight": (ToolCall("get_flight_status", leg("TN9", 20)), "Flight TN9 not found"),
    "date without the flight": (ToolCall("get_flight_status", leg("TN1", 30)), "TN1 not found on date 2024-05-30"),
    "date that cannot be looked up": (ToolCall("get_flight_status", {**leg("TN1", 20), "date": []}), "TypeError"),
    "search on such a date": (
        ToolCall("search_direct_flight", {"origin": "AAA", "destination": "BBB", "date": {}}),
        "TypeError",
    ),
    "no expression": (ToolCall("calculate", {"expression": "2 +"}), "invalid syntax"),
    "letters": (ToolCall("calculate", {"expression": "__import__"}), "Invalid characters in expression"),
    "booking for nobody": (booking(user_id=NOBODY), "User nobody not found"),
    "booking from null": (booking(origin=None), "a string is needed"),
    "booking of another kind": (booking(flight_type="return"), "one of round_trip, one_way is needed"),
    "booking in no cabin": (booking(cabin="first"), "one of business, economy, basic_economy is needed"),
    "booking with perhaps insurance": (booking(insurance=True), "one of yes, no is needed"),
    "booking with half a bag": (booking(total_baggages=0.5), "a whole number is needed"),
    "booking with no bag count": (booking(total_baggages=None), "a whole number is needed"),
    "paid bags as text": (booking(nonfree_baggages="1", total_baggages=1), "TypeError"),
    "flights that are null": (booking(flights=None), "TypeError"),
    "flights as text": (booking(flights=["TN1"]), "every flight must be an object"),
    "flights of two kinds": (booking(flights=[leg("TN1", 21), "TN2"]), "every flight must be an object"),
    "flight without a date": (booking(flights=[{"flight_number": "TN1"}]), "the field date is missing"),
    "flight number that is a number": (booking(flights=[{**leg("TN1", 21), "flight_number": 1}]), "a string is needed"),
    "passengers as text": (booking(passengers="Uma"), "every passenger must be an object"),
    "passenger without a birthday": (booking(passengers=[{"first_name": "A", "last_name": "B"}]), "the field dob"),
    "payments as an object": (booking(payment_methods={"card_u": 80}), "every payment must be an object"),
    "payment of a fraction": (booking(payment_methods=[{**CARD[0], "amount": 80.5}]), "a whole number is needed"),
    "flight that nobody flies": (booking(flights=[leg("TN9", 21)]), "Flight TN9 not found"),
    "flight that has landed": (booking(flights=[leg("TN1", 10)]), "Flight TN1 not available on date 2024-05-10"),
    "flight that is cancelled": (booking(flights=[leg("TN2", 22)]), "Flight TN2 not available on date 2024-05-22"),
    "more passengers than seats": (booking(passengers=[UMA] * 3), "Not enough seats on flight TN1"),
    "unknown method": (booking(payment_methods=[{"payment_id": "card_v", "amount": 80}]), "method card_v not found"),
    "gift card short": (
        booking(flights=[leg("TN1", 21), leg("TN2", 21)], payment_methods=[{"payment_id": "gift_u", "amount": 140}]),
        "Not enough balance in payment method gift_u",
    ),
    "certificate short": (booking(payment_methods=[{"payment_id": "cert_u", "amount": 80}]), "Not enough balance"),
    "one short": (booking(payment_methods=[{**CARD[0], "amount": 79}]), "total price is 80, but paid 79"),
    "cancelling nothing": (cancelling("R9"), "Reservation R9 not found"),
    "cancelling null": (cancelling(None), "Reservation None not found"),
    "moving nothing": (moving("R9"), "Reservation R9 not found"),
    "moving to text": (moving(flights="TN1"), "every flight must be an object"),
    "moving to a flight that has landed": (moving(flights=[leg("TN1", 10)]), "not available on date 2024-05-10"),
    "moving to no cabin": (moving(cabin="first"), "KeyError"),
    "moving to a cabin that cannot be looked up": (moving(cabin=[]), "TypeError"),
    "moving to few seats": (
        moving("R2", cabin="business", flights=[leg("TN1", 20)], payment_id="card_v"),
        "Not enough seats on flight TN1",
    ),
    "moving on a stranger's card": (moving(payment_id="card_v"), "Payment method not found"),
    "moving on a list": (moving(payment_id=[]), "TypeError"),
    "moving on a certificate": (moving(payment_id="cert_u"), "Certificate cannot be used to update reservation"),
    "moving on a short gift card": (moving(cabin="business", payment_id="gift_u"), "Gift card balance is not enough"),
    "bags of nothing": (bags(1, 0, reservation="R9"), "Reservation R9 not found"),
    "paid bags of an update as text": (bags(1, "1"), "TypeError"),
    "bags on an unknown method": (bags(1, 0, method="x"), "Payment method not found"),
    "free bags on a certificate": (bags(1, 0, method="cert_u"), "Certificate cannot be used"),
    "passengers of nothing": (passengers([UMA], reservation="R9"), "Reservation R9 not found"),
    "too many passengers": (passengers([UMA, UMA]), "Number of passengers does not match"),
    "passengers that are null": (passengers(None), "TypeError"),
    "passenger without a name": (passengers([{"last_name": "B", "dob": "C"}]), "the field first_name is missing"),
    "passenger of numbers": (passengers([{"first_name": 1, "last_name": "B", "dob": "C"}]), "a string is needed"),
    "certificate for nobody": (certificate(1, user=NOBODY), "User nobody not found"),
    "certificate of nothing": (certificate(None), "a number is needed"),
    "certificate of words": (certificate("fifty"), "a number is needed"),
    "certificate of a list": (certificate([50]), "a number is needed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_call_says_why_and_changes_nothing(name: str) -> None:
    call, message = REFUSED[name]
    done = run(call)
    assert [refusal.kind for _, refusal in done.refusals] == ["refused"]
    assert message in done.refusals[0][1].message
    assert done.end_state == AIRLINE.initial


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (ToolCall("refund"), "unknown_tool"),
        (ToolCall("cancel_reservation", {"reservation_id": "R1"}, requestor="user"), "unknown_tool"),
        (ToolCall("cancel_reservation", {"reservation_id": "R1", "reason": "x"}), "bad_arguments"),
        (ToolCall("cancel_reservation", {"reservation_id": "R1", "draft": "x"}), "bad_arguments"),
        (ToolCall("cancel_reservation"), "bad_arguments"),
        (ToolCall("cancel_reservation", None), "bad_arguments"),
    ],
)
def test_a_call_that_fits_no_tool_changes_nothing(call: ToolCall, kind: str) -> None:
    done = run(call)
    assert [refusal.kind for _, refusal in done.refusals] == [kind]
    assert done.end_state == AIRLINE.initial


@pytest.mark.parametrize("name", sorted(AIRLINE.tools))
@pytest.mark.parametrize("value", [None, "", "5", 5, 5.0, True, [], {}, ["x"], [{"a": 1}], [{}, "x"]])
def test_any_value_in_any_place_is_answered_or_refused(name: str, value: Any) -> None:
    good = {
        "book_reservation": booking(),
        "update_reservation_flights": moving(),
        "update_reservation_baggages": bags(1, 0),
        "update_reservation_passengers": passengers([UMA]),
        "cancel_reservation": cancelling(),
        "send_certificate": certificate(5),
    }.get(name, ToolCall(name, dict.fromkeys(AIRLINE.tools[name].parameters, "x")))
    for parameter in AIRLINE.tools[name].parameters:
        outcome = run(ToolCall(name, {**(good.arguments or {}), parameter: value})).outcomes[0]
        assert outcome.refusal is None or outcome.refusal.kind == "refused"


def test_a_cancellation_fails_on_half_a_surrogate_pair_as_in_tau2() -> None:
    done = run(passengers([{**UMA, "first_name": "\ud800"}]), cancelling())
    assert [(i, refusal.kind) for i, refusal in done.refusals] == [(1, "refused")]


# Law 3


def test_nothing_that_runs_reaches_the_initial_state_or_the_arguments() -> None:
    before = canonical_text(AIRLINE.initial.agent.to_json())
    calls = [booking(), moving(cabin="business"), bags(3, 1), passengers([UMA]), certificate(5), cancelling("R2")]
    told = canonical_text([call.arguments for call in calls])
    succeed(*calls, *(call for call in calls[2:5]))
    assert canonical_text(AIRLINE.initial.agent.to_json()) == before
    assert canonical_text([call.arguments for call in calls]) == told
