"""Files in, verdicts out, one by one.

    source -> results file -> run -> verdict, verdict, ..., report of the file

`stream` holds no run longer than it takes to judge it. With several jobs, every process reads the file and judges its
own share of the runs; verdicts come in the order of the file all the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import attrs

from multigold.catalogues.loading import load_catalogue, load_gold_sets, shipped_catalogues
from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.readers import ResultsFile, ResultsSource, find_sources
from multigold.rescoring.context import FileContext, ScoringContext
from multigold.rescoring.format_kinds import holds_verdicts
from multigold.rescoring.judge_run import judge_run, named
from multigold.rescoring.keep_going import each_source
from multigold.rescoring.nemo.rates import VoiceRates
from multigold.rescoring.options import FilePlan, FileReport, Options, Rescoring
from multigold.rescoring.workers import WorkerPool
from multigold.stats.aggregation import Report, ReportBuilder, summarise_verdicts

Progress = Callable[[str, int], None]
"""`progress(file name, runs done)`, called after each run."""

SELECTION_NOTE = (
    "the paper found its affected tasks of {} among those that GPT-5, Kimi and Mistral failed, so for these three "
    "agents the gap is measured on the runs that selected the tasks"
)


def rescore(
    *paths: str | Path,
    options: Options | None = None,
    keep_going: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Rescoring:
    """Re-score stored results.

    Args:
        paths: Result files, directories, archives or patterns, at least one; `-` is standard input.
        options: How; see `Options`.
        keep_going: Whether a file that cannot be read is reported and left out, instead of raising.
        jobs: Processes to use; the result is the same.
        progress: Called after each run.

    Returns:
        One verdict per run, in the order of the files, and a report per file.

    Raises:
        ResultsError: If a file cannot be read and `keep_going` is False.
        DataError: If the benchmark's own data is missing.
        GoldSetError: If a gold set is wrong.
    """
    options = options or Options()
    files: list[FileReport] = []
    verdicts: list[Verdict] = []
    for item in stream(*paths, options=options, keep_going=keep_going, jobs=jobs, progress=progress):
        if isinstance(item, Verdict):
            verdicts.append(item)
        else:
            files.append(item)
    return Rescoring(files=tuple(files), verdicts=tuple(verdicts), options=options)


def stream(
    *paths: str | Path,
    options: Options | None = None,
    keep_going: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[Verdict | FileReport]:
    """Yield the verdicts of each file, then its report; `rescore` says what the arguments mean and what is raised.

    Nothing is held but what the caller holds, so a file of any length can be re-scored.
    """
    if not paths:
        raise CallError("there is nothing to re-score", remedy="Name at least one results file.")
    context = ScoringContext(options or Options())
    with WorkerPool(context.options, jobs) as pool:
        stream_one = partial(_stream_source, context=context, pool=pool, keep_going=keep_going, progress=progress)
        yield from _with_repeats_noted(each_source(find_sources(paths), stream_one, keep_going=keep_going))


def _with_repeats_noted(items: Iterator[Verdict | FileReport]) -> Iterator[Verdict | FileReport]:
    """Say so where one file is among the others a second time, under whatever name: its runs count twice."""
    seen: dict[tuple[str, str], str] = {}
    for item in items:
        if isinstance(item, FileReport) and item.digest and item.runs:
            first = seen.get((item.digest, item.domain))
            seen[item.digest, item.domain] = first or item.name
            if first is not None:
                doubt = f"it is the same file as {first}: its runs count twice"
                item = attrs.evolve(item, warnings=(*item.warnings, doubt))
        yield item


def _stream_source(
    source: ResultsSource, *, context: ScoringContext, pool: WorkerPool, keep_going: bool, progress: Progress | None
) -> Iterator[Verdict | FileReport]:
    opened = context.open(source)
    for index, results in enumerate(opened):
        file = context.for_file(results, may_lack_data=keep_going or len(opened) > 1)
        judged = None if file.missing else pool.judge(source, index, len(results.runs))
        judged = judged or (judge_run(run, file, context) for run in results.runs)
        yield from _stream_file(judged, file, context, progress)


def _stream_file(
    judged: Iterator[Verdict], file: FileContext, context: ScoringContext, progress: Progress | None
) -> Iterator[Verdict | FileReport]:
    stored = _stored_reports(file.results)
    counts = {name: _Counts() for name in stored or (file.results.name,)}
    for done, verdict in enumerate(judged, start=1):
        verdict = named(verdict, file.results, context.options)
        counts.setdefault(verdict.file, _Counts()).add(verdict)
        if progress is not None:
            progress(file.results.name, done)
        yield verdict
    for name, count in counts.items():
        report = _file_report(file, count, context.options)
        yield _counted(stored[name], report) if name in stored else attrs.evolve(report, name=name)


def _stored_reports(results: ResultsFile) -> dict[str, FileReport]:
    if not holds_verdicts(results):
        return {}
    from multigold.rescoring.stored import stored_reports

    return stored_reports(results)


def _in_force(results: ResultsFile, options: Options) -> tuple[str, ...]:
    if not holds_verdicts(results):
        return options.equivalences
    from multigold.rescoring.stored import made_with

    return made_with(results)


def _counted(report: FileReport, counts: FileReport) -> FileReport:
    from multigold.rescoring.stored import counted

    return counted(report, counts)


@attrs.define
class _Counts:
    """What is counted over the runs of one file while they pass."""

    outcomes: Counter[str] = attrs.field(factory=Counter)
    unscored: Counter[str] = attrs.field(factory=Counter)
    reasons: dict[str, str] = attrs.field(factory=dict)
    fidelity: Counter[str] = attrs.field(factory=Counter)
    agents: set[str] = attrs.field(factory=set)
    tasks: Counter[str] = attrs.field(factory=Counter)
    other_scorer: VoiceRates = attrs.field(factory=VoiceRates)
    drifts: Counter[str] = attrs.field(factory=Counter)

    def add(self, verdict: Verdict) -> None:
        self.outcomes[verdict.outcome] += 1
        self.agents.add(verdict.agent)
        self.tasks[verdict.task_id] += 1
        self.other_scorer.add(verdict)
        if verdict.outcome == "unscored" and verdict.reason is not None:
            self.unscored[verdict.reason.code] += 1
            self.reasons.setdefault(verdict.reason.code, verdict.reason.sentence)
        for name in FIDELITY:
            self.fidelity[name] += getattr(verdict.fidelity, name)
        self.fidelity["drifting"] += bool(verdict.fidelity.drift)
        if verdict.fidelity.drift:
            self.drifts[_cause(verdict.fidelity.drift)] += 1

    def doubts(self) -> Iterator[str]:
        """Yield a warning where so many runs drift that the replay as a whole is in doubt."""
        drifting, runs = self.fidelity["drifting"], self.outcomes.total()
        if drifting and drifting * DRIFT_WARNING >= runs:
            cause, number = self.drifts.most_common(1)[0]
            yield f"{drifting} of {runs} runs do not replay as they were recorded; in {number} of them {cause}"
        mismatches = self.unscored["hash_mismatch"]
        if mismatches and mismatches * DRIFT_WARNING >= runs:
            yield f"{mismatches} of {runs} runs do not lead to the end state whose hash was recorded"
        unscored = self.unscored.total()
        if 2 * unscored > runs:
            code, number = self.unscored.most_common(1)[0]
            remedy = _REMEDIES.get(code, "")
            yield (
                f"mostly unscored: {unscored} of {runs} runs, {number} of them by {code}, such as: {self.reasons[code]}"
                f"{f'; {remedy}' if remedy else ''}"
            )


_REMEDIES = {
    "contradiction": "--rejoin takes the word of the runs' recorded checks",
    "no_gold": "--gold-sets names a catalogue for it",
}
"""What to try where most runs of a file are unscored for a reason; the tables say what helps against missing tasks."""

DRIFT_WARNING = 10
"""A file is doubted as a whole where one run in so many drifts."""

_CAUSES = (
    (
        re.compile(r"Tool '.*' not found", re.DOTALL),
        "a tool that worked then is not there now: perhaps solo mode, or another version of the tools",
    ),
    (
        re.compile("not found"),
        "something that was found then is not there now: perhaps another database, scrambled task ids, or ids in "
        "another case (--ids case-insensitive)",
    ),
    (
        re.compile("carries it out"),
        "what was refused then is carried out now: perhaps another version of the tools, or a tool that failed for "
        "reasons of its own",
    ),
)


def _cause(drift: str) -> str:
    """Return the likely cause of a drift, as a clause."""
    other = "what was carried out then is refused now: perhaps another version of the tools, or another database"
    return next((cause for sign, cause in _CAUSES if sign.search(drift)), other)


FIDELITY = ("calls", "replayed", "refused", "unknown", "skipped", "differing")
"""What is counted of the calls of a file's runs."""


