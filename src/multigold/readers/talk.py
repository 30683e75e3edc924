"""From the messages of a run to the talk and its tool calls, each with what came of it.

Results are joined to calls by position, ids are only a help: in real files ids are empty, or used again later in the
same run. A result belongs to the earliest unanswered call of its id in the latest message that has one; where one of
the two sides has no id, to the earliest unanswered call of the latest message that has calls.
"""

from __future__ import annotations

import json
from collections import deque

import attrs

from multigold.model.task import Requestor, ToolCall
from multigold.model.trajectory import Message, RecordedCall, content_text
from multigold.state.canonical import Json
from multigold.state.json_values import is_too_deep, sound


@attrs.frozen(kw_only=True)
class Transcript:
    """The messages of a run, its calls in order, and sentences on what is odd about them."""

    messages: tuple[Message, ...]
    calls: tuple[RecordedCall, ...]
    notes: tuple[str, ...]


class Talk:
    """Collects the messages and calls of one run in order; `finish` gives them."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._calls: list[tuple[ToolCall, int]] = []
        self._answers: dict[int, tuple[str, bool | None]] = {}
        self._open: dict[str, list[deque[int]]] = {}
        self._latest: dict[str, int] = {}
        self._last: deque[int] = deque()
        self._orphan_results = 0
        self._unreadable = 0

    def say(self, role: str, content: Json) -> None:
        """Add a message."""
        self._messages.append(Message(role=role, text=content if isinstance(content, str) else text_of(content)))

    def call(self, calls: Json, role: str) -> None:
        """Add the calls that the latest message holds, in any form that is in use."""
        if isinstance(calls, dict):
            calls = [calls]
        if not isinstance(calls, list) or not calls:
            return
        position = len(self._messages) - 1
        self._last = deque()
        for call in calls:
            self._add(read_call(call, role), position)

    def _add(self, call: ToolCall, position: int) -> None:
        index = len(self._calls)
        self._unreadable += not call.name or call.arguments is None
        self._calls.append((call, position))
        self._last.append(index)
        groups = self._open.setdefault(call.id, [])
        if self._latest.get(call.id) != position or not groups:
            groups.append(deque())
            self._latest[call.id] = position
        groups[-1].append(index)

    def answer(self, call_id: Json, content: Json, error: Json = None) -> None:
        """Give a result to the call that it belongs to."""
        index = self._find(call_id if isinstance(call_id, str) else "")
        if index is None:
            self._orphan_results += 1
            return
        text = text_of(content)
        self._answers[index] = (text, error if isinstance(error, bool) else is_refusal(text))

    def _find(self, call_id: str) -> int | None:
        groups = self._open.get(call_id)
        while groups:
            while groups[-1]:
                index = groups[-1].popleft()
                if index not in self._answers:
                    return index
            groups.pop()
        while self._last:
            index = self._last[0]
            if index in self._answers:
                self._last.popleft()
            elif call_id and self._calls[index][0].id:
                return None
            else:
                return index
        return None

    def finish(self) -> Transcript:
        """Return what was collected."""
        calls = []
        for index, (call, position) in enumerate(self._calls):
            result, refused = self._answers.get(index, (None, None))
            calls.append(RecordedCall(call=call, result=result, refused=refused, message=position))
        return Transcript(messages=tuple(self._messages), calls=tuple(calls), notes=tuple(self._notes(len(calls))))

    def _notes(self, calls: int) -> list[str]:
        counts = {
            "calls have no recorded result": calls - len(self._answers),
            "recorded results belong to no call": self._orphan_results,
            "calls have no name or no readable arguments": self._unreadable,
        }
        return [f"{count} {words}" for words, count in counts.items() if count]


def read_call(call: Json, role: str) -> ToolCall:
    """Read a call in the flat or the OpenAI form, or a gold's action; one without a name has an empty name."""
    outer = call if isinstance(call, dict) else {}
    inner = outer.get("function")
    body = inner if isinstance(inner, dict) else outer
    name, stated = body.get("name"), outer.get("requestor")
    requestor: Requestor = "user" if (stated if stated in ("user", "assistant") else role) == "user" else "assistant"
    call_id = outer.get("id") or outer.get("action_id")
    return ToolCall(
        name if isinstance(name, str) else "",
        read_arguments(body.get("arguments")),
        requestor=requestor,
        id=call_id if isinstance(call_id, str) else "",
    )


def read_arguments(arguments: Json) -> dict[str, Json] | None:
    """Return a call's arguments: an object, its JSON text, or nothing; None if they are no sound JSON object."""
    if isinstance(arguments, dict):
        return None if is_too_deep(arguments) else arguments
    if arguments is None or arguments == "":
        return {}
    if not isinstance(arguments, str):
        return None
    try:
        value = sound(json.loads(arguments))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text_of(content: Json) -> str:
    """Return a message's text; other JSON than text and text parts becomes its JSON text."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list) and all(isinstance(p, dict) and isinstance(p.get("text") or "", str) for p in content):
        return content_text(content)
    return "" if is_too_deep(content) else json.dumps(content)


def is_refusal(text: str) -> bool:
    """Tell whether a tool's answer is a refusal by its text, where no field says so."""
    return text.startswith("Error")
