"""multigold inside Inspect: a verdict as an Inspect score, and a scorer for tasks whose solver calls tools.

    from multigold.integrations.inspect_ai import reading_scorer

    scorer = reading_scorer(environment, tasks=tasks, gold_sets=catalogue.gold_sets)

The score's value is an object with one number per reward column, so that Inspect's own metrics keep the columns apart;
an unscored run has the value NaN, which Inspect's metrics leave out, and a reason. The verdict is in the metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from multigold.environments.base import Environment
from multigold.errors import MissingExtraError
from multigold.model.gold import GoldSet
from multigold.model.task import Task
from multigold.model.trajectory import Trajectory
from multigold.model.verdict import Verdict
from multigold.rendering.document import rewards_json, verdict_json
from multigold.scoring.judging import score

if TYPE_CHECKING:
    from inspect_ai.scorer import Score, Scorer

__all__ = ["COLUMNS", "reading_scorer", "to_score", "trajectory_of"]

COLUMNS = ("single", "core", "core_or_single", "with_contested")
"""The members of a score's value."""


def to_score(verdict: Verdict) -> Score:
    """Return a verdict as an Inspect score.

    Args:
        verdict: The verdict.

    Returns:
        A score with one number per reward column, the readings matched as its answer, the explanation as text, and the
        whole verdict in its metadata. Unknown rewards are NaN.

    Raises:
        MissingExtraError: If inspect-ai is not installed.
    """
    scorer = _import_scorer()
    rewards = rewards_json(verdict.rewards)
    unscored = verdict.outcome == "unscored"
    value = {c: float("nan") if unscored or rewards[c] is None else rewards[c] for c in COLUMNS}
    result: Score = scorer.Score(
        value=value,
        answer=", ".join(verdict.matched) or verdict.outcome,
        explanation=verdict.explain(),
        reason="scoring_failed" if unscored else None,
        metadata={"multigold": verdict_json(verdict)},
    )
    return result


def trajectory_of(messages: Sequence[Any]) -> Trajectory:
    """Return the trajectory of an Inspect conversation.

    Args:
        messages: Inspect chat messages, in order.
    """
    return Trajectory.from_messages(_plain(message) for message in messages)


def _plain(message: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "tool":
        return {**plain, "tool_call_id": message.tool_call_id, "error": message.error is not None}
    calls = getattr(message, "tool_calls", None) or []
    return {**plain, "tool_calls": [{"id": c.id, "name": c.function, "arguments": c.arguments} for c in calls]}


def reading_scorer(
    environment: Environment,
    *,
    tasks: Mapping[str, Task],
    gold_sets: Mapping[str, GoldSet],
    equivalences: Sequence[str] = (),
    contested: bool = False,
) -> Scorer:
    """Return an Inspect scorer that holds each sample's run against every reading.

    Args:
        environment: Replays the tool calls of a sample's messages.
        tasks: Sample id to task.
        gold_sets: Task id to gold set; a task without one is scored by its own gold.
        equivalences: As for `multigold.score`.
        contested: As for `multigold.score`.

    Raises:
        MissingExtraError: If inspect-ai is not installed.
    """
    scorer = _import_scorer()

    @scorer.scorer(metrics={column: [scorer.mean(), scorer.stderr()] for column in COLUMNS}, name="multigold")  # type: ignore[untyped-decorator, unused-ignore]
    def make() -> Callable[[Any, Any], Any]:
        async def judge_sample(state: Any, target: Any) -> Score:  # noqa: ARG001  (a scorer takes both)
            task = tasks[str(state.sample_id)]
            run = trajectory_of(state.messages)
            verdict = score(
                task,
                run,
                gold_sets.get(task.id),
                environment=environment,
                equivalences=equivalences,
                contested=contested,
            )
            return to_score(verdict)

        return judge_sample

    made: Scorer = make()
    return made


def _import_scorer() -> Any:
    try:
        import inspect_ai.scorer
    except ImportError as error:
        raise MissingExtraError(
            "Inspect scores need inspect-ai", remedy='Install it with pip install "multigold[inspect]".'
        ) from error
    return inspect_ai.scorer
