from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations, product
from math import log2

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_samples import rows

from multigold.errors import CallError
from multigold.stats import loophole_sides as sides_module
from multigold.stats.loophole_sides import Split, coherent_rate, entropy, side_counts, splits, take_sides
from multigold.stats.pass_k import pass_hat_k_on_one_side
from multigold.stats.rates import success_rate
from multigold.stats.rows import RunRow


def taken(agent: str, letters: str, *, task: str = "32", loophole: str = "L6") -> list[RunRow]:
    """Runs that match a reading on one side each; `-` matches none."""
    return [
        RunRow(
            agent=agent, task=task, trial=trial, reward=0.0 if letter == "-" else 1.0, loopholes=(loophole,),
            positions={} if letter == "-" else {loophole: (letter,)},
        )
        for trial, letter in enumerate(letters)
    ]  # fmt: skip


def split_of(*agents: str) -> Split:
    """The split of agents named by their letters over one task."""
    return splits([row for i, letters in enumerate(agents) for row in taken(f"agent-{i}", letters)])[0]


def test_sides_are_counted_with_what_is_not_known_beside() -> None:
    some = [
        *taken("a", "xxy-"),
        RunRow(agent="a", task="45", reward=1.0, loopholes=("L6",), positions={"L6": ("x", "y")}),
        RunRow(agent="a", task="45", loopholes=("L6",)),
        RunRow(agent="a", task="1", reward=1.0),
        *taken("b", "y"),
    ]
    first, second = side_counts(some)
    assert (first.loophole, first.agent, first.counts) == ("L6", "a", {"x": 2, "y": 1})
    assert (first.known, first.several, first.none, first.unscored, first.runs) == (3, 1, 1, 1, 6)
    assert first.shares == {"x": 2 / 3, "y": 1 / 3}
    assert (second.agent, second.counts, second.runs) == ("b", {"y": 1}, 1)


def test_agents_that_keep_to_their_own_side_part_fully_and_agents_alike_not_at_all() -> None:
    parted, alike, flipping = split_of("xxxx", "yyyy"), split_of("xxxx", "xxxx"), split_of("xxyy", "xyxy")
    assert (parted.score, parted.adjusted, parted.agreement) == (1, 1, 0)
    assert (alike.score, alike.agreement) == (0, 1)
    assert (flipping.score, flipping.agreement) == (0, 0.5)
    assert flipping.adjusted is not None
    assert flipping.adjusted < 0


def test_the_part_between_two_agents_is_scipys_jensen_shannon_divergence() -> None:
    distance = pytest.importorskip("scipy.spatial.distance")
    for a, b in product(range(5), repeat=2):
        found = split_of("x" * a + "y" * (4 - a), "x" * b + "y" * (4 - b))
        expected = distance.jensenshannon([a / 4, 1 - a / 4], [b / 4, 1 - b / 4], base=2) ** 2
        assert found.score == pytest.approx(expected, abs=1e-12)  # of at most 1 bit


@given(st.lists(st.integers(0, 9), max_size=5))
def test_entropy_is_scipys(counts: list[int]) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.entropy(counts, base=2) if sum(counts) else 0.0
    assert entropy(counts) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.text("xyz", min_size=1, max_size=3), min_size=2, max_size=3))
def test_what_lies_between_agents_is_the_mutual_information(agents: list[str]) -> None:
    found = split_of(*agents)
    joint = Counter((i, side) for i, letters in enumerate(agents) for side in letters)
    runs = sum(joint.values())
    owns, pooled = Counter(), Counter()
    for (agent, side), number in joint.items():
        owns[agent] += number
        pooled[side] += number
    information = sum(n / runs * log2(n * runs / (owns[a] * pooled[s])) for (a, s), n in joint.items())
    most = min(entropy(owns.values()), log2(max(2, len(pooled))))
    assert found.score is not None
    assert found.score * most == pytest.approx(information, abs=1e-12)
    assert -1e-12 <= found.score <= 1 + 1e-12
    assert found.adjusted is None or found.adjusted <= 1 + 1e-9


@pytest.mark.parametrize("agents", [("xx", "yy"), ("xxy", "y"), ("x", "yz", "xx"), ("xyz", "xyz")])
def test_what_is_expected_by_chance_is_the_mean_over_all_ways_to_deal_the_sides(agents: tuple[str, ...]) -> None:
    cuts = [sum(map(len, agents[:i])) for i in range(len(agents) + 1)]
    dealt = [split_of(*("".join(deal[a:b]) for a, b in pairwise(cuts))).score for deal in permutations("".join(agents))]
    found, by_chance = split_of(*agents), sum(dealt) / len(dealt)
    assert found.adjusted == pytest.approx((found.score - by_chance) / (1 - by_chance), abs=1e-9)


