"""Any domain of an installed tau2 through the adapter; on the tasks of its domain `mock`, its own evaluator agrees."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from telecom_parity import in_solo_mode

from multigold.benchmark_data import find_data, load_environment
from multigold.environments import tau2_package
from multigold.environments.assertions import holds
from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.errors import DataError, EnvironmentNotFoundError
from multigold.model.task import Task, ToolCall
from multigold.model.trajectory import Trajectory
from multigold.readers.tasks import read_task_file
from multigold.scoring import compile_golds
from multigold.scoring.judging import judge
from multigold.state.conventions import Conventions
from multigold.state.delta import diff

pytestmark = [pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")]

Json = Any


@pytest.fixture(scope="module")
def mock() -> Environment:
    pytest.importorskip("tau2", reason="the adapter runs the tau2 package (the extra `tau2`)")
    return load_environment("tau2-mock")


@pytest.fixture(scope="module")
def mock_tasks(mock: Environment) -> dict[str, Json]:
    from tau2.domains.mock.utils import MOCK_TASK_SET_PATH

    return {task["id"]: task for task in json.loads(Path(MOCK_TASK_SET_PATH).read_bytes())}


CREATE = ToolCall("create_task", {"user_id": "user_1", "title": "Important Meeting"})
DONE = ToolCall("update_task_status", {"task_id": "task_1", "status": "completed"})
DONE_2 = ToolCall("update_task_status", {"task_id": "task_2", "status": "completed"})
RUNS: tuple[tuple[ToolCall, ...], ...] = (
    (),
    (CREATE,),
    (CREATE, CREATE),
    (DONE,),
    (DONE_2,),
    (CREATE, DONE_2),
    (ToolCall("get_users", {}), ToolCall("explode", {}), ToolCall("create_task", {"user_id": "nobody", "title": "x"})),
    (ToolCall("update_task_status", {"task_id": "task_1", "status": "flying"}),),
    (ToolCall("transfer_to_human_agents", {"summary": "x"}),),
)
TASKS = (
    "create_task_1",
    "create_task_1_with_env_assertions",
    "create_task_1_nl_eval",
    "update_task_1",
    "update_task_with_message_history",
    "update_task_with_initialization_data",
    "update_task_with_initialization_actions",
    "update_task_with_history_and_env_assertions",
    "impossible_task_1",
)


def test_the_domain_is_found_by_name_with_its_tools_and_assertions(mock: Environment) -> None:
    assert mock.name == "tau2-mock"
    assert {name: tool.kind for name, tool in mock.tools.items()} == {
        "create_task": "write",
        "get_users": "read",
        "update_task_status": "write",
        "transfer_to_human_agents": "generic",
    }
    assert sorted(mock.assertions) == ["assert_number_of_tasks", "assert_task_status"]
    assert "mock" in tau2_package.domains()


def begun(task: Any) -> Any:
    """Return a tau2 environment in which a task is handed to the agent."""
    from tau2.domains.mock.environment import get_environment

    environment, state = get_environment(), task.initial_state
    if state is not None:
        environment.set_state(state.initialization_data, state.initialization_actions, state.message_history or [])
    return environment


def messages_of(task: Json, calls: tuple[ToolCall, ...], environment: Any) -> list[Json]:
    """Return a talk as tau2 stores it: the task's own history, then each call with the answer that tau2 gives to it."""
    from tau2.data_model.message import ToolCall as Tau2Call

    talk = [dict(message) for message in (task.get("initial_state") or {}).get("message_history") or []]
    for index, call in enumerate(calls):
        stated = {"id": f"c{index}", "name": call.name, "arguments": dict(call.arguments or {})}
        answer = environment.get_response(Tau2Call.model_validate({**stated, "requestor": "assistant"}))
        talk.append({"role": "assistant", "content": None, "tool_calls": [stated]})
        talk.append(json.loads(answer.model_dump_json()))
    return [*talk, {"role": "assistant", "content": "done"}]


@pytest.mark.parametrize("calls", RUNS, ids=lambda calls: "+".join(call.name for call in calls) or "nothing")
@pytest.mark.parametrize("task_id", TASKS)
def test_database_verdict_and_assertions_are_those_of_tau2s_evaluator(
    mock: Environment, mock_tasks: dict[str, Json], task_id: str, calls: tuple[ToolCall, ...]
) -> None:
    from pydantic import TypeAdapter
    from tau2.data_model.message import Message
    from tau2.data_model.tasks import Task as Tau2Task
    from tau2.domains.mock.environment import get_environment
    from tau2.evaluator.evaluator_env import EnvironmentEvaluator

    assert set(mock_tasks) == set(TASKS)
    theirs = Tau2Task.model_validate(mock_tasks[task_id])
    talk = messages_of(mock_tasks[task_id], calls, begun(theirs))
    table = read_task_file(json.dumps([mock_tasks[task_id]]).encode(), "tau2-mock")
    assert table is not None
    verdict, end = verdict_of(table.tasks[task_id], talk, mock)
    try:
        info = EnvironmentEvaluator.calculate_reward(
            get_environment, theirs, TypeAdapter(list[Message]).validate_python(talk)
        )
    except ValueError:  # an assertion of the task fails, and tau2's evaluator with it
        assertions = mock_tasks[task_id]["evaluation_criteria"]["env_assertions"]
        assert None in [holds(mock, end, assertion) for assertion in assertions]
        return
    if not table.tasks[task_id].criteria.states_gold:  # type: ignore[union-attr]  # every task has criteria
        assert (verdict.outcome, verdict.reason.code) == ("unscored", "no_gold")
        return
    assert info.db_check is not None
    assert verdict.benchmark_matched is info.db_check.db_match
    for check in info.env_assertions or []:
        assert holds(mock, end, check.env_assertion.model_dump()) is check.met


