"""End states reached by several runs, grouped: across trials, agents and files, one group per task text and state.

Two runs fall into one group when their end states have the same normal form under the equivalences in force. What
stands for a group is a run whose own gold it is not, if there is one, and of these the one with the fewest changing
calls, so that the order of files and runs makes no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from multigold.audit.runs.judged import AuditedRun
from multigold.environments.base import Environment
from multigold.errors import MultigoldError
from multigold.model.gold import NegativeExample
from multigold.model.task import Task, ToolCall
from multigold.model.verdict import Match
from multigold.scoring import CompiledGolds, admitted_states
from multigold.state.canonical import Json, canonical_text, digest
from multigold.state.database import EndState
from multigold.state.delta import Delta
from multigold.state.equivalence import normal_form
from multigold.stats.rows import natural


@attrs.frozen(kw_only=True, order=True)
class Supporter:
    """A run that reached the state of a cluster.

    Attributes:
        agent: Its agent.
        file: Its file.
        trial: Which trial.
        run_id: The file's own id of it.
        is_gold: Whether the state is its own file's gold.
        looked: Whether it looked something up, or changed something, with success.
        ended: Whether it came to a normal end.
    """

    agent: str
    file: str
    trial: int
    run_id: str
    is_gold: bool
    looked: bool = True
    ended: bool = True

    def to_json(self) -> dict[str, Json]:
        """Return it as plain data."""
        return attrs.asdict(self)


@attrs.frozen(kw_only=True, eq=False)
class Cluster:
    """An end state of one task text that at least one run reached.

    Attributes:
        id: The task's id and a few digits of what changed.
        domain: The environment.
        task: The task, as one of the files has it.
        text: What the catalogue calls this text of the task, else digits of its fingerprint.
        state: The end state.
        changes: What changed from the initial state.
        from_gold: What differs from the gold of the run that stands for the cluster; None if there is none.
        calls: The changing calls of that run, those that succeeded.
        usual_reads: The look-ups that the most of its runs made with success.
        supporters: The runs that reached it.
        of: How many runs of this task text there are, in all clusters.
        matches: Readings that the state is in, whatever their standing.
        negatives: Ids of the gold set's negative examples that it is.
        faults: What the environment's invariants say against it, such as payments that do not add up.
        golds_elsewhere: Other texts of the task, or other golds of this one, that end here, each with a release.
        golds: What it was compared with.
        environment: Where it was replayed.
    """

    id: str
    domain: str
    task: Task
    text: str
    state: EndState
    changes: Delta
    from_gold: Delta | None
    calls: tuple[ToolCall, ...]
    usual_reads: tuple[ToolCall, ...]
    supporters: tuple[Supporter, ...]
    of: int
    matches: tuple[Match, ...] = ()
    negatives: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    golds_elsewhere: tuple[str, ...] = ()
    golds: CompiledGolds
    environment: Environment | None = None

    @property
    def against(self) -> tuple[Supporter, ...]:
        """The runs that reached it although it is not their gold."""
        return tuple(supporter for supporter in self.supporters if not supporter.is_gold)

    @property
    def agents(self) -> tuple[str, ...]:
        """Agents that reached it although it is not their gold."""
        return tuple(sorted({supporter.agent for supporter in self.against}))

    @property
    def untouched(self) -> bool:
        """Whether it is the initial state."""
        return not self.changes

    def to_json(self) -> dict[str, Json]:
        """Return the cluster as plain data."""
        return {
            "id": self.id,
            "domain": self.domain,
            "task_id": self.task.id,
            "text": self.text,
            "text_fingerprint": self.task.text_fingerprint(),
            "delta": self.changes.to_json(),
            "from_gold": None if self.from_gold is None else self.from_gold.to_json(),
            "calls": [call.to_json() for call in self.calls],
            "usual_reads": [call.to_json() for call in self.usual_reads],
            "runs": [supporter.to_json() for supporter in self.supporters],
            "runs_of_this_text": self.of,
            "agents_against_gold": list(self.agents),
            "runs_against_gold": len(self.against),
            "matches": [match.to_json() for match in self.matches],
            "negatives": list(self.negatives),
            "faults": list(self.faults),
            "golds_elsewhere": list(self.golds_elsewhere),
        }


class _Group:
    """The runs of one state of one task text, while they are collected."""

    def __init__(self, run: AuditedRun) -> None:
        self.best = run
        self.form = run.form
        self.supporters: dict[Supporter, None] = {}
        self.reads: dict[str, ToolCall] = {}
        self.read_by: Counter[str] = Counter()
        self.add(run)

    def add(self, run: AuditedRun) -> None:
        self.supporters[_supporter(run)] = None
        if _rank(run) < _rank(self.best):
            self.best = run
        mine = {_key(call): call for call in run.reads}
        self.reads.update(mine)
        self.read_by.update(mine.keys())

    def usual_reads(self) -> Iterator[ToolCall]:
        most = max(self.read_by.values(), default=0)
        yield from (self.reads[key] for key in sorted(self.read_by) if self.read_by[key] == most)


def _key(call: ToolCall) -> str:
    return canonical_text([call.name, call.arguments, call.requestor])


def _rank(run: AuditedRun) -> tuple[bool, int, str]:
    """Order the runs of a cluster: what stands for it is a run whose gold it is not, if any, with the fewest calls."""
    return (
        run.is_gold,
        len(run.writes),
        canonical_text([run.prepared.changes.to_json(), [c.to_json() for c in run.writes]]),
    )


def _supporter(run: AuditedRun) -> Supporter:
    return Supporter(
        agent=run.agent,
        file=run.file,
        trial=run.trajectory.trial,
        run_id=run.trajectory.run_id,
        is_gold=run.is_gold,
        looked=run.replayed.calls is None or any(succeeded for _, succeeded in run.replayed.calls),
        ended=run.ended,
    )


def cluster_runs(runs: Iterable[AuditedRun]) -> tuple[Cluster, ...]:
    """Group runs by task text and end state.

    Args:
        runs: The runs. One that stands in two files under one id counts once.

    Returns:
        The clusters, by task and then by how many runs reached them, the same for any order of the runs.
    """
    groups: dict[tuple[str, str, str], list[_Group]] = {}
    golds: dict[tuple[str, str], dict[tuple[str, str | None], AuditedRun]] = {}
    seen: set[tuple[str, ...]] = set()
    for run in runs:
        task, text = run.task, run.task.text_fingerprint()
        known, gold = golds.setdefault((task.domain, task.id), {}), (text, task.gold_fingerprint())
        known[gold] = min(known.get(gold, run), run, key=lambda one: (not one.release, one.release, one.file))
        name = run_key(task, run.agent, run.file, run.trajectory.trial, run.trajectory.run_id)
        if name not in seen or not run.trajectory.run_id:
            seen.add(name)
            _put(groups.setdefault((task.domain, task.id, text), []), run)
    found = [c for key, there in groups.items() for c in _finish(there, list(golds[key[:2]].values()))]
    return tuple(sorted(found, key=lambda c: (c.domain, natural(c.task.id), c.text, -len(c.supporters), c.id)))


def run_key(task: Task, agent: str, file: str, trial: int, run_id: str) -> tuple[str, ...]:
    """Return what names a run of a task text: its own id wherever its file lies; its file if it has no id."""
    return task.id, task.text_fingerprint(), agent, str(trial), run_id or f"in {file}"


def by_run(clusters: Iterable[Cluster]) -> dict[tuple[str, ...], Cluster]:
    """Return the cluster of every run, by `run_key`."""
    return {run_key(c.task, s.agent, s.file, s.trial, s.run_id): c for c in clusters for s in c.supporters}


def _put(groups: list[_Group], run: AuditedRun) -> None:
    for group in groups:
        if group.form == run.form:
            group.add(run)
            return
    groups.append(_Group(run))


def _finish(groups: Sequence[_Group], golds: Sequence[AuditedRun]) -> Iterator[Cluster]:
    of = sum(len(group.supporters) for group in groups)
    for group in groups:
        run = group.best
        yield Cluster(
            id=f"{run.task.id}-{digest([run.task.text_fingerprint(), run.prepared.changes.to_json()])[:6]}",
            domain=run.task.domain,
            task=run.task,
            text=text_name(run),
            state=run.prepared.state,
            changes=run.prepared.changes,
            from_gold=run.from_gold,
            calls=run.writes,
            usual_reads=tuple(group.usual_reads()),
            supporters=tuple(sorted(group.supporters)),
            of=of,
            matches=_matches(run),
            negatives=tuple(_negatives(run)),
            faults=tuple(run.invariant_faults()),
            golds_elsewhere=tuple(sorted(set(_elsewhere(run, golds)))),
            golds=run.golds,
            environment=run.environment,
        )


def text_name(run: AuditedRun) -> str:
    """Return what to call the text of a run's task: the catalogue's name for it, else digits of its fingerprint."""
    gold_set = run.golds.gold_set
    return gold_set.text if gold_set is not None and gold_set.text else run.task.text_fingerprint()[:7]


def _matches(run: AuditedRun) -> tuple[Match, ...]:
    """Return the readings that a run's state is in, also where the run itself ended early and so matches none."""
    if run.golds.gold_set is None:
        return ()
    found = ((admitted, admitted.find(run.prepared)) for admitted in run.golds.readings)
    return tuple(
        Match(reading=admitted.reading.id, standing=admitted.reading.standing, equivalences=hit[1], member=hit[0])
        for admitted, hit in found
        if hit is not None
    )


