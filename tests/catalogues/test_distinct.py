"""When two patterns are plainly disjoint, and when that cannot be told."""

from __future__ import annotations

from typing import Any

import pytest

from multigold.catalogues.distinct import provably_distinct
from multigold.model.gold import Pattern, PointerRule

A, B = "/agent/t/a", "/agent/t/b"


def pattern(**rules: PointerRule) -> Pattern:
    return Pattern(pointers={{"a": A, "b": B}[name]: rule for name, rule in rules.items()})


def rule(schema: Any, *, optional: bool = False) -> PointerRule:
    return PointerRule(schema=schema, optional=optional)


DISJOINT = {
    "one requires what the other does not allow": (pattern(a=rule(True), b=rule(True)), pattern(a=rule(True))),
    "other constants": (pattern(a=rule({"const": 1})), pattern(a=rule({"const": 2}))),
    "other alternatives": (pattern(a=rule({"enum": [1, 2]})), pattern(a=rule({"const": 3}))),
    "one is removed": (pattern(a=rule(None)), pattern(a=rule(True))),
    "nothing satisfies one": (pattern(a=rule(False)), pattern(a=rule(True))),
    "other lengths": (
        pattern(a=rule({"type": "array", "maxItems": 2})),
        pattern(a=rule({"type": "array", "minItems": 3})),
    ),
    "other first items": (
        pattern(a=rule({"type": "array", "minItems": 1, "prefixItems": [{"const": 1}]})),
        pattern(a=rule({"type": "array", "prefixItems": [{"const": 2}]})),
    ),
    "other required members": (
        pattern(a=rule({"type": "object", "required": ["x"], "properties": {"x": {"const": 1}}})),
        pattern(a=rule({"type": "object", "properties": {"x": {"const": 2}}})),
    ),
    "one need not change, the other must to something else": (
        pattern(a=rule({"const": 1}, optional=True), b=rule(True)),
        pattern(a=rule({"const": 2}), b=rule(True)),
    ),
}

UNDECIDED = {
    "the same": (pattern(a=rule({"const": 1})), pattern(a=rule({"const": 1}))),
    "both may leave it alone": (
        pattern(a=rule({"const": 1}, optional=True), b=rule(True)),
        pattern(a=rule({"const": 2}, optional=True), b=rule(True)),
    ),
    "numbers that only spelling tells apart": (pattern(a=rule({"const": 1})), pattern(a=rule({"const": 1.0}))),
    "overlapping alternatives": (pattern(a=rule({"enum": [1, 2]})), pattern(a=rule({"enum": [2, 3]}))),
    "lengths that meet": (
        pattern(a=rule({"type": "array", "maxItems": 3})),
        pattern(a=rule({"type": "array", "minItems": 3})),
    ),
    "items that may be missing": (
        pattern(a=rule({"type": "array", "prefixItems": [{"const": 1}]})),
        pattern(a=rule({"type": "array", "prefixItems": [{"const": 2}]})),
    ),
    "lengths of what may be no list": (pattern(a=rule({"maxItems": 2})), pattern(a=rule({"minItems": 3}))),
    "members that may be missing": (
        pattern(a=rule({"type": "object", "properties": {"x": {"const": 1}}})),
        pattern(a=rule({"type": "object", "properties": {"x": {"const": 2}}})),
    ),
}


@pytest.mark.parametrize("name", DISJOINT)
def test_plainly_disjoint_patterns_are_told(name: str) -> None:
    one, other = DISJOINT[name]
    assert provably_distinct(one, other)
    assert provably_distinct(other, one)


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_is_not_plain_is_left_open(name: str) -> None:
    one, other = UNDECIDED[name]
    assert not provably_distinct(one, other)
    assert not provably_distinct(other, one)
