"""What the golden cases of this directory say, held against what was read."""

from __future__ import annotations

from typing import Any

from multigold.readers import ResultsFile, Run

FACTS: dict[str, Any] = {
    "run_id": lambda run: run.trajectory.run_id,
    "task_id": lambda run: run.task_id,
    "trial": lambda run: run.trajectory.trial,
    "termination": lambda run: run.trajectory.termination,
    "problem": lambda run: run.problem and run.problem.code,
    "unclear": lambda run: run.trajectory.problem and run.trajectory.problem.code,
    "out_of_bounds": lambda run: [call.out_of_bounds for call in run.trajectory.calls or ()],
    "reward": lambda run: run.trajectory.recorded.reward,
    "db_match": lambda run: run.trajectory.recorded.db_match,
    "said": lambda run: [m.text for m in run.trajectory.messages if m.role == "assistant" and m.text.strip()],
}


def calls(run: Run) -> list[list[Any]] | None:
    if run.trajectory.calls is None:
        return None
    return [[c.call.name, c.call.arguments, c.call.requestor, c.result, c.refused] for c in run.trajectory.calls]


def check_run(run: Run, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if name == "calls":
            assert calls(run) == value
        elif name == "notes":
            assert bool(value) == bool(run.notes)
            assert all(any(words in note for note in run.notes) for words in value), run.notes
        elif name == "said":
            assert [text for text in FACTS["said"](run) if text in value] == value
        else:
            assert FACTS[name](run) == value, name
    assert run.trajectory.task_id == run.task_id


def check_file(results: ResultsFile, expected: dict[str, Any]) -> None:
    for name in expected.keys() & {"format", "domain", "agent", "release", "solo"}:
        assert getattr(results, name) == expected[name], name
    if "tasks" in expected:
        assert list(results.tasks) == expected["tasks"]
    if "warnings" in expected:
        assert bool(expected["warnings"]) == bool(results.warnings), results.warnings
        assert all(any(words in w for w in results.warnings) for words in expected["warnings"]), results.warnings
    for task_id, outcomes in expected.get("acceptable", {}).items():
        found = [[o.id, o.reward, [c.name for c in o.actions or ()]] for o in results.acceptable[task_id]]
        assert found == outcomes
    runs = list(results.runs)
    assert len(runs) == len(results.runs) == len(expected["runs"])
    for run, wanted in zip(runs, expected["runs"], strict=True):
        check_run(run, wanted)
