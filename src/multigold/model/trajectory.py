"""What one run did, as its file tells it."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

import attrs

from multigold.errors import CallError, ResultsError
from multigold.model.task import Requestor, ToolCall
from multigold.state.canonical import Json
from multigold.state.database import Database, EndState


@attrs.frozen(kw_only=True)
class RecordedCall:
    """A tool call with what the file says came of it.

    Attributes:
        call: The call.
        result: What the tool answered, as recorded text; None if the file has no answer to it.
        refused: Whether the recorded answer is a refusal; None if the file does not tell.
        message: Index of the message that holds the call.
    """

    call: ToolCall
    result: str | None = None
    refused: bool | None = None
    message: int = 0


@attrs.frozen(kw_only=True)
class Message:
    """One message of the talk; tool calls and results stand in `Trajectory.calls`.

    Attributes:
        role: `assistant`, `user`, `system` or `tool`.
        text: What was said; empty if nothing was.
    """

    role: str
    text: str = ""


@attrs.frozen(kw_only=True)
class Recorded:
    """The verdict that the file itself carries.

    Attributes:
        reward: The recorded reward; None if there is none.
        db_match: The recorded database verdict; None if there is none.
        breakdown: Recorded factor by factor, such as `{"DB": 1.0, "COMMUNICATE": 1.0}`.
        reward_basis: The factors that the file says were multiplied; None if it does not say.
    """

    reward: float | None = None
    db_match: bool | None = None
    breakdown: Mapping[str, float] = attrs.field(factory=dict)
    reward_basis: tuple[str, ...] | None = None


@attrs.frozen(kw_only=True)
class Trajectory:
    """One run of one task by one agent: its tool calls in order, or the state that it ended in.

    Attributes:
        calls: The calls in order; None if only an end state is known.
        end_state: The end state, where it is known without replay.
        messages: The talk.
        termination: Why the run ended, in the benchmark's word (`user_stop`); None if nothing was recorded.
        recorded: The verdict in the file.
        run_id: The file's own id of the run.
        task_id: The task that the run is of.
        trial: Which of several runs of one task by one agent.
        agent: Model and implementation.
    """

    calls: tuple[RecordedCall, ...] | None = None
    end_state: EndState | None = None
    messages: tuple[Message, ...] = ()
    termination: str | None = None
    recorded: Recorded = attrs.field(factory=Recorded)
    run_id: str = ""
    task_id: str = ""
    trial: int = 0
    agent: str = ""

    @classmethod
    def from_end_state(
        cls,
        database: Database | Mapping[str, Json],
        *,
        user: Database | Mapping[str, Json] | None = None,
        termination: str | None = None,
        run_id: str = "",
        agent: str = "",
        trial: int = 0,
    ) -> Trajectory:
        """Make a trajectory of which only the end state is known.

        Args:
            database: The agent's database after the run, as a `Database` or plain data.
            user: The user's database, where the domain has one.
            termination: Why the run ended, where known; `user_stop` and `agent_stop` are the normal ends.
            run_id: An id for the run.
            agent: Who acted.
            trial: Which of several runs of one task by one agent.

        Raises:
            StateError: If the data is not JSON.
        """
        sides = [
            side if isinstance(side, Database) or side is None else Database.from_json(side)
            for side in (database, user)
        ]
        assert sides[0] is not None
        return cls(
            end_state=EndState(sides[0], user=sides[1]),
            termination=termination,
            run_id=run_id,
            agent=agent,
            trial=trial,
        )

    @classmethod
    def from_calls(
        cls,
        calls: Iterable[ToolCall],
        *,
        termination: str | None = None,
        run_id: str = "",
        agent: str = "",
        trial: int = 0,
    ) -> Trajectory:
        """Make a trajectory from calls alone, as a gold is written.

        Args:
            calls: The calls in order.
            termination: Why the run ended, where known; `user_stop` and `agent_stop` are the normal ends.
            run_id: An id for the run.
            agent: Who acted.
            trial: Which of several runs of one task by one agent.

        Raises:
            CallError: If a call is no `ToolCall`.
        """
        calls = tuple(calls)
        for index, call in enumerate(calls):
            _check_call(call, index)
        recorded = tuple(RecordedCall(call=call) for call in calls)
        return cls(calls=recorded, termination=termination, run_id=run_id, agent=agent, trial=trial)

    @classmethod
    def from_messages(
        cls,
        messages: Iterable[Mapping[str, Json]],
        *,
        termination: str | None = None,
        run_id: str = "",
        agent: str = "",
        trial: int = 0,
    ) -> Trajectory:
        """Make a trajectory from a list of OpenAI-style chat messages.

        Args:
            messages: `{"role", "content", "tool_calls"?, "tool_call_id"?}`; calls as `{"id", "function": {"name",
                "arguments"}}` or flat `{"id", "name", "arguments"}`; arguments as an object or as JSON text.
            termination: Why the run ended, where known; `user_stop` and `agent_stop` are the normal ends.
            run_id: An id for the run.
            agent: Who acted.
            trial: Which of several runs of one task by one agent.

        Raises:
            ResultsError: If a message is not of that form.
        """
        talk: list[Message] = []
        calls: list[RecordedCall] = []
        waiting: defaultdict[str, deque[int]] = defaultdict(deque)
        for index, message in enumerate(messages):
            where = f"messages[{index}]"
            if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
                raise ResultsError("a message is an object with a role", where=where)
            role, content = message["role"], content_text(message.get("content"))
            if role == "tool":
                _answer(calls, waiting, message.get("tool_call_id") or message.get("id"), content, message.get("error"))
            talk.append(Message(role=role, text=content))
            listed = message.get("tool_calls") or ()
            if not isinstance(listed, list | tuple):
                raise ResultsError("the tool calls of a message are a list", where=where)
            for call in [parse_call(call, role, where) for call in listed]:
                for key in {"", call.id}:
                    waiting[key].append(len(calls))
                calls.append(RecordedCall(call=call, message=index))
        return cls(
            calls=tuple(calls),
            messages=tuple(talk),
            termination=termination,
            run_id=run_id,
            agent=agent,
            trial=trial,
        )


def content_text(content: Json) -> str:
    """Return the text of a message's content: a string, a list of parts, or nothing."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return ""


