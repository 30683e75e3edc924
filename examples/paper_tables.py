"""Recompute the figures of "Policy Loopholes in Agent Evaluation" from its counts, and print them next to the paper's.

    python examples/paper_tables.py [TASKS_37199f3 TASKS_01e812d]

What the paper prints is carried here as data: successes of four trials on the seven affected airline tasks (its
Table 1), and for the other 43 tasks what their success rates allow. Everything in the column "ours" is computed from
those counts by `multigold.stats`, or counted: in the catalogues that ship with multigold and, where they are found, in
the benchmark's own texts. One figure does not reproduce.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from multigold.audit import compare_releases
from multigold.benchmark_data import load_policy, read_release
from multigold.catalogues import load_catalogue
from multigold.errors import DataError, MissingExtraError
from multigold.policies import PolicyCounts, count_checks, count_policy, find_tools
from multigold.stats import (
    RunRow,
    TrialVariance,
    bootstrap_gap,
    by_agent,
    exact_bootstrap_gap,
    generator,
    hypergeometric_overlap,
    leave_out,
    reaggregate,
    success_rate,
    trial_variance,
    units,
    variance_ratio,
)

DOMAINS = ("tau2-airline", "tau2-retail")
TRIALS = 4
AFFECTED: Mapping[str, Mapping[str, int]] = {
    "GPT-5": {"2": 0, "5": 4, "13": 2, "27": 0, "29": 0, "32": 1, "45": 2},
    "Kimi": {"2": 0, "5": 3, "13": 4, "27": 0, "29": 2, "32": 0, "45": 3},
    "Mistral": {"2": 1, "5": 2, "13": 3, "27": 0, "29": 3, "32": 0, "45": 1},
}
"""Successes of four trials on the seven affected tasks (Table 1)."""

OTHER_SUCCESSES: Mapping[str, int] = {"GPT-5": 111, "Kimi": 83, "Mistral": 70}
"""Successes on the other 43 tasks, of 172: the only counts that round to the paper's 64.5, 48.3 and 40.7 %."""

OTHER_TASKS: Mapping[str, Mapping[int, int]] = {
    "GPT-5": {4: 21, 3: 5, 2: 6, 0: 11},
    "Kimi": {4: 12, 3: 5, 2: 8, 1: 4, 0: 14},
    "Mistral": {4: 11, 3: 4, 2: 6, 1: 2, 0: 20},
}
"""How many of the 43 tasks have how many successes. A STAND-IN: the paper does not print it.

It has the totals above, and the one other thing that the paper's figures fix. With a cells at one or three successes of
four and b at two, the 129 cells' mean variance of 0.068 and the ratio of 1.62 leave only 3a + 4b = 140. No figure below
depends on anything else about these tasks; an interval by task would, so none is printed. What was put in here and
comes out again is marked "assumed".
"""


class Figure(NamedTuple):
    """A figure as the paper has it, and as it comes out here."""

    name: str
    paper: str
    ours: str
    note: str = ""
    stand_in: bool = False

    @property
    def agrees(self) -> bool:
        return self.paper == self.ours


def all_rows() -> list[RunRow]:
    """The paper's 600 airline runs."""
    rows = []
    for agent, affected in AFFECTED.items():
        others = [successes for successes, number in OTHER_TASKS[agent].items() for _ in range(number)]
        tasks = {**affected, **{f"other-{i}": successes for i, successes in enumerate(others, start=1)}}
        for task, successes in tasks.items():
            stratum = "affected" if task in affected else "others"
            rows += [
                RunRow(agent=agent, task=task, trial=trial, reward=float(trial < successes), stratum=stratum)
                for trial in range(TRIALS)
            ]
    return rows


def of_stratum(rows: Iterable[RunRow], stratum: str) -> list[RunRow]:
    return [row for row in rows if row.stratum == stratum]


def percent(value: float | None, digits: int = 1) -> str:
    assert value is not None
    return f"{100 * value:.{digits}f}"


def each(rows: Iterable[RunRow], function: Callable[[tuple[RunRow, ...]], str]) -> str:
    return ", ".join(function(own) for own in by_agent(rows).values())


def rate(rows: Iterable[RunRow]) -> str:
    return percent(success_rate(rows).value)


def counts(rows: Iterable[RunRow]) -> str:
    found = success_rate(rows)
    return f"{found.successes}/{found.scored}"


