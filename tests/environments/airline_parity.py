"""tau2's own airline beside the port. Of a flight tools change nothing but seat counts, so it gets those back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parity import Fresh, Json, Pair, Tau2

from multigold.environments.base import Environment


class Seats(Fresh):
    """The table of flights: the parsed ones themselves, put right again on `restore`."""

    def __getitem__(self, record_id: str) -> Any:
        self.own[record_id] = self.base[record_id]
        return self.own[record_id]

    def touched(self) -> list[str]:
        """Return the ids of the flights whose seats are not those of the data."""
        return [flight_id for flight_id in self.own if any(self._moved_days(flight_id))]

    def restore(self) -> None:
        """Give every flight its seats back."""
        for flight_id in self.own:
            for day, raw in self._moved_days(flight_id):
                day.available_seats = dict(raw["available_seats"])
        super().restore()

    def _moved_days(self, flight_id: str) -> Iterator[tuple[Any, Json]]:
        for date, raw in self.raw[flight_id]["dates"].items():
            day = self.base[flight_id].dates[date]
            if "available_seats" in raw and day.available_seats != raw["available_seats"]:
                yield day, raw


def airline_pair(environment: Environment) -> Pair:
    """Return tau2's airline and the port, on the port's data."""
    from tau2.domains.airline import data_model
    from tau2.domains.airline.tools import AirlineTools

    raw = environment.initial.agent.to_json()
    toolkit = AirlineTools(data_model.FlightDB.model_validate(raw))
    tables = {
        "flights": Seats(toolkit.db.flights, raw["flights"]),
        "users": Fresh(toolkit.db.users, raw["users"], data_model.User),
        "reservations": Fresh(toolkit.db.reservations, raw["reservations"], data_model.Reservation),
    }
    return Pair(Tau2("airline", toolkit, raw, tables), environment)
