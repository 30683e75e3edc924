"""A toy domain for equivalences: guests with vouchers, bookings that are paid in part with vouchers.

Bookings are minted NEW1, NEW2, ... everywhere; vouchers V1, V2, ... for each guest, so that two guests can have one V1.
Bookings refer to each other in a list that has an order (`next_to`), in one that has none (`beside`), and by keys
(`shares`).
"""

from __future__ import annotations

import copy
from itertools import combinations, permutations
from random import Random
from typing import Any

from hypothesis import strategies as st

from multigold.state.database import Database, EndState
from multigold.state.equivalence import EQUIVALENCES, Conventions, IdPool, PaymentLog, Place, normal_form

CONVENTIONS = Conventions(
    null_defaults={"bookings": ("status",)},
    id_pools=(
        IdPool(
            name="booking",
            mints=lambda text: text.startswith("NEW"),
            keys=(Place("bookings/*"), Place("bookings/*/shares/*")),
            references=(
                Place("bookings/*/id"),
                Place("guests/*/bookings/*"),
                Place("bookings/*/next_to/*"),
                Place("bookings/*/beside/*/id"),
            ),
        ),
        IdPool(
            name="voucher",
            mints=lambda text: text.startswith("V"),
            keys=(Place("guests/*/vouchers/*", scope="$id"),),
            references=(
                Place("guests/*/vouchers/*/id", scope="$id"),
                Place("bookings/*/paid/*/by", scope="guest"),
            ),
        ),
    ),
    unordered=("guests/*/bookings", "bookings/*/people", "bookings/*/people/*/names", "bookings/*/beside"),
    payment_logs=(PaymentLog("bookings/*/paid", method="by"),),
    log_tables=("looked_at",),
)

INITIAL = EndState(
    Database.from_json(
        {
            "guests": {
                "ada": {"bookings": ["OLD1"], "vouchers": {"V9": {"id": "V9", "worth": 9}}},
                "bob": {"bookings": [], "vouchers": {}},
            },
            "bookings": {
                "OLD1": {
                    "id": "OLD1",
                    "guest": "ada",
                    "room": 7,
                    "paid": [{"by": "cash", "amount": 70}, {"by": "V8", "amount": 8}],
                    "people": [{"names": ["Ada", "Zoe"]}],
                    "status": None,
                },
                "OLD2": {"id": "OLD2", "guest": "bob", "room": 8, "paid": [{"by": "cash", "amount": 8}], "people": []},
            },
            "looked_at": {"a": 1},
        }
    )
)

Plain = dict[str, Any]


def plain() -> Plain:
    """Return the initial state as plain data, to be changed."""
    return INITIAL.agent.to_json()


def state(data: Plain) -> EndState:
    """Return a state on the initial root, as a replay leaves it."""
    draft = INITIAL.agent.draft()
    wanted = {(table, key) for table, records in data.items() for key in records}
    for table, key, _ in list(INITIAL.agent.records()):
        if (table, key) not in wanted:
            draft.remove(table, key)
    for table, key in wanted:
        draft.put(table, key, copy.deepcopy(data[table][key]))
    return EndState(draft.freeze())


def book(data: Plain, key: str, guest: str, room: int, *paid: tuple[str, float], people: Any = ()) -> None:
    """Add a booking."""
    data["bookings"][key] = {
        "id": key,
        "guest": guest,
        "room": room,
        "paid": [{"by": by, "amount": amount} for by, amount in paid],
        "people": [{"names": list(names)} for names in people],
    }
    data["guests"][guest]["bookings"].append(key)


def give(data: Plain, key: str, guest: str, worth: float) -> None:
    """Add a voucher."""
    data["guests"][guest]["vouchers"][key] = {"id": key, "worth": worth}


def form(data: Plain | EndState, *names: str) -> EndState:
    """Return the normal form of a state, or of a state given as plain data."""
    return normal_form(data if isinstance(data, EndState) else state(data), INITIAL, names, CONVENTIONS)


def alike(a: Plain, b: Plain, *names: str) -> bool:
    """Tell whether two states have one normal form."""
    return form(a, *names) == form(b, *names)


BOOKING_IDS = ("NEW1", "NEW2", "NEW3")
VOUCHER_IDS = ("V1", "V2")

combinations_of_equivalences = st.sampled_from(
    [names for size in range(4) for names in combinations(EQUIVALENCES, size)]
)


@st.composite
def stays(draw: st.DrawFn) -> Plain:
    """Return a small random state with so few values that different ones often differ in names alone."""
    data = plain()
    booked = draw(st.permutations(BOOKING_IDS))[: draw(st.integers(0, 3))]
    for key in booked:
        guest = draw(st.sampled_from(["ada", "bob"]))
        methods = st.sampled_from(["cash", *VOUCHER_IDS])
        paid = draw(st.lists(st.tuples(methods, st.integers(1, 2)), max_size=2))
        book(data, key, guest, draw(st.integers(1, 2)), *paid)
        neighbours = draw(st.lists(st.sampled_from(booked), max_size=1))
        if neighbours:
            data["bookings"][key]["next_to"] = neighbours
    for guest in ("ada", "bob"):
        for key in draw(st.permutations(VOUCHER_IDS))[: draw(st.integers(0, 2))]:
            give(data, key, guest, draw(st.integers(1, 2)))
    return data


