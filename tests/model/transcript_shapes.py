"""One abstract transcript, written in every shape that the parser is to know.

A turn is `("assistant", text)`, `("user", text)` or `("calls", [Made, ...])`: what an agent called in one message, each
call with what came of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs

Messages: TypeAlias = list[dict[str, Any]]


@attrs.frozen
class Made:
    """A call that was made, answered or refused."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str
    refused: bool = False


Turn: TypeAlias = tuple[str, Any]


def written(turns: list[Turn], say: Callable[[str, str], Any], made: Callable[[list[Made]], Iterator[Any]]) -> Messages:
    messages: Messages = []
    for kind, value in turns:
        messages.extend(made(value) if kind == "calls" else [say(kind, value)])
    return messages


def chat(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def tau2(turns: list[Turn]) -> Messages:
    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        listed = [{"id": c.id, "name": c.name, "arguments": c.arguments, "requestor": "assistant"} for c in calls]
        yield {"role": "assistant", "content": None, "tool_calls": listed}
        for c in calls:
            yield {"role": "tool", "id": c.id, "content": c.result, "requestor": "assistant", "error": c.refused}

    return written(turns, chat, made)


def tau2_several_results(turns: list[Turn]) -> Messages:
    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        listed = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls]
        yield {"role": "assistant", "content": None, "tool_calls": listed}
        results = [{"role": "tool", "id": c.id, "content": c.result, "error": c.refused} for c in reversed(calls)]
        yield {"role": "tool", "tool_messages": results}

    return written(turns, chat, made)


def openai_chat(turns: list[Turn]) -> Messages:
    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        listed = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
            for c in calls
        ]
        yield {"role": "assistant", "content": None, "tool_calls": listed}
        for c in reversed(calls):
            yield {"role": "tool", "tool_call_id": c.id, "content": [{"type": "text", "text": c.result}]}

    return written(turns, chat, made)


def openai_python_text(turns: list[Turn]) -> Messages:
    messages = openai_chat(turns)
    for message in messages:
        for call in message.get("tool_calls", []):
            call["function"]["arguments"] = repr(json.loads(call["function"]["arguments"]))
    return messages


def openai_responses(turns: list[Turn]) -> Messages:
    def say(role: str, text: str) -> dict[str, Any]:
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        yield {"type": "reasoning", "id": "rs", "summary": []}
        for number, c in enumerate(calls):
            arguments = json.dumps(c.arguments)
            yield {
                "type": "function_call",
                "id": f"fc{number}",
                "call_id": c.id,
                "name": c.name,
                "arguments": arguments,
                "status": "completed",
            }
        for c in reversed(calls):
            yield {"type": "function_call_output", "id": None, "call_id": c.id, "output": c.result}

    return written(turns, say, made)


def anthropic(turns: list[Turn]) -> Messages:
    def say(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": text}]}

    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        thought = {"type": "thinking", "thinking": "...", "signature": "s"}
        uses = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in calls]
        yield {"role": "assistant", "content": [thought, *uses]}
        yield {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": c.id,
                    "content": c.result if number % 2 else [{"type": "text", "text": c.result}],
                    "is_error": c.refused,
                }
                for number, c in enumerate(reversed(calls))
            ],
        }

    return written(turns, say, made)


def langchain(turns: list[Turn]) -> Messages:
    def say(role: str, text: str) -> dict[str, Any]:
        return {"type": {"assistant": "ai", "user": "human"}[role], "content": text}

    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        listed = [{"name": c.name, "args": c.arguments, "id": c.id, "type": "tool_call"} for c in calls]
        aside = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
            for c in calls
        ]
        yield {
            "type": "ai",
            "content": "",
            "additional_kwargs": {"tool_calls": aside},
            "tool_calls": listed,
            "invalid_tool_calls": [],
        }
        for c in reversed(calls):
            status = "error" if c.refused else "success"
            yield {"type": "tool", "id": "own", "tool_call_id": c.id, "content": c.result, "status": status}

    return written(turns, say, made)


def langchain_in_data(turns: list[Turn]) -> Messages:
    return [{"type": message["type"], "data": message} for message in langchain(turns)]


def langchain_serialised(turns: list[Turn]) -> Messages:
    named = {"ai": "AIMessage", "human": "HumanMessage", "tool": "ToolMessage"}
    return [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", named[message["type"]]],
            "kwargs": {name: value for name, value in message.items() if name != "type"},
        }
        for message in langchain(turns)
    ]


def langchain_aside(turns: list[Turn]) -> Messages:
    messages = langchain(turns)
    for message in messages:
        message.pop("tool_calls", None)
    return messages


