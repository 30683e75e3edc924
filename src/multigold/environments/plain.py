"""Tools from plain functions on a dictionary.

Whoever has tools already has functions such as `refund(data, order_id)` that read and write a dictionary. They work as
they are: each call gets a deep copy of the whole state, and the copy is compared with the state afterwards. That is
correct and slow (a call costs as much as the state is large); tools written for a `Draft` cost what they change.

What a function wrote before it raised stays, as with any other tool.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeAlias

from multigold.environments.tools import Assertion, Tool, ToolFunction, ToolKind
from multigold.errors import CallError
from multigold.state.canonical import Json
from multigold.state.database import GONE, WHOLE, Database, Draft, same_record

PlainFunction: TypeAlias = Callable[..., Any]
"""`function(data, **arguments) -> observation`; may write to `data`, and raises to refuse."""

Functions: TypeAlias = Mapping[ToolKind, Iterable[PlainFunction]]
"""Plain functions by what they do: `{"read": [...], "write": [...]}`; each becomes the tool of its name."""


def table_names(data: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the names of the tables: a database forgets empty ones, and functions expect to find them."""
    return tuple(name for name, value in data.items() if isinstance(value, dict))


def plain_tools(functions: Functions, tables: Iterable[str]) -> dict[str, Tool]:
    """Return the tools that plain functions make, each of its function's name."""
    return {
        function.__name__: Tool(name=function.__name__, function=on_a_copy(function, tables), kind=kind)
        for kind, group in functions.items()
        for function in group
    }


def on_a_copy(function: PlainFunction, tables: Iterable[str] = ()) -> ToolFunction:
    """Return a tool function that runs a plain one on a copy of the state and takes over what it changed.

    Args:
        function: The plain function.
        tables: Tables that it expects to find even when they are empty.

    Raises:
        CallError: If it takes no dictionary.
    """
    empty = tuple(dict.fromkeys(tables))
    if not inspect.signature(function).parameters:
        raise CallError(f"{function.__name__} takes no dictionary", remedy="Its first parameter is the state's data.")

    @wraps(function)
    def tool(draft: Draft, /, *positional: Json, **arguments: Json) -> Json:
        before = draft.freeze()
        data = plain_data(before, empty)
        try:
            return function(data, *positional, **arguments)
        finally:
            take_over(draft, before, Database.from_json(data))

    return tool


def plain_assertion(function: PlainFunction, tables: Iterable[str]) -> Assertion:
    """Return a predicate on a draft that runs a plain one on a copy of the state."""
    empty = tuple(dict.fromkeys(tables))
    return lambda draft, **arguments: bool(function(plain_data(draft.freeze(), empty), **arguments))


def plain_data(database: Database, tables: Iterable[str] = ()) -> dict[str, Json]:
    """Return a database as plain data of its own, with these tables even if they are empty."""
    return {**{table: {} for table in tables}, **database.to_json()}


def take_over(draft: Draft, before: Database, after: Database) -> None:
    """Write to a draft what differs between two databases, the first of which is what it holds."""
    for table, record_id in before.touched(after):
        record = after.find(table, record_id)
        if same_record(before.find(table, record_id), record):
            continue
        if record is GONE:
            if draft.has(table, record_id):  # a value in place of the table has removed its records already
                draft.remove(table, record_id)
        elif record_id == WHOLE:
            draft.put_whole(table, record)
        else:
            draft.put(table, record_id, record)
