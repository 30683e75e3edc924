"""The airline invariants on tau2's own data: what readings admit passes, and so do the golds, but for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from airline_paths import (
    IVAN_CARD,
    IVAN_GIFT_A,
    MOVE_27,
    NEW_YORK,
    PATHS,
    RAJ_GIFT,
    RAJ_MASTER,
    RAJ_VISA,
    THEN_MOVE,
    TWO_STEP,
    UPGRADES_44,
    bags,
    book,
    cancel,
    certificate,
    legs,
    move,
    pay,
)  # fmt: skip

from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.model.task import ToolCall
from multigold.state.delta import diff

CARD_45, OTHER_CARD_45 = "credit_card_9302073", "credit_card_5237144"
STAY_45, LATER_45 = legs("HAT176 05-20", "HAT097 05-20"), legs("HAT024 05-22", "HAT002 05-22")
CHANGED_5 = legs("HAT156 05-16", "HAT194 05-16", "HAT182 05-22", "HAT153 05-22")
DIRECT = legs("HAT041 05-21")
JAMES = {"first_name": "James", "last_name": "Lee", "dob": "1993-12-10"}
ATLANTA = {
    "user_id": "james_lee_6136", "origin": "ATL", "destination": "LAS", "flight_type": "one_way",
    "cabin": "basic_economy", "flights": legs("HAT174 05-21"), "passengers": [JAMES, JAMES], "total_baggages": 0,
}  # fmt: skip

FAMILIES: dict[str, tuple[ToolCall, ...]] = {
    "5 changed, refund on a card": (
        move("3JA7XV", "business", CHANGED_5, "credit_card_4920843"),
        certificate(200, "mei_brown_7075"),
    ),
    "5 cancelled": (cancel("3JA7XV"), certificate(200, "mei_brown_7075")),
    "13 booked beside, on one gift card": (book(**ATLANTA, payment_methods=pay(("gift_card_3166319", 138))),),
    "13 booked beside, on two": (
        book(**ATLANTA, payment_methods=pay(("gift_card_1712795", 88), ("gift_card_3166319", 50))),
    ),
    "27 changed": (MOVE_27, certificate(150, "ethan_martin_2396")),
    "29 cancelled and booked": (cancel("VA5SGQ"), book()),
    "29 booked, insured, on two methods": (
        book(insurance="yes", payment_methods=pay((RAJ_GIFT, 279), (RAJ_MASTER, 33))),
        cancel("VA5SGQ"),
    ),
    "29 with the bag alone": (bags("VA5SGQ", 1, 0, RAJ_VISA),),
    "32 in two steps": TWO_STEP,
    "32 in two steps, refund on a gift card": (TWO_STEP[0], move("OWZ4XL", "economy", DIRECT, IVAN_GIFT_A)),
    "32 in one call": (THEN_MOVE,),
    "32 moved first, which only policy forbids": (
        move("OWZ4XL", "basic_economy", DIRECT, IVAN_CARD),
        THEN_MOVE,
    ),
    "44 upgraded": UPGRADES_44,
    "45 in two steps, on two cards": (
        move("PEP4E0", "economy", STAY_45, CARD_45),
        move("PEP4E0", "economy", LATER_45, OTHER_CARD_45),
    ),
    "45 in two steps by way of business": (
        move("PEP4E0", "business", STAY_45, CARD_45),
        move("PEP4E0", "business", LATER_45, CARD_45),
    ),
    "45 in one call": (move("PEP4E0", "economy", LATER_45, CARD_45),),
    "45 upgraded, then cancelled": (move("PEP4E0", "business", STAY_45, CARD_45), cancel("PEP4E0")),
}  # fmt: skip


def faults(airline: Environment, calls: tuple[ToolCall, ...]) -> list[tuple[str, str]]:
    done = replay(airline, calls)
    assert done.refusals == ()
    return [
        (name, fault)
        for name, invariant in airline.invariants.items()
        for fault in invariant(airline.initial, done.end_state)
    ]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_member_of_a_reading_violates_nothing(airline: Environment, name: str) -> None:
    assert faults(airline, FAMILIES[name]) == []


@pytest.mark.parametrize(
    ("name", "pointers"),
    [
        ("32: two steps or one call", ["/agent/reservations/OWZ4XL/payment_history"]),
        ("29: order of payments", ["/agent/reservations/HATHAT/payment_history"]),
        ("17: bags first, one of them paid", [
            "/agent/reservations/FQ8APE/nonfree_baggages",
            "/agent/reservations/FQ8APE/payment_history",
            "/agent/users/omar_rossi_1241/payment_methods/gift_card_8190333/amount",
        ]),
        ("certificates: 50, 100 or 100, 50", [
            "/agent/users/noah_muller_9847/payment_methods/certificate_3221322/amount",
            "/agent/users/noah_muller_9847/payment_methods/certificate_3221323/amount",
        ]),
    ],
)  # fmt: skip
def test_two_paths_differ_in_these_places_and_no_others(airline: Environment, name: str, pointers: list[str]) -> None:
    one, other = (replay(airline, calls).end_state for calls in (PATHS[name].one, PATHS[name].other))
    assert list(diff(one, other)) == pointers


def test_the_direct_change_of_task_29_ends_where_the_reservation_does_not_go(airline: Environment) -> None:
    found = faults(airline, (move("VA5SGQ", "economy", NEW_YORK, RAJ_VISA),))
    assert found == [("itineraries-connect", "reservation VA5SGQ does not go to LGA")]


@pytest.mark.parametrize(("release", "broken"), [("37199f3", {"29"}), ("01e812d", set())])
def test_the_benchmarks_golds_violate_nothing_but_where_task_29_changes_its_destination(
    airline: Environment, shared: Path, release: str, broken: set[str]
) -> None:
    tasks = json.loads((shared / "data" / "tau2" / "airline" / f"tasks.{release}.json").read_bytes())
    found = {}
    for task in tasks:
        actions = task["evaluation_criteria"]["actions"]
        found[task["id"]] = faults(airline, tuple(ToolCall(a["name"], a["arguments"]) for a in actions))
    assert {task_id for task_id, faults_of_it in found.items() if faults_of_it} == broken


def test_every_reservation_of_the_data_was_paid_as_the_invariants_reckon(airline: Environment) -> None:
    """Fares and insurance for each passenger and 50 for each paid bag: the rule is the data's own."""
    from multigold.environments.airline.changes import ChangedReservation
    from multigold.environments.airline.money import payment_faults

    agent = airline.initial.agent
    for reservation_id in agent.ids("reservations"):
        record = agent.get("reservations", reservation_id)
        as_new = ChangedReservation(
            id=reservation_id, before=None, after=record, initial=airline.initial, end=airline.initial
        )
        assert list(payment_faults(as_new)) == []
