"""l-diversity, t-closeness and related privacy models of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar, Unpack

import numpy as np

from crypsis.counting.grouping import group
from crypsis.dataset import SAMPLE, Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError, RoleError, TooLargeError
from crypsis.inference._attribute_disclosure import (
    AlphaKAnonymity,
    AttributeCounts,
    AttributeDisclosure,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    TCloseness,
)
from crypsis.inference._closeness import GroundDistance, ground_distances
from crypsis.inference.conditional import joint_columns, joint_of
from crypsis.options import Roles
from crypsis.results import Group

_DEFAULT_C = 3.0
"""The c of recursive (c, l)-diversity unless the caller states it."""
_Model = TypeVar("_Model")


@takes_roles(without=SAMPLE)
def l_diversity(
    data: Data, *, c: float = _DEFAULT_C, others_known: bool = False, **roles: Unpack[Roles]
) -> LDiversity:
    """l-diversity: distinct, entropy and recursive (c,l) (Machanavajjhala et al. 2007).

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    c : float
        The c of recursive (c,l)-diversity.
    others_known : bool
        Whether the intruder knows the other sensitive attributes too.
    **roles
        See `crypsis.read`.

    Returns
    -------
    LDiversity
        Of several sensitive attributes the one with the smallest l.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["2*", "2*", "4*", "4*"], "ill": ["flu", "HIV", "flu", "flu"]})
    >>> found = l_diversity(people, quasi_identifiers="age", sensitive="ill")
    >>> found.distinct, found.entropy, found.distinct_class.values
    (1, 1.0, ('4*',))
    """
    _check_c(c)
    diversities = _each(as_seen(data, **roles), others_known, lambda counts: counts.l_diversity(c))
    return min(
        diversities, key=lambda diversity: (diversity.distinct, diversity.entropy, diversity.recursive)
    )


@takes_roles(without=SAMPLE)
def t_closeness(
    data: Data,
    *,
    distances: Mapping[str, GroundDistance] | None = None,
    others_known: bool = False,
    **roles: Unpack[Roles],
) -> TCloseness:
    """t-closeness: the largest distance of a class from all records (Li et al. 2007).

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    distances : mapping, optional
        For a sensitive attribute "equal", "ordered" or a `Hierarchy`; by default numbers, dates and
        times are compared in their order and everything else as equally far apart.
    others_known : bool
        Whether the intruder knows the other sensitive attributes too.
    **roles
        See `crypsis.read`.

    Returns
    -------
    TCloseness
        Of several sensitive attributes the one with the largest t.

    Notes
    -----
    A missing value of an ordered attribute is at distance 1 from every other. Cost: one scan; then
    cells times the logarithm of the number of values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["2*", "2*", "4*", "4*"], "ill": ["flu", "HIV", "flu", "flu"]})
    >>> t_closeness(people, quasi_identifiers="age", sensitive="ill").t
    0.25
    """
    dataset = as_seen(data, **roles)
    ground = ground_distances(dataset, distances)
    closenesses = _each(dataset, others_known, lambda counts: counts.t_closeness(ground[counts.name]))
    return max(closenesses, key=lambda closeness: closeness.t)


@takes_roles(without=SAMPLE)
def beta_likeness(data: Data, *, others_known: bool = False, **roles: Unpack[Roles]) -> BetaLikeness:
    """beta-likeness: the largest relative gain of a value in a class (Cao and Karras 2012).

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    others_known : bool
        Whether the intruder knows the other sensitive attributes too.
    **roles
        See `crypsis.read`.

    Returns
    -------
    BetaLikeness
        Of several sensitive attributes the one with the largest beta.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["2*", "2*", "4*", "4*"], "ill": ["flu", "HIV", "flu", "flu"]})
    >>> beta_likeness(people, quasi_identifiers="age", sensitive="ill").beta
    1.0
    """
    likenesses = _each(as_seen(data, **roles), others_known, AttributeCounts.beta_likeness)
    return max(likenesses, key=lambda likeness: (likeness.beta, likeness.enhanced))


@takes_roles(without=SAMPLE)
def delta_disclosure(data: Data, *, others_known: bool = False, **roles: Unpack[Roles]) -> DeltaDisclosure:
    """delta-disclosure privacy: the largest |log2 q/p| (Brickell and Shmatikov 2008).

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    others_known : bool
        Whether the intruder knows the other sensitive attributes too.
    **roles
        See `crypsis.read`.

    Returns
    -------
    DeltaDisclosure
        Of several sensitive attributes the one with the largest delta.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["2*", "2*", "4*", "4*"], "ill": ["flu", "HIV", "flu", "flu"]})
    >>> found = delta_disclosure(people, quasi_identifiers="age", sensitive="ill")
    >>> found.delta_bits, found.present_bits
    (inf, 1.0)
    """
    disclosures = _each(as_seen(data, **roles), others_known, AttributeCounts.delta_disclosure)
    return max(disclosures, key=lambda disclosure: (disclosure.delta_bits, disclosure.present_bits))


@takes_roles(without=SAMPLE)
def alpha_k_anonymity(data: Data, *, others_known: bool = False, **roles: Unpack[Roles]) -> AlphaKAnonymity:
    """(alpha,k)-anonymity: the largest share of a value in a class, and k (Wong et al. 2006).

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    others_known : bool
        Whether the intruder knows the other sensitive attributes too.
    **roles
        See `crypsis.read`.

    Returns
    -------
    AlphaKAnonymity
        Of several sensitive attributes the one with the largest alpha.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["2*", "2*", "4*", "4*"], "ill": ["flu", "HIV", "flu", "flu"]})
    >>> found = alpha_k_anonymity(people, quasi_identifiers="age", sensitive="ill")
    >>> found.alpha, found.k
    (1.0, 2)
    """
    dataset = as_seen(data, **roles)
    counts = _counts(dataset, others_known)
    k = _smallest(dataset).size
    return max((count.alpha_k_anonymity(k) for count in counts), key=lambda result: result.alpha)


@takes_roles(without=SAMPLE)
def attribute_disclosure(
    data: Data,
    *,
    distances: Mapping[str, GroundDistance] | None = None,
    c: float = _DEFAULT_C,
    others_known: bool = False,
    **roles: Unpack[Roles],
) -> AttributeDisclosure:
    """All models of attribute disclosure for each sensitive attribute, out of one scan.

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    distances : mapping, optional
        The ground distances of t-closeness, as in `t_closeness`.
    c : float
        The c of recursive (c,l)-diversity.
    others_known : bool
        Whether the intruder knows the other sensitive attributes too.
    **roles
        See `crypsis.read`.

    Returns
    -------
    AttributeDisclosure
        k-anonymity, and for each sensitive attribute l-diversity, t-closeness, beta-likeness,
        delta-disclosure privacy and (alpha,k)-anonymity, each with its worst class.

    Raises
    ------
    TooLargeError
        Where there are too many equivalence classes; `leakage` then estimates l and t.

    Notes
    -----
    Missing values count as the dataset sets: as a value of their own or not at all. Cost: one scan;
    then cells times the logarithm of the number of values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["2*", "2*", "4*", "4*"], "ill": ["flu", "HIV", "flu", "flu"]})
    >>> found = attribute_disclosure(people, quasi_identifiers="age", sensitive="ill")
    >>> found.k, found.distinct_l, found["ill"].t_closeness.t
    (2, 1, 0.25)
    >>> print(found)
    Attribute disclosure: 4 records in 2 equivalence classes, k = 2
      ill  l = 1 (distinct), 1 (entropy), 1 (recursive, c = 3); t = 0.25 (equal)
    """
    _check_c(c)
    dataset = as_seen(data, **roles)
    ground = ground_distances(dataset, distances)
    counts = _counts(dataset, others_known)
    classes = dataset.cells(dataset.quasi_identifiers)
    smallest = _smallest(dataset)
    return AttributeDisclosure(
        quasi_identifiers=dataset.quasi_identifiers,
        records=classes.rows,
        dropped=classes.dropped,
        classes=classes.distinct,
        k=smallest.size,
        smallest_class=smallest,
        others_known=others_known,
        attributes=tuple(count.every_model(c, ground[count.name], smallest.size) for count in counts),
    )


def _each(dataset: Dataset, others_known: bool, model: Callable[[AttributeCounts], _Model]) -> list[_Model]:
    return [model(count) for count in _counts(dataset, others_known)]


def _counts(dataset: Dataset, others_known: bool) -> list[AttributeCounts]:
    """Each sensitive attribute in the classes, from one scan unless the cells are too many."""
    quasi_identifiers, sensitive = dataset.quasi_identifiers, dataset.sensitive
    if not quasi_identifiers or not sensitive:
        raise RoleError(
            "Attribute disclosure needs quasi-identifiers and sensitive attributes.",
            code="roles-missing",
            hint="Set {quasi_identifiers} and {sensitive}.",
        )
    if len(sensitive) > 1:
        with suppress(TooLargeError):
            dataset.cells(
                joint_columns(dataset, [*quasi_identifiers, *sensitive])
            )  # kept by the dataset: each attribute is in it
    counts = []
    for name in sensitive:
        known_attributes = [attribute for attribute in sensitive if others_known and attribute != name]
        known_columns = [*quasi_identifiers, *known_attributes]
        counts.append(AttributeCounts(name, joint_of(dataset, name, known_columns)))
    return counts


def _smallest(dataset: Dataset) -> Group:
    """The smallest class, of people where they are known; records without a person are nobody's."""
    names = dataset.quasi_identifiers
    columns = joint_columns(dataset, names)
    classes = dataset.cells(columns)
    if len(columns) > len(names):
        first, member = group(classes.codes[:-1], classes.domains[:-1])
        has_value = classes.codes[-1] != classes.missing_codes[-1]
        people = np.bincount(member[has_value], minlength=first.size).astype(np.int64)
        classes = replace(
            classes,
            columns=names,
            codes=tuple(code[first] for code in classes.codes[:-1]),
            values=classes.values[:-1],
            counts=people,
        )
    sizes = np.where(classes.class_sizes > 0, classes.class_sizes, np.iinfo(np.int64).max)
    return classes.group(int(np.argmin(sizes)))


def _check_c(c: float) -> None:
    if not c > 0:
        raise ParameterError(f"Parameter 'c' must be above 0; {c} was given.", parameter="c")
