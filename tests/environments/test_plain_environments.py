"""Environments that users bring: plain functions on a dictionary, and entry points; cases 11 and 12 on one of them."""

from __future__ import annotations

import importlib.metadata
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multigold
from multigold.benchmark_data import load_environment
from multigold.environments import registered
from multigold.environments.assertions import holds
from multigold.environments.replay import replay
from multigold.errors import CallError, EnvironmentNotFoundError, StateError
from multigold.model.gold import Actions
from multigold.model.trajectory import Trajectory
from multigold.state.conventions import Conventions
from multigold.state.delta import diff

Data = dict[str, Any]
Call = multigold.ToolCall


def bank_data() -> Data:
    """A bank with two charges that nothing but their ids tells apart, an empty table, and a list beside the tables."""
    charge = {"account": "a1", "amount": 12.5, "day": "2025-01-03"}
    return {
        "accounts": {"a1": {"owner": "uma", "balance": 100}},
        "charges": {"c1": dict(charge), "c2": dict(charge), "c3": {**charge, "amount": 99}},
        "disputes": {},
        "searches": {},
        "holidays": ["2025-01-01"],
    }


def look_up(data: Data, account: str) -> list[str]:
    """A read that keeps a log of what was looked at."""
    data["searches"][f"s{len(data['searches'])}"] = {"account": account}
    return [name for name, charge in data["charges"].items() if charge["account"] == account]


def dispute(data: Data, charge: str) -> str:
    if charge not in data["charges"]:
        raise multigold.RefusalError("no such charge")
    data["disputes"][f"d-{charge}"] = {"charge": charge}
    return "disputed"


def transfer(data: Data, amount: int, *, to: str = "a2") -> int:
    """Takes the money before it finds that there is nobody to give it to."""
    data["accounts"]["a1"]["balance"] -= amount
    data["accounts"][to]["balance"] += amount
    return int(data["accounts"]["a1"]["balance"])


def close(data: Data, account: str) -> None:
    del data["accounts"][account]


def note(data: Data, **fields: Any) -> int:
    data["notes"] = fields
    return len(fields)


def is_disputed(data: Data, charge: str) -> bool:
    return f"d-{charge}" in data["disputes"]


def bank(**settings: Any) -> multigold.Environment:
    functions = {"read": [look_up], "write": [dispute, transfer, close, note]}
    return multigold.Environment.from_functions("bank", bank_data(), functions, assertions=[is_disputed], **settings)


BANK = bank()


def test_functions_on_a_dictionary_are_tools_named_as_they_are() -> None:
    assert {name: tool.kind for name, tool in BANK.tools.items()} == {
        "look_up": "read",
        "dispute": "write",
        "transfer": "write",
        "close": "write",
        "note": "write",
    }
    assert BANK.tools["transfer"].required == {"amount"}


def test_only_what_a_function_changed_is_taken_over_and_the_initial_state_stays() -> None:
    before = BANK.initial.fingerprint()
    done = replay(BANK, [Call("dispute", {"charge": "c2"}), Call("close", {"account": "a1"})])
    assert list(diff(BANK.initial, done.end_state)) == ["/agent/accounts/a1", "/agent/disputes/d-c2"]
    assert BANK.initial.fingerprint() == before


def test_what_a_function_wrote_before_it_raised_stays() -> None:
    done = replay(BANK, [Call("transfer", {"amount": 30})])
    assert done.outcomes[0].refusal is not None
    assert done.end_state.agent.get("accounts", "a1")["balance"] == 70


def test_refusals_of_every_kind_are_answers() -> None:
    calls = [
        Call("dispute", {"charge": "c9"}),
        Call("dispute", {}),
        Call("dispute", {"charge": "c1", "loudly": True}),
        Call("refund", {}),
        Call("look_up", {"account": "a1"}, requestor="user"),
    ]
    kinds = [refusal.kind for _, refusal in replay(BANK, calls).refusals]
    assert kinds == ["refused", "bad_arguments", "bad_arguments", "unknown_tool", "unknown_tool"]


