"""Release: rows somewhere, plus what each column is, whose rows they are and of how many people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.cells import Cells, NullPolicy
from crypsis.engine import Rows, open_frame, open_source
from crypsis.engine.reading import Reading
from crypsis.errors import ParameterError, RoleError, unknown_columns

__all__ = ["NullPolicy", "Release", "Role", "as_release", "read"]

_CACHED_CELLS = 4


class Role(Enum):
    """What a column is to an attacker."""

    IDENTIFIER = "identifier"
    """Names a person by itself: a name, a number of an identity document, an account."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """Known to others, and telling together with other columns: age, zip code, sex."""
    SENSITIVE = "sensitive"
    """What must not become known of a person: a disease, an income."""
    OTHER = "other"


@dataclass(frozen=True, eq=False)
class Release:
    """A table that is about to leave the house.

    `roles` holds only what somebody decided; a column that is not in it has no role yet.
    `population` is the number of people the rows were drawn from, or their own table.
    """

    rows: Rows
    roles: Mapping[str, Role] = field(default_factory=dict)
    person: str | None = None
    """The column that tells whose row it is, where a person may have several."""
    weight: str | None = None
    """The column that says how many people of the population a row stands for."""
    population: int | Release | None = None
    missing: NullPolicy = NullPolicy.VALUE
    given: Any = None
    """The frame that was given, as it came."""
    _cells: dict[tuple[str, ...], Cells] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        named = [*self.roles, *(name for name in (self.person, self.weight) if name is not None)]
        unknown = [name for name in named if name not in self.rows.names]
        if unknown:
            raise unknown_columns(unknown, self.rows.names)
        if self.weight is not None and not self.rows.column(self.weight).kind.numeric:
            raise RoleError(f"The weight column {self.weight!r} holds no numbers; weights are.")
        people = self.population
        whole = isinstance(people, int) and not isinstance(people, bool) and people >= 1
        if not (people is None or isinstance(people, Release) or whole):
            raise ParameterError("The population is a whole number of at least 1, or a Release.")

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        identifiers: Sequence[str] = (),
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        other: Sequence[str] = (),
        person: str | None = None,
        weight: str | None = None,
        population: int | Release | None = None,
        missing: NullPolicy | str = NullPolicy.VALUE,
        memory_limit: str | None = None,
        spill_folder: str | Path | None = None,
    ) -> Release:
        """Take a pandas, Polars, Arrow, DuckDB, Spark or Ibis frame, or an Arrow dataset.

        An Arrow dataset, as the package `deltalake` makes of a Delta table, is read in a stream.

        >>> import pyarrow as pa
        >>> people = pa.table({"age": [30, 30, 41], "disease": ["flu", "flu", "gout"]})
        >>> release = Release.from_frame(people, quasi_identifiers=["age"], sensitive=["disease"])
        >>> release.count, release.quasi_identifiers
        (3, ('age',))
        """
        rows = open_frame(frame, memory_limit=memory_limit, spill_folder=spill_folder)
        roles = decided(identifiers, quasi_identifiers, sensitive, other)
        return cls(rows, roles, person, weight, population, null_policy(missing), frame)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.rows.names

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.rows.count

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that name a person by themselves."""
        return self._with(Role.IDENTIFIER)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that others know and that tell together."""
        return self._with(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that hold what must not become known."""
        return self._with(Role.SENSITIVE)

    def _with(self, role: Role) -> tuple[str, ...]:
        return tuple(name for name in self.names if self.roles.get(name) is role)

    @property
    def frame(self) -> Any:
        """The rows as a frame of the kind that came in; of a file, a DuckDB relation."""
        return self.rows.named_frame() if self.given is None else self.given

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows themselves as an Arrow table."""
        return self.rows.to_arrow(columns)

    def write(
        self, path: str | Path, *, overwrite: bool = False, neutralize_formulas: bool = False
    ) -> Path:
        """Write the rows to a .csv or .parquet file that appears whole or not at all.

        With `neutralize_formulas` texts in a CSV file that a spreadsheet would run (they begin with
        =, +, -, @, a tab or a line end) get an apostrophe in front.
        """
        return self.rows.write(path, overwrite=overwrite, neutralize_formulas=neutralize_formulas)

    def cells(self, columns: Sequence[str] | None = None, *, weighted: bool = False) -> Cells:
        """The distinct tuples of some columns (default: the quasi-identifiers) with their counts.

        The rows are scanned once; cells of columns that were counted before come from those.
        """
        names = self.quasi_identifiers if columns is None else tuple(columns)
        if columns is None and not names:
            raise RoleError(
                "No quasi-identifiers are named; say which columns others may know "
                "(quasi_identifiers=[...], --qi)."
            )
        known = self.counted(names, weighted=weighted)
        if known is not None:
            return known
        weight = self.weight if weighted else None
        if weighted and weight is None:
            raise RoleError("No weight column is named (weight=..., --weight).")
        cells = Cells.from_table(self.rows.cells(names, weight=weight), names, self.missing)
        while len(self._cells) >= _CACHED_CELLS:
            self._cells.pop(next(iter(self._cells)))
        self._cells[names] = cells
        return cells

    def counted(self, columns: Sequence[str], *, weighted: bool = False) -> Cells | None:
        """The cells of some columns where they follow from cells counted before; else None."""
        names = tuple(columns)
        for known in self._cells.values():
            if set(names) <= set(known.columns) and (known.weights is not None or not weighted):
                return known if known.columns == names else known.marginal(names)
        return None

    def with_roles(self, roles: Mapping[str, Role]) -> Release:
        """The same rows with these roles instead."""
        return replace(self, roles=dict(roles))


def read(
    source: str | Path,
    *,
    identifiers: Sequence[str] = (),
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    other: Sequence[str] = (),
    person: str | None = None,
    weight: str | None = None,
    population: int | Release | None = None,
    missing: NullPolicy | str = NullPolicy.VALUE,
    format: str | None = None,  # noqa: A002 - the word users look for
    names: Sequence[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing_markers: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    sheet: str | None = None,
    table: str | None = None,
    query: str | None = None,
    memory_limit: str | None = None,
    spill_folder: str | Path | None = None,
    engine: str = "duckdb",
    master: str | None = None,
) -> Release:
    """Open a file, a folder of Parquet files, a glob, a remote file or a database as a Release.

    Knows CSV, Parquet, JSON lines, Excel, DuckDB and SQLite files, and `postgresql://` with a table
    or query. Rows stay where they are until a question is asked. `missing` says how missing values
    count ("value", "wildcard" or "drop"), `missing_markers` which texts mean one. With
    `engine="spark"` Spark opens it (Parquet, ORC, JSON, CSV, a table of its catalogue, a query): in
    the session that is running, else in one at `master`.
    """
    _check_engine(engine, master, memory_limit, spill_folder)
    reading = Reading(
        format=format,
        names=names,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
        missing_markers=missing_markers,
        types=dict(types or {}),
        sheet=sheet,
        table=table,
        query=query,
    )
    roles = decided(identifiers, quasi_identifiers, sensitive, other)
    policy = null_policy(missing)
    if engine == "spark":
        from crypsis.engine.spark_sources import open_spark

        rows = open_spark(source, reading, master=master)
    else:
        rows = open_source(source, reading, memory_limit=memory_limit, spill_folder=spill_folder)
    return Release(rows, roles, person, weight, population, policy)


def _check_engine(engine: str, master: str | None, *limits: object) -> None:
    """Refuse an engine that does not exist, and options that the one asked for does not have."""
    if engine not in ("duckdb", "spark"):
        raise ParameterError(f"The engines are 'duckdb' and 'spark'; {engine!r} was given.")
    if engine == "duckdb" and master is not None:
        raise ParameterError("master is where Spark runs; say engine='spark' (--engine spark).")
    if engine == "spark" and any(limit is not None for limit in limits):
        raise ParameterError(
            "memory_limit and spill_folder are settings of DuckDB; Spark has its own "
            "(spark.executor.memory, spark.local.dir)."
        )


def as_release(data: Any, **keywords: Any) -> Release:
    """A Release as it is; any frame, or the path of a file, with the role keywords as a Release."""
    if isinstance(data, str | Path):
        return read(data, **keywords)
    if not isinstance(data, Release):
        return Release.from_frame(data, **keywords)
    if keywords:
        raise ParameterError(
            "Roles are given with a frame, not with a Release, which has its own; use with_roles()."
        )
    return data


def null_policy(missing: NullPolicy | str) -> NullPolicy:
    """The policy of that name."""
    try:
        return NullPolicy(missing)
    except ValueError:
        names = ", ".join(repr(policy.value) for policy in NullPolicy)
        raise ParameterError(f"missing is one of {names}; {missing!r} was given.") from None


def decided(
    identifiers: Sequence[str],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    other: Sequence[str] = (),
) -> dict[str, Role]:
    """Lists of names as roles; a column has one role only."""
    roles: dict[str, Role] = {}
    lists = zip(Role, (identifiers, quasi_identifiers, sensitive, other), strict=True)
    for role, names in lists:
        if isinstance(names, str):
            raise RoleError(f"The columns of a role are a list: [{names!r}], not {names!r}.")
        for name in names:
            if name in roles:
                raise RoleError(
                    f"The column {name!r} is named as {roles[name].value} and as {role.value}; "
                    "it can be one of them."
                )
            roles[name] = role
    return roles
