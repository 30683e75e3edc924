"""The airline environment, and the tasks of every release that is at hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from multigold.benchmark_data import load_environment, load_tasks
from multigold.catalogues import load_catalogue
from multigold.environments.base import Environment
from multigold.errors import DataError
from multigold.model.catalogue import Catalogue
from multigold.model.task import Task


@pytest.fixture(scope="session")
def airline() -> Environment:
    """The airline environment."""
    try:
        return load_environment("tau2-airline")
    except DataError as error:
        pytest.skip(f"the airline's data is not here: {error.message}")


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """The shipped airline catalogue."""
    return load_catalogue("tau2-airline")


@pytest.fixture(scope="session")
def release_tasks(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Task]]:
    """Release to the airline tasks of it."""
    files = {
        "37199f3": shared / "data/tau2/airline/tasks.37199f3.json",
        "01e812d": shared / "data/tau2/airline/tasks.01e812d.json",
        "tau2-verified": shared / "data/tau2-verified/airline/tasks.json",
    }
    tasks = {}
    for release, path in files.items():
        home = tmp_path_factory.mktemp(release) / "airline"
        home.mkdir()
        shutil.copy(path, home / "tasks.json")
        tasks[release] = load_tasks("tau2-airline", release, data_dir=home.parent)
    return tasks
