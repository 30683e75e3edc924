"""Law 9: the retail port agrees with the tau2 package call by call, and in the state that it leaves, to the spelling.

Everything here needs the installed `tau2` package, which is the oracle, and some of it real result files or task files.
Without them the tests skip and say so; `test_retail.py` covers every tool and refusal with nothing at all.
HYPOTHESIS_PROFILE=thorough generates more.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parity import Pair
from recorded_calls import as_recorded, recorded_runs
from retail_parity import retail_pair
from tiny_retail import ADDRESS, tables

from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.environments.retail import TOOLS, build
from multigold.model.task import Criteria, Task, ToolCall
from multigold.rescoring import rescore
from multigold.rescoring.checking import check_recorded
from multigold.scoring import benchmark_gold
from multigold.state.database import Database

pytestmark = [pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")]

RELEASES = ("01e812d", "37199f3")
NEEDS_TAU2 = "the tau2 package is the oracle of these tests (the extra `tau2`)"


@pytest.fixture(scope="module")
def pair(retail: Environment) -> Pair:
    pytest.importorskip("tau2", reason=NEEDS_TAU2)
    return retail_pair(retail)


def gold_calls(shared: Path, release: str) -> dict[str, list[ToolCall]]:
    """Task id to the benchmark's gold."""
    tasks = json.loads((shared / "data" / "tau2" / "retail" / f"tasks.{release}.json").read_bytes())
    return {
        task["id"]: [
            ToolCall(action["name"], action["arguments"]) for action in task["evaluation_criteria"]["actions"] or ()
        ]
        for task in tasks
    }


@pytest.mark.parametrize("release", RELEASES)
def test_every_gold_of_the_benchmark_is_answered_as_by_tau2(pair: Pair, shared: Path, release: str) -> None:
    golds = gold_calls(shared, release)
    assert len(golds) == 114
    for calls in golds.values():
        pair.run(calls)


# Case 7: golds that fail


@pytest.mark.parametrize(
    ("release", "refused", "unknown", "writes"),
    [("01e812d", 18, 3, ["105", "64"]), ("37199f3", 23, 0, ["105", "12", "13", "64"])],
)
def test_case_7_the_golds_of_which_a_call_fails_are_known_by_name(
    retail: Environment, shared: Path, release: str, refused: int, unknown: int, writes: list[str]
) -> None:
    kinds: Counter[str] = Counter()
    broken = set()
    for task_id, calls in gold_calls(shared, release).items():
        done = replay(retail, calls)
        for index, refusal in done.refusals:
            kinds[refusal.kind] += 1
            tool = retail.tool(calls[index].name)
            if tool is not None and tool.kind == "write":
                broken.add(task_id)
    assert kinds == Counter(refused=refused, unknown_tool=unknown)
    assert sorted(broken) == writes


def test_case_7_the_benchmarks_road_skips_a_gold_call_that_fails_and_marks_the_gold(
    retail: Environment, shared: Path
) -> None:
    calls = gold_calls(shared, "01e812d")["64"]
    gold = benchmark_gold(Task("64", criteria=Criteria(actions=tuple(calls))), retail, retail.initial)
    failing = {index for index, _ in replay(retail, calls).refusals}
    kept = [call for index, call in enumerate(calls) if index not in failing]
    assert gold.faults == ("gold_broken",)
    assert gold.state == replay(retail, kept).end_state
    assert len(gold.details) == len(failing) == 1


def test_case_7_a_run_is_never_failed_for_a_gold_that_broke(retail: Environment, shared: Path) -> None:
    verdicts = rescore(shared / "data" / "results" / "tau2" / "retail_gpt-4.1.json")
    (verdict,) = [verdict for verdict in verdicts if verdict.task_id == "64"]
    assert verdict.benchmark_faults == ("gold_broken",)
    assert verdict.recorded.db_match is True
    assert (verdict.benchmark_matched, verdict.outcome) == (True, "matched")


# Recorded runs

