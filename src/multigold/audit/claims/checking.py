"""A claimed table held against the files that it is said to come from.

    claim + results -> what does not follow, each with where and by how much

A leaderboard entry is a few numbers. Whether they follow from the runs is a matter of counting: how many tasks, how
many trials of each, whether any are missing, were stopped by infrastructure or stand there twice, and whether all were
made under one policy and on one text of the tasks. A number follows if it is the one computed, rounded to as many
digits as are claimed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import attrs

from multigold.errors import CallError
from multigold.files.records import MAX_RECORD_BYTES
from multigold.model.verdict import Verdict
from multigold.readers import ResultsFile, Run, find_sources
from multigold.rescoring import Options, rescore
from multigold.rescoring.context import ScoringContext
from multigold.state.canonical import Json, digest
from multigold.stats.aggregation import COLUMNS, reward
from multigold.stats.pass_k import pass_hat_k
from multigold.stats.rows import MISSING, Missing, RunRow, by_agent, natural

SCHEMA: Final = "multigold/claim/1"
"""Name and version of the form; its JSON Schema ships as `schemas/claim.schema.json`."""

Problem: TypeAlias = Literal[
    "value", "count", "missing", "infrastructure", "duplicate", "policy", "texts", "agents", "absent"
]


@attrs.frozen(kw_only=True)
class Number:
    """A claimed number: its value, and how far the true one may be off for it to be rounded to this.

    Attributes:
        value: The number, 0..1.
        half: Half a unit of its last digit.
    """

    value: Decimal
    half: Decimal

    def holds(self, true: float) -> bool:
        """Tell whether a number rounds to the one that is claimed."""
        return abs(Decimal(repr(true)) - self.value) <= self.half + Decimal("1e-12")


@attrs.frozen(kw_only=True)
class DomainClaim:
    """What is claimed of one domain.

    Attributes:
        pass_hat: k to the claimed pass^k.
        counts: What else is claimed, such as `tasks`, `trials`, `runs`, `missing_runs`, `infrastructure_errors`.
        policy: SHA-256 of the policy; empty if none is claimed.
        tasks_digest: Digest of the tasks' texts; empty if none is claimed.
    """

    pass_hat: Mapping[int, Number]
    counts: Mapping[str, int] = attrs.field(factory=dict)
    policy: str = ""
    tasks_digest: str = ""


@attrs.frozen(kw_only=True)
class Claim:
    """A claimed table.

    Attributes:
        domains: Domain to what is claimed of it.
        agent: Of whom; empty if the claim does not say.
        column: Of which reward.
        missing: What it says became of runs without a reward.
    """

    domains: Mapping[str, DomainClaim]
    agent: str = ""
    column: str = "recorded"
    missing: Missing = "left_out"


@attrs.frozen(kw_only=True)
class Discrepancy:
    """Something of a claim that does not follow from the files.

    Attributes:
        problem: What kind.
        domain: Of which domain.
        sentence: What.
    """

    problem: Problem
    domain: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.domain}: {self.sentence}" if self.domain else self.sentence


# Reading a claim

COUNTS = ("tasks", "trials", "runs", "missing_runs", "infrastructure_errors")


def read_claim(path: Path) -> Claim:
    """Read a claim: our own form, or a leaderboard entry of tau2-bench (`results` with `pass_1` in per cent).

    Raises:
        CallError: If it cannot be read or is of neither form.
    """
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            raise CallError(f"it is larger than {MAX_RECORD_BYTES:,} bytes", where=str(path))
        data = json.loads(path.read_bytes(), parse_float=Decimal, parse_int=Decimal)
    except OSError as error:
        raise CallError(f"the claim cannot be read ({error.strerror or error})", where=str(path)) from error
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise CallError(f"the claim is not JSON ({error})", where=str(path)) from error
    try:
        if isinstance(data, dict) and data.get("schema") == SCHEMA:
            return _own_form(data)
        if isinstance(data, dict) and isinstance(data.get("results"), dict):
            return _leaderboard_form(data)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise CallError(
            f"it is not of the form of a claim ({type(error).__name__}: {error})", where=str(path)
        ) from error
    raise CallError(
        f"it is neither a claim (`schema` {SCHEMA!r}) nor a leaderboard entry (`results` by domain)",
        where=str(path),
        remedy="Write one from files with: multigold verify --write CLAIM RESULTS",
    )


def _own_form(data: Mapping[str, Any]) -> Claim:
    column, missing = data.get("column", "recorded"), data.get("missing", "left_out")
    if column not in COLUMNS or missing not in MISSING:
        raise ValueError(f"column {column!r} or missing {missing!r} is not known")
    domains = {
        str(domain): DomainClaim(
            pass_hat={int(k): _number(value) for k, value in claimed["pass^k"].items()},
            counts={name: int(claimed[name]) for name in COUNTS if claimed.get(name) is not None},
            policy=str(claimed.get("policy") or ""),
            tasks_digest=str(claimed.get("tasks_digest") or ""),
        )
        for domain, claimed in data["domains"].items()
    }
    return Claim(domains=domains, agent=str(data.get("agent") or ""), column=column, missing=missing)


def _leaderboard_form(data: Mapping[str, Any]) -> Claim:
    domains = {}
    for domain, claimed in data["results"].items():
        found = {
            int(name.removeprefix("pass_")): _number(value, per_cent=True)
            for name, value in claimed.items()
            if name.startswith("pass_") and value is not None
        }
        if found:
            domains[domain if "-" in domain else f"tau2-{domain}"] = DomainClaim(pass_hat=found)
    return Claim(domains=domains)


def _number(value: Decimal | str, *, per_cent: bool = False) -> Number:
    """Read a number as it is written: as text it may have more digits than it needs, which then count."""
    if isinstance(value, str):
        value = Decimal(value)
    if not isinstance(value, Decimal) or not value.is_finite():
        raise TypeError(f"{value!r} is not a number")
    exponent = value.as_tuple().exponent
    half = Decimal(5).scaleb(int(exponent) - 1)
    scale = Decimal(100) if per_cent else Decimal(1)
    if not 0 <= value / scale <= 1:
        raise ValueError(f"{value} is not a rate")
    return Number(value=value / scale, half=half / scale)


# What the files say


@attrs.frozen(kw_only=True)
class Facts:
    """What files say of one domain.

    Attributes:
        agents: Agents in them.
        rows: The runs, with their reward in the claim's column; each counted as often as it stands there.
        tasks: Tasks that were to be run, as the files embed them.
        trials: Trials that were planned of each; None if no file says so, or they do not agree.
        duplicates: Runs that stand there more than once, each a few words.
        infrastructure: Runs that were stopped by infrastructure.
        policies: Digests of the policies that the files embed.
        texts: Digests of the tasks' texts that they embed.
    """

    agents: tuple[str, ...]
    rows: tuple[RunRow, ...]
    tasks: tuple[str, ...]
    trials: int | None
    duplicates: tuple[str, ...]
    infrastructure: int
    policies: Mapping[str, str]
    texts: Mapping[str, str]

    @property
    def made(self) -> Counter[str]:
        """Task to how many runs of it there are."""
        return Counter(row.task for row in self.rows)

    @property
    def counts(self) -> dict[str, int]:
        """What a claim can state, as it is."""
        made = self.made
        trials = self.trials if self.trials is not None else max(made.values(), default=0)
        tasks = set(self.tasks) | {task for task in made if task}
        return {
            "tasks": len(tasks),
            "trials": trials,
            "runs": len(self.rows),
            "missing_runs": sum(max(0, trials - made[task]) for task in tasks),
            "infrastructure_errors": self.infrastructure,
        }


@attrs.frozen
class _OneRun:
    file: str
    agent: str
    task: str
    trial: int
    run_id: str
    reward: float | None
    infrastructure: bool


def gather(paths: Iterable[str | Path], column: str = "recorded", options: Options | None = None) -> dict[str, Facts]:
    """Return what files say, by domain.

    Args:
        paths: The files. For the column `recorded` nothing is replayed, and no benchmark data is needed.
        column: The reward column.
        options: How results are read and, for other columns, re-scored.

    Raises:
        ResultsError: If a file cannot be read.
        DataError: If runs have to be replayed and the benchmark's data is missing.
    """
    paths, options = list(paths), options or Options()
    context = ScoringContext(options)
    files = [results for source in find_sources(paths) for results in context.open(source)]
    runs: dict[str, list[_OneRun]] = {}
    if column == "recorded":
        for results in files:
            runs.setdefault(results.domain, []).extend(_recorded(run, results, options) for run in results.runs)
    else:
        for verdict in rescore(*paths, options=options).verdicts:
            runs.setdefault(verdict.domain, []).append(_rescored(verdict, column))
    return {
        domain: _facts(found, [results for results in files if results.domain == domain])
        for domain, found in sorted(runs.items())
    }


def _recorded(run: Run, results: ResultsFile, options: Options) -> _OneRun:
    one = run.trajectory
    agent = options.agent_name or one.agent or results.agent
    infrastructure = _is_infrastructure(one.termination)
    value = None if infrastructure else one.recorded.reward
    return _OneRun(results.name, agent, run.task_id, one.trial, one.run_id, value, infrastructure)


def _rescored(verdict: Verdict, column: str) -> _OneRun:
    return _OneRun(
        verdict.file,
        verdict.agent,
        verdict.task_id,
        verdict.trial,
        verdict.run_id,
        reward(verdict, column),
        _is_infrastructure(verdict.termination),
    )


def _is_infrastructure(termination: str | None) -> bool:
    return termination is not None and termination.rpartition(".")[2].lower() == "infrastructure_error"


def _facts(runs: Sequence[_OneRun], files: Sequence[ResultsFile]) -> Facts:
    planned = {results.planned_trials for results in files if results.planned_trials is not None}
    return Facts(
        agents=tuple(sorted({run.agent for run in runs})),
        rows=tuple(RunRow(agent=run.agent, task=run.task, trial=run.trial, reward=run.reward) for run in runs),
        tasks=tuple(sorted({task for results in files if results.embeds_tasks for task in results.tasks}, key=natural)),
        trials=planned.pop() if len(planned) == 1 else None,
        duplicates=tuple(_duplicates(runs)),
        infrastructure=sum(run.infrastructure for run in runs),
        policies={results.name: results.policy_digest for results in files if results.policy_digest},
        texts={results.name: _texts(results) for results in files if results.embeds_tasks and results.tasks},
    )


def _texts(results: ResultsFile) -> str:
    return digest({task: found.text_fingerprint() for task, found in results.tasks.items()})


def _duplicates(runs: Sequence[_OneRun]) -> Iterator[str]:
    by_id = Counter(run.run_id for run in runs if run.run_id)
    by_trial = Counter((run.agent, run.task, run.trial) for run in runs)
    yield from (f"run {name} {number} times" for name, number in by_id.items() if number > 1)
    yield from (f"task {task}, trial {trial} {n} times" for (_, task, trial), n in by_trial.items() if n > 1)


def figures(facts: Facts, missing: Missing) -> dict[int, tuple[float, int]]:
    """Return pass^k of the runs of one agent, and of how many tasks, for each k that the data allow."""
    rows = [row for own in by_agent(facts.rows).values() for row in own]
    agents = {row.agent for row in rows}
    if len(agents) != 1:
        return {}
    known = {"planned": facts.trials, "tasks": facts.tasks} if missing == "failed" else {}
    found = pass_hat_k(rows, missing=missing, **known)  # type: ignore[arg-type]
    return {one.k: (one.value, one.tasks) for one in found if one.value is not None}


def claim_of(facts: Mapping[str, Facts], *, column: str = "recorded", missing: Missing = "left_out") -> dict[str, Json]:
    """Return the claim that files' own figures make, as plain data.

    Raises:
        CallError: If they hold the runs of several agents.
    """
    agents = sorted({agent for one in facts.values() for agent in one.agents})
    if len(agents) > 1:
        raise CallError(f"a claim is of one agent, and these files are of {len(agents)}: {', '.join(agents[:5])}.")
    domains: dict[str, Json] = {}
    for domain, one in facts.items():
        values: dict[str, Json] = {str(k): f"{value:.6f}" for k, (value, _) in figures(one, missing).items()}
        stated: dict[str, Json] = dict(one.counts)
        domains[domain] = {
            "pass^k": values,
            **stated,
            "policy": _only(one.policies),
            "tasks_digest": _only(one.texts),
        }
    head: dict[str, Json] = {"schema": SCHEMA, "agent": agents[0] if agents else "", "column": column}
    return {**head, "missing": missing, "domains": domains}


def _only(digests: Mapping[str, str]) -> str | None:
    found = set(digests.values())
    return found.pop() if len(found) == 1 else None


# Holding one against the other


def check_claim(claim: Claim, facts: Mapping[str, Facts]) -> tuple[Discrepancy, ...]:
    """Return everything of a claim that does not follow from the files.

    Args:
        claim: The claim.
        facts: What the files say; see `gather`.
    """
    found: list[Discrepancy] = []
    for domain, claimed in claim.domains.items():
        if domain not in facts:
            sentence = f"no file holds runs of it; they are of {', '.join(facts) or 'no domain'}"
            found.append(Discrepancy(problem="absent", domain=domain, sentence=sentence))
            continue
        found += (Discrepancy(problem=p, domain=domain, sentence=s) for p, s in _check(claim, claimed, facts[domain]))
    return tuple(found)


def _check(claim: Claim, claimed: DomainClaim, facts: Facts) -> Iterator[tuple[Problem, str]]:
    yield from _agents(claim, facts)
    yield from _counts(claimed, facts)
    yield from (("duplicate", f"a run stands there twice: {one}") for one in facts.duplicates)
    yield from _versions("policy", "policies", claimed.policy, facts.policies)
    yield from _versions("texts", "texts of the tasks", claimed.tasks_digest, facts.texts)
    true = figures(facts, claim.missing)
    for k, number in sorted(claimed.pass_hat.items()):
        if k not in true:
            yield "value", f"pass^{k} is claimed to be {number.value}, and no task has {k} trials"
        elif not number.holds(true[k][0]):
            value, tasks = true[k]
            yield "value", f"pass^{k} is claimed to be {number.value} and is {value:.6f} (of {tasks} tasks)"
        elif true[k][1] < facts.counts["tasks"] and "missing_runs" not in claimed.counts:
            of = f"{true[k][1]} of {facts.counts['tasks']} tasks"
            yield "missing", f"pass^{k} rests on {of}, the others have fewer trials, and the claim does not say so"


def _agents(claim: Claim, facts: Facts) -> Iterator[tuple[Problem, str]]:
    if len(facts.agents) > 1:
        yield "agents", f"the files hold the runs of {len(facts.agents)} agents: {', '.join(facts.agents[:5])}"
    elif claim.agent and facts.agents and claim.agent != facts.agents[0]:
        yield "agents", f"the claim is of {claim.agent!r} and the runs are of {facts.agents[0]!r}"


def _counts(claimed: DomainClaim, facts: Facts) -> Iterator[tuple[Problem, str]]:
    true = facts.counts
    for name, number in claimed.counts.items():
        if number != true[name]:
            yield "count", f"{name.replace('_', ' ')}: {number} claimed, {true[name]} in the files"
    if true["missing_runs"] and "missing_runs" not in claimed.counts:
        without = [task for task in facts.tasks if not facts.made[task]]
        none = f"; no run at all of tasks {', '.join(without[:8])}" if without else ""
        planned = f"{true['trials']} trials of {true['tasks']} tasks"
        yield "missing", f"{true['missing_runs']} runs of {planned} are missing, and the claim does not say so{none}"
    if true["infrastructure_errors"] and "infrastructure_errors" not in claimed.counts:
        stopped = true["infrastructure_errors"]
        yield "infrastructure", f"{stopped} runs were stopped by infrastructure, and the claim does not say so"


def _versions(
    problem: Literal["policy", "texts"], words: str, claimed: str, found: Mapping[str, str]
) -> Iterator[tuple[Problem, str]]:
    if len(set(found.values())) > 1:
        said = ", ".join(f"{file} {value[:12]}" for file, value in found.items())
        yield problem, f"the files were made under different {words}: {said}"
    elif claimed and found and claimed not in found.values():
        (value,) = set(found.values())
        yield problem, f"the claim is of other {words}: {claimed[:12]} claimed, {value[:12]} in the files"