def test_a_function_may_take_arguments_of_any_name_and_add_values_that_are_no_tables() -> None:
    done = replay(BANK, [Call("note", {"a": 1, "b": 2}), Call("note", {"c": 3})])
    assert [outcome.observation for outcome in done.outcomes] == [2, 1]
    assert done.end_state.agent.to_json()["notes"] == {"c": 3}
    assert done.end_state.agent.to_json()["holidays"] == ["2025-01-01"]


def test_an_empty_table_is_there_for_every_call() -> None:
    done = replay(BANK, [Call("close", {"account": "a1"}), Call("dispute", {"charge": "c1"})])
    assert done.refusals == ()


def test_a_table_may_give_way_to_a_value_and_the_other_way_round() -> None:
    def drop(data: Data) -> None:
        data["charges"] = ["none"]

    def restore(data: Data) -> None:
        data["charges"] = {"c1": {"amount": 1}}

    made = multigold.Environment.from_functions("bank", bank_data(), {"write": [drop, restore]})
    done = replay(made, [Call("drop"), Call("restore"), Call("drop")])
    assert done.refusals == ()
    assert done.end_state.agent.to_json()["charges"] == ["none"]
    assert replay(made, [Call("drop"), Call("restore")]).end_state.agent.to_json()["charges"] == {"c1": {"amount": 1}}


def test_a_function_that_stores_what_is_no_json_is_told_so_and_changes_nothing() -> None:
    def stamp(data: Data) -> None:
        data["accounts"]["a1"]["owner"] = {1, 2}

    made = multigold.Environment.from_functions("bank", bank_data(), {"write": [stamp]})
    done = replay(made, [Call("stamp")])
    assert done.outcomes[0].refusal is not None
    assert "set is not a JSON value" in done.outcomes[0].refusal.message
    assert done.end_state == made.initial


def test_a_function_without_a_dictionary_is_no_tool_and_data_that_is_no_json_is_no_state() -> None:
    with pytest.raises(CallError):
        multigold.Environment.from_functions("bank", {}, {"read": [lambda: None]})
    with pytest.raises(StateError):
        multigold.Environment.from_functions("bank", {"accounts": {"a1": {1, 2}}}, {})


def test_assertions_are_functions_too() -> None:
    end = replay(BANK, [Call("dispute", {"charge": "c1"})]).end_state
    assertion = {"func_name": "is_disputed", "arguments": {"charge": "c1"}}
    assert [holds(BANK, state, assertion) for state in (BANK.initial, end)] == [False, True]


def test_a_user_may_have_functions_and_a_state_of_their_own() -> None:
    def pay(data: Data) -> None:
        data["wallet"]["cash"] = 0

    made = multigold.Environment.from_functions(
        "bank", bank_data(), {}, user_initial={"wallet": {"cash": 5}}, user_functions={"write": [pay]}
    )
    done = replay(made, [Call("pay", {}, requestor="user")])
    assert list(diff(made.initial, done.end_state)) == ["/user/wallet/cash"]


@given(st.lists(st.sampled_from(["c1", "c2", "c9"]), max_size=6), st.lists(st.integers(0, 9), max_size=4))
def test_a_plain_environment_agrees_with_the_functions_run_on_one_dictionary(
    charges: list[str], sums: list[int]
) -> None:
    data = bank_data()
    for charge in charges:
        try:
            dispute(data, charge)
        except multigold.RefusalError:
            continue
    for amount in sums:
        with pytest.raises(KeyError):
            transfer(data, amount)
    calls = [Call("dispute", {"charge": c}) for c in charges] + [Call("transfer", {"amount": a}) for a in sums]
    assert replay(BANK, calls).end_state.agent == multigold.Database.from_json(data)


def test_looking_ids_up_in_any_case_leaves_plain_functions_as_they_are() -> None:
    heard = attrs.evolve(BANK, ids="case-insensitive")
    assert replay(heard, [Call("dispute", {"charge": "c1"})]).refusals == ()
    assert replay(heard, [Call("dispute", {"charge": "C1"})]).refusals != ()


# Cases 11 and 12


