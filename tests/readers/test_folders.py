"""Golden cases of forms that take a whole directory, read from a directory and from an archive of it."""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from readers_checks import check_file

from multigold.errors import ResultsError
from multigold.readers import ResultsFile, ResultsSource, files, find_sources, open_results, open_source, streaming
from multigold.readers.base import UnknownFormError
from multigold.readers.folder import Folder

FOLDERS = sorted((Path(__file__).parent / "folders").glob("*.json"))


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content)
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, content)))
    else:
        path.write_text(json.dumps(content))


def build(case: dict[str, Any], home: Path) -> Path:
    for name, content in case["files"].items():
        write(home / "run" / name, content)
    return home / "run"


def pack(folder: Path) -> Path:
    target = folder.parent / "run.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return target


def open_all(name: Path) -> Iterator[ResultsFile | ResultsError]:
    for source in find_sources([name]):
        try:
            yield from open_source(source)
        except ResultsError as error:
            yield error


def check(found: list[ResultsFile | ResultsError], expected: list[dict[str, Any]]) -> None:
    assert len(found) == len(expected)
    for results, wanted in zip(found, expected, strict=True):
        if isinstance(results, ResultsError):
            assert wanted["error"] in str(results)
            continue
        check_file(results, {**wanted, "runs": [_plain(run) for run in wanted["runs"]]})
        for run, facts in zip(results.runs, wanted["runs"], strict=True):
            check_more(run, facts)
        for task_id, changes in wanted.get("initial_state", {}).items():
            assert results.tasks[task_id].initial_state == changes
        assert list(results.gold_sets) == wanted.get("gold_sets", [])


MORE = ("basis", "breakdown", "extra", "end_state")


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in MORE}


def check_more(run: Any, facts: dict[str, Any]) -> None:
    recorded = run.trajectory.recorded
    if "basis" in facts:
        assert (None if recorded.reward_basis is None else list(recorded.reward_basis)) == facts["basis"]
    if "breakdown" in facts:
        assert recorded.breakdown == facts["breakdown"]
    for name, value in facts.get("extra", {}).items():
        assert run.extra[name] == value
    if "end_state" in facts:
        assert run.trajectory.end_state.agent.to_json() == facts["end_state"]


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: path.stem)
def test_a_directory_is_read_as_what_it_means(path: Path, tmp_path: Path) -> None:
    case = json.loads(path.read_text())
    check(list(open_all(build(case, tmp_path))), case["expect"])


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: path.stem)
def test_an_archive_of_a_directory_is_read_as_the_directory(path: Path, tmp_path: Path) -> None:
    case = json.loads(path.read_text())
    found = list(open_all(pack(build(case, tmp_path))))
    expected = case["expect"]
    if all("format" in wanted for wanted in expected):
        check(found, expected)
    else:
        assert {x.format for x in found if isinstance(x, ResultsFile)} == {
            x["format"] for x in expected if "format" in x
        }


def test_the_success_of_a_voice_run_is_the_product_of_its_gating_factors(shared: Path) -> None:
    for results in open_source(
        ResultsSource(path=str(shared / "data/nemo/synthetic_run/eval_20260101_000000"), kind="folder")
    ):
        for run in results.runs:
            recorded = run.trajectory.recorded
            product = 1.0
            for name in recorded.reward_basis or ():
                product *= recorded.breakdown[name]
            assert product == recorded.reward, run.place


SIMULATION = {"id": "s", "task_id": "1", "messages": []}
CLASSIC = json.dumps({"info": {}, "tasks": [], "simulations": [SIMULATION]}).encode()


def run_ids(results: ResultsFile) -> list[str]:
    return [run.trajectory.run_id for run in results.runs]


def test_a_gzipped_file_is_read_as_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.json.gz"
    file.write_bytes(gzip.compress(CLASSIC))
    small = open_results(file)
    monkeypatch.setattr(files, "STREAM_ABOVE", 8)
    large = open_results(file)
    assert run_ids(small) == run_ids(large) == ["s"]
    assert small.digest == large.digest


def test_the_temporary_copy_of_a_large_gzipped_file_goes_with_its_last_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "STREAM_ABOVE", 8)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    file = tmp_path / "r.json.gz"
    file.write_bytes(gzip.compress(CLASSIC))
    results = open_results(file)
    assert len(list((tmp_path / "t").iterdir())) == 1
    assert run_ids(results) == run_ids(results) == ["s"]
    del results
    assert list((tmp_path / "t").iterdir()) == []


def test_a_gzipped_file_that_would_fill_the_disk_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "STREAM_ABOVE", 8)
    monkeypatch.setattr("multigold.readers.files._MAY_HOLD", 4 * 2**20)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    file = tmp_path / "r.json.gz"
    file.write_bytes(gzip.compress(b" " * 12 * 2**20 + CLASSIC))
    with pytest.raises(ResultsError, match="unpacks to more than"):
        open_results(file)
    gc.collect()
    assert list((tmp_path / "t").iterdir()) == []


def test_what_is_no_regular_file_is_not_in_a_directory(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(CLASSIC)
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "missing")
    (tmp_path / "device.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.json")
    assert [source.path for source in find_sources([tmp_path])] == [str(tmp_path / "r.json")]


