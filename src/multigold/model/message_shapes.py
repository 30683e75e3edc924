"""How one message is written: who speaks, and what the parts of its content are, in the shapes that are in use.

OpenAI      role and content; content as text or as parts `{"type": "text", "text"}`
Responses   items: `{"type": "message"}`, `function_call`, `function_call_output`, `reasoning`
Anthropic   content blocks `text`, `tool_use`, `tool_result`
LangChain   type `human` / `ai` / `tool`, also as `{"type", "data"}` and serialised as `{"lc", "id", "kwargs"}`
Gemini      role `model`, parts `{"text"}`, `{"functionCall"}`, `{"functionResponse"}`
Bedrock     blocks `{"toolUse"}`, `{"toolResult"}`
Vercel      parts `tool-call`, `tool-result`, `tool-invocation`, `tool-<name>`
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from multigold.model.call_shapes import error_flag
from multigold.state.canonical import Json
from multigold.state.json_values import is_too_deep

Role: TypeAlias = Literal["assistant", "user", "system", "tool", ""]
PartKind: TypeAlias = Literal["text", "call", "result", "silent", "unknown"]


class RawMessage(msgspec.Struct, gc=False):
    """A message as files write it: the members that some shape uses, undecoded beyond JSON."""

    role: Any = None
    content: Any = None
    tool_calls: Any = None
    function_call: Any = None
    id: Any = None
    tool_call_id: Any = None
    error: Any = None
    tool_messages: Any = None
    type: Any = None
    name: Any = None
    requestor: Any = None
    parts: Any = None
    status: Any = None
    is_error: Any = None
    additional_kwargs: Any = None
    invalid_tool_calls: Any = None
    call_id: Any = None
    tool_use_id: Any = None
    arguments: Any = None
    input: Any = None
    output: Any = None
    data: Any = None
    kwargs: Any = None


FIELDS: Final = RawMessage.__struct_fields__


def raw_message(members: Mapping[str, Json], **given: Json) -> RawMessage:
    """Return a message for an object's members; what is `given` stands in for what they lack."""
    return RawMessage(**{**given, **{name: members[name] for name in FIELDS if members.get(name) is not None}})


# Who speaks

ROLES: Final[Mapping[str, Role]] = {
    **dict.fromkeys(("assistant", "ai", "model", "bot", "chatbot", "agent", "gpt"), "assistant"),
    **dict.fromkeys(("user", "human", "customer"), "user"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "ipython", "toolresult"), "tool"),
}
_WRITTEN_LONG: Final = re.compile(r"[-_ ]|(?:message)?(?:chunk)?$")


def role_of(message: RawMessage) -> Role:
    """Return who speaks, by the message's role or, as LangChain writes it, by its type; empty if neither is known."""
    if type(message.role) is str:
        return ROLES.get(message.role) or named_role(message.role)
    return named_role(message.type) if message.role is None and isinstance(message.type, str) else ""


def named_role(word: str) -> Role:
    """Return the role that a word stands for (`AIMessageChunk`: the assistant); empty if it stands for none."""
    return ROLES.get(_WRITTEN_LONG.sub("", word.lower()), "")


def looks_like_message(members: Mapping[str, Json]) -> bool:
    """Tell whether an object is a message, in a shape that is known."""
    kind = members.get("type")
    if isinstance(members.get("role"), str):
        return any(name in members for name in ("content", "tool_calls", "function_call", "parts", "tool_messages"))
    if isinstance(members.get("kwargs"), dict):
        return "lc" in members
    if not isinstance(kind, str):
        return False
    return kind in CALL_TYPES | RESULT_TYPES or (named_role(kind) != "" and ("content" in members or "data" in members))


# What the parts of a content are

CALL_TYPES: Final = frozenset(
    ("function_call", "tool_call", "tool_use", "tool-call", "toolCall", "custom_tool_call", "mcp_call", "mcp_tool_use")
)
RESULT_TYPES: Final = frozenset(
    (
        *("function_call_output", "function_response", "tool_result", "tool-result", "toolResult", "tool_response"),
        *("custom_tool_call_output", "mcp_tool_result", "tool_call_output"),
    )
)
_TEXT_TYPES: Final = frozenset(("text", "input_text", "output_text", "refusal"))
_SILENT_TYPES: Final = frozenset(
    (
        *("thinking", "redacted_thinking", "reasoning", "reasoning_content", "image", "image_url", "input_image"),
        *("file", "input_file", "input_audio", "audio", "document", "step-start", "server_tool_use"),
        *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "computer_call"),
    )
)
"""What is neither said to the user nor a call of the benchmark's tools: thoughts, media, tools of the model's maker."""

