"""Options that several commands share, and what they print with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from multigold.errors import CallError, MultigoldError
from multigold.files.writing import stream_to
from multigold.readers import find_sources
from multigold.rescoring import FileReport, Options, Progress
from multigold.state.equivalence import EQUIVALENCES
from multigold.stats.aggregation import STRATA

if TYPE_CHECKING:
    from multigold.rescoring.checking import RecordedCheck

Command = TypeVar("Command", bound=Callable[..., Any])

RESULTS = click.argument("results", nargs=-1, required=True, type=click.Path(allow_dash=True))

DATA_DIR = click.option("--data-dir", type=click.Path(path_type=Path), help="Directory of the benchmark's own data.")

JSON = click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write everything as JSON to a file; - for stdout."
)

ENVIRONMENTS = click.option(
    "--environment",
    "environments",
    multiple=True,
    metavar="[DOMAIN=]MODULE:NAME",
    help="An environment of your own: an Environment or a function that returns one; path/to/file.py:NAME works too. "
    "The module is imported.",
)

_SCORING_OPTIONS = (
    click.option(
        "--equivalence",
        "equivalences",
        multiple=True,
        type=click.Choice(list(EQUIVALENCES)),
        help="Also try this equivalence if strict comparison fails. May be given several times.",
    ),
    click.option("--contested", is_flag=True, help="Let contested readings count too."),
    click.option(
        "--gold-sets",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="Use the catalogues in this directory instead of the shipped ones.",
    ),
    DATA_DIR,
    click.option(
        "--benchmark-release",
        metavar="REV",
        help="Release whose tasks to use if a file embeds none, such as 37199f3.",
    ),
    click.option("--agent-name", metavar="NAME", help="Use this name for the agent instead of the file's."),
    click.option("--rejoin", is_flag=True, help="If a file contradicts itself, believe its recorded checks."),
    click.option(
        "--ids",
        type=click.Choice(["exact", "case-insensitive"]),
        default="exact",
        show_default=True,
        help="How ids in calls are looked up; case-insensitive suits speech input.",
    ),
    click.option(
        "--check-reads", is_flag=True, help="Replay reads as well, and count those that differ from the record."
    ),
)


def scoring_options(command: Command) -> Command:
    """Add the options that say how results are scored."""
    for option in reversed(_SCORING_OPTIONS):
        command = option(command)
    return command


def strata_option(command: Command) -> Command:
    """Add `--strata`."""
    text = "How runs are put into strata: " + "; ".join(f"{name}: {meaning}" for name, meaning in STRATA.items()) + "."
    return click.option("--strata", type=click.Choice(list(STRATA)), default="default", show_default=True, help=text)(
        command
    )


def make_options(values: dict[str, Any]) -> Options:
    """Return the scoring options of a command line."""
    return Options(**{**values, "equivalences": tuple(values.get("equivalences", ()))})


def several(results: Sequence[str | Path]) -> bool:
    """Tell whether RESULTS are more than one file, so that a broken one does not keep the others from being counted."""
    return len(results) > 1 or (str(results[0]) != "-" and len(find_sources(results)) > 1)


def stop_where_broken(files: Sequence[FileReport | RecordedCheck]) -> None:
    """End the command as a failure if a file of several could not be read: last, when the others are done.

    Raises:
        MultigoldError: If there is such a file; the sentence has the first of them.
    """
    broken = [file for file in files if file.problem]
    if broken:
        raise MultigoldError(f"{len(broken)} of {len(files)} files could not be read: {broken[0].problem}")


def left_out_lines(files: Sequence[FileReport], *, shown: bool) -> list[str]:
    """Return lines that name the files that could not be read or were left out, and say why.

    Args:
        files: The reports of all files.
        shown: Whether the lines are to be printed where the command ends here.

    Raises:
        MultigoldError: If a file could not be read and no other has a run.
    """
    from multigold.rendering.tables import file_lines

    lines = file_lines(file for file in files if file.problem or not file.format)
    if not any(file.runs for file in files) and any(file.problem for file in files):
        print_all(list(lines) if shown else [])
        stop_where_broken(files)
    return lines


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Yield a progress callback that draws on standard error if that is a terminal; None in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn

    from multigold.state.explain import printable

    columns = SpinnerColumn(), TextColumn("{task.description}"), TextColumn("{task.completed} runs")
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        lines: dict[str, Any] = {}

        def advance(name: str, runs: int) -> None:
            if name not in lines:
                lines[name] = bar.add_task(printable(name).replace("[", r"\["), total=None)
            bar.update(lines[name], completed=runs)

        yield advance


PIPE_WIDTH = 240
"""Characters to a line if the output is not a terminal."""


def output_width() -> int:
    """Return how many characters a line may have: what the terminal has, wide in a pipe."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH


