"""Runs as an audit looks at them: judged, with the end state, the calls and what changed at hand.

`examine` does that for one run from plain values, so that any benchmark can be audited; `audited_runs` does it for the
runs of result files, one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path

import attrs

from multigold.environments.base import Environment
from multigold.errors import CallError
from multigold.model.task import Task, ToolCall
from multigold.model.trajectory import Trajectory
from multigold.model.verdict import Reason, Verdict
from multigold.readers import ResultsFile, ResultsSource, Run, find_sources
from multigold.rescoring import FileContext, FileReport, Options, Progress, ScoringContext, judge_run, named
from multigold.rescoring.keep_going import each_source
from multigold.scoring import CompiledGolds, PreparedState
from multigold.scoring.judging import NORMAL_ENDS, judge
from multigold.scoring.replayed_run import ReplayedRun, replay_run
from multigold.state.database import EndState
from multigold.state.delta import Delta, diff
from multigold.state.equivalence import normal_form


@attrs.frozen(kw_only=True, slots=False, eq=False)
class AuditedRun:
    """A run that could be followed to its end.

    Attributes:
        task: Its task, as the file that it is from has it.
        trajectory: What it did.
        verdict: What scoring says of it.
        golds: What it was compared with.
        replayed: How it was followed.
        prepared: Its end state, ready to be compared.
        environment: Where it was replayed; None if the file states the end state.
        file: The file that it is from.
        agent: Model and implementation.
        release: The benchmark's release that the file names; empty if it names none.
    """

    task: Task
    trajectory: Trajectory
    verdict: Verdict
    golds: CompiledGolds
    replayed: ReplayedRun
    prepared: PreparedState
    environment: Environment | None = None
    file: str = ""
    agent: str = ""
    release: str = ""

    @property
    def ended(self) -> bool:
        """Whether it came to a normal end, or nothing is known of how it ended."""
        return self.trajectory.termination is None or self.trajectory.termination in NORMAL_ENDS

    @property
    def fails_gold(self) -> bool:
        """Whether the benchmark's own gold, strictly compared, fails it."""
        return self.verdict.benchmark_matched is False

    @property
    def form(self) -> EndState:
        """Its end state in normal form under all the equivalences in force: what end states are grouped by."""
        return self.prepared.forms[-1][1] if self.prepared.forms else self.prepared.state

    @cached_property
    def is_gold(self) -> bool:
        """Whether it ends where its own file's gold does, up to the equivalences in force."""
        gold = self.golds.benchmark
        return gold is not None and self.form == normal_form(
            gold.state, self.golds.initial, self.golds.equivalences, self.golds.conventions
        )

    @cached_property
    def writes(self) -> tuple[ToolCall, ...]:
        """Its calls that succeeded and may have changed something; all that succeeded where tools are not known."""
        return tuple(call for call, succeeded in self.replayed.calls or () if succeeded and not self._is_read(call))

    @cached_property
    def reads(self) -> tuple[ToolCall, ...]:
        """Its calls that succeeded and only looked."""
        return tuple(call for call, succeeded in self.replayed.calls or () if succeeded and self._kind(call) == "read")

    def _is_read(self, call: ToolCall) -> bool:
        return self._kind(call) in ("read", "generic")

    def _kind(self, call: ToolCall) -> str:
        tool = self.environment.tool(call.name, call.requestor) if self.environment else None
        return tool.kind if tool else ""

    @cached_property
    def from_gold(self) -> Delta | None:
        """What differs from the benchmark's own gold to its end; None if the benchmark states no gold."""
        gold = self.golds.benchmark
        return None if gold is None else diff(gold.state, self.prepared.state)

    def invariant_faults(self) -> Iterator[str]:
        """Yield what the environment's invariants say against its end state, such as payments that do not add up."""
        for name, invariant in (self.environment.invariants if self.environment else {}).items():
            try:
                yield from [f"{name}: {fault}" for fault in invariant(self.golds.initial, self.prepared.state)]
            except Exception as error:  # a stranger's run may leave anything behind; it never stops an audit
                yield f"{name}: cannot be checked ({type(error).__name__}: {error})"


@attrs.frozen(kw_only=True)
class LeftOut:
    """A run that could not be followed to its end.

    Attributes:
        file: The file that it is from.
        task_id: Its task.
        trial: Which trial.
        reason: Why.
    """

    file: str
    task_id: str
    trial: int
    reason: Reason


