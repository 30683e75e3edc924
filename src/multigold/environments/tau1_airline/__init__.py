"""tau-bench v1's airline domain as pure functions: 14 tools, most of them tau2's under rules of v1's own."""

from __future__ import annotations

from functools import partial

from multigold.environments.airline import queries
from multigold.environments.airline.conventions import CONVENTIONS
from multigold.environments.airline.invariants import INVARIANTS as TAU2_INVARIANTS
from multigold.environments.airline.tools import AirlineRules, writing_tools
from multigold.environments.common import calculate, one_sided, transfer_to_human_agents
from multigold.environments.tau1_airline import tools
from multigold.environments.tau1_answers import think, v1_tools

NAME = "tau1-airline"

RULES = AirlineRules(validates=False, takes_seats=False, stores_cabin=False, ids_run_out=False)

TOOLS = v1_tools(
    {
        "read": (
            queries.get_user_details,
            queries.get_reservation_details,
            queries.search_direct_flight,
            tools.list_all_airports,
            tools.search_onestop_flight,
        ),
        "generic": (calculate, transfer_to_human_agents, think),
        "write": writing_tools(RULES),
    }
)

INVARIANTS = {name: check for name, check in TAU2_INVARIANTS.items() if name != "seats-follow-bookings"}
"""tau2's, but for the seats, which v1's booking does not take.

`flights-available` fails if the cabin was changed: v1 stores the new prices and the old cabin, which do not agree.
"""

build = partial(one_sided, NAME, TOOLS, CONVENTIONS, INVARIANTS)
"""`build(database, data_digest=...)` is the environment on `flights`, `users` and `reservations`, a file each in v1."""
