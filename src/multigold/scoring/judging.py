"""One run, held against every reading.

    trajectory -> end state -> which readings admit it -> what counts -> the verdict

`score` is the whole of it for one run. Whoever scores many runs of one task compiles its golds once
(`multigold.scoring.compile_golds`) and calls `judge` for each; nothing is kept between calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import attrs

from multigold.environments.base import Environment
from multigold.errors import CallError
from multigold.model.gold import GoldSet, Reading
from multigold.model.task import Task
from multigold.model.trajectory import Trajectory
from multigold.model.verdict import Comparison, Match, Outcome, Reason, Rewards, Verdict
from multigold.scoring.compiled_golds import Admitted, CompiledGolds, PreparedState
from multigold.scoring.compiling import compile_golds, judged_by_assertions
from multigold.scoring.evidence import evidence_state
from multigold.scoring.replayed_run import ReplayedRun, replay_run
from multigold.scoring.rewards import best, combine, other_bounds, other_factors, recomputed_factors, reward_basis
from multigold.state.database import EndState, same_record
from multigold.state.delta import Delta, shortest_diff

NORMAL_ENDS = frozenset({"user_stop", "agent_stop"})
"""Terminations after which tau2 scores the state (`evaluator.py`); any other ends a run that scores 0."""

NOTHING = Rewards(single=0.0, core=0.0, core_or_single=0.0, with_contested=0.0, core_strict=0.0)
"""What a run earns that did not end normally, whatever its state and whatever else the reward looks at."""

OUT_OF_SCOPE = "###OUT-OF-SCOPE###"
"""What tau2's simulated user says when the talk has left its instructions: the simulator stopped, not the agent."""


def score(
    task: Task,
    trajectory: Trajectory,
    golds: GoldSet | None = None,
    *,
    environment: Environment | None = None,
    equivalences: Sequence[str] = (),
    contested: bool = False,
) -> Verdict:
    """Score one run of a task against every reading of its gold set.

    Args:
        task: The task. It needs an initial state, or an environment that has one.
        trajectory: What the run did.
        golds: The readings; those of a set with several task texts are selected by the task's text. None: the
            benchmark's own gold alone.
        environment: Replays calls. Not needed where trajectory and gold set give states outright.
        equivalences: Names of equivalences to try where strict comparison fails; see `multigold.EQUIVALENCES`.
        contested: Whether contested readings count too.

    Returns:
        The verdict.

    Raises:
        CallError: If an argument is of another kind, an environment or an initial state is needed and missing, or an
            equivalence is unknown.
        GoldSetError: If the gold set itself is wrong.
        StateError: If the end state has other sides than the golds.
    """
    _check_kind(task, Task, "multigold.Task(id, initial=...)")
    _check_kind(trajectory, Trajectory, "multigold.Trajectory.from_end_state(...), from_calls or from_messages")
    if golds is not None:
        _check_kind(golds, GoldSet, "multigold.GoldSet.from_databases(...)")
    selected = golds if golds is None or golds.text is not None else golds.for_text(task.text_fingerprint())
    compiled = compile_golds(
        task, selected, environment, equivalences=equivalences, other_version=golds is not None and selected is None
    )
    return judge(task, trajectory, compiled, environment=environment, contested=contested)


def _check_kind(value: object, kind: type, maker: str) -> None:
    if not isinstance(value, kind):
        raise CallError(
            f"score() takes a {kind.__name__} here and was given a {type(value).__name__}",
            remedy=f"Make one with {maker}.",
        )


def judge(
    task: Task,
    trajectory: Trajectory,
    golds: CompiledGolds,
    *,
    environment: Environment | None = None,
    contested: bool = False,
    check_reads: bool = False,
) -> Verdict:
    """Score one run against golds that were compiled before; `score` says what the arguments mean.

    With `check_reads`, reads are replayed too and held against what was recorded: slower, and for fidelity alone.
    """
    if trajectory.termination == "infrastructure_error":
        stopped = "the run was stopped by its own infrastructure"
        return unscored(blank(task, trajectory, golds), "infrastructure_error", stopped)
    if trajectory.problem is not None and _ended_normally(trajectory):
        return unscored(blank(task, trajectory, golds), trajectory.problem.code, trajectory.problem.sentence)
    if trajectory.calls is None and trajectory.end_state is None:
        nothing = "the file holds neither the run's calls nor its end state"
        return unscored(blank(task, trajectory, golds), "no_calls", nothing)
    replayed = replay_run(trajectory, golds.start, environment, check_reads=check_reads)
    if replayed.fidelity.drift:
        verdict = attrs.evolve(blank(task, trajectory, golds), fidelity=replayed.fidelity)
        return unscored(verdict, "replay_drift", replayed.fidelity.drift)
    prepared = golds.prepare(replayed.end_state)
    comparisons = tuple(_compare(admitted, prepared, replayed, trajectory) for admitted in golds.readings)
    basis = reward_basis(task.criteria, trajectory)
    known = recomputed_factors(basis, task.criteria, trajectory, replayed.end_state, environment)
    return _conclude(task, trajectory, golds, replayed, prepared, comparisons, known, contested=contested)


