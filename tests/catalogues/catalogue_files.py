"""A small catalogue of no particular domain, written to a directory, to plant faults in."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from multigold.environments.base import Environment
from multigold.environments.tools import RefusalError, tool_table
from multigold.model.task import Criteria, Task, ToolCall
from multigold.state.database import Database, Draft, EndState

POLICY = b"# Shop policy\n\n## Refunds\n\nA broken item is refunded.\n\nNobody is refunded twice.\n"


def refund(draft: Draft, item: str, amount: int) -> str:
    if not draft.has("items", item):
        raise RefusalError(f"no item {item}")
    draft.edit("items", item)["refunded"] = amount
    return "done"


def look(draft: Draft, item: str) -> Any:
    return draft.get("items", item)


def shop() -> Environment:
    items = {"a": {"price": 10, "refunded": 0}, "b": {"price": 20, "refunded": 0}}
    return Environment(
        name="shop",
        initial=EndState(Database.from_json({"items": items})),
        tools=tool_table({"write": (refund,), "read": (look,)}),
        invariants={"whole-refunds": lambda initial, end: ()},
    )


def task(gold: str | None = "a", text: str = "It is broken.", task_id: str = "1") -> Task:
    calls = () if gold is None else (ToolCall("refund", {"item": gold, "amount": 10}),)
    return Task(task_id, instructions=text, criteria=Criteria(actions=calls))


def refund_call(item: str, amount: Any = 10) -> dict[str, Any]:
    return {"name": "refund", "arguments": {"item": item, "amount": amount}}


def documents() -> dict[str, Any]:
    """Return the files of a catalogue without a fault; the caller may change them."""
    first = task()
    return copy.deepcopy(
        {
            "catalogue.json": {
                "domain": "shop",
                "title": "A shop",
                "loopholes": [
                    {
                        "id": "S1",
                        "title": "Broken",
                        "category": "silent_on_edge",
                        "question": "Is a scratch broken?",
                        "sides": [{"id": "yes", "sentence": "It is."}, {"id": "no", "sentence": "It is not."}],
                        "clauses": ["broken"],
                        "effect": "direct",
                        "stages": ["S1"],
                        "tasks": ["1"],
                    }
                ],
            },
            "clauses.json": {
                "policy": {"fingerprint": "41d6cdd0ab4c34dbb8a08a8ad4f1a1ccdaa9b0f6e9aeb22ef4dbcd0d3ae3f8f0"},
                "clauses": [{"id": "broken", "lines": [5, 5], "fingerprint": "0" * 64, "summary": "Broken: refunded."}],
            },
            "tasks/1.json": {
                "task_id": "1",
                "loopholes": ["S1"],
                "texts": [
                    {
                        "id": "first",
                        "fingerprint": first.text_fingerprint(),
                        "golds": {first.gold_fingerprint(): "pay"},
                    }
                ],
                "readings": [
                    {
                        "id": "pay",
                        "title": "Refund one of the two",
                        "positions": {"S1": "yes"},
                        "standing": {"first": {"is": "core", "reason": "the gold"}},
                        "admits": [
                            {
                                "choices": {
                                    "slots": {"item": ["a", "b"]},
                                    "actions": [refund_call({"$slot": "item"})],  # type: ignore[arg-type]
                                }
                            }
                        ],
                    },
                    {
                        "id": "refuse",
                        "title": "Refund nothing",
                        "positions": {"S1": "no"},
                        "standing": {"first": {"is": "core", "reason": "the other side"}},
                        "admits": [{"actions": []}],
                        "evidence": {"tool": "look", "arguments": {"item": "a"}},
                    },
                    {
                        "id": "partly",
                        "title": "Refund some of the price of a",
                        "positions": {"S1": "yes"},
                        "standing": {"first": {"is": "contested", "reason": "nobody asked"}},
                        "admits": [
                            {
                                "pattern": {
                                    "pointers": {"/agent/items/a/refunded": {"after": {"minimum": 1, "maximum": 9}}},
                                    "invariants": ["whole-refunds"],
                                }
                            }
                        ],
                    },
                ],
                "negatives": [
                    {"id": "both", "reason": "one only", "admits": {"actions": [refund_call("a"), refund_call("b")]}},
                    {
                        "id": "unknown",
                        "reason": "no such item",
                        "refused": True,
                        "admits": {"actions": [refund_call("z")]},
                    },
                ],
            },
        }
    )


def write(directory: Path, files: dict[str, Any]) -> Path:
    """Write files; a string is written as it stands, anything else as JSON."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return directory
