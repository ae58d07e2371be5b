"""The files that are made of a table and its roles."""

from __future__ import annotations

from pathlib import Path

REPORTS = ("report.html", "report.md", "report.json")
"""About the table as it was opened."""
MAX_APART = 20
"""How many attributes the page releases apart."""
APART = tuple(f"release.apart-{n}.{form}" for form in ("csv", "parquet") for n in range(1, MAX_APART + 1))
"""Sensitive attributes in files of their own."""
RELEASED = (
    "release.csv",
    "release.parquet",
    "release.csv.statement.md",
    "release.csv.statement.json",
    "release.parquet.statement.md",
    "release.parquet.statement.json",
    "plan.toml",
    "report-after.html",
    "report-after.md",
    "report-after.json",
    "reidentification.key.json",
    "dossier.html",
    "release.zip",
    *APART,
)
"""The release and what goes with it."""


def stamp(path: Path) -> tuple[int, int] | None:
    """What changes whenever a file is written; None if it does not exist."""
    if not path.is_file():
        return None
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def remove(folder: Path, names: tuple[str, ...]) -> None:
    """Remove those of the files that exist."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
