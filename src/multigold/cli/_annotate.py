"""`multigold annotate`: a group of its own, one command for each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import click

from multigold.audit.annotations.answers import (
    ANSWERS,
    Annotation,
    Annotations,
    LoopholeAgreement,
    agreement_by_loophole,
    answers_to,
    corrected_by_audit,
    people,
    read_annotations,
    settled,
    weights_of,
    write_annotations,
)
from multigold.audit.annotations.items import Item, Items, draw_items, is_asked, read_items, run_name, write_items
from multigold.catalogues.loading import load_catalogue_for
from multigold.cli._common import make_options, print_all, scoring_options, strata_option, write_json
from multigold.errors import CallError
from multigold.model.verdict import Verdict, is_success
from multigold.rescoring import rescore
from multigold.rescoring.run_calls import runs_with_calls
from multigold.state.canonical import Json
from multigold.state.explain import printable
from multigold.stats.agreement import Agreement, weighted_rate
from multigold.stats.multiverse import universe_run
from multigold.stats.rows import plain

PATH = click.Path(path_type=Path)


@click.group(name="annotate")
def command() -> None:
    """Let people judge runs by readings, blind and twice, and see how far they agree.

    draw the items once, answer them in one file per annotator, look at agreement, adjudicate what is disputed, and
    correct the rate of all runs by those that were looked at.
    """


@command.command(name="draw")
@click.argument("results", type=click.Path(), nargs=-1, required=True)
@click.option("--out", type=PATH, required=True, help="Where to write the items.")
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=0.1, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draw.")
@strata_option
@scoring_options
def draw(results: tuple[str, ...], out: Path, share: float, seed: int, **values: Any) -> None:
    """Draw runs from RESULTS and write what is asked of them: one item for each reading of the run's task."""
    options = make_options(values)
    runs = [run for path in results for run in runs_with_calls(path, options=options)]
    items = draw_items(runs, share=share, seed=seed, directory=options.gold_sets)
    write_items(items, out)
    drawn = len({item.run for item in items.items})
    click.echo(
        f"{len(items.items)} items of {drawn} of {items.population} runs, seed {seed}, digest {items.digest[:12]}"
    )


@command.command(name="answer")
@click.argument("items_path", metavar="ITEMS", type=PATH)
@click.argument("answers_path", metavar="ANSWERS", type=PATH)
@click.option("--as", "name", required=True, help="Who answers.")
def answer(items_path: Path, answers_path: Path, name: str) -> None:
    """Ask the items of ITEMS one by one, and keep the answers in ANSWERS after each of them.

    Items that are answered already are not asked again. Nobody else's answers are read or shown.
    """
    items = read_items(items_path)
    own = _own(answers_path, items, name, adjudicates=False)
    _ask(items, own, answers_path, lambda item: _lines(item))


@command.command(name="adjudicate")
@click.argument("items_path", metavar="ITEMS", type=PATH)
@click.argument("answers_paths", metavar="ANSWERS...", type=PATH, nargs=-1, required=True)
@click.option("--out", type=PATH, required=True, help="Where to keep the decisions.")
@click.option("--as", "name", required=True, help="Who decides.")
def adjudicate(items_path: Path, answers_paths: tuple[Path, ...], out: Path, name: str) -> None:
    """Ask the items on which annotators differ, with the answers but not whose they are, and keep what is decided."""
    items = read_items(items_path)
    both = people(read_annotations(path, items) for path in answers_paths)
    disputed = {item.id: answers_to(item, both) for item in items.items}
    disputed = {item: answers for item, answers in disputed.items() if len(set(answers.values())) > 1}
    own = _own(out, items, name, adjudicates=True)
    chosen = attrs.evolve(items, items=tuple(item for item in items.items if item.id in disputed))

    def shown(item: Item) -> list[str]:
        notes = sorted(note for one in both if (note := one.by_item()[item.id].note)) if item.id in disputed else []
        return [*_lines(item), f"answered: {', '.join(sorted(disputed[item.id].values()))}", *notes]

    _ask(chosen, own, out, shown, settles=disputed)


@command.command(name="agree")
@click.argument("items_path", metavar="ITEMS", type=PATH)
@click.argument("answers_paths", metavar="ANSWERS...", type=PATH, nargs=-1, required=True)
@click.option("--level", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True)
@click.option("--json", "json_path", type=PATH, help="Write as JSON; - for stdout.")
def agree(items_path: Path, answers_paths: tuple[Path, ...], level: float, json_path: Path | None) -> None:
    """Say how far people agree: Cohen's kappa and Krippendorff's alpha, over all items and for each loophole."""
    items = read_items(items_path)
    everyone = [read_annotations(path, items) for path in answers_paths]
    found = agreement_by_loophole(items, people(everyone), level=level)
    if json_path is not None:
        rows: Json = plain(found)
        write_json({"schema": "multigold/agreement/1", "items": items.digest, "agreement": rows}, json_path)
    if json_path != Path("-"):
        proposals = [one for one in everyone if one.kind == "model"]
        notes = [f"{one.annotator}: {len(one.answers)} proposals of a model ({one.made_by})" for one in proposals]
        print_all([printable(line) for line in (*_agreement_lines(found), *notes)])


