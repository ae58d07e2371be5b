"""First sight of a table: its columns, what they seem to be, how their values are spread."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from crypsis.columns.histograms import Histogram, histograms
from crypsis.columns.profile import scan as scan_dataset
from crypsis.web.operations._session import TableSession


def scan(session: TableSession, *, file: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    """Every column with its guessed role, the reason, and a histogram for its owner to see."""
    with session.engine:
        release = session.release(file)
        found = scan_dataset(release, seed=seed)
        pictures = {one.column: one for one in histograms(release, seed=seed)}
    body = found.to_dict()
    for column in body["columns"]:
        column["histogram"] = bars_view(pictures[column["column"]])
    return body


def bars_view(one: Histogram) -> dict[str, Any]:
    """Heights from 0 to 1, with what each bar is."""
    highest = max((*one.counts, 1))
    labels = one.labels
    if len(labels) == len(one.counts) + 1:
        labels = tuple(f"{low} to {high}" for low, high in pairwise(labels))
    rows = max(1, one.rows)
    return {
        "ordered": one.ordered,
        "sampled": one.sampled,
        "rows": one.rows,
        "rest": one.rest,
        "missing_share": one.missing / rows,
        "ends": [one.labels[0], one.labels[-1]] if one.ordered and one.labels else [],
        "bars": [
            {"label": label[:60], "height": count / highest, "share": count / rows}
            for label, count in zip(labels, one.counts, strict=False)
        ],
    }
