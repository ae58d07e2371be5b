"""Fields written as TOML, which the standard library only reads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_toml(fields: Mapping[str, Any]) -> str:
    """Texts, numbers, lists and tables as TOML; a list of tables one after the other.

    >>> print(to_toml({"k": 5, "columns": [{"name": "age", "step": {"method": "keep"}}]}))
    k = 5
    <BLANKLINE>
    [[columns]]
    name = "age"
    step = {method = "keep"}
    <BLANKLINE>
    """
    plain = {key: value for key, value in fields.items() if not _is_table(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in fields.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_key(key)}]"]
            lines += [f"{_key(name)} = {_value(item)}" for name, item in value.items()]
        elif _is_table(value):
            for table in value:
                lines += ["", f"[[{_key(key)}]]"]
                lines += [f"{_key(name)} = {_value(item)}" for name, item in table.items()]
    return "\n".join(lines) + "\n"


def _is_table(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, Mapping) for item in value)
    return isinstance(value, Mapping)


def _key(name: str) -> str:
    bare = name.replace("-", "").replace("_", "")
    return name if bare.isascii() and bare.isalnum() else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)  # inf, -inf, nan: TOML has them, JSON does not
    return json.dumps(value)
