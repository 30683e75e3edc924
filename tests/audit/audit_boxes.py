"""A small made-up benchmark for tests of audits: boxes that are looked at and filled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import multigold
from multigold.audit.runs.judged import AuditedRun, LeftOut, examine
from multigold.environments.base import Environment
from multigold.environments.tools import RefusalError, tool_table
from multigold.model.gold import Actions, NegativeExample, Reading, TaskText
from multigold.model.trajectory import Message, RecordedCall
from multigold.scoring import compile_golds
from multigold.state.canonical import digest
from multigold.state.database import Database, Draft, EndState
from multigold.state.equivalence import Conventions


def look(draft: Draft, box: str) -> Any:
    return draft.get("boxes", box)


def fill(draft: Draft, box: str, amount: Any) -> Any:
    if amount == -1:
        raise RefusalError("no box holds less than nothing")
    draft.edit("boxes", box)["amount"] = amount


def tag(draft: Draft, box: str, tags: list[str]) -> Any:
    draft.edit("boxes", box)["tags"] = list(tags)


def whole(initial: EndState, end: EndState) -> Iterator[str]:
    """A box holds at most nine."""
    for box in end.agent.ids("boxes"):
        if end.agent.get("boxes", box)["amount"] > 9:
            yield f"box {box} holds more than nine"


ENVIRONMENT = Environment(
    name="boxes",
    initial=EndState(Database.from_json({"boxes": {name: {"amount": 0, "tags": []} for name in "ab"}})),
    tools=tool_table({"read": (look,), "write": (fill, tag)}),
    invariants={"whole": whole},
    conventions=Conventions(unordered=("boxes/*/tags",)),
)


def call(name: str, **arguments: Any) -> multigold.ToolCall:
    return multigold.ToolCall(name, arguments)


FILL = call("fill", box="a", amount=1)
LOOK = call("look", box="a")


def task(*gold: multigold.ToolCall, text: str = "Fill box a.", task_id: str = "1") -> multigold.Task:
    criteria = multigold.Criteria(actions=gold, reward_basis=("DB",))
    return multigold.Task(task_id, instructions=text, criteria=criteria, domain="boxes")


def gold_set(of: multigold.Task, *readings: Reading, negatives: tuple[NegativeExample, ...] = ()) -> multigold.GoldSet:
    text = TaskText(
        id="first",
        fingerprint=of.text_fingerprint(),
        standing={reading.id: (reading.standing, "") for reading in readings},
    )
    return multigold.GoldSet(task_id=of.id, readings=readings, texts=(text,), negatives=negatives)


def reading(name: str, *calls: multigold.ToolCall, standing: Any = "core") -> Reading:
    return Reading(id=name, admits=(Actions(calls),), standing=standing)


def run(
    *calls: multigold.ToolCall,
    of: multigold.Task | None = None,
    golds: multigold.GoldSet | None = None,
    agent: str = "one",
    trial: int = 0,
    run_id: str | None = None,
    file: str = "f",
    termination: str | None = "user_stop",
    said: tuple[str, ...] = (),
    equivalences: tuple[str, ...] = (),
) -> AuditedRun:
    found = examine_run(
        *calls, of=of, golds=golds, agent=agent, trial=trial, run_id=run_id, file=file, termination=termination,
        said=said, equivalences=equivalences,
    )  # fmt: skip
    assert isinstance(found, AuditedRun)
    return found


def examine_run(
    *calls: multigold.ToolCall,
    of: multigold.Task | None,
    golds: multigold.GoldSet | None,
    agent: str,
    trial: int,
    run_id: str | None,
    file: str,
    termination: str | None,
    said: tuple[str, ...],
    equivalences: tuple[str, ...],
) -> AuditedRun | LeftOut:
    of = of or task(FILL)
    selected = golds.for_text(of.text_fingerprint()) if golds else None
    trajectory = multigold.Trajectory(
        calls=tuple(RecordedCall(call=one) for one in calls),
        messages=tuple(Message(role="assistant", text=text) for text in said),
        termination=termination,
        trial=trial,
        run_id=digest([agent, trial, [one.to_json() for one in calls]]) if run_id is None else run_id,
        task_id=of.id,
    )
    compiled = compile_golds(of, selected, ENVIRONMENT, equivalences=equivalences)
    return examine(of, trajectory, compiled, ENVIRONMENT, file=file, agent=agent, release="0123456789")
