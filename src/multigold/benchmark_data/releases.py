"""Reading a release of a benchmark: a task file, a directory with tasks, policy and database, or a results file.

This is the edge of the audit of versions: it opens what the user named, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from multigold.benchmark_data.finding import directories_below
from multigold.benchmark_data.known import DATASETS, LOCAL, known_release
from multigold.benchmark_data.loading import POLICY_FILES, contents, find_tasks, load_database
from multigold.errors import CallError, DataError
from multigold.files.reading import sha256
from multigold.model.task import Task
from multigold.readers.decoding import Document, decoded, read_document
from multigold.readers.tasks import id_text, read_tasks
from multigold.state.canonical import Json
from multigold.state.json_values import is_too_deep

MAX_TASK_BYTES = 512 * 2**20
"""A larger file is refused."""

_TASK_FILES = ("tasks.json", "tasks.json.gz")
_DATABASES = ("db.json", "database.json")
_MEMBERS = frozenset({"id", "user_scenario", "initial_state", "evaluation_criteria", "description"})
_CRITERIA = frozenset({"actions", "nl_assertions", "env_assertions", "communicate_info", "reward_basis"})


@attrs.frozen(kw_only=True)
class TaskVersion:
    """A task as one release has it, with what the scorer does not need.

    Attributes:
        task: The task.
        assertions: Assertions in words, or on the state, as the benchmark writes them.
        other_criteria: Members of the criteria that are none of these and not the gold.
        description: What the task is for, for people.
        notes: Anything else that it holds.
    """

    task: Task
    assertions: Json = None
    other_criteria: Json = None
    description: Json = None
    notes: Json = None


@attrs.frozen(kw_only=True)
class TaskRelease:
    """The tasks of one release, and what else of it is at hand.

    Attributes:
        name: What to call it.
        tasks: Task id to task.
        policy: The policy's bytes; None if they are not at hand.
        database: Fingerprint of the database; None if it is not at hand.
        digest: SHA-256 of the task file; empty if there is none.
    """

    name: str
    tasks: Mapping[str, TaskVersion]
    policy: bytes | None = None
    database: str | None = None
    digest: str = ""


def read_releases(names: Sequence[str], *, domain: str = "", data_dir: Path | None = None) -> tuple[TaskRelease, ...]:
    """Read releases that are paths or names of known releases; a path that exists wins.

    Args:
        names: Each a path, as `read_release` takes it, or a name such as `37199f3`.
        domain: The environment's name; empty to take it from the tasks at the paths.
        data_dir: Where the tasks of known releases are looked for first.

    Raises:
        CallError: If a name is neither, or stands for tasks of an unknown domain.
        DataError: If there are no tasks, or they cannot be read or found.
    """
    for name in names:
        if not Path(name).exists():
            _check_release(name)
    at_paths = {name: read_release(Path(name), domain=domain) for name in names if Path(name).exists()}
    domain = domain or domain_of(*at_paths.values())
    return tuple(at_paths.get(name) or _known(name, domain, data_dir) for name in names)


def _check_release(name: str) -> None:
    try:
        if name != LOCAL:
            known_release(name)
    except CallError as error:
        raise CallError(
            "there is no such file or directory, and no release of the benchmark has that name",
            where=name,
            remedy="Name a task file, a domain's directory in a checkout of that release, a results file, or a "
            f"release. {error.remedy}",
        ) from None


def _known(name: str, domain: str, data_dir: Path | None) -> TaskRelease:
    """Read a known release, of which the digest of its task file tells that it is the one."""
    if not domain:
        raise CallError(f"release {name} has tasks of several domains", remedy="Name one with --domain.")
    try:
        path = find_tasks(domain, name, data_dir)
    except DataError:
        if data_dir is None or name == LOCAL:
            raise
        path = find_tasks(domain, name)  # one directory rarely holds two releases
    return attrs.evolve(read_release(path.parent, domain=domain), name=f"{name} ({path})")


def read_release(path: Path, *, domain: str = "") -> TaskRelease:
    """Read a release.

    Args:
        path: A task file (a JSON array of tasks, or an object with `tasks`, such as a results file), or a directory
            that holds `tasks.json` and perhaps the policy and the database; a checkout of tau2 where `domain` is given.
        domain: The environment's name, such as `tau2-airline`; empty to take it from the tasks.

    Raises:
        DataError: If there are no tasks, or they cannot be read.
    """
    directory = _directory(path, domain) if path.is_dir() else None
    task_file = _first(directory, _TASK_FILES) if directory else path
    if task_file is None:
        raise DataError("there is no tasks.json", where=str(path), remedy="Name a task file, or a domain's directory.")
    data = _contents(task_file)
    tasks = _task_versions(read_document(data, str(task_file), max_bytes=MAX_TASK_BYTES), domain)
    release = TaskRelease(name=str(path), tasks=tasks, digest=sha256(data))
    if directory is None:
        return release
    policy = _first(directory, POLICY_FILES)
    return attrs.evolve(
        release,
        policy=None if policy is None else _contents(policy),
        database=_database(directory, domain or domain_of(release)),
    )


def _database(directory: Path, domain: str) -> str | None:
    """Return the fingerprint of a database's records, in one file or a file per table; None if there is none."""
    if domain in DATASETS:
        try:
            return load_database(domain, data_dir=directory).agent.fingerprint()
        except DataError:
            return None
    file = _first(directory, _DATABASES)
    return None if file is None else sha256(_contents(file))


