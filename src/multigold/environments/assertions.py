"""Assertions of a benchmark on the state that a run ends in (tau2: `env_assertions`).

    {"env_type": "user", "func_name": "assert_can_send_mms", "arguments": {"expected_status": true}}

A domain's own predicates are plain functions by name (`Environment.assertions`); nothing of what a file says is
evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable

from multigold.environments.base import Drafts, Environment
from multigold.state.canonical import Json, clone
from multigold.state.database import EndState


def holds(environment: Environment, state: EndState, assertion: Json) -> bool | None:
    """Tell whether an assertion holds of a state.

    Args:
        environment: Whose predicates to use.
        state: The state.
        assertion: `{"env_type", "func_name", "arguments"?, "assert_value"?}`, as the benchmark writes it.

    Returns:
        Whether the predicate gives the value that is asserted (true, if none is stated); None if that cannot be
        decided: no such predicate, or it fails, on which tau2's evaluator fails as well.
    """
    if not isinstance(assertion, dict) or not isinstance(assertion.get("func_name"), str):
        return None
    predicate = environment.assertions.get(assertion["func_name"])
    if predicate is None:
        return None
    draft = Drafts(state).side("user" if assertion.get("env_type") == "user" else "assistant")
    try:
        value = predicate(draft, **clone(assertion.get("arguments") or {}))
    except Exception:  # whatever it does with arguments from a stranger's file
        return None
    stated = assertion.get("assert_value")
    return bool(value) == (stated is None or bool(stated))


def all_hold(environment: Environment, state: EndState, assertions: Iterable[Json]) -> bool | None:
    """Tell whether all assertions hold; None if one of them cannot be decided and no other fails."""
    found = [holds(environment, state, assertion) for assertion in assertions]
    if False in found:
        return False
    return None if None in found else True


def shown(assertion: Json) -> str:
    """Return an assertion as a call, for people."""
    if not isinstance(assertion, dict):
        return "something that is not an assertion"
    arguments = assertion.get("arguments")
    pairs = arguments.items() if isinstance(arguments, dict) else ()
    call = f"{assertion.get('func_name')}({', '.join(f'{name}={value!r}' for name, value in pairs)})"
    return call if assertion.get("assert_value") in (None, True) else f"not {call}"
