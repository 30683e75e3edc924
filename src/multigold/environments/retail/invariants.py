"""What holds of every retail state that sensible calls lead to: named checks of what changed.

Each invariant is a pure function of the initial and the end state, looks at nothing but records that differ, and yields
one sentence per fault. They judge end states, not paths.

They are stricter than the tools: `modify_pending_order_items` with several different new variants ends in a state that
`items-are-variants` and `payments-add-up` both report, because tau2 gives every item the price of the last one. That
is how the audit finds the golds that have this fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from multigold.environments.common import changed_records
from multigold.environments.retail.queries import OPTIONAL_FIELDS
from multigold.environments.retail.tools import CANCEL_REASONS
from multigold.environments.tools import Invariant
from multigold.state.canonical import Json, same
from multigold.state.database import GONE, EndState

HALF_A_CENT = 0.005

_MODIFIED = "pending (item modified)"
_MOVES = {
    ("pending", "pending"),
    ("pending", _MODIFIED),
    ("pending", "cancelled"),
    ("delivered", "exchange requested"),
    ("delivered", "return requested"),
    (_MODIFIED, _MODIFIED),
}
"""Status before and after, of an order that changed."""

_NOTED: Mapping[str, frozenset[str]] = {
    "cancelled": frozenset({"cancel_reason"}),
    "exchange requested": frozenset(field for field in OPTIONAL_FIELDS if field.startswith("exchange_")),
    "return requested": frozenset(field for field in OPTIONAL_FIELDS if field.startswith("return_")),
}
"""Status to the optional fields that an order has then; none for any other."""


def _changed_orders(initial: EndState, end: EndState) -> Iterator[tuple[str, Json, Json]]:
    changes = changed_records(initial, end, "orders")
    return ((i, before, after) for i, before, after in changes if GONE not in (before, after))


def _net(order: Json, payment_method_id: str | None = None) -> float:
    """Return what was paid for an order less what was refunded, by one method or by all, in dollars."""
    if order is GONE:
        return 0.0
    amounts: Iterator[float] = (
        entry["amount"] if entry["transaction_type"] == "payment" else -entry["amount"]
        for entry in order["payment_history"]
        if payment_method_id in (None, entry["payment_method_id"])
    )
    return sum(amounts)


def payments_add_up(initial: EndState, end: EndState) -> Iterable[str]:
    """An order is paid what its items cost, and a cancelled one nothing."""
    for order_id, _, order in _changed_orders(initial, end):
        due = 0.0 if order["status"] == "cancelled" else sum(item["price"] for item in order["items"])
        if abs(_net(order) - due) >= HALF_A_CENT:
            yield f"order {order_id} is paid {_net(order):.2f} for items that cost {due:.2f}"


def gift_cards_follow_payments(initial: EndState, end: EndState) -> Iterable[str]:
    """A gift card's balance moves by what its user's orders are paid with it and refunded to it."""
    orders = list(changed_records(initial, end, "orders"))
    owners = {order["user_id"] for _, before, after in orders for order in (before, after) if order is not GONE}
    for user_id in sorted(owners | {user_id for user_id, _, _ in changed_records(initial, end, "users")}):
        before, after = (_gift_cards(state, user_id) for state in (initial, end))
        if before.keys() != after.keys():
            yield f"user {user_id} has other gift cards than before"
        for card in sorted(before.keys() & after.keys()):
            spent = sum(_net(new, card) - _net(old, card) for _, old, new in orders)
            if abs(before[card] - spent - after[card]) >= HALF_A_CENT:
                yield f"gift card {card} had {before[card]:.2f}, paid {spent:.2f} and has {after[card]:.2f}"


def _gift_cards(state: EndState, user_id: str) -> dict[str, float]:
    user = state.agent.find("users", user_id)
    methods = {} if user is GONE else user["payment_methods"]
    return {name: method["balance"] for name, method in methods.items() if method["source"] == "gift_card"}


def items_are_variants(initial: EndState, end: EndState) -> Iterable[str]:
    """An item that an order was given has the price and the options of its own variant."""
    for order_id, before, order in _changed_orders(initial, end):
        for item in order["items"]:
            if not any(same(item, old) for old in before["items"]):
                fault = _fault_of_item(item, end)
                if fault:
                    yield f"order {order_id} has item {item['item_id']} with {fault}"


def _fault_of_item(item: Json, end: EndState) -> str:
    product = end.agent.find("products", item["product_id"])
    variant = None if product is GONE else product["variants"].get(item["item_id"])
    if variant is None:
        return "an id that the product does not have"
    if not same(variant["price"], item["price"]):
        return f"the price {item['price']}, and its variant costs {variant['price']}"
    return "" if same(variant["options"], item["options"]) else "the options of another variant"


def statuses_fit(initial: EndState, end: EndState) -> Iterable[str]:
    """Orders move between statuses as the tools allow, and note what goes with the status that they have."""
    for order_id, before, after in changed_records(initial, end, "orders"):
        if before is GONE or after is GONE:
            yield f"order {order_id} was {'added' if before is GONE else 'removed'}"
            continue
        if (before["status"], after["status"]) not in _MOVES:
            yield f"order {order_id} went from {before['status']!r} to {after['status']!r}"
        noted = {field for field in OPTIONAL_FIELDS if after.get(field) is not None}
        if noted != _NOTED.get(after["status"], frozenset()):
            yield f"order {order_id} is {after['status']!r} and has {', '.join(sorted(noted)) or 'nothing noted'}"
        elif after["status"] == "cancelled" and after["cancel_reason"] not in CANCEL_REASONS:
            yield f"order {order_id} is cancelled for the reason {after['cancel_reason']!r}"
        if after["status"] != _MODIFIED and not same(before["items"], after["items"]):
            yield f"order {order_id} is {after['status']!r} and its items changed"


def requests_fit(initial: EndState, end: EndState) -> Iterable[str]:
    """An exchange or a return names items of the order, and an exchange the right difference in price."""
    for order_id, _, order in _changed_orders(initial, end):
        present = Counter(item["item_id"] for item in order["items"])
        for field in ("exchange_items", "return_items"):
            if Counter(order.get(field) or ()) - present:
                yield f"order {order_id} has {field} that it does not have as items"
        if order["status"] == "exchange requested":
            yield from _faults_of_exchange(order_id, order, end)


def _faults_of_exchange(order_id: str, order: Json, end: EndState) -> Iterator[str]:
    old, new = order["exchange_items"], order["exchange_new_items"]
    prices = {item["item_id"]: item["price"] for item in order["items"]}
    catalogue = _prices(end, {item["product_id"] for item in order["items"]})
    if len(old) != len(new) or not catalogue.keys() >= set(new) or not prices.keys() >= set(old):
        yield f"order {order_id} asks to exchange {len(old)} items for {len(new)}, or for other products"
        return
    due = sum(catalogue[item] for item in new) - sum(prices[item] for item in old)
    if abs(due - order["exchange_price_difference"]) >= HALF_A_CENT:
        yield f"order {order_id} notes a difference of {order['exchange_price_difference']}, and it is {due:.2f}"


def _prices(state: EndState, product_ids: set[str]) -> dict[str, float]:
    products = (state.agent.find("products", product_id) for product_id in product_ids)
    return {i: v["price"] for product in products if product is not GONE for i, v in product["variants"].items()}


INVARIANTS: Mapping[str, Invariant] = {
    "payments-add-up": payments_add_up,
    "gift-cards-follow-payments": gift_cards_follow_payments,
    "items-are-variants": items_are_variants,
    "statuses-fit": statuses_fit,
    "requests-fit": requests_fit,
}
