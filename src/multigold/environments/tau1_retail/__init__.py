"""tau-bench v1's retail domain as pure functions: 16 tools, which are tau2's under rules of v1's own."""

from __future__ import annotations

from functools import partial

from multigold.environments.common import calculate, one_sided, transfer_to_human_agents
from multigold.environments.retail import READING
from multigold.environments.retail.conventions import CONVENTIONS
from multigold.environments.retail.tools import RetailRules, writing_tools
from multigold.environments.tau1_answers import think, v1_tools

NAME = "tau1-retail"

RULES = RetailRules(
    open_to_change=lambda status: status == "pending",
    address=lambda address: address,
    amount=lambda amount: amount,
    own_variants=True,
)
"""Nothing is validated: what was given is stored. An order is modified only while its status is exactly `pending`."""

TOOLS = v1_tools(
    {
        "read": READING,
        "generic": (calculate, transfer_to_human_agents, think),
        "write": writing_tools(RULES),
    }
)

build = partial(one_sided, NAME, TOOLS, CONVENTIONS, {})
"""`build(database, data_digest=...)` is the environment on `products`, `users` and `orders`, a file each in v1."""
