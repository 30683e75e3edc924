"""Run the same airline calls through tau2's own tools and through the port, and compare everything that can be seen.

tau2 is an oracle here and nothing else. Its database is parsed once. A user or a reservation is made anew from the data
the first time that a tool asks for it, and forgotten before the next sequence of calls; a flight, of which tools change
nothing but seat counts, gets those back.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from multigold.environments.base import Drafts, Environment, step
from multigold.model.task import ToolCall
from multigold.state.canonical import clone
from multigold.state.database import GONE, Database, EndState

Json = Any

TABLES = ("flights", "users", "reservations")


@attrs.frozen
class Answer:
    """What came of a call.

    Attributes:
        kind: `ok`, or the kind of a refusal.
        text: The observation as sorted JSON text, so that 1, 1.0, true and "1" are four things; empty for a refusal.
        message: What a refusal said; not compared.
    """

    kind: str
    text: str = ""
    message: str = attrs.field(default="", eq=False)


def spelled(value: Json) -> str:
    """Return a value as tau2 spells it before hashing."""
    return json.dumps(value, sort_keys=True)


def seen(observation: Json) -> str:
    """Return an observation as the text that the agent sees, parsed and spelled again (tau2's rule for comparison)."""
    text = observation if isinstance(observation, str) else json.dumps(observation)
    try:
        return spelled(json.loads(text))
    except json.JSONDecodeError:
        return spelled(text)


class Fresh:
    """A table of tau2's models: the parsed one, with the records that a tool asks for made anew from the data."""

    def __init__(self, base: dict[str, Any], raw: dict[str, Json], model: Any) -> None:
        self.base, self.raw, self.model = base, raw, model
        self.own: dict[str, Any] = {}

    def __contains__(self, record_id: object) -> bool:
        return record_id in self.own or record_id in self.base

    def __getitem__(self, record_id: str) -> Any:
        if record_id not in self.own:
            self.own[record_id] = self.model.model_validate(self.raw[record_id])
        return self.own[record_id]

    def __setitem__(self, record_id: str, record: Any) -> None:
        self.own[record_id] = record

    def values(self) -> Iterator[Any]:
        for record_id, record in self.base.items():
            yield self.own.get(record_id, record)
        yield from (record for record_id, record in self.own.items() if record_id not in self.base)


class Seats(Fresh):
    """The table of flights: the parsed ones themselves, put right again on `restore`."""

    def __getitem__(self, record_id: str) -> Any:
        self.own[record_id] = self.base[record_id]
        return self.own[record_id]

    def moved(self) -> list[str]:
        """Return the ids of the flights whose seats are not those of the data."""
        return [flight_id for flight_id in self.own if any(self._moved_days(flight_id))]

    def restore(self) -> None:
        """Give every flight its seats back."""
        for flight_id in self.own:
            for day, raw in self._moved_days(flight_id):
                day.available_seats = dict(raw["available_seats"])

    def _moved_days(self, flight_id: str) -> Iterator[tuple[Any, Json]]:
        for date, raw in self.raw[flight_id]["dates"].items():
            day = self.base[flight_id].dates[date]
            if "available_seats" in raw and day.available_seats != raw["available_seats"]:
                yield day, raw


class Tau2:
    """tau2's airline environment on some data, reset in no time."""

    def __init__(self, raw: dict[str, dict[str, Json]]) -> None:
        import loguru

        loguru.logger.remove()
        from tau2.domains.airline import data_model
        from tau2.domains.airline.tools import AirlineTools
        from tau2.environment.environment import Environment as Tau2Environment

        self.raw = raw
        self.models = {"users": data_model.User, "reservations": data_model.Reservation}
        self.tools = AirlineTools(data_model.FlightDB.model_validate(raw))
        self.environment = Tau2Environment(domain_name="airline", policy="", tools=self.tools)
        self.parsed = {table: getattr(self.tools.db, table) for table in TABLES}
        self.signatures = {name: inspect.signature(tool) for name, tool in self.tools.tools.items()}
        self.flights = Seats(self.parsed["flights"], raw["flights"], None)
        self.reset()

    def reset(self) -> None:
        """Go back to the data."""
        self.flights.restore()
        self.flights.own = {}
        fresh = {t: Fresh(self.parsed[t], self.raw[t], model) for t, model in self.models.items()}
        self.tables: dict[str, Fresh] = {"flights": self.flights, **fresh}
        for table, fresh in self.tables.items():
            setattr(self.tools.db, table, fresh)

    def call(self, call: ToolCall) -> Answer:
        """Run one call as tau2 does when it replays one (`Environment.get_response`)."""
        arguments = clone(call.arguments)
        try:
            assert isinstance(arguments, dict)
            observation = self.environment.make_tool_call(call.name, requestor=call.requestor, **arguments)
            return Answer("ok", seen(self.environment.to_json_str(observation)))
        except Exception as error:
            return Answer(self._kind(call), message=f"{type(error).__name__}: {error}")

    def _kind(self, call: ToolCall) -> str:
        if call.requestor == "user" or call.name not in self.signatures:
            return "unknown_tool"
        try:
            self.signatures[call.name].bind(**(call.arguments or {}))
        except TypeError:
            return "bad_arguments"
        return "bad_arguments" if call.arguments is None else "refused"

    def touched(self) -> set[tuple[str, str]]:
        """Return (table, id) of every record that may have changed."""
        places = {(table, record_id) for table in self.models for record_id in self.tables[table].own}
        return places | {("flights", flight_id) for flight_id in self.flights.moved()}

    def text(self, table: str, record_id: str) -> str:
        """Return a record as tau2 spells it before hashing; empty where there is none."""
        fresh = self.tables[table]
        return spelled(fresh[record_id].model_dump()) if record_id in fresh else ""


class Port:
    """The port on the same data."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.reset()

    def reset(self) -> None:
        """Go back to the initial state."""
        self.drafts = Drafts(self.environment.initial)

    def call(self, call: ToolCall) -> Answer:
        """Run one call."""
        outcome = step(self.environment, self.drafts, call)
        if outcome.refusal is not None:
            return Answer(outcome.refusal.kind, message=outcome.refusal.message)
        return Answer("ok", seen(outcome.observation))

    def end_state(self) -> EndState:
        """Return the present state."""
        return self.drafts.freeze()


def port_text(database: Database, table: str, record_id: str) -> str:
    """Return a record of the port as tau2 spells it before hashing, its null default filled in; empty for none."""
    record = database.find(table, record_id)
    if record is GONE:
        return ""
    return spelled({"status": None, **record} if table == "reservations" else record)


class Pair:
    """Both sides, in step."""

    def __init__(self, tau2: Tau2, port: Port) -> None:
        self.tau2, self.port = tau2, port

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
            assert ours == theirs, f"{shown(done)}\n  tau2: {theirs!r}\n  port: {ours!r}"
            answers.append(ours)
        self.compare_states(done)
        return answers

    def compare_states(self, done: list[ToolCall]) -> None:
        end = self.port.end_state()
        places = self.tau2.touched() | set(end.agent.touched(self.port.environment.initial.agent))
        for table, record_id in sorted(places):
            theirs, ours = self.tau2.text(table, record_id), port_text(end.agent, table, record_id)
            assert ours == theirs, f"{shown(done)}\n  at {table}/{record_id}\n  tau2: {theirs}\n  port: {ours}"


def shown(calls: list[ToolCall]) -> str:
    """Return calls for a message, one per line."""
    return "\n".join(f"{call.name} {json.dumps(call.arguments)}" for call in calls)
