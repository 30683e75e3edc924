"""Print, for each results file, how the tasks of the paper's split fare in every column, next to both baselines.

    python examples/split_table.py RESULTS...

`multigold rescore --strata paper` counts all tasks; this looks at the split's alone, and adds `coherent`: success under
the best single side of each loophole on these tasks. Every cell is successes of scored runs; a baseline has two, under
the single gold and under core. A file may hold several agents, each on a line of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from multigold import rescore
from multigold.catalogues import load_catalogue, shipped_catalogues
from multigold.stats import ReportBuilder, Tally, by_agent, coherent_rate, rows_of, summarise_verdicts

COLUMNS = ("recorded", "single", "core", "core_or_single", "with_contested")
HEADINGS = ("file", "agent", "runs", *COLUMNS, "coherent", "do nothing", "always refuse")
SPLIT = {name: load_catalogue(name).paper_split for name in shipped_catalogues()}
"""Domain to the tasks of the paper's split."""


def lines(results: str) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each line for one results file: one line per agent.

    Raises:
        MultigoldError: If the file cannot be read, or the benchmark's own data is missing.
    """
    verdicts = [verdict for verdict in rescore(results) if verdict.task_id in SPLIT.get(verdict.domain, ())]
    agents = by_agent(rows_of(verdicts, "core", ReportBuilder()))
    for group in summarise_verdicts(verdicts).overall:
        coherent = coherent_rate(agents[group.keys["agent"]]).rate
        cells = (f"{coherent.successes}/{coherent.scored}", *baselines(group.tally))
        counts = (f"{group.tally.columns[name].successes}/{group.tally.columns[name].scored}" for name in COLUMNS)
        yield (results.rsplit("/", 1)[-1], group.keys["agent"], str(group.tally.runs), *counts, *cells)


def baselines(tally: Tally) -> Iterator[str]:
    """Yield a cell for an agent that does nothing, and one for an agent that looks everything up and always refuses."""
    for rates in (tally.do_nothing, tally.always_refuse):
        yield ", ".join(f"{rates[name].successes}/{rates[name].scored}" for name in ("single", "core"))


def main(files: Sequence[str]) -> None:
    """Print the table in Markdown."""
    print(" | ".join(HEADINGS), " | ".join("---" for _ in HEADINGS), sep="\n")
    for results in files:
        for cells in lines(results):
            print(" | ".join(cells))


if __name__ == "__main__":
    main(sys.argv[1:])
