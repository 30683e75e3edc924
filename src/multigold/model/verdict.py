"""What scoring says of one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import attrs

from multigold.model.gold import Standing
from multigold.model.reason import Reason as Reason
from multigold.model.trajectory import Recorded
from multigold.state.canonical import Json
from multigold.state.delta import Delta

Outcome: TypeAlias = Literal["matched", "unmatched", "unscored"]
EvidenceState: TypeAlias = Literal["not_asked", "met", "unmet", "unknown"]
Stratum: TypeAlias = Literal["affected", "resolved", "free", "conflict", "other_version"]

SUCCESS_TOLERANCE = 1e-6
"""A reward within this of 1 is a success (tau2, `metrics/agent_metrics.py`)."""


def is_success(reward: float | None) -> bool | None:
    """Tell whether a reward is a success; None if there is no reward."""
    return None if reward is None else abs(reward - 1.0) <= SUCCESS_TOLERANCE


@attrs.frozen(kw_only=True)
class Match:
    """A reading that the end state is in.

    Attributes:
        reading: The reading's id.
        standing: Its standing for this task text.
        equivalences: Names of the equivalences that were needed; empty for a strict match.
        evidence: Whether the run has the evidence that the reading asks for.
        vacuous: Whether the match is worth nothing, for want of evidence or because the run never got to decide.
        member: Which of the reading's end states it is, where they have names.
        positions: For each loophole that the reading takes a side of, that side.
        reward: The run's reward if this reading alone counted, in 0..1; None if a factor that it needs is missing.
    """

    reading: str
    standing: Standing
    equivalences: tuple[str, ...] = ()
    evidence: EvidenceState = "not_asked"
    vacuous: bool = False
    member: str = ""
    positions: Mapping[str, str] = attrs.field(factory=dict)
    reward: float | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the match as plain data."""
        return {
            "reading": self.reading,
            "standing": self.standing,
            "equivalences": list(self.equivalences),
            "evidence": self.evidence,
            "vacuous": self.vacuous,
            "member": self.member,
            "positions": dict(self.positions),
            "reward": self.reward,
        }


@attrs.frozen(kw_only=True)
class Comparison:
    """One reading held against the end state.

    Attributes:
        reading: The reading's id.
        title: Its title.
        standing: Its standing for this task text.
        match: The match; None if the end state is not in the reading.
        delta: From the reading's nearest end state to the run's; empty if matched, None for a pattern.
        faults: For a pattern, what it refuses, each a sentence.
        width: How many end states the reading admits; None if a pattern leaves it open.
    """

    reading: str
    title: str = ""
    standing: Standing
    match: Match | None = None
    delta: Delta | None = None
    faults: tuple[str, ...] = ()
    width: int | None = None


@attrs.frozen(kw_only=True)
class Fidelity:
    """How well the replay followed the record.

    Attributes:
        calls: Calls in the record.
        replayed: Calls that ran and succeeded.
        refused: Calls that the environment refused.
        unknown: Calls of tools that the environment does not have.
        skipped: Calls that were not replayed: reads whose recorded outcome was taken as it stands, and calls that
            nobody carried out.
        differing: Recorded results that differ from the recomputed ones.
        first_difference: The first of them, in a sentence; empty if there is none.
        drift: Why the replay cannot be trusted; empty if it can.
    """

    calls: int = 0
    replayed: int = 0
    refused: int = 0
    unknown: int = 0
    skipped: int = 0
    differing: int = 0
    first_difference: str = ""
    drift: str = ""


@attrs.frozen(kw_only=True)
class Rewards:
    """The reward under each way of counting, in 0..1; None if a factor that it needs is missing.

    Attributes:
        single: The benchmark's gold alone, strictly compared.
        core: Any core reading.
        core_or_single: The better of the two.
        with_contested: Any core or contested reading.
        core_strict: `core` without equivalences; equal to it while none is on.
    """

    single: float | None = None
    core: float | None = None
    core_or_single: float | None = None
    with_contested: float | None = None
    core_strict: float | None = None


