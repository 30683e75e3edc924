"""Checks of a catalogue that need more than its files: JSON Schema, an environment, tasks, the policy.

`lint_directory` is what `multigold validate` prints. All faults are found in one go: a form that cannot be replayed is
left out of the checks that come after it, and they go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from multigold.catalogues.distinct import ReadingOverlap, overlaps
from multigold.catalogues.gating import ungated
from multigold.catalogues.loading import decode_catalogue, duplicate_keys, read_files
from multigold.catalogues.schema import pattern_schema_fault, schema_findings
from multigold.environments.base import Environment
from multigold.environments.replay import initial_state, state_after_history
from multigold.errors import MultigoldError
from multigold.files.cursor import Finding, Level
from multigold.model.catalogue import Catalogue
from multigold.model.gold import AllOf, AnyOf, CallEvidence, Form, GoldSet, Pattern, Reading
from multigold.model.task import Task
from multigold.policies.lines import clause_text, policy_fingerprint
from multigold.scoring import Admitted, CompiledGolds, admitted_states, compile_golds
from multigold.state.database import EndState


@attrs.frozen(kw_only=True, eq=False)
class LintContext:
    """What a catalogue is checked against; whatever is missing is not checked, which is noted.

    Attributes:
        environment: Where calls are replayed.
        tasks: The benchmark's tasks, of any number of releases.
        policy: The bytes of the policy.
    """

    environment: Environment | None = None
    tasks: tuple[Task, ...] = ()
    policy: bytes | None = None


def lint_directory(directory: Path, context: LintContext) -> tuple[Catalogue, list[Finding]]:
    """Check the catalogue in a directory: its files, and then all that `lint_catalogue` checks.

    Args:
        directory: The directory of one catalogue.
        context: What to check it against.

    Returns:
        The catalogue, without the gold sets whose files have faults, and the findings.

    Raises:
        CallError: If the directory holds no catalogue.
    """
    found: list[Finding] = []
    files = read_files(directory, found)
    catalogue = decode_catalogue(files, found)
    noted = {finding.where for finding in found}
    found += [finding for finding in schema_findings(files.documents) if finding.where not in noted]
    found += duplicate_keys(files)
    faulty = {finding.where.split(": ")[0] for finding in found}
    sound = {task: gold_set for task, gold_set in catalogue.gold_sets.items() if gold_set.source not in faulty}
    found += lint_catalogue(attrs.evolve(catalogue, gold_sets=sound), context)
    found += [_not_yet_replayed(source) for source in sorted(faulty) if source.startswith("tasks/")]
    return catalogue, list(dict.fromkeys(found))


def _not_yet_replayed(source: str) -> Finding:
    return _finding("not-replayed", source, "", "it was not replayed, because its other errors come first", "note")


def lint_catalogue(catalogue: Catalogue, context: LintContext) -> list[Finding]:
    """Check a catalogue against its benchmark: references to tasks and clauses, and every gold set.

    Args:
        catalogue: A catalogue that loads without faults.
        context: What to check it against.

    Returns:
        The findings, in the order of the files; empty if all is well and nothing was left out.
    """
    found = [*_entry_findings(catalogue, context.tasks), *_clause_findings(catalogue, context.policy)]
    for gold_set in catalogue:
        found += lint_gold_set(gold_set, context)
    return list(dict.fromkeys(found))


# --- the catalogue itself ---------------------------------------------------------------------------------------


def _entry_findings(catalogue: Catalogue, tasks: Iterable[Task]) -> Iterator[Finding]:
    known = {task.id for task in tasks}
    listed = {entry.id: {*entry.tasks, *entry.proposed} for entry in catalogue.loopholes.values()}
    for index, entry in enumerate(catalogue.loopholes.values()):
        for task_id in sorted(listed[entry.id] - known) if known else ():
            yield _finding("unknown-task", "catalogue.json", f"/loopholes/{index}", f"there is no task {task_id!r}")
    for task_id in catalogue.paper_split:
        if known and task_id not in known:
            yield _finding("unknown-task", "catalogue.json", "/paper_split", f"there is no task {task_id!r}")
    for gold_set in catalogue:
        if known and gold_set.task_id not in known:
            yield _finding("unknown-task", gold_set.source, "/task_id", f"there is no task {gold_set.task_id!r}")
        for loophole in gold_set.loopholes:
            if gold_set.task_id not in listed.get(loophole, {gold_set.task_id}):
                sentence = f"the entry {loophole} lists task {gold_set.task_id!r} neither as published nor as proposed"
                yield _finding("unlisted-task", gold_set.source, "/loopholes", sentence)


def _clause_findings(catalogue: Catalogue, policy: bytes | None) -> Iterator[Finding]:
    if not catalogue.clauses:
        return
    if policy is None:
        yield _finding(
            "policy-not-seen", "clauses.json", "/policy", "there was no policy to check the clauses against", "note"
        )
        return
    if policy_fingerprint(policy) != catalogue.policy_fingerprint:
        sentence = "the policy is a different version from the one that the clauses were taken from"
        yield _finding("other-policy", "clauses.json", "/policy", sentence, "note")
    for index, clause in enumerate(catalogue.clauses.values()):
        shown = clause_text(policy, clause)
        if shown.found != "same":
            place = f"lines {clause.first_line} to {clause.last_line}"
            rest = f"they are at line {shown.first_line}" if shown.found == "moved" else "they are not in it"
            sentence = f"{place} of the policy are not those of the clause {clause.id!r}; {rest}"
            yield _finding("other-lines", "clauses.json", f"/clauses/{index}", sentence)


# --- gold sets --------------------------------------------------------------------------------------------------


def lint_gold_set(gold_set: GoldSet, context: LintContext) -> list[Finding]:
    """Check one gold set under each of its texts: replay, distinctness, golds, negative examples, evidence.

    Args:
        gold_set: The gold set, with all its texts.
        context: What to check it against.
    """
    found = list(_evidence_findings(gold_set, context.environment))
    for selected, tasks, text in _selections(gold_set, context.tasks):
        if context.tasks and not tasks:
            sentence = f"no known task has the text {selected.text or gold_set.task_id!r}"
            found.append(_finding("text-not-seen", gold_set.source, text, sentence, "note"))
        for task in tasks or [Task(gold_set.task_id)]:
            found += _selection_findings(selected, task, context.environment, text)
    return list(dict.fromkeys(found))


def _selections(gold_set: GoldSet, tasks: Iterable[Task]) -> Iterator[tuple[GoldSet, list[Task], str]]:
    """Yield the set as it stands for each text, the tasks of that text, and the text's pointer."""
    mine = [task for task in tasks if task.id == gold_set.task_id]
    if not gold_set.texts:
        yield gold_set, mine, ""
    for index, text in enumerate(gold_set.texts):
        same_text = [task for task in mine if task.text_fingerprint() == text.fingerprint]
        yield gold_set.select(text), same_text, f"/texts/{index}"


