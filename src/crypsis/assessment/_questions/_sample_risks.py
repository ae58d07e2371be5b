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
        "journalist": lambda judged, _, named: _journalist(judged, classes, named),
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
            measured = [_missing(measure, error.message, error.hint, requested=True) for measure in named]
        if classes.dropped and name != "journalist":  # nothing is measured of records dropped
            measured = [replace(measurement, lower_bound=True) for measurement in measured]
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


def _missing(measure: tuple[str, int | None], why: str, hint: str, *, requested: bool = False) -> Measurement:
    return Measurement(measure[0], None, why, k=measure[1], hint=hint, requested=requested)


def _journalist(request: Request, classes: EquivalenceClasses, named: Named) -> list[Measurement]:
    risk, data = classes.risk.journalist, request.data
    if risk is None and isinstance(data.population, Dataset):
        # raises what the classes could not be compared for
        singling_out.population_class_sizes(data, data.quasi_identifiers)
        why = "The equivalence classes were sampled and not compared with the population."
        return [_missing(measure, why, "Set {exact=True}.", requested=True) for measure in named]
    if risk is None:
        hint = "Set {weight}, or {population} to its table."
        return [_missing(measure, _NO_POPULATION, hint) for measure in named]
    by = "the table of the population" if isinstance(data.population, Dataset) else "the weights"

    def above(k: int) -> float:
        class_sizes = singling_out.equivalence_classes(data, threshold=1 / k).with_dropped_alone()
        assert class_sizes.risk.journalist is not None  # noqa: S101 - it was known a moment ago
        return float(class_sizes.risk.journalist.share_above)

    return [
        _measurement(
            measure, f"journalist risk (by {by})", risk, above, classes.units, classes.unit, classes.columns
        )
        for measure in named
    ]


def _individual(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    data = request.data
    if data.weight is None:
        why = "Individual risk needs the weights of the sample."
        return [_missing(measure, why, "Set {weight}.") for measure in named]
    risk = singling_out.individual_risk(data)
    outcome.results["individual_risk"] = risk
    return [
        _measurement(
            measure,
            "individual risk (by the weights)",
            risk,
            lambda k: singling_out.individual_risk(data, threshold=1 / k).share_above,
            risk.units,
            risk.unit,
            risk.columns,
        )
        for measure in named
    ]


def _unique_match(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    data = request.data
    if data.person is not None:
        why = "Unique matches are those of records; here a person has several."
        return [_missing(measure, why, "") for measure in named]
    if data.weight is None and data.population is None:
        return [
            _missing(measure, "The sampling fraction is not known.", "Set {weight}.") for measure in named
        ]
    if data.missing is MissingValues.WILDCARD and not named:
        return []
    if data.weight is None and not named:
        return []
    match_risk = singling_out.unique_match_risk(data)
    outcome.results["unique_match"] = match_risk
    if match_risk.probability is None:
        text = "No record is unique in the release, so no match is unique."
        return [Measurement(name, 0.0, text, match_risk.columns, 0) for name, _ in named]
    text = (
        f"A match with one of {match_risk.sample_uniques:,} records that are unique in the sample is "
        f"correct with probability {number_text(match_risk.probability, '.3%')} ({match_risk.design})."
    )
    return [
        Measurement(name, match_risk.probability, text, match_risk.columns, match_risk.sample_uniques)
        for name, _ in named
    ]


def _household(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    data = request.data
    if data.household is None:
        why = "The households of the records are not known."
        return [_missing(measure, why, "Set {household}.") for measure in named]
    household_risk = singling_out.household_risk(data)
    outcome.results["household_risk"] = household_risk
    outcome.notes.append(
        "The highest risk that a member of a household is re-identified is "
        f"{percent_text(household_risk.maximum)}, the average {percent_text(household_risk.average)} "
        f"({plural(household_risk.households, 'household')}): one member found finds the others."
    )
    measured = [
        _measurement(
            measure,
            "household risk",
            household_risk,
            lambda k: singling_out.household_risk(data, threshold=1 / k).share_above,
            household_risk.households,
            "households",
            household_risk.columns,
        )
        for measure in named
    ]
    without_household = 0 if data.person is not None else data.count - household_risk.members
    if without_household:
        verb = "has" if without_household == 1 else "have"
        outcome.notes.append(f"{without_household:,} of {data.count:,} records {verb} no household.")
        measured = [replace(measurement, lower_bound=True) for measurement in measured]
    return measured


def _suda(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    if not named:
        return []
    data = request.data
    if data.person is not None:
        why = "SUDA finds unique records; here a person has several."
        return [_missing(measure, why, "") for measure in named]
    suda_scores = singling_out.suda(data)
    outcome.results["suda"] = suda_scores
    measured = []
    for measure in named:
        name, k = measure
        if name.endswith("special_uniques"):
            share = suda_scores.special_uniques / max(suda_scores.records, 1)
            text = (
                f"{suda_scores.special_uniques:,} of {suda_scores.records:,} records ({_percent(share)}) "
                f"are unique in up to {suda_scores.max_columns} quasi-identifiers."
            )
            measured.append(Measurement(name, share, text, suda_scores.columns, suda_scores.special_uniques))
        elif suda_scores.dis_maximum is None:
            why = "The sampling fraction is not known."
            measured.append(_missing(measure, why, "Set {population} or {weight}."))
        elif k is None:
            text = f"The highest DIS-SUDA score is {_percent(suda_scores.dis_maximum)}."
            measured.append(Measurement(name, suda_scores.dis_maximum, text, suda_scores.columns))
        else:
            share = float(singling_out.suda(data, threshold=1 / k).dis_share_above or 0.0)
            text = f"{_percent(share)} of {suda_scores.records:,} records have a DIS-SUDA score above 1/{k}."
            measured.append(
                Measurement(name, share, text, suda_scores.columns, round(share * suda_scores.records), k)
            )
    return measured


def _presence(request: Request, outcome: QuestionOutcome, named: Named) -> list[Measurement]:
    data = request.data
    if not isinstance(data.population, Dataset):
        why = "k-map and delta-presence need the table of the population."
        return [_missing(measure, why, "Set {population} to its table.") for measure in named]
    presence = singling_out.delta_presence(data)
    outcome.results["presence"] = presence
    if presence.unmatched:
        verb = "matches" if presence.unmatched == 1 else "match"
        why = (
            f"{presence.unmatched:,} of {data.count:,} records {verb} nobody in the table of the "
            "population: it is not their population."
        )
        return [_missing(measure, why, "", requested=True) for measure in named]
    texts: dict[str, tuple[float, str]] = {
        "singling_out.k_map": (
            presence.k_map,
            f"At least {presence.k_map:,} records of the population match each record (k-map).",
        ),
        "singling_out.delta_presence": (
            presence.high,
            f"Of some people of the population it is known with a probability of "
            f"{_percent(presence.high)} that they are in the release.",
        ),
    }
    return [Measurement(name, *texts[name], presence.columns) for name, _ in named]


def _measurement(
    measure: tuple[str, int | None],
    term: str,
    risk: Any,
    above: Callable[[int], float],
    units: int,
    unit: str,
    columns: tuple[str, ...],
) -> Measurement:
    """The highest risk, the average, or the share above 1/k, as the name of the measure asks."""
    name, k = measure
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