def inspect_ai(turns: list[Turn]) -> Messages:
    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        listed = [{"id": c.id, "function": c.name, "arguments": c.arguments, "type": "function"} for c in calls]
        yield {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "..."}], "tool_calls": listed}
        for c in calls:
            error = {"type": "unknown", "message": c.result} if c.refused else None
            yield {"role": "tool", "tool_call_id": c.id, "function": c.name, "content": c.result, "error": error}

    return written(turns, chat, made)


def gemini(turns: list[Turn]) -> Messages:
    def say(role: str, text: str) -> dict[str, Any]:
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}

    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        thought = {"text": "...", "thought": True}
        yield {
            "role": "model",
            "parts": [thought, *({"functionCall": {"name": c.name, "args": c.arguments}} for c in calls)],
        }
        yield {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": c.name, "response": c.result, "error": c.refused or None}} for c in calls
            ],
        }

    return written(turns, say, made)


def bedrock(turns: list[Turn]) -> Messages:
    def say(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "content": [{"text": text}]}

    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        uses = [{"toolUse": {"toolUseId": c.id, "name": c.name, "input": c.arguments}} for c in calls]
        yield {"role": "assistant", "content": uses}
        results = [
            {
                "toolResult": {
                    "toolUseId": c.id,
                    "content": [{"text": c.result}],
                    "status": "error" if c.refused else "success",
                }
            }
            for c in reversed(calls)
        ]
        yield {"role": "user", "content": results}

    return written(turns, say, made)


def vercel(turns: list[Turn]) -> Messages:
    def say(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": text}]}

    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        uses = [{"type": "tool-call", "toolCallId": c.id, "toolName": c.name, "input": c.arguments} for c in calls]
        yield {"role": "assistant", "content": [{"type": "reasoning", "text": "..."}, *uses]}
        results = [
            {
                "type": "tool-result",
                "toolCallId": c.id,
                "toolName": c.name,
                "output": {"type": "error-text" if c.refused else "text", "value": c.result},
            }
            for c in reversed(calls)
        ]
        yield {"role": "tool", "content": results}

    return written(turns, say, made)


def vercel_invocations(turns: list[Turn]) -> Messages:
    def say(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "parts": [{"type": "text", "text": text}]}

    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        yield {
            "role": "assistant",
            "parts": [
                {
                    "type": f"tool-{c.name}",
                    "toolCallId": c.id,
                    "state": "output-error" if c.refused else "output-available",
                    "input": c.arguments,
                    **({"errorText": c.result} if c.refused else {"output": c.result}),
                }
                for c in calls
            ],
        }

    return written(turns, say, made)


SHAPES: dict[str, Callable[[list[Turn]], Messages]] = {
    shape.__name__: shape
    for shape in (
        *(tau2, tau2_several_results, openai_chat, openai_python_text, openai_responses, anthropic, langchain),
        *(langchain_in_data, langchain_serialised, langchain_aside, inspect_ai, gemini, bedrock, vercel),
        vercel_invocations,
    )
}

# Shapes that write calls into text: one call to a message, and talk that is plain.


def text_of_v1(turns: list[Turn]) -> Messages:
    def say(role: str, text: str) -> dict[str, Any]:
        if role == "user":
            return chat(role, text)
        return chat(role, f"Thought:\n...\nAction:\n{json.dumps({'name': 'respond', 'arguments': {'content': text}})}")

    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        for c in calls:
            yield chat("assistant", f"Action:\n{json.dumps({'name': c.name, 'arguments': c.arguments})}")
            yield chat("user", f"API output: {c.result}")

    return written(turns, say, made)


def text_of_react(turns: list[Turn]) -> Messages:
    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        for c in calls:
            arguments = json.dumps(c.arguments, indent=1)
            yield chat("assistant", f"Thought: I look.\nAction: {c.name}\nAction Input: {arguments}\n")
            yield chat("user", f"Observation: {c.result}")

    return written(turns, chat, made)


def text_of_tags(turns: list[Turn]) -> Messages:
    def made(calls: list[Made]) -> Iterator[dict[str, Any]]:
        tags = [f"<tool_call>\n{json.dumps({'name': c.name, 'arguments': c.arguments})}\n</tool_call>" for c in calls]
        yield chat("assistant", "I look.\n" + "\n".join(tags))
        yield chat("user", "\n".join(f"<tool_response>\n{c.result}\n</tool_response>" for c in calls))

    return written(turns, chat, made)


TEXT_SHAPES: dict[str, Callable[[list[Turn]], Messages]] = {
    shape.__name__: shape for shape in (text_of_v1, text_of_react, text_of_tags)
}
