r"""Calls that an agent writes into its text, and the answers that come back as text.

    tau-bench v1    Action:\n{"name": ..., "arguments": {...}}        API output: ...
    ReAct           Action: name\nAction Input: {...}                Observation: ...
    tags            <tool_call>{"name": ...}</tool_call>             <tool_response>...</tool_response>

What an agent writes is not a call because it looks like one: an agent that is to call functions and only writes of them
has done nothing. It is one where whoever ran the agent read it so, which shows in the answers that come back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from multigold.model.call_shapes import python_literal
from multigold.state.canonical import Json
from multigold.state.json_values import sound

_ACTION: Final = "Action:"
_INPUT: Final = "Action Input:"
_TAG: Final = "<tool_call>"
_FENCE: Final = "```"
_TAGGED: Final = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_TAGGED_ANSWER: Final = re.compile(r"<tool_response>(.*?)(?:</tool_response>|\Z)", re.DOTALL)
_ANSWER: Final = re.compile(
    r"\s*(?:(?:API output|Observation|(?:Tool|Function) (?:output|result|response))[ \t]*:[ ]?)", re.I
)
TALK: Final = frozenset({"respond", "Final Answer"})
"""Actions that stand for talking to the user: v1's, and LangChain's."""


def may_hold_calls(content: Json) -> bool:
    """Tell whether a content is worth a closer look: it has a word that calls in text begin with, or is in parts."""
    return (_ACTION in content or _TAG in content) if isinstance(content, str) else isinstance(content, list)


def text_calls(text: str) -> list[dict[str, Json]] | None:
    """Return the calls that an agent's text makes.

    Returns:
        The calls; an empty list if it means to make one that cannot be read; None if it means to make none.
    """
    if _TAG in text:
        found = [_json_call(inner) for inner in _TAGGED.findall(text)]
        return [call for call in found if call is not None] if None not in found else []
    if _INPUT in text:
        return _named_call(text)
    if _ACTION in text:
        call = _json_call(text.rsplit(_ACTION, 1)[1])
        return [] if call is None else [call]
    return None


def _named_call(text: str) -> list[dict[str, Json]]:
    """Return the one action that a text names with its input; nothing if it names several, or none."""
    before, _, after = text.partition(_INPUT)
    line = before.rstrip().rpartition("\n")[2]
    if _ACTION not in line or _INPUT in after:
        return []
    name = line.rpartition(_ACTION)[2].strip("`'\"[]* \t")
    return [{"name": name, "arguments": _unfenced(after.partition("\nObservation")[0])}]


def _unfenced(text: str) -> str:
    text = text.strip()
    if not text.startswith(_FENCE):
        return text
    return text.removeprefix(_FENCE).removeprefix("json").removesuffix(_FENCE).strip()


def _json_call(text: str) -> dict[str, Json] | None:
    """Return the call that a JSON object (or Python's text for one) is; None if it is none."""
    text = _unfenced(text)
    try:
        value = sound(json.loads(text))
    except (ValueError, RecursionError):
        value = python_literal(text)
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("action"), str) and "name" not in value:
        value = {"name": value["action"], "arguments": value.get("action_input")}
    return value if isinstance(value.get("name"), str) else None


def spoken_by(calls: list[dict[str, Json]]) -> str | None:
    """Return what calls say to the user, if they are the one action that stands for talking; None if not."""
    if len(calls) != 1 or calls[0]["name"] not in TALK:
        return None
    said = calls[0].get("arguments")
    said = said.get("content") if isinstance(said, Mapping) else said
    return said if isinstance(said, str) else ""


def spoken_instead(text: str) -> str:
    """Return what an agent said whose action cannot be read: it was sent to the user as it stands."""
    return text.rsplit(_ACTION, 1)[-1].strip()


def answers_in(text: str) -> list[str] | None:
    """Return the answers of tools that a message to the agent holds; None if it holds none."""
    tagged = _TAGGED_ANSWER.findall(text) if "<tool_response>" in text else []
    if tagged:
        return [answer.strip() for answer in tagged]
    prefix = _ANSWER.match(text) if ":" in text[:40] else None
    return [text[prefix.end() :]] if prefix is not None else None