@command.command(name="audit")
@click.argument("items_path", metavar="ITEMS", type=PATH)
@click.argument("results", type=click.Path(), nargs=-1, required=True)
@click.option("--answers", "answers_paths", type=PATH, multiple=True, required=True, help="A file of answers.")
@click.option("--adjudicated", type=PATH, help="What was decided of disputed items.")
@click.option("--level", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True)
@click.option("--json", "json_path", type=PATH, help="Write as JSON; - for stdout.")
@strata_option
@scoring_options
def audit(
    items_path: Path,
    results: tuple[str, ...],
    answers_paths: tuple[Path, ...],
    adjudicated: Path | None,
    level: float,
    json_path: Path | None,
    **values: Any,
) -> None:
    """Correct the rate of all runs in RESULTS of tasks with readings by what people say of those that were drawn."""
    options = make_options(values)
    items = read_items(items_path)
    both = people(read_annotations(path, items) for path in answers_paths)
    decided = read_annotations(adjudicated, items) if adjudicated else None
    if decided is not None and (decided.kind == "model" or not decided.adjudicates):
        raise CallError("it is not an adjudication by a person", where=str(adjudicated))
    runs = [verdict for path in results for verdict in rescore(path, options=options).verdicts if is_asked(verdict)]
    runs = [run for run in runs if load_catalogue_for(run.domain, directory=options.gold_sets) is not None]
    found = corrected_by_audit(items, settled(items, both, decided), _successes(runs), level=level)
    weighted = weighted_rate(map(universe_run, runs), weights_of(items, both))
    overturned = "{} successes, {} failures".format(*found.overturned)
    if json_path is not None:
        corrected: Json = plain(found)
        document: dict[str, Json] = {"schema": "multigold/audited/1", "items": items.digest, "corrected": corrected}
        write_json({**document, "weighted_by_agreement": weighted}, json_path)
    if json_path != Path("-"):
        print_all(
            [
                f"{found.verdicts:.4f} of {found.runs} runs of tasks with readings succeed by their verdicts",
                f"{found.corrected:.4f} corrected by {found.audited} audited runs, {level:.0%} interval "
                f"{found.low:.4f} to {found.high:.4f}; overturned: {overturned}",
                f"{found.audit_alone:.4f} by the audited runs alone, {found.audit_low:.4f} to {found.audit_high:.4f}",
                f"{'-' if weighted is None else f'{weighted:.4f}'} with each success weighted by how far people agree",
            ]
        )


def _successes(verdicts: Iterable[Verdict]) -> dict[str, bool]:
    return {run_name(verdict): bool(is_success(verdict.rewards.core)) for verdict in verdicts}


def _own(path: Path, items: Items, name: str, *, adjudicates: bool) -> Annotations:
    """Return the answers that are there already, or none."""
    if not path.exists():
        return Annotations(annotator=name, items_digest=items.digest, adjudicates=adjudicates)
    own = read_annotations(path, items)
    if own.annotator != name or own.kind == "model" or own.adjudicates != adjudicates:
        raise CallError(
            f"it holds {'an adjudication' if own.adjudicates else 'answers'} of {own.annotator!r}",
            where=str(path),
            remedy="Each annotator has a file of their own.",
        )
    return own


def _ask(
    items: Items,
    own: Annotations,
    path: Path,
    shown: Callable[[Item], Sequence[str]],
    *,
    settles: dict[str, dict[str, str]] | None = None,
) -> None:
    left = [item for item in items.items if item.id not in own.by_item()]
    for number, item in enumerate(left, start=1):
        click.echo(f"\n{number} of {len(left)}")
        print_all([printable(line) for line in shown(item)])
        said = click.prompt("Right?", type=click.Choice([*ANSWERS, "stop"]))
        if said == "stop":
            break
        found = Annotation(
            item=item.id,
            answer=next(one for one in ANSWERS if one == said),
            when=datetime.now(UTC).isoformat(timespec="seconds"),
            text_digest=item.text_digest,
            note=click.prompt("Why", default="", show_default=False),
            settles=(settles or {}).get(item.id, {}),
        )
        own = attrs.evolve(own, answers=(*own.answers, found))
        write_annotations(own, path)
    asked = {item.id for item in items.items}
    click.echo(f"{sum(one.item in asked for one in own.answers)} of {len(asked)} items are answered.")


def _lines(item: Item) -> list[str]:
    heading = f"{item.domain}, task {item.task}, run {item.run}, reading {item.reading}"
    loopholes = [f"loopholes: {', '.join(item.loopholes)}"] if item.loopholes else []
    did = ["What the run did:", *(f"  {line}" for line in item.shown or ("nothing is recorded",))]
    return [heading, *loopholes, *(f"  {clause}" for clause in item.clauses), *did, item.question]


def _agreement_lines(found: Sequence[LoopholeAgreement]) -> list[str]:
    lines = []
    for one in found:
        texts = ", ".join(map(_coefficient, one.coefficients))
        disputed = f"; {len(one.disputed)} items disputed" if one.disputed else ""
        lines.append(f"{one.loophole or 'all items'}: {texts}{disputed}")
    return lines


def _coefficient(one: Agreement) -> str:
    if one.value is None:
        return f"{one.name} is not defined ({one.units} items, all answers alike)"
    interval = "" if one.low is None or one.high is None else f" ({one.low:.3f} to {one.high:.3f})"
    return f"{one.name} {one.value:.3f}{interval} on {one.units} items"
