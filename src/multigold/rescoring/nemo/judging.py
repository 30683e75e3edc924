"""Runs of the voice-agent evaluation, which keeps hashes of end states and no states.

Two roads lead from such a run to a verdict:

    A  the hash of its end state is held against the hashes of the states that readings admit
    B  its final actions are replayed; the state that they lead to must have the recorded hash (the self check)

B gives deltas and equivalences, A needs nothing but the metrics. B is taken where the actions are there; where its self
check fails the run is unscored, and what A has to say stands in the reason. Their verdict is kept beside ours, and what
it would be with ours on the database in place of theirs: their rules for the rest stay, the one for a talk that stalled
and the one for an end state without a hash included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.model.task import Task
from multigold.model.trajectory import Trajectory
from multigold.model.verdict import Match, Reason, Rewards, Verdict
from multigold.readers import Run
from multigold.rescoring.nemo.hashing import EvaHasher
from multigold.scoring import BENCHMARK, CompiledGolds
from multigold.scoring.judging import NOTHING, blank, judge, unscored
from multigold.scoring.replayed_run import replay_run
from multigold.scoring.rewards import combine, other_factors, reward_basis
from multigold.state.canonical import Json
from multigold.state.database import Database, EndState
from multigold.state.equivalence import comparable
from multigold.state.schemes import hash_state

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_APPLIES: Final[Mapping[str, str]] = {
    "is_action_match": "is_action_match",
    "db_state_match": "db_state_match",
    "db_state_assertion": "db_state_assertion_pass_rate",
    "nl_assertion": "nl_assertion_pass_rate",
    "judge_passed": "judge_passed",
    "clean_exit": "clean_exit",
}
"""Their name of a signal to the metric that it is read from, in their order."""

_THEIRS: Final = ("is_successful", "is_task_successful", "success_breakdown", "db_state_match")


# Hashes


class StateHashes:
    """The voice-agent evaluation's hashes of an environment's states.

    Args:
        environment: The environment, whose initial state all others are on.
    """

    def __init__(self, environment: Environment) -> None:
        self._lists = environment.name == "tau2-telecom"
        nulls = environment.conventions.null_defaults
        self._hasher = EvaHasher(environment.initial.agent, null_defaults=nulls)

    def of(self, state: EndState) -> tuple[str, str | None]:
        """Return the hash of each side; None for the user's where there is none."""
        agent = hash_state(_as_lists(state.agent), "eva") if self._lists else self._hasher.hash(state.agent)
        return agent, None if state.user is None else hash_state(state.user.to_json(), "eva")


def _as_lists(database: Database) -> Json:
    """Return telecom's database as it is stored there: lists of records, and moments in ISO form."""
    return {table: [_iso(database.get(table, i)) for i in database.ids(table)] for table in database.tables()}


