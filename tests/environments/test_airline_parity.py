"""Law 9: the airline port agrees with the tau2 package call by call, and in the state that it leaves, to the spelling.

Everything here needs the installed `tau2` package, which is the oracle, and some of it real result files or task files.
Without them the tests skip and say so; `test_airline.py` covers every tool and refusal with nothing at all.

The generated part runs 20,000 calls. For more, set how many, and for other ones, a seed:

    MULTIGOLD_PARITY_CALLS=1000000 MULTIGOLD_PARITY_SEED=1 pytest -s tests/environments/test_airline_parity.py
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest
from airline_calls import Cast, make_call
from airline_parity import airline_pair
from airline_paths import PATHS
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from parity import Pair, port_text
from recorded_calls import as_recorded, recorded_runs

from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.environments.tools import Tool
from multigold.model.task import ToolCall
from multigold.state.database import EndState

pytestmark = [
    # What tau2 stores without validating it, its models complain of when they are written out.
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings"),
    pytest.mark.filterwarnings("ignore::SyntaxWarning"),
]

GENERATED_CALLS = int(os.environ.get("MULTIGOLD_PARITY_CALLS", "20000"))
GENERATED_SEED = int(os.environ.get("MULTIGOLD_PARITY_SEED", "0"))
SEQUENCE = 20
RELEASES = ("37199f3", "01e812d")


@pytest.fixture(scope="module")
def pair(airline: Environment) -> Pair:
    pytest.importorskip("tau2", reason="the tau2 package is the oracle of these tests (the extra `tau2`)")
    return airline_pair(airline)


def gold_calls(shared: Path, release: str) -> dict[str, list[ToolCall]]:
    """Task id to the benchmark's gold."""
    tasks = json.loads((shared / "data" / "tau2" / "airline" / f"tasks.{release}.json").read_bytes())
    return {
        task["id"]: [ToolCall(action["name"], action["arguments"]) for action in task["evaluation_criteria"]["actions"]]
        for task in tasks
    }


@pytest.mark.parametrize("release", RELEASES)
def test_every_gold_of_the_benchmark_is_answered_as_by_tau2_and_none_is_refused(
    pair: Pair, shared: Path, release: str
) -> None:
    golds = gold_calls(shared, release)
    assert len(golds) == 50
    kinds = {answer.kind for calls in golds.values() for answer in pair.run(calls)}
    assert kinds == {"ok"}


@pytest.mark.parametrize(
    ("release", "untouched", "writing", "writes"), [("37199f3", 20, 31, 56), ("01e812d", 24, 27, 50)]
)
def test_the_golds_write_as_often_as_is_known(
    airline: Environment, shared: Path, release: str, untouched: int, writing: int, writes: int
) -> None:
    golds = gold_calls(shared, release)
    recorded = {name for name, tool in airline.tools.items() if tool.kind == "write"} | {"transfer_to_human_agents"}
    counts = [sum(call.name in recorded for call in calls) for calls in golds.values()]
    assert (sum(map(bool, counts)), sum(counts)) == (writing, writes)
    assert sum(replay(airline, calls).end_state == airline.initial for calls in golds.values()) == untouched


def test_the_golds_of_two_releases_end_elsewhere_in_eleven_tasks(airline: Environment, shared: Path) -> None:
    old, new = (gold_calls(shared, release) for release in RELEASES)
    moved = [i for i in old if replay(airline, old[i]).end_state != replay(airline, new[i]).end_state]
    assert sorted(moved, key=int) == ["2", "7", "9", "23", "27", "29", "33", "35", "37", "38", "44"]


# Recorded runs


def test_every_recorded_call_is_answered_as_by_tau2_and_as_was_recorded(pair: Pair, shared: Path) -> None:
    files = sorted((shared / "data" / "results" / "tau2").glob("airline*.json"))
    assert files
    counts: Counter[str] = Counter()
    for path in files:
        for run in recorded_runs(path):
            answers = pair.run([recorded.call for recorded in run])
            counts["runs"] += 1
            counts["calls"] += len(run)
            counts["unlike the record"] += sum(
                not as_recorded(answer, recorded.content) for answer, recorded in zip(answers, run, strict=True)
            )
    print(dict(counts))
    assert counts["calls"] > 2000
    assert counts["unlike the record"] == 0


# Paths that look alike


