"""What the population, the weights and the households say of the risk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from crypsis import singling_out
from crypsis.assessment._questions._outcome import QuestionOutcome
from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import MissingValues
from crypsis.policies import Measurement
from crypsis.report.wording import plural
from crypsis.results import number_text, percent_text
from crypsis.singling_out import EquivalenceClasses

Named = list[tuple[str, int | None]]
"""Measures of the policy, each with its class size, where it has one."""

_NO_POPULATION = "The population is known neither by a table nor by weights."
_MEASURES: dict[str, tuple[str, ...]] = {
    "journalist": ("journalist_risk", "journalist_average_risk", "journalist_records_at_risk"),
    "individual": ("individual_risk", "individual_average_risk", "individual_records_at_risk"),
    "unique_match": ("unique_match_risk",),
    "household": ("household_risk", "household_average_risk", "households_at_risk"),
    "suda": ("special_uniques", "dis_suda", "dis_suda_records_at_risk"),
    "presence": ("k_map", "delta_presence"),
}


def add_sample_risks(request: Request, outcome: QuestionOutcome, classes: EquivalenceClasses) -> None:
    """Add the measures that need a population, weights or households.

    Results go into the report where the data allows them; measurements where the policy limits them.
    """
    asks: dict[str, Callable[[Request, QuestionOutcome, Named], list[Measurement]]] = {
        "journalist": lambda asked, _, named: _journalist(asked, classes, named),
        "individual": _individual,
        "unique_match": _unique_match,
        "household": _household,
        "suda": _suda,
        "presence": _presence,
    }
    limited = False
    for name, ask in asks.items():
        named = _named(request, name)
        limited |= bool(named) and name != "suda"
        try:
            measured = ask(request, outcome, named)
        except (InputError, TooLargeError) as error:
            measured = [_missing(one, error.message, error.hint, requested=True) for one in named]
        if classes.dropped and name != "journalist":  # nothing is measured of records dropped
            measured = [replace(one, lower_bound=True) for one in measured]
        outcome.measured += measured
    if request.data.weight is not None and not limited:
        outcome.notes.append(
            "No threshold of this policy uses the weights: journalist and individual risk are in "
            "the report only."
        )


def _named(request: Request, group: str) -> Named:
    """The measures of a group that the policy limits."""
    names = {f"singling_out.{name}" for name in _MEASURES[group]}
    return [
        (threshold.measure, threshold.k)
        for threshold in request.policy.thresholds
        if threshold.measure in names
    ]


def _missing(one: tuple[str, int | None], why: str, hint: str, *, requested: bool = False) -> Measurement:
    return Measurement(one[0], None, why, k=one[1], hint=hint, requested=requested)


def _journalist(request: Request, classes: EquivalenceClasses, named: Named) -> list[Measurement]:
    risk, data = classes.risk.journalist, request.data
    if risk is None and isinstance(data.population, Dataset):
        # raises what the classes could not be compared for
        singling_out.population_class_sizes(data, data.quasi_identifiers)
        why = "The equivalence classes were sampled and not compared with the population."
        return [_missing(one, why, "Set {exact=True}.", requested=True) for one in named]
    if risk is None:
        hint = "Set {weight}, or {population} to its table."
        return [_missing(one, _NO_POPULATION, hint) for one in named]
    by = "the table of the population" if isinstance(data.population, Dataset) else "the weights"

    def above(k: int) -> float:
        found = singling_out.equivalence_classes(data, threshold=1 / k).with_dropped_alone()
        assert found.risk.journalist is not None  # noqa: S101 - it was known a moment ago
        return float(found.risk.journalist.share_above)

    return [
        _measurement(
            one, f"journalist risk (by {by})", risk, above, classes.units, classes.unit, classes.columns
        )
        for one in named
    ]


def _individual(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    data = request.data
    if data.weight is None:
        why = "Individual risk needs the weights of the sample."
        return [_missing(one, why, "Set {weight}.") for one in named]
    found = singling_out.individual_risk(data)
    outcome.results["individual_risk"] = found
    return [
        _measurement(
            one,
            "individual risk (by the weights)",
            found,
            lambda k: singling_out.individual_risk(data, threshold=1 / k).share_above,
            found.units,
            found.unit,
            found.columns,
        )
        for one in named
    ]


def _unique_match(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    data = request.data
    if data.person is not None:
        why = "Unique matches are those of records; here a person has several."
        return [_missing(one, why, "") for one in named]
    if data.weight is None and data.population is None:
        return [_missing(one, "The sampling fraction is not known.", "Set {weight}.") for one in named]
    if data.missing is MissingValues.WILDCARD and not named:
        return []
    if data.weight is None and not named:
        return []
    found = singling_out.unique_match_risk(data)
    outcome.results["unique_match"] = found
    if found.probability is None:
        text = "No record is unique in the release, so no match is unique."
        return [Measurement(name, 0.0, text, found.columns, 0) for name, _ in named]
    text = (
        f"A match with one of {found.sample_uniques:,} records that are unique in the sample is "
        f"correct with probability {number_text(found.probability, '.3%')} ({found.design})."
    )
    return [
        Measurement(name, found.probability, text, found.columns, found.sample_uniques) for name, _ in named
    ]


def _household(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    data = request.data
    if data.household is None:
        why = "The households of the records are not known."
        return [_missing(one, why, "Set {household}.") for one in named]
    found = singling_out.household_risk(data)
    outcome.results["household_risk"] = found
    outcome.notes.append(
        "The highest risk that a member of a household is re-identified is "
        f"{percent_text(found.maximum)}, the average {percent_text(found.average)} "
        f"({plural(found.households, 'household')}): one member found finds the others."
    )
    measured = [
        _measurement(
            one,
            "household risk",
            found,
            lambda k: singling_out.household_risk(data, threshold=1 / k).share_above,
            found.households,
            "households",
            found.columns,
        )
        for one in named
    ]
    without = 0 if data.person is not None else data.count - found.members
    if without:
        verb = "has" if without == 1 else "have"
        outcome.notes.append(f"{without:,} of {data.count:,} records {verb} no household.")
        measured = [replace(one, lower_bound=True) for one in measured]
    return measured


def _suda(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    if not named:
        return []
    data = request.data
    if data.person is not None:
        why = "SUDA finds unique records; here a person has several."
        return [_missing(one, why, "") for one in named]
    found = singling_out.suda(data)
    outcome.results["suda"] = found
    measured = []
    for one in named:
        name, k = one
        if name.endswith("special_uniques"):
            share = found.special_uniques / max(found.records, 1)
            text = (
                f"{found.special_uniques:,} of {found.records:,} records ({_percent(share)}) "
                f"are unique in up to {found.max_columns} quasi-identifiers."
            )
            measured.append(Measurement(name, share, text, found.columns, found.special_uniques))
        elif found.dis_maximum is None:
            why = "The sampling fraction is not known."
            measured.append(_missing(one, why, "Set {population} or {weight}."))
        elif k is None:
            text = f"The highest DIS-SUDA score is {_percent(found.dis_maximum)}."
            measured.append(Measurement(name, found.dis_maximum, text, found.columns))
        else:
            share = float(singling_out.suda(data, threshold=1 / k).dis_share_above or 0.0)
            text = f"{_percent(share)} of {found.records:,} records have a DIS-SUDA score above 1/{k}."
            measured.append(Measurement(name, share, text, found.columns, round(share * found.records), k))
    return measured


def _presence(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    data = request.data
    if not isinstance(data.population, Dataset):
        why = "k-map and delta-presence need the table of the population."
        return [_missing(one, why, "Set {population} to its table.") for one in named]
    found = singling_out.delta_presence(data)
    outcome.results["presence"] = found
    if found.unmatched:
        verb = "matches" if found.unmatched == 1 else "match"
        why = (
            f"{found.unmatched:,} of {data.count:,} records {verb} nobody in the table of the "
            "population: it is not their population."
        )
        return [_missing(one, why, "", requested=True) for one in named]
    texts: dict[str, tuple[float, str]] = {
        "singling_out.k_map": (
            found.k_map,
            f"At least {found.k_map:,} records of the population match each record (k-map).",
        ),
        "singling_out.delta_presence": (
            found.high,
            f"Of some people of the population it is known with a probability of "
            f"{_percent(found.high)} that they are in the release.",
        ),
    }
    return [Measurement(name, *texts[name], found.columns) for name, _ in named]


def _measurement(
    one: tuple[str, int | None],
    term: str,
    risk: Any,
    above: Callable[[int], float],
    units: int,
    unit: str,
    columns: tuple[str, ...],
) -> Measurement:
    """The highest risk, the average, or the share above 1/k, as the name of the measure asks."""
    name, k = one
    if k is not None:
        share = above(k)
        text = f"{_percent(share)} of {units:,} {unit} have a {term} above 1/{k}."
        return Measurement(name, share, text, columns, round(share * units), k)
    if "average" in name:
        average = float(risk.average)
        text = f"The average {term} of {units:,} {unit} is {_percent(average)}."
        return Measurement(name, average, text, columns, round(average * units))
    highest = float(risk.maximum)
    return Measurement(name, highest, f"The highest {term} is {_percent(highest)}.", columns)


def _percent(risk: float) -> str:
    """A risk in per cent, with three digits also where it is small."""
    return f"{100 * risk:.3g} %"
