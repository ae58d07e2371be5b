"""Pseudonyms that reveal nothing without the key, and are reversible with it.

Deterministic encryption in the manner of SIV (Rogaway and Shrimpton 2006) on HMAC-SHA-256: a tag of
the value under one key, and the value encrypted by a stream derived from the tag under another.
Equal values have equal pseudonyms, in every release under the same key; without the key a pseudonym
is a random text. Values are padded to multiples of 16 bytes, so that lengths reveal little.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

from crypsis.errors import ParameterError

_TAG_BYTES = 16
"""The bytes of a pseudonym that authenticate its value."""
_BLOCK_BYTES = 16
"""Values are padded to a multiple of so many bytes, so a pseudonym shows their length only roughly."""


def new_key() -> str:
    """A key of 256 random bits, in hexadecimal."""
    return secrets.token_hex(32)


def pseudonym(value: str, key: str) -> str:
    """The pseudonym of a text under a key.

    Parameters
    ----------
    value : str
        The text.
    key : str
        At least 128 bits in hexadecimal, such as those in `Key.pseudonyms`.

    Returns
    -------
    str

    Examples
    --------
    >>> key = "00" * 32
    >>> reverse_pseudonym(pseudonym("Ada", key), key)
    'Ada'
    """
    tag_key, stream_key = _keys(key)
    text = value.encode()
    padded = len(text).to_bytes(4, "big") + text
    padded += bytes(-len(padded) % _BLOCK_BYTES)
    tag = hmac.digest(tag_key, padded, hashlib.sha256)[:_TAG_BYTES]
    return base64.b32encode(tag + _xor_stream(padded, tag, stream_key)).decode().rstrip("=")


def reverse_pseudonym(token: str, key: str) -> str:
    """The text of a pseudonym under a key.

    Parameters
    ----------
    token : str
        The pseudonym.
    key : str
        The key that it was made with, in hexadecimal.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If it is not a pseudonym under this key.

    Examples
    --------
    >>> key = "00" * 32
    >>> reverse_pseudonym(pseudonym("Bo", key), key)
    'Bo'
    """
    tag_key, stream_key = _keys(key)
    try:
        body = base64.b32decode(token + "=" * (-len(token) % 8))
    except ValueError:
        body = b""
    tag, hidden = body[:_TAG_BYTES], body[_TAG_BYTES:]
    padded = _xor_stream(hidden, tag, stream_key)
    if not hidden or not hmac.compare_digest(tag, hmac.digest(tag_key, padded, hashlib.sha256)[:_TAG_BYTES]):
        raise ParameterError("The text is not a pseudonym under this key.", code="not-a-pseudonym")
    return padded[4 : 4 + int.from_bytes(padded[:4], "big")].decode()


def pseudonyms(values: Sequence[str | None], key: str) -> list[str | None]:
    """Pseudonyms of many texts; missing stays missing."""
    return [None if value is None else pseudonym(value, key) for value in values]


def day_shift(value: str, key: str, days: int) -> int:
    """The number of days, from -days to days, that follows from a key and a person.

    >>> -30 <= day_shift("Ada", "00" * 32, 30) <= 30
    True
    """
    digest = hmac.digest(hmac.digest(bytes.fromhex(key), b"shift", "sha256"), value.encode(), "sha256")
    return int.from_bytes(digest, "big") % (2 * days + 1) - days


def _keys(key: str) -> tuple[bytes, bytes]:
    try:
        main = bytes.fromhex(key)
    except ValueError:
        main = b""
    if len(main) < 16:
        raise ParameterError("A pseudonym key must be hexadecimal and have at least 128 bits.")
    return (hmac.digest(main, b"tag", "sha256"), hmac.digest(main, b"stream", "sha256"))


def _xor_stream(text: bytes, tag: bytes, key: bytes) -> bytes:
    blocks = range((len(text) + 31) // 32)
    stream = b"".join(hmac.digest(key, tag + i.to_bytes(4, "big"), "sha256") for i in blocks)
    return bytes(a ^ b for a, b in zip(text, stream, strict=False))
