"""Plain lists of chat messages, in any shape that is known, for everybody who runs no benchmark of a known make.

one run     [{"role", "content", "tool_calls"?}, ...]
one run     {"messages": [...], "task_id"?, "trial"?, "id"?, "reward"?, "termination_reason"?}
several     a list of either, or one a line
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from multigold.model.message_shapes import RawMessage, looks_like_message
from multigold.model.trajectory import Trajectory
from multigold.model.transcript import parse_messages
from multigold.readers.base import ReadOptions, ResultsFile, Run, Runs, stem
from multigold.readers.decoding import Document, decode_run, decoded
from multigold.readers.domains import guess_domain, guessed
from multigold.readers.joining import TaskIndex
from multigold.readers.simulation import Simulation, read_simulation
from multigold.readers.tau2 import settle
from multigold.state.canonical import Json

_PEEK: Final = 30
_TELLING: Final = ("role", "type", "kwargs")
_DECODER: Final = msgspec.json.Decoder(list[RawMessage])


def recognise(document: Document) -> bool:
    """Tell whether a document is one list of chat messages, or several."""
    return _runs(document) is not None


def _runs(document: Document) -> Sequence[msgspec.Raw] | None:
    """Return each run of the document as raw JSON; None if it holds no chats."""
    if document.has("messages"):
        whole = document.load()
        return [whole] if _is_chat(whole) else None
    if not document.items:
        return None
    first = document.items[0]
    if _is_message(first) and not document.lines:
        return [msgspec.Raw(msgspec.json.encode(list(document.items)))]
    return document.items if _is_chat(first) else None


def _is_message(raw: msgspec.Raw) -> bool:
    members = decoded(raw, dict[str, msgspec.Raw]) or {}
    # Only what tells messages apart is decoded: the rest may hold numbers that are out of range.
    told = {name: decoded(value, Json) if name in _TELLING else value for name, value in members.items()}
    return looks_like_message(told)


def _is_chat(raw: msgspec.Raw) -> bool:
    members = decoded(raw, dict[str, msgspec.Raw])
    messages = decoded(raw if members is None else members.get("messages", b""), list[msgspec.Raw])
    return bool(messages) and _is_message(messages[0])


def read(document: Document, options: ReadOptions) -> ResultsFile:
    """Read chats."""
    raw = _runs(document) or ()
    agent = options.agent or stem(document.name)
    index = TaskIndex(tasks=options.tasks)

    def produce() -> Iterator[Run]:
        for number, item in enumerate(raw):
            yield settle(_simulation(item, agent), f"[{number}]", index, "", {}, options)

    peek = (call.call.name for item in raw[:_PEEK] for call in _simulation(item, "").trajectory.calls or ())
    domain, guesses = (options.domain, ()) if options.domain else guessed(guess_domain(peek), "tau2")
    return ResultsFile(
        format="chat-lines" if document.lines else "chat",
        name=document.name,
        digest=document.digest,
        domain=domain,
        agent=agent,
        runs=Runs(count=len(raw), produce=produce),
        warnings=(*document.warnings, *guesses),
    )


def _simulation(raw: msgspec.Raw | bytes, agent: str) -> Simulation:
    try:
        messages = decode_run(_DECODER, raw)
    except (ValueError, RecursionError):
        return read_simulation(raw, agent)
    transcript = parse_messages(messages, lambda: decoded(raw, Json))
    trajectory = Trajectory(
        calls=transcript.calls, messages=transcript.messages, problem=transcript.problem, agent=agent
    )
    return Simulation(trajectory=trajectory, notes=transcript.notes)
