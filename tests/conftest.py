"""Fixtures that find what a test may need and skip, visibly, where it is absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# tau2's import waits ten seconds for a network without this.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

ROOT = Path(__file__).resolve().parents[1]


def find_shared() -> Path | None:
    """Return the directory of real public result files that some tests read; None where it is absent."""
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
