"""What the retail domain declares about its records: defaults, lists without order, payment logs. It mints no ids."""

from __future__ import annotations

from multigold.environments.retail.queries import OPTIONAL_FIELDS
from multigold.state.conventions import Conventions, PaymentLog

CONVENTIONS = Conventions(
    null_defaults={"orders": OPTIONAL_FIELDS},
    # What is asked for is stored sorted, each of the two parallel lists by itself.
    unordered=("orders/*/items", "orders/*/exchange_items", "orders/*/exchange_new_items", "orders/*/return_items"),
    payment_logs=(PaymentLog("orders/*/payment_history", method="payment_method_id", direction="transaction_type"),),
    id_case={"users": "lower"},
)
