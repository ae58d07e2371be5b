"""Two files of one release: what they disclose if they are joined on the columns they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.dataset import DESIGN, Data, Dataset, as_columns, as_dataset, takes_roles
from crypsis.errors import ColumnError, TooLargeError, unknown_columns
from crypsis.options import Columns, Roles
from crypsis.results import Result, percent_text
from crypsis.tables import Kind

_MAX_CELL_PAIRS = 20_000_000
"""The most pairs of cells that are compared."""


class JointClasses(Result):
    """The equivalence classes of the records of two files that can be joined."""

    shared: tuple[str, ...]
    """The columns on which the files are joined."""
    not_compared: tuple[str, ...]
    """Columns of both files whose kinds differ, or whose values have no equality."""
    columns: tuple[str, ...]
    other_columns: tuple[str, ...]
    """What an intruder knows of a person, in each file."""
    unit: str
    """Whether classes have records, or people where they are known."""
    records: int
    other_records: int
    joined: int
    """Records that have a counterpart in the other file."""
    one_to_one: int
    """Records that have exactly one, and are its only one."""
    k: int
    """The smallest joint class: of the records that are joined, or people, with the same values in
    both files; 0 if none are joined."""
    class_sizes: tuple[int, ...]
    class_shares: tuple[float, ...]
    """The sizes of joint classes, and the share of all records that is in classes of each."""

    def share_below(self, k: int) -> float:
        """The share of all records that are in joint classes smaller than k."""
        shares = zip(self.class_sizes, self.class_shares, strict=True)
        return min(1.0, float(sum(share for size, share in shares if size < k)))

    def text_below(self, k: int, name: str = "the other file") -> str:
        """How many records are in joint classes smaller than k, in a sentence."""
        if not self.joined:
            return f"No record can be joined with {name}."
        on = ", ".join(map(repr, self.shared))
        return (
            f"Joined with {name} on {on}, {percent_text(self.share_below(k))} of {self.records:,} "
            f"records are in joint classes smaller than {k:,} {self.unit} (k = {self.k:,}); "
            f"{self.one_to_one:,} have exactly one counterpart."
        )

    def __str__(self) -> str:
        return self.text_below(5)


@takes_roles(without=DESIGN)
def joint_classes(
    data: Data,
    other: Data,
    *,
    on: Columns | None = None,
    columns: Columns | None = None,
    other_columns: Columns | None = None,
    **roles: Unpack[Roles],
) -> JointClasses:
    """Join two files of a release on the columns they share, and count the joint classes.

    Parameters
    ----------
    data : Dataset, frame or path
        One file of the release.
    other : Dataset, frame or path
        Another file of the same release.
    on : str or sequence of str, optional
        The columns to join on; by default all released columns that both files have.
    columns, other_columns : str or sequence of str, optional
        What an intruder knows of a person in each file; by default the quasi-identifiers of the
        datasets, which for `other` are those of the same names unless it has roles of its own.
    **roles
        The roles of `data`; see `crypsis.read`.

    Returns
    -------
    JointClasses
        The joint class sizes, how many records are joined, and how many one to one.

    Notes
    -----
    Two records may belong to one person if they are equal in all shared columns. An intruder who
    knows what is in both files of a person looks for the records of `data` with these values that
    have a counterpart in `other` with those. The joint class is the number of such records, or of
    people where `person` is set. Where a record has several counterparts, each is its own with equal
    probability. Records with a missing value in a shared column are not joined.

    Classes of five in each file say nothing of the joint classes: a time of admission, an amount or
    a pseudonym that both have may join the files record by record. If all shared columns are
    quasi-identifiers, the joint classes are those of the file alone.

    Cost: one scan of each file; pairs of cells that share the columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> one = pa.table({"time": [1, 2, 3, 4], "age": [30, 30, 40, 40]})
    >>> other = pa.table({"time": [1, 2, 3, 4], "town": ["A", "B", "A", "B"]})
    >>> found = joint_classes(one, other, columns="age", other_columns="town")
    >>> found.shared, found.one_to_one, found.k
    (('time',), 4, 1)
    """
    dataset = as_dataset(data, **roles)
    two = as_dataset(other)
    if not two.roles:
        two = two.with_roles({name: dataset.roles[name] for name in two.names if name in dataset.roles})
    mine = dataset.quasi_identifiers if columns is None else as_columns(columns)
    theirs = two.quasi_identifiers if other_columns is None else as_columns(other_columns)
    for names, file in ((mine, dataset), (theirs, two)):
        if any(name not in file.names for name in names):
            raise unknown_columns(names, file.names)
    shared_columns = _shared(dataset, two) if on is None else as_columns(on)
    shared = tuple(name for name in shared_columns if _comparable(dataset, two, name))
    if on is not None and shared != shared_columns:
        raise ColumnError(
            "A column to join on is not in both files with the same kind.",
            code="not-comparable",
            columns=tuple(name for name in shared_columns if name not in shared),
        )
    of_people = dataset.person is not None
    joined = _Joined.of(dataset, two, shared, mine, theirs) if shared else _Joined.nothing()
    sizes, size_index = np.unique(joined.sizes, return_inverse=True)
    shares = np.bincount(size_index.ravel(), joined.weights, sizes.size) / max(1, dataset.count)
    return JointClasses(
        shared=shared,
        not_compared=tuple(name for name in shared_columns if name not in shared),
        columns=tuple(mine),
        other_columns=tuple(theirs),
        unit="people" if of_people else "records",
        records=dataset.count,
        other_records=two.count,
        joined=joined.joined,
        one_to_one=joined.one_to_one,
        k=int(sizes[0]) if sizes.size else 0,
        class_sizes=tuple(sizes.tolist()),
        class_shares=tuple(shares.tolist()),
    )


def _shared(dataset: Dataset, two: Dataset) -> tuple[str, ...]:
    """The released columns of both files; the weights of a sample join nothing."""
    other_columns = set(two.released) - {two.weight}
    return tuple(name for name in dataset.released if name in other_columns and name != dataset.weight)


def _comparable(dataset: Dataset, two: Dataset, name: str) -> bool:
    kinds = {data.rows.column(name).kind for data in (dataset, two)} if name in two.names else set()
    if not kinds or Kind.NESTED in kinds:
        return False
    return len(kinds) == 1 or all(kind.numeric for kind in kinds)


@dataclass(frozen=True, eq=False)
class _Joined:
    """For each pair of cells that are joined the size of its class, and how many records it has."""

    sizes: Ints
    weights: Floats
    joined: int
    one_to_one: int

    @classmethod
    def nothing(cls) -> _Joined:
        return cls(np.zeros(0, np.int64), np.zeros(0), 0, 0)

    @classmethod
    def of(
        cls, dataset: Dataset, two: Dataset, shared: Sequence[str], mine: Sequence[str], theirs: Sequence[str]
    ) -> _Joined:
        """Join the cells of two files, and count their joint classes."""
        person = [] if dataset.person is None or dataset.person in shared else [dataset.person]
        left = _cells(dataset, [*shared, *(n for n in mine if n not in shared), *person])
        right = _cells(two, [*shared, *(n for n in theirs if n not in shared)])
        key, other_key = _keys(left, right, len(shared))
        member, other_known = _numbered(left, mine), _numbered(right, theirs)
        joined_cells = np.flatnonzero((key >= 0) & np.isin(key, other_key))
        in_other = np.bincount(other_key[other_key >= 0], right.counts[other_key >= 0])
        in_own = np.bincount(key[joined_cells], left.counts[joined_cells], in_other.size)
        single = (in_own[key[joined_cells]] == 1) & (in_other[key[joined_cells]] == 1)
        counts = (int(left.counts[joined_cells].sum()), int(single.sum()))
        if set(shared) <= set(mine):  # whatever is known of the other file, it is known here
            sizes = _members(dataset, left, member, np.arange(len(left)))
            return cls(sizes[member[joined_cells]], left.counts[joined_cells].astype(np.float64), *counts)
        order = np.argsort(other_key, kind="stable")
        order = order[np.searchsorted(other_key[order], 0) :]
        begin = np.searchsorted(other_key[order], key[joined_cells], "left")
        end = np.searchsorted(other_key[order], key[joined_cells], "right")
        width = end - begin
        if width.sum() > _MAX_CELL_PAIRS:
            raise TooLargeError(
                "The two files share so few values that too many of their records may belong "
                "together to be compared.",
                code="too-many-pairs",
                columns=tuple(shared),
                hint="Exclude columns that both files need not have.",
            )
        cell = np.repeat(joined_cells, width)
        inside = np.arange(int(width.sum())) - np.repeat(np.cumsum(width) - width, width)
        counterpart = order[np.repeat(begin, width) + inside]
        pairs = np.stack([member[cell], other_known[counterpart]])
        _, joint = np.unique(pairs, axis=1, return_inverse=True)
        joint = joint.ravel()
        share = right.counts[counterpart] / in_other[key[cell]]
        sizes = _members(dataset, left, joint, cell)
        return cls(sizes[joint], left.counts[cell] * share, *counts)


def _members(data: Dataset, cells: Cells, classes: Ints, cell: Ints) -> Ints:
    """The records, or the people, of each class; its cells are `cell`, several times maybe."""
    count = int(classes.max(initial=-1)) + 1
    if data.person is None:
        return np.bincount(classes, cells.counts[cell], count).astype(np.int64)
    column = cells.columns.index(data.person)
    who = cells.codes[column].astype(np.int64)[cell]
    real = who != cells.missing_codes[column]
    different = np.unique(np.stack([classes[real], who[real]]), axis=1)
    # records without a person are nobody's; a class of them alone counts as one
    return np.maximum(np.bincount(different[0], minlength=count), 1).astype(np.int64)


def _cells(data: Dataset, names: Sequence[str]) -> Cells:
    unique = list(dict.fromkeys(names))
    return Cells.from_table(data.rows.cells(unique), unique)


def _keys(left: Cells, right: Cells, shared: int) -> tuple[Ints, Ints]:
    """One number for the shared columns of each cell; -1 if it is missing or not in the other."""
    parts: list[Ints] = []
    other_parts: list[Ints] = []
    for c in range(shared):
        mine, theirs = left.values[c], right.values[c]
        if mine.type != theirs.type:
            mine, theirs = (_in_widest_type(values) for values in (mine, theirs))
        position = np.asarray(pc.index_in(mine, value_set=theirs).fill_null(-1), np.int64)
        position[np.asarray(mine.is_null())] = -1
        parts.append(position[left.codes[c]])
        codes = right.codes[c].astype(np.int64)
        other_parts.append(np.where(codes == right.missing_codes[c], -1, codes))
    both = np.concatenate([np.stack(parts), np.stack(other_parts)], axis=1)
    _, number = np.unique(both, axis=1, return_inverse=True)
    number = number.ravel().astype(np.int64)
    number[(both < 0).any(axis=0)] = -1
    return number[: len(left)], number[len(left) :]


def _in_widest_type(values: pa.Array) -> pa.Array:
    """Numbers of different types as floats; texts and times in the widest type of their kind."""
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return values.cast(pa.float64(), safe=False)
    if pa.types.is_decimal(values.type):
        return values.cast(pa.float64(), safe=False)
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.timestamp("us"), safe=False)
    return values.cast(pa.string()) if not pa.types.is_date(values.type) else values


def _numbered(cells: Cells, names: Sequence[str]) -> Ints:
    """One number for the known columns of each cell."""
    if not names:
        return np.zeros(len(cells), np.int64)
    parts = np.stack([cells.codes[cells.columns.index(name)].astype(np.int64) for name in names])
    return np.unique(parts, axis=1, return_inverse=True)[1].ravel().astype(np.int64)
