"""Verdicts counted: per agent, stratum, task, with every denominator and both baselines.

A rate never stands without how many runs it is of, "any reading" never without the single gold and what doing nothing
would have scored. Unscored runs are in no denominator; they are counted separately, by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Literal, TypeAlias

import attrs

from multigold.model.verdict import Verdict, is_success
from multigold.state.canonical import Json
from multigold.state.explain import printable
from multigold.stats.rates import Rate
from multigold.stats.rows import natural

COLUMNS = ("recorded", "single", "core", "core_strict", "core_or_single", "with_contested")
"""The reward columns, in the order in which they are shown."""

BASELINES = ("do_nothing", "always_refuse")
"""What a run that touches nothing scores by the database factor alone: without, and with, the evidence asked for."""

WITHOUT_WORK = (*BASELINES, "random", "adversarial")
"""All agents that did not do the work: these two, one that picks blindly among the end states that a task is known to
have, and one that has learnt the published golds by heart and refuses where that pays more."""

StrataOption: TypeAlias = Literal["default", "paper", "extended"]

STRATA: Mapping[StrataOption, str] = {
    "default": "by the published entries of the catalogue, for the text at hand",
    "paper": "the paper's split: the tasks of its Table 1 against all others, whatever their text",
    "extended": "as default, with the entries that the catalogue proposes",
}
"""How runs are put into strata."""

PAPER_AFFECTED, PAPER_OTHERS = "loophole-affected", "loophole-free"


@attrs.frozen(kw_only=True)
class AboveChance:
    """A score by what can be had without doing the work.

    Attributes:
        baseline: What the agent that did not do the work scores on the same runs; None if that is not known.
        corrected: (score - baseline) / (1 - baseline): 0 is no better than it, 1 is all that was left; None if unknown
            or if nothing was left.
    """

    baseline: float | None
    corrected: float | None


def above_chance(score: float | None, baseline: float | None) -> AboveChance:
    """Return a score corrected for a baseline, as kappa corrects agreement for chance.

    Args:
        score: The score, 0..1.
        baseline: What is had without doing the work.
    """
    if score is None or baseline is None or baseline >= 1:
        return AboveChance(baseline=baseline, corrected=None)
    return AboveChance(baseline=baseline, corrected=(score - baseline) / (1 - baseline))


@attrs.frozen(kw_only=True)
class Tally:
    """Runs of one group, counted.

    Attributes:
        runs: All runs.
        tasks: Different tasks among them.
        matched: Runs that match a reading that counts.
        unmatched: Runs that match none.
        unscored: Reason code to number of runs.
        columns: Reward column to its rate.
        do_nothing: The same columns for a run that does nothing at all, by the database factor alone.
        always_refuse: The same for a run that leaves the database untouched and has all evidence.
        above: Agent that did not do the work, then column, to what is left of the score above that agent's.
        vacuous: Runs with a match that is worth nothing.
        termination_unknown: Runs whose file does not say how they ended, so that the gate was not applied.
    """

    runs: int
    tasks: int
    matched: int
    unmatched: int
    unscored: Mapping[str, int]
    columns: Mapping[str, Rate]
    do_nothing: Mapping[str, Rate]
    always_refuse: Mapping[str, Rate]
    above: Mapping[str, Mapping[str, AboveChance]]
    vacuous: int
    termination_unknown: int

    def to_json(self) -> dict[str, Json]:
        """Return the tally as plain data."""
        plain: dict[str, Json] = attrs.asdict(self, recurse=False)
        for name in ("columns", *BASELINES):
            plain[name] = {column: rate_json(rate) for column, rate in getattr(self, name).items()}
        plain["above"] = {
            name: {column: attrs.asdict(one) for column, one in columns.items()} for name, columns in self.above.items()
        }
        plain["bounds"] = {column: list(self.bounds(column)) for column in self.columns}
        return {**plain, "unscored": dict(self.unscored)}

    def bounds(self, column: str) -> tuple[float, float]:
        """Return the rate in a column if every run without a reward in it were a failure, and a success."""
        rate = self.columns[column]
        if not self.runs:
            return 0.0, 1.0
        return rate.successes / self.runs, (rate.successes + self.runs - rate.scored) / self.runs


@attrs.frozen(kw_only=True)
class Group:
    """Runs that share some keys.

    Attributes:
        keys: What they share, such as `{"agent": ..., "stratum": ...}`.
        tally: Their counts.
    """

    keys: Mapping[str, str]
    tally: Tally

    def to_json(self) -> dict[str, Json]:
        """Return the group as plain data."""
        return {**self.keys, **self.tally.to_json()}


@attrs.frozen(kw_only=True)
class Report:
    """The counts of a set of verdicts.

    Attributes:
        strata: Which strata option was used.
        strata_note: What that means, and how the affected tasks were selected.
        overall: By agent and domain.
        by_stratum: By agent, domain and stratum.
        by_task: By domain and task.
        columns: The columns to show: `core_strict` only if an equivalence was on.
    """

    strata: StrataOption
    strata_note: str
    overall: tuple[Group, ...]
    by_stratum: tuple[Group, ...]
    by_task: tuple[Group, ...]
    columns: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the report as plain data."""
        groups = ("overall", "by_stratum", "by_task")
        return {
            "strata": self.strata,
            "strata_note": self.strata_note,
            "columns": list(self.columns),
            **{name: [group.to_json() for group in getattr(self, name)] for name in groups},
        }

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, by_task: bool = False) -> str:
        """Return the counts as plain tables: overall, by stratum and, where asked for, by task.

        Args:
            by_task: Whether to add the table by task.
        """
        if not self.overall:
            return "there are no runs to count"
        groups = {"agent": self.overall, "stratum": self.by_stratum, **({"task": self.by_task} if by_task else {})}
        tables = [text_table(of, by, self.columns) for by, of in groups.items()]
        return "\n\n".join([*tables, "\n".join(map(printable, self.notes()))])

    def headlines(self, column: str = "core") -> tuple[str, ...]:
        """Return for each agent what is left of its score above what can be had without doing the work."""
        return tuple(_headline(group.keys, group.tally, column) for group in self.overall)

    def notes(self) -> tuple[str, ...]:
        """Return what is to be known of the tables, a sentence each."""
        return (
            *self.headlines(),
            f"Strata: {self.strata_note}.",
            "Baselines, by the database factor alone, under the single gold / under core: an agent that does nothing, "
            "and one that looks everything up and then always refuses.",
        )


