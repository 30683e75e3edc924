"""The pytest plugin, run as users run it: pytest in a process and a project directory of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from multigold.benchmark_data import load_environment
from multigold.errors import DataError

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "examples" / "library"
GOLD_SETS = ROOT / "gold_sets"
CLEAN = "38 passed"
"""What the library's gold sets come to: 5 readings with 7 laws each, and a law for each of 3 sets."""


@attrs.frozen(kw_only=True)
class Done:
    status: int
    out: str

    @property
    def last(self) -> str:
        return self.out.rstrip().rpartition("\n")[2]


Run = Callable[..., Done]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of somebody else: the library's module and gold sets, and no more of this checkout."""
    shutil.copytree(LIBRARY / "gold_sets", tmp_path / "golds")
    for name in ("library.py", "database.json", "tasks.json"):
        shutil.copy(LIBRARY / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def run(project: Path) -> Run:
    """Run pytest in the project with warnings as errors, the plugin loaded by name and no other plugin around."""

    def start(*arguments: object, plugins: tuple[str, ...] = ("multigold.testing.plugin",), **env: str) -> Done:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env}
        loaded = [part for plugin in plugins for part in ("-p", plugin)]
        command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", *loaded]
        command += ["--multigold-runs", "3", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=280
        )
        return Done(status=done.returncode, out=done.stdout + done.stderr)

    return start


OWN = ("--multigold-gold-sets", "golds", "--multigold-environment", "library.py:build")


def test_the_gold_sets_of_another_project_are_collected_an_item_for_each_law_and_reading(run: Run) -> None:
    done = run(*OWN, "golds", "-v")
    assert done.status == 0, done.out
    assert CLEAN in done.last
    assert "golds/tasks/waive.json::return-first::gold_matches_itself PASSED" in done.out
    assert "golds/tasks/waive.json::readings_distinct PASSED" in done.out


def test_a_summary_counts_each_law_and_lists_inert_mutations(run: Run) -> None:
    done = run(*OWN, "golds")
    assert "multigold gold sets" in done.out
    assert "3 gold sets, 5 readings" in done.out
    assert re.search(r"gold_matches_itself +5 passed", done.out)
    assert re.search(r"readings_distinct +3 passed", done.out)
    assert re.search(
        r"\d+ mutations: \d+ with a call that fails, \d+ that end in a state some reading admits", done.out
    )


