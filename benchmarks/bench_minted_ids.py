"""How long `minted-ids` takes to name ids that look alike, by how they hang together and how many there are.

python benchmarks/bench_minted_ids.py [COUNT...]

Each line is the processor time of one normal form, the best of three, for COUNT bookings (default: 25, 50, 100 and
200) that are equal but for the ids of the bookings and vouchers that they refer to.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Any

from multigold.errors import StateError
from multigold.state.conventions import Conventions, IdPool, Place
from multigold.state.database import Database, EndState
from multigold.state.equivalence import normal_form

CONVENTIONS = Conventions(
    id_pools=(
        IdPool(
            name="booking",
            mints=lambda text: text.startswith("B"),
            keys=(Place("bookings/*"),),
            references=(Place("bookings/*/id"), Place("bookings/*/next_to/*"), Place("guests/*/bookings/*")),
        ),
        IdPool(
            name="voucher",
            mints=lambda text: text.startswith("V"),
            keys=(Place("vouchers/*"),),
            references=(Place("bookings/*/paid/*/by"),),
        ),
    ),
    unordered=("bookings/*/next_to", "guests/*/bookings"),
)
NOTHING = EndState(Database.from_json({}))


def bookings(count: int, neighbours: Callable[[int], list[int]], *, vouchers: bool = False) -> EndState:
    """Return a state with bookings of one guest that are alike, in an order that means nothing."""
    keys = [f"B{number}" for number in random.Random(1).sample(range(count), count)]
    records: dict[str, Any] = {
        key: {
            "id": key,
            "room": "double",
            "next_to": [keys[other] for other in neighbours(number)],
            "paid": [{"by": f"V{number}", "amount": 50}] if vouchers else [],
        }
        for number, key in enumerate(keys)
    }
    data = {"bookings": records, "guests": {"ada": {"bookings": keys}}}
    if vouchers:
        data["vouchers"] = {f"V{number}": {"worth": 50} for number in range(count)}
    return EndState(Database.from_json(data))


def cubic(count: int) -> Callable[[int], list[int]]:
    """Return neighbours at random, three of each booking: alike to refinement, and without any symmetry."""
    sides = random.Random(count)
    while True:
        ends = sides.sample([v for v in range(count) for _ in range(3)], 3 * count)
        pairs = {frozenset(pair) for pair in zip(ends[::2], ends[1::2], strict=True)}
        if len(pairs) == 3 * count // 2 and all(len(pair) == 2 for pair in pairs):
            return lambda v: sorted(next(iter(pair - {v})) for pair in pairs if v in pair)


def shapes(count: int) -> dict[str, EndState]:
    """Return the states that are timed."""
    return {
        "no references": bookings(count, lambda _: []),
        "each with a voucher of its own": bookings(count, lambda _: [], vouchers=True),
        "in pairs": bookings(count, lambda v: [v ^ 1] if v ^ 1 < count else [v]),
        "one ring": bookings(count, lambda v: [(v + 1) % count]),
        "one ring, both ways": bookings(count, lambda v: [(v + 1) % count, (v - 1) % count]),
        "one ring, with vouchers": bookings(count, lambda v: [(v + 1) % count], vouchers=True),
        "all next to all others": bookings(count, lambda v: [other for other in range(count) if other != v]),
        "three neighbours at random": bookings(count, cubic(count + count % 2) if count % 2 == 0 else lambda _: []),
    }


def timed(state: EndState, names: list[str]) -> str:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        try:
            normal_form(state, NOTHING, names, CONVENTIONS)
        except StateError:
            return f"refused after {(time.process_time() - start) * 1000:,.0f}"
        best = min(best, time.process_time() - start)
    return f"{best * 1000:,.1f}"


def main(counts: list[int]) -> None:
    """Print milliseconds for each shape and count."""
    found = {count: shapes(count) for count in counts}
    print(f"{'milliseconds for':34}", *(f"{count:>12}" for count in counts))
    for shape in found[counts[0]]:
        times = [timed(found[count][shape], ["minted-ids", "unordered"]) for count in counts]
        print(f"{shape:34}", *(f"{text:>12}" for text in times))


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [25, 50, 100, 200])
