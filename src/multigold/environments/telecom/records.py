"""tau2's telecom data as tables: the fields of its records, their types and what they are by default.

tau2 keeps plans, customers, lines, bills and devices as *lists* of records, and its two files leave out what is null or
as usual. Here each list is a table by id, in the order of the list: the tools look records up by id, and where they
take the first that fits (a phone number may be a customer's and a line's) the order of the table is that of the list.
Only bills are ever added, at the end. A second record of an id, which tau2 allows and its lookups never find, gets a
key of its own.

The user's side is two objects, `device` and `surroundings`. They are tables as well, of which each field is a record:
a change of the phone's battery is then `/user/device/battery_level`, and a run costs what it changes.

Dates are stored as tau2 prints them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from multigold.environments.coercion import (
    FieldType,
    boolean,
    integer,
    list_of,
    literal,
    model,
    number,
    optional,
    table_of,
    text,
)
from multigold.environments.tools import RefusalError
from multigold.errors import DataError
from multigold.state.canonical import Json
from multigold.state.database import Database

TODAY = "2025-02-25"
"""The calendar of the domain stands still."""

SIM_STATES = ("active", "missing", "locked_pin", "locked_puk")
TECHNOLOGIES = ("none", "2G", "3G", "4G", "5G")
NETWORK_MODES = ("4g_5g_preferred", "4g_only", "3g_only", "2g_only")
SIGNALS = ("none", "poor", "fair", "good", "excellent")
CONNECTIONS = ("connected", "searching", "no_service", "emergency_only")
VPN_PERFORMANCE = ("unknown", "poor", "fair", "good", "excellent")
LINE_STATUSES = ("Active", "Suspended", "Pending Activation", "Closed")


def date(value: Json) -> str:
    """Take a date, as text in the form YYYY-MM-DD or as TOML has it.

    Raises:
        RefusalError: If it is none.
    """
    return str(_parsed(value, datetime.date))


def moment(value: Json) -> str:
    """Take a date and time, as text in ISO form or as TOML has it; a blank stands between the two, as tau2 prints them.

    Raises:
        RefusalError: If it is none.
    """
    return str(_parsed(value, datetime.datetime))


def _parsed(value: Json, kind: type[datetime.date]) -> datetime.date:
    if isinstance(value, kind):
        return value
    try:
        return kind.fromisoformat(text(value))
    except ValueError as error:
        raise RefusalError(f"a {kind.__name__} is needed, not {value!r}") from error


_ADDRESS = model({"street": text, "city": text, "state": text, "zip_code": text}, closed=True)
_METHOD = model(
    {
        "method_type": literal("Credit Card", "Debit Card", "PayPal"),
        "account_number_last_4": text,
        "expiration_date": text,
    },
    closed=True,
)
_LINE_ITEM = model({"description": text, "amount": number, "date": date, "item_type": text}, closed=True)
_PLAN = model(
    {
        "plan_id": text,
        "name": text,
        "data_limit_gb": number,
        "price_per_month": number,
        "data_refueling_price_per_gb": number,
    },
    closed=True,
)
_DEVICE = model(
    {
        "device_id": text,
        "device_type": literal("phone", "router", "tablet", "watch", "other"),
        "model": text,
        "imei": optional(text),
        "is_esim_capable": boolean,
        "activated": boolean,
        "activation_date": optional(moment),
        "last_esim_transfer_date": optional(moment),
    },
    defaults={"imei": None, "activated": False, "activation_date": None, "last_esim_transfer_date": None},
    closed=True,
)
_LINE = model(
    {
        "line_id": text,
        "phone_number": text,
        "status": literal(*LINE_STATUSES),
        "plan_id": text,
        "device_id": optional(text),
        "data_used_gb": number,
        "data_refueling_gb": number,
        "roaming_enabled": boolean,
        "contract_end_date": optional(date),
        "last_plan_change_date": optional(date),
        "last_sim_replacement_date": optional(date),
        "suspension_start_date": optional(date),
    },
    defaults={
        "status": "Pending Activation",
        "device_id": None,
        "data_used_gb": 0.0,
        "data_refueling_gb": 0.0,
        "roaming_enabled": False,
        "contract_end_date": None,
        "last_plan_change_date": None,
        "last_sim_replacement_date": None,
        "suspension_start_date": None,
    },
    closed=True,
)
_BILL = model(
    {
        "bill_id": text,
        "customer_id": text,
        "period_start": date,
        "period_end": date,
        "issue_date": date,
        "total_due": number,
        "due_date": date,
        "line_items": list_of(_LINE_ITEM),
        "status": literal("Draft", "Issued", "Awaiting Payment", "Paid", "Overdue", "Disputed"),
    },
    defaults={"line_items": [], "status": "Draft"},
    closed=True,
)
_CUSTOMER = model(
    {
        "customer_id": text,
        "full_name": text,
        "date_of_birth": text,
        "email": text,
        "phone_number": text,
        "address": _ADDRESS,
        "account_status": literal("Active", "Suspended", "Pending Verification", "Closed"),
        "payment_methods": list_of(_METHOD),
        "line_ids": list_of(text),
        "bill_ids": list_of(text),
        "created_at": moment,
        "last_extension_date": optional(date),
        "goodwill_credit_used_this_year": number,
    },
    defaults={
        "account_status": "Pending Verification",
        "payment_methods": [],
        "line_ids": [],
        "bill_ids": [],
        "created_at": "2025-01-01",
        "last_extension_date": None,
        "goodwill_credit_used_this_year": 0.0,
    },
    closed=True,
)

AGENT_LISTS: Mapping[str, tuple[str, FieldType]] = {
    "plans": ("plan_id", _PLAN),
    "customers": ("customer_id", _CUSTOMER),
    "lines": ("line_id", _LINE),
    "bills": ("bill_id", _BILL),
    "devices": ("device_id", _DEVICE),
}
"""The agent's tables: the field that is the id, and the type of a record."""

