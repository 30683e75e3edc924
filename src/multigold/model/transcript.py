"""From the messages of a run to what was said, and to the tool calls, each with what came of it.

One parser for all: `Trajectory.from_messages` and every reader of files give the same calls for the same messages. The
shapes are known to `message_shapes` and `call_shapes`; here is what is made of them.

*Which answer belongs to which call.* Answers are joined to calls by position, ids are only a help: in real files ids
are empty, or used again later in the same run. An answer belongs to the earliest unanswered call of its id in the
latest message that has one; if one of the two sides has no id, to the earliest unanswered call of the latest message
that has calls.

*What is judged, and what leaves a run unscored.* What the agent's output causes is judged; what the file, or our own
reading of it, causes is not. So:

- A call that nothing answered was not carried out. At the end of a run that is all; if the transcript goes on after
  it, or no call of the transcript has an answer, nobody knows what was carried out: `calls_unanswered`.
- A call whose name or arguments cannot be read did nothing if its answer is a refusal: an agent that writes broken JSON
  has made a call that failed. If the answer says that it was carried out, whoever ran it could read what we cannot:
  `calls_not_understood`. So does anything else that looks like a call and is not understood, and an answer that
  belongs to no call.
- Arguments that are an object and that no state can hold are the agent's own doing, and are judged.
- Calls in messages of the system or of a tool are nobody's, as in tau2. A call that a message of the user holds under
  the assistant's name is not the agent's.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from multigold.model.call_shapes import (
    Flaw,
    call_id,
    error_flag,
    id_of,
    is_refusal,
    parse_call,
    python_literal,
    refuses_unreadable,
)
from multigold.model.message_shapes import (
    CALL_TYPES,
    FAILED,
    FIELDS,
    RESULT_TYPES,
    PartKind,
    RawMessage,
    Role,
    call_in_unknown_shape,
    looks_like_call,
    named_role,
    own_result,
    part_of,
    raw_message,
    result_of,
    role_of,
    text_of,
)
from multigold.model.reason import Reason
from multigold.model.task import Requestor, ToolCall
from multigold.model.text_calls import answers_in, may_hold_calls, spoken_by, spoken_instead, text_calls
from multigold.state.canonical import Json


@attrs.frozen(kw_only=True)
class Message:
    """One message of the talk; tool calls and their answers stand in `Trajectory.calls`.

    Attributes:
        role: `assistant`, `user`, `system` or `tool`.
        text: What was said; empty if nothing was.
    """

    role: str
    text: str = ""


@attrs.frozen(kw_only=True)
class RecordedCall:
    """A tool call with what the file says came of it.

    Attributes:
        call: The call.
        result: What the tool answered, as recorded text; None if the file has no answer to it.
        refused: Whether the recorded answer is a refusal; None if the file does not tell.
        message: Index of the message that holds the call.
        never_ran: Whether the record shows that nobody carried the call out: other calls were answered, this one was
            not, or its arguments were refused because they are not JSON.
        out_of_bounds: Whether the arguments are an object that no state can hold; they are then None.
    """

    call: ToolCall
    result: str | None = None
    refused: bool | None = None
    message: int = 0
    never_ran: bool = False
    out_of_bounds: bool = False


@attrs.frozen(kw_only=True)
class Transcript:
    """What the messages of a run tell.

    Attributes:
        messages: What was said, in order.
        calls: The tool calls, in order.
        notes: What is odd about them without standing in the way, each a sentence.
        problem: Why they do not tell what was done; None if they do.
    """

    messages: tuple[Message, ...]
    calls: tuple[RecordedCall, ...]
    notes: tuple[str, ...] = ()
    problem: Reason | None = None


def parse_messages(
    messages: Sequence[RawMessage], plain: Callable[[], Json] = lambda: None, *, decoded: bool = True
) -> Transcript:
    """Read a run's messages, in whatever shape they are.

    Args:
        messages: The messages.
        plain: Gives them as plain JSON. It is asked where no call was found, which is where a shape that is not known
            would make an agent one that did nothing.
        decoded: Whether they come from a strict JSON decoder, so that all of their numbers are finite.
    """
    builder = TranscriptBuilder(decoded=decoded)
    for builder.index, message in enumerate(messages):
        _add_message(builder, message)
    transcript = builder.finish()
    if transcript.calls:
        return transcript
    in_text = parse_text_calls(messages)
    if in_text is not None:
        return in_text
    unknown = "" if transcript.problem else call_in_unknown_shape(plain()) or _answer_without_call(messages)
    return attrs.evolve(transcript, problem=_not_understood(unknown)) if unknown else transcript


def _not_understood(sentence: str) -> Reason:
    return Reason(code="calls_not_understood", sentence=sentence)


# Putting a transcript together

_MAY_HOLD_RESULT: Final = ("output", "result", "errorText", "function")
_PLAIN_CALLERS: Final[Mapping[str, Requestor]] = {"assistant": "assistant", "user": "user"}


class TranscriptBuilder:
    """Collects what was said and called in one run, in order; `finish` gives the transcript.

    Attributes:
        index: Which message of the source is being read, for sentences about it.
        unit: What the source calls its messages.
        decoded: Whether what is added comes from a strict JSON decoder.
    """

    def __init__(self, unit: str = "messages", *, decoded: bool = True) -> None:
        self.index = 0
        self.unit = unit
        self.decoded = decoded
        self._messages: list[Message] = []
        self._calls: list[tuple[ToolCall, Flaw, int, int]] = []
        self._answers: dict[int, tuple[str, bool]] = {}
        self._open: dict[str, list[deque[int]]] = {}
        self._latest: dict[str, int] = {}
        self._last: deque[int] = deque()
        self._orphans: list[int] = []
        self._doubts: list[str] = []
        self._flawed = self._again = self._nobodys = 0

    def say(self, role: str, content: Json) -> None:
        """Add a message."""
        text = content if type(content) is str else text_of(content)
        self._messages.append(Message(role=role, text=text))

    def call(self, calls: Json, role: str) -> None:
        """Add the calls that the latest message holds: a list of them, a single one, or either as JSON text."""
        caller = _PLAIN_CALLERS.get(role)
        if type(calls) is not list:
            calls = _loaded(calls) if isinstance(calls, str) else calls
            calls = [calls] if isinstance(calls, dict) else calls
        if not isinstance(calls, list):
            if calls is not None:
                self.doubt("the calls of the message are neither a list nor an object")
        elif caller is None and role:
            self._nobodys += len(calls)
        else:
            self._last = deque()
            for call in calls:
                self.add_call(call, caller)

    def add_call(self, call: Json, caller: Requestor | None = "assistant") -> None:
        """Add one call, with the answer that it carries itself, if it does."""
        if type(call) is not dict:
            call = _loaded(call) if isinstance(call, str) else call
        if not isinstance(call, dict):
            self.doubt("a call is no object")
        elif caller is None:
            self.doubt("a call stands in a message of a role that is not known")
        else:
            self._add(call, caller)
            own = None if call.keys().isdisjoint(_MAY_HOLD_RESULT) else own_result(call)
            if own is not None:
                self.answer(call_id(call), *own)

    def _add(self, call: dict[str, Json], caller: Requestor) -> None:
        made, flaw = parse_call(call, caller, decoded=self.decoded)
        position, index = len(self._messages) - 1, len(self._calls)
        self._calls.append((made, flaw, position, self.index))
        if flaw:
            self._flawed += 1
        self._last.append(index)
        groups = self._open.get(made.id)
        if groups is None:
            self._open[made.id] = [deque((index,))]
        elif groups and self._latest[made.id] == position:
            groups[-1].append(index)
        else:
            groups.append(deque((index,)))
        self._latest[made.id] = position

    def answer(self, answered_id: str, content: Json, error: bool | None = None) -> None:
        """Give an answer to the call that it belongs to.

        Args:
            answered_id: The id that it names; empty if it names none.
            content: The answer.
            error: Whether it is a refusal; None if it does not say, so that its text has to.
        """
        text = content if type(content) is str else text_of(content)
        index = self._find(answered_id)
        if index is not None:
            self._answers[index] = (text, self._refuses(index, text) if error is None else error)
        elif answered_id and answered_id in self._open:
            self._answer_again(answered_id, is_refusal(text) if error is None else error)
        else:
            self._orphans.append(self.index)

    def _answer_again(self, answered_id: str, refused: bool) -> None:
        self._again += 1
        latest = max(index for index, (call, *_) in enumerate(self._calls) if call.id == answered_id)
        if self._answers[latest][1] != refused:
            self.doubt("a call was answered twice, once as carried out and once as refused")

    def _refuses(self, index: int, text: str) -> bool:
        flaw = self._calls[index][1]
        return is_refusal(text) or (flaw in ("shape", "python") and refuses_unreadable(text))

    def _find(self, answered_id: str) -> int | None:
        groups = self._open.get(answered_id)
        while groups:
            while groups[-1]:
                index = groups[-1].popleft()
                if index not in self._answers:
                    return index
            groups.pop()
        while self._last:
            index = self._last[0]
            if index in self._answers:
                self._last.popleft()
            elif answered_id and self._calls[index][0].id:
                return None
            else:
                return index
        return None

    def doubt(self, sentence: str) -> None:
        """Say that something in the message at hand looks like a call and is not understood."""
        self._doubts.append(f"{self.unit}[{self.index}]: {sentence}")

    # What it comes to

    def finish(self) -> Transcript:
        """Return what was collected."""
        calls = tuple(self._recorded())
        return Transcript(
            messages=tuple(self._messages),
            calls=calls,
            notes=self._notes(),
            problem=self._problem(calls),
        )

    def _recorded(self) -> Iterator[RecordedCall]:
        nobody_ran = bool(self._answers)
        for index, (call, flaw, position, _) in enumerate(self._calls):
            answer = self._answers.get(index)
            if answer is None:
                yield RecordedCall(call=call, message=position, never_ran=nobody_ran)
                continue
            result, refused = answer
            if not flaw:
                yield RecordedCall(call=call, result=result, refused=refused, message=position)
                continue
            yield RecordedCall(
                call=call,
                result=result,
                refused=refused,
                message=position,
                never_ran=flaw == "python" and refused,
                out_of_bounds=flaw == "bounds" and not refused,
            )

    def _problem(self, calls: Sequence[RecordedCall]) -> Reason | None:
        doubts = [*self._doubts, *self._flaws()] if self._flawed else self._doubts
        if doubts:
            more = f" (and {len(doubts) - 1} more)" if len(doubts) > 1 else ""
            return _not_understood(f"{doubts[0]}{more}")
        if self._orphans:
            place = f"{self.unit}[{self._orphans[0]}]"
            return _not_understood(f"{place}: {len(self._orphans)} answers of tools belong to no call that was read")
        return self._unanswered(calls) if len(self._answers) < len(calls) else None

    def _flaws(self) -> list[str]:
        """Return what is wrong with calls that were carried out by whoever could read them."""
        return [
            f"{self.unit}[{place}]: the call of {call.name[:60]!r} was carried out, and {_FLAWS[flaw]}"
            for index, (call, flaw, _, place) in enumerate(self._calls)
            if flaw in _FLAWS and index in self._answers and not self._answers[index][1]
        ]

    def _unanswered(self, calls: Sequence[RecordedCall]) -> Reason | None:
        if not self._answers:
            none = f"none of the {len(calls)} calls has an answer, so nothing tells what was carried out"
            return Reason(code="calls_unanswered", sentence=none)
        spoken = (index for index, message in enumerate(self._messages) if _goes_on(message))
        latest = max(*spoken, calls[-1].message, -1)
        for index, recorded in enumerate(calls):
            if index not in self._answers and recorded.message < latest:
                place = f"{self.unit}[{self._calls[index][3]}]"
                sentence = f"{place}: the call of {recorded.call.name[:60]!r} has no answer, and the transcript goes on"
                return Reason(code="calls_unanswered", sentence=sentence)
        return None

    def _notes(self) -> tuple[str, ...]:
        flaws = [(call.arguments is None, flaw == "python") for call, flaw, *_ in self._calls] if self._flawed else []
        counts = (
            (len(self._calls) - len(self._answers), "calls have no recorded result"),
            (len(self._orphans), "recorded results belong to no call"),
            (sum(unread for unread, _ in flaws), "calls have no name or no readable arguments"),
            (sum(python for _, python in flaws), "calls have arguments that are Python text"),
            (self._again, "calls were answered more than once"),
            (self._nobodys, "calls stand in messages of the system or of a tool, and are nobody's"),
        )
        return tuple(f"{count} {words}" for count, words in counts if count)


def _goes_on(message: Message) -> bool:
    return message.role in _PLAIN_CALLERS and message.text.strip() != ""


_FLAWS: Final[Mapping[str, str]] = {
    "shape": "its name or its arguments cannot be read",
    "caller": "a message of the user holds it under the assistant's name",
}


def _loaded(text: str) -> Json:
    """Return what JSON text, or Python's text for a value, holds; the text itself if it is neither."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        wrapped = python_literal(f"{{'calls': {text}}}")
        return text if wrapped is None else wrapped["calls"]


