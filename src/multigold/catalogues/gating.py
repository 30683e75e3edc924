"""Evidence where doing nothing would match: the rule that lint and the laws of gold sets share.

An agent that crashed or did nothing ends in the initial state too. So a reading that admits it asks for a successful
read of the record in question, in every way in which its evidence can be met.
"""

from __future__ import annotations

from collections.abc import Iterator

from multigold.environments.base import Environment
from multigold.environments.tools import Tool
from multigold.model.gold import AllOf, CallEvidence, Evidence, Reading
from multigold.scoring import CompiledGolds


def ungated(golds: CompiledGolds, environment: Environment | None) -> Iterator[tuple[int, Reading]]:
    """Yield the readings, each with its position, that admit the initial state and can be met without looking.

    Args:
        golds: The compiled golds.
        environment: Tells which tools read; without one that is taken on trust.
    """
    untouched = golds.prepare(golds.initial)
    for index, admitted in enumerate(golds.readings):
        if not is_gated(admitted.reading.evidence, environment) and admitted.find(untouched) is not None:
            yield index, admitted.reading


def is_gated(evidence: Evidence | None, environment: Environment | None) -> bool:
    """Tell whether every way to meet the evidence holds a successful read of a named record."""
    if evidence is None:
        return False
    if isinstance(evidence, CallEvidence):
        tool = _tool(evidence.tool, environment)
        named = bool(evidence.arguments) or (tool is not None and not tool.parameters)
        return evidence.succeeded is True and named and (tool is None or tool.kind == "read")
    parts = [is_gated(part, environment) for part in evidence.parts]
    return any(parts) if isinstance(evidence, AllOf) else bool(parts) and all(parts)


def _tool(name: str, environment: Environment | None) -> Tool | None:
    return None if environment is None else environment.tools.get(name) or environment.user_tools.get(name)
