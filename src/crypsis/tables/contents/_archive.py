"""Members of the zip archives that workbooks are, read within limits."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from xml.parsers import expat

from crypsis.tables.contents._content import Content

_CHUNK = 1 << 20
_MOST_BYTES = 2_000_000_000
_LOCAL_HEADER, _ENTRY, _END, _END_64 = 30, 46, 22, 76
_DESCRIPTOR, _LONGEST_DESCRIPTOR = 8, 32
_SIZES_AND_TIMES, _PADDING = (0x0001, 0x5455, 0x000A, 0x7875), 0xA220
"""Extra fields of a zip file: sizes of more than 4 GB, times, owners, and room of Excel."""

Element = Callable[[str, dict[str, str]], None]


class UnreadableError(Exception):
    """A member that is not XML, declares entities, or is too large."""


def parse(
    archive: zipfile.ZipFile,
    member: str,
    start: Element,
    text: Callable[[str], None] | None = None,
    end: Callable[[str], None] | None = None,
    remark: Callable[[], None] | None = None,
) -> None:
    """Read a member as XML in pieces; names come without their namespace.

    `remark` is called for each comment and each processing instruction.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, given: start(name.rsplit(":", 1)[-1], given)
    if text is not None:
        parser.CharacterDataHandler = text
    if end is not None:
        parser.EndElementHandler = lambda name: end(name.rsplit(":", 1)[-1])
    if remark is not None:
        parser.CommentHandler = lambda _: remark()
        parser.ProcessingInstructionHandler = lambda *_: remark()
    parser.StartDoctypeDeclHandler = _refuse
    try:
        for chunk in _chunks(archive, member):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except (
        expat.ExpatError,
        zipfile.BadZipFile,
        KeyError,
        EOFError,
        OSError,
        RuntimeError,
        NotImplementedError,
        ValueError,
    ) as error:
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


def archive_contents(archive: zipfile.ZipFile) -> Iterator[Content]:
    """What an archive has besides its members: comments, extra fields, bytes between members."""
    if archive.comment:
        yield Content("archive-comment", "The file has an archive comment.")
    members = archive.infolist()
    if any(member.comment for member in members):
        yield Content("archive-comment", "A part of the file has an archive comment.")
    if len({member.filename for member in members}) < len(members):
        yield Content("archive-names", "Two parts of the file have the same name.")
    if not _accounted(archive, members):
        yield Content("archive-bytes", "The file has bytes that belong to none of its parts.")


def _accounted(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> bool:
    """Whether the members and the directory are all that the file has, without extra fields."""
    file = archive.fp
    if file is None:
        return False
    reached = 0
    for one in sorted(members, key=lambda member: member.header_offset):
        file.seek(one.header_offset)
        head = file.read(_LOCAL_HEADER)
        name, extra = (int.from_bytes(head[at : at + 2], "little") for at in (26, 28))
        file.seek(one.header_offset + _LOCAL_HEADER + name)
        fields = file.read(extra)
        if one.header_offset != reached or not all(map(_plain_extra, (fields, one.extra))):
            return False
        reached += _LOCAL_HEADER + name + extra + one.compress_size
        if one.flag_bits & _DESCRIPTOR:
            file.seek(reached)
            found = file.read(_LONGEST_DESCRIPTOR)
            signed = found[:4] == b"PK\x07\x08"
            wide = found[16 if signed else 12 :][:2] != b"PK"
            reached += (4 if signed else 0) + (20 if wide else 12)
    if reached != archive.start_dir:
        return False
    entries = sum(
        _ENTRY + len(member.filename.encode("utf-8")) + len(member.extra) + len(member.comment)
        for member in members
    )
    file.seek(0, 2)
    rest = file.tell() - archive.start_dir - entries - len(archive.comment)
    return rest in (_END, _END + _END_64)


def _plain_extra(fields: bytes) -> bool:
    """Whether extra fields are sizes of large files, times, or the padding of Excel."""
    at = 0
    while at + 4 <= len(fields):
        kind, size = (int.from_bytes(fields[i : i + 2], "little") for i in (at, at + 2))
        content = fields[at + 4 : at + 4 + size]
        padding = kind == _PADDING and not any(content[4:])
        if not (kind in _SIZES_AND_TIMES or padding):
            return False
        at += 4 + size
    return at == len(fields)
