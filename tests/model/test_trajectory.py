"""Chat messages as trajectories: which call a result is given to."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from multigold.model.trajectory import Trajectory

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


def answered_one_by_one(messages: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """Say it the slow way: for each result look through all calls so far. Return id and result of each call."""
    calls: list[list[Any]] = []
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            calls.extend([as_text(call["id"]), None, place] for call in message["tool_calls"])
            continue
        call_id = as_text(message.get("tool_call_id") or message.get("id"))
        waiting = [call for call in calls if call[1] is None]
        chosen = [call for call in waiting if call[0] == call_id]
        if not chosen:  # one of the two has no id
            chosen = [call for call in waiting if call[2] == calls[-1][2]]
            chosen = [] if chosen and call_id and chosen[0][0] else chosen
        latest = [call for call in chosen if call[2] == chosen[-1][2]]
        if latest:
            latest[0][1] = message["content"]
    return [(call_id, result) for call_id, result, _ in calls]


def as_text(call_id: Any) -> str:
    return str(call_id) if isinstance(call_id, str | int) else ""


@given(st.lists(CALLS | RESULTS, max_size=20))
def test_a_result_is_given_to_the_earliest_open_call_of_its_id_in_the_latest_message(messages: list[Any]) -> None:
    calls = Trajectory.from_messages(messages).calls or ()
    assert [(recorded.call.id, recorded.result) for recorded in calls] == answered_one_by_one(messages)


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
