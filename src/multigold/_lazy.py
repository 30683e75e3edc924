"""Public names that are imported when they are first used, so that importing a room costs nothing.

A room's `__init__` states each public name twice: in an import that only type checkers see, and in the table that
`attach` is given. A test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def attach(
    package: str, homes: Mapping[str, str], *, extra: str = "", needs: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, `__dir__` and `__all__` of a package.

    Args:
        package: The package's name.
        homes: Module, relative to the package, to the public names that it defines, separated by spaces.
        extra: The extra of multigold that the package belongs to; empty if it needs none.
        needs: The modules that the extra installs; one that is missing is named in a `MissingExtraError`.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in needs:
                raise
            from multigold.errors import MissingExtraError

            raise MissingExtraError(
                f"{package} needs {error.name}, which is not installed",
                remedy=f"Install the extra: pip install 'multigold[{extra}]'.",
            ) from error
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(home_of)
    return load, lambda: names, names
