"""tau-bench v1's retail domain as pure functions: 16 tools, of which tau2's port serves what is alike."""

from __future__ import annotations

from multigold.environments.base import Environment
from multigold.environments.retail import queries
from multigold.environments.retail import tools as tau2_tools
from multigold.environments.retail.conventions import CONVENTIONS
from multigold.environments.tau1_answers import think, v1_tools
from multigold.environments.tau1_retail import tools
from multigold.state.database import Database, EndState

NAME = "tau1-retail"

TOOLS = v1_tools(
    {
        "read": (
            queries.find_user_id_by_email,
            queries.find_user_id_by_name_zip,
            queries.get_order_details,
            queries.get_product_details,
            queries.get_user_details,
            queries.list_all_product_types,
        ),
        "generic": (queries.calculate, queries.transfer_to_human_agents, think),
        "write": (
            tools.cancel_pending_order,
            tau2_tools.exchange_delivered_order_items,
            tools.modify_pending_order_address,
            tools.modify_pending_order_items,
            tools.modify_pending_order_payment,
            tools.modify_user_address,
            tau2_tools.return_delivered_order_items,
        ),
    }
)


def build(database: Database, *, data_digest: str = "") -> Environment:
    """Return v1's retail environment on a database.

    Args:
        database: The tables `products`, `users` and `orders`, which v1 keeps in a file each.
        data_digest: SHA-256 of the files' names and digests; empty where unknown.
    """
    return Environment(
        name=NAME, initial=EndState(database), tools=TOOLS, conventions=CONVENTIONS, data_digest=data_digest
    )
