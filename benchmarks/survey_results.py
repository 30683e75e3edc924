"""What is made of every results file: format, runs, outcomes, reasons, agreement with the recorded verdict.

    PYTHONPATH=src python benchmarks/survey_results.py RESULTS... [--ids case-insensitive] [--benchmark-release REV]

One Markdown row a file. Agreement is that of the strict verdict by the benchmark's single gold with the recorded
verdict on the database, over the runs that have both; `no gold` are runs of tasks for which the benchmark states none.
Reward is the same for the recomputed single-gold reward.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from multigold.model.verdict import Verdict
from multigold.rescoring import FileReport, Options, stream

HEADINGS = (
    "file",
    "format",
    "domain",
    "runs",
    "matched",
    "unmatched",
    "unscored",
    "database verdict",
    "reward",
    "notes",
)


def agreement(verdicts: list[Verdict]) -> tuple[str, str]:
    """Return how often database verdict and reward are the recorded ones."""
    counts: Counter[str] = Counter()
    for verdict in verdicts:
        if verdict.recorded.db_match is not None and verdict.benchmark_matched is not None:
            counts["of"] += 1
            counts["same"] += verdict.recorded.db_match == verdict.benchmark_matched
        elif verdict.recorded.db_match is not None:
            counts["no gold" if verdict.reason and verdict.reason.code == "no_gold" else "unscored"] += 1
        if verdict.recorded.reward is not None and verdict.rewards.single is not None:
            counts["reward of"] += 1
            counts["reward same"] += abs(verdict.recorded.reward - verdict.rewards.single) <= 1e-6
    rest = "".join(f", {counts[name]} {name}" for name in ("no gold", "unscored") if counts[name])
    return f"{counts['same']}/{counts['of']}{rest}", f"{counts['reward same']}/{counts['reward of']}"


def row(report: FileReport, verdicts: list[Verdict]) -> tuple[str, ...]:
    """Return the cells of one file."""
    name = "/".join(Path(report.name).parts[-2:])
    if report.problem:
        return (name, "refused", "", "", "", "", "", "", "", report.problem)
    unscored = ", ".join(f"{number} {code}" for code, number in report.unscored.items()) or "0"
    counts = (str(report.runs), str(report.matched), str(report.unmatched), unscored)
    notes = "; ".join(report.warnings)
    return (name, report.format, report.domain, *counts, *agreement(verdicts), notes)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="A row for every results file.")
    parser.add_argument("results", nargs="+")
    parser.add_argument("--ids", choices=["exact", "case-insensitive"], default="exact")
    parser.add_argument("--benchmark-release")
    chosen = parser.parse_args()
    options = Options(ids=chosen.ids, benchmark_release=chosen.benchmark_release)
    print("| " + " | ".join(HEADINGS) + " |")
    print("|" + "---|" * len(HEADINGS))
    verdicts: list[Verdict] = []
    total: Counter[str] = Counter()
    for item in stream(*chosen.results, options=options, keep_going=True):
        if isinstance(item, Verdict):
            verdicts.append(item)
            total[item.outcome] += 1
            continue
        print("| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in row(item, verdicts)) + " |")
        verdicts = []
    print(f"\n{total.total()} runs: " + ", ".join(f"{number} {name}" for name, number in total.items()))


if __name__ == "__main__":
    main()
