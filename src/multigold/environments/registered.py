"""Environments that other packages register, as Python entry points of the group `multigold.environments`.

    [project.entry-points."multigold.environments"]
    my-shop = "my_shop.scoring:environment"

The name is what result files and commands call it by. What it refers to is an `Environment`, or a function without
arguments that returns one. Nothing is imported until the name is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold.environments.base import Environment
from multigold.errors import CallError, EnvironmentNotFoundError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "multigold.environments"


def registered_names() -> list[str]:
    """Return the names of all registered environments, sorted."""
    return sorted(point.name for point in _points())


def load_registered(name: str) -> Environment | None:
    """Load a registered environment; None if none has that name.

    Raises:
        CallError: If several packages register the name, or what they register is not an environment.
        EnvironmentNotFoundError: If it cannot be imported.
    """
    points = [point for point in _points() if point.name == name]
    if len(points) > 1:
        packages = ", ".join(sorted(_package(point) for point in points))
        raise CallError(
            f"several packages register an environment {name!r}: {packages}", remedy="Uninstall all but one."
        )
    return _load(points[0]) if points else None


def _points() -> list[EntryPoint]:
    from importlib.metadata import entry_points  # costs more than all of this package, and few need it

    return list(entry_points(group=GROUP))


def _load(point: EntryPoint) -> Environment:
    where = f"the entry point {point.name} of {_package(point)}"
    try:
        found = point.load()
    except (ImportError, AttributeError) as error:
        raise EnvironmentNotFoundError(f"it cannot be imported ({error})", where=where) from error
    environment = found if isinstance(found, Environment) or not callable(found) else found()
    if not isinstance(environment, Environment):
        raise CallError(f"it is a {type(environment).__name__}, and should be an Environment", where=where)
    return environment


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
