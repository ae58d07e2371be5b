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

_SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not a key of it",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "model_type": "must be a table",
    "dict_type": "must be a table",
}
"""What a person who wrote the file calls the mistakes that pydantic names."""

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
        raise SourceError(
            f"{path.name!r} is not a valid {kind}. {_mistakes(error)}.", code="invalid-document"
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


def _mistakes(error: ValidationError) -> str:
    """Every key with what is wrong with it; a list that has a mistake is not said to be empty."""
    mistakes = error.errors(include_input=False, include_url=False)
    inside = {mistake["loc"][:length] for mistake in mistakes for length in range(len(mistake["loc"]))}
    return "; ".join(
        f"{_key(mistake['loc'])}: {_SENTENCES.get(mistake['type'], _plain(mistake['msg']))}"
        for mistake in mistakes
        if mistake["loc"] not in inside or not mistake["loc"]
    )


def _key(location: tuple[int | str, ...]) -> str:
    """Where a value is: items of a list have numbers.

    >>> _key(("thresholds", 0, "severity")), _key(())
    ('thresholds no. 1, severity', 'the file')
    """
    words = [f" no. {part + 1}" if isinstance(part, int) else f", {part}" for part in location]
    return "".join(words).removeprefix(", ").strip() or "the file"


def _plain(text: str) -> str:
    return text.removeprefix("Value error, ").replace("Input should be", "must be")
