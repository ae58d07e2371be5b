"""The options that verbs share, and how they become a Dataset.

Reading options and roles are declared once, in `ReadOptions` and `Roles`; names, types and
descriptions of the command line come from there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from crypsis.cli.completion import OF_OPTIONS
from crypsis.cli.wording import cli_option
from crypsis.options import ReadOptions, Role, Roles

if TYPE_CHECKING:
    from crypsis.dataset import Dataset

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (CSV, Parquet, JSON, Excel, Arrow, Stata, SPSS, SAS, DuckDB, SQLite), a folder of "
        "Parquet files, a Delta or Iceberg table, an address (s3://..., https://...), "
        "postgresql://..., or - for standard input.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Exact = Annotated[
    bool, typer.Option("--exact", help="Count exactly what is estimated by default in very large data.")
]
Seed = Annotated[int, typer.Option("--seed", help="The seed of the analysis.")]


KeyFile = Annotated[
    Path | None,
    typer.Option("--key", help="The re-identification key: the original row of each released record."),
]


def row_map_of(path: Path | None) -> Sequence[int] | None:
    """The map from released to original rows in a key file; None where all are in their order."""
    if path is None:
        return None
    from crypsis.errors import ParameterError
    from crypsis.protection import Key

    rows = Key.load(path).row_map
    if rows is not None and not rows:
        raise ParameterError(
            f"{path.name!r} does not have the original row of each record: the release was too "
            "large, or was made on a cluster.",
            hint="Set {on} to a column of record numbers.",
        )
    return rows


_NAMES = "Names are separated by commas."
_ROLES = ("identifiers", "quasi_identifiers", "sensitive", "insensitive", "excluded")
_UNITS = ("person", "household")
_SAMPLE = ("weight", "stratum", "cluster")
_LIMITS = ("memory_limit", "spill_folder")
"""The options of the engine that a verb without Spark has."""
_POPULATION = "The number of people in the population, or its table: a file."


@dataclass(frozen=True)
class EngineOptions:
    """Where rows are read and counted."""

    memory_limit: Annotated[str | None, "The memory that DuckDB may use, such as 4GB."] = None
    spill_folder: Annotated[Path | None, "The folder for data that does not fit in memory."] = None
    engine: Annotated[str, "duckdb, or spark for a cluster."] = "duckdb"
    master: Annotated[str | None, "Where Spark runs: local[4], spark://host:7077, yarn."] = None


@dataclass(frozen=True)
class DataOptions:
    """How the data of a command is read, and the roles of its columns."""

    reading: ReadOptions
    missing: str
    roles: Roles
    roles_file: Path | None
    engine: EngineOptions
    units: Mapping[str, str]
    """The columns of the person, the household, the weight, the stratum and the cluster, as far as
    they were given."""
    population: str | None
    """The number of people in the population, or the file of its table."""
    words: tuple[str, ...]
    """The reading options as they were typed, for a command that reads the same data."""
    names: Sequence[str] | None = None
    """The column names of a further file, if it has no header."""

    def reading_keywords(self) -> dict[str, Any]:
        """The reading options by the keywords of `crypsis.read`; what is not set is not in it."""
        reading_options = {field.name: getattr(self.reading, field.name) for field in fields(self.reading)}
        return {"missing": self.missing, **{name: v for name, v in reading_options.items() if v}}

    def dataset(self, source: str, elsewhere: Sequence[str] = ()) -> Dataset:
        """Open `source`; roles given one by one take precedence over those of a roles file.

        The person and the household may be columns of its original, `elsewhere`.
        """
        from crypsis.columns import roles
        from crypsis.dataset import decided, read
        from crypsis.errors import SourceError

        path, keywords = from_input(source), {**self.reading_keywords(), **vars(self.engine)}
        try:
            dataset = read(path, **keywords)
        except SourceError as error:
            if self.names is None or error.code != "no-header":
                raise
            dataset = read(path, **keywords, names=self.names)
        decided_roles = decided(**self.roles)  # type: ignore[misc]
        people = self.population_of(dataset)
        units: dict[str, Any] = {**self.units}
        absent = {
            unit: units.pop(unit)
            for unit in _UNITS
            if unit in units and units[unit] not in dataset.names and units[unit] in elsewhere
        }
        if self.roles_file is None:
            return replace(dataset.with_roles(decided_roles), population=people, absent=absent, **units)
        gone = [n for n, role in decided_roles.items() if role is Role.EXCLUDED and n not in dataset.names]
        filed = roles.load(self.roles_file, dataset.names, self.table_of(source), excluded=gone)
        decided_roles = {name: role for name, role in decided_roles.items() if name not in gone}
        notes = {
            name: note
            for name, note in filed.notes.items()
            if decided_roles.get(name, filed.roles[name]) is filed.roles[name]  # about the role of the file
        }
        units = {**filed.units, **units}
        absent = {unit: name for unit, name in {**filed.absent, **absent}.items() if unit not in units}
        decisions = dataset.with_roles({**filed.roles, **decided_roles}, notes, filed.container)
        return replace(decisions, population=people, absent=absent, **units)

    def original(self, source: str) -> Dataset:
        """The original of a release: its columns have no roles here, but what was written of them."""
        dataset = self.without_roles().dataset(source)
        if self.roles_file is None:
            return dataset
        from crypsis.columns import roles

        filed = roles.load(self.roles_file, dataset.names, self.table_of(source), others=True)
        return dataset.with_roles(dataset.roles, filed.notes)

    def population_of(self, data: Dataset) -> int | Dataset | None:
        """The number of people in the population of the data, or their table."""
        population = self.population
        if population is None:
            return None
        number = _number(population)
        if number is not None:
            return number
        people = self.without_roles().dataset(population)
        if not set(people.names) & set(data.names):
            from crypsis.errors import ColumnError

            raise ColumnError(
                "The table of the population has no column of the data.",
                code="population-without-columns",
                hint="Set {population} to a table with the quasi-identifiers, or to a number.",
            )
        return people

    def answers(self, source: str) -> dict[str, str]:
        """The answers to the checklist of a policy, from the roles file."""
        from crypsis.columns import roles

        if self.roles_file is None:
            return {}
        return roles.load_answers(self.roles_file, self.table_of(source))

    def table_of(self, source: str) -> str:
        """The name of the table in metadata: as it was given, or that of the file."""
        return self.reading.table or title(source).rsplit("/", 1)[-1]

    def without_roles(self) -> DataOptions:
        """The same for another file of the same kind, whose columns may be others."""
        return replace(self.another(), roles={}, roles_file=None, units={}, population=None)

    def another(self) -> DataOptions:
        """The same for a second file: column names are given to it only if it has no header."""
        if self.reading.names is None:
            return self
        return replace(self, reading=replace(self.reading, names=None), names=self.reading.names)


def _number(typed: str) -> int | None:
    """A number of people, if it is one."""
    from crypsis.errors import ParameterError

    try:
        number = float(typed.replace("_", "").replace(",", ""))
    except ValueError:
        return None
    if number < 1 or not number.is_integer():
        raise ParameterError(
            "The number of people in the population must be a whole number, at least 1.",
            parameter="population",
        )
    return int(number)


def from_input(source: str) -> str:
    """The path of a source; standard input is copied to a private file, which ends with the run."""
    if source != "-":
        return source
    import atexit
    import shutil
    import sys

    from crypsis.errors import SourceError
    from crypsis.files import PrivateFolder
    from crypsis.tables import suffix_by_content

    if sys.stdin.isatty():
        raise SourceError("Standard input is a terminal.", hint="Pipe a file into the command.")
    folder = PrivateFolder("crypsis-input-")
    atexit.register(folder.remove)
    path = folder.path / "standard-input"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        if not file.tell():
            raise SourceError("Standard input is empty.", code="no-rows")
    return str(path.rename(path.with_name(path.name + suffix_by_content(path))))


def takes_data(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options for reading and roles, which it receives as its parameter `options`."""
    return _with_options(verb, "options", shared_options(), _gathered)


