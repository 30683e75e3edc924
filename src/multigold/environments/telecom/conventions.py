"""What the telecom domain declares about its records: the ids of bills that a charge mints."""

from __future__ import annotations

import re

from multigold.state.conventions import Conventions, IdPool, Place

CONVENTIONS = Conventions(
    id_pools=(
        IdPool(
            name="bill",
            mints=lambda bill_id: re.fullmatch("B[0-9a-f]{8}", bill_id) is not None,
            keys=(Place("bills/*"),),
            references=(Place("bills/*/bill_id"), Place("customers/*/bill_ids/*")),
        ),
    ),
)
