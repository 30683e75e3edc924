"""Statistics of scored runs: numbers in, numbers out.

Everything here starts from `rows.RunRow`, one per run, and ends in small frozen records that carry their denominators.
Three rules hold throughout.

- A run without a reward is in no numerator and in no denominator; it is counted beside. What happens to missing trials
  is a named option, `left_out` or `failed`.
- The order of rows never changes a number: counts are taken first, and resampling works on the counts.
- Randomness comes in as a generator (`resampling.generator` makes one from a seed and a name). Where a distribution can
  be enumerated, it is, and no generator is needed.

Only the modules' resampling functions need numpy, the extra `stats`; intervals by formula, exact distributions,
pass^k, variances and tests work without it.

Where things are:

- `rows`: the record of a run, cells (one agent on one task), plain data out.
- `rates`: success rates and Wilson's interval.
- `resampling`: bootstrap intervals of a rate and of a gap, by trial or by task.
- `exact`: the same intervals by enumeration; the hypergeometric overlap test.
- `pass_at_k`: pass^k, pass@k, variance between the trials of a task.
- `loophole_sides`: which way of reading each agent takes, and how far agents part.
- `paired_comparison`: two agents on the same tasks.
- `item_diagnostics`: tasks whose golds deserve a look.
- `reaggregation`: what rates and ranks become without some tasks, or with another side as the gold.
"""
