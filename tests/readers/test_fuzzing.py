"""Result files come from strangers: whatever they hold, only errors of this library come out."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from multigold.errors import MultigoldError
from multigold.readers import ReadOptions, read_results
from multigold.readers import eva as eva_form
from multigold.readers import nemo as nemo_form
from multigold.readers import tau2_directory as directory_form
from multigold.readers.folder import Folder
from multigold.readers.formats import read_known
from multigold.readers.streaming import scan_document

CASES = [json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "cases").glob("*.json"))]
DOCUMENTS = [case["document"] for case in CASES if "document" in case]
FOLDERS = [json.loads(path.read_text())["files"] for path in sorted((Path(__file__).parent / "folders").glob("*.json"))]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=True),
    st.text(max_size=20),
    st.sampled_from(
        ["assistant", "user", "tool", "N/A", "<string>", "Action:\n{", "API output: x", "\ud800", "1" * 50]
    ),
)
KEYS = st.sampled_from(
    [
        *(
            "id",
            "task_id",
            "trial",
            "messages",
            "ticks",
            "traj",
            "info",
            "tasks",
            "simulations",
            "reward_info",
            "reward",
        ),
        *(
            "role",
            "content",
            "tool_calls",
            "function",
            "name",
            "arguments",
            "error",
            "action_checks",
            "action",
            "kwargs",
        ),
        *("evaluation_criteria", "actions", "acceptable_outcomes", "user_scenario", "reward_breakdown", "db_check"),
        *(
            "agent_info",
            "environment_info",
            "domain_name",
            "simulation_index",
            "task",
            "agent_tool_calls",
            "user_chunk",
        ),
    ]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)


def drain(results: Any) -> None:
    """Read all of a file, as re-scoring does."""
    for task in results.tasks.values():
        task.text_fingerprint()
        task.gold_fingerprint()
    count = 0
    for run in results.runs:
        count += 1
        assert isinstance(run.task_id, str)
        assert run.problem is None or run.problem.sentence
        json.dumps([call.call.to_json() for call in run.trajectory.calls or ()], allow_nan=False).encode()
        "".join(message.text for message in run.trajectory.messages).encode()
    assert count == len(results.runs)


def survives(data: bytes) -> None:
    for rejoin in (False, True):
        with contextlib.suppress(MultigoldError):
            drain(read_results(data, "fuzz", options=ReadOptions(rejoin=rejoin)))


def spoiled(value: Any, spoil: random.Random, draw: Any) -> Any:
    """Return a JSON value with one place in it replaced, removed or doubled."""
    if isinstance(value, dict) and value and spoil.random() < 0.9:
        key = spoil.choice(sorted(value))
        changed = {**value, key: spoiled(value[key], spoil, draw)}
        if spoil.random() < 0.1:
            del changed[key]
        return changed
    if isinstance(value, list) and value and spoil.random() < 0.9:
        place = spoil.randrange(len(value))
        changed = [*value[:place], spoiled(value[place], spoil, draw), *value[place + 1 :]]
        return changed * 2 if spoil.random() < 0.1 else changed
    return draw(VALUES)


@given(st.binary(max_size=400))
@example(b"\xff\xfe[\x00]\x00")
@example(b"\xff\xfe\x00")
@example(b"\xef\xbb\xbf")
@example(b'{"simulations": [{"id": "\\ud800", "messages": []}]}')
@example(b'{"simulations": [' + b"1" * 10000 + b"]}")
@example(b'{"simulations": [{"messages": [], "reward_info": {"reward": 1' + b"0" * 400 + b"}}]}")
@example(b'[{"messages": [{"role": "tool"}], "task_id": 1e400}]')
def test_bytes_of_any_kind_raise_nothing_else(data: bytes) -> None:
    survives(data)


@given(VALUES)
def test_json_of_any_kind_raises_nothing_else(value: Any) -> None:
    survives(json.dumps(value).encode())


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_results_with_a_place_spoiled_raise_nothing_else(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(DOCUMENTS))
    for _ in range(data.draw(st.integers(1, 3))):
        document = spoiled(document, data.draw(st.randoms(use_true_random=False)), data.draw)
    survives(json.dumps(document).encode())


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(DOCUMENTS), st.data())
def test_results_with_bytes_spoiled_raise_nothing_else(document: Any, data: st.DataObject) -> None:
    text = bytearray(json.dumps(document).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    survives(bytes(text[: data.draw(st.integers(0, len(text)))]))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "large.json"


@given(st.one_of(st.binary(max_size=200), st.sampled_from(DOCUMENTS).map(lambda d: json.dumps(d).encode())), st.data())
def test_large_files_of_any_kind_raise_nothing_else(scratch: Path, text: bytes, data: st.DataObject) -> None:
    scratch.write_bytes(text[: data.draw(st.integers(0, len(text)))])
    with contextlib.suppress(MultigoldError):
        drain(read_known(scan_document(scratch, "fuzz"), ReadOptions()))


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_directories_with_a_file_spoiled_raise_nothing_else(data: st.DataObject) -> None:
    files = dict(data.draw(st.sampled_from(FOLDERS)))
    name = data.draw(st.sampled_from(sorted(files)))
    files[name] = spoiled(files[name], data.draw(st.randoms(use_true_random=False)), data.draw)
    contents = {
        path: (x if isinstance(x, str) else json.dumps(x)).encode(errors="surrogatepass") for path, x in files.items()
    }
    folder = Folder(name="fuzz", paths=tuple(sorted(contents)), load=contents.__getitem__)
    for form in (directory_form, nemo_form, eva_form):
        with contextlib.suppress(MultigoldError):
            if form.recognise(folder):
                for results in form.read(folder, ReadOptions()):
                    drain(results)
