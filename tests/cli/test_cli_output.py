"""Where the command writes: never over its input, through links and pipes, and what happens when it cannot."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from multigold.errors import DataError

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "airline_results.json"

Done = subprocess.CompletedProcess[str]
Cli = Callable[..., Done]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run the command in a directory of its own; no traceback may ever show."""

    def run(*arguments: object, stdout: Any = subprocess.PIPE, env: dict[str, str] | None = None) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "multigold", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **(env or {})},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture(autouse=True)
def airline_data() -> None:
    """The airline database; skip where it is not there."""
    from multigold.benchmark_data import find_data

    try:
        find_data("tau2-airline")
    except DataError as error:
        pytest.skip(f"tau2's airline data is not here: {error}")


@pytest.mark.parametrize("named", ["runs/a.json", "runs", "runs/*.json", "./runs/../runs/a.json"])
def test_a_result_never_replaces_the_file_that_it_was_made_from(cli: Cli, tmp_path: Path, named: str) -> None:
    (tmp_path / "runs").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "runs" / "a.json")
    for option in ("--json", "--html"):
        done = cli("rescore", named, option, "runs/a.json")
        assert done.returncode == 2
        assert "would replace a file that is read" in done.stderr
    assert (tmp_path / "runs" / "a.json").read_bytes() == EXAMPLE.read_bytes()


def test_a_former_result_is_replaced(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("old")
    assert cli("rescore", EXAMPLE, "--json", "out.json").returncode == 0
    assert json.loads((tmp_path / "out.json").read_text())["verdicts"]


def test_output_goes_through_links_and_into_pipes(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "target.json")
    assert cli("rescore", EXAMPLE, "--json", "link.json").returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE) as reader:
        assert cli("rescore", EXAMPLE, "--json", "pipe").returncode == 0
        piped, _ = reader.communicate(timeout=60)
    assert json.loads(piped) == json.loads((tmp_path / "target.json").read_text())
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("place", ["", ".", "/", "no/such/a.json", "file/a.json", "n" * 300])
def test_an_output_that_cannot_be_written_is_one_sentence(cli: Cli, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    done = cli("rescore", EXAMPLE, "--json", place)
    assert done.returncode == 2
    assert "it cannot be written" in done.stderr
    assert len(done.stderr.splitlines()) == 1


BATCH = pytest.mark.parametrize(
    ("command", "counted"),
    [
        (("rescore",), "9/13"),
        (("rescore", "--check-recorded"), "12 agree, 0 differ"),
        (("statistics", "--resamples", "0"), "9/13"),
        (("audit", "traces"), "13 runs followed"),
        (("audit", "discover"), "12 runs grouped"),
    ],
    ids=["rescore", "check", "statistics", "traces", "discover"],
)


@BATCH
@pytest.mark.parametrize("named", [("runs",), ("runs/broken.json", "runs/good.json")], ids=["directory", "files"])
def test_a_broken_file_among_several_is_named_and_does_not_keep_the_others_from_being_counted(
    cli: Cli, tmp_path: Path, command: tuple[str, ...], counted: str, named: tuple[str, ...]
) -> None:
    (tmp_path / "runs").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "runs" / "good.json")
    (tmp_path / "runs" / "broken.json").write_bytes(EXAMPLE.read_bytes()[:1000])
    done = cli(*command, *named)
    assert done.returncode == 2
    assert counted in done.stdout
    lines = done.stdout.splitlines()
    assert [line.count("runs/broken.json") for line in lines if "broken.json" in line] == [1]
    assert "1 of 2 files could not be read: runs/broken.json: " in done.stderr
    assert len(done.stderr.splitlines()) == 1


@BATCH
def test_where_every_file_is_broken_each_is_named(
    cli: Cli, tmp_path: Path, command: tuple[str, ...], counted: str
) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(EXAMPLE.read_bytes()[:1000])
    done = cli(*command, "a.json", "b.json")
    assert done.returncode == 2
    assert all(name in done.stdout for name in ("a.json", "b.json"))
    assert counted not in done.stdout
    assert "2 of 2 files could not be read: a.json: " in done.stderr


