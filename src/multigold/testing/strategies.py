"""Hypothesis strategies for calls in any environment.

A call with random arguments is refused at once and tests nothing. So the first argument that can be an id is taken from
the state, and the others from the records around that id: a reservation's own flights, its user's cards. Arguments of
a shape that the state does not show (a list of payments) are taken from example calls, with their leaves exchanged. A
sequence is played while it is drawn, so that later calls can use what earlier ones made.

Everything shrinks towards few calls, few arguments, and the first values of the state.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias

from hypothesis import strategies as st

from multigold.audit.golds.value_index import ValueIndex, changed_entities, collect, index_of
from multigold.environments.base import Drafts, Environment
from multigold.environments.replay import step
from multigold.environments.tools import Tool, ToolFunction, ToolKind
from multigold.model.task import Requestor, ToolCall
from multigold.state.canonical import Json, clone, same
from multigold.state.database import EndState

ALL_KINDS: Final[tuple[ToolKind, ...]] = ("write", "read", "generic")

Layers: TypeAlias = Sequence[ValueIndex]
"""Indexes to take a value from; one that is listed twice is drawn twice as often."""

_ODD: Final[tuple[Json, ...]] = (None, -1, "nowhere", [], {}, True, 1.5, [None], "")
"""What an argument of the wrong kind may be."""


class Repertoire:
    """What calls in one environment are made of.

    Args:
        environment: The environment.
        initial: The state that calls start in; None for the environment's own.
        examples: Calls whose arguments serve as examples, such as those of golds.
    """

    def __init__(
        self, environment: Environment, initial: EndState | None = None, examples: Iterable[ToolCall] = ()
    ) -> None:
        self.environment = environment
        self.initial = initial or environment.initial
        self.index = index_of(self.initial)
        self._examples: dict[tuple[str, Requestor], list[ToolCall]] = {}
        for call in examples:
            kept = self._examples.setdefault((call.name, call.requestor), [])
            if call.arguments and not any(same(call.arguments, other.arguments) for other in kept):
                kept.append(call)
        self.source = lru_cache(maxsize=4096)(_source)

    def tools(self, kinds: Sequence[ToolKind] = ALL_KINDS) -> list[tuple[Tool, Requestor]]:
        """Return the tools of both sides, of some kinds, in the order of the kinds."""
        environment = self.environment
        sides: list[tuple[Mapping[str, Tool], Requestor]] = [(environment.tools, "assistant")]
        if not environment.solo:
            sides.append((environment.user_tools, "user"))
        found = [(tool, requestor) for table, requestor in sides for tool in table.values()]
        return sorted((pair for pair in found if pair[0].kind in kinds), key=lambda pair: kinds.index(pair[0].kind))

    def examples(self, tool: Tool, requestor: Requestor) -> list[ToolCall]:
        """Return example calls of a tool."""
        return self._examples.get((tool.name, requestor), [])

    def example_values(self, tool: Tool, parameter: str) -> list[Json]:
        """Return the values that a parameter has in example calls, whoever made them."""
        calls = (call for (name, _), kept in self._examples.items() if name == tool.name for call in kept)
        return [call.arguments[parameter] for call in calls if call.arguments and parameter in call.arguments]

    def near(self, anchor: Json) -> ValueIndex | None:
        """Return the values of the records around an id; None if it is not an id."""
        return self.index.near(anchor) if isinstance(anchor, str) and anchor in self.index.by_id else None

    def changed(self, state: EndState) -> ValueIndex | None:
        """Return the values of the records that differ from the start; None if none differs."""
        found = list(changed_entities(self.initial, state))
        return collect(found) if found else None


# One call


def plausible_calls(
    environment: Environment,
    *,
    initial: EndState | None = None,
    examples: Iterable[ToolCall] = (),
    kinds: Sequence[ToolKind] = ALL_KINDS,
) -> st.SearchStrategy[ToolCall]:
    """Return a strategy for single calls that an agent, or the user, might make.

    Args:
        environment: Whose tools are called.
        initial: The state that ids are taken from; None for the environment's own.
        examples: Calls whose arguments serve as examples, such as those of golds.
        kinds: Kinds of the tools that are called.
    """
    return _plausible(Repertoire(environment, initial, examples), kinds)


def broken_calls(
    environment: Environment, *, initial: EndState | None = None, examples: Iterable[ToolCall] = ()
) -> st.SearchStrategy[ToolCall]:
    """Return a strategy for calls that something is wrong with: a name, an argument, an id.

    Most are refused; some are not, as a tool may take more than it should.

    Args:
        environment: Whose tools are called.
        initial: The state that ids are taken from; None for the environment's own.
        examples: Calls whose arguments serve as examples.
    """
    return _broken(Repertoire(environment, initial, examples))


def _plausible(repertoire: Repertoire, kinds: Sequence[ToolKind] = ALL_KINDS) -> st.SearchStrategy[ToolCall]:
    tools = repertoire.tools(kinds)
    if not tools:
        return st.nothing()
    return st.composite(lambda draw: draw_call(draw, repertoire, tools))()


def draw_call(
    draw: st.DrawFn, repertoire: Repertoire, tools: Sequence[tuple[Tool, Requestor]], changed: ValueIndex | None = None
) -> ToolCall:
    """Draw a call of one of some tools: from scratch, or an example call with at most one argument exchanged.

    Args:
        draw: Hypothesis' draw.
        repertoire: What calls are made of.
        tools: The tools, each with who calls it.
        changed: The values that earlier calls left; None if they changed nothing.
    """
    tool, requestor = draw(st.sampled_from(tools))
    # What is always there comes first, so that a call stays the same when an earlier one is shrunk away.
    layers = [repertoire.index.value_index, *([changed] * 2 if changed else [])]
    shown = repertoire.examples(tool, requestor)
    copy: bool = draw(st.booleans()) if shown else False
    if copy:
        arguments = dict(draw(st.sampled_from(shown)).arguments or {})
        exchanged = draw(st.sampled_from([None, *arguments]))
        if exchanged is not None and exchanged in tool.parameters:
            arguments[exchanged] = draw_argument(draw, tool, exchanged, repertoire, layers)
    else:
        arguments = _draw_arguments(draw, tool, repertoire, layers)
    return ToolCall(tool.name, clone(arguments), requestor=requestor)


def _draw_arguments(draw: st.DrawFn, tool: Tool, repertoire: Repertoire, layers: Layers) -> dict[str, Json]:
    """Draw arguments: the first that is an id from anywhere, the others mostly from the records around it."""
    arguments: dict[str, Json] = {}
    anchored = False
    for name, parameter in tool.parameters.items():
        if parameter.default is not parameter.empty and not draw(st.booleans()):
            continue
        arguments[name] = draw_argument(draw, tool, name, repertoire, layers)
        near = None if anchored else repertoire.near(arguments[name])
        if near is not None:
            layers, anchored = [layers[0], near, near, *layers[1:]], True
    return arguments


def draw_argument(draw: st.DrawFn, tool: Tool, name: str, repertoire: Repertoire, layers: Layers) -> Json:
    """Draw the value of one parameter.

    Args:
        draw: Hypothesis' draw.
        tool: The tool.
        name: The parameter; for a part of one, the name under which it stands.
        repertoire: What calls are made of.
        layers: Where values are taken from.
    """
    hint = hints(tool.function).get(name, Any)
    closed = _closed(hint)
    if closed is not None:
        return draw(closed)
    sources = [found for value_index in layers if (found := repertoire.source(value_index, name, hint)) is not None]
    shown = repertoire.example_values(tool, name)
    chosen = draw(st.integers(0, max(0, len(sources) + bool(shown) - 1)))
    if chosen < len(sources):
        return clone(draw(sources[chosen]))
    if shown:
        return varied(draw, draw(st.sampled_from(shown)), layers)
    return draw(_anything(hint))


@lru_cache(maxsize=1024)
def hints(function: ToolFunction) -> Mapping[str, Any]:
    """Return the types of a tool's parameters, as far as its signature says and they can be resolved."""
    try:
        return typing.get_type_hints(function)
    except Exception:  # annotations may be anything; names that cannot be resolved leave the parameters untyped
        return {}


