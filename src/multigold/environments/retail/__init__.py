"""tau2's retail domain as pure functions, without tau2: 15 tools, the domain's conventions and its invariants."""

from __future__ import annotations

from functools import partial

from multigold.environments.common import calculate, one_sided, transfer_to_human_agents
from multigold.environments.retail import queries
from multigold.environments.retail.conventions import CONVENTIONS
from multigold.environments.retail.invariants import INVARIANTS
from multigold.environments.retail.tools import TAU2_RULES, writing_tools
from multigold.environments.tools import tool_table

NAME = "tau2-retail"

READING = (
    queries.find_user_id_by_email,
    queries.find_user_id_by_name_zip,
    queries.get_order_details,
    queries.get_product_details,
    queries.get_user_details,
    queries.list_all_product_types,
)
"""The tools that only read; v1's are the same."""

TOOLS = tool_table(
    {
        "read": READING,
        "generic": (calculate, transfer_to_human_agents),
        "write": writing_tools(TAU2_RULES),
    }
)

build = partial(one_sided, NAME, TOOLS, CONVENTIONS, INVARIANTS)
"""`build(database, data_digest=...)` is the environment on tau2's `db.json`: `products`, `users` and `orders`."""
