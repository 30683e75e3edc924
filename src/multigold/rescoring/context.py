"""What is worked out once and used for many runs: environments, catalogues, compiled golds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from multigold.benchmark_data import LOCAL, known_release, load_environment, load_tasks
from multigold.catalogues.loading import load_catalogue_for
from multigold.environments.base import Environment
from multigold.errors import DataError, EnvironmentNotFoundError, MultigoldError
from multigold.model.catalogue import Catalogue
from multigold.model.gold import Actions, GoldSet, Reading
from multigold.model.task import Task
from multigold.model.verdict import Reason
from multigold.readers import AcceptableOutcome, ReadOptions, ResultsFile, ResultsSource, open_source
from multigold.rescoring.format_kinds import holds_verdicts, is_voice
from multigold.rescoring.options import Options
from multigold.scoring import CompiledGolds, compile_golds

if TYPE_CHECKING:
    from multigold.rescoring.nemo.judging import StateHashes


@attrs.frozen(kw_only=True, eq=False)
class FileContext:
    """What the runs of one file are scored with.

    Attributes:
        results: The file.
        environment: Where calls are replayed; None if the file gives end states and nothing need be replayed.
        catalogue: The catalogue of the domain; None if there is none.
        missing: Why none of its runs can be scored; None if nothing is missing.
        golds: By task id, each task that had a run already with its golds: the next run does not fingerprint its text.
    """

    results: ResultsFile
    environment: Environment | None = None
    catalogue: Catalogue | None = None
    missing: Reason | None = None
    golds: dict[str, tuple[Task, CompiledGolds]] = attrs.field(factory=dict, repr=False)


class ScoringContext:
    """Environments, catalogues and compiled golds, each made on first use.

    It belongs to one call of `rescore` or `check_recorded`, or to one worker process; nothing else outlives a run.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        # With the tasks that were read before: most files of a directory embed the same ones.
        self._read = ReadOptions(agent=options.agent_name or "", rejoin=options.rejoin)
        self._environments: dict[str, Environment] = {}
        self._catalogues: dict[str, Catalogue | None] = {}
        self._golds: dict[tuple[str | None, ...], CompiledGolds] = {}
        self._hashes: dict[str, StateHashes] = {}

    def open(self, source: ResultsSource) -> list[ResultsFile]:
        """Open a source; where a file embeds no tasks, with those of the release that was named or that it names.

        Raises:
            ResultsError: If it cannot be read.
            CallError: If no release has the name that was given.
            DataError: If the tasks of that release are not there.
        """
        opened = list(open_source(source, options=self._read))
        release = self.options.benchmark_release
        if all(not _needs_tasks(results, release) for results in opened):
            return opened
        return [self._with_tasks(results, source, index) for index, results in enumerate(opened)]

    def _with_tasks(self, results: ResultsFile, source: ResultsSource, index: int) -> ResultsFile:
        if not _needs_tasks(results, self.options.benchmark_release) or not results.domain:
            return results
        if is_voice(results):
            return self._with_texts(results, source, index)
        release = self.options.benchmark_release or results.release
        tasks = load_tasks(results.domain, release, data_dir=self.options.data_dir)
        if source.kind != "stdin":  # which cannot be read twice; its runs must then name their tasks
            results = list(open_source(source, options=attrs.evolve(self._read, tasks=tasks)))[index]
        return results if results.tasks else attrs.evolve(results, tasks=tasks)

    def _with_texts(self, results: ResultsFile, source: ResultsSource, index: int) -> ResultsFile:
        """Give a voice-agent run's tasks the texts of the tasks at hand, where they are what its user was told."""
        release = self.options.benchmark_release
        try:
            tasks = load_tasks(results.domain, release or LOCAL, data_dir=self.options.data_dir)
        except MultigoldError:
            if release is not None:
                raise
            return results
        told = list(open_source(source, options=attrs.evolve(self._read, tasks=tasks)))[index]
        catalogue = self._catalogue(results.domain)
        listed = catalogue.gold_sets if catalogue else {}
        others = [task.id for task in told.tasks.values() if task.instructions is None and task.id in listed]
        if not others:
            return told
        some = f"tasks {', '.join(others[:6])}{', ...' if len(others) > 6 else ''}"
        doubt = f"{some}: the text that the user was told is not that of the tasks at hand, so no gold set applies"
        return attrs.evolve(told, warnings=(*told.warnings, doubt))

    def for_file(self, results: ResultsFile, *, may_lack_data: bool = False) -> FileContext:
        """Return what the runs of a file are scored with.

        Args:
            results: The file.
            may_lack_data: Whether the benchmark's data may be missing: other files, of other domains, can still be
                scored, and the runs of this one are counted all the same, unscored.

        Raises:
            EnvironmentNotFoundError: If no environment has the file's domain, and runs would have to be replayed.
            DataError: If the benchmark's own data is missing and may not be.
            GoldSetError: If the catalogue has faults.
        """
        if holds_verdicts(results):
            return FileContext(results=results)
        try:
            catalogue = self._catalogue(results.domain)
            return FileContext(results=results, environment=self._environment(results), catalogue=catalogue)
        except DataError as error:
            if not may_lack_data:
                raise
            return FileContext(results=results, missing=Reason(code="environment_missing", sentence=str(error)))

    def _catalogue(self, domain: str) -> Catalogue | None:
        if domain not in self._catalogues:
            self._catalogues[domain] = load_catalogue_for(domain, directory=self.options.gold_sets)
        return self._catalogues[domain]

    def _environment(self, results: ResultsFile) -> Environment | None:
        domain = results.domain
        if domain not in self._environments:
            try:
                self._environments[domain] = load_environment(domain, data_dir=self.options.data_dir)
            except EnvironmentNotFoundError as error:
                if results.gold_sets or is_voice(results):
                    return None
                if not domain:
                    raise EnvironmentNotFoundError(
                        "the file does not say which domain its runs are of", where=results.name, remedy=error.remedy
                    ) from error
                raise EnvironmentNotFoundError(error.message, where=results.name, remedy=error.remedy) from error
        return attrs.evolve(self._environments[domain], solo=results.solo, ids=self.options.ids)

    def golds(self, task: Task, file: FileContext) -> CompiledGolds:
        """Return the compiled golds of a task, compiled on first use of its text and gold.

        Raises:
            GoldSetError: If the gold set is wrong.
        """
        known = file.golds.get(task.id)
        if known is None or known[0] is not task:
            known = file.golds[task.id] = (task, self._compiled(task, file))
        return known[1]

    def _compiled(self, task: Task, file: FileContext) -> CompiledGolds:
        own = file.results.name if file.results.gold_sets or file.results.acceptable else None
        key = (
            file.results.domain,
            file.results.format if is_voice(file.results) else None,
            own,
            task.id,
            task.text_fingerprint(),
            task.gold_fingerprint(),
            " ".join((task.criteria and task.criteria.reward_basis) or ()),
        )
        if key not in self._golds:
            gold_set, other = self._applicable(task, file)
            environment = attrs.evolve(file.environment, solo=False) if file.environment else None
            self._golds[key] = compile_golds(
                task, gold_set, environment, equivalences=self.options.equivalences, other_version=other
            )
            if is_voice(file.results) and environment is not None:
                from multigold.rescoring.nemo.judging import with_synchronised_gold

                self._golds[key] = with_synchronised_gold(self._golds[key], task, environment)
        return self._golds[key]

    def hashes(self, environment: Environment) -> StateHashes:
        """Return what hashes an environment's states, made on first use."""
        from multigold.rescoring.nemo.judging import StateHashes

        if environment.name not in self._hashes:
            self._hashes[environment.name] = StateHashes(environment)
        return self._hashes[environment.name]

    def _applicable(self, task: Task, file: FileContext) -> tuple[GoldSet | None, bool]:
        """Return the gold set that applies to a task, and whether the catalogue lists it with another text."""
        shipped = file.results.gold_sets.get(task.id)
        if shipped is not None:
            return shipped, False
        outcomes = [one for one in file.results.acceptable.get(task.id, ()) if one.actions is not None]
        if outcomes:
            return acceptable_gold_set(task.id, outcomes), False
        if file.catalogue is None or not self.lists(task.id, file):
            return None, False
        return file.catalogue.gold_set(task), file.catalogue.knows_other_text(task)

    def lists(self, task_id: str, file: FileContext) -> bool:
        """Tell whether the catalogue lists a task, with whatever text, and its entry counts under the options."""
        listed = file.catalogue.gold_sets.get(task_id) if file.catalogue else None
        return listed is not None and (listed.status != "proposed" or self.options.strata == "extended")

    def proposes(self, task: Task, file: FileContext) -> bool:
        """Tell whether the catalogue only proposes readings for a task's text, so that the options leave them out."""
        if file.catalogue is None or self.lists(task.id, file) or brings_own_golds(file.results, task.id):
            return False
        return file.catalogue.gold_set(task) is not None


def _needs_tasks(results: ResultsFile, release: str | None) -> bool:
    """Tell whether a file holds no tasks, or none of their texts, and these may be had elsewhere."""
    if is_voice(results):
        return True
    return not (results.tasks or results.embeds_tasks) and (release is not None or states_release(results))


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


def brings_own_golds(results: ResultsFile, task_id: str) -> bool:
    """Tell whether the readings of a task are the file's own, which is a stranger's, and not a catalogue's."""
    return task_id in results.gold_sets or task_id in results.acceptable
