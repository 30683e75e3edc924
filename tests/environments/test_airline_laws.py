"""Laws 3, 4 and 5 for the airline domain: replay leaves its start alone, no-ops change nothing, some calls commute.

On the made-up airline always, and on tau2's own data where it is found.
"""

from __future__ import annotations

import random
from itertools import combinations, count, islice
from typing import Any

import attrs
import pytest
from airline_calls import MAKERS, WEIGHTED, Cast, make_call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_airline import environment

from multigold.benchmark_data import load_environment
from multigold.environments.base import Drafts, Environment
from multigold.environments.replay import replay, step
from multigold.errors import DataError
from multigold.model.task import ToolCall
from multigold.state.canonical import Json, canonical_text
from multigold.state.database import Draft, EndState

RUNS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
GENERATORS = st.randoms(use_true_random=True)


@attrs.frozen
class Scene:
    environment: Environment
    cast: Cast


@pytest.fixture(scope="module", params=["made-up", "tau2"])
def scene(request: pytest.FixtureRequest) -> Scene:
    if request.param == "made-up":
        airline = environment()
    else:
        try:
            airline = load_environment("tau2-airline")
        except DataError as error:
            pytest.skip(f"tau2's airline database is not here: {error.message}")
    return Scene(airline, Cast.choose(airline.initial.agent.to_json()))


def made_up(scene: Scene, rng: random.Random, number: int) -> list[ToolCall]:
    """Return calls, without those that would store what equals nothing, itself included: a certificate of "nan"."""
    calls = (make_call(scene.cast, rng) for _ in count())
    return list(islice((call for call in calls if "'nan'" not in repr(call.arguments)), number))


def test_replay_leaves_the_initial_state_and_the_calls_alone(scene: Scene) -> None:
    places = [(t, i) for t in ("users", "reservations") for i in getattr(scene.cast, t)]
    places += [("flights", number) for number, _ in scene.cast.days]
    initial = scene.environment.initial.agent

    def told() -> str:
        return canonical_text([initial.get(*place) for place in places if place[1] in initial.ids(place[0])])

    before = told()

    @RUNS
    @given(GENERATORS)
    def check(rng: random.Random) -> None:
        calls = [call for call in made_up(scene, rng, 10) if call.arguments is not None]
        arguments = repr([call.arguments for call in calls])
        first = replay(scene.environment, calls)
        assert repr([call.arguments for call in calls]) == arguments
        assert replay(scene.environment, calls) == first

    check()
    assert told() == before


def test_reads_unknown_tools_and_clean_refusals_anywhere_change_nothing(scene: Scene) -> None:
    inserted = 0

    @RUNS
    @given(GENERATORS)
    def check(rng: random.Random) -> None:
        nonlocal inserted
        calls = made_up(scene, rng, 8)
        with_more: list[ToolCall] = []
        drafts = Drafts(scene.environment.initial)
        for call in calls:
            for candidate in (no_op(scene, rng), *made_up(scene, rng, 2)):
                if leaves_alone(scene.environment, drafts.freeze(), candidate):
                    with_more.append(candidate)
                    inserted += 1
            with_more.append(call)
            step(scene.environment, drafts, call)
        plain, more = replay(scene.environment, calls), replay(scene.environment, with_more)
        assert more.end_state == plain.end_state
        answered = [outcome for outcome in more.outcomes if any(outcome.call is call for call in calls)]
        assert answered == list(plain.outcomes)

    check()
    assert inserted > 500


def test_a_replay_that_nobody_observes_ends_alike_and_refuses_alike(scene: Scene) -> None:
    @RUNS
    @given(GENERATORS)
    def check(rng: random.Random) -> None:
        calls = made_up(scene, rng, 10)
        observed, unobserved = (replay(scene.environment, calls, observe=observe) for observe in (True, False))
        assert unobserved.end_state == observed.end_state
        assert unobserved.refusals == observed.refusals

    check()


