"""Texts in encodings they should not be in, packed files, and files that lie about both."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from tests.promises.hostile.case import GOOD, SECRET, Case, answered, file, refused

_LATIN = "name,town\nJosé,Zürich\nZoë,Málaga\n" * 1
_BROKEN = {
    "a lone continuation byte": b"\x80",
    "an overlong slash": b"\xc0\xaf",
    "a surrogate": b"\xed\xa0\x80",
    "beyond Unicode": b"\xf5\x80\x80\x80",
    "a cut sequence": b"\xe2\x82",
    "bytes of no encoding": b"\xff\xfe\xfd",
    "Latin-1": "é".encode("latin-1"),
    "Windows-1252 quotes": b"\x93hi\x94",
}


def _zip(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _bomb(form: str) -> bytes:
    """A few kilobytes that unpack to 300 MB of one endless line."""
    if form == "gz":
        pack = zlib.compressobj(9, zlib.DEFLATED, 31)
        head = pack.compress(f"a,b\n{SECRET},".encode())
        return head + b"".join(pack.compress(bytes(10**6)) for _ in range(300)) + pack.flush()
    return bz2.compress(b"x" * 10**6)


def _late(byte: bytes) -> bytes:
    """Broken far behind what is looked at first."""
    line = f"{SECRET},flu\n".encode()
    return b"name,disease\n" + line * 30_000 + byte + b",flu\n"


def _to_utf16(folder: Path) -> Sequence[str]:
    path = folder / "data.csv"
    path.write_bytes(GOOD.encode("utf-16"))
    return ["scan", str(path), "--encoding", "utf-16"]


CASES: tuple[Case, ...] = (
    # What is not UTF-8 is read as windows-1252 or latin-1, unless an encoding is named.
    *(answered(f"not UTF-8: {name}", b"a,b\n1,x" + byte + b"\n2,y\n") for name, byte in _BROKEN.items()),
    *(
        refused(
            f"not the UTF-8 that is named: {name}",
            b"a,b\n1,x" + byte + b"\n2,y\n",
            "utf-8",
            "--encoding",
            "utf-8",
        )
        for name, byte in _BROKEN.items()
    ),
    *(answered(f"not UTF-8, far down: {name}", _late(byte)) for name, byte in list(_BROKEN.items())[:3]),
    *(
        answered(f"a header that is not UTF-8: {name}", b"a" + byte + b",b\n1,2\n")
        for name, byte in list(_BROKEN.items())[:2]
    ),
    answered("UTF-8 with its mark", b"\xef\xbb\xbf" + GOOD.encode()),
    answered("UTF-16 that is named", GOOD.encode("utf-16"), "--encoding", "utf-16"),
    answered("UTF-32 that is named", GOOD.encode("utf-32"), "--encoding", "utf-32"),
    answered("UTF-16 that is not named", GOOD.encode("utf-16")),
    answered("UTF-16 without its mark", GOOD.encode("utf-16-le")),
    refused("UTF-16 cut in a character", GOOD.encode("utf-16")[:-1], "utf-16", "--encoding", "utf-16"),
    answered("Latin-1 that is named", _LATIN.encode("latin-1"), "--encoding", "latin-1"),
    answered("Windows-1252 that is named", b"a,b\n\x93x\x94,1\ny,2\n", "--encoding", "cp1252"),
    answered(
        "Shift-JIS that is named", "a,b\n名前,1\n東京,2\n".encode("shift_jis"), "--encoding", "shift_jis"
    ),
    answered("EBCDIC that is named", GOOD.encode("cp500"), "--encoding", "cp500"),
    refused("the wrong encoding named", b"a,b\n\xff\xff\xff,1\n", "encoding", "--encoding", "shift_jis"),
    refused("an encoding that is none", GOOD, "does not exist", "--encoding", "klingon"),
    refused("a codec that is no text encoding", GOOD, "does not exist", "--encoding", "base64"),
    refused("a codec that packs", GOOD, "does not exist", "--encoding", "zlib"),
    refused("the codec of Python escapes", "a,b\n1,\\x\n", "encoding", "--encoding", "unicode_escape"),
    refused("the codec of names on the network", GOOD, "encoding", "--encoding", "idna"),
    refused("an encoding with a NUL", GOOD, "does not exist", "--encoding", "utf\x00-8"),
    answered("gzip", gzip.compress(GOOD.encode()), suffix="csv.gz"),
    answered(
        "two gzip members", gzip.compress(GOOD.encode()) + gzip.compress(b"5,02139,flu\n"), suffix="csv.gz"
    ),
    refused("gzip cut short", gzip.compress(GOOD.encode() * 500)[:-20], "data.csv.gz", suffix="csv.gz"),
    refused(
        "gzip with a wrong checksum",
        gzip.compress(GOOD.encode())[:-8] + bytes(8),
        "data.csv.gz",
        suffix="csv.gz",
    ),
    refused("gzip that is none", GOOD, "data.csv.gz", suffix="csv.gz"),
    refused("gzip inside CSV's name", gzip.compress(GOOD.encode()), "data.csv"),
    refused("gzip bomb", _bomb("gz"), "data.csv.gz", suffix="csv.gz"),
    refused("an empty gzip", gzip.compress(b""), "empty", suffix="csv.gz"),
    refused("zstd that is none", b"\x28\xb5\x2f\xfd" + bytes(20), "data.csv.zst", suffix="csv.zst"),
    answered("xz", lzma.compress(GOOD.encode()), suffix="csv.xz"),
    answered("bzip2", bz2.compress(GOOD.encode()), suffix="csv.bz2"),
    refused("xz cut short", lzma.compress(GOOD.encode() * 500)[:-20], "data.csv.xz", suffix="csv.xz"),
    refused("bzip2 cut short", bz2.compress(GOOD.encode() * 500)[:-20], "data.csv.bz2", suffix="csv.bz2"),
    refused("zip", _zip(**{"data.csv": GOOD.encode()}), "Unpack it", suffix="zip"),
    refused("zip called CSV", _zip(**{"data.csv": GOOD.encode()}), "data.csv"),
    refused("PDF called CSV", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\n", "data.csv"),
    refused("PNG called CSV", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, "data.csv"),
    refused("ELF called CSV", b"\x7fELF\x02\x01\x01" + bytes(500), "data.csv"),
    Case("UTF-16 by a path with a quote", _to_utf16),
    Case("latin-1 in upper case", file("data.csv", _LATIN.encode("latin-1"), "--encoding", "LATIN-1")),
)
