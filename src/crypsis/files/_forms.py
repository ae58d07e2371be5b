"""The forms that a release is written in."""

from __future__ import annotations

from pathlib import Path

from crypsis.errors import OutputError

_FORMS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}


def form_of(path: str | Path) -> str:
    """The form that a path asks for: csv or parquet."""
    form = _FORMS.get(Path(path).suffix.lower())
    if form is None:
        raise OutputError(f"Write to a file ending in .csv or .parquet, not {Path(path).name!r}.")
    return form
