"""Generalization hierarchies (lodha2007, section 4.2): a tree over the values of a column.

A hierarchy is a table: the value first, then its label on each level, then the root. Recoding uses
the labels of a level, t-closeness the nodes above each value, record linkage the semantic distances
between values and the order that they imply.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import ColumnError, ParameterError
from crypsis.files import replacing_file
from crypsis.hierarchies import _files
from crypsis.hierarchies.labels import TOP, UNITS, as_text, date_label


class HierarchyGapError(ColumnError):
    """A column has values that its hierarchy does not contain; `unknown` lists them.

    The message only counts them, because messages never quote a data value.
    """

    code = "hierarchy-gap"

    def __init__(self, column: str = "", unknown: tuple[str, ...] = ()) -> None:
        count = len(unknown)
        noun = "1 value" if count == 1 else f"{count:,} values"
        of = f" of column {column!r}" if column else ""
        super().__init__(
            f"{noun}{of} {'is' if count == 1 else 'are'} not in its hierarchy.",
            hint="Add a line to the hierarchy for each.",
            columns=(column,) if column else (),
        )
        self.args = (column, unknown)
        self.unknown = unknown


@dataclass(frozen=True)
class Hierarchy:
    """A generalization hierarchy: the values of a column and their labels on each level.

    Parameters
    ----------
    rows : sequence of sequences
        For each value: the value, its label on each level, the root; all equally long. Where the
        last labels differ, a root `*` is added.

    Raises
    ------
    ParameterError
        Where rows differ in length or a value occurs twice.

    Notes
    -----
    Values are compared as text (`as_text`): 3 and 3.0 are both "3", dates are in ISO form.

    Examples
    --------
    >>> ages = Hierarchy.intervals(range(20, 40), widths=[5, 10])
    >>> ages.labels(23), ages.level_sizes
    (('23', '20-24', '20-29', '*'), (20, 4, 2, 1))
    >>> Hierarchy([("flu", "lung"), ("ulcer", "gut")]).labels("flu")
    ('flu', 'lung', '*')
    """

    rows: tuple[tuple[str, ...], ...]

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        table = tuple(tuple(map(as_text, row)) for row in rows)
        if not table:
            raise ParameterError("A hierarchy needs at least one value.")
        depth = len(table[0])
        uneven = sum(len(row) != depth for row in table)
        if uneven:
            raise ParameterError(
                f"{uneven} of {len(table)} lines of the hierarchy do not have the {depth} fields "
                "of the first line.",
                hint="Write the value and its label on every level in each line.",
            )
        twice = len(table) - len({row[0] for row in table})
        if twice:
            raise ParameterError(f"{twice} lines of the hierarchy repeat a value.")
        if depth < 2 or len({row[-1] for row in table}) > 1:
            table = tuple((*row, TOP) for row in table)
        object.__setattr__(self, "rows", table)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.rows):,} values, {self.height} levels)"

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.rows[0]) - 1

    @property
    def inner_levels(self) -> range:
        """The levels that generalize without suppressing: all but the root where it is `*`."""
        return range(1, self.height + (self.rows[0][-1] != TOP))

    @property
    def values(self) -> tuple[str, ...]:
        """The values (leaves)."""
        return tuple(row[0] for row in self.rows)

    @property
    def level_sizes(self) -> tuple[int, ...]:
        """The number of different labels on each level, from the values up."""
        return tuple(len({row[level] for row in self.rows}) for level in range(self.height + 1))

    @cached_property
    def _by_value(self) -> dict[str, tuple[str, ...]]:
        return {row[0]: row for row in self.rows}

    def labels(self, value: Any) -> tuple[str, ...]:
        """A value and its label on each level, from the value up."""
        self.check([value])
        return self._by_value[as_text(value)]

    def groups(self, level: int) -> dict[str, tuple[str, ...]]:
        """The labels of a level, each with its values.

        Raises
        ------
        ParameterError
            Where a label has more than one label above it, so that it cannot replace its values.
        """
        if not 0 <= level <= self.height:
            raise ParameterError(
                f"Parameter 'level' must be from 0 to {self.height}; {level} was given.", parameter="level"
            )
        values_by_label: dict[str, list[str]] = {}
        above: dict[str, tuple[str, ...]] = {}
        for row in self.rows:
            values_by_label.setdefault(row[level], []).append(row[0])
            if above.setdefault(row[level], row[level + 1 :]) != row[level + 1 :]:
                raise ParameterError(
                    f"The hierarchy is not a tree: {row[level]!r} on level {level} has more than "
                    "one label on a level above it."
                )
        return {label: tuple(values) for label, values in values_by_label.items()}

    def unknown(self, values: Iterable[Any]) -> tuple[str, ...]:
        """The values that are not in the hierarchy, as text; missing values are none of them."""
        texts = (as_text(value) for value in values if value is not None)
        return tuple(dict.fromkeys(text for text in texts if text not in self._by_value))

    def check(self, values: Iterable[Any], column: str = "") -> None:
        """Raise `HierarchyGapError` unless every value is in the hierarchy."""
        gaps = self.unknown(values)
        if gaps:
            raise HierarchyGapError(column, gaps)

    def nodes(self, values: Iterable[Any], column: str = "") -> NDArray[np.int64]:
        """The number of the node of each value on each level: entry [l, i] of value i on level l.

        A node is its path to the root, so equal labels on two branches are two nodes. A
        missing value is a branch of its own under the root.

        >>> Hierarchy([("a", "x"), ("b", "x"), ("c", "y")]).nodes(["a", "b", None]).tolist()
        [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
        """
        listed = list(values)
        self.check(listed, column)
        missing = (*(None,) * self.height, self.rows[0][-1])
        paths = [missing if v is None else self._by_value[as_text(v)] for v in listed]
        nodes = np.empty((self.height + 1, len(paths)), np.int64)
        for level in range(self.height + 1):
            numbers: dict[tuple[str | None, ...], int] = {}
            nodes[level] = [numbers.setdefault(path[level:], len(numbers)) for path in paths]
        return nodes

    def semantic_distances(self, values: Sequence[Any], column: str = "") -> NDArray[np.float64]:
        """The table of semantic distances between values (Domingo-Ferrer et al. 2013).

        Two values are log2(1 + share of their ancestors that they do not share) apart, each value
        among its own ancestors: 0 for the same value, less than 1 under a common root.

        >>> tree = Hierarchy([("flu", "lung"), ("cold", "lung"), ("ulcer", "gut")])
        >>> tree.semantic_distances(["flu", "cold", "ulcer"]).round(3)[0].tolist()
        [0.0, 0.585, 0.848]
        """
        nodes = self.nodes(values, column)
        shared = sum((level[:, None] == level).astype(np.int64) for level in nodes)
        union = 2 * len(nodes) - shared
        return np.asarray(np.log2(1 + (union - shared) / union), dtype=np.float64)

    def marginality_order(self, counts: Mapping[Hashable, int], column: str = "") -> tuple[Hashable, ...]:
        """The values by marginality, the most central one first, given how often each occurs.

        The marginality of a value is its total semantic distance to all records.

        References
        ----------
        Domingo-Ferrer, Sanchez, Rufian-Torrell (2013), Anonymization of nominal data based on
        semantic marginality.

        Examples
        --------
        >>> tree = Hierarchy([("flu", "lung"), ("cold", "lung"), ("ulcer", "gut")])
        >>> tree.marginality_order({"ulcer": 1, "cold": 2, "flu": 5})
        ('flu', 'cold', 'ulcer')
        """
        values = sorted(counts, key=str)
        weights = np.array([counts[value] for value in values], dtype=np.float64)
        # Rounded, so that equal marginalities do not differ in the last bit of a sum.
        marginality = np.round(self.semantic_distances(values, column) @ weights, 9)
        return tuple(values[i] for i in np.argsort(marginality, kind="stable"))

    @classmethod
    def from_ancestors(cls, ancestors: Mapping[Any, Sequence[Any]]) -> Hierarchy:
        """From each value's ancestors, the parent first and the root last.

        >>> Hierarchy.from_ancestors({"flu": ["lung", "*"], "ulcer": ["gut", "*"]}).rows[0]
        ('flu', 'lung', '*')
        """
        return cls((value, *path) for value, path in ancestors.items())

    @classmethod
    def from_nested(cls, tree: Mapping[str, Any]) -> Hierarchy:
        """From nested mappings from the top down, whose innermost lists are the values.

        Where branches differ in depth, a short one repeats its lowest label.

        >>> Hierarchy.from_nested({"low": [1, 2], "high": {"9s": [9], "10s": [10, 11]}}).rows[2]
        ('9', '9s', 'high', '*')
        """
        paths: list[tuple[Any, ...]] = []

        def walk(node: Any, above: tuple[str, ...]) -> None:
            if isinstance(node, Mapping):
                for label, below in node.items():
                    walk(below, (str(label), *above))
            else:
                leaves = node if isinstance(node, list | tuple) else [node]
                paths.extend((leaf, *above) for leaf in leaves)

        walk(tree, ())
        depth = max(map(len, paths), default=0)
        return cls(path[:1] + path[1:2] * (depth - len(path)) + path[1:] for path in paths)

    @classmethod
    def read(cls, path: str | Path) -> Hierarchy:
        """From a file: CSV as ARX (`;`) or ANJANA (`,`) writes it, or nested TOML.

        In TOML the levels are tables, from the top down::

            [North America]
            USA = ["Maine", "Ohio"]
            Canada = ["Ontario"]
        """
        content = _files.parse(Path(path))
        return cls.from_nested(content) if isinstance(content, dict) else cls(content)

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """To a file: `.toml`, else CSV as ARX writes it."""
        target = Path(path)
        toml = target.suffix.lower() == ".toml"
        with replacing_file(target, overwrite=overwrite) as partial:
            partial.write_text(self.to_toml() if toml else self.to_csv(), encoding="utf-8")
        return target

    def to_csv(self, delimiter: str = ";") -> str:
        """As CSV: delimiter `;` for ARX, `,` for ANJANA."""
        return _files.csv_text(self.rows, delimiter)

    def to_toml(self) -> str:
        """As nested TOML, from the top down."""
        rootless = self.rows[0][-1] == TOP and self.level_sizes[-2] > 1 and self.height > 1
        return _files.toml_text([row[:-1] for row in self.rows] if rootless else self.rows)

    @classmethod
    def intervals(cls, values: Iterable[int], *, widths: Sequence[int], start: int = 0) -> Hierarchy:
        """Integers in intervals of growing width, each width a multiple of the one before.

        >>> Hierarchy.intervals([3], widths=[5, 10]).rows[0]
        ('3', '0-4', '0-9', '*')
        """
        if not widths or widths[0] < 1 or any(b % a or b <= a for a, b in pairwise(widths)):
            raise ParameterError(
                "Each width must be a larger multiple of the one before, such as 5, 10, 20.",
                parameter="widths",
            )

        def label(value: int, width: int) -> str:
            low = start + (value - start) // width * width
            dash = " to " if low < 0 else "-"
            return f"{low}{dash}{low + width - 1}" if width > 1 else str(low)

        unique = sorted({int(value) for value in values})
        return cls((v, *(label(v, w) for w in widths), TOP) for v in unique)

    @classmethod
    def prefixes(cls, values: Iterable[str], *, lengths: Sequence[int], fill: str = "*") -> Hierarchy:
        """Codes by ever shorter prefixes: 02138, 0213*, 021**.

        >>> Hierarchy.prefixes(["02138", "02139"], lengths=[4, 3]).rows[0]
        ('02138', '0213*', '021**', '*')
        """
        if not lengths or any(b >= a or b < 1 for a, b in pairwise(lengths)):
            raise ParameterError(
                "Each prefix length must be smaller than the one before, such as 4, 3, 2.",
                parameter="lengths",
            )
        unique = sorted(set(values))
        return cls((v, *(v[:n] + fill * max(0, len(v) - n) for n in lengths), TOP) for v in unique)

    @classmethod
    def redaction(cls, values: Iterable[str], *, fill: str = "*") -> Hierarchy:
        """Texts redacted from the right, one character a level, as ARX does.

        Shorter texts are padded on the right first, so that a level means the same for all.

        >>> Hierarchy.redaction(["abc", "b"]).rows[1]
        ('b', 'b *', 'b**', '*')
        """
        unique = sorted(set(values))
        width = max(map(len, unique), default=0)
        if width < 1:
            raise ParameterError("Redaction needs texts with at least one character.")
        inner = range(1, width)
        return cls((v, *(v.ljust(width)[:-n] + fill * n for n in inner), TOP) for v in unique)

    @classmethod
    def dates(cls, values: Iterable[Any], *, units: Sequence[str] = UNITS) -> Hierarchy:
        """Dates by month, quarter, half-year, year, decade and 20, 40 and 80 years, or by the units given.

        >>> import datetime
        >>> Hierarchy.dates([datetime.date(1987, 8, 9)], units=["month", "year"]).rows[0]
        ('1987-08-09', '1987-08', '1987', '*')
        """
        unique = sorted(set(values))
        return cls((v, *(date_label(v, unit) for unit in units), TOP) for v in unique)
