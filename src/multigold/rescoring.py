"""Stored results in, verdicts out.

    file -> reader -> (task, trajectory) -> gold set + environment -> judge -> verdict

A database is parsed once per process and a task's golds are compiled once per text; a run then costs its own calls. One
bad run never stops a batch: it becomes unscored, with its place and the reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from multigold._version import __version__
from multigold.admission import CompiledGolds, compile_golds
from multigold.aggregation import Report, StrataOption, summarise_verdicts
from multigold.catalogues.loading import load_catalogue_for
from multigold.datasets import known_release, load_environment, load_tasks
from multigold.environments.base import Environment
from multigold.errors import CallError, GoldSetError, MultigoldError
from multigold.model.catalogue import Catalogue
from multigold.model.gold import GoldSet
from multigold.model.task import Task
from multigold.model.trajectory import Trajectory
from multigold.model.verdict import Reason, Verdict
from multigold.readers import ResultsFile, Run, open_results
from multigold.scoring import follow, judge
from multigold.state.canonical import Json
from multigold.state.database import GONE, EndState
from multigold.state.equivalence import check_names

Progress = Callable[[str, int], None]
"""`progress(file name, runs done)`, called after each run."""


@attrs.frozen(kw_only=True)
class Options:
    """How results are re-scored.

    Attributes:
        data_dir: Where the benchmark's data is; None to look in the usual places.
        gold_sets: Directory of a catalogue to use instead of the shipped ones.
        equivalences: Names of the equivalences to try after strict comparison.
        contested: Whether contested readings count too.
        benchmark_release: Which release's tasks to use where a file embeds none.
        agent_name: What to call the agent instead of what the file says.
        strata: How runs are put into strata; `extended` also applies the gold sets that the catalogue proposes.
    """

    data_dir: Path | None = None
    gold_sets: Path | None = None
    equivalences: tuple[str, ...] = attrs.field(default=(), converter=check_names)
    contested: bool = False
    benchmark_release: str | None = None
    agent_name: str | None = None
    strata: StrataOption = "default"


@attrs.frozen(kw_only=True)
class FileReport:
    """What was read from one file.

    Attributes:
        name: Its name as it was given.
        digest: SHA-256 of its bytes.
        format: The format that it was read as.
        domain: Its environment.
        agents: Agents in it.
        runs: How many runs.
        data_digest: SHA-256 of the database that calls were replayed on.
        catalogue_digest: Digest of the catalogue; empty where there is none for the domain.
        warnings: Sentences about the file as a whole.
        problem: Why nothing of it could be scored; empty where something could.
    """

    name: str
    digest: str = ""
    format: str = ""
    domain: str = ""
    agents: tuple[str, ...] = ()
    runs: int = 0
    data_digest: str = ""
    catalogue_digest: str = ""
    warnings: tuple[str, ...] = ()
    problem: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the report as plain data."""
        plain: dict[str, Json] = attrs.asdict(self)
        return {**plain, "agents": list(self.agents), "warnings": list(self.warnings)}


@attrs.frozen(kw_only=True)
class Rescoring:
    """The verdicts of one or more files, with what they were computed from.

    Attributes:
        files: One report per file, in the order in which they were given.
        verdicts: One verdict per run, in the order of the files.
        options: How they were re-scored.
        paper_split: Task ids of the paper's split, from the catalogues that were used.
    """

    files: tuple[FileReport, ...]
    verdicts: tuple[Verdict, ...]
    options: Options = attrs.field(factory=Options)
    paper_split: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    def provenance(self) -> dict[str, Json]:
        """Return what the verdicts were computed with: versions, digests, options."""
        options = self.options
        return {
            "multigold": __version__,
            "equivalences": list(options.equivalences),
            "contested": options.contested,
            "benchmark_release": options.benchmark_release,
            "strata": options.strata,
            "catalogues": {f.domain: f.catalogue_digest for f in self.files if f.catalogue_digest},
            "data": {f.domain: f.data_digest for f in self.files if f.data_digest},
        }


