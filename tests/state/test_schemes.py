"""Foreign hashes, bit for bit: against texts written by hand, against recorded hashes, and against real databases."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from multigold.errors import CallError, StateError
from multigold.state.schemes import SCHEMES, UNORDERED_FIELDS, hash_state


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# Data, scheme, and the text that the scheme hashes, written by hand.
BY_HAND: list[tuple[Any, str, str]] = [
    ({}, "tau2", "{}"),
    ({"b": [1, 1.0, True, "1"], "a": {"é": None}}, "tau2", r'{"a": {"\u00e9": null}, "b": [1, 1.0, true, "1"]}'),
    ({"b": [1, 1.0, True, "1"], "a": {"é": None}}, "eva-legacy", r'{"a":{"\u00e9":null},"b":[1,1.0,true,"1"]}'),
    ({"session": {"x": 1}, "a": "none"}, "eva-legacy", '{"a":"none","session":{"x":1}}'),
    ({"b": 1.0, "a": 2500.5}, "eva", '{"a":2500.5,"b":1}'),
    ({"a": " NULL ", "b": "None", "c": "nonesuch", "d": ""}, "eva", '{"a":null,"b":null,"c":"nonesuch","d":""}'),
    ({"session": 1, "t": {"session": 1}}, "eva", '{"t":{"session":1}}'),
    (
        {"t": {"bookings": [{"b": 2.0}, {"a": "null"}], "list": [2, 1]}},
        "eva",
        '{"t":{"bookings":[{"a":null},{"b":2}],"list":[2,1]}}',
    ),
    ({"bookings": ["é", "f", 10, 9]}, "eva", r'{"bookings":["\u00e9","f",10,9]}'),
    ({"bookings": {"x": [2, 1]}}, "eva", '{"bookings":{"x":[2,1]}}'),
    ([{"bookings": [[2, 1], [1, 2]]}], "eva", '[{"bookings":[[1,2],[2,1]]}]'),
    ({}, "tau1", "()"),
    ({"b": 1, "a": [True, None, 1.0, "x"]}, "tau1", "(('a', (True, None, 1.0, 'x')), ('b', 1))"),
    ({"a": [{"c": []}]}, "tau1", "(('a', ((('c', ()),),)),)"),
    ({"é": "it's"}, "tau1", "(('é', \"it's\"),)"),
]


@pytest.mark.parametrize(("data", "scheme", "text"), BY_HAND)
def test_a_scheme_hashes_the_text_that_it_is_said_to(data: Any, scheme: str, text: str) -> None:
    assert hash_state(data, scheme) == sha256(text)


@pytest.mark.parametrize("field", sorted(UNORDERED_FIELDS))
def test_scheme_eva_forgets_the_order_of_six_lists(field: str) -> None:
    one, other = {"t": {"r": {field: [1, 2]}}}, {"t": {"r": {field: [2, 1]}}}
    assert hash_state(one, "eva") == hash_state(other, "eva")
    for scheme in SCHEMES.keys() - {"eva"}:
        assert hash_state(one, scheme) != hash_state(other, scheme)


def test_null_defaults_are_added_where_the_record_has_no_such_field() -> None:
    data = {
        "bookings": {"a": {"x": 1}, "b": {"status": "cancelled"}, "c": {"status": None}, "d": 5},
        "users": {"u": {}},
    }
    defaults = {"bookings": ("status",), "nobody": ("x",)}
    text = (
        '{"bookings": {"a": {"status": null, "x": 1}, "b": {"status": "cancelled"}, "c": {"status": null}, "d": 5}, '
        '"users": {"u": {}}}'
    )
    assert hash_state(data, "tau2", null_defaults=defaults) == sha256(text)
    assert data["bookings"]["a"] == {"x": 1}
    for scheme in SCHEMES.keys() - {"tau2"}:
        assert hash_state(data, scheme, null_defaults=defaults) == hash_state(data, scheme)


def test_hashing_leaves_the_data_as_it_is() -> None:
    data = {"session": 1, "bookings": [2.0, "none", 1]}
    for scheme in SCHEMES:
        hash_state(data, scheme)
    assert repr(data) == "{'session': 1, 'bookings': [2.0, 'none', 1]}"


def test_every_scheme_says_in_a_line_what_it_is() -> None:
    assert set(SCHEMES) == {"tau2", "eva", "eva-legacy", "tau1"}
    for line in SCHEMES.values():
        assert line
        assert "\n" not in line


def test_an_unknown_scheme_is_refused_with_the_known_ones() -> None:
    with pytest.raises(CallError, match=r"no hash scheme 'md5'.*tau2, eva, eva-legacy, tau1"):
        hash_state({}, "md5")


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_a_scheme_cannot_write_is_an_error_and_no_crash(scheme: str) -> None:
    for data in ({"a": 10**5000}, {"a": deep(50_000)}, {"a": {1: 1, "b": 2}}):
        with pytest.raises(StateError):
            hash_state(data, scheme)


def test_half_a_character_is_hashed_as_its_escape_and_refused_where_there_is_none() -> None:
    with pytest.raises(StateError, match="scheme tau1 cannot write the state down"):
        hash_state("\ud800", "tau1")
    assert hash_state({"a": "\ud800"}, "tau1") == sha256(r"(('a', '\ud800'),)")
    assert hash_state({"a": "\ud800"}, "tau2") == sha256(r'{"a": "\ud800"}')


# Against what others computed


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_recorded_vectors_of_the_voice_agent_guide(shared: Path) -> None:
    vectors = load(shared / "data" / "nemo" / "hash_vectors.json")
    assert len(vectors) == 14
    for vector in vectors:
        assert hash_state(vector["input"], "eva") == vector["nemo_hash"]
        assert hash_state(vector["input"], "tau2") == vector["tau2_hash"]


def test_a_voice_agent_run_of_the_airline_domain_recorded_the_hash_of_its_initial_database(shared: Path) -> None:
    nemo = shared / "data" / "nemo"
    tables = ("flights", "users", "reservations")
    database = {table: load(nemo / "fixtures_tau2_airline" / "db" / f"{table}.json") for table in tables}
    runs = sorted((nemo / "synthetic_run").glob("eval_*/tau2_airline__*/metrics.json"))
    recorded = {path.parent.name: load(path)["db_state_expected_hash"] for path in runs}
    initial = hash_state(database, "eva")
    refusals = [name for name, value in recorded.items() if value == initial]
    assert {"tau2_airline__0", "tau2_airline__1", "tau2_airline__13"} <= set(refusals) < set(recorded)


def test_expected_databases_of_eva_have_the_hashes_that_its_runs_recorded(shared: Path) -> None:
    lines = (shared / "data" / "eva" / "airline_dataset_0.1.3.jsonl").read_text(encoding="utf-8").splitlines()
    expected = {record["id"]: record["ground_truth"]["expected_scenario_db"] for record in map(json.loads, lines)}
    runs = list((shared / "data" / "nemo" / "synthetic_run").glob("eval_*/eva_airline__*/metrics.json"))
    assert len(runs) == 2
    for path in runs:
        task = path.parent.name.removeprefix("eva_airline__").replace("_", ".")
        assert hash_state(expected[task], "eva") == load(path)["db_state_expected_hash"]


def test_a_real_eva_record_has_the_hashes_of_its_databases_under_the_legacy_scheme(shared: Path) -> None:
    record = shared / "data" / "eva" / "eva_artifacts" / "1.1.2"
    result = load(record / "result.json")
    for stage in ("initial", "final"):
        database = load(record / f"{stage}_scenario_db.json")
        assert hash_state(database, "eva-legacy") == result[f"{stage}_scenario_db_hash"]
        assert hash_state(database, "eva") != result[f"{stage}_scenario_db_hash"]


def test_real_tau_bench_runs_recorded_the_hash_of_the_initial_database(shared: Path) -> None:
    """Golds that write nothing end in the initial database, whose hash those runs recorded as `gt_data_hash`."""
    tables = ("flights", "users", "reservations")
    database = {table: load(shared / "data" / "tau1" / "airline" / f"{table}.json") for table in tables}
    initial = hash_state(database, "tau1")
    for name, count in (("airline_grok-4.1_with_error_items.json", 35), ("act_text_actions_grok-4.json", 19)):
        runs = load(shared / "data" / "results" / "tau1" / name)
        assert [gold_hash(run) for run in runs].count(initial) == count


def gold_hash(run: Any) -> str | None:
    reward_info = run["info"].get("reward_info") or {}
    hashed = reward_info.get("info", {}).get("gt_data_hash")
    assert hashed is None or isinstance(hashed, str)
    return hashed


def test_the_airline_database_has_tau2s_hash_once_its_models_null_is_added() -> None:
    spec = importlib.util.find_spec("tau2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("tau2's data is not here (install the tau2 extra)")
    path = Path(spec.submodule_search_locations[0]) / "data" / "tau2" / "domains" / "airline" / "db.json"
    if not path.is_file():
        pytest.skip(f"the installed tau2 carries no data ({path})")
    database = load(path)
    assert hash_state(database, "tau2").startswith("a072e1ec")
    assert hash_state(database, "tau2", null_defaults={"reservations": ("status",)}).startswith("124e39a6")
