"""Gold sets as pytest items: a file for each gold set, a collector for each reading, an item for each law.

Imported only where gold sets are asked for. What the items know of their outcome goes into `user_properties`, so that
the summary is the same when the items run in other processes (pytest-xdist).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from multigold.audit.golds.cases import ReadingMembership
from multigold.audit.golds.targets import AuditSettings, own_environments, texts_of
from multigold.catalogues.loading import CATALOGUE_FILE, TASKS_DIRECTORY, read_catalogue
from multigold.environments.base import Environment
from multigold.environments.replay import initial_state, replay, state_after_history
from multigold.errors import DataError, EnvironmentNotFoundError, GoldSetError, MultigoldError
from multigold.model.catalogue import Catalogue
from multigold.model.gold import GoldSet, Reading
from multigold.model.task import Task, ToolCall
from multigold.state.database import EndState
from multigold.testing.failures import LAWS, LawError
from multigold.testing.gold_laws import (
    assert_gated,
    assert_gold_matches_itself,
    assert_mutations_do_not_match,
    assert_order_independent,
    assert_readings_distinct,
    members_of,
)
from multigold.testing.laws import (
    assert_initial_state_untouched,
    assert_reads_change_nothing,
    assert_replay_deterministic,
)

MAX_MEMBERS: Final = 3
"""Members of a reading for which the searching laws are tried; each of them is checked against its own reading."""

PROPERTY: Final = "multigold"
"""Name of the property that carries what an item knows."""

MAX_LISTED: Final = 10
"""Inert mutations listed in the summary without `-v`."""


class SessionCache:
    """What collecting and running share: catalogues, environments, tasks; each loaded once, on first use.

    Args:
        config: pytest's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._catalogues: dict[Path, Catalogue] = {}
        self._environments: dict[str, Environment] = {}
        self._tasks: dict[Path, list[Task]] = {}

    @cached_property
    def settings(self) -> AuditSettings:
        """What the options say."""
        config = self.config
        places = (*config.getoption("--multigold-environment"), *config.getini("multigold_environments"))
        data_dir = config.getoption("--multigold-data-dir")
        here = config.invocation_params.dir
        named = [here / path for path in config.getoption("--multigold-tasks")]
        return AuditSettings(
            environments=own_environments(_anchored(place, config) for place in places),
            data_dir=None if data_dir is None else here / data_dir,
            tasks=(*named, *config.getini("multigold_tasks")),
        )

    def catalogue(self, directory: Path) -> Catalogue:
        """Return the catalogue of a directory.

        Raises:
            GoldSetError: If it has faults.
        """
        if directory not in self._catalogues:
            self._catalogues[directory] = read_catalogue(directory)
        return self._catalogues[directory]

    def environment(self, domain: str) -> Environment:
        """Return the environment of a domain: what a conftest.py or an option gives, else the one of that name.

        Raises:
            EnvironmentNotFoundError: If there is none.
            DataError: If its data is missing.
        """
        if domain not in self._environments:
            given = self.config.hook.pytest_multigold_environment(domain=domain, config=self.config)
            self._environments[domain] = given or self.settings.environment(domain)
        return self._environments[domain]

    def task(self, directory: Path, gold_set: GoldSet) -> Task:
        """Return the task of a gold set: the first known one with a text that the set was written for."""
        catalogue = self.catalogue(directory)
        if directory not in self._tasks:
            self._tasks[directory] = texts_of(catalogue, self.settings)
        texts = {text.fingerprint for text in gold_set.texts}
        known = (task for task in self._tasks[directory] if task.text_fingerprint() in texts)
        return next(known, None) or Task(gold_set.task_id, domain=catalogue.domain)


def _anchored(place: str, config: pytest.Config) -> str:
    """Return where an environment is, with a relative Python file taken from where pytest was started."""
    domain, equals, rest = place.rpartition("=")
    source, colon, name = rest.rpartition(":")
    if source.endswith(".py"):
        source = str(config.invocation_params.dir / source)
    return f"{domain}{equals}{source}{colon}{name}"


