"""tau2's retail domain: looking things up. Nothing here writes to a draft.

The lookups at the top are what the write tools use too; the tools that only read follow.
"""

from __future__ import annotations

import json

from multigold.environments.common import finder
from multigold.environments.tools import RefusalError
from multigold.state.canonical import Json
from multigold.state.database import Draft

OPTIONAL_FIELDS = (
    "cancel_reason",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "exchange_price_difference",
    "return_items",
    "return_payment_method_id",
)
"""Fields of an order that tau2's model has as null until something is asked for; the data file leaves them out."""


find_order = finder("orders", "Order not found")
find_user = finder("users", "User not found")
find_product = finder("products", "Product not found")


def find_payment_method(draft: Draft, user_id: Json, payment_method_id: Json) -> Json:
    """Return a payment method of a user, to be read only.

    Raises:
        RefusalError: If there is no such user, or the user has no such method.
        TypeError: If the id cannot be looked up (a list); to `step` that is a refusal as any other.
    """
    methods = find_user(draft, user_id)["payment_methods"]
    if payment_method_id not in methods:
        raise RefusalError("Payment method not found")
    return methods[payment_method_id]


def find_variant(draft: Draft, product_id: Json, item_id: Json) -> Json:
    """Return a variant of a product, to be read only.

    Raises:
        RefusalError: If there is no such product, or it has no such variant.
        TypeError: If the id cannot be looked up (a list); to `step` that is a refusal as any other.
    """
    variants = find_product(draft, product_id)["variants"]
    if item_id not in variants:
        raise RefusalError("Variant not found")
    return variants[item_id]


def find_item(order: Json, item_id: Json) -> Json:
    """Return the first item of an order that has this id.

    Raises:
        RefusalError: If it has none.
    """
    for item in order["items"]:
        if item["item_id"] == item_id:
            return item
    raise RefusalError(f"Item {item_id} not found")


def show_order(order: Json) -> Json:
    """Return an order as the agent sees it, with null for what was not asked for."""
    return {**dict.fromkeys(OPTIONAL_FIELDS), **order}


def find_user_id_by_name_zip(draft: Draft, first_name: Json, last_name: Json, zip: Json) -> Json:
    """Return the id of the first user of that name, in any case, and postal code.

    Raises:
        RefusalError: If there is none.
        AttributeError: If a name that has to be looked at is not a string; to `step` that is a refusal as any other.
    """
    for user_id in draft.ids("users"):
        user = draft.get("users", user_id)
        if (
            user["name"]["first_name"].lower() == first_name.lower()
            and user["name"]["last_name"].lower() == last_name.lower()
            and user["address"]["zip"] == zip
        ):
            return user_id
    raise RefusalError("User not found")


def find_user_id_by_email(draft: Draft, email: Json) -> Json:
    """Return the id of the first user with that address, in any case.

    Raises:
        RefusalError: If there is none.
        AttributeError: If the address is not a string; to `step` that is a refusal as any other.
    """
    for user_id in draft.ids("users"):
        if draft.get("users", user_id)["email"].lower() == email.lower():
            return user_id
    raise RefusalError("User not found")


def get_order_details(draft: Draft, order_id: Json) -> Json:
    """Return an order.

    Raises:
        RefusalError: If there is no such order.
    """
    return show_order(find_order(draft, order_id))


def get_product_details(draft: Draft, product_id: Json) -> Json:
    """Return a product with its variants.

    Raises:
        RefusalError: If there is no such product.
    """
    return find_product(draft, product_id)


def get_user_details(draft: Draft, user_id: Json) -> Json:
    """Return a user's profile.

    Raises:
        RefusalError: If there is no such user.
    """
    return find_user(draft, user_id)


def list_all_product_types(draft: Draft) -> Json:
    """Return the products' names and ids, as the text of a JSON object."""
    products = (draft.get("products", product_id) for product_id in draft.ids("products"))
    return json.dumps({product["name"]: product["product_id"] for product in products}, sort_keys=True)
