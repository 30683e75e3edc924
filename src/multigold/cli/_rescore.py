"""`multigold rescore`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from multigold.cli._common import (
    RESULTS,
    make_options,
    print_all,
    progress_bar,
    scoring_options,
    strata_option,
    write_json,
)
from multigold.errors import MultigoldError
from multigold.rescoring import Options, check_recorded, rescore, summarise


@click.command(name="rescore")
@RESULTS
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write everything as JSON; - for stdout.")
@click.option("--by-task", is_flag=True, help="Add a table by task.")
@click.option(
    "--check-recorded",
    "check",
    is_flag=True,
    help="Only hold the strict single-gold verdict against the recorded one; exit status 1 where one differs.",
)
@strata_option
@scoring_options
def command(
    results: tuple[Path, ...], json_path: Path | None, by_task: bool, check: bool, strata: str, **scoring: Any
) -> None:
    """Re-score stored RESULTS against every reading, and count by stratum."""
    options = make_options({**scoring, "strata": strata})
    if check:
        _check(results, options, json_path)
    else:
        _rescore(results, options, json_path, by_task)


def _rescore(results: tuple[Path, ...], options: Options, json_path: Path | None, by_task: bool) -> None:
    from multigold.rendering.document import document
    from multigold.rendering.tables import file_lines, report_tables

    with progress_bar() as progress:
        rescoring = rescore(*results, options=options, keep_going=len(results) > 1, progress=progress)
    report = summarise(rescoring)
    if json_path is not None:
        write_json(document(rescoring, report), json_path)
    if json_path != Path("-"):
        print_all([*file_lines(rescoring.files), *report_tables(report, by_task=by_task)])
    broken = [file for file in rescoring.files if file.problem]
    if broken:
        raise MultigoldError(f"{len(broken)} of {len(results)} files could not be read: {broken[0].problem}")


def _check(results: tuple[Path, ...], options: Options, json_path: Path | None) -> None:
    from multigold.rendering.document import check_json
    from multigold.rendering.tables import check_lines

    checks = [check_recorded(path, options=options) for path in results]
    if json_path is not None:
        write_json(check_json(checks), json_path)
    if json_path != Path("-"):
        print_all(list(check_lines(checks)))
    if any(check.differ for check in checks):
        click.get_current_context().exit(1)
