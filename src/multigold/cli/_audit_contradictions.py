"""`multigold audit contradictions`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from multigold.audit.golds.contradictions import (
    Contradiction,
    computed_positions,
    contradictions_json,
    find_contradictions,
    stated_positions,
)
from multigold.benchmark_data import KNOWN_RELEASES, load_environment
from multigold.benchmark_data.releases import domain_of, read_release
from multigold.catalogues import load_catalogue, shipped_catalogues
from multigold.cli._common import DATA_DIR, JSON, print_all, write_json
from multigold.errors import CallError
from multigold.model.catalogue import Catalogue


@click.command(name="contradictions")
@click.argument("catalogues", nargs=-1, metavar="[CATALOGUE]...")
@click.option(
    "--tasks",
    "task_files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="Replay the golds of this task file, instead of taking what the catalogue states. May be given several times.",
)
@DATA_DIR
@JSON
def command(
    catalogues: tuple[str, ...], task_files: tuple[Path, ...], data_dir: Path | None, json_path: Path | None
) -> None:
    """Find golds that take opposite sides of one loophole: between tasks, between releases, in a fork.

    CATALOGUE is the name of a shipped catalogue or a directory; all shipped ones without it. Exit status 1 if there
    are any.
    """
    chosen = [load_catalogue(name) for name in catalogues or shipped_catalogues()]
    found = _computed(chosen, task_files, data_dir) if task_files else _stated(chosen)
    if json_path is not None:
        write_json(contradictions_json({catalogue.domain: pairs for catalogue, pairs in found}), json_path)
    if json_path != Path("-"):
        _print(found)
    if any(pairs for _, pairs in found):
        click.get_current_context().exit(1)


Found = list[tuple[Catalogue, tuple[Contradiction, ...]]]


def _stated(catalogues: list[Catalogue]) -> Found:
    return [(catalogue, find_contradictions(stated_positions(catalogue), catalogue)) for catalogue in catalogues]


def _computed(catalogues: list[Catalogue], task_files: tuple[Path, ...], data_dir: Path | None) -> Found:
    by_domain = {catalogue.domain: catalogue for catalogue in catalogues}
    releases = [read_release(path) for path in task_files]
    domain = next(iter(by_domain)) if len(by_domain) == 1 else domain_of(*releases)
    if domain not in by_domain:
        raise CallError(
            f"no catalogue is for the domain {domain!r} of the tasks", remedy="Name the catalogue's directory."
        )
    catalogue, environment = by_domain[domain], load_environment(domain, data_dir=data_dir)
    positions = [
        position
        for release in releases
        for position in computed_positions(
            [version.task for version in release.tasks.values()],
            catalogue,
            environment,
            release=_release_name(domain, release.digest) or Path(release.name).stem,
        )
    ]
    return [(catalogue, find_contradictions(positions, catalogue))]


def _release_name(domain: str, digest: str) -> str:
    return next((known.name for known in KNOWN_RELEASES if known.tasks.get(domain) == digest), "")


def _print(found: Found) -> None:
    from multigold.rendering.contradictions import contradiction_tables

    lines: list[Any] = []
    for catalogue, pairs in found:
        lines += contradiction_tables(pairs, catalogue)
    print_all(lines)
