"""Rows for the tests of statistics, in shorthand and at random."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from multigold.stats.rows import RunRow

REWARDS = {"1": 1.0, "0": 0.0, "-": None}


def runs(agent: str, tasks: Mapping[str, str], **more: object) -> list[RunRow]:
    """Return an agent's runs: for each task a letter per trial, `1` success, `0` failure, `-` unscored."""
    return [
        RunRow(agent=agent, task=task, trial=trial, reward=REWARDS[letter], **more)
        for task, letters in tasks.items()
        for trial, letter in enumerate(letters)
    ]


def counted(agent: str, successes: Mapping[str, int], of: int = 4) -> list[RunRow]:
    """Return an agent's runs from the number of successes of each task."""
    return runs(agent, {task: "1" * c + "0" * (of - c) for task, c in successes.items()})


def rows(*, agents: int = 3, tasks: int = 5, trials: int = 3, largest: int = 25) -> st.SearchStrategy[list[RunRow]]:
    """Any runs: ragged, with gaps, fractions, sides and end states."""
    one = st.builds(
        RunRow,
        agent=st.sampled_from([f"agent-{i}" for i in range(agents)]),
        task=st.sampled_from([str(i) for i in range(8, 8 + tasks)]),
        trial=st.integers(0, trials - 1),
        reward=st.sampled_from([1.0, 0.0, 1.0, 0.0, None, 0.5, 0.9999999]),
        loopholes=st.sampled_from([(), ("L6",), ("L3", "L4")]),
        positions=st.sampled_from(
            [{}, {"L6": ("a",)}, {"L6": ("b",)}, {"L6": ("a", "b")}, {"L3": ("x",), "L4": ("y",)}, {"L3": ("z",)}]
        ),
    )
    return st.lists(one, max_size=largest)
