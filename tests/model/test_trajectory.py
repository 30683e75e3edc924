"""Chat messages as trajectories: which call a result is given to."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from multigold.model.trajectory import RecordedCall, Trajectory

CALLS = st.builds(
    lambda ids: {"role": "assistant", "tool_calls": [{"name": "look", "id": call_id} for call_id in ids]},
    st.lists(st.sampled_from(["a", "b", "", None, 5]), max_size=3),
)
RESULTS = st.builds(
    lambda name, call_id, content, error: {"role": "tool", name: call_id, "content": content, "error": error},
    st.sampled_from(["id", "tool_call_id"]),
    st.sampled_from(["a", "b", "c", "", None, 5, "5", 0, ["a"], {"a": 1}]),
    st.sampled_from(["", "yes", "no"]),
    st.sampled_from([True, False, None, "no"]),
)


def answered_one_by_one(messages: list[dict[str, Any]]) -> list[RecordedCall]:
    """Say it the slow way: for each result look through all calls so far."""
    calls: list[RecordedCall] = []
    for message in messages:
        if message["role"] == "assistant":
            calls.extend(Trajectory.from_messages([message]).calls or ())
            continue
        call_id = message.get("tool_call_id") or message.get("id")
        for position, recorded in enumerate(calls):
            if recorded.result is None and (not call_id or recorded.call.id == call_id):
                refused = message["error"] if isinstance(message["error"], bool) else None
                calls[position] = attrs.evolve(recorded, result=message["content"], refused=refused)
                break
    return [attrs.evolve(call, message=0) for call in calls]


@given(st.lists(CALLS | RESULTS, max_size=20))
def test_a_result_is_given_to_the_earliest_unanswered_call_of_its_id_or_of_any(messages: list[dict[str, Any]]) -> None:
    calls = Trajectory.from_messages(messages).calls or ()
    assert [attrs.evolve(call, message=0) for call in calls] == answered_one_by_one(messages)


def test_a_result_is_not_held_against_every_call_there_is() -> None:
    number, held = 200, 0

    class Id(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal held
            held += 1
            return str.__eq__(self, other)

    asked = [{"role": "assistant", "tool_calls": [{"name": "look", "id": str(one)}]} for one in range(number)]
    told = [{"role": "tool", "id": Id(one), "content": "ok", "error": False} for one in reversed(range(number))]
    calls = Trajectory.from_messages([*asked, *told]).calls or ()
    assert all(call.result == "ok" for call in calls)
    assert held <= 3 * number