@BATCH
def test_a_single_broken_file_is_one_sentence(cli: Cli, tmp_path: Path, command: tuple[str, ...], counted: str) -> None:
    (tmp_path / "a.json").write_bytes(EXAMPLE.read_bytes()[:1000])
    done = cli(*command, "a.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("multigold: a.json: ")


@BATCH
def test_a_file_of_another_kind_in_a_directory_is_left_out_and_told(
    cli: Cli, tmp_path: Path, command: tuple[str, ...], counted: str
) -> None:
    (tmp_path / "runs").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "runs" / "good.json")
    (tmp_path / "runs" / "settings.json").write_text('{"colour": "red"}')
    done, alone = cli(*command, "runs"), cli(*command, "runs/good.json")
    assert (done.returncode, done.stderr) == (alone.returncode, "")
    assert done.returncode in (0, 1)
    assert counted in done.stdout
    assert "runs/settings.json: left out" in done.stdout


def test_a_comparison_takes_each_side_whole(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "runs" / "good.json")
    (tmp_path / "runs" / "settings.json").write_text('{"colour": "red"}')
    options = ("--agent-name", "one", "--resamples", "0")
    assert cli("compare", "runs", EXAMPLE, *options).returncode == 0
    (tmp_path / "runs" / "broken.json").write_bytes(EXAMPLE.read_bytes()[:1000])
    for sides in (("runs", EXAMPLE), (EXAMPLE, "runs")):
        done = cli("compare", *sides, *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("multigold: runs/broken.json: ")
        assert len(done.stderr.splitlines()) == 1
    assert "is taken whole" in " ".join(cli("compare", "--help").stdout.split())


def test_a_check_writes_of_every_file_what_came_of_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "runs" / "good.json")
    (tmp_path / "runs" / "broken.json").write_bytes(EXAMPLE.read_bytes()[:1000])
    (tmp_path / "runs" / "settings.json").write_text('{"colour": "red"}')
    done = cli("rescore", "--check-recorded", "runs", "--json", "-")
    assert done.returncode == 2
    files = {Path(file["name"]).stem: file for file in json.loads(done.stdout)["files"]}
    assert {name: bool(file["problem"]) for name, file in files.items()} == {
        "broken": True,
        "good": False,
        "settings": False,
    }
    assert {name: bool(file["left_out"]) for name, file in files.items()} == {
        "broken": False,
        "good": False,
        "settings": True,
    }
    assert files["good"]["agree"] == 12


@pytest.mark.parametrize(
    "options",
    [
        ("--html", "page.html"),
        ("--jobs", "2"),
        ("--by-task",),
        ("--equivalence", "unordered"),
        ("--contested",),
        ("--strata", "paper"),
    ],
    ids=lambda options: options[0],
)
def test_a_check_of_the_record_refuses_what_it_would_not_look_at(
    cli: Cli, tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = cli("rescore", "--check-recorded", EXAMPLE, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"it does not take {options[0]}" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("place", ["-", "out"])
def test_json_and_page_do_not_share_a_place(cli: Cli, place: str) -> None:
    done = cli("rescore", EXAMPLE, "--json", place, "--html", place)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the same place" in done.stderr


def test_a_page_on_standard_output_stands_alone(cli: Cli) -> None:
    page = cli("rescore", EXAMPLE, "--html", "-").stdout
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


@pytest.mark.parametrize("options", [(), ("--json", "-")], ids=["tables", "json"])
def test_a_reader_that_goes_away_is_no_failure(cli: Cli, options: tuple[str, ...]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = cli("rescore", EXAMPLE, *options, stdout=write_end)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_output_that_is_full_is_no_bug_of_ours(cli: Cli) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("w") as full:
        done = cli("rescore", EXAMPLE, stdout=full)
    assert done.returncode == 2
    assert "cannot be read or written" in done.stderr
    assert "bug" not in done.stderr


def test_an_encoding_without_the_letters_gets_them_escaped(cli: Cli) -> None:
    done = cli("rescore", EXAMPLE, "--agent-name", "Ünï", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert r"\xdcn\xef" in done.stdout
