"""tau2's retail domain as pure functions, without tau2: 15 tools, the domain's conventions and its invariants."""

from __future__ import annotations

from multigold.environments.base import Environment, tool_table
from multigold.environments.retail import queries, tools
from multigold.environments.retail.conventions import CONVENTIONS
from multigold.environments.retail.invariants import INVARIANTS
from multigold.state.database import Database, EndState

NAME = "tau2-retail"

TOOLS = tool_table(
    {
        "read": (
            queries.find_user_id_by_email,
            queries.find_user_id_by_name_zip,
            queries.get_order_details,
            queries.get_product_details,
            queries.get_user_details,
            queries.list_all_product_types,
        ),
        "generic": (queries.calculate, queries.transfer_to_human_agents),
        "write": (
            tools.cancel_pending_order,
            tools.exchange_delivered_order_items,
            tools.modify_pending_order_address,
            tools.modify_pending_order_items,
            tools.modify_pending_order_payment,
            tools.modify_user_address,
            tools.return_delivered_order_items,
        ),
    }
)


def build(database: Database, *, data_digest: str = "") -> Environment:
    """Return the retail environment on a database.

    Args:
        database: tau2's `db.json` of the domain: the tables `products`, `users` and `orders`.
        data_digest: SHA-256 of the file that it was read from; empty where unknown.
    """
    return Environment(
        name=NAME,
        initial=EndState(database),
        tools=TOOLS,
        invariants=INVARIANTS,
        conventions=CONVENTIONS,
        data_digest=data_digest,
    )
