"""The four questions, each asked of a release whose columns all have a role."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis import inference, singling_out
from crypsis.engine import Kind
from crypsis.errors import ColumnError, InputError, TooLarge
from crypsis.policy import Measurement, Policy
from crypsis.release import Release, Role
from crypsis.results import Estimate, Number, Result

_FEW_VALUES = 20
"""An ordered column with so few values is guessed like categories: a grade, a yes or no."""
_SEARCHED_ROWS = 5_000_000
_LARGEST_SET = 3
_ALPHA = 0.05
_WIDEST_SEARCH = 24


@dataclass(frozen=True)
class Asked:
    """What a question brought: numbers for the policy, results for the report, notes."""

    headline: str
    measured: list[Measurement] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    stopped: bool = False


def unanswered(
    question: str, policy: Policy, why: str, *, applies: bool = True, asked: bool = False
) -> Asked:
    """A question without an answer: every threshold of it stays open, or does not apply."""
    measured = [
        Measurement(one.measure, None, why, crowd=one.crowd, applies=applies, asked=asked)
        for one in policy.of(question)
    ]
    return Asked(why, measured)


def guarded(question: str, policy: Policy, ask: Callable[[], Asked]) -> Asked:
    """An answer, or why there is none; errors never quote data."""
    try:
        return ask()
    except (InputError, TooLarge) as error:
        return unanswered(question, policy, str(error), asked=True)


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
    people = sizes * np.array(crowds.class_counts)
    columns = crowds.columns
    asked = Asked("", results={"crowds": crowds})
    whole = max(1, int(people.sum()))
    unique = int(people[sizes == 1].sum())
    small = 5
    for threshold in policy.of("singling_out"):
        if threshold.crowd is not None:
            small = threshold.crowd
            asked.measured.append(_in_small_crowds(crowds, sizes, people, small))
        elif threshold.measure.endswith("smallest_crowd"):
            small = int(threshold.limit)
    below = int(people[sizes < small].sum())
    _add(asked, "singling_out.smallest_crowd", crowds.k,
         f"The smallest crowd has {_people(crowds.k)}.", columns, below)  # fmt: skip
    _add(asked, "singling_out.unique_share", unique / whole,
         f"{unique:,} of {whole:,} {crowds.unit} are like no other.", columns, unique)  # fmt: skip
    _add(asked, "singling_out.average_risk", crowds.marketer.average,
         f"Who looks for everyone finds {crowds.marketer.average:.1%} of the {crowds.unit}.",
         columns, round(crowds.marketer.average * whole))  # fmt: skip
    asked.measured.append(_population(release, asked, seed))
    stopped = search and _sets(release, asked, seed)
    share = below / whole
    headline = (
        f"{_percent(share)} of the {crowds.unit} stand in a crowd smaller than {small}; "
        f"the smallest has {_people(crowds.k)}."
    )
    return Asked(headline, asked.measured, asked.results, asked.notes, stopped)


def _in_small_crowds(
    crowds: singling_out.Crowds, sizes: Any, people: Any, small: int
) -> Measurement:
    below, whole = int(people[sizes < small].sum()), max(1, int(people.sum()))
    return Measurement(
        "singling_out.share_in_small_crowds",
        below / whole,
        f"{below:,} of {whole:,} {crowds.unit} ({_percent(below / whole)}) share their values in "
        f"{len(crowds.columns)} columns with fewer than {small - 1} others; the smallest crowd has "
        f"{_people(crowds.k)}.",
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
        if _categories(release, one.target, varied[one.target].values):
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
    if not any(one.measure == "inference.best_guess_gain" for one in asked.measured):
        text = "All sensitive columns are numbers; their closeness is measured instead."
        asked.measured.append(Measurement("inference.best_guess_gain", None, text, applies=False))
    if not any(one.measure == "inference.ordered_closeness" for one in asked.measured):
        text = "No sensitive column holds numbers or dates."
        asked.measured.append(Measurement("inference.ordered_closeness", None, text, applies=False))
    guessed = {
        one.columns[0] for one in asked.measured if one.measure.endswith("_gain") and one.columns
    }
    told = [one for one in found.targets if one.target in guessed] or found.targets
    worst = max(told, key=lambda one: (one.best_guess.worst_gain, one.target))
    guess = worst.best_guess
    headline = (
        f"In the worst group a guess of {worst.target!r} is right {_percent(guess.worst)} of the "
        f"time, against {_percent(guess.prior)} without the release."
    )
    return Asked(headline, asked.measured, asked.results, asked.notes)


def _categories(release: Release, name: str, values: int) -> bool:
    return not release.rows.column(name).kind.ordered or values <= _FEW_VALUES


def _gain(one: inference.Leakage, limit: float) -> Measurement:
    guess = one.best_guess
    table = one.table()
    sizes, guesses = (np.asarray(table.column(len(one.given) + i)) for i in (0, 1))
    exposed = int(sizes[guesses > guess.prior + limit].sum())
    return Measurement(
        "inference.best_guess_gain",
        max(0.0, guess.worst_gain),
        f"In the worst group {one.target!r} is guessed right {_percent(guess.worst)} of the time "
        f"from {len(one.given)} columns, against {_percent(guess.prior)} without them; "
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
    if not _categories(release, name, column.values):
        found.append(Measurement("inference.ordered_closeness", column.t, text, names, size))
    return found


def ask_linkage(
    release: Release, original: Release | None, policy: Policy, on: str | None, seed: int
) -> Asked:
    """Can an intruder with the original link records back, and trust his links?"""
    if original is None:
        text = "Not asked: the original is needed (--original FILE)."
        return unanswered("linkage", policy, text)
    from crypsis import linkage  # not before it is asked for: it takes a second to load

    names, left = _comparable(original, release, on)
    notes = [_left_out(left)] if left else []
    both: tuple[Any, Any] = (original, release)
    if on is None and original.count == release.count:
        both, gone = _whole_rows(original, release, names)
        if gone:
            notes.append(f"{gone:,} rows with missing values were left out of the links.")
    check = linkage.verify(*both, columns=names, on=on, seed=seed)
    links = linkage.link(*both, columns=names, on=on, seed=seed)
    asked = Asked("", results={"verification": check, "link": links}, notes=notes)
    if check.right is None:
        why = (
            "Nobody knows which masked record belongs to whom: the files differ in their rows. "
            "Name a column of record numbers (--on)."
        )
        asked.measured.append(
            Measurement("linkage.right_links_above_chance", None, why, asked=True)
        )
    else:
        right = check.right
        above = _above(right, check.chance)
        text = (
            f"The nearest masked record is the right one for {right.value:.2%} of "
            f"{check.records:,} records; a blind guess is for {check.chance:.3%}."
        )
        if left:
            text += f" {len(left)} columns without an order or with missing values are left out."
        people = round(right.value * check.records)
        asked.measured.append(
            Measurement(
                "linkage.right_links_above_chance",
                above,
                text,
                check.columns,
                people,
                floor=bool(left),
            )
        )
    if check.dependent is None:
        why = "It needs to be known which masked record belongs to whom (--on)."
        asked.measured.append(Measurement("linkage.nearer_than_strangers", None, why, asked=True))
    else:
        near = check.dependent
        text = (
            f"Originals match nearer than strangers by {near.advantage.value:.3f}; "
            f"{near.discoveries:,} links are too near for chance."
        )
        asked.measured.append(
            Measurement("linkage.nearer_than_strangers", near.advantage, text, check.columns,
                        near.discoveries, floor=bool(left))
        )  # fmt: skip
    headline = asked.measured[0].statement
    return Asked(headline, asked.measured, asked.results, asked.notes)


def _above(right: Estimate, chance: float) -> Estimate:
    low, value, high = (max(0.0, x - chance) for x in (right.low, right.value, right.high))
    return Estimate(value, low, high, right.confidence, right.method, right.assumes)


def _comparable(original: Release, release: Release, on: str | None) -> tuple[list[str], list[str]]:
    """The columns that both files can rank, and why others are left out."""
    names, left = [], []
    aligned = on is None and original.count == release.count
    for column in release.rows.columns:
        name = column.name
        if name == on or name not in original.names:
            continue
        if release.roles.get(name) is Role.IDENTIFIER:
            continue
        before = original.rows.column(name).kind
        ranked = all(kind.ordered or kind is Kind.BOOLEAN for kind in (before, column.kind))
        if ranked and (aligned or not (_missing(original, name) or _missing(release, name))):
            names.append(name)
        else:
            left.append(name)
    if not names:
        raise ColumnError(
            "The original and the release share no column that could be ranked without missing "
            "values; compare them with `crypsis compare --order`."
        )
    return names, left


def _left_out(left: Sequence[str]) -> str:
    return (
        f"Left out of the links: {', '.join(map(repr, left))} (categories without an order, or "
        "missing values). With them an intruder may do better, so the links found are the least "
        "there are; `crypsis compare` takes orders."
    )


def _missing(release: Release, name: str) -> bool:
    return release.rows.tally([name]).missing > 0


def _whole_rows(
    original: Release, release: Release, names: list[str]
) -> tuple[tuple[pa.Table, pa.Table], int]:
    """The rows, aligned, that miss nothing on either side: a missing value has no rank."""
    tables = [one.to_arrow(names) for one in (original, release)]
    whole = pa.chunked_array([pa.array([True] * tables[0].num_rows)])
    for table in tables:
        for column in table.columns:
            whole = pc.and_(whole, pc.is_valid(column))
    kept = [table.filter(whole) for table in tables]
    return (kept[0], kept[1]), tables[0].num_rows - kept[0].num_rows


def ask_pseudonyms(belief: Any, policy: Policy, seed: int) -> Asked:
    """What an attack on the pseudonyms leaves."""
    if belief is None:
        text = "Not asked: an attack is needed (--attack FILE)."
        return unanswered("pseudonyms", policy, text)
    from crypsis import pseudonyms  # as above

    known = belief if isinstance(belief, pseudonyms.Belief) else pseudonyms.Belief(belief)
    found = pseudonyms.measure(known, seed=seed)
    asked = Asked("", results={"anonymity": found})
    degree = float(found.degree)
    asked.measured.append(
        Measurement("pseudonyms.degree_of_anonymity", found.degree,
                    f"{degree:.3f} of the uncertainty between items and pseudonyms is left.")
    )  # fmt: skip
    if found.expected_cracks is None:
        why = "Cracks are counted against the truth, which the attack file does not give."
        asked.measured.append(Measurement("pseudonyms.crack_share", None, why, asked=True))
        return Asked(asked.measured[0].statement, asked.measured, asked.results)
    cracks = float(found.expected_cracks)
    text = f"{cracks:.3g} of {found.size:,} items are expected to be cracked."
    asked.measured.insert(
        0,
        Measurement("pseudonyms.crack_share", _over(found.expected_cracks, found.size), text,
                    people=round(cracks)),
    )  # fmt: skip
    return Asked(text, asked.measured, asked.results)


def _over(number: Number, size: int) -> Number:
    if isinstance(number, Estimate):
        return Estimate(number.value / size, number.low / size, number.high / size,
                        number.confidence, number.method, number.assumes)  # fmt: skip
    return float(number) / size


def _add(
    asked: Asked, name: str, value: Number, text: str, columns: Sequence[str], people: int
) -> None:
    asked.measured.append(Measurement(name, value, text, tuple(columns), people))


def _people(count: int) -> str:
    return "one person" if count == 1 else f"{count:,} people"


def _percent(share: float) -> str:
    """A share in percent that never rounds something to nothing, or nearly all to all."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.3g} %"
