"""What the built-in domains share: looking records up, what of a table changed, two tools, and how one is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from multigold.environments.base import Environment
from multigold.environments.tools import Invariant, RefusalError, Tool, ToolFunction
from multigold.state.canonical import Json
from multigold.state.conventions import Conventions
from multigold.state.database import Database, Draft, EndState, same_record


def finder(table: str, message: str) -> Callable[[Draft, Json], Json]:
    """Return the function that looks a record of a table up by its id: `find(draft, record_id)`, to be read only.

    Args:
        table: Where it looks.
        message: What it refuses with (`RefusalError`) if there is no such record; `{id}` stands for the id.
    """

    def find(draft: Draft, record_id: Json) -> Json:
        if not draft.has(table, record_id):
            raise RefusalError(message.format(id=record_id))
        return draft.get(table, record_id)

    return find


def changed_records(initial: EndState, end: EndState, table: str) -> Iterator[tuple[str, Json, Json]]:
    """Yield (id, before, after) for each record of an agent's table that differs; `GONE` if there is none."""
    for touched, record_id in end.agent.touched(initial.agent):
        if touched == table:
            before, after = initial.agent.find(table, record_id), end.agent.find(table, record_id)
            if not same_record(before, after):
                yield record_id, before, after


def bound(rules: object, functions: Iterable[ToolFunction]) -> Iterator[ToolFunction]:
    """Yield tools from functions that take rules before the draft: the same functions, with the rules given."""
    for function in functions:
        tool = partial(function, rules)
        tool.__name__ = function.__name__  # type: ignore[attr-defined]  # a partial has no name unless it is given one
        yield tool


def calculate(draft: Draft, expression: Json) -> Json:  # noqa: ARG001 - every tool is given the draft
    """Return the value of an arithmetic expression as text.

    Raises:
        RefusalError: If it is not an expression (`multigold.environments.arithmetic`).
    """
    from multigold.environments.arithmetic import calculate as computed  # few golds calculate

    return computed(expression)


def transfer_to_human_agents(draft: Draft, summary: Json) -> Json:  # noqa: ARG001 - the hand-over leaves no trace
    """Hand the user over to a human agent."""
    return "Transfer successful"


def one_sided(
    name: str,
    tools: Mapping[str, Tool],
    conventions: Conventions,
    invariants: Mapping[str, Invariant],
    database: Database,
    *,
    data_digest: str = "",
) -> Environment:
    """Return an environment whose user has no tools. A domain's `build` is this with all but the last two given.

    Args:
        name: The environment's name.
        tools: The agent's tools.
        conventions: What the domain declares about its records.
        invariants: Its checks of what changed.
        database: The state that every task starts in.
        data_digest: SHA-256 of the data that it was read from; empty if unknown.
    """
    return Environment(
        name=name,
        initial=EndState(database),
        tools=tools,
        conventions=conventions,
        invariants=invariants,
        data_digest=data_digest,
    )