# Messages of every shape

_ITEM_MEMBERS: Final = tuple(name for name in FIELDS if name not in ("role", "tool_calls", "function_call"))


def _add_message(builder: TranscriptBuilder, message: RawMessage) -> None:
    content, role = message.content, message.role
    unusual = message.type or message.parts or message.additional_kwargs
    if unusual or role not in _CHAT_ROLES or type(content) is list:
        _add_any(builder, message)
        return
    builder.say(role, content)
    calls = message.tool_calls or message.function_call
    if calls:
        builder.call(calls, role)
    if role == "tool":
        _add_answer(builder, message, content)


_CHAT_ROLES: Final = ("assistant", "user", "tool", "system")


def _add_any(builder: TranscriptBuilder, message: RawMessage) -> None:
    message = _unwrapped(message)
    if _add_item(builder, message):
        return
    role = role_of(message)
    if not role and message.role is None and message.type in CALL_TYPES:
        role = "assistant"
    calls = message.tool_calls or message.function_call or _kept_aside(message)
    if message.tool_calls and message.invalid_tool_calls:
        calls = [*_listed(calls), *_listed(message.invalid_tool_calls)]
    content = message.parts if message.content is None else message.content
    answered = False
    if type(content) is list:
        answered = _add_parts(builder, role, message, content, with_calls=not calls)
    else:
        builder.say(role or _written(message.role), content)
    if calls:
        builder.call(calls, role)
    if role == "tool" and not answered:
        _add_answer(builder, message, content)


