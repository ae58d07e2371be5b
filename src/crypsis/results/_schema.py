"""The JSON Schema of a result, from the types and the docstrings of its fields."""

from __future__ import annotations

import ast
import inspect
import itertools
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from textwrap import dedent
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from crypsis.results._estimate import Estimate
from crypsis.results._result import Result

Schema = dict[str, Any]


def result_schema(kind: type[Result], *, reveal: bool = False) -> Schema:
    """The JSON Schema of `kind.to_dict()`; the results inside it are in `$defs`.

    Parameters
    ----------
    kind : type of Result
        The class of the result.
    reveal : bool
        Whether fields that contain data values are included, as in `to_dict(reveal=True)`.

    Returns
    -------
    dict

    Examples
    --------
    >>> from crypsis.results import Group
    >>> result_schema(Group)["$defs"]["Group"]["required"]
    ['columns', 'size']
    """
    definitions = _Definitions(reveal)
    head = definitions.of(kind)
    return {**head, "$defs": dict(sorted(definitions.schemas.items()))}


@cache
def field_descriptions(kind: type) -> dict[str, str]:
    """The strings below the fields of a class, by field, those of its bases included."""
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        try:
            body = ast.parse(dedent(inspect.getsource(base))).body[0]
        except (OSError, TypeError):  # no source, as in a frozen application
            continue
        lines = body.body if isinstance(body, ast.ClassDef) else []
        for line, after in itertools.pairwise(lines):
            if isinstance(line, ast.AnnAssign) and isinstance(after, ast.Expr):
                text = ast.literal_eval(after.value) if _is_text(after.value) else ""
                texts[ast.unparse(line.target)] = " ".join(text.split())
    return {name: text for name, text in texts.items() if text}


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class _Definitions:
    """The schemas of classes, each once, and references to them."""

    def __init__(self, reveal: bool) -> None:
        self.reveal = reveal
        self.schemas: dict[str, Schema] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of a type."""
        if kind is type(None):
            return {"type": "null"}
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        if kind is float:  # an infinity or NaN is null, and an estimate has its interval
            return _any_of([_FINITE, self.of(Estimate)])
        origin, inner = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self.of(inner[0])
        if origin is Literal:
            return {"enum": list(inner)}
        if origin in (Union, types.UnionType):
            return _any_of([self.of(part) for part in inner])
        if isinstance(origin, type) and issubclass(origin, Mapping):
            values = self.of(inner[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if isinstance(origin, type) and issubclass(origin, Sequence | set | frozenset):
            return self._sequence(origin, inner)
        if inspect.isclass(kind):
            return self._class(kind)
        return {}

    def _sequence(self, origin: type, inner: tuple[Any, ...]) -> Schema:
        if origin is tuple and inner[-1] is not ...:
            return {"type": "array", "prefixItems": [self.of(part) for part in inner]}
        return {"type": "array", "items": self.of(inner[0])}

    def _class(self, kind: type) -> Schema:
        if issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        if kind is Estimate:
            return self._named(kind, dict.fromkeys(_ENDS, _FINITE) | {"method": _TEXT, "assumes": _TEXT})
        if is_dataclass(kind):
            return self._named(kind)
        return {"type": "object"} if kind is Result else {}

    def _named(self, kind: type, properties: dict[str, Schema] | None = None) -> Schema:
        name = kind.__name__
        if name not in self.schemas:
            self.schemas[name] = {}  # it may contain itself
            shown = self._fields(kind) if properties is None else properties
            self.schemas[name] = {
                "type": "object",
                "description": inspect.cleandoc(kind.__doc__ or "").split("\n")[0],
                "properties": shown,
                "required": list(shown),
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{name}"}

    def _fields(self, kind: Any) -> dict[str, Schema]:
        """The fields that `to_dict` shows."""
        types_of, texts = get_type_hints(kind, include_extras=True), field_descriptions(kind)
        only = getattr(kind, "shown_fields", None)
        return {
            part.name: {
                **self.of(types_of[part.name]),
                **({"description": texts[part.name]} if part.name in texts else {}),
            }
            for part in fields(kind)
            if not part.name.startswith("_")
            and (self.reveal or not part.metadata.get("raw"))
            and (only is None or part.name in only)
        }


_ENDS = ("value", "low", "high", "confidence")
_TEXT: Schema = {"type": "string"}
_FINITE: Schema = {"type": ["number", "null"]}
_PLAIN: dict[Any, Schema] = {str: _TEXT, int: {"type": "integer"}, bool: {"type": "boolean"}}


def _any_of(schemas: list[Schema]) -> Schema:
    """One of several; nothing is said where one of them is anything."""
    flat: list[Schema] = []
    for schema in schemas:
        flat += schema["anyOf"] if set(schema) == {"anyOf"} else [schema]
    once = [schema_part for i, schema_part in enumerate(flat) if schema_part not in flat[:i]]
    if {} in once:
        return {}
    return once[0] if len(once) == 1 else {"anyOf": once}