def _file_report(file: FileContext, counts: _Counts, options: Options) -> FileReport:
    results = file.results
    plan = _plan(file, counts)
    return FileReport(
        name=results.name,
        digest=results.digest,
        format=results.format,
        domain=results.domain,
        agents=tuple(sorted(counts.agents)),
        runs=counts.outcomes.total(),
        matched=counts.outcomes["matched"],
        unmatched=counts.outcomes["unmatched"],
        unscored=dict(sorted(counts.unscored.items())),
        fidelity={name: counts.fidelity[name] for name in (*FIDELITY, "drifting")},
        other_scorer=counts.other_scorer.to_json(),
        data_digest=file.environment.data_digest if file.environment else "",
        catalogue_digest=file.catalogue.digest if file.catalogue else "",
        paper_split=bool(file.catalogue and file.catalogue.paper_split),
        equivalences=_in_force(results, options),
        policy_digest=results.policy_digest,
        plan=plan,
        warnings=(
            *results.warnings,
            *_without_catalogue(file, options),
            *counts.doubts(),
            *([plan.warning()] if plan is not None and plan.missing else []),
        ),
    )


def _plan(file: FileContext, counts: _Counts) -> FilePlan | None:
    """Return what a file was to hold, if it says how many trials and of which tasks."""
    results = file.results
    if results.planned_trials is None or not (results.embeds_tasks and results.tasks):
        return None
    made = {task: counts.tasks[task] for task in results.tasks}
    return FilePlan(
        trials=results.planned_trials,
        tasks=tuple(made),
        missing=sum(max(0, results.planned_trials - number) for number in made.values()),
        without_runs=tuple(task for task, number in made.items() if not number),
    )


