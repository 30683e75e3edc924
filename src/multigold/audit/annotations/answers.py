"""What annotators answered: one file each, never another's; what became of disagreements is a file of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import attrs

from multigold.audit.annotations.items import Item, Items
from multigold.errors import CallError
from multigold.files.cursor import Cursor
from multigold.files.records import open_records, refuse_faults, write_records
from multigold.state.canonical import Json
from multigold.stats.agreement import Agreement, agreement_of, reading_weights
from multigold.stats.prediction_powered import CorrectedRate, corrected_rate
from multigold.stats.rows import natural

SCHEMA: Final = "multigold/annotations/1"
"""Name and version of the form."""

Answer: TypeAlias = Literal["yes", "no", "unclear"]
Kind: TypeAlias = Literal["person", "model"]

ANSWERS: tuple[Answer, ...] = get_args(Answer)


@attrs.frozen(kw_only=True)
class Annotation:
    """One answer.

    Attributes:
        item: Id of the item.
        answer: The answer.
        when: When it was given, in UTC, as ISO 8601 text.
        text_digest: Digest of the text that was judged.
        note: Why, in a few words; empty if nothing was said.
        settles: For an adjudication, what each annotator had answered.
    """

    item: str
    answer: Answer
    when: str
    text_digest: str
    note: str = ""
    settles: Mapping[str, str] = attrs.field(factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the answer as plain data."""
        plain: dict[str, Json] = {
            "item": self.item,
            "answer": self.answer,
            "when": self.when,
            "text_digest": self.text_digest,
            "note": self.note,
        }
        return {**plain, "settles": dict(self.settles)} if self.settles else plain


@attrs.frozen(kw_only=True)
class Annotations:
    """The answers of one annotator.

    Attributes:
        annotator: Who answered.
        kind: A person, or a model; what a model answers is a proposal and decides nothing.
        made_by: For a model, what made the answers: its name, version, prompt; empty for a person.
        items_digest: Digest of the items that were answered.
        adjudicates: Whether these answers settle what others disagreed on.
        answers: The answers, one per item at most.
    """

    annotator: str
    kind: Kind = "person"
    made_by: str = ""
    items_digest: str
    adjudicates: bool = False
    answers: tuple[Annotation, ...] = ()

    def by_item(self) -> dict[str, Annotation]:
        """Return the answers by item."""
        return {answer.item: answer for answer in self.answers}


def write_annotations(annotations: Annotations, path: Path) -> None:
    """Write answers to a file.

    Raises:
        MultigoldError: If it cannot be written.
    """
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "annotator": {"name": annotations.annotator, "kind": annotations.kind, "made_by": annotations.made_by},
        "items_digest": annotations.items_digest,
        "adjudicates": annotations.adjudicates,
        "answers": [answer.to_json() for answer in annotations.answers],
    }
    write_records(document, path)


def read_annotations(path: Path, items: Items) -> Annotations:
    """Read answers from a file.

    Args:
        path: The file.
        items: The items that they should answer.

    Raises:
        CallError: If it cannot be read, has faults, is of other items, or does not say which model made it.
    """
    top = open_records(path, SCHEMA)
    top.keys({"schema", "annotator", "items_digest", "answers"}, {"adjudicates"})
    who = top.at("annotator") if top.has("annotator") else Cursor({}, top.file, top.found, ("annotator",))
    who.keys({"name", "kind"}, {"made_by"})
    known = items.by_id()
    answers = tuple(_read_answer(answer, known) for answer in top.items("answers"))
    kind = who.word("kind", get_args(Kind), "person")
    if kind == "model" and not who.text("made_by"):
        who.fault("made-by", "a model's answers must say in `made_by` what made them")
    if top.text("items_digest") != items.digest:
        top.fault("other-items", "these are answers to other items, or the items were drawn again since")
    repeated = [item for item in {a.item for a in answers} if sum(a.item == item for a in answers) > 1]
    for item in sorted(repeated):
        top.fault("repeated", f"item {item} is answered more than once")
    refuse_faults(top.found, path)
    return Annotations(
        annotator=who.text("name"),
        kind="model" if kind == "model" else "person",
        made_by=who.text("made_by"),
        items_digest=top.text("items_digest"),
        adjudicates=top.flag("adjudicates"),
        answers=answers,
    )


def _read_answer(answer: Cursor, known: Mapping[str, Item]) -> Annotation:
    answer.keys({"item", "answer", "when", "text_digest"}, {"note", "settles"})
    name = answer.text("item")
    if name not in known:
        answer.fault("unknown-item", f"there is no item {name!r}")
    elif answer.text("text_digest") != known[name].text_digest:
        answer.fault("other-text", f"item {name} was answered on another text than the one that is asked now")
    word = answer.word("answer", ANSWERS, "unclear")
    return Annotation(
        item=name,
        answer=next(one for one in ANSWERS if one == word),
        when=answer.text("when"),
        text_digest=answer.text("text_digest"),
        note=answer.text("note"),
        settles={key: str(value.value) for key, value in answer.members("settles")} if answer.has("settles") else {},
    )


