"""Minted ids: names follow content, whatever the order of minting; an oracle tries every renaming."""

from __future__ import annotations

import copy
import pickle
from random import Random

import hotel
import pytest
from hotel import CONVENTIONS, INITIAL, Plain, alike, book, form, give, plain, state
from hypothesis import given
from hypothesis import strategies as st
from state_values import essence

from multigold.errors import CallError, StateError
from multigold.state import labelling
from multigold.state.canonical import canonical_text
from multigold.state.database import Database, EndState
from multigold.state.equivalence import (
    Conventions,
    IdPool,
    Place,
    normal_form,
)
from multigold.state.markers import Marker

seeds = st.integers(0, 999)


@given(hotel.stays(), seeds)
def test_every_renaming_of_minted_ids_has_one_normal_form(data: Plain, seed: int) -> None:
    other = Random(seed).choice(hotel.all_relabellings(data))
    assert alike(data, other, "minted-ids")
    for record in other["guests"].values():
        Random(seed).shuffle(record["bookings"])
    assert alike(data, other, "minted-ids", "unordered")


@given(hotel.stays(), hotel.stays())
def test_states_with_one_normal_form_differ_in_the_names_of_minted_ids_alone(a: Plain, b: Plain) -> None:
    renamings = [essence(other) for other in hotel.all_relabellings(a)]
    assert alike(a, b, "minted-ids") == (essence(b) in renamings)


@given(hotel.relatives())
def test_states_are_equivalent_exactly_if_a_renaming_makes_the_rest_of_their_normal_forms_equal(
    case: tuple[Plain, Plain, tuple[str, ...]],
) -> None:
    a, b, names = case
    rest = [name for name in names if name != "minted-ids"]
    renamings = hotel.all_relabellings(a) if "minted-ids" in names else [a]
    assert alike(a, b, *names) == any(alike(renamed, b, *rest) for renamed in renamings)


@given(hotel.crowds(), hotel.combinations_of_equivalences, hotel.combinations_of_equivalences, seeds)
def test_what_is_retold_has_one_normal_form_and_so_it_has_with_more_equivalences(
    data: Plain, names: tuple[str, ...], more: tuple[str, ...], seed: int
) -> None:
    other = hotel.retold(data, names, Random(seed))
    assert alike(data, other, *names)
    assert alike(data, other, *names, *more)
    once = form(data, *names)
    assert form(once, *names) == once
    assert form(once, *names, *more) == form(other, *names, *more)


@given(hotel.stays(), seeds, st.integers(0, 3))
def test_a_state_with_one_thing_changed_is_equivalent_only_where_a_renaming_undoes_it(
    data: Plain, seed: int, kind: int
) -> None:
    other = Random(seed).choice(hotel.all_relabellings(data))
    random = Random(seed)
    minted = [record for key, record in other["bookings"].items() if key.startswith("NEW")]
    for record in random.sample(minted, min(1, len(minted))):
        if kind == 0:
            record["room"] = 3 - record["room"]
        elif kind == 1:
            record["paid"] = record["paid"][::-1]
        elif kind == 2:
            record["next_to"] = [random.choice(hotel.BOOKING_IDS)]
        else:
            record["paid"] = [{**entry, "by": random.choice(hotel.VOUCHER_IDS)} for entry in record["paid"]]
    renamings = [essence(renamed) for renamed in hotel.all_relabellings(data)]
    assert alike(data, other, "minted-ids") == (essence(other) in renamings)


def twins(first: str, second: str) -> Plain:
    """Two equal bookings of one guest, each paid with a voucher of its own, which are worth the same."""
    data = plain()
    for booking, voucher in ((first, "V1"), (second, "V2")):
        give(data, voucher, "ada", 50)
        book(data, booking, "ada", 1, (voucher, 50))
    data["guests"]["ada"]["bookings"].sort()
    return data


def test_ids_that_look_alike_but_hang_together_are_named_together() -> None:
    assert state(twins("NEW1", "NEW2")) != state(twins("NEW2", "NEW1"))
    assert alike(twins("NEW1", "NEW2"), twins("NEW2", "NEW1"), "minted-ids")


def crossed(*pairs: tuple[str, str]) -> Plain:
    """Equal bookings that stand next to each other."""
    data = plain()
    for key, neighbour in pairs:
        book(data, key, "ada", 1)
        data["bookings"][key]["next_to"] = [neighbour]
    data["guests"]["ada"]["bookings"].sort()
    return data


