"""The field types of telecom's data against the models of tau2 that they stand for, and the added kinds of coercion."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from multigold.environments.telecom.records import APN_SETTINGS, date, moment
from multigold.environments.tools import RefusalError

REFUSED = "refused"


def taken(field_type: FieldType, value: Any) -> Any:
    try:
        return field_type(value)
    except RefusalError:
        return REFUSED


TRUTH: dict[Any, Any] = {
    True: True, False: False, "1": True, "0": False, "on": True, "Off": False, "T": True, "yes": True, "n": False,
    2: REFUSED, 0.5: REFUSED, " 1": REFUSED, "1.0": REFUSED, "": REFUSED, "null": REFUSED, None: REFUSED,
    10**30: REFUSED, "\u212a": REFUSED,
}  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), TRUTH.items())
def test_truth_values_are_spelled_in_few_ways(value: Any, expected: Any) -> None:
    assert taken(boolean, value) is expected


@pytest.mark.parametrize("value", [[], {}, [True], 1.0, 0.0, -0.0, 1e300])
def test_truth_values_of_other_types(value: Any) -> None:
    assert taken(boolean, value) == (
        {1.0: True, 0.0: False}.get(value, REFUSED) if isinstance(value, float) else REFUSED
    )


def test_lists_tables_and_optional_fields_take_what_their_items_take() -> None:
    assert taken(list_of(integer), ["1", 2.0]) == [1, 2]
    assert taken(list_of(integer), ["x"]) == REFUSED
    assert taken(list_of(integer), "12") == REFUSED
    assert taken(table_of(literal("a", "b"), number), {"a": "5"}) == {"a": 5.0}
    assert taken(table_of(literal("a", "b"), number), {"c": 5}) == REFUSED
    assert taken(table_of(text, text), [["a", "b"]]) == REFUSED
    assert taken(optional(text), None) is None
    assert taken(optional(text), 5) == REFUSED


def test_a_field_left_out_has_its_default_each_time_anew_and_a_closed_model_refuses_others() -> None:
    bill = model({"name": text, "items": list_of(text)}, defaults={"items": []}, closed=True)
    first, second = bill({"name": "a"}), bill({"name": "b"})
    first["items"].append("x")
    assert second == {"name": "b", "items": []}
    assert taken(bill, {"items": []}) == REFUSED
    assert taken(bill, {"name": "a", "colour": "red"}) == REFUSED
    assert taken(model({"name": text}), {"name": "a", "colour": "red"}) == {"name": "a"}


def test_dates_are_taken_as_text_and_as_toml_has_them() -> None:
    assert [taken(date, v) for v in ("2025-02-25", datetime.date(2025, 2, 25), "25.2.2025", 5)] == [
        *["2025-02-25"] * 2,
        *[REFUSED] * 2,
    ]
    assert taken(moment, "2025-01-20T14:30:00") == "2025-01-20 14:30:00"
    assert taken(moment, datetime.datetime(2025, 1, 20, 14, 30)) == "2025-01-20 14:30:00"
    assert taken(moment, "soon") == REFUSED


VALUES = st.sampled_from((
    None, True, False, 0, 1, 2, 80, 0.0, 1.0, 2.5, -1, 10**30, "", "0", "1", "on", "OFF", " 1", "80", "8.0", "1e2", "x",
    "internet", "broken", "Internet", [], {}, ["x"], {"a": 1}, "\u00e9",
))  # fmt: skip
FIELDS = ("apn_name", "reset_at_reboot", "mms_apn", "mmsc_url", "mms_proxy", "mms_port", "colour")


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
def test_settings_of_an_access_point_are_taken_as_tau2s_model_takes_them(settings: dict[str, Any]) -> None:
    data_model = pytest.importorskip(
        "tau2.domains.telecom.user_data_model", reason="the tau2 package is the oracle of this test (the extra `tau2`)"
    )
    try:
        theirs = data_model.APNSettings(**settings).model_dump(mode="json")
    except ValueError:
        theirs = REFUSED
    assert taken(APN_SETTINGS, settings) == theirs