@given(
    st.lists(st.none() | st.text(max_size=10) | st.sampled_from(["JFK", "SEA", "2024-05-16"]), min_size=3, max_size=3)
)
def test_a_tool_that_is_said_to_answer_anything_does(texts: list[str | None]) -> None:
    airline = environment()
    total = [tool for tool in airline.tools.values() if tool.total]
    assert [tool.name for tool in total] == ["list_all_airports", "search_direct_flight"]
    for tool in total:
        call = ToolCall(tool.name, dict(zip(tool.parameters, texts, strict=False)))
        assert step(airline, Drafts(airline.initial), call).refusal is None


def no_op(scene: Scene, rng: random.Random) -> ToolCall:
    """Return a call that never changes anything, whatever came before."""
    reads = [name for name in WEIGHTED if scene.environment.tools[name].kind != "write"]
    name = rng.choice([*reads, "refund", "cancel_reservation"])
    if name in reads:
        return ToolCall(name, MAKERS[name](scene.cast, rng))
    return ToolCall(name, rng.choice([{}, {"reservation_id": "NOPE"}, {"reservation_id": "R1", "reason": "x"}, None]))


def leaves_alone(airline: Environment, state: EndState, call: ToolCall) -> bool:
    """Whether a call does not write, or is refused without a trace. A read that leaves one is a fault."""
    done = replay(airline, [call], initial=state)
    tool = airline.tool(call.name, call.requestor)
    if tool is None or tool.kind != "write":
        assert done.end_state == state
        return True
    return bool(done.refusals) and done.end_state == state


class TracedDraft(Draft):
    """A draft that notes which records are read and which are written; a whole table counts as the record `*`."""

    def __init__(self, state: EndState) -> None:
        super().__init__(state.agent)
        self.reads: set[tuple[str, str]] = set()
        self.writes: set[tuple[str, str]] = set()

    def _find(self, table: str, record_id: str) -> Json:
        self.reads.add((table, record_id))
        return super()._find(table, record_id)

    def ids(self, table: str) -> list[str]:
        self.reads.add((table, "*"))
        return super().ids(table)

    def edit(self, table: str, record_id: str) -> Json:
        self.writes |= {(table, record_id)}
        return super().edit(table, record_id)

    def put(self, table: str, record_id: str, record: Json) -> None:
        self.writes |= {(table, record_id), (table, "*")}
        super().put(table, record_id, record)


def traced(airline: Environment, state: EndState, call: ToolCall) -> TracedDraft:
    drafts = Drafts(state)
    drafts.agent = draft = TracedDraft(state)
    step(airline, drafts, call)
    return draft


def independent(one: TracedDraft, other: TracedDraft) -> bool:
    return not (one.writes & (other.reads | other.writes) or other.writes & (one.reads | one.writes))


def test_adjacent_calls_that_touch_different_records_commute(scene: Scene) -> None:
    """Id pools are covered: a booking reads the records of the ids that it tries and writes the one that it takes."""
    pairs: list[tuple[str, str]] = []

    @RUNS
    @given(GENERATORS)
    def check(rng: random.Random) -> None:
        state = replay(scene.environment, made_up(scene, rng, 3)).end_state
        traces = [(call, traced(scene.environment, state, call)) for call in made_up(scene, rng, 12)]
        writing = [(call, trace) for call, trace in traces if trace.writes]
        for (one, its_trace), (other, other_trace) in combinations(writing, 2):
            if independent(its_trace, other_trace):
                forth = replay(scene.environment, [one, other], initial=state)
                back = replay(scene.environment, [other, one], initial=state)
                assert forth.end_state == back.end_state
                assert forth.outcomes == back.outcomes[::-1]
                pairs.append((one.name, other.name))

    check()
    assert len(pairs) > 100
    assert len(set(pairs)) > 8


def test_the_trace_sees_that_two_bookings_of_different_users_depend_on_each_other(scene: Scene) -> None:
    """They take ids from one pool."""
    users = scene.cast.users
    arguments: dict[str, Any] = {
        "origin": "A", "destination": "B", "flight_type": "one_way", "cabin": "economy", "flights": [],
        "passengers": [], "payment_methods": [], "total_baggages": 0, "nonfree_baggages": 0, "insurance": "no",
    }  # fmt: skip
    calls = [ToolCall("book_reservation", {"user_id": user, **arguments}) for user in users[:2]]
    state = scene.environment.initial
    assert replay(scene.environment, calls).refusals == ()
    assert not independent(*(traced(scene.environment, state, call) for call in calls))