def test_without_arguments_the_project_own_tests_run_beside_them(run: Run, project: Path) -> None:
    (project / "tests").mkdir()
    (project / "tests" / "test_own.py").write_text("def test_own(): pass\n")
    (project / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    done = run(*OWN)
    assert "39 passed" in done.last, done.out


def test_gold_sets_of_the_configuration_file_stay_out_of_runs_of_something_else(run: Run, project: Path) -> None:
    (project / "pytest.ini").write_text(
        "[pytest]\nmultigold_gold_sets = golds\nmultigold_environments = library=library.py:build\n"
    )
    (project / "test_own.py").write_text("def test_own(): pass\n")
    assert "1 passed" in run("test_own.py").last
    assert "22 passed" in run("golds/tasks/waive.json").last
    assert "39 passed" in run().last


def test_a_part_of_the_gold_sets_can_be_asked_for(run: Run) -> None:
    assert "22 passed" in run(*OWN, "golds/tasks/waive.json").last
    assert "1 passed" in run(*OWN, "golds/tasks/waive.json::withhold::order_independent").last
    assert "3 passed, 35 deselected" in run(*OWN, "golds", "-k", "gold_matches_itself and waive").last


def test_markers_select_laws_and_readings_and_are_known_to_strict_projects(run: Run) -> None:
    strict = run(*OWN, "golds", "-m", "multigold", "--strict-markers", "-q")
    none = run(*OWN, "golds", "-m", "not multigold", "--strict-markers")
    assert CLEAN in strict.last
    assert "38 deselected" in none.last
    assert "@pytest.mark.multigold_law(name)" in run("--markers").out


def test_the_environment_may_come_from_the_configuration_file_or_from_a_conftest(run: Run, project: Path) -> None:
    (project / "pytest.ini").write_text(
        "[pytest]\nmultigold_gold_sets = golds\nmultigold_environments = library=library.py:build\n"
    )
    assert CLEAN in run().last
    (project / "pytest.ini").write_text("[pytest]\nmultigold_gold_sets = golds\n")
    (project / "conftest.py").write_text(
        "import library\n\ndef pytest_multigold_environment(domain, config):\n"
        "    return library.build() if domain == 'library' else None\n"
    )
    assert CLEAN in run().last


def test_xdist_gives_the_same_outcome_and_the_same_summary(run: Run) -> None:
    pytest.importorskip("xdist")

    def counts(done: Done) -> list[str]:
        return re.findall(r"^  (\w+ +\d+ .*|\w+/.*)$|^(\d+ .*)$", done.out.partition("multigold gold sets")[2], re.M)

    alone = run(*OWN, "golds", "-v")
    spread = run(*OWN, "golds", "-v", "-n", "2", plugins=("multigold.testing.plugin", "xdist.plugin"))
    assert spread.status == 0, spread.out
    assert CLEAN in spread.last
    assert sorted(counts(alone)) == sorted(counts(spread))
    assert len(counts(alone)) >= 9


# What is wrong is said


def edit(path: Path, change: Callable[[dict[str, object]], None]) -> None:
    plain = json.loads(path.read_text(encoding="utf-8"))
    change(plain)
    path.write_text(json.dumps(plain), encoding="utf-8")


def test_a_call_that_fails_fails_its_reading_with_one_sentence(run: Run, project: Path) -> None:
    def lose(plain: dict[str, object]) -> None:
        plain["readings"][0]["admits"] = [{"actions": [{"name": "waive_fine", "arguments": {"loan_id": "loan-2"}}]}]  # type: ignore[index]

    edit(project / "golds" / "tasks" / "waive.json", lose)
    done = run(*OWN, "golds/tasks/waive.json")
    assert done.status == 1
    assert "reading independent: call 0 (waive_fine) fails: loan-2 has no fine that can be waived" in done.out
    assert "Traceback" not in done.out
    assert "runner.py" not in done.out


def test_readings_that_share_an_end_state_fail_the_set(run: Run, project: Path) -> None:
    def double(plain: dict[str, object]) -> None:
        readings = plain["readings"]
        readings[1]["admits"] = readings[0]["admits"]  # type: ignore[index]

    edit(project / "golds" / "tasks" / "waive.json", double)
    done = run(*OWN, "golds/tasks/waive.json")
    assert done.status == 1
    assert "This law does not hold: no end state of a reading is admitted by another reading" in done.out
    assert "waive.json::readings_distinct" in done.out


def test_a_reading_that_an_idle_agent_would_match_fails(run: Run, project: Path) -> None:
    def trust(plain: dict[str, object]) -> None:
        del plain["readings"][2]["evidence"]  # type: ignore[index]

    edit(project / "golds" / "tasks" / "waive.json", trust)
    done = run(*OWN, "golds/tasks/waive.json", "-k", "gated")
    assert (done.status, "1 failed, 2 passed" in done.last) == (1, True), done.out
    assert "the reading withhold admits the untouched state, and asks for no evidence" in done.out


TWO = [
    {"name": "reserve_book", "arguments": {"member_id": "m-cleo", "book_id": book, "branch": "hill"}}
    for book in ("b-moss", "b-ferns")
]


def test_a_gold_that_hangs_on_order_is_an_expected_failure_or_a_failure_or_cured(run: Run, project: Path) -> None:
    def two_books(plain: dict[str, object]) -> None:
        plain["readings"][0]["admits"] = [{"actions": TWO}]  # type: ignore[index]

    edit(project / "golds" / "tasks" / "reserve.json", two_books)
    item = "golds/tasks/reserve.json::any-plant-book::order_independent"
    expected = run(*OWN, item, "-rx")
    assert (expected.status, "1 xfailed" in expected.last) == (0, True)
    assert "minted-ids would make it the same" in expected.out
    assert run(*OWN, item, "--multigold-strict-order").status == 1
    assert "1 passed" in run(*OWN, item, "--multigold-equivalence", "minted-ids").last


def test_a_catalogue_with_faults_is_a_collection_error_with_its_faults(run: Run, project: Path) -> None:
    edit(project / "golds" / "tasks" / "waive.json", lambda plain: plain.update(odd=1))
    done = run(*OWN, "golds")
    assert done.status == 2
    assert "there is no member 'odd' here" in done.out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--multigold-gold-sets", "nowhere"), 4, "there is no catalogue here"),
        (("--multigold-gold-sets", "golds", "golds"), 1, "no environment is called 'library'"),
        (
            ("--multigold-gold-sets", "golds", "golds", "--multigold-environment", "nowhere.py:build"),
            1,
            "no such Python",
        ),
    ],
)
def test_a_wrong_option_is_one_sentence(run: Run, arguments: tuple[str, ...], status: int, said: str) -> None:
    done = run(*arguments)
    assert done.status == status, done.out
    assert said in done.out


