"""A reading that admits by assertions on the end state is matched however it was reached, in code and in a file."""

from __future__ import annotations

from typing import Any

import pytest
from tiny_telecom import agent, environment, user

from multigold.catalogues.decoding import read_form
from multigold.catalogues.distinct import overlaps
from multigold.errors import CallError, GoldSetError
from multigold.files.cursor import Cursor, Finding
from multigold.model.gold import Actions, Assertions, GoldSet, Reading
from multigold.model.task import Criteria, Task, ToolCall
from multigold.model.trajectory import RecordedCall, Trajectory
from multigold.model.verdict import Verdict
from multigold.scoring import compile_golds
from multigold.scoring.judging import judge

CARRIER = environment()
STATED = [
    {"env_type": "user", "func_name": "set_user_info", "arguments": {"name": "Uma", "phone_number": "555-1"}},
    {"env_type": "user", "func_name": "turn_data_off", "arguments": {}},
]


def asserted(name: str, **arguments: Any) -> dict[str, Any]:
    return {"env_type": "user", "func_name": name, "arguments": arguments}


DATA, NO_DATA = (asserted("assert_mobile_data_status", expected_status=status) for status in (True, False))
HANDED_OVER = agent("transfer_to_human_agents", summary="x")


def mended_or_handed_over() -> GoldSet:
    """Either the phone gets data, whatever else was done; or the user is handed over, and nothing is changed."""
    return GoldSet(
        readings=(
            Reading(id="mended", admits=(Assertions((DATA,)),)),
            Reading(id="handed-over", admits=(Actions((HANDED_OVER,)),)),
        )
    )


def task(basis: tuple[str, ...] = ("ENV_ASSERTION",)) -> Task:
    criteria = Criteria(actions=(user("toggle_data"),), env_assertions=(DATA,), reward_basis=basis)
    return Task("t", initial_state={"initialization_actions": STATED}, criteria=criteria)


def verdict_of(*calls: ToolCall, golds: GoldSet | None = None, basis: tuple[str, ...] = ("ENV_ASSERTION",)) -> Verdict:
    scored = task(basis)
    run = Trajectory(calls=tuple(RecordedCall(call=call) for call in calls), termination="user_stop")
    compiled = compile_golds(scored, golds or mended_or_handed_over(), CARRIER)
    return judge(scored, run, compiled, environment=CARRIER)


def test_every_state_of_which_the_assertions_hold_is_admitted() -> None:
    for calls in ([user("toggle_data")], [user("toggle_data"), user("toggle_wifi"), user("connect_vpn")]):
        verdict = verdict_of(*calls)
        assert verdict.matched == ("mended",)
        assert verdict.rewards.core == 1.0
    assert verdict_of(user("toggle_wifi")).matched == ()


def test_where_the_reward_rests_on_assertions_a_reading_stands_in_their_place() -> None:
    """Handed over: the benchmark's assertion does not hold, and yet a core reading is matched."""
    verdict = verdict_of(HANDED_OVER)
    assert verdict.matched == ("handed-over",)
    assert (verdict.rewards.single, verdict.rewards.core, verdict.rewards.core_or_single) == (0.0, 1.0, 1.0)
    nothing = verdict_of(user("toggle_wifi"))
    assert (nothing.rewards.single, nothing.rewards.core) == (0.0, 0.0)


def test_where_the_reward_rests_on_both_the_assertions_stay_a_factor_of_it() -> None:
    verdict = verdict_of(HANDED_OVER, basis=("DB", "ENV_ASSERTION"))
    assert verdict.matched == ("handed-over",)
    assert verdict.rewards.core == 0.0


def test_what_does_not_hold_is_explained_and_no_delta_is_made_up() -> None:
    explained = verdict_of(user("toggle_wifi")).explain()
    assert "assert_mobile_data_status(expected_status=True) does not hold" in explained


def test_a_reading_by_assertions_has_no_width_and_differs_from_any_other() -> None:
    compiled = compile_golds(task(), mended_or_handed_over(), CARRIER)
    assert [admitted.width for admitted in compiled.readings] == [None, 1]
    assert compiled.stratum == "affected"
    assert list(overlaps(compiled)) == []


def test_readings_by_assertions_that_may_share_states_are_called_undecided() -> None:
    mms = asserted("assert_can_send_mms", expected_status=True)
    golds = GoldSet(
        readings=tuple(
            Reading(id=name, admits=(Assertions((assertion,)),)) for name, assertion in (("data", DATA), ("mms", mms))
        )
    )
    assert [overlap.kind for overlap in overlaps(compile_golds(task(), golds, CARRIER))] == ["undecided"]


def test_an_assertion_that_the_environment_does_not_know_is_an_error_of_the_gold_set() -> None:
    unknown = GoldSet(readings=(Reading(id="r", admits=(Assertions((asserted("assert_the_moon_is_full"),)),)),))
    with pytest.raises(GoldSetError, match="no assertion is called 'assert_the_moon_is_full'"):
        compile_golds(task(), unknown, CARRIER)
    with pytest.raises(CallError, match="assertions need an environment"):
        compile_golds(Task("t", initial={"users": {}}), unknown)


def test_a_file_writes_them_as_tau2_does() -> None:
    found: list[Finding] = []
    form = read_form(Cursor({"env_assertions": [DATA, NO_DATA], "label": "data"}, "tasks/t.json", found))
    assert form == Assertions((DATA, NO_DATA), label="data")
    assert found == []


def test_a_file_that_names_no_function_is_told_where() -> None:
    found: list[Finding] = []
    read_form(Cursor({"env_assertions": [{"name": "x"}]}, "tasks/t.json", found))
    assert {finding.code for finding in found} == {"missing-member", "unknown-member"}
    assert all("/env_assertions/0" in finding.where for finding in found)
