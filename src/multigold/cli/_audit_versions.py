"""`multigold audit versions`."""

from __future__ import annotations

from pathlib import Path

import click

from multigold.audit.versions import PARTS, VersionDiff, compare_releases
from multigold.benchmark_data import load_environment
from multigold.benchmark_data.releases import domain_of, read_releases
from multigold.catalogues import load_catalogue
from multigold.cli._common import DATA_DIR, JSON, print_all, write_json
from multigold.environments.base import Environment
from multigold.errors import CallError, DataError
from multigold.stats.exact import TaskOverlap

PAPER = "paper"


@click.command(name="versions")
@click.argument("old")
@click.argument("new")
@click.option(
    "--domain",
    default="",
    metavar="NAME",
    help="Environment, such as tau2-airline; by default the one that the tasks name.",
)
@DATA_DIR
@click.option(
    "--overlap",
    metavar="TASKS",
    help="Task ids, separated by commas, or `paper`: how surprising is it that so many of them changed?",
)
@click.option(
    "--aside",
    multiple=True,
    type=click.Choice(PARTS),
    default=("reward_basis",),
    show_default=True,
    help="Parts whose change does not count for the overlap. May be given several times.",
)
@JSON
def command(
    old: str,
    new: str,
    domain: str,
    data_dir: Path | None,
    overlap: str | None,
    aside: tuple[str, ...],
    json_path: Path | None,
) -> None:
    """Compare two releases, OLD and NEW: task files, directories of a domain, or results files with tasks in them.

    Either may also be the name of a known release, such as 37199f3, whose tasks are looked for in --data-dir and then
    where the benchmark's data usually is; a path that exists wins. Exit status 1 if something changed in more than
    cosmetics.
    """
    releases = read_releases((old, new), domain=domain, data_dir=data_dir)
    name = domain or domain_of(*releases)
    # Beside the name of a release, --domain says whose tasks are meant; that asks for no replay.
    asked = bool(domain) and all(Path(place).exists() for place in (old, new))
    environment, reason = _environment(name, data_dir, asked=asked)
    found = compare_releases(releases[0], releases[1], environment)
    chance = None if overlap is None else found.overlap(_tasks(overlap, name), aside=aside)
    if json_path is not None:
        write_json(_document(found, chance, environment is not None), json_path)
    if json_path != Path("-"):
        _print(found, chance, reason)
    if (
        found.substantive
        or found.only_old
        or found.only_new
        or "differs" in (found.policy.status, found.database.status)
    ):
        click.get_current_context().exit(1)


def _environment(name: str, data_dir: Path | None, *, asked: bool) -> tuple[Environment | None, str]:
    """Return the environment; if there is none and none was asked for, None and why."""
    try:
        return load_environment(name, data_dir=data_dir), ""
    except DataError as error:
        if asked:
            raise
        return None, str(error)


def _tasks(text: str, domain: str) -> tuple[str, ...]:
    if text == PAPER:
        return load_catalogue(domain).paper_split
    tasks = tuple(part.strip() for part in text.split(",") if part.strip())
    if not tasks:
        raise CallError("--overlap names no task", remedy="Give ids separated by commas, such as 2,5,13.")
    return tasks


def _document(found: VersionDiff, chance: TaskOverlap | None, replayed: bool) -> dict[str, object]:
    numbers = None
    if chance is not None:
        names = ("population", "marked", "drawn", "hits", "expected", "p_value")
        numbers = {name: getattr(chance, name) for name in names}
    return {**found.to_json(), "golds_replayed": replayed, "overlap": numbers}


def _print(found: VersionDiff, chance: TaskOverlap | None, reason: str) -> None:
    from multigold.rendering.versions import overlap_line, version_tables
    from multigold.state.explain import printable

    lines = version_tables(found, replayed=not reason)
    if reason:
        lines.insert(0, printable(f"golds were not replayed: {reason}"))
    if chance is not None:
        lines.append(overlap_line(chance))
    print_all(lines)
