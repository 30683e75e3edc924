"""Fixtures that find what a test may need and skip, visibly, where it is absent."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# No deadline: the machine is shared, and timing is no test. HYPOTHESIS_PROFILE=thorough for a long look.
settings.register_profile("standard", max_examples=100, deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "standard"))

# tau2's import waits ten seconds for a network without this.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

ROOT = Path(__file__).resolve().parents[1]


def find_shared() -> Path | None:
    """Return the directory of real public result files that some tests read; None if it is absent."""
    for candidate in (os.environ.get("MULTIGOLD_SHARED"), ROOT.parent / "shared"):
        if candidate and (Path(candidate) / "data" / "results").is_dir():
            return Path(candidate)
    return None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of real public result files."""
    found = find_shared()
    if found is None:
        pytest.skip("real result files are not here (set MULTIGOLD_SHARED to their directory)")
    return found


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def library_module() -> ModuleType:
    """The example domain's module."""
    return load_example("library")


@pytest.fixture(scope="session")
def score_runs() -> ModuleType:
    """The example domain's script."""
    load_example("library")
    return load_example("score_runs")


def load_example(name: str) -> ModuleType:
    """Import a module of examples/library without leaving its directory on the path."""
    if name not in sys.modules:
        path = ROOT / "examples" / "library" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