APN_SETTINGS = model(
    {
        "apn_name": literal("internet", "broken"),
        "reset_at_reboot": boolean,
        "mms_apn": optional(text),
        "mmsc_url": optional(text),
        "mms_proxy": optional(text),
        "mms_port": optional(integer),
    },
    defaults={
        "apn_name": "internet",
        "reset_at_reboot": False,
        "mms_apn": "mms",
        "mmsc_url": "http://mms.carrier.com/mms/wapenc",
        "mms_proxy": None,
        "mms_port": None,
    },
    closed=True,
)
"""The settings of an access point, as `set_apn_settings` takes them."""

PERMISSIONS = ("sms", "storage", "phone", "network")

_PERMISSIONS = model(dict.fromkeys(PERMISSIONS, boolean), defaults=dict.fromkeys(PERMISSIONS, False), closed=True)
_APP = model({"app_name": text, "permissions": _PERMISSIONS}, defaults={"permissions": _PERMISSIONS({})}, closed=True)
_VPN = model(
    {
        "server_address": optional(text),
        "protocol": optional(text),
        "server_performance": literal(*VPN_PERFORMANCE),
    },
    defaults={"server_address": None, "protocol": None, "server_performance": "unknown"},
    closed=True,
)
_PAYMENT_REQUEST = model(
    {"bill_id": text, "amount_due": number, "paid": boolean}, defaults={"paid": False}, closed=True
)

