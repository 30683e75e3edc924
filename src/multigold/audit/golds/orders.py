"""Does the end state hang on the order of the writes?

A task rarely says in which order to do two things. So the writes of a gold are put in other orders, reads staying
where they are, and replayed. An order in which some call fails is left out: the environment itself rules it out.

All orders of many writes are too many. Tried are every exchange of two neighbours, which finds nearly all there is and
shows it in the fewest words; up to `MAX_WRITES` writes every order; beyond that the reverse as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import attrs

from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.model.task import ToolCall
from multigold.state.database import EndState
from multigold.state.delta import Delta, diff
from multigold.state.equivalence import EQUIVALENCES, comparable, normal_form

MAX_WRITES = 4
"""Up to this many writes every order is tried (24 orders)."""


@attrs.frozen(kw_only=True)
class OtherOrder:
    """An order of the same calls that ends in another state.

    Attributes:
        calls: The calls in that order.
        moved: Numbers of the calls, as they are in the gold, in the order in which they are made here.
        end_state: Where it ends.
        delta: From the end of the gold to the end of this order.
        cures: The smallest set of equivalences under which the two ends are the same; None if no set is enough.
    """

    calls: tuple[ToolCall, ...]
    moved: tuple[int, ...]
    end_state: EndState
    delta: Delta
    cures: tuple[str, ...] | None


def is_write(environment: Environment, call: ToolCall) -> bool:
    """Tell whether a call is of a tool that can change the state."""
    tool = environment.tool(call.name, call.requestor)
    return tool is not None and tool.kind == "write"


def other_orders(writes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield orders of the writes other than the given one, those nearest to it first."""
    given = tuple(writes)
    seen = {given}
    for order in _candidates(given):
        if order not in seen:
            seen.add(order)
            yield order


def _candidates(given: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for at in range(len(given) - 1):
        yield (*given[:at], given[at + 1], given[at], *given[at + 2 :])
    if len(given) <= MAX_WRITES:
        yield from itertools.permutations(given)
    else:
        yield given[::-1]


def rearranged(calls: Sequence[ToolCall], writes: Sequence[int], order: Sequence[int]) -> tuple[ToolCall, ...]:
    """Return the calls with the writes in another order, in the places where writes stand."""
    placed = list(calls)
    for place, number in zip(writes, order, strict=True):
        placed[place] = calls[number]
    return tuple(placed)


def differing_orders(
    environment: Environment, calls: Sequence[ToolCall], *, initial: EndState | None = None, synchronise: bool = True
) -> Iterator[OtherOrder]:
    """Yield the orders of the writes in which every call goes as it goes in the gold and that end in another state.

    Args:
        environment: Where they are replayed.
        calls: The gold.
        initial: Where to start; None for the environment's own initial state.
        synchronise: Whether to bring the two sides in step after each call.
    """
    start = initial or environment.initial
    done = replay(environment, calls, initial=start, synchronise=synchronise)
    refused = {number for number, _ in done.refusals}
    writes = [n for n, call in enumerate(calls) if n not in refused and is_write(environment, call)]
    end = comparable(done.end_state, start, environment.conventions)
    for order in other_orders(writes):
        placed = rearranged(calls, writes, order)
        again = replay(environment, placed, initial=start, synchronise=synchronise)
        if {number for number, _ in again.refusals} != refused:
            continue
        other = comparable(again.end_state, start, environment.conventions)
        delta = diff(end, other)
        if delta:
            cures = cure(end, other, start, environment)
            yield OtherOrder(calls=placed, moved=order, end_state=other, delta=delta, cures=cures)


def cure(a: EndState, b: EndState, initial: EndState, environment: Environment) -> tuple[str, ...] | None:
    """Return the smallest set of equivalences under which two states are the same; None if no set is enough.

    Args:
        a: A state.
        b: Another.
        initial: The state that both started in.
        environment: Whose conventions to use.
    """
    for size in range(1, len(EQUIVALENCES) + 1):
        for names in itertools.combinations(EQUIVALENCES, size):
            if are_equivalent(a, b, initial, environment, names):
                return names
    return None


def are_equivalent(a: EndState, b: EndState, initial: EndState, environment: Environment, names: Sequence[str]) -> bool:
    """Tell whether two states are the same under some equivalences."""
    conventions = environment.conventions
    return normal_form(a, initial, names, conventions) == normal_form(b, initial, names, conventions)
