"""Whether a run's calls are the evidence that a reading asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from multigold.model.gold import AllOf, CallEvidence, Evidence
from multigold.model.task import ToolCall
from multigold.model.verdict import EvidenceState
from multigold.state.canonical import same


def evidence_state(evidence: Evidence | None, calls: Sequence[tuple[ToolCall, bool | None]] | None) -> EvidenceState:
    """Tell whether there is the evidence; unknown where that hangs on calls whose outcome was not recorded."""
    if evidence is None:
        return "not_asked"
    if calls is None:
        return "unknown"
    guesses = {
        shows(evidence, [(call, guess if known is None else known) for call, known in calls]) for guess in (True, False)
    }
    return "unknown" if len(guesses) > 1 else "met" if guesses.pop() else "unmet"


def shows(evidence: Evidence, calls: Sequence[tuple[ToolCall, bool]]) -> bool:
    """Tell whether calls, each with whether it succeeded, are the evidence that is asked for."""
    if isinstance(evidence, CallEvidence):
        return any(_is_evidence(evidence, call, succeeded) for call, succeeded in calls)
    quantify: Callable[[Iterable[bool]], bool] = all if isinstance(evidence, AllOf) else any
    return quantify(shows(part, calls) for part in evidence.parts)


def _is_evidence(evidence: CallEvidence, call: ToolCall, succeeded: bool) -> bool:
    arguments = call.arguments or {}
    return (
        call.name == evidence.tool
        and evidence.requestor in (None, call.requestor)
        and evidence.succeeded in (None, succeeded)
        and all(name in arguments and same(arguments[name], value) for name, value in evidence.arguments.items())
    )
