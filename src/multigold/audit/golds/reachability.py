"""Could an agent have known the ids that a gold uses?

An agent knows what the user says, what tools have answered, and what anyone could guess. An id that none of these can
have shown before a gold's call uses it makes the gold unreachable. Whether something *can* have been shown is found by
trying: read tools are called with what is known, what they answer is known from then on, and so on until nothing new
comes. For an id that is still unknown, the records that hold it say what arguments a search would need; those that are
known or guessable (airports, dates: names with few values) are tried.

The search is bounded, so "unreachable" is a strong suspicion, not a proof; "reachable" is certain, given what the
user's instructions say.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from multigold.audit.golds.value_index import Entity, StateIndex, ValueIndex, collect, index_of
from multigold.environments.base import Drafts, Environment
from multigold.environments.replay import step
from multigold.environments.tools import Tool
from multigold.model.task import Requestor, Task, ToolCall
from multigold.state.canonical import Json
from multigold.state.database import EndState
from multigold.state.json_values import strings

MAX_ROUNDS = 6
MAX_COMBINATIONS = 256
"""A tool is called with what is known if that gives no more calls than this."""
MAX_SEARCHES = 2000
"""Calls tried for one id that is not known otherwise."""
MAX_HOLDERS = 8
"""Records looked at that hold such an id."""

_WORD = re.compile(r"[\w#@.+-]+")


@attrs.frozen(kw_only=True)
class Unreachable:
    """An id that a gold uses and nothing can have shown.

    Attributes:
        call: Number of the call that uses it.
        id: The id.
        argument: The argument that it stands in.
        exists: Whether the state has it.
    """

    call: int
    id: str
    argument: str
    exists: bool


class Knowledge:
    """What has been said or shown so far."""

    def __init__(self, said: Iterable[str] = ()) -> None:
        self._texts: list[str] = []
        self._words: set[str] = set()
        self.shown: set[str] = set()
        for text in said:
            self._hear(text)

    def _hear(self, text: str) -> None:
        self._texts.append(text.casefold())
        self._words.update(word.strip(".-+").lstrip("#") for word in _WORD.findall(text.casefold()))

    def learn(self, answer: Json) -> None:
        """Take in a tool's answer: its strings, and the words of those that are sentences."""
        for text in strings(answer):
            if text not in self.shown:
                self.shown.add(text)
                if " " in text:
                    self._hear(text)

    def has(self, value: Json) -> bool:
        """Tell whether a value has been said or shown; upper and lower case and a leading `#` make no difference."""
        if not isinstance(value, str):
            return False
        if value in self.shown:
            return True
        folded = value.casefold()
        if folded.lstrip("#") in self._words:
            return True
        return _WORD.fullmatch(folded) is None and any(folded in text for text in self._texts)


def unreachable_ids(
    environment: Environment,
    task: Task,
    calls: Sequence[ToolCall],
    start: EndState,
    *,
    index: StateIndex | None = None,
    synchronise: bool = True,
) -> tuple[Unreachable, ...]:
    """Return the ids of a gold's calls that nothing can have shown before they are used, each once.

    Args:
        environment: Whose tools to try.
        task: The task; its instructions are what the user can say.
        calls: The gold.
        start: The state that the task starts in.
        index: The index of that state, if the caller has it already.
        synchronise: Whether to bring the two sides in step after each call of the gold.
    """
    search = _Search(environment, Knowledge(strings(task.instructions)), index or index_of(start))
    drafts = Drafts(start)
    found: dict[str, Unreachable] = {}
    for number, call in enumerate(calls):
        for argument, name in _ids(environment, search.index, call):
            if name not in found and not search.can_learn(name, call, drafts):
                exists = name in search.index.ids
                found[name] = Unreachable(call=number, id=name, argument=argument, exists=exists)
        outcome = step(environment, drafts, call, synchronise=synchronise)
        if outcome.refusal is None:
            search.knowledge.learn(outcome.observation)
        search.note_call(environment, call)
    return tuple(found.values())


def _ids(environment: Environment, index: StateIndex, call: ToolCall) -> Iterator[tuple[str, str]]:
    """Yield argument and id for every id among a call's arguments: of the state, or such as the environment mints."""
    pools = environment.conventions.id_pools
    for argument, value in (call.arguments or {}).items():
        for text in strings(value):
            if text in index.ids or any(pool.mints(text) for pool in pools):
                yield argument, text


