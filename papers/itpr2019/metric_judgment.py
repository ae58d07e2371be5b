"""Table 7 of itpr2019 as a rule: does a metric rise with the risk, and can its value be read?"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

from crypsis import Result
from papers.itpr2019.sweeps import METRICS, Metric, Sweep, epsilon_sweep, lambda_sweep, variation_sweep

_ROUNDING = 1e-9
_GRADUAL = (0.1, 0.9)
_CERTAIN = 0.999


class MetricGrade(Enum):
    """What a metric is good for."""

    RIGHT = "right"
    HARD_TO_READ = "right but hard to read"
    WRONG = "wrong"

    @property
    def sign(self) -> str:
        """The sign that Table 7 has for it."""
        return {"right": "✓", "right but hard to read": "(✓)", "wrong": "✗"}[self.value]


class MetricJudgment(Result):
    """A row of Table 7."""

    metric: str
    reidentification: MetricGrade
    inference: MetricGrade
    reasons: tuple[str, ...]
    """What keeps it from being right and easy to read."""


def judge(metric: Metric, name: str = "metric") -> MetricJudgment:
    """Judge any function of a contingency table (given values by target values).

    It assesses a risk rightly if it rises in every sweep in which that risk rises, and falls in
    none: epsilon with 2 and with 10 values for re-identification, lambda and theta for inference.
    It is easy to read if besides it stays within [0, 1], says 1 when a group gives the target away,
    and grows gradually: half-way through a sweep it says neither almost 0 nor almost 1.

    >>> judge(METRICS["ELD"], "ELD").reidentification.sign
    '(✓)'
    """
    own = {name: metric}
    identity = [epsilon_sweep(2, points=21, metrics=own), epsilon_sweep(10, points=21, metrics=own)]
    secret = [lambda_sweep(points=21, metrics=own), variation_sweep(points=21, metrics=own)]
    first, why_first = _grade(identity, identity, name)
    second, why_second = _grade(secret, secret[:1], name)
    return MetricJudgment(name, first, second, (*why_first, *why_second))


def compare_metrics() -> tuple[MetricJudgment, ...]:
    """Table 7: the metrics of itpr2019, judged."""
    return tuple(judge(metric, name) for name, metric in METRICS.items())


def _grade(
    sweeps: Sequence[Sweep], complete: Sequence[Sweep], name: str
) -> tuple[MetricGrade, tuple[str, ...]]:
    """`complete` are the sweeps that end where a group gives the target away."""
    still = [one.title for one in sweeps if not _rises(one.metrics[name])]
    if still:
        return MetricGrade.WRONG, tuple(f"does not rise: {title}" for title in still)
    reasons = []
    for one in sweeps:
        values = one.metrics[name]
        if min(values) < -_ROUNDING or max(values) > 1 + _ROUNDING:
            reasons.append(f"leaves [0, 1]: {one.title}")
    for one in complete:
        values = one.metrics[name]
        if values[-1] < _CERTAIN:
            reasons.append(f"does not say 1 for certainty: {one.title}")
        elif not _GRADUAL[0] <= values[len(values) // 2] <= _GRADUAL[1]:
            reasons.append(f"is not gradual: {one.title}")
    return (MetricGrade.HARD_TO_READ if reasons else MetricGrade.RIGHT), tuple(reasons)


def _rises(values: Sequence[float]) -> bool:
    steps = pairwise(values)
    return values[-1] > values[0] + _ROUNDING and all(b >= a - _ROUNDING for a, b in steps)