def examine(
    task: Task,
    trajectory: Trajectory,
    golds: CompiledGolds,
    environment: Environment | None = None,
    *,
    file: str = "",
    agent: str = "",
    release: str = "",
) -> AuditedRun | LeftOut:
    """Judge one run and keep what an audit looks at.

    Args:
        task: The task.
        trajectory: What the run did.
        golds: What it is compared with, from `multigold.scoring.compile_golds`.
        environment: Where its calls are replayed.
        file: The file that it is from.
        agent: What to call the agent; what the trajectory says where this is empty.
        release: The benchmark's release.

    Returns:
        The run, or why it could not be followed: its own infrastructure stopped it, it has neither calls nor an end
        state, or the replay drifts from the record.
    """
    verdict = judge(task, trajectory, golds, environment=environment)
    return _kept(task, trajectory, verdict, golds, environment, file=file, agent=agent, release=release)


_NOT_FOLLOWED = frozenset(
    ("infrastructure_error", "no_calls", "replay_drift", "bad_run", "calls_not_understood", "calls_unanswered")
)


def _kept(
    task: Task,
    trajectory: Trajectory,
    verdict: Verdict,
    golds: CompiledGolds,
    environment: Environment | None,
    *,
    file: str,
    agent: str,
    release: str,
) -> AuditedRun | LeftOut:
    if verdict.reason is not None and verdict.reason.code in _NOT_FOLLOWED:
        return LeftOut(file=file, task_id=task.id, trial=trajectory.trial, reason=verdict.reason)
    replayed = replay_run(trajectory, golds.start, environment)
    return AuditedRun(
        task=task,
        trajectory=trajectory,
        verdict=verdict,
        golds=golds,
        replayed=replayed,
        prepared=golds.prepare(replayed.end_state),
        environment=environment,
        file=file,
        agent=agent or trajectory.agent,
        release=release,
    )


def audited_runs(
    *paths: str | Path,
    options: Options | None = None,
    progress: Progress | None = None,
    on_report: Callable[[FileReport], None] | None = None,
) -> Iterator[AuditedRun | LeftOut]:
    """Yield every run of result files, judged against all entries of the catalogue, the proposed ones too.

    Args:
        paths: Result files, directories, archives or patterns, at least one.
        options: How they are read and compared.
        progress: Called after each run.
        on_report: Called after each file with a report of it, in which only runs are counted. A file that cannot be
            read is then reported, not raised, and the runs of one whose data is missing are left out.

    Raises:
        CallError: If no file is named.
        ResultsError: If a file cannot be read and there is no `on_report`.
        DataError: If the benchmark's own data is missing and there is no `on_report`.
        GoldSetError: If a gold set is wrong.
    """
    if not paths:
        raise CallError("there is nothing to audit", remedy="Name at least one results file.")
    context = ScoringContext(attrs.evolve(options or Options(), strata="extended"))
    work = partial(_of_source, context=context, progress=progress, keep_going=on_report is not None)
    for item in each_source(find_sources(paths), work, keep_going=on_report is not None):
        if not isinstance(item, FileReport):
            yield item
        elif on_report is not None:
            on_report(item)


def _of_source(
    source: ResultsSource, *, context: ScoringContext, progress: Progress | None, keep_going: bool
) -> Iterator[AuditedRun | LeftOut | FileReport]:
    for results in context.open(source):
        file = context.for_file(results, may_lack_data=keep_going)
        number = 0
        for number, run in enumerate(results.runs, start=1):
            yield _of_file(run, file, context)
            if progress is not None:
                progress(results.name, number)
        if file.missing is None:
            yield FileReport(name=results.name, format=results.format, domain=results.domain, runs=number)
        else:
            warning = f"its runs are left out: {file.missing.sentence}"
            yield FileReport(name=results.name, runs=number, warnings=(warning,))


def _left_out(run: Run, results: ResultsFile, reason: Reason) -> LeftOut:
    return LeftOut(file=results.name, task_id=run.task_id, trial=run.trajectory.trial, reason=reason)


def _of_file(run: Run, file: FileContext, context: ScoringContext) -> AuditedRun | LeftOut:
    results = file.results
    verdict = named(judge_run(run, file, context), results, context.options)
    task = results.tasks.get(run.task_id)
    if task is None or run.problem is not None or file.missing is not None:
        return _left_out(run, results, verdict.reason or Reason(code="bad_run", sentence="it cannot be read"))
    return _kept(
        attrs.evolve(task, domain=task.domain or results.domain),
        run.trajectory,
        verdict,
        context.golds(task, file),
        file.environment,
        file=results.name,
        agent=verdict.agent,
        release=results.release,
    )
