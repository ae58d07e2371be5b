"""The terminal: results on standard output, progress on standard error."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rich.console import Console

from crypsis.errors import OutputError
from crypsis.files import replacing_file
from crypsis.progress import bars
from crypsis.results import without_control

shown_progress = bars
"""Shows the progress of long computations on standard error, if that is a terminal."""


class _Console(Console):
    """A console whose texts may have names of files in them, of which a terminal obeys nothing."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, with control characters of plain texts replaced."""
        super().print(*(_visible(item) if isinstance(item, str) else item for item in objects), **options)


def _visible(text: str) -> str:
    """A text without control characters but line ends and tabs."""
    return (
        "".join(sign if sign in "\n\t" else without_control(sign) for sign in text)
        if not text.isprintable()
        else text
    )


def console(*, to_stderr: bool = False) -> Console:
    """Where results go; 80 columns when it is not a terminal. `to_stderr` is standard error."""
    return _Console(highlight=False, soft_wrap=False, stderr=to_stderr)


def may_write(path: Path | None, suffixes: tuple[str, ...], *, force: bool) -> None:
    """Refuse an output before the work rather than after it."""
    if path is None:
        return
    if path.is_dir() and path.suffix.lower() != ".delta":
        raise OutputError(f"{str(path)!r} is a folder, not a file.", hint="Add the name of a file to it.")
    if path.suffix.lower() not in suffixes:
        raise OutputError(
            f"{path.name!r} is not a valid output; its name must end in {' or '.join(suffixes)}."
        )
    if not path.absolute().parent.is_dir():
        raise OutputError(f"Folder {str(path.parent)!r} does not exist.", hint="Create it first.")
    if path.exists() and not force:
        raise OutputError(f"{str(path)!r} exists already.", hint="Set {overwrite=True} to replace it.")


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
