"""The files that a path names, and their formats."""

from __future__ import annotations

import glob
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from crypsis.errors import CrypsisError, MissingDependencyError, SourceError
from crypsis.extras import import_extra
from crypsis.tables.csv.files import PACKED, reason, short

SUFFIXES = {
    "csv": (".csv", ".tsv", ".txt", ".data"),
    "parquet": (".parquet", ".pq"),
    "orc": (".orc",),
    "json": (".json", ".jsonl", ".ndjson"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "stata": (".dta",),
    "spss": (".sav", ".zsav", ".por"),
    "sas": (".sas7bdat", ".xpt"),
    "excel": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "duckdb": (".duckdb", ".ddb"),
    "sqlite": (".sqlite", ".sqlite3"),
}
"""The suffixes of the files that are read, by format."""
COMPRESSED = dict.fromkeys(("csv", "json"), PACKED)
"""The suffixes that may follow those of a format."""
_MAGIC = (
    ("parquet", 0, b"PAR1"),
    ("sqlite", 0, b"SQLite format 3\0"),
    ("duckdb", 8, b"DUCK"),
    ("arrow", 0, b"ARROW1"),
    ("stata", 0, b"<stata_dta>"),
    ("spss", 0, b"$FL2"),
    ("spss", 0, b"$FL3"),
)
_STARTS = {
    "parquet": ("a Parquet file", 0, (b"PAR1", b"PARE")),
    "sqlite": ("a SQLite file", 0, (b"SQLite format 3\0",)),
    "duckdb": ("a DuckDB file", 8, (b"DUCK",)),
}
"""How files of some formats always begin."""
_PACKED_STARTS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "http": "aiohttp requests",
    "https": "aiohttp requests",
    "sftp": "paramiko",
    "ssh": "paramiko",
    "hdfs": "pyarrow",
    "hf": "huggingface_hub",
}
"""The package that reads each kind of address, for fsspec."""
_ADDRESSES = (*_PACKAGES, "file", "memory")
"""The kinds of addresses that are read; fsspec has more, such as archives and caches of others."""
_MAX_FOLDER_ENTRIES = 200_000
"""A folder with more files is a whole disk rather than a table."""


def local_files(text: str) -> list[str]:
    """The files of this machine that a path, a folder or a glob names."""
    path = expanded(text)
    try:
        text.encode()
        mode = path.stat().st_mode if text else 0
    except UnicodeEncodeError:
        raise SourceError(f"The file name {text!r} is not UTF-8.", hint="Rename the file.") from None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        mode = 0
    except OSError as error:
        raise SourceError(f"File {text!r} could not be read ({reason(error)}).") from None
    if stat.S_ISDIR(mode) and lake_of(path) is not None:
        return [str(path)]
    if stat.S_ISDIR(mode):
        files = sorted(_parquet_files(path))
        if not files:
            raise SourceError(f"{text!r} is a folder without Parquet files.", hint="Use the path of a file.")
        return files
    files = [str(path)] if mode else []
    if not files and glob.has_magic(text):
        files = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207
    if not files:
        raise SourceError(f"File {text!r} does not exist.", code="no-file")
    for file in files:
        _check_readable(file)
    return files


