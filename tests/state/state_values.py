"""Hypothesis strategies for JSON values and databases, and an oracle for sameness of its own."""

from __future__ import annotations

import copy
from fractions import Fraction
from random import Random
from typing import Any

from hypothesis import strategies as st

from multigold.state.database import Database, EndState

AWKWARD_KEYS = ("a", "b", "/", "~", "~1", "a/b", "é", "😀", "0", " ", "__a", "none")

words = st.sampled_from(AWKWARD_KEYS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
ids = words.filter(bool)
whole_floats = st.integers(-1000, 1000).map(float)
numbers = (
    st.integers(-3, 3)
    | st.integers(-(2**200), 2**200)
    | whole_floats
    | st.sampled_from([0.0, -0.0, 1.0, 2500.5, 1e22, 1e300, 2.0**53, 71.96000000000001])
    | st.floats(allow_nan=False, allow_infinity=False)
)
scalars = st.none() | st.booleans() | numbers | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
records = values | st.dictionaries(words, values, max_size=2)
few_ids = st.sampled_from(["1", "a/b", "~", "é", " "])
tables = st.dictionaries(few_ids | ids, records, max_size=3)
no_objects = values.filter(lambda value: not isinstance(value, dict))
contents = st.dictionaries(st.sampled_from(["users", "a/b", "~0", ""]), tables | no_objects, max_size=3)
databases = contents.map(Database.from_json)


@st.composite
def related(draw: st.DrawFn) -> tuple[Database, Database]:
    """Two databases: on one root or on two, alike or not."""
    before = draw(databases)
    kind = draw(st.sampled_from(["other", "edited", "reread", "respelt"]))
    if kind == "other":
        return before, draw(databases)
    if kind == "respelt":
        return before, Database.from_json(respelt(before.to_json(), Random(draw(st.integers(0, 99)))))
    if kind == "reread":
        return before, edited(draw, Database.from_json(before.to_json()))
    return before, edited(draw, before)


def edited(draw: st.DrawFn, before: Database) -> Database:
    """Return the database after some puts and removals."""
    draft = before.draft()
    for table, record_id, value in draw(
        st.lists(st.tuples(st.sampled_from(["users", "a/b"]), few_ids, records), max_size=3)
    ):
        if draft.has(table, ""):
            draft.remove(table, "")
        if draft.has(table, record_id) and draw(st.booleans()):
            draft.remove(table, record_id)
        else:
            draft.put(table, record_id, copy.deepcopy(value))
    return draft.freeze()


@st.composite
def related_states(draw: st.DrawFn) -> tuple[EndState, EndState]:
    """Two end states that both have a user side or both have none."""
    (a, b), two_sided = draw(related()), draw(st.booleans())
    if not two_sided:
        return EndState(a), EndState(b)
    c, d = draw(related())
    return EndState(a, user=c), EndState(b, user=d)


def respelt(value: Any, random: Random) -> Any:
    """Return the same JSON value with keys in another order and some whole numbers spelt as the other kind."""
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: respelt(value[key], random) for key in keys}
    if isinstance(value, list):
        return [respelt(item, random) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float) or random.random() < 0.5:
        return value
    if isinstance(value, int):
        return float(value) if abs(value) < 2**53 else value
    return int(value) if value.is_integer() else value


def essence(value: Any) -> Any:
    """Return what is left of a JSON value when everything that makes no difference is taken away; compare with ==."""
    if isinstance(value, dict):
        return ("object", frozenset((key, essence(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("list", tuple(essence(item) for item in value))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    return ("number", Fraction(value))


def database_essence(data: dict[str, Any]) -> Any:
    """Return the essence of a database as plain data: a table without records is no table."""
    return essence({table: value for table, value in data.items() if value != {}})
