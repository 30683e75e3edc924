"""How one tool call is written, and what a tool's answer says of it, in the shapes that are in use.

    flat        {"id", "name", "arguments"}                    tau2, AgentDojo; arguments as an object or as JSON text
    OpenAI      {"id", "function": {"name", "arguments"}}      chat; its Responses items are flat, with `call_id`
    Inspect     {"id", "function": "name", "arguments"}
    Anthropic   {"type": "tool_use", "id", "name", "input"}
    LangChain   {"name", "args", "id"}
    Gemini      {"functionCall": {"name", "args"}}
    others      toolName, function_name, parameters, kwargs, toolCallId, ...

A call is read even if something is wrong with it; its *flaw* says what, and what a flaw means for the run is decided
where the call's answer is known (`transcript.py`). The rule: what the agent's output causes is judged, what the file or
our own reading of it causes leaves the run unscored.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Final, Literal, TypeAlias

from multigold.model.task import Requestor, ToolCall
from multigold.state.canonical import MAX_DEPTH, Json
from multigold.state.json_values import is_too_deep, sound

Flaw: TypeAlias = Literal["", "shape", "bounds", "python", "caller"]
"""What is wrong with a call.

Empty: nothing. `shape`: no name, or arguments that are not an object. `bounds`: its arguments are an object that no
state can hold (nested too deeply, a number that is not finite). `python`: its arguments are Python text, not JSON.
`caller`: a message of the user holds it under the assistant's name.
"""

MAX_LITERAL: Final = 200_000
"""Python text above this many characters is not read."""

_NAMES: Final = ("name", "function_name", "tool_name", "toolName")
_ARGUMENTS: Final = ("arguments", "args", "input", "parameters", "kwargs", "tool_input", "toolInput")
_IDS: Final = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "id", "action_id")
_BESIDE: Final = frozenset(
    {"function", "info", "metadata", "provider_specific_fields", "extra_content", "cache_control"}
)
"""Members of a call that are objects and not its arguments."""

_SOUND: Final[Flaw] = ""
_FLAT: Final = frozenset({str, int, bool, NoneType})


# One call


def parse_call(
    call: Mapping[str, Json], caller: Requestor = "assistant", *, decoded: bool = True
) -> tuple[ToolCall, Flaw]:
    """Read one tool call.

    Args:
        call: The call, or a gold's action.
        caller: Whose message holds it.
        decoded: Whether it comes from a strict JSON decoder, so that all of its numbers are finite.

    Returns:
        The call, with an empty name if it has none and with None for arguments that cannot be read, and its flaw.
    """
    name, arguments = call.get("name"), call.get("arguments")
    if type(arguments) is dict and type(name) is str and len(call) == 4 and "id" in call and "requestor" in call:
        # As tau2 writes it, and so as most calls that are read.
        fit, stated, given = _fit(arguments, decoded), call["requestor"], call["id"]
        requestor, flaw = (caller, _SOUND) if stated == caller else _requestor(stated, caller)
        named = given if type(given) is str else id_of(given)
        return ToolCall(name, arguments if fit else None, requestor=requestor, id=named), flaw if fit else "bounds"
    return _parse_any(call, caller, decoded)


def _parse_any(call: Mapping[str, Json], caller: Requestor, decoded: bool) -> tuple[ToolCall, Flaw]:
    inner = call.get("function")
    body = inner if isinstance(inner, dict) else call
    name = body.get("name")
    if not isinstance(name, str):
        name = inner if isinstance(inner, str) else _first_text(body, _NAMES)
    arguments = body.get("arguments")
    flaw: Flaw = ""
    if arguments is None:
        arguments = next(_stated_arguments(body, call), None)
        flaw = "shape" if arguments is None and _holds_other_object(body, call) else ""
    parsed, found = parse_arguments(arguments, decoded=decoded)
    requestor, called = _requestor(call.get("requestor"), caller)
    flaw = flaw or ("shape" if name is None else found) or called
    return ToolCall(name or "", parsed, requestor=requestor, id=call_id(call)), flaw


def _first_text(body: Mapping[str, Json], names: tuple[str, ...]) -> str | None:
    return next((body[name] for name in names if isinstance(body.get(name), str)), None)


def _stated_arguments(*sources: Mapping[str, Json]) -> Iterator[Json]:
    return (source[name] for source in sources for name in _ARGUMENTS if source.get(name) is not None)


def _holds_other_object(*sources: Mapping[str, Json]) -> bool:
    """Tell whether a call without arguments holds an object under a name that is not known: its arguments, perhaps."""
    members = (item for source in sources for item in source.items())
    return any(isinstance(value, dict) and value and name not in _BESIDE for name, value in members)


def _requestor(stated: Json, caller: Requestor) -> tuple[Requestor, Flaw]:
    """Return who called. A call of the user inside an assistant's message says so; the reverse is not the agent's."""
    if stated == "user" or caller == "user":
        return "user", "caller" if stated == "assistant" else ""
    return "assistant", ""


def call_id(members: Mapping[str, Json]) -> str:
    """Return the id that a call, or an answer to one, states; empty if it states none."""
    for name in _IDS:
        value = members.get(name)
        if value is not None and value != "":
            return id_of(value)
    return ""


def id_of(value: Json) -> str:
    """Return an id as text: some files number their calls. Empty for anything but text and whole numbers."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18 else ""