def verdict_of(environment: multigold.Environment, *calls: Call, golds: multigold.GoldSet) -> multigold.Verdict:
    return multigold.score(multigold.Task("t"), Trajectory.from_calls(calls), golds, environment=environment)


def either_charge() -> multigold.GoldSet:
    """Two byte-identical charges, and a policy that says to dispute the earlier: nothing orders them."""
    readings = (
        multigold.Reading(id=f"{charge}-is-earlier", admits=(Actions((Call("dispute", {"charge": charge}),)),))
        for charge in ("c1", "c2")
    )
    return multigold.GoldSet(readings=tuple(readings))


@pytest.mark.parametrize(("charge", "matched"), [("c1", ("c1-is-earlier",)), ("c2", ("c2-is-earlier",)), ("c3", ())])
def test_case_12_either_of_two_identical_charges_matches_a_reading_and_a_third_matches_none(
    charge: str, matched: tuple[str, ...]
) -> None:
    assert verdict_of(BANK, Call("dispute", {"charge": charge}), golds=either_charge()).matched == matched


def test_case_12_disputing_both_or_none_matches_nothing() -> None:
    both = [Call("dispute", {"charge": charge}) for charge in ("c1", "c2")]
    assert verdict_of(BANK, *both, golds=either_charge()).matched == ()
    assert verdict_of(BANK, golds=either_charge()).matched == ()


READ_FIRST = (Call("look_up", {"account": "a1"}), Call("dispute", {"charge": "c1"}))


def test_case_11_a_log_that_a_read_writes_makes_a_difference_unless_it_is_declared() -> None:
    assert verdict_of(BANK, *READ_FIRST, golds=either_charge()).matched == ()
    logged = bank(conventions=Conventions(log_tables=("searches",)))
    verdict = verdict_of(logged, *READ_FIRST, golds=either_charge())
    assert verdict.matched == ("c1-is-earlier",)
    assert verdict.ignored == ("searches",)
    assert "not looked at: searches (a log)" in verdict.explain()


def test_case_11_nothing_is_said_of_a_log_that_was_not_written_and_other_tables_count() -> None:
    logged = bank(conventions=Conventions(log_tables=("searches",)))
    assert verdict_of(logged, READ_FIRST[1], golds=either_charge()).ignored == ()
    assert verdict_of(logged, Call("close", {"account": "a1"}), golds=either_charge()).matched == ()


# Entry points


def bank_factory() -> multigold.Environment:
    return bank()


def no_environment() -> str:
    return "bank"


def points(*pairs: tuple[str, str]) -> EntryPoints:
    return EntryPoints(EntryPoint(name=name, value=value, group=registered.GROUP) for name, value in pairs)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = points(
        ("bank", f"{__name__}:bank_factory"),
        ("ready-bank", f"{__name__}:BANK"),
        ("broken", "no_such_module:environment"),
        ("hollow", f"{__name__}:no_such_thing"),
        ("odd", f"{__name__}:no_environment"),
        ("twice", f"{__name__}:BANK"),
        ("twice", f"{__name__}:bank_factory"),
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **wanted: found.select(**wanted))


@pytest.mark.usefixtures("installed")
def test_an_environment_is_found_by_the_name_of_its_entry_point() -> None:
    assert load_environment("bank").initial == BANK.initial
    assert load_environment("ready-bank") is BANK


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("broken", EnvironmentNotFoundError, "cannot be imported"),
        ("hollow", EnvironmentNotFoundError, "cannot be imported"),
        ("odd", CallError, "it is a str, and should be an Environment"),
        ("twice", CallError, "several packages register an environment 'twice'"),
        ("nothing", EnvironmentNotFoundError, "no environment is called 'nothing'"),
    ],
)
def test_what_is_wrong_with_an_entry_point_is_said(name: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        load_environment(name)


@pytest.mark.usefixtures("installed")
def test_unknown_names_are_answered_with_those_that_are_known() -> None:
    with pytest.raises(EnvironmentNotFoundError, match=r"tau2-airline.*bank.*ready-bank"):
        load_environment("nothing")
