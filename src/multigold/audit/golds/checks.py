"""The checks of the audit of golds. Each looks at one gold and yields findings; none changes anything.

A check is a function and not a class, because all that it needs is in the case: the replay, the end state and the index
of the start are computed once per gold, lazily, however many checks ask for them. A finding says how bad it is for the
*score*: a fault that no factor of the reward can see is a note or a warning, and the same fault in a factor is an
error. `CODES` and `CHECKS` at the end are the table of contents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from multigold.audit.findings import Finding
from multigold.audit.golds.cases import GoldCase
from multigold.audit.golds.orders import OtherOrder, are_equivalent, differing_orders
from multigold.audit.golds.reachability import unreachable_ids
from multigold.benchmark_data.releases import TaskVersion
from multigold.environments.assertions import holds, shown
from multigold.environments.tools import Invariant
from multigold.model.task import ToolCall
from multigold.policies.wording import same_wording
from multigold.scoring import benchmark_gold
from multigold.scoring.rewards import DEFAULT_BASIS
from multigold.state.canonical import Json
from multigold.state.delta import Delta, diff
from multigold.state.equivalence import EQUIVALENCES
from multigold.state.json_values import strings

MAX_EVIDENCE: Final = 20
"""Entries of a delta that a finding carries; the number of the rest is kept."""

GoldCheck: TypeAlias = Callable[[GoldCase], Iterator[Finding]]

FREE_TEXT_WORDS: Final = 5
"""A string with at least so many words that stands nowhere else is free wording."""

_WORD: Final = re.compile(r"[^\W\d_]{2,}")


# Calls that fail


def failing_calls(case: GoldCase) -> Iterator[Finding]:
    """A call of the gold that fails: the gold does not do what it says."""
    if case.gold.may_fail:
        return
    for number, refusal in case.replay.refusals:
        call = case.calls[number]
        tool = case.environment.tool(call.name, call.requestor)
        kind = "unknown-tool" if tool is None else "write-raises" if tool.kind == "write" else "read-raises"
        ends = (
            "so the gold's end state lacks what it would have done"
            if kind == "write-raises"
            else "its end state is the same"
        )
        yield case.finding(
            kind,
            f"call {number} ({call.name}) fails on replay: {refusal.message}; {ends}",
            level="error" if kind == "write-raises" or case.gold.reading else "warning",
            place=f", call {number}",
            evidence={"calls": [call.to_json()], "refusal": refusal.message},
            remedy=_FAILING_REMEDIES[kind],
        )


_FAILING_REMEDIES = {
    "write-raises": "Fix the call, or remove it: an agent that acts correctly can never end in this state.",
    "read-raises": "Fix its arguments, or remove it: a scorer that compares calls asks for one that cannot succeed.",
    "unknown-tool": "Remove it, or name the release of the tools that the gold was written for.",
}


# Golds that change nothing


def vacuous(case: GoldCase) -> Iterator[Finding]:
    """A gold that ends in the initial state: an agent that does nothing passes the database check."""
    if case.delta:
        return
    reading = case.gold.reading
    if reading is None:
        yield _vacuous_benchmark(case)
    elif reading.evidence is None:
        yield case.finding(
            "vacuous",
            f"the reading {reading.id} ends in the initial state and asks for no evidence, so doing nothing matches it",
            remedy="Ask for evidence: at least one successful read of the record in question.",
        )


def _vacuous_benchmark(case: GoldCase) -> Finding:
    basis = _basis(case)
    guards = _guards(case, basis, case.gold.version)
    caught = f"caught by {', '.join(guards)}" if guards else "nothing else in the reward catches it"
    scored = "" if "DB" in basis else "; the database is not a factor of this task's reward"
    return case.finding(
        "vacuous",
        f"the gold ends in the initial state, so doing nothing passes the database check; {caught}{scored}",
        level="note" if "DB" not in basis else "warning" if guards else "error",
        evidence={"calls": [call.to_json() for call in case.calls], "reward_basis": list(basis), "guards": guards},
        remedy="Score evidence of the decision as well, such as a read of the record, or what must be said.",
    )


def _basis(case: GoldCase) -> Sequence[str]:
    criteria = case.gold.task.criteria
    return (criteria.reward_basis if criteria else None) or DEFAULT_BASIS


def _guards(case: GoldCase, basis: Sequence[str], version: TaskVersion | None) -> list[str]:
    """Return the factors of the reward that a run which does nothing does not pass, in words."""
    criteria = case.gold.task.criteria
    if criteria is None:
        return []
    notes = (version.assertions if version else None) or (None, None)
    factors = {
        "COMMUNICATE": (len(criteria.communicate), "COMMUNICATE, {} to be said"),
        "NL_ASSERTION": (len(notes[0] or ()), "NL_ASSERTION, {} judged by a model"),
        "ENV_ASSERTION": (_failing_assertions(case), "ENV_ASSERTION, {} that the initial state fails"),
        "ACTION": (len(criteria.actions or ()), "ACTION, {} to be made"),
    }
    return [
        factors[factor][1].format(factors[factor][0]) for factor in basis if factor in factors and factors[factor][0]
    ]


def _failing_assertions(case: GoldCase) -> int:
    """Return how many of the task's assertions the initial state fails; one that cannot be evaluated counts."""
    return sum(holds(case.environment, case.start, assertion) is not True for assertion in _assertions(case))


