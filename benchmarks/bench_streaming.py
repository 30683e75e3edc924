"""Memory and time of re-scoring files of any length: 100,000 runs against 1,000.

    PYTHONPATH=src python benchmarks/bench_streaming.py [RESULTS] [--runs 1000 100000] [--jobs 1]

The files are made by repetition of the runs of RESULTS (a tau2 results file; default: the invented runs of examples/),
each with an id of its own. Every measurement is a process of its own that writes the whole JSON document, and the
highest resident memory of it and its children is what the operating system says (`ru_maxrss`).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "airline_results.json"
LIMIT_MB = 50


@attrs.frozen(kw_only=True)
class Measured:
    """One measurement: runs, file size and peak memory in MB, seconds on the clock and of computing."""

    runs: int
    file_mb: float
    peak_mb: float
    seconds: float
    computing: float


def write_repeated(source: Path, runs: int, target: Path) -> None:
    """Write a results file with so many runs, never holding more than the source."""
    document = json.loads(source.read_text(encoding="utf-8"))
    simulations = document.pop("simulations")
    with target.open("w", encoding="utf-8") as file:
        file.write(json.dumps(document)[:-1] + ', "simulations": [')
        for number in range(runs):
            one = {**simulations[number % len(simulations)], "id": f"run-{number}", "trial": number // len(simulations)}
            file.write((",\n" if number else "\n") + json.dumps(one))
        file.write("]}")


def measure(path: Path, runs: int, jobs: int) -> Measured:
    """Re-score a file in a process of its own."""
    started = time.perf_counter()
    command = [sys.executable, __file__, "--child", str(path), "--jobs", str(jobs)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    peak, computing = float(said[-2]), float(said[-1])
    return Measured(
        runs=runs,
        file_mb=path.stat().st_size / 2**20,
        peak_mb=peak,
        seconds=time.perf_counter() - started,
        computing=computing,
    )


def child(path: str, jobs: int) -> None:
    """Re-score a file, write the document, and print the peak memory in MB: of this process or its largest child."""
    from multigold.cli import main

    with tempfile.TemporaryDirectory() as place:
        sys.argv = ["multigold", "rescore", path, "--json", f"{place}/out.json", "--jobs", str(jobs)]
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    usage = [resource.getrusage(who) for who in whose]
    print("\n", max(one.ru_maxrss for one in usage) / unit, sum(one.ru_utime + one.ru_stime for one in usage))


def main() -> None:
    """Measure and print; exit status 1 where more memory is needed than allowed."""
    parser = argparse.ArgumentParser(description="Memory of re-scoring long files.")
    parser.add_argument("results", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--runs", nargs=2, type=int, default=[1_000, 100_000])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(chosen.child, chosen.jobs)
        return
    measured = []
    with tempfile.TemporaryDirectory() as place:
        for runs in chosen.runs:
            path = Path(place) / f"{runs}.json"
            write_repeated(chosen.results, runs, path)
            measured.append(measure(path, runs, chosen.jobs))
            path.unlink()
            one = measured[-1]
            each = one.computing / one.runs * 1000
            print(
                f"{one.runs:>8,} runs, {one.file_mb:>7,.0f} MB: peak {one.peak_mb:>6,.0f} MB, {one.seconds:>6.1f} s, "
                f"{one.computing:.1f} s of computing, {each:.2f} ms a run",
                flush=True,
            )
    more = measured[1].peak_mb - measured[0].peak_mb
    print(f"{more:+.0f} MB over the shorter file (limit {LIMIT_MB})")
    sys.exit(more > LIMIT_MB)


if __name__ == "__main__":
    main()
