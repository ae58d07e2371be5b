"""The options that verbs share, and how they become a Release."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from crypsis.release import Release

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, Parquet, JSON, Excel, DuckDB or SQLite file, a folder of Parquet files, or "
        "postgresql://...",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Exact = Annotated[
    bool,
    typer.Option("--exact", help="Count what is estimated by default on very many rows."),
]
Seed = Annotated[int, typer.Option("--seed", help="Of the analysis.")]


KeyFile = Annotated[
    Path | None,
    typer.Option("--key", help="The owner's key file: it says which original each row is."),
]


def row_map_of(path: Path | None) -> Sequence[int] | None:
    """The map from released to original rows in a key file; None where all are in their order."""
    if path is None:
        return None
    from crypsis.anonymize import Key
    from crypsis.errors import ParameterError

    rows = Key.load(path).row_map
    if rows is not None and not rows:
        raise ParameterError(
            f"{path.name!r} does not say which original each row is: the release was too large for "
            "that. Name a column of record numbers (--on)."
        )
    return rows


def _role(flag: str, text: str, **more: Any) -> Any:
    return typer.Option(flag, help=text, rich_help_panel="Roles", **more)


def _reading(flag: str, text: str, **more: Any) -> Any:
    return typer.Option(flag, help=text, rich_help_panel="Reading", **more)


@dataclass(frozen=True)
class Opening:
    """How the command line says to open data: roles and reading options, each declared once."""

    identifiers: Annotated[
        list[str] | None, _role("--id", "A column that names a person (repeat).")
    ] = None
    quasi_identifiers: Annotated[
        list[str] | None, _role("--qi", "A column that others may know (repeat).")
    ] = None
    sensitive: Annotated[
        list[str] | None, _role("--sensitive", "A column to keep secret (repeat).")
    ] = None
    roles: Annotated[Path | None, _role("--roles", "The roles of all columns, as TOML.")] = None
    names: Annotated[
        str | None, _reading("--names", "The columns of a file without header: a,b,c.")
    ] = None
    header: Annotated[bool, _reading("--header", "The first line does name the columns.")] = False
    delimiter: Annotated[str | None, _reading("--delimiter", "What separates fields.")] = None
    encoding: Annotated[str | None, _reading("--encoding", "For example latin-1.")] = None
    missing_markers: Annotated[
        list[str] | None, _reading("--missing-marker", "A text that means missing (repeat).")
    ] = None
    missing: Annotated[
        str, _reading("--missing", "How missing counts: value, wildcard or drop.")
    ] = "value"
    types: Annotated[
        list[str] | None,
        _reading("--type", "Read as text, integer, number, date or time.", metavar="COLUMN=TYPE"),
    ] = None
    sheet: Annotated[str | None, _reading("--sheet", "Of a spreadsheet.")] = None
    table: Annotated[str | None, _reading("--table", "Of a database.")] = None
    query: Annotated[str | None, _reading("--query", "SQL, in a database.")] = None
    format: Annotated[
        str | None, _reading("--format", "csv, parquet, json, excel, duckdb or sqlite.")
    ] = None
    memory_limit: Annotated[str | None, _reading("--memory-limit", "For example 4GB.")] = None
    spill_folder: Annotated[Path | None, _reading("--spill-folder", "To spill to disk.")] = None
    engine: Annotated[str, _reading("--engine", "duckdb, or spark for a cluster.")] = "duckdb"
    master: Annotated[
        str | None,
        _reading("--master", "Where Spark runs: local[4], spark://host:7077, yarn, k8s://..."),
    ] = None

    def release(self, source: str) -> Release:
        """Open `source`; roles given one by one go before those of a roles file."""
        from crypsis import roles
        from crypsis.release import decided, read

        release = read(
            source,
            memory_limit=self.memory_limit,
            spill_folder=self.spill_folder,
            **self.reading(),
            engine=self.engine,
            master=self.master,
        )
        given = decided(self.identifiers or (), self.quasi_identifiers or (), self.sensitive or ())
        filed = roles.load(self.roles, release.names) if self.roles else {}
        return release.with_roles({**filed, **given})

    def reading(self) -> dict[str, Any]:
        """How a source is read, by the keywords of `crypsis.release.read`; what was not said is not
        in it.
        """
        given = {
            "format": self.format,
            "names": None if self.names is None else _split(self.names),
            "header": self.header or None,
            "delimiter": "\t" if self.delimiter == "\\t" else self.delimiter,
            "encoding": self.encoding,
            "missing_markers": self.missing_markers or None,
            "types": _types(self.types or ()) or None,
            "sheet": self.sheet,
            "table": self.table,
            "query": self.query,
        }
        said = {name: value for name, value in given.items() if value is not None}
        return {"missing": self.missing, **said}


def opens(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of `Opening`, which it receives as its parameter `opening`."""
    own = inspect.signature(verb, eval_str=True).parameters
    hints = get_type_hints(Opening, include_extras=True)
    shared = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=hints[option.name],
        )
        for option in fields(Opening)
    ]

    @wraps(verb)
    def command(**given: Any) -> None:
        opening = Opening(**{option.name: given.pop(option.name) for option in shared})
        verb(opening=opening, **given)

    every = [
        *(
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in own.items()
            if name != "opening"
        ),
        *shared,
    ]
    command.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
    return command


def title(source: str) -> str:
    """What to call a source on screen; never with a password in it."""
    if "://" in source:
        from urllib.parse import urlsplit

        parts = urlsplit(source)
        return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    return Path(source).name


def _split(names: str) -> list[str]:
    import csv

    return [name.strip() for name in next(csv.reader([names], skipinitialspace=True))]


def _types(pairs: Sequence[str]) -> dict[str, str]:
    from crypsis.errors import ParameterError

    types = {}
    for pair in pairs:
        name, equals, kind = pair.rpartition("=")
        if not equals:
            raise ParameterError(f"--type is written COLUMN=TYPE, not {pair!r}.")
        types[name] = kind
    return types
