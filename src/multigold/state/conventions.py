"""What a domain declares about its records, for comparison and equivalences. Data only.

Paths are written `table/part/part...`, where `*` is any record id, key or list index, and `~1` is a slash inside of a
part (as in a JSON Pointer). All of them are paths into the agent's database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import attrs

from multigold.errors import CallError

Case: TypeAlias = Literal["upper", "lower"]
"""The case in which a table's ids are written."""


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


def _keys_of_tables_have_no_scope(_: IdPool, __: object, places: tuple[Place, ...]) -> None:
    for place in places:
        if place.path.count("/") == 1 and place.scope:
            raise CallError(f"the record ids {place.path} cannot have a scope: a table holds each id once")


@attrs.frozen(kw_only=True)
class IdPool:
    """Ids that the environment mints.

    Attributes:
        name: Such as `reservation`; its own within the conventions.
        mints: Tells whether an id is one that this pool mints.
        keys: Where such ids are keys.
        references: Where such ids are values.
    """

    name: str
    mints: Callable[[str], bool]
    keys: tuple[Place, ...] = attrs.field(default=(), validator=_keys_of_tables_have_no_scope)
    references: tuple[Place, ...] = ()


@attrs.frozen(kw_only=True)
class PaymentLog:
    """An append-only list of payments.

    Attributes:
        path: `reservations/*/payment_history`.
        method: Field of an entry that names the payment method.
        amount: Field of an entry that holds the amount.
        direction: Field of an entry that says which way the money went; empty if the amount's own sign does.
        signs: What the direction makes of the amount: 1 or -1 for each of its values.
    """

    path: str = attrs.field(kw_only=False)
    method: str = "payment_id"
    amount: str = "amount"
    direction: str = ""
    signs: Mapping[str, int] = attrs.field(factory=lambda: {"payment": 1, "refund": -1})


def _pools_have_their_own_names(_: Conventions, __: object, pools: tuple[IdPool, ...]) -> None:
    names = [pool.name for pool in pools]
    if len(set(names)) < len(names):
        raise CallError(f"two id pools have one name among {', '.join(sorted(names))}")


@attrs.frozen(kw_only=True)
class Conventions:
    """What a domain declares about its records.

    Attributes:
        null_defaults: Table to the fields of its records for which null and absence are the same.
        id_pools: The ids that the environment mints.
        unordered: Paths of lists that have no order: `users/*/reservations`.
        payment_logs: Append-only payment lists.
        log_tables: Tables that only keep a log of what was looked at; ignored for the verdict, which says so.
        id_case: Table to the case in which its ids are written, for replays that look ids up in any case.
    """

    null_defaults: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    id_pools: tuple[IdPool, ...] = attrs.field(default=(), validator=_pools_have_their_own_names)
    unordered: tuple[str, ...] = ()
    payment_logs: tuple[PaymentLog, ...] = ()
    log_tables: tuple[str, ...] = ()
    id_case: Mapping[str, Case] = attrs.field(factory=dict)
