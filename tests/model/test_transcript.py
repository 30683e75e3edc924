"""One parser: whatever road messages come by, and in whatever shape, the calls and what came of them are the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript_shapes import SHAPES, TEXT_SHAPES, Made, Messages, Turn, text_of_tags

from multigold.errors import ResultsError
from multigold.model.trajectory import Trajectory
from multigold.readers import read_results

ALL_SHAPES = {**SHAPES, **TEXT_SHAPES}


# The roads


def by_library(messages: Messages) -> Trajectory:
    return Trajectory.from_messages(messages)


def only_run(document: Any) -> Trajectory:
    (run,) = read_results(json.dumps(document).encode(), "r.json").runs
    return run.trajectory


def by_simulation(messages: Messages) -> Trajectory:
    return only_run({"info": {}, "tasks": [], "simulations": [{"id": "s", "task_id": "1", "messages": messages}]})


def by_v1(messages: Messages) -> Trajectory:
    return only_run([{"task_id": 1, "reward": 0.0, "trial": 0, "info": {}, "traj": messages}])


def by_chat_file(messages: Messages) -> Trajectory:
    return only_run({"messages": messages})


ROADS = {"library": by_library, "simulation": by_simulation, "v1": by_v1, "chat": by_chat_file}


def calls_of(run: Trajectory) -> list[list[Any]]:
    return [
        [c.call.name, c.call.arguments, c.call.requestor, c.result, "never ran" if c.never_ran else c.refused]
        for c in run.calls or ()
    ]


# A table of shapes that are met: messages, and the calls that they hold


def asked(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def flat(call_id: str | None, number: int, **more: Any) -> dict[str, Any]:
    return {"id": call_id, "name": "look", "arguments": {"n": number}, **more}


def told(call_id: str | None, text: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "id": call_id, "content": text, **more}


def found(number: int, result: str | None, outcome: Any = False, requestor: str = "assistant") -> list[Any]:
    return ["look", {"n": number}, requestor, result, outcome]


def said(text: str, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": text}


TABLE: dict[str, tuple[Messages, list[list[Any]]]] = {
    "an id that a later call uses again": (
        [asked(flat("a", 1)), told("a", "one"), asked(flat("a", 2)), told("a", "two")],
        [found(1, "one"), found(2, "two")],
    ),
    "an error that only the text tells": (
        [asked(flat("a", 1)), told("a", "Error: no such record")],
        [found(1, "Error: no such record", True)],
    ),
    "an exception that only the text tells": (
        [asked(flat("a", 1)), told("a", "Exception: it is gone"), asked(flat("b", 2)), told("b", "KeyError: 'x'")],
        [found(1, "Exception: it is gone", True), found(2, "KeyError: 'x'", True)],
    ),
    "an error as an object in the text": (
        [
            asked(flat("a", 1)),
            told("a", '{"error": "gone"}'),
            asked(flat("b", 2)),
            told("b", '{"error": null, "n": 1}'),
        ],
        [found(1, '{"error": "gone"}', True), found(2, '{"error": null, "n": 1}')],
    ),
    "a text that says error where the field says none": (
        [asked(flat("a", 1)), told("a", "Error codes: none", error=False)],
        [found(1, "Error codes: none")],
    ),
    "error fields of other types": (
        [
            asked(*(flat(str(n), n) for n in range(8))),
            *(
                told(str(n), "x", error=error)
                for n, error in enumerate(["true", 1, {"message": "no"}, "it broke", "false", 0, "", None])
            ),
        ],
        [*(found(n, "x", True) for n in range(4)), *(found(n, "x") for n in range(4, 8))],
    ),
    "a call of the user in the user's message": (
        [{"role": "user", "content": None, "tool_calls": [flat("u", 1, requestor="user")]}, told("u", "on")],
        [found(1, "on", requestor="user")],
    ),
    "a call of the user inside an assistant's message": (
        [asked(flat("u", 1, requestor="user")), told("u", "on", error=False)],
        [found(1, "on", requestor="user")],
    ),
    "function_call, answered by a function without an id": (
        [
            {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"n": 1}'}},
            {"role": "function", "name": "look", "content": "one"},
        ],
        [found(1, "one")],
    ),
    "tool_calls that is one object": (
        [{"role": "assistant", "content": None, "tool_calls": flat("a", 1)}, told("a", "one")],
        [found(1, "one")],
    ),
    "tool_calls as JSON text": (
        [{"role": "assistant", "content": None, "tool_calls": json.dumps([flat("a", 1)])}, told("a", "one")],
        [found(1, "one")],
    ),
    "calls without ids": (
        [asked(flat("", 1), flat(None, 2)), told("", "one"), told(None, "two")],
        [found(1, "one"), found(2, "two")],
    ),
    "ids on one side": (
        [
            asked(flat("a", 1), flat("b", 2)),
            told(None, "one"),
            told(None, "two"),
            asked(flat("", 3)),
            told("z", "three"),
        ],
        [found(1, "one"), found(2, "two"), found(3, "three")],
    ),
    "ids that are numbers": (
        [asked(flat(7, 1), flat(8, 2)), told("8", "two"), told(7, "one")],  # type: ignore[arg-type]
        [found(1, "one"), found(2, "two")],
    ),
    "results out of order": (
        [asked(flat("a", 1), flat("b", 2)), told("b", "two"), told("a", "one")],
        [found(1, "one"), found(2, "two")],
    ),
    "one id for two calls of a message": (
        [asked(flat("a", 1), flat("a", 2)), told("a", "one"), told("a", "two")],
        [found(1, "one"), found(2, "two")],
    ),
    "several results in one message": (
        [
            asked(flat("a", 1), flat("b", 2)),
            {"role": "tool", "tool_messages": [told("b", "two", error=True), told("a", "one", error=False)]},
        ],
        [found(1, "one"), found(2, "two", True)],
    ),
    "content in parts": (
        [
            asked(flat("a", 1), content=[{"type": "text", "text": "I look."}]),
            told("a", "", content=[{"type": "text", "text": "o"}, {"type": "text", "text": "ne"}]),
        ],
        [found(1, "one")],
    ),
    "a result that is an object": (
        [asked(flat("a", 1)), told("a", "", content={"n": 2})],
        [found(1, '{"n": 2}')],
    ),
    "a result without content": ([asked(flat("a", 1)), told("a", "", content=None)], [found(1, "")]),
    "a result that is there twice": (
        [asked(flat("a", 1)), told("a", "one"), told("a", "one"), said("Done.")],
        [found(1, "one")],
    ),
    "a call without arguments": (
        [
            asked({"id": "a", "name": "look"}, {"id": "b", "name": "look", "arguments": ""}),
            told("a", "x"),
            told("b", "y"),
        ],
        [["look", {}, "assistant", "x", False], ["look", {}, "assistant", "y", False]],
    ),
    "arguments as text": (
        [asked(flat("a", 1, arguments='{"n": 1}')), told("a", "one")],
        [found(1, "one")],
    ),
    "arguments as Python text": (
        [asked({"id": "a", "name": "look", "arguments": "{'n': 1, 'on': True, 'x': None}"}), told("a", "one")],
        [["look", {"n": 1, "on": True, "x": None}, "assistant", "one", False]],
    ),
    "Python text that whoever ran the agent refused": (
        [asked(flat("a", 1, arguments="{'n': 1}")), told("a", "Error: no JSON", error=True), said("Sorry.")],
        [found(1, "Error: no JSON", "never ran")],
    ),
    "broken arguments that were refused": (
        [asked(flat("a", 1, arguments='{"n": ')), told("a", "could not parse the arguments"), said("Sorry.")],
        [["look", None, "assistant", "could not parse the arguments", True]],
    ),
    "arguments that are no object and were refused": (
        [
            asked(flat("a", 1, arguments="[1]"), flat("b", 2, arguments=[1])),
            told("a", "Error: a"),
            told("b", "Error: b"),
        ],
        [["look", None, "assistant", "Error: a", True], ["look", None, "assistant", "Error: b", True]],
    ),
    "an empty name that was refused": (
        [asked(flat("a", 1, name="")), told("a", "Tool '' not found.", error=True)],
        [["", {"n": 1}, "assistant", "Tool '' not found.", True]],
    ),
    "a last call that nothing answered": (
        [asked(flat("a", 1)), told("a", "one"), asked(flat("b", 2), content="I look once more.")],
        [found(1, "one"), found(2, None, "never ran")],
    ),
    "one of the last calls that nothing answered": (
        [asked(flat("a", 1), flat("b", 2)), told("b", "two")],
        [found(1, None, "never ran"), found(2, "two")],
    ),
    "calls in messages of the system and of a tool": (
        [
            {"role": "system", "content": "Policy.", "tool_calls": [flat("s", 1)]},
            asked(flat("a", 2)),
            told("a", "two", tool_calls=[flat("t", 3)]),
            said("Done."),
        ],
        [found(2, "two")],
    ),
    "a call that the agent only writes of": (
        [said('Action:\n{"name": "look", "arguments": {}}'), said("Hm?", "user")],
        [],
    ),
    "a call that an agent writes of which answers the user by an action": (
        [
            said('Action:\n{"name": "respond", "arguments": {"content": "Hello."}}'),
            *(said("Hi.", "user"), said('Action:\n{"name": "look", "arguments": {}}'), said("Hm?", "user")),
        ],
        [],
    ),
    "no calls": ([said("Hello."), said("Bye.", "user")], []),
    "a call that holds its own result": (
        [asked({"id": "a", "function": {"name": "look", "arguments": '{"n": 1}', "output": "one"}}), said("Done.")],
        [found(1, "one")],
    ),
    "one tool, called by a Responses item with its result": (
        [
            {"type": "mcp_call", "id": "m", "name": "look", "arguments": '{"n": 1}', "output": "one", "error": None},
            {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "x"}},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
        ],
        [found(1, "one")],
    ),
    "calls that LangChain could not parse": (
        [
            {
                "type": "ai",
                "content": "",
                "tool_calls": [{"name": "look", "args": {"n": 1}, "id": "a"}],
                "invalid_tool_calls": [{"name": "look", "args": '{"n": ', "id": "b", "error": "no JSON"}],
            },
            {"type": "tool", "tool_call_id": "a", "content": "one", "status": "success"},
            {"type": "tool", "tool_call_id": "b", "content": "no", "status": "error"},
        ],
        [found(1, "one"), ["look", None, "assistant", "no", True]],
    ),
    "calls beside the same calls as parts": (
        [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {"n": 1}}],
                "tool_calls": [{"name": "look", "args": {"n": 1}, "id": "a"}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "one"},
        ],
        [found(1, "one")],
    ),
    "messages whose type says that they hold calls": (
        [
            {"role": "assistant", "type": "tool_call", "content": None, "tool_calls": [flat("a", 1)]},
            {"role": "tool", "tool_call_id": "a", "type": "tool_result", "content": "one"},
            {"type": "function_call", "function_call": {"name": "look", "arguments": '{"n": 2}'}},
            {"type": "function_call_output", "output": "two"},
        ],
        [found(1, "one"), found(2, "two")],
    ),
    "responses in an object, as Gemini wraps them": (
        [
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"n": n}}} for n in (1, 2, 3)]},
            {
                "role": "function",
                "parts": [
                    {"functionResponse": {"name": "look", "response": response}}
                    for response in ({"result": "one"}, {"error": "gone"}, {"n": 3})
                ],
            },
        ],
        [found(1, "one"), found(2, '{"error": "gone"}', True), found(3, '{"n": 3}')],
    ),
    "names of other makers": (
        [
            {"role": "CHATBOT", "tool_calls": [{"tool_call_id": "a", "function_name": "look", "parameters": {"n": 1}}]},
            {"role": "TOOL", "tool_call_id": "a", "content": "one"},
        ],
        [found(1, "one")],
    ),
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", TABLE)
def test_a_shape_holds_the_same_calls_on_every_road(name: str, road: str) -> None:
    messages, calls = TABLE[name]
    run = ROADS[road](messages)
    assert calls_of(run) == calls
    assert run.problem is None


# What is not understood, and why that is no run of an agent that did nothing

LOST = "calls_not_understood"
UNANSWERED = "calls_unanswered"
PROBLEMS: dict[str, tuple[Messages, str]] = {
    "tool_calls that is a number": ([{"role": "assistant", "tool_calls": 5}], LOST),
    "tool_calls that is a text": ([{"role": "assistant", "tool_calls": "look"}], LOST),
    "a call that is a number": ([asked(5)], LOST),  # type: ignore[arg-type]
    "a part of an unknown type with a name and arguments": (
        [{"role": "assistant", "content": [{"type": "acted", "name": "look", "input": {"n": 1}}]}, said("Done.")],
        LOST,
    ),
    "an item of an unknown type with a name and arguments": (
        [said("Hello."), {"type": "look_up_call", "name": "look", "arguments": "{}"}, said("Done.")],
        LOST,
    ),
    "a result that belongs to no call": ([told("ghost", "one"), said("Done.")], LOST),
    "a result of another id": ([asked(flat("a", 1)), told("a", "one"), told("b", "two")], LOST),
    "a result that says now this, now that": (
        [asked(flat("a", 1)), told("a", "one", error=False), told("a", "no", error=True)],
        LOST,
    ),
    "a call without a name that was carried out": ([asked({"id": "a", "arguments": {"n": 1}}), told("a", "one")], LOST),
    "arguments that cannot be read and were carried out": (
        [asked(flat("a", 1, arguments='{"n": ')), told("a", "1")],
        LOST,
    ),
    "arguments that are a list and were carried out": ([asked(flat("a", 1, arguments=[1])), told("a", "1")], LOST),
    "arguments under an unknown name": (
        [asked({"id": "a", "name": "look", "details": {"n": 1}}), told("a", "one")],
        LOST,
    ),
    "a call of the user under the assistant's name": (
        [{"role": "user", "content": None, "tool_calls": [flat("a", 1, requestor="assistant")]}, told("a", "one")],
        LOST,
    ),
    "a call in a message of nobody": ([{"role": "narrator", "tool_calls": [flat("a", 1)]}, told("a", "one")], LOST),
    "results of calls in a system message": (
        [{"role": "system", "content": "x", "tool_calls": [flat("a", 1)]}, told("a", "one")],
        LOST,
    ),
    "calls under an unknown name": (
        [{"role": "assistant", "content": "", "toolRequests": [{"tool": "look", "with": {"n": 1}}]}, said("Done.")],
        LOST,
    ),
    "a call that is a message": ([said("Hello."), {"role": "tool_call", "content": "look"}, said("Done.")], LOST),
    "a name and arguments deep in a message": (
        [
            {
                "role": "assistant",
                "content": "Done.",
                "metadata": {"steps": [{"action": "look", "action_input": {"n": 1}}]},
            }
        ],
        LOST,
    ),
    "an answer in the text to a call of an unknown kind": (
        [said("look(n=1)"), said("API output: one", "user"), said("Done.")],
        LOST,
    ),
    "an action that cannot be read, and its answer": (
        [said('Action:\n{"name": "look", '), said("API output: one", "user"), said("Done.")],
        LOST,
    ),
    "an input that is no object, and its answer": (
        [said("Action: look\nAction Input: the first one"), said("Observation: one", "user"), said("Done.")],
        LOST,
    ),
    "two actions in one text, and one answer": (
        [said("Action: look\nAction Input: {}\nAction: look\nAction Input: {}"), said("Observation: one", "user")],
        LOST,
    ),
    "a call that was passed over": (
        [asked(flat("a", 1)), asked(flat("b", 2)), told("b", "two"), said("Done.")],
        UNANSWERED,
    ),
    "one of two calls that was passed over": (
        [asked(flat("a", 1), flat("b", 2)), told("b", "two"), said("Done.")],
        UNANSWERED,
    ),
    "talk after a call that was passed over": (
        [asked(flat("a", 1)), told("a", "one"), asked(flat("b", 2)), said("Thanks.", "user")],
        UNANSWERED,
    ),
    "calls without a single answer": ([asked(flat("a", 1)), asked(flat("b", 2)), said("Done.")], UNANSWERED),
    "one call and no answer": ([said("Look.", "user"), asked(flat("a", 1))], UNANSWERED),
    "a text call that was passed over": (
        [
            *(said('Action:\n{"name": "look", "arguments": {}}'), said("API output: one", "user")),
            *(said('Action:\n{"name": "look", "arguments": {}}'), said("Go on.", "user")),
        ],
        UNANSWERED,
    ),
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_not_understood_has_a_reason_on_every_road(name: str, road: str) -> None:
    messages, code = PROBLEMS[name]
    run = ROADS[road](messages)
    assert run.problem is not None
    assert run.problem.code == code
    assert "\n" not in run.problem.sentence


def test_the_reason_names_the_message() -> None:
    messages, _ = PROBLEMS["talk after a call that was passed over"]
    run = Trajectory.from_messages(messages)
    assert run.problem is not None
    assert run.problem.sentence == "messages[2]: the call of 'look' has no answer, and the transcript goes on"


@pytest.mark.parametrize(
    "arguments", ["[[" * 200 + "]]" * 200, '{"n": NaN}', '{"n": 1e999}', '{"n": ' + "9" * 5000 + "}"]
)
def test_arguments_that_no_state_can_hold_are_the_agents_own(arguments: str) -> None:
    text = arguments if arguments.startswith("{") else f'{{"n": {arguments}}}'
    (call,) = Trajectory.from_messages([asked(flat("a", 1, arguments=text)), told("a", "ok")]).calls or ()
    assert (call.call.arguments, call.out_of_bounds) == (None, True)
    (call,) = Trajectory.from_messages([asked(flat("a", 1, arguments=text)), told("a", "Error: no")]).calls or ()
    assert (call.call.arguments, call.out_of_bounds, call.refused) == (None, False, True)


@pytest.mark.parametrize(
    "text",
    [
        *("{1: 2}", "{'a': {1, 2}}", "{'a': b'x'}", "{'a': 1j}", "{'a': x}", "{'a': f('x')}", "{'a': 1 + 1}", "{'a'"),
        *("{'a': '\\d'}", "{'a': 1or 2}", "{'a': " + "-" * 9999 + "1}", "{'a': " + "(" * 9999, "{'a': 1e999}", "{}{}"),
        *("{**{}}", "{'a': [x for x in ()]}", "{'a': f'x'}", "{'a': r'x'}", "[1]", "{'a': '" + "x" * 200_000 + "'}"),
    ],
)
def test_of_python_text_literals_are_read_and_nothing_else(text: str, recwarn: pytest.WarningsRecorder) -> None:
    run = Trajectory.from_messages([asked(flat("a", 1, arguments=text)), told("a", "ok")])
    assert run.calls is not None
    assert run.calls[0].call.arguments is None
    assert run.problem is not None
    assert not recwarn.list


LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), LITERALS, max_size=3))
def test_arguments_are_read_from_the_text_that_python_writes_for_them(arguments: dict[str, Any]) -> None:
    run = Trajectory.from_messages([asked(flat("a", 1, arguments=repr(arguments))), told("a", "ok")])
    assert run.calls is not None
    assert run.calls[0].call.arguments == arguments


# Every shape says the same

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    str.strip
)
ARGUMENTS = st.dictionaries(st.sampled_from(["id", "n", "items"]), LITERALS, max_size=3)
TALKS = st.tuples(st.sampled_from(["assistant", "user"]), WORDS.map(lambda text: f"I say {text}"))


@st.composite
def transcripts(draw: st.DrawFn, *, most: int = 3) -> list[Turn]:
    """Turns of talk and calls, whose ids may come again; a refusal's text says so, as some shapes have no field."""
    turns: list[Turn] = []
    for number in range(draw(st.integers(1, 4))):
        turns.append(draw(TALKS))
        ids = draw(st.lists(st.sampled_from(["a", "b", "c", f"id{number}"]), min_size=1, max_size=most, unique=True))
        calls = []
        for call_id in ids:
            refused, text = draw(st.booleans()), draw(WORDS)
            result = f"Error: {text}" if refused else f"got {text}"
            calls.append(Made(call_id, draw(st.sampled_from(["look", "book"])), draw(ARGUMENTS), result, refused))
        turns.append(("calls", calls))
    return [*turns, draw(TALKS)]


