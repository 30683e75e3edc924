"""`multigold rescore`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from click.core import ParameterSource

from multigold.cli._common import (
    JSON,
    RESULTS,
    make_options,
    opened_for_writing,
    print_all,
    progress_bar,
    scoring_options,
    several,
    stop_where_broken,
    strata_option,
    write_json,
)
from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.rescoring import FileReport, Options, in_force, paper_split, strata_note, stream
from multigold.stats.aggregation import Report, ReportBuilder

if TYPE_CHECKING:
    from multigold.rendering.document import DocumentWriter


@click.command(name="rescore")
@RESULTS
@JSON
@click.option("--html", "html_path", type=click.Path(path_type=Path), help="Write a page of tables and changed runs.")
@click.option("--by-task", is_flag=True, help="Add a table by task.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to use.")
@click.option(
    "--check-recorded",
    "check",
    is_flag=True,
    help="Only compare the strict single-gold verdict with the recorded one; exit status 1 if any differs. Options "
    "for readings, tables and processes do not apply.",
)
@strata_option
@scoring_options
def command(
    results: tuple[str, ...],
    json_path: Path | None,
    html_path: Path | None,
    by_task: bool,
    jobs: int,
    check: bool,
    strata: str,
    **scoring: Any,
) -> None:
    """Re-score stored RESULTS against every reading, and count by stratum.

    RESULTS are files, directories, archives or patterns; - is standard input. Of several, one that cannot be read is
    named, the others are counted, and the exit status is 2.
    """
    options = make_options({**scoring, "strata": strata})
    if check:
        _refuse_beside_check()
    if json_path is not None and json_path == html_path:
        raise CallError("--json and --html would write to the same place", remedy="Name two files.")
    if check:
        _check(results, options, json_path)
    else:
        _rescore(results, options, Output(json=json_path, html=html_path, by_task=by_task), jobs)


@attrs.frozen(kw_only=True)
class Output:
    """Where the results go besides the terminal, and how much of them goes there."""

    json: Path | None
    html: Path | None
    by_task: bool


def _rescore(results: tuple[str, ...], options: Options, output: Output, jobs: int) -> None:
    from multigold.rendering.tables import file_lines, report_tables

    is_shown = _change_filter() if output.html is not None else None
    summary = ReportBuilder(options.strata, paper_split=paper_split(options))
    files: list[FileReport] = []
    changed: list[Verdict] = []
    with progress_bar() as progress, _writer(output.json) as writer:
        for item in stream(*results, options=options, keep_going=several(results), jobs=jobs, progress=progress):
            if isinstance(item, FileReport):
                files.append(item)
                continue
            summary.add(item)
            if writer is not None:
                writer.add(item)
            if is_shown is not None and is_shown(item, len(changed)):
                changed.append(item)
        report = summary.report(note=strata_note(tuple(files)), equivalences=in_force(files))
        if writer is not None:
            writer.close(options, tuple(files), report)
    if output.html is not None:
        _write_page(output.html, report, tuple(files), tuple(changed), options)
    if Path("-") not in (output.json, output.html):
        tables = report_tables(report, by_task=output.by_task) if report.overall else ["there are no runs to count"]
        print_all([*file_lines(files), *tables])
    stop_where_broken(files)


def _change_filter() -> Callable[[Verdict, int], bool]:
    """Return what tells whether a verdict is among the changes that the page shows, given so many others.

    Raises:
        MultigoldError: If what the page is made with is not installed.
    """
    from multigold.rendering.html import MAX_SHOWN, changes, require_jinja

    require_jinja()
    return lambda verdict, shown: shown < MAX_SHOWN and changes(verdict)


def _write_page(
    path: Path, report: Report, files: tuple[FileReport, ...], changed: tuple[Verdict, ...], options: Options
) -> None:
    from multigold.rendering.html import report_page

    page = report_page(report, files, changed, options)
    with opened_for_writing(path) as stream:
        stream.write(page.encode("ascii", "xmlcharrefreplace").decode("ascii"))


@contextmanager
def _writer(path: Path | None) -> Iterator[DocumentWriter | None]:
    """Yield a writer of the JSON document; None if none was asked for."""
    if path is None:
        yield None
        return
    from multigold.rendering.document import DocumentWriter

    with opened_for_writing(path) as target:
        yield DocumentWriter(target)


_NOT_BESIDE_CHECK = ("html_path", "by_task", "jobs", "equivalences", "contested", "strata", "gold_sets")


def _refuse_beside_check() -> None:
    """Refuse what `--check-recorded` would not look at: it compares one gold strictly, here, and makes no tables."""
    context = click.get_current_context()
    given = [
        parameter.opts[-1]
        for parameter in context.command.params
        if parameter.name in _NOT_BESIDE_CHECK
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise CallError(
            f"--check-recorded compares one gold, strictly, with the record; it does not take {', '.join(given)}",
            remedy="Leave out one or the other.",
        )


def _check(results: tuple[str, ...], options: Options, json_path: Path | None) -> None:
    from multigold.rendering.document import check_json
    from multigold.rendering.tables import check_lines
    from multigold.rescoring.checking import check_recorded

    checks = check_recorded(*results, options=options, keep_going=several(results))
    if json_path is not None:
        write_json(check_json(checks), json_path)
    if json_path != Path("-"):
        print_all(check_lines(checks))
    stop_where_broken(checks)
    if any(check.differ for check in checks):
        click.get_current_context().exit(1)