def _negatives(run: AuditedRun) -> Iterator[str]:
    """Yield the negative examples of the gold set that a run's state is."""
    for negative in run.golds.gold_set.negatives if run.golds.gold_set else ():
        if any(state == run.form for state in _states_of(negative, run)):
            yield negative.id


def _states_of(negative: NegativeExample, run: AuditedRun) -> Iterator[EndState]:
    golds = run.golds
    if negative.refused:
        return
    try:
        members = list(admitted_states(negative.admits, golds.initial, run.environment))
    except MultigoldError:  # a negative example that cannot be replayed matches no end state; lint reports it
        return
    for member in members:
        if member is not None:
            state = golds.prepare(member.state).state
            yield normal_form(state, golds.initial, golds.equivalences, golds.conventions)


def _elsewhere(run: AuditedRun, golds: Sequence[AuditedRun]) -> Iterator[str]:
    """Yield the texts of the task, each with a release, whose gold a run's state is although its own is another."""
    for other in golds if not run.is_gold else ():
        gold = other.golds.benchmark
        if gold is not None and run.form == normal_form(
            gold.state, other.golds.initial, other.golds.equivalences, other.golds.conventions
        ):
            release = f" ({other.release[:7]})" if other.release else ""
            yield f"{text_name(other)}{release}"
