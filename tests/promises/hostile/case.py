"""A hostile input: how it is made, which command gets it, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

SECRET = "Zanzibar7731"
"""A value planted in the data; no message may repeat it."""
GOOD = f"age,zip,disease\n34,02138,{SECRET}\n34,02138,flu\n41,02139,gout\n41,02139,flu\n"

Make = Callable[[Path], Sequence[str]]


@dataclass(frozen=True)
class Case:
    """One input. Without `refused` an answer is expected, with it status 2 and those words."""

    name: str
    make: Make
    """Makes the files in a folder and hands back the arguments of the command."""
    refused: str | None = None


def file(name: str, content: bytes | str, *more: str, verb: Sequence[str] = ("scan",)) -> Make:
    """A command on one file with this content."""

    def make(folder: Path) -> Sequence[str]:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return [*verb, str(path), *more]

    return make


def answered(name: str, content: bytes | str, *more: str, suffix: str = "csv") -> Case:
    """A file that can be read."""
    return Case(name, file(f"data.{suffix}", content, *more))


def refused(name: str, content: bytes | str, words: str, *more: str, suffix: str = "csv") -> Case:
    """A file that cannot be read; `words` are in the message."""
    return Case(name, file(f"data.{suffix}", content, *more), words)
