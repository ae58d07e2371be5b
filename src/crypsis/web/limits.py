"""Every answer of a table's process is limited in time, memory and disk."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import Any

from crypsis.web.errors import RequestError, StoppedError
from crypsis.web.settings import Settings, size_text
from crypsis.web.worker_process import Question, WorkerProcess

_POLL_SECONDS = 0.1
"""The time between two checks of the limits."""
_GRACE_SECONDS = 12.0
"""A process that was asked to stop and still runs is killed then."""
_DISK_CHECK_SECONDS = 1.0
"""The time between two checks of the disk, which go through all files."""


def watched(
    worker: WorkerProcess,
    question: Question,
    limits: Settings,
    folder: Path,
    stop: threading.Event,
    seconds: float | None = None,
) -> dict[str, Any]:
    """The answer, unless it exceeds a limit; a process that does not stop when asked is killed."""
    started = disk_checked = time.monotonic()
    most = limits.job_seconds if seconds is None else seconds
    stopping: float | None = None
    reason: RequestError | None = None
    while True:
        try:
            result: dict[str, Any] = question.answer.result(_POLL_SECONDS)
        except NotYet:
            pass
        except StoppedError:
            raise reason or StoppedError() from None
        else:
            if reason is not None and not isinstance(reason, StoppedError):
                raise reason
            return result
        now = time.monotonic()
        if stopping is None and stop.is_set():
            reason, stopping = StoppedError(), now
            worker.cancel(question)
        if stopping is None and now - started > most:
            reason = RequestError(
                f"The computation took longer than the limit of {most:g} seconds.",
                409,
                hint="Use fewer columns, or raise {job_seconds}.",
            )
            stopping = now
            worker.cancel(question)
        if worker.alive and worker.memory_bytes() > limits.job_bytes:
            worker.kill()
            raise RequestError(
                f"The computation needed more memory than the limit of {size_text(limits.job_bytes)}.",
                413,
                hint="Use fewer columns, or raise {job_memory}.",
            )
        if now - disk_checked > _DISK_CHECK_SECONDS:
            disk_checked = now
            if folder_bytes(folder) > limits.disk_bytes:
                worker.kill()
                raise RequestError(
                    f"The computation needed more disk than the limit of {size_text(limits.disk_bytes)}.",
                    413,
                    hint="Use fewer columns, or raise {job_disk}.",
                )
        if stopping is not None and now - stopping > _GRACE_SECONDS:
            worker.kill()
            raise reason or StoppedError()


def folder_bytes(folder: Path) -> int:
    """The size of all files of a folder; files and folders that vanish meanwhile do not count."""
    size = 0
    for parent, _, names in os.walk(folder):  # Path.rglob fails on a folder that vanishes
        for name in names:
            with contextlib.suppress(OSError):
                size += Path(parent, name).lstat().st_size
    return size
