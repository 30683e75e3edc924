"""`multigold catalogue`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from multigold.benchmark_data import load_policy
from multigold.catalogues.loading import (
    load_catalogue,
    load_gold_sets,
    shipped_catalogues,
    shipped_directory,
)
from multigold.errors import CallError, DataError
from multigold.model.catalogue import Catalogue
from multigold.model.gold import GoldSet, Reading
from multigold.model.loophole import Loophole
from multigold.policies.lines import clause_text, policy_fingerprint
from multigold.state.explain import printable


@click.group(name="catalogue", invoke_without_command=True)
@click.option(
    "--gold-sets",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Use the catalogues in this directory instead of the shipped ones.",
)
@click.pass_context
def command(context: click.Context, gold_sets: Path | None) -> None:
    """List the entries of the catalogues, or show one of them."""
    context.obj = gold_sets
    if context.invoked_subcommand is None:
        for catalogue in _catalogues(gold_sets):
            click.echo("\n".join(_list_lines(catalogue)))
        click.echo("\nAn entry, its category, what it was seen to do to scores, and the tasks that exercise it.")


@command.command(name="show", short_help="Show an entry, such as L6: clauses, sides, readings.")
@click.argument("entry_id", metavar="ENTRY")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Directory of the benchmark's own data.")
@click.pass_obj
def show(gold_sets: Path | None, entry_id: str, data_dir: Path | None) -> None:
    """Show an entry, such as L6: its clauses in your copy of the policy, its sides, and the readings that take them."""
    catalogues = _catalogues(gold_sets)
    found = [(catalogue, entry) for catalogue in catalogues for entry in _entries(catalogue, entry_id)]
    if not found:
        known = ", ".join(dict.fromkeys(name for catalogue in catalogues for name in catalogue.loopholes))
        raise CallError(f"no entry is called {entry_id!r}", remedy=f"There are: {known}.")
    click.echo("\n\n".join(_entry_text(catalogue, entry, data_dir) for catalogue, entry in found))


def _entry_text(catalogue: Catalogue, entry: Loophole, data_dir: Path | None) -> str:
    return "\n".join(printable(line) for line in _entry_lines(catalogue, entry, data_dir))


def _catalogues(directory: Path | None) -> list[Catalogue]:
    if directory is not None:
        return list(load_gold_sets(directory).values())
    if shipped_directory() is None:
        raise CallError("this installation ships no catalogues", remedy="Name a directory with --gold-sets.")
    return [load_catalogue(name) for name in shipped_catalogues()]


def _entries(catalogue: Catalogue, entry_id: str) -> Iterator[Loophole]:
    yield from (entry for name, entry in catalogue.loopholes.items() if name.lower() == entry_id.lower())


def _list_lines(catalogue: Catalogue) -> Iterator[str]:
    yield printable(f"{catalogue.domain}: {catalogue.title}")
    for entry in catalogue.loopholes.values():
        proposed = [f"{task} (proposed)" for task in entry.proposed]
        tasks = ", ".join((*entry.tasks, *proposed)) or "none"
        kind = entry.category.value if entry.category else entry.kind
        yield printable(f"  {entry.id:4} {kind:24} {entry.effect:10} tasks {tasks}: {entry.title}")


def _entry_lines(catalogue: Catalogue, entry: Loophole, data_dir: Path | None) -> Iterator[str]:
    kind = entry.category.value.replace("_", " ") if entry.category else entry.kind
    about = [catalogue.domain, kind, entry.effect]
    about += [f"found in stage {' and '.join(stage.lstrip('S') for stage in entry.stages)}"] if entry.stages else []
    about += ["proposed by this catalogue"] if entry.status == "proposed" else []
    yield f"{entry.id} ({', '.join(about)}): {entry.title}"
    yield f"  {entry.question}"
    yield "Sides"
    yield from (f"  {side.id}: {side.sentence}" for side in entry.sides)
    yield "Clauses"
    yield from _clause_lines(catalogue, entry, data_dir)
    yield "Readings"
    yield from _reading_lines(catalogue, entry)
    yield from _side_lines(catalogue, entry)
    for heading, text in (("Decision rule", entry.decision_rule), ("Fix", entry.fix), ("Notes", entry.notes)):
        if text:
            yield from (heading, f"  {text}")


def _clause_lines(catalogue: Catalogue, entry: Loophole, data_dir: Path | None) -> Iterator[str]:
    try:
        policy = load_policy(catalogue.domain, data_dir).path.read_bytes()
    except DataError as error:
        yield f"  (the text is in your copy of the policy, which was not found: {error})"
        policy = b""
    if policy and policy_fingerprint(policy) != catalogue.policy_fingerprint:
        yield "  (your copy of the policy is a different version from the one that the clauses were taken from)"
    for clause in (catalogue.clauses[name] for name in entry.clauses):
        shown = clause_text(policy, clause)
        lines = f"lines {clause.first_line} to {clause.last_line}"
        if clause.first_line == clause.last_line:
            lines = f"line {clause.first_line}"
        yield f"  {clause.id} ({' > '.join(clause.heading)}, {lines}): {clause.summary}"
        if policy:
            yield from (f"    | {line}" for line in (shown.text or "").splitlines())
        if policy and shown.found != "same":
            yield f"    ({'these lines have moved' if shown.found == 'moved' else 'your copy has other lines here'})"


def _gold_sets(catalogue: Catalogue, entry: Loophole) -> Iterator[GoldSet]:
    yield from (gold_set for gold_set in catalogue if entry.id in gold_set.loopholes)


def _reading_lines(catalogue: Catalogue, entry: Loophole) -> Iterator[str]:
    for gold_set in _gold_sets(catalogue, entry):
        for reading in gold_set.readings:
            side = reading.positions.get(entry.id)
            if side is not None:
                yield f"  task {gold_set.task_id}, {reading.id}: {side}; {_standings(gold_set, reading)}"


def _standings(gold_set: GoldSet, reading: Reading) -> str:
    return ", ".join(
        f"{text.standing[reading.id][0]} at {text.id}" for text in gold_set.texts if reading.id in text.standing
    )


def _side_lines(catalogue: Catalogue, entry: Loophole) -> Iterator[str]:
    """Yield which side the gold of each benchmark release takes."""
    lines = [
        f"  {release}, task {gold_set.task_id}: {_gold_side(gold_set, entry, gold)}"
        for gold_set in _gold_sets(catalogue, entry)
        for text in gold_set.texts
        for gold in text.golds.values()
        for release in text.releases
    ]
    if lines:
        yield "Sides that the benchmark's golds take"
        yield from lines


def _gold_side(gold_set: GoldSet, entry: Loophole, gold: str | None) -> str:
    if gold is None:
        return "no reading (a conflict)"
    side = gold_set.reading(gold).positions.get(entry.id, "takes no side")
    return f"{side} ({gold})"