def rescore(
    *paths: str | Path, options: Options | None = None, keep_going: bool = False, progress: Progress | None = None
) -> Rescoring:
    """Re-score stored results.

    Args:
        paths: Result files, at least one.
        options: How; see `Options`.
        keep_going: Whether a file that cannot be read is reported and left out, instead of raising.
        progress: Called after each run.

    Returns:
        One verdict per run, in the order of the files, and a report per file.

    Raises:
        ResultsError: Where a file cannot be read and `keep_going` is False.
        DataError: Where the benchmark's own data is missing.
        GoldSetError: Where a gold set is wrong.
    """
    if not paths:
        raise CallError("there is nothing to re-score", remedy="Name at least one results file.")
    options = options or Options()
    desk = Desk(options)
    files: list[FileReport] = []
    verdicts: list[Verdict] = []
    for path in paths:
        try:
            report, judged = _rescore_file(Path(path), desk, progress)
        except GoldSetError:
            raise
        except MultigoldError as error:
            if not keep_going:
                raise
            report, judged = FileReport(name=str(path), problem=str(error)), []
        files.append(report)
        verdicts.extend(judged)
    return Rescoring(files=tuple(files), verdicts=tuple(verdicts), options=options, paper_split=desk.paper_split())


def rescore_runs(
    path: str | Path, *, task_id: str, trial: int | None = None, options: Options | None = None
) -> tuple[Verdict, ...]:
    """Re-score the runs of one task of a file, and no others.

    Args:
        path: The file.
        task_id: The task's id.
        trial: Only this trial; None for all.
        options: How; see `Options`.

    Raises:
        ResultsError: Where the file cannot be read.
        DataError: Where the benchmark's own data is missing.
    """
    desk = Desk(options or Options())
    results = open_results(Path(path))
    place = desk.place(results)
    return tuple(
        _named(judge_run(run, place, desk), results, str(path), desk.options)
        for run in results.runs
        if run.task_id == task_id and trial in (None, run.trajectory.trial)
    )


def _rescore_file(path: Path, desk: Desk, progress: Progress | None) -> tuple[FileReport, list[Verdict]]:
    results = open_results(path)
    place = desk.place(results)
    verdicts = []
    for run in results.runs:
        verdicts.append(_named(judge_run(run, place, desk), results, str(path), desk.options))
        if progress is not None:
            progress(str(path), len(verdicts))
    return _file_report(results, str(path), place, verdicts), verdicts


def _named(verdict: Verdict, results: ResultsFile, name: str, options: Options) -> Verdict:
    return attrs.evolve(
        verdict, file=name, domain=results.domain, agent=options.agent_name or verdict.agent or results.agent
    )


def _file_report(results: ResultsFile, name: str, place: Place, verdicts: Sequence[Verdict]) -> FileReport:
    return FileReport(
        name=name,
        digest=results.digest,
        format=results.format,
        domain=results.domain,
        agents=tuple(sorted({verdict.agent for verdict in verdicts})),
        runs=len(verdicts),
        data_digest=place.environment.data_digest,
        catalogue_digest=place.catalogue.digest if place.catalogue else "",
        warnings=(*results.warnings, *_doubts(verdicts)),
    )


