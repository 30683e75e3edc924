"""What a tool is: a function of a `Draft` and keyword arguments.

It reads and writes the draft, returns what the agent sees, and refuses by raising.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Literal, TypeAlias

import attrs

from multigold.state.canonical import Json
from multigold.state.database import EndState

ToolFunction: TypeAlias = Callable[..., Json]
"""`function(draft, **arguments) -> observation`; raises to refuse."""

ToolKind: TypeAlias = Literal["read", "write", "generic"]
"""`read` and `generic` tools never change a state; `generic` ones do not look at it either."""

Assertion: TypeAlias = Callable[..., bool]
"""`assertion(draft, **arguments)` tells whether something holds of one side of a state; it never writes."""

Invariant: TypeAlias = Callable[[EndState, EndState], Iterable[str]]
"""`invariant(initial, end)` yields a sentence for each fault among the records that changed; none if all is well."""


class RefusalError(Exception):
    """A tool says no. Part of the environment's behaviour, no error of multigold: `step` turns it into an answer."""


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@attrs.frozen(kw_only=True, slots=False)
class Tool:
    """A tool of an environment.

    Attributes:
        name: What calls name it by.
        function: Its behaviour.
        kind: Whether it can change the state.
        total: Whether it answers whatever strings and nulls it is given. A read that is need not be run where nobody
            looks at the answer.
    """

    name: str
    function: ToolFunction
    kind: ToolKind
    total: bool = False

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters that a call may give, by name: all but the draft."""
        return {parameter.name: parameter for parameter in self._declared if parameter.kind in _NAMED}

    @cached_property
    def takes_any(self) -> bool:
        """Whether the function takes arguments of any name (`**arguments`)."""
        return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in self._declared)

    @cached_property
    def _declared(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.function).parameters.values())[1:]

    @cached_property
    def required(self) -> frozenset[str]:
        """Names of the parameters that a call must give."""
        return frozenset(n for n, p in self.parameters.items() if p.default is inspect.Parameter.empty)


def tool_table(
    functions: Mapping[ToolKind, Iterable[ToolFunction]], *, total: Iterable[ToolFunction] = ()
) -> dict[str, Tool]:
    """Return tools by name from plain functions grouped by kind; each is named as its function.

    Args:
        functions: The functions of each kind.
        total: Those that answer whatever strings and nulls they are given.
    """
    whole = frozenset(total)
    return {
        function.__name__: Tool(name=function.__name__, function=function, kind=kind, total=function in whole)
        for kind, group in functions.items()
        for function in group
    }
