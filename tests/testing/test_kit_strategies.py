"""What the strategies give: calls that mostly work, calls that mostly do not, and variants of a gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import ModuleType
from typing import Literal

import attrs
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from multigold.audit.golds.orders import is_write
from multigold.environments.base import Drafts, Environment
from multigold.environments.replay import replay, step
from multigold.environments.tools import tool_table
from multigold.model.task import ToolCall
from multigold.state.canonical import Json
from multigold.state.database import Database, Draft, EndState
from multigold.testing import (
    Mutation,
    broken_calls,
    call_sequences,
    interleavings,
    mutations,
    plausible_calls,
    simple_mutations,
    write_orders,
)
from multigold.testing.gold_strategies import Interleaving

QUICK = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
SEARCH = settings(max_examples=2000, deadline=None, database=None, derandomize=True)

GOLD = (
    ToolCall("view_member", {"member_id": "m-ada"}),
    ToolCall("return_book", {"loan_id": "loan-1"}),
    ToolCall("lend_book", {"member_id": "m-ada", "book_id": "b-moss"}),
    ToolCall("view_loan", {"loan_id": "loan-4"}),
    ToolCall("reserve_book", {"member_id": "m-ada", "book_id": "b-oak", "branch": "hill"}),
)


@pytest.fixture(scope="module")
def library(library_module: ModuleType) -> Environment:
    environment: Environment = library_module.build()
    return environment


def sample(strategy: st.SearchStrategy[ToolCall], count: int = 240) -> list[ToolCall]:
    """Return calls as they come, repetitions included, without the simplest ones that Hypothesis begins with."""
    drawn: list[ToolCall] = []
    batches = st.lists(strategy, min_size=40, max_size=40)

    @settings(max_examples=1 + count // 40, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(batches)
    def keep(calls: list[ToolCall]) -> None:
        drawn.extend(calls)

    keep()
    return drawn[40:]


def is_refused(environment: Environment, call: ToolCall) -> bool:
    return step(environment, Drafts(environment.initial), call).refusal is not None


# Single calls


def test_most_plausible_calls_are_carried_out_and_all_tools_are_called(library: Environment) -> None:
    calls = sample(plausible_calls(library))
    assert {call.name for call in calls} == set(library.tools)
    assert sum(not is_refused(library, call) for call in calls) > len(calls) / 2


def test_most_broken_calls_are_refused_in_every_way_there_is(library: Environment) -> None:
    calls = sample(broken_calls(library))
    refusals = [step(library, Drafts(library.initial), call).refusal for call in calls]
    kinds = Counter(refusal.kind for refusal in refusals if refusal is not None)
    assert kinds.keys() == {"unknown_tool", "bad_arguments", "refused"}
    assert kinds.total() > len(calls) * 2 / 3


def test_ids_come_from_the_state_and_types_from_the_signature(library: Environment) -> None:
    tables = {"member_id": "members", "book_id": "books", "loan_id": "loans"}

    @QUICK
    @given(plausible_calls(library))
    def check(call: ToolCall) -> None:
        assert call.arguments is not None
        assert set(call.arguments) == set(library.tools[call.name].parameters)
        for name, value in call.arguments.items():
            if name in tables:
                assert value in library.initial.agent.ids(tables[name])
            elif name == "amount":
                assert isinstance(value, int | float)
                assert not isinstance(value, bool)
            else:
                assert isinstance(value, str)

    check()


def test_arguments_belong_together(library: Environment) -> None:
    # A loan and its own member, a book and a member who has it: by chance alone one in three or four would fit.
    def pay(draft: Draft, loan_id: str, member_id: str) -> None: ...

    paying = attrs.evolve(library, tools=tool_table({"write": [pay]}))
    calls = sample(plausible_calls(paying))
    loans = library.initial.agent
    fitting = sum(loans.get("loans", c.arguments["loan_id"])["member_id"] == c.arguments["member_id"]
                  for c in calls if c.arguments)  # fmt: skip
    assert fitting > len(calls) / 2


def typed_tool(
    draft: Draft,
    cabin: Literal["economy", "business"],
    bags: int,
    quick: bool,
    tags: list[str],
    note: str | None = None,
) -> None: ...


def test_declared_types_are_kept_and_optional_arguments_are_sometimes_left_out() -> None:
    environment = Environment(
        name="types", initial=EndState(Database.from_json({})), tools=tool_table({"write": [typed_tool]})
    )
    calls = sample(plausible_calls(environment))
    arguments = [call.arguments or {} for call in calls]
    assert {a["cabin"] for a in arguments} == {"economy", "business"}
    assert {a["quick"] for a in arguments} == {True, False}
    assert all(type(a["bags"]) is int and isinstance(a["tags"], list) for a in arguments)
    assert {"note" in a for a in arguments} == {True, False}
    assert {type(a["note"]) for a in arguments if "note" in a} == {str, type(None)}


def test_examples_lend_their_shape(library: Environment) -> None:
    def pay_all(draft: Draft, payments: list[dict[str, str]]) -> None: ...

    environment = attrs.evolve(library, tools=tool_table({"write": [pay_all]}))
    example = ToolCall("pay_all", {"payments": [{"loan_id": "loan-1", "method": "card"}]})
    calls = sample(plausible_calls(environment, examples=[example]))
    shown = [payments[0] for call in calls for payments in [(call.arguments or {}).get("payments")] if payments]
    alike = [payment for payment in shown if isinstance(payment, dict) and payment.keys() == {"loan_id", "method"}]
    assert len(alike) > len(calls) / 3
    assert len({payment["loan_id"] for payment in alike}) > 1


def test_only_the_kinds_that_are_asked_for_are_called(library: Environment) -> None:
    calls = sample(plausible_calls(library, kinds=["read"]), 60)
    assert {library.tools[call.name].kind for call in calls} == {"read"}


def test_an_environment_without_tools_has_no_calls_and_the_empty_sequence() -> None:
    bare = Environment(name="bare", initial=EndState(Database.from_json({})), tools={})
    assert plausible_calls(bare).is_empty
    assert find(call_sequences(bare), lambda _: True, settings=SEARCH) == ()


# Sequences


def test_sequences_are_no_longer_than_asked_for(library: Environment) -> None:
    @QUICK
    @given(call_sequences(library, max_size=4))
    def check(calls: Sequence[ToolCall]) -> None:
        assert len(calls) <= 4

    check()


def test_later_calls_use_what_earlier_ones_made_and_shrink_to_two_calls(library: Environment) -> None:
    def returns_what_it_lent(calls: Sequence[ToolCall]) -> bool:
        end = replay(library, calls).end_state.agent
        return any(end.get("loans", i)["status"] == "returned" for i in end.ids("loans") if i > "loan-3")

    shortest = find(call_sequences(library), returns_what_it_lent, settings=SEARCH)
    assert [call.name for call in shortest] == ["lend_book", "return_book"]


# Variants of a gold


def test_an_interleaving_is_the_gold_with_calls_put_in(library: Environment) -> None:
    @QUICK
    @given(interleavings(library, GOLD))
    def check(woven: Interleaving) -> None:
        kept = [call for number, call in enumerate(woven.calls) if number not in woven.inserted]
        assert tuple(kept) == GOLD

    check()


def test_calls_are_put_in_before_between_and_after(library: Environment) -> None:
    for place in (0, 2, len(GOLD)):
        found = find(
            interleavings(library, GOLD), lambda woven, place=place: woven.inserted == (place,), settings=SEARCH
        )
        assert len(found.calls) == len(GOLD) + 1


def test_orders_of_writes_leave_everything_else_where_it_was(library: Environment) -> None:
    @QUICK
    @given(write_orders(library, GOLD))
    def check(calls: Sequence[ToolCall]) -> None:
        assert sorted(call.name for call in calls) == sorted(call.name for call in GOLD)
        for before, after in zip(GOLD, calls, strict=True):
            assert is_write(library, before) == is_write(library, after)
            assert is_write(library, before) or before == after

    check()


def test_simple_mutations_drop_and_double_every_write(library: Environment) -> None:
    listed = list(simple_mutations(library, GOLD))
    assert [(m.kind, len(m.calls)) for m in listed] == [("drop", 4), ("duplicate", 6)] * 3
    assert listed[0].sentence == 'without call 1, return_book(loan_id="loan-1")'


def test_mutations_are_of_every_kind_and_never_the_gold_itself(library: Environment) -> None:
    kinds: Counter[str] = Counter()

    @settings(QUICK, max_examples=200, derandomize=True)
    @given(mutations(library, GOLD))
    def check(mutation: Mutation) -> None:
        assert mutation.calls != GOLD
        kinds[mutation.kind] += 1

    check()
    assert kinds.keys() == {"drop", "duplicate", "alter", "add"}


def test_an_alteration_reaches_into_lists_and_objects(library: Environment) -> None:
    def pay_all(draft: Draft, payments: list[dict[str, str]]) -> None: ...

    environment = attrs.evolve(library, tools=tool_table({"write": [pay_all]}))
    gold = [ToolCall("pay_all", {"payments": [{"loan_id": "loan-1", "amount": 3}, {"loan_id": "loan-2", "amount": 4}]})]
    payments = gold[0].arguments["payments"]  # type: ignore[index]

    def paid(mutation: Mutation) -> list[Json]:
        return [call.arguments.get("payments") for call in mutation.calls if call.arguments]

    def amount_moved(mutation: Mutation) -> bool:
        return paid(mutation) == [[payments[0], {"loan_id": "loan-2", "amount": 5}]]

    def item_dropped(mutation: Mutation) -> bool:
        return paid(mutation) == [payments[1:]]

    moved = find(mutations(environment, gold), amount_moved, settings=SEARCH)
    assert moved.sentence == "with payments of call 0 (pay_all) altered: /1/amount 4 -> 5"
    dropped = find(mutations(environment, gold), item_dropped, settings=SEARCH)
    assert "item /0 left out" in dropped.sentence