def takes_sample(verb: Callable[..., None]) -> Callable[..., None]:
    """The same, and what is known of the sample: weights, strata, clusters and the population."""
    return _with_options(verb, "options", [*shared_options(), *_sample_options()], _gathered)


def takes_reading(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options for reading alone; it receives them as keywords of `crypsis.rewrite`."""
    shared = [*reading_options(), *(one for one in _engine_options() if one.name in _LIMITS)]

    def keywords(typed: dict[str, Any]) -> dict[str, Any]:
        reading = _as_read({name: value for name, value in typed.items() if name not in _LIMITS})
        return {**vars(reading), **{name: typed[name] for name in _LIMITS}}

    return _with_options(verb, "options", shared, keywords)


def takes(group: type, name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb the fields of a dataclass as options; it receives them as one parameter."""
    hints = get_type_hints(group, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
    return lambda verb: _with_options(verb, name, shared, lambda typed: group(**typed))


def _with_options(
    verb: Callable[..., None],
    group: str,
    shared: Sequence[inspect.Parameter],
    gathered: Callable[[dict[str, Any]], Any],
) -> Callable[..., None]:
    """A verb with more options, which it receives gathered in its parameter `group`."""
    parameters = inspect.signature(verb, eval_str=True).parameters

    @wraps(verb)
    def command(**typed: Any) -> None:
        parts = {parameter.name: typed.pop(parameter.name) for parameter in shared}
        verb(**{group: gathered(parts)}, **typed)

    all_parameters = [
        *(
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in parameters.items()
            if name != group
        ),
        *shared,
    ]
    command.__signature__ = inspect.Signature(all_parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in all_parameters}
    return command


def shared_options() -> list[inspect.Parameter]:
    """The shared options, from the models that declare them."""
    roles = get_type_hints(Roles, include_extras=True)
    options = [
        _option(name, list[str] | None, f"{roles[name].__metadata__[0]} Repeat.", "Roles") for name in _ROLES
    ]
    options += [_option(name, str | None, roles[name].__metadata__[0], "Roles") for name in _UNITS]
    options.append(
        _option(
            "roles",
            Path | None,
            "The roles of all columns: TOML, a data contract (ODCS) or Frictionless.",
            "Roles",
        )
    )
    text = "How missing values count: value, wildcard or drop."
    missing = _option("missing", str, text, "Reading", "value")
    return [*options, *reading_options(), missing, *_engine_options()]


def reading_options() -> list[inspect.Parameter]:
    """The options for reading a file."""
    reading = get_type_hints(ReadOptions, include_extras=True)
    return [_reading_option(name, hint.__metadata__[0]) for name, hint in reading.items()]


def _engine_options() -> list[inspect.Parameter]:
    engine = get_type_hints(EngineOptions, include_extras=True)
    return [
        _option(
            field.name,
            engine[field.name].__origin__,
            engine[field.name].__metadata__[0],
            "Reading",
            field.default,
        )
        for field in fields(EngineOptions)
    ]


def _sample_options() -> list[inspect.Parameter]:
    roles = get_type_hints(Roles, include_extras=True)
    options = [_option(name, str | None, roles[name].__metadata__[0], "People") for name in _SAMPLE]
    return [_option("population", str | None, _POPULATION, "People"), *options]


def _reading_option(name: str, text: str) -> inspect.Parameter:
    if name == "names":
        return _option(name, str | None, f"{text} {_NAMES}", "Reading")
    if name == "header":
        return _option(name, bool, text, "Reading", False)
    if name == "types":
        return _option(name, list[str] | None, text, "Reading", metavar="COLUMN=TYPE")
    kind = list[str] | None if name == "missing_markers" else str | None
    return _option(name, kind, text, "Reading")


def _option(
    name: str, kind: Any, text: str, panel: str, default: Any = None, metavar: str | None = None
) -> inspect.Parameter:
    flag = typer.Option(
        cli_option(name, None),
        help=text,
        rich_help_panel=panel,
        metavar=metavar,
        autocompletion=OF_OPTIONS.get(name),
    )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, flag]
    )


