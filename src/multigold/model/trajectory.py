"""What one run did, as its file tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from multigold.errors import CallError, ResultsError
from multigold.model.message_shapes import FIELDS, RawMessage, raw_message
from multigold.model.reason import Reason
from multigold.model.task import ToolCall
from multigold.model.transcript import Message as Message
from multigold.model.transcript import RecordedCall as RecordedCall
from multigold.model.transcript import parse_messages
from multigold.state.canonical import Json
from multigold.state.database import Database, EndState


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
        problem: Why the record does not tell what the run did; None if it does. A run that ended normally is then
            unscored.
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
    problem: Reason | None = None
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
        """Make a trajectory from a list of chat messages, in any of the shapes that result files have.

        Args:
            messages: `{"role", "content", "tool_calls"?, "tool_call_id"?}` as in OpenAI's chat or tau2, OpenAI's
                Responses items, Anthropic's content blocks, LangChain's messages, and others. Calls without answers
                are not carried out; calls of which no answers are known are given by `from_calls`.
            termination: Why the run ended, where known; `user_stop` and `agent_stop` are the normal ends.
            run_id: An id for the run.
            agent: Who acted.
            trial: Which of several runs of one task by one agent.

        Raises:
            ResultsError: If a message is not an object of plain JSON with a role or a type.
        """
        messages = list(messages)
        raw = [_message(message, index) for index, message in enumerate(messages)]
        transcript = parse_messages(raw, lambda: [dict(message) for message in messages], decoded=False)
        return cls(
            calls=transcript.calls,
            messages=transcript.messages,
            problem=transcript.problem,
            termination=termination,
            run_id=run_id,
            agent=agent,
            trial=trial,
        )


def _message(message: object, index: int) -> RawMessage:
    """Return a message for the parser.

    Raises:
        ResultsError: If it is not an object that says, in some shape, what it is.
    """
    where = f"messages[{index}]"
    if not isinstance(message, Mapping):
        raise ResultsError("a message is an object", where=where)
    plain = _plain({name: message[name] for name in FIELDS if name in message}, where)
    if not any(isinstance(plain.get(name), str) for name in ("role", "type")) and "kwargs" not in plain:
        raise ResultsError("a message is an object with a role", where=where)
    return raw_message(plain)


def _plain(value: object, where: str) -> Json:
    """Return plain data as the values that a JSON decoder gives: mappings as dictionaries, tuples as lists.

    Raises:
        ResultsError: If it is nested too deeply, or holds anything else.
    """
    try:
        return _as_json(value)
    except TypeError as error:
        raise ResultsError(f"a message is plain JSON, and holds {error}", where=where) from None
    except RecursionError:
        raise ResultsError("it is nested too deeply to be a message", where=where) from None


def _as_json(value: object) -> Json:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    raise TypeError(f"a {type(value).__name__}")


def _check_call(call: object, index: int) -> None:
    if not isinstance(call, ToolCall):
        raise CallError(
            f"a trajectory is made of ToolCalls, and this is a {type(call).__name__}",
            where=f"calls[{index}]",
            remedy="Write multigold.ToolCall(name, arguments).",
        )
