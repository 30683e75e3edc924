"""Property tests for gold replays: Hypothesis strategies, laws as functions, and a pytest plugin.

    from multigold.testing import assert_agrees_with, call_sequences

Needs the extra `testing` (hypothesis, pytest). The names are loaded when they are first used, so that the plugin, which
pytest imports in every run, imports nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.testing.failures import LAWS as LAWS, LawError as LawError
    from multigold.testing.gold_laws import (
        MutationReport as MutationReport,
        assert_gated as assert_gated,
        assert_gold_matches_itself as assert_gold_matches_itself,
        assert_mutations_do_not_match as assert_mutations_do_not_match,
        assert_order_independent as assert_order_independent,
        assert_readings_distinct as assert_readings_distinct,
    )
    from multigold.testing.gold_strategies import (
        Mutation as Mutation,
        interleavings as interleavings,
        mutations as mutations,
        simple_mutations as simple_mutations,
        write_orders as write_orders,
    )
    from multigold.testing.laws import (
        assert_agrees_with as assert_agrees_with,
        assert_initial_state_untouched as assert_initial_state_untouched,
        assert_reads_change_nothing as assert_reads_change_nothing,
        assert_replay_deterministic as assert_replay_deterministic,
    )
    from multigold.testing.strategies import (
        broken_calls as broken_calls,
        call_sequences as call_sequences,
        plausible_calls as plausible_calls,
    )

_HOMES = {
    "failures": "LAWS LawError",
    "gold_laws": (
        "MutationReport assert_gated assert_gold_matches_itself assert_mutations_do_not_match "
        "assert_order_independent assert_readings_distinct"
    ),
    "gold_strategies": "Mutation interleavings mutations simple_mutations write_orders",
    "laws": "assert_agrees_with assert_initial_state_untouched assert_reads_change_nothing assert_replay_deterministic",
    "strategies": "broken_calls call_sequences plausible_calls",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES, extra="testing", needs=("hypothesis", "pytest"))
