"""tau-bench v1's retail domain as pure functions: 16 tools, of which tau2's port serves what is alike."""

from __future__ import annotations

from functools import partial

from multigold.environments.common import calculate, one_sided, transfer_to_human_agents
from multigold.environments.retail import READING
from multigold.environments.retail import tools as tau2_tools
from multigold.environments.retail.conventions import CONVENTIONS
from multigold.environments.tau1_answers import think, v1_tools
from multigold.environments.tau1_retail import tools

NAME = "tau1-retail"

TOOLS = v1_tools(
    {
        "read": READING,
        "generic": (calculate, transfer_to_human_agents, think),
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

build = partial(one_sided, NAME, TOOLS, CONVENTIONS, {})
"""`build(database, data_digest=...)` is the environment on `products`, `users` and `orders`, a file each in v1."""