def _doubts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield a warning where so many runs drift that the replay as a whole is in doubt."""
    drifting = sum(bool(verdict.fidelity.drift) for verdict in verdicts)
    if drifting * 10 >= len(verdicts) > 0 and drifting:
        yield (
            f"{drifting} of {len(verdicts)} runs do not replay as they were recorded: perhaps another version of the "
            "tools, another database, or solo mode"
        )


@attrs.frozen(kw_only=True, eq=False)
class Place:
    """What the runs of one file are scored with.

    Attributes:
        environment: Where calls are replayed.
        catalogue: The catalogue of the domain; None where there is none.
        tasks: The file's own tasks, or those of the release that was named.
    """

    environment: Environment
    catalogue: Catalogue | None
    tasks: Mapping[str, Task]


class Desk:
    """What is worked out once and used for many runs: environments, catalogues, compiled golds.

    It belongs to one call of `rescore` or `check_recorded`; nothing outlives it.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._environments: dict[str, Environment] = {}
        self._catalogues: dict[str, Catalogue | None] = {}
        self._golds: dict[tuple[str, str, str, str | None], CompiledGolds] = {}

    def place(self, results: ResultsFile) -> Place:
        """Return what the runs of a file are scored with."""
        domain, options = results.domain, self.options
        if domain not in self._environments:
            self._environments[domain] = load_environment(domain, data_dir=options.data_dir)
            self._catalogues[domain] = load_catalogue_for(domain, directory=options.gold_sets)
        release = options.benchmark_release or _stated_release(results)
        tasks = results.tasks
        if not tasks and release is not None:
            tasks = load_tasks(domain, release, data_dir=options.data_dir)
        return Place(environment=self._environments[domain], catalogue=self._catalogues[domain], tasks=tasks)

    def paper_split(self) -> tuple[str, ...]:
        """Return the task ids of the paper's split, from every catalogue that was used."""
        return tuple(task for catalogue in self._catalogues.values() if catalogue for task in catalogue.paper_split)

    def golds(self, task: Task, place: Place) -> CompiledGolds:
        """Return the compiled golds of a task, compiled on first use of its text and gold."""
        key = (place.environment.name, task.id, task.text_fingerprint(), task.gold_fingerprint())
        if key not in self._golds:
            gold_set, other = self._applicable(task, place.catalogue)
            self._golds[key] = compile_golds(
                task, gold_set, place.environment, equivalences=self.options.equivalences, other_version=other
            )
        return self._golds[key]

    def _applicable(self, task: Task, catalogue: Catalogue | None) -> tuple[GoldSet | None, bool]:
        listed = catalogue.gold_sets.get(task.id) if catalogue else None
        if catalogue is None or listed is None or (listed.status == "proposed" and self.options.strata != "extended"):
            return None, False
        return catalogue.gold_set(task), catalogue.knows_other_text(task)


def _stated_release(results: ResultsFile) -> str | None:
    """Return the release that the file itself names, where it is one that we know."""
    try:
        known_release(results.release)
    except MultigoldError:
        return None
    return results.release


def judge_run(run: Run, place: Place, desk: Desk) -> Verdict:
    """Score one run of a file; whatever is wrong with it makes it unscored, with its place."""
    task = place.tasks.get(run.task_id)
    blank = _unscored(run.trajectory, run.task_id, "", "")
    if run.problem is not None:
        return attrs.evolve(blank, reason=run.problem)
    if task is None:
        return attrs.evolve(blank, reason=_no_task(run, place))
    golds = desk.golds(task, place)
    try:
        return judge(task, run.trajectory, golds, environment=place.environment, contested=desk.options.contested)
    except MultigoldError as error:
        return _unscored(run.trajectory, task.id, "bad_run", f"{run.place}: {error}")
    except Exception as error:  # one bad run never stops a batch, whatever a stranger's file made of it
        return _unscored(run.trajectory, task.id, "bad_run", f"{run.place}: {type(error).__name__}: {error}")


def _no_task(run: Run, place: Place) -> Reason:
    if place.tasks:
        return Reason(code="task_unknown", sentence=f"{run.place}: the file has no task {run.task_id!r}")
    return Reason(
        code="tasks_missing",
        sentence="the file embeds no tasks; --benchmark-release says which release's tasks it was run on",
    )


def _unscored(trajectory: Trajectory, task_id: str, code: str, sentence: str) -> Verdict:
    return Verdict(
        outcome="unscored",
        reason=Reason(code=code, sentence=sentence),
        recorded=trajectory.recorded,
        termination=trajectory.termination,
        task_id=task_id,
        run_id=trajectory.run_id,
        trial=trajectory.trial,
        agent=trajectory.agent,
    )


