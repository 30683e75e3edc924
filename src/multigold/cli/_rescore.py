"""`multigold rescore`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from multigold.aggregation import Summary
from multigold.cli._common import (
    RESULTS,
    make_options,
    opened_for_writing,
    print_all,
    progress_bar,
    scoring_options,
    strata_option,
    write_json,
)
from multigold.errors import MultigoldError
from multigold.model.verdict import Verdict
from multigold.rescoring import FileReport, Options, check_recorded, paper_split, strata_note, stream

if TYPE_CHECKING:
    from multigold.rendering.document import DocumentWriter


@click.command(name="rescore")
@RESULTS
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write everything as JSON; - for stdout.")
@click.option("--by-task", is_flag=True, help="Add a table by task.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to use.")
@click.option(
    "--check-recorded",
    "check",
    is_flag=True,
    help="Only hold the strict single-gold verdict against the recorded one; exit status 1 where one differs.",
)
@strata_option
@scoring_options
def command(
    results: tuple[str, ...],
    json_path: Path | None,
    by_task: bool,
    jobs: int,
    check: bool,
    strata: str,
    **scoring: Any,
) -> None:
    """Re-score stored RESULTS against every reading, and count by stratum.

    RESULTS are files, directories, archives or patterns; - is standard input.
    """
    options = make_options({**scoring, "strata": strata})
    if check:
        _check(results, options, json_path)
    else:
        _rescore(results, options, json_path, by_task, jobs)


def _rescore(results: tuple[str, ...], options: Options, json_path: Path | None, by_task: bool, jobs: int) -> None:
    from multigold.rendering.tables import file_lines, report_tables

    split = paper_split(options)
    summary, files = Summary(options.strata, paper_split=split), []
    with progress_bar() as progress, _writer(json_path) as writer:
        for item in stream(*results, options=options, keep_going=len(results) > 1, jobs=jobs, progress=progress):
            if isinstance(item, FileReport):
                files.append(item)
            else:
                _take(item, summary, writer)
        report = summary.report(note=strata_note(tuple(files)), equivalences=options.equivalences)
        if writer is not None:
            writer.close(options, tuple(files), report)
    if json_path != Path("-"):
        print_all([*file_lines(files), *report_tables(report, by_task=by_task)])
    broken = [file for file in files if file.problem]
    if broken:
        raise MultigoldError(f"{len(broken)} of {len(files)} files could not be read: {broken[0].problem}")


def _take(verdict: Verdict, summary: Summary, writer: DocumentWriter | None) -> None:
    summary.add(verdict)
    if writer is not None:
        writer.add(verdict)


@contextmanager
def _writer(path: Path | None) -> Iterator[DocumentWriter | None]:
    """Yield a writer of the JSON document; None where none was asked for."""
    if path is None:
        yield None
        return
    from multigold.rendering.document import DocumentWriter

    with opened_for_writing(path) as target:
        yield DocumentWriter(target)


def _check(results: tuple[str, ...], options: Options, json_path: Path | None) -> None:
    from multigold.rendering.document import check_json
    from multigold.rendering.tables import check_lines

    checks = [check for path in results for check in check_recorded(path, options=options)]
    if json_path is not None:
        write_json(check_json(checks), json_path)
    if json_path != Path("-"):
        print_all(list(check_lines(checks)))
    if any(check.differ for check in checks):
        click.get_current_context().exit(1)
