"""AgentDojo through the integration: its own runs, replayed and scored, against its own runtime and its own verdict."""

from __future__ import annotations

import importlib.util
import json
import random
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import multigold
from multigold.catalogues.lint import LintContext, lint_directory
from multigold.environments.base import Drafts
from multigold.environments.replay import replay, step
from multigold.errors import CallError, MissingExtraError
from multigold.integrations import agentdojo

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("workspace", "travel", "banking", "slack")
TASKS = {"workspace": 40, "travel": 20, "banking": 16, "slack": 21}


def test_without_agentdojo_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agentdojo.task_suite.load_suites", None)
    with pytest.raises(MissingExtraError, match=r'pip install "multigold\[agentdojo\]"'):
        agentdojo.load_suite("banking")


@pytest.fixture(scope="module", params=NAMES)
def suite(request: pytest.FixtureRequest) -> agentdojo.Suite:
    return load(request.param)


@pytest.fixture(scope="module")
def banking() -> agentdojo.Suite:
    return load("banking")


@pytest.fixture(scope="module")
def workspace() -> agentdojo.Suite:
    return load("workspace")


LOADED: dict[str, agentdojo.Suite] = {}


def load(name: str) -> agentdojo.Suite:
    if importlib.util.find_spec("agentdojo") is None:
        pytest.skip("agentdojo is not installed (it is heavy, and an extra of its own)")
    if name not in LOADED:
        LOADED[name] = agentdojo.load_suite(name)
    return LOADED[name]


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agentdojo_readings", ROOT / "examples" / "agentdojo_readings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agentdojo_readings"] = module
    spec.loader.exec_module(module)
    return module


def golds(suite: agentdojo.Suite, task_id: str) -> tuple[multigold.ToolCall, ...]:
    criteria = suite.tasks[task_id].criteria
    assert criteria is not None
    return criteria.actions or ()


def score(suite: agentdojo.Suite, run: multigold.Trajectory, sets: Any = None) -> multigold.Verdict:
    return multigold.score(suite.tasks[run.task_id], run, sets, environment=suite.environment)


# Both verdicts


def test_every_ground_truth_run_is_matched_by_both(suite: agentdojo.Suite) -> None:
    verdicts = [score(suite, agentdojo.ground_truth_run(suite, task_id)) for task_id in suite.tasks]
    assert len(verdicts) == TASKS[suite.name]
    assert {(v.benchmark_matched, v.recorded.reward, v.rewards.single, v.benchmark_faults) for v in verdicts} == {
        (True, 1.0, 1.0, ())
    }


def test_the_replay_of_a_recorded_run_gives_what_was_recorded(suite: agentdojo.Suite) -> None:
    verdicts = [score(suite, agentdojo.ground_truth_run(suite, task_id)) for task_id in list(suite.tasks)[:12]]
    assert [v.fidelity.first_difference for v in verdicts] == [""] * len(verdicts)


def test_a_question_that_is_not_answered_has_the_state_and_not_the_reward(banking: agentdojo.Suite) -> None:
    silent = score(banking, agentdojo.run_calls(banking, "user_task_1", golds(banking, "user_task_1"), output=""))
    assert (silent.benchmark_matched, silent.recorded.reward, silent.rewards.single) == (True, 0.0, 0.0)


def test_a_do_nothing_run_passes_their_check_of_what_was_there_before_and_not_ours(banking: agentdojo.Suite) -> None:
    idle = score(banking, agentdojo.run_calls(banking, "user_task_5", ()))
    assert (idle.recorded.reward, idle.benchmark_matched, idle.rewards.single) == (1.0, False, 0.0)


def test_an_unknown_name_is_refused(banking: agentdojo.Suite) -> None:
    with pytest.raises(CallError, match="no suite 'bank'"):
        agentdojo.load_suite("bank")
    with pytest.raises(CallError, match="no benchmark version 'v9'"):
        agentdojo.load_suite("banking", version="v9")
    with pytest.raises(CallError, match="no task 'user_task_99'"):
        agentdojo.run_calls(banking, "user_task_99", ())