def expected(turns: list[Turn]) -> list[list[Any]]:
    made = [call for kind, value in turns if kind == "calls" for call in value]
    return [[c.name, c.arguments, "assistant", c.result, c.refused] for c in made]


def spoken(run: Trajectory) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in run.messages if m.role in ("assistant", "user") and m.text]


MORE = settings(max_examples=3 * settings.default.max_examples)  # as there are many shapes


@MORE
@given(st.sampled_from(sorted(SHAPES)), transcripts())
def test_every_shape_gives_back_the_calls_and_the_talk(shape: str, turns: list[Turn]) -> None:
    run = Trajectory.from_messages(SHAPES[shape](turns))
    calls = calls_of(run)
    if shape == "openai_python_text":  # where a refusal may be one of the text itself, so that nothing ran
        calls = [call if call[4] != "never ran" else [*call[:4], True] for call in calls]
    assert calls == expected(turns)
    assert spoken(run) == [turn for turn in turns if turn[0] != "calls"]
    assert run.problem is None


@given(st.sampled_from(sorted(TEXT_SHAPES)), st.data())
def test_calls_in_text_are_read_where_answers_come_back(shape: str, data: st.DataObject) -> None:
    turns = data.draw(transcripts(most=3 if TEXT_SHAPES[shape] is text_of_tags else 1))
    run = Trajectory.from_messages(TEXT_SHAPES[shape](turns))
    assert [[*call[:3], call[3].strip(), call[4]] for call in calls_of(run)] == [
        [*call[:3], call[3].strip(), call[4]] for call in expected(turns)
    ]
    assert spoken(run) == [turn for turn in turns if turn[0] != "calls"]
    assert run.problem is None


