"""The calls of a stored tau2 results file, each with its recorded answer; read plainly, without our readers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import attrs
from parity import Answer, seen

from multigold.model.task import ToolCall


@attrs.frozen
class Recorded:
    call: ToolCall
    content: str


def recorded_runs(path: Path) -> Iterator[list[Recorded]]:
    """Yield the calls of each run of a results file, each with the next answer that has its id."""
    for simulation in json.loads(path.read_bytes())["simulations"]:
        yield recorded_calls(simulation["messages"] or [])


def recorded_calls(messages: list[dict]) -> list[Recorded]:  # type: ignore[type-arg]  # JSON
    """Return the calls of one run."""
    calls, answers = [], []
    for message in messages:
        calls += message.get("tool_calls") or []
        answers += [message] if message["role"] == "tool" else message.get("tool_messages") or []
    run = []
    for call in calls:
        answer = next(answer for answer in answers if answer["id"] == call["id"])
        answers.remove(answer)
        requestor = call.get("requestor") or "assistant"
        run.append(Recorded(ToolCall(call["name"], call["arguments"], requestor=requestor), answer["content"]))
    return run


def as_recorded(answer: Answer, content: str) -> bool:
    """Whether an answer is what was recorded: the same observation as parsed JSON, or a refusal for a refusal."""
    return content.startswith("Error") if answer.kind != "ok" else seen(content) == answer.text
