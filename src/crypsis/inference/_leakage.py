"""Leakage: what given columns reveal about a target (itpr2019).

With a direct identifier as target it is the risk of re-identification, with a sensitive attribute
that of inference. Logarithms are to base 2.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.counting.estimates import CONFIDENCE
from crypsis.dataset import SAMPLE, Data, Dataset, as_columns, as_dataset, takes_roles
from crypsis.errors import ColumnError, ParameterError, TooLargeError
from crypsis.inference._contributions import contributions
from crypsis.inference._counted_classes import all_classes
from crypsis.inference._leakage_result import Leakage, Leakages, leakage_of
from crypsis.inference._many_classes import DRAWN_CLASSES, many_classes
from crypsis.inference._uniqueness import UniquenessBasis, uniqueness_basis
from crypsis.inference.conditional import Conditional, check_at_least, checked_columns, joint_columns
from crypsis.options import Columns, Roles
from crypsis.results import Estimate, Number


@takes_roles(without=SAMPLE)
def leakage(
    data: Data,
    target: str,
    columns: Columns | None = None,
    *,
    unique: bool | None = None,
    prove: bool = False,
    exact: bool = False,
    sample: int | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> Leakage:
    """How much the given columns reveal about the target.

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    target : str
        The column to infer: a sensitive attribute, or an identifier.
    columns : Columns, optional
        What the intruder knows; by default the quasi-identifiers.
    unique : bool, optional
        Whether the values of the target are all different. If not set, a target without a repeated
        value in the first million records of a longer table is counted to prove that it is.
    prove : bool
        Count whether they are.
    exact : bool
        Have the engine count all classes where they are too many to fetch, instead of a sample.
    sample : int, optional
        Count about so many classes instead of all; by default a million where all are too many.
    confidence : float
        The confidence level of the intervals of estimates.
    seed : int
        The seed of the sample and of the shuffled target.
    **roles
        See `crypsis.read`.

    Returns
    -------
    Leakage
        All measures; each is exact or an `Estimate`.

    Notes
    -----
    Read `itpr` together with `itpr_independent` and `itpr_shuffled`: a rare class alone makes it
    high, even if nothing can be inferred from it. `best_guess` is the number to decide on. Every
    measure of a constant target is 0, except `entropy_l_diversity` and `best_guess`, which are 1.

    Missing values count as the dataset sets: as a value of their own or not at all; as wildcards
    they have no distribution, which is an error. Cost: one scan that counts the given columns and
    the target (a unique target is not counted). Where there are too many classes, four scans: about
    `sample` classes are drawn by a hash of their values, those that are frequent in a sample of
    records are added, and all records of these are counted. With `exact` measures that need the
    classes themselves are None.

    References
    ----------
    itpr2019, formulas (1) to (10), (13) and Definition 4.2, in the reading that reproduces its
    tables. Estimates: `crypsis.counting.estimates.row_mean`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 30, 47], "disease": ["flu", "gout", "flu", "HIV"]})
    >>> found = leakage(people, "disease", ["age"])
    >>> found.itpr, found.best_guess.prior, found.best_guess.average, found.best_guess.worst
    (1.0, 0.5, 0.75, 1.0)
    >>> found.worst_class.group.size, found.worst_class.guess
    (1, 'HIV')
    """
    _check(exact, sample, seed)
    dataset = as_dataset(data, **roles)
    names = checked_columns(target, dataset.quasi_identifiers if columns is None else columns, dataset.names)
    dataset = dataset.as_written(names)
    basis = uniqueness_basis(dataset, target, unique, prove)
    return _of_dataset(dataset, target, names, basis, exact, sample, confidence, seed)


@takes_roles(without=SAMPLE)
def leakages(
    data: Data,
    targets: Columns,
    given: Columns | None = None,
    *,
    unique: Columns = (),
    prove: bool = False,
    exact: bool = False,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> Leakages:
    """`leakage` of several targets out of one scan.

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    targets : Columns
        The columns to infer.
    given : Columns, optional
        What the intruder knows; by default the quasi-identifiers.
    unique : Columns
        The targets whose values are all different.
    prove : bool
        Count whether targets are unique.
    exact : bool
        Have the engine count all classes where they are too many to fetch, instead of a sample.
    confidence : float
        The confidence level of the intervals of estimates.
    seed : int
        The seed of samples and of shuffled targets.
    **roles
        See `crypsis.read`.

    Returns
    -------
    Leakages
        One `Leakage` for each target.

    Notes
    -----
    Where all targets together have too many combinations with the given columns, each target is
    scanned by itself.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"id": [1, 2, 3], "age": [30, 30, 47], "ill": ["flu", "flu", "HIV"]})
    >>> found = leakages(people, ["id", "ill"], ["age"], unique=["id"])
    >>> found["id"].best_guess.average, found["ill"].best_guess.average
    (0.6666666666666666, 1.0)
    """
    _check(exact, None, seed)
    dataset = as_dataset(data, **roles)
    columns, declared = as_columns(targets), as_columns(unique)
    if not columns or len(set(columns)) < len(columns):
        raise ColumnError("Targets are at least one column, each named once.", hint="Set {target}.")
    for name in declared:
        if name not in columns:
            raise ColumnError(f"Column {name!r} is declared unique, but it is not a target.", columns=(name,))
    known_columns = dataset.quasi_identifiers if given is None else given
    names = checked_columns(columns[0], known_columns, dataset.names)
    for target in columns[1:]:
        checked_columns(target, names, dataset.names)
    dataset = dataset.as_written(names)
    basis = {
        target: uniqueness_basis(dataset, target, True if target in declared else None, prove)
        for target in columns
    }
    counted = [target for target in columns if not basis[target].unique]
    if len(counted) > 1:
        with suppress(TooLargeError):
            dataset.cells(
                joint_columns(dataset, [*names, *counted])
            )  # kept by the dataset: each target comes from it
    return Leakages(
        tuple(names),
        tuple(
            _of_dataset(dataset, target, names, basis[target], exact, None, confidence, seed)
            for target in columns
        ),
    )


def _check(exact: bool, sample: int | None, seed: int) -> None:
    check_at_least("seed", seed, 0)
    check_at_least("sample", 1 if sample is None else sample, 1)
    if sample is not None and exact:
        raise ParameterError("A sample of the classes is not exact.", hint="Set either {sample} or {exact}.")


def _of_dataset(
    dataset: Dataset,
    target: str,
    names: list[str],
    basis: UniquenessBasis,
    exact: bool,
    sample: int | None,
    confidence: float,
    seed: int,
) -> Leakage:
    """From the cells of all classes, or else from those that can be counted."""
    if sample is None:
        with suppress(TooLargeError):
            person = dataset.person
            unique = basis.unique and person is None  # people have several values of it
            cells = dataset.cells(names if unique else joint_columns(dataset, [*names, target]))
            ordered = dataset.rows.column(target).kind.ordered
            counted = None if unique else target
            result, classes = all_classes(cells, names, counted, ordered, person)
            added = contributions(cells, names, counted, result, person)
            return leakage_of(classes, target, names, basis, _shuffled_itpr(result, seed), added)
    many = many_classes(
        dataset,
        names,
        target,
        basis,
        sample=sample or DRAWN_CLASSES,
        exact=exact,
        confidence=confidence,
        seed=seed,
    )
    shuffled = 0.0 if many.entropy == 0 else None
    if shuffled is None and int(many.sizes.min()) == 1 and not basis.unique:
        shuffled = 1.0
    return leakage_of(many, target, names, basis, shuffled, ())


_SHUFFLES = 100
"""Shuffles of the target at most: 95 % of them lie between their quantiles of 2.5 and 97.5 %."""
_MAX_PERMUTED_RECORDS = 20_000
"""Of more records the counts of the smallest classes are drawn instead of permuting the target."""
_MAX_DRAWN_COUNTS = 2_000_000
"""Counts that are drawn in all; where they are too many, fewer shuffles and classes are."""


def _shuffled_itpr(conditional: Conditional, seed: int) -> Number:
    """ITPR of a shuffled target: the median of seeded shuffles, and where 95 % of them lie.

    Exact, hence a float, where shuffling cannot change it. Up to 20,000 records the target is
    permuted; beyond, the counts of the smallest classes, where the maximum lies, are drawn from the
    distribution of all records, which then hardly differs from a permutation. Of very many classes
    of nearly one size some are omitted, which may understate it slightly.
    """
    smallest = int(conditional.sizes.min())
    trivial = conditional.entropy == 0 or len(conditional.classes) == 1
    if conditional.totals is None or trivial:
        return conditional.itpr
    totals = _integer_counts(conditional.totals)
    if totals.max() == 1:
        return conditional.itpr
    if smallest == 1:
        return 1.0
    random = np.random.default_rng(seed)
    if conditional.records <= _MAX_PERMUTED_RECORDS:
        lowest = _permuted(conditional.sizes, totals, random)
        method = f"{lowest.size} permutations"
    else:
        lowest = _drawn(conditional.sizes, totals, random)
        method = f"{lowest.size} draws for the smallest classes"
    shuffled = 1 - len(conditional.classes) * lowest / (conditional.records * conditional.entropy)
    low, middle, high = np.quantile(shuffled, [0.025, 0.5, 0.975])
    return Estimate(float(middle), float(low), float(high), method=f"{method}, seed {seed}")


def _integer_counts(totals: NDArray[Any]) -> Ints:
    """Counts that add up to the same: of people spread over their records the nearest."""
    lower = np.floor(totals + 1e-9).astype(np.int64)
    left = round(float(totals.sum())) - int(lower.sum())
    lower[np.argsort(lower - totals, kind="stable")[:left]] += 1
    return lower


def _permuted(sizes: Ints, totals: Ints, random: np.random.Generator) -> Floats:
    """The smallest n_y H_y over the classes, shuffle by shuffle."""
    target = np.repeat(np.arange(totals.size), totals)
    group = np.repeat(np.arange(sizes.size), sizes) * totals.size
    lowest = np.empty(_SHUFFLES)
    for i in range(_SHUFFLES):
        random.shuffle(target)
        keys = np.sort(group + target)
        ends = np.flatnonzero(np.diff(keys, append=-1))
        counts = np.diff(ends, prepend=-1)
        member = keys[ends] // totals.size
        share = counts / sizes[member]
        lowest[i] = np.bincount(member, -counts * np.log2(share)).min()
    return np.maximum(lowest, 0.0)


def _drawn(sizes: Ints, totals: Ints, random: np.random.Generator) -> Floats:
    values = totals[totals > 0]
    shuffles = int(np.clip(_MAX_DRAWN_COUNTS // values.size, 10, _SHUFFLES))
    most = max(1, _MAX_DRAWN_COUNTS // (values.size * shuffles))
    few = np.sort(sizes)[:most]
    counts = random.multinomial(few, values / values.sum(), size=(shuffles, few.size))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, -counts * np.log2(counts / few[:, None]), 0.0)
    return np.asarray(terms.sum(axis=2).min(axis=1))
