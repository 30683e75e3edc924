"""What annotators are asked: items, drawn from results once and kept in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import attrs

from multigold.catalogues.loading import load_catalogue_for
from multigold.errors import CallError
from multigold.files.cursor import Cursor
from multigold.files.records import open_records, refuse_faults, write_records
from multigold.model.catalogue import Catalogue
from multigold.model.gold import Reading
from multigold.model.loophole import Clause
from multigold.model.verdict import Verdict
from multigold.rescoring.run_calls import CallWithOutcome, RunWithCalls
from multigold.state.canonical import Json, digest
from multigold.stats.prediction_powered import draw_audit
from multigold.stats.rows import natural

SCHEMA: Final = "multigold/annotation-items/1"
"""Name and version of the form."""


@attrs.frozen(kw_only=True)
class Item:
    """One question to annotators.

    Attributes:
        id: Its name: a digest of what it asks.
        domain: The domain.
        task: The task's id.
        run: The run's id, as its file names it.
        reading: The reading's id.
        loopholes: Ids of the loopholes that the reading takes a side of.
        clauses: Where the policy says what it is about, each a few words.
        question: What is asked.
        shown: What the run did, a line each.
        text_digest: Digest of all that is judged: the reading, the clauses and the task's text.
    """

    id: str
    domain: str
    task: str
    run: str
    reading: str
    loopholes: tuple[str, ...]
    clauses: tuple[str, ...]
    question: str
    shown: tuple[str, ...]
    text_digest: str

    def to_json(self) -> dict[str, Json]:
        """Return the item as plain data."""
        lists = {name: list(getattr(self, name)) for name in ("loopholes", "clauses", "shown")}
        return {**attrs.asdict(self), **lists}


@attrs.frozen(kw_only=True)
class Items:
    """The items of one annotation.

    Attributes:
        items: The items, in the order in which they are asked.
        seed: The seed that they were drawn with.
        share: Which share of the runs was drawn.
        population: How many runs they were drawn from.
        digest: Digest of the items.
    """

    items: tuple[Item, ...]
    seed: int = 0
    share: float = 1.0
    population: int = 0
    digest: str = attrs.field(init=False)

    @digest.default
    def _digest(self) -> str:
        return digest([item.to_json() for item in self.items])

    def by_id(self) -> dict[str, Item]:
        """Return the items by their ids."""
        return {item.id: item for item in self.items}


def draw_items(
    runs: Iterable[RunWithCalls], *, share: float = 1.0, seed: int = 0, directory: Path | None = None
) -> Items:
    """Draw runs and ask, of each and every reading of its task that counts or could, whether the run is right by it.

    Args:
        runs: The runs, of any domains.
        share: Which share of the scored runs of tasks with readings to draw.
        seed: The seed.
        directory: Where the catalogues are; None for the shipped ones.

    Raises:
        CallError: No run is of a task with readings.
    """
    catalogues: dict[str, Catalogue | None] = {}
    asked: dict[str, RunWithCalls] = {}
    for run in runs:
        domain = run.verdict.domain
        if domain not in catalogues:
            catalogues[domain] = load_catalogue_for(domain, directory=directory)
        if is_asked(run.verdict) and catalogues[domain] is not None:
            asked[run_name(run.verdict)] = run
    if not asked:
        raise CallError("no scored run is of a task with readings", remedy="Name results of tasks of a catalogue.")
    drawn = draw_audit(list(asked), share, seed=seed)
    items = [item for name in drawn for item in _items(asked[name], catalogues[asked[name].verdict.domain])]
    return Items(
        items=tuple(sorted(items, key=lambda item: (item.domain, natural(item.task), item.id))),
        seed=seed,
        share=share,
        population=len(asked),
    )


def is_asked(verdict: Verdict) -> bool:
    """Tell whether a run is one of those that items are drawn from: it is scored, and its task has readings."""
    return verdict.outcome != "unscored" and bool(verdict.loopholes)


def run_name(verdict: Verdict) -> str:
    """Return what a run is called in items: its own id if it has one, else its task and trial."""
    return verdict.run_id or f"task {verdict.task_id}, trial {verdict.trial}"


def _items(run: RunWithCalls, catalogue: Catalogue | None) -> Iterator[Item]:
    verdict = run.verdict
    gold_set = catalogue.gold_sets.get(verdict.task_id) if catalogue else None
    standings = {comparison.reading: comparison.standing for comparison in verdict.comparisons}
    for reading in gold_set.readings if gold_set and catalogue else ():
        if standings.get(reading.id, "off") != "off" and catalogue is not None:
            yield _item(run, reading, catalogue)


def _item(run: RunWithCalls, reading: Reading, catalogue: Catalogue) -> Item:
    verdict = run.verdict
    loopholes = tuple(name for name in reading.positions if name in catalogue.loopholes)
    named = dict.fromkeys(clause for name in loopholes for clause in catalogue.loopholes[name].clauses)
    clauses = [catalogue.clauses[name] for name in named if name in catalogue.clauses]
    asked: dict[str, Json] = {
        "domain": verdict.domain,
        "task": verdict.task_id,
        "run": run_name(verdict),
        "reading": reading.id,
        "question": _question(reading, catalogue),
        "shown": list(map(_shown, run.calls or ())),
    }
    judged: Json = {
        "reading": [reading.id, reading.title, dict(reading.positions)],
        "clauses": [clause.fingerprint for clause in clauses],
        "question": asked["question"],
    }
    return Item(
        id=digest(asked)[:16],
        domain=verdict.domain,
        task=verdict.task_id,
        run=run_name(verdict),
        reading=reading.id,
        loopholes=loopholes,
        clauses=tuple(map(_place, clauses)),
        question=_question(reading, catalogue),
        shown=tuple(map(_shown, run.calls or ())),
        text_digest=digest(judged),
    )


def _place(clause: Clause) -> str:
    one = clause.first_line == clause.last_line
    lines = f"line {clause.first_line}" if one else f"lines {clause.first_line}-{clause.last_line}"
    return f"{clause.id} ({lines}): {clause.summary}"


def _question(reading: Reading, catalogue: Catalogue) -> str:
    sides = [
        f"{catalogue.loopholes[name].question} {_sentence(catalogue, name, side)}"
        for name, side in reading.positions.items()
        if name in catalogue.loopholes
    ]
    read = f"{reading.title}. {' '.join(sides)}".strip()
    return f"Read the policy this way: {read} Is what the run did to the database right?"


def _sentence(catalogue: Catalogue, loophole: str, side: str) -> str:
    found = (one.sentence for one in catalogue.loopholes[loophole].sides if one.id == side)
    return f"Here: {next(found, side)}"


def _shown(call: CallWithOutcome) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in (call.call.arguments or {}).items())
    return f"{call.call.name}({arguments}) -> {call.outcome}{': ' + call.message if call.message else ''}"


# The file


def write_items(items: Items, path: Path) -> None:
    """Write items to a file.

    Raises:
        MultigoldError: If it cannot be written.
    """
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "digest": items.digest,
        "seed": items.seed,
        "share": items.share,
        "population": items.population,
        "items": [item.to_json() for item in items.items],
    }
    write_records(document, path)


def read_items(path: Path) -> Items:
    """Read items from a file.

    Raises:
        CallError: If it cannot be read, has faults, or was changed since it was drawn.
    """
    top = open_records(path, SCHEMA)
    top.keys({"schema", "digest", "items"}, {"seed", "share", "population"})
    items = tuple(_read_item(item) for item in top.items("items"))
    value = top.value if isinstance(top.value, dict) else {}
    share = value.get("share")
    refuse_faults(top.found, path)
    found = Items(
        items=items,
        seed=top.number("seed") if top.has("seed") else 0,
        share=float(share) if isinstance(share, int | float) and not isinstance(share, bool) else 1.0,
        population=top.number("population") if top.has("population") else 0,
    )
    if found.digest != top.text("digest"):
        raise CallError(
            "its items are not those that its digest is of: they were changed since they were drawn",
            where=str(path),
            remedy="Draw them again with: multigold annotate draw.",
        )
    return found


def _read_item(item: Cursor) -> Item:
    names = [field.name for field in attrs.fields(Item)]
    item.keys(names)
    return Item(
        id=item.text("id"),
        domain=item.text("domain"),
        task=item.text("task"),
        run=item.text("run"),
        reading=item.text("reading"),
        loopholes=item.texts("loopholes"),
        clauses=item.texts("clauses"),
        question=item.text("question"),
        shown=item.texts("shown"),
        text_digest=item.text("text_digest"),
    )
