"""From what a reading says to the end states that it admits.

A gold set is text: calls, slots, patterns. Before it can be compared with anything, calls are replayed, slots are
expanded and patterns are tied to the environment's invariants. That is done once per task text; the result,
`CompiledGolds`, is all that scoring needs and holds nothing that changes.

The benchmark's own gold takes another road. It is what the benchmark's evaluator makes of it, faults included: failing
calls are skipped and the two sides are not synchronised (tau2, `evaluator_env.py`). In a reading a failing call is an
error of the gold set.
"""

from multigold.scoring.compiled_golds import (
    Admitted,
    BenchmarkGold,
    CompiledAssertions,
    CompiledGolds,
    CompiledPattern,
    Member,
    PreparedState,
    baseline,
)
from multigold.scoring.compiling import BENCHMARK, benchmark_gold, compile_golds, judged_by_assertions
from multigold.scoring.expansion import MAX_MEMBERS, admitted_states, expand

__all__ = [
    "BENCHMARK",
    "MAX_MEMBERS",
    "Admitted",
    "BenchmarkGold",
    "CompiledAssertions",
    "CompiledGolds",
    "CompiledPattern",
    "Member",
    "PreparedState",
    "admitted_states",
    "baseline",
    "benchmark_gold",
    "compile_golds",
    "expand",
    "judged_by_assertions",
]
