"""What an audit of golds is pointed at: a domain, a tasks file, a directory of gold sets; and environments by name.

This is the edge: it opens what the user named, and nothing else. An environment of the user's own is named by where it
is in Python, and that module is imported: only name code that you would run.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from multigold.audit.golds.cases import Gold, golds_of_catalogue, golds_of_release
from multigold.benchmark_data import DATASETS, KNOWN_RELEASES, find_data, load_environment, load_tasks
from multigold.benchmark_data.releases import TaskRelease, TaskVersion, domain_of, read_release
from multigold.catalogues.loading import CATALOGUE_FILE, catalogue_directories, read_catalogue
from multigold.environments.base import Environment
from multigold.errors import CallError, DataError
from multigold.files.reading import sha256
from multigold.model.catalogue import Catalogue
from multigold.model.task import Criteria, Requestor, Task, ToolCall
from multigold.state.canonical import Json

MAX_PLAIN_BYTES = 64 * 2**20
"""A tasks file in the plain form that is larger than this is refused."""


@attrs.frozen(kw_only=True, eq=False)
class AuditTarget:
    """Golds of one environment.

    Attributes:
        name: What they are of, for people.
        environment: Where they are replayed.
        golds: The golds.
        provenance: Where they came from, as plain data.
    """

    name: str
    environment: Environment
    golds: tuple[Gold, ...]
    provenance: Mapping[str, Json]


@attrs.frozen(kw_only=True)
class AuditSettings:
    """What the user says besides the target.

    Attributes:
        environments: Domain to an environment of the user's own; the domain `""` stands for any.
        data_dir: Directory of the benchmark's own data.
        domain: The environment's name, if the tasks do not say.
        against: Other releases of the same benchmark: task files.
        tasks: Task files that hold the texts of a directory's gold sets.
    """

    environments: Mapping[str, Environment] = attrs.field(factory=dict)
    data_dir: Path | None = None
    domain: str = ""
    against: tuple[Path, ...] = ()
    tasks: tuple[Path, ...] = ()

    def environment(self, name: str) -> Environment:
        """Return an environment: the user's own, else the one of that name.

        Raises:
            EnvironmentNotFoundError: If no environment has that name.
            DataError: If its data is missing.
        """
        own = self.environments.get(name) or self.environments.get("")
        return own or load_environment(name, self.data_dir)


def open_target(target: str, settings: AuditSettings) -> tuple[AuditTarget, ...]:
    """Return the golds that a target names.

    Args:
        target: A domain (`tau2-airline`), a tasks file, or a directory of gold sets or of a domain's data.
        settings: What else the user says.

    Raises:
        CallError: If it is none of these.
        DataError: If data is missing or no list of tasks.
        GoldSetError: If a catalogue has faults.
    """
    path = Path(target)
    if path.is_dir() and _holds_catalogues(path):
        return tuple(_catalogue_target(directory, settings) for directory in catalogue_directories(path))
    if path.exists():
        return (_release_target(read_tasks_at(path, settings.domain), settings),)
    if target in DATASETS:
        location = find_data(target, settings.data_dir)
        own = attrs.evolve(settings, domain=target)
        return (_release_target(read_tasks_at(location.directory, target), own),)
    raise CallError(
        f"{target!r} is not a domain, a file or a directory",
        remedy=f"Domains: {', '.join(DATASETS)}.",
    )


def _holds_catalogues(path: Path) -> bool:
    return (path / CATALOGUE_FILE).is_file() or any(path.glob(f"*/{CATALOGUE_FILE}"))


def _release_target(release: TaskRelease, settings: AuditSettings) -> AuditTarget:
    domain = settings.domain or domain_of(release)
    if not domain and "" not in settings.environments:
        raise CallError(
            "the tasks do not say which environment they are for",
            where=release.name,
            remedy="Name it with --domain, or give your own with --environment.",
        )
    environment = settings.environment(domain)
    others = [read_tasks_at(path, domain) for path in settings.against]
    provenance = {
        "target": release.name,
        "environment": environment.name,
        "data_digest": environment.data_digest,
        "tasks_digest": release.digest,
        "release": known_name(release.digest, environment.name),
        "against": [{"name": other.name, "tasks_digest": other.digest} for other in others],
    }
    golds = tuple(golds_of_release(release, others))
    return AuditTarget(name=release.name, environment=environment, golds=golds, provenance=provenance)


def known_name(digest: str, domain: str) -> str:
    """Return the name of the known release whose task file has this digest; empty for any other."""
    return next((known.name for known in KNOWN_RELEASES if known.tasks.get(domain) == digest), "")


def _catalogue_target(directory: Path, settings: AuditSettings) -> AuditTarget:
    catalogue = read_catalogue(directory)
    environment = settings.environment(catalogue.domain)
    provenance = {
        "target": str(directory),
        "environment": environment.name,
        "data_digest": environment.data_digest,
        "catalogue_digest": catalogue.digest,
    }
    golds = tuple(golds_of_catalogue(catalogue, texts_of(catalogue, settings)))
    return AuditTarget(name=catalogue.domain, environment=environment, golds=golds, provenance=provenance)


def texts_of(catalogue: Catalogue, settings: AuditSettings) -> list[Task]:
    """Return the tasks that a catalogue may be written for: those of the files named, and of every release found."""
    tasks = [
        version.task for path in settings.tasks for version in read_tasks_at(path, catalogue.domain).tasks.values()
    ]
    if catalogue.domain in DATASETS:
        for known in KNOWN_RELEASES:
            try:
                tasks += load_tasks(catalogue.domain, known.name, settings.data_dir).values()
            except DataError:
                continue  # that release is not here; gold sets for its texts are audited without them
    return tasks


# Tasks in the plain form


def read_tasks_at(path: Path, domain: str = "") -> TaskRelease:
    """Read tasks as the benchmark writes them, or in the plain form: `[{id, instructions, actions, ...}]`.

    Raises:
        DataError: If there are none, or they cannot be read.
    """
    plain = _plain_items(path)
    if plain is None:
        return read_release(path, domain=domain)
    tasks = {str(item.get("id")): TaskVersion(task=_plain_task(item, domain)) for item in plain}
    return TaskRelease(name=str(path), tasks=tasks, digest=sha256(path.read_bytes()))


def _plain_items(path: Path) -> list[dict[str, Any]] | None:
    """Return the items of a tasks file in the plain form; None for anything else."""
    if not path.is_file() or path.stat().st_size > MAX_PLAIN_BYTES:
        return None
    try:
        items = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    fits = isinstance(items, list) and items and all(isinstance(i, dict) and "actions" in i for i in items)
    return items if fits else None


def _plain_task(item: Mapping[str, Any], domain: str) -> Task:
    actions = item["actions"]
    calls = None if actions is None else tuple(_plain_call(call) for call in actions)
    basis = item.get("reward_basis")
    return Task(
        str(item.get("id")),
        instructions=item.get("instructions"),
        initial=item.get("initial"),
        criteria=Criteria(
            actions=calls,
            communicate=tuple(item.get("communicate") or ()),
            reward_basis=tuple(basis) if basis else ("DB",),
        ),
        domain=domain,
    )


def _plain_call(call: Any) -> ToolCall:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        raise DataError("an action is an object with a name and arguments", where="actions")
    requestor: Requestor = "user" if call.get("requestor") == "user" else "assistant"
    compared = call.get("compare_args")
    return ToolCall(
        call["name"],
        call.get("arguments") or {},
        requestor=requestor,
        compared=None if compared is None else tuple(compared),
    )


# Environments of the user's own


def import_environment(place: str) -> Environment:
    """Import an environment from `module:name` or `file.py:name`; a function is called without arguments.

    Raises:
        CallError: If there is no such thing, or it is not an environment.
    """
    source, _, name = place.rpartition(":")
    if not source or not name:
        raise CallError(
            f"{place!r} does not say where the environment is",
            remedy="Write module:name or path/to/file.py:name; it is an Environment or a function that returns one.",
        )
    module = _import_file(Path(source)) if source.endswith(".py") else _import_module(source)
    try:
        value = getattr(module, name)
    except AttributeError:
        raise CallError(f"{source} has nothing called {name!r}", where=place) from None
    made = value if isinstance(value, Environment) or not callable(value) else _made(value, place)
    if not isinstance(made, Environment):
        raise CallError(f"{name} is not an Environment but a {type(made).__name__}", where=place)
    return made


def _made(function: Any, place: str) -> Any:
    try:
        return function()
    except TypeError as error:
        raise CallError(f"it cannot be called without arguments ({error})", where=place) from error


def _import_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CallError(f"the module {name} cannot be imported ({error})") from error


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise CallError("there is no such Python file", where=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent.resolve()))  # its own neighbours, as `python file.py` would find them
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise CallError(f"it cannot be imported ({error})", where=str(path)) from error
    finally:
        sys.path.pop(0)
    return module


def own_environments(places: Iterable[str]) -> dict[str, Environment]:
    """Return environments from `[DOMAIN=]module:name` by domain; one without a domain has its own name and serves any.

    Raises:
        CallError: If one cannot be imported.
    """
    found: dict[str, Environment] = {}
    for place in places:
        domain, equals, rest = place.partition("=")
        environment = import_environment(rest if equals else place)
        if equals:
            found[domain] = environment
        else:
            found[environment.name] = environment
            found.setdefault("", environment)
    return found
