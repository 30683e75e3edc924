"""Options that several commands share, and what they print with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from multigold.aggregation import STRATA
from multigold.errors import MultigoldError
from multigold.rescoring import Options, Progress
from multigold.state.equivalence import EQUIVALENCES

Command = TypeVar("Command", bound=Callable[..., Any])

RESULTS = click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))

_SCORING_OPTIONS = (
    click.option(
        "--equivalence",
        "equivalences",
        multiple=True,
        type=click.Choice(list(EQUIVALENCES)),
        help="Also try this equivalence where strict comparison fails. May be given several times.",
    ),
    click.option("--contested", is_flag=True, help="Let contested readings count too."),
    click.option(
        "--gold-sets",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="Use the catalogues in this directory instead of the shipped ones.",
    ),
    click.option("--data-dir", type=click.Path(path_type=Path), help="Where the benchmark's own data is."),
    click.option("--benchmark-release", metavar="REV", help="Release whose tasks to use where a file embeds none."),
    click.option("--agent-name", metavar="NAME", help="Call the agent this instead of what the file says."),
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


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Yield a progress callback that draws on standard error where that is a terminal; None in a pipe."""
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


def print_all(renderables: list[Any]) -> None:
    """Print tables and lines on standard output; wide and plain in a pipe, so that nothing is cut."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else 240)
    for renderable in renderables:
        console.print(renderable)


def write_json(document: Any, path: Path) -> None:
    """Write a document to a file, or to standard output where the path is `-`.

    Raises:
        MultigoldError: Where the file cannot be written.
    """
    from multigold.rendering.document import dumps

    if path == Path("-"):
        for piece in dumps(document):
            click.echo(piece, nl=False)
        return
    try:
        with path.open("w", encoding="ascii") as stream:
            stream.writelines(dumps(document))
    except OSError as error:
        raise MultigoldError(f"cannot be written: {error.strerror}", where=str(path)) from error
