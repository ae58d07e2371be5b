"""Results as JSON: the same for the same input, keys in the order of the fields."""

from __future__ import annotations

import json

from crypsis import __version__
from crypsis.results import Result


def to_json(verb: str, result: Result, *, reveal: bool = False) -> str:
    """A result with the verb that made it and the version that knows its fields."""
    content = {"crypsis": __version__, "verb": verb, "result": result.to_dict(reveal=reveal)}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
