"""What normal forms are written with: names that no record can hold, and lists whose order means nothing."""

from __future__ import annotations

from typing import Any

from multigold.state.canonical import Json


class Marker(str):
    """What stands for a minted id in a normal form: `<minted reservation 1>`.

    It is equal to no plain string, so that no record can forge one. Normal forms are for comparing with `==`; written
    out as JSON they lose this.
    """

    __slots__ = ("label", "pool")
    pool: str
    label: str

    def __new__(cls, pool: str, label: str) -> Marker:
        """Make a marker for an id of a pool."""
        marker = super().__new__(cls, f"<minted {pool} {label}>")
        marker.pool, marker.label = pool, label
        return marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Marker, (self.pool, self.label)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Marker) and str(self) == str(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((Marker, str(self)))


class Bag(list[Json]):
    """A list whose order means nothing, in the order of the text of its items (`paths.content_text`).

    It is equal to the plain list of the same items. That it is a bag is what tells the search for names of minted ids
    that it may not tell items apart by their place.
    """

    __slots__ = ()
