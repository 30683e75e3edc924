"""A verdict inside Inspect; needs the extra `inspect`."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import pytest

import multigold
from multigold.errors import MissingExtraError
from multigold.integrations import inspect_ai as integration


def verdict(score_runs: ModuleType, run_id: str) -> multigold.Verdict:
    found: multigold.Verdict = next(v for v in score_runs.score_all() if v.run_id == run_id)
    return found


def test_without_inspect_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, score_runs: ModuleType
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "inspect_ai.scorer", None)
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(MissingExtraError, match=r"multigold\[inspect\]"):
        integration.to_score(verdict(score_runs, "plain-waive-1"))


def test_a_score_keeps_the_columns_apart_and_the_verdict_with_it(score_runs: ModuleType) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is in the extra `inspect`")
    score = integration.to_score(verdict(score_runs, "plain-waive-1"))
    assert score.value == {"single": 0.0, "core": 1.0, "core_or_single": 1.0, "with_contested": 1.0}
    assert score.answer == "withhold"
    assert score.metadata is not None
    assert score.metadata["multigold"]["matched"] == ["withhold"]


def test_an_unscored_run_is_nan_and_not_zero() -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is in the extra `inspect`")
    reason = multigold.model.verdict.Reason(code="no_calls", sentence="nothing is known")
    score = integration.to_score(multigold.Verdict(outcome="unscored", reason=reason))
    assert isinstance(score.value, dict)
    assert all(isinstance(value, float) and math.isnan(value) for value in score.value.values())
    assert score.reason == "scoring_failed"


def test_inspect_runs_the_scorer_over_a_talk_with_tool_calls(
    score_runs: ModuleType, library_module: ModuleType, tmp_path: Any
) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is in the extra `inspect`")
    from inspect_ai import Task as InspectTask
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool
    from inspect_ai.solver import Generate, TaskState, solver
    from inspect_ai.tool import ToolCall

    @solver
    def waive() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            for number, name in enumerate(("view_loan", "waive_fine")):
                call = ToolCall(id=str(number), function=name, arguments={"loan_id": "loan-1"})
                state.messages.append(ChatMessageAssistant(content="", tool_calls=[call]))
                state.messages.append(ChatMessageTool(content="done", tool_call_id=str(number)))
            return state

        return solve

    catalogue = multigold.load_catalogue(score_runs.HERE / "gold_sets")
    scorer = integration.reading_scorer(
        library_module.build(), tasks=score_runs.load_tasks(), gold_sets=catalogue.gold_sets
    )
    task = InspectTask(dataset=[Sample(input="Please waive my fine.", id="waive")], solver=waive(), scorer=scorer)
    (log,) = inspect_eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    assert log.samples is not None
    assert log.samples[0].scores is not None
    (score,) = log.samples[0].scores.values()
    assert score.answer == "independent"
    assert isinstance(score.value, dict)
    assert score.value["core"] == 1.0
