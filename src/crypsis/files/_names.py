"""The names of files that belong to a release."""

from __future__ import annotations

from pathlib import Path

_PACKED = (".gz", ".bz2", ".xz", ".zst")


def release_stem(path: str | Path) -> str:
    """The name of a release without its format and its compression.

    >>> release_stem("out/safe.csv.gz"), release_stem("safe.parquet")
    ('safe', 'safe')
    """
    name = Path(path).name
    packed = next((suffix for suffix in _PACKED if name.lower().endswith(suffix)), "")
    return Path(name[: len(name) - len(packed)]).stem
