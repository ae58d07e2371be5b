"""The terminal: results on standard output, progress on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from crypsis import progress
from crypsis.errors import OutputError
from crypsis.files import replacing_file


def console(*, apart: bool = False) -> Console:
    """Where results go; 80 columns when it is not a terminal. `apart` is standard error."""
    return Console(highlight=False, soft_wrap=False, stderr=apart)


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show the progress of long computations, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, TaskID] = {}

    def listen(news: progress.Progress) -> None:
        if news.finished:
            if news.what in tasks:
                bars.remove_task(tasks.pop(news.what))
            return
        if news.what not in tasks:
            tasks[news.what] = bars.add_task(news.what[:50], total=news.total)
        bars.update(tasks[news.what], completed=news.done)

    with bars, progress.report_to(listen):
        yield


def may_write(path: Path | None, suffixes: tuple[str, ...], *, force: bool) -> None:
    """Refuse an output before the work rather than after it."""
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise OutputError(
            f"{path.name!r} is not a valid output; its name must end in {' or '.join(suffixes)}."
        )
    if not path.absolute().parent.is_dir():
        raise OutputError(f"Folder {str(path.parent)!r} does not exist.", hint="Create it first.")
    if path.exists() and not force:
        raise OutputError(
            f"{str(path)!r} exists already.", hint="Set {overwrite=True} to replace it."
        )


def write_text(path: Path, text: str) -> None:
    """Write a text file that appears complete or not at all; it was checked before that it may."""
    with replacing_file(path, overwrite=True) as partial:
        partial.write_text(text, encoding="utf-8")


def summary_file() -> Path:
    """The file in which a GitHub step collects its summary."""
    named = os.environ.get("GITHUB_STEP_SUMMARY")
    if not named:
        raise OutputError(
            "A step summary is written in GitHub Actions only: GITHUB_STEP_SUMMARY is not set.",
            hint="Set it to a file, or remove {step_summary}.",
        )
    return Path(named)


def append_text(path: Path, text: str) -> None:
    """Append to a text file that others write to as well."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"{str(path)!r} could not be written ({error.strerror}).") from None