def test_rings_of_equal_records_are_not_mistaken_for_each_other() -> None:
    ring = [("NEW1", "NEW2"), ("NEW2", "NEW3"), ("NEW3", "NEW4"), ("NEW4", "NEW1")]
    other_ring = [("NEW1", "NEW3"), ("NEW3", "NEW2"), ("NEW2", "NEW4"), ("NEW4", "NEW1")]
    pairs = [("NEW1", "NEW2"), ("NEW2", "NEW1"), ("NEW3", "NEW4"), ("NEW4", "NEW3")]
    names = ("minted-ids", "unordered")
    assert alike(crossed(*ring), crossed(*other_ring), *names)
    assert not alike(crossed(*ring), crossed(*pairs), *names)


@pytest.mark.parametrize("count", [2, 5, 60])
def test_many_equal_records_are_interchangeable_however_many(count: int) -> None:
    keys = [f"NEW{number}" for number in range(count)]
    data, other = plain(), plain()
    for key in keys:
        book(data, key, "ada", 1)
    for key in reversed(keys):
        book(other, key, "ada", 1)
    assert alike(data, other, "minted-ids", "unordered")
    once = form(data, "minted-ids")
    assert form(once, "minted-ids") == once
    assert once.agent.ids("bookings")[:2] == ["OLD1", "OLD2"]
    assert sorted(map(str, once.agent.ids("bookings")[2:])) == sorted(f"<minted booking {n + 1}>" for n in range(count))