def _headline(keys: Mapping[str, str], tally: Tally, column: str) -> str:
    """Return what is left of a score above what can be had without doing the work, and what the unscored runs hide."""
    who = " on ".join(filter(None, (keys.get("agent"), keys.get("domain")))) or "all"
    rate, (low, high) = tally.columns[column], tally.bounds(column)
    parts = [f"{who}: {HEADINGS[column]} {percent_text(rate)}"]
    parts += filter(None, (_left_above(name, tally.above[name][column]) for name in BASELINES))
    parts += filter(None, (_scored_by(name, tally.above[name][column]) for name in WITHOUT_WORK[len(BASELINES) :]))
    hidden = tally.runs - rate.scored
    if hidden:
        parts.append(f"with {hidden} unscored runs lost or won {low:.1%} to {high:.1%}")
    if 2 * rate.scored < tally.runs:
        parts.append("mostly unscored")
    return "; ".join(parts)


def _left_above(name: str, one: AboveChance) -> str:
    if one.baseline is None or one.corrected is None:
        return ""
    return f"{one.corrected:.1%} of what is left above {name.replace('_', ' ')} ({one.baseline:.1%})"


def _scored_by(name: str, one: AboveChance) -> str:
    words = {"random": "a blind choice among the known end states", "adversarial": "the published golds by heart"}
    return "" if one.baseline is None else f"{words[name]} {one.baseline:.1%}"


HEADINGS = {
    "recorded": "recorded",
    "single": "single gold",
    "core": "core",
    "core_strict": "core, strict",
    "core_or_single": "core or single",
    "with_contested": "with contested",
}
"""Reward column to its heading."""


def headings_of(columns: Sequence[str]) -> list[str]:
    """Return the headings of what a table says of a group; `cells_of` has the cells."""
    return ["runs", "unscored", *(HEADINGS[column] for column in columns), *(n.replace("_", " ") for n in BASELINES)]


def cells_of(group: Group, columns: Sequence[str]) -> list[str]:
    """Return what a table says of a group: runs, unscored ones by reason, reward columns, baselines."""
    tally = group.tally
    baselines = (getattr(tally, name) for name in BASELINES)
    return [
        str(tally.runs),
        ", ".join(f"{number} {code}" for code, number in tally.unscored.items()) or "0",
        *(rate_text(tally.columns[column]) for column in columns),
        *(f"{percent_text(rates['single'])} / {percent_text(rates['core'])}" for rates in baselines),
    ]


