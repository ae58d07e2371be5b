"""Files that Spark writes, wherever it can: whole or not at all, and read back by it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crypsis.engine.frames import Rows
from crypsis.engine.spark import translated
from crypsis.engine.spark_sources import spark_rows
from crypsis.errors import OutputError, SourceError


@contextmanager
def written_whole_there(session: Any, uri: str, overwrite: bool = False) -> Iterator[str]:
    """A folder beside `uri` to write to; it takes its place when the writing ended well.

    Executors write part files into the folder; one rename by the driver makes it the release. On
    HDFS and on disks that is atomic; an object store copies on renaming, and a reader may then see
    a part of the files: let readers wait for the statement, which is written last.
    """
    store, path = _store(session, uri)
    partial = path(f".{uri.rstrip('/').rsplit('/', 1)[-1][:100]}.{secrets.token_hex(4)}.partial")
    target, old = path(""), path(f".{secrets.token_hex(8)}.old")
    try:
        if not store.exists(target.getParent()):
            raise OutputError("The folder to write to does not exist; make it.")
        if store.exists(target) and not overwrite:
            raise OutputError("The place to write to exists already; say overwrite=True (--force).")
        yield str(partial.toString())
        there = store.exists(target)
        if there and not store.rename(target, old):
            raise OutputError("What stands there cannot be moved away; check the permissions.")
        if not store.rename(partial, target):
            if there:
                store.rename(old, target)
            raise OutputError("The release cannot be put in its place; check the permissions.")
        store.delete(old, True)
    finally:
        store.delete(partial, True)


def _store(session: Any, uri: str) -> tuple[Any, Any]:
    """The Hadoop file system of a URI, and a function from a sibling's name to its path."""
    from py4j.protocol import Py4JError

    try:
        java = session._jvm
        whole = java.org.apache.hadoop.fs.Path(uri)
        store = whole.getFileSystem(session._jsc.hadoopConfiguration())
    except (AttributeError, Py4JError):
        raise OutputError(
            "This Spark session has no file system of that kind (or is a Spark Connect session, "
            "which has none); write to a path that this machine and the executors share."
        ) from None

    def path(name: str) -> Any:
        return java.org.apache.hadoop.fs.Path(whole.getParent(), name) if name else whole

    return store, path


def read_back(session: Any, path: Path | str, form: str) -> Rows:
    """The rows of a folder that was just written; of CSV all columns as text."""
    place = path.absolute().as_uri() if isinstance(path, Path) else path
    try:
        with translated("reading the release back"):
            if form == "parquet":
                frame = session.read.parquet(place)
            else:
                frame = session.read.csv(place, header=True, quote='"', escape='"')
            return spark_rows(frame, list(frame.columns))
    except SourceError as error:
        raise OutputError(str(error)) from None
