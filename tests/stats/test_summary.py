"""Metrics: one flat list, whatever form it takes; no order and no other metric changes a number."""

from __future__ import annotations

import csv
import io
import json
import random
from typing import Any

import attrs
import pytest

from multigold.errors import CallError
from multigold.model.trajectory import Recorded
from multigold.model.verdict import Reason, Rewards, Verdict
from multigold.rendering.metrics import comparison_lines, metric_tables, write_csv
from multigold.stats.aggregation import ReportBuilder
from multigold.stats.intervals import METHODS
from multigold.stats.paired_comparison import compare_agents
from multigold.stats.rows import RunRow
from multigold.stats.summary import FIELDS, Metric, MetricSettings, metrics, rows_of

pytest.importorskip("numpy")

QUICK = MetricSettings(resamples=200)


def verdict(agent: str, task: str, trial: int, success: bool | None, **fields: Any) -> Verdict:
    value = None if success is None else float(success)
    outcome = "unscored" if success is None else "matched" if success else "unmatched"
    reason = Reason(code="no_calls", sentence="") if success is None else None
    return Verdict(
        outcome=outcome,
        agent=agent,
        domain="d",
        task_id=task,
        trial=trial,
        rewards=Rewards(core=value, single=value),
        recorded=Recorded(reward=value),
        reason=reason,
        **fields,
    )


def runs() -> list[Verdict]:
    """Two agents, four trials of three tasks: one affected by L1, on which they take sides."""
    found = []
    for agent, plan in {"one": (4, 2, 3), "two": (2, 4, 0)}.items():
        for task, successes in zip(("a", "b", "c"), plan, strict=True):
            for trial in range(4):
                won = trial < successes
                extra: dict[str, Any] = {"stratum": "free"}
                if task == "a":
                    side = "left" if agent == "one" or trial == 0 else "right"
                    extra = {"stratum": "affected", "loopholes": ("L1",), "positions": {"L1": (side,)} if won else {}}
                found.append(verdict(agent, task, trial, won, **extra))
    return found


def found(verdicts: list[Verdict], settings: MetricSettings = QUICK) -> tuple[Metric, ...]:
    return metrics(rows_of(verdicts, settings.column, ReportBuilder()), settings)


def pick(all_metrics: tuple[Metric, ...], metric: str, **fields: str) -> Metric:
    chosen = [f for f in all_metrics if f.metric == metric and all(getattr(f, k) == v for k, v in fields.items())]
    assert len(chosen) == 1, (metric, fields, chosen)
    return chosen[0]


def test_rates_stand_with_their_counts_by_stratum() -> None:
    all_metrics = found(runs())
    overall = pick(all_metrics, "success_rate", agent="one", stratum="")
    assert (overall.numerator, overall.denominator, overall.value) == (9, 12, 0.75)
    affected = pick(all_metrics, "success_rate", agent="two", stratum="affected")
    assert (affected.numerator, affected.denominator) == (2, 4)
    assert overall.low is not None
    assert overall.high is not None
    assert overall.low <= 0.75 <= overall.high


def test_the_gap_is_unaffected_minus_affected() -> None:
    gap = pick(found(runs()), "gap", agent="one")
    assert gap.value == pytest.approx(5 / 8 - 1.0)
    assert "selected" in gap.note


def test_pass_hat_k_is_the_hand_worked_one() -> None:
    all_metrics = found(runs())
    # Agent one: 4, 2 and 3 of 4. pass^2 = mean(6/6, 1/6, 3/6).
    assert pick(all_metrics, "pass^k", agent="one", part="2").value == pytest.approx((1 + 1 / 6 + 1 / 2) / 3)
    # Agent two succeeds on task a twice, on two sides: never both on one side.
    assert pick(all_metrics, "pass^k", agent="two", part="2").value == pytest.approx((1 / 6 + 1 + 0) / 3)
    assert pick(all_metrics, "pass^k on one side", agent="two", part="2").value == pytest.approx((0 + 1 + 0) / 3)


def test_case_15_too_few_trials_are_told() -> None:
    fewer = [v for v in runs() if not (v.task_id == "c" and v.trial > 0)]
    metric = pick(found(fewer), "pass^k", agent="one", part="4")
    assert metric.denominator == 2
    assert "c" in metric.note
    failed = pick(found(fewer, attrs.evolve(QUICK, missing="failed")), "pass^k", agent="one", part="4")
    assert failed.denominator == 3
    assert "failed" in failed.note


def test_coherent_success_keeps_to_one_side() -> None:
    metric = pick(found(runs()), "coherent", agent="two")
    # Two successes on task a, on two sides: one of them counts. 1 + 4 + 0 of 12.
    assert (metric.numerator, metric.denominator) == (5, 12)