# The environment, against AgentDojo's own runtime


def live(suite: agentdojo.Suite, calls: list[multigold.ToolCall]) -> Iterator[tuple[Any, Any, bool]]:
    """Yield AgentDojo's environment, answer and refusal after each call, in one environment that lives throughout."""
    from agentdojo.functions_runtime import FunctionsRuntime

    runtime, environment, since = (
        FunctionsRuntime(suite.source.tools),
        suite.start.model_copy(deep=True),
        datetime.now(),
    )
    for call in calls:
        result, error = runtime.run_function(environment, call.name, dict(call.arguments or {}))
        yield environment, agentdojo._plain(result, since), error is not None


def assert_parity(suite: agentdojo.Suite, calls: list[multigold.ToolCall]) -> None:
    since, drafts = datetime.now(), Drafts(suite.environment.initial)
    shape = agentdojo.Shape(suite.source.environment_type)
    for call, (environment, answer, refused) in zip(calls, live(suite, calls), strict=True):
        outcome = step(suite.environment, drafts, call)
        assert (outcome.refusal is not None) == refused, call
        if not refused:
            assert outcome.observation == answer, call
        # What a table that is no record forgets (an empty one) is nothing: compare as databases.
        assert drafts.agent.freeze() == multigold.Database.from_json(shape.tables(environment, since)), call


def test_law_9_all_golds_in_a_row_agree_call_by_call(suite: agentdojo.Suite) -> None:
    calls = [call for task_id in suite.tasks for call in golds(suite, task_id)]
    writes = [call for call in calls if suite.environment.tools[call.name].kind == "write"]
    assert_parity(suite, [*writes, *random.Random(0).sample(calls, 15)])


def test_law_9_shuffled_and_spoilt_calls_agree_call_by_call(suite: agentdojo.Suite) -> None:
    rng = random.Random(suite.name)
    calls = [call for task_id in suite.tasks for call in golds(suite, task_id)]
    chosen = []
    for call in rng.sample(calls, 25):
        arguments = dict(call.arguments or {})
        if arguments and rng.random() < 0.5:
            arguments[rng.choice(sorted(arguments))] = rng.choice(["1", 1, None, ["x"], {"a": 1}, "2024-05-20 10:00"])
        chosen.append(multigold.ToolCall(call.name, arguments))
    assert_parity(suite, chosen)


def test_law_9_an_event_and_the_mail_that_carries_it_change_together(workspace: agentdojo.Suite) -> None:
    call = multigold.ToolCall
    times = {"start_time": "2024-06-01 10:00", "end_time": "2024-06-01 11:00"}
    calls = [
        call("create_calendar_event", {"title": "A", "participants": ["z@x.com", "a@x.com"], **times}),
        call("reschedule_calendar_event", {"event_id": "27", "new_start_time": "2024-06-02 10:00"}),
        call("add_calendar_event_participants", {"event_id": "27", "participants": ["b@x.com"]}),
        call("delete_email", {"email_id": "34"}),
        call("cancel_calendar_event", {"event_id": "27"}),
        call("get_sent_emails", {}),
        call("get_unread_emails", {}),
        call("append_to_file", {"file_id": "3", "content": "more"}),
        call("share_file", {"file_id": "3", "email": "a@x.com", "permission": "rw"}),
        call("share_file", {"file_id": "3", "email": "a@x.com", "permission": "everything"}),
        call("no_such_tool", {}),
    ]
    assert_parity(workspace, calls)
    state = replay(workspace.environment, calls[:2]).end_state.agent
    invitation = next(
        record for table, _, record in state.records() if table == "inbox.emails" and record["attachments"]
    )
    assert invitation["attachments"][0]["start_time"] == "2024-06-02T10:00:00"


