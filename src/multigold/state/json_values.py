"""Values from a JSON decoder, made sound: not nested too deeply, no number that is not finite, no lone surrogate."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from multigold.state.canonical import MAX_DEPTH, Json

SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""A half of a character, which UTF-8 cannot hold."""

_CONTAINERS: Final = frozenset({dict, list})


def is_too_deep(value: Json, limit: int = MAX_DEPTH) -> bool:
    """Tell whether a JSON value (a decoder's) is nested deeper than `limit`, 1 or more, without recursion."""
    if type(value) not in _CONTAINERS or not _holds_containers(value):
        return False  # as nearly all are: flat
    level = [value]
    for _ in range(limit):
        if not level:
            return False
        below = [container.values() if type(container) is dict else container for container in level]
        level = [item for items in below for item in items if type(item) in _CONTAINERS]
    return bool(level)


def _holds_containers(container: Json) -> bool:
    return not _CONTAINERS.isdisjoint(map(type, container.values() if type(container) is dict else container))


def sound(value: Json) -> Json:
    """Return a value from Python's own JSON decoder made strict.

    Raises:
        ValueError: If it is nested deeper than states may be, or holds a number that is not finite.
    """
    if is_too_deep(value):
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    return _finite(value)


def _finite(value: Json) -> Json:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {_finite(key): _finite(item) for key, item in value.items()}
    return value


def strings(value: Json, *, keys: bool = True) -> Iterator[str]:
    """Yield every string of a JSON value, depth first; the order of an object's keys makes no difference.

    Args:
        value: The value.
        keys: Whether the keys of objects are yielded as well, each object's before its values.
    """
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            names = sorted(item)
            if keys:
                yield from names
            stack.extend(item[name] for name in reversed(names))
        elif isinstance(item, list):
            stack.extend(reversed(item))
