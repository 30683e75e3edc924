"""What a gold set's patterns and choices admit: the members of each family, and nothing beside them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from airline_families import FAMILIES, Family

from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.model.catalogue import Catalogue
from multigold.model.task import Task
from multigold.scoring import CompiledGolds, compile_golds
from multigold.state.database import EndState
from multigold.state.delta import ABSENT, Change, Delta, diff

MUTATED = {True: 3, False: 1}
"""Members of a family that are mutated, by whether the reading has a pattern: all are in the test of membership."""

FOREIGN = {
    "another user's certificate": "/agent/users/mia_li_3668/payment_methods/certificate_3221322",
    "another reservation's bags": "/agent/reservations/4WQ150/total_baggages",
    "a seat of another flight": "/agent/flights/HAT001/dates/2024-05-20/available_seats/economy",
    "a table of nobody": "/agent/notes/1",
}
"""Changes that belong to no member: one record, or one field, too many."""


def golds(catalogue: Catalogue, environment: Environment, task: str, text: str) -> CompiledGolds:
    gold_set = catalogue.gold_sets[task]
    selected = gold_set.select(next(known for known in gold_set.texts if known.id == text))
    return compile_golds(Task(task), selected, environment)


@cache
def feasible(family: Family, environment: Environment) -> tuple[list[EndState], int]:
    """Return the end states of the members that the tools carry out, and how many they refuse."""
    states, refused = [], 0
    for calls in family.members(environment):
        done = replay(environment, calls)
        if done.refusals:
            refused += 1
        else:
            states.append(done.end_state)
    return states, refused


@cache
def known(family: Family, environment: Environment) -> frozenset[str]:
    """Return the fingerprints of the members and of those that one altered field leads to."""
    siblings = [replay(environment, calls).end_state for calls in family.siblings(environment)]
    return frozenset(state.fingerprint() for state in [*feasible(family, environment)[0], *siblings])


def readings_of(compiled: CompiledGolds, state: EndState) -> list[str]:
    prepared = compiled.prepare(state)
    return [admitted.reading.id for admitted in compiled.readings if admitted.find(prepared) is not None]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_every_member_is_in_its_reading_and_in_no_other(
    family: Family, catalogue: Catalogue, airline: Environment
) -> None:
    compiled = golds(catalogue, airline, family.task, family.text)
    states, refused = feasible(family, airline)
    assert (len(states), refused) == (family.feasible, family.infeasible)
    assert [readings_of(compiled, state) for state in states] == [[family.reading]] * family.feasible


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_the_order_of_passengers_and_payments_is_left_open(
    family: Family, catalogue: Catalogue, airline: Environment
) -> None:
    compiled = golds(catalogue, airline, family.task, family.text)
    for calls in family.siblings(airline):
        assert readings_of(compiled, replay(airline, calls).end_state) == [family.reading]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_a_reading_of_listed_members_has_no_member_beyond_the_family(
    family: Family, catalogue: Catalogue, airline: Environment
) -> None:
    compiled = golds(catalogue, airline, family.task, family.text)
    (admitted,) = [known for known in compiled.readings if known.reading.id == family.reading]
    states, _ = feasible(family, airline)
    assert all(any(member.state == state for state in states) for member in admitted.members)


def sample(family: Family, environment: Environment, compiled: CompiledGolds) -> list[EndState]:
    """Return a few members, spread over the family, the last among them."""
    states, _ = feasible(family, environment)
    (admitted,) = [known for known in compiled.readings if known.reading.id == family.reading]
    count = MUTATED[bool(admitted.patterns)]
    return states[:: -max(1, len(states) // count)][:count]


def mutations(value: Any) -> Iterator[Any]:
    """Yield a value with one leaf altered, for each leaf; and with one item or member dropped, for each."""
    if isinstance(value, dict):
        for key in value:
            yield {name: item for name, item in value.items() if name != key}
            yield from ({**value, key: mutated} for mutated in mutations(value[key]))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
            yield from ([*value[:index], mutated, *value[index + 1 :]] for mutated in mutations(value[index]))
        yield value[::-1] if value[::-1] != value else [*value, None]
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
        yield value - 1
    else:
        yield f"{value}~"


def with_change(initial: EndState, changes: Delta, pointer: str, after: Any) -> EndState:
    before = changes.changes[pointer].before if pointer in changes.changes else ABSENT
    return Delta({**changes.changes, pointer: Change(before, after)}).apply(initial)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_a_member_with_one_field_altered_is_in_no_reading(
    family: Family, catalogue: Catalogue, airline: Environment
) -> None:
    compiled = golds(catalogue, airline, family.task, family.text)
    members = known(family, airline)
    tried = 0
    for state in sample(family, airline, compiled):
        changes = diff(airline.initial, state)
        for pointer, change in changes.changes.items():
            for after in mutations(change.after):
                mutated = with_change(airline.initial, changes, pointer, after)
                tried += 1
                admitting = readings_of(compiled, mutated)
                assert not admitting or mutated.fingerprint() in members, (pointer, after)
    assert tried > 0


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_a_member_with_one_change_taken_back_is_in_no_reading_unless_it_is_a_member(
    family: Family, catalogue: Catalogue, airline: Environment
) -> None:
    compiled = golds(catalogue, airline, family.task, family.text)
    members = known(family, airline)
    for state in sample(family, airline, compiled):
        changes = diff(airline.initial, state).changes
        for pointer in changes if len(changes) > 1 else ():
            less = Delta({name: change for name, change in changes.items() if name != pointer}).apply(airline.initial)
            assert not readings_of(compiled, less) or less.fingerprint() in members, pointer


@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_a_member_with_one_change_more_is_in_no_reading(
    family: Family, foreign: str, catalogue: Catalogue, airline: Environment
) -> None:
    compiled = golds(catalogue, airline, family.task, family.text)
    pointer = FOREIGN[foreign]
    for state in sample(family, airline, compiled)[:2]:
        changes = diff(airline.initial, state)
        extra = Change(
            value_at(airline.initial, pointer), 7 if pointer.endswith(("bags", "baggages", "economy")) else {}
        )
        more = Delta({**changes.changes, pointer: extra}).apply(airline.initial)
        assert readings_of(compiled, more) == []


def value_at(state: EndState, pointer: str) -> Any:
    _, _, table, record, *path = pointer.split("/")
    value: Any = state.agent.find(table, record)
    for part in path:
        value = value.get(part, ABSENT) if isinstance(value, dict) else ABSENT
    return value if path else ABSENT
