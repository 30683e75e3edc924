"""Score the library's runs against every reading of its policy: `python examples/library/score_runs.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import library

import multigold

HERE = Path(__file__).parent


def load_tasks() -> dict[str, multigold.Task]:
    """Return the library's tasks by id."""
    return {item["id"]: _task(item) for item in json.loads((HERE / "tasks.json").read_text(encoding="utf-8"))}


def _task(item: dict[str, Any]) -> multigold.Task:
    calls = tuple(multigold.ToolCall(call["name"], call["arguments"]) for call in item["actions"])
    criteria = multigold.Criteria(actions=calls, reward_basis=("DB",))
    return multigold.Task(item["id"], instructions=item["instructions"], criteria=criteria, domain="library")


def score_all() -> list[multigold.Verdict]:
    """Score every stored run."""
    environment, tasks = library.build(), load_tasks()
    catalogue = multigold.load_catalogue(HERE / "gold_sets")
    verdicts = []
    for run in json.loads((HERE / "runs.json").read_text(encoding="utf-8")):
        task = tasks[run["task_id"]]
        trajectory = multigold.Trajectory.from_messages(
            run["messages"],
            termination=run["termination"],
            agent=run["agent"],
            trial=run["trial"],
            run_id=run["run_id"],
        )
        verdicts.append(multigold.score(task, trajectory, catalogue.gold_set(task), environment=environment))
    return verdicts


def report(verdicts: list[multigold.Verdict]) -> multigold.Report:
    """Count the verdicts by agent and stratum."""
    return multigold.summarise_verdicts(verdicts, note="the library's own catalogue")


def main() -> None:
    """Print the tables, and one run compared with every reading."""
    verdicts = score_all()
    print(report(verdicts).to_text(by_task=True))
    chosen = next(verdict for verdict in verdicts if verdict.run_id == "careful-waive-0")
    print(f"\nOne run in full, {chosen.run_id}:\n{chosen.explain()}")


if __name__ == "__main__":
    main()
