"""Can a secret be guessed?"""

from __future__ import annotations

import numpy as np

from crypsis import inference
from crypsis._assess._questions._asked import Asked, percent, unanswered
from crypsis.policy import Measurement, Policy
from crypsis.release import Release

_FEW_VALUES = 20
"""An ordered column with so few values is guessed like categories: a grade, a yes or no."""


WITHOUT = {
    "inference.best_guess_gain": "All sensitive columns are numbers; their closeness is measured "
    "instead.",
    "inference.ordered_closeness": "No sensitive column holds numbers or dates.",
}
"""Why a measure does not apply, where no sensitive column is of its kind."""


def ask_inference(release: Release, policy: Policy, seed: int) -> Asked:
    """How well the sensitive columns can be guessed from the quasi-identifiers."""
    known, secret = release.quasi_identifiers, release.sensitive
    if not secret:
        text = "No column is sensitive, so there is no secret to guess."
        return unanswered("inference", policy, text, applies=False)
    if not known:
        return unanswered("inference", policy, "No column is named as a quasi-identifier.")
    limits = {one.measure: one.limit for one in policy.of("inference")}
    asked = Asked("")
    found = inference.leakages(release, list(secret), list(known), seed=seed)
    varied = inference.diversity(release)
    for one in found.targets:
        asked.results[f"leakage of {one.target}"] = one
        if categories(release, one.target, varied[one.target].values):
            limit = limits.get("inference.best_guess_gain", 0.2)
            asked.measured.append(_gain(one, limit))
        asked.measured.append(
            Measurement(
                "inference.itpr", one.itpr,
                f"The inference risk of {one.target!r} is {one.itpr:.3g} "
                f"({float(one.itpr_shuffled):.3g} if it were shuffled).",
                (one.target,), one.worst_group.group.size,
            )
        )  # fmt: skip
    asked.results["diversity"] = varied
    for column in varied.columns:
        asked.measured.extend(_diversity(release, column))
    there = {one.measure for one in asked.measured}
    for name, why in WITHOUT.items():
        if name not in there:
            asked.measured.append(Measurement(name, None, why, applies=False))
    guessed = {
        one.columns[0] for one in asked.measured if one.measure.endswith("_gain") and one.columns
    }
    told = [one for one in found.targets if one.target in guessed] or found.targets
    worst = max(told, key=lambda one: (one.best_guess.worst_gain, one.target))
    guess = worst.best_guess
    headline = (
        f"In the worst group a guess of {worst.target!r} is right {percent(guess.worst)} of the "
        f"time, against {percent(guess.prior)} without the release."
    )
    return Asked(headline, asked.measured, asked.results, asked.notes)


def categories(release: Release, name: str, values: int) -> bool:
    """Whether a column is guessed value by value, as numbers with many values are not."""
    return not release.rows.column(name).kind.ordered or values <= _FEW_VALUES


def _gain(one: inference.Leakage, limit: float) -> Measurement:
    guess = one.best_guess
    table = one.table()
    sizes, guesses = (np.asarray(table.column(len(one.given) + i)) for i in (0, 1))
    exposed = int(sizes[guesses > guess.prior + limit].sum())
    return Measurement(
        "inference.best_guess_gain",
        max(0.0, guess.worst_gain),
        f"In the worst group {one.target!r} is guessed right {percent(guess.worst)} of the time "
        f"from {len(one.given)} columns, against {percent(guess.prior)} without them; "
        f"{exposed:,} rows are in groups as bad.",
        (one.target, *one.given),
        exposed,
    )


def _diversity(release: Release, column: inference.ColumnDiversity) -> list[Measurement]:
    name = column.column
    names = (name, *release.quasi_identifiers)
    size = column.worst["t"].size
    text = f"In one group {name!r} is {column.t:.3g} away from how it is in all rows (t)."
    found = [
        Measurement("inference.closeness", column.t, text, names, size),
        Measurement(
            "inference.distinct_values", column.distinct_l,
            f"One group has {column.distinct_l:,} value(s) of {name!r}.",
            names, column.worst["distinct_l"].size,
        ),
    ]  # fmt: skip
    if not categories(release, name, column.values):
        found.append(Measurement("inference.ordered_closeness", column.t, text, names, size))
    return found
