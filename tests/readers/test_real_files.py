"""Real public result files: nothing is lost, and what is read agrees with what plain JSON says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from multigold.errors import ResultsError
from multigold.readers import ResultsFile, files, find_sources, open_results, open_source, read_results, streaming

# file: format, environment, runs, runs that cannot be scored by reason
FILES: dict[str, tuple[str, str, int, dict[str, int]]] = {
    "tau2/airline_claude-sonnet-4-5.json": ("tau2", "tau2-airline", 50, {}),
    "tau2/airline_gpt-oss-120b.json": ("tau2", "tau2-airline", 50, {}),
    "tau2/airline_grok-3_4trials.json": ("tau2", "tau2-airline", 16, {}),
    "tau2/airline_grok-4-fast-reasoning.json": ("tau2", "tau2-airline", 66, {}),
    "tau2/airline_qwen2.5-7b.json": ("tau2", "tau2-airline", 50, {}),
    "tau2/airline_whissle_tau3.json": ("tau2-1.0", "tau2-airline", 50, {}),
    "tau2/retail_gpt-4.1.json": ("tau2", "tau2-retail", 40, {}),
    "tau2/retail_whissle_v1schema.json": ("tau2-1.0", "tau2-retail", 5, {}),
    "tau2/telecom_gpt-4.1.json": ("tau2", "tau2-telecom", 40, {}),
    "tau2/telecom_no-user_gpt-4.1.json": ("tau2", "tau2-telecom", 40, {}),
    "odd/acceptable_outcomes_airline.json": ("tau2", "tau2-airline", 4, {}),
    "odd/bare_list_airline.json": ("tau2-list", "tau2-airline", 50, {}),
    "odd/directory_layout": ("tau2-directory", "tau2-retail", 3, {"messages_missing": 3}),
    "odd/empty_call_ids_telecom.json": ("tau2", "tau2-telecom", 1, {}),
    "odd/no_task_id_airline.json": ("tau2", "tau2-airline", 50, {"task_unknown": 1}),
    "odd/zero_simulations.json": ("tau2", "tau2-airline", 0, {}),
    "tau1/act_text_actions_grok-4.json": ("tau1", "tau1-airline", 50, {}),
    "tau1/airline_gpt-4o.json": ("tau1", "tau1-airline", 200, {}),
    "tau1/airline_grok-4.1_with_error_items.json": ("tau1", "tau1-airline", 100, {"infrastructure_error": 5}),
}


def results_of(shared: Path, name: str) -> ResultsFile:
    return open_results(shared / "data" / "results" / name)


def problems(results: ResultsFile) -> dict[str, int]:
    found: dict[str, int] = {}
    for run in results.runs:
        if run.problem is not None:
            found[run.problem.code] = found.get(run.problem.code, 0) + 1
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_run_of_a_real_file_is_there_and_what_cannot_be_scored_says_why(shared: Path, name: str) -> None:
    form, domain, runs, unscored = FILES[name]
    results = results_of(shared, name)
    assert (results.format, results.domain, len(results.runs)) == (form, domain, runs)
    assert problems(results) == unscored
    assert len(list(results.runs)) == runs


def test_the_table_of_real_files_leaves_none_out(shared: Path) -> None:
    home = shared / "data" / "results"
    found = {source.path for source in find_sources([home])}
    assert found - {str(home / name) for name in FILES} == {str(home / "odd" / "placeholder_template.json")}


def test_a_template_is_refused(shared: Path) -> None:
    with pytest.raises(ResultsError, match="template"):
        results_of(shared, "odd/placeholder_template.json")


TAU2 = [name for name in FILES if name.startswith("tau2/")]


@pytest.mark.parametrize("name", TAU2)
def test_calls_and_results_are_those_of_the_messages(shared: Path, name: str) -> None:
    """In these files ids are unique within a run, so that a plain join by id is right too."""
    plain = json.loads((shared / "data" / "results" / name).read_text())
    for run, simulation in zip(results_of(shared, name).runs, plain["simulations"], strict=True):
        messages = simulation["messages"]
        answers = {m["id"]: m for m in messages if m["role"] == "tool"}
        expected = [
            (c["name"], c["arguments"], c["requestor"], answers[c["id"]]["content"], answers[c["id"]]["error"])
            for m in messages
            for c in m.get("tool_calls") or ()
        ]
        if len({c["id"] for m in messages for c in m.get("tool_calls") or ()}) < len(expected):
            continue
        assert [
            (c.call.name, c.call.arguments, c.call.requestor, c.result, c.refused) for c in run.trajectory.calls or ()
        ] == expected
        assert run.notes == ()


@pytest.mark.parametrize("name", TAU2)
def test_verdicts_are_those_of_the_file(shared: Path, name: str) -> None:
    plain = json.loads((shared / "data" / "results" / name).read_text())
    for run, simulation in zip(results_of(shared, name).runs, plain["simulations"], strict=True):
        recorded, info = run.trajectory.recorded, simulation["reward_info"]
        assert recorded.reward == info["reward"]
        assert recorded.db_match == (info["db_check"] or {}).get("db_match")
        assert recorded.breakdown == (info["reward_breakdown"] or {})
        assert (run.trajectory.run_id, run.task_id) == (simulation["id"], simulation["task_id"])
        assert run.trajectory.termination == simulation["termination_reason"]


@pytest.mark.parametrize("name", TAU2)
def test_a_run_without_its_task_id_is_joined_to_the_right_task_or_to_none(shared: Path, name: str) -> None:
    plain = json.loads((shared / "data" / "results" / name).read_text())
    truth = [simulation.pop("task_id") for simulation in plain["simulations"]]
    runs = read_results(json.dumps(plain).encode(), name).runs
    joined = [(run.task_id, task_id) for run, task_id in zip(runs, truth, strict=True) if run.task_id]
    assert all(found == task_id for found, task_id in joined)
    assert len(joined) * 2 > len(truth)


@pytest.mark.parametrize("name", TAU2)
def test_a_run_joined_by_its_user_alone_is_joined_rightly(shared: Path, name: str) -> None:
    plain = json.loads((shared / "data" / "results" / name).read_text())
    truth = [simulation.pop("task_id") for simulation in plain["simulations"]]
    for simulation in plain["simulations"]:
        simulation["reward_info"] = None
    runs = read_results(json.dumps(plain).encode(), name).runs
    assert all(run.task_id in ("", task_id) for run, task_id in zip(runs, truth, strict=True))


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".json")])
def test_a_real_file_cut_by_position_reads_as_one_held_whole(
    shared: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = results_of(shared, name)
    runs = list(whole.runs)
    monkeypatch.setattr(files, "STREAM_ABOVE", 1000)
    monkeypatch.setattr(streaming, "_CHUNK", 100_000)
    cut = results_of(shared, name)
    assert list(cut.runs) == runs
    assert (cut.digest, cut.domain, cut.warnings) == (whole.digest, whole.domain, whole.warnings)
    assert cut.tasks == whole.tasks


def test_the_recorded_verdict_on_the_actions_of_a_v1_file_is_there_for_all_runs_that_have_one(shared: Path) -> None:
    runs = list(results_of(shared, "tau1/airline_gpt-4o.json").runs)
    assert sum(run.trajectory.recorded.db_match is not None for run in runs) == 182


def test_the_text_actions_of_a_v1_file_are_calls_with_results(shared: Path) -> None:
    runs = list(results_of(shared, "tau1/act_text_actions_grok-4.json").runs)
    calls = [call for run in runs for call in run.trajectory.calls or ()]
    plain = json.loads((shared / "data/results/tau1/act_text_actions_grok-4.json").read_text())
    outputs = [m for item in plain for m in item["traj"] if str(m["content"]).startswith("API output: ")]
    assert sum(call.result is not None for call in calls) == len(outputs)
    assert all(call.call.name and call.call.arguments is not None for call in calls)
    assert not any("Action:" in m.text for run in runs for m in run.trajectory.messages if m.role == "assistant")


def test_a_voice_run_holds_the_actions_of_its_end_in_order(shared: Path) -> None:
    home = shared / "data/nemo/synthetic_run/eval_20260101_000000"
    for source in find_sources([home]):
        for results in open_source(source):
            for run in results.runs:
                stored: list[dict[str, Any]] = json.loads((home / run.place / "final_agent_response.json").read_text())
                actions = [(a["name"], a["arguments"]) for answer in stored for a in answer["actions"]]
                changing = {name for name, _ in actions}
                calls = [(c.call.name, c.call.arguments) for c in run.trajectory.calls or ()]
                assert [call for call in calls if call[0] in changing] == actions


def test_voice_runs_keep_the_verdict_that_they_were_given(shared: Path) -> None:
    home = shared / "data/nemo/synthetic_run/eval_20260101_000000"
    metrics = {m["scenario_name"]: m for m in json.loads((home / "all_metrics.json").read_text())}
    runs = [r for s in find_sources([home]) for results in open_source(s) for r in results.runs]
    assert {run.place for run in runs} == set(metrics)
    for run in runs:
        assert run.trajectory.recorded.db_match == metrics[run.place]["db_state_match"]
        assert run.trajectory.recorded.reward == float(metrics[run.place]["is_successful"])
        assert run.extra["success_breakdown"] == metrics[run.place]["success_breakdown"]


def test_an_eva_record_ends_in_its_final_database(shared: Path) -> None:
    (results,) = [results for s in find_sources([shared / "data" / "eva"]) for results in open_source(s)]
    (run,) = results.runs
    stored = json.loads((shared / "data/eva/eva_artifacts/1.1.2/final_scenario_db.json").read_text())
    assert run.trajectory.end_state is not None
    assert run.trajectory.end_state.agent.to_json() == {name: table for name, table in stored.items() if table != {}}
    assert len(results.gold_sets) == 50
    assert results.gold_sets["1.1.2"].benchmark == "expected"
    assert [call.call.name for call in run.trajectory.calls or ()] == [
        "get_reservation",
        "search_rebooking_options",
        "search_rebooking_options",
        "rebook_flight",
        "assign_seat",
    ]
