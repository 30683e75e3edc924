"""When two JSON values are the same.

The canonical form has few rules, and all of them are here. Values are JSON only. A whole float is the int that it
equals (`25.0` is `25`; `2500.5` stays); `True` is not `1`. NaN and infinities are refused. Keys of an object have no
order, items of a list do. Strings are exact: nothing is trimmed, folded or read as null.

Comparing is the hot path, fingerprints are not, so `same` never builds a canonical copy.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, TypeAlias

from multigold.errors import StateError

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list of Json, or dict from str to Json."""

MAX_DEPTH = 100
"""Deeper nesting than this is refused: no real database comes near, and recursion must be bounded."""


def same(a: Json, b: Json) -> bool:
    """Tell whether two JSON values have the same canonical form.

    Python's `==` is coarser than the canonical form in one way only, `True == 1`, so a plain inequality is final
    and an equality is checked for booleans.

    Args:
        a: A JSON value.
        b: Another.

    Returns:
        True where the canonical forms are equal.
    """
    if a is b:
        return True
    return bool(a == b) and _same_kinds(a, b)


def _same_kinds(a: Json, b: Json) -> bool:
    """Tell whether two values that are equal for Python hold booleans in the same places."""
    if isinstance(a, dict):
        return all(_same_kinds(value, b[key]) for key, value in a.items())
    if isinstance(a, list):
        return all(map(_same_kinds, a, b))
    return isinstance(a, bool) == isinstance(b, bool)


def clone(value: Json) -> Json:
    """Copy a JSON value deeply (several times faster than `copy.deepcopy`, as there is nothing but JSON)."""
    if isinstance(value, dict):
        return {key: clone(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clone(item) for item in value]
    return value


def canonical(value: Json, *, where: str = "", depth: int = 0) -> Json:
    """Return the canonical form of a JSON value, as a new value.

    Args:
        value: What should be a JSON value. Tuples are read as lists.
        where: A JSON Pointer to the value, for errors.
        depth: How deep the value already stands.

    Returns:
        The value with whole floats as ints and tuples as lists.

    Raises:
        StateError: Where the value is not JSON, is NaN or infinite, has a key that is no string, or is too deep.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _canonical_float(value, where)
    if depth >= MAX_DEPTH:
        raise StateError(f"nested deeper than {MAX_DEPTH} levels", where=where)
    if isinstance(value, dict):
        return _canonical_object(value, where, depth)
    if isinstance(value, list | tuple):
        return [canonical(item, where=f"{where}/{index}", depth=depth + 1) for index, item in enumerate(value)]
    raise StateError(
        f"a {type(value).__name__} is not a JSON value",
        where=where,
        remedy="States hold null, booleans, numbers, strings, lists and objects only.",
    )


def _canonical_object(value: dict[Any, Json], where: str, depth: int) -> dict[str, Json]:
    for key in value:
        if not isinstance(key, str):
            raise StateError(f"the key {key!r} is not a string", where=where)
    return {key: canonical(item, where=f"{where}/{key}", depth=depth + 1) for key, item in value.items()}


def _canonical_float(value: float, where: str) -> int | float:
    if not math.isfinite(value):
        raise StateError(f"{value} is not a JSON number", where=where)
    return int(value) if value.is_integer() else value


def canonical_text(value: Json) -> str:
    """Return the canonical form as one line of ASCII JSON with sorted keys: equal exactly when the values are the same.

    Raises:
        StateError: As `canonical` does.
    """
    return json.dumps(canonical(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: Json) -> str:
    """Return the SHA-256 of `canonical_text(value)` as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_text(value).encode("ascii")).hexdigest()
