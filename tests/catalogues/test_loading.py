"""Loading a catalogue: what comes out, and that every fault is reported at once with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from catalogue_files import documents, refund_call, write

from multigold.catalogues import (
    load_catalogue,
    load_catalogue_for,
    load_gold_sets,
    read_catalogue,
    shipped_catalogues,
)
from multigold.catalogues.loading import shipped_directory
from multigold.errors import CallError, GoldSetError
from multigold.model.gold import AllOf, AnyOf, CallEvidence, Choices, Explicit, GoldSet, Pattern
from multigold.model.loophole import LoopholeCategory

TASK = "tasks/1.json"


def loaded(tmp_path: Path, change: Callable[[dict[str, Any]], Any] = lambda files: None) -> GoldSet:
    files = documents()
    change(files)
    return read_catalogue(write(tmp_path, files)).gold_sets["1"]


def test_a_catalogue_becomes_its_nouns(tmp_path: Path) -> None:
    catalogue = read_catalogue(write(tmp_path, documents()))
    assert (catalogue.domain, catalogue.title, catalogue.source) == ("shop", "A shop", str(tmp_path))
    assert catalogue.loopholes["S1"].category is LoopholeCategory.SILENT_ON_EDGE
    assert [side.id for side in catalogue.loopholes["S1"].sides] == ["yes", "no"]
    assert catalogue.clauses["broken"].first_line == 5
    gold_set = catalogue.gold_sets["1"]
    assert [reading.id for reading in gold_set.readings] == ["pay", "refuse", "partly"]
    assert isinstance(gold_set.readings[0].admits[0], Choices)
    assert isinstance(gold_set.readings[2].admits[0], Pattern)
    assert gold_set.texts[0].standing["refuse"] == ("core", "the other side")
    assert [negative.refused for negative in gold_set.negatives] == [False, True]


def test_a_gold_set_stands_as_its_text_says(tmp_path: Path) -> None:
    gold_set = loaded(tmp_path)
    selected = gold_set.for_text(gold_set.texts[0].fingerprint)
    assert selected is not None
    assert [(r.id, r.standing) for r in selected.readings] == [
        ("pay", "core"),
        ("refuse", "core"),
        ("partly", "contested"),
    ]
    assert gold_set.for_text("0" * 64) is None


def test_a_set_without_texts_states_one_standing_for_each_reading(tmp_path: Path) -> None:
    def change(files: dict[str, Any]) -> None:
        del files[TASK]["texts"]
        for reading in files[TASK]["readings"]:
            reading["standing"] = {"is": "contested", "reason": "why not"}

    gold_set = loaded(tmp_path, change)
    assert {(r.standing, r.standing_reason) for r in gold_set.readings} == {("contested", "why not")}
    assert gold_set.for_text("0" * 64) is gold_set


def test_states_and_deltas_are_read_as_they_stand(tmp_path: Path) -> None:
    def change(files: dict[str, Any]) -> None:
        files[TASK]["readings"][0]["admits"] = [
            {"database": {"items": {}}, "user_database": {"phone": {"on": {"is": True}}}},
            {"delta": {"/agent/items/a/refunded": {"before": 0, "after": 10}}},
        ]

    first, second = loaded(tmp_path, change).readings[0].admits
    assert isinstance(first, Explicit)
    assert isinstance(second, Explicit)
    assert first.state is not None
    assert first.state.user is not None
    assert second.delta is not None
    assert list(second.delta) == ["/agent/items/a/refunded"]


def test_evidence_is_a_tree_of_calls(tmp_path: Path) -> None:
    tree = {
        "all_of": [
            {"tool": "look", "requestor": "user", "succeeded": None},
            {"any_of": [{"tool": "look", "arguments": {"item": "a"}}, {"tool": "refund", "succeeded": False}]},
        ]
    }
    evidence = loaded(tmp_path, lambda files: files[TASK]["readings"][0].update(evidence=tree)).readings[0].evidence
    assert evidence == AllOf(
        (
            CallEvidence(tool="look", requestor="user", succeeded=None),
            AnyOf((CallEvidence(tool="look", arguments={"item": "a"}), CallEvidence(tool="refund", succeeded=False))),
        )
    )


def reading(files: dict[str, Any], index: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = files[TASK]["readings"][index]
    return found


def choices(files: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = reading(files)["admits"][0]["choices"]
    return found


def pointers(files: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = reading(files, 2)["admits"][0]["pattern"]["pointers"]
    return found


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "unknown loophole": (
        lambda f: f[TASK].update(loopholes=["S1", "S9"]),
        f"{TASK}: /loopholes: no loophole is called 'S9'",
    ),
    "position on a loophole of another task": (
        lambda f: reading(f)["positions"].update(S2="yes"),
        f"{TASK}: /readings/0/positions/S2: 'S2' is not among",
    ),
    "unknown side": (
        lambda f: reading(f)["positions"].update(S1="maybe"),
        f"{TASK}: /readings/0/positions/S1: S1 has no side 'maybe'; there are: yes, no",
    ),
    "unknown clause": (
        lambda f: f["catalogue.json"]["loopholes"][0].update(clauses=["whole"]),
        "catalogue.json: /loopholes/0/clauses: no clause is called 'whole'",
    ),
    "duplicate reading": (
        lambda f: reading(f, 1).update(id="pay"),
        f"{TASK}: /readings/1: there is another reading 'pay'",
    ),
    "missing standing": (
        lambda f: reading(f).update(standing={}),
        f"{TASK}: /readings/0/standing: the standing under the text 'first' is missing",
    ),
    "standing under an unknown text": (
        lambda f: reading(f)["standing"].update(second={"is": "core", "reason": "x"}),
        f"{TASK}: /readings/0/standing/second: the set has no text 'second'",
    ),
    "unknown standing": (
        lambda f: reading(f)["standing"].update(first={"is": "weak", "reason": "x"}),
        f"{TASK}: /readings/0/standing/first/is: 'weak' is none of core, contested, off",
    ),
    "unknown gold reading": (
        lambda f: f[TASK]["texts"][0].update(golds={"1" * 64: "play"}),
        f"{TASK}: /texts/0/golds/{'1' * 64}: no reading is called 'play'",
    ),
    "two texts of one fingerprint": (
        lambda f: f[TASK]["texts"].append({**f[TASK]["texts"][0], "id": "second"}),
        f"{TASK}: /texts/1: the text 'first' has the same fingerprint",
    ),
    "undefined slot": (
        lambda f: choices(f)["actions"].append(refund_call({"$slot": "thing"})),  # type: ignore[arg-type]
        f"{TASK}: /readings/0/admits/0/choices/actions/1: no slot is called 'thing'",
    ),
    "missing member of a slot": (
        lambda f: choices(f)["actions"].append(refund_call({"$slot": "item/id"})),  # type: ignore[arg-type]
        f"{TASK}: /readings/0/admits/0/choices/actions/1: an alternative of the slot 'item' has no member 'id'",
    ),
    "unused slot": (
        lambda f: choices(f)["slots"].update(card=["x"]),
        f"{TASK}: /readings/0/admits/0/choices/slots: no call uses the slot 'card'",
    ),
    "empty slot": (
        lambda f: choices(f)["slots"].update(item=[]),
        f"{TASK}: /readings/0/admits/0/choices/slots/item: a slot is a list with at least one alternative",
    ),
    "bad pointer": (
        lambda f: pointers(f).update({"items/a": {"after": True}}),
        f"{TASK}: /readings/2/admits/0/pattern/pointers/items~1a: a pointer begins with /agent or /user",
    ),
    "pointer that is both given and removed": (
        lambda f: pointers(f).update({"/agent/items/b": {"after": True, "removed": True}}),
        f"{TASK}: /readings/2/admits/0/pattern/pointers/~1agent~1items~1b: a pointer has either",
    ),
    "schema that is none": (
        lambda f: pointers(f).update({"/agent/items/b": {"after": 3}}),
        f"{TASK}: /readings/2/admits/0/pattern/pointers/~1agent~1items~1b/after: a JSON Schema is an object",
    ),
    "pattern without pointers": (
        lambda f: reading(f, 2)["admits"][0]["pattern"].update(pointers={}),
        f"{TASK}: /readings/2/admits/0/pattern: a pattern names at least one pointer",
    ),
    "bad delta": (
        lambda f: reading(f).update(admits=[{"delta": {"/items": {"after": 1}}}]),
        f"{TASK}: /readings/0/admits/0/delta: /items: a delta's pointer names",
    ),
    "state that is none": (
        lambda f: reading(f).update(admits=[{"database": {"items": {"": 1}}}]),
        f"{TASK}: /readings/0/admits/0: /items: a record id is the empty string",
    ),
    "two forms in one": (
        lambda f: reading(f)["admits"].append({"actions": [], "delta": {}}),
        f"{TASK}: /readings/0/admits/1: a form has exactly one of",
    ),
    "admits nothing": (
        lambda f: reading(f).update(admits=[]),
        f"{TASK}: /readings/0/admits: a reading admits at least one end state",
    ),
    "missing member": (lambda f: reading(f).pop("title"), f"{TASK}: /readings/0: the member 'title' is missing"),
    "unknown member": (
        lambda f: reading(f).update(colour="red"),
        f"{TASK}: /readings/0: there is no member 'colour' here",
    ),
    "wrong kind": (
        lambda f: reading(f).update(rationale=7),
        f"{TASK}: /readings/0/rationale: this should be a string, not a number",
    ),
    "not an object": (
        lambda f: f[TASK]["readings"].append("x"),
        f"{TASK}: /readings/3: this should be an object, not a string",
    ),
    "unknown origin": (
        lambda f: reading(f).update(origin="dream"),
        f"{TASK}: /readings/0/origin: 'dream' is none of paper, clause, trace",
    ),
    "evidence of nothing": (
        lambda f: reading(f).update(evidence={"any_of": []}),
        f"{TASK}: /readings/0/evidence/any_of: this requires nothing",
    ),
    "pattern as negative example": (
        lambda f: f[TASK]["negatives"].append({"id": "n", "reason": "r", "admits": reading(f, 2)["admits"][0]}),
        f"{TASK}: /negatives/2/admits: a negative example is an end state",
    ),
    "negative example of an unknown text": (
        lambda f: f[TASK]["negatives"][0].update(texts=["second"]),
        f"{TASK}: /negatives/0/texts: the set has no text 'second'",
    ),
    "overlap of an unknown reading": (
        lambda f: f[TASK].update(overlaps=[{"readings": ["pay", "play"], "reason": "r"}]),
        f"{TASK}: /overlaps/0/readings: no reading is called 'play'",
    ),
    "overlap of one reading": (
        lambda f: f[TASK].update(overlaps=[{"readings": ["pay", "pay"], "reason": "r"}]),
        f"{TASK}: /overlaps/0: an overlap names two different readings",
    ),
    "wrong file name": (
        lambda f: f[TASK].update(task_id="2"),
        f"{TASK}: /task_id: the file of task '2' is called tasks/2.json",
    ),
    "loophole with one side": (
        lambda f: f["catalogue.json"]["loopholes"][0]["sides"].pop(),
        "catalogue.json: /loopholes/0: a loophole has at least two sides",
    ),
    "loophole without category": (
        lambda f: f["catalogue.json"]["loopholes"][0].pop("category"),
        "catalogue.json: /loopholes/0: a loophole states its category, one of scope_gap, ",
    ),
    "lines that are none": (
        lambda f: f["clauses.json"]["clauses"][0].update(lines=[5, 4]),
        "clauses.json: /clauses/0/lines: lines are the first and the last line",
    ),
    "duplicate clause": (
        lambda f: f["clauses.json"]["clauses"].append(f["clauses.json"]["clauses"][0]),
        "clauses.json: /clauses/1: there is another clause 'broken'",
    ),
    "no JSON": (lambda f: f.update({TASK: "{"}), f"{TASK}: /: this is not a JSON file"),
    "no number": (lambda f: f.update({TASK: '{"task_id": NaN}'}), f"{TASK}: /: this is not a JSON file: NaN is not"),
    "too deep": (lambda f: f.update({TASK: "[" * 100_000}), f"{TASK}: /: this is not a JSON file"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_with_its_place(name: str, tmp_path: Path) -> None:
    plant, expected = FAULTS[name]
    with pytest.raises(GoldSetError) as caught:
        loaded(tmp_path, plant)
    assert any(fault.startswith(expected) for fault in caught.value.faults), caught.value.faults


def test_all_faults_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    files = documents()
    planted = [FAULTS[name] for name in ("unknown side", "missing standing", "unused slot", "unknown clause")]
    for plant, _ in planted:
        plant(files)
    with pytest.raises(GoldSetError) as caught:
        read_catalogue(write(tmp_path, files))
    assert len(caught.value.faults) == len(planted)
    for _, expected in planted:
        assert any(fault.startswith(expected) for fault in caught.value.faults)
    assert str(caught.value).count("\n") == len(planted)


def test_the_digest_depends_on_content_and_not_on_spelling(tmp_path: Path) -> None:
    plain = read_catalogue(write(tmp_path / "plain", documents()))
    spaced = {name: json.dumps(content, indent=7, sort_keys=True) for name, content in documents().items()}
    changed = documents()
    changed[TASK]["readings"][0]["title"] = "Another"
    assert read_catalogue(write(tmp_path / "spaced", spaced)).digest == plain.digest
    assert read_catalogue(write(tmp_path / "changed", changed)).digest != plain.digest


def test_clauses_may_be_absent(tmp_path: Path) -> None:
    files = documents()
    del files["clauses.json"]
    files["catalogue.json"]["loopholes"][0]["clauses"] = []
    assert read_catalogue(write(tmp_path, files)).clauses == {}


def test_a_directory_of_catalogues_loads_by_domain(tmp_path: Path) -> None:
    other = documents()
    other["catalogue.json"]["domain"] = "market"
    write(tmp_path / "one", documents())
    write(tmp_path / "two", other)
    assert sorted(load_gold_sets(tmp_path)) == ["market", "shop"]
    assert list(load_gold_sets(tmp_path / "one")) == ["shop"]


def test_two_catalogues_of_one_domain_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "one", documents())
    write(tmp_path / "two", documents())
    with pytest.raises(CallError, match="two catalogues are for the domain 'shop'"):
        load_gold_sets(tmp_path)


def test_faults_of_several_catalogues_name_their_directory(tmp_path: Path) -> None:
    for name in ("one", "two"):
        files = documents()
        FAULTS["unused slot"][0](files)
        write(tmp_path / name, files)
    with pytest.raises(GoldSetError) as caught:
        load_gold_sets(tmp_path)
    assert [fault.split(":")[0] for fault in caught.value.faults] == [f"one/{TASK}", f"two/{TASK}"]


@pytest.mark.parametrize("load", [load_gold_sets, read_catalogue])
def test_a_directory_without_a_catalogue_is_refused(load: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"there is no catalogue"):
        load(tmp_path)


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="there is no such directory"):
        load_gold_sets(tmp_path / "nowhere")


def test_shipped_catalogues_load_by_name_and_by_path() -> None:
    directory = shipped_directory()
    assert directory is not None
    for name in shipped_catalogues():
        assert load_catalogue(name).digest == load_catalogue(directory / name).digest
        assert load_catalogue(name).domain == name


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(CallError, match=r"no catalogue is called 'tau9'.*tau2-airline"):
        load_catalogue("tau9")


def test_a_domain_without_a_catalogue_has_none(tmp_path: Path) -> None:
    write(tmp_path, documents())
    assert load_catalogue_for("tau2-telecom") is None
    assert load_catalogue_for("shop", directory=tmp_path) is not None
    assert load_catalogue_for("tau2-airline", directory=tmp_path) is None


def test_loading_imports_no_schema_checker() -> None:
    import subprocess
    import sys

    program = (
        "import sys; from multigold.catalogues import load_catalogue; load_catalogue('tau2-airline');"
        "print([name for name in ('jsonschema', 'msgspec', 'deepdiff', 'click') if name in sys.modules])"
    )
    package = str(Path(read_catalogue.__code__.co_filename).parents[2])
    environment = {"PYTHONPATH": package, "PATH": ""}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
