"""Golden cases: what each stored form means, as JSON that knows nothing of this library's code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest
from readers_checks import check_file

from multigold.errors import ResultsError
from multigold.readers import ReadOptions, files, open_results, read_results, streaming
from multigold.readers.tau2 import repeated_ids

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def content(case: dict[str, Any]) -> bytes:
    """Return the bytes that a case stands for."""
    if "lines" in case:
        return "\n".join(x if isinstance(x, str) else json.dumps(x) for x in case["lines"]).encode()
    if "latin1" in case:
        return case["latin1"].encode("latin-1")
    return case["text"].encode() if "text" in case else json.dumps(case["document"]).encode()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_stored_form_is_read_as_what_it_means(path: Path) -> None:
    case = load(path)
    options, name = ReadOptions(**case.get("options", {})), case.get("name", "results.json")
    if "error" in case["expect"]:
        with pytest.raises(ResultsError) as caught:
            list(read_results(content(case), name, options=options).runs)
        assert all(words in str(caught.value) for words in case["expect"]["error"]), str(caught.value)
        assert str(caught.value).startswith(name)
        assert "\n" not in str(caught.value)
    else:
        check_file(read_results(content(case), name, options=options), case["expect"])


# Mending needs the whole text in hand; the messages of refusals name other places.
STREAMED = [path for path in CASES if not path.stem.startswith(("refused", "mend"))]


@pytest.mark.parametrize("path", STREAMED, ids=lambda path: path.stem)
def test_a_file_cut_by_position_reads_as_one_held_whole(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = load(path)
    options = ReadOptions(**case.get("options", {}))
    file = tmp_path / Path(case.get("name", "results.json")).name
    file.write_bytes(content(case))
    whole = list(open_results(file, options=options).runs)
    monkeypatch.setattr(files, "STREAM_ABOVE", 8)
    monkeypatch.setattr(streaming, "_CHUNK", 64)
    cut = open_results(file, options=options)
    if not cut.warnings or "left out" not in cut.warnings[0]:
        assert list(cut.runs) == whole


def test_a_run_id_is_the_same_wherever_it_stands_and_however_it_is_spelled() -> None:
    runs = [
        '{"id": "A1", "x": 0}',
        '{\n  "x": [1], "id": "A1"}',
        '{"id": "\\u00411"}',
        '{"id": 7}',
        '{"x": 0, "id": 7}',
    ]
    unlike = ['{"id": "A2"}', '{"x": {"id": "A1"}}', "[]", '{"id": null}', '{"id": ["A1"]}']
    raw = [msgspec.Raw(text.encode()) for text in (*runs, *unlike)]
    assert repeated_ids(raw) == {"A1": 3, "7": 2}


def test_a_line_that_breaks_off_does_not_speak_against_the_run_that_was_written_anew() -> None:
    run = {"id": "A1", "task_id": "1", "messages": [], "reward_info": {"reward": 1.0}}
    cut, whole = json.dumps(run)[:-9], json.dumps(run)
    results = read_results("\n".join([json.dumps({**run, "id": "A0"}), cut, whole]).encode(), "runs.jsonl")
    problems = [found.problem and found.problem.code for found in results.runs]
    assert problems == [None, "unreadable_run", None]
    assert not any("have the id" in warning for warning in results.warnings)


def test_tasks_that_several_files_embed_are_read_once() -> None:
    task = {"id": "1", "user_scenario": {"instructions": "x"}, "evaluation_criteria": {"actions": []}}
    document = {"info": {}, "tasks": [task], "simulations": []}
    options = ReadOptions(domain="library")
    first, again = (read_results(json.dumps(document).encode(), "a.json", options=options) for _ in range(2))
    assert again.tasks["1"] is first.tasks["1"]
    other = read_results(
        json.dumps(document).encode(), "a.json", options=attrs.evolve(options, domain="tau2-airline")
    ).tasks["1"]
    assert (other.domain, other.text_fingerprint()) == ("tau2-airline", first.tasks["1"].text_fingerprint())
    changed = {**document, "tasks": [{**task, "user_scenario": {"instructions": "y"}}]}
    assert read_results(json.dumps(changed).encode(), "a.json", options=options).tasks != first.tasks
    assert read_results(json.dumps(document).encode(), "a.json").tasks["1"] is not first.tasks["1"]
