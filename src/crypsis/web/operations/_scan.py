"""First sight of a table: its columns, what they seem to be, how their values are spread."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from crypsis.columns.histograms import Histogram, histograms
from crypsis.columns.profile import scan as scan_dataset
from crypsis.dataset import Dataset
from crypsis.dataset import rewrite as rewrite_table
from crypsis.tables import format_of, sheet_names
from crypsis.web.operations._notation import ValueNotation
from crypsis.web.operations._session import TableSession


def scan(session: TableSession, *, file: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    """Every column with its guessed role, the reason, and a histogram for its owner to see."""
    with session.engine:
        release = session.release(file)
        scan_result = scan_dataset(release, seed=seed)
        pictures = {histogram.column: histogram for histogram in histograms(release, seed=seed)}
    notation = ValueNotation.of(release)
    body = scan_result.to_dict()
    body["read_as"] = _read_as(release)
    body["sheets"] = _sheets(file)
    for column in body["columns"]:
        column["histogram"] = bars_view(pictures[column["column"]], notation)
    return body


def rewrite(session: TableSession, *, file: dict[str, Any], name: str) -> dict[str, Any]:
    """Write a table anew into the table's folder, with its record; what the format does not have."""
    reading = dict(file.get("reading") or {})
    with session.engine:
        copy = rewrite_table(
            file["path"],
            session.folder / name,
            overwrite=True,
            memory_limit=session.memory_limit,
            spill_folder=session.spill,
            **reading,
        )
    return copy.to_dict()


def _read_as(release: Dataset) -> dict[str, str]:
    """What was found of a text file: its delimiter, encoding, decimal mark and form of dates."""
    form = release.rows.form
    if form is None or form.typed:
        return {}
    delimiter = "\\t" if form.delimiter == "\t" else form.delimiter
    dates = ", ".join(dict.fromkeys(form.dates.values()))
    for code, letters in (("%d", "DD"), ("%m", "MM"), ("%Y", "YYYY"), ("%y", "YY")):
        dates = dates.replace(code, letters)
    reading = {
        "delimiter": delimiter,
        "encoding": form.encoding,
        "decimal": form.decimal,
        "date_format": dates,
    }
    return {name: text for name, text in reading.items() if text}


def _sheets(file: dict[str, Any]) -> list[str]:
    """The sheets of a workbook, the one that was read first."""
    reading = file.get("reading") or {}
    if (reading.get("format") or format_of(file["path"])) != "excel":
        return []
    names = sheet_names(file["path"])
    read = reading.get("sheet") or names[0]
    return [read, *(name for name in names if name != read)]


def bars_view(histogram: Histogram, notation: ValueNotation) -> dict[str, Any]:
    """Heights from 0 to 1, with what each bar is."""
    highest = max((*histogram.counts, 1))
    labels = histogram.labels
    if histogram.ordered:
        labels = tuple(notation.edge(histogram.column, label) for label in labels)
    ends = [labels[0], labels[-1]] if histogram.ordered and labels else []
    if len(labels) == len(histogram.counts) + 1:
        labels = tuple(f"{low} to {high}" for low, high in pairwise(labels))
    rows = max(1, histogram.rows)
    return {
        "ordered": histogram.ordered,
        "sampled": histogram.sampled,
        "rows": histogram.rows,
        "rest": histogram.rest,
        "missing_share": histogram.missing / rows,
        "ends": ends,
        "bars": [
            {"label": label[:60], "height": count / highest, "share": count / rows}
            for label, count in zip(labels, histogram.counts, strict=False)
        ],
    }