def rates(rows: list[RunRow]) -> Iterator[Figure]:
    affected, others = of_stratum(rows, "affected"), of_stratum(rows, "others")
    yield Figure("affected tasks, success %", "32.1, 42.9, 35.7", each(affected, rate), each(affected, counts))
    yield Figure("other tasks, success %", "64.5, 48.3, 40.7", each(others, rate), each(others, counts))
    yield Figure("all tasks, success %", "60.0, 47.5, 40.0", each(rows, rate), each(rows, counts))
    yield Figure("affected, all models, %", "36.9", rate(affected), counts(affected))
    yield Figure("others, all models, %", "51.2", rate(others), counts(others))


def without_the_seven(rows: list[RunRow]) -> Iterator[Figure]:
    found = reaggregate(rows, leave_out(rows, AFFECTED["GPT-5"]))
    lifts = ", ".join(percent(move.lift) for move in found.moves)
    yield Figure("lift without the seven, points", "4.5, 0.8, 0.7", lifts)
    lead = next(lead for lead in found.leads if (lead.leader, lead.other) == ("GPT-5", "Kimi"))
    yield Figure("GPT-5's lead over Kimi, points", "12.5", percent(lead.before))
    yield Figure(
        "the same without the seven",
        "16.2",
        percent(lead.after),
        f"28/172 is {percent(lead.after, 2)}; the paper subtracts rounded rates, 64.5 - 48.3",
    )


def gaps(rows: list[RunRow]) -> Iterator[Figure]:
    values, ends, exact, drawn = [], [], [], []
    for agent, own in by_agent(rows).items():
        others, affected = (units(of_stratum(own, stratum), by="trials") for stratum in ("others", "affected"))
        assert others.value is not None
        assert affected.value is not None
        values.append(percent(float(others.value - affected.value)))
        interval = exact_bootstrap_gap(others, affected)
        assert interval is not None
        ends.append(f"{percent(interval.low, 0)} to {percent(interval.high, 0)}")
        exact.append(f"{percent(interval.low, 2)} to {percent(interval.high, 2)}")
        try:
            sampled = bootstrap_gap(others, affected, generator(42, agent, "gap"))
        except MissingExtraError:
            continue
        assert sampled is not None
        drawn.append(f"{percent(sampled.low)} to {percent(sampled.high)}")
    yield Figure("gap, others minus affected, points", "32.4, 5.4, 5.0", ", ".join(values))
    # The paper states the procedure and prints no ends; these are its 10,000 draws, rounded to whole points.
    yield Figure(
        "its 95 % interval, by trial, points",
        "13 to 51, -15 to 25, -15 to 24",
        ", ".join(ends),
        "paper: its procedure, run; it prints no ends. Exact bootstrap distribution: " + ", ".join(exact),
    )
    if drawn:
        yield Figure("  10,000 draws, seed 42, by trial", "", ", ".join(drawn), "ends move with the draws")


def variances(rows: list[RunRow]) -> Iterator[Figure]:
    affected, others = of_stratum(rows, "affected"), of_stratum(rows, "others")
    yield Figure(
        "variance between trials, affected",
        "0.098, 0.089, 0.143",
        each(affected, lambda own: f"{trial_variance(own).value:.3f}"),
    )
    yield Figure(
        "tasks of seven whose trials disagree", "3, 3, 5", each(affected, lambda own: str(trial_variance(own).flips))
    )
    ours, rest = trial_variance(affected), trial_variance(others)
    yield Figure("mean over the affected cells", "0.110", f"{ours.value:.3f}", f"{ours.cells} cells")
    yield Figure("mean over the other cells", "0.068", f"{rest.value:.3f}", f"{rest.cells} cells", stand_in=True)
    yield Figure("ratio of the two", "1.62", f"{variance_ratio(ours, rest):.2f}", "", stand_in=True)
    yield Figure("  what 0.068 and 1.62 leave for 3a + 4b", "140", ", ".join(map(str, fitting_sums(ours))), "computed")


def fitting_sums(affected: TrialVariance) -> list[int]:
    """Return every 3a + 4b, in sixteenths of summed variance, under which the paper's two figures come out."""
    assert affected.exact is not None
    means = {total: Fraction(total, 16 * 129) for total in range(1, 4 * 129)}
    return [
        total
        for total, mean in means.items()
        if f"{float(mean):.3f}" == "0.068" and f"{float(affected.exact / mean):.2f}" == "1.62"
    ]


