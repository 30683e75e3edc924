"""Hashes of states as other tools compute them, bit for bit.

For interchange and parity only: to recognise the state that a stored hash stands for. No verdict rests on them, because
a hash says that two states differ and never how, and because each recipe has its own idea of when two states are the
same (none of them has this library's).

They are hashes of plain data, not of a `Database`: number spelling, which the canonical form forgets, matters to some.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from multigold.errors import CallError, StateError
from multigold.state.canonical import Json, too_deep

SCHEMES: Mapping[str, str] = {
    "tau2": "tau2-bench: SHA-256 of key-sorted JSON with default separators, after its models added null defaults",
    "eva": "voice-agent guide: no session, whole floats as ints, none and null alike, six lists sorted, compact JSON",
    "eva-legacy": "first EVA records: SHA-256 of the raw state as compact key-sorted JSON",
    "tau1": "tau-bench v1: SHA-256 of Python's text for nested tuples, objects as key-sorted pairs",
}
"""Name of a scheme to what it is."""

UNORDERED_FIELDS = frozenset(
    {"standby_list", "notifications", "bookings", "system_accounts", "group_memberships", "asset_recoveries"}
)
"""Fields, at any depth, whose lists scheme `eva` sorts."""

NullDefaults: TypeAlias = Mapping[str, tuple[str, ...]]


def hash_state(data: Json, scheme: str, *, null_defaults: NullDefaults | None = None) -> str:
    """Return the hash of a state under a named scheme, as 64 hexadecimal digits.

    Args:
        data: The state as plain data: `{table: {record id: record}}`.
        scheme: One of `SCHEMES`.
        null_defaults: Table to the fields that the benchmark's models add as null if they are absent (tau2 airline:
            `{"reservations": ("status",)}`); scheme `tau2` alone uses it. Whatever else those models coerce, the data
            must hold already.

    Raises:
        CallError: If there is no such scheme.
        StateError: If the data cannot be written down as the scheme does.
    """
    if scheme not in _TEXTS:
        raise CallError(f"there is no hash scheme {scheme!r}", remedy=f"There are: {', '.join(SCHEMES)}.")
    try:
        return hashlib.sha256(_TEXTS[scheme](data, null_defaults or {}).encode("utf-8")).hexdigest()
    except RecursionError:
        raise too_deep() from None
    except (TypeError, ValueError) as error:
        # Keys of mixed kinds, integers too long to print, lone surrogates, or lists that hold themselves.
        raise StateError(f"scheme {scheme} cannot write the state down: {error}") from error


def _tau2(data: Json, null_defaults: NullDefaults) -> str:
    return json.dumps(_with_defaults(data, null_defaults), sort_keys=True, default=str)


def _with_defaults(data: Json, null_defaults: NullDefaults) -> Json:
    if not isinstance(data, dict):
        return data
    return {table: _with_fields(value, null_defaults.get(table, ())) for table, value in data.items()}


def _with_fields(table: Json, fields: tuple[str, ...]) -> Json:
    if not fields or not isinstance(table, dict):
        return table
    nulls = dict.fromkeys(fields)
    return {key: {**nulls, **record} if isinstance(record, dict) else record for key, record in table.items()}


def _eva(data: Json, _: NullDefaults) -> str:
    kept = {key: value for key, value in data.items() if key != "session"} if isinstance(data, dict) else data
    return json.dumps(eva_normal(kept), sort_keys=True, separators=(",", ":"), default=str)


def eva_normal(value: Json) -> Json:
    """Return a value as scheme `eva` takes it: whole floats as ints, texts that say none or null as null."""
    if isinstance(value, dict):
        return {key: eva_member(key, eva_normal(item)) for key, item in value.items()}
    if isinstance(value, list):
        return [eva_normal(item) for item in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().lower() in ("none", "null"):
        return None
    return value


def eva_member(key: str, value: Json) -> Json:
    """Return a normal value as it stands under a key: the lists of some keys are sorted."""
    if key in UNORDERED_FIELDS and isinstance(value, list):
        return sorted(value, key=lambda item: json.dumps(item, sort_keys=True, default=str))
    return value


def _eva_legacy(data: Json, _: NullDefaults) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), default=str)


def _tau1(data: Json, _: NullDefaults) -> str:
    return str(_as_tuples(data))


def _as_tuples(value: Json) -> Json:
    if isinstance(value, dict):
        return tuple((key, _as_tuples(item)) for key, item in sorted(value.items(), key=lambda member: member[0]))
    if isinstance(value, list):
        return tuple(_as_tuples(item) for item in value)
    return value


_TEXTS: Mapping[str, Callable[[Json, NullDefaults], str]] = {
    "tau2": _tau2,
    "eva": _eva,
    "eva-legacy": _eva_legacy,
    "tau1": _tau1,
}