class GoldSetCollection:
    """The part of the plugin that is there only where gold sets are asked for.

    Args:
        config: pytest's configuration.
        directories: The directories that are asked for, absolute.
    """

    def __init__(self, config: pytest.Config, directories: Sequence[Path]) -> None:
        for directory in directories:
            if not _catalogues_in(directory):
                raise pytest.UsageError(
                    f"--multigold-gold-sets {directory}: there is no catalogue here. A catalogue is a directory with a "
                    f"{CATALOGUE_FILE} and a {TASKS_DIRECTORY}/<id>.json per task."
                )
        self.directories = list(directories)
        self.cache = SessionCache(config)
        self.reports: list[pytest.TestReport] = []

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect a gold set that stands in a directory that is asked for."""
        catalogue = file_path.parent.parent
        wanted = any(file_path.is_relative_to(directory) for directory in self.directories)
        if not wanted or file_path.suffix != ".json" or file_path.parent.name != TASKS_DIRECTORY:
            return None
        if not (catalogue / CATALOGUE_FILE).is_file():
            return None
        return GoldSetFile.from_parent(parent, path=file_path, cache=self.cache)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what an item knew of its outcome."""
        if any(name == PROPERTY for name, _ in report.user_properties) and (report.when == "call" or report.skipped):
            self.reports.append(report)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the counts of each law, and the mutations that change nothing."""
        if self.reports:
            terminalreporter.section("multigold gold sets")
            for line in summary(self.reports, verbose=terminalreporter.verbosity > 0):
                terminalreporter.write_line(line)


def _catalogues_in(directory: Path) -> bool:
    return (directory / CATALOGUE_FILE).is_file() or any(directory.glob(f"*/{CATALOGUE_FILE}"))


class GoldSetFile(pytest.File):
    """A gold set: the laws of each of its readings, and those of the set."""

    def __init__(self, *, cache: SessionCache, **more: Any) -> None:
        super().__init__(**more)
        self.cache = cache
        self.directory = self.path.parent.parent
        self.add_marker("multigold")

    @cached_property
    def gold_set(self) -> GoldSet:
        """The gold set of the file.

        Raises:
            GoldSetError: If the catalogue has faults.
        """
        name = self.path.relative_to(self.directory).as_posix()
        catalogue = self.cache.catalogue(self.directory)
        return next(gold_set for gold_set in catalogue if gold_set.source in (name, f"{TASKS_DIRECTORY}/{name}"))

    @cached_property
    def task(self) -> Task:
        """The task of the gold set."""
        return self.cache.task(self.directory, self.gold_set)

    @cached_property
    def environment(self) -> Environment:
        """The environment in which the gold set is replayed."""
        return self.cache.environment(self.cache.catalogue(self.directory).domain)

    @cached_property
    def start(self) -> EndState:
        """The state in which the task is handed to the agent."""
        start = initial_state(self.environment, self.task.initial, self.task.initial_state)
        return state_after_history(self.environment, start, self.task.initial_state)

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield a collector for each reading, and the law of the set."""
        try:
            gold_set = self.gold_set
        except (GoldSetError, StopIteration) as error:
            raise self.CollectError(str(error)) from None
        for reading in gold_set.readings:
            yield ReadingCollector.from_parent(self, name=reading.id, reading=reading)
        yield LawItem.from_parent(self, name="readings_distinct", reading=None)


class ReadingCollector(pytest.Collector):
    """The laws of one reading."""

    parent: GoldSetFile

    def __init__(self, *, reading: Reading, **more: Any) -> None:
        super().__init__(**more)
        self.reading = reading
        self.add_marker(pytest.mark.multigold_reading(reading.id))

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each law."""
        for law in READING_LAWS:
            yield LawItem.from_parent(self, name=law, reading=self.reading)


class LawItem(pytest.Item):
    """One law, of one reading or of the set."""

    def __init__(self, *, reading: Reading | None, **more: Any) -> None:
        super().__init__(**more)
        self.reading = reading
        self.add_marker(pytest.mark.multigold_law(self.name))

    @property
    def file(self) -> GoldSetFile:
        """The gold set's file."""
        found = self.getparent(GoldSetFile)
        assert found is not None
        return found

    def runtest(self) -> None:
        """Try the law."""
        of = f"{self.file.directory.name}/{self.file.gold_set.task_id}"
        known: dict[str, Any] = {"law": self.name, "set": of, "reading": self.reading.id if self.reading else ""}
        self.user_properties.append((PROPERTY, known))
        try:
            environment = self.file.environment
        except EnvironmentNotFoundError:
            raise
        except DataError as error:
            pytest.skip(str(error))
        subject = LawSubject(item=self, environment=environment, start=self.file.start, task=self.file.task)
        known.update((READING_LAWS[self.name] if self.reading else _distinct)(subject) or {})

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show a broken law, or what is wrong with the gold set, as a sentence and not as a traceback."""
        if isinstance(excinfo.value, LawError | MultigoldError):
            return str(excinfo.value)
        excinfo.traceback = excinfo.traceback.cut(path=__file__)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file, no line, and the law with its reading."""
        of = f"{self.reading.id}: " if self.reading else ""
        return self.path, None, f"task {self.file.gold_set.task_id}: {of}{self.name}"


# What the items do


@attrs.frozen(kw_only=True, eq=False, slots=False)
class LawSubject:
    """What a law is tried on.

    Attributes:
        item: The item.
        environment: Where calls are replayed.
        start: The state that the task starts in.
        task: The task.
    """

    item: LawItem
    environment: Environment
    start: EndState
    task: Task

    @property
    def runs(self) -> int:
        """How many examples are tried."""
        return int(self.item.config.getoption("--multigold-runs"))

    @property
    def gold_set(self) -> GoldSet:
        """The gold set."""
        return self.item.file.gold_set

    @property
    def reading(self) -> Reading:
        """The reading."""
        assert self.item.reading is not None
        return self.item.reading

    def golds(self, most: int | None = None) -> list[tuple[ToolCall, ...]]:
        """Return the calls of the reading's members that can be made; skips the test if it states none."""
        golds = [
            calls
            for _, calls, may_fail in members_of(self.reading, self.gold_set.source)
            if not (may_fail and replay(self.environment, calls, initial=self.start).refusals)
        ]
        if not golds:
            pytest.skip(f"the reading {self.reading.id} has no calls to replay")
        return golds[:most]


