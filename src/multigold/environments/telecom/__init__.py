"""tau2's telecom domain as pure functions, without tau2: two sides, kept in step, with 13 and 30 tools."""

from __future__ import annotations

from functools import partial

from multigold.environments.base import Drafts, Environment
from multigold.environments.common import transfer_to_human_agents
from multigold.environments.telecom import queries, user_queries, user_tools
from multigold.environments.telecom.assertions import ASSERTIONS
from multigold.environments.telecom.conventions import CONVENTIONS
from multigold.environments.telecom.invariants import INVARIANTS
from multigold.environments.telecom.preparing import SETTERS, prepare
from multigold.environments.telecom.records import agent_tables, user_tables
from multigold.environments.telecom.synchronising import synchronise
from multigold.environments.telecom.tools import Mint, next_bill_id, writing_tools
from multigold.environments.tools import tool_table
from multigold.state.database import Database, EndState

NAME = "tau2-telecom"

_QUERIES = (
    queries.get_customer_by_phone,
    queries.get_customer_by_id,
    queries.get_customer_by_name,
    queries.get_details_by_id,
    queries.get_bills_for_customer,
    queries.get_data_usage,
)

USER_TOOLS = tool_table(
    {
        "read": (
            user_queries.check_status_bar,
            user_queries.check_network_status,
            user_queries.check_network_mode_preference,
            user_queries.run_speed_test,
            user_queries.check_sim_status,
            user_queries.check_data_restriction_status,
            user_queries.check_apn_settings,
            user_queries.check_wifi_status,
            user_queries.check_wifi_calling_status,
            user_queries.check_vpn_status,
            user_queries.check_installed_apps,
            user_queries.check_app_status,
            user_queries.check_app_permissions,
            user_queries.can_send_mms,
            user_queries.check_payment_request,
        ),
        "write": (
            user_tools.set_network_mode_preference,
            user_tools.toggle_airplane_mode,
            user_tools.reseat_sim_card,
            user_tools.toggle_data,
            user_tools.toggle_roaming,
            user_tools.toggle_data_saver_mode,
            user_tools.set_apn_settings,
            user_tools.reset_apn_settings,
            user_tools.toggle_wifi,
            user_tools.toggle_wifi_calling,
            user_tools.connect_vpn,
            user_tools.disconnect_vpn,
            user_tools.grant_app_permission,
            user_tools.reboot_device,
            user_tools.make_payment,
        ),
    }
)


def build(
    database: Database, *, user_database: Database | None = None, data_digest: str = "", mint: Mint = next_bill_id
) -> Environment:
    """Return the telecom environment on a database of each side.

    Args:
        database: tau2's `db.toml` of the domain: lists of plans, customers, lines, bills and devices.
        user_database: tau2's `user_db.toml`: the phone and its surroundings; None for a phone as usual.
        data_digest: SHA-256 of the file that it was read from; empty if unknown.
        mint: Gives a new bill its id.

    Raises:
        DataError: If a database is not what it should be.
    """
    tools = tool_table(
        {"read": _QUERIES, "generic": (transfer_to_human_agents,), **writing_tools(mint)},
    )
    functions = {
        "assistant": {**{name: tool.function for name, tool in tools.items()}, **SETTERS["assistant"]},
        "user": {**{name: tool.function for name, tool in USER_TOOLS.items()}, **SETTERS["user"]},
    }
    drafts = Drafts(EndState(agent_tables(database), user=user_tables(user_database or Database.from_json({}))))
    synchronise(drafts)
    return Environment(
        name=NAME,
        initial=drafts.freeze(),
        tools=tools,
        user_tools=USER_TOOLS,
        invariants=INVARIANTS,
        conventions=CONVENTIONS,
        prepare=partial(prepare, functions=functions),
        synchronise=synchronise,
        assertions=ASSERTIONS,
        data_digest=data_digest,
    )
