"""Declared field types: what a domain's own models make of the values that a call gives.

tau2's models are pydantic models in its default ("lax") mode, so an amount may be written 50, 50.0 or "50" and is
stored as one number, while a name must be a string already. A port that stored the arguments as given would end in
other states. Here every type is one plain function from a JSON value to the value that is stored, which refuses by
raising `RefusalError`; a model is a table from field to type.

Only what tau2 validates goes through here. Where its tools assign an argument as it comes (bag counts of an update),
the port does the same and no type is declared.

The rules for numbers were established by running pydantic 2.14 (conversion table of its documentation, "lax mode") and
are checked against the installed one, value by value, in the tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from multigold.environments.tools import RefusalError
from multigold.state.canonical import Json, clone

FieldType: TypeAlias = Callable[[Json], Json]
"""`field_type(value)` is the stored value; raises `RefusalError` if the value is not of the type."""

# Unicode's White_Space property. Python's own `strip` also takes the separators U+001C to U+001F, pydantic does not.
_BLANK = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
# Not compiled here: few runs spell a number as text, and every command would pay for it. `re` keeps what it compiled.
_SIGNED = r"([+-]?)([0-9].*)"
_LEADING_ZEROS = r"^0[0_]*(?=[1-9-]|0$)"
_ZERO_DECIMALS = r"\.0+$"
_INTEGER = r"-?(?:0|[1-9][0-9]*)"
_NUMBER = r"(?i:[+-]?(?:inf|infinity|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?))"
_INT64 = 2**63
_MAX_DIGITS = 4300
"""Longer integers are refused, as Python itself refuses to read them."""


def text(value: Json) -> str:
    """Take a string as it is; nothing else becomes one.

    Raises:
        RefusalError: If the value is not a string.
    """
    if isinstance(value, str):
        return value
    raise RefusalError(f"a string is needed, not {_shown(value)}")


def integer(value: Json) -> int:
    """Take a whole number: an int, a bool, a float or a string that spells one ("5", " 5.0 ", "1_000").

    Raises:
        RefusalError: If the value is nothing of that kind, or a float of 2^63 or beyond.
    """
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < _INT64:
        return int(value)
    if isinstance(value, str):
        return _read_integer(value)
    raise RefusalError(f"a whole number is needed, not {_shown(value)}")


def _read_integer(value: str) -> int:
    """Read a whole number as pydantic does, one oddity included: a sign may stand behind leading zeros ("0-5")."""
    signed = re.fullmatch(_SIGNED, value.strip(_BLANK))
    if signed is not None:
        spelling = re.sub(_LEADING_ZEROS, "", re.sub(_ZERO_DECIMALS, "", signed[2]), count=1)
        digits = signed[1].replace("+", "") + _join_groups(spelling)
        if len(digits.lstrip("-")) <= _MAX_DIGITS and re.fullmatch(_INTEGER, digits):
            return int(digits)
    raise RefusalError(f"a whole number is needed, not {_shown(value)}")


def _join_groups(spelling: str) -> str:
    """Drop the underscores between digits; a spelling with underscores elsewhere stays as it is, and is not read."""
    misplaced = spelling.startswith("_") or spelling.endswith("_") or "__" in spelling
    return spelling if misplaced else spelling.replace("_", "")


def number(value: Json) -> float:
    """Take a float: a number, a bool, or a string that spells a number ("50", "5e1", "inf").

    Raises:
        RefusalError: If the value is nothing of that kind, or an int beyond the range of a float.
    """
    if isinstance(value, int | float):
        return _as_float(value)
    if isinstance(value, str):
        spelling = _join_groups(value) if "_" in value else value.strip(_BLANK)
        if re.fullmatch(_NUMBER, spelling):
            return float(spelling)
    raise RefusalError(f"a number is needed, not {_shown(value)}")


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise RefusalError("the number is too large") from error


def literal(*values: str) -> FieldType:
    """Return the type that takes exactly these strings."""
    allowed = frozenset(values)

    def one_of(value: Json) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise RefusalError(f"one of {', '.join(values)} is needed, not {_shown(value)}")

    return one_of


def boolean(value: Json) -> bool:
    """Take a truth value: a bool, 0 or 1, or one of the words for it ("on", "No", "t"), with no blanks around it.

    Raises:
        RefusalError: If the value is nothing of that kind.
    """
    word = value.lower() if isinstance(value, str) and value.isascii() else value
    for answer, words in ((True, _TRUE), (False, _FALSE)):
        if isinstance(word, str | int | float) and word in words:
            return answer
    raise RefusalError(f"true or false is needed, not {_shown(value)}")


_TRUE = (True, "1", "t", "true", "y", "yes", "on")
_FALSE = (False, "0", "f", "false", "n", "no", "off")


def optional(field_type: FieldType) -> FieldType:
    """Return the type that takes null as well."""
    return lambda value: None if value is None else field_type(value)


def list_of(item: FieldType) -> FieldType:
    """Return the type that takes a list, each of its items taken as `item`."""

    def items(value: Json) -> list[Json]:
        if not isinstance(value, list):
            raise RefusalError(f"a list is needed, not {_shown(value)}")
        return [item(entry) for entry in value]

    return items


def table_of(key: FieldType, item: FieldType) -> FieldType:
    """Return the type that takes an object of any entries, the keys taken as `key`, the values as `item`."""

    def table(value: Json) -> dict[str, Json]:
        if not isinstance(value, dict):
            raise RefusalError(f"an object is needed, not {_shown(value)}")
        return {key(name): item(entry) for name, entry in value.items()}

    return table


def model(
    fields: Mapping[str, FieldType], *, defaults: Mapping[str, Json] | None = None, closed: bool = False
) -> FieldType:
    """Return the type that takes an object with these fields.

    The result has the fields in the order declared.

    Args:
        fields: Each field's type.
        defaults: What fields have that are left out, as it is stored; all others must be there.
        closed: Whether a key that is not declared is refused; otherwise it is left out.
    """
    declared = tuple(fields.items())
    absent = dict(defaults or {})

    def record(value: Json) -> dict[str, Json]:
        if not isinstance(value, dict):
            raise RefusalError(f"an object is needed, not {_shown(value)}")
        missing = [name for name, _ in declared if name not in value and name not in absent]
        if missing:
            raise RefusalError(f"the field {missing[0]} is missing")
        unknown = value.keys() - fields.keys() if closed else ()
        if unknown:
            raise RefusalError(f"there is no field {min(unknown)}")
        return {n: field_type(value[n]) if n in value else clone(absent[n]) for n, field_type in declared}

    return record


def _shown(value: Json) -> str:
    """Return a value for a message, not longer than a line."""
    spelled = ascii(value) if isinstance(value, str | float | bool) or value is None else f"a {type(value).__name__}"
    return spelled if len(spelled) <= 60 else f"{spelled[:60]}..."
