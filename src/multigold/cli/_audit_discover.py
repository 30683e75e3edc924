"""`multigold audit discover`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import click

from multigold.audit.runs.discover import Discoveries, discover
from multigold.audit.runs.judged import audited_runs
from multigold.audit.runs.stubs import write_stubs
from multigold.cli._common import (
    JSON,
    RESULTS,
    left_out_lines,
    make_options,
    print_all,
    progress_bar,
    scoring_options,
    several,
    stop_where_broken,
    write_json,
)
from multigold.rescoring import FileReport


@click.command(name="discover")
@RESULTS
@click.option("--min-agents", type=click.IntRange(min=1), default=2, show_default=True, help="Fewest different agents.")
@click.option(
    "--top", type=click.IntRange(min=1), default=20, show_default=True, help="Show at most this many end states."
)
@click.option("--changed", is_flag=True, help="Leave out untouched databases.")
@click.option("--new", "only_new", is_flag=True, help="Leave out end states that the catalogue knows.")
@click.option(
    "--stubs",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write stub gold sets for the end states shown to this directory, for a person to edit.",
)
@JSON
@scoring_options
def command(
    results: tuple[Path, ...],
    min_agents: int,
    top: int,
    changed: bool,
    only_new: bool,
    stubs: Path | None,
    json_path: Path | None,
    **scoring: Any,
) -> None:
    """Find end states that several agents reach in RESULTS and the gold is not: candidate readings, or common errors.

    Exit status 1 if there are any. Of several files, one that cannot be read is named, the others are audited, and
    the exit status is 2.
    """
    files: list[FileReport] = []
    with progress_bar() as progress:
        report = files.append if several(results) else None
        runs = audited_runs(*results, options=make_options(scoring), progress=progress, on_report=report)
        found = discover(runs, min_agents=min_agents)
    unread = left_out_lines(files, shown=json_path != Path("-"))
    found = _chosen(found, changed=changed, only_new=only_new)
    if json_path is not None:
        write_json(found.to_json(), json_path)
    if json_path != Path("-"):
        _print(found, unread, top)
    if stubs is not None:
        written = write_stubs(found.found[:top], stubs)
        click.echo(f"{len(written)} files written to {click.format_filename(stubs)}", err=True)
    stop_where_broken(files)
    if found.found:
        click.get_current_context().exit(1)


def _chosen(found: Discoveries, *, changed: bool, only_new: bool) -> Discoveries:
    kept = [
        discovery
        for discovery in found.found
        if not (changed and discovery.cluster.untouched) and not (only_new and discovery.known in ("reading", "off"))
    ]
    return attrs.evolve(found, found=tuple(kept))


def _print(found: Discoveries, unread: list[str], top: int) -> None:
    from multigold.rendering.runs_audit import discovery_tables

    print_all([*unread, *discovery_tables(found, top=top)])