def test_sides_are_counted_and_shared() -> None:
    all_metrics = found(runs())
    assert pick(all_metrics, "side", agent="one", loophole="L1", part="left").value == 1.0
    assert pick(all_metrics, "side", agent="two", loophole="L1", part="right").numerator == 1


def test_leaving_out_the_affected_tasks_shows_how_ranks_move() -> None:
    metric = pick(found(runs()), "success_rate without affected tasks", agent="two")
    assert (metric.numerator, metric.denominator) == (4, 8)
    assert metric.note == "rank 2 before, 2 after"


def test_an_unscored_run_is_in_no_denominator_and_is_told() -> None:
    more = [*runs(), verdict("one", "d", 0, None, stratum="free")]
    metric = pick(found(more), "success_rate", agent="one", stratum="")
    assert (metric.numerator, metric.denominator) == (9, 12)
    assert "1 unscored" in metric.note


def test_the_order_of_runs_changes_no_figure() -> None:
    shuffled = runs()
    random.Random(3).shuffle(shuffled)
    assert found(shuffled) == found(runs())


def test_a_seed_gives_the_same_intervals_and_another_gives_others() -> None:
    assert found(runs()) == found(runs())
    many = MetricSettings(interval="bootstrap", resamples=50, seed=5)
    assert found(runs(), many) != found(runs(), attrs.evolve(many, seed=6))


@pytest.mark.parametrize("metric", ["success_rate", "gap"])
def test_agents_with_the_same_results_have_random_streams_of_their_own(metric: str) -> None:
    """Were they drawn alike, a difference between two agents would look more certain than it is."""
    same = [
        verdict(agent, str(task), 0, task % 3 > 0, stratum="affected" if task % 2 else "free")
        for agent in ("one", "two")
        for task in range(40)
    ]
    drawn = MetricSettings(interval="bootstrap", resamples=200)
    intervals = [pick(found(same, drawn), metric, agent=agent, stratum="") for agent in ("one", "two")]
    assert intervals[0].value == intervals[1].value
    assert (intervals[0].low, intervals[0].high) != (intervals[1].low, intervals[1].high)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "bca"])
def test_every_method_of_intervals_is_named_with_what_it_gives(method: str) -> None:
    metric = pick(found(runs(), MetricSettings(interval=method, resamples=0)), "success_rate", agent="one", stratum="")
    assert METHODS[method] in metric.method or metric.method == "exact-bootstrap by tasks"
    assert metric.low < metric.value < metric.high


def test_only_a_bootstrap_takes_trials_as_independent() -> None:
    with pytest.raises(CallError, match="only a bootstrap"):
        MetricSettings(by="trials")
    metric = pick(found(runs(), MetricSettings(interval="bootstrap", by="trials", resamples=0)), "gap", agent="one")
    assert metric.method == "exact-bootstrap by trials"


def test_one_run_is_not_certain() -> None:
    """1/1 was printed as 1.0 to 1.0."""
    once = found([verdict("one", "d", 0, 1.0)])
    rate = pick(once, "success_rate", agent="one", stratum="")
    assert (rate.value, rate.high) == (1.0, 1.0)
    assert rate.low < 0.3
    assert "one task" in rate.note


def test_pass_k_has_an_interval_and_a_figure_that_shrinks_tasks() -> None:
    made = found(runs())
    whole, shrunk = (pick(made, name, agent="one", part="4") for name in ("pass^k", "pass^k, shrunk"))
    assert whole.low < whole.value < whole.high
    assert 0 < shrunk.value < 1
    assert pick(made, "pass^k, shrunk", agent="one", part="1").value < 1


def test_what_is_unscored_has_bounds_and_mostly_unscored_is_not_ranked() -> None:
    hidden = [verdict("two", task, trial, None) for task in "efgh" for trial in range(4)]
    shown = [verdict("two", "e", 9, 1.0)]
    made = found([*[v for v in runs() if v.agent == "one"], *shown, *hidden])
    rate, rank = pick(made, "success_rate", agent="two", stratum=""), pick(made, "rank", agent="two")
    assert (rate.value, rate.lowest, rate.highest) == (1.0, 1 / 20, 1.0)
    assert "mostly unscored" in rate.note
    assert (rank.value, rank.lowest, rank.highest) == (None, 1.0, 2.0)
    assert pick(made, "rank", agent="one").value == 1.0


