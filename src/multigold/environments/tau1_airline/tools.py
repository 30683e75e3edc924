"""tau-bench v1's airline domain: the tools that only read and are not tau2's."""

from __future__ import annotations

from multigold.environments.airline import queries
from multigold.state.canonical import Json
from multigold.state.database import Draft


def list_all_airports(draft: Draft) -> Json:  # noqa: ARG001 - every tool is given the draft
    """Return every airport's code and city."""
    return dict(queries.AIRPORTS)


def search_onestop_flight(draft: Draft, origin: Json, destination: Json, date: Json) -> Json:
    """Return pairs of bookable flights that connect.

    The second one's seats and prices are those of the date that was asked for, even if it leaves the day after.

    Raises:
        ValueError: If a flight lands on the next day and the date does not end in two digits.
        KeyError: If the second flight does not fly on the date that was asked for.
    """
    pairs: list[list[dict[str, Json]]] = queries.search_onestop_flight(draft, origin, destination, date)
    return [[first, {**second, **_details(draft, second["flight_number"], date)}] for first, second in pairs]


def _details(draft: Draft, flight_number: str, date: str) -> dict[str, Json]:
    day = draft.get("flights", flight_number)["dates"][date]
    return {field: value for field, value in day.items() if field != "status"}