# What follows from them


@attrs.frozen(kw_only=True)
class LoopholeAgreement:
    """How far people agree on the items of one loophole.

    Attributes:
        loophole: The loophole; empty for all items together.
        coefficients: Kappa, if there are two people, and alpha.
        disputed: Ids of the items that they answer differently.
    """

    loophole: str
    coefficients: tuple[Agreement, ...]
    disputed: tuple[str, ...]


def people(annotations: Iterable[Annotations]) -> tuple[Annotations, ...]:
    """Return what people answered by themselves: neither models' proposals nor adjudications.

    Raises:
        CallError: If fewer than two people did, or two files are of one person.
    """
    found = [one for one in annotations if one.kind == "person" and not one.adjudicates]
    names = [one.annotator for one in found]
    if len(set(names)) < len(names):
        raise CallError("two files are of the same annotator", remedy="Agreement is between different people.")
    if len(found) < 2:
        raise CallError(
            f"agreement needs the answers of two people, and there are {len(found)}",
            remedy="What models answer are proposals, and are not counted.",
        )
    return tuple(found)


def agreement_by_loophole(
    items: Items, annotations: Sequence[Annotations], *, level: float = 0.95, seed: int = 0
) -> tuple[LoopholeAgreement, ...]:
    """Return kappa and alpha for all items, then for those of each loophole, with what is disputed.

    Args:
        items: The items.
        annotations: The answers of people; see `people`.
        level: Coverage of the intervals.
        seed: Seed of the intervals.
    """
    loopholes = sorted({name for item in items.items for name in item.loopholes}, key=natural)
    found = []
    for loophole in ("", *loopholes):
        own = [item for item in items.items if not loophole or loophole in item.loopholes]
        answers = [answers_to(item, annotations) for item in own]
        found.append(
            LoopholeAgreement(
                loophole=loophole,
                coefficients=agreement_of(answers, level=level, seed=seed),
                disputed=tuple(i.id for i, a in zip(own, answers, strict=True) if len(set(a.values())) > 1),
            )
        )
    return tuple(found)


def answers_to(item: Item, annotations: Iterable[Annotations]) -> dict[str, str]:
    """Return what each annotator answered to an item, as far as they did."""
    return {one.annotator: found.answer for one in annotations if (found := one.by_item().get(item.id)) is not None}


def settled(items: Items, annotations: Sequence[Annotations], adjudication: Annotations | None) -> dict[str, Answer]:
    """Return the answer to each item on which people agree, or that was adjudicated.

    Args:
        items: The items.
        annotations: The answers of people.
        adjudication: What became of disagreements; None if they are open.
    """
    decided = adjudication.by_item() if adjudication else {}
    found: dict[str, Answer] = {}
    for item in items.items:
        answers = set(answers_to(item, annotations).values())
        if len(answers) == 1:
            (answer,) = answers
            found[item.id] = next(one for one in ANSWERS if one == answer)
        elif item.id in decided:
            found[item.id] = decided[item.id].answer
    return found


def audited_runs(items: Items, answers: Mapping[str, Answer]) -> dict[str, bool]:
    """Return for each run whether people say that it is right under some reading; runs with an open item are left out.

    A run that is right under one reading is right, whatever is open about others.
    """
    found: dict[str, bool] = {}
    for run, own in _by_run(items):
        said = [answers.get(item.id, "unclear") for item in own]
        if "yes" in said:
            found[run] = True
        elif all(one == "no" for one in said):
            found[run] = False
    return found


def _by_run(items: Items) -> Iterator[tuple[str, list[Item]]]:
    runs: dict[str, list[Item]] = {}
    for item in items.items:
        runs.setdefault(item.run, []).append(item)
    yield from runs.items()


def corrected_by_audit(
    items: Items, answers: Mapping[str, Answer], verdicts: Mapping[str, bool], *, level: float = 0.95
) -> CorrectedRate:
    """Return the rate of all runs of tasks with readings, corrected by what people say of those that were drawn.

    Args:
        items: The items.
        answers: The settled answers.
        verdicts: For every run that the items were drawn from, whether it is a success by its verdict.
        level: Coverage of the interval.

    Raises:
        CallError: No run is settled, or the runs are not those that the items were drawn from.
    """
    said = audited_runs(items, answers)
    strangers = sorted(set(said) - set(verdicts))
    if strangers or len(verdicts) != items.population:
        raise CallError(
            f"the items were drawn from {items.population} runs, and these are {len(verdicts)}"
            + (f" without {strangers[0]}" if strangers else ""),
            remedy="Name the same results as when the items were drawn.",
        )
    return corrected_rate(list(verdicts.values()), [(verdicts[run], right) for run, right in said.items()], level=level)


def weights_of(items: Items, annotations: Iterable[Annotations]) -> dict[str, float]:
    """Return how far people agree that runs are right by each reading, as `task/reading`."""
    known = items.by_id()
    said = [
        (f"{known[answer.item].task}/{known[answer.item].reading}", answer.answer)
        for one in annotations
        for answer in one.answers
        if answer.item in known
    ]
    return reading_weights(said)
