"""What a release of Adult is worth, the same for every maker: its rows, its k, l and t, its loss.

Runs beside a peer too, so it needs pandas alone. Written apart from the package, as a check on it.
"""

from __future__ import annotations

import csv
from typing import Any

from benchmarks import data


def leaves(column: str) -> tuple[dict[str, int], int]:
    """How many values each label of a column's hierarchy stands for, and how many there are."""
    with open(data.trees()[column], encoding="utf-8", newline="") as file:  # noqa: PTH123
        rows = [row for row in csv.reader(file) if row]
    counts: dict[str, set[str]] = {}
    for row in rows:
        for label in row[1:]:
            counts.setdefault(label, set()).add(row[0])
    return {label: len(values) for label, values in counts.items()}, len({r[0] for r in rows})


def stands_for(label: Any, labels: dict[str, int], total: int) -> int:
    """How many values a released label stands for: a label, a list, a range, or nothing at all."""
    if label is None or label != label or label == "None":
        return total
    text = str(label)
    if text in labels:
        return labels[text]
    if "," in text:
        return len(text.split(","))
    low, _, high = text.partition("-")
    if low.isdigit() and high.isdigit():
        return int(high) - int(low) + 1
    return 1


def ncp(frame: Any, before: int) -> float:
    """Normalized certainty penalty (Xu et al. 2006), averaged; rows left out count in full."""
    lost = 0.0
    columns = list(data.TREES)
    for column in columns:
        labels, total = leaves(column)
        for label, count in frame[column].value_counts(dropna=False).items():
            stands = stands_for(label, labels, total)
            lost += count * (stands / total if stands > 1 else 0.0)
    gone = before - len(frame)
    return float((lost + gone * len(columns)) / (before * len(columns)))


def worth(frame: Any, before: int) -> dict[str, Any]:
    """Rows kept, the smallest group, the fewest incomes in one, the farthest from all rows, NCP."""
    columns = list(data.TREES)
    groups = frame.groupby(columns, sort=False, dropna=False, observed=True)["income"]
    shares = groups.value_counts(normalize=True).unstack(fill_value=0.0)
    overall = frame["income"].value_counts(normalize=True)
    distances = (shares - overall).abs().sum(axis=1) / 2
    return {
        "rows": len(frame),
        "k": int(groups.size().min()),
        "l": int(groups.nunique().min()),
        "t": float(distances.max()),
        "ncp": ncp(frame, before),
    }
