"""A delta in words: one line for each pointer that differs, what stood there and what stands there.

    /agent/reservations/OWZ4XL/payment_history: at /1/amount 396 -> -114; at /2 {"amount": -510} -> absent

Values come from strangers' files and lines go to terminals, so whatever a terminal could act on is escaped.
"""

from __future__ import annotations

import json
from itertools import takewhile

from multigold.errors import StateError
from multigold.state.canonical import Json, canonical
from multigold.state.delta import ABSENT, Change, Delta, join_pointer

WIDTH = 80
"""Longest value that is shown whole, in characters."""

MAX_PARTS = 4
"""Most differences that are shown inside of one list."""

MAX_ITEMS, MAX_TEXT = 100, 20_000
"""Lists with longer lists in them, or with more text, are not looked into: aligning items takes quadratic time."""


def explain_delta(delta: Delta, limit: int = 30) -> list[str]:
    """Return one readable line for each pointer that differs.

    Args:
        delta: What differs.
        limit: Most lines for pointers; what is left out is counted in one more line.

    Returns:
        The lines, without line ends, free of control characters; none if nothing differs.
    """
    shown = list(delta.changes.items())[: max(limit, 0)]
    lines = [f"{_cut(pointer, 3 * WIDTH)}: {_explain_change(change)}" for pointer, change in shown]
    rest = len(delta) - len(shown)
    return [*lines, f"... and {rest} more"] if rest else lines


def printable(text: str) -> str:
    r"""Return text with all but visible characters and blanks written as escapes, such as `\n` and `\u202e`."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _explain_change(change: Change) -> str:
    if isinstance(change.before, list) and isinstance(change.after, list):
        inside = _inside(change.before, change.after)
        if inside:
            more = f"; ... and {len(inside) - MAX_PARTS} more" if len(inside) > MAX_PARTS else ""
            return f"{'; '.join(inside[:MAX_PARTS])}{more}"
    return _arrow(_text(change.before), _text(change.after))


def _arrow(before: str, after: str) -> str:
    """Return both texts, cut so that the first place where they differ is seen."""
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    start = max(0, alike - WIDTH // 2)
    return f"{_cut(before, start=start)} -> {_cut(after, start=start)}"


def _text(value: Json) -> str:
    if value is ABSENT:
        return "absent"
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        # A value that no file can hold, such as a number too long to print; a delta does not refuse it.
        return f"a {type(value).__name__} that cannot be shown"


def _cut(text: str, width: int = WIDTH, start: int = 0) -> str:
    if len(text) <= width:
        return printable(text)
    lead, tail = "..." if start else "", "..." if start + width < len(text) else ""
    return printable(f"{lead}{text[start : start + width]}{tail} ({len(text)} characters)")


# Inside of lists


def _inside(before: list[Json], after: list[Json]) -> list[str]:
    """Return what differs inside of two lists, in order; nothing if they are too large to be looked into."""
    from deepdiff import DeepDiff

    try:
        old, new = _leaves_as_text(before), _leaves_as_text(after)
        if not (_is_small(old) and _is_small(new)):
            return []
        found = DeepDiff(old, new, view="tree", ignore_private_variables=False)
    except (StateError, RecursionError):
        return []
    levels = [(level.path(output_format="list"), level) for levels in found.values() for level in levels]
    levels.sort(key=lambda pair: [(isinstance(step, str), step) for step in pair[0]])
    return [f"at {_pointer(path)} {_arrow(_leaf_text(level.t1), _leaf_text(level.t2))}" for path, level in levels]


def _pointer(path: list[str | int]) -> str:
    return _cut(join_pointer(map(str, path)))


def _is_small(value: Json) -> bool:
    return len(_joined(value)) <= MAX_TEXT and _longest(value) <= MAX_ITEMS


def _longest(value: Json) -> int:
    if not isinstance(value, dict | list):
        return 0
    items = value.values() if isinstance(value, dict) else value
    return max([len(value), *map(_longest, items)])


def _leaves_as_text(value: Json) -> Json:
    """Write every scalar as its JSON, because deepdiff takes 1 and true for the same in a list."""
    if isinstance(value, dict):
        return {key: _leaves_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_leaves_as_text(item) for item in value]
    return json.dumps(canonical(value), ensure_ascii=False)


def _leaf_text(value: Json) -> str:
    from deepdiff.helper import notpresent

    return "absent" if value is notpresent else _joined(value)


def _joined(value: Json) -> str:
    """Return the JSON of a value whose scalars are written already."""
    if isinstance(value, dict):
        members = (f"{json.dumps(key, ensure_ascii=False)}: {_joined(item)}" for key, item in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_joined, value))}]"
    return str(value)