def _ended_normally(trajectory: Trajectory) -> bool:
    return trajectory.termination is None or trajectory.termination in NORMAL_ENDS


def _ignored(end_state: EndState, golds: CompiledGolds) -> tuple[str, ...]:
    """Return the log tables that a run wrote to: comparison took that back."""
    logs = golds.conventions.log_tables
    if not logs:
        return ()
    before, after = golds.initial.agent, end_state.agent
    places = [place for place in after.touched(before) if place[0] in logs]
    written = {place[0] for place in places if not same_record(before.find(*place), after.find(*place))}
    return tuple(table for table in logs if table in written)


def blank(task: Task, trajectory: Trajectory, golds: CompiledGolds) -> Verdict:
    """Return the verdict of a run of which nothing is said yet but whose it is and what is known of its task."""
    return Verdict(outcome="unscored", **_about(task, trajectory, golds))


def _about(task: Task, trajectory: Trajectory, golds: CompiledGolds) -> dict[str, Any]:
    gold_set = golds.gold_set
    return {
        "benchmark_faults": golds.benchmark.faults if golds.benchmark else (),
        "benchmark_readings": golds.benchmark_readings,
        "recorded": trajectory.recorded,
        "stratum": golds.stratum,
        "termination": trajectory.termination,
        "task_id": task.id,
        "run_id": trajectory.run_id,
        "trial": trajectory.trial,
        "agent": trajectory.agent,
        "domain": task.domain,
        "loopholes": gold_set.loopholes if gold_set else (),
        "do_nothing": golds.do_nothing,
        "always_refuse": golds.always_refuse,
        "random": golds.random,
        "adversarial": golds.adversarial,
    }


def unscored(verdict: Verdict, code: str, sentence: str) -> Verdict:
    """Return the verdict as unscored for a reason; unscored is not zero and not dropped."""
    return attrs.evolve(verdict, outcome="unscored", reason=Reason(code=code, sentence=sentence))


# Holding the end against the readings


def _compare(admitted: Admitted, prepared: PreparedState, replayed: ReplayedRun, trajectory: Trajectory) -> Comparison:
    reading = admitted.reading
    found = admitted.find(prepared)
    match = None
    if found is not None:
        member, equivalences = found
        evidence = evidence_state(reading.evidence, replayed.calls)
        match = Match(
            reading=reading.id,
            standing=reading.standing,
            equivalences=equivalences,
            evidence=evidence,
            vacuous=evidence == "unmet" or (not prepared.changes and _undecided(replayed, trajectory)),
            member=member,
            positions=reading.positions,
        )
    delta, faults = (Delta({}), ()) if match else _distance(admitted, prepared)
    return Comparison(
        reading=reading.id,
        title=reading.title,
        standing=reading.standing,
        match=match,
        delta=delta,
        faults=faults,
        width=admitted.width,
    )


def _undecided(replayed: ReplayedRun, trajectory: Trajectory) -> bool:
    """Tell whether an untouched state shows no decision: no call ever succeeded, or the simulated user broke off."""
    idle = replayed.calls is not None and all(succeeded is False for _, succeeded in replayed.calls)
    return idle or simulator_stopped(trajectory)


def simulator_stopped(trajectory: Trajectory) -> bool:
    """Tell whether the simulated user ended the run because the talk had left its instructions."""
    for message in reversed(trajectory.messages):
        if message.role == "user":
            return OUT_OF_SCOPE in message.text
    return False