def _listed(calls: Json) -> list[Json]:
    return calls if isinstance(calls, list) else [calls]


def _written(role: Json) -> str:
    return role if isinstance(role, str) else ""


def _unwrapped(message: RawMessage) -> RawMessage:
    """Return the message inside LangChain's `{"type", "data"}` and `{"lc", "id": [..., class], "kwargs"}`."""
    if isinstance(message.kwargs, dict) and message.role is None:
        named = message.id[-1] if isinstance(message.id, list) and message.id else None
        return raw_message(message.kwargs, type=named)
    if isinstance(message.data, dict) and message.role is None and message.content is None:
        return raw_message(message.data, type=message.type)
    return message


def _kept_aside(message: RawMessage) -> Json:
    """Return the calls that LangChain keeps elsewhere: those that it could not parse, or the provider's own form."""
    if message.additional_kwargs is None or message.invalid_tool_calls:
        return message.invalid_tool_calls
    aside = message.additional_kwargs
    return (aside.get("tool_calls") or aside.get("function_call")) if isinstance(aside, dict) else None


def _add_item(builder: TranscriptBuilder, message: RawMessage) -> bool:
    """Add a message that is itself a call or an answer, as in OpenAI's Responses; tell whether it was one."""
    kind = message.type
    if not isinstance(kind, str) or named_role(kind) or message.tool_calls or message.function_call:
        return False
    if kind in CALL_TYPES:
        caller: Requestor = "user" if role_of(message) == "user" else "assistant"
        builder.say(caller, None)
        builder.call([_members(message)], caller)
        return True
    if kind in RESULT_TYPES:
        _add_result(builder, _members(message))
        return True
    if message.role is None and message.content is None:
        members = _members(message)
        if looks_like_call(members) and part_of(members)[0] != "silent":
            builder.doubt(f"a {kind[:40]!r} looks like a call and is not understood")
        return True
    return False


