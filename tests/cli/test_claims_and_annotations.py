"""Claims, statements and annotations, as a user has them made and checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest
from click.testing import CliRunner, Result

from multigold.audit.annotations.answers import (
    Annotation,
    Annotations,
    agreement_by_loophole,
    people,
    read_annotations,
    settled,
    write_annotations,
)
from multigold.audit.annotations.items import read_items
from multigold.audit.claims.checking import Claim, DomainClaim, Facts, Number, check_claim
from multigold.benchmark_data import find_data
from multigold.cli._group import multigold
from multigold.errors import CallError, DataError, MultigoldError
from multigold.files.schemas import document_schema
from multigold.stats.rows import RunRow

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "airline_results.json"

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in this process, in a directory of its own; an error that a user meets is its output."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: object, answers: str | None = None) -> Result:
        done = CliRunner().invoke(multigold, list(map(str, arguments)), input=answers)
        assert done.exception is None or isinstance(done.exception, SystemExit | MultigoldError), done.exception
        return done

    return invoke


@pytest.fixture(scope="module")
def airline_data() -> None:
    try:
        find_data("tau2-airline")
    except DataError as error:
        pytest.skip(f"tau2's airline data is not here: {error}")


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    document = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


# Claims


def test_the_claim_that_a_files_own_figures_make_follows_from_it(run: Run, tmp_path: Path) -> None:
    assert run("verify", "claim.json", EXAMPLE, "--write").exit_code == 0
    claim = json.loads((tmp_path / "claim.json").read_text())
    jsonschema.validate(claim, document_schema("claim"))
    done = run("verify", "claim.json", EXAMPLE)
    assert (done.exit_code, "it follows" in done.output) == (0, True)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("dropped", lambda d: d["simulations"].pop(0), "runs: 13 claimed, 12 in the files"),
        ("twice", lambda d: d["simulations"].append(d["simulations"][0]), "a run stands there twice"),
        ("stopped", lambda d: d["simulations"][0].update(termination_reason="infrastructure_error"), "infrastructure"),
        ("reward", lambda d: d["simulations"][0]["reward_info"].update(reward=0.25), "pass^1 is claimed"),
        ("agent", lambda d: d["info"]["agent_info"].update(llm="another"), "the claim is of"),
        (
            "policy",
            lambda d: d["info"].setdefault("environment_info", {}).update(policy="Refuse everything."),
            "other policies",
        ),
    ],
)  # fmt: skip
def test_a_claim_does_not_follow_from_a_file_that_was_changed(
    run: Run, tmp_path: Path, name: str, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    def with_policy(document: dict[str, Any]) -> None:
        document["info"].setdefault("environment_info", {})["policy"] = "Be kind."

    start = changed(tmp_path / "start.json", with_policy)
    assert run("verify", "claim.json", start, "--write").exit_code == 0
    document = json.loads(start.read_text())
    change(document)
    other = tmp_path / f"{name}.json"
    other.write_text(json.dumps(document), encoding="utf-8")
    done = run("verify", "claim.json", other, "--json", "-")
    assert done.exit_code == 1
    assert any(words in one for one in json.loads(done.output)["discrepancies"]), done.output


def test_a_leaderboard_entry_in_per_cent_is_held_against_the_files(run: Run, tmp_path: Path) -> None:
    run("verify", "claim.json", EXAMPLE, "--write")
    true = float(json.loads((tmp_path / "claim.json").read_text())["domains"]["tau2-airline"]["pass^k"]["1"])
    entry = {"model_name": "m", "results": {"airline": {"pass_1": round(100 * true, 1)}, "retail": {"pass_1": None}}}
    (tmp_path / "entry.json").write_text(json.dumps(entry))
    done = run("verify", "entry.json", EXAMPLE)
    assert "pass^1 is claimed" not in done.output
    entry["results"]["airline"]["pass_1"] = round(100 * true + 1, 1)
    (tmp_path / "entry.json").write_text(json.dumps(entry))
    done = run("verify", "entry.json", EXAMPLE)
    assert (done.exit_code, "pass^1 is claimed" in done.output) == (1, True)


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"schema": "multigold/claim/1", "domains": {"d": {"pass^k": {"1": "x"}}}}']
)
def test_what_is_no_claim_is_refused_with_what_to_write(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "claim.json").write_text(text)
    done = run("verify", "claim.json", EXAMPLE)
    assert isinstance(done.exception, CallError)


def facts(**more: Any) -> Facts:
    rows = tuple(RunRow(agent="a", task=str(task), trial=0, reward=1.0) for task in range(3))
    known = {"agents": ("a",), "rows": rows, "tasks": ("0", "1", "2"), "trials": 1, "duplicates": ()}
    return Facts(**{**known, "infrastructure": 0, "policies": {}, "texts": {}, **more})


def test_other_texts_of_the_tasks_and_files_of_several_texts_are_said() -> None:
    claimed = DomainClaim(pass_hat={}, tasks_digest="1" * 64)
    (found,) = check_claim(Claim(domains={"d": claimed}), {"d": facts(texts={"a.json": "2" * 64})})
    assert (found.problem, "other texts of the tasks" in found.sentence) == ("texts", True)
    both = facts(texts={"a.json": "2" * 64, "b.json": "1" * 64})
    (found,) = check_claim(Claim(domains={"d": claimed}), {"d": both})
    assert "different texts" in found.sentence
    assert check_claim(Claim(domains={"d": claimed}), {"d": facts(texts={"a.json": "1" * 64})}) == ()
    assert [one.problem for one in check_claim(Claim(domains={"e": claimed}), {"d": facts()})] == ["absent"]


def test_runs_that_are_missing_are_said_unless_the_claim_says_so() -> None:
    short = facts(trials=2)
    silent = DomainClaim(pass_hat={1: Number(value=Decimal("1.000"), half=Decimal("0.0005"))})
    (found,) = check_claim(Claim(domains={"d": silent}), {"d": short})
    assert (found.problem, "3 runs of 2 trials of 3 tasks are missing" in found.sentence) == ("missing", True)
    frank = attrs.evolve(silent, counts={"missing_runs": 3})
    assert check_claim(Claim(domains={"d": frank}), {"d": short}) == ()


def test_a_shared_file_makes_a_claim_that_does_not_follow_once_a_trial_is_dropped(
    run: Run, shared: Path, tmp_path: Path
) -> None:
    path = shared / "data" / "results" / "tau2" / "airline_grok-3_4trials.json"
    run("verify", "claim.json", path, "--write")
    assert run("verify", "claim.json", path).exit_code == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    document["simulations"].pop(5)
    (tmp_path / "dropped.json").write_text(json.dumps(document), encoding="utf-8")
    done = run("verify", "claim.json", "dropped.json")
    assert (done.exit_code, "runs: 16 claimed, 15 in the files" in done.output) == (1, True)


# Statements


@pytest.mark.usefixtures("airline_data")
def test_a_statement_is_derived_again_byte_for_byte_and_by_nothing_else(run: Run, tmp_path: Path) -> None:
    assert run("verify", "s.json", EXAMPLE, "--write", "--statement").exit_code == 0
    copied = tmp_path / "elsewhere" / EXAMPLE.name
    copied.parent.mkdir()
    copied.write_bytes(EXAMPLE.read_bytes())
    assert run("verify", "s.json", copied).exit_code == 0
    statement = json.loads((tmp_path / "s.json").read_text())
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert {part["name"] for part in statement["predicate"]["configuration"]} >= {
        "multigold",
        "options",
        "catalogue",
        "data",
    }
    assert str(tmp_path) not in (tmp_path / "s.json").read_text()
    other = changed(tmp_path / EXAMPLE.name, lambda d: d["simulations"].pop())
    done = run("verify", "s.json", other)
    assert (done.exit_code, "subject" in done.output) == (1, True)
    statement["predicate"]["passedTests"].pop()
    (tmp_path / "s.json").write_text(json.dumps(statement))
    done = run("verify", "s.json", EXAMPLE)
    assert (done.exit_code, "passedTests" in done.output) == (1, True)


@pytest.mark.usefixtures("airline_data")
def test_a_statement_carries_the_options_that_it_was_made_with(run: Run, tmp_path: Path) -> None:
    run("verify", "s.json", EXAMPLE, "--write", "--statement", "--equivalence", "net-payments")
    assert run("verify", "s.json", EXAMPLE).exit_code == 0
    assert "net-payments" in (tmp_path / "s.json").read_text()


# Annotation


@pytest.fixture
def drawn(run: Run, airline_data: None) -> Path:
    done = run("annotate", "draw", EXAMPLE, "--share", "1", "--out", "items.json")
    assert (done.exit_code, done.exception) == (0, None)
    jsonschema.validate(json.loads(Path("items.json").read_text()), document_schema("annotation-items"))
    return Path("items.json")


def test_items_say_neither_whose_run_it_is_nor_what_anyone_thinks_of_it(drawn: Path) -> None:
    text = drawn.read_text()
    agent = json.loads(EXAMPLE.read_text())["info"]["agent_info"]["llm"]
    assert agent not in text
    assert not any(word in text for word in ('"matched"', '"outcome"', '"reward"', "verdict"))
    items = read_items(drawn)
    assert all(item.question for item in items.items)
    assert any(item.shown for item in items.items)
    assert any(item.loopholes and item.clauses for item in items.items)


def test_items_that_were_changed_are_refused(drawn: Path) -> None:
    drawn.write_text(drawn.read_text().replace("Read the policy this way", "Surely"))
    with pytest.raises(CallError, match="changed since they were drawn"):
        read_items(drawn)


def test_two_people_answer_blind_are_compared_adjudicated_and_correct_the_rate(run: Run, drawn: Path) -> None:
    items = read_items(drawn)
    number = len(items.items)
    ann = run("annotate", "answer", drawn, "ann.json", "--as", "zara", answers="yes\n\n" * number)
    assert f"{number} of {number} items are answered" in ann.output
    said = ["no\nI see no fault\n"] + ["yes\n\n"] * (number - 1)
    bob = run("annotate", "answer", drawn, "bob.json", "--as", "quentin", answers="".join(said))
    assert "zara" not in bob.output
    jsonschema.validate(json.loads(Path("bob.json").read_text()), document_schema("annotations"))
    # What is answered is not asked again, and a file is of one annotator.
    again = run("annotate", "answer", drawn, "bob.json", "--as", "quentin", answers="")
    assert (again.exit_code, "Right?" in again.output) == (0, False)
    assert isinstance(run("annotate", "answer", drawn, "bob.json", "--as", "zara", answers="").exception, CallError)

    agreed = run("annotate", "agree", drawn, "ann.json", "bob.json")
    assert "alpha" in agreed.output
    assert "1 items disputed" in agreed.output

    done = run(
        "annotate", "adjudicate", drawn, "ann.json", "bob.json", "--out", "cyd.json", "--as", "cyd", answers="no\n\n"
    )
    assert "answered: no, yes" in done.output
    assert "I see no fault" in done.output
    (kept,) = json.loads(Path("cyd.json").read_text())["answers"]
    assert kept["settles"] == {"zara": "yes", "quentin": "no"}

    answers = ("--answers", "ann.json", "--answers", "bob.json", "--adjudicated", "cyd.json")
    audited = run("annotate", "audit", drawn, EXAMPLE, *answers, "--json", "-")
    found = json.loads(audited.output)
    assert found["corrected"]["audited"] == found["corrected"]["runs"]
    assert found["corrected"]["low"] == found["corrected"]["high"] == found["corrected"]["corrected"]
    assert 0 <= found["weighted_by_agreement"] <= 1


def answered(items: Any, name: str, answers: dict[str, str], **more: Any) -> Annotations:
    known = items.by_id()
    return Annotations(
        annotator=name,
        items_digest=items.digest,
        answers=tuple(
            Annotation(item=item, answer=answer, when="2026-01-01T00:00:00+00:00", text_digest=known[item].text_digest)
            for item, answer in answers.items()
        ),
        **more,
    )


def test_what_a_model_answers_is_a_proposal_and_decides_nothing(drawn: Path, tmp_path: Path) -> None:
    items = read_items(drawn)
    every = {item.id: "yes" for item in items.items}
    model = answered(items, "some-model", every, kind="model", made_by="some-model 1, prompt 7")
    write_annotations(model, tmp_path / "model.json")
    assert read_annotations(tmp_path / "model.json", items) == model
    with pytest.raises(CallError, match="two people"):
        people([answered(items, "ann", every), model])
    both = people([answered(items, "ann", every), answered(items, "bob", {}), model])
    assert [one.annotator for one in both] == ["ann", "bob"]
    document = json.loads((tmp_path / "model.json").read_text())
    document["annotator"]["made_by"] = ""
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(CallError, match="made_by"):
        read_annotations(tmp_path / "model.json", items)


def test_answers_to_another_text_or_to_other_items_are_refused(drawn: Path, tmp_path: Path) -> None:
    items = read_items(drawn)
    first = items.items[0].id
    write_annotations(answered(items, "ann", {first: "no"}), tmp_path / "ann.json")
    document = json.loads((tmp_path / "ann.json").read_text())
    document["answers"][0]["text_digest"] = "0" * 64
    document["items_digest"] = "1" * 64
    (tmp_path / "ann.json").write_text(json.dumps(document))
    with pytest.raises(CallError, match="another text") as caught:
        read_annotations(tmp_path / "ann.json", items)
    assert "other items" in str(caught.value)


def test_agreement_is_worked_out_for_each_loophole(drawn: Path) -> None:
    items = read_items(drawn)
    one = answered(items, "ann", {item.id: "yes" for item in items.items})
    other = answered(items, "bob", {item.id: "no" if "L6" in item.loopholes else "yes" for item in items.items})
    found = {part.loophole: part for part in agreement_by_loophole(items, people([one, other]))}
    assert len(found["L6"].disputed) == sum("L6" in item.loopholes for item in items.items) > 0
    for name, part in found.items():
        own = [item for item in items.items if not name or name in item.loopholes]
        assert len(part.disputed) == sum("L6" in item.loopholes for item in own)
    open_items = [item.id for item in items.items if "L6" in item.loopholes]
    assert not set(settled(items, [one, other], None)) & set(open_items)


def test_the_documents_of_statistics_and_comparisons_have_a_schema(
    run: Run, airline_data: None, tmp_path: Path
) -> None:
    other = changed(tmp_path / "other.json", lambda d: d["info"]["agent_info"].update(llm="other"))
    third = changed(tmp_path / "third.json", lambda d: d["info"]["agent_info"].update(llm="third"))
    for name, arguments in {
        "statistics": ("statistics", EXAMPLE, "--universes"),
        "compare": ("compare", EXAMPLE, other, "--resamples", "0"),
        "many": ("compare", EXAMPLE, other, third, "--resamples", "0"),
    }.items():
        assert run(*arguments, "--json", f"{name}.json").exit_code == 0
        document = json.loads(Path(f"{name}.json").read_text())
        jsonschema.validate(document, document_schema("statistics" if name == "statistics" else "compare"))
        if name == "many":
            assert document["comparison"]["groups"] == [[agent["name"] for agent in document["comparison"]["agents"]]]