def _selection_findings(gold_set: GoldSet, task: Task, environment: Environment | None, text: str) -> Iterator[Finding]:
    begun = _handed_over(task, environment)
    if begun is None:
        sentence = (
            "nothing was replayed: there is neither an environment (--environment names one) nor an initial state"
        )
        yield _finding("not-replayed", gold_set.source, text, sentence, "note")
        return
    sound = []
    for index, reading in enumerate(gold_set.readings):
        forms = []
        for number, form in enumerate(reading.admits):
            faults = list(_form_faults(form, begun, environment))
            place = f"/readings/{index}/admits/{number}"
            yield from (_finding(code, gold_set.source, place, sentence) for code, sentence in faults)
            forms += [form] if not faults else []
        sound.append(attrs.evolve(reading, admits=tuple(forms)))
    golds = compile_golds(task, attrs.evolve(gold_set, readings=tuple(sound)), environment)
    yield from _member_findings(gold_set, golds, environment)
    yield from _overlap_findings(gold_set, golds)
    yield from _gold_findings(gold_set, task, golds, text)
    yield from _negative_findings(gold_set, golds, environment)


def _handed_over(task: Task, environment: Environment | None) -> EndState | None:
    """Return the state that a task is handed to the agent in, also amid a conversation; None if it is unknown."""
    if environment is None:
        return task.initial
    start = initial_state(environment, task.initial, task.initial_state)
    return state_after_history(environment, start, task.initial_state)


def _form_faults(form: Form, begun: EndState, environment: Environment | None) -> Iterator[tuple[str, str]]:
    """Yield (code, sentence) for all that is wrong with one form."""
    if isinstance(form, Pattern):
        known = environment.invariants if environment else {}
        for name in form.invariants:
            if name not in known:
                yield "unknown-invariant", f"no invariant is called {name!r}; there are: {', '.join(known) or 'none'}"
        for pointer, rule in form.pointers.items():
            fault = None if rule.schema is None else pattern_schema_fault(rule.schema)
            if fault is not None:
                yield "bad-schema", f"the schema at {pointer} is not valid JSON Schema: {fault}"
        return
    try:
        for _ in admitted_states(form, begun, environment):
            pass
    except MultigoldError as error:
        yield "failing-call", error.message


def _member_findings(gold_set: GoldSet, golds: CompiledGolds, environment: Environment | None) -> Iterator[Finding]:
    for index, admitted in enumerate(golds.readings):
        for code, sentence, level in _member_faults(admitted):
            yield _finding(code, gold_set.source, f"/readings/{index}", f"{admitted.reading.id}: {sentence}", level)
    for index, reading in ungated(golds, environment):
        sentence = f"{reading.id} admits the initial state, so its evidence must ask for a successful read"
        yield _finding("not-gated", gold_set.source, f"/readings/{index}", sentence)