def titled(groups: Sequence[Group], by: str, *, kind: str = "") -> tuple[str, list[str]]:
    """Return the title of a table of groups, and the keys that are its columns.

    A key that is the same in all of them stands in the title.

    Args:
        groups: The groups.
        by: The key that the title names; it always is a column.
        kind: What the table is of, if it does not have all the cells.
    """
    keys = list(groups[0].keys) if groups else []
    shared = [key for key in keys if key != by and len({group.keys[key] for group in groups}) == 1]
    suffix = "".join(f", {key} {printable(groups[0].keys[key])}" for key in shared if groups[0].keys[key])
    title = f"{kind}by {by}{suffix}"
    return f"{title[0].upper()}{title[1:]}", [key for key in keys if key not in shared]


def percent_text(rate: Rate) -> str:
    """Return a rate as `32.1%`; `-` if there is nothing to count."""
    return "-" if rate.value is None else f"{rate.value * 100:.1f}%"


def rate_text(rate: Rate) -> str:
    """Return a rate as `9/28 32.1%`; `-` if there is nothing to count."""
    return "-" if rate.value is None else f"{rate.successes}/{rate.of} {rate.value * 100:.1f}%"


def text_table(groups: Sequence[Group], by: str, columns: Sequence[str]) -> str:
    """Return a table as text: keys to the left, numbers to the right, two blanks between columns."""
    title, keys = titled(groups, by)
    rows = [[*keys, *headings_of(columns)]]
    rows += [[*(printable(group.keys[key]) for key in keys), *cells_of(group, columns)] for group in groups]
    widths = [max(map(_places, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        blanks = [" " * (width - _places(cell)) for cell, width in zip(row, widths, strict=True)]
        padded = (f"{cell}{blank}" for cell, blank in zip(row[: len(keys)], blanks, strict=False))
        right = (f"{blank}{cell}" for cell, blank in zip(row[len(keys) :], blanks[len(keys) :], strict=True))
        lines.append("  ".join((*padded, *right)).rstrip())
    return "\n".join([title, *lines])


def _places(text: str) -> int:
    """Return how many places of a line a text takes: a wide letter takes two, a mark on a letter none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def reward(verdict: Verdict, column: str) -> float | None:
    """Return a run's reward in a column; None if it has none. An unscored run has only its recorded one."""
    if column == "recorded":
        return verdict.recorded.reward
    if verdict.outcome == "unscored":
        return None
    value: float | None = getattr(verdict.rewards, column)
    return value


def rate_json(rate: Rate) -> dict[str, Json]:
    """Return a rate as plain data."""
    return {"successes": rate.successes, "of": rate.of, "share": rate.value}


def summarise_verdicts(
    verdicts: Iterable[Verdict],
    *,
    strata: StrataOption = "default",
    paper_split: Mapping[str, Collection[str]] | None = None,
    note: str = "",
    equivalences: Sequence[str] = (),
) -> Report:
    """Count verdicts by agent, stratum and task. Their order changes nothing.

    Args:
        verdicts: The verdicts.
        strata: How runs are put into strata; see `STRATA`.
        paper_split: Domain to task ids of the paper's split, for `strata="paper"`.
        note: How the affected tasks were selected, kept with the report.
        equivalences: Those in force, which decide whether `core_strict` is shown.
    """
    summary = ReportBuilder(strata, paper_split=paper_split)
    for verdict in verdicts:
        summary.add(verdict)
    return summary.report(note=note, equivalences=equivalences)


class ReportBuilder:
    """Counts that grow run by run, so that the runs themselves need not be kept.

    Args:
        strata: How runs are put into strata; see `STRATA`.
        paper_split: Domain to task ids of the paper's split, for `strata="paper"`.
    """

    def __init__(
        self, strata: StrataOption = "default", *, paper_split: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self._strata = strata
        self._paper_split = paper_split or {}
        self._overall: dict[tuple[str, ...], _Counts] = {}
        self._by_stratum: dict[tuple[str, ...], _Counts] = {}
        self._by_task: dict[tuple[str, ...], _Counts] = {}

    def stratum(self, verdict: Verdict) -> str:
        """Return the name of a run's stratum under the option in force."""
        if self._strata != "paper":
            return verdict.stratum
        affected = verdict.task_id in self._paper_split.get(verdict.domain, ())
        return PAPER_AFFECTED if affected else PAPER_OTHERS

    def add(self, verdict: Verdict) -> None:
        """Count one run."""
        stratum = self.stratum(verdict)
        who = (verdict.agent, verdict.domain)
        known = _known_rewards(verdict)
        self._overall.setdefault(who, _Counts()).add(verdict, known)
        self._by_stratum.setdefault((*who, stratum), _Counts()).add(verdict, known)
        self._by_task.setdefault((verdict.domain, verdict.task_id, stratum), _Counts()).add(verdict, known)

    def report(self, *, note: str = "", equivalences: Sequence[str] = ()) -> Report:
        """Return the counts so far; `summarise_verdicts` says what the arguments mean."""
        return Report(
            strata=self._strata,
            strata_note=f"{STRATA[self._strata]}{'; ' + note if note else ''}",
            overall=_groups(self._overall, ("agent", "domain")),
            by_stratum=_groups(self._by_stratum, ("agent", "domain", "stratum")),
            by_task=_groups(self._by_task, ("domain", "task", "stratum")),
            columns=tuple(column for column in COLUMNS if equivalences or column != "core_strict"),
        )


def _groups(counts: Mapping[tuple[str, ...], _Counts], keys: Sequence[str]) -> tuple[Group, ...]:
    """Return groups in natural order of their keys: task 2 before task 10."""
    order = sorted(counts, key=lambda values: [natural(value) for value in values])
    return tuple(Group(keys=dict(zip(keys, values, strict=True)), tally=counts[values].tally()) for values in order)


def _known_rewards(verdict: Verdict) -> dict[tuple[str, str], float]:
    """Return a run's rewards and its task's baselines, as far as they are known: (table, column) to reward."""
    known = {("columns", column): reward(verdict, column) for column in COLUMNS}
    if verdict.outcome != "unscored":
        for name in BASELINES:
            known |= {(name, column): getattr(getattr(verdict, name), column) for column in COLUMNS[1:]}
    return {place: value for place, value in known.items() if value is not None}


@attrs.define
class _Counts:
    """What is counted of one group while runs pass."""

    outcomes: Counter[str] = attrs.field(factory=Counter)
    unscored: Counter[str] = attrs.field(factory=Counter)
    successes: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    scored: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    tasks: set[tuple[str, str]] = attrs.field(factory=set)
    vacuous: int = 0
    termination_unknown: int = 0
    chance: dict[tuple[str, str], tuple[float, int]] = attrs.field(factory=dict)

    def add(self, verdict: Verdict, known: Mapping[tuple[str, str], float]) -> None:
        self.outcomes[verdict.outcome] += 1
        self.tasks.add((verdict.domain, verdict.task_id))
        self.vacuous += any(match.vacuous for match in verdict.matches)
        self.scored.update(known.keys())
        self.successes.update([place for place, value in known.items() if is_success(value)])
        for name, column in product(WITHOUT_WORK, COLUMNS[1:]) if verdict.outcome != "unscored" else ():
            value = getattr(getattr(verdict, name), column)
            if value is not None and ("columns", column) in known:
                total, number = self.chance.get((name, column), (0.0, 0))
                self.chance[name, column] = (total + value, number + 1)
        if verdict.outcome == "unscored":
            self.unscored[verdict.reason.code if verdict.reason else "unknown"] += 1
        else:
            self.termination_unknown += verdict.termination is None

    def _rates(self, table: str, columns: Iterable[str]) -> dict[str, Rate]:
        return {
            column: Rate(successes=self.successes[table, column], scored=self.scored[table, column])
            for column in columns
        }

    def _above(self, name: str) -> dict[str, AboveChance]:
        found = {}
        for column, rate in self._rates("columns", COLUMNS[1:]).items():
            total, number = self.chance.get((name, column), (0.0, 0))
            # A baseline that is known for some of the runs only is not held against all of them.
            found[column] = above_chance(rate.value, total / number if number and number == rate.scored else None)
        return found

    def tally(self) -> Tally:
        return Tally(
            runs=self.outcomes.total(),
            tasks=len(self.tasks),
            matched=self.outcomes["matched"],
            unmatched=self.outcomes["unmatched"],
            unscored=dict(sorted(self.unscored.items())),
            columns=self._rates("columns", COLUMNS),
            do_nothing=self._rates("do_nothing", COLUMNS[1:]),
            always_refuse=self._rates("always_refuse", COLUMNS[1:]),
            above={name: self._above(name) for name in WITHOUT_WORK},
            vacuous=self.vacuous,
            termination_unknown=self.termination_unknown,
        )
