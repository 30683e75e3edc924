"""Which calls are the evidence that a reading asks for."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from multigold.model.gold import AllOf, AnyOf, CallEvidence
from multigold.model.task import ToolCall
from multigold.scoring.evidence import evidence_state

Requestor = Literal["assistant", "user"]


def call(name: str = "look", requestor: Requestor = "assistant", **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, requestor=requestor)


@pytest.mark.parametrize("asked", ["assistant", "user", None])
@pytest.mark.parametrize("called", ["assistant", "user"])
def test_evidence_asks_who_called(asked: Requestor | None, called: Requestor) -> None:
    state = evidence_state(CallEvidence(tool="look", requestor=asked), [(call(requestor=called), True)])
    assert state == ("met" if asked in (None, called) else "unmet")


@pytest.mark.parametrize("asked", [True, False, None])
@pytest.mark.parametrize("succeeded", [True, False, None])
def test_evidence_asks_how_the_call_went_and_is_unknown_if_that_is(asked: bool | None, succeeded: bool | None) -> None:
    state = evidence_state(CallEvidence(tool="look", succeeded=asked), [(call(), succeeded)])
    if asked is None:
        assert state == "met"
    elif succeeded is None:
        assert state == "unknown"
    else:
        assert state == ("met" if asked is succeeded else "unmet")


def test_evidence_asks_for_the_tool_and_for_some_of_the_arguments() -> None:
    asked = CallEvidence(tool="look", arguments={"id": "o-1", "n": 1})
    for made, state in (
        (call(id="o-1", n=1.0, more="x"), "met"),
        (call(id="o-1"), "unmet"),
        (call(id="o-1", n=True), "unmet"),
        (call(id="o-2", n=1), "unmet"),
        (call("peek", id="o-1", n=1), "unmet"),
        (ToolCall("look", None), "unmet"),  # arguments that could not be read
    ):
        assert evidence_state(asked, [(made, True)]) == state, made


def test_all_parts_or_any_part_are_asked_for() -> None:
    parts = (CallEvidence(tool="a"), CallEvidence(tool="b"))
    for calls, of_all, of_any in (
        ([], "unmet", "unmet"),
        ([("a", True)], "unmet", "met"),
        ([("a", True), ("b", False)], "unmet", "met"),
        ([("a", True), ("b", None)], "unknown", "met"),
        ([("a", None), ("b", False)], "unmet", "unknown"),
        ([("a", True), ("b", True)], "met", "met"),
    ):
        made = [(call(name), succeeded) for name, succeeded in calls]
        assert evidence_state(AllOf(parts), made) == of_all, calls
        assert evidence_state(AnyOf(parts), made) == of_any, calls


def test_nothing_asked_is_not_the_same_as_nothing_known() -> None:
    assert evidence_state(None, None) == "not_asked"
    assert evidence_state(None, [(call(), True)]) == "not_asked"
    assert evidence_state(CallEvidence(tool="look"), None) == "unknown"
    assert evidence_state(CallEvidence(tool="look"), []) == "unmet"