def test_ids_that_cannot_be_named_within_the_bound_are_an_error_and_not_a_guess(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(labelling, "MAX_STEPS", 100)
    keys = [f"NEW{number}" for number in range(30)]
    data = crossed(*zip(keys, keys[1:] + keys[:1], strict=True))
    with pytest.raises(StateError, match="minted look alike and hang together"):
        form(data, "minted-ids")
    assert form(data, "unordered") == state(data)


def test_names_follow_content_and_every_reference_follows_the_name() -> None:
    data = plain()
    book(data, "NEW1", "ada", 9, ("V3", 1))
    book(data, "NEW2", "bob", 2)
    data["bookings"]["NEW2"]["next_to"] = ["NEW1", "OLD1"]
    agent = form(data, "minted-ids").agent
    first, second = Marker("booking", "1"), Marker("booking", "2")
    by_room = {agent.get("bookings", key)["room"]: key for key in (first, second)}
    assert agent.get("bookings", by_room[2])["next_to"] == [by_room[9], "OLD1"]
    assert agent.get("bookings", by_room[9])["id"] == by_room[9]
    assert agent.get("guests", "bob")["bookings"] == [by_room[2]]
    assert agent.get("guests", "ada")["bookings"] == ["OLD1", by_room[9]]
    assert not agent.draft().has("bookings", "NEW1")
    assert agent.get("bookings", by_room[9])["paid"] == [{"by": Marker("voucher", "1"), "amount": 1}]


def test_ids_that_existed_before_are_never_renamed_also_where_they_only_stood_in_an_untouched_record() -> None:
    data = plain()
    give(data, "V8", "ada", 5)  # stands in OLD1's payments since before the run, and in no wallet
    book(data, "NEW1", "ada", 1, ("V9", 1))
    agent = form(data, "minted-ids").agent
    assert sorted(agent.get("guests", "ada")["vouchers"]) == ["V8", "V9"]
    assert agent.get("bookings", Marker("booking", "1"))["paid"] == [{"by": "V9", "amount": 1}]


def test_an_id_that_another_scope_had_before_is_new_in_this_one() -> None:
    data = plain()
    give(data, "V9", "bob", 5)
    assert list(form(data, "minted-ids").agent.get("guests", "bob")["vouchers"]) == [Marker("voucher", "1")]


def test_an_initial_state_of_the_tasks_own_decides_what_existed() -> None:
    data = plain()
    give(data, "V1", "bob", 5)
    give(data, "V2", "bob", 6)
    started = plain()
    give(started, "V2", "bob", 6)
    form = normal_form(state(data), state(started), ("minted-ids",), CONVENTIONS)
    assert sorted(map(str, form.agent.get("guests", "bob")["vouchers"])) == ["<minted voucher 1>", "V2"]
    removed = plain()
    del removed["guests"]["ada"]["vouchers"]["V9"]
    form = normal_form(INITIAL, state(removed), ("minted-ids",), CONVENTIONS)
    assert list(form.agent.get("guests", "ada")["vouchers"]) == [Marker("voucher", "1")]


def test_no_record_can_forge_a_marker() -> None:
    honest, forged = plain(), plain()
    book(honest, "NEW1", "ada", 1)
    book(forged, "<minted booking 1>", "ada", 1)
    assert canonical_text(form(honest, "minted-ids").agent.to_json()) == canonical_text(forged)
    assert not alike(honest, forged, "minted-ids")
    assert form(form(forged, "minted-ids"), "minted-ids") == form(forged, "minted-ids")


def test_a_marker_is_equal_to_markers_alone_and_survives_copies() -> None:
    marker = Marker("booking", "1")
    assert marker == Marker("booking", "1")
    assert marker != "<minted booking 1>"
    assert "<minted booking 1>" != marker  # noqa: SIM300 - which of the two is asked makes no difference
    assert marker != Marker("booking", "2")
    assert len({marker, "<minted booking 1>", Marker("booking", "1")}) == 2
    for other in (pickle.loads(pickle.dumps(marker)), copy.deepcopy(marker)):
        assert other == marker
        assert other.pool == "booking"


def test_a_place_that_two_pools_declare_belongs_to_the_first() -> None:
    pool = IdPool(name="a", mints=lambda _: True, references=(Place("t/*/x"),))
    other = IdPool(name="b", mints=lambda _: True, references=(Place("t/*/x"), Place("t/*/y")))
    conventions = Conventions(id_pools=(pool, other))
    initial = EndState(Database.from_json({}))
    end = EndState(Database.from_json({"t": {"r": {"x": "1", "y": "1", "z": "1"}}}))
    once = normal_form(end, initial, ["minted-ids"], conventions)
    assert once.agent.get("t", "r") == {"x": Marker("a", "1"), "y": Marker("b", "1"), "z": "1"}
    assert normal_form(once, initial, ["minted-ids"], conventions) == once


def test_ids_may_be_minted_within_what_was_itself_minted() -> None:
    def trip(first: str, second: str) -> EndState:
        legs = {first: ("L1", "L2"), second: ("L2", "L1")}
        records = {
            k: {"n": n, "legs": {a: {"leg": a, "km": 1}, b: {"leg": b, "km": 2}}}
            for n, (k, (a, b)) in enumerate(legs.items())
        }
        return EndState(Database.from_json({"trips": records}))

    conventions = Conventions(
        id_pools=(
            IdPool(name="trip", mints=lambda text: text.startswith("T"), keys=(Place("trips/*"),)),
            IdPool(
                name="leg",
                mints=lambda text: text.startswith("L"),
                keys=(Place("trips/*/legs/*", scope="$id"),),
                references=(Place("trips/*/legs/*/leg", scope="$id"),),
            ),
        )
    )
    initial = EndState(Database.from_json({}))
    forms = [normal_form(trip(*order), initial, ["minted-ids"], conventions) for order in (("T1", "T2"), ("T2", "T1"))]
    assert forms[0] == forms[1]
    assert normal_form(forms[0], initial, ["minted-ids"], conventions) == forms[0]
    assert "L1" not in canonical_text(forms[0].agent.to_json())


def test_ids_in_a_list_at_the_top_of_a_database_are_found() -> None:
    conventions = Conventions(
        id_pools=(IdPool(name="x", mints=lambda text: text.startswith("X"), references=(Place("log/*/id"),)),),
        unordered=("log",),
    )
    initial = EndState(Database.from_json({"log": []}))
    ends = [
        EndState(Database.from_json({"log": [{"id": a, "n": 1}, {"id": b, "n": 2}]}))
        for a, b in (("X1", "X2"), ("X2", "X1"))
    ]
    forms = [normal_form(end, initial, ["minted-ids", "unordered"], conventions) for end in ends]
    assert ends[0] != ends[1]
    assert forms[0] == forms[1]


def test_a_string_that_is_written_like_a_marker_is_sorted_apart_from_it() -> None:
    conventions = Conventions(
        id_pools=(IdPool(name="x", mints=lambda text: text in ("1", "z"), references=(Place("log/*"),)),),
        unordered=("log",),
    )
    initial = EndState(Database.from_json({"log": []}))
    names = ["minted-ids", "unordered"]
    ends = [EndState(Database.from_json({"log": [minted, "<minted x 1>"]})) for minted in ("1", "z")]
    forms = [normal_form(end, initial, names, conventions) for end in ends]
    assert forms[0] == forms[1]
    assert [normal_form(form, initial, names, conventions) for form in forms] == forms


def test_ids_of_two_scopes_stay_apart_where_they_come_to_stand_side_by_side() -> None:
    pool = IdPool(
        name="x", mints=lambda text: text.startswith("X"), keys=(Place("t/*/by/*"), Place("t/*/by/X9", scope="$id"))
    )
    end = EndState(Database.from_json({"t": {"r": {"by": {"X1": 1, "X9": 2}}}}))
    form = normal_form(end, EndState(Database.from_json({})), ["minted-ids"], Conventions(id_pools=(pool,)))
    assert sorted(form.agent.get("t", "r")["by"].values()) == [1, 2]


def test_conventions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(CallError, match="cannot have a scope"):
        IdPool(name="x", mints=bool, keys=(Place("table/*", scope="$id"),))
    with pytest.raises(CallError, match="two id pools"):
        Conventions(id_pools=(IdPool(name="x", mints=bool), IdPool(name="x", mints=bool)))
