"""Runs of the voice-agent evaluation: both roads to a verdict, and their numbers beside ours."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from multigold.model.verdict import Verdict
from multigold.rescoring import Options, Rescoring, rescore
from multigold.rescoring.checking import check_recorded
from multigold.rescoring.nemo.judging import signals

THEIRS = ("is_successful", "is_task_successful", "success_breakdown", "db_state_match")


@pytest.fixture(scope="module")
def run_directory(shared: Path) -> Path:
    pytest.importorskip("tau2", reason="needs tau2's data")
    return shared / "data" / "nemo" / "synthetic_run" / "eval_20260101_000000"


@pytest.fixture(scope="module")
def caseless(run_directory: Path) -> Rescoring:
    return rescore(run_directory, options=Options(ids="case-insensitive"))


@pytest.fixture(scope="module")
def exact(run_directory: Path) -> Rescoring:
    return rescore(run_directory)


def find(rescored: Rescoring, scenario: str) -> Verdict:
    (verdict,) = (verdict for verdict in rescored if verdict.run_id == scenario)
    return verdict


def code(verdict: Verdict) -> str:
    return verdict.reason.code if verdict.reason else ""


def metrics(run_directory: Path, scenario: str) -> Any:
    return json.loads((run_directory / scenario / "metrics.json").read_text())


@pytest.mark.parametrize("ids", ["exact", "case-insensitive"])
def test_with_their_one_gold_every_one_of_their_numbers_comes_out_the_same(
    run_directory: Path, exact: Rescoring, caseless: Rescoring, ids: str
) -> None:
    rescored = exact if ids == "exact" else caseless
    assert len(rescored) == 17
    for verdict in rescored:
        stated = metrics(run_directory, verdict.run_id)
        assert verdict.other_scorer["theirs"] == {name: stated[name] for name in THEIRS}
        assert verdict.other_scorer["single"] == verdict.other_scorer["theirs"], verdict.run_id


def test_with_one_gold_our_reward_is_their_success_wherever_the_run_is_scored(caseless: Rescoring) -> None:
    scored = [verdict for verdict in caseless if verdict.rewards.single is not None]
    assert len(scored) == 16
    for verdict in scored:
        assert verdict.rewards.single == float(verdict.other_scorer["theirs"]["is_successful"]), verdict.run_id
        assert verdict.benchmark_matched == verdict.other_scorer["theirs"]["db_state_match"], verdict.run_id


def test_their_rates_over_the_runs_of_each_domain_come_out_the_same(exact: Rescoring) -> None:
    # What their own summary of this run says, domain by domain.
    success = {"eva-airline": [1, 2], "tau2-airline": [4, 10], "tau2-retail": [3, 3], "tau2-telecom": [1, 2]}
    task = {"eva-airline": [1, 2], "tau2-airline": [5, 10], "tau2-retail": [3, 3], "tau2-telecom": [1, 2]}
    state = {"eva-airline": [1, 2], "tau2-airline": [5, 9], "tau2-retail": [3, 3], "tau2-telecom": [1, 2]}
    for file in exact.files:
        for kind in ("theirs", "single"):
            assert file.other_scorer[kind] == {
                "is_successful": success[file.domain],
                "is_task_successful": task[file.domain],
                "db_state_match": state[file.domain],
            }


def test_a_lookup_in_another_case_fails_the_self_check_and_the_reason_names_the_option(exact: Rescoring) -> None:
    verdict = find(exact, "tau2_airline__8")
    assert (verdict.outcome, code(verdict)) == ("unscored", "hash_mismatch")
    assert verdict.reason is not None
    assert "--ids case-insensitive" in verdict.reason.sentence


def test_what_was_written_in_another_case_stays_written_so(caseless: Rescoring) -> None:
    verdict = find(caseless, "tau2_airline__8")
    assert (verdict.outcome, verdict.benchmark_matched) == ("unmatched", False)
    assert verdict.nearest is not None
    assert verdict.nearest.delta is not None
    assert verdict.nearest.delta.to_json() == {
        "/agent/reservations/HATHAT/user_id": {"before": "sophia_silva_7557", "after": "SOPHIA_SILVA_7557"}
    }


def test_the_single_combined_update_matches_a_reading_that_their_gold_does_not_admit(exact: Rescoring) -> None:
    verdict = find(exact, "tau2_airline__32")
    assert (verdict.matched, verdict.benchmark_matched, verdict.stratum) == (("single-call",), False, "affected")
    assert verdict.other_scorer["core"]["is_successful"] is True
    assert verdict.other_scorer["theirs"]["is_successful"] is False
    assert (verdict.rewards.single, verdict.rewards.core) == (0.0, 1.0)


def test_the_same_bookings_in_another_order_match_once_ids_are_renamed(run_directory: Path) -> None:
    strict = find(rescore(run_directory), "tau2_airline__23")
    named = Options(equivalences=("minted-ids", "unordered"))
    renamed = find(rescore(run_directory, options=named), "tau2_airline__23")
    assert (strict.outcome, renamed.outcome) == ("unmatched", "matched")
    assert renamed.matches[0].equivalences == ("minted-ids", "unordered")


def test_an_end_state_without_a_hash_and_a_talk_that_stalled_fail_whatever_else_is_true(exact: Rescoring) -> None:
    lost, stalled = find(exact, "tau2_airline__14"), find(exact, "tau2_airline__2")
    assert (code(lost), lost.rewards.core) == ("no_hash", 0.0)
    assert stalled.benchmark_matched is True
    assert (stalled.rewards.single, stalled.other_scorer["single"]["is_successful"]) == (0.0, False)


def test_a_domain_without_tools_is_scored_by_the_hash_that_is_expected(exact: Rescoring) -> None:
    assert find(exact, "eva_airline__7_1_1").matched == ("benchmark",)
    assert find(exact, "eva_airline__1_1_3").outcome == "unmatched"


def test_texts_of_another_release_are_told_at_the_top_and_no_gold_set_applies(exact: Rescoring) -> None:
    (airline,) = (file for file in exact.files if file.domain == "tau2-airline")
    assert any("44" in warning and "not that of the tasks at hand" in warning for warning in airline.warnings)
    assert find(exact, "tau2_airline__44").stratum == "other_version"
    assert find(exact, "tau2_airline__13").stratum != "other_version"


def test_sharded_databases_are_the_same_database(run_directory: Path, shared: Path, exact: Rescoring) -> None:
    directory = shared / "data" / "nemo" / "fixtures_tau2_airline"
    sharded = rescore(run_directory, options=Options(data_dir=directory), keep_going=True)
    for name in ("tau2_airline__0", "tau2_airline__7", "tau2_airline__23"):
        assert find(sharded, name).benchmark_matched == find(exact, name).benchmark_matched


# Road A


@pytest.fixture
def metrics_only(run_directory: Path, tmp_path: Path) -> Path:
    """Return the run without final actions: what road A needs, and no more."""
    copied = tmp_path / "run"
    for source in run_directory.glob("tau2_airline__*"):
        (copied / source.name / "scenario_config").mkdir(parents=True)
        shutil.copy(source / "metrics.json", copied / source.name)
        for config in (source / "scenario_config").glob("*.json"):
            shutil.copy(config, copied / source.name / "scenario_config")
        shutil.copy(source / "scenario_config" / "user_prompt.txt", copied / source.name / "scenario_config")
    return copied


def test_hashes_alone_tell_which_reading_an_end_state_is_in(metrics_only: Path, exact: Rescoring) -> None:
    by_hash = rescore(metrics_only)
    assert len(by_hash) == 10
    for verdict in by_hash:
        assert verdict.other_scorer["single"] == verdict.other_scorer["theirs"], verdict.run_id
    assert find(by_hash, "tau2_airline__32").matched == ("single-call",)
    assert code(find(by_hash, "tau2_airline__23")) == "no_reading"
    for name in ("tau2_airline__0", "tau2_airline__1", "tau2_airline__7", "tau2_airline__44"):
        assert find(by_hash, name).matched == find(exact, name).matched


def test_an_untouched_state_that_asks_for_evidence_is_unscored_where_no_calls_are_known(metrics_only: Path) -> None:
    verdict = find(rescore(metrics_only), "tau2_airline__2")
    assert verdict.benchmark_matched is True
    assert code(verdict) == "evidence_unknown"


def test_recorded_database_verdicts_are_reproduced(run_directory: Path) -> None:
    checks = check_recorded(run_directory, options=Options(ids="case-insensitive"))
    assert sum(check.recorded for check in checks) == 17
    assert [run for check in checks for run in check.differ] == []


# Their rules


def numbers(**changes: Any) -> dict[str, Any]:
    extra = {"clean_exit": True, "judge_passed": True, "success_signals": ["db_state_match", "clean_exit"]}
    return signals({**extra, **changes}, changes.pop("database", True))


def test_success_is_the_product_of_the_signals_that_are_asked_for_and_apply() -> None:
    assert numbers()["is_successful"] is True
    assert numbers(clean_exit=False)["is_successful"] is False
    assert numbers(clean_exit=False)["is_task_successful"] is True
    assert numbers(judge_passed=False)["is_successful"] is True
    assert numbers()["success_breakdown"]["excluded"] == ["judge_passed"]


def test_a_rate_passes_at_one_only() -> None:
    gates = ["db_state_match", "nl_assertion"]
    assert numbers(success_signals=gates, nl_assertion_pass_rate=0.99)["is_successful"] is False
    assert numbers(success_signals=gates, nl_assertion_pass_rate=1.0)["is_successful"] is True


def test_signals_that_do_not_apply_are_left_out_and_none_at_all_is_no_verdict() -> None:
    some = numbers(success_signals=["is_action_match", "clean_exit"], is_action_match="N/A")
    assert (some["is_successful"], some["success_breakdown"]["not_applicable"]) == (True, ["is_action_match"])
    assert numbers(success_signals=["is_action_match"], is_action_match="N/A")["is_successful"] == "N/A"


def test_a_stalled_talk_fails_both_verdicts_and_keeps_its_breakdown() -> None:
    stalled = numbers(insufficient_agent_turns=True)
    assert (stalled["is_successful"], stalled["is_task_successful"], stalled["db_state_match"]) == (False, False, True)
    assert stalled["success_breakdown"]["failed"] == []
