"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crypsis.errors import OutputError


@contextmanager
def written_whole(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A path beside `path` to write to; it takes its place when the writing ended well.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "roles.toml")) as partial:
    ...         _ = partial.write_text("[roles]")
    ...     [file.name for file in Path(folder).iterdir()]
    ['roles.toml']
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise OutputError(f"There is no folder {str(target.parent)!r} to write to; make it.")
    whole = target.is_dir() and (target / "_SUCCESS").is_file()  # Spark writes folders
    if target.is_dir() and not whole:
        raise OutputError(f"{str(target)!r} is a folder; name a file.")
    if target.exists() and not overwrite:
        raise OutputError(f"{str(target)!r} exists already; say overwrite=True (--force).")
    partial = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.partial")
    try:
        yield partial
        _take_place(partial, target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{str(target)!r} cannot be written ({error.strerror}).") from None
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)


def _take_place(partial: Path, target: Path) -> None:
    """Move to where it belongs; a folder that stands there is first moved away, then removed."""
    if not target.is_dir():
        os.replace(partial, target)  # noqa: PTH105 - says what it does to a file that exists
        return
    old = target.rename(partial.with_suffix(".old"))
    try:
        partial.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def form_of(path: str | Path) -> str:
    """The form that a path asks for: csv or parquet."""
    forms = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
    form = forms.get(Path(path).suffix.lower())
    if form is None:
        raise OutputError(f"Write to a file ending in .csv or .parquet, not {Path(path).name!r}.")
    return form
