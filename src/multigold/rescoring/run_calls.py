"""The calls of stored runs, each with what came of it, for a person to read beside the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

from multigold.environments.base import Environment
from multigold.errors import MultigoldError
from multigold.model.task import ToolCall
from multigold.model.trajectory import RecordedCall
from multigold.model.verdict import Verdict
from multigold.readers import ResultsSource, Run, find_sources
from multigold.rescoring.context import FileContext, ScoringContext
from multigold.rescoring.judge_run import judge_run, named
from multigold.rescoring.keep_going import each_source
from multigold.rescoring.options import FileReport, Options
from multigold.scoring.replayed_run import replay_run

CallKind: TypeAlias = Literal["read", "write", "generic", "unknown", ""]
CallOutcome: TypeAlias = Literal["ok", "refused", "unanswered", "not_recorded"]


@attrs.frozen(kw_only=True)
class CallWithOutcome:
    """A call of a run, with what came of it.

    Attributes:
        call: The call, as it was made.
        kind: What its tool does; `unknown` where the environment has no such tool, empty if there is no environment.
        outcome: What the file says came of it; `unanswered` where nobody carried it out.
        message: What the tool said, where it refused.
        replayed: Where nothing is recorded, whether a replay carries the call out; None if it was not replayed.
    """

    call: ToolCall
    kind: CallKind = ""
    outcome: CallOutcome = "not_recorded"
    message: str = ""
    replayed: bool | None = None


@attrs.frozen(kw_only=True)
class RunWithCalls:
    """A run's verdict and its calls.

    Attributes:
        verdict: The verdict.
        calls: The calls in order; None if the file holds none of this run.
        proposed: Whether the catalogue has readings for its task that it only proposes, and that were left out.
    """

    verdict: Verdict
    calls: tuple[CallWithOutcome, ...] | None
    proposed: bool = False


def runs_with_calls(
    path: str | Path,
    *,
    task_id: str | None = None,
    trial: int | None = None,
    options: Options | None = None,
    on_report: Callable[[FileReport], None] | None = None,
) -> tuple[RunWithCalls, ...]:
    """Re-score the runs of a file, all or those of one task, and keep their calls.

    Args:
        path: The file.
        task_id: Only this task; None for all.
        trial: Only this trial; None for all.
        options: How; see `Options`.
        on_report: Called for each file of a directory with a report of it, in which nothing is counted. A file that
            cannot be read is then reported, not raised.

    Raises:
        ResultsError: If the file cannot be read and there is no `on_report`.
        DataError: If the benchmark's own data is missing and there is no `on_report`.
    """
    context = ScoringContext(options or Options())

    def work(source: ResultsSource) -> Iterator[RunWithCalls | FileReport]:
        for results in context.open(source):
            file = context.for_file(results)
            for run in results.runs:
                if task_id in (None, run.task_id) and trial in (None, run.trajectory.trial):
                    yield _with_calls(run, file, context)
            yield FileReport(name=results.name, format=results.format)

    runs = []
    for item in each_source(find_sources([path]), work, keep_going=on_report is not None):
        if isinstance(item, RunWithCalls):
            runs.append(item)
        elif on_report is not None:
            on_report(item)
    return tuple(runs)


def _with_calls(run: Run, file: FileContext, context: ScoringContext) -> RunWithCalls:
    task = file.results.tasks.get(run.task_id)
    return RunWithCalls(
        verdict=named(judge_run(run, file, context), file.results, context.options),
        calls=_calls(run, file, context),
        proposed=task is not None and context.proposes(task, file),
    )


def _calls(run: Run, file: FileContext, context: ScoringContext) -> tuple[CallWithOutcome, ...] | None:
    recorded = run.trajectory.calls
    if recorded is None:
        return None
    replayed: Sequence[bool | None] = [None] * len(recorded)
    if any(one.refused is None and not one.never_ran for one in recorded):
        replayed = _replayed(run, file, context) or replayed
    return tuple(_followed(one, file.environment, does) for one, does in zip(recorded, replayed, strict=True))


def _replayed(run: Run, file: FileContext, context: ScoringContext) -> list[bool | None] | None:
    """Return whether a replay carries out each call; None if the run cannot be replayed."""
    task = file.results.tasks.get(run.task_id)
    if task is None or file.environment is None:
        return None
    try:
        done = replay_run(run.trajectory, context.golds(task, file).start, file.environment)
    except MultigoldError:
        return None  # the verdict says why
    return [succeeded for _, succeeded in done.calls or ()]


def _followed(recorded: RecordedCall, environment: Environment | None, replayed: bool | None) -> CallWithOutcome:
    call = recorded.call
    if recorded.refused is None:
        outcome: CallOutcome = "unanswered" if recorded.never_ran else "not_recorded"
        does = None if recorded.never_ran else replayed
        return CallWithOutcome(call=call, kind=_kind(call, environment), outcome=outcome, replayed=does)
    return CallWithOutcome(
        call=call,
        kind=_kind(call, environment),
        outcome="refused" if recorded.refused else "ok",
        message=(recorded.result or "") if recorded.refused else "",
    )


def _kind(call: ToolCall, environment: Environment | None) -> CallKind:
    if environment is None:
        return ""
    tool = environment.tool(call.name, call.requestor)
    return "unknown" if tool is None else tool.kind


def counts(calls: Sequence[CallWithOutcome]) -> Iterator[tuple[int, str]]:
    """Yield how many calls may change the database, were refused, and are of tools that nobody knows."""
    yield sum(call.kind == "write" for call in calls), "may change the database"
    yield sum(call.outcome == "refused" for call in calls), "refused"
    yield sum(call.kind == "unknown" for call in calls), "of unknown tools"
