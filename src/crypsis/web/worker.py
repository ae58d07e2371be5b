"""The process of one table: it reads the rows, answers, and can be stopped or killed alone.

Each open table has its own process. So files cannot mix, a file that crashes or fills the memory
affects no other, and the server itself never has a row. Questions come in as one JSON object a
line on standard input, answers and progress go out the same way:

    {"id": 3, "do": "assess", "with": {...}}      {"cancel": 3}
    {"id": 3, "news": {...}}   {"id": 3, "result": {...}}   {"id": 3, "error": {...}}

When standard input ends, the server is gone, and so is the process.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, TextIO

from crypsis import progress
from crypsis.errors import CancelledError, CrypsisError
from crypsis.web.wording import page_option

_MAX_QUESTIONS_AT_ONCE = 4
"""Questions of a table that are answered at a time."""


class QuestionService:
    """Questions answered in threads, each of which may be cancelled by its number."""

    def __init__(self, out: TextIO) -> None:
        from crypsis.web.operations._session import TableSession

        self.session = TableSession()
        self._out, self._writing = out, threading.Lock()
        self._threads = ThreadPoolExecutor(_MAX_QUESTIONS_AT_ONCE)
        self._stops: dict[int, threading.Event] = {}

    def take(self, line: str) -> None:
        """Begin to answer a question, or stop answering one."""
        message = json.loads(line)
        if "cancel" in message:
            stop = self._stops.get(message["cancel"])
            if stop is not None:
                stop.set()
            return
        self._stops[message["id"]] = threading.Event()
        self._threads.submit(self._answer, message)

    def _answer(self, message: dict[str, Any]) -> None:
        from crypsis.web.operations import operation

        number, stop = message["id"], self._stops[message["id"]]

        def listen(news: progress.Progress) -> None:
            if stop.is_set():
                raise CancelledError("The job was cancelled.")
            news_body = {"what": news.what, "done": news.done, "total": news.total, "finished": news.finished}
            self._say({"id": number, "news": news_body})

        try:
            with progress.report_to(listen):
                result = operation(message["do"])(self.session, **message["with"])
            self._say({"id": number, "result": result})
        except BaseException as error:  # noqa: BLE001 - everything is reported, without data values
            self._say({"id": number, "error": error_body(error)})
        finally:
            self._stops.pop(number, None)

    def _say(self, message: dict[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=True, allow_nan=False) + "\n"
        with self._writing:
            self._out.write(line)
            self._out.flush()


def error_body(error: BaseException) -> dict[str, str]:
    """An error as it may be shown: our own messages as they are, of others only their place."""
    kind = type(error).__name__
    if isinstance(error, CrypsisError):
        return {"kind": kind, "message": error.text(page_option)}
    if isinstance(error, MemoryError):
        return {"kind": kind, "message": "Not enough memory; use fewer columns."}
    frames = traceback.extract_tb(error.__traceback__)
    location = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "?"  # noqa: PTH119
    if os.environ.get("CRYPSIS_DEBUG") == "1":
        traceback.print_exception(error)
    return {"kind": "Fault", "message": f"An internal fault ({kind} at {location}). Please report it."}


def main() -> None:
    """Answer until standard input ends."""
    # Whatever a library prints must not come between the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    service = QuestionService(out)
    import_module("crypsis.web.operations._scan")  # what every table is asked first
    for line in sys.stdin:
        service.take(line)
    os._exit(0)


if __name__ == "__main__":
    main()