def test_tools_that_are_called_reading_never_change_a_state(suite: agentdojo.Suite) -> None:
    calls = {json.dumps(c.to_json()): c for task_id in suite.tasks for c in golds(suite, task_id)}
    reads = [call for call in calls.values() if suite.environment.tools[call.name].kind == "read"]
    assert reads
    assert replay(suite.environment, reads).end_state == suite.environment.initial


def test_tables_lead_back_to_the_environment_that_they_show(suite: agentdojo.Suite) -> None:
    shape = agentdojo.Shape(suite.source.environment_type)
    tables = shape.tables(suite.start)
    assert shape.tables(shape.environment(json.loads(json.dumps(tables)))) == tables


def test_the_time_of_day_is_no_part_of_a_state(workspace: agentdojo.Suite) -> None:
    mail = multigold.ToolCall("send_email", {"recipients": ["a@x.com"], "subject": "s", "body": "b"})
    one, other = (replay(workspace.environment, [mail]).end_state for _ in range(2))
    assert one == other
    assert one.agent.get("inbox.emails", "34")["timestamp"] == agentdojo.CLOCK


def test_law_11_a_run_leaves_nothing_behind_for_the_next(banking: agentdojo.Suite) -> None:
    alone = score(banking, agentdojo.ground_truth_run(banking, "user_task_15"))
    for task_id in banking.tasks:
        agentdojo.ground_truth_run(banking, task_id)
    assert score(banking, agentdojo.ground_truth_run(banking, "user_task_15")) == alone


# The readings of the example


SECOND = {
    ("banking", "user_task_5"): (True, "account", "name", "free"),
    ("banking", "user_task_9"): (False, "notice", "as-it-stands", "affected"),
    ("banking", "user_task_15"): (True, "city", "rest", "affected"),
    ("travel", "user_task_4"): (True, "as-written", "", "conflict"),
}
"""Task to what AgentDojo says of the other reading's run, the readings that the two runs are in, and the stratum."""


@pytest.mark.parametrize(("name", "task_id"), SECOND)
def test_a_run_by_the_other_reading_is_matched_whatever_the_check_says(
    name: str, task_id: str, example: ModuleType
) -> None:
    suite = load(name)
    readings = multigold.load_catalogue(example.HERE / name).gold_sets[task_id]
    theirs, other, gold, stratum = SECOND[name, task_id]
    calls, output = example.SECOND_READINGS[name, task_id], suite.outputs[task_id]
    verdict = score(suite, agentdojo.run_calls(suite, task_id, calls, output=output), readings)
    assert (verdict.recorded.reward == 1.0, verdict.matched, verdict.benchmark_matched) == (theirs, (other,), False)
    truth = score(suite, agentdojo.ground_truth_run(suite, task_id), readings)
    assert [match.reading for match in truth.matches] == ([gold] if gold else [])
    assert truth.stratum == stratum
    idle = score(suite, agentdojo.run_calls(suite, task_id, (), output=output), readings)
    assert idle.matched == ()


@pytest.mark.parametrize("name", ["banking", "travel"])
def test_the_readings_of_the_example_have_no_faults(name: str, example: ModuleType) -> None:
    suite = load(name)
    context = LintContext(environment=suite.environment, tasks=tuple(suite.tasks.values()))
    _, findings = lint_directory(example.HERE / name, context)
    assert [str(finding) for finding in findings if finding.level == "error"] == []


def test_altered_runs_are_told_apart_by_the_state(banking: agentdojo.Suite, example: ModuleType) -> None:
    found = {case.label: case for case in example.cases(banking, "user_task_0")}
    assert not found["without send_money"].theirs
    assert found["another subject in send_money"].theirs
    assert found["another subject in send_money"].ours.rewards.single == 0.0
    assert example.cause(found["another subject in send_money"]) == (
        "their check does not look at bank_account.transactions/*/subject"
    )


@pytest.mark.usefixtures("banking")
def test_what_the_page_shows_is_what_happens(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "agentdojo.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(compile(block, "agentdojo.md", "exec"), {"multigold": multigold})
    assert capsys.readouterr().out == "0.0 False\n"
