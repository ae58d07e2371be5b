"""The process in which code of a database file runs: see `isolated`.

It reads a job from standard input, writes rows to standard output as a stream of Arrow, and says of an
error its class, message, code and hint on standard error.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from crypsis.errors import CrypsisError, SourceError, TooLargeError
from crypsis.options import ReadOptions
from crypsis.tables.databases import BATCH_ROWS, AdbcSource
from crypsis.tables.duckdb.connection import connect_sealed, translated
from crypsis.tables.formats.sqlite import sqlite_uri

_SHARE_OF_ENGINE = 0.5
"""Of the memory, what DuckDB may count as its own before it spills; values of rows come on top."""


def main() -> None:
    """Do one job."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a library prints is taken for rows
    try:
        job = json.loads(sys.stdin.buffer.readline())
        threading.Thread(target=_end_with_parent, daemon=True).start()
        _limit_memory(job["memory"])
        with open_job(job) as rows, pa.ipc.new_stream(out, rows.schema) as stream:
            for batch in rows:
                stream.write_batch(batch)
        out.close()
    except CrypsisError as error:
        _end(error)
    except (MemoryError, pa.ArrowMemoryError):
        _end(TooLargeError("Computing the values takes too much memory.", code="computed-values"))
    except BaseException as error:  # noqa: BLE001 - its text may have values
        if any(sign in str(error) for sign in ("Out of Memory", "bad allocation")):
            _end(TooLargeError("Computing the values takes too much memory.", code="computed-values"))
        _end(_failed(job, type(error).__name__))
    sys.stderr.flush()
    os._exit(0)


@contextmanager
def open_job(job: dict[str, Any]) -> Iterator[pa.RecordBatchReader]:
    """The rows of a DuckDB file by SQL, or of a table, view or query of a SQLite file."""
    if job["format"] == "duckdb":
        with translated(job["what"]), _named(job):
            engine = f"{int(job['memory'] * _SHARE_OF_ENGINE)}B"
            sealed = connect_sealed(job["path"], Path(job["folder"]), engine)
            try:
                if len(duckdb.extract_statements(job["sql"])) != 1:
                    raise duckdb.ParserException("several statements")
                yield sealed.sql(job["sql"]).to_arrow_reader(BATCH_ROWS)
            finally:
                sealed.close()
    else:
        reading = ReadOptions(table=job["table"], query=job["query"])
        source = AdbcSource(sqlite_uri(job["path"]), "sqlite", reading, job["written"])
        with source.rows() as rows:
            yield rows


@contextmanager
def _named(job: dict[str, Any]) -> Iterator[None]:
    """Say of a view or query that fails that it does; DuckDB's text may quote values."""
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.PermissionException, duckdb.IOException):
        raise
    except duckdb.Error as error:
        raise _failed(job, type(error).__name__) from None


def _failed(job: dict[str, Any], kind: str) -> SourceError:
    what = job.get("what", "the view")
    return SourceError(
        f"The rows of {what} could not be computed ({kind}).",
        code="query",
        hint="Correct the view or the query, or write its rows to a new file.",
    )


def _end_with_parent() -> None:
    """End when the process that started us has: the other end of our standard input is closed."""
    sys.stdin.buffer.read()
    os._exit(1)


def _limit_memory(limit: int) -> None:
    """Limit what the process may allocate, on systems that have such a limit."""
    try:
        import resource
    except ImportError:  # Windows: DuckDB's own limit is what there is
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _end(error: CrypsisError) -> None:
    fields = {"kind": type(error).__name__, "message": error.message, "code": error.code, "hint": error.hint}
    sys.stderr.write(f"\n{json.dumps(fields)}\n")
    sys.stderr.flush()
    os._exit(1)
