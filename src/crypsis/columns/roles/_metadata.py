"""Roles in metadata that a table has already: data contracts (ODCS) and Frictionless.

The word `crypsis` in the metadata of a column has its role, or a table of its role and notes, as in a
roles file; in the metadata of the table it has `units`, `answers` and `container`. A column without
it is undecided. Nothing is concluded from other metadata, such as a classification: "confidential"
says who may read a column, not what an intruder knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crypsis.errors import MissingDependencyError, SourceError

KEY = "crypsis"
"""The property of a column or a table with what crypsis has to know."""
SUFFIXES = (".json", ".yaml", ".yml")
"""The ends of the names of files with metadata; every other file is TOML."""
_MAX_FILE_BYTES = 20_000_000
"""So much of a file with metadata is read."""


def roles_document(path: Path, table: str | None) -> dict[str, Any]:
    """The metadata of a table as the content of a roles file.

    `table` is the name of the table or of its file, if the metadata describe several.
    """
    document = _parsed(path)
    if not isinstance(document, Mapping):
        raise _not_metadata(path)
    if document.get("kind") == "DataContract":
        of_table = _of_contract(path, document, table)
    elif "resources" in document or "fields" in document:
        of_table = _of_frictionless(path, document, table)
    else:
        raise _not_metadata(path)
    if not of_table["roles"]:
        raise SourceError(
            f"{path.name!r} has no column with the property {KEY!r}, which has its role.", code="no-roles"
        )
    return of_table


def as_document(own: Any, columns: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What metadata have about a table and its columns, as the content of a roles file.

    Parameters
    ----------
    own : mapping or None
        The property `crypsis` of the table: `units`, `answers` and `container`.
    columns : mapping of str to str, mapping or None
        The property `crypsis` of each column: its role, or its role and notes.
    where : str
        What the table is called in an error.

    Returns
    -------
    dict
        For `decided_roles`. A column without the property is not in it.

    Examples
    --------
    >>> as_document(None, {"age": "quasi-identifier", "note": None}, "the table")
    {'roles': {'age': 'quasi-identifier'}}
    """
    if own is not None and not isinstance(own, Mapping):
        raise SourceError(f"The property {KEY!r} of {where} must be a table.", code="not-metadata")
    return {**(own or {}), "roles": {name: v for name, v in columns.items() if v is not None}}


def _of_contract(path: Path, document: Mapping[str, Any], table: str | None) -> dict[str, Any]:
    """Open Data Contract Standard 3: `customProperties` of objects and of their properties."""
    objects = _list(path, document, "schema")
    chosen = _chosen(path, objects, table, ("name", "physicalName"))
    columns = {
        str(column.get("physicalName") or column.get("name")): _custom(column)
        for column in _list(path, chosen, "properties")
    }
    return as_document(_custom(chosen), columns, f"the table in {path.name!r}")


def _custom(thing: Mapping[str, Any]) -> Any:
    properties = thing.get("customProperties") or ()
    values = [
        entry.get("value")
        for entry in properties
        if isinstance(entry, Mapping) and entry.get("property") == KEY
    ]
    return values[-1] if values else None


def _of_frictionless(path: Path, document: Mapping[str, Any], table: str | None) -> dict[str, Any]:
    """A data package, or the schema of one table: the property `crypsis` of fields."""
    resource: Mapping[str, Any] = {"schema": document, KEY: document.get(KEY)}
    if "resources" in document:
        resource = _chosen(path, _list(path, document, "resources"), table, ("name", "path"))
    fields = resource.get("schema")
    if not isinstance(fields, Mapping):
        raise SourceError(
            f"The table in {path.name!r} has no schema of its own; only one that is written in the "
            "same file is read.",
            code="not-metadata",
        )
    columns = {str(entry.get("name")): entry.get(KEY) for entry in _list(path, fields, "fields")}
    return as_document(resource.get(KEY), columns, f"the table in {path.name!r}")


def _chosen(
    path: Path, tables: list[Mapping[str, Any]], table: str | None, keys: Iterable[str]
) -> Mapping[str, Any]:
    """The table that is meant: the only one, or that of the name."""
    if len(tables) == 1:
        return tables[0]
    wanted = {table, None if table is None else Path(table).stem}
    named = [
        {n for key in keys if isinstance(v := table.get(key), str) for n in (v, Path(v).name)}
        for table in tables
    ]
    matched = [table for table, names in zip(tables, named, strict=True) if names & wanted]
    if len(matched) != 1:
        listed = ", ".join(repr(min(names, key=len)) for names in named if names)
        raise SourceError(
            f"{path.name!r} describes {len(tables)} tables ({listed}), and it is not clear which "
            "one the data are.",
            code="which-table",
            hint="Give the data the name of the table.",
        )
    return matched[0]


def _list(path: Path, thing: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    entries = thing.get(name)
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise SourceError(f"{path.name!r} has no list {name!r}.", code="not-metadata")
    return entries


def _parsed(path: Path) -> Any:
    try:
        text = path.read_bytes()[:_MAX_FILE_BYTES].decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path.name!r} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise SourceError(f"{path.name!r} is not UTF-8.", hint="Save it as UTF-8.") from None
    try:
        return json.loads(text) if path.suffix.lower() == ".json" else _yaml(text)
    except RecursionError:
        raise SourceError(f"{path.name!r} is nested too deeply.", code="not-metadata") from None
    except ValueError as error:
        raise SourceError(f"{path.name!r} is not well formed ({error}).") from None


def _yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingDependencyError(
            "YAML needs the package pyyaml, which is not installed.",
            hint="Install it: pip install 'crypsis[contracts]'.",
        ) from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark is not None else "not YAML"
        raise ValueError(where) from None


def _not_metadata(path: Path) -> SourceError:
    return SourceError(
        f"{path.name!r} is neither a data contract (ODCS 3) nor Frictionless metadata.",
        code="not-metadata",
        hint="A roles file ends in .toml.",
    )
