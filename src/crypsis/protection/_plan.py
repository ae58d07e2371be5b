"""The search for a plan: requirements from options, and a recoding step for each column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from crypsis.dataset import ColumnNote, Data, Dataset, as_columns, as_dataset, takes_roles
from crypsis.errors import ColumnError, ParameterError, RoleError, unknown_columns
from crypsis.hierarchies import Hierarchy
from crypsis.options import Columns, Roles
from crypsis.protection._anonymized import Plan
from crypsis.protection._apart import apart_columns, without_apart
from crypsis.protection._requirements import PrivacyRequirements, checked_requirements
from crypsis.protection.recoding._choice import (
    ColumnPlan,
    StepChoice,
    check_method,
    default_method,
    sensitive_plan,
)
from crypsis.protection.recoding._column_types import column_types, counted_column_types
from crypsis.protection.recoding._population import population_table
from crypsis.singling_out import max_cells


@takes_roles()
def plan(
    data: Data,
    *,
    k: int,
    beta: float = 0.05,
    release_k: int | None = None,
    diversity: int | None = None,
    entropy_diversity: float | None = None,
    recursive_diversity: tuple[float, int] | None = None,
    closeness: float | None = None,
    best_guess: float | None = None,
    excess: float | None = None,
    beta_likeness: float | None = None,
    delta_disclosure: float | None = None,
    k_map: int | None = None,
    presence: float | None = None,
    average_risk: float | None = None,
    combinations: int | None = None,
    journalist_risk: float | None = None,
    each_column: bool = False,
    weights: Mapping[str, float] | None = None,
    keep: Mapping[str, int | str] | None = None,
    may_change: Columns = (),
    preserve: Sequence[Columns] | None = None,
    apart: Sequence[Columns] | None = None,
    hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
    methods: Mapping[str, str] | None = None,
    top_code: Mapping[str, float] | None = None,
    domains: Mapping[str, float] | None = None,
    suppression: float = 0.05,
    representative: str = "interval",
    rank_error: float | None = None,
    time_limit: float | None = None,
    **roles: Unpack[Roles],
) -> Plan:
    """Plan the recoding with the least information loss that meets the requirements.

    Without a population, k is required of the release: columns are kept, and `Plan.apply` recodes
    the records of small classes. With a population, (1-beta, k)-anonymity is required against it:
    equation (1) gives the number of values each quasi-identifier may keep, and each gets the finest
    step within it.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    k : int
        The smallest equivalence class: of the population if one is given, of each column alone
        with `each_column`, otherwise of the release. With `person` it is k people, whose records
        may be several.
    beta : float
        The probability, for each cell, that its class in the population is smaller than k.
    release_k : int, optional
        The smallest equivalence class of the release, in addition to that of the population.
    diversity : int, optional
        Distinct l-diversity of the sensitive attributes in every class.
    entropy_diversity : float, optional
        Entropy l-diversity.
    recursive_diversity : tuple of float and int, optional
        c and l of recursive (c,l)-diversity.
    closeness : float, optional
        t-closeness.
    best_guess : float, optional
        The largest share of a sensitive value in a class, alpha of (alpha,k)-anonymity.
    excess : float, optional
        By how much the share of a sensitive value or interval in a class may exceed what a model
        without the class predicts; values that at most half of the records have are never
        near-certain. See `inference.value_disclosure`.
    beta_likeness : float, optional
        By how many times its share in all records a sensitive value may gain in a class (basic
        beta-likeness, Cao and Karras 2012).
    delta_disclosure : float, optional
        By how many bits the share of a sensitive value in a class may differ from that in all
        records; every class then has every value (Brickell and Shmatikov 2008).
    k_map : int, optional
        The fewest people of the population's table that match a class; k is then required of the
        release as well. One over it is the journalist risk.
    presence : float, optional
        delta-presence: the highest probability that a person of the population's table is in the
        release (Nergiz et al. 2007).
    average_risk : float, optional
        The average re-identification risk of the records, which a marketer has.
    combinations : int, optional
        k is required of every combination of so many quasi-identifiers, not of all together.
    journalist_risk : float, optional
        The highest journalist risk of a class: 1/F, where a table of the population has F people who
        match it; with weights E[1/F | f], as in `singling_out.individual_risk`.
    each_column : bool
        Whether k is required of every quasi-identifier alone, by quantile groups (section 5.2).
    weights : mapping of str to float, optional
        How much the detail of each column matters; 1 by default, 0 if it may be dropped.
    keep : mapping of str to int or str, optional
        The coarsest level that is allowed of a column: 0 as it is, 1 one level up; of dates also
        month, quarter, half-year, year, decade, 20 years, 40 years or 80 years. Without it a column
        may be generalized fully.
    may_change : str or sequence of str
        Sensitive attributes that may be generalized (by their hierarchy, or as a quasi-identifier
        would be) or dropped, where that costs less than generalizing quasi-identifiers.
    preserve : sequence of str or of pairs of str, optional
        What the release is used for: a column to predict from the quasi-identifiers, a
        quasi-identifier whose distribution matters, or two columns whose association does. The
        search then loses as little of that information as it can, and of the detail second.
    apart : sequence of str or of sequences of str, optional
        Sensitive attributes that are released apart: each entry in a file of its own, without any
        other column and in a random order of its own. Nothing is then required of them, and what
        connects them with the other columns is lost.
    hierarchies : mapping of str to Hierarchy, optional
        The hierarchy of each column, or its file; by that of a sensitive attribute its values are far apart
        (t-closeness).
    methods : mapping of str to str, optional
        The method of each column: keep, intervals, date, prefix, frequent or suppress.
    top_code : mapping of str to float, optional
        Top coding: numbers of at least the limit become the limit.
    domains : mapping of str to float, optional
        The number of values of a column in the population, if the data do not show it.
    suppression : float
        The share of records that may be removed or suppressed as a whole.
    representative : {"interval", "median", "mean"}
        The label of an interval. A mean or median is rounded so that no value of one person follows
        from it: not for whoever knows all other values of the group, nor because it is that of a person.
    rank_error : float, optional
        Quantiles come from a sample with this error.
    time_limit : float, optional
        How many seconds the search of `Plan.apply` takes: it goes on as long as it loses less, and
        then releases the best found, which meets the requirements; `loss.search_stopped` is whether
        there was more to try. A step of the search that has begun is finished. By default the search
        ends by itself, and the same data give the same release.
    **roles
        See `crypsis.read`.

    Returns
    -------
    Plan

    References
    ----------
    lodha2007, sections 3.1 and 4.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 41, 44], "zip": ["02138", "02139", "02138", "02139"]})
    >>> print(plan(people, k=2, quasi_identifiers=["age", "zip"]))
    column  before  after  recoding
    age     4       4      as it is
    zip     2       2      as it is
    """
    dataset = as_dataset(data, **roles)
    released_apart = apart_columns(dataset, apart)
    removed = (*dataset.identifiers, *dataset.excluded)
    dataset = without_apart(dataset, released_apart)
    names = dataset.quasi_identifiers
    if not names:
        raise RoleError(
            "No column is a quasi-identifier.", code="no-quasi-identifiers", hint="Set {quasi_identifiers}."
        )
    people = dataset.population
    of_table = isinstance(people, Dataset)
    if journalist_risk and of_table:  # one over the people who match a class
        k_map = max(k_map or 1, math.ceil(1 / journalist_risk - 1e-9))
    people = people.count if isinstance(people, Dataset) else people
    if each_column and roles.get("population") is not None:
        raise ParameterError(
            "each_column requires k of every column alone, population of all columns together. "
            "Set one of them.",
            parameter="each_column",
        )
    if each_column or combinations is not None or k_map is not None or presence is not None:
        people = None  # the people of a table are matched class by class instead
    other_k = people is not None or each_column or combinations is not None
    requirements = checked_requirements(
        k=(None if other_k else k) if release_k is None else release_k,
        diversity=diversity,
        entropy_diversity=entropy_diversity,
        recursive_diversity=recursive_diversity,
        closeness=closeness,
        best_guess=best_guess,
        excess=excess,
        beta_likeness=beta_likeness,
        delta_disclosure=delta_disclosure,
        k_map=k_map,
        presence=presence,
        average_risk=average_risk,
        combinations=combinations,
        combination_k=None if combinations is None else k,
        each_column=k if each_column else None,
        suppression=suppression,
        people=dataset.person is not None,
        journalist_risk=journalist_risk,
        weighted=journalist_risk is not None and not of_table,
        **({} if people is None else {"population": people, "population_k": k, "beta": beta}),
    )
    noted = {n: t for n, t in _noted(dataset, "hierarchy").items() if t and n not in (methods or {})}
    trees = {name: _tree(tree) for name, tree in {**noted, **(hierarchies or {})}.items()}
    sensitive = _sensitive(dataset, trees, as_columns(may_change), dict(weights or {}))
    column_weights = {name: w for name, w in (weights or {}).items() if name not in dataset.sensitive}
    weights = {**_noted(dataset, "weight"), **column_weights}
    keep = {**_noted(dataset, "keep"), **(keep or {})}
    if time_limit is not None and not 0 < time_limit < math.inf:
        raise ParameterError("The time limit must be a number of seconds above 0.", parameter="time_limit")
    if keep and (people is not None or each_column):
        raise ParameterError(
            "Levels are kept where k is required of the release, not of a population or of each "
            "column alone.",
            parameter="keep",
        )
    uses = _uses(dataset, preserve)
    _check_options(dataset, weights, top_code, trees, methods, domains, keep)
    _check_requirements(dataset, requirements)
    if people is None and not each_column:
        sensitive_names = dataset.sensitive if requirements.about_sensitive else ()
        dataset.cells([*names, *sensitive_names])  # counted once; everything else follows from it
        columns = counted_column_types(dataset, names)
    else:
        columns = column_types(dataset, names, count_numbers=not each_column)
    choice = StepChoice(
        dataset,
        columns,
        dict(weights or {}),
        trees,
        {name: (methods or {}).get(name) or default_method(columns[name]) for name in names},
        dict(top_code or {}),
        dict(domains or {}),
        representative,
        rank_error,
        not each_column,
    )
    _check_choice(choice)
    limit = None
    if each_column:
        chosen = choice.each_column(k)
    elif people is not None:
        limit = max_cells(people, k, beta)
        chosen = choice.within(limit)
    else:
        chosen = choice.finest(keep)
    return Plan(
        requirements=requirements,
        columns=tuple(chosen),
        sensitive=sensitive,
        preserve=uses,
        apart=released_apart,
        removed=removed,
        cells_allowed=limit,
        time_limit=time_limit,
    )


def _sensitive(
    data: Dataset, trees: dict[str, Hierarchy], may_change: Sequence[str], weights: Mapping[str, float]
) -> tuple[ColumnPlan, ...]:
    """The sensitive attributes that have a hierarchy or may change; `trees` loses theirs."""
    if any(name not in data.sensitive for name in may_change):
        raise unknown_columns(may_change, data.sensitive)
    plans = []
    for name in data.sensitive:
        note = data.notes.get(name, ColumnNote())
        change = note.may_change or name in may_change
        tree = trees.pop(name, None)
        if tree is None and change and note.hierarchy:
            tree = Hierarchy.read(note.hierarchy)
        if tree is not None or change:
            weight = weights.get(name, 1.0 if note.weight is None else note.weight)
            plans.append(sensitive_plan(data, name, tree, weight, may_change=change))
    return tuple(plans)


def _noted(data: Dataset, setting: str) -> dict[str, Any]:
    """A setting of the quasi-identifiers in the roles file."""
    settings = {
        name: getattr(note, setting) for name, note in data.notes.items() if name in data.quasi_identifiers
    }
    return {name: value for name, value in settings.items() if value is not None}


def _uses(data: Dataset, preserve: Sequence[Columns] | None) -> tuple[tuple[str, ...], ...]:
    """The columns and pairs of columns whose information is to be preserved."""
    if isinstance(preserve, str):
        preserve = [preserve]
    uses = []
    for group in preserve or ():
        names = as_columns(group)
        released = [name for name in data.names if name in (*data.quasi_identifiers, *data.released)]
        if any(name not in released for name in names):
            raise unknown_columns(names, released)
        quasi_identifiers = {*names} & {*data.quasi_identifiers}
        if not 1 <= len({*names}) <= 2 or (len({*names}) == 2 and not quasi_identifiers):
            raise ParameterError(
                "What is preserved is one column or two, at least one of two a quasi-identifier.",
                parameter="preserve",
                columns=names,
            )
        uses.append(tuple(dict.fromkeys(names)))
    return tuple(dict.fromkeys(uses))


def _tree(hierarchy: Hierarchy | str | Path) -> Hierarchy:
    return hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy.read(hierarchy)


def _check_options(
    data: Dataset,
    weights: Mapping[str, float] | None,
    limits: Mapping[str, float] | None,
    *by_column: Mapping[str, Any] | None,
) -> None:
    for options in (weights, limits, *by_column):
        not_recoded = [name for name in options or {} if name not in data.quasi_identifiers]
        if any(name not in data.names for name in not_recoded):
            raise unknown_columns(not_recoded, data.names)
        if not_recoded:
            raise ColumnError(
                f"Column {not_recoded[0]!r} is not a quasi-identifier, and only those are recoded.",
                code="not-recoded",
                columns=tuple(not_recoded),
                hint="Set {methods} to a mask for other columns, such as noise:0.5.",
            )
    if any(not 0 <= weight < math.inf for weight in (weights or {}).values()):
        raise ParameterError("A weight must be a number of at least 0.", parameter="weights")
    if not all(map(math.isfinite, (limits or {}).values())):
        raise ParameterError("A top code must be a finite number.", parameter="top_code")


def _check_requirements(data: Dataset, requirements: PrivacyRequirements) -> None:
    if requirements.about_population:
        population_table(data)
    least = max(requirements.k or 1, requirements.each_column or 1, requirements.combination_k or 1)
    count, noun, unit = data.count, "record", "records"
    if data.person is not None:
        count, noun, unit = int(data.rows.tally([data.person]).values), "person", "people"
    if least > count:
        raise ParameterError(
            f"Parameter 'k' is {least:,}, but the data have only {count:,} {noun if count == 1 else unit}.",
            hint="Lower {k}.",
            parameter="k",
        )
    if requirements.weighted and data.weight is None:
        raise RoleError(
            "The journalist risk needs the table of the population, or the weights of the sample.",
            code="no-population",
            hint="Set {weight}, or {population} to its table.",
        )
    if requirements.about_sensitive and not data.sensitive:
        raise RoleError(
            "Diversity, closeness, likeness, the best guess and the excess refer to sensitive "
            "attributes, and no column is one.",
            code="no-sensitive-attributes",
            hint="Set {sensitive}.",
        )


def _check_choice(choice: StepChoice) -> None:
    for name, method in choice.methods.items():
        if name not in choice.hierarchies:
            check_method(choice.columns[name], method)
    for name, tree in choice.hierarchies.items():
        tree.check(choice.data.cells([name]).values[0].to_pylist(), name)
    for name in choice.top_code:
        kind = choice.columns[name].kind
        if not kind.numeric:
            raise ParameterError(
                f"Column {name!r} is not numeric but of type {kind.value}. Top coding needs a "
                "numeric column.",
                code="not-numeric",
                hint="Remove it from {top_code}.",
                columns=(name,),
            )
