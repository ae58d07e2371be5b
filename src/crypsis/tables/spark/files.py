"""Folders that Spark writes in any file system it has: complete or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crypsis.errors import OutputError

_PERMISSIONS = "Check the permissions."


@contextmanager
def replacing_remote(session: Any, uri: str, overwrite: bool = False) -> Iterator[str]:
    """A folder next to `uri` to write to, renamed to it when the block ends without an error.

    Executors write part files into the folder; one rename by the driver makes it the release. On
    HDFS and on disks that is atomic. An object store copies on renaming, and a reader may then see
    a part of the files: readers should wait for the statement, which is written last.
    """
    store, path = _store(session, uri)
    partial = path(f".{uri.rstrip('/').rsplit('/', 1)[-1][:100]}.{secrets.token_hex(4)}.partial")
    target, old = path(""), path(f".{secrets.token_hex(8)}.old")
    try:
        if not store.exists(target.getParent()):
            raise OutputError("The folder to write to does not exist.", code="no-folder")
        if store.exists(target) and not overwrite:
            raise OutputError("The output exists already.", code="exists", hint="Set {overwrite=True}.")
        yield str(partial.toString())
        exists = store.exists(target)
        if exists and not store.rename(target, old):
            raise OutputError("The existing output could not be replaced.", hint=_PERMISSIONS)
        if not store.rename(partial, target):
            if exists:
                store.rename(old, target)
            raise OutputError("The release could not be put in its place.", hint=_PERMISSIONS)
        store.delete(old, True)
    finally:
        store.delete(partial, True)


def _store(session: Any, uri: str) -> tuple[Any, Any]:
    """The Hadoop file system of a URI, and a function from a sibling's name to its path."""
    from py4j.protocol import Py4JError

    try:
        java = session._jvm
        target = java.org.apache.hadoop.fs.Path(uri)
        store = target.getFileSystem(session._jsc.hadoopConfiguration())
    except (AttributeError, Py4JError):
        raise OutputError(
            "This Spark session has no file system of that kind; a Spark Connect session has none.",
            code="no-file-system",
            hint="Write to a path that this machine and the executors share.",
        ) from None

    def path(name: str) -> Any:
        return java.org.apache.hadoop.fs.Path(target.getParent(), name) if name else target

    return store, path
