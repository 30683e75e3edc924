"""A few runs audited by people correct the rate of all of them: prediction-powered inference.

multigold scores every run; people look at a random few. Where they differ, the mean difference is what the rate of all
runs is off by, so it is added (Angelopoulos et al., arXiv 2301.09633, the rectifier). Whatever is wrong with the
verdicts, the corrected rate is right on average; how wide its interval is depends on how often they differ.

The rate that is corrected is that of the runs at hand, of which a share was drawn without replacement, so the error is
that of the audit alone, with the correction for a finite population. With few runs, and verdicts that are mostly right,
the differences can all be 0; that does not make them certain. So the interval is the adjusted one for matched
proportions (`intervals.paired_interval`): two pseudo-runs are added on which verdict and people differ, one either way.

Audited labels alone give a rate too, and with verdicts that are often wrong it can be the better one (Mani et al.,
arXiv 2505.20178): both are returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import sqrt
from random import Random

import attrs

from multigold.errors import CallError
from multigold.stats.beta_binomial import posterior
from multigold.stats.intervals import paired_interval
from multigold.stats.rates import check_level


@attrs.frozen(kw_only=True)
class CorrectedRate:
    """A rate corrected by an audit.

    Attributes:
        runs: Runs in all.
        audited: Runs that people looked at.
        verdicts: The rate by the verdicts, over all runs.
        corrected: The same with the mean difference of the audited runs added.
        low: Lower end of its interval.
        high: Upper end.
        level: Coverage of the interval.
        overturned: Audited runs on which people say otherwise: from success to failure, and from failure to success.
        audit_alone: The rate of the audited runs by people.
        audit_low: Lower end of the interval of what the audit alone says.
        audit_high: Upper end.
    """

    runs: int
    audited: int
    verdicts: float
    corrected: float
    low: float
    high: float
    level: float
    overturned: tuple[int, int]
    audit_alone: float
    audit_low: float
    audit_high: float


def corrected_rate(
    verdicts: Sequence[bool], audited: Iterable[tuple[bool, bool]], *, level: float = 0.95
) -> CorrectedRate:
    """Return the rate of all runs, corrected by those that people looked at.

    Args:
        verdicts: Whether each run is a success by its verdict; those that were audited among them.
        audited: For each run that was drawn at random and looked at: what its verdict says, and what people say.
        level: Coverage of the interval.

    Raises:
        CallError: No run was audited, or more than there are.
    """
    check_level(level)
    pairs = list(audited)
    if not 0 < len(pairs) <= len(verdicts):
        raise CallError(f"{len(pairs)} audited runs of {len(verdicts)} cannot correct anything.")
    rate = sum(verdicts) / len(verdicts)
    differences = [Fraction(int(people) - int(verdict)) for verdict, people in pairs]
    middle = float(sum(differences, Fraction(0))) / len(pairs)
    ends = paired_interval(differences, level=level) or (0.0, 0.0)
    # Runs that were not drawn are all that is not known: with every run audited nothing is.
    left = sqrt(1 - len(pairs) / len(verdicts))
    low, high = (rate + middle + left * (end - middle) for end in ends)
    people = [(int(said), 1) for _, said in pairs]
    alone = posterior(people).interval(level)
    share = sum(c for c, _ in people) / len(people)
    return CorrectedRate(
        runs=len(verdicts),
        audited=len(pairs),
        verdicts=rate,
        corrected=min(1.0, max(0.0, rate + middle)),
        low=max(0.0, low),
        high=min(1.0, high),
        level=level,
        overturned=(sum(d < 0 for d in differences), sum(d > 0 for d in differences)),
        audit_alone=share,
        audit_low=alone[0],
        audit_high=alone[1],
    )


def draw_audit(runs: Sequence[str], share: float, *, seed: int = 0) -> tuple[str, ...]:
    """Draw runs to be audited, at random and without replacement; the order in which runs come does not matter.

    Args:
        runs: Their names.
        share: Which share of them, above 0 and at most 1.
        seed: The seed.

    Raises:
        CallError: The share makes no sense.
    """
    if not 0 < share <= 1:
        raise CallError(f"a share lies between 0 and 1; this one is {share}.")
    names = sorted(set(runs))
    number = min(len(names), max(1, round(share * len(names))))
    return tuple(sorted(Random(seed).sample(names, number)))