FILES = {"retail_gpt-4.1.json": 40, "retail_whissle_v1schema.json": 5}


@pytest.mark.parametrize("name", FILES)
def test_every_recorded_call_is_answered_as_by_tau2_and_as_was_recorded(pair: Pair, shared: Path, name: str) -> None:
    calls = 0
    for run in recorded_runs(shared / "data" / "results" / "tau2" / name):
        answers = pair.run([recorded.call for recorded in run])
        unlike = [r.call for a, r in zip(answers, run, strict=True) if not as_recorded(a, r.content)]
        assert not unlike
        calls += len(run)
    assert calls > 0


@pytest.mark.parametrize(("name", "runs"), FILES.items())
def test_the_strict_verdict_is_the_recorded_one(retail: Environment, shared: Path, name: str, runs: int) -> None:
    (check,) = check_recorded(shared / "data" / "results" / "tau2" / name)
    assert (check.runs, check.recorded, check.agree) == (runs, runs, runs)
    assert (check.differ, check.unscored, check.spelling) == ((), {}, 0)


@pytest.mark.parametrize("name", FILES)
def test_the_single_reward_is_the_recorded_one(retail: Environment, shared: Path, name: str) -> None:
    verdicts = list(rescore(shared / "data" / "results" / "tau2" / name))
    assert [verdict.rewards.single for verdict in verdicts] == [verdict.recorded.reward for verdict in verdicts]


# Generated sequences

ODD: tuple[Any, ...] = (
    None, True, 0, 1, -1.5, "", "x", "#P", "gift_u", "cup-m", [], {}, ["cup-s"], ["cup-s", "cup-m"], [["cup-s"]], [1],
    {"cup-m": 1}, {"cup-s": {}}, "no longer needed", "\ud800", "é",
)  # fmt: skip


@attrs.frozen
class Cast:
    """What made-up calls are about: orders with their items and their user's methods, and variants by product."""

    data: dict[str, Any]
    orders: tuple[str, ...]

    def methods(self, order_id: str) -> list[str]:
        return list(self.data["users"][self.data["orders"][order_id]["user_id"]]["payment_methods"])

    def variants(self, product_id: str) -> list[str]:
        return list(self.data["products"][product_id]["variants"])


def tiny_cast() -> Cast:
    """The made-up shop, where calls of a sequence meet each other all the time."""
    data = tables()
    return Cast(data, tuple(data["orders"]))


def real_cast(retail: Environment) -> Cast:
    """Some real orders of every status, of users with a gift card among them."""
    data = retail.initial.agent.to_json()
    chosen: list[str] = []
    for status in ("pending", "delivered", "processed", "cancelled"):
        orders = [o for o in data["orders"].values() if o["status"] == status]
        rich = [o for o in orders if any("gift" in m for m in data["users"][o["user_id"]]["payment_methods"])]
        chosen += [o["order_id"] for o in sorted(rich, key=lambda o: -len(o["items"]))[:6]]
    return Cast(data, tuple(chosen))


WEIGHTED = (
    ("modify_pending_order_items", 6), ("exchange_delivered_order_items", 4), ("return_delivered_order_items", 3),
    ("cancel_pending_order", 3), ("modify_pending_order_payment", 3), ("modify_pending_order_address", 2),
    ("modify_user_address", 1), ("get_order_details", 1), ("get_user_details", 1), ("get_product_details", 1),
    ("find_user_id_by_email", 1), ("find_user_id_by_name_zip", 1), ("list_all_product_types", 1),
    ("transfer_to_human_agents", 1), ("refund", 1),
)  # fmt: skip
STATUSES = {"modify": "pending", "cancel": "pending", "exchange": "delivered", "return": "delivered"}


def make_call(cast: Cast, seed: int) -> ToolCall:
    """Return a call made up from a seed: mostly one that could succeed, sometimes with something odd in one place."""
    rng = random.Random(seed)
    names, weights = zip(*WEIGHTED, strict=True)
    (name,) = rng.choices(names, weights)
    order_id = _order(cast, STATUSES.get(name.split("_")[0], ""), rng)
    arguments = _arguments(cast, name, order_id, rng)
    if rng.random() < 0.15:
        arguments = _broken(arguments, rng)
    return ToolCall(name, arguments, requestor="user" if rng.random() < 0.01 else "assistant")


