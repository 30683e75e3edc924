"""What a pile of runs says about the golds: end states that several independent agents reach and the gold is not.

Such a state is a candidate reading, or a common error; which of the two is for a person to say, from the policy and not
from the runs. So a discovery never becomes a reading by itself: its stub stands `off` and says who got there.

An agent counts once however many trials it had, because trials of one agent are not independent; runs only order
discoveries that have as many agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import attrs

from multigold.audit.runs.clusters import Cluster, cluster_runs
from multigold.audit.runs.judged import AuditedRun, LeftOut
from multigold.state.canonical import Json
from multigold.stats.rows import natural

KnownAs: TypeAlias = Literal["reading", "off", "known_error", "gold_elsewhere", "new"]
"""What is known of a state: it is in a reading that may count; in one that is off; it is a negative example; it is the
gold of another text or release; or nothing."""


@attrs.frozen(kw_only=True, eq=False)
class Discovery:
    """An end state that runs reached although it is not their gold.

    Attributes:
        cluster: The state and its runs.
        known: What is known of it.
    """

    cluster: Cluster
    known: KnownAs

    @property
    def idle(self) -> int:
        """Runs among its supporters that never did anything with success, so that an untouched state says nothing."""
        return sum(not supporter.looked for supporter in self.cluster.against)

    def to_json(self) -> dict[str, Json]:
        """Return the discovery as plain data."""
        return {"known": self.known, "idle": self.idle, **self.cluster.to_json()}


@attrs.frozen(kw_only=True, eq=False)
class Discoveries:
    """What was found in a pile of runs.

    Attributes:
        found: Best supported first.
        runs: Runs that were grouped.
        at_gold: Runs among them that ended where their gold does.
        left_out: Reason code to number of runs that were not grouped.
        equivalences: Equivalences under which states were grouped.
    """

    found: tuple[Discovery, ...]
    runs: int
    at_gold: int
    left_out: Mapping[str, int]
    equivalences: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return everything as plain data."""
        return {
            "schema": "multigold/discoveries/1",
            "runs": self.runs,
            "at_gold": self.at_gold,
            "left_out": dict(self.left_out),
            "equivalences": list(self.equivalences),
            "found": [discovery.to_json() for discovery in self.found],
        }


def discover(runs: Iterable[AuditedRun | LeftOut], *, min_agents: int = 2) -> Discoveries:
    """Group the end states of runs and rank those that are not the gold.

    Args:
        runs: The runs. Those that did not come to a normal end are left out: they decided nothing.
        min_agents: Fewest different agents that must have reached a state.

    Returns:
        The discoveries, ranked by agents, then runs, then task; the same for any order of the runs.
    """
    left_out: Counter[str] = Counter()
    equivalences: set[tuple[str, ...]] = set()

    def grouped() -> Iterable[AuditedRun]:
        for run in runs:
            if isinstance(run, LeftOut):
                left_out[run.reason.code] += 1
            elif not run.ended:
                left_out["ended_early"] += 1
            else:
                equivalences.add(run.golds.equivalences)
                yield run

    clusters = cluster_runs(grouped())
    found = [Discovery(cluster=c, known=known_as(c)) for c in clusters if len(c.agents) >= max(min_agents, 1)]
    return Discoveries(
        found=tuple(sorted(found, key=_rank)),
        runs=sum(len(cluster.supporters) for cluster in clusters),
        at_gold=sum(len(cluster.supporters) - len(cluster.against) for cluster in clusters),
        left_out=dict(sorted(left_out.items())),
        equivalences=next(iter(equivalences), ()),
    )


def _rank(discovery: Discovery) -> tuple[object, ...]:
    cluster = discovery.cluster
    return -len(cluster.agents), -len(cluster.against), cluster.domain, natural(cluster.task.id), cluster.id


def known_as(cluster: Cluster) -> KnownAs:
    """Return what is known of a cluster's state."""
    standings = {match.standing for match in cluster.matches}
    if standings & {"core", "contested"}:
        return "reading"
    if standings:
        return "off"
    if cluster.negatives:
        return "known_error"
    return "gold_elsewhere" if cluster.golds_elsewhere else "new"
