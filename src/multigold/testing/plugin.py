"""A pytest plugin that collects gold sets as tests: `pytest --multigold-gold-sets DIR`.

pytest loads this module in every run in which multigold is installed, so it imports nothing but the standard library.
Where no gold sets are asked for, it adds a few options and does nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

DEFAULT_RUNS = 25
"""Examples that each law tries per gold, unless `--multigold-runs` says otherwise."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("multigold", "multigold: gold sets as tests")
    group.addoption(
        "--multigold-gold-sets",
        action="append",
        default=[],
        metavar="DIR",
        help="Collect the gold sets of a catalogue, or of a directory of catalogues, as tests. Repeatable.",
    )
    group.addoption(
        "--multigold-environment",
        action="append",
        default=[],
        metavar="[DOMAIN=]MODULE:NAME",
        help="An environment of your own: an Environment, or a function that returns one; also path/to/file.py:NAME.",
    )
    group.addoption(
        "--multigold-tasks",
        action="append",
        default=[],
        metavar="FILE",
        help="A task file with the texts and initial states of the gold sets. Repeatable.",
    )
    group.addoption("--multigold-data-dir", metavar="DIR", help="Directory of the benchmark's own data.")
    group.addoption(
        "--multigold-equivalence",
        action="append",
        default=[],
        metavar="NAME",
        help="An equivalence under which the order of writes may make no difference. Repeatable.",
    )
    group.addoption(
        "--multigold-runs",
        type=int,
        default=DEFAULT_RUNS,
        metavar="N",
        help=f"Examples that each law tries per gold ({DEFAULT_RUNS} unless given).",
    )
    group.addoption(
        "--multigold-strict-order",
        action="store_true",
        help="A gold whose end state depends on the order of its writes fails, instead of being an expected failure.",
    )
    parser.addini("multigold_gold_sets", "Gold sets to collect, as --multigold-gold-sets.", type="paths", default=[])
    parser.addini("multigold_environments", "As --multigold-environment, one a line.", type="linelist", default=[])
    parser.addini("multigold_tasks", "As --multigold-tasks.", type="paths", default=[])


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hook by which a conftest.py gives an environment."""
    from multigold.testing import hooks

    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers; where gold sets are asked for, see to it that they are collected."""
    config.addinivalue_line("markers", "multigold: a law of a gold set, collected by --multigold-gold-sets.")
    config.addinivalue_line("markers", "multigold_law(name): the law that such a test is of.")
    config.addinivalue_line("markers", "multigold_reading(id): the reading that such a test is of.")
    asked, configured = gold_set_directories(config)
    if asked or configured:
        from multigold.testing.collecting import GoldSetCollection

        directories = list(dict.fromkeys((*asked, *configured)))
        config.pluginmanager.register(GoldSetCollection(config, directories), "multigold-gold-sets")
        # What the configuration file names is collected if nothing else is asked for, as with `testpaths`.
        chosen = config.args_source == config.ArgsSource.ARGS
        config.args += [str(path) for path in (asked if chosen else directories) if not _is_asked_for(path, config)]


def gold_set_directories(config: pytest.Config) -> tuple[list[Path], list[Path]]:
    """Return the directories that are asked for on the command line, and those of the configuration file, absolute."""
    here = config.invocation_params.dir
    asked = [(here / path).resolve() for path in config.getoption("--multigold-gold-sets")]
    return asked, [path.resolve() for path in config.getini("multigold_gold_sets")]


def _is_asked_for(directory: Path, config: pytest.Config) -> bool:
    """Tell whether pytest's arguments lead to a directory anyway: to it, to something around it, or to a part of it."""
    here = config.invocation_params.dir
    named = [(here / str(argument).partition("::")[0]).resolve() for argument in config.args]
    return any(directory.is_relative_to(path) or path.is_relative_to(directory) for path in named)