_CALL_KEYS: Final = ("functionCall", "function_call", "toolUse", "tool_use", "toolInvocation", "toolCall", "tool_call")
_RESULT_KEYS: Final = ("functionResponse", "function_response", "toolResult", "tool_result")
_OWN_TYPE: Final = "tool-"
"""Vercel writes a tool's name into the type of a part: `tool-book_flight`."""


def part_of(part: Json) -> tuple[PartKind, Json]:
    """Return what a part of a content is, with its text, or with the call or the result that it holds."""
    if isinstance(part, str):
        return "text", part
    if not isinstance(part, dict):
        return "silent", None
    found = _by_type(part, part["type"]) if isinstance(part.get("type"), str) else None
    return found or _by_member(part) or (("unknown", part) if looks_like_call(part) else _spoken(part))


def _by_type(part: dict[str, Json], kind: str) -> tuple[PartKind, Json] | None:
    if kind in _TEXT_TYPES:
        return _spoken(part)
    if kind in RESULT_TYPES:
        return "result", part
    if kind.startswith(_OWN_TYPE) and "toolCallId" in part and kind not in CALL_TYPES:
        return "call", {**part, "name": kind.removeprefix(_OWN_TYPE)}
    if kind in CALL_TYPES:
        return "call", part
    return ("silent", None) if kind in _SILENT_TYPES else None


def _by_member(part: dict[str, Json]) -> tuple[PartKind, Json] | None:
    call = next((part[name] for name in _CALL_KEYS if isinstance(part.get(name), dict)), None)
    if call is not None:
        return "call", call
    result = next((part[name] for name in _RESULT_KEYS if isinstance(part.get(name), dict)), None)
    return None if result is None else ("result", result)


def _spoken(part: dict[str, Json]) -> tuple[PartKind, Json]:
    text = part.get("text", part.get("refusal"))
    if isinstance(text, str) and part.get("thought") is not True:  # Gemini marks its thoughts so
        return "text", text
    return "silent", None


