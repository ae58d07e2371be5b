"""Singling out where the combinations are too many to fetch: some of them counted, or all."""

from __future__ import annotations

from crypsis import singling_out
from crypsis._assess import _questions as q
from crypsis.errors import TooLarge
from crypsis.estimates import over
from crypsis.policy import Measurement, Policy
from crypsis.release import Release
from crypsis.results import Estimate, Number

_SOME, _ALL = 1_000_000, 2**62


def ask_crowds(release: Release, policy: Policy, seed: int, *, exact: bool) -> q.Asked:
    """Everything about crowds; where they are too many, estimates, or the engine's own counts."""
    try:
        return q.ask_singling_out(release, policy, seed)
    except TooLarge:
        groups = _ALL if exact else _SOME
        found = singling_out.sampled_crowds(release, groups=groups, seed=seed)
    return _held(found, policy)


def _held(found: singling_out.SampledCrowds, policy: Policy) -> q.Asked:
    asked = q.Asked("", results={"sampled_crowds": found})
    small = 5
    for threshold in policy.of("singling_out"):
        if threshold.crowd is not None:
            small = threshold.crowd
            asked.measured.append(_in_small(found, small))
        elif threshold.measure.endswith("smallest_crowd"):
            small = int(threshold.limit)
    unique, average = found.unique_fraction, over(found.classes, found.rows)
    for name, value, text in (
        ("unique_share", unique, f"{_told(unique)} of the rows are like no other."),
        ("average_risk", average, f"Who looks for everyone finds {_told(average)} of the rows."),
    ):
        people = round(float(value) * found.rows)
        asked.measured.append(
            Measurement(f"singling_out.{name}", value, text, found.columns, people)
        )
    asked.measured.append(_smallest(found))
    if found.share < 1:
        asked.notes.append(
            f"There are too many combinations to count ({found.classes:,}): {found.share:.2%} of "
            "them were drawn by a hash of their values and counted in full. --exact counts all."
        )
    headline = f"{_told(found.in_crowds_below(small))} of the rows stand in a crowd below {small}."
    return q.Asked(headline, asked.measured, asked.results, asked.notes)


def _in_small(found: singling_out.SampledCrowds, small: int) -> Measurement:
    share = found.in_crowds_below(small)
    text = (
        f"{_told(share)} of {found.rows:,} rows share their values in {len(found.columns)} columns "
        f"with fewer than {small - 1} others."
    )
    people = round(float(share) * found.rows)
    name = "singling_out.share_in_small_crowds"
    return Measurement(name, share, text, found.columns, people, small)


def _smallest(found: singling_out.SampledCrowds) -> Measurement:
    """The smallest crowd seen bounds the smallest there is; one person alone settles it."""
    seen = found.smallest_seen
    size: Number = seen
    text = f"The smallest crowd has {seen:,}."
    if found.share < 1 and seen > 1:
        size = Estimate(seen, 1, seen, method="the smallest crowd seen; smaller ones may be there")
        text = f"The smallest of the crowds seen has {seen:,}; smaller ones may be there."
    return Measurement("singling_out.smallest_crowd", size, text, found.columns)


def _told(share: Number) -> str:
    if isinstance(share, Estimate):
        return f"About {share.value:.3%} ({share.low:.3%} to {share.high:.3%})"
    return f"{share:.3%}"