@st.composite
def crowds(draw: st.DrawFn) -> Plain:
    """Return a state with several bookings and vouchers that are alike but for what they refer to and how it was paid.

    Nearly everything that tells ids apart here is hidden behind other ids, or in the order and parts of payments.
    """
    data = plain()
    ids = BOOKING_IDS[: draw(st.integers(2, 3))]
    guests = draw(st.sampled_from([("ada",) * 3, ("ada", "ada", "bob"), ("ada", "bob", "bob")]))
    methods = st.sampled_from([*VOUCHER_IDS, *VOUCHER_IDS, "cash"])
    entries = st.lists(st.tuples(methods, st.sampled_from([1, 1, 2, -1])), min_size=1, max_size=4)
    for key, guest in zip(draw(st.permutations(ids)), guests, strict=False):
        book(data, key, guest, 1, *draw(entries))
    others = st.lists(st.sampled_from(ids), max_size=2)
    for field in draw(st.sets(st.sampled_from(["next_to", "beside", "shares"]), max_size=2)):
        for key in ids:
            data["bookings"][key][field] = _references(field, draw(others))
    for guest in dict.fromkeys(guests[: len(ids)]):
        for key in draw(st.permutations(VOUCHER_IDS))[: draw(st.integers(0, 2))]:
            give(data, key, guest, 5)
    return data


def _references(field: str, ids: list[str]) -> Any:
    if field == "beside":
        return [{"id": key, "floor": 1} for key in ids]
    return dict.fromkeys(ids, 1) if field == "shares" else ids


def retold(data: Plain, names: tuple[str, ...], random: Random) -> Plain:
    """Return a state that is the same under these equivalences, by renaming, shuffling and splitting of payments."""
    data = copy.deepcopy(data)
    if "minted-ids" in names:
        data = random.choice(all_relabellings(data))
    if "unordered" in names:
        for record in data["guests"].values():
            random.shuffle(record["bookings"])
        for record in data["bookings"].values():
            random.shuffle(record.get("beside", []))
    if "net-payments" in names:
        for record in data["bookings"].values():
            record["paid"] = _in_parts(record["paid"], random)
    return data


def _in_parts(entries: list[Any], random: Random) -> list[Any]:
    """Return payments that come to the same: shuffled, some in parts, some paid and paid back."""
    parts = []
    for entry in entries:
        part = random.choice([0, 0, 1, 2])
        parts += [{**entry, "amount": part}, {**entry, "amount": entry["amount"] - part}] if part else [entry]
    random.shuffle(parts)
    return parts


@st.composite
def relatives(draw: st.DrawFn) -> tuple[Plain, Plain, tuple[str, ...]]:
    """Return two states and names of equivalences under which they are the same, but for one thing in every other."""
    data = draw(crowds())
    names = draw(combinations_of_equivalences)
    other = retold(data, names, Random(draw(st.integers(0, 999))))
    if draw(st.booleans()):
        record = other["bookings"][draw(st.sampled_from(sorted(key for key in other["bookings"] if "NEW" in key)))]
        kind = draw(st.sampled_from(["payer", "amount", "entry", "neighbour"]))
        if kind == "neighbour":
            record["next_to"] = draw(st.lists(st.sampled_from(BOOKING_IDS), min_size=1, max_size=2))
        elif kind == "entry":
            record["paid"].append({"by": draw(st.sampled_from(VOUCHER_IDS)), "amount": 1})
        else:
            entry = draw(st.sampled_from(record["paid"]))
            entry.update({"by": draw(st.sampled_from(VOUCHER_IDS))} if kind == "payer" else {"amount": 2})
    return data, other, names


def relabelled(data: Plain, bookings: dict[str, str], vouchers: dict[str, dict[str, str]]) -> Plain:
    """Return a state with minted ids renamed, written for this domain and not along declared paths."""
    result: Plain = {"guests": {}, "bookings": {}, "looked_at": data["looked_at"]}
    for guest, record in data["guests"].items():
        names = vouchers[guest]
        result["guests"][guest] = {
            "bookings": [bookings.get(key, key) for key in record["bookings"]],
            "vouchers": {
                names.get(key, key): {**voucher, "id": names.get(voucher["id"], voucher["id"])}
                for key, voucher in record["vouchers"].items()
            },
        }
    for key, record in data["bookings"].items():
        names = vouchers[record["guest"]]
        renamed = {**record, "id": bookings.get(record["id"], record["id"])}
        renamed["paid"] = [{**entry, "by": names.get(entry["by"], entry["by"])} for entry in record["paid"]]
        if "next_to" in record:
            renamed["next_to"] = [bookings.get(other, other) for other in record["next_to"]]
        if "beside" in record:
            renamed["beside"] = [{**other, "id": bookings.get(other["id"], other["id"])} for other in record["beside"]]
        if "shares" in record:
            renamed["shares"] = {bookings.get(other, other): share for other, share in record["shares"].items()}
        result["bookings"][bookings.get(key, key)] = renamed
    return copy.deepcopy(result)


def all_relabellings(data: Plain) -> list[Plain]:
    """Return a state under every renaming of minted ids: the oracle for `minted-ids`."""
    booking_names = [dict(zip(BOOKING_IDS, names, strict=True)) for names in permutations(BOOKING_IDS)]
    voucher_names = [dict(zip(VOUCHER_IDS, names, strict=True)) for names in permutations(VOUCHER_IDS)]
    return [
        relabelled(data, bookings, {"ada": of_ada, "bob": of_bob})
        for bookings in booking_names
        for of_ada in voucher_names
        for of_bob in voucher_names
    ]