def text_of(content: Json) -> str:
    """Return a content as text: what its parts say; other JSON than text and text parts becomes its JSON text."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        found = [part_of(part) for part in content if isinstance(part, dict)]
        if len(found) == len(content) and all(kind == "text" for kind, _ in found):
            return "".join(text for _, text in found)
        if len(content) == 1 and isinstance(content[0], dict) and content[0].keys() == {"json"}:  # Bedrock
            content = content[0]["json"]
    return "" if is_too_deep(content) else json.dumps(content)


# What came of a call

_CONTENTS: Final = ("content", "output", "result", "response", "text", "value")
_WRAPPERS: Final = frozenset({"result", "output"})
FAILED: Final = frozenset({"error", "failed", "failure", "output-error"})


def result_of(part: Mapping[str, Json]) -> tuple[Json, bool | None]:
    """Return what a result holds, and whether it says that it is an error; None if it does not say."""
    content = next((part[name] for name in _CONTENTS if part.get(name) is not None), part.get("errorText"))
    failed = error_of(part)
    if isinstance(content, dict) and content.keys() == {
        "type",
        "value",
    }:  # Vercel: {"type": "error-text", "value": ...}
        return content["value"], True if str(content["type"]).startswith("error") else failed
    if isinstance(part.get("response"), dict) and content is part["response"] and content.keys() <= _WRAPPERS:
        content = next(iter(content.values()), None)  # Gemini: what a function returned that is no object by itself
    if content is None and failed:
        content = part.get("error")
    return content, failed


def error_of(members: Mapping[str, Json]) -> bool | None:
    """Return whether a result says, in one of the usual ways, that it is an error; None if it does not say.

    That all is well is only believed of a field that is there to say so: `status: "success"` is what some libraries
    write into every answer, also into one whose text is a refusal.
    """
    for name in ("error", "is_error", "isError"):
        stated = error_flag(members.get(name))
        if stated is not None:
            return stated
    failed = members.get("status") in FAILED if isinstance(members.get("status"), str) else False
    failed = failed or (isinstance(members.get("state"), str) and members["state"] in FAILED)
    return True if failed or members.get("errorText") else None


def own_result(call: Mapping[str, Json]) -> tuple[Json, bool | None] | None:
    """Return the result that a call carries itself, as some shapes write it; None if it carries none."""
    inner = call.get("function")
    for source in (call, inner) if isinstance(inner, dict) else (call,):
        if "output" not in source and "result" not in source and "errorText" not in source:
            continue
        if any(source.get(name) is not None for name in ("output", "result", "errorText")):
            return result_of({name: value for name, value in source.items() if name != "content"})
    return None


# What looks like a call, in whatever shape

_TOOL_NAMES: Final = ("tool", "tool_name", "toolName", "function_name", "functionName", "func_name")
_NAMED: Final = ("name", "function", "action", "method", *_TOOL_NAMES)
_ARGUED: Final = (
    *("arguments", "args", "input", "parameters", "params", "kwargs", "tool_input", "toolInput", "action_input"),
    *("inputs", "tool_args", "toolArgs", "payload"),
)
_CALL_WORD: Final = re.compile(r"(?:tool|function|action)s?(?:call|use|invocation|request|execution)s?")
_CALLS_WORD: Final = re.compile(r"(?:(?<!re)call|invocation)s?\Z")


def looks_like_call(value: Mapping[str, Json]) -> bool:
    """Tell whether an object has a name and arguments under whatever names, and is not the definition of a tool."""
    if not any(isinstance(value.get(name), str) and value[name] for name in _NAMED):
        return False
    given = [value[name] for name in _ARGUED if value.get(name) is not None]
    return bool(given) and not any(map(_is_schema, given)) and "description" not in value


def _is_schema(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("properties"), dict)


def is_call_word(word: Json) -> bool:
    """Tell whether a word is one that shapes use for a call, or for a list of calls: `toolInvocations`."""
    return isinstance(word, str) and _CALL_WORD.fullmatch(_plain_word(word)) is not None


def _plain_word(word: str) -> str:
    return re.sub(r"[-_ ]", "", word[:60].lower())


def _holds_call(name: str, value: Json) -> bool:
    """Tell whether a member of an object is a call by its name, or holds some."""
    if not value:
        return False
    named = name in _TOOL_NAMES and isinstance(value, str)
    held = isinstance(value, dict | list) and _CALLS_WORD.search(_plain_word(name)) is not None
    return named or held or is_call_word(name)


_PASSED_OVER: Final = frozenset(
    ("raw_data", "usage", "usage_metadata", "response_metadata", "tools", "available_tools", "functions", "logprobs")
)
"""Members of a message that repeat it as it went over the wire, or that list the tools."""

_HANDLED: Final = ("tool_calls", "function_call")
"""Members of a message that were read: what was not understood of them has been said."""

_LOOKED_AT: Final = 20_000
"""How many values of a transcript are looked at for a call of an unknown shape."""


def call_in_unknown_shape(messages: Json) -> str:
    """Say where in a transcript without calls something looks like one; empty if nothing does.

    Args:
        messages: The messages as plain JSON.
    """
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        known = isinstance(message, dict)
        for members in _objects({k: v for k, v in message.items() if k not in _HANDLED} if known else message):
            found = "" if "description" in members else next((n for n, v in members.items() if _holds_call(n, v)), "")
            kinds = [members.get(name) for name in ("role", "type", "from")]
            found = found or next((str(kind) for kind in kinds if is_call_word(kind)), "")
            if found or looks_like_call(members):
                return f"messages[{index}] has something like a call in a shape that is not known{_as(found)}"
    return ""


def _as(found: str) -> str:
    return f" ({found[:40]!r})" if found else ""


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    """Yield the objects in a JSON value, without recursion, but for what only repeats the message."""
    waiting, seen = [value], 0
    while waiting and seen < _LOOKED_AT:
        value, seen = waiting.pop(), seen + 1
        if isinstance(value, dict):
            yield value
            inner: Iterable[Json] = (item for name, item in value.items() if name not in _PASSED_OVER)
        else:
            inner = value if isinstance(value, list) else ()
        waiting.extend(item for item in inner if isinstance(item, dict | list))
