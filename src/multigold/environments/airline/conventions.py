"""What the airline domain declares about its records: defaults, minted ids, lists without order, payment logs."""

from __future__ import annotations

from multigold.environments.airline.tools import CERTIFICATE_IDS, RESERVATION_IDS
from multigold.state.conventions import Conventions, IdPool, PaymentLog, Place

CONVENTIONS = Conventions(
    # tau2's model of a reservation has a status that is null until it is cancelled; the data file leaves it out.
    null_defaults={"reservations": ("status",)},
    id_pools=(
        IdPool(
            name="reservation",
            mints=frozenset(RESERVATION_IDS).__contains__,
            keys=(Place("reservations/*"),),
            references=(Place("users/*/reservations/*"), Place("reservations/*/reservation_id")),
        ),
        IdPool(
            name="certificate",
            mints=frozenset(CERTIFICATE_IDS).__contains__,
            # Each user is given the same ids, so a certificate's id means something only together with its user.
            keys=(Place("users/*/payment_methods/*", scope="$id"),),
            references=(
                Place("users/*/payment_methods/*/id", scope="$id"),
                Place("reservations/*/payment_history/*/payment_id", scope="user_id"),
            ),
        ),
    ),
    unordered=("users/*/reservations", "reservations/*/passengers"),
    payment_logs=(PaymentLog("reservations/*/payment_history"),),
    id_case={"reservations": "upper", "flights": "upper", "users": "lower"},
)
