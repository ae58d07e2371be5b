"""Hierarchies: how the values of a column are told less and less exactly (lodha2007, section 4.2).

A hierarchy is a table: the value itself first, then its name at every level, then `*`. ARX and
ANJANA write it as CSV with `;` and `,`; nested TOML says the same from the top down::

    [North America]
    USA = ["Maine", "Ohio"]
    Canada = ["Ontario"]
"""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from crypsis.errors import InputError, OutputError, ParameterError, SourceError

TOP = "*"


class HierarchyGap(InputError):  # noqa: N818 - reads as what it is
    """Values that a hierarchy does not know; `missing` names every one of them.

    The message only counts them, because messages never quote a data value.
    """

    def __init__(self, message: str, missing: tuple[str, ...]) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True)
class Hierarchy:
    """The values of a column and their names at every level; the last level is `*` for all.

    >>> ages = Hierarchy.intervals(range(20, 40), widths=[5, 10])
    >>> ages.labels("23"), ages.counts
    (('23', '20-24', '20-29', '*'), (20, 4, 2, 1))
    """

    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.rows:
            raise ParameterError("A hierarchy needs at least one value.")
        depth = len(self.rows[0])
        uneven = sum(len(row) != depth for row in self.rows)
        if uneven:
            raise ParameterError(
                f"{uneven} of {len(self.rows)} lines of the hierarchy do not have the {depth} "
                "fields of the first; write the value and its name at every level in each line."
            )
        twice = len(self.rows) - len({row[0] for row in self.rows})
        if twice:
            raise ParameterError(f"{twice} values stand more than once in the hierarchy.")
        if depth < 2 or {row[-1] for row in self.rows} != {TOP}:
            object.__setattr__(self, "rows", tuple((*row, TOP) for row in self.rows))
        self._check_nested()

    def _check_nested(self) -> None:
        for level in range(1, self.height):
            parents: dict[str, str] = {}
            for row in self.rows:
                if parents.setdefault(row[level], row[level + 1]) != row[level + 1]:
                    raise ParameterError(
                        f"The hierarchy is not a tree: {row[level]!r} on level {level} has more "
                        f"than one name on level {level + 1}."
                    )

    @property
    def height(self) -> int:
        """How many levels lie above the values themselves."""
        return len(self.rows[0]) - 1

    @property
    def values(self) -> tuple[str, ...]:
        """The values themselves."""
        return tuple(row[0] for row in self.rows)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many different names each level has, from the values up."""
        return tuple(len({row[level] for row in self.rows}) for level in range(self.height + 1))

    @cached_property
    def _by_value(self) -> dict[str, tuple[str, ...]]:
        return {row[0]: row for row in self.rows}

    def labels(self, value: str) -> tuple[str, ...]:
        """A value and its names, from the value up."""
        self.check([value])
        return self._by_value[value]

    def groups(self, level: int) -> dict[str, tuple[str, ...]]:
        """The names of a level, each with the values it stands for."""
        if not 0 <= level <= self.height:
            raise ParameterError(f"Levels go from 0 to {self.height}; {level} was given.")
        found: dict[str, list[str]] = {}
        for row in self.rows:
            found.setdefault(row[level], []).append(row[0])
        return {label: tuple(values) for label, values in found.items()}

    def missing(self, values: Iterable[Any]) -> tuple[str, ...]:
        """Every value that the hierarchy does not know, as text; missing values need no name."""
        asked = (as_text(value) for value in values if value is not None)
        return tuple(dict.fromkeys(text for text in asked if text not in self._by_value))

    def check(self, values: Iterable[Any], column: str = "") -> None:
        """Raise `HierarchyGap` unless every value is known."""
        gaps = self.missing(values)
        if gaps:
            of = f" of the column {column!r}" if column else ""
            raise HierarchyGap(
                f"{len(gaps):,} values{of} are not in its hierarchy. Add a line for each; the "
                "error's attribute `missing` (--show-missing) names them.",
                gaps,
            )

    @classmethod
    def read(cls, path: str | Path) -> Hierarchy:
        """From a file: CSV in the form of ARX (`;`) or ANJANA (`,`), or nested TOML."""
        source = Path(path)
        try:
            text = source.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise SourceError(f"{str(source)!r} cannot be read ({error.strerror}).") from None
        except UnicodeDecodeError:
            raise SourceError(f"{str(source)!r} is not in the encoding utf-8.") from None
        if source.suffix.lower() == ".toml":
            try:
                return cls.from_nested(tomllib.loads(text))
            except RecursionError:
                raise SourceError(f"{str(source)!r} is nested too deeply to be read.") from None
            except tomllib.TOMLDecodeError as error:
                raise SourceError(f"{str(source)!r} is not TOML ({error}).") from None
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines:
            raise SourceError(f"{str(source)!r} is empty; write a value and its names per line.")
        delimiter = ";" if all(";" in line for line in lines) else ","
        rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        return cls(tuple(tuple(field.strip() for field in row) for row in rows))

    @classmethod
    def from_nested(cls, tree: Mapping[str, Any]) -> Hierarchy:
        """From nested tables whose innermost lists hold the values.

        Where branches differ in depth, a short one repeats its lowest name.

        >>> Hierarchy.from_nested({"low": [1, 2], "high": {"9s": [9], "10s": [10, 11]}}).rows[2]
        ('9', '9s', 'high', '*')
        """
        paths: list[tuple[str, ...]] = []

        def walk(node: Any, above: tuple[str, ...]) -> None:
            if isinstance(node, Mapping):
                for label, below in node.items():
                    walk(below, (str(label), *above))
            else:
                leaves = node if isinstance(node, list | tuple) else [node]
                paths.extend((as_text(leaf), *above) for leaf in leaves)

        walk(tree, ())
        depth = max(map(len, paths), default=0)
        even = (path[:1] + path[1:2] * (depth - len(path)) + path[1:] for path in paths)
        return cls(tuple((*path, TOP) for path in even))

    @classmethod
    def intervals(
        cls, values: Iterable[int], *, widths: Sequence[int], start: int = 0
    ) -> Hierarchy:
        """Whole numbers into intervals of growing width, each a multiple of the one before."""
        pairs = pairwise(widths)
        if not widths or widths[0] < 1 or any(b % a or b <= a for a, b in pairs):
            raise ParameterError("Each width is a larger multiple of the one before: [5, 10, 20].")

        def label(value: int, width: int) -> str:
            low = start + (value - start) // width * width
            dash = " to " if low < 0 else "-"
            return f"{low}{dash}{low + width - 1}" if width > 1 else str(low)

        unique = sorted({int(value) for value in values})
        return cls(tuple((str(v), *(label(v, w) for w in widths), TOP) for v in unique))

    @classmethod
    def prefixes(
        cls, values: Iterable[str], *, lengths: Sequence[int], fill: str = "*"
    ) -> Hierarchy:
        """Codes by ever shorter beginnings: 02138, 0213*, 021**.

        >>> Hierarchy.prefixes(["02138", "02139"], lengths=[4, 3]).rows[0]
        ('02138', '0213*', '021**', '*')
        """
        if not lengths or any(b >= a or b < 1 for a, b in pairwise(lengths)):
            raise ParameterError("The lengths of prefixes fall: [4, 3, 2].")
        unique = sorted(set(values))
        names = ((v, *(v[:n] + fill * max(0, len(v) - n) for n in lengths), TOP) for v in unique)
        return cls(tuple(names))

    @classmethod
    def masking(cls, values: Iterable[str], *, fill: str = "*") -> Hierarchy:
        """Texts masked from the right, one character a level, as ARX does.

        Shorter texts are padded on the right first, so that every level means the same.
        """
        unique = sorted(set(values))
        width = max(map(len, unique), default=0)
        if width < 1:
            raise ParameterError("Masking needs texts with at least one character.")
        inner = range(1, width)
        rows = ((v, *(v.ljust(width)[: width - n] + fill * n for n in inner), TOP) for v in unique)
        return cls(tuple(rows))

    @classmethod
    def dates(cls, values: Iterable[Any], *, units: Sequence[str] | None = None) -> Hierarchy:
        """Dates by month, quarter, half-year, year and decade, or those of the units named."""
        from crypsis.anonymize._dates import UNITS, date_label

        chosen = UNITS if units is None else tuple(units)
        unique = sorted(set(values))
        names = ((as_text(v), *(date_label(v, unit) for unit in chosen), TOP) for v in unique)
        return cls(tuple(names))

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """To a file: `.csv` in the form of ARX, or `.toml`."""
        target = Path(path)
        if target.exists() and not overwrite:
            raise OutputError(f"{str(target)!r} exists already; say overwrite=True (--force).")
        if not target.parent.is_dir():
            raise OutputError(f"There is no folder {str(target.parent)!r} to write to; make it.")
        toml = target.suffix.lower() == ".toml"
        target.write_text(self.to_toml() if toml else self.to_csv(), encoding="utf-8")
        return target

    def to_csv(self, delimiter: str = ";") -> str:
        """As CSV: `;` for ARX, `,` for ANJANA."""
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(self.rows)
        return text.getvalue()

    def to_toml(self) -> str:
        """As nested TOML, from the top down."""
        if self.height == 1:
            raise ParameterError("A hierarchy with no level but * has nothing to nest; write CSV.")
        lines: list[str] = []
        order = sorted(self.rows, key=lambda row: row[::-1])
        table: tuple[str, ...] | None = None
        lists: dict[tuple[str, ...], list[str]] = {}
        for row in order:
            lists.setdefault(row[-2:0:-1], []).append(row[0])
        for names, values in lists.items():
            *above, label = names
            if tuple(above) != table:
                table = tuple(above)
                lines.extend(["", f"[{'.'.join(map(_quoted, above))}]"] if above else [])
            lines.append(f"{_quoted(label)} = [{', '.join(map(_quoted, values))}]")
        return "\n".join(lines).lstrip("\n") + "\n"


def as_text(value: Any) -> str:
    """A value as hierarchies spell it: whole floats without the point, dates in ISO form."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