def _gathered(typed: dict[str, Any]) -> DataOptions:
    """What was typed as the models have it."""
    words = tuple(
        word
        for name, value in typed.items()
        if name not in (*_ROLES, *_UNITS, *_SAMPLE, "population", "roles")
        and value not in (None, False, [])
        and (name, value) not in (("missing", "value"), ("engine", "duckdb"))
        for element in (value if isinstance(value, list) else [value])
        for word in ([cli_option(name, None)] if value is True else [cli_option(name, None), str(element)])
    )
    roles: Any = {name: value for name in _ROLES if (value := typed.pop(name))}
    units = {name: value for name in (*_UNITS, *_SAMPLE) if (value := typed.pop(name, None))}
    population = typed.pop("population", None)
    engine = EngineOptions(**{field.name: typed.pop(field.name) for field in fields(EngineOptions)})
    roles_file, missing = typed.pop("roles"), typed.pop("missing")
    return DataOptions(_as_read(typed), missing, roles, roles_file, engine, units, population, words)


def _as_read(typed: dict[str, Any]) -> ReadOptions:
    """The reading options that were typed."""
    typed["names"] = None if typed["names"] is None else _split(typed["names"])
    typed["header"] = typed["header"] or None
    typed["delimiter"] = "\t" if typed["delimiter"] == "\\t" else typed["delimiter"]
    typed["missing_markers"] = typed["missing_markers"] or None
    typed["types"] = _types(typed["types"] or ())
    return ReadOptions(**typed)


def title(source: str) -> str:
    """What to call a source on screen; never with a password or a control character in it."""
    from crypsis.results import without_control

    if "://" in source:
        from urllib.parse import urlsplit

        parts = urlsplit(source)
        return without_control(f"{parts.scheme}://{parts.hostname or ''}{parts.path}")
    return without_control(Path(source).name)


def _split(names: str) -> list[str]:
    import csv

    return [name.strip() for name in next(csv.reader([names], skipinitialspace=True))]


def _types(pairs: Sequence[str]) -> dict[str, str]:
    from crypsis.errors import ParameterError

    types = {}
    for pair in pairs:
        name, equals, kind = pair.rpartition("=")
        if not equals:
            raise ParameterError(f"{pair!r} is not a valid column type.", hint="Set {types=COLUMN=TYPE}.")
        types[name] = kind
    return types
