"""What the record of a run does to its verdict: calls that nobody answered, or that nobody here understands."""

from __future__ import annotations

from typing import Any

import attrs
import msgspec
import pytest

import multigold
from multigold.environments.tools import tool_table
from multigold.errors import StateError
from multigold.model.gold import CallEvidence
from multigold.model.trajectory import RecordedCall
from multigold.readers.simulation import read_simulation
from multigold.scoring.replayed_run import replay_run

BEFORE = {"orders": {"o-1": {"status": "open"}}}
REFUNDED = {"orders": {"o-1": {"status": "refunded"}}}


def view_order(draft: Any, order_id: str) -> Any:
    return draft.get("orders", order_id)


def set_status(draft: Any, order_id: str, status: Any) -> str:
    draft.edit("orders", order_id)["status"] = status
    return "done"


ENVIRONMENT = multigold.Environment(
    name="orders",
    initial=multigold.EndState(multigold.Database.from_json(BEFORE)),
    tools=tool_table({"read": (view_order,), "write": (set_status,)}),
)
TASK = multigold.Task("refund-17")
BOTH = multigold.GoldSet.from_databases({"keep": BEFORE, "refund": REFUNDED}, benchmark="refund")
LOOKED = CallEvidence(tool="view_order", arguments={"order_id": "o-1"})
GOLDS = attrs.evolve(
    BOTH,
    readings=tuple(attrs.evolve(one, evidence=LOOKED if one.id == "keep" else None) for one in BOTH.readings),
)

LOOK = {"id": "1", "name": "view_order", "arguments": {"order_id": "o-1"}}
REFUND = {"id": "2", "name": "set_status", "arguments": {"order_id": "o-1", "status": "refunded"}}
OPEN = {"role": "tool", "id": "1", "content": '{"status": "open"}', "error": False}
DONE = {"role": "tool", "id": "2", "content": "done", "error": False}
BYE = {"role": "user", "content": "Thanks."}


