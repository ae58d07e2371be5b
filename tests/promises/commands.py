"""Commands in processes of their own, quick to start, that can be limited, watched and killed."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    [
        "crypsis.cli.app",
        "crypsis.cli.wording",
        "crypsis.assessment",
        "crypsis.protection",
        "crypsis.report.verdict",
        "duckdb",
        "crypsis.singling_out",
        "numba.cpython.cmathimpl",
        "encodings.utf_32_le",
    ]  # all that is loaded, for another user may not be able to read it
)


@dataclass
class Running:
    """A command that was started."""

    process: Any
    folder: Path
    began: float = field(default_factory=time.monotonic)

    @property
    def pid(self) -> int:
        return int(self.process.pid)

    def wait(self, seconds: float = 120) -> int:
        """The exit status; a negative one names the signal that ended it."""
        self.process.join(seconds)
        assert self.process.exitcode is not None, f"no end after {seconds} seconds"
        return int(self.process.exitcode)

    def kill(self, sign: int = signal.SIGKILL) -> None:
        if self.process.is_alive():
            os.kill(self.pid, sign)

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text(errors="replace")

    @property
    def err(self) -> str:
        return (self.folder / "err").read_text(errors="replace")


def start(
    arguments: Sequence[str],
    folder: Path,
    *,
    limits: Mapping[int, int] | None = None,
    environment: Mapping[str, str] | None = None,
    out: Path | None = None,
    user: int | None = None,
) -> Running:
    """Start `crypsis ARGUMENTS`; what it says goes into `folder`, which is private to the test."""
    folder.mkdir(exist_ok=True)
    given = (list(arguments), folder, dict(limits or {}), dict(environment or {}), out, user)
    process = _SERVER.Process(target=_command, args=given)
    process.start()
    return Running(process, folder)


def _command(
    arguments: list[str],
    folder: Path,
    limits: dict[int, int],
    environment: dict[str, str],
    out: Path | None,
    user: int | None,
) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(environment)
    tempfile.tempdir = None
    for number, name in ((1, out or folder / "out"), (2, folder / "err")):
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(handle, number)
        os.close(handle)
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    sys.dont_write_bytecode = bool(limits)  # Python would leave half a file of it
    for limit, most in limits.items():
        resource.setrlimit(limit, (most, most))
    from crypsis.cli import run

    status = run(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    # Leave by the front door, so that folders are removed as in any other run.
    sys.exit(status)


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something to happen."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"did not happen in {seconds} seconds"
        time.sleep(0.005)
