"""Looking for a counterexample to a law with Hypothesis, always in the same way and without leaving files behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException, Unsatisfiable

from multigold.model.task import ToolCall
from multigold.testing.failures import LawError

T = TypeVar("T")

RUNS: Final = 200
"""Examples that a law tries by default."""


def search(
    strategy: st.SearchStrategy[T], check: Callable[[T], None], *, runs: int = RUNS, seed: int | None = None
) -> None:
    """Look for an example for which a check raises `LawError`, and raise it for the simplest one.

    Args:
        strategy: Where examples come from.
        check: Raises `LawError` if the law does not hold.
        runs: Examples to try.
        seed: Another seed tries others; None for the usual ones.

    Raises:
        LawError: If the law does not hold.
    """
    seen: list[LawError] = []

    def holds(example: Any) -> None:
        try:
            check(example)
        except LawError as error:
            seen[:] = [error]
            raise

    test = settings(
        max_examples=runs,
        derandomize=seed is None,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )(given(strategy)(holds))
    try:
        (test if seed is None else seeded(seed)(test))()
    except LawError as error:
        raise LawError(error.law, error.detail, calls=error.calls, delta=error.delta) from None
    except Unsatisfiable:
        return  # there is nothing to try, such as mutations of a gold without writes
    except HypothesisException as error:
        if not seen:
            raise
        last = seen[0]
        detail = f"{last.detail} (and not every time: the environment is not deterministic)"
        raise LawError(last.law, detail, calls=last.calls, delta=last.delta) from error


def search_calls(
    strategy: st.SearchStrategy[tuple[ToolCall, ...]],
    check: Callable[[tuple[ToolCall, ...]], None],
    *,
    runs: int = RUNS,
    seed: int | None = None,
) -> None:
    """Look for a sequence of calls for which a check raises `LawError`, and raise it for one without needless calls.

    Where later calls are made from what earlier ones left, Hypothesis often cannot take an earlier one out. So every
    call of what it found is left out once, and stays out if the law is broken without it. `search` says what the
    arguments mean.

    Raises:
        LawError: If the law does not hold.
    """
    try:
        search(strategy, check, runs=runs, seed=seed)
    except LawError as error:
        if error.__cause__ is not None:  # it does not fail every time, so trying again shows nothing
            raise
        raise _without_needless_calls(error, check) from None


def _without_needless_calls(error: LawError, check: Callable[[tuple[ToolCall, ...]], None]) -> LawError:
    # From the end, where what breaks the law mostly stands: what leads up to it can then go.
    for place in reversed(range(len(error.calls))):
        try:
            check((*error.calls[:place], *error.calls[place + 1 :]))
        except LawError as shorter:
            error = shorter
    return error
