"""tau-bench v1's retail domain: the tools that are not tau2's.

Ported from observed behaviour. Nothing is validated. Unlike in tau2, each item of a call gets its own variant's price
and options, an order is modified only while its status is exactly `pending`, and an item may be exchanged for itself.
"""

from __future__ import annotations

from multigold.environments.base import RefusalError
from multigold.environments.retail.queries import (
    find_item,
    find_order,
    find_payment_method,
    find_user,
    find_variant,
    show_order,
)
from multigold.environments.retail.tools import (
    CANCEL_REASONS,
    compare_prices,
    credit,
    pairs,
    require,
    require_cover,
    require_items,
)
from multigold.state.canonical import Json, clone
from multigold.state.database import Draft


def _find_pending(draft: Draft, order_id: Json, what: str) -> Json:
    order = find_order(draft, order_id)
    require(order["status"] == "pending", f"Non-pending order cannot be {what}")
    return order


def _entry(kind: str, amount: Json, payment_method_id: Json) -> Json:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": payment_method_id}


def cancel_pending_order(draft: Draft, order_id: Json, reason: Json) -> Json:
    """Cancel an order and refund every entry of its payment history; gift cards are credited at once.

    Returns:
        The order.

    Raises:
        RefusalError: Where there is no such order, it is not pending, or the reason is none of the two.
    """
    order = _find_pending(draft, order_id, "cancelled")
    require(reason in CANCEL_REASONS, "Invalid reason")
    refunds = [_entry("refund", paid["amount"], paid["payment_method_id"]) for paid in order["payment_history"]]
    for refund in refunds:
        credit(draft, order["user_id"], refund["payment_method_id"], refund["amount"])
    order = draft.edit("orders", order_id)
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"] += refunds
    return show_order(order)


def modify_pending_order_address(
    draft: Draft,
    order_id: Json,
    address1: Json,
    address2: Json,
    city: Json,
    state: Json,
    country: Json,
    zip: Json,
) -> Json:
    """Replace the address of a pending order.

    Returns:
        The order.

    Raises:
        RefusalError: Where there is no such order, or it is not pending.
    """
    _find_pending(draft, order_id, "modified")
    order = draft.edit("orders", order_id)
    order["address"] = _address(address1, address2, city, state, country, zip)
    return show_order(order)


def modify_user_address(
    draft: Draft,
    user_id: Json,
    address1: Json,
    address2: Json,
    city: Json,
    state: Json,
    country: Json,
    zip: Json,
) -> Json:
    """Replace a user's own address; those of orders stay.

    Returns:
        The user's profile.

    Raises:
        RefusalError: Where there is no such user.
    """
    find_user(draft, user_id)
    user = draft.edit("users", user_id)
    user["address"] = _address(address1, address2, city, state, country, zip)
    return user


def _address(address1: Json, address2: Json, city: Json, state: Json, country: Json, zip: Json) -> Json:
    return {"address1": address1, "address2": address2, "city": city, "country": country, "state": state, "zip": zip}


def modify_pending_order_items(
    draft: Draft, order_id: Json, item_ids: Json, new_item_ids: Json, payment_method_id: Json
) -> Json:
    """Exchange items of a pending order, once; each gets the price and the options of its own variant.

    Returns:
        The order.

    Raises:
        RefusalError: Where something is unknown or not available, or a gift card does not cover the difference.
    """
    order = _find_pending(draft, order_id, "modified")
    require_items(order, item_ids)
    difference, _ = compare_prices(draft, order, item_ids, new_item_ids)
    require_cover(find_payment_method(draft, order["user_id"], payment_method_id), difference)
    order = draft.edit("orders", order_id)
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_entry(kind, abs(difference), payment_method_id))
    credit(draft, order["user_id"], payment_method_id, -difference)
    for old, new in pairs(item_ids, new_item_ids):
        item = find_item(order, old)
        variant = find_variant(draft, item["product_id"], new)
        item.update(item_id=new, price=variant["price"], options=clone(variant["options"]))
    order["status"] = "pending (item modified)"
    return show_order(order)


def modify_pending_order_payment(draft: Draft, order_id: Json, payment_method_id: Json) -> Json:
    """Pay a pending order by another method and refund the first one.

    Returns:
        The order.

    Raises:
        RefusalError: Where something is unknown, the order has more than its first payment, the method is the same, or
            a gift card does not cover the amount.
    """
    order = _find_pending(draft, order_id, "modified")
    method = find_payment_method(draft, order["user_id"], payment_method_id)
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        raise RefusalError("There should be exactly one payment for a pending order")
    paid_by, amount = history[0]["payment_method_id"], history[0]["amount"]
    require(paid_by != payment_method_id, "The new payment method should be different from the current one")
    require_cover(method, amount)
    order = draft.edit("orders", order_id)
    order["payment_history"] += [_entry("payment", amount, payment_method_id), _entry("refund", amount, paid_by)]
    credit(draft, order["user_id"], payment_method_id, -amount)
    credit(draft, order["user_id"], paid_by, amount)
    return show_order(order)
