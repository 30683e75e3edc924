"""The environments on tau2's own data; where that is absent the tests skip and say so."""

from __future__ import annotations

import pytest

from multigold.benchmark_data import load_environment
from multigold.environments.base import Environment
from multigold.errors import DataError


def _loaded(name: str) -> Environment:
    try:
        return load_environment(name)
    except DataError as error:
        pytest.skip(f"the database of {name} is not here: {error.message}")


@pytest.fixture(scope="session")
def airline() -> Environment:
    return _loaded("tau2-airline")


@pytest.fixture(scope="session")
def retail() -> Environment:
    return _loaded("tau2-retail")
