"""How often do the intervals hold? Coverage and width of every method, by simulation.

Tasks are drawn from a population of difficulties that is known, each is tried a few times, and every method gives its
95 % interval. Coverage is the share of intervals that hold the population's true value, width their mean width. The
populations are of very different shapes, and most are not what the default method assumes.

    python benchmarks/interval_coverage.py --repetitions 200 --jobs 2 --json coverage.json

Four figures are measured: the success rate, pass^k, the gap between two strata of tasks, and the difference between two
agents on the same tasks. A method that has no interval for some data (Student's t where all tasks agree) is given the
point itself there, which is what a reader would be left with: it covers if that is the true value.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from math import prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from multigold.stats.intervals import (
    METHODS,
    IntervalSettings,
    gap_interval,
    paired_interval,
    pass_hat_interval,
    rate_interval,
    t_quantile,
)
from multigold.stats.resampling import bootstrap_interval, units_of_totals

Counts = list[tuple[int, int]]

LEVEL = 0.95
RESAMPLES = 1_000

POINT = float("inf")

TASKS = (5, 7, 12, 20, 50, 100, 200)
TRIALS = (1, 2, 4, 8)


class Population:
    """Difficulties of tasks: a mixture of beta distributions and single points."""

    def __init__(self, *parts: tuple[float, float, float]) -> None:
        """Take the parts: share, and the two parameters of a beta; a second one of infinity makes the first a point."""
        self.parts = parts

    def __call__(self, rng: np.random.Generator, n: int) -> np.ndarray:
        which = rng.choice(len(self.parts), n, p=[share for share, _, _ in self.parts])
        drawn = [np.full(n, a) if b == POINT else rng.beta(a, b, n) for _, a, b in self.parts]
        return np.choose(which, drawn)

    def moment(self, k: int) -> float:
        """Return the mean of p to the k."""
        return sum(share * _moment(a, b, k) for share, a, b in self.parts)


def _moment(a: float, b: float, k: int) -> float:
    return a**k if b == POINT else prod((a + j) / (a + b + j) for j in range(k))


POPULATIONS: Mapping[str, tuple[str, Population]] = {
    "even": ("every difficulty alike", Population((1, 1, 1))),
    "bell": ("most tasks of middling difficulty", Population((1, 4, 4))),
    "u-shaped": ("most tasks nearly always solved or nearly never", Population((1, 0.3, 0.3))),
    "easy": ("mean 0.8, some hard ones", Population((1, 6, 1.5))),
    "hard": ("mean 0.25, mostly near 0", Population((1, 0.4, 1.2))),
    "solved or not": ("60 % always, 40 % never", Population((0.6, 1, POINT), (0.4, 0, POINT))),
    "all alike": ("every task at 0.4: trials are coin flips", Population((1, 0.4, POINT))),
    "three kinds": (
        "a quarter never, a quarter half the time, half always",
        Population((0.25, 0, POINT), (0.25, 0.5, POINT), (0.5, 1, POINT)),
    ),
    "two kinds": ("30 % around 0.1, 70 % around 0.9", Population((0.3, 1, 9), (0.7, 9, 1))),
}


def drawn(draw: Population, rng: np.random.Generator, tasks: int, trials: int) -> Counts:
    return [(int(c), trials) for c in rng.binomial(trials, draw(rng, tasks))]


class Score:
    """Coverage and width of one method on one design, over populations."""

    def __init__(self) -> None:
        self.hits: dict[str, int] = {}
        self.widths: dict[str, float] = {}
        self.number: dict[str, int] = {}

    def add(self, population: str, ends: tuple[float, float], truth: float) -> None:
        self.hits[population] = self.hits.get(population, 0) + (ends[0] - 1e-9 <= truth <= ends[1] + 1e-9)
        self.widths[population] = self.widths.get(population, 0.0) + ends[1] - ends[0]
        self.number[population] = self.number.get(population, 0) + 1

    def result(self) -> dict[str, Any]:
        coverage = {name: hits / self.number[name] for name, hits in self.hits.items()}
        lowest = min(coverage, key=lambda name: coverage[name])
        return {
            "coverage": sum(coverage.values()) / len(coverage),
            "lowest": coverage[lowest],
            "lowest_population": lowest,
            "width": sum(self.widths[name] / self.number[name] for name in coverage) / len(coverage),
            "by_population": coverage,
        }


def ends_of(found: Any, point: float) -> tuple[float, float]:
    return (point, point) if found is None else (found.low, found.high)


def settings_for(method: str, rng: np.random.Generator) -> IntervalSettings:
    return IntervalSettings(method=method, level=LEVEL, rng=rng, resamples=RESAMPLES)  # type: ignore[arg-type]


def rates(tasks: int, trials: int, repetitions: int, rng: np.random.Generator) -> dict[str, Score]:
    scores = {name: Score() for name in [*METHODS, "bootstrap by trials"]}
    for population, (_, draw) in POPULATIONS.items():
        truth = draw.moment(1)
        known: dict[tuple[tuple[int, int], ...], dict[str, tuple[float, float]]] = {}
        for _ in range(repetitions):
            counts = sorted(drawn(draw, rng, tasks, trials))
            key = tuple(counts)
            if key not in known:
                known[key] = rate_ends(counts, rng)
            for name, ends in known[key].items():
                scores[name].add(population, ends, truth)
    return scores


def rate_ends(counts: Counts, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    point = sum(c for c, _ in counts) / sum(n for _, n in counts)
    ends = {name: ends_of(rate_interval(counts, settings_for(name, rng)), point) for name in METHODS}
    successes, trials = (sum(numbers) for numbers in zip(*counts, strict=True))
    flips = rng.binomial(trials, successes / trials, RESAMPLES) / trials
    low, high = np.quantile(flips, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return {**ends, "bootstrap by trials": (low, high)}


def pass_hats(tasks: int, trials: int, repetitions: int, rng: np.random.Generator) -> dict[str, Score]:
    methods = ("beta-binomial", "bootstrap", "t")
    scores = {name: Score() for name in methods}
    for population, (_, draw) in POPULATIONS.items():
        truth = draw.moment(trials)
        for _ in range(repetitions):
            counts = drawn(draw, rng, tasks, trials)
            point = sum(c == n for c, n in counts) / tasks
            for name in methods:
                found = pass_hat_interval(counts, trials, settings_for(name, rng))
                scores[name].add(population, ends_of(found, point), truth)
    return scores


def gaps(tasks: int, trials: int, repetitions: int, rng: np.random.Generator) -> dict[str, Score]:
    """The gap between six times as many tasks of one population and these of another, as in the paper's 43 and 7."""
    methods = ("beta-binomial", "bootstrap", "t", "effective-wilson")
    scores = {name: Score() for name in methods}
    names = list(POPULATIONS)
    for index, population in enumerate(names):
        draw, other = POPULATIONS[population][1], POPULATIONS[names[(index + 4) % len(names)]][1]
        truth = other.moment(1) - draw.moment(1)
        for _ in range(repetitions):
            few, many = drawn(draw, rng, tasks, trials), drawn(other, rng, 6 * tasks, trials)
            point = sum(c for c, _ in many) / (6 * tasks * trials) - sum(c for c, _ in few) / (tasks * trials)
            for name in methods:
                found = gap_interval(many, few, settings_for(name, rng))
                scores[name].add(population, ends_of(found, point), truth)
    return scores