_PHONE = model(
    {
        "sim_card_status": literal(*SIM_STATES),
        "sim_card_missing": boolean,
        "airplane_mode": boolean,
        "network_signal_strength": literal(*SIGNALS),
        "network_technology_connected": literal(*TECHNOLOGIES),
        "network_connection_status": literal(*CONNECTIONS),
        "battery_level": integer,
        "data_enabled": boolean,
        "roaming_enabled": boolean,
        "network_mode_preference": literal(*NETWORK_MODES),
        "active_apn_settings": APN_SETTINGS,
        "wifi_enabled": boolean,
        "wifi_connected": boolean,
        "wifi_ssid": optional(text),
        "wifi_signal_strength": literal(*SIGNALS),
        "wifi_calling_enabled": boolean,
        "wifi_calling_mms_over_wifi": boolean,
        "data_saver_mode": boolean,
        "vpn_enabled_setting": boolean,
        "vpn_connected": boolean,
        "vpn_details": optional(_VPN),
        "app_statuses": table_of(text, _APP),
    },
    defaults={
        "sim_card_status": "active",
        "sim_card_missing": False,
        "airplane_mode": False,
        "network_signal_strength": "good",
        "network_technology_connected": "5G",
        "network_connection_status": "connected",
        "battery_level": 80,
        "data_enabled": True,
        "roaming_enabled": False,
        "network_mode_preference": "4g_5g_preferred",
        "active_apn_settings": APN_SETTINGS({}),
        "wifi_enabled": False,
        "wifi_connected": False,
        "wifi_ssid": None,
        "wifi_signal_strength": "none",
        "wifi_calling_enabled": False,
        "wifi_calling_mms_over_wifi": False,
        "data_saver_mode": False,
        "vpn_enabled_setting": False,
        "vpn_connected": False,
        "vpn_details": None,
        "app_statuses": {
            "messaging": _APP({"app_name": "messaging", "permissions": {"sms": True, "storage": True, "phone": True}}),
            "browser": _APP({"app_name": "browser", "permissions": {"network": True, "storage": True}}),
        },
    },
    closed=True,
)
_SURROUNDINGS = model(
    {
        "name": optional(text),
        "phone_number": optional(text),
        "is_abroad": boolean,
        "roaming_allowed": boolean,
        "signal_strength": table_of(literal(*TECHNOLOGIES), literal(*SIGNALS)),
        "mobile_data_usage_exceeded": boolean,
        "line_active": boolean,
        "payment_request": optional(_PAYMENT_REQUEST),
    },
    defaults={
        "name": None,
        "phone_number": None,
        "is_abroad": False,
        "roaming_allowed": False,
        "signal_strength": {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"},
        "mobile_data_usage_exceeded": False,
        "line_active": True,
        "payment_request": None,
    },
    closed=True,
)

USER_TABLES: Mapping[str, FieldType] = {"device": _PHONE, "surroundings": _SURROUNDINGS}
"""The user's tables: the type of each, of which every field is a record."""


def agent_tables(database: Database) -> Database:
    """Return the agent's database as tables by id, complete and of the right types.

    Args:
        database: tau2's `db.toml`: five lists; or the tables that this function returns.

    Raises:
        DataError: If it is not telecom data.
    """
    plain = database.to_json()
    _refuse_unknown(plain, AGENT_LISTS)
    return Database.adopt({table: _table(table, plain.get(table, [])) for table in AGENT_LISTS})


def user_tables(database: Database) -> Database:
    """Return the user's database complete and of the right types.

    Args:
        database: tau2's `user_db.toml`: two objects; both may be left out.

    Raises:
        DataError: If it is not telecom data.
    """
    plain = database.to_json()
    _refuse_unknown(plain, USER_TABLES)
    return Database.adopt({table: _taken(take, plain.get(table, {}), table) for table, take in USER_TABLES.items()})


def _refuse_unknown(plain: Mapping[str, Json], known: Mapping[str, object]) -> None:
    for table in plain:
        if table not in known:
            raise DataError(f"the telecom domain has no table {table!r}", remedy=f"It has {', '.join(known)}.")


def _table(table: str, entries: Json) -> dict[str, Json]:
    if not isinstance(entries, list | dict):
        raise DataError("a list of records is needed", where=table)
    id_field, take = AGENT_LISTS[table]
    records: dict[str, Json] = {}
    for index, entry in enumerate(entries.values() if isinstance(entries, dict) else entries):
        record = _taken(take, entry, f"{table}[{index}]")
        records[free_key(records, record[id_field])] = record
    return records


def free_key(taken: Mapping[str, Json], record_id: str) -> str:
    """Return the key under which a record is stored: its id, or if that is taken the id and a number."""
    key, number_of_it = record_id, 1
    while key in taken or not key:
        number_of_it += 1
        key = f"{record_id} ({number_of_it})"
    return key


def _taken(take: FieldType, value: Json, where: str) -> Json:
    try:
        return take(value)
    except RefusalError as error:
        raise DataError(str(error), where=where) from error