def _closed(hint: Any) -> st.SearchStrategy[Json] | None:
    """Return the strategy for a type that lists its values; None for any other."""
    if typing.get_origin(hint) is Literal:
        return st.sampled_from(typing.get_args(hint))
    return st.booleans() if hint is bool else None


def _source(value_index: ValueIndex, name: str, hint: Any) -> st.SearchStrategy[Json] | None:
    """Return the strategy for the indexed values that fit a parameter; None if there are none."""
    fit = value_index.fitting(name)
    many = fit.many or _wants_list(hint)
    values = fit.values if many or hint is Any else [value for value in fit.values if _is_of(value, hint)]
    if not values:
        return None
    if many and not all(isinstance(value, list) for value in values):
        scalars = [value for value in values if not isinstance(value, list)]
        return st.lists(st.sampled_from(scalars), min_size=1, max_size=3)
    return st.sampled_from(values)


def _wants_list(hint: Any) -> bool:
    return (typing.get_origin(hint) or hint) is list


_PYTHON_TYPES: Final[Mapping[Any, tuple[type, ...]]] = {
    str: (str,),
    int: (int,),
    float: (int, float),
    list: (list,),
    dict: (dict,),
    bool: (bool,),
    NoneType: (NoneType,),
}


def _is_of(value: Json, hint: Any) -> bool:
    """Tell whether a value is of a type, as far as the type is one of JSON's; any other type takes all."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, UnionType):
        return any(_is_of(value, part) for part in typing.get_args(hint))
    types = _PYTHON_TYPES.get(origin or hint)
    if types is None:
        return True
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


_WORDS = st.sampled_from(["a", "b", ""])
_NUMBERS = st.integers(0, 9)
_BY_TYPE: Final[Mapping[Any, st.SearchStrategy[Json]]] = {
    str: _WORDS,
    int: _NUMBERS,
    float: st.one_of(_NUMBERS, st.sampled_from([0.5, 10.25])),
    list: st.lists(_WORDS, max_size=2),
    dict: st.builds(dict),
    NoneType: st.none(),
}


def _anything(hint: Any) -> st.SearchStrategy[Json]:
    """Return a strategy for a parameter of which nothing but its type is known."""
    if typing.get_origin(hint) in (typing.Union, UnionType):
        return st.one_of([_anything(part) for part in typing.get_args(hint)])
    return _BY_TYPE.get(typing.get_origin(hint) or hint, _WORDS | _NUMBERS)


def varied(draw: st.DrawFn, value: Json, layers: Layers, name: str = "") -> Json:
    """Draw a value of the same shape as an example, with some of its leaves exchanged for others of their names."""
    if isinstance(value, dict):
        return {key: varied(draw, item, layers, key) for key, item in value.items()}
    if isinstance(value, list):
        return [varied(draw, item, layers, name) for item in value]
    others = (
        [fit for value_index in layers if (fit := value_index.fitting(name)).values and not fit.many] if name else []
    )
    exchange: bool = draw(st.booleans()) if others else False
    if exchange:
        return clone(draw(st.sampled_from(others[draw(st.integers(0, len(others) - 1))].values)))
    return value


# Calls that something is wrong with


def _broken(repertoire: Repertoire) -> st.SearchStrategy[ToolCall]:
    tools = repertoire.tools()
    if not tools:
        return st.just(ToolCall("nowhere", {}))
    return st.composite(lambda draw: draw_broken(draw, repertoire, tools))()


def draw_broken(
    draw: st.DrawFn, repertoire: Repertoire, tools: Sequence[tuple[Tool, Requestor]], changed: ValueIndex | None = None
) -> ToolCall:
    """Draw a call that something is wrong with; the arguments are those of `draw_call`."""
    call = draw_call(draw, repertoire, tools, changed)
    return draw(st.sampled_from(_BREAKS))(draw, call)


def _misname(_: st.DrawFn, call: ToolCall) -> ToolCall:
    return ToolCall(f"{call.name}_please", call.arguments, requestor=call.requestor)


def _overdo(_: st.DrawFn, call: ToolCall) -> ToolCall:
    return ToolCall(call.name, {**(call.arguments or {}), "nothing_of_that_name": 1}, requestor=call.requestor)


def _leave_out(draw: st.DrawFn, call: ToolCall) -> ToolCall:
    if not call.arguments:
        return _overdo(draw, call)
    name = draw(st.sampled_from(sorted(call.arguments)))
    rest = {key: value for key, value in call.arguments.items() if key != name}
    return ToolCall(call.name, rest, requestor=call.requestor)


def _distort(draw: st.DrawFn, call: ToolCall) -> ToolCall:
    if not call.arguments:
        return _overdo(draw, call)
    name = draw(st.sampled_from(sorted(call.arguments)))
    value = clone(draw(st.sampled_from(_ODD)))
    return ToolCall(call.name, {**call.arguments, name: value}, requestor=call.requestor)


def _no_object(_: st.DrawFn, call: ToolCall) -> ToolCall:
    return ToolCall(call.name, None, requestor=call.requestor)


_BREAKS: Final = (_misname, _overdo, _leave_out, _distort, _distort, _no_object)


# Sequences


def call_sequences(
    environment: Environment,
    *,
    initial: EndState | None = None,
    examples: Iterable[ToolCall] = (),
    kinds: Sequence[ToolKind] = ALL_KINDS,
    broken: bool = True,
    max_size: int = 10,
) -> st.SearchStrategy[tuple[ToolCall, ...]]:
    """Return a strategy for sequences of calls; later calls use what earlier ones made or changed.

    Args:
        environment: Whose tools are called; the calls are played in it while they are drawn.
        initial: The state that the calls start in; None for the environment's own.
        examples: Calls whose arguments serve as examples, such as those of golds.
        kinds: Kinds of the tools that are called.
        broken: Whether some calls have something wrong with them.
        max_size: Most calls in a sequence.
    """
    repertoire = Repertoire(environment, initial, examples)
    tools = repertoire.tools(kinds)
    if not tools:
        return st.just(())
    return _sequence(repertoire, tools, broken, max_size)


@st.composite
def _sequence(
    draw: st.DrawFn, repertoire: Repertoire, tools: Sequence[tuple[Tool, Requestor]], broken: bool, max_size: int
) -> tuple[ToolCall, ...]:
    # First how many, then each in a draw of its own: Hypothesis can then take out any one of them at once.
    drafts = Drafts(repertoire.initial)
    calls: list[ToolCall] = []
    changed: ValueIndex | None = None
    for _ in range(draw(st.integers(0, max_size))):
        call = draw(_next_call(repertoire, tools, broken, calls, changed))
        calls.append(call)
        tool = repertoire.environment.tool(call.name, call.requestor)
        if tool is not None and tool.kind == "write":
            step(repertoire.environment, drafts, call)
            changed = repertoire.changed(drafts.freeze())
    return tuple(calls)


_HOW = st.sampled_from(["new", "new", "new", "new", "again", "broken"])


@st.composite
def _next_call(
    draw: st.DrawFn,
    repertoire: Repertoire,
    tools: Sequence[tuple[Tool, Requestor]],
    broken: bool,
    earlier: Sequence[ToolCall],
    changed: ValueIndex | None,
) -> ToolCall:
    how = draw(_HOW)
    if how == "again" and earlier:
        return draw(st.sampled_from(earlier))
    if how == "broken" and broken:
        return draw_broken(draw, repertoire, tools, changed)
    return draw_call(draw, repertoire, tools, changed)
