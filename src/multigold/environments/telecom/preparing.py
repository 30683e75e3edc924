"""A telecom task's own initial state: data to change, and functions to call, by name, on one side or the other.

tau2's tasks say what is wrong with the phone or the line by calling functions (`break_vpn`, `set_data_usage`), most of
which are not tools. The two sides are brought in step after each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from multigold.environments.base import Drafts
from multigold.environments.coercion import text
from multigold.environments.telecom import phone, user_tools
from multigold.environments.telecom.phone import apn, get, put, search
from multigold.environments.telecom.queries import bills_of, find_customer, find_line, find_own_line, find_plan
from multigold.environments.telecom.records import PERMISSIONS, TODAY, agent_tables, user_tables
from multigold.environments.telecom.synchronising import synchronise
from multigold.environments.telecom.tools import add_bill, line_item
from multigold.environments.tools import RefusalError, ToolFunction
from multigold.errors import DataError
from multigold.state.canonical import Json
from multigold.state.database import Database, Draft, EndState

Functions: TypeAlias = Mapping[str, Mapping[str, ToolFunction]]
"""Side (`assistant`, `user`) to the functions that a task may call there, by name."""


# The agent's side


def set_data_usage(draft: Draft, customer_id: Json, line_id: Json, data_used_gb: Json) -> Json:
    """Set how much data a line has used.

    Raises:
        RefusalError: If there is no such line of that customer.
    """
    find_own_line(draft, customer_id, line_id)
    draft.edit("lines", line_id)["data_used_gb"] = data_used_gb
    return f"Data usage set to {data_used_gb} GB for line {line_id}"


def suspend_line_for_overdue_bill(
    draft: Draft, customer_id: Json, line_id: Json, new_bill_id: Json, contract_ended: Json
) -> Json:
    """Suspend an active line for last month's bill, which is made and overdue; perhaps the contract has ended too.

    Raises:
        RefusalError: If the line is not active or costs nothing, or the customer has an overdue bill already.
    """
    line = find_line(draft, line_id)
    if line["status"] != "Active":
        raise RefusalError("Line must be active to suspend for unpaid bill")
    amount = find_plan(draft, line["plan_id"])["price_per_month"]
    if amount <= 0:
        raise RefusalError("Amount must be positive for overdue bill")
    if list(bills_of(draft, find_customer(draft, customer_id), "Overdue")):
        raise RefusalError("Customer already has an overdue bill")
    add_bill(
        draft,
        {
            "bill_id": text(new_bill_id),
            "customer_id": customer_id,
            "period_start": "2025-01-01",
            "period_end": "2025-01-31",
            "issue_date": "2025-01-01",
            "total_due": amount,
            "due_date": "2025-01-15",
            "line_items": [line_item(f"Charge for line {line_id}", amount)],
            "status": "Overdue",
        },
    )
    line = draft.edit("lines", line_id)
    line.update(status="Suspended", suspension_start_date=TODAY)
    if contract_ended:
        line["contract_end_date"] = "2025-01-31"
    return f"Line {line_id} suspended for unpaid bill {new_bill_id}. Contract ended: {contract_ended}"


# The user's side


def set_user_info(draft: Draft, name: Json, phone_number: Json) -> Json:
    """Say who the user is; from then on the two sides are brought in step."""
    draft.put(phone.SURROUNDINGS, "name", name)
    draft.put(phone.SURROUNDINGS, "phone_number", phone_number)
    return None


def set_user_location(draft: Draft, abroad: Json) -> Json:
    """Say whether the user is abroad."""
    draft.put(phone.SURROUNDINGS, "is_abroad", abroad)
    return None


def simulate_network_search(draft: Draft) -> Json:
    """Look for a network."""
    search(draft)
    return None


def turn_airplane_mode_on(draft: Draft) -> Json:
    """Switch airplane mode on; if it was on it is switched twice."""
    return _turn_airplane_mode(draft, on=True)


def turn_airplane_mode_off(draft: Draft) -> Json:
    """Switch airplane mode off; if it was off it is switched twice."""
    return _turn_airplane_mode(draft, on=False)


def _turn_airplane_mode(draft: Draft, *, on: bool) -> Json:
    user_tools.switch_airplane_mode(draft)
    if get(draft, "airplane_mode") != on:
        user_tools.switch_airplane_mode(draft)
    return f"Airplane Mode is now {'ON' if on else 'OFF'}."


def _setter(answer: str, *, searches: bool = True, **fields: Json) -> ToolFunction:
    """Return the function that sets fields of the phone, looks for a network where tau2 does, and gives an answer."""

    def set_fields(draft: Draft) -> Json:
        put(draft, **fields)
        if searches:
            search(draft)
        return answer

    return set_fields


def lock_sim_card(draft: Draft, mode: Json) -> Json:
    """Lock the SIM card with a PIN or a PUK code, which no tool can undo."""
    if mode in ("pin", "puk"):
        put(draft, sim_card_status=f"locked_{mode}")
    search(draft)
    return f"SIM card locked successfully in {mode} mode."


def break_apn_settings(draft: Draft) -> Json:
    """Give the access point a name that finds no network."""
    put(draft, active_apn_settings={**apn(draft), "apn_name": "broken"})
    search(draft)
    return "APN settings broken. Please call reset_apn_settings() to fix."


def break_apn_mms_setting(draft: Draft) -> Json:
    """Take away the address that picture messages go through."""
    put(draft, active_apn_settings={**apn(draft), "mmsc_url": None})
    return "APN MMS setting broken. Please call reset_apn_settings() to fix."


def set_wifi_calling(draft: Draft, enabled: Json, mms_over_wifi: Json = None) -> Json:
    """Set Wi-Fi calling and, if given, whether pictures go over Wi-Fi."""
    if get(draft, "wifi_calling_enabled") != enabled:
        put(draft, wifi_calling_enabled=not get(draft, "wifi_calling_enabled"))
    if mms_over_wifi is None:
        return f"Wi-Fi Calling is now {'ON' if enabled else 'OFF'}."
    put(draft, wifi_calling_mms_over_wifi=mms_over_wifi)
    return (
        f"Wi-Fi Calling is now {'ON' if enabled else 'OFF'}.\nMMS over Wi-Fi is now {'ON' if mms_over_wifi else 'OFF'}."
    )


def break_vpn(draft: Draft) -> Json:
    """Connect to a VPN that is slow, and is slow whenever the phone connects to it again."""
    draft.put("vpn", "broken", True)
    phone.connect_vpn(draft)
    put(draft, vpn_details={**get(draft, "vpn_details"), "server_performance": "poor"})
    return "VPN connection broken."


def remove_app_permission(draft: Draft, app_name: Json, permission: Json) -> Json:
    """Take a permission away from an app; an unknown app or permission is said in words."""
    name = permission.lower()
    if get(draft, "app_statuses").get(app_name) is None:
        return [False, f"App '{app_name}' not found. Cannot remove permission."]
    if name not in PERMISSIONS:
        return [False, f"Permission '{name}' not tracked for app '{app_name}'."]
    user_tools.set_permission(draft, app_name, name, granted=False)
    return [True, f"Permission '{name}' removed from app '{app_name}'."]


SETTERS: Functions = {
    "assistant": {function.__name__: function for function in (set_data_usage, suspend_line_for_overdue_bill)},
    "user": {
        **{
            function.__name__: function
            for function in (
                set_user_info,
                set_user_location,
                simulate_network_search,
                turn_airplane_mode_on,
                turn_airplane_mode_off,
                lock_sim_card,
                break_apn_settings,
                break_apn_mms_setting,
                set_wifi_calling,
                break_vpn,
                remove_app_permission,
            )
        },
        "turn_data_on": _setter("Data connection restored.", searches=False, data_enabled=True),
        "turn_data_off": _setter("Data connection broken.", data_enabled=False),
        "turn_roaming_on": _setter("Data Roaming is now ON.", roaming_enabled=True),
        "turn_roaming_off": _setter("Data Roaming is now OFF.", roaming_enabled=False),
        "turn_data_saver_mode_on": _setter("Data Saver Mode is now ON.", searches=False, data_saver_mode=True),
        "turn_data_saver_mode_off": _setter("Data Saver Mode is now OFF.", searches=False, data_saver_mode=False),
        "unseat_sim_card": _setter("SIM card un-seated successfully.", sim_card_missing=True),
    },
}
"""The functions that set a scene and are not tools."""


def prepare(initial: EndState, changes: Json, functions: Functions) -> EndState:
    """Return a task's own initial state.

    Args:
        initial: The environment's.
        changes: What the task says (tau2: `initial_state`): `initialization_data` with `agent_data` and `user_data`,
            and `initialization_actions` with `env_type`, `func_name` and `arguments` each.
        functions: What a task may call.

    Raises:
        DataError: If it asks for something that is not there or fails.
    """
    stated = _part(changes, dict, "initial_state")
    drafts = Drafts(_with_data(initial, _part(stated.get("initialization_data"), dict, "initialization_data")))
    actions = _part(stated.get("initialization_actions"), list, "initialization_actions")
    for index, action in enumerate(actions):
        _act(drafts, action, functions, f"initialization_actions[{index}]")
    synchronise(drafts)
    return drafts.freeze()


def _part(value: Json, kind: type, where: str) -> Json:
    """Return a part of what the task says, empty if it says nothing."""
    if value is not None and not isinstance(value, kind):
        raise DataError(f"a {kind.__name__} is needed, not a {type(value).__name__}", where=where)
    return value or kind()


def _act(drafts: Drafts, action: Json, functions: Functions, where: str) -> None:
    try:
        side, name = action["env_type"], action["func_name"]
        function = functions[side][name]
    except (TypeError, KeyError) as error:
        raise DataError(f"the telecom domain has no function for it ({error})", where=where) from error
    try:
        function(drafts.side(side), **(action.get("arguments") or {}))
        synchronise(drafts)
    except Exception as error:  # whatever a stranger's task made of it
        raise DataError(f"{name} fails: {error}", where=where) from error


def _with_data(initial: EndState, data: Json) -> EndState:
    """Return the state with a task's own data: lists replace lists, objects are merged (tau2, `update_db`)."""
    agent, user = initial.agent, initial.user
    agent_data, user_data = (_part(data.get(part), dict, part) for part in ("agent_data", "user_data"))
    if agent_data:
        lists = {table: list(records.values()) for table, records in agent.to_json().items()}
        agent = agent_tables(Database.from_json({**lists, **agent_data}))
    if user_data and user is not None:
        user = user_tables(Database.from_json(_merged(user.to_json(), user_data)))
    return EndState(agent, user=user)


def _merged(old: Json, new: Json) -> Json:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}
