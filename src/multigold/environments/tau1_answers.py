"""How tau-bench v1's tools answer: a refusal is a text that begins with "Error: ", and so is whatever a tool raises.

The run goes on either way, and what the tool wrote before stays. So tools that are written for tau2, or as if for it,
serve here too: their refusals are put into v1's words, which are the observation and the refusal's message at once.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from multigold.environments.tools import RefusalError, Tool, ToolFunction, ToolKind, tool_table
from multigold.state.canonical import Json
from multigold.state.database import Draft


def v1_tools(functions: Mapping[ToolKind, Iterable[ToolFunction]]) -> dict[str, Tool]:
    """Return tools by name from plain functions grouped by kind, their refusals in v1's words."""
    return tool_table({kind: [answering(function) for function in group] for kind, group in functions.items()})


def answering(function: ToolFunction) -> ToolFunction:
    """Return a tool that refuses as v1's do, whatever the function raises."""

    @functools.wraps(function)
    def tool(draft: Draft, **arguments: Any) -> Json:
        try:
            return function(draft, **arguments)
        except RefusalError as error:
            message = str(error)
            raise RefusalError(f"Error: {message[:1].lower()}{message[1:]}") from error
        except Exception as error:
            raise RefusalError(f"Error: {error}") from error

    return tool


def think(draft: Draft, thought: Json) -> Json:  # noqa: ARG001 - a thought leaves no trace
    """Let the agent think; the answer is empty."""
    return ""