@pytest.mark.parametrize("large", [False, True], ids=["held", "streamed"])
def test_broken_compression_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    file = tmp_path / "r.json.gz"
    file.write_bytes(gzip.compress(bytes(range(256)) * 50)[:-20])
    if large:
        monkeypatch.setattr(files, "STREAM_ABOVE", 8)
    with pytest.raises(ResultsError, match="gzip data is broken"):
        open_results(file)


def test_an_archive_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "r.zip"
    file.write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(ResultsError, match="archive is broken"):
        find_sources([file])


def test_standard_input_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(CLASSIC))))
    assert run_ids(open_results("-")) == ["s"]


def test_patterns_stand_for_the_files_that_match_in_order(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "c.txt"):
        (tmp_path / name).write_bytes(CLASSIC)
    names = [source.name for source in find_sources([str(tmp_path / "*.json")])]
    assert names == [str(tmp_path / "a.json"), str(tmp_path / "b.json")]


@pytest.mark.parametrize(
    ("name", "words"),
    [("nowhere.json", "no such file"), ("*.nothing", "no file matches"), ("empty", "holds no results")],
)
def test_a_name_that_stands_for_nothing_is_refused(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResultsError, match=words):
        find_sources([str(tmp_path / name)])


def test_what_holds_several_results_files_is_not_opened_as_one(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(CLASSIC)
    with pytest.raises(ResultsError, match="holds 2 results files"):
        open_results(tmp_path)


def test_a_file_that_was_only_found_is_marked_as_such(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"x": 1}')
    (found,) = find_sources([tmp_path])
    (named,) = find_sources([tmp_path / "config.json"])
    assert named.named
    assert not found.named
    with pytest.raises(UnknownFormError):
        list(open_source(found))


def test_results_json_beside_its_simulations_stands_for_the_directory(tmp_path: Path) -> None:
    write(tmp_path / "results.json", {"info": {}, "tasks": []})
    write(tmp_path / "simulations" / "s.json", SIMULATION)
    assert run_ids(open_results(tmp_path / "results.json")) == ["s"]


@pytest.mark.parametrize("packed", [False, True])
def test_more_than_the_limit_is_refused(tmp_path: Path, packed: bool) -> None:
    file = tmp_path / "r.json"
    file.write_bytes(gzip.compress(CLASSIC) if packed else CLASSIC)
    with pytest.raises(ResultsError, match="more than the limit of 20 bytes"):
        open_results(file, max_bytes=20)


def test_a_large_file_that_breaks_off_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "STREAM_ABOVE", 8)
    file = tmp_path / "r.json"
    file.write_bytes(CLASSIC[:-10])
    with pytest.raises(ResultsError, match=f"breaks off at byte {len(CLASSIC) - 10}"):
        open_results(file)


@pytest.mark.parametrize("text", [b'{"a": [1, {]}}', b"]", b"{}{}", b'{"a" [1]}', b"[" * 600 + b"]" * 600])
def test_a_large_file_that_is_no_json_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr(files, "STREAM_ABOVE", 1)
    file = tmp_path / "r.json"
    file.write_bytes(text)
    with pytest.raises(ResultsError):
        open_results(file)


def test_msgspec_says_where_an_object_ends() -> None:
    # The fast way of cutting rests on it; without it cutting is slower and as right.
    assert streaming._length(memoryview(b'{"a": [1, "}"]}  , {"b": 2}]')) == 15


def test_cutting_is_the_same_where_msgspec_does_not_say_where_an_object_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "r.json"
    file.write_bytes(json.dumps([{**SIMULATION, "id": f"s{n}", "x": ['"]}{', [[]]]} for n in range(9)]).encode())
    whole = run_ids(open_results(file))
    monkeypatch.setattr(files, "STREAM_ABOVE", 8)
    monkeypatch.setattr(streaming, "_CHUNK", 32)
    monkeypatch.setattr(streaming, "_length", lambda view: 0)
    assert run_ids(open_results(file)) == whole


def test_entries_of_a_large_list_that_are_no_runs_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "STREAM_ABOVE", 8)
    file = tmp_path / "r.json"
    file.write_text(json.dumps({"info": {}, "tasks": [], "simulations": [SIMULATION, 7, SIMULATION]}))
    results = open_results(file)
    assert len(results.runs) == 2
    assert "1 entries of simulations are no runs and are left out" in results.warnings


def test_the_paths_of_a_folder_are_found_by_their_beginning() -> None:
    names = ("a/b/c.json", "a/b.json", "a.json", "ab/x", "a/\U0010fffe", "b/a/c.json")
    folder = Folder(name="f", paths=tuple(sorted(names)), load=str.encode)
    for prefix in ("a/", "a/b/", "b", "", "z", "ab/x"):
        assert folder.within(prefix) == tuple(path for path in folder.paths if path.startswith(prefix))
    assert all(folder.has(name) for name in names)
    assert not any(folder.has(name) for name in ("a", "a/", "b/a", "zz", ""))
    assert folder.sub("a").load("b.json") == b"a/b.json"