def test_runs_without_a_task_do_not_raise_the_planned_trials() -> None:
    lost = [verdict("one", "", trial, None) for trial in range(2)]
    some = [verdict("one", task, 0, reward) for task, reward in {"a": 1.0, "b": 1.0, "c": 1.0}.items()]
    metric = pick(found([*some, *lost], MetricSettings(missing="failed")), "success_rate", agent="one", stratum="")
    assert (metric.numerator, metric.denominator) == (3, 5)


def test_without_resamples_a_gap_has_its_exact_interval_where_tasks_have_one_size() -> None:
    quick = MetricSettings(interval="bootstrap", resamples=0)
    gap = pick(found(runs(), quick), "gap", agent="one")
    assert (gap.low, gap.high, gap.method) == (0.5 - 1.0, 0.75 - 1.0, "exact-bootstrap by tasks")
    uneven = [v for v in runs() if not (v.task_id == "c" and v.trial == 0)]
    assert pick(found(uneven, quick), "gap", agent="one").low is None


def test_nothing_to_count_is_said() -> None:
    with pytest.raises(CallError, match="no runs"):
        metrics((), QUICK)


def test_csv_holds_what_json_holds_and_no_cell_is_a_formula() -> None:
    evil = [attrs.evolve(v, agent="=HYPERLINK(1)") for v in runs()[:12]]
    all_metrics = found(evil)
    stream = io.StringIO()
    write_csv(all_metrics, stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert list(rows[0]) == list(FIELDS)
    assert len(rows) == len(all_metrics)
    assert not any(cell.startswith("=") for row in rows for cell in row.values())
    assert json.loads(json.dumps([metric.to_json() for metric in all_metrics]))


def test_every_kind_of_figure_has_a_table() -> None:
    all_metrics = found(runs())
    assert len(metric_tables(all_metrics)) == len({metric.metric for metric in all_metrics})


# Tables


def _tables(metrics: list[Metric], width: int = 80) -> str:
    from io import StringIO

    from rich.console import Console

    from multigold.rendering.metrics import metric_tables

    console = Console(file=StringIO(), width=width, markup=False, highlight=False)
    for table in metric_tables(metrics):
        console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_what_all_rows_of_a_table_share_stands_in_its_title_and_an_empty_place_reads_all() -> None:
    shared: dict[str, Any] = {"metric": "success_rate", "agent": "a" * 40, "value": 0.5, "low": 0.1, "high": 0.9}
    metrics = [Metric(**shared, stratum=stratum, method="bootstrap by tasks") for stratum in ("", "affected")]
    title, _, header, _, first, second = (line.strip() for line in _tables(metrics, 100).splitlines()[:6])
    assert title == f"success_rate, agent {'a' * 40}, bootstrap by tasks"
    assert header.split() == ["stratum", "value", "of", "interval"]
    assert first.split() == ["all", "0.5000", "0.1000", "to", "0.9000"]
    assert second.split()[0] == "affected"


def test_figures_without_any_value_take_one_line() -> None:
    metrics = [Metric(metric="split_score", loophole=name, note="agents with known sides: 1") for name in ("L1", "L2")]
    assert _tables(metrics).strip() == "split_score: no value in 2 rows (agents with known sides: 1)"


@pytest.mark.parametrize(("tasks", "said"), [(2, "p = 0.5000"), (20, "p < 0.0001")])
def test_a_p_value_is_never_printed_as_nothing(tasks: int, said: str) -> None:
    better, worse = (
        [RunRow(agent=agent, task=str(n), reward=won) for n in range(tasks)] for agent, won in (("a", 1.0), ("b", 0.0))
    )
    lines = comparison_lines(compare_agents(better, worse), ("a", "b"))
    assert said in "\n".join(lines)
    # One task differs as every other does: that says nothing of how much equal agents would.
    assert [line for line in lines if "sensitivity" in line] == [
        "  sensitivity: not known, as the difference is the same on every task"
    ]


def test_a_comparison_says_how_much_more_trials_would_help() -> None:
    wins = {"a": (4, 2, 3), "b": (1, 2, 0)}
    first, second = (
        [
            RunRow(agent=agent, task=str(task), trial=trial, reward=float(trial < number))
            for task, number in enumerate(numbers)
            for trial in range(4)
        ]
        for agent, numbers in wins.items()
    )
    found = compare_agents(first, second)
    assert found.sensitivity is not None
    lines = comparison_lines(found, ("a", "b"))
    share = f"{found.sensitivity.trial_share:.0%} of the variance between tasks"
    assert [line for line in lines if "between trials" in line] == [
        f"  {share} is chance between trials, which more trials reduce"
    ]
    once = comparison_lines(compare_agents(first[::4], second[::4]), ("a", "b"))
    assert not any("between trials" in line for line in once)
