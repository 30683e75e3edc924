"""Audits: what is wrong, unclear or contradictory in golds, policies, traces and versions. Findings are values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.audit.findings import (
        BaselineComparison as BaselineComparison,
        baseline_json as baseline_json,
        compare_with_baseline as compare_with_baseline,
        read_baseline as read_baseline,
    )
    from multigold.audit.golds.auditing import GoldAudit as GoldAudit, audit_golds as audit_golds
    from multigold.audit.golds.cases import (
        Gold as Gold,
        golds_of_catalogue as golds_of_catalogue,
        golds_of_release as golds_of_release,
    )
    from multigold.audit.golds.contradictions import (
        Contradiction as Contradiction,
        GoldPosition as GoldPosition,
        computed_positions as computed_positions,
        find_contradictions as find_contradictions,
        stated_positions as stated_positions,
    )
    from multigold.audit.runs.discover import Discoveries as Discoveries, Discovery as Discovery, discover as discover
    from multigold.audit.runs.judged import (
        AuditedRun as AuditedRun,
        LeftOut as LeftOut,
        audited_runs as audited_runs,
        examine as examine,
    )
    from multigold.audit.runs.stubs import write_stubs as write_stubs
    from multigold.audit.runs.trace_records import (
        read_trace_audit as read_trace_audit,
        write_trace_audit as write_trace_audit,
    )
    from multigold.audit.runs.traces import (
        CRITERIA as CRITERIA,
        EXCLUSIONS as EXCLUSIONS,
        Answer as Answer,
        TraceAudit as TraceAudit,
        TraceRecord as TraceRecord,
        audit_traces as audit_traces,
        summarise_traces as summarise_traces,
    )
    from multigold.audit.tools.exploitability import (
        Exploitability as Exploitability,
        Probe as Probe,
        Probes as Probes,
        StatusProbe as StatusProbe,
        try_catalogue as try_catalogue,
    )
    from multigold.audit.tools.probe_files import read_probes as read_probes, shipped_probes as shipped_probes
    from multigold.audit.versions import VersionDiff as VersionDiff, compare_releases as compare_releases
    from multigold.audit.annotations.answers import (
        Annotations as Annotations,
        LoopholeAgreement as LoopholeAgreement,
        agreement_by_loophole as agreement_by_loophole,
        corrected_by_audit as corrected_by_audit,
        read_annotations as read_annotations,
        write_annotations as write_annotations,
    )
    from multigold.audit.annotations.items import (
        Items as Items,
        draw_items as draw_items,
        read_items as read_items,
        write_items as write_items,
    )
    from multigold.audit.claims.checking import (
        Claim as Claim,
        Discrepancy as Discrepancy,
        check_claim as check_claim,
        claim_of as claim_of,
        gather as gather,
        read_claim as read_claim,
    )
    from multigold.audit.claims.statements import (
        statement_of as statement_of,
        statement_text as statement_text,
    )

_HOMES = {
    "claims.statements": "statement_of statement_text",
    "claims.checking": "Claim Discrepancy check_claim claim_of gather read_claim",
    "annotations.items": "Items draw_items read_items write_items",
    "annotations.answers": "Annotations LoopholeAgreement agreement_by_loophole corrected_by_audit read_annotations "
    "write_annotations",
    "findings": "BaselineComparison baseline_json compare_with_baseline read_baseline",
    "golds.auditing": "GoldAudit audit_golds",
    "golds.cases": "Gold golds_of_catalogue golds_of_release",
    "golds.contradictions": "Contradiction GoldPosition computed_positions find_contradictions stated_positions",
    "runs.discover": "Discoveries Discovery discover",
    "runs.judged": "AuditedRun LeftOut audited_runs examine",
    "runs.stubs": "write_stubs",
    "runs.trace_records": "read_trace_audit write_trace_audit",
    "runs.traces": "CRITERIA EXCLUSIONS Answer TraceAudit TraceRecord audit_traces summarise_traces",
    "tools.exploitability": "Exploitability Probe Probes StatusProbe try_catalogue",
    "tools.probe_files": "read_probes shipped_probes",
    "versions": "VersionDiff compare_releases",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