def _assertions(case: GoldCase) -> Sequence[Json]:
    criteria = case.gold.task.criteria
    return (criteria.env_assertions if criteria else None) or ()


def failed_assertions(case: GoldCase) -> Iterator[Finding]:
    """A benchmark's gold after which the benchmark's own assertions do not hold, even if an agent makes its calls."""
    if case.gold.reading is not None or not _assertions(case):
        return
    end, environment = case.synced_end, case.environment
    failed = [assertion for assertion in _assertions(case) if holds(environment, end, assertion) is False]
    if failed:
        yield case.finding(
            "assertion-fails",
            f"an agent that makes the gold's calls fails the task's own assertion {shown(failed[0])}",
            evidence={"calls": [call.to_json() for call in case.calls], "assertions": failed},
            remedy="Fix the gold or the assertion: no agent that follows this gold is rewarded.",
        )


# The order of writes


def order_dependent(case: GoldCase) -> Iterator[Finding]:
    """A gold whose writes end in another state when they are made in another order.

    An order is left out that ends in a state which the same reading admits as well.
    """
    membership, environment = case.gold.membership, case.environment
    orders = [
        order
        for order in differing_orders(environment, case.calls, initial=case.start, synchronise=case.synchronise)
        if membership is None or not membership.admits(order.end_state, environment)
    ]
    if not orders:
        return
    cures = _common_cure(orders, case)
    first = orders[0]
    cured = f"the same under {' + '.join(cures)}" if cures else "no equivalence makes them the same"
    yield case.finding(
        "order-dependent",
        f"{_order_in_words(first, case)} ends in another state ({len(first.delta)} fields); {cured}",
        level="warning",
        evidence={"order": list(first.moved), "delta": _some(first.delta), "orders": len(orders), "cures": cures},
        remedy=(
            f"Score with --equivalence {' --equivalence '.join(cures)}."
            if cures
            else "State in the task which order is meant, or admit the other one as a reading."
        ),
    )


def _order_in_words(order: OtherOrder, case: GoldCase) -> str:
    named = [f"{number} ({case.calls[number].name})" for number in order.moved]
    moved = [place for place, number in enumerate(order.moved) if number != sorted(order.moved)[place]]
    if len(moved) == 2:
        return f"with calls {named[moved[1]]} and {named[moved[0]]} exchanged it"
    return f"with the writes in the order {', '.join(named)} it"


