"""The models of options: roles and reading, each declared once.

Functions, the command line and the page take names, types and descriptions from here. Nothing heavy
is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Annotated, Any, TypeAlias, TypedDict, get_type_hints

from crypsis.errors import ParameterError

MISSING_MARKERS = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null")
"""The missing-value markers of text files where none are given."""
FORMATS = (
    "csv",
    "parquet",
    "json",
    "excel",
    "arrow",
    "stata",
    "spss",
    "sas",
    "duckdb",
    "sqlite",
    "delta",
    "iceberg",
)
TYPES = ("text", "integer", "number", "date", "time")
"""The column types."""


class MissingValues(StrEnum):
    """How missing values count."""

    VALUE = "value"
    """Missing is a value of its own: two missing values are equal. The default."""
    WILDCARD = "wildcard"
    """Missing matches every value (as in sdcMicro)."""
    DROP = "drop"
    """Records with a missing value in the columns concerned are dropped, and counted."""


class Role(StrEnum):
    """What a column is to an intruder."""

    IDENTIFIER = "identifier"
    """Identifies a person by itself: a name, an account, a social security number."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """An intruder may know it; identifies together with others: age, zip code, sex."""
    SENSITIVE = "sensitive"
    """Must not be disclosed: a disease, an income."""
    INSENSITIVE = "insensitive"
    """Neither identifies nor harms."""
    EXCLUDED = "excluded"
    """Not released, whatever it is."""
    UNDECIDED = "undecided"
    """Not decided yet; nothing with an undecided column is safe."""


EACH_RECORD = "each record"
"""What `person` is where every record is of another person."""

Columns: TypeAlias = str | Sequence[str]
"""One column, or several."""


class Roles(TypedDict, total=False):
    """The role keywords of every function that takes data.

    They go with a frame or a path; a `Dataset` has its own roles.
    """

    identifiers: Annotated[Columns, "Direct identifiers: columns that identify a person by themselves."]
    quasi_identifiers: Annotated[Columns, "Quasi-identifiers: columns that an intruder may know."]
    sensitive: Annotated[Columns, "Sensitive attributes: columns whose values must not be disclosed."]
    insensitive: Annotated[Columns, "Insensitive attributes."]
    excluded: Annotated[Columns, "Excluded columns: columns that are not released."]
    person: Annotated[
        str | None,
        'The column that identifies the person of a record, or "each record" where each is of one person.',
    ]
    person_reason: Annotated[
        str | None, "Why each record is of one person, where the records indicate otherwise."
    ]
    household: Annotated[str | None, "The column that identifies the household of a record."]
    weight: Annotated[str | None, "The column of survey weights."]
    stratum: Annotated[str | None, "The column of the strata of the sample."]
    cluster: Annotated[str | None, "The column of the clusters (primary sampling units)."]
    population: Annotated[
        Any, "The number of people in the population, or its table: a frame, a Dataset or a path."
    ]
    priors: Annotated[
        Mapping[str, Mapping[Any, float]] | None,
        "The share of people with a sensitive value in the population, by column and value.",
    ]
    missing: Annotated[MissingValues | str, "How missing values count."]


class PlanOptions(Roles, total=False):
    """The options of `crypsis.protection.plan` and `crypsis.anonymize`, besides k and methods."""

    beta: Annotated[
        float, "The probability, for each cell, that its class in the population is smaller than k."
    ]
    release_k: Annotated[
        int | None, "The smallest class of the release, in addition to that of the population."
    ]
    diversity: Annotated[
        int | None, "Distinct l-diversity: values of each sensitive attribute in every class."
    ]
    entropy_diversity: Annotated[
        float | None, "Entropy l-diversity: the entropy in every class is at least log2 l."
    ]
    recursive_diversity: Annotated[
        tuple[float, int] | None,
        "Recursive (c,l)-diversity: in every class the most frequent value has fewer records than "
        "c times those of the l-th most frequent and all rarer ones.",
    ]
    closeness: Annotated[
        float | None, "t-closeness: the distance of every class's sensitive values from those of all records."
    ]
    best_guess: Annotated[
        float | None, "(alpha,k)-anonymity: the share of the most frequent sensitive value in every class."
    ]
    excess: Annotated[
        float | None,
        "Disclosure of values: by how much the share of a sensitive value or interval in every "
        "class may exceed what a model without the class predicts; rare values are never "
        "near-certain.",
    ]
    beta_likeness: Annotated[
        float | None,
        "beta-likeness: by how many times its share in all records a sensitive value may gain in a class.",
    ]
    delta_disclosure: Annotated[
        float | None,
        "delta-disclosure privacy: by how many bits the share of a sensitive value in a class may "
        "differ from that in all records.",
    ]
    k_map: Annotated[
        int | None,
        "k-map: the fewest people of the population's table that match a class; one over it is the "
        "journalist risk.",
    ]
    presence: Annotated[
        float | None,
        "delta-presence: the highest probability that a person of the population's table is in the release.",
    ]
    average_risk: Annotated[
        float | None, "The average re-identification risk of the records (prosecutor, marketer)."
    ]
    combinations: Annotated[
        int | None, "k is required of every combination of so many quasi-identifiers, not of all together."
    ]
    journalist_risk: Annotated[
        float | None,
        "The highest journalist risk: one over the people who match a class in the table of the "
        "population, or what the weights say of it.",
    ]
    each_column: Annotated[bool, "Whether k is required of every quasi-identifier alone."]
    weights: Annotated[
        Mapping[str, float] | None,
        "How much the detail of a column matters; 1 by default, 0 if it may be dropped.",
    ]
    keep: Annotated[
        Mapping[str, int | str] | None,
        "The coarsest level that is allowed of a column: 0 as it is, 1 one level up; of dates also "
        "month, quarter, half-year, year, decade, 20 years, 40 years or 80 years.",
    ]
    may_change: Annotated[
        Columns, "Sensitive attributes that may be generalized or dropped, where that costs less."
    ]
    preserve: Annotated[
        Sequence[Columns] | None,
        "What the release is used for: a column to predict, a quasi-identifier whose distribution "
        "matters, or two columns.",
    ]
    apart: Annotated[
        Sequence[Columns] | None,
        "Sensitive attributes released apart, in a file of their own without any other column and in "
        "a random order of its own: what connects them with the rest is lost.",
    ]
    hierarchies: Annotated[Mapping[str, Any] | None, "The hierarchy of a column."]
    domains: Annotated[Mapping[str, float] | None, "The values of a column in the population."]
    suppression: Annotated[float, "The share of records that may be removed or suppressed as a whole."]
    representative: Annotated[str, "The label of an interval: interval, median or mean."]
    rank_error: Annotated[float | None, "Quantiles come from a sample with this error."]
    time_limit: Annotated[
        float | None,
        "How many seconds the search takes: it goes on as long as it loses less, and then releases "
        "the best found. Without it, it ends by itself, and the same data give the same release.",
    ]


class PeopleOptions(TypedDict, total=False):
    """The options of `crypsis.anonymize` for people with several records."""

    unicity: Annotated[
        float | None, "Unicity: the share of people whom `events` known records of theirs single out."
    ]
    events: Annotated[int | None, "The number of known records, where unicity is required."]
    inferred: Annotated[
        float | None,
        "The share of sensitive values that those records make almost certain, of values that at "
        "most half of the people have.",
    ]
    links: Annotated[
        str | None, 'How records of a person may be linked: by "person", in "pieces", by a window of time.'
    ]
    order: Annotated[str | None, "The column with the time of a record, by which they are linked."]
    max_records: Annotated[
        int | None, "The most records of a person that are released; others are dropped at random."
    ]


def descriptions(options: type) -> dict[str, str]:
    """The description of each option of a model.

    >>> descriptions(Roles)["insensitive"]
    'Insensitive attributes.'
    """
    hints = get_type_hints(options, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


@dataclass(frozen=True)
class ReadOptions:
    """How to read a source; what is None is detected or has its default.

    The description of each option is the second argument of its annotation.

    Examples
    --------
    >>> from typing import get_type_hints
    >>> get_type_hints(ReadOptions, include_extras=True)["sheet"].__metadata__
    ('The sheet of a spreadsheet; by default the first.',)
    """

    format: Annotated[
        str | None,
        "The file format: csv, parquet, json, excel, arrow, stata, spss, sas, duckdb, sqlite, delta or "
        "iceberg; by default detected.",
    ] = None
    names: Annotated[Sequence[str] | None, "The column names of a file without a header."] = None
    header: Annotated[
        bool | None, "Whether the first line is a header; by default yes, unless names are given."
    ] = None
    delimiter: Annotated[str | None, "The delimiter of a CSV file, one character; by default detected."] = (
        None
    )
    encoding: Annotated[str | None, "The encoding of a CSV file, such as latin-1; by default detected."] = (
        None
    )
    decimal: Annotated[str | None, "The decimal mark of a CSV file, point or comma; by default detected."] = (
        None
    )
    date_format: Annotated[
        str | None, "The form of dates in a CSV file, such as DD/MM/YYYY; by default detected."
    ] = None
    missing_markers: Annotated[
        Sequence[str] | None, "The missing-value markers: texts that are read as missing values."
    ] = None
    types: Annotated[
        Mapping[str, str],
        "The column types by column name: text, integer, number, date or time; else detected.",
    ] = field(default_factory=dict)
    sheet: Annotated[str | None, "The sheet of a spreadsheet; by default the first."] = None
    table: Annotated[str | None, "The table of a database."] = None
    query: Annotated[str | None, "The SQL query to read from a database, instead of a table."] = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in (*FORMATS, "orc"):
            raise ParameterError(
                f"Format {self.format!r} is not known. The formats are: {', '.join(FORMATS)}.",
                code="unknown-format",
                parameter="format",
            )
        for name in ("names", "missing_markers"):
            if isinstance(getattr(self, name), str):
                raise ParameterError(f"{name!r} is a list of texts, not one text.", parameter=name)
        if self.names is not None and self.header:
            raise ParameterError(
                "Column names are for a file without a header.",
                parameter="names",
                hint="Set {names} or {header=True}, not both.",
            )
        if self.names is None and self.header is False:
            raise ParameterError(
                "A file without a header needs column names.", parameter="names", hint="Set {names}."
            )
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\n\r\0'):
            raise ParameterError(
                "The delimiter must be one character, and not a quote, a line end or NUL.",
                parameter="delimiter",
                hint="Set {delimiter=;}.",
            )
        if self.decimal not in (None, ".", ","):
            raise ParameterError(
                "The decimal mark must be a point or a comma.", parameter="decimal", hint="Set {decimal=,}."
            )
        if self.table is not None and self.query is not None:
            raise ParameterError("A table and a query were given.", hint="Set {table} or {query}, not both.")
        wrong = sorted(set(self.types.values()) - set(TYPES))
        if wrong:
            raise ParameterError(
                f"Column type {wrong[0]!r} is not known. The types are: {', '.join(TYPES)}.",
                code="unknown-type",
                parameter="types",
            )

    @property
    def markers(self) -> tuple[str, ...]:
        """The missing-value markers of a text file."""
        return MISSING_MARKERS if self.missing_markers is None else tuple(self.missing_markers)

    def check_supported(self, kind: str, supported: Sequence[str]) -> None:
        """Refuse an option that would have no effect on this kind of source."""
        for option in fields(self):
            name, value = option.name, getattr(self, option.name)
            unset = value is None or value == {} or name in ("format", "missing_markers")
            if not unset and name not in supported:
                raise ParameterError(
                    f"Option {name!r} does not apply to {kind}.",
                    code="option-without-effect",
                    parameter=name,
                    hint=f"Remove {{{name}}}.",
                )
