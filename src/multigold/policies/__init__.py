"""Policies as text: lines, clauses, what wording gives away, and the record of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.policies.audit import (
        CLAUSE_TESTS as CLAUSE_TESTS,
        ClauseRecord as ClauseRecord,
        ClauseTest as ClauseTest,
        LoopholeCandidate as LoopholeCandidate,
        PolicyAudit as PolicyAudit,
        audit_progress as audit_progress,
        loophole_candidates as loophole_candidates,
        update_policy_audit as update_policy_audit,
    )
    from multigold.policies.audit_records import (
        catalogue_stub as catalogue_stub,
        read_policy_audit as read_policy_audit,
        write_policy_audit as write_policy_audit,
    )
    from multigold.policies.clauses import PolicyClause as PolicyClause, split_policy as split_policy
    from multigold.policies.counts import (
        PolicyCounts as PolicyCounts,
        count_checks as count_checks,
        count_policy as count_policy,
        find_tools as find_tools,
    )
    from multigold.policies.hints import Hint as Hint, find_hints as find_hints
    from multigold.policies.lines import (
        ClauseText as ClauseText,
        clause_text as clause_text,
        make_clause as make_clause,
        policy_fingerprint as policy_fingerprint,
        policy_lines as policy_lines,
    )

_HOMES = {
    "audit": (
        "CLAUSE_TESTS ClauseRecord ClauseTest LoopholeCandidate PolicyAudit audit_progress loophole_candidates "
        "update_policy_audit"
    ),
    "audit_records": "catalogue_stub read_policy_audit write_policy_audit",
    "clauses": "PolicyClause split_policy",
    "counts": "PolicyCounts count_checks count_policy find_tools",
    "hints": "Hint find_hints",
    "lines": "ClauseText clause_text make_clause policy_fingerprint policy_lines",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
