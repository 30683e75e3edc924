"""What is worked out once and used for many runs: environments, catalogues, compiled golds."""

from __future__ import annotations

import attrs

from multigold.admission import CompiledGolds, compile_golds
from multigold.catalogues.loading import load_catalogue_for
from multigold.datasets import known_release, load_environment, load_tasks
from multigold.environments.base import Environment
from multigold.errors import EnvironmentNotFoundError, GoldSetError, MultigoldError
from multigold.model.catalogue import Catalogue
from multigold.model.gold import Actions, GoldSet, Reading
from multigold.model.task import Task
from multigold.model.trajectory import Trajectory
from multigold.model.verdict import Reason, Verdict
from multigold.readers import AcceptableOutcome, ReadOptions, ResultsFile, Run, Source, open_source
from multigold.rescoring.options import Options
from multigold.scoring import judge


@attrs.frozen(kw_only=True, eq=False)
class Place:
    """What the runs of one file are scored with.

    Attributes:
        results: The file.
        environment: Where calls are replayed; None where the file gives end states and nothing need be replayed.
        catalogue: The catalogue of the domain; None where there is none.
    """

    results: ResultsFile
    environment: Environment | None
    catalogue: Catalogue | None


class Desk:
    """Environments, catalogues and compiled golds, each made on first use.

    It belongs to one call of `rescore` or `check_recorded`, or to one worker process; nothing else outlives a run.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._environments: dict[str, Environment] = {}
        self._catalogues: dict[str, Catalogue | None] = {}
        self._golds: dict[tuple[str | None, ...], CompiledGolds] = {}

    def open(self, source: Source) -> list[ResultsFile]:
        """Open a source; where a file embeds no tasks, with those of the release that was named or that it names.

        Raises:
            ResultsError: Where it cannot be read.
            CallError: Where no release has the name that was given.
            DataError: Where the tasks of that release are not there.
        """
        read = ReadOptions(agent=self.options.agent_name or "", rejoin=self.options.rejoin)
        opened = list(open_source(source, options=read))
        release = self.options.benchmark_release
        if all(results.tasks or not (release or states_release(results)) for results in opened):
            return opened
        return [self._with_tasks(results, source, read, place) for place, results in enumerate(opened)]

    def _with_tasks(self, results: ResultsFile, source: Source, read: ReadOptions, place: int) -> ResultsFile:
        release = self.options.benchmark_release or (results.release if states_release(results) else None)
        if results.tasks or release is None or not results.domain:
            return results
        tasks = load_tasks(results.domain, release, data_dir=self.options.data_dir)
        if source.kind != "stdin":  # which cannot be read twice; its runs must then name their tasks
            results = list(open_source(source, options=attrs.evolve(read, tasks=tasks)))[place]
        return results if results.tasks else attrs.evolve(results, tasks=tasks)

    def place(self, results: ResultsFile) -> Place:
        """Return what the runs of a file are scored with.

        Raises:
            EnvironmentNotFoundError: Where no environment has the file's domain, and runs would have to be replayed.
            DataError: Where the benchmark's own data is missing.
            GoldSetError: Where the catalogue has faults.
        """
        domain = results.domain
        if domain not in self._catalogues:
            self._catalogues[domain] = load_catalogue_for(domain, directory=self.options.gold_sets)
        return Place(results=results, environment=self._environment(results), catalogue=self._catalogues[domain])

    def _environment(self, results: ResultsFile) -> Environment | None:
        domain = results.domain
        if domain not in self._environments:
            try:
                self._environments[domain] = load_environment(domain, data_dir=self.options.data_dir)
            except EnvironmentNotFoundError as error:
                if results.gold_sets:
                    return None
                if not domain:
                    raise EnvironmentNotFoundError(
                        "the file does not say which domain its runs are of", where=results.name, remedy=error.remedy
                    ) from error
                raise EnvironmentNotFoundError(error.message, where=results.name, remedy=error.remedy) from error
        return attrs.evolve(self._environments[domain], solo=results.solo, ids=self.options.ids)

    def golds(self, task: Task, place: Place) -> CompiledGolds:
        """Return the compiled golds of a task, compiled on first use of its text and gold.

        Raises:
            GoldSetError: Where the gold set is wrong.
        """
        own = place.results.name if place.results.gold_sets or place.results.acceptable else None
        key = (place.results.domain, own, task.id, task.text_fingerprint(), task.gold_fingerprint())
        if key not in self._golds:
            gold_set, other = self._applicable(task, place)
            environment = attrs.evolve(place.environment, solo=False) if place.environment else None
            self._golds[key] = compile_golds(
                task, gold_set, environment, equivalences=self.options.equivalences, other_version=other
            )
        return self._golds[key]

    def _applicable(self, task: Task, place: Place) -> tuple[GoldSet | None, bool]:
        """Return the gold set that applies to a task, and whether the catalogue lists it with another text."""
        shipped = place.results.gold_sets.get(task.id)
        if shipped is not None:
            return shipped, False
        outcomes = [one for one in place.results.acceptable.get(task.id, ()) if one.actions is not None]
        if outcomes:
            return acceptable_gold_set(task.id, outcomes), False
        listed = place.catalogue.gold_sets.get(task.id) if place.catalogue else None
        if place.catalogue is None or listed is None:
            return None, False
        if listed.status == "proposed" and self.options.strata != "extended":
            return None, False
        return place.catalogue.gold_set(task), place.catalogue.knows_other_text(task)


def states_release(results: ResultsFile) -> bool:
    """Tell whether the file names a benchmark release that we know."""
    try:
        known_release(results.release)
    except MultigoldError:
        return False
    return True


def acceptable_gold_set(task_id: str, outcomes: list[AcceptableOutcome]) -> GoldSet:
    """Return a fork's own list of acceptable outcomes (`evaluation_criteria.acceptable_outcomes`) as a gold set."""
    readings = tuple(
        Reading(
            id=outcome.id,
            title=outcome.description,
            admits=(Actions(outcome.actions or ()),),
            communicate=outcome.communicate or None,
            worth=outcome.reward,
        )
        for outcome in outcomes
    )
    return GoldSet(task_id=task_id, title="acceptable outcomes, as the file lists them", readings=readings)


