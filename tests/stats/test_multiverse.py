"""The multiverse against brute force: every universe, one run at a time."""

from __future__ import annotations

from itertools import combinations, product

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multigold.errors import CallError
from multigold.model.verdict import Match, Rewards, Verdict
from multigold.stats.multiverse import Multiverse, ReadingMatch, UniverseRun, every_universe, universe_run
from multigold.stats.multiverse_metrics import universe_metrics

LOOPHOLES = {"L1": ("a", "b"), "L2": ("x", "y", "z"), "L3": ("p", "q")}

readings = st.builds(
    ReadingMatch,
    reading=st.sampled_from(["1/r", "1/s", "2/r", "2/t"]),
    positions=st.fixed_dictionaries({}, optional={name: st.sampled_from(sides) for name, sides in LOOPHOLES.items()}),
    standing=st.sampled_from(["core", "core", "contested"]),
    success=st.sampled_from([True, True, False, None]),
)


@st.composite
def run(draw: st.DrawFn) -> UniverseRun:
    matches = tuple({m.reading: m for m in draw(st.lists(readings, max_size=3))}.values())
    scored = draw(st.sampled_from([True, True, True, False]))
    made = UniverseRun(
        agent=draw(st.sampled_from("ABC")), domain="d", task="1", scored=scored, success=False,
        single=draw(st.booleans()) if scored else None, untouched=draw(st.booleans()),
        matches=matches if scored else (), contested=False,
    )  # fmt: skip
    return attrs.evolve(made, success=scored and (bool(made.counted) or draw(st.booleans())))


def brute_force(runs: list[UniverseRun], found: Multiverse) -> list[dict[str, float]]:
    """Every agent's rate in every universe."""
    worlds = []
    for sides in product(*found.loopholes.values()):
        taken = dict(zip(found.loopholes, sides, strict=True))
        rates = {}
        for agent in {run.agent for run in runs}:
            own = [run for run in runs if run.agent == agent and run.scored]
            if own:
                rates[agent] = sum(run.succeeds(taken) for run in own) / len(own)
        worlds.append(rates)
    return worlds


@given(st.lists(run(), min_size=1, max_size=14))
@settings(max_examples=150, deadline=None)
def test_ranges_ranks_and_leads_are_those_of_every_universe_in_turn(runs: list[UniverseRun]) -> None:
    found = every_universe(runs, sides=LOOPHOLES)
    worlds = brute_force(runs, found)
    assert len(worlds) == found.universes == 12
    for agent in found.agents:
        rates = [world[agent.agent] for world in worlds if agent.agent in world]
        if not rates:
            assert (agent.lowest, agent.best_rank) == (None, None)
            continue
        assert (agent.lowest, agent.highest) == pytest.approx((min(rates), max(rates)))
        assert agent.mean == pytest.approx(sum(rates) / len(rates))
        ranks = [1 + sum(other > world[agent.agent] + 1e-12 for other in world.values()) for world in worlds]
        assert (agent.best_rank, agent.worst_rank) == (min(ranks), max(ranks))
        assert agent.leads == pytest.approx(ranks.count(1) / len(ranks))
        assert agent.bounds[0] <= agent.lowest <= agent.highest <= agent.bounds[1] + 1e-12
    for pair in found.pairs:
        leads = [w[pair.first] - w[pair.second] for w in worlds if pair.first in w and pair.second in w]
        if leads:
            assert (pair.lowest, pair.highest) == pytest.approx((min(leads), max(leads)), abs=1e-9)
            assert pair.hangs == (min(leads) < -1e-9 and max(leads) > 1e-9)


@given(st.lists(run(), min_size=1, max_size=14))
@settings(max_examples=60, deadline=None)
def test_ranks_that_are_not_enumerated_are_bounds_of_those_that_are(runs: list[UniverseRun]) -> None:
    exact, bounded = every_universe(runs, sides=LOOPHOLES), every_universe(runs, sides=LOOPHOLES, most=0)
    assert exact.ranks_exact
    for one, other in zip(exact.agents, bounded.agents, strict=True):
        if one.best_rank is not None:
            assert other.best_rank <= one.best_rank <= one.worst_rank <= other.worst_rank


@given(st.lists(run(), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_what_a_reading_carries_is_what_is_lost_without_it(runs: list[UniverseRun]) -> None:
    for weight in every_universe(runs).readings:
        if weight.standing != "core":
            continue
        without = [
            attrs.evolve(r, matches=tuple(m for m in r.matches if m.reading != weight.reading or m.standing != "core"))
            for r in runs
        ]
        lost = sum(a.success and bool(a.counted) and not b.counted for a, b in zip(runs, without, strict=True))
        same = [m for r in runs for m in r.counted if m.reading == weight.reading]
        assert -weight.change == lost or len({m.standing for m in same}) > 1
        assert weight.untouched <= weight.passes


def settled(agent: str, wins: dict[str, str], task: str = "1") -> list[UniverseRun]:
    return [
        UniverseRun(
            agent=agent, domain="d", task=task, scored=True, success=True, single=False, untouched=side == "a",
            matches=(ReadingMatch(reading=f"{task}/{side}", positions={name: side}, standing="core", success=True),),
        )
        for name, side in wins.items()
    ]  # fmt: skip


def test_an_order_that_hangs_on_the_reading_is_said() -> None:
    found = every_universe(settled("A", {"L1": "a"}) + settled("B", {"L1": "b"}))
    assert found.universes == 2
    (pair,) = found.pairs
    assert (pair.lead, pair.lowest, pair.highest, pair.hangs) == (0, -1, 1, True)
    assert {(a.agent, a.best_rank, a.worst_rank, a.leads) for a in found.agents} == {("A", 1, 2, 0.5), ("B", 1, 2, 0.5)}
    assert (found.gain, found.gain_untouched) == (2, 1)
    names = {metric.metric for metric in universe_metrics(settled("A", {"L1": "a"}))}
    assert names == {"score over readings", "rank over readings", "reading carries"}


def test_two_domains_are_two_multiverses() -> None:
    runs = settled("A", {"L1": "a"})
    with pytest.raises(CallError, match="one domain"):
        every_universe([*runs, *(attrs.evolve(run, domain="e") for run in runs)])


def test_a_match_that_does_not_count_opens_no_universe() -> None:
    verdict = Verdict(
        outcome="matched", task_id="9", loopholes=("L1",), rewards=Rewards(core=1.0, single=0.0, with_contested=1.0),
        matches=(
            Match(reading="r", standing="core", positions={"L1": "a"}, reward=1.0),
            Match(reading="s", standing="contested", positions={"L1": "b"}, reward=1.0),
            Match(reading="t", standing="core", positions={"L1": "c"}, reward=1.0, vacuous=True),
            Match(reading="u", standing="core", positions={"L1": "d"}, reward=0.0),
        ),
    )  # fmt: skip
    assert [match.reading for match in universe_run(verdict).counted] == ["9/r"]
    assert [match.reading for match in universe_run(verdict, contested=True).counted] == ["9/r", "9/s"]


def test_pairs_are_all_pairs() -> None:
    runs = [run for agent in "ABCD" for run in settled(agent, {"L1": "a"})]
    assert [(p.first, p.second) for p in every_universe(runs).pairs] == list(combinations("ABCD", 2))
