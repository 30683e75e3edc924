"""The JSON Schemas (2020-12) of everything that multigold reads from people and writes for programs."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Final

from multigold.errors import CallError

_FOLDER: Final = resources.files("multigold").joinpath("schemas")
_ENDING: Final = ".schema.json"


def document_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of document, such as `rescore` or `gold-set`.

    Args:
        name: One of `schema_names()`.

    Raises:
        CallError: If there is no such kind of document.
    """
    if name not in schema_names():
        raise CallError(f"no kind of document is called {name!r}", remedy=f"There are {', '.join(schema_names())}.")
    schema: dict[str, Any] = json.loads(_text(name))
    return schema


@cache
def schema_names() -> tuple[str, ...]:
    """Return the names of the kinds of documents that have a schema, in order."""
    names = (entry.name for entry in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


@cache
def _text(name: str) -> str:
    return _FOLDER.joinpath(f"{name}{_ENDING}").read_text(encoding="utf-8")