def expanded(text: str) -> Path:
    """A path with the home folder in place of a first ~; of an unknown user, the name as it is."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def _parquet_files(folder: Path) -> Iterator[str]:
    """The Parquet files below a folder; what may not be read is passed over, as a glob does."""
    entries = 0
    for directory, folders, names in os.walk(folder):
        entries += len(folders) + len(names)
        if entries > _MAX_FOLDER_ENTRIES:
            raise SourceError(
                f"Folder {str(folder)!r} has more than {_MAX_FOLDER_ENTRIES:,} files.",
                hint="Use the path of the table.",
            )
        paths = (os.path.join(directory, name) for name in names if name.endswith(".parquet"))  # noqa: PTH118
        yield from filter(os.path.isfile, paths)


def lake_of(folder: Path) -> str | None:
    """The format of a folder that is a table with versions."""
    try:
        if (folder / "_delta_log").is_dir():
            return "delta"
        return "iceberg" if any(folder.glob("metadata/*.metadata.json")) else None
    except OSError:
        return None


def _check_readable(path: str) -> None:
    """Refuse pipes and devices, which may block or never end, and empty files."""
    if not Path(path).is_file():
        raise SourceError(f"{path!r} is not a regular file.")
    try:
        with Path(path).open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise SourceError(f"File {path!r} could not be read ({reason(error)}).") from None
    if empty:
        raise SourceError(f"{path!r} is empty.", code="no-rows")


def remote_files(connection: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    """Remote files through fsspec, which reads s3, gs, abfs, http and others."""
    files = remote_system(text)
    connection.register_filesystem(files)
    try:
        if files.exists(text):
            return [text]
        remote_paths = sorted(files.glob(text)) if glob.has_magic(text) else []
    except Exception as error:  # noqa: BLE001 - of as many kinds as there are kinds of storage
        raise SourceError(
            f"{text.split('://', 1)[0]}:// could not be reached ({type(error).__name__}).",
            code="no-connection",
            hint="Check the address and the credentials in the environment.",
        ) from None
    if not remote_paths:
        raise SourceError(f"File {text!r} does not exist.", code="no-file")
    return [str(files.unstrip_protocol(path)) for path in remote_paths]


def remote_system(text: str) -> Any:
    """The storage of an address, by fsspec."""
    protocol = text.split("://", 1)[0]
    package = _PACKAGES.get(protocol)
    if protocol not in _ADDRESSES:
        raise SourceError(
            f"Addresses that begin with {protocol}:// are not read.",
            code="no-protocol",
            hint=f"The kinds are: {', '.join(f'{kind}://' for kind in _ADDRESSES[:-1])}.",
        )
    fsspec = import_extra("fsspec", "Reading and writing remote files", "cloud", also=package)
    try:
        return fsspec.filesystem(protocol)
    except ImportError:
        raise MissingDependencyError(
            f"Addresses that begin with {protocol}:// need the package {package or 'for them'}.",
            hint=f"Install it: pip install {package}" if package else "The documentation of fsspec names it.",
            module=package,
        ) from None
    except Exception as error:  # noqa: BLE001 - of as many kinds as there are kinds of storage
        raise SourceError(
            f"{protocol}:// could not be opened ({type(error).__name__}).", code="no-protocol"
        ) from None


@contextmanager
def library_errors(path: str) -> Iterator[None]:
    """Turn the error of a library that reads a damaged file into ours; its text may quote values.

    Libraries raise whatever their parsers stumble over, and those in Rust what is no Exception.
    """
    try:
        yield
    except (CrypsisError, ImportError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise  # Ctrl-C
        raise SourceError(
            f"{short(path)} could not be read: it is damaged, or of another kind ({type(error).__name__}).",
            code="damaged",
            hint="Export the table anew, or set {format}.",
        ) from None


def check_format(path: str, form: str) -> None:
    """Refuse a file of this machine that does not begin as every file of its format does."""
    if form not in _STARTS or not Path(path).is_file():
        return
    what, offset, signs = _STARTS[form]
    with Path(path).open("rb") as file:
        start = file.read(16)
    if not start[offset:].startswith(signs):
        raise SourceError(
            f"{short(path)} is not {what}.", code="other-format", hint="Set {format}, or rename it."
        )


def suffix_by_content(path: Path) -> str:
    """The suffix that a file without a name should have, where its first bytes show one."""
    with path.open("rb") as file:
        start = file.read(512).removeprefix(b"\xef\xbb\xbf")
    packed = next((suffix for sign, suffix in _PACKED_STARTS.items() if start.startswith(sign)), "")
    if packed:
        return f".csv{packed}"
    if start.startswith(b"PK\x03\x04") and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        return ".xlsx" if "xl/workbook.xml" in names else ".ods" if "content.xml" in names else ""
    return ".json" if start.lstrip().startswith((b"{", b"[")) else ""


def format_by_name(path: str) -> str | None:
    """The format that the suffix of a path names, if any."""
    name = path.lower().rstrip("/")
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return next((form for form, suffixes in SUFFIXES.items() if name.endswith(suffixes)), None)


def format_of(path: str) -> str:
    """By the name, then by the first bytes; CSV where neither shows a format."""
    if Path(path).is_dir():
        return lake_of(Path(path)) or "parquet"
    named = format_by_name(path)
    if named is not None:
        if path.lower().endswith(PACKED) and named not in COMPRESSED:
            raise SourceError(
                f"{short(path)} is compressed, which only CSV and JSON files may be.",
                code="compressed",
                hint="Unpack it first.",
            )
        return named
    if Path(path).is_file():
        with Path(path).open("rb") as file:
            start = file.read(16)
        for form, offset, magic in _MAGIC:
            if start[offset:].startswith(magic):
                return form
        if start.startswith(b"PK\x03\x04"):
            raise SourceError(f"{Path(path).name!r} is a zip archive.", code="zip", hint="Unpack it first.")
    return "csv"
