"""Can one person be picked out?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from crypsis import singling_out
from crypsis._assess._questions._asked import Asked, people, percent, unanswered
from crypsis.engine import Kind
from crypsis.errors import TooLarge
from crypsis.policy import Measurement, Policy
from crypsis.release import Release, Role
from crypsis.results import Number

_SEARCHED_ROWS = 5_000_000
_LARGEST_SET = 3
_ALPHA = 0.05
_WIDEST_SEARCH = 24


def ask_singling_out(release: Release, policy: Policy, seed: int, *, search: bool = True) -> Asked:
    """The crowds people hide in, the population, and with `search` the sets that single out."""
    if not release.quasi_identifiers:
        return unanswered(
            "singling_out", policy,
            "No column is named as a quasi-identifier, so nobody can say who is alike. Name them "
            "with --qi or in a roles file.",
        )  # fmt: skip
    crowds = singling_out.crowds(release)
    sizes = np.array(crowds.class_sizes)
    members = sizes * np.array(crowds.class_counts)
    columns = crowds.columns
    asked = Asked("", results={"crowds": crowds})
    whole = max(1, int(members.sum()))
    unique = int(members[sizes == 1].sum())
    small = 5
    for threshold in policy.of("singling_out"):
        if threshold.crowd is not None:
            small = threshold.crowd
            asked.measured.append(_in_small_crowds(crowds, sizes, members, small))
        elif threshold.measure.endswith("smallest_crowd"):
            small = int(threshold.limit)
    below = int(members[sizes < small].sum())
    _add(asked, "singling_out.smallest_crowd", crowds.k,
         f"The smallest crowd has {people(crowds.k)}.", columns, below)  # fmt: skip
    _add(asked, "singling_out.unique_share", unique / whole,
         f"{unique:,} of {whole:,} {crowds.unit} are like no other.", columns, unique)  # fmt: skip
    _add(asked, "singling_out.average_risk", crowds.marketer.average,
         f"Who looks for everyone finds {crowds.marketer.average:.1%} of the {crowds.unit}.",
         columns, round(crowds.marketer.average * whole))  # fmt: skip
    asked.measured.append(_population(release, asked, seed))
    stopped = search and _sets(release, asked, seed)
    share = below / whole
    headline = (
        f"{percent(share)} of the {crowds.unit} stand in a crowd smaller than {small}; "
        f"the smallest has {people(crowds.k)}."
    )
    return Asked(headline, asked.measured, asked.results, asked.notes, stopped)


def _in_small_crowds(
    crowds: singling_out.Crowds, sizes: Any, members: Any, small: int
) -> Measurement:
    below, whole = int(members[sizes < small].sum()), max(1, int(members.sum()))
    return Measurement(
        "singling_out.share_in_small_crowds",
        below / whole,
        f"{below:,} of {whole:,} {crowds.unit} ({percent(below / whole)}) share their values in "
        f"{len(crowds.columns)} columns with fewer than {small - 1} others; the smallest crowd has "
        f"{people(crowds.k)}.",
        crowds.columns,
        below,
        small,
    )


def _population(release: Release, asked: Asked, seed: int) -> Measurement:
    """People unique in the population: counted in its table, estimated from its size."""
    name = "singling_out.population_unique_share"
    everyone = release.population
    if everyone is None:
        why = "The population is not known; give its size or its table with --population."
        return Measurement(name, None, why)
    if isinstance(everyone, Release):
        found = singling_out.uniqueness(everyone, release.quasi_identifiers)
        asked.results["population"] = found
        text = f"{found.singletons:,} of {found.rows:,} people of the population are unique."
        return Measurement(
            name, found.fraction, text, found.columns, round(float(found.singletons))
        )
    estimate = singling_out.population_uniqueness(release, seed=seed)
    asked.results["population"] = estimate
    share = estimate.best
    text = (
        f"About {share.value:.3%} of the {estimate.population:,} people of the population are "
        f"unique ({share.low:.3%} to {share.high:.3%}; {estimate.chosen.replace('_', ' ')} model)."
    )
    return Measurement(
        name, share, text, estimate.columns, round(share.value * estimate.population)
    )


def _sets(release: Release, asked: Asked, seed: int) -> bool:
    """Look for sets of columns that single people out; True if the search was stopped."""
    names = [
        column.name
        for column in release.rows.columns
        if release.roles.get(column.name) in (Role.QUASI_IDENTIFIER, Role.OTHER)
        and column.kind is not Kind.NESTED
        and column.name not in (release.person, release.weight)
    ]
    if release.count > _SEARCHED_ROWS:
        names = list(release.quasi_identifiers)
        asked.notes.append("Columns of no role were left out of the search for quasi-identifiers.")
    if len(names) > _WIDEST_SEARCH:
        names = list(release.quasi_identifiers)[:_WIDEST_SEARCH]
        asked.notes.append(f"The search for quasi-identifiers took the first {len(names)} columns.")
    try:
        found = singling_out.find_quasi_identifiers(
            release.with_roles(release.roles),
            _ALPHA,
            columns=names,
            largest=_LARGEST_SET,
            seed=seed,
        )
    except TooLarge as error:
        asked.notes.append(f"No search for quasi-identifiers: {error}")
        return False
    asked.results["quasi_identifiers"] = found
    beside = {
        name for one in found.found for name in one.columns
        if release.roles.get(name) is Role.OTHER
    }  # fmt: skip
    if beside:
        asked.notes.append(
            f"{len(beside)} column(s) of no role single people out as well: "
            f"{', '.join(repr(name) for name in sorted(beside))}. If others may know them, they "
            "are quasi-identifiers."
        )
    return not found.complete


def _add(
    asked: Asked, name: str, value: Number, text: str, columns: Sequence[str], people: int
) -> None:
    asked.measured.append(Measurement(name, value, text, tuple(columns), people))