def spelled_changes(airline: Environment, state: EndState) -> dict[tuple[str, str], str]:
    """The records that differ from the initial state in tau2's spelling."""
    initial = airline.initial.agent
    texts = {place: port_text(airline, state.agent, *place) for place in state.agent.touched(initial)}
    return {place: text for place, text in texts.items() if text != port_text(airline, initial, *place)}


@pytest.mark.parametrize("name", PATHS)
def test_two_paths_end_in_one_state_exactly_where_they_do_in_tau2(airline: Environment, name: str) -> None:
    paths = PATHS[name]
    one, other = replay(airline, paths.one), replay(airline, paths.other)
    assert one.refusals == ()
    assert [index for index, _ in other.refusals] == list(paths.refused)
    for index, refusal in other.refusals:
        assert paths.refused[index] in refusal.message
    ends = [spelled_changes(airline, done.end_state) for done in (one, other)]
    assert (ends[0] == ends[1]) is paths.same
    canonical = paths.same if paths.canonical is None else paths.canonical
    assert (one.end_state == other.end_state) is canonical


@pytest.mark.parametrize("name", PATHS)
def test_tau2_ends_both_paths_in_the_states_of_the_port(pair: Pair, name: str) -> None:
    pair.run(PATHS[name].one)
    pair.run(PATHS[name].other)


# Generated calls


def test_generated_calls_are_answered_as_by_tau2(pair: Pair) -> None:
    cast = Cast.choose(pair.tau2.raw)
    counts: Counter[str] = Counter()

    # Hypothesis draws one generator per sequence: of lists that it draws itself, seven calls in eight are repetitions.
    # It does not shrink, as a generator has no simpler form; the message names the call that differs and those before.
    @seed(GENERATED_SEED)
    @settings(
        max_examples=-(-GENERATED_CALLS // SEQUENCE),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=True))
    def agree(rng: random.Random) -> None:
        calls = [make_call(cast, rng) for _ in range(SEQUENCE)]
        for call, answer in zip(calls, pair.run(calls), strict=True):
            counts[f"{call.name if call.name in pair.tau2.signatures else 'other'} {answer.kind}"] += 1

    agree()
    print(json.dumps(dict(sorted(counts.items())), indent=1))
    assert sum(counts.values()) >= GENERATED_CALLS
    # Every tool answers, and each that has much to refuse refuses, or the calls are of no use.
    assert {f"{name} ok" for name in pair.tau2.signatures} <= counts.keys()
    obliging = {"list_all_airports", "transfer_to_human_agents", "search_direct_flight", "search_onestop_flight"}
    assert {f"{name} refused" for name in pair.tau2.signatures.keys() - obliging} <= counts.keys()


# The harness itself


def with_tool(airline: Environment, name: str, function: Any) -> Environment:
    tool = Tool(name=name, function=function, kind=airline.tools[name].kind)
    return attrs.evolve(airline, tools={**airline.tools, name: tool})


def test_the_comparison_sees_another_answer_another_refusal_and_another_state(pair: Pair, airline: Environment) -> None:
    certificate = ToolCall("send_certificate", {"user_id": "noah_muller_9847", "amount": 50})
    answer = "Certificate certificate_3221322 added to user noah_muller_9847 with amount 50."

    def only_says_so(draft: Any, user_id: Any, amount: Any) -> Any:
        return answer

    def stores_an_int(draft: Any, user_id: Any, amount: Any) -> Any:
        made = {"id": "certificate_3221322", "amount": 50, "source": "certificate"}
        draft.edit("users", user_id)["payment_methods"]["certificate_3221322"] = made
        return answer

    def says_something_else(draft: Any, user_id: Any, amount: Any) -> Any:
        return airline.tools["send_certificate"].function(draft, user_id, amount) + "!"

    def refuses(draft: Any, user_id: Any, amount: Any) -> Any:
        raise ValueError

    for broken in (only_says_so, stores_an_int, says_something_else, refuses):
        with pytest.raises(AssertionError):
            Pair(pair.tau2, with_tool(airline, "send_certificate", broken)).run([certificate])
    pair.run([certificate])


def test_nothing_is_left_of_one_sequence_in_the_next(pair: Pair) -> None:
    paths = PATHS["29: one round trip or two one-ways"]
    first = pair.run(paths.one)
    pair.run(paths.other)
    assert pair.run(paths.one) == first
