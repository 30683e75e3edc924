"""What tau2's telecom tasks assert of the state that a run ends in. Each looks at one side and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from multigold.environments.telecom.phone import around, get, mms_works, mobile_data_works, speed
from multigold.environments.telecom.queries import find_bill, find_customer, find_own_line
from multigold.environments.telecom.records import CONNECTIONS
from multigold.environments.tools import Assertion, RefusalError
from multigold.state.canonical import Json
from multigold.state.database import Draft

_TOLERANCE = 1e-6


# The agent's side


def assert_data_refueling_amount(draft: Draft, customer_id: Json, line_id: Json, expected_amount: Json) -> bool:
    """Tell whether a line was refuelled by that much."""
    refuelled = find_own_line(draft, customer_id, line_id)["data_refueling_gb"]
    return bool(abs(refuelled - expected_amount) < _TOLERANCE)


def assert_line_status(draft: Draft, customer_id: Json, line_id: Json, expected_status: Json) -> bool:
    """Tell whether a line has that status."""
    return bool(find_own_line(draft, customer_id, line_id)["status"] == expected_status)


def assert_overdue_bill_exists(draft: Draft, customer_id: Json, overdue_bill_id: Json) -> bool:
    """Tell whether a customer has that bill and it is overdue; tau2 fails if it is not, and so does this.

    Raises:
        RefusalError: If it is not.
    """
    if overdue_bill_id not in find_customer(draft, customer_id)["bill_ids"]:
        raise RefusalError(f"Overdue bill {overdue_bill_id} not found")
    if find_bill(draft, overdue_bill_id)["status"] != "Overdue":
        raise RefusalError(f"Overdue bill {overdue_bill_id} is not overdue")
    return True


def assert_no_overdue_bill(draft: Draft, overdue_bill_id: Json) -> bool:
    """Tell whether that bill is paid, or there is none."""
    return not draft.has("bills", overdue_bill_id) or draft.get("bills", overdue_bill_id)["status"] == "Paid"


# The user's side


def assert_airplane_mode_status(draft: Draft, expected_status: Json) -> bool:
    """Tell whether airplane mode is on, or off."""
    return bool(get(draft, "airplane_mode") == expected_status)


def assert_service_status(draft: Draft, expected_status: Json) -> bool:
    """Tell whether the phone is connected in that way.

    Raises:
        RefusalError: If there is no such way.
    """
    if expected_status not in CONNECTIONS:
        raise RefusalError(f"{expected_status!r} is not a status of a connection")
    return bool(get(draft, "network_connection_status") == expected_status)


def assert_mobile_data_status(draft: Draft, expected_status: Json) -> bool:
    """Tell whether the phone gets mobile data, or does not."""
    return bool(mobile_data_works(draft) == expected_status)


def assert_mobile_roaming_status(draft: Draft, expected_status: Json) -> bool:
    """Tell whether data roaming is on, or off, on the phone."""
    return bool(get(draft, "roaming_enabled") == expected_status)


def assert_mobile_data_saver_mode_status(draft: Draft, expected_status: Json) -> bool:
    """Tell whether the data saver is on, or off."""
    return bool(get(draft, "data_saver_mode") == expected_status)


def assert_internet_speed(draft: Draft, expected_speed: Json, expected_desc: Json = None) -> bool:
    """Tell whether mobile data is at least as fast, in Mbps, and is called that."""
    mbps, word = speed(draft)
    fast = (mbps or 0.0) >= expected_speed
    return bool(fast and (expected_desc is None or word.lower() == expected_desc.lower()))


def assert_internet_not_excellent(draft: Draft) -> bool:
    """Tell whether mobile data is anything but excellent."""
    return speed(draft)[1] != "Excellent"


def assert_can_send_mms(draft: Draft, expected_status: Json) -> bool:
    """Tell whether the phone can send pictures, or cannot."""
    return bool(mms_works(draft) == expected_status)


def assert_mobile_data_usage_exceeded(draft: Draft, expected_status: Json) -> bool:
    """Tell whether the line has used up its data, as far as the phone knows."""
    return bool(around(draft, "mobile_data_usage_exceeded") == expected_status)


ASSERTIONS: Mapping[str, Assertion] = {
    function.__name__: function
    for function in (
        assert_data_refueling_amount,
        assert_line_status,
        assert_overdue_bill_exists,
        assert_no_overdue_bill,
        assert_airplane_mode_status,
        assert_service_status,
        assert_mobile_data_status,
        assert_mobile_roaming_status,
        assert_mobile_data_saver_mode_status,
        assert_internet_speed,
        assert_internet_not_excellent,
        assert_can_send_mms,
        assert_mobile_data_usage_exceeded,
    )
}
"""Name to assertion; a task names the side as well."""
