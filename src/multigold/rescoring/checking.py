"""Is the strict verdict by the benchmark's gold the one that the benchmark recorded, as law 8 asks?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.readers import ResultsFile, ResultsSource, Run, find_sources
from multigold.rescoring.context import FileContext, ScoringContext
from multigold.rescoring.judge_run import judge_run
from multigold.rescoring.keep_going import each_source
from multigold.rescoring.options import FileReport, Options
from multigold.scoring.replayed_run import replay_run
from multigold.state.canonical import Json
from multigold.state.database import GONE, EndState


@attrs.frozen(kw_only=True)
class RecordedCheck:
    """The strict verdict by the benchmark's gold held against the recorded one, for one file.

    Attributes:
        name: The file.
        runs: Runs in it.
        recorded: Runs with a recorded database verdict.
        agree: Runs where ours is the same.
        differ: Runs where it is not, each a sentence.
        unscored: Runs with a recorded verdict that we cannot score: reason code to number.
        spelling: Runs that match only because a whole float equals the int (tau2's hash keeps `1` and `1.0` apart).
        no_gold: Runs with a recorded verdict of a task for which the benchmark states no gold; tau2 says they match.
        problem: Why nothing of it could be read; empty if something could.
        left_out: Why it was left out, where it was only found in a directory and holds no results; empty otherwise.
    """

    name: str
    runs: int = 0
    recorded: int = 0
    agree: int = 0
    differ: tuple[str, ...] = ()
    unscored: Mapping[str, int] = attrs.field(factory=dict)
    spelling: int = 0
    no_gold: int = 0
    problem: str = ""
    left_out: str = ""


def check_recorded(
    *paths: str | Path, options: Options | None = None, keep_going: bool = False
) -> tuple[RecordedCheck, ...]:
    """Hold the strict single-gold verdict of every run against the database verdict recorded in the file.

    Args:
        paths: Result files, or what holds several, at least one.
        options: How they are re-scored; see `Options`.
        keep_going: Whether a file that cannot be read is reported in its check, instead of raising.

    Returns:
        A check per results file.

    Raises:
        CallError: If no file is named.
        ResultsError: If a file cannot be read and `keep_going` is False.
        DataError: If the benchmark's own data is missing, and `keep_going` is False.
    """
    if not paths:
        raise CallError("there is nothing to check", remedy="Name at least one results file.")
    context = ScoringContext(options or Options())

    def work(source: ResultsSource) -> Iterator[RecordedCheck]:
        opened = context.open(source)
        for results in opened:
            yield _check(results, context, may_lack_data=keep_going or len(opened) > 1)

    found = each_source(find_sources(paths), work, keep_going=keep_going)
    return tuple(item if isinstance(item, RecordedCheck) else _unread(item) for item in found)


def _unread(report: FileReport) -> RecordedCheck:
    left_out = "; ".join(report.warnings).removeprefix("left out: ")
    return RecordedCheck(name=report.name, problem=report.problem, left_out=left_out)


def _check(results: ResultsFile, context: ScoringContext, *, may_lack_data: bool) -> RecordedCheck:
    file = context.for_file(results, may_lack_data=may_lack_data)
    counts, unscored, differ = Counter[str](), Counter[str](), []
    for run in file.results.runs:
        counts["runs"] += 1
        if run.trajectory.recorded.db_match is None:
            continue
        verdict = judge_run(run, file, context)
        kind = _kind(verdict)
        counts[kind] += 1
        if kind == "unscored" and verdict.reason is not None:
            unscored[verdict.reason.code] += 1
        elif kind == "differ":
            differ.append(_sentence(verdict))
        elif kind == "agree" and verdict.benchmark_matched:
            counts["spelling"] += not _spelled_alike(run, file, context)
    kinds = ("agree", "differ", "unscored", "no_gold")
    return RecordedCheck(
        name=file.results.name,
        runs=counts["runs"],
        recorded=sum(counts[kind] for kind in kinds),
        agree=counts["agree"],
        differ=tuple(differ),
        unscored=dict(sorted(unscored.items())),
        spelling=counts["spelling"],
        no_gold=counts["no_gold"],
    )


def _kind(verdict: Verdict) -> str:
    if verdict.benchmark_matched is not None:
        return "agree" if verdict.benchmark_matched == verdict.recorded.db_match else "differ"
    return "no_gold" if verdict.reason is not None and verdict.reason.code == "no_gold" else "unscored"


def _sentence(verdict: Verdict) -> str:
    run = f"task {verdict.task_id} trial {verdict.trial} ({verdict.run_id})"
    return f"{run}: recorded {verdict.recorded.db_match}, ours {verdict.benchmark_matched}"


def _spelled_alike(run: Run, file: FileContext, context: ScoringContext) -> bool:
    """Tell whether a matching end state is also written as the gold's is, so that tau2's hash is the same."""
    if file.environment is None or (run.trajectory.calls is None and run.trajectory.end_state is None):
        return True  # known by its hash alone
    golds = context.golds(file.results.tasks[run.task_id], file)
    if golds.benchmark is None:
        return True
    replayed = replay_run(run.trajectory, golds.start, file.environment)
    state = golds.prepare(replayed.end_state).state
    return all(one == other for one, other in _spellings(golds.benchmark.state, state))


def _spellings(one: EndState, other: EndState) -> Iterator[tuple[str, str]]:
    """Yield each record that may differ between two states, as either has it: JSON text in which `1` is not `1.0`."""
    for (_, left), (_, right) in zip(one.sides(), other.sides(), strict=True):
        for place in left.touched(right):
            yield _spelling(left.find(*place)), _spelling(right.find(*place))


def _spelling(record: Json) -> str:
    return "" if record is GONE else json.dumps(record, sort_keys=True)
