"""Hashes of many states on one base are those of their plain data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multigold.errors import StateError
from multigold.rescoring.nemo.hashing import EvaHasher
from multigold.state.database import Database
from multigold.state.schemes import hash_state

NAMES = st.sampled_from(["a", "b", "Ä", "session", "bookings", "notifications", "none"])
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 5),
        st.sampled_from([1.0, 2.5, -0.0, "None ", "null", "x", "ü"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)
TABLES = st.dictionaries(NAMES, st.one_of(st.dictionaries(NAMES, VALUES, min_size=1, max_size=3), st.just([3, 1, 2])))


@given(base=TABLES, changes=st.lists(st.tuples(NAMES, NAMES, VALUES), max_size=4), removed=st.booleans())
def test_a_state_on_a_base_has_the_hash_of_its_plain_data(
    base: dict[str, Any], changes: list[tuple[str, str, Any]], removed: bool
) -> None:
    database = Database.from_json(base)
    hasher = EvaHasher(database)
    assert hasher.hash(database) == hash_state(base, "eva")
    draft = database.draft()
    for table, record_id, value in changes:
        if isinstance(base.get(table), list):
            draft.put_whole(table, value if not isinstance(value, dict) else None)
        elif removed and draft.has(table, record_id):
            draft.remove(table, record_id)
        else:
            draft.put(table, record_id, value)
    state = draft.freeze()
    # A table that lost its last record is an empty one here, and gone in the plain data.
    plain = {table: {} for table in state.tables()} | state.to_json()
    assert hasher.hash(state) == hash_state(plain, "eva") == hasher.hash(state)


@given(base=TABLES, other=TABLES)
def test_a_state_on_another_root_has_its_own_hash(base: dict[str, Any], other: dict[str, Any]) -> None:
    hasher = EvaHasher(Database.from_json(base))
    assert hasher.hash(Database.from_json(other)) == hash_state(other, "eva")


def test_a_value_that_cannot_be_written_down_is_refused() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(StateError):
        EvaHasher(Database.adopt({"t": {"r": value}})).hash(Database.adopt({"t": {"r": value}}))
