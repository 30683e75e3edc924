"""Failures of laws are raised for sequences of calls in which each call matters."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from multigold.model.task import ToolCall
from multigold.testing.failures import LawError
from multigold.testing.search import search_calls

CALLS = tuple(ToolCall(name) for name in "abcdef")


def test_what_a_law_is_broken_without_is_left_out() -> None:
    def check(calls: tuple[ToolCall, ...]) -> None:
        if {"b", "e"} <= {call.name for call in calls}:
            raise LawError("a law", "it is broken", calls=calls)

    with pytest.raises(LawError) as caught:
        search_calls(st.just(CALLS), check)
    assert [call.name for call in caught.value.calls] == ["b", "e"]


def test_what_fails_once_and_not_again_is_raised_as_it_was_found() -> None:
    seen = []

    def check(calls: tuple[ToolCall, ...]) -> None:
        seen.append(calls)
        if len(seen) == 1:
            raise LawError("a law", "it is broken", calls=calls)

    with pytest.raises(LawError, match="not deterministic") as caught:
        search_calls(st.just(CALLS), check)
    assert caught.value.calls == CALLS
