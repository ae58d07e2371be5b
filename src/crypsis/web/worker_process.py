"""The server's end of a table's process: ask, hear of progress, stop, kill."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from crypsis.web.errors import ProcessEndedError, from_worker

News = Callable[[dict[str, Any]], None]


class Question:
    """A question under way: its number and the answer to come."""

    def __init__(self, number: int, news: News | None) -> None:
        self.number, self.news = number, news
        self.answer: Future[Any] = Future()


class WorkerProcess:
    """A process that answers questions about one table."""

    def __init__(self) -> None:
        # -P: a file called numpy.py in the folder where someone started us is not run.
        command = [sys.executable, "-P", "-m", "crypsis.web.worker"]
        debug = os.environ.get("CRYPSIS_DEBUG") == "1"
        self._process = subprocess.Popen(  # noqa: S603 - our own program, no foreign word in it
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if debug else subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the server, which then ends us
        )
        self._numbers = itertools.count(1)
        self._open: dict[int, Question] = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, do: str, arguments: dict[str, Any], news: News | None = None) -> Question:
        """Send a question; its answer is a future."""
        question = Question(next(self._numbers), news)
        with self._lock:
            self._open[question.number] = question
        try:
            self._send({"id": question.number, "do": do, "with": arguments})
        except OSError:
            self._lose()
        return question

    def cancel(self, question: Question) -> None:
        """Ask for a question to be dropped."""
        with contextlib.suppress(OSError):
            self._send({"cancel": question.number})

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def memory_bytes(self) -> int:
        """The memory that the process uses for itself now, without code shared with others."""
        pid = self._process.pid
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            lines = []
        sizes = [line.split() for line in lines if line.startswith(("RssAnon:", "RssShmem:"))]
        if sizes:
            return sum(int(words[1]) for words in sizes) * 1024
        # Where there is no /proc; every system has ps.
        command = ["ps", "-o", "rss=", "-p", str(pid)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        return int(process.stdout or 0) * 1024

    def kill(self) -> None:
        """End the process now; what it was asked fails."""
        self._process.kill()
        self._process.wait()
        self._lose()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _send(self, message: dict[str, Any]) -> None:
        line = json.dumps(message) + "\n"
        with self._lock:
            assert self._process.stdin is not None  # noqa: S101
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101
        for line in self._process.stdout:
            message = json.loads(line)
            question = self._open.get(message["id"])
            if question is None:
                continue
            if "news" in message:
                if question.news is not None:
                    question.news(message["news"])
                continue
            with self._lock:
                self._open.pop(question.number, None)
            if "error" in message:
                question.answer.set_exception(from_worker(message["error"]))
            else:
                question.answer.set_result(message["result"])
        self._lose()

    def _lose(self) -> None:
        with self._lock:
            left, self._open = list(self._open.values()), {}
        for question in left:
            with contextlib.suppress(Exception):
                question.answer.set_exception(ProcessEndedError())


class WorkerPool:
    """Processes for tables; one is always ready, because starting takes seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spare: WorkerProcess | None = WorkerProcess()
        self._ended = False

    def take(self) -> WorkerProcess:
        """A process, and another one is started for who comes next."""
        with self._lock:
            taken = self._spare if self._spare is not None and self._spare.alive else WorkerProcess()
            self._spare = None if self._ended else WorkerProcess()
        return taken

    def end(self) -> None:
        """No more processes."""
        with self._lock:
            self._ended = True
            if self._spare is not None:
                self._spare.kill()
                self._spare = None