@MORE
@given(st.sampled_from(sorted(ALL_SHAPES)), transcripts(most=1))
def test_the_roads_agree_on_every_shape(shape: str, turns: list[Turn]) -> None:
    messages = ALL_SHAPES[shape](turns)
    runs = [road(messages) for road in ROADS.values()]
    assert all((run.calls, run.messages, run.problem) == (runs[0].calls, runs[0].messages, None) for run in runs)


# Messages of any kind

NAMES = st.sampled_from(
    [
        *("role", "type", "content", "tool_calls", "function_call", "id", "tool_call_id", "call_id", "error", "name"),
        *("arguments", "input", "args", "output", "result", "parts", "tool_messages", "additional_kwargs", "kwargs"),
        *("invalid_tool_calls", "data", "status", "is_error", "requestor", "function", "functionCall", "toolUseId"),
        *("functionResponse", "toolResult", "text", "thought", "toolCallId", "state", "lc", "tool_use_id", "action"),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(
        [
            *(
                "assistant",
                "user",
                "tool",
                "system",
                "ai",
                "model",
                "a",
                "b",
                "look",
                "text",
                "error",
                "{}",
                "{'a': 1}",
            ),
            *(
                "tool_use",
                "tool_result",
                "function_call",
                "function_call_output",
                "tool-call",
                "tool-look",
                "constructor",
            ),
            *(
                "Action:\n{",
                'Action: {"name": "look"}',
                "API output: x",
                "Action: a\nAction Input: b",
                "Observation: x",
            ),
            *("<tool_call>", '<tool_call>{"name": "x"}</tool_call>', "<tool_response>", "\ud800", "Error: x"),
        ]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)
ODD_MESSAGES = st.lists(st.dictionaries(NAMES, VALUES, max_size=6) | VALUES, max_size=6)


@given(ODD_MESSAGES)
def test_messages_of_any_kind_raise_nothing_but_results_errors(messages: Any) -> None:
    try:
        run = Trajectory.from_messages(messages)
    except ResultsError as error:
        assert str(error).startswith("messages[")  # noqa: PT017  (any other error must come through)
        return
    assert run.problem is None or run.problem.sentence
    for recorded in run.calls or ():
        assert isinstance(recorded.call.name, str)
        assert recorded.call.arguments is None or isinstance(recorded.call.arguments, dict)
        assert not (recorded.never_ran and recorded.out_of_bounds)


@given(ODD_MESSAGES)
def test_messages_of_any_kind_are_the_same_on_both_roads(messages: Any) -> None:
    messages = json.loads(json.dumps(messages).replace("NaN", "0").replace("Infinity", "0"))
    try:
        by_call = Trajectory.from_messages(messages)
    except ResultsError:
        return
    by_file = by_simulation(messages)
    if by_file.calls is not None and "\\ud" not in json.dumps(messages):
        assert (by_file.calls, by_file.problem) == (by_call.calls, by_call.problem)


@pytest.mark.parametrize(
    "odd", [5, "text", None, [], {"content": "x"}, {"role": 5}, {"role": "user", "content": {1, 2}}]
)
def test_what_is_no_message_is_refused_with_its_place(odd: Any) -> None:
    with pytest.raises(ResultsError, match=r"messages\[1\]"):
        Trajectory.from_messages([said("Hello."), odd])
