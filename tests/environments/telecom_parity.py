"""Run the same telecom calls through tau2's own tools and through the port, and compare everything that can be seen.

tau2 is an oracle here and nothing else. Two things of it are put right for that, because they make its runs depend on
each other: its random ids of bills, and the VPN that all environments of a process share.
"""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from parity import Answer, answer_of_port, answer_of_tau2, shown, signatures_of, spelled

from multigold.environments.base import Drafts, Environment
from multigold.environments.telecom import build
from multigold.environments.telecom.records import AGENT_LISTS
from multigold.errors import DataError
from multigold.model.task import ToolCall
from multigold.state.database import Database, EndState

Json = Any


class Ids:
    """Ids of bills: tau2 is given the next one, and the port the same one afterwards."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.taken = 0

    def uuid4(self) -> Any:
        self.given.append(uuid.UUID(int=(len(self.given) + 1) << 96).hex)
        return SimpleNamespace(hex=self.given[-1])

    def mint(self, _customer: Json) -> str:
        self.taken += 1
        return f"B{self.given[self.taken - 1][:8]}"


class Tau2Telecom:
    """tau2's telecom environment on some data."""

    def __init__(self, lists: dict[str, Json], user: dict[str, Json], ids: Ids, patch: pytest.MonkeyPatch) -> None:
        import loguru

        loguru.logger.remove()
        from tau2.data_model.message import ToolCall as Tau2Call
        from tau2.data_model.tasks import EnvAssertion, EnvFunctionCall
        from tau2.domains.telecom import data_model, environment, tools, user_data_model, user_tools

        self.call_type, self.function_type, self.assertion_type = Tau2Call, EnvFunctionCall, EnvAssertion
        self.modules = (data_model, environment, tools, user_data_model, user_tools)
        self.lists = data_model.TelecomDB.model_validate(lists).model_dump_json()
        self.user = user_data_model.TelecomUserDB.model_validate(user).model_dump_json()
        patch.setattr(tools, "uuid", ids)
        self.reset()
        toolkits = {"assistant": self.environment.tools, "user": self.environment.user_tools}
        self.signatures = {side: signatures_of(toolkit) for side, toolkit in toolkits.items()}

    def reset(self) -> None:
        """Go back to the data."""
        data_model, environment, tools, user_data_model, user_tools = self.modules
        phone = user_tools.TelecomUserTools(user_data_model.TelecomUserDB.model_validate_json(self.user))
        phone.default_vpn_details = user_data_model.VpnDetails(
            server_address="192.168.1.1",
            protocol="OpenVPN",
            server_performance=user_data_model.PerformanceLevel.EXCELLENT,
        )
        agent = tools.TelecomTools(data_model.TelecomDB.model_validate_json(self.lists))
        self.environment = environment.TelecomEnvironment("telecom", "", agent, phone)

    def prepare(self, actions: Iterable[Json]) -> None:
        """Set a task's scene, as tau2's evaluator does (`Environment.set_state`)."""
        for action in actions:
            self.environment.run_env_function_call(self.function_type.model_validate(action))
        self.environment.sync_tools()

    def call(self, call: ToolCall, *, synchronise: bool = True) -> Answer:
        """Run one call as tau2 does in a run, or as it does for a gold, without synchronising."""
        return answer_of_tau2(self.environment, call, self.signatures[call.requestor], synchronise=synchronise)

    def holds(self, assertion: Json) -> bool:
        """Tell whether an assertion holds; raises where tau2 does."""
        stated = self.assertion_type.model_validate(assertion)
        return bool(self.environment.run_env_assertion(stated, raise_assertion_error=False))

    def text(self) -> str:
        """Return both databases as tau2 spells them before hashing, lists as tables."""
        agent = self.environment.tools.db.model_dump()
        tables = {t: {r[AGENT_LISTS[t][0]]: r for r in records} for t, records in agent.items()}
        return json.dumps([tables, self.environment.user_tools.db.model_dump()], sort_keys=True, default=str)


def port_text(state: EndState) -> str:
    """Return a state of the port in the same way; what tau2 keeps outside its databases is left out."""
    assert state.user is not None
    user = state.user.to_json()
    user.pop("vpn", None)
    return spelled([{**{table: {} for table in AGENT_LISTS}, **state.agent.to_json()}, user])


class Pair:
    """Both sides, in step."""

    def __init__(self, lists: dict[str, Json], user: dict[str, Json], patch: pytest.MonkeyPatch) -> None:
        self.ids = Ids()
        self.tau2 = Tau2Telecom(copy.deepcopy(lists), copy.deepcopy(user), self.ids, patch)
        self.environment: Environment = build(
            Database.adopt(copy.deepcopy(lists)), user_database=Database.adopt(copy.deepcopy(user)), mint=self.ids.mint
        )

    def run(
        self, calls: Iterable[ToolCall], *, actions: Iterable[Json] = (), synchronise: bool = True, each: bool = True
    ) -> tuple[list[Answer], EndState]:
        """Set a scene and run calls through both sides, comparing answers, and whole states after each or at the end.

        Returns:
            The answers, which were the same, and the port's end state.

        Raises:
            AssertionError: At the first difference.
        """
        start = self.start(list(actions))
        assert start is not None, actions
        drafts, done, answers = Drafts(start), [], []
        for call in calls:
            done.append(call)
            theirs = self.tau2.call(call, synchronise=synchronise)
            ours = answer_of_port(self.environment, drafts, call, synchronise=synchronise)
            assert ours == theirs, f"{shown(done)}\n  tau2: {theirs!r}\n  port: {ours!r}"
            assert not each or port_text(drafts.freeze()) == self.tau2.text(), shown(done)
            answers.append(ours)
        end = drafts.freeze()
        assert port_text(end) == self.tau2.text(), shown(done)
        return answers, end

    def start(self, actions: list[Json]) -> EndState | None:
        """Set a scene on both sides; None if neither can set it.

        Raises:
            AssertionError: If one side alone can, or they differ.
        """
        assert self.environment.prepare is not None
        self.tau2.reset()
        try:
            self.tau2.prepare(actions)
        except Exception:
            with pytest.raises(DataError):
                self.environment.prepare(self.environment.initial, {"initialization_actions": actions})
            return None
        start = self.environment.prepare(self.environment.initial, {"initialization_actions": actions})
        assert port_text(start) == self.tau2.text(), actions
        return start


def in_solo_mode(calls: Iterable[ToolCall], environment: Environment) -> Iterator[ToolCall]:
    """Yield an agent's calls of the user's tools as the user's, which is what they are in solo mode."""
    for call in calls:
        held = call.requestor == "assistant" and call.name in environment.user_tools
        yield ToolCall(call.name, call.arguments, requestor="user") if held else call
