"""Stored results in, verdicts out: stored verdicts, several processes, doubts about a file, provenance.

The data is a made-up airline of one reservation and one user, in a file per table.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from multigold.errors import CallError, DataError, ResultsError
from multigold.files.schemas import document_schema
from multigold.model.trajectory import Recorded
from multigold.model.verdict import Comparison, Fidelity, Match, Reason, Rewards, Verdict
from multigold.rendering.document import document, verdict_json
from multigold.rendering.tables import file_lines
from multigold.rescoring import (
    FileReport,
    Options,
    Rescoring,
    provenance,
    rescore,
    strata_note,
    stream,
    summarise,
)
from multigold.rescoring.checking import check_recorded

READ = ("get_reservation_details", {"reservation_id": "R1"}, "{}")
GIFT = ("send_certificate", {"user_id": "uma", "amount": 50}, "ok")
CANCEL = ("cancel_reservation", {"reservation_id": "R1"}, "{}")

Call = tuple[str, dict[str, Any], str]


def tables() -> dict[str, Any]:
    reservation = {
        "reservation_id": "R1", "user_id": "uma", "origin": "AAA", "destination": "BBB", "flight_type": "one_way",
        "cabin": "economy", "flights": [], "passengers": [], "created_at": "2024-05-01T10:00:00",
        "payment_history": [{"payment_id": "card", "amount": 90}],
        "total_baggages": 0, "nonfree_baggages": 0, "insurance": "no",
    }  # fmt: skip
    user = {"user_id": "uma", "payment_methods": {"card": {"source": "credit_card", "id": "card"}}, "reservations": []}
    return {"flights": {}, "reservations": {"R1": reservation}, "users": {"uma": user}}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("data")
    (home / "airline" / "db").mkdir(parents=True)
    for table, records in tables().items():
        (home / "airline" / "db" / f"{table}.json").write_text(json.dumps(records))
    return home


def talk(*calls: Call) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Hello."}]
    for number, (name, arguments, answer) in enumerate(calls):
        call = {"id": str(number), "name": name, "arguments": arguments}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "id": str(number), "content": answer, "error": answer.startswith("Error")})
    return messages


def run(number: int, *calls: Call, task: str = "1", **fields: Any) -> dict[str, Any]:
    reward = {"reward": 1.0, "db_check": {"db_match": True, "db_reward": 1.0}}
    return {
        "id": f"run-{number}",
        "task_id": task,
        "trial": number,
        "termination_reason": "user_stop",
        "messages": talk(*calls),
        "reward_info": reward,
        **fields,
    }


def results(*runs: dict[str, Any], agent: str = "some-model") -> dict[str, Any]:
    actions = [{"action_id": "1_0", "name": "send_certificate", "arguments": {"user_id": "uma", "amount": 50}}]
    task = {
        "id": "1",
        "user_scenario": {"instructions": "Ask for a certificate."},
        "evaluation_criteria": {"actions": actions, "reward_basis": ["DB"]},
    }
    return {
        "info": {"environment_info": {"domain_name": "airline"}, "agent_info": {"implementation": "llm", "llm": agent}},
        "tasks": [task],
        "simulations": list(runs),
    }


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, *runs: dict[str, Any], **more: Any) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(results(*runs, **more)))
        return path

    return written


def plain(rescored: Rescoring) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(json.dumps(document(rescored, summarise(rescored))))
    return whole


def store(rescored: Rescoring, path: Path) -> Path:
    path.write_text(json.dumps(plain(rescored)))
    return path


# Verdicts that were stored


def some_runs() -> list[dict[str, Any]]:
    return [
        run(0, READ, GIFT),
        run(1, READ),
        run(2, CANCEL),
        run(3, ("cancel_reservation", {"reservation_id": "R9"}, "{}")),
        run(4, GIFT, termination_reason="max_steps"),
        run(5, GIFT, messages=None),
    ]


def test_stored_verdicts_are_read_back_as_they_were(write: Write, data_dir: Path, tmp_path: Path) -> None:
    first = rescore(write("a.json", *some_runs()), options=Options(data_dir=data_dir))
    again = rescore(store(first, tmp_path / "verdicts.json"))
    assert {verdict.outcome for verdict in first} == {"matched", "unmatched", "unscored"}
    assert [verdict_json(verdict) for verdict in again] == [verdict_json(verdict) for verdict in first]
    assert summarise(again).to_json() == summarise(first).to_json()
    assert [f"{file.digest} {file.runs} {file.unscored}" for file in again.files] == [
        f"{file.digest} {file.runs} {file.unscored}" for file in first.files
    ]


def test_nothing_is_needed_to_count_stored_verdicts_again(
    write: Write, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store(rescore(write("a.json", run(0, GIFT)), options=Options(data_dir=data_dir)), tmp_path / "v.json")
    monkeypatch.setattr("multigold.rescoring.context.load_environment", lambda *_, **__: pytest.fail("data was loaded"))
    assert [verdict.matched for verdict in rescore(path)] == [("benchmark",)]


def test_merged_verdict_files_count_as_the_files_do(write: Write, data_dir: Path, tmp_path: Path) -> None:
    options = Options(data_dir=data_dir)
    one = write("a.json", *some_runs())
    two = write("b.json", run(0, GIFT), agent="another")
    stored = [store(rescore(path, options=options), tmp_path / f"v-{path.name}") for path in (one, two)]
    assert summarise(rescore(*stored)).to_json() == summarise(rescore(one, two, options=options)).to_json()
    mixed = rescore(stored[0], two, options=options)
    assert summarise(mixed).to_json() == summarise(rescore(one, two, options=options)).to_json()


def test_how_the_paper_selected_its_tasks_is_said_of_catalogues_with_its_split_alone(
    write: Write, data_dir: Path, tmp_path: Path
) -> None:
    first = rescore(write("a.json", run(0, GIFT)), options=Options(data_dir=data_dir))
    again = rescore(store(first, tmp_path / "v.json"))
    other = FileReport(name="b.json", format="tau1", domain="tau1-airline", catalogue_digest="ab" * 32)
    for files in (first.files, again.files, (*first.files, other)):
        assert "the paper found its affected tasks of tau2-airline among" in strata_note(files)
    assert strata_note((other,)) == "tau1-airline catalogue abababababab"
    assert strata_note(()) == ""


def test_stored_verdicts_say_what_they_were_made_with(write: Write, data_dir: Path, tmp_path: Path) -> None:
    options = Options(data_dir=data_dir, equivalences=("minted-ids",))
    path = store(rescore(write("a.json", run(0, GIFT)), options=options), tmp_path / "v.json")
    again = rescore(path)
    assert "core_strict" in summarise(again).columns
    assert any("as they stand" in warning and "minted-ids" in warning for warning in again.files[0].warnings)
    assert again.files[0].data_digest


def test_a_document_of_stored_verdicts_is_valid_and_stable(write: Write, data_dir: Path, tmp_path: Path) -> None:
    import jsonschema

    first = rescore(write("a.json", *some_runs()), options=Options(data_dir=data_dir))
    again = plain(rescore(store(first, tmp_path / "v.json")))
    jsonschema.Draft202012Validator(document_schema("rescore")).validate(again)
    assert again["verdicts"] == plain(first)["verdicts"]


FULL = Verdict(
    outcome="unscored",
    matched=("a",),
    matches=(
        Match(
            reading="a",
            standing="core",
            equivalences=("unordered",),
            evidence="met",
            vacuous=True,
            member="m",
            positions={"L6": "left"},
            reward=0.5,
        ),
    ),
    comparisons=(Comparison(reading="b", standing="core", delta=None, faults=("it is refused",)),),
    benchmark_matched=False,
    benchmark_faults=("gold_not_synced",),
    repaired_matched=True,
    benchmark_readings=("b",),
    reason=Reason(code="factor_missing", sentence="A factor is missing."),
    rewards=Rewards(single=0.0, core=0.5, core_or_single=0.5, with_contested=1.0, core_strict=0.25),
    bounds=(0.0, 0.5),
    recorded=Recorded(reward=1.0, db_match=True, breakdown={"DB": 1.0}, reward_basis=("DB",)),
    stratum="conflict",
    termination="user_stop",
    fidelity=Fidelity(
        calls=6, replayed=1, refused=2, unknown=3, skipped=4, differing=5, first_difference="One.", drift="Two."
    ),
    ignored=("logs",),
    end_state="e",
    do_nothing=Rewards(single=1.0),
    always_refuse=Rewards(core=1.0),
    random=Rewards(core=0.5),
    adversarial=Rewards(core=1.0),
    task_id="1",
    run_id="r",
    trial=2,
    agent="some",
    file="f.json",
    domain="boxes",
    loopholes=("L1",),
    positions={"L1": ("left",)},
    other_scorer={"score": 1},
)


def test_everything_that_is_written_of_a_verdict_is_in_the_schema_and_read_back(tmp_path: Path) -> None:
    blank = Verdict(outcome="matched")
    same = [field.name for field in attrs.fields(Verdict) if getattr(FULL, field.name) == getattr(blank, field.name)]
    assert same == []
    stated = document_schema("rescore")["$defs"]["verdict"]
    assert set(verdict_json(FULL)) == set(stated["properties"]) == set(stated["required"])
    # The nearest reading is told where none counts.
    for verdict, nearest in ((FULL, ()), (attrs.evolve(FULL, matched=()), FULL.comparisons)):
        (again,) = rescore(store(Rescoring(files=(), verdicts=(verdict,)), tmp_path / "v.json"))
        assert again == attrs.evolve(verdict, comparisons=nearest)


def test_verdicts_of_another_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    path.write_text(json.dumps({"schema": "multigold/rescore/99", "verdicts": []}))
    with pytest.raises(ResultsError, match="multigold/rescore/99"):
        rescore(path)


def test_stored_verdicts_can_be_held_against_the_record(write: Write, data_dir: Path, tmp_path: Path) -> None:
    path = store(rescore(write("a.json", *some_runs()), options=Options(data_dir=data_dir)), tmp_path / "v.json")
    (check,) = check_recorded(path)
    assert (check.runs, check.agree) == (6, 1)


def test_a_check_stops_at_a_broken_file_or_goes_on_as_it_is_asked_to(
    write: Write, data_dir: Path, tmp_path: Path
) -> None:
    good, broken = write("a.json", *some_runs()), tmp_path / "broken.json"
    broken.write_text('{"simulations": [')
    options = Options(data_dir=data_dir)
    with pytest.raises(ResultsError, match=r"broken\.json"):
        check_recorded(broken, good, options=options)
    first, second = check_recorded(broken, good, options=options, keep_going=True)
    assert (first.name, first.runs, bool(first.problem)) == (str(broken), 0, True)
    assert (second.runs, second.problem) == (6, "")
    assert (second,) == check_recorded(good, options=options)


def test_a_check_without_the_benchmarks_data_counts_the_runs_or_stops_as_it_is_asked_to(
    write: Write, tmp_path: Path
) -> None:
    path, options = write("a.json", *some_runs()), Options(data_dir=tmp_path / "nothing")
    with pytest.raises(DataError):
        check_recorded(path, options=options)
    (check,) = check_recorded(path, options=options, keep_going=True)
    assert (check.runs, check.agree, check.unscored) == (6, 0, {"environment_missing": check.recorded})
    assert check.recorded > 0


def test_a_check_of_nothing_is_no_answer() -> None:
    with pytest.raises(CallError, match="nothing to check"):
        check_recorded()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bounds", [0.5]),
        ("bounds", [10**400, 1]),
        ("matches", [{}]),
        ("positions", {"a": "b"}),
        ("trial", True),
        ("outcome", "unscored"),
        ("rewards", {"core": 7.5}),
        ("rewards", {"core": -1}),
    ],
)
def test_a_stored_verdict_of_another_form_is_unscored(field: str, value: Any, tmp_path: Path) -> None:
    stored = {**json.loads(json.dumps(verdict_json(Verdict(outcome="unmatched", task_id="7")))), field: value}
    path = tmp_path / "v.json"
    path.write_text(json.dumps({"schema": "multigold/rescore/1", "verdicts": [stored]}))
    (verdict,) = rescore(path)
    assert (verdict.outcome, verdict.task_id) == ("unscored", "7")
    assert verdict.reason is not None
    assert verdict.reason.code == "unreadable_run"


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.just([]), st.just({}))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_verdict_with_a_place_spoiled_is_unscored_or_still_one(data: st.DataObject, tmp_path: Path) -> None:
    verdict: Any = json.loads(json.dumps(verdict_json(Verdict(outcome="matched", matched=("a",), task_id="1"))))
    inner = data.draw(st.sampled_from([verdict, *(v for v in verdict.values() if isinstance(v, dict) and v)]))
    inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(SCALARS)
    path = tmp_path / "v.json"
    path.write_text(json.dumps({"schema": "multigold/rescore/1", "verdicts": [verdict, 3], "files": [3, {}]}))
    try:
        rescored = rescore(path)
    except ResultsError:
        return
    assert len(rescored) == 2
    json.dumps(plain(rescored), allow_nan=False)
    assert rescored.verdicts[1].reason is not None
    assert rescored.verdicts[1].reason.code == "unreadable_run"


# Doubts about a file


def test_a_file_given_twice_is_told(write: Write, data_dir: Path) -> None:
    path = write("a.json", run(0, GIFT))
    rescored = rescore(path, path, options=Options(data_dir=data_dir))
    assert [
        "counts twice" in " ".join(file.warnings).replace("count twice", "counts twice") for file in rescored.files
    ] == [
        False,
        True,
    ]


def test_two_runs_with_one_id_are_told_at_the_top(write: Write, data_dir: Path) -> None:
    path = write("a.json", run(0, GIFT), run(1, GIFT, id="run-0"))
    (file,) = rescore(path, options=Options(data_dir=data_dir)).files
    assert any("run-0" in warning for warning in file.warnings)


@pytest.mark.parametrize(
    ("calls", "cause"),
    [
        ([("toggle_airplane_mode", {}, "done")], "solo mode"),
        ([("cancel_reservation", {"reservation_id": "R9"}, "{}")], "another database"),
        ([("cancel_reservation", {"reservation_id": "R1"}, "Error: no")], "refused then is carried out now"),
        ([("update_reservation_passengers", {"reservation_id": "R1", "passengers": [{}]}, "{}")], "is refused now"),
    ],
)
def test_case_8_a_file_whose_runs_drift_is_doubted_with_the_likely_cause(
    write: Write, data_dir: Path, calls: list[Call], cause: str
) -> None:
    rescored = rescore(write("a.json", run(0, *calls), run(1, GIFT)), options=Options(data_dir=data_dir))
    assert [verdict.outcome for verdict in rescored] == ["unscored", "matched"]
    assert any(cause in warning and "1 of 2 runs" in warning for warning in rescored.files[0].warnings)


def test_one_drifting_run_among_many_does_not_make_the_file_doubtful(write: Write, data_dir: Path) -> None:
    drifting = run(0, ("cancel_reservation", {"reservation_id": "R9"}, "{}"))
    rescored = rescore(
        write("a.json", drifting, *(run(i, GIFT) for i in range(1, 12))), options=Options(data_dir=data_dir)
    )
    assert not any("do not replay" in warning for warning in rescored.files[0].warnings)


def test_case_9_a_result_that_differs_is_counted_and_shown_and_the_replay_goes_on(write: Write, data_dir: Path) -> None:
    path = write("a.json", run(0, ("send_certificate", {"user_id": "uma", "amount": 50}, "Certificate sent!")))
    rescored = rescore(path, options=Options(data_dir=data_dir))
    assert (rescored.verdicts[0].outcome, rescored.verdicts[0].fidelity.differing) == ("matched", 1)
    assert any("1 with a result other than recorded" in line for line in file_lines(rescored.files))


def test_case_20_a_run_that_did_not_end_normally_matches_nothing(write: Write, data_dir: Path) -> None:
    path = write("a.json", run(0, GIFT, termination_reason="too_many_errors"))
    (verdict,) = rescore(path, options=Options(data_dir=data_dir))
    assert (verdict.outcome, verdict.matches, verdict.rewards.single) == ("unmatched", (), 0.0)


def test_case_17_a_recorded_reward_of_almost_one_is_a_success_and_a_half_is_none(write: Write, data_dir: Path) -> None:
    rewards = [0.9999999, 0.5, 0.5]
    runs = [run(i, GIFT, reward_info={"reward": reward}) for i, reward in enumerate(rewards)]
    report = summarise(rescore(write("a.json", *runs), options=Options(data_dir=data_dir)))
    rate = report.overall[0].tally.columns["recorded"]
    assert (rate.successes, rate.of) == (1, 3)


# Ids in any case


def test_ids_in_another_case_are_found_only_when_asked_for(write: Write, data_dir: Path) -> None:
    path = write("a.json", run(0, ("send_certificate", {"user_id": "UMA", "amount": 50}, "ok")))
    exact = rescore(path, options=Options(data_dir=data_dir))
    caseless = rescore(path, options=Options(data_dir=data_dir, ids="case-insensitive"))
    assert [v.outcome for v in (*exact, *caseless)] == ["unscored", "matched"]
    assert provenance(caseless.options, caseless.files)["ids"] == "case-insensitive"
    assert any("--ids case-insensitive" in warning for warning in exact.files[0].warnings)


# Processes, standard input, provenance


def test_several_processes_give_what_one_gives_in_the_same_order(write: Write, data_dir: Path) -> None:
    runs = [one | {"id": f"r{i}-{one['id']}"} for i in range(20) for one in some_runs()]
    path = write("a.json", *runs)
    one, two = (rescore(path, options=Options(data_dir=data_dir), jobs=jobs) for jobs in (1, 2))
    assert plain(one) == plain(two)


def test_a_files_own_golds_that_are_broken_leave_its_runs_unscored_and_the_batch_goes_on(
    write: Write, data_dir: Path
) -> None:
    good, bad = write("good.json", run(0, READ, GIFT)), write("bad.json", run(0, READ, GIFT))
    document = json.loads(bad.read_text())
    outcome = {"id": "broken", "actions": [{"name": "no_such_tool", "arguments": {}}], "reward": 1.0}
    document["tasks"][0]["evaluation_criteria"]["acceptable_outcomes"] = [outcome]
    bad.write_text(json.dumps(document))
    broken, scored = rescore(bad, good, options=Options(data_dir=data_dir)).verdicts
    assert broken.outcome == "unscored"
    assert broken.reason is not None
    assert broken.reason.code == "bad_gold"
    assert "no_such_tool" in broken.reason.sentence
    assert scored.outcome == "matched"


def test_a_process_that_is_ended_from_outside_is_told_in_one_sentence(
    write: Write, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("r.json", *(run(number, READ, GIFT) for number in range(100)))
    monkeypatch.setattr("multigold.rescoring.workers._judge_share", die)
    with pytest.raises(CallError, match="ended from outside"):
        rescore(path, options=Options(data_dir=data_dir), jobs=2)


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_no_process_at_all_is_refused(write: Write) -> None:
    with pytest.raises(CallError, match="0 jobs"):
        rescore(write("a.json", run(0)), jobs=0)


def test_standard_input_is_read_like_a_file(write: Write, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.json", *some_runs())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    options = Options(data_dir=data_dir)
    piped, named = rescore("-", options=options), rescore(path, options=options)
    assert [v.outcome for v in piped] == [v.outcome for v in named]
    assert piped.files[0].digest == named.files[0].digest


def test_a_stream_gives_verdicts_before_the_report_and_progress_after_each_run(write: Write, data_dir: Path) -> None:
    done: list[int] = []
    path = write("a.json", *some_runs())
    items = list(stream(path, options=Options(data_dir=data_dir), progress=lambda _, runs: done.append(runs)))
    assert done == [1, 2, 3, 4, 5, 6]
    assert [isinstance(item, FileReport) for item in items] == [False] * 6 + [True]


def test_provenance_names_versions_digests_reader_and_options(write: Write, data_dir: Path) -> None:
    import multigold

    path = write("a.json", run(0, READ, GIFT))
    rescored = rescore(path, options=Options(data_dir=data_dir, equivalences=("unordered",), check_reads=True))
    stated, (file,) = provenance(rescored.options, rescored.files), rescored.files
    assert stated["multigold"] == multigold.__version__
    assert (stated["equivalences"], stated["check_reads"], stated["ids"]) == (["unordered"], True, "exact")
    assert stated["data"] == {"tau2-airline": file.data_digest}
    assert stated["catalogues"] == {"tau2-airline": file.catalogue_digest}
    assert file.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (file.format, file.domain, file.fidelity["calls"]) == ("tau2", "tau2-airline", 2)


def test_a_file_that_is_mostly_unscored_says_so_with_the_reason_and_what_to_try() -> None:
    from multigold.rescoring.batch import _Counts

    counts = _Counts()
    for trial in range(3):
        reason = Reason(code="contradiction", sentence="its checks are of task 7")
        counts.add(Verdict(outcome="unscored", reason=reason, task_id="1", trial=trial))
    counts.add(Verdict(outcome="matched", task_id="1", trial=3))
    (doubt,) = counts.doubts()
    assert doubt.startswith("mostly unscored: 3 of 4 runs, 3 of them by contradiction, such as: its checks")
    assert "--rejoin" in doubt
    counts.add(Verdict(outcome="matched", task_id="2"))
    counts.add(Verdict(outcome="matched", task_id="3"))
    assert list(counts.doubts()) == []