def overlap() -> Iterator[Figure]:
    found = hypergeometric_overlap(population=50, marked=29, drawn=7, hits=7)
    yield Figure(
        "chance that all seven are among the changed, %",
        "1.6",
        percent(found.p_value),
        f"{percent(found.p_value, 2)}: {found.exact}, where {found.expected:.2f} are expected",
    )


def catalogue() -> Iterator[Figure]:
    domains = [load_catalogue(name).loopholes.values() for name in ("tau2-airline", "tau2-retail")]
    published = [[entry for entry in entries if entry.status == "published"] for entries in domains]
    loopholes = [[entry for entry in entries if entry.kind == "loophole"] for entries in published]
    stages = [entry.stages for entries in loopholes for entry in entries]
    conflicts = [entry.id for entries in published for entry in entries if entry.kind == "conflict"]
    yield Figure("catalogue entries", "18", str(sum(map(len, published))))
    yield Figure("loopholes, airline and retail", "15, 2", ", ".join(str(len(entries)) for entries in loopholes))
    yield Figure("annotation conflicts", "L15", ", ".join(conflicts))
    yield Figure(
        "confirmed in both stages, in stage 1 only", "5, 12", f"{stages.count(('S1', 'S2'))}, {stages.count(('S1',))}"
    )


def texts(releases: Sequence[Path] = ()) -> Iterator[Figure]:
    """The figures that need the benchmark's own texts, which multigold does not ship; `ours` is empty without them.

    Args:
        releases: Task files of 37199f3 and 01e812d; without them the changed tasks are not counted.
    """
    changed = number_changed(*releases) if releases else ""
    yield Figure("tasks changed from 37199f3 to 01e812d", "29 of 50", changed, "`multigold audit versions OLD NEW`")
    counts = [policy_counts(domain) for domain in DOMAINS]
    ifs, disclaimers = ([len(c.conditions["if"]) for c in counts if c], [len(c.disclaimers) for c in counts if c])
    place = "`multigold audit exploitability`"
    yield Figure("`if` in the policies, airline and retail", "24, 13", both(ifs), place)
    yield Figure('"API does not check" in the policies', "2, 0", both(disclaimers), place)
    checks = [count_checks(tools.read_bytes()) for tools in map(find_tools, DOMAINS) if tools]
    yield Figure("validation checks in the tools", "18, 32", both(checks), "`raise` statements in the tools' source")


def number_changed(old: Path, new: Path) -> str:
    """Count the tasks of which anything changed, `reward_basis` aside."""
    found = compare_releases(read_release(old), read_release(new))
    return f"{len(found.changed(aside=('reward_basis',)))} of {len(found.common)}"


def policy_counts(domain: str) -> PolicyCounts | None:
    """Count in a policy; None if the benchmark's data is not here."""
    try:
        return count_policy(load_policy(domain).path.read_bytes())
    except DataError:
        return None


def both(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) if len(numbers) == len(DOMAINS) else ""


def figures(releases: Sequence[Path] = ()) -> list[Figure]:
    """All figures of the paper, with ours next to them; `ours` is empty if the benchmark's own texts are missing."""
    rows = all_rows()
    totals = {agent: success_rate(of_stratum(own, "others")).successes for agent, own in by_agent(rows).items()}
    assert totals == OTHER_SUCCESSES, "the stand-in must have the paper's totals"
    from_counts = [*rates(rows), *without_the_seven(rows), *gaps(rows), *variances(rows), *overlap()]
    return [*from_counts, *catalogue(), *texts(releases)]


def mark(figure: Figure) -> str:
    if not figure.ours:
        return "elsewhere"
    if not figure.paper:
        return ""
    if figure.stand_in:
        return "assumed"
    return "same" if figure.agrees else "DIFFERS"


def main() -> None:
    """Print the table."""
    table = [("figure", "paper", "ours", "", "note")]
    table += [(f.name, f.paper, f.ours, mark(f), f.note) for f in figures([Path(name) for name in sys.argv[1:3]])]
    widths = [max(len(row[i]) for row in table) for i in range(4)]
    print("Models in the order GPT-5, Kimi, Mistral.\n")
    for *cells, note in table:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)), note]).rstrip())


if __name__ == "__main__":
    main()