def _common_cure(orders: Sequence[OtherOrder], case: GoldCase) -> list[str] | None:
    """Return equivalences under which all orders end in the gold's state; None if there are none."""
    if any(order.cures is None for order in orders):
        return None
    names = [name for name in EQUIVALENCES if any(name in (order.cures or ()) for order in orders)]
    same = (are_equivalent(case.end, order.end_state, case.start, case.environment, names) for order in orders)
    return names if all(same) else None


# Ids from nowhere


def unreachable(case: GoldCase) -> Iterator[Finding]:
    """A gold that uses an id which nothing can have shown before."""
    if case.gold.task.instructions is None:
        return  # what the user says is not known, so neither is what an agent can know
    for miss in unreachable_ids(
        case.environment,
        case.gold.task,
        case.calls,
        case.start,
        index=case.index,
        synchronise=case.synchronise,
    ):
        call = case.calls[miss.call]
        there = "it is in the data" if miss.exists else "it does not exist at the start"
        yield case.finding(
            "unreachable-id",
            f"call {miss.call} ({call.name}) uses {miss.id!r} as {miss.argument}, which the user does not say and no "
            f"tool that could be called before shows; {there}",
            place=f", call {miss.call}, {miss.argument}",
            evidence={"calls": [call.to_json()], "id": miss.id},
            remedy="Let the user's instructions name it, or take an id that the agent can find.",
        )


# Invariants


def broken_invariants(case: GoldCase) -> Iterator[Finding]:
    """A gold whose end state breaks an invariant of the environment; sides out of step are another check's matter."""
    for name, invariant in case.environment.invariants.items():
        faults = list(_faults(invariant, case))
        if faults:
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            yield case.finding(
                "invariant-broken",
                f"the end state breaks {name}: {faults[0]}{more}",
                place=f", invariant {name}",
                evidence={"invariant": name, "faults": faults},
                remedy="Fix the gold; if the tool is at fault, fix that, and warn users of its results.",
            )


def _faults(invariant: Invariant, case: GoldCase) -> Iterator[str]:
    try:
        yield from invariant(case.settled(case.start), case.settled(case.synced_end))
    except Exception as error:  # written for states that tools make; whatever breaks it is no such state
        yield f"it cannot be evaluated ({type(error).__name__}: {error})"


# Two sides


def not_synchronised(case: GoldCase) -> Iterator[Finding]:
    """A benchmark's gold that ends elsewhere when the two sides are brought in step, as they are for an agent."""
    if case.environment.synchronise is None or case.gold.reading is not None:
        return
    delta = diff(case.end, case.settled(case.synced_end))
    if delta:
        yield case.finding(
            "not-synchronised",
            f"replayed as an agent's calls are, both sides brought in step after each, the gold ends in another state "
            f"({len(delta)} fields)",
            level="error" if "DB" in _basis(case) else "warning",
            evidence={"delta": _some(delta)},
            remedy="Synchronise after each call of the gold as well; an agent cannot reach this state.",
        )


# Words that must be the same


def literal_text(case: GoldCase) -> Iterator[Finding]:
    """A call with free wording in it, which another call matches only word for word."""
    for number, call in enumerate(case.calls):
        for name, value in (call.arguments or {}).items():
            if (call.compared is None or name in call.compared) and _is_wording(value, case):
                yield _literal_finding(case, number, call, name, str(value))


def _literal_finding(case: GoldCase, number: int, call: ToolCall, name: str, text: str) -> Finding:
    tool = case.environment.tool(call.name, call.requestor)
    stored = tool is not None and tool.kind == "write"
    scored = "ACTION" in _basis(case)
    where = "in the database" if stored else "in the check of calls"
    counts = "" if stored or scored else ", which is not a factor of this task's reward"
    return case.finding(
        "literal-text",
        f"call {number} ({call.name}) has a {name} in free wording, which must be the same {where}{counts}",
        level="error" if stored or scored else "warning",
        place=f", call {number}, {name}",
        evidence={"calls": [call.to_json()], "text": text},
        remedy="Compare the call without this argument (tau2: compare_args), or have a judge read it.",
    )


