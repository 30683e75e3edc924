"""Audits: what is wrong, unclear or contradictory in golds, policies, traces and versions. Findings are values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.audit.findings import BaselineComparison as BaselineComparison
    from multigold.audit.findings import baseline_json as baseline_json
    from multigold.audit.findings import compare_with_baseline as compare_with_baseline
    from multigold.audit.findings import read_baseline as read_baseline
    from multigold.audit.golds.auditing import GoldAudit as GoldAudit
    from multigold.audit.golds.auditing import audit_golds as audit_golds
    from multigold.audit.golds.cases import Gold as Gold
    from multigold.audit.golds.cases import golds_of_catalogue as golds_of_catalogue
    from multigold.audit.golds.cases import golds_of_release as golds_of_release
    from multigold.audit.golds.contradictions import Contradiction as Contradiction
    from multigold.audit.golds.contradictions import GoldPosition as GoldPosition
    from multigold.audit.golds.contradictions import computed_positions as computed_positions
    from multigold.audit.golds.contradictions import find_contradictions as find_contradictions
    from multigold.audit.golds.contradictions import stated_positions as stated_positions
    from multigold.audit.runs.discover import Discoveries as Discoveries
    from multigold.audit.runs.discover import Discovery as Discovery
    from multigold.audit.runs.discover import discover as discover
    from multigold.audit.runs.judged import AuditedRun as AuditedRun
    from multigold.audit.runs.judged import LeftOut as LeftOut
    from multigold.audit.runs.judged import audited_runs as audited_runs
    from multigold.audit.runs.judged import examine as examine
    from multigold.audit.runs.stubs import write_stubs as write_stubs
    from multigold.audit.runs.trace_records import read_trace_audit as read_trace_audit
    from multigold.audit.runs.trace_records import write_trace_audit as write_trace_audit
    from multigold.audit.runs.traces import CRITERIA as CRITERIA
    from multigold.audit.runs.traces import EXCLUSIONS as EXCLUSIONS
    from multigold.audit.runs.traces import Answer as Answer
    from multigold.audit.runs.traces import TraceAudit as TraceAudit
    from multigold.audit.runs.traces import TraceRecord as TraceRecord
    from multigold.audit.runs.traces import audit_traces as audit_traces
    from multigold.audit.runs.traces import summarise_traces as summarise_traces
    from multigold.audit.tools.exploitability import Exploitability as Exploitability
    from multigold.audit.tools.exploitability import Probe as Probe
    from multigold.audit.tools.exploitability import Probes as Probes
    from multigold.audit.tools.exploitability import StatusProbe as StatusProbe
    from multigold.audit.tools.exploitability import try_catalogue as try_catalogue
    from multigold.audit.tools.probe_files import read_probes as read_probes
    from multigold.audit.tools.probe_files import shipped_probes as shipped_probes
    from multigold.audit.versions import VersionDiff as VersionDiff
    from multigold.audit.versions import compare_releases as compare_releases

_HOMES = {
    "findings": ("BaselineComparison", "baseline_json", "compare_with_baseline", "read_baseline"),
    "golds.auditing": ("GoldAudit", "audit_golds"),
    "golds.cases": ("Gold", "golds_of_catalogue", "golds_of_release"),
    "golds.contradictions": (
        "Contradiction",
        "GoldPosition",
        "computed_positions",
        "find_contradictions",
        "stated_positions",
    ),
    "runs.discover": ("Discoveries", "Discovery", "discover"),
    "runs.judged": ("AuditedRun", "LeftOut", "audited_runs", "examine"),
    "runs.stubs": ("write_stubs",),
    "runs.trace_records": ("read_trace_audit", "write_trace_audit"),
    "runs.traces": (
        "CRITERIA",
        "EXCLUSIONS",
        "Answer",
        "TraceAudit",
        "TraceRecord",
        "audit_traces",
        "summarise_traces",
    ),
    "tools.exploitability": ("Exploitability", "Probe", "Probes", "StatusProbe", "try_catalogue"),
    "tools.probe_files": ("read_probes", "shipped_probes"),
    "versions": ("VersionDiff", "compare_releases"),
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
