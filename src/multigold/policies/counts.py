"""The counts behind the paper's two-factor table: how much a policy leaves to judgement, how much the tools check.

They count text, which is cheap and says little: `multigold.audit.tools.exploitability` tries the tools instead.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path

import attrs

from multigold.benchmark_data import DATASETS
from multigold.errors import DataError
from multigold.policies.clauses import split_policy
from multigold.policies.lines import policy_lines
from multigold.state.canonical import Json

CONDITIONS = ("if", "unless", "only", "when", "until")
"""Words that make a rule depend on something; the paper counts `if`."""

MAX_SOURCE_BYTES = 8 * 2**20
"""A larger file of tools is refused."""

_DISCLAIMER = re.compile(
    r"\b(?:API|tools?|system)\b[^.!?]*\b(?:do|does|will) not (?:check|verify|enforce|validate)\b", re.IGNORECASE
)


@attrs.frozen(kw_only=True)
class PolicyCounts:
    """What is counted in a policy.

    Attributes:
        clauses: Its clauses.
        conditions: Conditional word (whole word, any case) to the lines that it stands in, once for each time.
        disclaimers: Lines that say that the tools do not check something.
    """

    clauses: int
    conditions: Mapping[str, tuple[int, ...]]
    disclaimers: tuple[int, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the counts as plain data."""
        conditions = {word: {"count": len(lines), "lines": list(lines)} for word, lines in self.conditions.items()}
        return {"clauses": self.clauses, "conditions": conditions, "disclaimers": list(self.disclaimers)}


def count_policy(policy: bytes) -> PolicyCounts:
    """Count the conditional words and the disclaimers of a policy."""
    lines = list(enumerate(policy_lines(policy), start=1))

    def places(pattern: re.Pattern[str]) -> tuple[int, ...]:
        return tuple(number for number, line in lines for _ in pattern.finditer(line))

    return PolicyCounts(
        clauses=len(split_policy(policy)),
        conditions={word: places(re.compile(rf"\b{word}\b", re.IGNORECASE)) for word in CONDITIONS},
        disclaimers=places(_DISCLAIMER),
    )


def count_checks(source: bytes, *, where: str = "") -> int:
    """Count the `raise` statements of a Python module: the places where a tool refuses. It is parsed, never run.

    Raises:
        DataError: If it is too large or no Python.
    """
    if len(source) > MAX_SOURCE_BYTES:
        raise DataError(f"it is larger than {MAX_SOURCE_BYTES:,} bytes", where=where)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"it is not Python code that can be read ({error})", where=where) from error
    return sum(isinstance(node, ast.Raise) for node in ast.walk(tree))


def find_tools(domain: str) -> Path | None:
    """Return the file of a domain's tools in an installed tau2, which is not imported; None if there is none."""
    if domain not in DATASETS or DATASETS[domain].benchmark != "tau2":
        return None
    try:
        spec = importlib.util.find_spec("tau2")
    except (ImportError, ValueError):
        return None
    homes = list(spec.submodule_search_locations or ()) if spec else []
    files = (Path(home) / "domains" / DATASETS[domain].domain / "tools.py" for home in homes)
    return next((file for file in files if file.is_file()), None)
