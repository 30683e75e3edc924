"""What counts as a match, what does not, and what cannot be scored: on states and on the library example."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multigold
from multigold.environments.tools import tool_table
from multigold.errors import CallError
from multigold.model.gold import CallEvidence, Explicit, Reading
from multigold.model.trajectory import Message, Recorded, RecordedCall
from multigold.model.verdict import SUCCESS_TOLERANCE, is_success
from multigold.scoring.replayed_run import replay_run

BEFORE = {"orders": {"o-1": {"status": "open", "refund": 0}, "o-2": {"status": "open", "refund": 0}}}
REFUNDED = {"orders": {**BEFORE["orders"], "o-1": {"status": "open", "refund": 20}}}
CANCELLED = {"orders": {**BEFORE["orders"], "o-1": {"status": "cancelled", "refund": 20}}}
BOTH = {"orders": {name: {"status": "open", "refund": 20} for name in ("o-1", "o-2")}}

TASK = multigold.Task("refund-17", initial=BEFORE)
GOLDS = multigold.GoldSet.from_databases({"strict": CANCELLED, "lenient": REFUNDED}, benchmark="lenient")


def ended(state: dict[str, Any], **fields: Any) -> multigold.Trajectory:
    return attrs.evolve(multigold.Trajectory.from_end_state(state), **fields)


# States alone


def test_an_end_state_matches_the_reading_that_admits_it() -> None:
    verdict = multigold.score(TASK, ended(CANCELLED), GOLDS)
    assert (verdict.outcome, verdict.matched, verdict.benchmark_matched) == ("matched", ("strict",), False)
    assert multigold.score(TASK, ended(REFUNDED), GOLDS).benchmark_matched is True


def test_an_end_state_in_no_reading_names_the_nearest_and_the_fields_that_differ() -> None:
    verdict = multigold.score(TASK, ended(BOTH), GOLDS)
    assert verdict.outcome == "unmatched"
    assert verdict.reason is not None
    assert verdict.reason.code == "no_reading"
    assert verdict.nearest is not None
    assert verdict.nearest.reading == "lenient"
    assert verdict.nearest.delta is not None
    assert verdict.nearest.delta.to_json() == {"/agent/orders/o-2/refund": {"before": 0, "after": 20}}


@pytest.mark.parametrize("state", [BOTH, REFUNDED], ids=["differs", "matches-what-is-off"])
def test_a_reading_that_is_off_is_the_nearest_only_where_there_is_no_other(state: dict[str, Any]) -> None:
    def nearest(**standings: Any) -> str:
        readings = [attrs.evolve(one, standing=standings[one.id]) for one in GOLDS.readings if one.id in standings]
        verdict = multigold.score(TASK, ended(state), attrs.evolve(GOLDS, readings=tuple(readings)))
        assert verdict.outcome == "unmatched"
        assert verdict.nearest is not None
        return verdict.nearest.reading

    assert nearest(strict="core", lenient="off") == "strict"
    assert nearest(strict="contested", lenient="off") == "strict"
    assert nearest(strict="off", lenient="off") == "lenient"


def test_number_spelling_and_key_order_never_matter() -> None:
    spelled = {"orders": {"o-2": {"refund": 0.0, "status": "open"}, "o-1": {"refund": 20.0, "status": "cancelled"}}}
    assert multigold.score(TASK, ended(spelled), GOLDS).matched == ("strict",)


def test_true_is_not_one() -> None:
    golds = multigold.GoldSet.from_databases({"only": {"t": {"r": {"flag": 1}}}})
    task = multigold.Task("t", initial={"t": {"r": {"flag": 0}}})
    assert multigold.score(task, ended({"t": {"r": {"flag": True}}}), golds).matched == ()


def test_contested_readings_count_only_when_asked_for() -> None:
    golds = multigold.GoldSet.from_databases({"a": REFUNDED, "b": CANCELLED}, contested=["b"])
    without = multigold.score(TASK, ended(CANCELLED), golds)
    assert (without.outcome, without.matched, [m.reading for m in without.matches]) == ("unmatched", (), ["b"])
    assert without.reason is not None
    assert without.reason.code == "standing"
    assert without.rewards.with_contested == 1.0
    assert multigold.score(TASK, ended(CANCELLED), golds, contested=True).matched == ("b",)


def test_an_off_reading_is_listed_and_never_counts() -> None:
    golds = attrs.evolve(GOLDS, readings=tuple(attrs.evolve(r, standing="off") for r in GOLDS.readings), benchmark=None)
    verdict = multigold.score(TASK, ended(CANCELLED), golds, contested=True)
    assert (verdict.outcome, verdict.matched, verdict.rewards.with_contested) == ("unmatched", (), 0.0)
    assert [match.standing for match in verdict.matches] == ["off"]


def test_states_need_an_initial_state_or_an_environment() -> None:
    with pytest.raises(CallError, match="no initial state"):
        multigold.score(multigold.Task("x"), ended(CANCELLED), GOLDS)


def test_calls_need_an_environment() -> None:
    trajectory = multigold.Trajectory.from_calls([multigold.ToolCall("cancel", {})])
    with pytest.raises(CallError, match="environment"):
        multigold.score(TASK, trajectory, GOLDS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((TASK, CANCELLED, GOLDS), "takes a Trajectory here and was given a dict. Make one with multigold.Trajectory"),
        ((TASK, ended(CANCELLED), {"strict": CANCELLED}), "takes a GoldSet here and was given a dict"),
        (("refund-17", ended(CANCELLED), GOLDS), "takes a Task here and was given a str"),
    ],
)
def test_an_argument_of_another_kind_is_refused_with_how_to_make_the_right_one(
    arguments: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(CallError, match=re.escape(words)):
        multigold.score(*arguments)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: multigold.score(TASK, ended(CANCELLED), GOLDS, equivalences="unordered"), "Write ['unordered']"),
        (lambda: multigold.Trajectory.from_calls([{"name": "cancel"}]), "calls[0]: a trajectory is made of ToolCalls"),  # type: ignore[list-item]
        (lambda: multigold.GoldSet.from_databases([CANCELLED]), "was given a list"),  # type: ignore[arg-type]
        (lambda: multigold.diff(CANCELLED, CANCELLED), "this is a dict. Make one with multigold.Database.from_json"),  # type: ignore[arg-type]
        (lambda: multigold.rescore(["a.json", "b.json"]), "was given as a list. Give several one by one"),  # type: ignore[arg-type]
        (lambda: multigold.summarise("results.json"), "'results.json' is a file. Call rescore() first"),  # type: ignore[arg-type]
    ],
)
def test_plain_data_where_a_noun_is_asked_for_is_refused_with_what_to_write(
    work: Callable[[], object], words: str
) -> None:
    with pytest.raises(multigold.MultigoldError, match=re.escape(words)):
        work()


def test_every_way_to_make_a_trajectory_says_whose_run_it_is_and_verdicts_of_any_origin_are_counted() -> None:
    whose: dict[str, Any] = {"run_id": "r-1", "agent": "a", "trial": 2, "termination": "user_stop"}
    made = [
        multigold.Trajectory.from_end_state(CANCELLED, **whose),
        multigold.Trajectory.from_calls([], **whose),
        multigold.Trajectory.from_messages([], **whose),
    ]
    assert all((m.run_id, m.agent, m.trial, m.termination) == ("r-1", "a", 2, "user_stop") for m in made)
    report = multigold.summarise([multigold.score(TASK, made[0], GOLDS)])
    assert [(group.keys["agent"], group.tally.runs) for group in report.overall] == [("a", 1)]


def test_an_unknown_equivalence_is_refused_by_name() -> None:
    with pytest.raises(CallError, match="minted-ids"):
        multigold.score(TASK, ended(CANCELLED), GOLDS, equivalences=["fuzzy"])


STATES = st.dictionaries(
    st.sampled_from("abc"), st.fixed_dictionaries({"n": st.integers(0, 2), "flag": st.booleans()}), max_size=3
).map(lambda records: {"t": records})


@given(initial=STATES, end=STATES, first=st.lists(STATES, min_size=1, max_size=3), more=STATES)
def test_law_6_adding_a_reading_never_turns_matched_into_unmatched(
    initial: dict[str, Any], end: dict[str, Any], first: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    task = multigold.Task("t", initial=initial)
    readings = {str(index): state for index, state in enumerate(first)}
    before = multigold.score(task, ended(end), multigold.GoldSet.from_databases(readings))
    after = multigold.score(task, ended(end), multigold.GoldSet.from_databases({**readings, "more": more}))
    assert set(before.matched) <= set(after.matched)
    assert (before.outcome == "matched") <= (after.outcome == "matched")


@given(initial=STATES, ends=st.lists(STATES, min_size=1, max_size=4), golds=st.lists(STATES, min_size=1, max_size=3))
def test_law_11_scoring_others_before_changes_nothing(
    initial: dict[str, Any], ends: list[dict[str, Any]], golds: list[dict[str, Any]]
) -> None:
    task = multigold.Task("t", initial=initial)
    readings = multigold.GoldSet.from_databases({str(index): state for index, state in enumerate(golds)})
    alone = multigold.score(task, ended(ends[-1]), readings)
    for end in ends:
        last = multigold.score(task, ended(end), readings)
    assert last == alone


# Runs that are replayed


@pytest.fixture(scope="module")
def verdicts(score_runs: ModuleType) -> dict[str, multigold.Verdict]:
    return {verdict.run_id: verdict for verdict in score_runs.score_all()}


@pytest.fixture(scope="module")
def scene(score_runs: ModuleType, library_module: ModuleType, root: Any) -> Any:
    """Score a library run with its fields changed."""
    tasks = score_runs.load_tasks()
    catalogue = multigold.load_catalogue(root / "examples" / "library" / "gold_sets")
    environment = library_module.build()
    runs = {run["run_id"]: run for run in json.loads((root / "examples/library/runs.json").read_text())}

    def rescored(run_id: str, *, task_changes: dict[str, Any] | None = None, **changes: Any) -> multigold.Verdict:
        run = runs[run_id]
        task = attrs.evolve(tasks[run["task_id"]], **(task_changes or {}))
        trajectory = multigold.Trajectory.from_messages(run["messages"], termination=run["termination"])
        trajectory = attrs.evolve(trajectory, **changes)
        return multigold.score(task, trajectory, catalogue.gold_set(task), environment=environment)

    return rescored


EXPECTED = {
    "plain-waive-0": ("matched", ("independent",), "affected", True),
    "plain-waive-1": ("matched", ("withhold",), "affected", False),
    "careful-waive-0": ("matched", ("return-first",), "affected", False),
    "careful-waive-1": ("unmatched", (), "affected", False),
    "careful-waive-2": ("unmatched", (), "affected", False),
    "plain-pay-0": ("matched", ("benchmark",), "free", True),
    "careful-pay-0": ("matched", ("benchmark",), "free", True),
    "plain-reserve-0": ("matched", ("any-plant-book",), "resolved", False),
    "careful-reserve-0": ("matched", ("any-plant-book",), "resolved", True),
    "careful-reserve-1": ("unmatched", (), "resolved", False),
    "plain-borrow-0": ("unmatched", (), "conflict", True),
    "careful-borrow-0": ("matched", ("refuse",), "conflict", False),
}


@pytest.mark.parametrize("run_id", EXPECTED)
def test_the_library_runs_have_the_verdicts_that_the_policy_gives(
    run_id: str, verdicts: dict[str, multigold.Verdict]
) -> None:
    verdict = verdicts[run_id]
    assert (verdict.outcome, verdict.matched, verdict.stratum, verdict.benchmark_matched) == EXPECTED[run_id]


def test_every_library_run_is_expected(verdicts: dict[str, multigold.Verdict]) -> None:
    assert verdicts.keys() == EXPECTED.keys()


def test_saying_without_doing_is_vacuous_and_does_not_count(verdicts: dict[str, multigold.Verdict]) -> None:
    verdict = verdicts["careful-waive-2"]
    assert [(match.reading, match.vacuous, match.evidence) for match in verdict.matches] == [
        ("withhold", True, "unmet")
    ]
    assert verdict.reason is not None
    assert verdict.reason.code == "vacuous"


@pytest.mark.parametrize("termination", ["too_many_errors", "max_steps", "agent_error"])
def test_case_20_a_run_that_did_not_end_normally_matches_nothing(scene: Any, termination: str) -> None:
    verdict = scene("plain-waive-1", termination=termination)
    assert (verdict.outcome, verdict.matches, verdict.benchmark_matched) == ("unmatched", (), False)
    assert verdict.reason.code == "ended_early"
    assert verdict.rewards.core == 0.0


def test_a_run_that_ended_early_in_a_readings_state_is_not_said_to_differ_from_it(scene: Any) -> None:
    lines = scene("plain-waive-1", termination="max_steps").explain().splitlines()
    (same,) = [line for line in lines if "does not differ" in line]
    assert "did not end normally" in same
    for place, line in enumerate(lines):
        if line.endswith(": differs"):
            assert lines[place + 1].startswith("      /")


def test_an_infrastructure_error_is_unscored(scene: Any) -> None:
    verdict = scene("plain-waive-0", termination="infrastructure_error")
    assert (verdict.outcome, verdict.benchmark_matched, verdict.rewards.core) == ("unscored", None, None)


def test_no_recorded_termination_leaves_the_gate_open_and_is_told(scene: Any) -> None:
    verdict = scene("plain-waive-1", termination=None)
    assert (verdict.outcome, verdict.termination) == ("matched", None)


def test_a_simulated_user_that_breaks_off_makes_no_refusal(scene: Any) -> None:
    talk = (Message(role="user", text="I am lost. ###OUT-OF-SCOPE###"),)
    verdict = scene("plain-waive-1", messages=talk)
    assert (verdict.outcome, verdict.reason.code) == ("unmatched", "simulator_stop")
    assert scene("plain-waive-0", messages=talk).outcome == "matched"


def test_case_10_an_unknown_tool_changes_nothing_and_is_counted(scene: Any) -> None:
    names = (("burn_book", {}), ("view_loan", {"loan_id": "loan-1"}), ("waive_fine", {"loan_id": "loan-1"}))
    calls = tuple(RecordedCall(call=multigold.ToolCall(name, arguments)) for name, arguments in names)
    verdict = scene("plain-waive-0", calls=calls)
    assert (verdict.outcome, verdict.fidelity.unknown) == ("matched", 1)


def test_case_8_a_recorded_success_that_the_replay_refuses_is_unscored_drift(scene: Any) -> None:
    recorded = RecordedCall(call=multigold.ToolCall("waive_fine", {"loan_id": "loan-9"}), result="{}", refused=False)
    verdict = scene("plain-waive-0", calls=(recorded,))
    assert (verdict.outcome, verdict.reason.code) == ("unscored", "replay_drift")
    assert "loan-9" in verdict.reason.sentence


def test_a_recorded_refusal_that_the_replay_carries_out_is_unscored_drift(scene: Any) -> None:
    recorded = RecordedCall(
        call=multigold.ToolCall("waive_fine", {"loan_id": "loan-1"}), result="Error: no", refused=True
    )
    assert scene("plain-waive-0", calls=(recorded,)).reason.code == "replay_drift"


def test_a_read_that_answers_otherwise_is_counted_and_is_no_drift(library_module: ModuleType) -> None:
    missing = RecordedCall(call=multigold.ToolCall("view_loan", {"loan_id": "loan-9"}), result="{}", refused=False)
    trajectory = multigold.Trajectory(calls=(missing,))
    environment = library_module.build()
    replayed = replay_run(trajectory, environment.initial, environment, check_reads=True)
    assert (replayed.fidelity.differing, replayed.fidelity.drift) == (1, "")


def test_a_recorded_refusal_that_now_changes_nothing_is_no_drift(library_module: ModuleType) -> None:
    environment = attrs.evolve(
        library_module.build(), tools=tool_table({"write": (do_nothing,)}), conventions=multigold.Conventions()
    )
    refused = RecordedCall(call=multigold.ToolCall("do_nothing", {}), result="Error: no", refused=True)
    replayed = replay_run(multigold.Trajectory(calls=(refused,)), environment.initial, environment)
    assert (replayed.fidelity.differing, replayed.fidelity.drift) == (1, "")


def test_an_answer_is_what_the_tool_said_and_not_what_bringing_the_sides_in_step_makes_of_it() -> None:
    def fill(draft: Any) -> Any:
        return draft.edit("boxes", "b1")

    def empty(drafts: Any) -> None:
        drafts.agent.edit("boxes", "b1")["filled"] = 0

    start = multigold.EndState(multigold.Database.from_json({"boxes": {"b1": {"filled": 7}}}))
    environment = multigold.Environment(
        name="boxes", initial=start, tools=tool_table({"write": (fill,)}), synchronise=empty
    )
    recorded = RecordedCall(call=multigold.ToolCall("fill", {}), result='{"filled": 7}', refused=False)
    replayed = replay_run(multigold.Trajectory(calls=(recorded,)), start, environment)
    assert replayed.fidelity.differing == 0


def do_nothing(draft: Any) -> str:
    return "done"


def test_case_9_a_result_of_an_older_tool_is_counted_and_replay_goes_on(scene: Any) -> None:
    recorded = RecordedCall(
        call=multigold.ToolCall("waive_fine", {"loan_id": "loan-1"}), result='{"ok": true}', refused=False
    )
    read = RecordedCall(call=multigold.ToolCall("view_loan", {"loan_id": "loan-1"}))
    verdict = scene("plain-waive-0", calls=(read, recorded))
    assert (verdict.outcome, verdict.fidelity.differing) == ("matched", 1)
    assert "call 1 (waive_fine)" in verdict.fidelity.first_difference


def test_a_run_without_calls_and_end_state_is_unscored(scene: Any) -> None:
    assert scene("plain-waive-0", calls=None).reason.code == "no_calls"


def test_evidence_that_cannot_be_known_leaves_the_run_unscored(scene: Any, library_module: ModuleType) -> None:
    verdict = scene("plain-waive-1", calls=None, end_state=library_module.build().initial)
    assert (verdict.outcome, verdict.reason.code) == ("unscored", "evidence_unknown")
    assert verdict.benchmark_matched is False


def test_a_look_whose_outcome_was_not_recorded_is_no_evidence_and_no_lack_of_it(
    scene: Any, library_module: ModuleType
) -> None:
    look = multigold.ToolCall("view_loan", {"loan_id": "loan-1"})
    untouched = library_module.build().initial
    for refused, state in ((None, "unknown"), (False, "met"), (True, "unmet")):
        verdict = scene("plain-waive-1", calls=(RecordedCall(call=look, refused=refused),), end_state=untouched)
        assert [match.evidence for match in verdict.matches] == [state]


@pytest.mark.parametrize(
    ("refused", "vacuous"), [((), True), ((True,), True), ((None,), False), ((False,), False), ((True, None), False)]
)
def test_a_run_is_idle_only_if_every_call_is_known_to_have_failed(
    refused: tuple[bool | None, ...], vacuous: bool
) -> None:
    golds = multigold.GoldSet.from_databases({"keep": BEFORE, "refund": REFUNDED})
    calls = tuple(RecordedCall(call=multigold.ToolCall("view", {}), refused=outcome) for outcome in refused)
    verdict = multigold.score(TASK, ended(BEFORE, calls=calls), golds)
    assert [(match.reading, match.vacuous) for match in verdict.matches] == [("keep", vacuous)]
    assert verdict.matched == (() if vacuous else ("keep",))


def test_a_missing_factor_leaves_the_reward_unknown_with_bounds(scene: Any) -> None:
    criteria = multigold.Criteria(actions=(), reward_basis=("DB", "NL_ASSERTION"))
    verdict = scene("plain-waive-1", task_changes={"criteria": criteria})
    assert (verdict.outcome, verdict.reason.code, verdict.bounds) == ("unscored", "factor_missing", (0.0, 1.0))
    known = scene(
        "plain-waive-1", task_changes={"criteria": criteria}, recorded=Recorded(breakdown={"NL_ASSERTION": 0.0})
    )
    assert (known.outcome, known.rewards.core) == ("matched", 0.0)


FACTORS = ("NL_ASSERTION", "POLICY", "TONE")


@given(
    st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(FACTORS), st.sampled_from([0.0, 0.5, 1.0])),
)
def test_the_bounds_are_the_rewards_with_what_is_missing_at_its_lowest_and_highest(
    worths: list[float], recorded: dict[str, float]
) -> None:
    readings = tuple(
        Reading(id=str(number), admits=(Explicit(state=GOLDS.readings[0].admits[0].state),), worth=worth)
        for number, worth in enumerate(worths)
    )
    task = attrs.evolve(TASK, criteria=multigold.Criteria(actions=(), reward_basis=("DB", *FACTORS)))

    def scored(breakdown: dict[str, float]) -> multigold.Verdict:
        run = ended(CANCELLED, recorded=Recorded(breakdown=breakdown))
        return multigold.score(task, run, attrs.evolve(GOLDS, readings=readings, benchmark=None))

    lowest, highest = (scored({**dict.fromkeys(FACTORS, value), **recorded}).rewards.core for value in (0.0, 1.0))
    verdict = scored(recorded)
    if lowest == highest:
        assert (verdict.rewards.core, verdict.bounds) == (lowest, None)
    else:
        assert (verdict.rewards.core, verdict.bounds) == (None, (lowest, highest))


def test_a_reading_of_which_all_is_known_lifts_the_lower_bound() -> None:
    state = GOLDS.readings[0].admits[0].state
    silent = Reading(id="silent", admits=(Explicit(state=state),), communicate=(), worth=0.25)
    telling = Reading(id="telling", admits=(Explicit(state=state),), communicate=("20",), worth=0.5)
    task = attrs.evolve(TASK, criteria=multigold.Criteria(actions=(), reward_basis=("DB", "COMMUNICATE")))
    golds = attrs.evolve(GOLDS, readings=(silent, telling), benchmark=None)
    verdict = multigold.score(task, ended(CANCELLED), golds)
    assert (verdict.outcome, verdict.bounds) == ("unscored", (0.25, 0.5))


def test_a_task_without_gold_is_unscored(scene: Any) -> None:
    verdict = scene("plain-pay-0", task_changes={"criteria": multigold.Criteria()})
    assert (verdict.outcome, verdict.reason.code, verdict.benchmark_matched) == ("unscored", "no_gold", None)


def test_an_unknown_text_falls_back_to_the_single_gold_aloud(
    score_runs: ModuleType, library_module: ModuleType
) -> None:
    task = attrs.evolve(score_runs.load_tasks()["waive"], instructions="Somebody else's words.")
    golds = multigold.load_catalogue(score_runs.HERE / "gold_sets").gold_sets["waive"]
    calls = [multigold.ToolCall("waive_fine", {"loan_id": "loan-1"})]
    verdict = multigold.score(task, multigold.Trajectory.from_calls(calls), golds, environment=library_module.build())
    assert (verdict.stratum, verdict.matched) == ("other_version", ("benchmark",))


def test_baselines_stand_beside_every_verdict(verdicts: dict[str, multigold.Verdict]) -> None:
    waive, pay = verdicts["plain-waive-0"], verdicts["plain-pay-0"]
    assert (waive.do_nothing.core, waive.always_refuse.core, waive.always_refuse.single) == (0.0, 1.0, 0.0)
    assert (pay.do_nothing.core, pay.always_refuse.core) == (0.0, 0.0)


def test_a_reading_says_which_side_it_takes(verdicts: dict[str, multigold.Verdict]) -> None:
    assert verdicts["plain-waive-0"].positions == {"W1": ("independent",)}
    assert verdicts["careful-waive-0"].positions == {"W1": ("prerequisite",)}


def test_case_18_an_explanation_is_fields_at_most_thirty_lines_a_reading(scene: Any) -> None:
    many = {"t": {f"r-{n}": {"x": 0} for n in range(100)}}
    changed = {"t": {f"r-{n}": {"x": 1} for n in range(100)}}
    task = multigold.Task("many", initial=many)
    verdict = multigold.score(task, ended(changed), multigold.GoldSet.from_databases({"only": many}))
    lines = verdict.explain().splitlines()
    assert sum("/agent/t/r-" in line for line in lines) == 30
    assert any("70 more" in line for line in lines)


def test_success_is_a_reward_within_tolerance_of_one() -> None:
    assert is_success(0.9999999) is True
    assert is_success(1.0 - 2 * SUCCESS_TOLERANCE) is False
    assert is_success(0.5) is False
    assert is_success(None) is None


def test_two_readings_with_one_state_are_not_affected() -> None:
    golds = multigold.GoldSet.from_databases({"a": CANCELLED, "b": CANCELLED})
    assert multigold.score(TASK, ended(CANCELLED), golds).stratum == "free"
    assert multigold.score(TASK, ended(CANCELLED), GOLDS).stratum == "affected"


@pytest.mark.parametrize("standing", ["contested", "off"])
def test_a_reading_that_is_not_core_makes_no_task_affected(standing: Any) -> None:
    readings = tuple(attrs.evolve(r, standing=standing if r.id == "strict" else "core") for r in GOLDS.readings)
    for contested in (False, True):
        verdict = multigold.score(TASK, ended(CANCELLED), attrs.evolve(GOLDS, readings=readings), contested=contested)
        assert verdict.stratum == "free"


def test_a_benchmark_gold_in_no_reading_is_a_conflict() -> None:
    golds = multigold.GoldSet(
        readings=(
            Reading(id="ours", admits=(Explicit(state=multigold.EndState(multigold.Database.from_json(CANCELLED))),)),
            Reading(
                id="theirs",
                standing="off",
                admits=(Explicit(state=multigold.EndState(multigold.Database.from_json(REFUNDED))),),
            ),
        ),
        benchmark="theirs",
    )
    verdict = multigold.score(TASK, ended(CANCELLED), golds)
    assert (verdict.stratum, verdict.benchmark_readings, verdict.rewards.core_or_single) == ("conflict", (), 1.0)


# What is not known, and what never counts


LOOKED = CallEvidence(tool="view_order", arguments={"id": "o-1"})


def asking(reading_id: str, state: dict[str, Any], standing: Any = "core") -> Reading:
    form = Explicit(state=multigold.EndState(multigold.Database.from_json(state)))
    return Reading(id=reading_id, admits=(form,), evidence=LOOKED, standing=standing)


@pytest.mark.parametrize(("standing", "contested"), [("off", False), ("off", True), ("contested", False)])
def test_evidence_that_is_unknown_for_a_reading_that_does_not_count_leaves_the_run_unmatched(
    standing: str, contested: bool
) -> None:
    golds = multigold.GoldSet(readings=(asking("aside", CANCELLED, standing),))
    verdict = multigold.score(TASK, ended(CANCELLED), golds, contested=contested)
    assert (verdict.outcome, verdict.reason and verdict.reason.code) == ("unmatched", "standing")
    assert verdict.rewards.core == 0.0


def test_a_reward_that_hangs_on_unknown_evidence_is_unknown_and_not_zero() -> None:
    core = multigold.score(TASK, ended(CANCELLED), multigold.GoldSet(readings=(asking("a", CANCELLED),)))
    assert (core.outcome, core.rewards.core, core.rewards.with_contested) == ("unscored", None, None)
    golds = multigold.GoldSet(readings=(asking("a", CANCELLED, "contested"),))
    contested = multigold.score(TASK, ended(CANCELLED), golds)
    assert (contested.rewards.core, contested.rewards.with_contested) == (0.0, None)


def test_a_simulator_stop_speaks_of_an_untouched_database_only() -> None:
    talk = (Message(role="user", text="###OUT-OF-SCOPE###"),)
    untouched = multigold.score(TASK, ended(BEFORE, messages=talk), multigold.GoldSet(readings=(asking("a", BEFORE),)))
    assert (untouched.outcome, untouched.reason and untouched.reason.code) == ("unmatched", "simulator_stop")
    golds = multigold.GoldSet.from_databases({"a": REFUNDED, "b": CANCELLED}, contested=["b"])
    changed = multigold.score(TASK, ended(CANCELLED, messages=talk), golds)
    assert (changed.outcome, changed.reason and changed.reason.code) == ("unmatched", "standing")


def test_missing_evidence_for_a_change_is_not_called_an_untouched_database() -> None:
    verdict = multigold.score(TASK, ended(CANCELLED, calls=()), multigold.GoldSet(readings=(asking("a", CANCELLED),)))
    assert verdict.reason is not None
    assert verdict.reason.code == "vacuous"
    assert "untouched" not in verdict.reason.sentence


@pytest.mark.parametrize("termination", ["user_stop", "max_steps"])
def test_nothing_is_said_of_a_single_gold_that_the_benchmark_does_not_state(termination: str) -> None:
    golds = multigold.GoldSet.from_databases({"a": CANCELLED})
    verdict = multigold.score(TASK, ended(CANCELLED, termination=termination), golds)
    assert (verdict.benchmark_matched, verdict.rewards.single) == (None, None)


def test_parts_of_a_message_that_are_no_text_are_passed_over() -> None:
    parts = [{"type": "image", "text": 5}, {"type": "text", "text": "Hi."}, "stray"]
    assert multigold.Trajectory.from_messages([{"role": "user", "content": parts}]).messages[0].text == "Hi."