def _distance(admitted: Admitted, prepared: PreparedState) -> tuple[Delta | None, tuple[str, ...]]:
    """Return the delta from the nearest member, or what the nearest form refuses where the reading has no members."""
    if admitted.members:
        return shortest_diff((member.state for member in admitted.members), prepared.state), ()
    faults = [tuple(p.faults(prepared.initial, prepared.state, prepared.changes)) for p in admitted.open_forms]
    return None, min(faults, key=len, default=())


# What counts


def _counts(match: Match | None, standings: Sequence[str], golds: CompiledGolds) -> bool:
    """Tell whether a match counts. The benchmark's own gold, where no readings apply, counts as the benchmark says."""
    if match is None or match.standing not in standings:
        return False
    return golds.gold_set is None or not (match.vacuous or match.evidence == "unknown")


def _is_open(match: Match, standings: Sequence[str]) -> bool:
    """Tell whether a match would count if its evidence were known, which it is not."""
    return match.evidence == "unknown" and not match.vacuous and match.standing in standings


def _conclude(
    task: Task,
    trajectory: Trajectory,
    golds: CompiledGolds,
    replayed: ReplayedRun,
    prepared: PreparedState,
    comparisons: tuple[Comparison, ...],
    known: Mapping[str, float],
    *,
    contested: bool,
) -> Verdict:
    ended = _ended_normally(trajectory)
    benchmark = None if golds.benchmark is None else ended and prepared.ends_in(golds.benchmark.state)
    matches = tuple(c.match for c in comparisons if c.match) if ended else ()
    standings = ("core", "contested") if contested else ("core",)
    matched = tuple(match.reading for match in matches if _counts(match, standings, golds))
    rewards, alone = _columns(task, trajectory, golds, matches, benchmark, known) if ended else (_nothing(golds), {})
    matches = tuple(attrs.evolve(match, reward=alone[match.reading]) for match in matches)
    if not golds.readings and golds.benchmark is None:
        outcome, reason = _unscored("no_gold", "the benchmark states no gold for this task, and no gold set applies")
    elif not matched:
        outcome, reason = _not_matched(trajectory, matches, standings, prepared, ended=ended)
    elif (rewards.with_contested if contested else rewards.core) is None:
        outcome, reason = _unscored("factor_missing", "a factor of the reward besides the database is not in the file")
    else:
        outcome, reason = "matched", None
    return Verdict(
        **_about(task, trajectory, golds),
        outcome=outcome,
        reason=reason,
        matched=matched,
        matches=matches,
        comparisons=comparisons if ended else tuple(attrs.evolve(c, match=None) for c in comparisons),
        benchmark_matched=benchmark,
        repaired_matched=_repaired(golds, prepared, ended=ended),
        rewards=rewards,
        bounds=_bounds(task, trajectory, golds, matched, known) if _lacks_factor(reason) else None,
        positions=_positions(golds, matches),
        fidelity=replayed.fidelity,
        end_state=prepared.changes.fingerprint(),
        ignored=_ignored(replayed.end_state, golds),
    )


def _unscored(code: str, sentence: str) -> tuple[Outcome, Reason]:
    return "unscored", Reason(code=code, sentence=sentence)


def _not_matched(
    trajectory: Trajectory, matches: Sequence[Match], standings: Sequence[str], prepared: PreparedState, *, ended: bool
) -> tuple[Outcome, Reason]:
    unknown = [match.reading for match in matches if _is_open(match, standings)]
    if unknown:
        sentence = f"the end state is in {', '.join(unknown)}, but no calls are known to show for it"
        return _unscored("evidence_unknown", sentence)
    return "unmatched", _why_not(trajectory, matches, prepared, ended)


def _nothing(golds: CompiledGolds) -> Rewards:
    """Return what a run earns that did not end normally; nothing by a gold that the benchmark does not state."""
    return NOTHING if golds.benchmark is not None else attrs.evolve(NOTHING, single=None)


def _repaired(golds: CompiledGolds, prepared: PreparedState, *, ended: bool) -> bool | None:
    repaired = golds.benchmark.repaired if golds.benchmark else None
    return None if repaired is None else ended and prepared.ends_in(repaired)


def _why_not(trajectory: Trajectory, matches: Sequence[Match], prepared: PreparedState, ended: bool) -> Reason:
    if not ended:
        return Reason(code="ended_early", sentence=f"the run ended by {trajectory.termination}, so it matches nothing")
    if matches and not prepared.changes and simulator_stopped(trajectory):
        return Reason(code="simulator_stop", sentence="the simulated user broke off before the agent had decided")
    if any(match.vacuous for match in matches):
        if prepared.changes:
            return Reason(code="vacuous", sentence="the run lacks the evidence that the readings it matches ask for")
        return Reason(code="vacuous", sentence="the database is untouched and the run shows no evidence of a decision")
    if matches:
        standing = sorted({match.standing for match in matches})
        return Reason(code="standing", sentence=f"only readings that do not count match ({', '.join(standing)})")
    return Reason(code="no_reading", sentence="the end state is in no reading")


