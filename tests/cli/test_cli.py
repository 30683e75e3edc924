"""The command as a user runs it: what it prints, its exit status, and one clear sentence for every bad input."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from multigold.errors import DataError
from multigold.files.schemas import document_schema

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "airline_results.json"


@attrs.frozen(kw_only=True)
class Done:
    status: int
    out: str
    err: str


Cli = Callable[..., Done]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run the command in a directory of its own; no traceback may ever show."""

    def run(*arguments: object, env: dict[str, str] | None = None) -> Done:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200", **(env or {})}
        command = [sys.executable, "-m", "multigold", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert "Traceback" not in done.stderr
        return Done(status=done.returncode, out=done.stdout, err=done.stderr)

    return run


@pytest.fixture(scope="session")
def airline_data() -> None:
    """The airline database; skip where it is not there."""
    from multigold.benchmark_data import find_data

    try:
        find_data("tau2-airline")
    except DataError as error:
        pytest.skip(f"tau2's airline data is not here: {error}")


def example(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    return {**document, **changes}


def write(path: Path, document: Any) -> Path:
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_help_names_every_command_and_the_exit_statuses(cli: Cli) -> None:
    from multigold.cli._group import COMMANDS

    done = cli("--help")
    assert done.status == 0
    assert all(name in done.out for name in COMMANDS)
    assert "Exit status" in done.out


@pytest.mark.parametrize("command", ["rescore", "show", "statistics", "compare", "validate", "catalogue", "data"])
def test_every_command_has_help(cli: Cli, command: str) -> None:
    assert cli(command, "--help").status == 0


def test_the_version_is_the_packages(cli: Cli) -> None:
    from multigold import __version__

    assert __version__ in cli("--version").out


@pytest.mark.usefixtures("airline_data")
def test_rescore_prints_columns_strata_and_baselines_and_writes_a_valid_document(cli: Cli, tmp_path: Path) -> None:
    from jsonschema import Draft202012Validator

    done = cli("rescore", EXAMPLE, "--json", "out.json", "--by-task")
    assert (done.status, done.err) == (0, "")
    for words in ("single gold", "core", "with contested", "do nothing", "always refuse", "affected", "9/13", "4/13"):
        assert words in done.out
    document = json.loads((tmp_path / "out.json").read_text())
    schema = document_schema("rescore")
    Draft202012Validator.check_schema(schema)
    assert list(Draft202012Validator(schema).iter_errors(document)) == []
    assert len(document["verdicts"]) == document["files"][0]["runs"] == 13
    assert all(len(document["files"][0][name]) == 64 for name in ("digest", "data_digest", "catalogue_digest"))


@pytest.mark.usefixtures("airline_data")
def test_the_example_runs_have_the_verdicts_that_their_names_promise(cli: Cli) -> None:
    document = json.loads(cli("rescore", EXAMPLE, "--json", "-").out)
    found = {verdict["run_id"]: (verdict["outcome"], verdict["matched"]) for verdict in document["verdicts"]}
    assert found == {
        "2-0-generous": ("matched", ["lenient"]),
        "2-1-strict": ("matched", ["strict"]),
        "2-2-strict": ("unmatched", []),
        "27-0-generous": ("matched", ["lenient"]),
        "27-1-generous": ("unmatched", []),
        "27-2-strict": ("matched", ["strict-change"]),
        "27-3-strict": ("unmatched", []),
        "32-0-generous": ("matched", ["two-step"]),
        "32-1-strict": ("matched", ["single-call"]),
        "32-2-strict": ("matched", ["refuse"]),
        "32-3-generous": ("unmatched", []),
        "45-0-strict": ("matched", ["refuse"]),
        "45-1-generous": ("matched", ["two-step"]),
    }


@pytest.mark.usefixtures("airline_data")
def test_show_names_the_reading_matched_and_for_the_others_just_the_fields_that_differ(cli: Cli) -> None:
    done = cli("show", EXAMPLE, "--task", "32", "--trial", "1")
    assert done.status == 0
    lines = done.out.splitlines()
    assert "matched: single-call" in lines
    two_step = lines.index(next(line for line in lines if line.strip().startswith("two-step [core]")))
    assert "/agent/reservations/OWZ4XL/payment_history" in lines[two_step + 1]
    assert lines[two_step + 2].strip().startswith("single-call [core]")


@pytest.mark.usefixtures("airline_data")
def test_show_adds_the_calls_where_it_is_asked_to_one_a_line(cli: Cli) -> None:
    plain = cli("show", EXAMPLE, "--task", "32", "--trial", "3").out
    done = cli("show", EXAMPLE, "--task", "32", "--trial", "3", "--calls")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    first = lines.index("calls: 4 (3 may change the database)") + 1
    assert [line.split()[:3] for line in lines[first : first + 4]] == [
        ["0", "agent", "get_reservation_details"],
        *(["123"[n], "agent", "*"] for n in range(3)),
    ]
    assert "calls:" not in plain
    assert "\x1b" not in done.out


@pytest.mark.usefixtures("airline_data")
def test_show_finds_the_run_in_a_directory_that_holds_files_of_other_kinds(cli: Cli, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    write(runs / "settings.json", {"colour": "red"})
    document = example()
    document["simulations"][0]["task_id"] = "0"  # a task without a gold set, for which --strata extended is tried too
    write(runs / "r.json", document)
    done = cli("show", runs, "--task", "0", "--benchmark-release", "37199f3")
    assert (done.status, done.err) == (0, "")
    assert "task 0, trial 0" in done.out


@pytest.mark.usefixtures("airline_data")
def test_show_goes_on_after_a_broken_file_of_a_directory_and_names_it(cli: Cli, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    write(runs / "a.json", EXAMPLE.read_text(encoding="utf-8")[:5000])
    write(runs / "b.json", example())
    done = cli("show", runs, "--task", "32", "--benchmark-release", "37199f3")
    assert done.status == 2
    assert "task 32, trial 0" in done.out
    assert "1 of 2 files could not be read" in done.err
    assert "a.json" in done.err
    elsewhere = cli("show", runs, "--task", "nowhere")
    assert (elsewhere.status, elsewhere.out) == (2, "")
    assert "a.json" in elsewhere.err


@pytest.mark.usefixtures("airline_data")
def test_check_recorded_agrees_and_exits_1_where_a_record_is_another(cli: Cli, tmp_path: Path) -> None:
    assert cli("rescore", "--check-recorded", EXAMPLE).status == 0
    document = example()
    document["simulations"][0]["reward_info"]["db_check"]["db_match"] = False
    done = cli("rescore", "--check-recorded", write(tmp_path / "lied.json", document))
    assert done.status == 1
    assert "1 differ" in done.out
    assert "2-0-generous" in done.out


@pytest.mark.usefixtures("airline_data")
def test_an_equivalence_is_off_until_asked_for_and_then_named(cli: Cli) -> None:
    done = cli("rescore", EXAMPLE, "--equivalence", "net-payments", "--json", "-")
    document = json.loads(done.out)
    modify_first = next(v for v in document["verdicts"] if v["run_id"] == "32-3-generous")
    assert "net-payments" in document["provenance"]["equivalences"]
    assert {tuple(match["equivalences"]) for match in modify_first["matches"]} == {("net-payments",)}
    assert modify_first["rewards"]["core_strict"] == 0.0


@pytest.mark.usefixtures("airline_data")
def test_the_page_escapes_what_the_file_says_and_shows_the_runs_that_change(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    document = example()
    document["info"]["agent_info"]["llm"] = "<script>alert(1)</script>"
    done = cli("rescore", write(tmp_path / "r.json", document), "--html", "page.html")
    assert done.status == 0
    page = (tmp_path / "page.html").read_text(encoding="ascii")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<details>") == 5
    assert "single-call" in page


@pytest.mark.usefixtures("airline_data")
def test_several_processes_write_what_one_writes(cli: Cli, tmp_path: Path) -> None:
    document = example()
    document["simulations"] = [{**run, "id": f"{run['id']}-{n}"} for n in range(8) for run in document["simulations"]]
    path = write(tmp_path / "many.json", document)
    one, two = (cli("rescore", path, "--json", "-", "--jobs", jobs) for jobs in (1, 2))
    assert len(json.loads(one.out)["verdicts"]) == 104
    assert one == two


@pytest.mark.usefixtures("airline_data")
def test_a_pipe_gets_no_progress_and_no_colour(cli: Cli) -> None:
    done = cli("rescore", EXAMPLE)
    assert done.err == ""
    assert "\x1b" not in done.out


# Bad input: one sentence, exit status 2


BAD: dict[str, tuple[str, Sequence[str]]] = {
    "empty": ("", ["empty"]),
    "truncated": (EXAMPLE.read_text(encoding="utf-8")[:5000], ["truncated.json"]),
    "numbers": ("[1, 2, 3]", ["numbers.json"]),
    "not results": ('{"colour": "red", "size": 3}', ["colour", "size"]),
    "text": ("hello", ["text.json"]),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_results_file_is_refused_in_one_sentence(cli: Cli, tmp_path: Path, name: str) -> None:
    content, words = BAD[name]
    done = cli("rescore", write(tmp_path / f"{name}.json", content))
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("multigold: ")
    assert f"{name}.json" in done.err
    assert all(word in done.err for word in words)
    assert len(done.err.splitlines()) == 1


def test_a_template_is_refused_politely(cli: Cli, tmp_path: Path) -> None:
    template = {"timestamp": "<string>", "info": {"environment_info": {"domain_name": "<string>"}}, "tasks": [],
                "simulations": [{"id": "<string>", "task_id": "<string>", "messages": []}]}  # fmt: skip
    done = cli("rescore", write(tmp_path / "template.json", template))
    assert done.status == 2
    assert "<string>" in done.err


def test_an_unknown_domain_is_named_with_the_known_ones(cli: Cli, tmp_path: Path) -> None:
    info = {**example()["info"], "environment_info": {"domain_name": "submarine"}}
    done = cli("rescore", write(tmp_path / "r.json", example(info=info)))
    assert done.status == 2
    assert "submarine" in done.err
    assert "tau2-airline" in done.err


def test_missing_data_is_one_sentence_that_says_what_to_do(cli: Cli, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    done = cli("rescore", EXAMPLE, "--data-dir", nothing)
    assert done.status == 2
    assert len(done.err.splitlines()) == 1
    assert "tau2-airline" in done.err
    assert "checkout" in done.err


def test_a_missing_file_is_one_sentence(cli: Cli) -> None:
    done = cli("rescore", "no-such.json")
    assert done.status == 2
    assert "no-such.json" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.usefixtures("airline_data")
def test_a_gold_set_with_three_faults_has_all_three_reported(cli: Cli, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(ROOT / "gold_sets" / "tau2-airline", tmp_path / "sets" / "tau2-airline")
    path = tmp_path / "sets" / "tau2-airline" / "tasks" / "32.json"
    gold_set = json.loads(path.read_text(encoding="utf-8"))
    gold_set["colour"] = "red"
    gold_set["readings"][0]["positions"] = {"L6": "no-such-side"}
    gold_set["readings"][1]["admits"] = [{"actoins": []}]
    write(path, gold_set)
    done = cli("rescore", EXAMPLE, "--gold-sets", tmp_path / "sets")
    assert done.status == 2
    for word in ("colour", "no-such-side", "32.json", "/readings/1/admits/0", "choices"):
        assert word in done.err


@pytest.mark.usefixtures("airline_data")
def test_a_run_that_cannot_be_read_stays_in_the_stratum_of_its_task(cli: Cli, tmp_path: Path) -> None:
    runs = example()["simulations"]
    runs[7] = {**runs[7], "messages": "none"}
    done = cli("rescore", write(tmp_path / "r.json", example(simulations=runs)), "--json", "-")
    report = json.loads(done.out)["report"]
    assert [(group["stratum"], group["unscored"]) for group in report["by_stratum"]] == [
        ("affected", {"unreadable_run": 1})
    ]


@pytest.mark.usefixtures("airline_data")
def test_runs_whose_tasks_are_not_at_hand_are_of_another_version_where_the_catalogue_lists_them(
    cli: Cli, tmp_path: Path
) -> None:
    runs = example()["simulations"]
    runs[0] = {**runs[0], "task_id": "0"}
    info = {**example()["info"], "git_commit": "unheard-of"}
    path = write(tmp_path / "r.json", example(info=info, simulations=runs))
    groups = json.loads(cli("rescore", path, "--json", "-").out)["report"]["by_stratum"]
    assert {group["stratum"]: group["unscored"] for group in groups} == {
        "free": {"tasks_missing": 1},
        "other_version": {"tasks_missing": 12},
    }
    assert "--benchmark-release" in cli("rescore", path).out


@pytest.mark.usefixtures("airline_data")
def test_one_bad_file_does_not_stop_a_batch(cli: Cli, tmp_path: Path) -> None:
    done = cli("rescore", write(tmp_path / "bad.json", "{}"), EXAMPLE)
    assert done.status == 2
    assert "9/13" in done.out
    assert "bad.json" in done.err


@pytest.mark.usefixtures("airline_data")
def test_one_bad_run_does_not_stop_a_file(cli: Cli, tmp_path: Path) -> None:
    document = example()
    document["simulations"][3]["messages"] = {"not": "a list"}
    document["simulations"][4]["task_id"] = "no-such-task"
    done = cli("rescore", write(tmp_path / "r.json", document), "--json", "-")
    verdicts = json.loads(done.out)["verdicts"]
    assert len(verdicts) == 13
    unscored = [verdict for verdict in verdicts if verdict["outcome"] == "unscored"]
    assert len(unscored) == 2
    assert all(verdict["reason"]["sentence"] for verdict in unscored)


@pytest.mark.usefixtures("airline_data")
def test_tasks_that_cannot_be_read_are_not_replaced_by_another_releases(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path / "r.json", example(tasks=[{"id": "2", "evaluation_criteria": {"reward_basis": [1]}}]))
    document = json.loads(cli("rescore", path, "--json", "-").out)
    assert {verdict["outcome"] for verdict in document["verdicts"]} == {"unscored"}
    assert "none of the tasks that the file embeds can be read" in document["verdicts"][0]["reason"]["sentence"]


@pytest.mark.usefixtures("airline_data")
def test_named_catalogues_that_are_for_other_domains_are_told(cli: Cli) -> None:
    done = cli("rescore", EXAMPLE, "--gold-sets", ROOT / "examples" / "library" / "gold_sets")
    assert done.status == 0
    assert "is for tau2-airline: single gold only" in " ".join(done.out.split())


@pytest.mark.usefixtures("airline_data")
def test_control_characters_in_a_file_never_reach_the_terminal(cli: Cli, tmp_path: Path) -> None:
    document = example()
    document["info"]["agent_info"]["llm"] = "evil\x1b[31m\x07 <script>"
    document["simulations"][0]["id"] = "run\x1b]0;title\x07"
    path = write(tmp_path / "r.json", document)
    shown = cli("show", path, "--task", "2", "--calls")
    for done in (cli("rescore", path), shown, cli("rescore", "--check-recorded", path)):
        assert not set(done.out) & {"\x1b", "\x07"}


def test_a_run_that_is_not_there_is_named(cli: Cli) -> None:
    done = cli("show", EXAMPLE, "--task", "999")
    assert done.status == 2
    assert "999" in done.err


@pytest.mark.usefixtures("airline_data")
def test_show_and_rescore_give_one_verdict_and_show_names_readings_that_are_only_proposed(
    cli: Cli, shared: Path
) -> None:
    results = shared / "data" / "results" / "tau2" / "airline_grok-4-fast-reasoning.json"
    done = cli("show", results, "--task", "9", "--trial", "0")
    assert "stratum free" in done.out
    assert "unmatched: the end state is in no reading" in done.out
    assert "what the reading has -> what the run has" in done.out
    assert "--strata extended" in done.out
    extended = cli("show", results, "--task", "9", "--trial", "0", "--strata", "extended").out
    assert "matched: keep-all" in extended
    assert "--strata extended" not in extended
    verdicts = json.loads(cli("rescore", results, "--json", "-").out)["verdicts"]
    assert [v["outcome"] for v in verdicts if (v["task_id"], v["trial"]) == ("9", 0)] == ["unmatched"]


@pytest.mark.usefixtures("airline_data")
def test_a_compressed_file_reads_like_the_file(cli: Cli, tmp_path: Path) -> None:
    packed = tmp_path / "r.json.gz"
    packed.write_bytes(gzip.compress(EXAMPLE.read_bytes()))
    assert "9/13" in cli("rescore", packed).out


# Catalogues


def test_validate_replays_in_an_environment_that_is_named(cli: Cli) -> None:
    gold_sets = ROOT / "examples" / "library" / "gold_sets"
    alone = cli("validate", gold_sets)
    assert "nothing was replayed" in alone.out
    assert "--environment names one" in alone.out
    done = cli("validate", gold_sets, "--environment", f"{ROOT / 'examples' / 'library' / 'library.py'}:build")
    assert (done.status, done.err) == (0, "")
    assert "nothing was replayed" not in done.out


def test_validate_reads_tasks_in_the_plain_form_as_the_audit_of_golds_does(cli: Cli) -> None:
    library = ROOT / "examples" / "library"
    tasks, environment = library / "tasks.json", f"{library / 'library.py'}:build"
    done = cli("validate", library / "gold_sets", "--environment", environment, "--tasks", tasks)
    assert (done.status, done.err) == (0, "")
    assert "0 errors, 1 note\n" in done.out
    assert "no task at hand" not in done.out


def test_what_an_audit_needs_and_does_not_find_is_told_with_what_to_try(cli: Cli) -> None:
    policy = ROOT / "examples" / "library" / "policy.md"
    absent = cli("audit", "policy", policy, "--records", "absent.json")
    assert (absent.status, "--update starts it" in absent.err) == (2, True)
    absent = cli("audit", "traces", EXAMPLE, "--records", "absent.json")
    assert (absent.status, "--update starts it" in absent.err) == (2, True)
    entry = cli("catalogue", "show", "L99")
    assert (entry.status, entry.err.count(" L6,")) == (2, 1)
    versions = cli("audit", "versions", "37199f3", "no-such-release")
    assert (versions.status, "Name a task file" in versions.err, "01e812d" in versions.err) == (2, True, True)
    versions = cli("audit", "versions", "37199f3", "01e812d")
    assert (versions.status, "--domain" in versions.err) == (2, True)


# Statistics and comparison


@pytest.mark.usefixtures("airline_data")
def test_statistics_print_figures_with_their_settings(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    done = cli("statistics", EXAMPLE, "--resamples", "100", "--json", "s.json", "--csv", "s.csv")
    assert (done.status, done.err) == (0, "")
    for words in ("success_rate", "pass^k", "coherent", "9/13", "beta-binomial posterior", "selected the tasks"):
        assert words in done.out
    drawn = cli("statistics", EXAMPLE, "--resamples", "100", "--interval", "bootstrap", "--by", "trials")
    assert "percentile bootstrap by trials, 100 resamples, seed 0" in " ".join(drawn.out.split())
    refused = cli("statistics", EXAMPLE, "--by", "trials")
    assert (refused.status, "--interval bootstrap" in refused.err) == (2, True)
    document = json.loads((tmp_path / "s.json").read_text())
    assert document["settings"]["seed"] == 0
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert len(lines) == 1 + len(document["metrics"])


@pytest.mark.usefixtures("airline_data")
def test_the_universes_of_readings_stand_among_the_metrics(cli: Cli, tmp_path: Path) -> None:
    done = cli("statistics", EXAMPLE, "--universes", "--json", "u.json")
    assert done.status == 0
    metrics = json.loads((tmp_path / "u.json").read_text())["metrics"]
    (score,) = [metric for metric in metrics if metric["metric"] == "score over readings"]
    assert score["low"] < score["high"] <= score["value"]
    assert "universes" in score["method"]
    carried = [metric for metric in metrics if metric["metric"] == "reading carries"]
    assert all(abs(metric["numerator"]) <= metric["denominator"] for metric in carried)
    assert carried
    refused = cli("statistics", EXAMPLE, "--universes", "--column", "single")
    assert (refused.status, "--column core" in refused.err) == (2, True)


@pytest.mark.usefixtures("airline_data")
def test_case_16_a_comparison_may_find_two_agents_not_distinguishable(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    document = example()
    document["simulations"] = document["simulations"][::-1]
    other = write(tmp_path / "other.json", document)
    done = cli("compare", EXAMPLE, other, "--resamples", "100")
    assert done.status == 0
    assert "not distinguishable" in done.out


@pytest.mark.usefixtures("airline_data")
def test_a_comparison_of_files_without_common_tasks_says_so(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    runs = example()["simulations"]
    parts = [write(tmp_path / f"{n}.json", example(simulations=part)) for n, part in enumerate((runs[:3], runs[-2:]))]
    done = cli("compare", *parts)
    assert done.status == 0
    assert "0 shared tasks" in done.out


@pytest.mark.usefixtures("airline_data")
def test_task_5_of_one_domain_is_not_compared_with_task_5_of_another(cli: Cli, tmp_path: Path) -> None:
    assert cli("rescore", EXAMPLE, "--json", "mine.json").status == 0
    document = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    for verdict in document["verdicts"]:
        verdict["domain"] = "another"
    write(tmp_path / "theirs.json", document)
    assert "4 shared tasks" in cli("compare", "mine.json", "mine.json", "--resamples", "0").out
    done = cli("compare", "mine.json", "theirs.json", "--resamples", "0")
    assert done.status == 0
    assert "0 shared tasks" in done.out
