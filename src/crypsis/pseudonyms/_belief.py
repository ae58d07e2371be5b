"""The belief matrix of an intruder: how likely each pseudonym belongs to each item."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Ints
from crypsis.errors import InputError, ParameterError
from crypsis.pseudonyms._kinds import KindMatrix, merge_kinds
from crypsis.pseudonyms._matchings import BlockStructure, block_structure, matching_or_deficiency
from crypsis.scientific import sparse

Matching: TypeAlias = Sequence[int] | Mapping[Hashable, Hashable]
"""The pseudonym of each item: column positions in row order, or a dict from item to pseudonym."""


class NoPerfectMatchingError(InputError):
    """No assignment gives each item a pseudonym of its own.

    `items` has the labels of items that share too few possible pseudonyms.
    """

    code = "no-perfect-matching"

    def __init__(self, message: str, *, items: tuple[Hashable, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.items = items


@dataclass(frozen=True, eq=False)
class Belief:
    """A belief matrix between items (rows) and pseudonyms (columns).

    A 0-1 matrix is an infeasibility attack, any other a probabilistic attack. Likelihoods need not
    be scaled: multiplying a row or a column by a constant changes neither the matching
    probabilities nor the degree of anonymity nor the expected cracks.

    Parameters
    ----------
    matrix : array-like, SciPy sparse matrix or frame
        Square, with likelihoods of at least 0. The columns of a frame are the pseudonyms.
    truth : sequence of int or dict, optional
        The pseudonym of each item, known to the owner alone: column positions in row order, or a
        dict from item to pseudonym.
    items, pseudonyms : sequence, optional
        The labels of the rows and of the columns.
    pairs : array of int, optional
        The number of transactions with each two pseudonyms, in column order.

    Raises
    ------
    NoPerfectMatchingError
        If no assignment gives each item a pseudonym of its own.

    Notes
    -----
    There are no missing values: NaN is refused. Identical rows and identical columns are stored
    once with their numbers (`kinds`); checking takes O(edges * sqrt(t)) time, counted in kinds.

    References
    ----------
    bagai2017, Sec. II and III.

    Examples
    --------
    >>> belief = Belief([[1, 1, 0], [1, 1, 1], [0, 1, 1]], truth=[0, 1, 2])
    >>> belief.size, belief.is_infeasibility, len(belief.structure.blocks)
    (3, True, 1)
    """

    kinds: KindMatrix = field(repr=False)
    truth: Ints | None = field(default=None, repr=False)
    items: tuple[Hashable, ...] | None = field(default=None, repr=False)
    pseudonyms: tuple[Hashable, ...] | None = field(default=None, repr=False)
    pairs: Any = field(default=None, repr=False)

    def __init__(
        self,
        matrix: Any,
        truth: Matching | None = None,
        items: Sequence[Hashable] | None = None,
        pseudonyms: Sequence[Hashable] | None = None,
        pairs: Any = None,
    ) -> None:
        columns: Sequence[Hashable] | None = None
        if isinstance(matrix, KindMatrix):
            kinds = matrix
        else:
            values, columns = _read_matrix(matrix)
            kinds = merge_kinds(values)
        size = kinds.size
        put = object.__setattr__  # a frozen dataclass sets its own fields this way
        put(self, "kinds", kinds)
        put(self, "pairs", pairs)
        put(self, "items", _check_labels(items, size, "items"))
        names = columns if pseudonyms is None else pseudonyms
        put(self, "pseudonyms", _check_labels(names, size, "pseudonyms"))
        matching, deficient = matching_or_deficiency(kinds)
        if matching is None:
            raise self._no_matching(deficient)
        put(self, "_matching", matching)
        put(self, "truth", None if truth is None else self._possible(truth))

    @classmethod
    def from_distances(
        cls,
        distances: Any,
        *,
        bandwidth: float,
        truth: Matching | None = None,
        items: Sequence[Hashable] | None = None,
        pseudonyms: Sequence[Hashable] | None = None,
    ) -> Belief:
        """A belief from distances: cell exp(-(distance / bandwidth)^2 / 2), as for normal noise.

        Parameters
        ----------
        distances : array-like or SciPy sparse matrix
            Distances of at least 0. Infinite distances are infeasible pairs, and so is what a
            sparse matrix does not store; a stored 0 is a distance of 0.
        bandwidth : float
            The distance that the intruder expects between a record and its masked form.
        truth, items, pseudonyms
            See `Belief`.

        Examples
        --------
        >>> belief = Belief.from_distances([[0, 2], [2, 0]], bandwidth=1)
        >>> belief.matrix.toarray().round(3)
        array([[1.   , 0.135],
               [0.135, 1.   ]])
        """
        stored = sparse.issparse(distances)
        table: Any = sparse.coo_array(distances) if stored else np.asarray(distances, dtype=np.float64)
        if table.ndim != 2:
            raise InputError(f"Distances must be a table; an array of {table.ndim} dimensions was given.")
        values: NDArray[np.float64] = table.data if stored else table[~np.isinf(table)]
        rows, columns = table.coords if stored else np.nonzero(~np.isinf(table))
        if np.isnan(values).any() or (values < 0).any():
            raise InputError("Distances must be numbers of at least 0; some are negative or NaN.")
        if not (np.isfinite(bandwidth) and bandwidth > 0):
            raise ParameterError(
                f"Parameter 'bandwidth' must be above 0; {bandwidth} was given.", parameter="bandwidth"
            )
        exponents = -((values / bandwidth) ** 2) / 2
        best = np.full(table.shape[0], -np.inf)
        np.maximum.at(best, rows, exponents)
        # Dividing a row by its largest cell changes no probability and keeps it from underflowing.
        cells = sparse.csr_array((np.exp(exponents - best[rows]), (rows, columns)), shape=table.shape)
        cells.eliminate_zeros()
        return cls(cells, truth=truth, items=items, pseudonyms=pseudonyms)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The likelihood of each pair of item and pseudonym."""
        return self.kinds.expand()

    @property
    def size(self) -> int:
        """The number t of items."""
        return self.kinds.size

    @property
    def is_infeasibility(self) -> bool:
        """Whether every cell is 0 or 1: the intruder only rules pairs out."""
        return bool(np.all(self.kinds.weights.data == 1.0))

    @cached_property
    def structure(self) -> BlockStructure:
        """One perfect matching and the irreducible blocks."""
        return block_structure(self.kinds, self._matching)  # type: ignore[attr-defined]

    @cached_property
    def solutions(self) -> dict[Any, Any]:
        """What was computed already, by the options it was computed with."""
        return {}

    def block(self, rows: Ints, columns: Ints) -> NDArray[np.float64]:
        """Some rows and columns as a dense array."""
        return self.kinds.part(rows, columns).dense()

    def with_truth(self, truth: Matching) -> Belief:
        """The same belief with another truth."""
        return Belief(self.kinds, truth=truth, items=self.items, pseudonyms=self.pseudonyms)

    def knowing(
        self, pairs: Mapping[Hashable, Hashable], *, not_pairs: Sequence[tuple[Hashable, Hashable]] = ()
    ) -> Belief:
        """The belief of an intruder who also knows some true pairs, and some false ones.

        Parameters
        ----------
        pairs : dict
            From item to pseudonym, by label, or by position where there are no labels. Known items
            count as cracked.
        not_pairs : sequence of pairs
            Items and pseudonyms that do not belong together.

        Examples
        --------
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

    def columns_of(self, matching: Matching) -> Ints:
        """The column of each row in a perfect matching that is given by label or position."""
        if isinstance(matching, Mapping):
            matched = {
                self._position(item, "items"): self._position(pseudonym, "pseudonyms")
                for item, pseudonym in matching.items()
            }
            if len(matched) != self.size:
                raise InputError(
                    f"The matching gives a pseudonym for {len(matched)} of {self.size} items; each "
                    "item needs one."
                )
            columns = np.array([matched[row] for row in range(self.size)], dtype=np.int64)
        else:
            positions = np.asarray(matching)
            if positions.shape != (self.size,) or positions.dtype.kind not in "iu":
                raise InputError(
                    f"A matching is {self.size} column positions (integers), one for each item, or "
                    f"a dict from item to pseudonym; an array of shape {positions.shape} was given."
                )
            columns = positions.astype(np.int64)
        if not np.array_equal(np.sort(columns), np.arange(self.size)):
            raise InputError(
                "The matching is not a permutation: each pseudonym, numbered from 0 to "
                f"{self.size - 1}, must belong to exactly one item."
            )
        return columns

    @cached_property
    def _places(self) -> dict[str, dict[Hashable, int] | None]:
        """The position of each label."""
        labels = {"items": self.items, "pseudonyms": self.pseudonyms}
        return {
            kind: None if names is None else {name: at for at, name in enumerate(names)}
            for kind, names in labels.items()
        }

    def _position(self, label: Hashable, kind: str) -> int:
        labels = self._places[kind]
        if labels is not None and label in labels:
            return labels[label]
        if labels is None and isinstance(label, int | np.integer) and 0 <= label < self.size:
            return int(label)
        raise InputError(
            f"A label is not among the {self.size} {kind} of the belief.",
            code="unknown-label",
            hint="Use the labels of the belief, or positions from 0 where it has none.",
        )

    def _possible(self, truth: Matching) -> Ints:
        columns = self.columns_of(truth)
        impossible = np.flatnonzero(self.kinds.cells(np.arange(self.size), columns) <= 0)
        if impossible.size:
            raise InputError(
                f"The belief rules out the truth for {_rows_text(impossible)}. An attack that "
                "excludes the true pseudonym cannot be measured.",
                code="truth-ruled-out",
                hint="Widen the ranges or tolerances of the attack.",
            )
        return columns

    def _no_matching(self, rows: Ints) -> NoPerfectMatchingError:
        met = np.unique(self.kinds.weights[np.unique(self.kinds.row_kind[rows])].indices)
        reach = int(self.kinds.columns[met].sum())
        verb = "have" if rows.size > 1 else "has"
        nouns = f"{reach} possible pseudonym{'' if reach == 1 else 's'}"
        return NoPerfectMatchingError(
            f"The belief has no perfect matching: {_rows_text(rows)} {verb} only {nouns}.",
            items=tuple(self.items[row] if self.items else int(row) for row in rows),
            hint="Check the attack, or these rows.",
        )

    def __repr__(self) -> str:
        kind = "infeasibility" if self.is_infeasibility else "probabilistic"
        truth_text = "without the truth" if self.truth is None else "with the truth"
        return f"Belief({self.size} items, {self.kinds.pairs} possible pairs, {kind}, {truth_text})"


def as_belief(belief: Any) -> Belief:
    """A belief as it is; anything else as the matrix of one."""
    return belief if isinstance(belief, Belief) else Belief(belief)


def true_columns(belief: Belief) -> Ints:
    """The column of each item's own pseudonym; an error where the owner did not give the truth."""
    if not isinstance(belief, Belief) or belief.truth is None:
        raise InputError(
            "Cracks are counted against the truth, and none was given.", code="no-truth", hint="Set {truth}."
        )
    return belief.truth


