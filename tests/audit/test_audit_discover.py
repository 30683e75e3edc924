"""End states that several agents share and the gold is not: found, ranked, known or new; no readings by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import audit_boxes as boxes
import pytest
from audit_boxes import FILL, LOOK, call, run
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import multigold
from multigold.audit.runs.clusters import by_run, cluster_runs, run_key
from multigold.audit.runs.discover import Discoveries, discover
from multigold.audit.runs.judged import AuditedRun, LeftOut, audited_runs
from multigold.audit.runs.stubs import gold_set_stub, reading_stub, write_stubs
from multigold.catalogues import load_catalogue
from multigold.cli._group import multigold as cli
from multigold.errors import CallError, DataError
from multigold.model.gold import Actions, NegativeExample
from multigold.model.verdict import Reason
from multigold.rescoring import FileReport, Options

FILL_B = call("fill", box="b", amount=1)
FILL_2 = call("fill", box="a", amount=2)


def states(found: Discoveries) -> list[tuple[int, int, str]]:
    return [(len(d.cluster.agents), len(d.cluster.against), d.known) for d in found.found]


def test_a_state_that_two_agents_reach_and_the_gold_is_not_is_found() -> None:
    runs = [run(FILL_B, agent="one"), run(LOOK, FILL_B, agent="two"), run(FILL, agent="three")]
    found = discover(runs)
    assert states(found) == [(2, 2, "new")]
    assert (found.runs, found.at_gold) == (3, 1)


def test_trials_of_one_agent_are_not_independent() -> None:
    runs = [run(FILL_B, agent="one", trial=trial) for trial in range(4)]
    assert states(discover(runs)) == []
    assert states(discover(runs, min_agents=1)) == [(1, 4, "new")]


def test_agents_rank_before_runs() -> None:
    many = [run(FILL_2, agent=agent, trial=trial) for agent in ("one", "two") for trial in range(5)]
    wide = [run(FILL_B, agent=agent) for agent in ("one", "two", "three")]
    assert states(discover([*many, *wide])) == [(3, 3, "new"), (2, 10, "new")]


def test_the_gold_of_one_file_is_a_discovery_in_another_with_the_same_text() -> None:
    flipped = boxes.task(FILL_B)
    runs = [run(FILL_B, agent="one"), run(FILL_B, agent="two"), run(FILL_B, of=flipped, agent="three")]
    (found,) = discover(runs).found
    assert found.known == "gold_elsewhere"
    assert len(found.cluster.supporters) == 3
    assert len(found.cluster.against) == 2
    assert found.cluster.golds_elsewhere == (f"{found.cluster.text} (0123456)",)


def test_another_text_is_another_task_and_its_gold_is_named() -> None:
    other = boxes.task(FILL_B, text="Fill box b.")
    runs = [run(FILL_B, agent=agent) for agent in ("one", "two")] + [run(FILL, of=other, agent="three")]
    (found,) = discover(runs).found
    assert found.cluster.of == 2
    assert found.known == "gold_elsewhere"


def test_runs_that_did_not_end_normally_are_left_out_and_counted() -> None:
    lost = LeftOut(file="f", task_id="1", trial=0, reason=Reason(code="replay_drift", sentence="x"))
    found = discover([run(FILL_B, agent="one", termination="max_steps"), run(FILL_B, agent="two"), lost], min_agents=1)
    assert states(found) == [(1, 1, "new")]
    assert found.left_out == {"ended_early": 1, "replay_drift": 1}


def test_a_run_that_stands_in_two_files_counts_once_and_one_without_an_id_each_time() -> None:
    twice = [run(FILL_B, file=file, run_id="same") for file in ("f", "g")]
    (cluster,) = cluster_runs(twice)
    assert len(cluster.supporters) == 1
    nameless = [run(FILL_B, file=file, run_id="") for file in ("f", "g")]
    assert [len(c.supporters) for c in cluster_runs(nameless)] == [2]


def test_equivalences_join_states_that_differ_strictly() -> None:
    tags = [call("tag", box="a", tags=order) for order in (["x", "y"], ["y", "x"])]
    strict = [run(one, agent=agent) for one, agent in zip(tags, ("one", "two"), strict=True)]
    assert states(discover(strict)) == []
    loose = [
        run(one, agent=agent, equivalences=("unordered",)) for one, agent in zip(tags, ("one", "two"), strict=True)
    ]
    assert states(discover(loose)) == [(2, 2, "new")]
    assert discover(loose).equivalences == ("unordered",)


def test_a_state_is_known_by_the_gold_set() -> None:
    the_task = boxes.task(FILL)
    wrong = NegativeExample(id="too-much", reason="too much", admits=Actions((call("fill", box="a", amount=3),)))
    golds = boxes.gold_set(
        the_task,
        boxes.reading("gold", FILL),
        boxes.reading("second", FILL_2),
        boxes.reading("never", FILL_B, standing="off"),
        negatives=(wrong,),
    )
    ends = (FILL_2, FILL_B, call("fill", box="a", amount=3))
    runs = [run(end, of=the_task, golds=golds, agent=agent) for end in ends for agent in ("one", "two")]
    known = {d.cluster.calls[0].arguments["amount"]: d for d in discover(runs).found if d.cluster.calls[0].arguments}
    assert known[2].known == "reading"
    assert known[1].known == "off"
    assert (known[3].known, known[3].cluster.negatives) == ("known_error", ("too-much",))
    assert known[1].cluster.text == "first"


def test_broken_invariants_and_idle_runs_are_named() -> None:
    much = call("fill", box="a", amount=20)
    (found,) = discover([run(much, agent="one"), run(much, agent="two")]).found
    assert found.cluster.faults == ("whole: box a holds more than nine",)
    (found,) = discover([run(agent="one"), run(LOOK, agent="two")]).found
    assert found.cluster.untouched
    assert found.idle == 1


CALLS = st.lists(st.sampled_from([FILL, FILL_B, FILL_2, LOOK]), max_size=3)
RUNS = st.lists(st.tuples(CALLS, st.sampled_from(["one", "two", "three"])), max_size=8)


@settings(max_examples=40)
@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_runs_changes_nothing_and_clusters_partition_them(
    drawn: list[tuple[list[multigold.ToolCall], str]], random: Any
) -> None:
    runs = [run(*calls, agent=agent, trial=number) for number, (calls, agent) in enumerate(drawn)]
    clusters = cluster_runs(runs)
    assert sum(len(cluster.supporters) for cluster in clusters) == len(runs)
    places = by_run(clusters)
    for one in runs:
        key = run_key(one.task, one.agent, one.file, one.trajectory.trial, one.trajectory.run_id)
        assert places[key].state == one.prepared.state
    shuffled = list(runs)
    random.shuffle(shuffled)
    assert [c.to_json() for c in cluster_runs(shuffled)] == [c.to_json() for c in clusters]


# Stubs


def two_agents(*calls: multigold.ToolCall) -> Discoveries:
    return discover([run(*calls, agent="one"), run(*calls, agent="two")])


def test_a_stub_is_a_catalogue_that_loads_and_counts_for_nothing(tmp_path: Path) -> None:
    written = write_stubs(two_agents(LOOK, FILL_B).found, tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == ["boxes/catalogue.json", "boxes/tasks/1.json"]
    catalogue = load_catalogue(tmp_path / "boxes")
    chosen = catalogue.gold_set(boxes.task(FILL))
    assert chosen is not None
    assert [(reading.id[:5], reading.standing) for reading in chosen.readings] == [("bench", "core"), ("found", "off")]
    verdict = run(FILL_B, of=boxes.task(FILL), golds=chosen).verdict
    assert verdict.outcome == "unmatched"
    assert [match.reading for match in verdict.matches] == [chosen.readings[1].id]


def test_a_stub_that_somebody_edits_counts(tmp_path: Path) -> None:
    write_stubs(two_agents(FILL_B).found, tmp_path)
    path = tmp_path / "boxes" / "tasks" / "1.json"
    document = json.loads(path.read_text())
    (text,) = document["readings"][1]["standing"]
    document["readings"][1]["standing"][text] = {"is": "core", "reason": "The clause allows either box."}
    path.write_text(json.dumps(document))
    chosen = load_catalogue(tmp_path / "boxes").gold_set(boxes.task(FILL))
    assert run(FILL_B, of=boxes.task(FILL), golds=chosen).verdict.outcome == "matched"


def test_the_stub_of_an_untouched_state_asks_for_the_usual_look_up() -> None:
    (found,) = two_agents(LOOK).found
    assert reading_stub(found.cluster)["evidence"] == {"tool": "look", "arguments": {"box": "a"}}
    assert reading_stub(found.cluster)["admits"] == [{"actions": []}]
    (idle,) = two_agents().found
    assert "evidence" not in reading_stub(idle.cluster)


def test_what_the_calls_do_not_lead_to_again_is_written_as_changes() -> None:
    """A refused call may leave something behind, and is no call of a gold set."""
    (found,) = two_agents(FILL_B).found
    from attrs import evolve

    assert "delta" in reading_stub(evolve(found.cluster, calls=()))["admits"][0]


def test_two_texts_of_a_task_are_one_gold_set_with_standings_for_both(tmp_path: Path) -> None:
    other = boxes.task(FILL, text="Another text.")
    runs = [run(FILL_B, of=of, agent=agent) for of in (None, other) for agent in ("one", "two")]
    stub = gold_set_stub([d.cluster for d in discover(runs).found])
    assert len(stub["texts"]) == 2
    assert all(len(reading["standing"]) == 2 for reading in stub["readings"])


def test_a_task_that_has_a_gold_set_gets_readings_to_paste(tmp_path: Path) -> None:
    the_task = boxes.task(FILL)
    golds = boxes.gold_set(the_task, boxes.reading("gold", FILL))
    found = discover([run(FILL_B, of=the_task, golds=golds, agent=agent) for agent in ("one", "two")])
    written = [path.relative_to(tmp_path).as_posix() for path in write_stubs(found.found, tmp_path)]
    assert written == ["boxes/catalogue.json", "boxes/readings/1.json"]


def test_nothing_is_overwritten_and_no_file_leaves_the_directory(tmp_path: Path) -> None:
    found = two_agents(FILL_B).found
    write_stubs(found, tmp_path)
    with pytest.raises(CallError, match="not overwritten"):
        write_stubs(found, tmp_path)
    evil = boxes.task(FILL, task_id="../../evil")
    runs = [run(FILL_B, of=evil, agent=agent) for agent in ("one", "two")]
    with pytest.raises(CallError, match="cannot be the name of a file"):
        write_stubs(discover(runs).found, tmp_path / "new")


# Real files


def real_runs(shared: Path) -> list[AuditedRun | LeftOut]:
    files = [*sorted((shared / "data/results/tau2").glob("airline_*.json"))]
    try:
        return list(audited_runs(*files, options=Options()))
    except DataError as error:
        pytest.skip(f"tau2's data is not here: {error}")


def test_runs_whose_data_is_missing_are_left_out_and_their_file_told_or_stop_the_audit(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "airline_results.json"
    criteria = {"actions": [], "reward_basis": ["DB"]}
    tasks = [{"id": "2", "user_scenario": {"instructions": "Fly."}, "evaluation_criteria": criteria}]
    path, reports = tmp_path / "runs.json", list[FileReport]()
    path.write_text(json.dumps({**json.loads(example.read_text(encoding="utf-8")), "tasks": tasks}), encoding="utf-8")
    options = Options(data_dir=tmp_path / "nothing")
    with pytest.raises(DataError):
        list(audited_runs(path, options=options))
    runs = list(audited_runs(path, options=options, on_report=reports.append))
    assert len(runs) == 13
    assert all(isinstance(run, LeftOut) and run.reason.code == "environment_missing" for run in runs)
    (report,) = reports
    assert (report.name, report.runs, report.problem) == (str(path), 13, "")
    assert report.warnings[0].startswith("its runs are left out: ")


def test_the_best_supported_discoveries_of_real_airline_runs_are_readings_of_the_paper(shared: Path) -> None:
    found = discover(real_runs(shared))
    best = {(d.cluster.task.id, d.cluster.text): d for d in reversed(found.found)}
    strict = best["2", "37199f3"]
    assert strict.cluster.untouched
    assert [match.reading for match in strict.cluster.matches] == ["strict"]
    refused = best["32", "37199f3"]
    assert [match.reading for match in refused.cluster.matches] == ["refuse"]
    assert all(not d.cluster.faults for d in found.found)


def test_the_command_ranks_and_writes_stubs(shared: Path, tmp_path: Path) -> None:
    files = [str(path) for path in sorted((shared / "data/results/tau2").glob("airline_g*.json"))]
    arguments = ["audit", "discover", *files, "--top", "3", "--new", "--stubs", str(tmp_path / "stubs")]
    done = CliRunner().invoke(cli, arguments)
    if isinstance(done.exception, DataError):
        pytest.skip(f"tau2's data is not here: {done.exception}")
    assert done.exit_code == 1, done.output
    assert "None of these is a reading yet" in done.output
    assert load_catalogue(tmp_path / "stubs" / "tau2-airline").domain == "tau2-airline"
