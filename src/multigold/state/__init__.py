"""States and what differs between them: pure values, no I/O, no domain.

`Database`, `EndState`, `Delta` and `diff` stand in `multigold` itself; the names here take them apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.state.delta import (
        ABSENT as ABSENT,
        Change as Change,
        join_pointer as join_pointer,
        split_pointer as split_pointer,
    )
    from multigold.state.equivalence import normal_form as normal_form
    from multigold.state.explain import explain_delta as explain_delta
    from multigold.state.schemes import SCHEMES as SCHEMES, hash_state as hash_state

_HOMES = {
    "delta": "ABSENT Change join_pointer split_pointer",
    "equivalence": "normal_form",
    "explain": "explain_delta",
    "schemes": "SCHEMES hash_state",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
