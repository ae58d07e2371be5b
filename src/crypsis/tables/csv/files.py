"""The bytes of text files: decompressed, here or on another machine."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis.errors import SourceError

CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4", ".br": "brotli"}
"""What Arrow calls the compression of each suffix."""
PACKED = (*CODECS, ".xz")
"""The suffixes of compressed files."""
READ_BY_ENGINE = (".gz", ".zst")
"""Those that DuckDB decompresses; of others it gets a private copy."""


def stream(path: str) -> Any:
    """The bytes of a local or remote file, decompressed as its suffix says."""
    file: Any = path
    if "://" in path:
        import fsspec

        file = fsspec.open(path, "rb").open()
    suffix = Path(path).suffix.lower()
    if suffix == ".xz":
        return lzma.open(file)
    codec = CODECS.get(suffix)
    return file if codec is None and file is not path else pa.input_stream(file, compression=codec)


def size(paths: Sequence[str]) -> float:
    """The bytes of some files; infinite where one is not on this machine."""
    return sum(Path(p).stat().st_size if Path(p).is_file() else float("inf") for p in paths)


def short(path: str) -> str:
    """The name of a file for messages."""
    return repr(path.rsplit("/", 1)[-1])


def damaged(path: str) -> SourceError:
    """The error for a compressed file that does not end where it should, or is none."""
    return SourceError(
        f"{short(path)} is damaged, or other bytes follow the compressed table.",
        code="damaged",
        hint="Compress the table anew.",
    )


ENCODING_HINT = "Fix that line, or set {encoding} if the whole file has another encoding."
"""What to do about a file that breaks the rules of its encoding."""


def wrong_encoding(path: str, line: int, encoding: str) -> SourceError:
    """The error for a line that is not in the encoding of its file."""
    return SourceError(
        f"{short(path)}: line {line:,} is not in the encoding {encoding}.",
        code="encoding",
        hint=ENCODING_HINT,
    )


def reason(error: OSError) -> str:
    """The system's reason for an error."""
    return error.strerror or type(error).__name__