def test_missing_benchmark_data_is_a_visible_skip(run: Run, project: Path) -> None:
    edit(project / "golds" / "catalogue.json", lambda plain: plain.update(domain="tau2-airline"))
    (project / "empty").mkdir()
    done = run("--multigold-gold-sets", "golds", "golds", "--multigold-data-dir", "empty", "-rs")
    assert "38 skipped" in done.last, done.out
    assert "the data of tau2-airline was not found" in done.out or "empty" in done.out


# Where it is not asked for


def test_the_plugin_imports_nothing_heavy_where_it_is_not_asked_for(run: Run, project: Path) -> None:
    (project / "test_own.py").write_text(
        "import sys\n\n"
        "def test_nothing_is_loaded():\n"
        "    heavy = ('hypothesis', 'jsonschema', 'msgspec', 'deepdiff', 'click', 'rich', 'attrs', 'numpy')\n"
        "    assert [name for name in heavy if name in sys.modules] == []\n"
        "    loaded = sorted(name for name in sys.modules if name.startswith('multigold'))\n"
        "    assert loaded == ['multigold', 'multigold._lazy', 'multigold._version', 'multigold.testing',\n"
        "                      'multigold.testing.hooks', 'multigold.testing.plugin']\n"
    )
    done = run("test_own.py")
    assert "1 passed" in done.last, done.out
    assert "multigold gold sets" not in done.out


def test_the_entry_point_loads_it_without_being_named(
    run: Run, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    metadata = tmp_path_factory.mktemp("site") / "multigold-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: multigold\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text(f"[pytest11]\n{entry_point()}\n")
    path = os.pathsep.join([str(metadata.parent), str(ROOT / "src")])
    done = run(*OWN, "golds", plugins=(), PYTHONPATH=path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="", PYTEST_ADDOPTS=quiet())
    assert done.status == 0, done.out
    assert CLEAN in done.last


def entry_point() -> str:
    """The line of pyproject.toml that declares the plugin, as a wheel writes it."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((name, place),) = project["entry-points"]["pytest11"].items()
    return f"{name} = {place}"


def quiet() -> str:
    """Options that keep out what else may be installed here."""
    from importlib.metadata import entry_points

    return " ".join(f"-p no:{point.name}" for point in entry_points(group="pytest11") if point.name != "multigold")


# Our own gold sets


def test_the_shipped_gold_sets_keep_every_law(run: Run) -> None:
    try:
        load_environment("tau2-airline")
    except DataError as error:
        pytest.skip(str(error))
    done = run("--multigold-gold-sets", GOLD_SETS, GOLD_SETS, "-q")
    assert done.status == 0, done.out[-4000:]
    assert " failed" not in done.last
    assert re.search(r"gold_matches_itself +\d+ passed", done.out)
    assert re.search(r"gated +\d\d+ passed", done.out)


def test_the_documented_command_prints_what_the_documentation_shows(run: Run) -> None:
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    shown = re.search(r"```console\npython -m pytest ([^\n]*)\n```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    arguments = [ROOT / part if part.startswith("examples/") else part for part in shown[1].split()]
    done = run(*arguments)
    assert done.status == 0, done.out
    assert shown[2] in done.out
