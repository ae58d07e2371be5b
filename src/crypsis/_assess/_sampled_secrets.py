"""Inference where groups are too many to fetch: some of them in full, or all of them counted."""

from __future__ import annotations

from crypsis import inference
from crypsis._assess import _questions as q
from crypsis.errors import TooLarge
from crypsis.policy import Measurement, Policy
from crypsis.release import Release
from crypsis.results import Estimate, Number

_SOME = 1_000_000


def ask_secrets(release: Release, policy: Policy, seed: int, *, exact: bool) -> q.Asked:
    """How well secrets can be guessed; where there are too many groups, estimates and bounds."""
    try:
        return q.ask_inference(release, policy, seed)
    except TooLarge:
        found = [
            inference.sampled_leakage(release, name, groups=_SOME, exact=exact, seed=seed)
            for name in release.sensitive
        ]
    return _held(release, found, policy)


def _held(release: Release, found: list[inference.SampledLeakage], policy: Policy) -> q.Asked:
    asked = q.Asked("")
    limits = {one.measure: one.limit for one in policy.of("inference")}
    for one in found:
        asked.results[f"sampled leakage of {one.target}"] = one
        categories = q.categories(release, one.target, one.values)
        if categories:
            asked.measured.append(_gain(one, limits.get("inference.best_guess_gain", 0.2)))
        asked.measured.append(
            Measurement(
                "inference.itpr", one.itpr,
                f"The inference risk of {one.target!r} is {_risk(one.itpr)}.",
                (one.target,),
            )
        )  # fmt: skip
        asked.measured.extend([_values(one), _closeness(one, "inference.closeness")])
        if not categories:
            asked.measured.append(_closeness(one, "inference.ordered_closeness"))
    there = {one.measure for one in asked.measured}
    for name, why in q.WITHOUT.items():
        if name not in there:
            asked.measured.append(Measurement(name, None, why, applies=False))
    if found[0].share < 1:
        asked.notes.append(
            f"There are too many groups to fetch ({found[0].groups:,}): {found[0].seen:,} of them "
            "were drawn by a hash of their values and counted in full. What the worst group tells "
            "is known of these only. --exact counts all."
        )
    worst = max(found, key=lambda one: (float(one.average_gain), one.target))
    headline = (
        f"On average a guess of {worst.target!r} is right {_told(worst.average_guess)} of the "
        f"time, against {q.percent(worst.prior_guess)} without the release."
    )
    return q.Asked(headline, asked.measured, asked.results, asked.notes)


def _gain(one: inference.SampledLeakage, limit: float) -> Measurement:
    exposed = one.in_groups_above(one.prior_guess + limit)
    return Measurement(
        "inference.best_guess_gain",
        _above(one.worst_guess, one.prior_guess),
        f"In the worst group {one.target!r} is guessed right {_bound(one.worst_guess)} of the time "
        f"from {len(one.given)} columns, against {q.percent(one.prior_guess)} without them; "
        f"{_told(exposed)} of the rows are in groups as bad.",
        (one.target, *one.given),
        round(float(exposed) * one.rows),
    )


def _values(one: inference.SampledLeakage) -> Measurement:
    seen = one.fewest_values_seen
    value: Number = seen
    text = f"One group has {seen:,} value(s) of {one.target!r}."
    if one.share < 1 and seen > 1:
        value = Estimate(seen, 1, seen, method="the fewest seen; a group may have fewer")
        text = (
            f"One of the groups seen has {seen:,} values of {one.target!r}; others may have less."
        )
    return Measurement("inference.distinct_values", value, text, (one.target, *one.given))


def _closeness(one: inference.SampledLeakage, measure: str) -> Measurement:
    names = (one.target, *one.given)
    seen = one.closeness_seen
    if seen is None:
        text = (
            "Distances are taken of groups that were fetched, and these are too many; without "
            "--exact those of a sample of the groups are."
        )
        return Measurement(measure, None, text, names)
    value: Number = seen
    text = f"In one group {one.target!r} is {seen:.3g} away from how it is in all rows (t)."
    if one.share < 1:
        value = Estimate(seen, seen, 1.0, method="the largest seen; a group may be further away")
        text = (
            f"In one of the groups seen {one.target!r} is {seen:.3g} away from how it is in all "
            "rows (t); others may be further."
        )
    return Measurement(measure, value, text, names)


def _above(guess: Number, prior: float) -> Number:
    if not isinstance(guess, Estimate):
        return max(0.0, guess - prior)
    value, low, high = (max(0.0, x - prior) for x in (guess.value, guess.low, guess.high))
    return Estimate(value, low, high, guess.confidence, guess.method)


def _told(share: Number) -> str:
    if isinstance(share, Estimate):
        return f"about {share.value:.3%} ({share.low:.3%} to {share.high:.3%})"
    return q.percent(share)


def _risk(itpr: Number) -> str:
    return f"at least {itpr.low:.3g}" if isinstance(itpr, Estimate) else f"{itpr:.3g}"


def _bound(share: Number) -> str:
    if isinstance(share, Estimate):
        return f"at least {q.percent(share.low)}"
    return q.percent(share)
