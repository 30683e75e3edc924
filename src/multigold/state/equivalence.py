"""Named equivalences: each an idempotent map of a state to a normal form. Off unless asked for.

Two states are equivalent under a set of names when their normal forms are equal. A domain declares what the maps need
(`Conventions`): which ids it mints, which lists have no order, which lists are payment logs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from multigold.errors import CallError
from multigold.state.database import EndState


@attrs.frozen(kw_only=True)
class Place:
    """Where ids stand in the agent's database.

    Attributes:
        path: `table/part/part...`, where `*` is any record id, key or list index: `users/*/reservations/*`. For a
            key, the path ends at the object or table whose keys they are, plus `*`: `users/*/payment_methods/*`.
        scope: What the id is unique within: `""` everywhere, `"$id"` the record's id, or a field of the record.
    """

    path: str = attrs.field(kw_only=False)
    scope: str = ""


@attrs.frozen(kw_only=True)
class IdPool:
    """Ids that the environment mints.

    Attributes:
        name: Such as `reservation`.
        mints: Tells whether an id is one that this pool mints.
        keys: Where such ids are keys.
        references: Where such ids are values.
    """

    name: str
    mints: Callable[[str], bool]
    keys: tuple[Place, ...] = ()
    references: tuple[Place, ...] = ()


@attrs.frozen(kw_only=True)
class PaymentLog:
    """An append-only list of payments.

    Attributes:
        path: `reservations/*/payment_history`.
        method: Field of an entry that names the payment method.
        amount: Field of an entry that holds the amount.
    """

    path: str = attrs.field(kw_only=False)
    method: str = "payment_id"
    amount: str = "amount"


@attrs.frozen(kw_only=True)
class Conventions:
    """What a domain declares about its records.

    Attributes:
        null_defaults: Table to the fields of its records for which null and absence are the same.
        id_pools: The ids that the environment mints.
        unordered: Paths of lists that have no order: `users/*/reservations`.
        payment_logs: Append-only payment lists.
        log_tables: Tables that only keep a log of what was looked at; ignored for the verdict, which says so.
    """

    null_defaults: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    id_pools: tuple[IdPool, ...] = ()
    unordered: tuple[str, ...] = ()
    payment_logs: tuple[PaymentLog, ...] = ()
    log_tables: tuple[str, ...] = ()


EQUIVALENCES: Mapping[str, str] = {
    "minted-ids": "ids that the environment minted during the run are renamed by the content of their records",
    "unordered": "lists that the domain declares unordered are sorted",
    "net-payments": "append-only payment logs are netted per payment method",
}
"""Name to what the normal form does, in the fixed order in which several are applied."""


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the order in which they are applied, each once.

    Raises:
        CallError: Where a name is no equivalence.
    """
    for name in names:
        if name not in EQUIVALENCES:
            raise CallError(f"there is no equivalence {name!r}", remedy=f"There are: {', '.join(EQUIVALENCES)}.")
    return tuple(name for name in EQUIVALENCES if name in names)


def normal_form(state: EndState, initial: EndState, names: Sequence[str], conventions: Conventions) -> EndState:
    """Return the normal form of a state.

    Args:
        state: The state.
        initial: The state that the run started in: ids that existed there are never renamed.
        names: The equivalences to apply, in any order.
        conventions: What the domain declares.

    Raises:
        CallError: Where a name is no equivalence.
    """
    check_names(names)
    raise NotImplementedError