def _without_catalogue(file: FileContext, options: Options) -> Iterator[str]:
    """Yield a warning where catalogues were named and none is for this file, whose scores look like results."""
    if options.gold_sets is not None and file.catalogue is None and not holds_verdicts(file.results):
        yield f"no catalogue in {options.gold_sets} is for {file.results.domain}: single gold only"


def summarise(rescoring: Rescoring | Iterable[Verdict]) -> Report:
    """Count verdicts: per agent and stratum, and per task; see `multigold.stats.aggregation.Report`.

    Args:
        rescoring: What `rescore` returned, or verdicts of any origin.

    Raises:
        CallError: If it is the name of a file, which has to be re-scored first.
    """
    if isinstance(rescoring, str | Path):
        raise CallError(
            f"summarise() counts verdicts, and {str(rescoring)!r} is a file", remedy="Call rescore() first."
        )
    if not isinstance(rescoring, Rescoring):
        return summarise_verdicts(rescoring)
    summary = ReportBuilder(rescoring.options.strata, paper_split=paper_split(rescoring.options))
    for verdict in rescoring.verdicts:
        summary.add(verdict)
    return summary.report(note=strata_note(rescoring.files), equivalences=in_force(rescoring.files))


def in_force(files: Iterable[FileReport]) -> tuple[str, ...]:
    """Return the equivalences that any file's verdicts were made with."""
    return tuple(sorted({name for file in files for name in file.equivalences}))


def strata_note(files: tuple[FileReport, ...]) -> str:
    """Say how the affected tasks were selected: the digests of the catalogues, and of which the paper has a split."""
    known = [file for file in files if file.catalogue_digest]
    digests = {f"{file.domain} catalogue {file.catalogue_digest[:12]}" for file in known}
    domains = sorted({file.domain for file in known if file.paper_split})
    notes = [SELECTION_NOTE.format(", ".join(domains))] if domains else []
    return "; ".join((*sorted(digests), *notes))


def paper_split(options: Options) -> Mapping[str, tuple[str, ...]]:
    """Return the task ids of the paper's split by domain; empty if the strata option does not ask for it."""
    if options.strata != "paper":
        return {}
    if options.gold_sets is not None:
        catalogues = load_gold_sets(options.gold_sets)
    else:
        catalogues = {name: load_catalogue(name) for name in shipped_catalogues()}
    return {domain: catalogue.paper_split for domain, catalogue in catalogues.items() if catalogue.paper_split}