def _order(cast: Cast, status: str, rng: random.Random) -> str:
    fitting = [order_id for order_id in cast.orders if cast.data["orders"][order_id]["status"] == status]
    return rng.choice(fitting if fitting and rng.random() < 0.9 else cast.orders)


def _arguments(cast: Cast, name: str, order_id: str, rng: random.Random) -> dict[str, Any]:
    record = cast.data["orders"][order_id]
    user = cast.data["users"][record["user_id"]]
    items = rng.sample(record["items"], rng.randint(0 if rng.random() < 0.1 else 1, min(3, len(record["items"]))))
    address = {part: rng.choice("ab") for part in ADDRESS}
    made = {
        "order_id": order_id,
        "item_ids": [item["item_id"] for item in items],
        "new_item_ids": [_new_item(cast, item, rng) for item in items],
        "payment_method_id": rng.choice([*cast.methods(order_id)] * 6 + ["paypal_0"]),
        "reason": rng.choice(("no longer needed", "ordered by mistake") * 4 + ("other",)),
        "user_id": record["user_id"],
        "product_id": record["items"][0]["product_id"],
        "email": user["email"].upper(),
        "summary": "x",
        **user["name"],
        **address,
    }
    return {parameter: made[parameter] for parameter in PARAMETERS.get(name, ())}


def _new_item(cast: Cast, item: dict[str, Any], rng: random.Random) -> str:
    """Return another variant of an item's product that is there to be had, or now and then any."""
    product = cast.data["products"][item["product_id"]]["variants"]
    good = [name for name, variant in product.items() if variant["available"] and name != item["item_id"]]
    return rng.choice(good if good and rng.random() < 0.9 else list(product))


PARAMETERS = {name: tuple(tool.parameters) for name, tool in TOOLS.items()}


def _broken(arguments: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    key = rng.choice([*arguments, "extra"])
    if rng.random() < 0.2:
        return {name: value for name, value in arguments.items() if name != key}
    return {**arguments, key: copy.deepcopy(rng.choice(ODD))}


SEEDS = st.lists(st.integers(0, 2**32), max_size=12)


@pytest.fixture(scope="module")
def tiny_pair() -> Pair:
    pytest.importorskip("tau2", reason=NEEDS_TAU2)
    return retail_pair(build(Database.adopt(tables())))  # as they are spelled: from_json would make 12.0 an int


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seeds=SEEDS)
def test_generated_sequences_on_a_tiny_shop_end_as_in_tau2(tiny_pair: Pair, seeds: list[int]) -> None:
    cast = tiny_cast()
    tiny_pair.run(make_call(cast, seed) for seed in seeds)


@pytest.fixture(scope="module")
def cast(retail: Environment) -> Cast:
    return real_cast(retail)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seeds=SEEDS)
def test_generated_sequences_on_the_real_shop_end_as_in_tau2(pair: Pair, cast: Cast, seeds: list[int]) -> None:
    pair.run(make_call(cast, seed) for seed in seeds)


def test_the_generated_calls_reach_every_tool_and_mostly_succeed(cast: Cast, pair: Pair) -> None:
    """Else the two tests above would show little."""
    reached = Counter[tuple[str, str]]()
    for start in range(0, 1200, 12):
        calls = [make_call(cast, seed) for seed in range(start, start + 12)]
        reached.update((call.name, answer.kind) for call, answer in zip(calls, pair.run(calls), strict=True))
    assert {name for name, kind in reached if kind == "ok"} >= TOOLS.keys() - {"calculate", "find_user_id_by_name_zip"}
    assert sum(count for (_, kind), count in reached.items() if kind == "ok") > 600
    assert reached["modify_pending_order_items", "ok"] > 60