def _member_faults(admitted: Admitted) -> Iterator[tuple[str, str, Level]]:
    if admitted.skipped:
        yield "infeasible", f"{admitted.skipped} members are left out because a call fails", "note"
    if admitted.duplicates:
        yield "duplicate-members", f"{admitted.duplicates} members end in a state that another member reaches", "note"
    if not admitted.members and not admitted.open_forms and admitted.reading.admits:
        yield "admits-nothing", "no member is feasible", "error"


def _overlap_findings(gold_set: GoldSet, golds: CompiledGolds) -> Iterator[Finding]:
    declared = {frozenset(pair) for pair in gold_set.overlaps}
    for overlap in overlaps(golds):
        if frozenset(overlap.readings) not in declared:
            yield _overlap_finding(gold_set, overlap)


def _overlap_finding(gold_set: GoldSet, overlap: ReadingOverlap) -> Finding:
    ids = [reading.id for reading in gold_set.readings]
    place = f"/readings/{ids.index(overlap.readings[1])}"
    one, other = overlap.readings
    if overlap.kind == "undecided":
        sentence = f"whether a pattern of {other} overlaps one of {one} cannot be decided from what they require"
        return _finding("overlap-undecided", gold_set.source, place, sentence, "note")
    member = f" ({overlap.member})" if overlap.member else ""
    sentence = f"{other} and {one} share an end state{member} and declare no overlap"
    return _finding("overlap", gold_set.source, place, sentence)


def _gold_findings(gold_set: GoldSet, task: Task, golds: CompiledGolds, text: str) -> Iterator[Finding]:
    """Hold the benchmark's gold of a task against what the text says of it."""
    fingerprint = task.gold_fingerprint()
    stated = next((known for known in gold_set.texts if known.id == gold_set.text), None)
    if fingerprint is None or stated is None:
        return
    place = f"{text}/golds"
    if fingerprint not in stated.golds:
        sentence = f"the gold {fingerprint[:12]}… of a known task is not listed"
        yield _finding("gold-not-listed", gold_set.source, place, sentence, "note")
        return
    expected, admitting = stated.golds[fingerprint], golds.benchmark_readings
    if expected is None and admitting:
        sentence = f"the gold should be in no reading, and is in {', '.join(admitting)}"
        yield _finding("gold-admitted", gold_set.source, f"{place}/{fingerprint}", sentence)
    if expected is not None and expected not in admitting:
        sentence = f"the gold should be in {expected}, and is in {', '.join(admitting) or 'no reading'}"
        yield _finding("gold-not-admitted", gold_set.source, f"{place}/{fingerprint}", sentence)


def _negative_findings(gold_set: GoldSet, golds: CompiledGolds, environment: Environment | None) -> Iterator[Finding]:
    every = [negative.id for negative in gold_set.negatives]
    for negative in gold_set.negatives:
        place = f"/negatives/{every.index(negative.id)}"
        try:
            states = [member.state for member in admitted_states(negative.admits, golds.initial, environment) if member]
        except MultigoldError as error:
            if not negative.refused:
                yield _finding("failing-call", gold_set.source, place, f"{negative.id}: {error.message}")
            continue
        if negative.refused:
            sentence = f"{negative.id}: its calls should be refused, and are not"
            yield _finding("not-refused", gold_set.source, place, sentence)
        for state in states:
            yield from _negative_matches(golds, negative.id, state, gold_set.source, place)


def _negative_matches(golds: CompiledGolds, name: str, state: EndState, source: str, place: str) -> Iterator[Finding]:
    prepared = golds.prepare(state)
    for admitted in golds.readings:
        if admitted.reading.standing == "core" and admitted.find(prepared) is not None:
            sentence = f"{name}: the reading {admitted.reading.id} admits it"
            yield _finding("negative-admitted", source, place, sentence)


# --- evidence ---------------------------------------------------------------------------------------------------


def _evidence_findings(gold_set: GoldSet, environment: Environment | None) -> Iterator[Finding]:
    if environment is None:
        return
    for index, reading in enumerate(gold_set.readings):
        for call in _calls(reading):
            fault = _call_fault(call, environment)
            if fault is not None:
                yield _finding("bad-evidence", gold_set.source, f"/readings/{index}/evidence", fault)


def _calls(reading: Reading) -> Iterator[CallEvidence]:
    waiting = [reading.evidence]
    while waiting:
        evidence = waiting.pop()
        if isinstance(evidence, AllOf | AnyOf):
            waiting.extend(evidence.parts)
        elif evidence is not None:
            yield evidence


def _call_fault(call: CallEvidence, environment: Environment) -> str | None:
    tool = environment.tools.get(call.tool) or environment.user_tools.get(call.tool)
    if tool is None:
        return f"there is no tool {call.tool!r}"
    unknown = call.arguments.keys() - tool.parameters.keys()
    return f"{call.tool} has no argument {sorted(unknown)[0]!r}" if unknown else None


def _finding(code: str, file: str, pointer: str, sentence: str, level: Level = "error") -> Finding:
    return Finding(code=code, where=f"{file}: {pointer or '/'}", sentence=sentence, level=level)