def _matches_itself(subject: LawSubject) -> None:
    subject.golds()
    assert_gold_matches_itself(subject.task, subject.gold_set, subject.environment, reading=subject.reading.id)


def _mutations(subject: LawSubject) -> dict[str, Any]:
    golds = subject.golds(MAX_MEMBERS)
    report = assert_mutations_do_not_match(
        subject.task,
        subject.gold_set,
        subject.environment,
        reading=subject.reading.id,
        golds_tried=golds,
        runs=subject.runs,
    )
    counts = {"tried": report.tried, "refused": report.refused, "admitted": len(report.admitted)}
    return {**counts, "inert": list(report.inert)}


def _deterministic(subject: LawSubject) -> None:
    for calls in subject.golds(MAX_MEMBERS):
        assert_replay_deterministic(subject.environment, calls, initial=subject.start, runs=subject.runs)


def _reads(subject: LawSubject) -> None:
    for calls in subject.golds(MAX_MEMBERS):
        assert_reads_change_nothing(subject.environment, calls, initial=subject.start, runs=subject.runs)


def _untouched(subject: LawSubject) -> None:
    for calls in subject.golds(MAX_MEMBERS):
        assert_initial_state_untouched(subject.environment, calls, initial=subject.start, runs=1)


def _order(subject: LawSubject) -> None:
    config = subject.item.config
    names = config.getoption("--multigold-equivalence")
    membership = ReadingMembership(subject.reading, subject.task)
    for calls in subject.golds(MAX_MEMBERS):
        try:
            assert_order_independent(
                subject.environment,
                calls,
                equivalences=names,
                admits=lambda state: membership.admits(state, subject.environment),
                initial=subject.start,
            )
        except LawError as error:
            if config.getoption("--multigold-strict-order"):
                raise
            pytest.xfail(f"the order of the writes matters: {error.detail}")


def _gated(subject: LawSubject) -> None:
    assert_gated(subject.task, subject.gold_set, subject.environment, reading=subject.reading.id)


def _distinct(subject: LawSubject) -> None:
    gold_set = subject.gold_set
    for selected in [gold_set.select(text) for text in gold_set.texts] or [gold_set]:
        assert_readings_distinct(subject.task, selected, subject.environment)


READING_LAWS: Final[Mapping[str, Callable[[LawSubject], dict[str, Any] | None]]] = {
    "gold_matches_itself": _matches_itself,
    "mutations_do_not_match": _mutations,
    "replay_deterministic": _deterministic,
    "reads_change_nothing": _reads,
    "initial_state_untouched": _untouched,
    "order_independent": _order,
    "gated": _gated,
}
"""Law to what tries it on a reading."""


# The summary


def summary(reports: Iterable[pytest.TestReport], *, verbose: bool = False) -> Iterator[str]:
    """Yield the lines of the summary: how each law came out, and the mutations that change nothing.

    Args:
        reports: The reports of the plugin's items.
        verbose: Whether to list all inert mutations.
    """
    known: list[tuple[dict[str, Any], str]] = [(_known(report), _outcome(report)) for report in reports]
    sets, readings = (
        {row["set"] for row, _ in known},
        {(row["set"], row["reading"]) for row, _ in known if row["reading"]},
    )
    yield f"{len(sets)} gold sets, {len(readings)} readings"
    counts = Counter((row["law"], outcome) for row, outcome in known)
    for law in (law for law in LAWS if any((law, outcome) in counts for outcome in _OUTCOMES)):
        line = ", ".join(f"{counts[law, outcome]} {outcome}" for outcome in _OUTCOMES if counts[law, outcome])
        yield f"  {law.ljust(24)} {line}"
    yield from _mutation_lines([row for row, _ in known if "tried" in row], verbose=verbose)


def _mutation_lines(rows: Sequence[Mapping[str, Any]], *, verbose: bool) -> Iterator[str]:
    if not rows:
        return
    inert = [f"  {row['set']}/{row['reading']}: {text}" for row in rows for text in row["inert"]]
    tried, refused, admitted = (sum(row[name] for row in rows) for name in ("tried", "refused", "admitted"))
    yield (
        f"{tried} mutations: {refused} with a call that fails, {admitted} that end in a state some reading admits, "
        f"{len(inert)} that change nothing"
    )
    yield from inert if verbose else inert[:MAX_LISTED]
    if len(inert) > MAX_LISTED and not verbose:
        yield f"  ... and {len(inert) - MAX_LISTED} more (-v lists all)"


_OUTCOMES: Final = ("passed", "failed", "xfailed", "skipped")


def _known(report: pytest.TestReport) -> dict[str, Any]:
    return next(value for name, value in report.user_properties if name == PROPERTY and isinstance(value, dict))


def _outcome(report: pytest.TestReport) -> str:
    return "xfailed" if report.skipped and hasattr(report, "wasxfail") else report.outcome