def summarise(rescoring: Rescoring) -> Report:
    """Count the verdicts of a rescoring: per agent and stratum, and per task; see `multigold.aggregation.Report`."""
    digests = sorted({f"{f.domain} catalogue {f.catalogue_digest[:12]}" for f in rescoring.files if f.catalogue_digest})
    note = "; ".join((*digests, SELECTION_NOTE)) if digests else ""
    return summarise_verdicts(
        rescoring.verdicts,
        strata=rescoring.options.strata,
        paper_split=rescoring.paper_split,
        note=note,
        equivalences=rescoring.options.equivalences,
    )


SELECTION_NOTE = (
    "the paper found its affected tasks among those that GPT-5, Kimi and Mistral failed, so for these three agents the "
    "gap is measured on the runs that selected the tasks"
)


# Is the strict verdict the benchmark's own?


@attrs.frozen(kw_only=True)
class Check:
    """The strict verdict by the benchmark's gold held against the recorded one, for one file.

    Attributes:
        name: The file.
        runs: Runs in it.
        recorded: Runs with a recorded database verdict.
        agree: Runs where ours is the same.
        differ: Runs where it is not, each a sentence.
        unscored: Runs with a recorded verdict that we cannot score: reason code to number.
        spelling: Runs that match only because a whole float equals the int (tau2's hash keeps `1` and `1.0` apart).
    """

    name: str
    runs: int
    recorded: int
    agree: int
    differ: tuple[str, ...]
    unscored: Mapping[str, int]
    spelling: int


def check_recorded(path: str | Path, *, options: Options | None = None) -> Check:
    """Hold the strict single-gold verdict of every run against the database verdict recorded in the file (law 8).

    Raises:
        ResultsError: Where the file cannot be read.
        DataError: Where the benchmark's own data is missing.
    """
    desk = Desk(options or Options())
    results = open_results(Path(path))
    place = desk.place(results)
    runs = list(results.runs)
    recorded = [run for run in runs if run.trajectory.recorded.db_match is not None]
    verdicts = [judge_run(run, place, desk) for run in recorded]
    differ, unscored, spelling = [], Counter[str](), 0
    for run, verdict in zip(recorded, verdicts, strict=True):
        if verdict.benchmark_matched is None:
            unscored[verdict.reason.code if verdict.reason else "no_gold"] += 1
        elif verdict.benchmark_matched != verdict.recorded.db_match:
            differ.append(f"task {run.task_id} trial {verdict.trial} ({verdict.run_id}): {_sides(verdict)}")
        elif verdict.benchmark_matched:
            spelling += not _spelled_alike(run, place, desk)
    return Check(
        name=str(path),
        runs=len(runs),
        recorded=len(recorded),
        agree=len(recorded) - len(differ) - unscored.total(),
        differ=tuple(differ),
        unscored=dict(sorted(unscored.items())),
        spelling=spelling,
    )


def _sides(verdict: Verdict) -> str:
    return f"recorded {verdict.recorded.db_match}, ours {verdict.benchmark_matched}"


def _spelled_alike(run: Run, place: Place, desk: Desk) -> bool:
    """Tell whether a matching end state is also written as the gold's is, so that tau2's hash is the same."""
    golds = desk.golds(place.tasks[run.task_id], place)
    if golds.benchmark is None:
        return True
    walk = follow(run.trajectory, golds.start, place.environment)
    return _spelling(golds.benchmark.state, golds) == _spelling(golds.candidate(walk.end_state).state, golds)


def _spelling(state: EndState, golds: CompiledGolds) -> str:
    """Return the records that changed as JSON text, in which `1` and `1.0` differ."""
    sides = zip(state.sides(), golds.initial.sides(), strict=True)
    places = [(side, *place) for (side, end), (_, start) in sides for place in end.touched(start)]
    databases = dict(state.sides())
    records = {"/".join(place): databases[place[0]].find(*place[1:]) for place in places}
    return json.dumps({k: v for k, v in records.items() if v is not GONE}, sort_keys=True)
