"""What an agent was asked to do, and what the benchmark itself checks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal, TypeAlias

import attrs

from multigold.state.canonical import Json, digest
from multigold.state.database import Database, EndState

Requestor: TypeAlias = Literal["assistant", "user"]


@attrs.frozen(kw_only=True)
class ToolCall:
    """One call of a tool: by an agent, by a simulated user, or in a benchmark's gold.

    Attributes:
        name: The tool.
        arguments: Its arguments as plain JSON; None if a file holds something that is no JSON object.
        requestor: Who called: `assistant` or `user`.
        id: The call's id in its source; may be empty or repeated.
        compared: Of a gold's call, the arguments that a run's call must share to count as the same (tau2:
            `compare_args`); None for all that the run's call has.
    """

    name: str = attrs.field(kw_only=False)
    arguments: Mapping[str, Json] | None = attrs.field(kw_only=False, factory=dict)
    requestor: Requestor = "assistant"
    id: str = ""
    compared: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the call as a gold set writes it."""
        call: dict[str, Json] = {"name": self.name, "arguments": self.arguments}
        return call if self.requestor == "assistant" else {**call, "requestor": self.requestor}


@attrs.frozen(kw_only=True)
class Criteria:
    """What the benchmark itself scores a task by (tau2: `evaluation_criteria`).

    Attributes:
        actions: The benchmark's gold; None if it states none.
        env_assertions: Its assertions on the end state, as the benchmark writes them; None if it states none.
        communicate: Strings that the agent must say.
        reward_basis: Names of the factors that multiply to the reward; None if the file does not say.
    """

    actions: tuple[ToolCall, ...] | None = None
    env_assertions: tuple[Json, ...] | None = None
    communicate: tuple[str, ...] = ()
    reward_basis: tuple[str, ...] | None = None

    @property
    def states_gold(self) -> bool:
        """Whether there is a gold at all. With neither actions nor assertions tau2 says "match"; we say no gold."""
        return self.actions is not None or self.env_assertions is not None


def _as_state(value: EndState | Database | Mapping[str, Json] | None) -> EndState | None:
    if value is None or isinstance(value, EndState):
        return value
    return EndState(value if isinstance(value, Database) else Database.from_json(value))


@attrs.frozen(kw_only=True, slots=False)
class Task:
    """A task of a benchmark.

    Attributes:
        id: Its id in the benchmark.
        initial: The state that it starts in; a plain dictionary is read as the agent's database. None: the
            environment's own initial state.
        instructions: What the user was told (tau2: `user_scenario`), as the benchmark writes it.
        initial_state: Changes to the environment's initial state (tau2: `initial_state`), as the benchmark writes them.
        criteria: What the benchmark checks; None if nothing is known of it.
        domain: The environment's name, such as `tau2-airline`; empty if none is known.
    """

    id: str = attrs.field(kw_only=False)
    initial: EndState | None = attrs.field(default=None, converter=_as_state)
    instructions: Json = None
    initial_state: Json = None
    criteria: Criteria | None = None
    domain: str = ""

    def text_fingerprint(self) -> str:
        """Return the fingerprint of the task's text: instructions and initial state, nulls dropped.

        The same id means different tasks in different releases of a benchmark; this tells them apart, and not the gold.
        """
        return self._text

    @cached_property
    def _text(self) -> str:
        return text_fingerprint(self.instructions, self.initial_state)

    def gold_fingerprint(self) -> str | None:
        """Return the fingerprint of the benchmark's gold; None if it states none.

        That is the name, arguments and requestor of its calls and, where it states any, its assertions on the state.
        """
        return self._gold

    @cached_property
    def _gold(self) -> str | None:
        if self.criteria is None or not self.criteria.states_gold:
            return None
        calls = [[call.name, call.arguments, call.requestor] for call in self.criteria.actions or ()]
        assertions = list(self.criteria.env_assertions or ())
        return digest({"actions": calls, "env_assertions": assertions} if assertions else calls)


def text_fingerprint(instructions: Json, initial_state: Json) -> str:
    """Return the SHA-256 of a task text, as 64 hexadecimal digits; null members count as absent."""
    return digest(without_nulls({"instructions": instructions, "initial_state": initial_state}))


def without_nulls(value: Json) -> Json:
    """Return a JSON value with every null member of an object left out."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
