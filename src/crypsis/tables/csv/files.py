"""The bytes of text files: decompressed, here or on another machine."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

PACKED = (".gz", ".zst", ".bz2", ".xz", ".lz4", ".br")
"""The suffixes of compressed files."""
READ_BY_ENGINE = (".gz", ".zst")
"""Those that DuckDB decompresses; of others it gets a private copy."""


def stream(path: str) -> Any:
    """The bytes of a local or remote file, decompressed."""
    if "://" in path:
        import fsspec

        return fsspec.open(path, "rb", compression="infer").open()
    if path.lower().endswith(".xz"):
        return lzma.open(path)
    return pa.input_stream(path, compression="detect")


def size(paths: Sequence[str]) -> float:
    """The bytes of some files; infinite where one is not on this machine."""
    return sum(Path(p).stat().st_size if Path(p).is_file() else float("inf") for p in paths)


def short(path: str) -> str:
    """The name of a file for messages."""
    return repr(path.rsplit("/", 1)[-1])


def reason(error: OSError) -> str:
    """The system's reason for an error."""
    return error.strerror or type(error).__name__
