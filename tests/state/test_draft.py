"""Law 3: a draft agrees with a deep-copied dictionary under any operations, and what it was made from never changes."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from state_values import contents, database_essence, essence, few_ids, no_objects, records, values, words

from multigold.errors import StateError
from multigold.state.database import WHOLE, Database, Draft

table_names = st.sampled_from(["users", "a/b", "new"])


class DraftMachine(RuleBasedStateMachine):
    """Runs a draft beside a dictionary that is copied wherever the draft shares."""

    @initialize(data=contents)
    def start(self, data: dict[str, Any]) -> None:
        database = Database.from_json(data)
        self.draft: Draft = database.draft()
        self.model: dict[str, Any] = copy.deepcopy(data)
        self.frozen: list[tuple[Database, Any]] = [(database, database_essence(data))]

    def table(self, name: str) -> dict[str, Any]:
        """Return the model's table; empty if a value stands in its place."""
        value = self.model.get(name, {})
        return value if isinstance(value, dict) else {}

    def is_value(self, name: str) -> bool:
        return name in self.model and not isinstance(self.model[name], dict)

    @rule(name=table_names, record_id=few_ids)
    def get(self, name: str, record_id: str) -> None:
        assert self.draft.has(name, record_id) == (record_id in self.table(name))
        if record_id in self.table(name):
            assert essence(self.draft.get(name, record_id)) == essence(self.table(name)[record_id])
        else:
            with pytest.raises(KeyError):
                self.draft.get(name, record_id)

    @rule(name=table_names, record_id=few_ids, record=records)
    def put(self, name: str, record_id: str, record: Any) -> None:
        if self.is_value(name):
            with pytest.raises(StateError):
                self.draft.put(name, record_id, copy.deepcopy(record))
        else:
            self.draft.put(name, record_id, copy.deepcopy(record))
            self.model.setdefault(name, {})[record_id] = copy.deepcopy(record)

    @rule(name=table_names, value=no_objects)
    def put_whole(self, name: str, value: Any) -> None:
        self.draft.put_whole(name, copy.deepcopy(value))
        self.model[name] = copy.deepcopy(value)

    @rule(name=table_names)
    def remove_whole(self, name: str) -> None:
        if self.is_value(name):
            self.draft.remove(name, WHOLE)
            del self.model[name]
        else:
            with pytest.raises(KeyError):
                self.draft.remove(name, WHOLE)

    @rule(name=table_names, record_id=few_ids)
    def remove(self, name: str, record_id: str) -> None:
        if record_id in self.table(name):
            self.draft.remove(name, record_id)
            del self.model[name][record_id]
        else:
            with pytest.raises(KeyError):
                self.draft.remove(name, record_id)

    @rule(name=table_names, record_id=few_ids, field=words, value=values)
    def edit(self, name: str, record_id: str, field: str, value: Any) -> None:
        if record_id not in self.table(name):
            with pytest.raises(KeyError):
                self.draft.edit(name, record_id)
            return
        for record in (self.draft.edit(name, record_id), self.model[name][record_id]):
            change_deeply(record, field, value)

    @rule(name=table_names)
    def ids(self, name: str) -> None:
        expected = [WHOLE] if self.is_value(name) else list(self.table(name))
        assert sorted(self.draft.ids(name)) == sorted(expected)

    @rule(again=st.booleans())
    def freeze(self, again: bool) -> None:
        database = self.draft.freeze()
        self.frozen.append((database, database_essence(self.model)))
        if again:
            self.draft = database.draft()

    @precondition(lambda self: len(self.frozen) > 1)
    @rule(data=st.data())
    def go_back(self, data: st.DataObject) -> None:
        database, _ = data.draw(st.sampled_from(self.frozen))
        self.draft, self.model = database.draft(), database.to_json()

    @invariant()
    def nothing_frozen_ever_changes(self) -> None:
        for database, then in self.frozen:
            assert database_essence(database.to_json()) == then

    def teardown(self) -> None:
        if hasattr(self, "draft"):
            assert database_essence(self.draft.freeze().to_json()) == database_essence(self.model)


def change_deeply(record: Any, field: str, value: Any) -> None:
    """Change something in a record, as deep as it goes."""
    if isinstance(record, list):
        if record and isinstance(record[-1], dict | list):
            change_deeply(record[-1], field, value)
        else:
            record.append(copy.deepcopy(value))
    elif isinstance(record, dict):
        last = next(reversed(record.values()), None)
        if isinstance(last, dict | list):
            change_deeply(last, field, value)
        elif field in record:
            del record[field]
        else:
            record[field] = copy.deepcopy(value)


TestDraft = DraftMachine.TestCase


def library() -> Database:
    return Database.from_json({"books": {"a": {"tags": ["x"]}, "b": 2, "c": 3}, "note": "hello"})


def test_ids_come_in_the_order_of_the_database_and_then_of_addition() -> None:
    draft = library().draft()
    draft.put("books", "z", 1)
    draft.remove("books", "b")
    draft.put("books", "d", 1)
    assert draft.ids("books") == ["a", "c", "z", "d"]
    assert draft.freeze().ids("books") == ["a", "c", "z", "d"]


def test_only_a_string_is_an_id() -> None:
    draft = library().draft()
    assert [draft.has("books", key) for key in ("a", None, 1, ["a"], {"a": 1})] == [True, False, False, False, False]


def test_an_edited_record_is_copied_once_and_the_database_keeps_its_own() -> None:
    database = library()
    draft = database.draft()
    record = draft.edit("books", "a")
    record["tags"].append("y")
    assert draft.edit("books", "a") is record
    assert draft.get("books", "a") is record
    assert database.get("books", "a") == {"tags": ["x"]}


def test_an_edit_after_freezing_leaves_what_was_frozen() -> None:
    draft = library().draft()
    draft.edit("books", "a")["tags"].append("y")
    frozen = draft.freeze()
    draft.edit("books", "a")["tags"].append("z")
    assert frozen.get("books", "a") == {"tags": ["x", "y"]}
    assert draft.get("books", "a") == {"tags": ["x", "y", "z"]}


def test_a_value_replaces_the_records_of_a_table() -> None:
    draft = library().draft()
    draft.put("books", "z", 1)
    draft.put_whole("books", [1, 2])
    assert draft.ids("books") == [WHOLE]
    assert draft.freeze().to_json() == {"books": [1, 2], "note": "hello"}


def test_what_would_make_a_mix_of_table_and_value_is_refused() -> None:
    draft = library().draft()
    with pytest.raises(StateError, match="a record id is the empty string"):
        draft.put("books", WHOLE, 1)
    with pytest.raises(StateError, match="a value stands where a table of records should be"):
        draft.put("note", "a", 1)
    with pytest.raises(StateError, match="record by record"):
        draft.put_whole("books", {"a": 1})
    assert draft.freeze() == library()
