"""Environments: an initial state and tools that are pure functions of a draft. No prompt, no policy text, no I/O.

`Environment`, `Tool`, `tool_table`, `RefusalError` and `replay` stand in `multigold` itself. The names here are what a
replay returns, and the pieces that play single calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.environments.base import Drafts as Drafts
    from multigold.environments.replay import (
        Refusal as Refusal,
        Replay as Replay,
        StepOutcome as StepOutcome,
        initial_state as initial_state,
        step as step,
    )

_HOMES = {
    "base": "Drafts",
    "replay": "Refusal Replay StepOutcome initial_state step",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
