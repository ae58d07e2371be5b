"""Hierarchies as files: CSV of ARX and ANJANA, nested TOML."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from crypsis.errors import SourceError
from crypsis.files import parse_toml


def parse(path: Path) -> list[list[str]] | dict[str, Any]:
    """The rows of a CSV file, or the nested tables of a TOML file."""
    named = f"Hierarchy file {str(path)!r}"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SourceError(f"{named} could not be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SourceError(f"{named} is not in the encoding utf-8.") from None
    if path.suffix.lower() == ".toml":
        try:
            return parse_toml(text)
        except RecursionError:
            raise SourceError(f"{named} is nested too deeply.") from None
        except tomllib.TOMLDecodeError as error:
            raise SourceError(f"{named} is not valid TOML: {error}.") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise SourceError(f"{named} is empty.", hint="Write a value and its label on each level per line.")
    delimiter = ";" if all(";" in line for line in lines) else ","
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    return [[field.strip() for field in row] for row in rows]


def csv_text(rows: Iterable[Sequence[str]], delimiter: str) -> str:
    """One line a value."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def toml_text(rows: Sequence[tuple[str, ...]]) -> str:
    """Tables from the top down; the innermost lists are the values."""
    lists: dict[tuple[str, ...], list[str]] = {}
    for row in sorted(rows, key=lambda row: row[::-1]):
        lists.setdefault(tuple(row[:0:-1]), []).append(row[0])
    lines: list[str] = []
    table: tuple[str, ...] | None = None
    for (*above, label), values in lists.items():
        if tuple(above) != table:
            table = tuple(above)
            lines.extend(["", f"[{'.'.join(map(_quoted, above))}]"] if above else [])
        lines.append(f"{_quoted(label)} = [{', '.join(map(_quoted, values))}]")
    return "\n".join(lines).lstrip("\n") + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
