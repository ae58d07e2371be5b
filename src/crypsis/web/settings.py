"""What the server allows: sizes, numbers and times, all set by options of `crypsis serve`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crypsis.errors import ParameterError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class GivenSource:
    """A source that was named on the command line: the only ones outside of uploads."""

    source: str
    title: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """The limits of one server, and the sources it was started with."""

    given: tuple[GivenSource, ...] = ()
    upload_bytes: int = 1_000_000_000
    expanded_bytes: int = 10_000_000_000
    """How large a compressed upload may become."""
    rows: int = 200_000_000
    columns: int = 2_000
    tables: int = 12
    """How many tables may be open at once; each has a process of its own."""
    jobs: int = 2
    """How many jobs run at once, and eight times as many may wait."""
    job_bytes: int = 4_000_000_000
    job_seconds: float = 3_600.0
    disk_bytes: int = 50_000_000_000
    """How much a table may write to the private folder, its upload and what is spilled included."""
    idle_seconds: float = 3_600.0
    prepare: bool = True
    """Whether a table's process loads what is asked next while its columns are looked at."""
    folder: Path | None = None
    """Where the private folder is made; the system's own place for temporary files by default."""

    def __post_init__(self) -> None:
        for name in (
            "upload_bytes",
            "expanded_bytes",
            "rows",
            "columns",
            "tables",
            "jobs",
            "job_bytes",
            "disk_bytes",
            "job_seconds",
            "idle_seconds",
        ):
            if getattr(self, name) <= 0:
                raise ParameterError(f"{name} is above zero; {getattr(self, name)} was given.")


def size_of(text: str) -> int:
    """A size in bytes as people write it.

    >>> size_of("1.5GB"), size_of("200 MB"), size_of("4096")
    (1500000000, 200000000, 4096)
    """
    size_text = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)B?\s*", text, re.IGNORECASE)
    if not size_text or float(size_text[1]) <= 0:
        raise ParameterError(f"A size is written like 500MB or 4GB, not {text!r}.")
    return int(float(size_text[1]) * _UNITS[size_text[2].upper()])


def size_text(count: float) -> str:
    """Bytes in a few characters.

    >>> size_text(1_500_000_000), size_text(900)
    ('1.5 GB', '900 bytes')
    """
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} bytes"
