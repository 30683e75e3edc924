"""Statistics of scored runs: numbers in, numbers out.

Everything here starts from `rows.RunRow`, one per run, and ends in small frozen records that carry their denominators.
Three rules hold throughout.

- A run without a reward is in no numerator and in no denominator; it is counted separately. What happens to missing
  trials is a named option, `left_out` or `failed`.
- The order of rows never changes a number: counts are taken first, and resampling works on the counts.
- Randomness comes in as a generator (`resampling.generator` makes one from a seed and a name). Where a distribution can
  be enumerated, it is, and no generator is needed.

Only what resamples needs numpy, and some intervals scipy, the extra `stats`; the default intervals, exact
distributions, pass^k, variances and tests work without it.

Where things are:

- `rows`: the record of a run, cells (one agent on one task), plain data out.
- `rates`: success rates and Wilson's interval.
- `intervals`: every method of intervals by name; `beta_binomial`: the posterior that is the default.
- `resampling`: bootstrap intervals of a rate and of a gap, by trial or by task.
- `exact`: the same intervals by enumeration; the hypergeometric overlap test.
- `pass_k`: pass^k, pass@k, variance between the trials of a task.
- `loophole_sides`: which way of reading each agent takes, and how far agents part.
- `multiverse`: scores and ranks under every coherent combination of sides; `multiverse_metrics`: the same as metrics.
- `paired_comparison`: two agents on the same tasks; `many_agents`: any number of them.
- `agreement`: how far annotators agree; `prediction_powered`: rates corrected by a partial audit.
- `item_diagnostics`: tasks whose golds deserve a look.
- `reaggregation`: what rates and ranks become without some tasks, or with another side as the gold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from multigold._lazy import attach

if TYPE_CHECKING:
    from multigold.stats.aggregation import (
        Group as Group,
        Report as Report,
        ReportBuilder as ReportBuilder,
        Tally as Tally,
        summarise_verdicts as summarise_verdicts,
    )
    from multigold.stats.exact import (
        TaskOverlap as TaskOverlap,
        exact_bootstrap_gap as exact_bootstrap_gap,
        exact_bootstrap_interval as exact_bootstrap_interval,
        hypergeometric_overlap as hypergeometric_overlap,
        overlap_of_tasks as overlap_of_tasks,
    )
    from multigold.stats.item_diagnostics import ItemDiagnostics as ItemDiagnostics, diagnose_items as diagnose_items
    from multigold.stats.loophole_sides import (
        Coherent as Coherent,
        SideCount as SideCount,
        Split as Split,
        coherent_rate as coherent_rate,
        side_counts as side_counts,
        splits as splits,
        take_sides as take_sides,
    )
    from multigold.stats.paired_comparison import PairedComparison as PairedComparison, compare_agents as compare_agents
    from multigold.stats.pass_k import (
        PassK as PassK,
        TrialVariance as TrialVariance,
        pass_at_k as pass_at_k,
        pass_hat_k as pass_hat_k,
        pass_hat_k_on_one_side as pass_hat_k_on_one_side,
        trial_variance as trial_variance,
        variance_ratio as variance_ratio,
    )
    from multigold.stats.rates import (
        Interval as Interval,
        Rate as Rate,
        success_rate as success_rate,
        wilson_interval as wilson_interval,
    )
    from multigold.stats.reaggregation import Reaggregation as Reaggregation, reaggregate as reaggregate
    from multigold.stats.resampling import (
        Units as Units,
        bootstrap_gap as bootstrap_gap,
        bootstrap_interval as bootstrap_interval,
        generator as generator,
        units as units,
    )
    from multigold.stats.rows import RunRow as RunRow, by_agent as by_agent, leave_out as leave_out
    from multigold.stats.summary import (
        Metric as Metric,
        MetricSettings as MetricSettings,
        metrics as metrics,
        rows_of as rows_of,
    )
    from multigold.stats.agreement import (
        Agreement as Agreement,
        cohen_kappa as cohen_kappa,
        krippendorff_alpha as krippendorff_alpha,
        reading_weights as reading_weights,
        weighted_rate as weighted_rate,
    )
    from multigold.stats.aggregation import (
        AboveChance as AboveChance,
        above_chance as above_chance,
    )
    from multigold.stats.beta_binomial import (
        Posterior as Posterior,
        posterior as posterior,
    )
    from multigold.stats.intervals import (
        IntervalSettings as IntervalSettings,
        gap_interval as gap_interval,
        paired_interval as paired_interval,
        pass_at_interval as pass_at_interval,
        pass_hat_interval as pass_hat_interval,
        rate_interval as rate_interval,
    )
    from multigold.stats.many_agents import (
        ManyAgents as ManyAgents,
        compare_many as compare_many,
        holm as holm,
    )
    from multigold.stats.multiverse import (
        Multiverse as Multiverse,
        UniverseRun as UniverseRun,
        every_universe as every_universe,
        universe_run as universe_run,
    )
    from multigold.stats.multiverse_metrics import (
        sides_of as sides_of,
        universe_metrics as universe_metrics,
    )
    from multigold.stats.prediction_powered import (
        CorrectedRate as CorrectedRate,
        corrected_rate as corrected_rate,
        draw_audit as draw_audit,
    )
    from multigold.stats.summary import (
        Plan as Plan,
    )

_HOMES = {
    "prediction_powered": "CorrectedRate corrected_rate draw_audit",
    "multiverse_metrics": "sides_of universe_metrics",
    "multiverse": "Multiverse UniverseRun every_universe universe_run",
    "many_agents": "ManyAgents compare_many holm",
    "intervals": "IntervalSettings gap_interval paired_interval pass_at_interval pass_hat_interval rate_interval",
    "beta_binomial": "Posterior posterior",
    "agreement": "Agreement cohen_kappa krippendorff_alpha reading_weights weighted_rate",
    "aggregation": "AboveChance Group Report ReportBuilder Tally above_chance summarise_verdicts",
    "exact": "TaskOverlap exact_bootstrap_gap exact_bootstrap_interval hypergeometric_overlap overlap_of_tasks",
    "item_diagnostics": "ItemDiagnostics diagnose_items",
    "loophole_sides": "Coherent SideCount Split coherent_rate side_counts splits take_sides",
    "paired_comparison": "PairedComparison compare_agents",
    "pass_k": "PassK TrialVariance pass_at_k pass_hat_k pass_hat_k_on_one_side trial_variance variance_ratio",
    "rates": "Interval Rate success_rate wilson_interval",
    "reaggregation": "Reaggregation reaggregate",
    "resampling": "Units bootstrap_gap bootstrap_interval generator units",
    "rows": "RunRow by_agent leave_out",
    "summary": "Metric MetricSettings Plan metrics rows_of",
}
__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