def verdict_of(task: Task, talk: list[Json], environment: Environment) -> Any:
    trajectory = Trajectory.from_messages(talk, termination="user_stop")
    golds = compile_golds(task, None, environment)
    calls = [recorded.call for recorded in trajectory.calls or ()]
    end = replay(environment, calls, initial=golds.start).end_state
    return judge(task, trajectory, golds, environment=environment), end


def test_arguments_are_checked_and_every_refusal_is_an_answer(mock: Environment) -> None:
    calls = [
        ToolCall("create_task", {"title": "x"}),
        ToolCall("create_task", {"user_id": "user_1", "title": "x", "colour": "red"}),
        ToolCall("create_task", {"user_id": "user_1", "title": {}}),
        ToolCall("create_task", {"user_id": "user_1", "title": "x"}, requestor="user"),
    ]
    done = replay(mock, calls)
    assert [r.kind for _, r in done.refusals] == ["bad_arguments", "bad_arguments", "refused", "unknown_tool"]
    assert done.end_state == mock.initial


def test_what_the_domain_declares_is_taken_over(mock: Environment) -> None:
    logged = tau2_package.load("tau2-mock", conventions=Conventions(log_tables=("tasks",)))
    assert logged.conventions.log_tables == ("tasks",)
    assert logged.initial == mock.initial


def test_a_scene_that_tau2_cannot_set_is_an_error_of_the_task(mock: Environment) -> None:
    assert mock.prepare is not None
    action = {"env_type": "assistant", "func_name": "explode", "arguments": {}}
    with pytest.raises(DataError):
        mock.prepare(mock.initial, {"initialization_actions": [action]})


# A domain of two sides


def test_telecom_through_the_package_ends_where_the_port_does(mock: Environment) -> None:
    """On the small set of tasks: both sides, scenes, synchronisation, and a solo agent."""
    slow, fast = tau2_package.load("tau2-telecom"), load_environment("tau2-telecom")
    tasks = json.loads((find_data("tau2-telecom").directory / "tasks_small.json").read_bytes())
    assert slow.prepare is not None
    assert fast.prepare is not None
    for task in tasks[::4]:
        actions = task["evaluation_criteria"]["actions"]
        calls = [ToolCall(a["name"], a["arguments"], requestor=a["requestor"]) for a in actions]
        solo = [attrs.evolve(call, requestor="assistant") for call in calls]
        assert list(in_solo_mode(solo, fast)) == calls
        starts = [environment.prepare(environment.initial, task["initial_state"]) for environment in (slow, fast)]  # type: ignore[misc]
        slow_end = replay(slow, calls, initial=starts[0]).end_state
        fast_end = replay(fast, calls, initial=starts[1]).end_state
        assert slow_end == replay(attrs.evolve(slow, solo=True), solo, initial=starts[0]).end_state
        assert slow_end.user is not None
        assert fast_end.user is not None
        known = {name: fast_end.user.to_json()[name] for name in ("device", "surroundings")}
        assert slow_end.user.to_json() == known
        lists = {table: list(records.values()) for table, records in fast_end.agent.to_json().items()}
        assert slow_end.agent.to_json() == lists


def test_what_a_failing_call_leaves_behind_stays(mock: Environment) -> None:
    telecom = tau2_package.load("tau2-telecom")
    call = ToolCall("set_apn_settings", {"apn_settings": "internet"}, requestor="user")
    done = replay(telecom, [call])
    assert done.outcomes[0].refusal is not None
    assert list(diff(telecom.initial, done.end_state)) == ["/user/device/active_apn_settings"]


# Where there is nothing


def test_without_tau2_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    with pytest.raises(EnvironmentNotFoundError) as caught:
        tau2_package.load("tau2-banking_knowledge")
    assert "tau2, whose tools could be used, is not installed" in str(caught.value)
    assert tau2_package.domains() == []


def test_a_domain_that_the_installed_tau2_does_not_have_is_named_with_those_that_it_has(mock: Environment) -> None:
    with pytest.raises(EnvironmentNotFoundError) as caught:
        load_environment("tau2-nowhere")
    assert "no domain 'nowhere'" in str(caught.value)
    assert "mock" in str(caught.value)