def test_one_agent_or_no_known_side_has_no_split() -> None:
    alone, unknown = split_of("xy"), split_of("--", "-")
    assert (alone.score, alone.agreement, alone.agents) == (None, None, ("agent-0",))
    assert (unknown.score, unknown.agreement, unknown.agents, unknown.runs, unknown.adjusted) == (
        None,
        None,
        (),
        0,
        None,
    )


def test_declared_sides_that_nobody_takes_widen_what_agents_could_part_on() -> None:
    some = [row for agent, letters in {"a": "xx", "b": "yy", "c": "xx"}.items() for row in taken(agent, letters)]
    seen, declared = splits(some)[0], splits(some, sides={"L6": ("x", "y", "z")})[0]
    assert seen.score is not None
    assert declared.score is not None
    assert declared.score < seen.score < 1


def test_splits_are_told_for_each_loophole_and_then_for_each_of_its_tasks() -> None:
    some = taken("a", "x", task="32") + taken("b", "y", task="32") + taken("a", "x", task="5", loophole="L5")
    some += taken("b", "x", task="45")
    assert [(s.loophole, s.task) for s in splits(some)] == [
        ("L5", ""),
        ("L5", "5"),
        ("L6", ""),
        ("L6", "32"),
        ("L6", "45"),
    ]


def test_taking_a_side_as_the_gold_fails_the_others_and_leaves_the_unscored() -> None:
    some = [
        *taken("a", "xy-"),
        RunRow(agent="a", task="32", loopholes=("L6",)),
        RunRow(agent="a", task="1", reward=1.0),
    ]
    assert [row.reward for row in take_sides(some, {"L6": "x"})] == [1.0, 0.0, 0.0, None, 1.0]
    assert take_sides(some, {"L5": "x"}) == tuple(some)


def test_an_agent_that_flips_sides_is_not_coherent() -> None:
    some = taken("a", "xxy", task="32") + taken("a", "yy-", task="45") + [RunRow(agent="a", task="1", reward=1.0)]
    found = coherent_rate(some)
    assert (found.agent, found.sides) == ("a", {"L6": "y"})
    assert (found.rate.successes, found.rate.of) == (4, 7)


def test_a_success_that_takes_no_side_contradicts_none() -> None:
    sideless = RunRow(agent="a", task="29", reward=1.0, loopholes=("L16",))
    found = coherent_rate([sideless, *taken("a", "x")])
    assert (found.rate.successes, found.rate.of) == (2, 2)
    assert coherent_rate([]).rate.value is None


@given(rows(agents=1), st.data())
def test_a_loophole_that_nobody_disputes_changes_no_figure(some: list[RunRow], data: st.DataObject) -> None:
    """Some runs take its only side, the others none; adding it to their tasks is adding a conflict all agree on."""
    agreed = [
        attrs.evolve(
            row,
            loopholes=(*row.loopholes, "undisputed"),
            positions={**row.positions, **({"undisputed": ("only",)} if data.draw(st.booleans()) else {})},
        )
        for row in some
    ]
    assert coherent_rate(agreed).rate == coherent_rate(some).rate
    assert [one.exact for one in pass_hat_k_on_one_side(agreed)] == [one.exact for one in pass_hat_k_on_one_side(some)]


@given(rows(agents=1))
def test_the_coherent_rate_is_the_best_over_all_combinations_of_sides(some: list[RunRow]) -> None:
    options = {"L3": ("x", "z"), "L4": ("y",), "L6": ("a", "b")}
    best = max(
        sum(row.success is True for row in take_sides(some, dict(zip(options, combination, strict=True))))
        for combination in product(*options.values())
    )
    found = coherent_rate(some)
    assert found.rate.successes == best
    assert found.rate.of == success_rate(some).of


def test_of_equally_good_sides_the_first_by_name_is_shown() -> None:
    found = coherent_rate(taken("a", "yx"))
    assert (found.sides, found.rate.successes) == ({"L6": "x"}, 1)


def test_too_many_combinations_of_sides_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sides_module, "_MOST_WAYS", 1)
    with pytest.raises(CallError, match="too many combinations"):
        coherent_rate(taken("a", "xy"))


def test_loopholes_that_share_tasks_only_through_a_third_are_decided_together() -> None:
    chain = [
        (("L1", "L2"), {"L1": ("a",), "L2": ("x",)}, 3),
        (("L2", "L3"), {"L2": ("y",), "L3": ("p",)}, 4),
        (("L1", "L3"), {"L1": ("b",), "L3": ("q",)}, 3),
    ]
    some = [
        RunRow(agent="a", task="-".join(linked), trial=i, reward=1.0, loopholes=linked, positions=positions)
        for linked, positions, number in chain
        for i in range(number)
    ]
    # Any two of the three kinds exclude each other, so the commonest is the best that one agent can be held to.
    found = coherent_rate(some)
    assert (found.rate.successes, found.sides["L2"], found.sides["L3"]) == (4, "y", "p")
