"""The verbs of protection: mask columns, anonymize a dataset."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from crypsis.dataset import ColumnNote, Data, Dataset, as_dataset, takes_options, takes_roles
from crypsis.errors import ParameterError, RoleError
from crypsis.options import PlanOptions, Role, Roles
from crypsis.protection._anonymized import Anonymized, Plan
from crypsis.protection._apart import apart_columns, apart_data, apart_method, separated, without_apart
from crypsis.protection._decided import check_decided, check_evidence, check_person
from crypsis.protection._derived import check_derived
from crypsis.protection._key import Key, fresh_seed
from crypsis.protection._loss import InformationLoss
from crypsis.protection._measured import Measured, measure
from crypsis.protection._order import in_random_order, order_notes
from crypsis.protection._people_release import PeopleRequirements, people_release
from crypsis.protection._plan import plan as make_plan
from crypsis.protection._preview import Preview
from crypsis.protection._recode_classes import RecodingKind
from crypsis.protection._rejoined import checked_rejoined
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection._statement import Method
from crypsis.protection.masking._mask import as_compared, changed_columns, check_rare_values, masked_rows
from crypsis.protection.masking._masks import Mask, Pseudonym, ShiftDates, TopCode, as_masks, split_methods
from crypsis.protection.recoding._deadline import time_limit
from crypsis.tables import open_frame


@takes_roles()
def mask(
    data: Data,
    masks: Mapping[Any, str | Mask],
    *,
    seed: int | None = None,
    key: Key | None = None,
    shuffle: bool = False,
    **roles: Unpack[Roles],
) -> Anonymized:
    """Mask columns, each (or several together, as a tuple) by its mask, in the order given.

    Parameters
    ----------
    data : Dataset, frame or path
        The data; it is not changed.
    masks : mapping of str or tuple of str to str or Mask
        The mask of each column or set of columns, such as ``"noise:0.5"``.
    seed : int, optional
        Makes the result reproducible; by default the operating system's randomness.
    key : Key, optional
        A re-identification key whose seed and pseudonym keys are used again.
    shuffle : bool
        Whether the rows are returned in random order; by default row by row as in the original.
    **roles
        See `crypsis.read`.

    Returns
    -------
    Anonymized
        Its `key` alone has the seed, the pseudonym keys and the original of each row.

    Notes
    -----
    Missing values stay missing; types and the order of columns stay. Tables of up to 70 million
    values are masked in memory, larger ones part by part into a private file, with the same result
    for the same seed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from crypsis.protection.masking import Round
    >>> mask(pa.table({"x": [1.0, 2.0, None]}), {"x": Round(base=2)}).frame["x"].to_pylist()
    [0.0, 2.0, None]
    """
    original = as_dataset(data, **roles)
    wanted = {
        names: as_compared(for_person, original.missing)
        for names, for_person in _for_persons(original, as_masks(masks)).items()
    }
    if seed is None:
        seed = fresh_seed() if key is None or key.seed is None else key.seed
    streams = np.random.SeedSequence(seed).spawn(len(wanted) + 1)
    keys = {} if key is None else dict(key.pseudonyms)
    rows = masked_rows(original, wanted, streams[1:], keys)
    rows = open_frame(rows) if isinstance(rows, pa.Table) else rows
    rows, order = in_random_order(rows, None, seed) if shuffle else (rows, None)
    check_rare_values(rows, wanted)
    release = replace(original, rows=rows)
    measured = Measured(release.count, 0, 0)
    if release.quasi_identifiers and release.count:
        privacy_requirements = PrivacyRequirements(people=release.person is not None)
        measured = measure(release, release.quasi_identifiers, privacy_requirements, release)
    methods = tuple(
        Method(
            ", ".join(changed_columns(names, column_mask)),
            column_mask.method,
            column_mask.describe(),
            column_mask.model_dump(exclude={"method"}),
            changed_columns(names, column_mask),
        )
        for names, column_mask in wanted.items()
    )
    loss = InformationLoss(original.count)
    key = Key(seed, order, keys)
    notes = () if shuffle else order_notes(original, ())
    return Anonymized(release, None, measured, loss, key, original, methods, shuffle, notes)


def _for_persons(data: Dataset, masks: Mapping[tuple[str, ...], Mask]) -> dict[tuple[str, ...], Mask]:
    """The masks, those that need the person first, before pseudonyms replace it."""
    person_masks: dict[tuple[str, ...], Mask] = {}
    for names, mask in masks.items():
        if isinstance(mask, ShiftDates) and not mask.person:
            if data.person is None:
                raise RoleError(
                    "Dates are shifted by the same number of days for a person, and whose records "
                    "these are is not known.",
                    code="no-person",
                    hint="Set {person}.",
                )
            mask = mask.model_copy(update={"person": data.person})
        person_masks[names] = mask
    return dict(sorted(person_masks.items(), key=lambda pair: not isinstance(pair[1], ShiftDates)))


@takes_options(PlanOptions)
def anonymize(
    data: Data,
    *,
    k: int | None = None,
    methods: Mapping[Any, str | Mask] | None = None,
    top_code: Mapping[str, float] | None = None,
    levels: Mapping[str, int] | None = None,
    plan: Plan | str | Path | None = None,
    recoding: RecodingKind | None = None,
    unicity: float | None = None,
    events: int = 3,
    inferred: float | None = None,
    order: str | None = None,
    links: str | None = None,
    max_records: int | None = None,
    seed: int | None = None,
    key: Key | None = None,
    verify: bool = True,
    shuffle: bool = True,
    **options: Unpack[PlanOptions],
) -> Anonymized:
    """Anonymize a dataset: mask, plan, recode, measure; refuse what misses the requirements.

    Parameters
    ----------
    data : Dataset, frame or path
        The data; it is not changed.
    k : int, optional
        The smallest equivalence class; see `crypsis.protection.plan`. Needed unless `plan` is set.
        Where a person has several records (`person`), it counts people.
    methods : mapping, optional
        The method of each column: keep, intervals, date, prefix, frequent or suppress; or a mask,
        as an object or written noise:0.5, rank-swap:5, shuffle, microaggregate:10, mdav:10,
        pram:0.8, suppress-rare:5, round:10, top:90, bottom:18, pseudonym, shift:30 (dates by up to
        30 days, the same for all records of a person).
    top_code : mapping of str to float, optional
        Top coding of quasi-identifiers by the plan, of other columns by a mask.
    levels : mapping of str to int, optional
        Generalization levels chosen by hand, as in `crypsis.protection.Preview`.
    plan : Plan or path, optional
        A plan to apply instead of making one.
    recoding : {"local", "subtree", "full-domain"}, optional
        See `crypsis.protection.Plan.apply`; by default as the plan has it, else "local".
    unicity : float, optional
        The share of people whom `events` known records of theirs may single out. Records of a
        person then stay linked by new pseudonyms, as far as that allows; without it the column of
        the person is released as its role says.
    events : int
        The number of known records of a person.
    inferred : float, optional
        The share of sensitive values that the same records may make almost certain, of values that
        at most half of the people have; without it, it is measured and not required.
    order : str, optional
        The column with the time of a record: pseudonyms are given to consecutive records.
    links : {"person", "pieces", "year", "quarter", "month", "week", "90 days"}, optional
        How records stay linked: one pseudonym for each person, and records are dropped where that
        costs less than coarser values; one for pieces of consecutive records; one for each window of
        time (`order` is a date then). By default the pieces or windows that keep most links.
    max_records : int, optional
        The most records of a person that are released; the others are dropped at random.
    seed : int, optional
        Makes masks and the order of the rows reproducible; by default the operating system's
        randomness.
    key : Key, optional
        A re-identification key whose seed and pseudonym keys are used again.
    verify : bool
        Whether the result is measured now; otherwise `Anonymized.write` measures the file.
    shuffle : bool
        Whether the rows are released in random order. Their order is in the key; without it, the
        statement says that the order is that of the original, and what it shows.
    **options
        The options of `crypsis.protection.plan` and the roles; see `crypsis.read`.

    Returns
    -------
    Anonymized
        The release (`data`, `frame`), its `statement`, `key`, `loss` and `plan`.

    Raises
    ------
    RequirementsNotMetError
        If the requirements cannot be met.
    RoleError
        If a column is undecided, or what a record is (`person`: a column, or "each record"), or
        either is decided against strong evidence without a written reason.

    Notes
    -----
    Nothing is released that was not decided: every column needs a role, and direct identifiers and
    excluded columns are not in the release.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 41, 44], "ill": ["flu", "flu", "gout", "flu"]})
    >>> roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "person": "each record"}
    >>> made = anonymize(people, k=2, **roles)
    >>> sorted(made.frame["age"].to_pylist())
    ['<=31', '<=31', '>=32', '>=32']
    """
    roles: Roles = {name: options.pop(name) for name in Roles.__annotations__ if name in options}  # type: ignore[assignment,misc]
    original = as_dataset(data, **roles)
    ready = plan if plan is None or isinstance(plan, Plan) else Plan.load(plan)
    planned = () if ready is None else (*(column.name for column in ready.columns), *ready.removed)
    recoded, masks = split_methods(methods or {})
    check_decided(original, planned)
    check_evidence(original, _pseudonymized(masks))
    check_person(original)
    quasi_identifiers = original.quasi_identifiers
    for name, limit in (top_code or {}).items():
        if name not in quasi_identifiers:
            masks[(name,)] = TopCode(limit=limit)
    if seed is None and key is not None:
        seed = key.seed
    masked = mask(original, masks, seed=seed, key=key) if masks else None
    seed = seed if masked is None else masked.key.seed
    subject = original if masked is None else _without_pseudonyms(masked.data, masks, key is None)
    limits = {name: limit for name, limit in (top_code or {}).items() if name in quasi_identifiers}
    people = PeopleRequirements.of(unicity, events, inferred, order, links, max_records)
    if ready is not None:
        _check_alone({**options, "k": k, "methods": recoded, "top_code": limits})
        people, ready = people.with_plan(ready)
    elif k is None:
        raise ParameterError("Parameter 'k' is not set.", parameter="k", hint="Set {k}.")
    elif k == 1 and not subject.quasi_identifiers:
        _check_unlinked(people)
        anonymized = mask(original, {}, seed=seed) if masked is None else masked
        return _without_recoding(anonymized, subject, apart_columns(original, options.get("apart")))

    def plan_for(dataset: Dataset) -> Plan:
        dataset_plan = ready
        if dataset_plan is None:
            size = 1 if k is None else k  # it is set, or a plan is
            dataset_plan = make_plan(dataset, k=size, methods=recoded, top_code=limits, **options)
        return (
            _on_levels(dataset, dataset_plan, levels or {}) if any((levels or {}).values()) else dataset_plan
        )

    if people.any and seed is None:
        seed = fresh_seed()
    seconds = options.get("time_limit") if ready is None else ready.time_limit
    with time_limit(seconds if people.any else None, several=True) as deadline:
        result = people_release(
            subject, people, plan_for, recoding=recoding, verify=verify, shuffle=shuffle, seed=seed
        )
    if deadline is not None:
        result = replace(result, loss=replace(result.loss, search_stopped=deadline.stopped))
    if masked is None:
        return result
    changed = {name for names, mask in masks.items() for name in changed_columns(names, mask)}
    perturbed = changed - _pseudonymized(masks)
    check_derived(original, result.data, sorted(perturbed), result.key.row_map)
    both = Key(masked.key.seed, result.key.row_map, masked.key.pseudonyms)
    methods_used = masked.methods + result.methods
    return replace(result, methods=methods_used, key=both, original=original)


def _without_recoding(
    anonymized: Anonymized, data: Dataset, column_groups: tuple[tuple[str, ...], ...]
) -> Anonymized:
    """Nothing is to be generalized: the masked columns that are released."""
    files, original = apart_data(data, column_groups, anonymized.key.seed or 0), data
    data = without_apart(data, column_groups)
    kept = data.released
    methods = (*anonymized.methods, *map(apart_method, column_groups))
    loss = separated(anonymized.loss, len(kept), column_groups)
    rows = data.rows.select(kept)
    roles = {name: role for name, role in data.roles.items() if name in kept}
    notes = {name: note for name, note in data.notes.items() if name in kept}
    released = replace(data, rows=rows, roles=roles, notes=notes)
    check_derived(
        original, released, (), None, released_apart=[name for group in column_groups for name in group]
    )
    joined = checked_rejoined(original, released, column_groups, None)
    return replace(anonymized, data=released, apart=files, methods=methods, loss=loss, rejoined=joined)


def _pseudonymized(masks: Mapping[tuple[str, ...], Mask]) -> set[str]:
    return {name for names, mask in masks.items() if isinstance(mask, Pseudonym) for name in names}


def _without_pseudonyms(data: Dataset, masks: Mapping[tuple[str, ...], Mask], fresh: bool) -> Dataset:
    """Pseudonymized columns are not direct identifiers anymore, and are released.

    Pseudonyms of a key of their own that no two records share are unknown to every intruder and
    link nothing; others are part of what an intruder may know.
    """
    hidden = _pseudonymized(masks) - {*data.excluded}
    roles = {n: Role.INSENSITIVE if n in hidden else role for n, role in data.roles.items()}
    notes = {}
    for name in hidden:
        counts = data.rows.tally([name])
        alone = fresh and not counts.missing and counts.distinct == counts.rows
        notes[name] = ColumnNote(
            override="Pseudonyms that this release was given; the key is kept apart.",
            sign_off="New pseudonyms, one for each record; the key is kept apart." if alone else "",
        )
    return data.with_roles(roles, {**data.notes, **notes})


def _check_alone(options: Mapping[str, Any]) -> None:
    """Refuse options that a plan has already: they would have no effect."""
    defaults = {
        name: parameter.default for name, parameter in inspect.signature(make_plan).parameters.items()
    }
    unused = [name for name, value in options.items() if value and value != defaults.get(name)]
    if unused:
        raise ParameterError(
            "The plan has the requirements and the methods already, so other ones have no effect.",
            code="plan-and-options",
            hint=f"Remove {', '.join(f'{{{name}}}' for name in unused)}, or edit the plan.",
            parameters=tuple(unused),
        )


def _check_unlinked(people: PeopleRequirements) -> None:
    """Refuse requirements on records of people where no column is known of them."""
    if people.any:
        raise ParameterError(
            "No column is a quasi-identifier, so nothing is known of the records of a person, and "
            "requirements on them have no effect.",
            code="option-without-effect",
            parameter="unicity" if people.linked is not None else "max_records",
            hint="Set {quasi_identifiers} for the columns that an intruder may know.",
        )


def _on_levels(data: Dataset, plan: Plan, levels: Mapping[str, int]) -> Plan:
    requirements = plan.requirements
    if requirements.population is not None or requirements.each_column is not None:
        raise ParameterError(
            "Levels are chosen by hand for k of the release. For a population or for each column "
            "alone the plan chooses them.",
            parameter="levels",
        )
    return Preview(data, plan).plan_with(levels)
