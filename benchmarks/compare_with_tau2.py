"""How long re-scoring takes, against tau2's own environment evaluator on the same file, in one run.

    python benchmarks/compare_with_tau2.py RESULTS.json [--evaluator SCRIPT] [--repeat 5]

Prints one JSON object, times in seconds:

    cold            the whole `multigold rescore` process, median
    evaluator       tau2's environment evaluator over the same runs (its own figure: imports and file load apart)
    ratio           evaluator / cold
    warm_per_run    one more run in a warm process: decoding, replay and verdict together, median
    decode_per_run  decoding the same JSON untyped with msgspec, median
    import          `import multigold`, median

SCRIPT evaluates RESULTS.json with an installed tau2 and prints a JSON object with `seconds`. Without it the comparison
is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

SOURCE = Path(__file__).resolve().parents[1] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode, and so has this after one run


def median_seconds(action: Callable[[], Any], repeat: int) -> float:
    """Return the median time of an action, after one run that is not counted."""
    action()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def run(*command: str) -> str:
    """Run a Python command and return what it prints."""
    done = subprocess.run([sys.executable, *command], env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return done.stdout


def warm(results: Path, repeat: int) -> dict[str, float]:
    """Time decoding, replay and verdict of a file in this process, per run."""
    sys.path.insert(0, str(SOURCE))
    from multigold.readers import find_sources
    from multigold.rescoring import Options, ScoringContext, judge_run

    context = ScoringContext(Options())
    data = results.read_bytes()

    def rescore_file() -> int:
        (opened,) = context.open(find_sources([results])[0])
        file = context.for_file(opened)
        return sum(judge_run(one, file, context) is not None for one in opened.runs)

    runs = rescore_file()
    return {
        "runs": runs,
        "warm_per_run": median_seconds(rescore_file, repeat) / runs,
        "decode_per_run": median_seconds(lambda: msgspec.json.decode(data), repeat) / runs,
    }


def main() -> None:
    """Time everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("results", type=Path)
    parser.add_argument("--evaluator", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    start_up = median_seconds(lambda: run("-c", "pass"), options.repeat)
    figures: dict[str, Any] = {
        "file": options.results.name,
        "cold": median_seconds(lambda: run("-m", "multigold", "rescore", str(options.results)), options.repeat),
        "import": median_seconds(lambda: run("-c", "import multigold"), options.repeat) - start_up,
        **warm(options.results, options.repeat),
    }
    if options.evaluator is not None:
        figures["evaluator"] = json.loads(run(str(options.evaluator), str(options.results)))["seconds"]
        figures["ratio"] = figures["evaluator"] / figures["cold"]
    print(json.dumps({name: round(v, 5) if isinstance(v, float) else v for name, v in figures.items()}, indent=1))


if __name__ == "__main__":
    main()
