"""`multigold validate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import click

from multigold.audit.golds.targets import own_environments, read_tasks_at
from multigold.benchmark_data import KNOWN_RELEASES, LOCAL, load_environment, load_policy, load_tasks
from multigold.catalogues.lint import LintContext, lint_directory
from multigold.catalogues.loading import catalogue_directories, decode_catalogue, read_files, shipped_directory
from multigold.cli._common import DATA_DIR, ENVIRONMENTS, JSON, write_json
from multigold.environments.base import Environment
from multigold.errors import CallError, DataError
from multigold.files.cursor import Finding
from multigold.model.task import Task
from multigold.state.explain import printable


@click.command(name="validate")
@click.argument("directory", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@ENVIRONMENTS
@DATA_DIR
@click.option(
    "--tasks",
    "task_files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A task file to check the gold sets against, in addition to those that are found. May be given several times.",
)
@click.option("--quiet", is_flag=True, help="Print errors only, without notes.")
@JSON
def command(
    directory: Path | None,
    environments: tuple[str, ...],
    data_dir: Path | None,
    task_files: tuple[Path, ...],
    quiet: bool,
    json_path: Path | None,
) -> None:
    """Check the catalogues in DIRECTORY, or the shipped ones: form, references, replay of every member.

    Every fault is reported at once, with its file and its place in it. Exit status 1 if there is one.
    """
    found: list[Finding] = []
    own = own_environments(environments)
    for place in catalogue_directories(_directory(directory)):
        catalogue, findings = lint_directory(place, lint_context(place, data_dir, task_files, own))
        found += findings
        if json_path != Path("-"):
            click.echo(printable(f"{place}: {len(catalogue.gold_sets)} gold sets, {_summary(findings)}"))
            for finding in findings:
                if not quiet or finding.level == "error":
                    click.echo(printable(f"  {finding.level} {finding.code}: {finding}"))
    if json_path is not None:
        write_json({"schema": "multigold/validate/1", "findings": [_finding_json(f) for f in found]}, json_path)
    if any(finding.level == "error" for finding in found):
        click.get_current_context().exit(1)


def _directory(directory: Path | None) -> Path:
    chosen = directory or shipped_directory()
    if chosen is None:
        raise CallError("this installation ships no gold sets", remedy="Name a directory.")
    return chosen


def _summary(findings: list[Finding]) -> str:
    errors = sum(finding.level == "error" for finding in findings)
    notes = len(findings) - errors
    return f"{errors} error{'' if errors == 1 else 's'}, {notes} note{'' if notes == 1 else 's'}"


def _finding_json(finding: Finding) -> dict[str, str]:
    return {name: getattr(finding, name) for name in ("level", "code", "where", "sentence")}


def lint_context(
    place: Path,
    data_dir: Path | None,
    task_files: Sequence[Path],
    environments: Mapping[str, Environment] = MappingProxyType({}),
) -> LintContext:
    """Return what a catalogue is checked against: the benchmark's own data if it is found, and tasks that are named.

    Args:
        place: The catalogue's directory.
        data_dir: Directory of the benchmark's own data.
        task_files: Tasks in addition to those that are found.
        environments: Environments by domain, which stand before those that are found; `""` serves any domain.
    """
    domain = decode_catalogue(read_files(place, []), []).domain
    own = environments.get(domain, environments.get(""))
    if own is not None:
        return LintContext(environment=own, tasks=tuple(_named_tasks(domain, task_files)))
    try:
        environment = load_environment(domain, data_dir)
    except DataError:
        return LintContext()
    try:
        policy: bytes | None = load_policy(domain, data_dir).path.read_bytes()
    except DataError:
        policy = None
    tasks = (*_found_tasks(domain, data_dir), *_named_tasks(domain, task_files))
    return LintContext(environment=environment, policy=policy, tasks=tasks)


def _found_tasks(domain: str, data_dir: Path | None) -> Iterator[Task]:
    """Yield the tasks of every release that is found."""
    for release in (*(known.name for known in KNOWN_RELEASES), LOCAL):
        try:
            yield from load_tasks(domain, release, data_dir).values()
        except DataError:
            continue


def _named_tasks(domain: str, task_files: Sequence[Path]) -> Iterator[Task]:
    for path in task_files:
        yield from (version.task for version in read_tasks_at(path, domain).tasks.values())