def judge_run(run: Run, place: Place, desk: Desk) -> Verdict:
    """Score one run of a file; whatever is wrong with it makes it unscored, with its place.

    Raises:
        GoldSetError: Where the gold set is wrong, which is no fault of the run.
    """
    task = place.results.tasks.get(run.task_id)
    if run.problem is not None or task is None:
        return unscored_run(run, run.problem or _no_task(run, place))
    try:
        golds = desk.golds(task, place)
        return judge(
            task,
            run.trajectory,
            golds,
            environment=place.environment,
            contested=desk.options.contested,
            check_reads=desk.options.check_reads,
        )
    except GoldSetError:
        raise
    except MultigoldError as error:
        return unscored_run(run, Reason(code="bad_run", sentence=f"{run.place}: {error}"))
    except Exception as error:  # one bad run never stops a batch, whatever a stranger's file made of it
        return unscored_run(run, Reason(code="bad_run", sentence=f"{run.place}: {type(error).__name__}: {error}"))


def _no_task(run: Run, place: Place) -> Reason:
    if place.results.tasks:
        return Reason(code="task_unknown", sentence=f"{run.place}: the file has no task {run.task_id!r}")
    return Reason(
        code="tasks_missing",
        sentence="the file embeds no tasks; --benchmark-release says which release's tasks it was run on",
    )


def unscored_run(run: Run, reason: Reason) -> Verdict:
    """Return the verdict on a run that cannot be scored."""
    trajectory: Trajectory = run.trajectory
    return Verdict(
        outcome="unscored",
        reason=reason,
        recorded=trajectory.recorded,
        termination=trajectory.termination,
        task_id=run.task_id,
        run_id=trajectory.run_id,
        trial=trajectory.trial,
        agent=trajectory.agent,
    )


def named(verdict: Verdict, results: ResultsFile, options: Options) -> Verdict:
    """Return a verdict with the names of its file, domain and agent."""
    return attrs.evolve(
        verdict,
        file=results.name,
        domain=results.domain,
        agent=options.agent_name or verdict.agent or results.agent,
    )
