"""The calls of a run as lines, one a call. What a run says is escaped: a terminal shows it and never obeys it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from multigold.rescoring.run_calls import CallKind, CallWithOutcome, counts
from multigold.state.canonical import Json
from multigold.state.explain import printable

_MARKS: Mapping[CallKind, str] = {"write": "*", "unknown": "?"}
_MEANINGS: Mapping[CallKind, str] = {
    "write": "A call marked * may change the database.",
    "unknown": "A call marked ? is of a tool that the environment does not have.",
}
_CALLERS = {"assistant": "agent", "user": "user"}
_LEAST = 24
"""Characters that arguments get, however long a refusal is."""


@attrs.frozen
class CallLine:
    """A line for one call, with what its tool does, which says how the line is to stand out."""

    text: str
    kind: CallKind


def call_notes(calls: Iterable[CallWithOutcome]) -> str:
    """Return what the marks mean that stand at some calls; empty if there are none."""
    kinds = {call.kind for call in calls}
    return " ".join(meaning for kind, meaning in _MEANINGS.items() if kind in kinds)


def call_heading(calls: Sequence[CallWithOutcome] | None) -> str:
    """Return the line above the calls of a run; None says that the file holds none of them."""
    if calls is None:
        return "calls: the file holds none of this run"
    parts = ", ".join(f"{number} {what}" for number, what in counts(calls) if number)
    return f"calls: {len(calls) or 'none were made'}{f' ({parts})' if parts else ''}"


def call_lines(calls: Sequence[CallWithOutcome], *, width: int) -> Iterator[CallLine]:
    """Yield a line for each call: its index, who called, the tool, the arguments and the result.

    Args:
        calls: The calls in order.
        width: Characters to a line; arguments are cut first, then what a tool said.
    """
    digits = len(str(max(len(calls) - 1, 0)))
    for index, call in enumerate(calls):
        mark = _MARKS.get(call.kind, " ")
        lead = (
            f"  {index:{digits}} {_CALLERS[call.call.requestor]:5} {mark} {_cut(call.call.name, max(width // 3, 40))} "
        )
        outcome = f"  {_outcome(call)}"
        room = max(width - len(lead) - len(outcome), _LEAST)
        arguments = _cut(_arguments(call.call.arguments), room)
        yield CallLine(_cut(f"{lead}{arguments}{outcome}", width), call.kind)


def _arguments(arguments: Mapping[str, Json] | None) -> str:
    if arguments is None:
        return "(arguments that are not a JSON object)"
    try:
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "(arguments that cannot be shown)"


def _outcome(call: CallWithOutcome) -> str:
    if call.outcome == "refused":
        said = " ".join(call.message.split()).removeprefix("Error: ")
        return f"refused: {printable(said)}" if said else "refused"
    if call.outcome == "ok":
        return "ok"
    if call.outcome == "unanswered":
        return "never answered"
    does = "" if call.replayed is None else f" (a replay {'carries it out' if call.replayed else 'refuses it'})"
    return f"not recorded{does}"


def _cut(text: str, width: int) -> str:
    """Return text without control characters, no longer than a width; `...` stands for what is left out."""
    shown = printable(text[: width + 1])
    return shown if len(shown) <= width else f"{shown[: max(width - 3, 0)]}..."