_MAX_ROWS_LISTED = 12
"""Rows that an error names; of more only their number is stated."""


def _read_matrix(matrix: Any) -> tuple[sparse.csr_array, Sequence[Hashable] | None]:
    """The matrix as sorted compressed rows, and its column names where it is a frame."""
    names: Sequence[Hashable] | None = None
    if sparse.issparse(matrix):
        values = sparse.csr_array(matrix, dtype=np.float64)
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
            raise InputError("A belief matrix is a table of numbers; some cells are not.") from error
        if dense.ndim != 2:
            raise InputError(f"A belief matrix is square; an array of {dense.ndim} dimensions was given.")
        _check_cells(dense)
        values = sparse.csr_array(dense)
    if values.shape[0] != values.shape[1]:
        raise InputError(
            "A belief matrix is square, with as many pseudonyms as items; "
            f"{values.shape[0]} by {values.shape[1]} was given.",
            hint="Where one pseudonym stands for several items, use `group_belief`.",
        )
    if values.shape[0] == 0:
        raise InputError("A belief matrix needs at least one item; an empty one was given.")
    _check_cells(values.data)
    values.eliminate_zeros()
    values.sort_indices()
    return values, names


def _check_cells(cells: NDArray[np.float64]) -> None:
    if not np.isfinite(cells).all():
        raise InputError(
            "The cells of a belief matrix must be finite; some are NaN or infinite.",
            hint="A pair about which nothing is known gets the same likelihood as any other.",
        )
    if (cells < 0).any():
        raise InputError("The cells of a belief matrix must be at least 0; some are negative.")


def _check_labels(labels: Sequence[Hashable] | None, size: int, kind: str) -> tuple[Hashable, ...] | None:
    """The labels of the rows or columns, all different."""
    if labels is None:
        return None
    checked = tuple(labels)
    if len(checked) != size or len(set(checked)) != size:
        raise InputError(
            f"There must be {size} {kind}, all different; {len(set(checked))} different ones were given."
        )
    return checked


def _rows_text(rows: Ints) -> str:
    """Items by position, the first few of them."""
    shown = ", ".join(str(int(row) + 1) for row in rows[:_MAX_ROWS_LISTED])
    more = f" and {rows.size - _MAX_ROWS_LISTED} more" if rows.size > _MAX_ROWS_LISTED else ""
    return f"the items in rows {shown}{more}" if rows.size > 1 else f"the item in row {shown}"
