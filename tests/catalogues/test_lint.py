"""Lint: each kind of fault, planted, is found with its place; a sound catalogue is clean."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from catalogue_files import POLICY, documents, refund_call, shop, task, write

from multigold.catalogues.lint import LintContext, lint_directory
from multigold.environments.tools import tool_table
from multigold.files.cursor import Finding
from multigold.policies.lines import lines_fingerprint, policy_lines
from multigold.state.database import Draft

TASK = "tasks/1.json"
CONTEXT = LintContext(environment=shop(), tasks=(task(),), policy=POLICY)


def sound() -> dict[str, Any]:
    files = documents()
    files["clauses.json"]["policy"]["fingerprint"] = hashlib.sha256(POLICY).hexdigest()
    files["clauses.json"]["clauses"][0]["fingerprint"] = lines_fingerprint(policy_lines(POLICY)[4:5])
    return files


def lint(tmp_path: Path, change: Callable[[dict[str, Any]], Any], context: LintContext) -> list[Finding]:
    files = sound()
    change(files)
    return lint_directory(write(tmp_path, files), context)[1]


def reading(files: dict[str, Any], index: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = files[TASK]["readings"][index]
    return found


def pattern(after: Any, **more: Any) -> dict[str, Any]:
    return {"pattern": {"pointers": {"/agent/items/a/refunded": {"after": after, **more}}}}


def only_gold(files: dict[str, Any], expected: str | None) -> None:
    (fingerprint,) = files[TASK]["texts"][0]["golds"]
    files[TASK]["texts"][0]["golds"] = {fingerprint: expected}


def test_a_sound_catalogue_has_no_findings(tmp_path: Path) -> None:
    assert lint(tmp_path, lambda files: None, CONTEXT) == []


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str]] = {
    "failing call of a reading": (
        lambda f: reading(f)["admits"].append({"actions": [refund_call("z")]}),
        f"{TASK}: /readings/0/admits/1",
        "failing-call",
    ),
    "unknown tool": (
        lambda f: reading(f)["admits"].append({"actions": [{"name": "steal", "arguments": {}}]}),
        f"{TASK}: /readings/0/admits/1",
        "failing-call",
    ),
    "failing member of a choice": (
        lambda f: reading(f)["admits"][0]["choices"]["slots"]["item"].append("z"),
        f"{TASK}: /readings/0/admits/0",
        "failing-call",
    ),
    "no feasible member": (
        lambda f: reading(f)["admits"][0]["choices"].update(slots={"item": ["y", "z"]}, infeasible="skip"),
        f"{TASK}: /readings/0",
        "admits-nothing",
    ),
    "delta of another start": (
        lambda f: reading(f)["admits"].append({"delta": {"/agent/items/a/refunded": {"before": 3, "after": 4}}}),
        f"{TASK}: /readings/0/admits/1",
        "failing-call",
    ),
    "unknown invariant": (
        lambda f: reading(f, 2)["admits"][0]["pattern"].update(invariants=["sums"]),
        f"{TASK}: /readings/2/admits/0",
        "unknown-invariant",
    ),
    "schema that is none": (
        lambda f: reading(f, 2).update(admits=[pattern({"minimum": "x"})]),
        f"{TASK}: /readings/2/admits/0",
        "bad-schema",
    ),
    "readings that share a member": (
        lambda f: reading(f, 1).update(admits=[{"actions": []}, {"actions": [refund_call("b")]}]),
        f"{TASK}: /readings/1",
        "overlap",
    ),
    "a member that a pattern admits": (
        lambda f: reading(f, 2).update(admits=[pattern({"minimum": 1, "maximum": 10})]),
        f"{TASK}: /readings/2",
        "overlap",
    ),
    "gold in another reading": (
        lambda f: only_gold(f, "refuse"),
        f"{TASK}: /texts/0/golds/{task().gold_fingerprint()}",
        "gold-not-admitted",
    ),
    "conflict that is none": (
        lambda f: only_gold(f, None),
        f"{TASK}: /texts/0/golds/{task().gold_fingerprint()}",
        "gold-admitted",
    ),
    "negative example that a core reading admits": (
        lambda f: f[TASK]["negatives"].append({"id": "n", "reason": "r", "admits": {"actions": [refund_call("a")]}}),
        f"{TASK}: /negatives/2",
        "negative-admitted",
    ),
    "negative example that should be refused": (
        lambda f: f[TASK]["negatives"][0].update(refused=True),
        f"{TASK}: /negatives/0",
        "not-refused",
    ),
    "negative example that fails": (
        lambda f: f[TASK]["negatives"][1].update(refused=False),
        f"{TASK}: /negatives/1",
        "failing-call",
    ),
    "initial state without evidence": (lambda f: reading(f, 1).pop("evidence"), f"{TASK}: /readings/1", "not-gated"),
    "evidence that names no record": (
        lambda f: reading(f, 1).update(evidence={"tool": "look"}),
        f"{TASK}: /readings/1",
        "not-gated",
    ),
    "evidence that a write gives": (
        lambda f: reading(f, 1).update(evidence={"tool": "refund", "arguments": {"item": "a"}}),
        f"{TASK}: /readings/1",
        "not-gated",
    ),
    "evidence of which one way asks nothing": (
        lambda f: reading(f, 1).update(
            evidence={"any_of": [{"tool": "look", "arguments": {"item": "a"}}, {"tool": "look"}]}
        ),
        f"{TASK}: /readings/1",
        "not-gated",
    ),
    "evidence of a failure": (
        lambda f: reading(f, 1).update(evidence={"tool": "look", "arguments": {"item": "a"}, "succeeded": False}),
        f"{TASK}: /readings/1",
        "not-gated",
    ),
    "pattern that admits the initial state": (
        lambda f: reading(f, 2).update(admits=[pattern({"minimum": 1, "maximum": 9}, optional=True)]),
        f"{TASK}: /readings/2",
        "not-gated",
    ),
    "evidence by an unknown tool": (
        lambda f: reading(f, 1).update(evidence={"tool": "peek", "arguments": {"item": "a"}}),
        f"{TASK}: /readings/1/evidence",
        "bad-evidence",
    ),
    "evidence with an unknown argument": (
        lambda f: reading(f, 1).update(evidence={"tool": "look", "arguments": {"id": "a"}}),
        f"{TASK}: /readings/1/evidence",
        "bad-evidence",
    ),
    "task that the entry does not list": (
        lambda f: f["catalogue.json"]["loopholes"][0].update(tasks=[]),
        f"{TASK}: /loopholes",
        "unlisted-task",
    ),
    "entry of an unknown task": (
        lambda f: f["catalogue.json"]["loopholes"][0].update(proposed={"7": "why not"}),
        "catalogue.json: /loopholes/0",
        "unknown-task",
    ),
    "split of an unknown task": (
        lambda f: f["catalogue.json"].update(paper_split=["8"]),
        "catalogue.json: /paper_split",
        "unknown-task",
    ),
    "clause that stands elsewhere": (
        lambda f: f["clauses.json"]["clauses"][0].update(lines=[6, 6]),
        "clauses.json: /clauses/0",
        "other-lines",
    ),
    "clause that is nowhere": (
        lambda f: f["clauses.json"]["clauses"][0].update(fingerprint="0" * 64),
        "clauses.json: /clauses/0",
        "other-lines",
    ),
    "title that is empty": (lambda f: reading(f).update(title=""), f"{TASK}: /readings/0/title", "schema"),
    "fingerprint that is none": (
        lambda f: f["clauses.json"]["policy"].update(fingerprint="abc"),
        "clauses.json: /policy/fingerprint",
        "schema",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_with_its_place(name: str, tmp_path: Path) -> None:
    plant, where, code = FAULTS[name]
    errors = [finding for finding in lint(tmp_path, plant, CONTEXT) if finding.level == "error"]
    assert (where, code) in {(finding.where, finding.code) for finding in errors}, errors


def test_all_planted_faults_are_found_at_once(tmp_path: Path) -> None:
    names = (
        "failing call of a reading",
        "gold in another reading",
        "negative example that fails",
        "clause that is nowhere",
    )

    def plant(files: dict[str, Any]) -> None:
        for name in names:
            FAULTS[name][0](files)

    found = {(finding.where, finding.code) for finding in lint(tmp_path, plant, CONTEXT)}
    assert {FAULTS[name][1:] for name in names} <= found


def test_faults_of_loading_are_findings_and_the_other_files_are_checked_on(tmp_path: Path) -> None:
    def plant(files: dict[str, Any]) -> None:
        files["tasks/2.json"] = {**sound()[TASK], "task_id": "2"}
        reading(files)["positions"]["S1"] = "maybe"
        files["tasks/2.json"]["readings"][1].pop("evidence")

    codes = {(finding.where, finding.code) for finding in lint(tmp_path, plant, CONTEXT)}
    assert (f"{TASK}: /readings/0/positions/S1", "unknown-side") in codes
    assert ("tasks/2.json: /readings/1", "not-gated") in codes
    assert {where for where, code in codes if code == "not-replayed"} == {f"{TASK}: /"}


def test_a_member_written_twice_is_found(tmp_path: Path) -> None:
    def plant(files: dict[str, Any]) -> None:
        files["catalogue.json"] = '{"domain": "shop", "domain": "shop", "loopholes": []}'
        files[TASK].update(loopholes=[])
        for item in files[TASK]["readings"]:
            item["positions"] = {}

    (finding,) = [f for f in lint(tmp_path, plant, CONTEXT) if f.level == "error"]
    assert (finding.where, finding.code) == ("catalogue.json: /", "duplicate-member")


def test_a_declared_overlap_is_no_fault(tmp_path: Path) -> None:
    def plant(files: dict[str, Any]) -> None:
        FAULTS["readings that share a member"][0](files)
        files[TASK]["overlaps"] = [{"readings": ["refuse", "pay"], "reason": "both may refund b"}]

    assert lint(tmp_path, plant, CONTEXT) == []


def test_patterns_that_may_meet_are_noted(tmp_path: Path) -> None:
    def plant(files: dict[str, Any]) -> None:
        other = {**reading(files, 2), "id": "odd", "admits": [pattern({"enum": [1, 3]})]}
        files[TASK]["readings"].append(other)

    (finding,) = lint(tmp_path, plant, CONTEXT)
    assert (finding.code, finding.level) == ("overlap-undecided", "note")


def test_what_was_left_out_or_met_twice_is_noted(tmp_path: Path) -> None:
    def plant(files: dict[str, Any]) -> None:
        reading(files)["admits"][0]["choices"].update(slots={"item": ["a", "b", "z"]}, infeasible="skip")
        reading(files)["admits"].append({"actions": [refund_call("a")]})

    found = lint(tmp_path, plant, CONTEXT)
    assert [(finding.code, finding.level) for finding in found] == [
        ("infeasible", "note"),
        ("duplicate-members", "note"),
    ]
    assert found[0].sentence.startswith("pay: 1 members are left out")


def test_without_tasks_policy_or_environment_what_was_not_checked_is_noted(tmp_path: Path) -> None:
    found = lint(tmp_path, lambda files: None, LintContext())
    assert [(finding.code, finding.level) for finding in found] == [
        ("policy-not-seen", "note"),
        ("not-replayed", "note"),
    ]


def test_a_text_and_a_gold_that_nobody_has_are_noted(tmp_path: Path) -> None:
    tasks = (task(text="It is scratched."), task())
    other_gold = LintContext(environment=shop(), tasks=(task(gold="b"),), policy=POLICY)
    assert [f.code for f in lint(tmp_path / "gold", lambda files: None, other_gold)] == ["gold-not-listed"]
    other_text = LintContext(environment=shop(), tasks=tasks[:1], policy=POLICY)
    assert [f.code for f in lint(tmp_path / "text", lambda files: None, other_text)] == ["text-not-seen"]
    both = LintContext(environment=shop(), tasks=tasks, policy=POLICY)
    assert lint(tmp_path / "both", lambda files: None, both) == []


def test_a_task_that_begins_in_the_middle_of_a_talk_is_checked_from_where_it_is_handed_over(tmp_path: Path) -> None:
    refund = {"id": "0", "name": "refund", "arguments": {"item": "b", "amount": 20}}
    said = {"role": "assistant", "content": None, "tool_calls": [refund]}
    begun = attrs.evolve(
        task(), initial_state={"message_history": [said, {"role": "tool", "id": "0", "content": "ok"}]}
    )
    context = attrs.evolve(CONTEXT, tasks=(begun,))

    def change(files: dict[str, Any], **evidence: Any) -> None:
        files[TASK]["texts"][0]["fingerprint"] = begun.text_fingerprint()
        reading(files, 1)["evidence"] = evidence
        first, second = ({"delta": {"/agent/items/b/refunded": {"before": 20, "after": more}}} for more in (25, 30))
        reading(files, 2)["admits"].append(first)
        files[TASK]["negatives"].append({"id": "n", "reason": "r", "admits": second})

    sound = {"tool": "look", "arguments": {"item": "a"}}
    assert lint(tmp_path / "sound", lambda files: change(files, **sound), context) == []
    found = lint(tmp_path / "not", lambda files: change(files, tool="look"), context)
    assert [(finding.where, finding.code) for finding in found] == [(f"{TASK}: /readings/1", "not-gated")]


def test_another_version_of_the_policy_is_noted_and_moved_clauses_are_found(tmp_path: Path) -> None:
    newer = LintContext(environment=shop(), tasks=(task(),), policy=POLICY.replace(b"# Shop", b"Since May.\n\n# Shop"))
    found = lint(tmp_path, lambda files: None, newer)
    assert [finding.code for finding in found] == ["other-policy", "other-lines"]
    assert found[1].sentence.endswith("they are at line 7")


def test_a_tool_without_arguments_is_evidence_and_one_with_arguments_must_name_a_record(tmp_path: Path) -> None:
    def look_around(draft: Draft) -> Any:
        return draft.ids("items")

    environment = shop()
    tools = {**environment.tools, **tool_table({"read": (look_around,)})}
    context = attrs.evolve(CONTEXT, environment=attrs.evolve(environment, tools=tools))
    for tool, codes in (("look_around", []), ("look", ["not-gated"])):
        found = lint(tmp_path, lambda f, tool=tool: reading(f, 1).update(evidence={"tool": tool}), context)
        assert [finding.code for finding in found if finding.level == "error"] == codes
