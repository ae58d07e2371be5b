"""Files and databases as a Dataset; the one door for everything that takes data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from crypsis.dataset._dataset import Dataset
from crypsis.dataset._notes import with_priors
from crypsis.dataset._roles import SAMPLE_KEYWORDS, Data, as_columns, as_missing_values, decided
from crypsis.errors import ParameterError
from crypsis.options import Columns, MissingValues, ReadOptions, Roles
from crypsis.tables import open_source


def read(
    source: str | Path,
    *,
    identifiers: Columns = (),
    quasi_identifiers: Columns = (),
    sensitive: Columns = (),
    insensitive: Columns = (),
    excluded: Columns = (),
    person: str | None = None,
    person_reason: str | None = None,
    household: str | None = None,
    weight: str | None = None,
    stratum: str | None = None,
    cluster: str | None = None,
    population: int | Data | None = None,
    priors: Mapping[str, Mapping[Any, float]] | None = None,
    missing: MissingValues | str = MissingValues.VALUE,
    format: str | None = None,  # noqa: A002 - the word users look for
    names: Sequence[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    date_format: str | None = None,
    missing_markers: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    sheet: str | None = None,
    table: str | None = None,
    query: str | None = None,
    memory_limit: str | None = None,
    spill_folder: str | Path | None = None,
    max_rows: int | None = None,
    engine: str = "duckdb",
    master: str | None = None,
) -> Dataset:
    r"""Open a file, a folder of Parquet files, a glob, a remote file or a database.

    Reads CSV, Parquet, JSON lines, Excel, SPSS, Stata, SAS, DuckDB and SQLite files. The rows stay
    where they are until a measure needs them.

    Parameters
    ----------
    source : str or Path
        The path or address; `postgresql://...` with a table or query.
    identifiers : str or sequence of str
        The direct identifiers: columns that identify a person without other columns.
    quasi_identifiers : str or sequence of str
        The quasi-identifiers: columns that others know and that identify in combination.
    sensitive : str or sequence of str
        The sensitive attributes: columns that must not become known of a person.
    insensitive : str or sequence of str
        The insensitive attributes: columns that neither identify nor harm.
    excluded : str or sequence of str
        The excluded columns: not released, whatever they are. A column without any of these roles
        is undecided.
    person : str, optional
        The column that identifies the person, where a person may have several rows; or
        "each record" where each is of one person. It is asked: nothing is called safe, and nothing
        anonymized, without it.
    person_reason : str, optional
        Why each record is of one person, where the records indicate otherwise.
    household : str, optional
        The column that identifies the household: one member found finds the others.
    weight : str, optional
        The column with the sampling weight.
    stratum : str, optional
        The column of the strata in which the sample was drawn.
    cluster : str, optional
        The column of the clusters that were drawn (primary sampling units), within the strata.
    population : int, frame, Dataset or path, optional
        The number of people that the rows are a sample of, or their own table.
    priors : mapping of str to mapping, optional
        The share of people with a sensitive value in the population, by column and value:
        `{"hiv": {"positive": 0.002}}`.
    missing : {"value", "wildcard", "drop"}
        How missing values are compared: as a value of their own, as equal to every value, or not
        at all (the record is dropped).
    format : str, optional
        The file format: csv, parquet, json, excel, arrow, stata, spss, sas, duckdb, sqlite, delta or
        iceberg; by default detected.
    names : sequence of str, optional
        The column names of a file without a header.
    header : bool, optional
        Whether the first line is a header; by default yes, unless `names` is given.
    delimiter : str, optional
        The delimiter of a CSV file, one character; by default detected.
    encoding : str, optional
        The encoding of a CSV file; by default detected: utf-8, utf-16, windows-1252 or latin-1.
    decimal : {".", ","}, optional
        The decimal mark of a CSV file; by default detected.
    date_format : str, optional
        The form of dates in a CSV file, such as "DD/MM/YYYY"; by default detected. Dates that fit two
        orders of day and month are read as text.
    missing_markers : sequence of str, optional
        The texts that are read as missing values.
    types : mapping of str to str, optional
        The column types by column: text, integer, number, date or time; by default detected.
    sheet : str, optional
        The sheet of a spreadsheet; by default the first.
    table, query : str, optional
        The table of a database, or the SQL query to read instead.
    memory_limit, spill_folder : str, optional
        Settings of DuckDB: the most memory it uses, such as "4GB", and where it spills to.
    max_rows : int, optional
        The most rows to read; a source that has more is refused, a database while it is copied.
    engine : {"duckdb", "spark"}
        The engine that reads and counts.
    master : str, optional
        Where Spark runs, if no session is active.

    Returns
    -------
    Dataset
        The rows with the roles of their columns.

    Raises
    ------
    SourceError
        If the source cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,zip,disease\n30,02138,flu\n41,02139,gout\n")
    ...     read(path, quasi_identifiers=["age", "zip"], sensitive="disease").quasi_identifiers
    ('age', 'zip')
    """
    if not isinstance(source, str | PathLike):  # its text would be the data
        raise ParameterError(
            f"read() opens a path or an address; a {type(source).__name__} was given.",
            hint="A frame is given to the functions themselves, or to Dataset.from_frame().",
            parameter="source",
        )
    _check_engine(engine, master, memory_limit, spill_folder, max_rows)
    reading = ReadOptions(
        format,
        names,
        header,
        delimiter,
        encoding,
        decimal,
        date_format,
        missing_markers,
        dict(types or {}),
        sheet,
        table,
        query,
    )
    roles = decided(identifiers, quasi_identifiers, sensitive, insensitive, excluded)
    policy = as_missing_values(missing)
    if engine == "spark":
        from crypsis.tables.spark.sources import open_spark

        rows = open_spark(source, reading, master=master)
    else:
        rows = open_source(
            source, reading, memory_limit=memory_limit, spill_folder=spill_folder, max_rows=max_rows
        )
    return Dataset(
        rows,
        roles,
        person,
        weight,
        population,
        policy,
        notes=with_priors({}, priors),
        household=household,
        stratum=stratum,
        cluster=cluster,
        person_reason=person_reason or "",
    )


def _check_engine(engine: str, master: str | None, *limits: object) -> None:
    if engine not in ("duckdb", "spark"):
        raise ParameterError(
            f"Parameter 'engine' must be 'duckdb' or 'spark'; {engine!r} was given.", parameter="engine"
        )
    if engine == "duckdb" and master is not None:
        raise ParameterError(
            "Parameter 'master' applies to Spark only.",
            code="option-without-effect",
            parameter="master",
            hint="Set {engine=spark}.",
        )
    if engine == "spark" and any(limit is not None for limit in limits):
        raise ParameterError(
            "The memory limit, the row limit and the spill folder are settings of DuckDB. Spark has "
            "its own: spark.executor.memory and spark.local.dir.",
            code="option-without-effect",
            parameter="memory_limit",
        )


def as_seen(data: Data, columns: Columns | None = None, **roles: Unpack[Roles]) -> Dataset:
    """A Dataset as whoever gets the rows sees it; `columns` are by default the quasi-identifiers.

    Measures of classes take their data by this, as an assessment does: see `Dataset.as_written`.
    """
    dataset = as_dataset(data, **roles)
    return dataset.as_written(None if columns is None else as_columns(columns))


def as_dataset(data: Data, **roles: Unpack[Roles]) -> Dataset:
    """A Dataset unchanged; a frame or the path of a file, with the role keywords, as a Dataset.

    A population, priors and how the sample was drawn may be given with a Dataset too: a sample may be
    compared with several.
    """
    if isinstance(data, str | Path):
        return read(data, **roles)
    if not isinstance(data, Dataset):
        return Dataset.from_frame(data, **roles)
    if roles and set(roles) <= {"population", "priors", "person_reason", *SAMPLE_KEYWORDS}:
        role_options: dict[str, Any] = {n: v for n, v in roles.items() if n != "priors"}
        if "person_reason" in role_options:
            role_options["person_reason"] = role_options["person_reason"] or ""
        return replace(data, notes=with_priors(data.notes, roles.get("priors")), **role_options)
    if roles:
        raise ParameterError(
            "A Dataset has its own roles; role keywords go with a frame or a path.",
            code="roles-of-a-dataset",
            hint="Use Dataset.with_roles().",
        )
    return data
