"""Databases, tasks, policies and environments, read from where they are found.

A benchmark's database has thousands of records, and a run looks at a dozen. So a database is parsed once per process,
recognised by path, time and size of its files, and its records stay encoded until they are read (`DeferredTable`).
That the JSON is well-formed is checked at once; whether a single number can be held is only seen when its record is
decoded, and then named as an error of the data.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from multigold.benchmark_data.finding import DataLocation, directories, find_data, ways
from multigold.benchmark_data.known import DATASETS, LOCAL, Dataset, Release, dataset, known_release
from multigold.environments.base import Environment
from multigold.errors import DataError, EnvironmentNotFoundError
from multigold.files.reading import read_at_most, sha256
from multigold.model.task import Task
from multigold.state.canonical import Json, digest
from multigold.state.database import Database, DeferredTable

MAX_DATA_BYTES: Final = 512 * 2**20
"""More than this in one data file, or in all files of the wheel, is refused: it is not benchmark data."""

POLICY_FILES: Final = ("policy.md", "policy.txt", "main_policy.md", "wiki.md", "../wiki.md")


@attrs.frozen(kw_only=True, eq=False)
class LoadedDatabase:
    """A database, shared by all who load it in this process.

    Attributes:
        agent: The agent's side.
        user: The user's side; None if the domain has one side.
        digest: SHA-256 of the file's bytes, uncompressed; if there is a file per table, of their names and digests.
        location: Where it was read from.
    """

    agent: Database
    user: Database | None
    digest: str
    location: DataLocation


@attrs.frozen(kw_only=True)
class Policy:
    """A domain's policy as the benchmark writes it.

    Attributes:
        text: The text.
        digest: SHA-256 of the file's bytes.
        path: The file.
    """

    text: str
    digest: str
    path: Path


_Stamp = tuple[tuple[str, int, int], ...]
_loaded: dict[_Stamp, LoadedDatabase] = {}


def load_database(name: str, data_dir: Path | str | None = None) -> LoadedDatabase:
    """Load an environment's database, parsed once per process and shared.

    Args:
        name: The environment's name.
        data_dir: Where to look; None to look in the usual places.

    Raises:
        EnvironmentNotFoundError: If no environment has that name.
        DataError: If there is no data, or it is not what it should be.
    """
    location = find_data(name, data_dir)
    files = (*location.database, *([location.user_database] if location.user_database else ()))
    stamp = (*((str(p.resolve()), s.st_mtime_ns, s.st_size) for p in files for s in (p.stat(),)), (name, 0, 0))
    if stamp not in _loaded:
        _loaded[stamp] = _load(dataset(name), location)
    return _loaded[stamp]


def _load(row: Dataset, location: DataLocation) -> LoadedDatabase:
    files = {path: contents(path) for path in location.database}
    if len(location.database) == 1:
        ((path, data),) = files.items()
        tables = _tables(data, path)
        stated = sha256(data)
    else:
        tables = {_table(path): _records(data, path) for path, data in files.items()}
        stated = digest({_table(path): sha256(data) for path, data in files.items()})
    missing = [table for table in row.tables if not isinstance(tables.get(table), (dict, DeferredTable))]
    if missing:
        raise DataError(f"the database has no table {missing[0]!r}", where=str(location.directory))
    user = location.user_database
    return LoadedDatabase(
        agent=Database.adopt(tables),
        user=None if user is None else Database.adopt(_parse(contents(user), user)),
        digest=stated,
        location=location,
    )


def _table(path: Path) -> str:
    return path.name.split(".", 1)[0]


def contents(path: Path) -> bytes:
    """Return a file's bytes, uncompressed.

    Raises:
        DataError: If it cannot be read or is too large.
    """
    try:
        with _opened(path) as file:
            data = read_at_most(file, MAX_DATA_BYTES)
    except (OSError, EOFError) as error:
        raise DataError(f"it cannot be read ({error})", where=str(path)) from error
    if len(data) > MAX_DATA_BYTES:
        raise DataError(f"it is larger than {MAX_DATA_BYTES:,} bytes", where=str(path))
    return data


def _opened(path: Path) -> Any:
    if path.suffix != ".gz":
        return path.open("rb")
    import gzip

    return gzip.open(path)


def _tables(data: bytes, path: Path) -> dict[str, Json]:
    """Return the tables of a database; if it is JSON and holds nothing else, their records are not decoded yet."""
    import msgspec

    try:
        tables = _undecoded(data, dict[str, dict[str, msgspec.Raw]])
    except (ValueError, RecursionError):
        return _parse(data, path)  # which says what is wrong, or knows another form
    return {name: DeferredTable(records, partial(_record, path)) for name, records in tables.items()}


def _records(data: bytes, path: Path) -> Json:
    """Return the records of a file that is one table, not decoded yet if it is JSON."""
    import msgspec

    try:
        return DeferredTable(_undecoded(data, dict[str, msgspec.Raw]), partial(_record, path))
    except (ValueError, RecursionError):
        return _parse(data, path)


def _record(path: Path, encoded: Any) -> Json:
    """Decode a record that is known to be JSON; whether its numbers can be held is only seen now.

    Raises:
        DataError: If one is too large to be held.
    """
    import msgspec

    try:
        return msgspec.json.decode(encoded)
    except ValueError as error:
        raise DataError(f"a record cannot be read ({error})", where=str(path)) from error


def _undecoded(data: bytes, kind: Any) -> Any:
    """Check that data is JSON of a kind, with parts of it kept as they stand.

    Raises:
        ValueError: If it is not, for instance because a string is not UTF-8.
    """
    import msgspec

    if not data.isascii():
        data.decode()  # what is kept as it stands is checked in all but this and the size of numbers
    return msgspec.json.decode(data, type=kind)


def _parse(data: bytes, path: Path) -> dict[str, Json]:
    import msgspec

    decode = msgspec.toml.decode if path.name.endswith(".toml") else msgspec.json.decode
    try:
        value: Any = decode(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"it cannot be read ({error})", where=str(path)) from error
    if not isinstance(value, dict):
        raise DataError("a database is an object of tables", where=str(path))
    return value


def load_environment(name: str, data_dir: Path | str | None = None) -> Environment:
    """Load an environment: its database and its tools.

    One that is not built in may be registered by another package, or be a domain of an installed tau2.

    Args:
        name: Such as `tau2-airline`.
        data_dir: Where the benchmark's data is; None to look in the usual places. Built-in environments only.

    Raises:
        EnvironmentNotFoundError: If no environment has that name.
        DataError: If there is no data, or it is not what it should be.
    """
    if name not in DATASETS:
        return _environment_of_others(name)
    row = dataset(name)
    build = _builder(row)
    loaded = load_database(name, data_dir)
    sides = {} if loaded.user is None else {"user_database": loaded.user}
    environment: Environment = build(loaded.agent, **sides, data_digest=loaded.digest)
    return environment


def _environment_of_others(name: str) -> Environment:
    # Looking at the installed packages costs more than a file of results: only if a name is not built in.
    from multigold.environments import tau2_package
    from multigold.environments.registered import load_registered, registered_names

    registered = load_registered(name) if name else None
    if registered is not None:
        return registered
    known = ", ".join((*DATASETS, *registered_names()))
    if name.startswith(tau2_package.PREFIX):
        try:
            return tau2_package.load(name)
        except EnvironmentNotFoundError as error:
            raise EnvironmentNotFoundError(error.message, remedy=f"{error.remedy} Known without it: {known}.") from None
    raise EnvironmentNotFoundError(
        f"no environment is called {name!r}" if name else "the environment is not named", remedy=f"Known ones: {known}."
    )


def _builder(row: Dataset) -> Any:
    try:
        return importlib.import_module(row.module).build
    except ModuleNotFoundError as error:
        if error.name != row.module:
            raise
        raise EnvironmentNotFoundError(f"this version of multigold does not have the tools of {row.name} yet") from None


def load_tasks(name: str, release: str, data_dir: Path | str | None = None) -> dict[str, Task]:
    """Load the tasks of one release of the benchmark.

    Args:
        name: The environment's name.
        release: A name of `KNOWN_RELEASES`, a longer form of its commit, or `local` for whatever tasks are found.
        data_dir: Where to look; None to look in the usual places.

    Returns:
        Task id to task.

    Raises:
        CallError: If the release is unknown.
        DataError: If its task file is in none of the places.
    """
    from multigold.readers.tasks import read_task_file

    path = find_tasks(name, release, data_dir)
    table = read_task_file(contents(path), name)
    if table is None or table.warnings:
        raise DataError("it is not a list of tasks", where=str(path))
    return table.tasks


def find_tasks(name: str, release: str, data_dir: Path | str | None = None) -> Path:
    """Find the task file of one release of the benchmark; `load_tasks` says what the arguments mean.

    Raises:
        CallError: If the release is unknown.
        DataError: If its task file is in none of the places.
    """
    row = dataset(name)
    known = None if release == LOCAL else known_release(release)
    seen = []
    for path in _task_files(row, data_dir):
        if known is None or _is_of(known, row.name, contents(path)):
            return path
        seen.append(str(path))
    raise DataError(
        f"the tasks of {name} at release {release} were not found",
        where=", ".join(seen),
        remedy="Point --data-dir to a checkout at that commit." if seen or data_dir is not None else ways(row),
    )


def _task_files(row: Dataset, data_dir: Path | str | None) -> Iterator[Path]:
    for directory, _ in directories(row, data_dir):
        for name in ("tasks.json", "tasks.json.gz"):
            if (directory / name).is_file():
                yield directory / name


def _is_of(release: Release, name: str, data: bytes) -> bool:
    """Tell whether a task file is that of a release, whatever its line ends are."""
    return release.tasks.get(name) in (sha256(data), sha256(data.replace(b"\r\n", b"\n")))


def load_policy(name: str, data_dir: Path | str | None = None) -> Policy:
    """Load the policy of a domain.

    Raises:
        EnvironmentNotFoundError: If no environment has that name.
        DataError: If there is none.
    """
    row = dataset(name)
    for directory, _ in directories(row, data_dir):
        for path in (directory / file for file in POLICY_FILES):
            if path.is_file():
                data = contents(path)
                return Policy(text=data.decode("utf-8", "replace"), digest=sha256(data), path=path)
    raise DataError(f"the policy of {name} was not found", where=str(data_dir or ""), remedy=ways(row))
