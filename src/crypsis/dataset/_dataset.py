"""Dataset: the rows of a table, the role of each column, and the population they are from."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, Unpack

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis.counting.cells import Cells
from crypsis.dataset._notes import ColumnNote, is_reason, with_priors
from crypsis.dataset._roles import ROLE_KEYWORDS, SAMPLE_KEYWORDS, Data, as_missing_values, as_role, decided
from crypsis.errors import InputError, ParameterError, RoleError, TooLargeError, unknown_columns
from crypsis.options import EACH_RECORD, MissingValues, ReadOptions, Role, Roles
from crypsis.tables import Kind, Rows, open_frame, open_source, write_rows

_MAX_CACHED_COLUMN_SETS = 4
"""Column sets whose cells are kept: those of one question, and of the measures beside it."""

_MAX_COMPARED_VALUES = 2_000_000
"""Distinct values, and texts, of columns that are compared; of more all columns are texts."""


class _Counts:
    """The cells that were counted, by their columns and the weight, if it was summed.

    They belong to the records and to the rule of missing values that they were counted under.
    """

    def __init__(
        self, rows: Rows | None = None, missing: MissingValues | None = None, given: Any = None
    ) -> None:
        self.rows, self.missing, self.given = rows, missing, given
        self.cells: dict[tuple[tuple[str, ...], str | None], Cells] = {}

    def of(self, rows: Rows, missing: MissingValues, given: Any) -> _Counts:
        """The counts of these rows: the same where they are the same records, else none."""
        if rows is self.rows and missing is self.missing and given is self.given:
            return self
        counts = _Counts(rows, missing, given)
        if self.rows is not None and self.rows.records is rows.records and self.missing is missing:
            counts.cells = self.cells
        return counts

    def add(self, names: tuple[str, ...], weight: str | None, cells: Cells) -> None:
        """Keep these cells, in place of the oldest."""
        while len(self.cells) >= _MAX_CACHED_COLUMN_SETS:
            self.cells.pop(next(iter(self.cells)))
        self.cells[names, weight] = cells


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table and what is known of it: the roles of its columns, its persons, its population.

    Made by `crypsis.read` from files and databases, and by `Dataset.from_frame` from frames.

    Parameters
    ----------
    rows : Rows
        The rows, in a file, a frame, a database or a cluster.
    roles : mapping of str to Role
        The roles that were decided; a column without one is undecided.
    person : str, optional
        The column that identifies the person, where a person may have several rows; or
        "each record", which sets `each_record`.
    household : str, optional
        The column that identifies the household: one member found finds the others.
    weight : str, optional
        The column with the sampling weight: how many people of the population a row represents.
    stratum : str, optional
        The column of the strata in which the sample was drawn.
    cluster : str, optional
        The column of the clusters that were drawn (primary sampling units), within the strata.
    population : int, frame, Dataset or path, optional
        The number of people that the rows are a sample of, or their own table.
    missing : MissingValues
        How missing values are compared.
    notes : mapping of str to ColumnNote
        What the owner wrote about a column besides its role: reasons, harmless values.
    given : frame, optional
        The frame that the rows were taken from.
    container : mapping of str to str
        What the file contains besides the table and may be released, with the owner's reason.
    absent : mapping of str to str
        The columns of persons and households that a release was made without, by these words: its
        original has them.
    each_record : bool
        Whether every record is of another person. Without it, a person or `absent`, it is not decided
        what a record is.
    person_reason : str
        Why each record is of one person, where the records indicate otherwise.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "disease": ["flu", "flu", "gout"]})
    >>> Dataset.from_frame(people, quasi_identifiers="age", sensitive="disease")
    Dataset(3 records, 2 columns; 1 quasi-identifier, 1 sensitive)
    """

    rows: Rows
    roles: Mapping[str, Role] = field(default_factory=dict)
    person: str | None = None
    weight: str | None = None
    population: int | Data | None = None
    missing: MissingValues = MissingValues.VALUE
    given: Any = None
    notes: Mapping[str, ColumnNote] = field(default_factory=dict)
    container: Mapping[str, str] = field(default_factory=dict)
    household: str | None = None
    stratum: str | None = None
    cluster: str | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    each_record: bool = False
    person_reason: str = ""
    _counts: _Counts = field(default_factory=_Counts)
    """What was counted of these rows under this rule of missing values."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", as_missing_values(self.missing))
        self._keep_what_belongs_to_the_rows()
        self._decide_person()
        named = [
            *self.roles,
            *self.notes,
            *(name for part in SAMPLE_KEYWORDS if (name := getattr(self, part)) is not None),
        ]
        unknown = [name for name in named if name not in self.rows.names]
        if unknown:
            raise unknown_columns(unknown, self.rows.names)
        if self.weight is not None and not self.rows.column(self.weight).kind.numeric:
            raise RoleError(
                f"Column {self.weight!r} is not numeric. A weight column must be numeric.",
                code="weight-not-numeric",
                columns=(self.weight,),
            )
        object.__setattr__(self, "population", _checked_population(self.population))

    def _keep_what_belongs_to_the_rows(self) -> None:
        """Drop counts of other rows or another rule of missing values, and the frame of other rows.

        `dataclasses.replace` hands over all fields of the dataset that is replaced.
        """
        counts = self._counts
        if counts.rows is not self.rows and counts.given is self.given:
            object.__setattr__(self, "given", None)
        object.__setattr__(self, "_counts", counts.of(self.rows, self.missing, self.given))

    def _decide_person(self) -> None:
        """Each record is of one person, or an event of the person in a column."""
        if self.person == EACH_RECORD:
            if EACH_RECORD in self.rows.names:
                raise RoleError(
                    f"Column {EACH_RECORD!r} has the name of the answer that each record is of one "
                    "person. Rename the column.",
                    code="reserved-name",
                    columns=(EACH_RECORD,),
                )
            object.__setattr__(self, "person", None)
            object.__setattr__(self, "each_record", True)
        elif self.person is not None:
            object.__setattr__(self, "each_record", False)
        if self.person_reason and not is_reason(self.person_reason):
            raise ParameterError(
                "The reason why each record is of one person must say why, in words.",
                code="no-reason",
                parameter="person_reason",
            )

    @property
    def person_decided(self) -> bool:
        """Whether it is decided what a record is: one person, or an event of one."""
        return self.each_record or self.person is not None or "person" in self.absent

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        memory_limit: str | None = None,
        spill_folder: str | Path | None = None,
        **roles: Unpack[Roles],
    ) -> Dataset:
        """A dataset from a pandas, Polars, Arrow, DuckDB, Spark or Ibis frame.

        Parameters
        ----------
        frame : frame
            The rows. An Arrow dataset, such as the package `deltalake` makes of a Delta table, is
            read as a stream.
        memory_limit, spill_folder : str, optional
            Settings of DuckDB: the most memory it uses, such as "4GB", and where it spills to.
        **roles
            See `crypsis.read`.

        Returns
        -------
        Dataset
            The frame with its roles.

        Examples
        --------
        >>> import pyarrow as pa
        >>> people = pa.table({"age": [30, 30, 41], "disease": ["flu", "flu", "gout"]})
        >>> data = Dataset.from_frame(people, quasi_identifiers=["age"], sensitive=["disease"])
        >>> data.count, data.quasi_identifiers
        (3, ('age',))
        """
        rows = open_frame(frame, memory_limit=memory_limit, spill_folder=spill_folder)
        lists = (roles.get(name, ()) for name in ROLE_KEYWORDS)
        return cls(
            rows,
            decided(*lists),  # type: ignore[arg-type]
            roles.get("person"),
            roles.get("weight"),
            roles.get("population"),
            as_missing_values(roles.get("missing", MissingValues.VALUE)),
            frame,
            with_priors({}, roles.get("priors")),
            household=roles.get("household"),
            stratum=roles.get("stratum"),
            cluster=roles.get("cluster"),
            person_reason=roles.get("person_reason") or "",
        )

    def __repr__(self) -> str:
        counted = vars(self.rows).get("count", self.rows.known_count)
        if counted is None and _is_eager(self.given):
            counted = self.count
        size = [] if counted is None else [_plural(counted, "record")]
        by_role = {"direct identifier": self.identifiers, "quasi-identifier": self.quasi_identifiers}
        parts = [_plural(len(names), noun) for noun, names in by_role.items() if names]
        for adjective, names in (
            ("sensitive", self.sensitive),
            ("insensitive", self.insensitive),
            ("excluded", self.excluded),
        ):
            parts += [f"{len(names)} {adjective}"] if names else []
        head = ", ".join([*size, _plural(len(self.names), "column")])
        return f"Dataset({'; '.join(filter(None, [head, ', '.join(parts)]))})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(column.name)}</td><td>{column.kind.value}</td><td>"
            + self.roles.get(column.name, Role.UNDECIDED).value
            + "</td></tr>"
            for column in self.rows.columns
        )
        head = "<tr><th>column</th><th>type</th><th>role</th></tr>"
        caption = f"<caption>{escape(repr(self))}</caption>"
        return f"<table class='crypsis'>{caption}<thead>{head}</thead><tbody>{rows}</tbody></table>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A frame in memory is pickled itself, anything else as its rows; counts are not."""
        eager = _is_eager(self.given)
        stated = ("each_record", "person_reason", "absent", "container")
        names = (*SAMPLE_KEYWORDS, "roles", "population", "missing", "notes", *stated)
        state = {name: getattr(self, name) for name in names}
        return _restored, (self.given if eager else None, None if eager else self.rows, state)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.rows.names

    @property
    def count(self) -> int:
        """The number of records."""
        return self.rows.count

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The direct identifiers."""
        return self._with(Role.IDENTIFIER)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self._with(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes."""
        return self._with(Role.SENSITIVE)

    @property
    def insensitive(self) -> tuple[str, ...]:
        """The insensitive attributes."""
        return self._with(Role.INSENSITIVE)

    @property
    def excluded(self) -> tuple[str, ...]:
        """The columns that are not released."""
        return self._with(Role.EXCLUDED)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns whose role was not decided."""
        return self._with(Role.UNDECIDED)

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that are released: all but direct identifiers and excluded ones."""
        kept_back = (Role.IDENTIFIER, Role.EXCLUDED)
        return tuple(name for name in self.names if self.roles.get(name) not in kept_back)

    @property
    def knowable(self) -> tuple[str, ...]:
        """The released columns that an intruder may know: those that are not signed off.

        A quasi-identifier is known whatever was written about it. The columns of the person and of
        the household are not among them; a weight is, because whoever knows the design of the
        sample knows whose weight it is.
        """
        linking_columns = (self.person, self.household)
        return tuple(
            name for name in self.released if name not in linking_columns and name not in self.signed_off
        )

    @property
    def signed_off(self) -> tuple[str, ...]:
        """The released columns of which the owner wrote why an intruder cannot know them."""
        quasi_identifiers = self.quasi_identifiers
        return tuple(
            name
            for name in self.released
            if name in self.notes and self.notes[name].sign_off and name not in quasi_identifiers
        )

    def _with(self, role: Role) -> tuple[str, ...]:
        return tuple(name for name in self.names if self.roles.get(name, Role.UNDECIDED) is role)

    @property
    def frame(self) -> Any:
        """The rows as a frame of the kind that was given; of a file, a DuckDB relation."""
        return self.rows.named_frame() if self.given is None else self.given

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows as an Arrow table."""
        return self.rows.to_arrow(columns)

    def write(self, path: str | Path, *, overwrite: bool = False, neutralize_formulas: bool = False) -> Path:
        """Write the rows to a file, completely or not at all.

        The suffix of the path names the format: .csv (also .csv.gz, .csv.bz2, .csv.xz, .csv.zst),
        .parquet, .jsonl, .xlsx, .arrow or .feather, .dta, .sav, .duckdb or .sqlite; without one it is
        that of the file that was read. A CSV file made of a CSV file has its delimiter, encoding,
        decimal mark and form of dates; a file of Stata or SPSS keeps the labels of its columns and of
        the values that records have. An address such as s3:// is written by its package of fsspec.

        With `neutralize_formulas` an apostrophe is put before texts in a CSV file that a
        spreadsheet would run: those that begin with =, +, -, @, a tab or a line end.
        """
        return write_rows(self.rows, path, overwrite=overwrite, neutralize_formulas=neutralize_formulas)

    def cells(self, columns: Sequence[str] | None = None, *, weighted: bool = False) -> Cells:
        """The distinct tuples of some columns (default: the quasi-identifiers) with their counts.

        The rows are scanned once; cells of columns that were counted before come from those.
        """
        names = self.quasi_identifiers if columns is None else tuple(columns)
        if columns is None and not names:
            raise RoleError(
                "No quasi-identifiers are set.",
                code="no-quasi-identifiers",
                hint="Set {quasi_identifiers} to the columns that others may know.",
            )
        weight = self.weight if weighted else None
        if weighted and weight is None:
            raise RoleError("No weight column is set.", code="no-weight", hint="Set {weight}.")
        counted = self.counted(names, weighted=weighted)
        if counted is not None:
            return counted
        cells = Cells.from_table(self.rows.cells(names, weight=weight), names, self.missing)
        self._counts.add(names, weight, cells)
        return cells

    def counted(self, columns: Sequence[str], *, weighted: bool = False) -> Cells | None:
        """The cells of some columns where they follow from cells counted before; else None."""
        names = tuple(columns)
        for (_, weight), cell in self._counts.cells.items():
            if set(names) <= set(cell.columns) and (not weighted or weight == self.weight):
                return cell if cell.columns == names else cell.marginal(names)
        return None

    def strict(self) -> Dataset:
        """The same rows with a missing value equal to a missing value only: the strictest reading.

        Examples
        --------
        >>> import pyarrow as pa
        >>> people = pa.table({"age": [30, None, None]})
        >>> data = Dataset.from_frame(people, quasi_identifiers="age", missing="wildcard")
        >>> data.cells().class_sizes.tolist(), data.strict().cells().class_sizes.tolist()
        ([3, 3], [1, 2])
        """
        if self.missing is MissingValues.VALUE:
            return self
        return replace(self, missing=MissingValues.VALUE)

    def as_written(self, columns: Sequence[str] | None = None) -> Dataset:
        """The dataset as whoever gets the rows sees it: what measures of classes count.

        A column (default: of the quasi-identifiers) in which what is written distinguishes more than
        the values that are read (70 and 70.0, NA and ?, zero and minus zero) is taken as these
        texts. Sensitive attributes are not: two notations of one value would count as diverse.

        Examples
        --------
        >>> import pyarrow as pa
        >>> table = pa.table({"change": [0.0, -0.0, 0.0, -0.0]})
        >>> data = Dataset.from_frame(table, quasi_identifiers="change")
        >>> data.cells().counts.tolist(), data.as_written().cells().counts.tolist()
        ([4], [2, 2])
        """
        finer = self.finer_as_written(self.quasi_identifiers if columns is None else columns)
        return replace(self, rows=self.rows.as_written(finer)) if finer else self

    def finer_as_written(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns, no sensitive ones, in which what is written distinguishes more than is read."""
        unseen = (self.person, self.household, self.weight, *self.sensitive)
        names = [
            column.name
            for column in self.rows.columns
            if column.name in columns and column.name not in unseen and column.kind is not Kind.NESTED
        ]
        try:
            return self.rows.finer_as_written(names, _MAX_COMPARED_VALUES)
        except (InputError, TooLargeError):  # what is written is never coarser
            return tuple(name for name in names if name in self.quasi_identifiers) or tuple(names)

    def with_roles(
        self,
        roles: Mapping[str, Role | str],
        notes: Mapping[str, ColumnNote] | None = None,
        container: Mapping[str, str] | None = None,
    ) -> Dataset:
        """The same rows with these roles instead, by column.

        Parameters
        ----------
        roles : mapping of str to Role or str
            The role of each column; a column that is not in it is undecided.
        notes : mapping of str to ColumnNote, optional
            What the owner wrote about columns besides the role; by default that of this dataset.
        container : mapping of str to str, optional
            What the file may contain besides the table, each with the reason; by default that of this
            dataset.

        Returns
        -------
        Dataset
            The dataset; counts that were made before are kept.

        Examples
        --------
        >>> import pyarrow as pa
        >>> data = Dataset.from_frame(pa.table({"age": [30, 41]}), sensitive=["age"])
        >>> data.with_roles({"age": "quasi-identifier"}).quasi_identifiers
        ('age',)
        """
        return replace(
            self,
            roles={name: as_role(role) for name, role in roles.items()},
            notes=self.notes if notes is None else notes,
            container=self.container if container is None else container,
        )


def _restored(given: Any, rows: Rows | None, state: dict[str, Any]) -> Dataset:
    return Dataset(open_frame(given) if rows is None else rows, given=given, **state)


def _is_eager(frame: Any) -> bool:
    """Whether a frame is in this process's memory."""
    return isinstance(nw.from_native(frame, pass_through=True), nw.DataFrame)


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _checked_population(population: Any) -> int | Dataset | None:
    if population is None or isinstance(population, Dataset):
        return population
    if isinstance(population, str | Path):
        return Dataset(open_source(population, ReadOptions()))
    if not isinstance(population, numbers.Number):
        return Dataset.from_frame(population)
    is_count = isinstance(population, numbers.Integral) and not isinstance(population, bool)
    if not is_count or population < 1:  # type: ignore[operator]
        raise ParameterError(
            "The population must be a whole number of at least 1, a frame or a Dataset; "
            f"{population} was given.",
            parameter="population",
        )
    return int(population)  # type: ignore[call-overload, no-any-return]
