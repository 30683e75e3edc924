"""Run the same calls through one of tau2's domains and through its port, and compare everything that can be seen.

tau2 is an oracle here and nothing else. Its database is parsed once. A record is made anew from the data the first time
that a tool asks for it, and forgotten before the next sequence of calls.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from multigold.environments.base import Drafts, Environment
from multigold.environments.replay import step
from multigold.model.task import ToolCall
from multigold.state.canonical import clone
from multigold.state.database import GONE, Database, EndState

Json = Any


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


def shown(calls: list[ToolCall]) -> str:
    """Return calls for a message, one per line."""
    return "\n".join(f"{call.name} {json.dumps(call.arguments)}" for call in calls)


# tau2's side


class Fresh:
    """A table of tau2's models: the parsed one, with the records that a tool asks for made anew from the data."""

    def __init__(self, base: dict[str, Any], raw: dict[str, Json], model: Any = None) -> None:
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

    def items(self) -> Iterator[tuple[str, Any]]:
        for record_id, record in self.base.items():
            yield record_id, self.own.get(record_id, record)
        yield from (item for item in self.own.items() if item[0] not in self.base)

    def values(self) -> Iterator[Any]:
        return (record for _, record in self.items())

    def touched(self) -> list[str]:
        """Return the ids of the records that may have changed."""
        return list(self.own)

    def restore(self) -> None:
        """Go back to the data."""
        self.own = {}


class Tau2:
    """One of tau2's domains on some data, reset in no time; its user has no tools.

    Attributes:
        raw: The data.
        signatures: The agent's tools by name.
    """

    def __init__(self, domain: str, toolkit: Any, raw: dict[str, Json], tables: Mapping[str, Fresh]) -> None:
        import loguru

        loguru.logger.remove()
        from tau2.environment.environment import Environment as Tau2Environment

        self.raw, self.tables = raw, tables
        self.environment = Tau2Environment(domain_name=domain, policy="", tools=toolkit)
        self.signatures = signatures_of(toolkit)
        for name, table in tables.items():
            setattr(toolkit.db, name, table)

    def reset(self) -> None:
        """Go back to the data."""
        for table in self.tables.values():
            table.restore()

    def call(self, call: ToolCall) -> Answer:
        """Run one call."""
        return answer_of_tau2(self.environment, call, self.signatures if call.requestor == "assistant" else {})

    def touched(self) -> set[tuple[str, str]]:
        """Return (table, id) of every record that may have changed."""
        return {(name, record_id) for name, table in self.tables.items() for record_id in table.touched()}

    def text(self, table: str, record_id: str) -> str:
        """Return a record as tau2 spells it before hashing; empty if there is none."""
        fresh = self.tables[table]
        return spelled(fresh[record_id].model_dump()) if record_id in fresh else ""


def signatures_of(toolkit: Any) -> dict[str, inspect.Signature]:
    """Return the tools of one of tau2's toolkits by name."""
    return {name: inspect.signature(tool) for name, tool in toolkit.tools.items()}


def answer_of_tau2(
    environment: Any, call: ToolCall, signatures: Mapping[str, inspect.Signature], *, synchronise: bool = False
) -> Answer:
    """Run one call as tau2 does in a run or when it replays one (`Environment.get_response`).

    Args:
        environment: tau2's.
        call: The call.
        signatures: The tools that its requestor has.
        synchronise: Whether to bring the two sides in step afterwards.
    """
    arguments = clone(call.arguments)
    try:
        assert isinstance(arguments, dict)
        observation = environment.make_tool_call(call.name, requestor=call.requestor, **arguments)
        if synchronise:
            environment.sync_tools()
        return Answer("ok", seen(environment.to_json_str(observation)))
    except Exception as error:
        return Answer(_kind_of_refusal(call, signatures), message=f"{type(error).__name__}: {error}")


def _kind_of_refusal(call: ToolCall, signatures: Mapping[str, inspect.Signature]) -> str:
    """Return the kind of a refusal of tau2's, in our words."""
    if call.name not in signatures:
        return "unknown_tool"
    try:
        signatures[call.name].bind(**(call.arguments or {}))
    except TypeError:
        return "bad_arguments"
    return "bad_arguments" if call.arguments is None else "refused"


# The port's side


def answer_of_port(environment: Environment, drafts: Drafts, call: ToolCall, *, synchronise: bool = True) -> Answer:
    """Run one call through the port."""
    outcome = step(environment, drafts, call, synchronise=synchronise)
    if outcome.refusal is not None:
        return Answer(outcome.refusal.kind, message=outcome.refusal.message)
    return Answer("ok", seen(outcome.observation))


def port_text(environment: Environment, database: Database, table: str, record_id: str) -> str:
    """Return a record of the port as tau2 spells it before hashing, its null defaults filled in; empty for none."""
    record = database.find(table, record_id)
    if record is GONE:
        return ""
    nulls = environment.conventions.null_defaults.get(table)
    return spelled({**dict.fromkeys(nulls), **record} if nulls else record)


class Pair:
    """Both sides, in step."""

    def __init__(self, tau2: Tau2, environment: Environment) -> None:
        self.tau2, self.environment = tau2, environment

    def run(self, calls: Iterable[ToolCall]) -> list[Answer]:
        """Run calls from the initial state through both sides.

        Returns:
            The answers, which were the same.

        Raises:
            AssertionError: At the first call that was answered differently, or with the records that differ at the end.
        """
        self.tau2.reset()
        drafts = Drafts(self.environment.initial)
        done: list[ToolCall] = []
        answers = []
        for call in calls:
            done.append(call)
            theirs, ours = self.tau2.call(call), answer_of_port(self.environment, drafts, call)
            assert ours == theirs, f"{shown(done)}\n  tau2: {theirs!r}\n  port: {ours!r}"
            answers.append(ours)
        self._compare_states(drafts.freeze(), done)
        return answers

    def _compare_states(self, end: EndState, done: list[ToolCall]) -> None:
        places = self.tau2.touched() | set(end.agent.touched(self.environment.initial.agent))
        for table, record_id in sorted(places):
            theirs = self.tau2.text(table, record_id)
            ours = port_text(self.environment, end.agent, table, record_id)
            assert ours == theirs, f"{shown(done)}\n  at {table}/{record_id}\n  tau2: {theirs}\n  port: {ours}"