class _Search:
    """Tries read tools with what is known."""

    def __init__(self, environment: Environment, knowledge: Knowledge, index: StateIndex) -> None:
        self.environment = environment
        self.knowledge = knowledge
        self.index = index
        self._tried: set[tuple[str, tuple[Json, ...]]] = set()

    def note_call(self, environment: Environment, call: ToolCall) -> None:
        """Take note of a call of the gold: after a write every read may answer something else."""
        tool = environment.tool(call.name, call.requestor)
        if tool is not None and tool.kind == "write":
            self._tried.clear()

    def can_learn(self, name: str, call: ToolCall, drafts: Drafts) -> bool:
        """Tell whether an id is known, or a read tool can show it now."""
        if self.knowledge.has(name):
            return True
        self._explore(drafts)
        return self.knowledge.has(name) or self._look_for(name, call, drafts)

    def _explore(self, drafts: Drafts) -> None:
        """Call read tools with what is known until they show nothing new."""
        for _ in range(MAX_ROUNDS):
            before = len(self.knowledge.shown)
            for tool, requestor in _read_tools(self.environment):
                choices = self._known_arguments(tool)
                if _count(choices) <= MAX_COMBINATIONS:
                    for arguments in itertools.product(*choices.values()):
                        self._call(tool, requestor, dict(zip(choices, arguments, strict=True)), drafts)
            if len(self.knowledge.shown) == before:
                return

    def _known_arguments(self, tool: Tool) -> Mapping[str, Sequence[Json]]:
        fits = {name: self.index.value_index.fitting(name) for name in sorted(tool.required)}
        return {
            name: [] if fit.many else [value for value in fit.values if self.knowledge.has(value)]
            for name, fit in fits.items()
        }

    def _look_for(self, name: str, call: ToolCall, drafts: Drafts) -> bool:
        """Try searches whose arguments stand in a record that holds the id, or in the call that uses it."""
        for tool, requestor, arguments in itertools.islice(self._searches(name, call), MAX_SEARCHES):
            self._call(tool, requestor, arguments, drafts)
            if name in self.knowledge.shown:
                return True
        return False

    def _searches(self, name: str, call: ToolCall) -> Iterator[tuple[Tool, Requestor, dict[str, Json]]]:
        given = collect([Entity(table="", id="", value=call.arguments)])
        for holder in self._holders(name):
            near = collect([holder])
            for tool, requestor in _read_tools(self.environment):
                choices = {parameter: self._candidates(parameter, near, given) for parameter in sorted(tool.required)}
                for arguments in itertools.product(*choices.values()):
                    yield tool, requestor, dict(zip(choices, arguments, strict=True))

    def _holders(self, name: str) -> Iterator[Entity]:
        numbers = self.index.by_id.get(name, ())
        own = [self.index.entities[number] for number in numbers]
        yield from own
        others = (entity for entity in self.index.entities if name in strings(entity.value) and entity not in own)
        yield from itertools.islice(others, MAX_HOLDERS)

    def _candidates(self, parameter: str, near: ValueIndex, given: ValueIndex) -> list[Json]:
        """Return what may be tried for a parameter: what the call itself uses first."""
        guessable = self.index.value_index.is_guessable(parameter)
        values = (*given.fitting(parameter).values, *near.fitting(parameter).values)
        open_to_all = [
            value
            for value in dict.fromkeys(v for v in values if isinstance(v, str))
            if self.knowledge.has(value) or (guessable and value not in self.index.ids)
        ]
        return list(open_to_all)

    def _call(self, tool: Tool, requestor: Requestor, arguments: dict[str, Json], drafts: Drafts) -> None:
        key = (tool.name, tuple(arguments.values()))
        if key in self._tried:
            return
        self._tried.add(key)
        outcome = step(self.environment, drafts, ToolCall(tool.name, arguments, requestor=requestor))
        if outcome.refusal is None:
            self.knowledge.learn(outcome.observation)


def _read_tools(environment: Environment) -> Iterator[tuple[Tool, Requestor]]:
    for tool in environment.tools.values():
        if tool.kind == "read":
            yield tool, "assistant"
    for tool in environment.user_tools.values():
        if tool.kind == "read":
            yield tool, "user"


def _count(choices: Mapping[str, Sequence[Json]]) -> int:
    count = 1
    for values in choices.values():
        count *= len(values)
    return count
