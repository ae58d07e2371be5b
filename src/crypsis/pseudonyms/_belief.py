"""What an attacker believes: how likely each pseudonym stands for each item."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from crypsis.errors import InputError, ParameterError
from crypsis.pseudonyms._matchings import Indices, Structure, matching_or_deficiency, structure

_SHOWN = 12


class Unmatchable(InputError):  # noqa: N818 - reads as what it is
    """No perfect matching exists; `items` are the labels of items with too few pseudonyms."""

    def __init__(self, message: str, items: tuple[Hashable, ...]) -> None:
        super().__init__(message)
        self.items = items


@dataclass(frozen=True, eq=False)
class Belief:
    """A 0-1 or probability matrix between items (rows) and pseudonyms (columns).

    `matrix` is anything array-like, a SciPy sparse matrix, or a frame whose columns are pseudonyms.
    A 0-1 matrix is an infeasibility attack, anything else a probabilistic one (bagai2017, Sec.
    II-III). Likelihoods need not be scaled: matching probabilities, Delta and Psi do not change
    when a row or a column is multiplied by a constant. `truth`, known to the owner alone, gives the
    pseudonym of each item: column indices in row order, or a dict from item to pseudonym.

    There are no missing values: NaN is refused. Checking costs O(edges * sqrt(t)).

    >>> belief = Belief([[1, 1, 0], [1, 1, 1], [0, 1, 1]], truth=[0, 1, 2])
    >>> belief.size, belief.is_infeasibility, len(belief.structure.blocks)
    (3, True, 1)
    """

    matrix: csr_array = field(repr=False)
    truth: Indices | None = field(default=None, repr=False)
    items: tuple[Hashable, ...] | None = field(default=None, repr=False)
    pseudonyms: tuple[Hashable, ...] | None = field(default=None, repr=False)

    def __init__(
        self,
        matrix: Any,
        truth: Sequence[int] | Mapping[Hashable, Hashable] | None = None,
        items: Sequence[Hashable] | None = None,
        pseudonyms: Sequence[Hashable] | None = None,
    ) -> None:
        values, columns = _read(matrix)
        size = values.shape[0]
        put = object.__setattr__  # a frozen dataclass sets its own fields this way
        put(self, "matrix", values)
        put(self, "items", _labels(items, size, "items"))
        put(
            self,
            "pseudonyms",
            _labels(columns if pseudonyms is None else pseudonyms, size, "pseudonyms"),
        )
        matching, lacking = matching_or_deficiency(values)
        if matching is None:
            raise self._unmatchable(lacking)
        put(self, "_matching", matching)
        put(self, "truth", None if truth is None else self._checked_truth(truth))

    @classmethod
    def from_distances(
        cls,
        distances: Any,
        *,
        bandwidth: float,
        truth: Sequence[int] | Mapping[Hashable, Hashable] | None = None,
        items: Sequence[Hashable] | None = None,
        pseudonyms: Sequence[Hashable] | None = None,
    ) -> Belief:
        """A linkage as a belief: cell exp(-(distance / bandwidth)^2 / 2), as for normal noise.

        `bandwidth` is the distance that the attacker thinks usual between a record and its masked
        form. Infinite distances are infeasible pairs; so is what a sparse matrix does not store (a
        stored 0 is a distance of 0), which is how a linkage hands over its nearest few.

        >>> belief = Belief.from_distances([[0, 2], [2, 0]], bandwidth=1)
        >>> belief.matrix.toarray().round(3)
        array([[1.   , 0.135],
               [0.135, 1.   ]])
        """
        sparse = issparse(distances)
        table: Any = coo_array(distances) if sparse else np.asarray(distances, dtype=np.float64)
        if table.ndim != 2:
            raise InputError(f"Distances are a table, not an array of {table.ndim} dimensions.")
        values: NDArray[np.float64] = table.data if sparse else table[~np.isinf(table)]
        rows, columns = table.coords if sparse else np.nonzero(~np.isinf(table))
        if np.isnan(values).any() or (values < 0).any():
            raise InputError("Distances must be numbers >= 0; some are negative or NaN.")
        if not (np.isfinite(bandwidth) and bandwidth > 0):
            raise ParameterError(f"The bandwidth must be a number above 0, not {bandwidth}.")
        exponents = -((values / bandwidth) ** 2) / 2
        best = np.full(table.shape[0], -np.inf)
        np.maximum.at(best, rows, exponents)
        # Dividing a row by its largest cell changes no probability and keeps it from underflowing.
        cells = csr_array((np.exp(exponents - best[rows]), (rows, columns)), shape=table.shape)
        cells.eliminate_zeros()
        return cls(cells, truth=truth, items=items, pseudonyms=pseudonyms)

    @property
    def size(self) -> int:
        """The number t of items."""
        return int(self.matrix.shape[0])

    @property
    def is_infeasibility(self) -> bool:
        """Whether every cell is 0 or 1: the attacker only rules edges out."""
        return bool(np.all(self.matrix.data == 1.0))

    @cached_property
    def structure(self) -> Structure:
        """One perfect matching and the irreducible blocks."""
        return structure(self.matrix, self._matching)  # type: ignore[attr-defined]

    @cached_property
    def _solutions(self) -> dict[Any, Any]:
        """What was computed already, by the options it was computed with."""
        return {}

    def block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """Some rows and columns as a dense array."""
        return np.asarray(self.matrix[rows][:, columns].toarray())

    def with_truth(self, truth: Sequence[int] | Mapping[Hashable, Hashable]) -> Belief:
        """The same belief held against another truth."""
        return Belief(self.matrix, truth=truth, items=self.items, pseudonyms=self.pseudonyms)

    def knowing(
        self,
        pairs: Mapping[Hashable, Hashable],
        *,
        not_pairs: Sequence[tuple[Hashable, Hashable]] = (),
    ) -> Belief:
        """The belief of an attacker who also knows some pairs, and some that are wrong.

        Pairs are given by label, or by position where there are no labels. Known items count as
        cracked in everything that follows.

        >>> Belief([[1, 1], [1, 1]]).knowing({0: 1}).matrix.toarray()
        array([[0., 1.],
               [1., 0.]])
        """
        values = self.matrix.tolil(copy=True)
        for item, pseudonym in not_pairs:
            values[self._position(item, "items"), self._position(pseudonym, "pseudonyms")] = 0.0
        for item, pseudonym in pairs.items():
            row, column = self._position(item, "items"), self._position(pseudonym, "pseudonyms")
            cell = values[row, column]
            values[row, :] = 0.0
            values[:, column] = 0.0
            values[row, column] = cell
        truth = None if self.truth is None else self.truth.tolist()
        return Belief(values.tocsr(), truth, self.items, self.pseudonyms)

    def _position(self, label: Hashable, kind: str) -> int:
        labels = getattr(self, kind)
        if labels is not None and label in labels:
            return int(labels.index(label))
        if labels is None and isinstance(label, int | np.integer) and 0 <= label < self.size:
            return int(label)
        raise InputError(
            f"A label is not among the {self.size} {kind}. Give labels as they were given to the "
            "belief, or positions from 0 where it has none."
        )

    def _checked_truth(self, truth: Sequence[int] | Mapping[Hashable, Hashable]) -> Indices:
        if isinstance(truth, Mapping):
            found = {
                self._position(i, "items"): self._position(p, "pseudonyms")
                for i, p in truth.items()
            }
            if len(found) != self.size:
                raise InputError(
                    f"The truth gives a pseudonym for {len(found)} of {self.size} items; it must "
                    "for each."
                )
            columns = np.array([found[row] for row in range(self.size)], dtype=np.int64)
        else:
            given = np.asarray(truth)
            if given.shape != (self.size,) or given.dtype.kind not in "iu":
                raise InputError(
                    f"The truth must be {self.size} column positions (whole numbers), one for each "
                    f"item, or a dict from item to pseudonym; this has shape {given.shape}."
                )
            columns = given.astype(np.int64)
        if not np.array_equal(np.sort(columns), np.arange(self.size)):
            raise InputError(
                "The truth is not a permutation: each pseudonym, numbered from 0 to "
                f"{self.size - 1}, must belong to exactly one item."
            )
        impossible = np.flatnonzero(self.matrix[np.arange(self.size), columns] <= 0)
        if impossible.size:
            raise InputError(
                f"The belief rules out the truth for {_listed(impossible)}: an attack that "
                "excludes what is true cannot be measured. Widen what the attacker holds possible."
            )
        return columns

    def _unmatchable(self, rows: Indices) -> Unmatchable:
        reach = np.unique(self.matrix[rows].indices).size
        labels = tuple(self.items[row] if self.items else int(row) for row in rows)
        return Unmatchable(
            f"No one-to-one assignment fits this belief: {_listed(rows)} have only {reach} "
            f"possible pseudonym(s) for {rows.size} items. Check the attack, or the rows named.",
            labels,
        )

    def __repr__(self) -> str:
        kind = "infeasibility" if self.is_infeasibility else "probabilistic"
        known = "without the truth" if self.truth is None else "with the truth"
        return f"Belief({self.size} items, {self.matrix.nnz} possible pairs, {kind}, {known})"


def as_belief(given: Any) -> Belief:
    """A belief as it is; anything else as the matrix of one."""
    return given if isinstance(given, Belief) else Belief(given)


def _read(matrix: Any) -> tuple[csr_array, Sequence[Hashable] | None]:
    """The matrix as sorted compressed rows, and its column names where it is a frame."""
    names: Sequence[Hashable] | None = None
    if issparse(matrix):
        values = csr_array(matrix, dtype=np.float64)
        values.sum_duplicates()
    else:
        if not isinstance(matrix, np.ndarray | list | tuple):
            try:
                frame = nw.from_native(matrix, eager_only=True)
            except TypeError:
                pass
            else:
                names, matrix = frame.columns, frame.to_numpy()
        try:
            dense = np.asarray(matrix, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                "A belief is a square table of numbers; some cells are not."
            ) from error
        if dense.ndim != 2:
            raise InputError(
                f"A belief is a square table, not an array of {dense.ndim} dimensions."
            )
        _check_cells(dense)
        values = csr_array(dense)
    if values.shape[0] != values.shape[1]:
        raise InputError(
            f"A belief is square, as many pseudonyms as items; this one is {values.shape[0]} by "
            f"{values.shape[1]}. For one pseudonym for several items use `group_belief`."
        )
    if values.shape[0] == 0:
        raise InputError("A belief needs at least one item; this one is empty.")
    _check_cells(values.data)
    values.eliminate_zeros()
    values.sort_indices()
    return values, names


def _check_cells(cells: NDArray[np.float64]) -> None:
    if not np.isfinite(cells).all():
        raise InputError(
            "A belief must be finite; some cells are NaN or infinite. A pair about which nothing "
            "is known gets the same likelihood as any other."
        )
    if (cells < 0).any():
        raise InputError("A belief must not be negative; some cells are below 0.")


def _labels(labels: Sequence[Hashable] | None, size: int, kind: str) -> tuple[Hashable, ...] | None:
    if labels is None:
        return None
    found = tuple(labels)
    if len(found) != size or len(set(found)) != size:
        raise InputError(f"There must be {size} {kind}, all different; {len(set(found))} differ.")
    return found


def _listed(rows: Indices) -> str:
    """Items by position, the first few of them."""
    shown = ", ".join(str(int(row) + 1) for row in rows[:_SHOWN])
    more = f" and {rows.size - _SHOWN} more" if rows.size > _SHOWN else ""
    return f"the items in rows {shown}{more}" if rows.size > 1 else f"the item in row {shown}"
