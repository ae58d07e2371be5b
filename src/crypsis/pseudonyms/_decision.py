"""Thresholds on the degree of anonymity and on expected cracks."""

from __future__ import annotations

from typing import Literal

from crypsis.errors import ParameterError
from crypsis.pseudonyms._anonymity import Anonymity
from crypsis.results import Estimate, Number, Result, number_text


class Decision(Result):
    """Whether an attack meets the thresholds, and each number against its threshold."""

    verdict: Literal["safe", "not safe", "cannot tell"]
    reasons: tuple[str, ...]


class AttackOutcome(Result):
    """An attack as it is reported: the anonymity it leaves, and the decision if one was asked."""

    attack: str
    anonymity: Anonymity
    decision: Decision | None


def decide(
    anonymity: Anonymity, *, min_degree: float | None = None, max_cracks: float | None = None
) -> Decision:
    """Compare the anonymity that an attack leaves with thresholds.

    Parameters
    ----------
    anonymity : Anonymity
        The result of `anonymity`.
    min_degree : float, optional
        The smallest acceptable degree of anonymity, from 0 to 1.
    max_cracks : float, optional
        The largest acceptable number of expected cracks.

    Returns
    -------
    Decision
        "safe" if all thresholds are met, "not safe" if one is exceeded. An estimate meets or
        exceeds a threshold only with its entire interval; otherwise "cannot tell".

    Notes
    -----
    The heuristic H is never used, because it errs either way. Where the belief is made from transactions,
    the best intruder counts: items that pair frequencies resolve are limited as expected cracks are.

    Examples
    --------
    >>> from crypsis import pseudonyms as ps
    >>> belief = ps.Belief([[1, 1], [1, 1]], truth=[0, 1])
    >>> ps.decide(ps.anonymity(belief), max_cracks=0.5)
    Decision(verdict='not safe', reasons=('expected cracks 1, at most 0.5 required'))
    """
    if min_degree is None and max_cracks is None:
        raise ParameterError("A decision needs a threshold.", hint="Set {min_degree} or {max_cracks}.")
    met: list[bool | None] = []
    reasons: list[str] = []
    if min_degree is not None:
        if not 0 <= min_degree <= 1:
            raise ParameterError(
                f"Parameter 'min_degree' must be from 0 to 1; {min_degree} was given.", parameter="min_degree"
            )
        low, high = _interval(anonymity.degree)
        met.append(True if low >= min_degree else False if high < min_degree else None)
        degree = number_text(anonymity.degree)
        reasons.append(f"degree of anonymity {degree}, at least {min_degree:g} required")
    if max_cracks is not None:
        if not max_cracks >= 0:
            raise ParameterError(
                f"Parameter 'max_cracks' must be at least 0; {max_cracks} was given.", parameter="max_cracks"
            )
        if anonymity.expected_cracks is None:
            raise ParameterError(
                "Cracks are counted against the truth, and none was given.",
                code="no-truth",
                hint="Set {truth}.",
            )
        low, high = _interval(anonymity.expected_cracks)
        met.append(True if high <= max_cracks else False if low > max_cracks else None)
        cracks = number_text(anonymity.expected_cracks)
        reasons.append(f"expected cracks {cracks}, at most {max_cracks:g} required")
        if anonymity.resolved_by_pairs is not None:
            met.append(anonymity.resolved_by_pairs <= max_cracks)
            resolved = number_text(anonymity.resolved_by_pairs, ".3g")
            reasons.append(f"{resolved} items are resolved by pair frequencies, or more")
        if anonymity.pairs is not None and not anonymity.pairs.assigned_jointly:
            met.append(None)
            reasons.append("there are too many items to assign all at once by their pairs")
    if False in met:
        return Decision("not safe", tuple(reasons))
    if max_cracks is not None and anonymity.worse_than_chance:
        reasons.append(
            "a random assignment has 1 expected crack: the attack is far worse, so the belief and "
            "the truth are probably not aligned"
        )
        met.append(None)
    return Decision("safe" if all(met) else "cannot tell", tuple(reasons))


def _interval(number: Number) -> tuple[float, float]:
    return (number.low, number.high) if isinstance(number, Estimate) else (number, number)
