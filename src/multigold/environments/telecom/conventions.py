"""What the telecom domain declares about its records: the ids of bills that a charge mints."""

from __future__ import annotations

import re

from multigold.state.conventions import Conventions, IdPool, Place

_MINTED = re.compile(r"B[0-9a-f]{8}", re.ASCII)

CONVENTIONS = Conventions(
    id_pools=(
        IdPool(
            name="bill",
            mints=lambda bill_id: _MINTED.fullmatch(bill_id) is not None,
            keys=(Place("bills/*"),),
            references=(Place("bills/*/bill_id"), Place("customers/*/bill_ids/*")),
        ),
    ),
)
