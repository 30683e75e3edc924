"""Invariants of what a change costs and where the money came from.

A pattern admits many end states, and these keep it honest: whatever itinerary an agent chose, its payments must add up
to what changed, and balances must have moved by them. They state what tau2's tools do, oddities included: a
cancellation never restores a gift card's balance, and two entries on one gift card may overdraw it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TypeAlias

from multigold.environments.airline.changes import (
    ChangedReservation,
    changed_reservations,
    for_each_reservation,
    payment_methods,
)
from multigold.environments.airline.tools import BAG_PRICE, CERTIFICATE_IDS, INSURANCE_PRICE
from multigold.environments.common import changed_records
from multigold.state.canonical import Json, same
from multigold.state.database import EndState

_CENT = 0.005
"""Half a cent: balances are floats, and may be off by a rounding of the last place."""


def payment_faults(changed: ChangedReservation) -> Iterator[str]:
    """The payments that were added to a reservation add up to what changed.

    A change of flights or cabin costs the difference of the segments' prices, per passenger; each non-free bag beyond
    the former number costs 50; a new reservation costs its segments, its bags and, insured, 30 per passenger. A
    cancellation adds the negation of every payment until then, in order. An update that costs nothing writes nothing.
    How a total is spread over entries, and over how many, is left open: several updates, or a booking paid by several
    methods, add up to the same.
    """
    added = _added_payments(changed)
    if isinstance(added, str):
        yield added
        return
    paid, due = sum(payment["amount"] for payment in added), _due(changed)
    if paid != due:
        yield f"has payments of {paid} for changes that cost {due}"
    if changed.before is not None and any(payment["amount"] == 0 for payment in added):
        yield "has a payment of nothing"


def _added_payments(changed: ChangedReservation) -> list[Json] | str:
    """Return the payments that were added, refunds of a cancellation apart; a fault if the log does not fit."""
    history = changed.after["payment_history"]
    former = [] if changed.before is None else changed.before["payment_history"]
    if changed.cancelled:
        history, refunds = history[: len(history) // 2], history[len(history) // 2 :]
        negated = [{**payment, "amount": -payment["amount"]} for payment in history]
        if not same(negated, refunds):
            return "was cancelled, and its payments are not refunded one by one"
    if not same(history[: len(former)], former):
        return "has a payment history that does not begin as before"
    return list(history[len(former) :])


def _due(changed: ChangedReservation) -> float:
    fare, former = _fare(changed.after), changed.before
    bags: float = changed.after["nonfree_baggages"]
    if former is not None:
        more_bags: float = max(0, bags - former["nonfree_baggages"])
        return fare - _fare(former) + BAG_PRICE * more_bags
    insurance = INSURANCE_PRICE * changed.seats if changed.after["insurance"] == "yes" else 0
    return fare + BAG_PRICE * bags + insurance


def _fare(reservation: Json) -> float:
    prices: list[float] = [segment["price"] for segment in reservation["flights"]]
    return sum(prices) * len(reservation["passengers"])


_Methods: TypeAlias = Mapping[str, Json]
_Spending: TypeAlias = tuple[list[Json], bool]
"""The payments that one reservation added, refunds of a cancellation apart, and whether it is a new one."""


def balances_follow_payments(initial: EndState, end: EndState) -> Iterator[str]:
    """Every payment came from one of the user's own methods, and left its mark there, and nothing else did.

    A gift card's balance falls by the payments on it and rises by refunds of updates, but not by cancellations, which
    restore nothing; it is never overdrawn. A certificate pays for a booking only, at most its amount, once, and is gone
    afterwards. Certificates that are new have the ids that `send_certificate` gives out, in order. Credit cards stay.
    """
    spendings: dict[str, list[_Spending]] = {}
    yield from _collect_spendings(initial, end, spendings)
    users = spendings.keys() | {user_id for user_id, _, _ in changed_records(initial, end, "users")}
    for user_id in sorted(users):
        before, after = (payment_methods(state.agent.find("users", user_id)) for state in (initial, end))
        if before is None or after is None:
            yield f"user {user_id} is not a user with payment methods before and after"
        else:
            faults = _profile_faults(before, after, spendings.get(user_id, []))
            yield from (f"user {user_id} {fault}" for fault in faults)


def _collect_spendings(initial: EndState, end: EndState, spendings: dict[str, list[_Spending]]) -> Iterator[str]:
    """Sort what the reservations added by user; yield a fault for each that cannot be read."""
    for changed in changed_reservations(initial, end):
        if isinstance(changed, str):
            yield changed
            continue
        added = _added_payments(changed)
        if isinstance(added, str):
            yield f"reservation {changed.id} {added}"
        else:
            spendings.setdefault(changed.after["user_id"], []).append((added, changed.before is None))


def _profile_faults(before: _Methods, after: _Methods, spendings: list[_Spending]) -> Iterator[str]:
    yield from _source_faults(before, spendings)
    yield from _certificate_faults(before, after, spendings)
    for method_id, method in before.items():
        if method["source"] == "certificate":
            continue
        if method_id not in after:
            yield f"has lost {method_id}"
        elif method["source"] == "gift_card":
            yield from _gift_card_faults(method_id, method, after[method_id], spendings)
        elif not same(method, after[method_id]):
            yield f"has another {method_id}"
    for method_id in sorted(after.keys() - before.keys()):
        if method_id not in CERTIFICATE_IDS or not _is_certificate(method_id, after[method_id]):
            yield f"has a new {method_id}"


def _is_certificate(method_id: str, method: Json) -> bool:
    named = same({**method, "amount": 0}, {"source": "certificate", "id": method_id, "amount": 0})
    return named and bool(method["amount"] > 0)


def _source_faults(before: _Methods, spendings: list[_Spending]) -> Iterator[str]:
    for payments, booked in spendings:
        for payment in payments:
            method_id = payment["payment_id"]
            source = before[method_id]["source"] if method_id in before else None
            if source is None and method_id in CERTIFICATE_IDS:
                source = "certificate"
            if source is None:
                yield f"pays with {method_id}, which is not in the profile"
            elif source == "certificate" and not booked:
                yield f"pays for an update with {method_id}"


def _amounts_on(method_id: str, spendings: list[_Spending]) -> list[list[float]]:
    """Return the amounts that each reservation added on a payment method, in order, for those that added any."""
    groups = [[p["amount"] for p in payments if p["payment_id"] == method_id] for payments, _ in spendings]
    return [group for group in groups if group]


def _gift_card_faults(card_id: str, before: Json, after: Json, spendings: list[_Spending]) -> Iterator[str]:
    if not same({**before, "amount": 0}, {**after, "amount": 0}):
        yield f"has another {card_id}"
        return
    groups = _amounts_on(card_id, spendings)
    expected = before["amount"] - sum(map(sum, groups))
    if abs(after["amount"] - expected) > _CENT:
        yield f"has {after['amount']} on {card_id}, where the payments leave {expected}"
    # In which order several reservations were paid is not known, but what one of them did to the card is.
    if expected < 0 or (len(groups) == 1 and _overdraws(before["amount"], groups[0])):
        yield f"has overdrawn {card_id}"


def _overdraws(balance: float, amounts: list[float]) -> bool:
    for amount in amounts:
        if balance < amount:
            return True
        balance -= amount
    return False


def _certificate_faults(before: _Methods, after: _Methods, spendings: list[_Spending]) -> Iterator[str]:
    for certificate_id, certificate in before.items():
        if certificate["source"] != "certificate":
            continue
        amounts = list(chain.from_iterable(_amounts_on(certificate_id, spendings)))
        if certificate_id not in after and len(amounts) != 1:
            yield f"has lost {certificate_id}, which paid {len(amounts)} times"
        elif amounts and amounts[0] > certificate["amount"]:
            yield f"has paid {amounts[0]} with {certificate_id}, which was worth {certificate['amount']}"
        elif certificate_id in after and (not same(certificate, after[certificate_id]) or amounts):
            yield f"has another {certificate_id}, or has it still after it paid"
    yield from _minting_faults(before, after, spendings)


def _minting_faults(before: _Methods, after: _Methods, spendings: list[_Spending]) -> Iterator[str]:
    """New certificates have no gap before them, unless the one that is missing paid for a booking."""
    present = [i for i, certificate_id in enumerate(CERTIFICATE_IDS) if certificate_id in after]
    for certificate_id in CERTIFICATE_IDS[: max(present, default=0)]:
        if certificate_id not in after and certificate_id not in before and not _amounts_on(certificate_id, spendings):
            yield f"has a new certificate after {certificate_id}, which was never sent"


payments_cover_changes = for_each_reservation(payment_faults)
