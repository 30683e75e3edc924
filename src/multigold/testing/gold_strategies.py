"""Hypothesis strategies for variants of a gold: with calls put in between, in another order, or changed.

A *mutation* is a gold with one thing wrong: a write dropped, made twice, with an argument altered, or one too many. The
first two are few, so `simple_mutations` lists them all; the others are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import attrs
from hypothesis import strategies as st

from multigold.audit.golds.orders import is_write, rearranged
from multigold.audit.golds.value_index import ValueIndex
from multigold.environments.base import Drafts, Environment
from multigold.environments.replay import step
from multigold.environments.tools import Tool
from multigold.model.task import ToolCall
from multigold.state.canonical import Json, clone, same
from multigold.state.database import EndState
from multigold.state.delta import diff
from multigold.testing.failures import call_text, value_text
from multigold.testing.strategies import Layers, Repertoire, draw_argument, draw_broken, draw_call

MutationKind: TypeAlias = Literal["drop", "duplicate", "alter", "add"]

MAX_INSERTED = 6
"""Calls put into a gold at most."""


@attrs.frozen(kw_only=True)
class Interleaving:
    """A gold with calls in between that should change nothing.

    Attributes:
        calls: All calls.
        inserted: The numbers of those that were put in.
    """

    calls: tuple[ToolCall, ...]
    inserted: tuple[int, ...]


@attrs.frozen(kw_only=True)
class Mutation:
    """A gold with one thing changed.

    Attributes:
        kind: What was done.
        calls: The resulting calls.
        sentence: What was done, in a few words.
    """

    kind: MutationKind
    calls: tuple[ToolCall, ...]
    sentence: str


# Calls in between


def interleavings(
    environment: Environment,
    gold: Sequence[ToolCall],
    *,
    initial: EndState | None = None,
    examples: Iterable[ToolCall] = (),
) -> st.SearchStrategy[Interleaving]:
    """Return a strategy for a gold with reads, and calls that fail and leave no trace, put in anywhere.

    Args:
        environment: Whose tools are called; the calls are played in it while they are drawn.
        gold: The gold's calls, which stay as they are.
        initial: The state that it starts in; None for the environment's own.
        examples: Calls whose arguments serve as examples, in addition to the gold's own.
    """
    return _interleaving(Repertoire(environment, initial, (*gold, *examples)), tuple(gold))


@st.composite
def _interleaving(draw: st.DrawFn, repertoire: Repertoire, gold: tuple[ToolCall, ...]) -> Interleaving:
    drafts = Drafts(repertoire.initial)
    calls: list[ToolCall] = []
    inserted: list[int] = []
    played = 0
    for _ in range(draw(st.integers(0, MAX_INSERTED))):
        here = played + draw(st.integers(0, len(gold) - played))
        for call in gold[played:here]:
            step(repertoire.environment, drafts, call)
        calls += gold[played:here]
        played = here
        idle = draw(_idle_call(repertoire, drafts))
        if idle is not None:
            inserted.append(len(calls))
            calls.append(idle)
    return Interleaving(calls=(*calls, *gold[played:]), inserted=tuple(inserted))


@st.composite
def _idle_call(draw: st.DrawFn, repertoire: Repertoire, drafts: Drafts) -> ToolCall | None:
    """Draw a read, or a call that fails and leaves no trace; None if the one that was drawn does something."""
    environment = repertoire.environment
    reads = repertoire.tools(("read", "generic"))
    if reads and draw(st.sampled_from([True, True, False])):
        return draw_call(draw, repertoire, reads)
    call = draw_broken(draw, repertoire, repertoire.tools()) if repertoire.tools() else ToolCall("nowhere")
    before = drafts.freeze()
    subject = Drafts(before)
    outcome = step(environment, subject, call)
    if outcome.refusal is None and is_write(environment, call):
        return None
    return None if diff(before, subject.freeze()) else call


# Another order


def write_orders(environment: Environment, gold: Sequence[ToolCall]) -> st.SearchStrategy[tuple[ToolCall, ...]]:
    """Return a strategy for a gold with its writes in any order, and everything else where it was.

    Args:
        environment: Whose tools tell what a write is.
        gold: The gold's calls.
    """
    writes = [number for number, call in enumerate(gold) if is_write(environment, call)]
    return st.permutations(writes).map(lambda order: rearranged(gold, writes, order))


# One thing wrong


def simple_mutations(environment: Environment, gold: Sequence[ToolCall]) -> Iterator[Mutation]:
    """Yield the gold with each of its writes dropped, and with each made twice.

    Args:
        environment: Whose tools tell what a write is.
        gold: The gold's calls.
    """
    calls = tuple(gold)
    for number, call in enumerate(calls):
        if is_write(environment, call):
            rest = (*calls[:number], *calls[number + 1 :])
            yield Mutation(kind="drop", calls=rest, sentence=f"without call {number}, {call_text(call)}")
            twice = (*calls[:number], call, *calls[number:])
            yield Mutation(kind="duplicate", calls=twice, sentence=f"with call {number} twice, {call_text(call)}")


def mutations(
    environment: Environment,
    gold: Sequence[ToolCall],
    *,
    initial: EndState | None = None,
    examples: Iterable[ToolCall] = (),
) -> st.SearchStrategy[Mutation]:
    """Return a strategy for mutations of a gold, of all kinds that it allows.

    Args:
        environment: Whose tools are called.
        gold: The gold's calls.
        initial: The state that it starts in; None for the environment's own.
        examples: Calls whose arguments serve as examples, in addition to the gold's own.
    """
    repertoire = Repertoire(environment, initial, (*gold, *examples))
    return drawn_mutations(repertoire, gold) | simple(environment, gold)


def simple(environment: Environment, gold: Sequence[ToolCall]) -> st.SearchStrategy[Mutation]:
    """Return a strategy for the mutations that `simple_mutations` lists."""
    listed = list(simple_mutations(environment, gold))
    return st.sampled_from(listed) if listed else st.nothing()


def drawn_mutations(repertoire: Repertoire, gold: Sequence[ToolCall]) -> st.SearchStrategy[Mutation]:
    """Return a strategy for the mutations that are too many to list: an argument altered, a write added."""
    calls = tuple(gold)
    numbers = [n for n, c in enumerate(calls) if is_write(repertoire.environment, c) and c.arguments]
    kinds = [
        *([st.composite(lambda draw: _alter(draw, repertoire, calls, numbers))()] if numbers else []),
        *([st.composite(lambda draw: _add(draw, repertoire, calls))()] if repertoire.tools(("write",)) else []),
    ]
    return st.one_of(kinds)


def _add(draw: st.DrawFn, repertoire: Repertoire, calls: tuple[ToolCall, ...]) -> Mutation:
    call = draw_call(draw, repertoire, repertoire.tools(("write",)))
    at = len(calls) - draw(st.integers(0, len(calls)))
    sentence = f"with an extra call before call {at}, {call_text(call)}"
    return Mutation(kind="add", calls=(*calls[:at], call, *calls[at:]), sentence=sentence)


def _alter(draw: st.DrawFn, repertoire: Repertoire, calls: tuple[ToolCall, ...], numbers: Sequence[int]) -> Mutation:
    number = draw(st.sampled_from(numbers))
    call = calls[number]
    arguments = dict(call.arguments or {})
    name = draw(st.sampled_from(sorted(arguments)))
    tool = repertoire.environment.tool(call.name, call.requestor)
    assert tool is not None  # numbers are those of writes
    changed, what = _altered(draw, arguments[name], tool, name, repertoire)
    altered = ToolCall(call.name, {**arguments, name: changed}, requestor=call.requestor)
    return Mutation(
        kind="alter",
        calls=(*calls[:number], altered, *calls[number + 1 :]),
        sentence=f"with {name} of call {number} ({call.name}) altered: {what}",
    )


def _altered(draw: st.DrawFn, value: Json, tool: Tool, name: str, repertoire: Repertoire) -> tuple[Json, str]:
    """Draw another value for an argument; inside of a list or an object one leaf is altered, or an item goes."""
    path = draw(st.sampled_from(_paths(value)))
    item = _item_path(path)
    leave_out: bool = draw(st.booleans()) if item else False
    if leave_out:
        shorter = clone(value)
        gone = _at(shorter, item[:-1]).pop(item[-1])
        return shorter, f"item {_place(item)}left out, {value_text(gone)}"
    old = _at(value, path)
    leaf = next((str(part) for part in reversed(path) if isinstance(part, str)), name)
    new = _draw_other(draw, old, tool, leaf, repertoire, [repertoire.index.value_index, *_near(repertoire, value)])
    return _replaced(value, path, new), f"{_place(path)}{value_text(old)} -> {value_text(new)}"


def _near(repertoire: Repertoire, value: Json) -> list[ValueIndex]:
    near = repertoire.near(value)
    return [] if near is None else [near]


def _draw_other(draw: st.DrawFn, old: Json, tool: Tool, leaf: str, repertoire: Repertoire, layers: Layers) -> Json:
    """Draw a value that is not the old one: a number next to it, another that fits, or one of another kind."""
    if isinstance(old, int | float) and draw(st.booleans()):
        return not old if isinstance(old, bool) else old + draw(st.sampled_from([1, -1]))
    new = draw_argument(draw, tool, leaf, repertoire, layers)
    return new if not same(new, old) else "nowhere" if old != "nowhere" else "elsewhere"


def _paths(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the paths to the leaves of a value, and to the items of its lists."""
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in _paths(item, (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for index, item in enumerate(value) for leaf in _paths(item, (*path, index))]
    return [path]


def _item_path(path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return the path to the innermost list item that a path leads into; empty if it leads into none."""
    indices = [place for place, part in enumerate(path) if isinstance(part, int)]
    return path[: indices[-1] + 1] if indices else ()


def _at(value: Json, path: Sequence[str | int]) -> Json:
    for part in path:
        value = value[part]
    return value


def _replaced(value: Json, path: Sequence[str | int], new: Json) -> Json:
    if not path:
        return new
    changed = clone(value)
    _at(changed, path[:-1])[path[-1]] = new
    return changed


def _place(path: Sequence[str | int]) -> str:
    return "".join(f"/{part}" for part in path) + (" " if path else "")