def parse_call(call: Json, role: str, where: str) -> ToolCall:
    """Read one tool call in the OpenAI or the flat form.

    Raises:
        ResultsError: If it has no name.
    """
    body = call.get("function", call) if isinstance(call, Mapping) else {}
    name = body.get("name") if isinstance(body, Mapping) else None
    if not isinstance(name, str):
        raise ResultsError("a tool call has a name", where=where)
    requestor: Requestor = "user" if role == "user" else "assistant"
    return ToolCall(name, parse_arguments(body.get("arguments")), requestor=requestor, id=str(call.get("id") or ""))


def parse_arguments(arguments: Json) -> dict[str, Json] | None:
    """Return a call's arguments as an object: given as one, as JSON text, or as nothing; None if it is neither."""
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, dict) else None


def _answer(
    calls: list[RecordedCall], waiting: Mapping[str, deque[int]], call_id: Json, content: str, error: Json
) -> None:
    """Give a result to the earliest unanswered call of that id: ids are reused, and results come in order.

    Args:
        calls: The calls so far.
        waiting: Positions of calls that may be unanswered, in order: by id, and of all calls under the empty id.
        call_id: The id that the result names; nothing for the earliest call of any id.
        content: The result.
        error: Whether it is a refusal, where the file says so.
    """
    key = call_id or ""
    queue = waiting.get(key) if isinstance(key, str) else None
    while queue:
        position = queue.popleft()
        if calls[position].result is None:
            refused = error if isinstance(error, bool) else None
            calls[position] = attrs.evolve(calls[position], result=content, refused=refused)
            return


def _check_call(call: object, index: int) -> None:
    if not isinstance(call, ToolCall):
        raise CallError(
            f"a trajectory is made of ToolCalls, and this is a {type(call).__name__}",
            where=f"calls[{index}]",
            remedy="Write multigold.ToolCall(name, arguments).",
        )