def _columns(
    task: Task,
    trajectory: Trajectory,
    golds: CompiledGolds,
    matches: Sequence[Match],
    benchmark: bool | None,
    known: Mapping[str, float],
) -> tuple[Rewards, dict[str, float | None]]:
    """Return the reward columns, and what each reading that matches would earn if it alone counted."""
    basis = reward_basis(task.criteria, trajectory)
    readings = {admitted.reading.id: admitted.reading for admitted in golds.readings}
    replaced = _replaced(golds, basis)

    @cache
    def others(communicate: tuple[str, ...] | None, factors: tuple[tuple[str, float], ...]) -> float | None:
        return other_factors(task.criteria, trajectory, basis, communicate=communicate, recomputed=dict(factors))

    def reward(
        database: bool | None, reading: Reading | None = None, factors: Mapping[str, float] = known
    ) -> float | None:
        rest = others(reading.communicate if reading else None, tuple(factors.items()))
        whole = combine(database, rest, basis)
        return whole if whole is None or reading is None else whole * reading.worth

    def earned(counted: tuple[str, ...], *, is_open: bool) -> float | None:
        factors = {**known, **dict.fromkeys(replaced, float(bool(counted)))}
        if counted:
            return best([reward(True, readings[name], factors) for name in counted])
        return None if is_open else reward(False, factors=factors)

    def column(standings: Sequence[str], *, strict: bool = False) -> float | None:
        if not golds.readings:
            return reward(benchmark)
        taken = [match for match in matches if not (strict and match.equivalences)]
        counted = tuple(match.reading for match in taken if _counts(match, standings, golds))
        return earned(counted, is_open=any(_is_open(match, standings) for match in taken))

    single, core = reward(benchmark), column(("core",))
    # Most runs match nothing that tells the other columns from these.
    contested = any(match.standing == "contested" for match in matches)
    equivalent = any(match.equivalences for match in matches)
    rewards = Rewards(
        single=single,
        core=core,
        core_or_single=best([core] if benchmark is None else [core, single]),
        with_contested=column(("core", "contested")) if contested else core,
        core_strict=column(("core",), strict=True) if equivalent else core,
    )
    return rewards, {match.reading: earned((match.reading,), is_open=False) for match in matches}


def _replaced(golds: CompiledGolds, basis: Sequence[str]) -> tuple[str, ...]:
    """Return the factors that readings stand in the place of: assertions, where the reward sees the state only so."""
    return ("ENV_ASSERTION",) if golds.gold_set is not None and judged_by_assertions(basis) else ()


def _lacks_factor(reason: Reason | None) -> bool:
    return reason is not None and reason.code == "factor_missing"


def _bounds(
    task: Task, trajectory: Trajectory, golds: CompiledGolds, matched: Sequence[str], known: Mapping[str, float]
) -> tuple[float, float]:
    """Return the lowest and highest reward that a run can have by the readings that it matches."""
    basis = reward_basis(task.criteria, trajectory)
    factors = {**known, **dict.fromkeys(_replaced(golds, basis), 1.0)}
    lowest = highest = 0.0
    for reading in (admitted.reading for admitted in golds.readings if admitted.reading.id in matched):
        low, high = other_bounds(task.criteria, trajectory, basis, communicate=reading.communicate, recomputed=factors)
        lowest, highest = max(lowest, low * reading.worth), max(highest, high * reading.worth)
    return lowest, highest


def _positions(golds: CompiledGolds, matches: Sequence[Match]) -> dict[str, tuple[str, ...]]:
    """Return, for each loophole, the sides that the matched readings take; vacuous matches take none."""
    sides: dict[str, set[str]] = {}
    matched = {match.reading for match in matches if not match.vacuous}
    for admitted in golds.readings:
        if admitted.reading.id in matched:
            for loophole, side in admitted.reading.positions.items():
                sides.setdefault(loophole, set()).add(side)
    return {loophole: tuple(sorted(taken)) for loophole, taken in sorted(sides.items())}