def _directory(path: Path, domain: str) -> Path:
    benchmark, name = (DATASETS[domain].benchmark, DATASETS[domain].domain) if domain in DATASETS else ("tau2", domain)
    candidates = (path, *directories_below(path, benchmark, name))
    return next((candidate for candidate in candidates if _first(candidate, _TASK_FILES)), path)


def _first(directory: Path, names: tuple[str, ...]) -> Path | None:
    return next((directory / name for name in names if (directory / name).is_file()), None)


def _contents(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_TASK_BYTES:
            raise DataError(f"it is larger than {MAX_TASK_BYTES:,} bytes", where=str(path))
        return contents(path)
    except OSError as error:
        raise DataError(f"it cannot be read ({error.strerror or error})", where=str(path)) from error


def _task_versions(document: Document, domain: str) -> dict[str, TaskVersion]:
    raw = document.array("tasks") if document.has("tasks") else list(document.items or ())
    table = read_tasks(raw, domain)
    if table.warnings or not table.tasks:
        fault = table.warnings[0] if table.warnings else "it holds no tasks"
        raise DataError(fault, where=document.name, remedy="A task file is a JSON array of tasks.")
    versions: dict[str, TaskVersion] = {}
    for item in raw:
        value = decoded(item, dict[str, Json])
        if value is None or is_too_deep(value):
            raise DataError("a task is nested too deeply", where=document.name)
        task = table.tasks[id_text(value.get("id"))]
        versions.setdefault(task.id, _version(task, value))
    return versions


def _version(task: Task, value: Mapping[str, Json]) -> TaskVersion:
    criteria = value.get("evaluation_criteria")
    held = criteria if isinstance(criteria, Mapping) else {}
    notes = {key: item for key, item in value.items() if key not in _MEMBERS}
    return TaskVersion(
        task=task,
        assertions=[held.get("nl_assertions"), held.get("env_assertions")],
        other_criteria={key: item for key, item in held.items() if key not in _CRITERIA},
        description=value.get("description"),
        notes={**notes, "calls": [_call_notes(action) for action in held.get("actions") or ()]},
    )


def _call_notes(action: Json) -> Json:
    held = action if isinstance(action, Mapping) else {}
    return {key: item for key, item in held.items() if key not in ("name", "arguments", "requestor")}


def domain_of(*releases: TaskRelease) -> str:
    """Return the environment that tasks are for, by what their instructions say; empty if they do not tell.

    Raises:
        CallError: If they are for different ones.
    """
    found = sorted({name for release in releases for name in _stated_domains(release)})
    if len(found) > 1:
        raise CallError(f"the tasks are for different domains: {', '.join(found)}", remedy="Name it with --domain.")
    return found[0] if found else ""


def _stated_domains(release: TaskRelease) -> Iterator[str]:
    for version in release.tasks.values():
        scenario = version.task.instructions
        inner = scenario.get("instructions") if isinstance(scenario, Mapping) else None
        stated = inner.get("domain") if isinstance(inner, Mapping) else None
        if isinstance(stated, str) and f"tau2-{stated}" in DATASETS:
            yield f"tau2-{stated}"
