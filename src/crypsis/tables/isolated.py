"""Views, queries and computed columns of database files, read in a process of their own.

They are code that a file brings along. It may be written to take all memory or to never end, which no
setting of the database prevents, and to return other values to us than to a recipient. So it runs in
a process that reads nothing but the file, in little memory, for a limited time, and ends with us; its
rows come back as a stream of Arrow.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from crypsis import errors
from crypsis.errors import CrypsisError, SourceError, TooLargeError
from crypsis.tables.duckdb.connection import private_folder

MAX_SECONDS = 300
"""How long code of a file may take: whoever has a longer view can write its rows out."""
DEFAULT_MEMORY_BYTES = 2_000_000_000
"""Memory of the process where no limit is set: DuckDB spills what does not fit."""
_LEAST_MEMORY_BYTES = 600_000_000
"""What Python, Arrow and DuckDB need beside the rows."""
_UNITS = {
    f"{prefix}{binary}": (1024 if binary else 1000) ** power
    for power, prefix in enumerate(["", "K", "M", "G", "T"])
    for binary in ("", "I")
}
_START = "from crypsis.tables.isolated_process import main; main()"


@contextmanager
def isolated_rows(
    what: str, job: dict[str, Any], *, memory_limit: str | None = None, limited: bool = True
) -> Iterator[pa.RecordBatchReader]:
    """The rows that a process of its own reads; its errors are ours, and it never outlives us.

    `job` has the arguments of `isolated_process.open_job`. Without `limited` it may take as long as it
    takes: a query of the owner on a file without code.
    """
    folder = private_folder("crypsis-spill-")
    memory = max(_LEAST_MEMORY_BYTES, _bytes(memory_limit) or DEFAULT_MEMORY_BYTES)
    process = IsolatedProcess(what, {**job, "memory": memory, "folder": str(folder.path)})
    timer = threading.Timer(MAX_SECONDS, process.stop_late)
    timer.daemon = True
    try:
        if limited:
            timer.start()
        yield process.rows()
    finally:
        timer.cancel()
        process.end()
        folder.remove()


class IsolatedProcess:
    """A process that reads rows; it ends when its standard input is closed, which we keep open."""

    def __init__(self, what: str, job: dict[str, Any]) -> None:
        package = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([package, *(entry for entry in sys.path if entry)])
        self.what, self.late = what, False
        try:
            # -P: a file called numpy.py in the folder where someone started us is not run.
            self._process = subprocess.Popen(  # noqa: S603 - our own program, no foreign word in it
                [sys.executable, "-P", "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
            )
        except OSError as error:
            raise SourceError(
                f"{what} needs a process of its own, which could not be started ({error.strerror})."
            ) from None
        assert self._process.stdin is not None  # noqa: S101
        with contextlib.suppress(OSError):  # it says why it ended
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()

    def rows(self) -> pa.RecordBatchReader:
        """The rows; an early end raises what the process said of it."""
        try:
            stream = pa.ipc.open_stream(self._process.stdout)
        except (pa.ArrowException, OSError):
            raise self._error() from None
        return pa.RecordBatchReader.from_batches(stream.schema, self._batches(stream))

    def _batches(self, stream: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        try:
            yield from stream
        except (pa.ArrowException, OSError):
            raise self._error() from None
        if self._process.wait() != 0:
            raise self._error()

    def _error(self) -> CrypsisError:
        """What the process said last, or that it took too much of something."""
        assert self._process.stderr is not None  # noqa: S101
        lines = [] if self.late else self._process.stderr.read().splitlines()
        with contextlib.suppress(ValueError, IndexError):
            said = json.loads(lines[-1])
            kind: type[CrypsisError] = getattr(errors, said["kind"])
            return kind(said["message"], code=said["code"], hint=said["hint"])
        reason = f"takes longer than {MAX_SECONDS} seconds" if self.late else "takes too much memory"
        return TooLargeError(
            f"{self.what}: computing its values {reason}.",
            code="computed-values",
            hint="Write its rows to a new file, and use that.",
        )

    def stop_late(self) -> None:
        """End a process that has taken its time."""
        self.late = True
        self._process.kill()

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def _bytes(size: str | None) -> int | None:
    """The bytes of a size such as 4GB or 500 MiB; None where it is none.

    >>> _bytes("1.5GB"), _bytes("2 MiB"), _bytes("80%")
    (1500000000, 2097152, None)
    """
    match = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?I?)B?\s*", size or "", re.IGNORECASE)
    if match is None or match[2].upper() not in _UNITS:
        return None
    try:
        return int(float(match[1]) * _UNITS[match[2].upper()])
    except ValueError:
        return None