def asks(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def verdict_of(*messages: Any, termination: str | None = "user_stop") -> multigold.Verdict:
    run = multigold.Trajectory.from_messages(messages, termination=termination)
    return multigold.score(TASK, run, GOLDS, environment=ENVIRONMENT)


def code(verdict: multigold.Verdict) -> str:
    return verdict.reason.code if verdict.reason else verdict.outcome


def test_calls_that_were_answered_count_as_ever() -> None:
    assert verdict_of(asks(LOOK), OPEN, asks(REFUND), DONE, BYE).matched == ("refund",)
    assert verdict_of(asks(LOOK), OPEN, BYE).matched == ("keep",)


def test_a_call_that_nothing_answered_is_not_carried_out() -> None:
    assert verdict_of(asks(LOOK), OPEN, asks(REFUND)).matched == ("keep",)


def test_a_look_that_nothing_answered_is_no_evidence() -> None:
    other = {**LOOK, "id": "3", "arguments": {"order_id": "o-2"}}
    refused = {"role": "tool", "id": "3", "content": "Error: no such order", "error": True}
    verdict = verdict_of(asks(other), refused, asks(LOOK))
    assert (verdict.outcome, code(verdict)) == ("unmatched", "vacuous")


def test_a_stored_end_state_gets_no_evidence_from_a_look_that_nothing_answered() -> None:
    run = multigold.Trajectory.from_messages([asks(REFUND), DONE, asks(LOOK)])
    verdict = multigold.score(TASK, attrs.evolve(run, end_state=ENVIRONMENT.initial), GOLDS, environment=ENVIRONMENT)
    assert [match.evidence for match in verdict.matches] == ["unmet"]


@pytest.mark.parametrize(
    "messages",
    [
        (asks(LOOK), OPEN, asks(REFUND), BYE),
        (asks(REFUND), asks(LOOK), OPEN),
        (asks(LOOK), asks(REFUND), BYE),
        (asks(REFUND),),
    ],
)
def test_a_transcript_that_goes_on_after_a_call_without_an_answer_is_unscored(messages: Any) -> None:
    verdict = verdict_of(*messages)
    assert (verdict.outcome, code(verdict), verdict.benchmark_matched) == ("unscored", "calls_unanswered", None)
    assert code(verdict_of(*messages, termination=None)) == "calls_unanswered"


def test_calls_without_a_transcript_are_carried_out() -> None:
    calls = [multigold.ToolCall(call["name"], call["arguments"]) for call in (LOOK, REFUND)]
    verdict = multigold.score(TASK, multigold.Trajectory.from_calls(calls), GOLDS, environment=ENVIRONMENT)
    assert verdict.matched == ("refund",)


@pytest.mark.parametrize("calls", [5, "text", ["text"], [{"arguments": {}, "output": "done"}]])
def test_calls_that_are_not_understood_leave_a_run_unscored(calls: Any) -> None:
    verdict = verdict_of(asks(LOOK), OPEN, {"role": "assistant", "tool_calls": calls}, BYE)
    assert (verdict.outcome, code(verdict)) == ("unscored", "calls_not_understood")


@pytest.mark.parametrize("messages", [(asks(LOOK), asks(REFUND), BYE), (asks(LOOK), OPEN, asks(5), BYE)])
def test_a_run_that_did_not_end_normally_matches_nothing_whatever_it_called(messages: Any) -> None:
    verdict = verdict_of(*messages, termination="max_steps")
    assert (verdict.outcome, code(verdict), verdict.benchmark_matched) == ("unmatched", "ended_early", False)


def test_broken_arguments_that_were_refused_are_a_call_that_failed() -> None:
    broken = {"role": "tool", "id": "2", "content": "Error: the arguments are not JSON", "error": True}
    verdict = verdict_of(asks(LOOK), OPEN, asks({**REFUND, "arguments": '{"order_id": '}), broken, BYE)
    assert (verdict.matched, verdict.fidelity.drift) == (("keep",), "")


def test_python_text_that_was_refused_is_not_carried_out() -> None:
    refused = {"role": "tool", "id": "2", "content": "Error: the arguments are not JSON", "error": True}
    text = {**REFUND, "arguments": repr(REFUND["arguments"])}
    assert verdict_of(asks(LOOK), OPEN, asks(text), refused, BYE).matched == ("keep",)
    assert verdict_of(asks(LOOK), OPEN, asks(text), DONE, BYE).matched == ("refund",)


def test_a_write_of_what_no_state_can_hold_is_never_taken_for_one_that_did_nothing() -> None:
    messages = [asks({**REFUND, "arguments": '{"order_id": "o-1", "status": NaN}'}), DONE]
    run = multigold.Trajectory.from_messages(messages)
    with pytest.raises(StateError, match="no state can hold"):
        replay_run(run, ENVIRONMENT.initial, ENVIRONMENT)


def test_a_call_that_never_ran_is_no_drift() -> None:
    recorded = RecordedCall(call=multigold.ToolCall("set_status", REFUND["arguments"]), never_ran=True)
    replayed = replay_run(multigold.Trajectory(calls=(recorded,)), ENVIRONMENT.initial, ENVIRONMENT, check_reads=True)
    assert (replayed.end_state, replayed.fidelity.drift, replayed.fidelity.skipped) == (ENVIRONMENT.initial, "", 1)
    assert [succeeded for _, succeeded in replayed.calls or ()] == [False]


@pytest.mark.parametrize("termination", [5, True, ["user_stop"], {"reason": "user_stop"}])
def test_how_a_run_ended_in_another_type_than_text_is_no_normal_end(termination: Any) -> None:

    stored = {"id": "s", "task_id": "refund-17", "termination_reason": termination, "messages": [asks(LOOK), OPEN]}
    run = read_simulation(msgspec.json.encode(stored), "a").trajectory
    verdict = multigold.score(TASK, run, GOLDS, environment=ENVIRONMENT)
    assert run.termination == msgspec.json.encode(termination).decode().replace('":"', '": "')
    assert (verdict.matched, verdict.benchmark_matched in (False, None)) == ((), True)
