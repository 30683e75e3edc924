"""The catalogue of one domain: clauses, loopholes and gold sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from multigold.model.gold import GoldSet
from multigold.model.loophole import Clause, Loophole
from multigold.model.task import Task


@attrs.frozen(kw_only=True)
class Catalogue:
    """Clauses, loopholes and gold sets of one domain.

    Attributes:
        domain: The environment that it is for, such as `tau2-airline`.
        title: A few words.
        policy_fingerprint: SHA-256 of the bytes of the policy that the clauses refer to.
        clauses: By id.
        loopholes: By id.
        gold_sets: By task id.
        paper_split: Task ids of the paper's two-way split; empty if it has none.
        digest: SHA-256 over the content of all the catalogue's files.
        source: The directory that it was read from.
    """

    domain: str
    title: str = ""
    policy_fingerprint: str = ""
    clauses: Mapping[str, Clause] = attrs.field(factory=dict)
    loopholes: Mapping[str, Loophole] = attrs.field(factory=dict)
    gold_sets: Mapping[str, GoldSet] = attrs.field(factory=dict)
    paper_split: tuple[str, ...] = ()
    digest: str = ""
    source: str = ""

    def __iter__(self) -> Iterator[GoldSet]:
        return iter(self.gold_sets.values())

    def gold_set(self, task: Task) -> GoldSet | None:
        """Return the gold set for this task's text, its readings with their standing; None if none applies."""
        gold_set = self.gold_sets.get(task.id)
        return None if gold_set is None else gold_set.for_text(task.text_fingerprint())

    def knows_other_text(self, task: Task) -> bool:
        """Tell whether the task is listed, but this text of it is unknown."""
        return task.id in self.gold_sets and self.gold_set(task) is None
