"""Members of the zip archives that workbooks are, read within limits."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from xml.parsers import expat

_CHUNK = 1 << 20
_MOST_BYTES = 2_000_000_000

Element = Callable[[str, dict[str, str]], None]


class UnreadableError(Exception):
    """A member that is not XML, declares entities, or is too large."""


def parse(
    archive: zipfile.ZipFile,
    member: str,
    start: Element,
    text: Callable[[str], None] | None = None,
    end: Callable[[str], None] | None = None,
) -> None:
    """Read a member as XML in pieces; names come without their namespace."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, given: start(name.rsplit(":", 1)[-1], given)
    if text is not None:
        parser.CharacterDataHandler = text
    if end is not None:
        parser.EndElementHandler = lambda name: end(name.rsplit(":", 1)[-1])
    parser.StartDoctypeDeclHandler = _refuse
    try:
        for chunk in _chunks(archive, member):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, zipfile.BadZipFile, KeyError, EOFError, OSError, RuntimeError,
            NotImplementedError, ValueError) as error:  # fmt: skip
        raise UnreadableError(member) from error


def _chunks(archive: zipfile.ZipFile, member: str) -> Iterator[bytes]:
    read = 0
    with archive.open(member) as file:
        while chunk := file.read(_CHUNK):
            read += len(chunk)
            if read > _MOST_BYTES:
                raise UnreadableError(member)
            yield chunk


def _refuse(*_: object) -> None:
    raise UnreadableError("a document type")


def texts(archive: zipfile.ZipFile, member: str) -> dict[str, str]:
    """The text of each element of a small document, by its name."""
    found: dict[str, str] = {}
    names: list[str] = []

    def add(text: str) -> None:
        found[names[-1]] = found.get(names[-1], "") + text

    parse(archive, member, lambda name, _: names.append(name), add, lambda _: _dropped(names))
    return {name: text.strip() for name, text in found.items() if text.strip()}


def _dropped(names: list[str]) -> None:
    names.pop()
