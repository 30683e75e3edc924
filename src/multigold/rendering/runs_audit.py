"""Discoveries and traces as tables and lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from multigold.audit.runs.clusters import Cluster
from multigold.audit.runs.discover import Discoveries, Discovery
from multigold.audit.runs.traces import TaskSummary, TraceAudit, TraceRecord, standing_of, summarise_traces
from multigold.state.canonical import Json, canonical_text
from multigold.state.explain import explain_delta, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

DISCOVERY_NOTE = (
    "An end state that several agents reach although the gold fails them is a candidate reading or a common error: "
    "the policy decides, not the number of agents. None of these is a reading yet."
)

_KNOWN = {
    "reading": "in a reading",
    "off": "in a reading that is off",
    "known_error": "a known error",
    "gold_elsewhere": "the gold elsewhere",
    "new": "new",
}


def discovery_tables(found: Discoveries, *, top: int) -> list[RenderableType]:
    """Return the discoveries as a table, best supported first, with what was counted and what was left out.

    Args:
        found: The discoveries.
        top: Most rows.
    """
    left_out = ", ".join(f"{number} {code}" for code, number in found.left_out.items()) or "none"
    under = f" under {', '.join(found.equivalences)}" if found.equivalences else ""
    lines = [
        f"{found.runs} runs grouped by end state{under}; {found.at_gold} ended where their gold does",
        f"left out: {left_out}",
        f"{len(found.found)} other end states reached by enough agents; the first {min(top, len(found.found))}:",
    ]
    return [*map(printable, lines), _discovery_table(found.found[:top]), DISCOVERY_NOTE]


def _discovery_table(found: tuple[Discovery, ...]) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in (
        "state",
        "task",
        "text",
        "agents",
        "runs",
        "known",
        "calls that led there",
        "differs from the gold in",
    ):
        table.add_column(heading, overflow="fold")
    for discovery in found:
        cluster = discovery.cluster
        idle = f", {discovery.idle} idle" if discovery.idle else ""
        table.add_row(
            *map(printable, (cluster.id, cluster.task.id, cluster.text)),
            str(len(cluster.agents)),
            f"{len(cluster.against)} of {cluster.of}{idle}",
            printable(known_text(discovery)),
            call_lines(cluster),
            _gold_lines(cluster),
        )
    return table


def known_text(discovery: Discovery) -> str:
    """Return what is known of a discovery, with the names."""
    cluster = discovery.cluster
    readings = [f"{match.reading} ({match.standing})" for match in cluster.matches]
    parts = [_KNOWN[discovery.known], *readings, *cluster.negatives]
    parts += [f"gold of {name}" for name in cluster.golds_elsewhere]
    parts += [f"{len(cluster.faults)} invariants broken"] if cluster.faults else []
    return "; ".join(parts)


def call_lines(cluster: Cluster) -> str:
    """Return the changing calls that led to a state, one a line."""
    if cluster.untouched:
        return "nothing changed"
    return "\n".join(call_text(call.to_json()) for call in cluster.calls)


def call_text(call: Mapping[str, Json], width: int = 160) -> str:
    """Return a call as `name {arguments}`, cut to a width."""
    text = f"{call.get('name')} {canonical_text(call.get('arguments'))}"
    return printable(text if len(text) <= width else f"{text[:width]}...")


def _gold_lines(cluster: Cluster) -> str:
    if cluster.from_gold is None:
        return "no gold"
    return "\n".join(explain_delta(cluster.from_gold, limit=4))


# Traces


def trace_tables(audit: TraceAudit) -> list[RenderableType]:
    """Return the runs that the single gold fails as a table by task, with what was counted and left out."""
    left_out = ", ".join(f"{number} {code}" for code, number in audit.left_out.items()) or "none"
    lines = [
        f"{audit.runs} runs followed: {audit.passed} in the gold's state, {len(audit.records)} not, {audit.no_gold} "
        f"without a gold; left out: {left_out}"
    ]
    if audit.other_basis:
        lines.append(f"{audit.other_basis} of them are of tasks whose reward does not use the database")
    if audit.kept:
        lines.append(f"{len(audit.kept)} records of other runs are kept")
    return [*map(printable, lines), _task_table(summarise_traces(audit))]


def _task_table(summaries: tuple[TaskSummary, ...]) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(title="Runs that the single gold fails", box=box.SIMPLE, title_justify="left", pad_edge=False)
    for heading in ("task", "text", "runs", "agents", "in a reading", "in no reading", "ended early", "judged"):
        table.add_column(heading, overflow="fold")
    for summary in summaries:
        table.add_row(
            printable(summary.task_id),
            printable(summary.text),
            str(summary.runs),
            str(summary.agents),
            _counts(summary.readings),
            _counts(summary.clusters),
            str(summary.ended_early or ""),
            _counts(summary.classes),
        )
    return table


def _counts(counts: Mapping[str, int]) -> str:
    return printable(", ".join(f"{number} {name}" for name, number in counts.items()))


def record_lines(record: TraceRecord) -> Iterator[str]:
    """Yield a record as lines: the run, where it ended, what it called, what it said, what is to be answered."""
    yield printable(
        f"task {record.task_id} ({record.text}), trial {record.trial}, {record.agent}, {record.file}: "
        f"{record.classification}"
    )
    readings = ", ".join(f"{match.reading} ({standing_of(match)})" for match in record.matches)
    yield printable(f"  in {readings or 'no reading'}; end state {record.cluster}, shared by {record.shared_by} runs")
    for call, succeeded in record.calls:
        yield f"  {'' if succeeded else 'refused: '}{call_text(call.to_json())}"
    yield from (f"  differs from the gold: {line}" for line in explain_delta(record.from_gold, limit=8))
    yield from (printable(f"  said [{s.message}]: {' '.join(s.text.split())}") for s in record.statements)
    yield from (printable(f"  seen, {remark.about}: {remark.sentence}") for remark in record.remarks)
