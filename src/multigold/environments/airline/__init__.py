"""tau2's airline domain as pure functions, without tau2: 14 tools, the domain's conventions and its invariants."""

from __future__ import annotations

from multigold.environments.airline import queries, tools
from multigold.environments.airline.conventions import CONVENTIONS
from multigold.environments.airline.invariants import INVARIANTS
from multigold.environments.base import Environment, tool_table
from multigold.state.database import Database, EndState

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
        "generic": (queries.calculate, queries.transfer_to_human_agents),
        "write": (
            tools.book_reservation,
            tools.cancel_reservation,
            tools.send_certificate,
            tools.update_reservation_baggages,
            tools.update_reservation_flights,
            tools.update_reservation_passengers,
        ),
    }
)


def build(database: Database, *, data_digest: str = "") -> Environment:
    """Return the airline environment on a database.

    Args:
        database: tau2's `db.json` of the domain: the tables `flights`, `users` and `reservations`.
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