# Arguments


def parse_arguments(arguments: Json, *, decoded: bool = True) -> tuple[dict[str, Json] | None, Flaw]:
    """Return arguments, given as an object, as text or not at all, and their flaw; None for anything else."""
    if isinstance(arguments, dict):
        return (arguments, "") if _fit(arguments, decoded) else (None, "bounds")
    if arguments is None or arguments == "":
        return {}, ""
    if not isinstance(arguments, str):
        return None, "shape"
    return _from_text(arguments)


def _fit(arguments: dict[str, Json], decoded: bool) -> bool:
    """Tell whether a state could hold all of an object's values, as far as that can be told without looking at it."""
    if _FLAT.issuperset(map(type, arguments.values())):
        return True  # as nearly all are
    return not is_too_deep(arguments) and (decoded or _is_finite(arguments))


def _is_finite(value: Json) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(map(_is_finite, inner))


def _from_text(text: str) -> tuple[dict[str, Json] | None, Flaw]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = python_literal(text)
        return (value, "python") if value is not None else (None, "shape")
    except (ValueError, RecursionError):  # more digits than Python reads, or too deep
        return None, "bounds"
    if not isinstance(value, dict):
        return None, "shape"
    try:
        return sound(value), ""
    except ValueError:
        return None, "bounds"


_TOKEN: Final = re.compile(
    r"""\s|[{}\[\](),:]|True\b|False\b|None\b|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\b"""
    r"""|'(?:[^'\\\n]|\\[\\'"abfnrtvxuU])*'|"(?:[^"\\\n]|\\[\\'"abfnrtvxuU])*\""""
)
"""What Python writes for JSON values, and nothing else: no names, no operators, no calls."""


def python_literal(text: str) -> dict[str, Json] | None:
    """Read the text that Python writes for an object (`{'a': True}`); None if it is anything else.

    Only literals are read, of a bounded size and depth, and every token is known before Python's parser sees one.
    """
    text = text.strip()
    if not text.startswith("{") or len(text) > MAX_LITERAL or not _is_literal(text):
        return None
    try:
        value = _as_json(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_literal(text: str) -> bool:
    """Tell whether text consists of the tokens of Python's literals, nested no deeper than states may be."""
    place = depth = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            return False
        depth += (found[0] in "{[(") - (found[0] in "}])")
        if depth > MAX_DEPTH:
            return False
        place = found.end()
    return True


def _as_json(value: object) -> Json:
    """Return a Python literal as JSON.

    Raises:
        ValueError: If it is none: a set, a key that is no text, a number that is not finite.
    """
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a key is no text")
        return {sound(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return sound(value)
    raise ValueError("no JSON")


# Answers


def error_flag(value: Json) -> bool | None:
    """Return what a field of an answer says of an error, whatever its type; None if it says nothing.

    `true`, 1, "true", a message and an object are an error; `false`, 0 and "false" are none.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value != 0
    if isinstance(value, str):
        word = value.strip().lower()
        return None if word in _SILENT else word not in _NOT_ERRORS
    return bool(value) or None


_SILENT: Final = frozenset({"", "null", "none", "n/a"})
_NOT_ERRORS: Final = frozenset({"false", "0", "no", "ok", "success"})

_REFUSAL: Final = re.compile(
    r"""\s*(?:Error|(?:[A-Za-z_][\w.]*)?(?:Error|Exception)\b|(?i:error|exception)\s*:|Traceback \(most recent call"""
    r"""|Unknown (?:action|tool|function)\b|\{\s*["']error["']\s*:(?!\s*(?:null\b|None\b|false\b|False\b|""|'')))"""
)


def is_refusal(text: str) -> bool:
    """Tell whether a tool's answer is a refusal by its text, if no field says so."""
    return _REFUSAL.match(text) is not None


_UNREADABLE: Final = re.compile(
    r"\b(?:(?:in)?valid|malformed|pars(?:e|ed|ing)|decod(?:e|ed|ing)|json|arguments?|format|syntax|schema|expect(?:s|ed)"
    r"|required|missing|could not|cannot|unable|fail(?:s|ed)?)\b",
    re.IGNORECASE,
)


def refuses_unreadable(text: str) -> bool:
    """Tell whether an answer to a call whose arguments cannot be read says that they could not be read."""
    return _UNREADABLE.search(text[:400]) is not None
