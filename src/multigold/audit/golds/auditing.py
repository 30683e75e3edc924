"""The audit of golds: which of them are broken, unreachable, vacuous, or hang on the order of calls.

A gold can be replayed, and then a good deal can be said of it without any reading of the policy. Each kind of fault
has a code and a check, a function from a gold in its case to findings (`checks.CHECKS`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import attrs

from multigold._version import __version__
from multigold.audit.findings import BaselineComparison, Finding, FindingKey, counts_by_code, finding_json, key_of
from multigold.audit.golds.cases import Gold, GoldCase
from multigold.audit.golds.checks import CHECKS, CODES, GoldCheck
from multigold.audit.golds.value_index import index_of
from multigold.environments.base import Environment
from multigold.environments.replay import initial_state, state_after_history
from multigold.errors import CallError, MultigoldError
from multigold.state.canonical import Json

SCHEMA = "multigold/audit-golds/1"
"""Name and version of the document's form; the schema itself ships as `schemas/golds.schema.json`."""


@attrs.frozen(kw_only=True)
class GoldAudit:
    """What an audit of golds found.

    Attributes:
        golds: How many golds were looked at.
        tasks: Of how many tasks.
        findings: What was found, in the order of the golds.
    """

    golds: int
    tasks: int
    findings: tuple[Finding, ...]

    @classmethod
    def join(cls, audits: Sequence[GoldAudit]) -> GoldAudit:
        """Return several audits as one."""
        findings = tuple(finding for audit in audits for finding in audit.findings)
        return cls(golds=sum(a.golds for a in audits), tasks=sum(a.tasks for a in audits), findings=findings)


def audit_golds(golds: Iterable[Gold], environment: Environment, *, codes: Collection[str] = ()) -> GoldAudit:
    """Audit golds.

    Args:
        golds: The golds; see `golds_of_release` and `golds_of_catalogue`.
        environment: Where they are replayed.
        codes: Only findings of these codes; empty for all.

    Raises:
        CallError: If a code is none of `CODES`.
    """
    unknown = sorted(set(codes) - CODES.keys())
    if unknown:
        raise CallError(f"this audit has no code {unknown[0]!r}", remedy=f"There are: {', '.join(CODES)}.")
    checks = [check for check, given in CHECKS.items() if not codes or not given.isdisjoint(codes)]
    findings: dict[FindingKey, Finding] = {}
    count, tasks = 0, set()
    for gold in golds:
        count += 1
        tasks.add(gold.task.id)
        for finding in findings_of(gold, environment, checks):
            if not codes or finding.code in codes:
                findings.setdefault(key_of(finding), finding)
    return GoldAudit(golds=count, tasks=len(tasks), findings=tuple(findings.values()))


def findings_of(gold: Gold, environment: Environment, checks: Iterable[GoldCheck]) -> Iterator[Finding]:
    """Yield what checks find in a gold; a task whose start or end cannot be set up is a finding itself."""
    task = gold.task
    try:
        start = initial_state(environment, task.initial, task.initial_state)
        start = state_after_history(environment, start, task.initial_state)
    except MultigoldError as error:
        sentence = f"the task cannot start: {error}"
        yield Finding(code="no-start", where=gold.where, task=task.id, sentence=sentence)
        return
    case = GoldCase(gold=gold, environment=environment, start=start, index=index_of(start))
    try:
        case.end  # noqa: B018  a delta that does not fit the start is found here
    except MultigoldError as error:
        yield case.finding("no-end", f"the stated end state cannot be built: {error}")
        return
    for check in checks:
        yield from check(case)


def document(audit: GoldAudit, found: BaselineComparison, provenance: Mapping[str, Json]) -> dict[str, Json]:
    """Return an audit as plain data that validates against `document_schema("golds")`.

    Args:
        audit: The audit.
        found: Its findings, compared with a baseline.
        provenance: What it was made with: environment, digests, names of files.
    """
    return {
        "schema": SCHEMA,
        "provenance": {"multigold": __version__, **provenance},
        "golds": audit.golds,
        "tasks": audit.tasks,
        "counts": counts_by_code(audit.findings, CODES),
        "findings": [finding_json(finding) for finding in found.new],
        "accepted": [finding_json(finding) for finding in found.accepted],
        "stale": [dict(zip(("code", "task", "place"), key, strict=True)) for key in found.stale],
    }
