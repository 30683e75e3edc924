"""A shop of two products and two users, made up for tests that need no data of anybody else.

#P  uma, pending: cup small 10.10, cup large 20.20, hat red 30.30, paid 60.60 by card_u
#D  uma, delivered: cup small 10.10, cup small 10.10, paid 20.20 by gift_u
#G  vic, pending: hat red 30.30, paid by gift_v
"""

from __future__ import annotations

from typing import Any

from multigold.environments.base import Environment
from multigold.environments.retail import build
from multigold.model.task import ToolCall
from multigold.state.database import Database

Json = Any

PRICES = {"cup-s": 10.1, "cup-m": 15.15, "cup-l": 20.2, "cup-x": 99.0, "hat-r": 30.3, "hat-b": 25.25}
PRODUCTS = {"cup": ("cup-s", "cup-m", "cup-l", "cup-x"), "hat": ("hat-r", "hat-b")}
SOLD_OUT = "cup-x"
ADDRESS = {"address1": "1 Elm", "address2": "", "city": "Rome", "country": "USA", "state": "NY", "zip": "10001"}


def _item(item_id: str) -> Json:
    product = item_id[:3]
    return {
        "name": product.title(),
        "product_id": product,
        "item_id": item_id,
        "price": PRICES[item_id],
        "options": {"kind": item_id[-1]},
    }


def _order(order_id: str, user_id: str, status: str, items: list[str], method: str) -> Json:
    amount = round(sum(PRICES[item] for item in items), 2)
    return {
        "order_id": order_id,
        "user_id": user_id,
        "address": dict(ADDRESS),
        "items": [_item(item) for item in items],
        "status": status,
        "fulfillments": [],
        "payment_history": [{"transaction_type": "payment", "amount": amount, "payment_method_id": method}],
    }


def _user(user_id: str, gift: str, balance: float, card: str, orders: list[str]) -> Json:
    return {
        "user_id": user_id,
        "name": {"first_name": user_id.title(), "last_name": "Ito"},
        "address": dict(ADDRESS),
        "email": f"{user_id}@example.com",
        "payment_methods": {
            gift: {"source": "gift_card", "id": gift, "balance": balance},
            card: {"source": "credit_card", "id": card, "brand": "visa", "last_four": "0000"},
        },
        "orders": orders,
    }


def tables() -> dict[str, Any]:
    """Return the data, anew each time."""
    return {
        "products": {
            product: {
                "name": product.title(),
                "product_id": product,
                "variants": {
                    item: {
                        "item_id": item,
                        "options": {"kind": item[-1]},
                        "available": item != SOLD_OUT,
                        "price": PRICES[item],
                    }
                    for item in items
                },
            }
            for product, items in PRODUCTS.items()
        },
        "users": {
            "uma": _user("uma", "gift_u", 12.0, "card_u", ["#P", "#D"]),
            "vic": _user("vic", "gift_v", 3.0, "card_v", ["#G"]),
        },
        "orders": {
            "#P": _order("#P", "uma", "pending", ["cup-s", "cup-l", "hat-r"], "card_u"),
            "#D": _order("#D", "uma", "delivered", ["cup-s", "cup-s"], "gift_u"),
            "#G": _order("#G", "vic", "pending", ["hat-r"], "gift_v"),
        },
    }


def environment(data: Json = None) -> Environment:
    """Return the shop, or one with other data."""
    return build(Database.from_json(tables() if data is None else data))


def cancel(order: str = "#P", reason: Json = "no longer needed") -> ToolCall:
    return ToolCall("cancel_pending_order", {"order_id": order, "reason": reason})


def modify(old: Json, new: Json, method: Json = "card_u", order: Json = "#P") -> ToolCall:
    arguments = {"order_id": order, "item_ids": old, "new_item_ids": new, "payment_method_id": method}
    return ToolCall("modify_pending_order_items", arguments)


def exchange(old: Json, new: Json, method: Json = "card_u", order: Json = "#D") -> ToolCall:
    arguments = {"order_id": order, "item_ids": old, "new_item_ids": new, "payment_method_id": method}
    return ToolCall("exchange_delivered_order_items", arguments)


def give_back(items: Json, method: Json = "gift_u", order: Json = "#D") -> ToolCall:
    return ToolCall("return_delivered_order_items", {"order_id": order, "item_ids": items, "payment_method_id": method})


def repay(method: Json, order: Json = "#P") -> ToolCall:
    return ToolCall("modify_pending_order_payment", {"order_id": order, "payment_method_id": method})


def readdress(order: Json = "#P", **parts: Json) -> ToolCall:
    return ToolCall("modify_pending_order_address", {"order_id": order, **ADDRESS, **parts})
