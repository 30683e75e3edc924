"""What one more run costs in a warm process, per domain: decoding, replay, verdict; and what a task costs once.

    python benchmarks/cost_per_run.py RESULTS...        (in the checkout; PYTHONPATH=src)

Prints, per file: runs, milliseconds of processor time per run to decode its JSON untyped with msgspec, to read it, to
read and judge it, and per task to set its scene and compile its golds. Each is the best of several rounds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from multigold.readers import open_results
from multigold.rescoring import ScoringContext, judge_run
from multigold.rescoring.options import Options

ROUNDS = 15


def best(action: Callable[[], object], count: int) -> float:
    """Return the best time of an action in milliseconds of processor time per item."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return 1000 * min(times) / max(count, 1)


def measure(path: Path) -> tuple[int, float, float, float, float]:
    """Return the number of runs and the four costs of a file."""
    results = open_results(path)
    runs = [msgspec.json.encode(run) for run in msgspec.json.decode(path.read_bytes())["simulations"]]
    context = ScoringContext(Options())
    file = context.for_file(results)

    def judge_all() -> None:
        for run in results.runs:
            judge_run(run, file, context)

    def compile_all() -> None:
        fresh = ScoringContext(Options())
        fresh._environments, fresh._catalogues = context._environments, context._catalogues
        for task in results.tasks.values():
            fresh.golds(task, file)

    judge_all()  # compiles every task's golds
    return (
        len(runs),
        best(lambda: [msgspec.json.decode(run) for run in runs], len(runs)),
        best(lambda: list(results.runs), len(runs)),
        best(judge_all, len(runs)),
        best(compile_all, len(results.tasks)),
    )


def main(paths: list[str]) -> None:
    """Print a line per file."""
    print(f"{'file':45} {'runs':>5} {'untyped':>8} {'read':>8} {'judge':>8} {'per task':>9}   ms")
    for name in paths:
        count, *costs = measure(Path(name))
        print(f"{Path(name).name:45} {count:5} " + " ".join(f"{cost:8.3f}" for cost in costs))


if __name__ == "__main__":
    main(sys.argv[1:])