def _is_wording(value: Json, case: GoldCase) -> bool:
    if not isinstance(value, str) or len(_WORD.findall(value)) < FREE_TEXT_WORDS:
        return False
    return all(value not in text for text in strings(case.gold.task.instructions)) and not _is_data(value, case)


def _is_data(value: str, case: GoldCase) -> bool:
    return any(value in values for values in case.index.value_index.values.values())


# Other releases


def contradicted(case: GoldCase) -> Iterator[Finding]:
    """A gold that another release contradicts: the same text of the task, and another end state."""
    task = case.gold.task
    for name, other in case.gold.others.items():
        theirs = other.task
        if theirs.criteria is None or not theirs.criteria.states_gold:
            continue
        alike = task.initial_state == theirs.initial_state and same_wording(task.instructions, theirs.instructions)
        if not alike:
            continue
        delta = diff(case.end, benchmark_gold(theirs, case.environment, case.start).state)
        if delta:
            yield case.finding(
                "contradicted",
                f"{name} has the same text of this task and a gold that ends in another state ({len(delta)} fields)",
                place=f", against {name}",
                evidence={
                    "delta": _some(delta),
                    "calls": [call.to_json() for call in theirs.criteria.actions or ()],
                    "release": name,
                },
                remedy="One of the two is wrong, or the policy allows both: then they are two readings.",
            )


def _some(delta: Delta) -> dict[str, Json]:
    """Return a delta as plain data, cut to `MAX_EVIDENCE` entries."""
    plain = delta.to_json()
    kept = dict(list(plain.items())[:MAX_EVIDENCE])
    return {"changes": kept, "more": len(plain) - len(kept)}


def members_left_out(case: GoldCase) -> Iterator[Finding]:
    """A reading with so many members that only the first were looked at."""
    if case.gold.left_out and case.gold.reading is not None:
        yield Finding(
            code="members-left-out",
            where=case.gold.where.split(" (")[0],
            task=case.gold.task.id,
            level="note",
            sentence=f"{case.gold.left_out} more members of the reading {case.gold.reading.id} were not looked at",
        )


CODES: Final[Mapping[str, str]] = {
    "write-raises": "a write of the gold fails on replay",
    "read-raises": "a read of the gold fails on replay",
    "unknown-tool": "the gold calls a tool that the environment does not have",
    "vacuous": "the gold ends in the initial state: an agent that does nothing passes",
    "order-dependent": "the end state depends on the order of the writes",
    "unreachable-id": "an id that nothing can have shown before it is used",
    "invariant-broken": "the end state breaks an invariant of the environment",
    "assertion-fails": "the gold does not lead to what the task itself asserts",
    "not-synchronised": "the gold's two databases are not brought in step, as an agent's are",
    "literal-text": "an argument in free wording, which matches only word for word",
    "contradicted": "another release has the same text of the task and another gold",
    "no-start": "the task's own initial state cannot be set up",
    "no-end": "the changes that a gold states do not fit the initial state",
    "members-left-out": "only the first members of a reading were looked at",
}
"""Every code that this audit gives, and what it means."""

CHECKS: Final[Mapping[GoldCheck, frozenset[str]]] = {
    failing_calls: frozenset({"write-raises", "read-raises", "unknown-tool"}),
    vacuous: frozenset({"vacuous"}),
    order_dependent: frozenset({"order-dependent"}),
    unreachable: frozenset({"unreachable-id"}),
    broken_invariants: frozenset({"invariant-broken"}),
    failed_assertions: frozenset({"assertion-fails"}),
    not_synchronised: frozenset({"not-synchronised"}),
    literal_text: frozenset({"literal-text"}),
    contradicted: frozenset({"contradicted"}),
    members_left_out: frozenset({"members-left-out"}),
}
"""Every check, with the codes that it gives."""
