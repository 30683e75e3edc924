"""What a broken law prints: the law in a sentence, the calls, and what differs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from multigold.environments.replay import StepOutcome
from multigold.model.task import ToolCall
from multigold.state.canonical import Json
from multigold.state.delta import Delta
from multigold.state.explain import explain_delta, printable

LAWS: Final[Mapping[str, str]] = {
    "replay_deterministic": "the same calls from the same state give the same answers and the same end state",
    "reads_change_nothing": "reads and calls that fail cleanly change no end state, wherever they are inserted",
    "initial_state_untouched": "a replay leaves the state that it starts from as it was",
    "gold_matches_itself": "an agent that makes the calls of a gold matches the reading that the gold is of",
    "mutations_do_not_match": "a mutated gold that ends in another state is matched only if a reading admits it",
    "order_independent": "the writes of a gold end in the same state in any order in which they can be made",
    "readings_distinct": "no end state of a reading is admitted by another reading, unless the overlap is declared",
    "gated": "a reading that admits the untouched state requires a successful read, in every way to meet its evidence",
    "agrees_with": "two environments give the same answers or the same kind of refusal, and the same end state",
}
"""Each law in a sentence."""

WIDTH = 60
"""Longest value of an argument that is shown whole, in characters."""


class LawError(AssertionError):
    """A law does not hold.

    Attributes:
        law: The law, in a sentence.
        detail: What was seen instead, in a sentence.
        calls: The calls that show it.
        delta: What differs; None if that is not the point.
    """

    def __init__(self, law: str, detail: str, *, calls: Sequence[ToolCall] = (), delta: Delta | None = None) -> None:
        self.law = law
        self.detail = detail
        self.calls = tuple(calls)
        self.delta = delta
        super().__init__(law, detail)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        lines = [f"This law does not hold: {self.law}", f"Instead: {self.detail}"]
        if self.calls:
            lines.append(f"Calls ({len(self.calls)}):")
            lines += [f"  {number}  {call_text(call)}" for number, call in enumerate(self.calls)]
        if self.delta:
            lines.append(f"What differs ({len(self.delta)}):")
            lines += [f"  {line}" for line in explain_delta(self.delta)]
        return lines


def call_text(call: ToolCall) -> str:
    """Return a call as one line: `cancel(order_id="o-1")`, with `[user]` before it if the user made it."""
    who = "[user] " if call.requestor == "user" else ""
    if call.arguments is None:
        return printable(f"{who}{call.name}(arguments that are not an object)")
    arguments = ", ".join(f"{name}={value_text(value)}" for name, value in call.arguments.items())
    return printable(f"{who}{call.name}({arguments})")


def value_text(value: Json) -> str:
    """Return a value as JSON, cut to `WIDTH` characters."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def outcome_text(outcome: StepOutcome) -> str:
    """Return the result of a call, in a few words."""
    if outcome.refusal is not None:
        return f"refused ({outcome.refusal.kind}: {printable(outcome.refusal.message)})"
    return f"answered {value_text(outcome.observation)}"
