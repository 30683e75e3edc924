"""What every reader gives: a file described, and its runs one by one.

A reader never loses a run. What cannot be scored is still a `Run`, with a `problem` that says why; what is wrong with
the file as a whole is a sentence in `warnings`. Only a file of which nothing can be read is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

import attrs

from multigold.errors import ResultsError
from multigold.model.gold import GoldSet
from multigold.model.task import Task, ToolCall
from multigold.model.trajectory import Trajectory
from multigold.model.verdict import Reason
from multigold.state.canonical import Json

MAX_FILE_BYTES: Final = 64 * 2**30
"""A file (or what a compressed one holds) above this is refused."""

MAX_WHOLE_BYTES: Final = 2 * 2**30
"""What must be held in memory in one piece may not be larger than this."""


class UnknownFormError(ResultsError):
    """The file is sound, and holds no results in any known form: data of another kind, perhaps."""


def stem(name: str) -> str:
    """Return a file's name without its directories and the endings of result files: an agent's name for want of one."""
    last = name.replace("!", "/").rstrip("/").rsplit("/", 1)[-1]
    for ending in (".gz", ".zip", ".jsonl", ".ndjson", ".json"):
        last = last.removesuffix(ending)
    return last


@attrs.frozen(kw_only=True)
class Run:
    """One run of a file.

    Attributes:
        trajectory: What the run did, as far as it can be read.
        task_id: The task that it is of; empty if that is not known.
        problem: Why it cannot be scored although it is counted; None if nothing stands in the way. What its own
            transcript does not tell is `trajectory.problem`.
        place: Where it stands in the file, such as `simulations[3]`.
        notes: What is odd about it without standing in the way, each a sentence.
        extra: What the file says beside, as it says it: hashes of end states, signals of another scorer.
    """

    trajectory: Trajectory
    task_id: str = ""
    problem: Reason | None = None
    place: str = ""
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Json] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class AcceptableOutcome:
    """One of several outcomes that a task of a fork accepts (`evaluation_criteria.acceptable_outcomes`).

    Attributes:
        id: Its id in the file, else its number.
        actions: The calls whose end state is accepted; None if it states none.
        communicate: What the agent must say.
        description: The file's words for it.
        reward: What reaching it is worth, in 0..1.
    """

    id: str
    actions: tuple[ToolCall, ...] | None = None
    communicate: tuple[str, ...] = ()
    description: str = ""
    reward: float = 1.0


@attrs.frozen(kw_only=True, eq=False)
class Runs:
    """The runs of a file, decoded anew each time that one iterates over them, so that none is held in memory.

    Attributes:
        count: How many there are.
        produce: Gives an iterator over them.
    """

    count: int
    produce: Callable[[], Iterator[Run]]

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Run]:
        return self.produce()


@attrs.frozen(kw_only=True, eq=False)
class ResultsFile:
    """A file of stored results.

    Attributes:
        format: The reader's name for its form, such as `tau2`.
        name: The file's name, as the caller gave it.
        digest: SHA-256 of the file's bytes, as 64 hexadecimal digits.
        domain: The environment's name, such as `tau2-airline`; empty if the file does not tell.
        agent: Model and implementation, as the file names them; empty if it names none.
        release: The benchmark's git commit as the file states it; empty if it states none.
        tasks: Task id to task; empty if the file embeds none.
        runs: All runs, in the file's order.
        warnings: What is odd about the file, each a sentence.
        solo: Whether one agent held the user's tools as well (tau2's solo mode): a call of a tool of either side then
            stands in the record as the assistant's.
        acceptable: Task id to the outcomes that it accepts, where a fork's field lists several.
        gold_sets: Task id to a gold set, where the benchmark ships expected states instead of gold actions.
        embeds_tasks: Whether it embeds tasks, be they readable or not: then no other release's tasks may stand in.
        origin: What a file of our own verdicts says of the files and options that it was made from.
        planned_trials: How many trials of each task the file says were to be made; None if it does not say.
        policy_digest: SHA-256 of the policy that it says its agents were given; empty if it embeds none.
    """

    format: str
    name: str
    digest: str
    domain: str = ""
    agent: str = ""
    release: str = ""
    tasks: Mapping[str, Task] = attrs.field(factory=dict)
    runs: Runs
    warnings: tuple[str, ...] = ()
    solo: bool = False
    acceptable: Mapping[str, tuple[AcceptableOutcome, ...]] = attrs.field(factory=dict)
    gold_sets: Mapping[str, GoldSet] = attrs.field(factory=dict)
    embeds_tasks: bool = False
    origin: Mapping[str, Json] = attrs.field(factory=dict)
    planned_trials: int | None = None
    policy_digest: str = ""


KnownTasks: TypeAlias = dict[tuple[bytes, str], tuple[Task, tuple[AcceptableOutcome, ...]]]
"""Raw JSON of a task and its domain, to the task and the outcomes that a fork accepts for it."""


@attrs.frozen(kw_only=True)
class ReadOptions:
    """What the caller knows better than the file, or wants read in another way.

    Attributes:
        agent: The agent's name, instead of the file's.
        domain: The environment's name, instead of the file's.
        tasks: The benchmark's tasks, for a file that embeds none.
        known_tasks: What tasks were read as, by their raw JSON and domain; the reader adds to it. Who opens many files
            gives one to all, as their tasks are mostly the same.
        rejoin: Whether to take the word of a run's checks where a file contradicts itself, instead of leaving such runs
            unscored.
    """

    agent: str = ""
    domain: str = ""
    tasks: Mapping[str, Task] = attrs.field(factory=dict)
    known_tasks: KnownTasks = attrs.field(factory=dict, repr=False, eq=False)
    rejoin: bool = False
