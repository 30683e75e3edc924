"""Databases: equality, fingerprints, tallies, what is refused, and that nobody writes to what is shared."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from state_values import contents, database_essence, databases, related, respelt

from multigold.errors import StateError
from multigold.state.database import GONE, WHOLE, Database, DeferredTable, EndState


@given(related())
def test_equality_and_fingerprints_agree_with_an_independent_oracle(pair: tuple[Database, Database]) -> None:
    a, b = pair
    expected = database_essence(a.to_json()) == database_essence(b.to_json())
    assert (a == b) == expected
    assert (b == a) == expected
    assert (a.fingerprint() == b.fingerprint()) == expected
    assert hash(a) == hash(b) or not expected


@given(contents, st.integers(0, 99))
def test_key_order_number_spelling_and_table_order_change_no_fingerprint(data: dict[str, Any], seed: int) -> None:
    """Law 2."""
    other = respelt(data, Random(seed))
    assert Database.from_json(data).fingerprint() == Database.from_json(other).fingerprint()
    assert Database.from_json(data).fingerprint() == Database.adopt(other).fingerprint()
    assert Database.from_json(data) == Database.adopt(other)


def deferred(data: dict[str, Any], seen: list[str] | None = None) -> Database:
    """Make a database whose tables are decoded record by record; what is decoded is noted."""

    def decode(text: str) -> Any:
        if seen is not None:
            seen.append(text)
        return json.loads(text)

    return Database.adopt(
        {
            name: DeferredTable({i: json.dumps(record) for i, record in value.items()}, decode)
            if isinstance(value, dict)
            else value
            for name, value in copy.deepcopy(data).items()
        }
    )


@given(contents, st.lists(st.tuples(st.sampled_from(["users", "a/b"]), st.sampled_from(["1", "~"])), max_size=3))
def test_a_database_that_is_decoded_record_by_record_is_the_same(
    data: dict[str, Any], gone: list[tuple[str, str]]
) -> None:
    plain, lazy = Database.from_json(data), deferred(data)
    assert lazy == plain
    assert lazy.fingerprint() == plain.fingerprint()
    assert lazy.tables() == plain.tables()
    assert [lazy.ids(table) for table in lazy.tables()] == [plain.ids(table) for table in plain.tables()]
    assert pickle.loads(pickle.dumps(lazy)) == plain
    drafts = [plain.draft(), lazy.draft()]
    for place in gone:
        if drafts[0].has(*place):
            for draft in drafts:
                draft.remove(*place)
    assert drafts[0].freeze() == drafts[1].freeze()


def test_a_record_is_decoded_when_it_is_looked_at_and_once() -> None:
    seen: list[str] = []
    database = deferred({"users": {"ada": {"age": 36}, "bob": {"age": 40}}}, seen)
    assert database.ids("users") == ["ada", "bob"]
    assert not database.draft().has("users", "eve")
    assert seen == []
    draft = database.draft()
    draft.edit("users", "ada")["age"] = 37
    assert database.get("users", "ada") == {"age": 36}
    assert seen == ['{"age": 36}']


@given(related())
def test_a_fingerprint_depends_on_content_and_not_on_the_way_there(pair: tuple[Database, Database]) -> None:
    for database in pair:
        assert database.fingerprint() == Database.from_json(database.to_json()).fingerprint()


@given(contents)
def test_plain_data_comes_back_as_it_went_in(data: dict[str, Any]) -> None:
    assert database_essence(Database.from_json(data).to_json()) == database_essence(data)
    assert database_essence(Database.adopt(copy.deepcopy(data)).to_json()) == database_essence(data)


@given(databases)
def test_plain_data_handed_out_is_the_callers_own(database: Database) -> None:
    before = repr(database.to_json())
    ruin(database.to_json())
    assert repr(database.to_json()) == before


def ruin(value: Any) -> None:
    if isinstance(value, dict):
        for item in value.values():
            ruin(item)
        value["ruined"] = True
    if isinstance(value, list):
        for item in value:
            ruin(item)
        value.append("ruined")


def test_data_read_from_json_is_not_the_callers_any_more() -> None:
    data: dict[str, Any] = {"users": {"u": {"tags": ["a"]}}}
    database = Database.from_json(data)
    ruin(data)
    assert database.to_json() == {"users": {"u": {"tags": ["a"]}}}


@given(related())
def test_records_ids_and_lookups_tell_the_same_story(pair: tuple[Database, Database]) -> None:
    for database in pair:
        records = list(database.records())
        assert len({(table, record_id) for table, record_id, _ in records}) == len(records)
        for table, record_id, record in records:
            assert database.get(table, record_id) is record
            assert record_id in database.ids(table)
        assert sum(len(database.ids(table)) for table in database.tables()) == len(records)


@given(related())
def test_a_tally_counts_what_walking_all_records_counts(pair: tuple[Database, Database]) -> None:
    for database in pair:
        walked = Counter(found for record in database.records() for found in kinds(*record))
        for _ in range(2):
            assert {thing: count for thing, count in database.tally(kinds).items() if count} == walked


def kinds(table: str, record_id: str, record: Any) -> list[tuple[str, str]]:
    return [(table, type(record).__name__), ("id", record_id)]


def test_a_missing_table_and_an_empty_one_are_the_same() -> None:
    assert Database.from_json({"users": {}}) == Database.from_json({})
    assert Database.from_json({"users": {}}).fingerprint() == Database.from_json({}).fingerprint()
    assert Database.from_json({"users": []}) != Database.from_json({})


def test_a_missing_record_and_a_null_one_are_not_the_same() -> None:
    assert Database.from_json({"users": {"u": None}}) != Database.from_json({"users": {}})
    assert Database.from_json({"note": None}) != Database.from_json({})


def test_what_is_not_there_is_said_so() -> None:
    database = Database.from_json({"users": {"u": 1}})
    assert database.find("users", "v") is GONE
    assert database.find("nobody", "u") is GONE
    assert database.ids("nobody") == []
    with pytest.raises(KeyError):
        database.get("users", "v")


@pytest.mark.parametrize("read", [Database.from_json, Database.adopt])
@pytest.mark.parametrize("data", [[], "users", None, 3])
def test_data_that_is_no_object_is_refused(read: Any, data: Any) -> None:
    with pytest.raises(StateError, match="a database is an object of tables"):
        read(data)


@pytest.mark.parametrize("read", [Database.from_json, Database.adopt])
def test_an_empty_record_id_is_refused(read: Any) -> None:
    with pytest.raises(StateError, match="a record id is the empty string") as caught:
        read({"a/b": {"": 1}})
    assert caught.value.where == "/a~1b"


AWKWARD = [
    (float("nan"), "not a JSON number"),
    (10**5000, "larger than"),
    ("\ud800", "half a character"),
    ({"x": {1, 2}}, "not a JSON value"),
]


@pytest.mark.parametrize(("record", "sentence"), AWKWARD, ids=["nan", "huge", "surrogate", "set"])
def test_adopted_data_that_is_no_json_is_found_by_whoever_works_on_it(record: Any, sentence: str) -> None:
    with pytest.raises(StateError, match=sentence):
        Database.from_json({"t": {"r": record}})
    adopted = Database.adopt({"t": {"r": record}})
    with pytest.raises(StateError, match=sentence):
        adopted.fingerprint()


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_adopted_data_that_is_too_deep_is_an_error_and_no_crash() -> None:
    a, b = (Database.adopt({"t": {"r": deep(50_000)}}) for _ in range(2))
    for work in (a.fingerprint, a.to_json, lambda: a == b, lambda: a.draft().edit("t", "r")):
        with pytest.raises(StateError, match="nested deeper"):
            work()


def test_a_database_survives_another_process() -> None:
    draft = Database.from_json({"users": {"u": 1, "v": 2}, "note": [1]}).draft()
    draft.put("users", "w", {"a": 1})
    draft.remove("users", "u")
    state = EndState(draft.freeze(), user=Database.from_json({}))
    assert state.agent.tally(lambda table, record_id, record: [record_id])["v"] == 1  # a rule that cannot be pickled
    assert pickle.loads(pickle.dumps(state)) == state


def test_the_two_sides_are_not_mistaken_for_each_other() -> None:
    full, empty = Database.from_json({"t": {"r": 1}}), Database.from_json({})
    states = [EndState(full), EndState(full, user=empty), EndState(empty, user=full), EndState(full, user=full)]
    assert len({state.fingerprint() for state in states}) == len(states)
    assert all((a == b) == (a is b) for a in states for b in states)
    assert [side for side, _ in states[1].sides()] == ["agent", "user"]


def test_a_value_in_place_of_a_table_is_one_record() -> None:
    database = Database.from_json({"note": "hello", "list": [1, {"a": 1}]})
    assert list(database.records()) == [("list", WHOLE, [1, {"a": 1}]), ("note", WHOLE, "hello")]
    assert repr(database) == "<Database list: 1, note: 1>"
