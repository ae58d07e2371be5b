"""Can one person be singled out?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crypsis import singling_out
from crypsis.assessment._questions._everything_else import (
    add_released_classes,
    add_released_uniqueness,
    limited,
)
from crypsis.assessment._questions._histories import add_histories
from crypsis.assessment._questions._outcome import QuestionOutcome, not_evaluated
from crypsis.assessment._questions._sample_risks import add_sample_risks
from crypsis.assessment._questions._together import K_ANONYMITY, SMALL_CLASSES, add_joint_classes
from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import Role
from crypsis.policies import Measurement, Policy
from crypsis.report.wording import listed, plural
from crypsis.results import Number, number_text, percent_text
from crypsis.singling_out import EquivalenceClasses
from crypsis.tables import Kind

POPULATION = "singling_out.population_uniqueness"
_MAX_SEARCHED_ROWS = 5_000_000
"""Of larger tables, sets of columns that single people out are sought among the quasi-identifiers alone."""
_MAX_SET_COLUMNS = 3
"""The sets that are sought have so many columns or fewer."""
_MIN_UNIQUE_SHARE = 0.05
"""From this share of unique people on, a set of columns is a quasi-identifier."""
_MAX_SEARCHED_COLUMNS = 24
"""Where there are more columns, sets are sought among the quasi-identifiers, the first so many."""


def ask_singling_out(request: Request) -> QuestionOutcome:
    """Equivalence classes, re-identification risk, population, and all released columns."""
    people = request.of_people
    outcome = _ask_quasi_identifiers(people)
    add_released_uniqueness(people, outcome)
    add_histories(request, outcome)
    add_released_classes(people, outcome)
    add_joint_classes(people, outcome)
    return outcome


def _ask_quasi_identifiers(request: Request) -> QuestionOutcome:
    """What an intruder can do who knows the quasi-identifiers."""
    data, policy = request.data, request.policy
    if not data.quasi_identifiers:
        return not_evaluated(
            "singling_out", policy, "No column is a quasi-identifier.", hint="Set {quasi_identifiers}."
        )
    classes = _count_classes(request).with_dropped_alone()
    outcome = QuestionOutcome(results={"equivalence_classes": classes})
    if classes.dropped:
        outcome.notes.append(
            f"{plural(classes.dropped, 'record')} with missing values counted as unique: whoever "
            "receives the release receives them, too."
        )
    outcome.measured = _measure_classes(classes, policy)
    outcome.headline = (
        f"{classes.text_below(_class_sizes(policy)[-1])} Re-identification risk: {_risks(classes)}."
    )
    add_sample_risks(request, outcome, classes)
    if classes.smallest is not None:
        if limited(request, POPULATION) is not None:
            outcome.measured.append(_measure_population(request, outcome))
        if request.search and policy.of("singling_out"):
            outcome.stopped = _column_sets(request, outcome)
    elif classes.sampled_fraction < 1:  # the cells of these columns do not fit in memory
        outcome.notes.append(
            f"There are too many equivalence classes to count ({number_text(classes.classes, ',')})"
            f": a sample of {number_text(classes.sampled_fraction, '.2%')} of them was drawn by a "
            "hash of their values and counted completely."
        )
        outcome.hint = "Set {exact=True} to count all."
    return outcome


def _count_classes(request: Request) -> EquivalenceClasses:
    """The equivalence classes; without the risk in a population that they cannot be compared with."""
    data, exact, seed = request.data, request.exact or None, request.seed
    try:
        return singling_out.equivalence_classes(data, exact=exact, seed=seed)
    except (InputError, TooLargeError):
        if not isinstance(data.population, Dataset):
            raise
        alone = replace(data, population=None)
        return singling_out.equivalence_classes(alone, exact=exact, seed=seed)


def _risks(classes: EquivalenceClasses) -> str:
    """The risks of the attackers in a line."""
    risk = classes.risk
    parts = [f"prosecutor {percent_text(risk.prosecutor.maximum)} (highest)"]
    if risk.journalist is not None:
        parts.append(f"journalist {percent_text(risk.journalist.maximum)} (highest)")
    return ", ".join([*parts, f"marketer {percent_text(risk.marketer.average)} (average)"])


def _class_sizes(policy: Policy) -> list[int]:
    """The class sizes that the policy limits, the last of them for the headline."""
    thresholds = policy.of("singling_out")
    sizes = [
        threshold.k or int(threshold.limit)
        for threshold in thresholds
        if threshold.measure in (SMALL_CLASSES, K_ANONYMITY)
    ]
    return sizes or [5]


def _measure_classes(classes: EquivalenceClasses, policy: Policy) -> list[Measurement]:
    """What the equivalence classes say of each measure."""
    columns, unit = classes.columns, classes.unit
    measured = [
        Measurement(
            threshold.measure,
            classes.share_below(threshold.k),
            classes.text_below(threshold.k),
            columns,
            round(classes.records_below(threshold.k)),
            threshold.k,
        )
        for threshold in policy.of("singling_out")
        if threshold.measure == SMALL_CLASSES and threshold.k is not None
    ]
    below = classes.records_below(_class_sizes(policy)[-1])
    unique, k = classes.records_below(2), number_text(classes.k, ",")
    highest, average = classes.risk.prosecutor.maximum, classes.risk.marketer.average
    prosecutor = classes.risk.prosecutor.average
    rows: tuple[tuple[str, Number, str, Number], ...] = (
        ("k_anonymity", classes.k, f"The smallest equivalence class has k = {k} {unit}.", below),
        (
            "sample_uniqueness",
            classes.unique_share,
            f"{number_text(unique, ',')} of {classes.units:,} {unit} "
            f"({percent_text(classes.unique_share)}) are unique in "
            f"{plural(len(columns), 'quasi-identifier')}.",
            unique,
        ),
        (
            "prosecutor_risk",
            highest,
            f"The highest prosecutor risk is {percent_text(highest)} (k = {k}).",
            below,
        ),
        (
            "prosecutor_average_risk",
            prosecutor,
            f"The average prosecutor risk is {percent_text(prosecutor)}.",
            float(prosecutor) * classes.units,
        ),
        (
            "marketer_risk",
            average,
            f"The average re-identification risk (marketer) is {percent_text(average)}.",
            float(average) * classes.units,
        ),
    )
    return measured + [
        Measurement(f"singling_out.{name}", value, text, columns, round(float(affected)))
        for name, value, text, affected in rows
    ]


def _is_generalized(data: Dataset, population: Dataset) -> bool:
    """Whether a column of the release is text where that of the population is not, or has labels
    that the population does not have.
    """
    for name in data.quasi_identifiers:
        mine, theirs = (dataset.cells([name]).values[0] for dataset in (data, population))
        if mine.type != theirs.type or not set(mine.to_pylist()) - {None} <= set(theirs.to_pylist()):
            return True
    return False


def _measure_population(request: Request, outcome: QuestionOutcome) -> Measurement:
    """People unique in the population, or why that is not known."""
    try:
        return _population(request, outcome)
    except (InputError, TooLargeError) as error:
        if not isinstance(request.data.population, Dataset):
            raise
        return Measurement(POPULATION, None, error.message, requested=True, hint=error.hint)


def _population(request: Request, outcome: QuestionOutcome) -> Measurement:
    """People unique in the population: counted in its table, estimated from its size."""
    name, data = POPULATION, request.data
    population = data.population
    if population is None and data.weight is None:
        why = "The population is not known."
        return Measurement(name, None, why, hint="Set {population} to its size or its table.")
    if isinstance(population, Dataset):
        sizes = singling_out.population_class_sizes(data, data.quasi_identifiers)
        larger = int((data.cells(data.quasi_identifiers).class_sizes > sizes).sum())
        if larger:
            why = (
                f"{plural(larger, 'equivalence class')} {'has' if larger == 1 else 'have'} more "
                "records than the table of the population: it is not the population of these records."
            )
            return Measurement(name, None, why, data.quasi_identifiers, requested=True)
        if _is_generalized(data, population):
            alone = int((sizes <= 1).sum())
            text = (
                f"{plural(alone, 'class')} of the release {'covers' if alone == 1 else 'cover'} one "
                f"of the {population.count:,} records of the population or none (k-map: k = "
                f"{int(sizes.min()):,})."
            )
            return Measurement(name, alone / population.count, text, data.quasi_identifiers, alone)
        uniqueness = singling_out.uniqueness(population, data.quasi_identifiers)
        outcome.results["population"] = uniqueness
        text = f"{uniqueness.uniques:,} of {uniqueness.records:,} records of the population are unique."
        return Measurement(name, uniqueness.fraction, text, uniqueness.columns, round(uniqueness.uniques))
    estimate = _by_class_sizes(data)
    if estimate is None:
        return _by_loglinear_model(request, outcome)
    outcome.results["population"] = estimate
    if not estimate.sample_uniques:
        text = "No record of the release is unique in it, so none is unique in the population."
        return Measurement(name, 0, text, estimate.columns, 0)
    share = estimate.best
    text = (
        f"{number_text(share, '.3%')} of the {estimate.population:,} people of the population are "
        "estimated to be unique; the interval has all populations that fit the class sizes."
    )
    hint = "Set {population} to the table of the population, or generalize until k is at least 2."
    affected = round(share * estimate.population)
    return Measurement(name, share, text, estimate.columns, affected, hint=hint)


def _by_class_sizes(data: Dataset) -> singling_out.PopulationUniqueness | None:
    """By the class sizes, of a simple random sample or one in strata; None for other designs."""
    if data.weight is None:
        return singling_out.population_uniqueness(data)
    if data.stratum is None:
        return None
    try:
        return singling_out.population_uniqueness(data)
    except (InputError, TooLargeError):
        return None


def _by_loglinear_model(request: Request, outcome: QuestionOutcome) -> Measurement:
    """The other models assume a simple random sample; with weights a log-linear model is fitted."""
    try:
        model_risk = singling_out.loglinear_risk(request.data)
    except (InputError, TooLargeError) as error:
        outcome.notes.append(f"Population uniqueness was not estimated: {error.message}")
        has_population = request.data.population is not None
        return Measurement(POPULATION, None, error.message, requested=has_population, hint=error.hint)
    outcome.results["loglinear_risk"] = model_risk
    text = (
        f"{100 * model_risk.uniqueness:.3g} % of the {round(model_risk.population):,} people that the "
        "weights sum to are estimated to be unique (log-linear model with "
        f"{plural(len(model_risk.interactions), 'interaction')}). {model_risk.advice}"
    )
    affected = round(model_risk.uniqueness * model_risk.population)
    too_low = model_risk.bias < 0 and model_risk.uncertain
    return Measurement(
        POPULATION, model_risk.uniqueness, text, model_risk.columns, affected, lower_bound=too_low
    )


def _column_sets(request: Request, outcome: QuestionOutcome) -> bool:
    """Search for sets of columns that single people out; True if the search was stopped."""
    data, notes = request.data, outcome.notes
    names: Sequence[str] = [
        column.name
        for column in data.rows.columns
        if column.name in data.knowable
        and column.name not in data.sensitive
        and column.kind is not Kind.NESTED
    ]
    if data.count > _MAX_SEARCHED_ROWS:
        names = data.quasi_identifiers
        notes.append("The search for quasi-identifiers did not include insensitive attributes.")
    if len(names) > _MAX_SEARCHED_COLUMNS:
        searched_columns, released_count = data.quasi_identifiers[:_MAX_SEARCHED_COLUMNS], len(names)
        notes.append(
            f"Which columns single people out together was searched for among "
            f"{plural(len(searched_columns), 'quasi-identifier')}, not among all {released_count} "
            "released columns."
        )
        names = searched_columns
    searched = data.with_roles(data.roles)
    if isinstance(data.population, Dataset) and not {*names} <= {*data.population.names}:
        searched = replace(searched, population=None)
        notes.append(
            "The table of the population does not have all released columns: quasi-identifiers "
            "were searched for in the release."
        )
    try:
        search = singling_out.find_quasi_identifiers(
            searched, _MIN_UNIQUE_SHARE, columns=names, max_columns=_MAX_SET_COLUMNS, seed=request.seed
        )
    except TooLargeError as error:
        notes.append(f"Quasi-identifiers were not searched for: {error.message}")
        return False
    outcome.results["quasi_identifiers"] = search
    insensitive = sorted(
        {name for column_set in search.found for name in column_set.columns}
        & {name for name, role in data.roles.items() if role is Role.INSENSITIVE}
    )
    if insensitive:
        is_single = len(insensitive) == 1
        notes.append(
            f"{plural(len(insensitive), 'insensitive attribute')} "
            f"{'singles' if is_single else 'single'} people out too: {listed(insensitive)}. What an "
            "intruder may know is a quasi-identifier."
        )
    return not search.complete
