"""Run the same retail calls through tau2's own tools and through the port, and compare everything that can be seen.

The same machinery as for the airline (`airline_parity`): tau2's database is parsed once, and records are made anew from
the data the first time that a tool asks for them.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from airline_parity import Answer, Fresh, Port, seen, shown, spelled

from multigold.environments.base import Environment
from multigold.environments.retail.queries import OPTIONAL_FIELDS
from multigold.model.task import ToolCall
from multigold.state.database import GONE, Database

Json = Any

TABLES = ("products", "users", "orders")


class Table(Fresh):
    """A table that can be gone through with its keys, as retail's tools do."""

    def items(self) -> Iterator[tuple[str, Any]]:
        for record_id, record in self.base.items():
            yield record_id, self.own.get(record_id, record)


class Tau2Retail:
    """tau2's retail environment on some data, reset in no time."""

    def __init__(self, raw: dict[str, dict[str, Json]]) -> None:
        import loguru

        loguru.logger.remove()
        from tau2.domains.retail import data_model
        from tau2.domains.retail.tools import RetailTools
        from tau2.environment.environment import Environment as Tau2Environment

        self.raw = raw
        self.models = {"products": data_model.Product, "users": data_model.User, "orders": data_model.Order}
        self.tools = RetailTools(data_model.RetailDB.model_validate(copy.deepcopy(raw)))
        self.environment = Tau2Environment(domain_name="retail", policy="", tools=self.tools)
        self.parsed = {table: getattr(self.tools.db, table) for table in TABLES}
        self.reset()

    def reset(self) -> None:
        """Go back to the data."""
        self.tables = {t: Table(self.parsed[t], self.raw[t], self.models[t]) for t in TABLES}
        for table, fresh in self.tables.items():
            setattr(self.tools.db, table, fresh)

    def call(self, call: ToolCall) -> Answer:
        """Run one call as tau2 does when it replays one (`Environment.get_response`)."""
        arguments = copy.deepcopy(call.arguments)
        try:
            assert isinstance(arguments, dict)
            observation = self.environment.make_tool_call(call.name, requestor=call.requestor, **arguments)
            return Answer("ok", seen(self.environment.to_json_str(observation)))
        except Exception as error:
            return Answer(kind_of_refusal(call, self.tools), message=f"{type(error).__name__}: {error}")

    def touched(self) -> set[tuple[str, str]]:
        """Return (table, id) of every record that a tool asked for."""
        return {(table, record_id) for table, fresh in self.tables.items() for record_id in fresh.own}

    def text(self, table: str, record_id: str) -> str:
        """Return a record as tau2 spells it before hashing; empty where there is none."""
        fresh = self.tables[table]
        return spelled(fresh[record_id].model_dump()) if record_id in fresh else ""


def kind_of_refusal(call: ToolCall, toolkit: Any) -> str:
    """Return the kind of a refusal of tau2's, in our words."""
    if toolkit is None or call.name not in toolkit.tools:
        return "unknown_tool"
    try:
        inspect.signature(toolkit.tools[call.name]).bind(**(call.arguments or {}))
    except TypeError:
        return "bad_arguments"
    return "bad_arguments" if call.arguments is None else "refused"


def port_text(database: Database, table: str, record_id: str) -> str:
    """Return a record of the port as tau2 spells it before hashing, its null defaults filled in; empty for none."""
    record = database.find(table, record_id)
    if record is GONE:
        return ""
    return spelled({**dict.fromkeys(OPTIONAL_FIELDS), **record} if table == "orders" else record)


class Pair:
    """Both sides, in step."""

    def __init__(self, environment: Environment) -> None:
        self.tau2, self.port = Tau2Retail(environment.initial.agent.to_json()), Port(environment)

    def run(self, calls: Iterable[ToolCall]) -> list[Answer]:
        """Run calls from the initial state through both sides.

        Returns:
            The answers, which were the same.

        Raises:
            AssertionError: At the first call that was answered differently, or with the records that differ at the end.
        """
        self.tau2.reset()
        self.port.reset()
        done: list[ToolCall] = []
        answers = []
        for call in calls:
            done.append(call)
            theirs, ours = self.tau2.call(call), self.port.call(call)
            if call.requestor == "user":  # retail's user has no tools at all
                theirs = Answer("unknown_tool")
            assert ours == theirs, f"{shown(done)}\n  tau2: {theirs!r}\n  port: {ours!r}"
            answers.append(ours)
        self._compare_states(done)
        return answers

    def _compare_states(self, done: list[ToolCall]) -> None:
        end = self.port.end_state()
        places = self.tau2.touched() | set(end.agent.touched(self.port.environment.initial.agent))
        for table, record_id in sorted(places):
            theirs, ours = self.tau2.text(table, record_id), port_text(end.agent, table, record_id)
            assert ours == theirs, f"{shown(done)}\n  at {table}/{record_id}\n  tau2: {theirs}\n  port: {ours}"