PAIRS: Mapping[str, str] = {
    "equal": "as good on every task",
    "other": "as good on the whole, but on 30 % of the tasks it is another matter",
    "better": "fails 30 % less often on every task",
    "mostly equal": "as good, but always succeeds on 20 % of the tasks",
}


def pair(kind: str, draw: Population, rng: np.random.Generator, first: np.ndarray) -> np.ndarray:
    """Return how likely the other agent is to succeed on the same tasks."""
    if kind == "other":
        return np.where(rng.random(len(first)) < 0.3, draw(rng, len(first)), first)
    if kind == "better":
        return 1 - (1 - first) * 0.7
    if kind == "mostly equal":
        return np.where(rng.random(len(first)) < 0.2, 1.0, first)
    return first


def lead(kind: str, draw: Population) -> float:
    """Return how much more often the other agent succeeds."""
    return {"better": 0.3, "mostly equal": 0.2}.get(kind, 0.0) * (1 - draw.moment(1))


def differences(tasks: int, trials: int, repetitions: int, rng: np.random.Generator) -> dict[str, Score]:
    scores = {name: Score() for name in ("adjusted", "bootstrap", "t")}
    for population, (_, draw) in POPULATIONS.items():
        for kind in PAIRS:
            for _ in range(max(1, repetitions // len(PAIRS))):
                p = draw(rng, tasks)
                one, other = rng.binomial(trials, p), rng.binomial(trials, pair(kind, draw, rng, p))
                found = [Fraction(int(b) - int(a), trials) for a, b in zip(one, other, strict=True)]
                for name, ends in difference_ends(found, trials, rng).items():
                    scores[name].add(f"{population}, {kind}", ends, lead(kind, draw))
    return scores


def difference_ends(found: Sequence[Fraction], trials: int, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    values = np.array([float(d) for d in found])
    middle, error = float(values.mean()), float(values.std(ddof=1)) / sqrt(len(values))
    reach = t_quantile(LEVEL, len(values) - 1) * error
    resampled = bootstrap_interval(units_of_totals((d, 1) for d in found), rng, resamples=RESAMPLES, level=LEVEL)
    adjusted = paired_interval(found, trials=trials, level=LEVEL)
    assert adjusted is not None
    return {
        "adjusted": adjusted,
        "bootstrap": ends_of(resampled, middle),
        "t": (max(-1.0, middle - reach), min(1.0, middle + reach)),
    }


FIGURES: Mapping[str, Callable[[int, int, int, np.random.Generator], dict[str, Score]]] = {
    "success rate": rates,
    "pass^k": pass_hats,
    "gap": gaps,
    "difference": differences,
}


def measure(figure: str, tasks: int, trials: int, repetitions: int, seed: int) -> dict[str, Any]:
    """Return coverage and width of every method for one figure and design."""
    rng = np.random.default_rng([seed, list(FIGURES).index(figure), tasks, trials])
    scores = FIGURES[figure](tasks, trials, repetitions, rng)
    return {
        "figure": figure,
        "tasks": tasks,
        "trials": trials,
        "repetitions": repetitions,
        "methods": {name: score.result() for name, score in scores.items()},
    }


def _measure(job: tuple[str, int, int, int, int]) -> dict[str, Any]:
    return measure(*job)


def averaged(cells: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return each method's coverage and width, mean over designs, and its lowest coverage of a design."""
    names = list(cells[0]["methods"])
    return {
        name: {
            "coverage": sum(cell["methods"][name]["coverage"] for cell in cells) / len(cells),
            "lowest_design": min(cell["methods"][name]["coverage"] for cell in cells),
            "lowest_population": min(cell["methods"][name]["lowest"] for cell in cells),
            "width": sum(cell["methods"][name]["width"] for cell in cells) / len(cells),
        }
        for name in names
    }


def table(cells: Sequence[Mapping[str, Any]]) -> str:
    """Return the designs as a Markdown table: coverage, and width, of every method."""
    names = list(cells[0]["methods"])
    lines = ["| tasks x trials | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for cell in cells:
        found = (cell["methods"][name] for name in names)
        texts = (f"{one['coverage']:.3f} ({one['width']:.2f})" for one in found)
        lines.append(f"| {cell['tasks']} x {cell['trials']} | " + " | ".join(texts) + " |")
    means = (f"**{one['coverage']:.3f} ({one['width']:.3f})**" for one in averaged(cells).values())
    lines.append("| mean | " + " | ".join(means) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=200, help="data sets per population and design")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--figures", nargs="*", default=list(FIGURES), choices=list(FIGURES))
    parser.add_argument("--tasks", nargs="*", type=int, default=TASKS)
    parser.add_argument("--trials", nargs="*", type=int, default=TRIALS)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    jobs = [
        (figure, tasks, trials, options.repetitions, options.seed)
        for figure in options.figures
        for tasks in options.tasks
        for trials in options.trials
        if figure != "pass^k" or trials > 1
    ]
    start = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        cells = list(pool.map(_measure, jobs))
    for figure in options.figures:
        print(f"\n{figure}: coverage (mean width), {LEVEL:.0%} asked, {options.repetitions} data sets per population\n")
        print(table([cell for cell in cells if cell["figure"] == figure]))
    print(f"\n{time.perf_counter() - start:.0f} s", file=sys.stderr)
    if options.json:
        document = {
            "level": LEVEL,
            "seed": options.seed,
            "populations": {name: sentence for name, (sentence, _) in POPULATIONS.items()},
            "cells": cells,
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
