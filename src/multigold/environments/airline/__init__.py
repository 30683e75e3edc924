"""tau2's airline domain as pure functions, without tau2: 14 tools, the domain's conventions and its invariants."""

from __future__ import annotations

from functools import partial

from multigold.environments.airline import queries
from multigold.environments.airline.conventions import CONVENTIONS
from multigold.environments.airline.invariants import INVARIANTS
from multigold.environments.airline.tools import TAU2_RULES, writing_tools
from multigold.environments.common import calculate, one_sided, transfer_to_human_agents
from multigold.environments.tools import tool_table

NAME = "tau2-airline"

TOOLS = tool_table(
    {
        "read": (
            queries.get_user_details,
            queries.get_reservation_details,
            queries.get_flight_status,
            queries.list_all_airports,
            queries.search_direct_flight,
            queries.search_onestop_flight,
        ),
        "generic": (calculate, transfer_to_human_agents),
        "write": writing_tools(TAU2_RULES),
    },
    total=(queries.list_all_airports, queries.search_direct_flight),
)

build = partial(one_sided, NAME, TOOLS, CONVENTIONS, INVARIANTS)
"""`build(database, data_digest=...)` is the environment on tau2's `db.json`: `flights`, `users` and `reservations`."""
