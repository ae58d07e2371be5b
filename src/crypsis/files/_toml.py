"""TOML documents that people write: read within limits, checked, and every mistake named."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from crypsis.errors import SourceError

_MOST_BYTES = 8_000_000
_MOST_PARTS = 64
_MOST_DEPTH = 64
_TEXT = re.compile(
    r'"""(?:[^\\"]|\\.|"(?!""))*+"""|"(?:[^\\"\n]|\\.)*+"'
    r"|'''(?:[^']|'(?!''))*+'''|'[^'\n]*+'|#[^\n]*+",
    re.DOTALL,
)
"""Strings and comments; possessive, so that nothing is tried twice."""

_Document = TypeVar("_Document")


def parse_toml(text: str) -> dict[str, Any]:
    """The document in a text; one that takes long to read is refused instead.

    The time of Python's reader grows with the square of the parts of a key, and with the depth.

    >>> parse_toml("a.b = 1")
    {'a': {'b': 1}}
    """
    if len(text) > _MOST_BYTES:
        raise tomllib.TOMLDecodeError(f"it has more than {_MOST_BYTES:,} characters")
    bare = _TEXT.sub("x", text)
    if any(piece.count(".") >= _MOST_PARTS for piece in re.split(r"[\n,=\[\]{}]", bare)):
        raise tomllib.TOMLDecodeError(f"a key has more than {_MOST_PARTS} parts")
    depth = 0
    for sign in re.findall(r"[\[\]{}]", bare):
        depth += 1 if sign in "[{" else -1
        if depth > _MOST_DEPTH:
            raise tomllib.TOMLDecodeError(f"it is nested more than {_MOST_DEPTH} levels deep")
    return tomllib.loads(text)


def read_toml(path: Path, kind: str, check: Callable[[Any], _Document]) -> _Document:
    """The document in a TOML file, checked by a pydantic model; `kind` names it in errors."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        return check(parse_toml(data.decode("utf-8-sig").replace("\r\n", "\n")))
    except OSError as error:
        raise SourceError(f"{path.name!r} cannot be read ({error.strerror}).") from None
    except ValidationError as error:
        mistakes = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'the file'}: "
            f"{one['msg'].removeprefix('Value error, ')}"
            for one in error.errors(include_input=False, include_url=False)
        )
        raise SourceError(
            f"{path.name!r} is not a valid {kind}. {mistakes}.", code="invalid-document"
        ) from None
    except RecursionError:
        raise SourceError(
            f"{path.name!r} is nested too deeply to be a valid {kind}.", code="invalid-document"
        ) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SourceError(
            f"{path.name!r}: line {line} is not UTF-8.", code="not-toml", hint="Save it as UTF-8."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise SourceError(f"{path.name!r} is not TOML: {error}.", code="not-toml") from None