def print_all(renderables: list[Any]) -> None:
    """Print tables and lines on standard output; wide and plain in a pipe, so that nothing is cut.

    In a pipe, what has a `to_text` is printed as that says: for programs, and without what draws on a terminal.
    """
    if not sys.stdout.isatty() and all(isinstance(one, str) or hasattr(one, "to_text") for one in renderables):
        sys.stdout.writelines(f"{one if isinstance(one, str) else one.to_text()}\n" for one in renderables)
        return
    from rich.console import Console

    console = Console(markup=False, highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    with console.capture() as captured:  # rich itself would end the process if the reader has gone
        for renderable in renderables:
            console.print(renderable)
    sys.stdout.write(captured.get())


@contextmanager
def opened_for_writing(path: Path) -> Iterator[TextIO]:
    """Yield a text stream to a file, or standard output if the path is `-`.

    The file appears when everything is written, so that what went wrong half-way leaves no half a document. A link is
    written through, and what is not a regular file (a pipe, a device) is written to as it is.

    Raises:
        CallError: If the path names a file that the command reads.
        MultigoldError: If the file cannot be written.
    """
    if path == Path("-"):
        yield sys.stdout
        return
    refuse_input(path)
    try:
        with stream_to(path) as stream:
            yield stream
    except OSError as error:
        raise MultigoldError(f"it cannot be written: {error.strerror}", where=str(path)) from error


def refuse_input(path: Path) -> None:
    """Refuse to write if the command reads: a result never replaces the file that it was made from.

    Raises:
        CallError: If the path is a file that the command's arguments name, or one in a directory that they name.
    """
    try:
        read = path.is_file() and any(_is_among(path, argument) for argument in _arguments())
    except OSError:
        return  # what cannot be looked at cannot be written either, and that is said better there
    if read:
        raise CallError("the output would replace a file that is read", where=str(path), remedy="Name another file.")


def _is_among(path: Path, argument: str) -> bool:
    try:
        sources = find_sources([argument])
    except MultigoldError:
        sources = []
    named = [Path(argument), *(Path(source.path) for source in sources)]
    folders = [Path(source.path).resolve() for source in sources if source.kind == "folder"]
    return any(place.exists() and place.samefile(path) for place in named) or any(
        path.resolve().is_relative_to(folder) for folder in folders
    )


def _arguments() -> Iterator[str]:
    """Yield what stands on the command line besides options."""
    context = click.get_current_context(silent=True)
    if context is None:
        return
    for parameter in context.command.params:
        if isinstance(parameter, click.Argument):
            value = context.params.get(parameter.name or "")
            yield from map(str, value if isinstance(value, tuple) else () if value is None else (value,))


def write_json(document: Any, path: Path) -> None:
    """Write a document to a file, or to standard output if the path is `-`.

    Raises:
        MultigoldError: If the file cannot be written.
    """
    from multigold.rendering.document import dumps

    with opened_for_writing(path) as stream:
        stream.writelines(dumps(document))