def _iso(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _iso(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_iso(item) for item in value]
    return value.replace(" ", "T") if isinstance(value, str) and _MOMENT.fullmatch(value) else value


@attrs.frozen(kw_only=True)
class StoredHashes:
    """The hashes that stand in a run's metrics, agent's side and user's; None if there is none."""

    actual: tuple[str | None, str | None]
    expected: tuple[str | None, str | None]
    lost: bool

    @classmethod
    def of(cls, run: Run) -> StoredHashes:
        """Return the hashes of a run."""
        extra = run.extra
        return cls(
            actual=(_text(extra.get("db_state_actual_hash")), _text(extra.get("user_db_state_actual_hash"))),
            expected=(
                _text(extra.get("db_state_expected_hash")) or _text(extra.get("expected_db_hash")),
                _text(extra.get("expected_user_db_hash")),
            ),
            lost="db_state_actual_hash" in extra and not _text(extra["db_state_actual_hash"]),
        )

    def are(self, hashes: tuple[str, str | None]) -> bool:
        """Tell whether these are the hashes of the end state, as far as they are there."""
        return all(stored is None or stored == own for stored, own in zip(self.actual, hashes, strict=True))

    def match(self) -> bool | None:
        """Tell whether the end state is the expected one by its hashes; None if one is missing."""
        if self.lost:
            return False
        if self.actual[0] is None or self.expected[0] is None:
            return None
        user = None in (self.actual[1], self.expected[1]) or self.actual[1] == self.expected[1]
        return self.actual[0] == self.expected[0] and user


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value and value != "N/A" else None


def with_synchronised_gold(golds: CompiledGolds, task: Task, environment: Environment) -> CompiledGolds:
    """Return golds whose benchmark's gold was replayed as that evaluation does: both sides in step after each call."""
    if environment.synchronise is None or golds.benchmark is None:
        return golds
    calls = (task.criteria.actions if task.criteria else None) or ()
    done = replay(environment, calls, initial=golds.start)
    state = comparable(done.end_state, golds.initial, environment.conventions)
    faults = tuple(fault for fault in golds.benchmark.faults if fault != "gold_not_synced")
    return attrs.evolve(golds, benchmark=attrs.evolve(golds.benchmark, state=state, faults=faults, repaired=None))


# Verdicts


def judge_voice(
    run: Run,
    task: Task,
    golds: CompiledGolds | None,
    environment: Environment | None,
    hashes: StateHashes | None,
    *,
    contested: bool = False,
) -> Verdict:
    """Score one run by road B, or by road A where its actions are not there or nothing can be replayed.

    Args:
        run: The run.
        task: Its task.
        golds: The task's compiled golds; None if there is no environment.
        environment: Where calls are replayed; None if there is none for the domain.
        hashes: Hashes of the environment's states; None if there is no environment.
        contested: Whether contested readings count too.
    """
    stored, task = StoredHashes.of(run), _gated(task, run.trajectory)
    if golds is None or environment is None or hashes is None:
        verdict = _by_expected_hash(run, task, stored)
    elif stored.lost:
        verdict = _unmatched(blank(task, run.trajectory, golds), "no_hash", "the end state was recorded without a hash")
    elif run.problem is not None or run.trajectory.calls is None:
        verdict = _by_hash(run, task, golds, environment, hashes, stored, contested)
    else:
        verdict = _by_replay(run, task, golds, environment, hashes, stored, contested)
    return attrs.evolve(verdict, other_scorer=other_scorer(run, stored, verdict))


def _gated(task: Task, trajectory: Trajectory) -> Task:
    """Return a task whose reward is the product of the signals that gate this run, the two rules above all included."""
    if task.criteria is None:
        return task
    basis = trajectory.recorded.reward_basis or task.criteria.reward_basis
    return attrs.evolve(task, criteria=attrs.evolve(task.criteria, reward_basis=basis))


def _by_replay(
    run: Run,
    task: Task,
    golds: CompiledGolds,
    environment: Environment,
    hashes: StateHashes,
    stored: StoredHashes,
    contested: bool,
) -> Verdict:
    end = replay_run(run.trajectory, golds.start, environment).end_state
    if stored.are(hashes.of(end)):
        return judge(task, run.trajectory, golds, environment=environment, contested=contested)
    sentence = "the final actions, replayed, lead to a state with another hash than the recorded one"
    if environment.ids == "exact" and stored.are(hashes.of(_caseless_end(run.trajectory, golds, environment))):
        sentence += "; with --ids case-insensitive they lead to the recorded one"
    else:
        sentence += f"; by its hash the end state is in {_named(_readings_with(golds, hashes, stored))}"
    return unscored(blank(task, run.trajectory, golds), "hash_mismatch", sentence)


def _caseless_end(trajectory: Trajectory, golds: CompiledGolds, environment: Environment) -> EndState:
    return replay_run(trajectory, golds.start, attrs.evolve(environment, ids="case-insensitive")).end_state


def _named(readings: Iterable[str]) -> str:
    return ", ".join(readings) or "no reading that lists its states"


def _readings_with(golds: CompiledGolds, hashes: StateHashes, stored: StoredHashes) -> list[str]:
    return list(dict.fromkeys(reading for reading, _ in _states_with(golds, hashes, stored)))


def _states_with(golds: CompiledGolds, hashes: StateHashes, stored: StoredHashes) -> Iterator[tuple[str, EndState]]:
    """Yield each reading and state of it that has the recorded hash."""
    for admitted in golds.readings:
        for member in admitted.members:
            if stored.are(hashes.of(member.state)):
                yield admitted.reading.id, member.state


def _by_hash(
    run: Run,
    task: Task,
    golds: CompiledGolds,
    environment: Environment,
    hashes: StateHashes,
    stored: StoredHashes,
    contested: bool,
) -> Verdict:
    verdict = blank(task, run.trajectory, golds)
    if stored.actual[0] is None:
        reason = run.problem or Reason(code="no_calls", sentence="there are neither final actions nor a hash")
        return unscored(verdict, reason.code, reason.sentence)
    for _, state in _states_with(golds, hashes, stored):
        ended = attrs.evolve(run.trajectory, end_state=state, calls=None)
        return judge(task, ended, golds, environment=environment, contested=contested)
    if any(admitted.open_forms for admitted in golds.readings):
        return unscored(verdict, "hash_unknown", "the recorded hash is of no listed state, and a reading has no list")
    sentence = "the recorded hash is that of no end state that a reading admits"
    return attrs.evolve(
        _unmatched(verdict, "no_reading", sentence), benchmark_matched=None if golds.benchmark is None else False
    )


def _unmatched(verdict: Verdict, code: str, sentence: str) -> Verdict:
    return attrs.evolve(
        verdict,
        outcome="unmatched",
        benchmark_matched=False,
        rewards=NOTHING,
        reason=Reason(code=code, sentence=sentence),
    )


def _by_expected_hash(run: Run, task: Task, stored: StoredHashes) -> Verdict:
    """Return the verdict by the one hash that the evaluation itself expects, for a domain that cannot be replayed."""
    trajectory, matched = run.trajectory, stored.match()
    verdict = Verdict(
        outcome="unscored",
        recorded=trajectory.recorded,
        task_id=run.task_id,
        run_id=trajectory.run_id,
        agent=trajectory.agent,
        domain=task.domain,
    )
    if matched is None:
        return unscored(verdict, "environment_missing", f"there are no tools for {task.domain}, and no two hashes")
    basis = reward_basis(task.criteria, trajectory)
    reward = combine(matched, other_factors(task.criteria, trajectory, basis), basis)
    verdict = attrs.evolve(
        verdict,
        benchmark_matched=matched,
        rewards=Rewards(single=reward, core=reward, core_or_single=reward, with_contested=reward, core_strict=reward),
    )
    if not matched:
        sentence = "the recorded hash is not the expected one"
        return attrs.evolve(verdict, outcome="unmatched", reason=Reason(code="no_reading", sentence=sentence))
    match = Match(reading=BENCHMARK, standing="core")
    return attrs.evolve(verdict, outcome="matched", matches=(match,), matched=(BENCHMARK,))


# Their verdict


def other_scorer(run: Run, stored: StoredHashes, verdict: Verdict) -> dict[str, Json]:
    """Return their verdict on a run, and what it would be with the single gold's and with ours on the database.

    Returns:
        `theirs` as recorded; `single` and `core` with `db_state_match`, `is_successful`, `is_task_successful` and
        `success_breakdown` recomputed, null if our verdict is not known.
    """
    single = stored.match() if verdict.benchmark_matched is None else verdict.benchmark_matched
    core = None if verdict.outcome == "unscored" else bool(verdict.matched)
    return {
        "theirs": {name: run.extra[name] for name in _THEIRS if name in run.extra},
        "single": None if single is None else signals(run.extra, single),
        "core": None if core is None else signals(run.extra, core),
    }


def signals(extra: Mapping[str, Json], database: bool) -> dict[str, Json]:
    """Return their numbers on a run for a given verdict on the database.

    Args:
        extra: The run's metrics and its `success_signals`, as the reader keeps them.
        database: Whether the end state matches.
    """
    passed = {name: database if name == "db_state_match" else _passes(extra.get(key)) for name, key in _APPLIES.items()}
    known = {name: value for name, value in passed.items() if value is not None}
    wanted = extra.get("success_signals")
    gates = list(_APPLIES) if not isinstance(wanted, list) else [name for name in _APPLIES if name in wanted]
    stalled = extra.get("insufficient_agent_turns") is True
    return {
        "db_state_match": database,
        "is_successful": False if stalled else _all(known, gates),
        "is_task_successful": False if stalled else _all(known, [name for name in gates if name != "clean_exit"]),
        "success_breakdown": {
            "passed": [name for name in gates if known.get(name) is True],
            "failed": [name for name in gates if known.get(name) is False],
            "not_applicable": [name for name in gates if name not in known],
            "excluded": [name for name in known if name not in gates],
        },
    }


def _passes(value: Json) -> bool | None:
    """Tell whether a signal passes, a rate only at 1; None if it does not apply."""
    if isinstance(value, bool):
        return value
    return float(value) == 1.0 if isinstance(value, int | float) else None


def _all(known: Mapping[str, bool], gates: Iterable[str]) -> bool | str:
    values = [known[name] for name in gates if name in known]
    return all(values) if values else "N/A"
