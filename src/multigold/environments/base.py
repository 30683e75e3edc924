"""What an environment is: an initial state, and the tools that change it.

There is no prompt, no policy and no conversation in it. Scoring asks one question of an environment: which state do
these calls end in? So tools are functions of a draft and arguments, an environment is a frozen value that any number
of replays share, and whatever the domain must say about its records (which ids it mints, which lists have no order) is
declared as data in `conventions`, where equivalences and audits can read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from multigold.environments.lookup import IdLookup
from multigold.environments.plain import Functions, PlainFunction, plain_assertion, plain_tools, table_names
from multigold.environments.tools import Assertion, Invariant, Tool
from multigold.model.task import Requestor
from multigold.state.canonical import Json
from multigold.state.conventions import Conventions
from multigold.state.database import Database, Draft, EndState


@attrs.frozen(kw_only=True, eq=False)
class Environment:
    """An initial state and the tools that change it.

    Attributes:
        name: Such as `tau2-airline`.
        initial: The state that every task starts in, unless it says otherwise.
        tools: The agent's tools by name.
        user_tools: The simulated user's tools by name.
        invariants: Named checks of what changed; patterns and the audit of golds use them.
        conventions: What the domain declares about its records, for equivalences and comparison.
        prepare: Applies a task's own initial state to the environment's; None if the domain has no such thing.
        synchronise: Brings the two sides in step after a call; None if the domain has one side.
        assertions: Predicates on one side of a state, by name; see `multigold.environments.assertions`.
        solo: Whether the agent holds the user's tools as well, and there is no user (tau2's solo mode).
        data_digest: SHA-256 of the data that the initial state was read from; empty if unknown.
        ids: How ids in calls are looked up; see `multigold.environments.lookup`.
    """

    name: str
    initial: EndState
    tools: Mapping[str, Tool]
    user_tools: Mapping[str, Tool] = attrs.field(factory=dict)
    invariants: Mapping[str, Invariant] = attrs.field(factory=dict)
    conventions: Conventions = attrs.field(factory=Conventions)
    prepare: Callable[[EndState, Json], EndState] | None = None
    synchronise: Callable[[Drafts], None] | None = None
    assertions: Mapping[str, Assertion] = attrs.field(factory=dict)
    solo: bool = False
    data_digest: str = ""
    ids: IdLookup = "exact"

    @classmethod
    def from_functions(
        cls,
        name: str,
        initial: Mapping[str, Json],
        functions: Functions,
        *,
        user_initial: Mapping[str, Json] | None = None,
        user_functions: Functions | None = None,
        assertions: Iterable[PlainFunction] = (),
        **settings: Any,
    ) -> Environment:
        """Return an environment whose tools are plain functions on a dictionary.

        Each call runs on a deep copy of the state, which is compared afterwards: correct, and slow if the state is
        large.

        Args:
            name: The environment's name.
            initial: The state that every task starts in: `{table: {record id: record}}`.
            functions: The agent's functions, by whether they change the state: `{"read": [...], "write": [...]}`. Each
                takes the state's data first, and becomes the tool of its name.
            user_initial: The user's own state, if there is one.
            user_functions: The simulated user's functions; they work on the user's own state, if there is one.
            assertions: Predicates, `function(data, **arguments) -> bool`, of either side.
            settings: Other attributes of `Environment`, such as `conventions` and `invariants`.

        Raises:
            CallError: If a function cannot be a tool.
            StateError: If the initial state is not JSON.
        """
        agent, user = dict(initial), None if user_initial is None else dict(user_initial)
        tables = table_names(agent)
        user_tables = tables if user is None else table_names(user)
        return cls(
            name=name,
            initial=EndState(Database.from_json(agent), user=None if user is None else Database.from_json(user)),
            tools=plain_tools(functions, tables),
            user_tools=plain_tools(user_functions or {}, user_tables),
            assertions={f.__name__: plain_assertion(f, (*tables, *user_tables)) for f in assertions},
            **settings,
        )

    def tool(self, name: str, requestor: Requestor = "assistant") -> Tool | None:
        """Return the tool that a requestor gets by a name; None if there is none."""
        if self.solo and requestor == "user":
            return None
        return (self.user_tools if self.side(name, requestor) == "user" else self.tools).get(name)

    def side(self, name: str, requestor: Requestor) -> Requestor:
        """Return the side whose tools and draft a call is about: the requestor's, but for an agent in solo mode."""
        return "user" if self.solo and name in self.user_tools else requestor


class Drafts:
    """The two sides of a state while calls run: the agent's draft and, if the domain has one, the user's."""

    __slots__ = ("agent", "user")

    def __init__(self, state: EndState) -> None:
        self.agent = state.agent.draft()
        self.user: Draft | None = None if state.user is None else state.user.draft()

    def side(self, requestor: Requestor) -> Draft:
        """Return the draft that a requestor's tools work on; the agent's if the domain has one side."""
        return self.user if requestor == "user" and self.user is not None else self.agent

    def freeze(self) -> EndState:
        """Return the present content as a state; later writes leave it alone."""
        return EndState(self.agent.freeze(), user=None if self.user is None else self.user.freeze())
