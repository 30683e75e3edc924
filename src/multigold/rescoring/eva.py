"""EVA's own verdict on a record, beside ours.

A record passes there when the final database is the expected one and the expected session is part of the final one,
strings in any case. Ours is on the database alone; the session stands beside it.
"""

from __future__ import annotations

import attrs

from multigold.model.verdict import Verdict
from multigold.readers import Run
from multigold.state.canonical import Json, same


def with_session(verdict: Verdict, run: Run) -> Verdict:
    """Return a verdict with EVA's own beside it: `session` and `passes`, null if the file does not tell."""
    expected, final = run.extra.get("expected_session"), run.extra.get("session")
    session = None if expected is None or final is None else contains(final, expected)
    factors = (verdict.benchmark_matched, session)
    passes = False if False in factors else None if None in factors else True
    theirs = {name: value for name, value in run.extra.items() if name not in ("session", "expected_session")}
    return attrs.evolve(verdict, other_scorer={"theirs": theirs, "session": session, "passes": passes})


def contains(final: Json, expected: Json) -> bool:
    """Tell whether an expected value is part of a final one: members of objects may be more, strings in any case."""
    if isinstance(expected, dict):
        return isinstance(final, dict) and all(key in final and contains(final[key], expected[key]) for key in expected)
    if isinstance(expected, str) and isinstance(final, str):
        return expected.casefold() == final.casefold()
    return same(final, expected)
