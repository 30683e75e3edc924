"""Walking records along the paths that conventions declare (`users/*/payment_methods/*`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from json.encoder import encode_basestring_ascii as quoted
from typing import TypeAlias

from multigold.state.canonical import Json, canonical
from multigold.state.database import WHOLE
from multigold.state.delta import split_pointer
from multigold.state.markers import Marker

Steps: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead from a record to something in it."""


@cache
def parse(path: str) -> tuple[str, ...]:
    """Split a declared path into its parts."""
    return split_pointer(f"/{path}")


def within(path: str, table: str, record_id: str) -> tuple[str, ...] | None:
    """Return the parts of a path that lead on inside of a record; None if the path is not about that record."""
    head, *rest = parse(path)
    if head != table:
        return None
    if record_id == WHOLE:
        return tuple(rest)
    return tuple(rest[1:]) if rest and rest[0] in ("*", record_id) else None


def find(value: Json, parts: tuple[str, ...], steps: Steps = ()) -> Iterator[tuple[Steps, Json]]:
    """Yield everything that the parts lead to, each with the steps to it."""
    if not parts:
        yield steps, value
        return
    for step, item in _children(value, parts[0]):
        yield from find(item, parts[1:], (*steps, step))


def _children(value: Json, part: str) -> Iterable[tuple[str | int, Json]]:
    if isinstance(value, dict):
        if part == "*":
            return value.items()
        return [(part, value[part])] if part in value else []
    return enumerate(value) if part == "*" and isinstance(value, list) else []


def rewrite(value: Json, parts: tuple[str, ...], change: Callable[[Json], Json]) -> Json:
    """Return a value in which everything that the parts lead to is changed; the value itself is left alone."""
    if not parts:
        return change(value)
    head, rest = parts[0], parts[1:]
    if isinstance(value, dict):
        return {key: rewrite(item, rest, change) if head in ("*", key) else item for key, item in value.items()}
    if isinstance(value, list) and head == "*":
        return [rewrite(item, rest, change) for item in value]
    return value


def content_text(value: Json) -> str:
    """Return `canonical_text(value)`, with markers written without quotes so that no string is written alike."""
    if isinstance(value, dict):
        members = sorted((content_text(key), content_text(item)) for key, item in value.items())
        return f"{{{','.join(f'{key}:{text}' for key, text in members)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(content_text, value))}]"
    if isinstance(value, str):
        return str(value) if isinstance(value, Marker) else quoted(value)
    number = canonical(value)
    # Several times faster for a single number than json.dumps, which writes the same.
    return repr(number) if type(number) in (int, float) else json.dumps(number)
