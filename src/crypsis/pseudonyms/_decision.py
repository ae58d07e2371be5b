"""Release or not, under a threshold on Delta or on expected cracks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from crypsis.errors import ParameterError
from crypsis.pseudonyms._metrics import Anonymity
from crypsis.results import Estimate, Number, Result


class Verdict(Enum):
    """What the thresholds say."""

    RELEASE = "release"
    WITHHOLD = "do not release"
    UNKNOWN = "cannot tell"


@dataclass(frozen=True)
class Decision(Result):
    """The verdict and its reasons."""

    verdict: Verdict
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class AttackOutcome(Result):
    """An attack as the command line reports it: what it leaves, and what the thresholds say."""

    attack: str
    anonymity: Anonymity
    decision: Decision | None


def decide(
    anonymity: Anonymity,
    *,
    least_degree: float | None = None,
    most_cracks: float | None = None,
) -> Decision:
    """Hold an attack against thresholds; never against the heuristic H, which errs either way.

    An estimate passes only with its whole interval, and fails only with its whole interval; between
    these the verdict is "cannot tell".

    >>> from crypsis.pseudonyms import Belief, measure
    >>> decide(measure(Belief([[1, 1], [1, 1]], truth=[0, 1])), most_cracks=0.5).verdict.value
    'do not release'
    """
    if least_degree is None and most_cracks is None:
        raise ParameterError("Give a threshold: least_degree (of Delta) or most_cracks (of Psi).")
    results: list[tuple[bool | None, str]] = []
    if least_degree is not None:
        if not 0 <= least_degree <= 1:
            raise ParameterError(f"Delta lies between 0 and 1, so {least_degree} is no threshold.")
        low, high = _ends(anonymity.degree)
        passes = True if low >= least_degree else False if high < least_degree else None
        results.append(
            (
                passes,
                f"degree of anonymity {_shown(anonymity.degree)}, at least {least_degree:g} wanted",
            )
        )
    if most_cracks is not None:
        if not most_cracks >= 0:
            raise ParameterError(f"A number of cracks is at least 0, not {most_cracks}.")
        if anonymity.expected_cracks is None:
            raise ParameterError("Cracks are counted against the truth, and none was given.")
        low, high = _ends(anonymity.expected_cracks)
        passes = True if high <= most_cracks else False if low > most_cracks else None
        results.append(
            (
                passes,
                f"expected cracks {_shown(anonymity.expected_cracks)}, "
                f"at most {most_cracks:g} wanted",
            )
        )
    if any(passes is False for passes, _ in results):
        verdict = Verdict.WITHHOLD
    elif all(passes for passes, _ in results):
        verdict = Verdict.RELEASE
    else:
        verdict = Verdict.UNKNOWN
    return Decision(verdict, tuple(reason for _, reason in results))


def _ends(number: Number) -> tuple[float, float]:
    if isinstance(number, Estimate):
        return number.low, number.high
    return float(number), float(number)


def _shown(number: Number) -> str:
    return str(number) if isinstance(number, Estimate) else f"{float(number):.4g}"