def _members(message: RawMessage) -> dict[str, Json]:
    members = {name: getattr(message, name) for name in _ITEM_MEMBERS}
    return {name: value for name, value in members.items() if value is not None}


def _add_answer(builder: TranscriptBuilder, message: RawMessage, content: Json) -> None:
    if isinstance(message.tool_messages, list):
        for result in message.tool_messages:
            if isinstance(result, dict):
                builder.answer(call_id(result), *result_of(result))
        return
    stated = message.tool_call_id or message.id
    if message.call_id is not None or message.tool_use_id is not None:
        stated = call_id(_members(message))
    error = message.error
    builder.answer(
        stated if type(stated) is str else id_of(stated), content, error if type(error) is bool else _error(message)
    )


def _error(message: RawMessage) -> bool | None:
    """Return whether an answer says that it is an error; None if it does not say."""
    stated = error_flag(message.error)
    stated = error_flag(message.is_error) if stated is None else stated
    return True if stated is None and isinstance(message.status, str) and message.status in FAILED else stated


def _add_parts(
    builder: TranscriptBuilder, role: Role, message: RawMessage, parts: list[Json], *, with_calls: bool
) -> bool:
    """Add a message whose content is a list of parts; tell whether some of them are answers."""
    strings = message.type is not None or all(isinstance(part, str) for part in parts)
    found = [part_of(part) for part in parts if strings or not isinstance(part, str)]
    results = [value for kind, value in found if kind == "result"]
    said = "".join(value for kind, value in found if kind == "text")
    if role == "assistant":
        builder.say(role, said)
        _add_calls(builder, role, found, with_calls=with_calls)
    for result in results:
        _add_result(builder, result)
    if role == "tool":
        if not results:
            builder.say(role, parts)
    elif role != "assistant":
        if said or not results:
            builder.say(role or _written(message.role), said)
        _add_calls(builder, role, found, with_calls=with_calls)
    return bool(results)


