"""The hook that the pytest plugin adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from multigold.environments.base import Environment


@pytest.hookspec(firstresult=True)
def pytest_multigold_environment(domain: str, config: pytest.Config) -> Environment | None:
    """Return the environment in which the gold sets of a domain are replayed; None to leave it to others.

    Args:
        domain: The domain, as the catalogue states it.
        config: pytest's configuration.
    """
