"""The joint risk of a release and earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from crypsis.array_types import Ints
from crypsis.dataset import DESIGN, Data, Dataset, as_dataset, takes_roles
from crypsis.errors import InputError, ParameterError, unknown_columns
from crypsis.options import Roles
from crypsis.releases._differences import Difference, difference
from crypsis.releases._joint import Intersections, intersect
from crypsis.releases._links import Links, ReleasePair, find_links
from crypsis.releases._tables import ReleaseTable, release_table, with_roles_of
from crypsis.releases._weights import Weights, weights_of
from crypsis.results import Estimate, Number, Result
from crypsis.tables.schema import listed

_MAX_NOT_FOUND_SHARE = 0.1
"""Beyond this share of people without a class in the other release, the two cannot be compared."""


class Connection(Result):
    """How an intruder connects the records of a release with those of an earlier one."""

    release: int
    """The number of the earlier release, from 1."""
    by: str
    """ "column": a column of both; "order": the order of the rows; "values": unchanged values; "key":
    the keys of the owner, where columns of one release are not in the other."""
    columns: tuple[str, ...]
    not_found: float
    """The share of the smaller release whose people have no class in the other."""
    difference: Difference


class JointRisk(Result):
    """What a release and earlier ones of the same people disclose together."""

    records: int
    releases: int
    """The number of releases, this one included."""
    k: int
    small_classes: Number
    """The share of records whose person an intruder finds with a probability above 1/k, in one of
    the releases, who knows the classes of a person in all of them."""
    inference_gain: Number
    """The share of sensitive values guessed correctly by all of them together minus by one."""
    near_certain: Number
    """The share of records of which a sensitive value is near-certain only by all of them."""
    small_differences: int
    """The records added, removed or changed that are in classes of them smaller than k."""
    sensitive: str | None
    """The sensitive attribute of which most is inferred."""
    connections: tuple[Connection, ...]
    reused: tuple[str, ...]
    """The columns that connect the records: pseudonyms that were not drawn anew."""
    not_known: tuple[str, ...]
    """Why more may be disclosed than was counted; empty if everything was."""


@takes_roles(without=DESIGN)
def joint_risk(
    data: Data,
    earlier: Sequence[Data],
    *,
    k: int = 5,
    on: str | None = None,
    row_maps: Sequence[Sequence[int]] | None = None,
    **roles: Unpack[Roles],
) -> JointRisk:
    """What an intruder learns who has several releases of the same people.

    The equivalence classes of a person in all releases are intersected: who is left? The records
    are connected by a column that both have (a pseudonym that was kept), by the order of the rows,
    or by values that were not changed. Then the releases are subtracted from each other: who was
    added, removed or changed?

    Parameters
    ----------
    data : Dataset, frame or path
        The release.
    earlier : sequence of Dataset, frame or path
        The earlier releases. Columns have the roles of those of the same name in `data`; others
        need a role of their own, else they are not used, and `not_known` says so.
    k : int
        The class size that is required.
    on : str, optional
        The column that identifies people in all releases; by default it is searched for.
    row_maps : sequence of sequence of int, optional
        The original row of each released row, of the release and then of each earlier one, as in
        their re-identification keys. Only the classes that people are really in are then counted;
        without them all that are possible.
    **roles
        See `crypsis.read`.

    Returns
    -------
    JointRisk

    Raises
    ------
    InputError
        If no earlier release is given, or none of the columns is in it.
    TooLargeError
        Beyond 2,000,000 records, or if too many classes overlap.

    Notes
    -----
    A missing value may be any value. Columns are compared by their names. Where each release has a
    column that the other lacks, they may be the same under other names: without a connection of
    records one by one nothing is then evaluated. A column that one release has more than the other
    is no obstacle. Where nothing connects the records one by one, the number of
    people in two classes is fitted to the counts of both releases (iterative proportional fitting),
    and is an `Estimate` with the bounds that the counts allow.

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008), Composition Attacks and Auxiliary Information in Data
    Privacy. Xiao and Tao (2007), m-Invariance: Towards Privacy Preserving Re-publication of Dynamic
    Datasets.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ages, diseases = ["20-39"] * 5 + ["40-59"] * 5, ["flu", "gout"] * 5
    >>> first = pa.table({"age": ages, "ill": diseases})
    >>> second = pa.table({"age": [*ages, "20-39"], "ill": [*diseases, "flu"]})
    >>> found = joint_risk(second, [first], quasi_identifiers=["age"], sensitive=["ill"])
    >>> found.small_differences
    1
    """
    dataset = as_dataset(data, **roles)
    if not earlier:
        raise InputError("No earlier release was given.", hint="Set {earlier}.")
    if k < 2:
        raise ParameterError(f"Parameter 'k' must be at least 2; {k} was given.", parameter="k")
    earlier_datasets = [with_roles_of(as_dataset(earlier_data), dataset) for earlier_data in earlier]
    _check(dataset, earlier_datasets, on)
    tables = [release_table(release) for release in (dataset, *earlier_datasets)]
    maps = _maps(row_maps, tables)
    pairs = [ReleasePair(tables[0], table) for table in tables[1:]]
    links = [find_links(pair, on) for pair in pairs]
    exact_links = links if maps is None else [Links("key", (), maps[0], row_map) for row_map in maps[1:]]
    # The classes of columns that are not compared cannot be fitted. That people are connected one by
    # one is then more than an intruder knows.
    links = [
        by_key if any(pair.incomparable) and not link.exact else link
        for pair, link, by_key in zip(pairs, links, exact_links, strict=True)
    ]
    differences = [difference(pair, link, k) for pair, link in zip(pairs, exact_links, strict=True)]
    both = list(zip(pairs, links, differences, strict=True))
    weights = [weights_of(pair, link, change.added) for pair, link, change in both]
    back = [
        weights_of(ReleasePair(pair.other_table, pair.table), link.reversed(), change.removed)
        for pair, link, change in both
    ]
    connections = tuple(
        Connection(i + 1, link.by, link.columns, _not_found(pair, here, other_weights), change)
        for i, (pair, link, here, other_weights, change) in enumerate(
            zip(pairs, links, weights, back, differences, strict=True)
        )
    )
    intersections = _intersections(tables, links, weights, back, differences, maps)
    unsure = any(
        (pair.unread or any(pair.incomparable)) and not link.exact
        for pair, link in zip(pairs, links, strict=True)
    )
    small = _worst([intersection.small(k) for intersection, _ in intersections], unsure)
    certain = [intersection.certain_values(rest) for intersection, rest in intersections]
    gains = [intersection.gains(rest) for intersection, rest in intersections]
    most = max(
        (gain for by_attribute in gains for gain in by_attribute.items()),
        key=lambda named_gain: named_gain[1],
        default=(None, 0.0),
    )
    surest = [item for each in certain for item in each.items()]
    named = max(surest, key=lambda named_share: float(named_share[1]), default=(None, 0.0))
    return JointRisk(
        tables[0].rows,
        len(tables),
        k,
        small,
        _worst([most[1]], unsure),
        _worst([share for _, share in surest], unsure),
        sum(difference.small for difference in differences),
        named[0] if float(named[1]) else most[0],
        connections,
        _reused(links, dataset),
        _not_known(pairs, links, connections, tables),
    )


def _check(dataset: Dataset, datasets: Sequence[Dataset], on: str | None) -> None:
    for release in (dataset, *datasets):
        if on is not None and on not in release.names:
            raise unknown_columns([on], release.names)
    for number, release in enumerate(datasets, 1):
        if not set(release.names) & set(dataset.released):
            raise InputError(
                f"Earlier release {number} has no column of this release, so the two cannot be compared.",
                hint="Give the same names to columns of the same meaning.",
            )


def _maps(row_maps: Sequence[Sequence[int]] | None, tables: Sequence[ReleaseTable]) -> list[Ints] | None:
    if row_maps is None:
        return None
    if len(row_maps) != len(tables) or any(
        len(rows) != table.rows for rows, table in zip(row_maps, tables, strict=True)
    ):
        raise ParameterError(
            "Parameter 'row_maps' needs one original row for each record: of the release, and then "
            "of every earlier one.",
            parameter="row_maps",
        )
    return [np.asarray(rows, np.int64) for rows in row_maps]


def _intersections(
    tables: Sequence[ReleaseTable],
    links: Sequence[Links],
    weights: Sequence[Weights],
    back: Sequence[Weights],
    differences: Sequence[Difference],
    maps: list[Ints] | None,
) -> list[tuple[Intersections, Sequence[ReleaseTable]]]:
    """The release with each earlier one and with all of them, and each of them with the release."""
    table, earlier_tables = tables[0], tables[1:]
    sets = [[i] for i in range(len(earlier_tables))]
    if len(earlier_tables) > 1:
        sets.append([*range(len(earlier_tables))])
    intersections: list[tuple[Intersections, Sequence[ReleaseTable]]] = []
    for chosen in sets:
        joint = intersect(
            table,
            [weights[i] for i in chosen],
            exact=all(links[i].exact for i in chosen),
            same_people=all(differences[i].same_people for i in chosen),
            true=[_true(maps, tables, 0, i + 1) for i in chosen],
        )
        intersections.append((joint, [earlier_tables[i] for i in chosen]))
    for i, earlier_table in enumerate(earlier_tables):
        joint = intersect(
            earlier_table,
            [back[i]],
            exact=links[i].exact,
            same_people=differences[i].same_people,
            true=[_true(maps, tables, i + 1, 0)],
        )
        intersections.append((joint, [table]))
    return intersections


def _true(
    maps: list[Ints] | None, tables: Sequence[ReleaseTable], here: int, other_number: int
) -> Ints | None:
    """The class in another release of the person of each row; -1 if they are not in it."""
    if maps is None:
        return None
    order = np.argsort(maps[other_number], kind="stable")
    if not order.size:
        return np.full(maps[here].size, -1)
    at = np.minimum(np.searchsorted(maps[other_number][order], maps[here]), order.size - 1)
    rows = order[at]
    present = (maps[other_number][rows] == maps[here]) & (maps[here] >= 0)
    return np.where(present, tables[other_number].class_of[rows], -1)


def _not_found(pair: ReleasePair, here: Weights, other_weights: Weights) -> float:
    smaller, weights = (
        (pair.table, here) if pair.table.rows <= pair.other_table.rows else (pair.other_table, other_weights)
    )
    return 1 - np.unique(weights.rows).size / smaller.rows if smaller.rows else 0.0


def _worst(numbers: Sequence[Number], unsure: bool) -> Number:
    """The largest; of estimates with the largest ends, and any if labels were not compared."""
    if not numbers:
        return 0.0
    if unsure:
        return Estimate(
            max(map(float, numbers)),
            0.0,
            1.0,
            confidence=1.0,
            method="labels or columns that could not be compared",
        )
    largest = max(numbers, key=float)
    low = max(getattr(number, "low", float(number)) for number in numbers)
    high = max(getattr(number, "high", float(number)) for number in numbers)
    if low == high:
        return float(largest)
    return Estimate(
        max(float(largest), low), low, high, confidence=1.0, method="bounds by the counts of the releases"
    )


def _reused(links: Sequence[Links], dataset: Dataset) -> tuple[str, ...]:
    """Columns that connect records and that the owner did not sign off."""
    columns = [name for link in links if link.by == "column" for name in link.columns]
    return tuple(name for name in dict.fromkeys(columns) if name not in dataset.signed_off)


def _not_known(
    pairs: Sequence[ReleasePair],
    links: Sequence[Links],
    connections: Sequence[Connection],
    tables: Sequence[ReleaseTable],
) -> tuple[str, ...]:
    reasons = []
    if any(table.people is not None for table in tables):
        reasons += [
            f"Whose the records of {'this release' if not i else f'earlier release {i}'} are "
            "is not known: people have several."
            for i, table in enumerate(tables)
            if not table.persons
        ]
    for i, (pair, link, connection) in enumerate(zip(pairs, links, connections, strict=True), 1):
        which = f"earlier release {i}"
        if tables[i].undecided:
            count = len(tables[i].undecided)
            reasons.append(
                f"{count} column{'' if count == 1 else 's'} of {which} "
                f"{'is' if count == 1 else 'are'} undecided."
            )
        if not pair.shared and not link.exact:
            reasons.append(f"No quasi-identifier of {which} is one of this release.")
        if link.exact:
            continue
        here, other_columns = pair.incomparable
        if here and other_columns:
            reasons.append(
                f"{listed(here)} of this release and {listed(other_columns)} of {which} are not "
                "compared: they may be the same under other names."
            )
        if pair.unread:
            reasons.append(
                f"{pair.unread} labels of {which} and of this release could not be "
                "compared: they are not intervals, prefixes or dates."
            )
        if connection.not_found > _MAX_NOT_FOUND_SHARE:
            reasons.append(
                f"{100 * connection.not_found:.3g} % of the records have no class in the "
                f"other release ({which})."
            )
        if link.changed:
            reasons.append(f"{len(link.changed)} columns have other values in {which}.")
        if not connection.difference.same_people:
            reasons.append(f"Whether {which} is of the same people is not known.")
    return tuple(reasons)