def _add_calls(
    builder: TranscriptBuilder, role: Role, found: Iterable[tuple[PartKind, Json]], *, with_calls: bool
) -> None:
    calls = [value for kind, value in found if kind == "call"]
    if calls and with_calls:
        builder.call(calls, role)
    for _ in (kind for kind, _ in found if kind == "unknown"):
        builder.doubt("a part of the content looks like a call and is not understood")


def _add_result(builder: TranscriptBuilder, result: dict[str, Json]) -> None:
    content, error = result_of(result)
    builder.say("tool", content)
    builder.answer(call_id(result), content, error)


# Messages whose text holds the calls


def parse_text_calls(messages: Sequence[RawMessage]) -> Transcript | None:
    """Read a run whose agent writes its calls as text; None if nothing shows that its text was read so."""
    if not any(may_hold_calls(message.content) for message in messages):
        return None
    talk = [(role_of(message), _said(message.content)) for message in messages]
    calls = [text_calls(text) if role == "assistant" else None for role, text in talk]
    if not any(calls):
        return None
    answers = [_answers_to(made, talk[after]) for after, made in enumerate(calls[:-1], start=1)]
    read_as_calls = any(answers)
    if not read_as_calls and all(not made or spoken_by(made) is None for made in calls):
        return None
    builder = TranscriptBuilder()
    for index, ((role, text), made) in enumerate(zip(talk, calls, strict=True)):
        builder.index = index
        answered = answers[index - 1] if index else None
        if answered is None:
            following = index < len(answers) and answers[index] is not None
            made = made if read_as_calls or (made and spoken_by(made) is not None) else None
            _add_text(builder, role or _written(messages[index].role), text, made, answered=following)
            continue
        builder.say("tool", "".join(answered))
        for answer in answered:
            builder.answer("", answer)
    return builder.finish()


def _said(content: Json) -> str:
    return content if isinstance(content, str) else text_of(content) if isinstance(content, list) else ""


def _answers_to(made: list[dict[str, Json]] | None, after: tuple[Role, str]) -> list[str] | None:
    """Return the answers that the message after an agent's holds, if the agent meant to make calls."""
    role, text = after
    if made is None or role == "assistant" or spoken_by(made) is not None:
        return None
    return answers_in(text) or ([text] if role == "tool" else None)


def _add_text(
    builder: TranscriptBuilder, role: str, text: str, made: list[dict[str, Json]] | None, *, answered: bool
) -> None:
    spoken = spoken_by(made) if made else None
    if made is None or spoken is not None:
        builder.say(role, text if made is None else spoken)
    elif made or answered:
        # What stands before a call, a thought or an earlier action, never reached the user.
        builder.say(role, None)
        builder.call(made or [{}], role)
    else:
        builder.say(role, spoken_instead(text))


def _answer_without_call(messages: Sequence[RawMessage]) -> str:
    """Say where a tool's answer stands in the text of a run in which no call was read; empty if none does."""
    for index, message in enumerate(messages):
        if role_of(message) == "user" and answers_in(_said(message.content)) is not None:
            return f"messages[{index}] holds the answer of a tool in its text, and no call was read"
    return ""
