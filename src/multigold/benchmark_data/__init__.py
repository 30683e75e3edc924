"""The edge where the benchmark's own data is found, loaded and fetched; see `finding` for where it is looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.benchmark_data.fetching import fetch as fetch
    from multigold.benchmark_data.finding import DataLocation as DataLocation, find_data as find_data
    from multigold.benchmark_data.known import (
        DATASETS as DATASETS,
        KNOWN_RELEASES as KNOWN_RELEASES,
        LOCAL as LOCAL,
        Dataset as Dataset,
        Release as Release,
        known_release as known_release,
    )
    from multigold.benchmark_data.loading import (
        LoadedDatabase as LoadedDatabase,
        Policy as Policy,
        load_database as load_database,
        load_environment as load_environment,
        load_policy as load_policy,
        load_tasks as load_tasks,
    )
    from multigold.benchmark_data.releases import (
        TaskRelease as TaskRelease,
        TaskVersion as TaskVersion,
        read_release as read_release,
        read_releases as read_releases,
    )

_HOMES = {
    "fetching": "fetch",
    "finding": "DataLocation find_data",
    "known": "DATASETS KNOWN_RELEASES LOCAL Dataset Release known_release",
    "loading": "LoadedDatabase Policy load_database load_environment load_policy load_tasks",
    "releases": "TaskRelease TaskVersion read_release read_releases",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
