"""tau-bench v1's airline tools: on a made-up airline, and on recorded runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tiny_airline import bags, booking, cancelling, certificate, leg, moving, passengers, tables

from multigold.environments.replay import Replay, replay
from multigold.environments.tau1_airline import build
from multigold.model.task import ToolCall
from multigold.rescoring import Options, rescore
from multigold.rescoring.checking import check_recorded
from multigold.state.database import Database

ENVIRONMENT = build(Database.from_json(tables()))


def run(*calls: ToolCall) -> Replay:
    return replay(ENVIRONMENT, calls)


def reservation(done: Replay, name: str = "HATHAT") -> Any:
    return done.end_state.agent.get("reservations", name)


def method(done: Replay, name: str, user: str = "uma") -> Any:
    return done.end_state.agent.get("users", user)["payment_methods"].get(name)


def test_there_are_fourteen_tools_of_which_six_write() -> None:
    assert len(ENVIRONMENT.tools) == 14
    assert Counter(tool.kind for tool in ENVIRONMENT.tools.values())["write"] == 6


@pytest.mark.parametrize(
    "call",
    [
        booking(user_id="nobody"),
        booking(flights=[leg("TN1", 10)]),
        booking(payment_methods=[{"payment_id": "card_u", "amount": 79}]),
        moving("R9"),
        moving(payment_id="cert_u"),
        bags(1, "1"),
        passengers([]),
        cancelling("R9"),
        ToolCall("calculate", {"expression": "two"}),
        ToolCall("get_user_details", {"user_id": ["uma"]}),
    ],
)
def test_a_refusal_is_a_text_that_begins_with_error_and_changes_nothing(call: ToolCall) -> None:
    done = run(call)
    assert done.outcomes[0].refusal is not None
    assert done.outcomes[0].refusal.message.startswith("Error: ")
    assert done.end_state == ENVIRONMENT.initial


def test_booking_takes_no_seats_and_stores_what_was_given() -> None:
    flights = [{**leg("TN1", 21), "price": 1, "seat": "1A"}]
    payments = [{"payment_id": "card_u", "amount": 80.0, "note": "x"}]
    done = run(booking(flights=flights, payment_methods=payments, insurance=None, total_baggages="none"))
    booked = reservation(done)
    assert booked["flights"] == [{**flights[0], "price": 80, "origin": "AAA", "destination": "BBB"}]
    assert booked["payment_history"] == payments
    assert (booked["insurance"], booked["total_baggages"]) == (None, "none")
    assert done.end_state.agent.get("flights", "TN1") == tables()["flights"]["TN1"]


def test_the_third_id_is_given_to_every_further_booking() -> None:
    cabins = ["economy"] * 3 + ["basic_economy"]
    amounts = [80, 80, 80, 50]
    done = run(
        *(
            booking(cabin=cabin, payment_methods=[{"payment_id": "card_u", "amount": amount}])
            for cabin, amount in zip(cabins, amounts, strict=True)
        )
    )
    assert not done.refusals
    assert done.end_state.agent.get("users", "uma")["reservations"] == ["R1", "HATHAT", "HATHAU", "HATHAV", "HATHAV"]
    assert reservation(done, "HATHAV")["cabin"] == "basic_economy"


def test_flights_are_checked_before_balances_and_balances_before_the_total() -> None:
    short = [{"payment_id": "gift_u", "amount": 101}]
    first = run(booking(flights=[leg("TN1", 10)], payment_methods=short)).refusals[0][1].message
    second = run(booking(payment_methods=short)).refusals[0][1].message
    third = run(booking(payment_methods=[{"payment_id": "gift_u", "amount": 79}])).refusals[0][1].message
    assert ["available" in first, "balance" in second, "add up" in third] == [True] * 3


def test_a_certificate_named_twice_is_used_up_by_a_booking_that_fails() -> None:
    twice = [{"payment_id": "cert_u", "amount": 40}] * 2
    done = run(booking(payment_methods=twice))
    assert done.refusals
    assert method(done, "cert_u") is None


def test_an_update_of_flights_does_not_store_the_cabin_so_that_a_second_one_is_priced_anew() -> None:
    business = moving(cabin="business")
    done = run(business, business)
    assert reservation(done, "R1")["cabin"] == "economy"
    # 300 + 210 against 90 + 70; then the same seats again at the same price: no difference, so no payment.
    assert [entry["amount"] for entry in reservation(done, "R1")["payment_history"]] == [160, 350]
    back = run(business, moving())
    assert [segment["price"] for segment in reservation(back, "R1")["flights"]] == [300, 210]


def test_an_update_keeps_what_the_call_says_of_a_flight() -> None:
    done = run(moving(flights=[{**leg("TN1", 20), "seat": "2B"}, leg("TN2", 20)]))
    first = {**leg("TN1", 20), "seat": "2B", "price": 90, "origin": "AAA", "destination": "BBB"}
    assert reservation(done, "R1")["flights"][0] == first


def test_flights_of_an_update_are_checked_before_its_payment() -> None:
    message = run(moving(flights=[leg("TN2", 22)], payment_id="none")).refusals[0][1].message
    assert "not available" in message


def test_bags_beyond_the_present_number_cost_fifty_and_none_are_refunded() -> None:
    done = run(bags(3, 2), bags(1, 0))
    assert [entry["amount"] for entry in reservation(done, "R1")["payment_history"]] == [160, 100]
    assert reservation(done, "R1")["nonfree_baggages"] == 0
    half = run(bags(3, 0.5, method="gift_u"))
    assert (method(half, "gift_u")["amount"], reservation(half, "R1")["nonfree_baggages"]) == (75.0, 0.5)


def test_passengers_are_stored_as_given_if_their_number_is_right() -> None:
    assert reservation(run(passengers(["Uma"])), "R1")["passengers"] == ["Uma"]
    assert run(passengers([])).refusals


def test_a_fourth_certificate_does_nothing_and_says_nothing() -> None:
    done = run(*(certificate(amount) for amount in (10, "20", 30.5, 40)))
    assert not done.refusals
    assert done.outcomes[3].observation is None
    ids = ["certificate_3221322", "certificate_3221323", "certificate_3221324"]
    assert [method(done, name)["amount"] for name in ids] == [10, "20", 30.5]


def test_a_cancellation_appends_the_negated_payments_and_sets_the_status() -> None:
    done = run(cancelling("R2"), cancelling("R2"))
    assert reservation(done, "R2")["status"] == "cancelled"
    assert [entry["amount"] for entry in reservation(done, "R2")["payment_history"]] == [330, -330, -330, 330]
    assert method(done, "gift_v", "vic")["amount"] == 500.0


def test_a_thought_leaves_no_trace_and_airports_are_an_object() -> None:
    done = run(ToolCall("think", {"thought": "hm"}), ToolCall("list_all_airports", {}))
    assert [done.outcomes[0].observation, done.outcomes[1].observation["SFO"]] == ["", "San Francisco"]
    assert done.end_state == ENVIRONMENT.initial


def test_a_connection_on_the_next_day_is_shown_as_on_the_day_before() -> None:
    data = tables()
    data["flights"]["TN1"] |= {"scheduled_arrival_time_est": "01:00:00+1"}
    data["flights"]["TN2"]["dates"]["2024-05-20"] = {"status": "landed", "actual": "x"}
    search = ToolCall("search_onestop_flight", {"origin": "AAA", "destination": "CCC", "date": "2024-05-20"})
    ((_, second),) = replay(build(Database.from_json(data)), [search]).outcomes[0].observation
    assert (second["date"], second["status"], second["actual"]) == ("2024-05-21", "available", "x")


FILES = {
    "airline_gpt-4o.json": (200, 182),
    "airline_grok-4.1_with_error_items.json": (100, 87),
    "act_text_actions_grok-4.json": (50, 46),
}


@pytest.mark.parametrize("name", FILES)
def test_every_recorded_verdict_on_the_actions_is_reproduced(shared: Path, name: str) -> None:
    runs, recorded = FILES[name]
    options = Options(data_dir=shared / "data" / "tau1")
    (check,) = check_recorded(shared / "data" / "results" / "tau1" / name, options=options)
    assert (check.runs, check.recorded, check.agree, check.differ) == (runs, recorded, recorded, ())


@pytest.mark.parametrize("name", FILES)
def test_every_recorded_reward_is_reproduced_and_nothing_drifts(shared: Path, name: str) -> None:
    rescored = rescore(shared / "data" / "results" / "tau1" / name, options=Options(data_dir=shared / "data" / "tau1"))
    assert rescored.files[0].domain == "tau1-airline"
    assert rescored.files[0].fidelity["drifting"] == 0
    scored = [verdict for verdict in rescored if verdict.rewards.single is not None]
    assert [v.run_id for v in scored if v.rewards.single != v.recorded.reward] == []
    assert {v.reason.code for v in rescored if v.outcome == "unscored" and v.reason} <= {"infrastructure_error"}
    assert len(scored) == len(rescored) - sum(rescored.files[0].unscored.values())


def test_every_call_that_an_agent_wrote_as_text_is_read(shared: Path) -> None:
    path = shared / "data" / "results" / "tau1" / "act_text_actions_grok-4.json"
    rescored = rescore(path, options=Options(data_dir=shared / "data" / "tau1"))
    # The file has 292 messages of the assistant whose words after the last "Action:" are a call of a tool.
    assert rescored.files[0].fidelity["calls"] == 292
    assert rescored.files[0].fidelity["unknown"] == 0
