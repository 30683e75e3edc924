"""tau2's telecom domain on a made-up carrier: tools of both sides, set scenes, synchronisation. Needs no tau2."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from tiny_telecom import LINE, agent, environment, lists, scene, user

from multigold.environments.assertions import all_hold, holds
from multigold.environments.base import Environment
from multigold.environments.replay import Replay, replay
from multigold.environments.telecom import build
from multigold.environments.telecom.tools import next_bill_id
from multigold.errors import DataError
from multigold.model.task import Criteria, Task, ToolCall
from multigold.model.trajectory import RecordedCall, Trajectory
from multigold.scoring import benchmark_gold, compile_golds
from multigold.scoring.judging import judge
from multigold.state.database import Database, EndState
from multigold.state.delta import diff
from multigold.state.equivalence import normal_form

CARRIER = environment()
PLAIN = scene(CARRIER)


def run(*calls: ToolCall, start: EndState = PLAIN) -> Replay:
    return replay(CARRIER, calls, initial=start)


def succeed(*calls: ToolCall, start: EndState = PLAIN) -> Replay:
    done = run(*calls, start=start)
    assert done.refusals == ()
    return done


def phone(state: EndState, field: str) -> Any:
    assert state.user is not None
    return state.user.get("device", field)


def around(state: EndState, field: str) -> Any:
    assert state.user is not None
    return state.user.get("surroundings", field)


def answer(call: ToolCall, start: EndState = PLAIN) -> Any:
    return succeed(call, start=start).outcomes[0].observation


# The data


def test_lists_are_tables_by_id_in_their_order_with_what_the_file_leaves_out() -> None:
    state = CARRIER.initial.agent
    assert state.ids("lines") == ["L1", "L2", "L3"]
    assert state.get("lines", "L1")["data_refueling_gb"] == 0
    assert state.get("lines", "L1")["contract_end_date"] is None
    assert state.get("devices", "D1")["activation_date"] == "2025-01-20 14:30:00"
    assert state.get("customers", "C1")["account_status"] == "Pending Verification"
    assert phone(CARRIER.initial, "network_technology_connected") == "5G"


def test_a_database_that_was_made_tables_once_is_read_the_same_again() -> None:
    again = build(CARRIER.initial.agent, user_database=CARRIER.initial.user)
    assert again.initial == CARRIER.initial


def test_a_second_record_of_an_id_is_kept_and_never_found_as_in_a_list() -> None:
    data = lists()
    data["bills"].append({**data["bills"][0], "status": "Overdue"})
    made = build(Database.adopt(data)).initial.agent
    assert made.ids("bills") == ["B1", "B2", "B3", "B4", "B1 (2)"]
    assert made.get("bills", "B1")["status"] == "Paid"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"plans": [{"plan_id": "P1"}]}, "plans[0]"),
        ({"plans": 5}, "plans"),
        ({"planes": []}, ""),
        ({"lines": [{**lists()["lines"][0], "colour": "red"}]}, "lines[0]"),
        ({"lines": [{**lists()["lines"][0], "status": "active"}]}, "lines[0]"),
        ({"bills": [{**lists()["bills"][0], "due_date": "soon"}]}, "bills[0]"),
    ],
)
def test_data_that_is_no_telecom_data_is_refused_with_its_place(change: dict[str, Any], where: str) -> None:
    with pytest.raises(DataError) as caught:
        build(Database.adopt({**lists(), **change}))
    assert caught.value.where == where


def test_there_are_thirteen_tools_of_the_agent_and_thirty_of_the_user() -> None:
    kinds = [[tool.kind for tool in tools.values()] for tools in (CARRIER.tools, CARRIER.user_tools)]
    assert [{kind: side.count(kind) for kind in sorted(set(side))} for side in kinds] == [
        {"generic": 1, "read": 6, "write": 6},
        {"read": 15, "write": 15},
    ]


def test_reads_of_either_side_change_nothing() -> None:
    reads = [agent(name) for name, tool in CARRIER.tools.items() if tool.kind != "write"]
    reads += [user(name) for name, tool in CARRIER.user_tools.items() if tool.kind != "write"]
    assert run(*reads).end_state == PLAIN


# The agent's side


@pytest.mark.parametrize(
    ("call", "customer"),
    [
        (agent("get_customer_by_phone", phone_number="555-102"), "C2"),
        (agent("get_customer_by_phone", phone_number="555-2"), "C1"),
        (agent("get_customer_by_id", customer_id="C2"), "C2"),
        (agent("get_details_by_id", id="C1"), "C1"),
    ],
)
def test_customers_are_found_by_id_and_by_any_number(call: ToolCall, customer: str) -> None:
    assert answer(call)["customer_id"] == customer


def test_what_a_customer_has_is_listed() -> None:
    by_name = agent("get_customer_by_name", full_name="UMA ito", dob="1990-01-02")
    assert [customer["customer_id"] for customer in answer(by_name)] == ["C1"]
    bills = answer(agent("get_bills_for_customer", customer_id="C1", limit=2))
    assert [bill["bill_id"] for bill in bills] == ["B3", "B2"]
    usage = answer(agent("get_data_usage", **LINE))
    assert usage == {
        "line_id": "L1",
        "data_used_gb": "3.2",
        "data_limit_gb": "5.0",
        "data_refueling_gb": "0.0",
        "cycle_end_date": "2025-02-28",
    }


@pytest.mark.parametrize(
    "call",
    [
        agent("get_details_by_id", id="X1"),
        agent("get_details_by_id", id=5),
        agent("get_details_by_id", id="L9"),
        agent("get_customer_by_phone", phone_number="555"),
        agent("get_bills_for_customer", customer_id="C1", limit="2"),
        agent("get_data_usage", customer_id="C2", line_id="L1"),
        agent("suspend_line", customer_id="C1", line_id="L2", reason="travel"),
        agent("resume_line", **LINE),
        agent("send_payment_request", customer_id="C1", bill_id="B4"),
        agent("refuel_data", **LINE, gb_amount=0),
        agent("refuel_data", **LINE, gb_amount="2"),
        user("enable_roaming", **LINE),
        agent("toggle_data"),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_no_trace(call: ToolCall) -> None:
    done = run(call)
    assert done.outcomes[0].refusal is not None
    assert done.end_state == PLAIN


def test_a_line_is_suspended_since_today_and_resumed() -> None:
    suspended = succeed(agent("suspend_line", **LINE, reason="travel"))
    assert suspended.end_state.agent.get("lines", "L1")["suspension_start_date"] == "2025-02-25"
    assert around(suspended.end_state, "line_active") is False
    resumed = succeed(agent("resume_line", **LINE), start=suspended.end_state)
    assert resumed.end_state == PLAIN


def test_data_is_charged_by_the_plan_on_the_draft_bill() -> None:
    done = succeed(agent("refuel_data", **LINE, gb_amount=2), agent("refuel_data", **LINE, gb_amount=0.5))
    bill = done.end_state.agent.get("bills", "B3")
    assert (bill["total_due"], [item["amount"] for item in bill["line_items"]]) == (6.25, [5.0, 1.25])
    assert bill["line_items"][0]["description"] == "Data refueling: 2 GB at $2.5/GB"
    assert done.end_state.agent.get("lines", "L1")["data_refueling_gb"] == 2.5


REFUEL_C2 = agent("refuel_data", customer_id="C2", line_id="L3", gb_amount=1)


def test_a_charge_without_a_draft_bill_mints_one_whose_id_follows_from_the_customer() -> None:
    done = succeed(REFUEL_C2)
    minted = next_bill_id(CARRIER.initial.agent.get("customers", "C2"))
    assert done.end_state.agent.get("customers", "C2")["bill_ids"] == ["B4", minted]
    assert done.end_state.agent.get("bills", minted)["period_end"] == "2025-03-31"
    assert succeed(REFUEL_C2).end_state == done.end_state


def test_minted_bills_are_equivalent_whatever_they_are_called() -> None:
    ends = []
    for name in ("B0000000a", "B0000000b"):
        other = environment(mint=lambda customer, name=name: name)
        ends.append(replay(other, [REFUEL_C2]).end_state)
    assert ends[0] != ends[1]
    forms = [normal_form(end, CARRIER.initial, ("minted-ids",), CARRIER.conventions) for end in ends]
    assert forms[0] == forms[1]


# The user's side


def test_toggles_go_back_and_forth() -> None:
    start = scene(CARRIER, ("simulate_network_search", {}))  # else the first toggle finds a better network
    for name in ("toggle_data", "toggle_roaming", "toggle_data_saver_mode", "toggle_wifi", "toggle_wifi_calling"):
        once = succeed(user(name), start=start).end_state
        assert once != start
        assert succeed(user(name), start=once).end_state == start


def test_a_search_finds_the_best_network_of_the_preferred_mode() -> None:
    for mode, technology, signal in (("2g_only", "2G", "poor"), ("3g_only", "3G", "fair"), ("4g_only", "4G", "good")):
        end = succeed(user("set_network_mode_preference", mode=mode)).end_state
        assert phone(end, "network_technology_connected") == technology
        assert phone(end, "network_signal_strength") == signal


def test_airplane_mode_cuts_every_connection() -> None:
    done = succeed(user("connect_vpn"), user("toggle_airplane_mode"), user("toggle_wifi"))
    assert phone(done.end_state, "network_connection_status") == "no_service"
    assert phone(done.end_state, "vpn_details") is None
    assert done.outcomes[1].observation == "Airplane Mode is now ON.\nStatus Bar: ✈️ Airplane Mode | 🔋 80%"
    assert str(done.outcomes[2].observation).startswith("Cannot change Wi-Fi")


def test_an_access_point_is_reset_at_the_next_reboot() -> None:
    broken = scene(CARRIER, ("break_apn_settings", {}))
    assert phone(broken, "network_connection_status") == "no_service"
    reset = succeed(user("reset_apn_settings"), start=broken).end_state
    assert phone(reset, "network_connection_status") == "no_service"
    mended = succeed(user("reboot_device"), start=reset)
    assert phone(mended.end_state, "network_connection_status") == "connected"
    assert str(mended.outcomes[0].observation).startswith("Resetting APN settings...\nRestarting network services...")


@pytest.mark.parametrize("odd", [5, ["4g_only"], True, {"mode": "4g_only"}])
def test_a_mode_that_is_no_string_is_stored_and_then_refused_as_in_tau2(odd: Any) -> None:
    done = run(user("set_network_mode_preference", mode=odd))
    assert done.outcomes[0].refusal is not None
    assert phone(done.end_state, "network_mode_preference") == odd
    assert phone(done.end_state, "network_technology_connected") == "4G"


def test_an_unknown_mode_and_null_are_answered_and_only_null_is_stored() -> None:
    unknown = succeed(user("set_network_mode_preference", mode="6g"))
    assert unknown.end_state == PLAIN
    assert str(unknown.outcomes[0].observation).startswith("Failed to set network mode: '6g'")
    assert phone(succeed(user("set_network_mode_preference", mode=None)).end_state, "network_mode_preference") is None


def test_settings_that_are_no_object_are_stored_and_every_search_fails_half_way_until_better_ones_are_set() -> None:
    done = run(user("set_apn_settings", apn_settings="internet"), user("toggle_airplane_mode"))
    assert [index for index, _ in done.refusals] == [0, 1]
    assert phone(done.end_state, "active_apn_settings") == "internet"
    assert phone(done.end_state, "airplane_mode") is True
    assert phone(done.end_state, "network_connection_status") == "no_service"
    mended = run(user("set_apn_settings", apn_settings={}), start=done.end_state)
    assert mended.refusals == ()


def test_settings_of_the_wrong_type_are_refused_and_leave_no_trace() -> None:
    for settings in ({"apn_name": "other"}, {"colour": "red"}, {"mms_port": "x"}):
        done = run(user("set_apn_settings", apn_settings=settings))
        assert done.outcomes[0].refusal is not None
        assert done.end_state == PLAIN


def test_permissions_are_granted_in_any_case_and_unknown_ones_are_said_in_words() -> None:
    start = scene(CARRIER, ("remove_app_permission", {"app_name": "messaging", "permission": "SMS"}))
    assert answer(user("check_app_permissions", app_name="messaging"), start).endswith("for: storage, phone.")
    assert answer(user("can_send_mms"), start).endswith("cannot send MMS messages.")
    done = succeed(user("grant_app_permission", app_name="messaging", permission="Sms"), start=start)
    assert phone(done.end_state, "app_statuses")["messaging"]["permissions"]["sms"] is True
    for app, permission in (("maps", "sms"), ("messaging", "camera")):
        call = user("grant_app_permission", app_name=app, permission=permission)
        assert answer(call).startswith("Error.")
        assert succeed(call).end_state == PLAIN


def test_a_vpn_that_was_broken_is_slow_whenever_the_phone_connects_again_and_in_no_other_run() -> None:
    broken = scene(CARRIER, ("break_vpn", {}))
    again = succeed(user("disconnect_vpn"), user("connect_vpn"), start=broken).end_state
    assert phone(again, "vpn_details")["server_performance"] == "poor"
    assert "Poor" in answer(user("run_speed_test"), again) or "Fair" in answer(user("run_speed_test"), again)
    fresh = succeed(user("connect_vpn")).end_state
    assert phone(fresh, "vpn_details")["server_performance"] == "excellent"
    shown = answer(user("check_vpn_status"), fresh)
    assert shown.endswith("'server_performance': <PerformanceLevel.EXCELLENT: 'excellent'>}")


# The two sides in step


def test_a_payment_goes_from_the_agent_to_the_user_and_back() -> None:
    asked = succeed(agent("send_payment_request", customer_id="C1", bill_id="B2"))
    assert around(asked.end_state, "payment_request") == {"bill_id": "B2", "amount_due": 45.5, "paid": False}
    paid = succeed(user("check_payment_request"), user("make_payment"), start=asked.end_state)
    assert paid.outcomes[0].observation == "You have a payment request for bill B2 of 45.5 USD."
    assert paid.end_state.agent.get("bills", "B2")["status"] == "Paid"
    assert around(paid.end_state, "payment_request") is None


def test_one_bill_is_asked_for_at_a_time() -> None:
    done = run(*(agent("send_payment_request", customer_id="C1", bill_id=bill) for bill in ("B2", "B1")))
    assert [index for index, _ in done.refusals] == [1]


def test_without_synchronising_the_user_is_asked_nothing_as_after_the_calls_of_a_gold() -> None:
    calls = [agent("send_payment_request", customer_id="C1", bill_id="B2"), user("make_payment")]
    done = replay(CARRIER, calls, initial=PLAIN, synchronise=False)
    assert done.outcomes[1].observation == "You do not have a payment request."
    assert done.end_state.agent.get("bills", "B2")["status"] == "Awaiting Payment"


def test_a_call_that_fails_brings_nothing_in_step_and_the_next_one_that_succeeds_does() -> None:
    calls = [agent("suspend_line", **LINE, reason="x")]
    unsynced = replay(CARRIER, calls, initial=PLAIN, synchronise=False).end_state
    assert around(run(agent("resume_line", customer_id="C9", line_id="L1"), start=unsynced).end_state, "line_active")
    assert not around(succeed(user("check_sim_status"), start=unsynced).end_state, "line_active")


def test_used_up_data_shows_on_the_phone_and_refuelling_mends_it() -> None:
    used_up = scene(CARRIER, ("set_data_usage", {**LINE, "data_used_gb": 5}))
    assert answer(user("run_speed_test"), used_up) == "Speed test failed: No Connection."
    mended = succeed(agent("refuel_data", **LINE, gb_amount=1), start=used_up)
    assert answer(user("run_speed_test"), mended.end_state).startswith("Speed Test Result: 220.00 Mbps (Excellent).")


# Scenes


def test_an_overdue_bill_suspends_the_line() -> None:
    overdue = {**LINE, "new_bill_id": "B9", "contract_ended": True}
    state = scene(CARRIER, ("suspend_line_for_overdue_bill", overdue))
    assert state.agent.get("bills", "B9")["status"] == "Overdue"
    assert state.agent.get("lines", "L1")["contract_end_date"] == "2025-01-31"
    assert state.agent.get("customers", "C1")["bill_ids"][-1] == "B9"
    assert around(state, "line_active") is False


def test_a_tasks_own_data_replaces_lists_and_merges_objects() -> None:
    assert CARRIER.prepare is not None
    phone_data = {"device": {"app_statuses": {"messaging": {"permissions": {"sms": False}}}}}
    data = {"agent_data": {"lines": lists()["lines"][:1]}, "user_data": phone_data}
    state = CARRIER.prepare(CARRIER.initial, {"initialization_data": data})
    assert state.agent.ids("lines") == ["L1"]
    assert state.agent.ids("customers") == ["C1", "C2"]
    assert phone(state, "app_statuses")["messaging"]["permissions"] == {
        "sms": False,
        "storage": True,
        "phone": True,
        "network": False,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"initialization_actions": [{"env_type": "user", "func_name": "explode", "arguments": {}}]},
        {"initialization_actions": [{"env_type": "moon", "func_name": "break_vpn", "arguments": {}}]},
        {"initialization_actions": [{"func_name": "break_vpn"}]},
        {"initialization_actions": ["break_vpn"]},
        {"initialization_actions": "break_vpn"},
        {"initialization_actions": [{"env_type": "assistant", "func_name": "set_data_usage", "arguments": {}}]},
        {"initialization_data": {"agent_data": {"lines": [{}]}}},
        {"initialization_data": []},
    ],
)
def test_a_scene_that_cannot_be_set_is_an_error_of_the_task(changes: Any) -> None:
    assert CARRIER.prepare is not None
    with pytest.raises(DataError):
        CARRIER.prepare(CARRIER.initial, changes)


def test_setting_a_scene_leaves_the_environment_alone() -> None:
    before = CARRIER.initial.fingerprint()
    scene(CARRIER, ("break_vpn", {}), ("unseat_sim_card", {}))
    assert CARRIER.initial.fingerprint() == before


# Assertions and the reward


def asserted(name: str, side: str = "user", value: bool = True, **arguments: Any) -> dict[str, Any]:
    return {"env_type": side, "func_name": name, "arguments": arguments, "assert_value": value}


@pytest.mark.parametrize(
    ("assertion", "held"),
    [
        (asserted("assert_airplane_mode_status", expected_status=False), True),
        (asserted("assert_service_status", expected_status="connected"), True),
        (asserted("assert_service_status", expected_status="flying"), None),
        (asserted("assert_mobile_data_status", expected_status=False), False),
        (asserted("assert_mobile_roaming_status", expected_status=False), True),
        (asserted("assert_mobile_data_saver_mode_status", expected_status=True), False),
        (asserted("assert_internet_speed", expected_speed=200), True),
        (asserted("assert_internet_speed", expected_speed=200, expected_desc="good"), False),
        (asserted("assert_internet_not_excellent", value=False), True),
        (asserted("assert_can_send_mms", expected_status=True), True),
        (asserted("assert_mobile_data_usage_exceeded", expected_status=True), False),
        (asserted("assert_data_refueling_amount", "assistant", **LINE, expected_amount=0), True),
        (asserted("assert_line_status", "assistant", **LINE, expected_status="Active"), True),
        (asserted("assert_overdue_bill_exists", "assistant", customer_id="C1", overdue_bill_id="B2"), None),
        (asserted("assert_no_overdue_bill", "assistant", overdue_bill_id="B1"), True),
        (asserted("assert_no_overdue_bill", "assistant", overdue_bill_id="B2"), False),
        (asserted("assert_no_overdue_bill", "assistant", overdue_bill_id="none"), True),
        (asserted("assert_the_moon_is_full"), None),
        (asserted("assert_can_send_mms"), None),
        ({"func_name": 5}, None),
        ("assert_can_send_mms", None),
    ],
)
def test_an_assertion_holds_or_not_or_cannot_be_told(assertion: Any, held: bool | None) -> None:
    assert holds(CARRIER, PLAIN, assertion) is held


def test_all_hold_is_false_where_one_fails_and_unknown_where_one_cannot_be_told() -> None:
    good, bad = (asserted("assert_can_send_mms", expected_status=status) for status in (True, False))
    assert all_hold(CARRIER, PLAIN, [good]) is True
    assert all_hold(CARRIER, PLAIN, [good, asserted("assert_the_moon_is_full")]) is None
    assert all_hold(CARRIER, PLAIN, [asserted("assert_the_moon_is_full"), bad]) is False


def telecom_task(*actions: ToolCall, assertions: list[Any], basis: tuple[str, ...]) -> Task:
    stated = [{"env_type": "user", "func_name": "set_user_info", "arguments": {"name": "Uma", "phone_number": "555-1"}}]
    stated.append({"env_type": "user", "func_name": "turn_data_off", "arguments": {}})
    criteria = Criteria(actions=actions, env_assertions=tuple(assertions), reward_basis=basis)
    return Task("t", initial_state={"initialization_actions": stated}, criteria=criteria)


DATA_WORKS = asserted("assert_mobile_data_status", expected_status=True)
TASK = telecom_task(user("toggle_data"), assertions=[DATA_WORKS], basis=("ENV_ASSERTION",))


def verdict_of(task: Task, *calls: ToolCall, environment: Environment = CARRIER, ended: str = "user_stop") -> Any:
    trajectory = Trajectory(calls=tuple(RecordedCall(call=call) for call in calls), termination=ended)
    return judge(task, trajectory, compile_golds(task, None, CARRIER), environment=environment)


def test_where_the_reward_rests_on_assertions_so_does_the_verdict_and_the_database_verdict_stays_strict() -> None:
    other_way = verdict_of(TASK, user("toggle_data"), user("toggle_data_saver_mode"))
    assert (other_way.outcome, other_way.benchmark_matched) == ("matched", False)
    assert (other_way.rewards.single, other_way.rewards.core) == (1.0, 1.0)
    idle = verdict_of(TASK, user("check_status_bar"))
    assert (idle.outcome, idle.rewards.single) == ("unmatched", 0.0)
    assert "assert_mobile_data_status(expected_status=True) does not hold" in idle.explain()


def test_a_run_that_did_not_end_normally_earns_nothing_whatever_its_state() -> None:
    early = verdict_of(TASK, user("toggle_data"), ended="max_steps")
    assert (early.outcome, early.rewards.single, early.rewards.core) == ("unmatched", 0.0, 0.0)


def test_the_action_factor_looks_for_every_gold_call_among_the_runs_calls() -> None:
    handed_over = agent("transfer_to_human_agents", summary="I cannot fix it.")
    gold = attrs.evolve(handed_over, compared=())
    no_data = asserted("assert_mobile_data_status", expected_status=False)
    task = telecom_task(gold, assertions=[no_data], basis=("ENV_ASSERTION", "ACTION"))
    in_other_words = agent("transfer_to_human_agents", summary="Over to you.")
    assert verdict_of(task, in_other_words).rewards.single == 1.0
    assert verdict_of(task, agent("get_customer_by_id", customer_id="C1")).rewards.single == 0.0
    exact = attrs.evolve(task, criteria=attrs.evolve(task.criteria, actions=(handed_over,)))
    assert verdict_of(exact, in_other_words).rewards.single == 0.0


def test_a_gold_that_ends_elsewhere_when_synchronised_is_marked_and_replayed_the_benchmarks_way() -> None:
    calls = (agent("send_payment_request", customer_id="C1", bill_id="B2"), user("make_payment"))
    gold = benchmark_gold(Task("t", criteria=Criteria(actions=calls)), CARRIER, PLAIN)
    assert gold.faults == ("gold_not_synced",)
    assert gold.state == replay(CARRIER, calls, initial=PLAIN, synchronise=False).end_state
    assert diff(gold.state, replay(CARRIER, calls, initial=PLAIN).end_state)


# Solo mode


def test_in_solo_mode_the_agent_holds_the_users_tools_and_there_is_no_user() -> None:
    solo = attrs.evolve(CARRIER, solo=True)
    calls = [agent("toggle_data"), agent("get_customer_by_id", customer_id="C1"), user("toggle_data")]
    done = replay(solo, calls, initial=PLAIN)
    assert [index for index, _ in done.refusals] == [2]
    assert phone(done.end_state, "data_enabled") is False
    assert verdict_of(TASK, agent("toggle_data"), environment=solo).rewards.single == 1.0
    assert verdict_of(TASK, agent("toggle_data")).rewards.single == 0.0