@attrs.frozen(kw_only=True)
class Nearest:
    """The reading that a run came closest to without a match that counts.

    It is one that is `off` only where there is no other: such a reading is no end that a run should have come to.

    Attributes:
        reading: The reading's id.
        delta: From the reading's nearest end state to the run's; None if the reading is a pattern.
        faults: For a pattern, what it refuses.
    """

    reading: str
    delta: Delta | None = None
    faults: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Verdict:
    """What scoring says of one run.

    Attributes:
        outcome: `matched`, `unmatched`, or `unscored` (which is not zero).
        matched: Ids of the readings that count under the options in force.
        matches: All readings that the end state is in.
        comparisons: Every reading held against the end state; empty if the run could not be replayed.
        benchmark_matched: Whether the benchmark's own gold matches strictly; None if it states none or is unscored.
        benchmark_faults: What is wrong with the benchmark's gold, such as `gold_broken`.
        repaired_matched: Whether the benchmark's gold matches once it is synchronised as a run is; None if that
            makes no difference to the gold (else it is marked `gold_not_synced`).
        benchmark_readings: Readings that admit the benchmark's own gold.
        reason: Why the outcome is not `matched`; None if it is.
        rewards: The reward columns.
        bounds: Lowest and highest reward that is possible where a factor is missing; None if none is.
        recorded: The verdict in the file.
        stratum: The run's stratum; see the documentation of strata.
        fidelity: How well the replay followed the record.
        ignored: Tables that the run wrote to and that do not count, as the domain declares them to be logs.
        end_state: Fingerprint of what the run changed; equal for runs of one task that end alike, empty if unknown.
        do_nothing: Rewards of a run that does nothing at all on this task.
        always_refuse: Rewards of a run that leaves the database untouched and has all evidence.
        random: Mean rewards of an agent that picks blindly among the end states that the task is known to have.
        adversarial: Rewards of an agent that has learnt the published golds by heart, and refuses where that pays more.
        other_scorer: What another scorer's file says of the run, and what it would say with our verdict on the
            database in place of its own; empty for files that only the benchmark scored.
    """

    outcome: Outcome
    matched: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    benchmark_matched: bool | None = None
    benchmark_faults: tuple[str, ...] = ()
    repaired_matched: bool | None = None
    benchmark_readings: tuple[str, ...] = ()
    reason: Reason | None = None
    rewards: Rewards = attrs.field(factory=Rewards)
    bounds: tuple[float, float] | None = None
    recorded: Recorded = attrs.field(factory=Recorded)
    stratum: Stratum = "free"
    termination: str | None = None
    fidelity: Fidelity = attrs.field(factory=Fidelity)
    ignored: tuple[str, ...] = ()
    end_state: str = ""
    do_nothing: Rewards = attrs.field(factory=Rewards)
    always_refuse: Rewards = attrs.field(factory=Rewards)
    random: Rewards = attrs.field(factory=Rewards)
    adversarial: Rewards = attrs.field(factory=Rewards)
    task_id: str = ""
    run_id: str = ""
    trial: int = 0
    agent: str = ""
    file: str = ""
    domain: str = ""
    loopholes: tuple[str, ...] = ()
    positions: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    other_scorer: Mapping[str, Json] = attrs.field(factory=dict)

    @property
    def nearest(self) -> Nearest | None:
        """The reading that came closest, by number of differing pointers; None if one counts or none is known.

        One that is `off` comes after all others.
        """
        if self.matched or not self.comparisons:
            return None
        closest = min(self.comparisons, key=_rank)
        return Nearest(reading=closest.reading, delta=closest.delta, faults=closest.faults)

    def explain(self, *, limit: int = 30) -> str:
        """Return text that names every reading with "matched" or the fields that differ.

        Args:
            limit: Lines per reading; what is left out is counted.
        """
        from multigold.model.explanation import explain_verdict

        return explain_verdict(self, limit=limit)


def _rank(comparison: Comparison) -> tuple[bool, int]:
    differences = len(comparison.faults) if comparison.delta is None else len(comparison.delta)
    return comparison.standing == "off", differences
