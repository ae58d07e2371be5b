"""The role keywords of every function that takes data, as a signature and as roles."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from difflib import get_close_matches
from enum import Enum
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar, get_type_hints

from crypsis.errors import ParameterError, RoleError
from crypsis.options import Columns, MissingValues, Role, Roles

Data: TypeAlias = Any
"""A `Dataset`, a frame of any supported library, or the path of a file."""
ROLE_KEYWORDS = {
    "identifiers": Role.IDENTIFIER,
    "quasi_identifiers": Role.QUASI_IDENTIFIER,
    "sensitive": Role.SENSITIVE,
    "insensitive": Role.INSENSITIVE,
    "excluded": Role.EXCLUDED,
}
"""The keywords with columns, and the role that each gives."""
UNIT_KEYWORDS = ("person", "household")
"""The keywords with the column that says whose record it is."""
SAMPLE_KEYWORDS = (*UNIT_KEYWORDS, "weight", "stratum", "cluster")
"""The keywords with one column: whose row it is, and how it was sampled."""
DESIGN = ("stratum", "cluster")
"""How a sample was drawn, besides its weights."""
SAMPLE = ("weight", *DESIGN)
"""How a sample was drawn, and whom its records represent."""
"""The keywords that describe how the records were sampled."""
_WITHOUT = {
    "weight": "it describes the records that are released, not the people they represent.",
    "stratum": "strata enter through the weights, and its model knows no more of the design.",
    "cluster": "clusters change the error of an estimate, which its model does not know.",
}
_ROLE_TYPES = {name: kind | None for name, kind in get_type_hints(Roles).items()}
_Parameters = ParamSpec("_Parameters")
_Returned = TypeVar("_Returned")
_Option = TypeVar("_Option", bound=Enum)


def takes_roles(
    *, without: tuple[str, ...] = ()
) -> Callable[[Callable[_Parameters, _Returned]], Callable[_Parameters, _Returned]]:
    """Show the role keywords in a function's signature, and name it in the error for any other.

    The function declares `**roles: Unpack[Roles]`; `help` and completion then list each role.
    `without` are parts of the sampling design that the function does not use: a dataset may have
    them, but who gives them to this function expects an effect, and gets a sentence.
    """

    def taking(function: Callable[_Parameters, _Returned]) -> Callable[_Parameters, _Returned]:
        signature = inspect.signature(function)
        plain = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        roles = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in _ROLE_TYPES.items()
            if name not in signature.parameters and name not in without
        ]
        known_names = {parameter.name for parameter in (*plain, *roles)}

        @wraps(function)
        def called(*args: _Parameters.args, **keywords: _Parameters.kwargs) -> _Returned:
            for name in keywords:
                if name not in known_names and not (name in without and keywords[name] is None):
                    raise _unexpected(function.__name__, name, known_names, without)
            return function(*args, **keywords)

        called.__signature__ = signature.replace(parameters=[*plain, *roles])  # type: ignore[attr-defined]
        return called

    return taking


def takes_options(
    model: type,
) -> Callable[[Callable[_Parameters, _Returned]], Callable[_Parameters, _Returned]]:
    """Refuse keywords that neither the function nor the model of its `**options` has, by name."""

    def taking(function: Callable[_Parameters, _Returned]) -> Callable[_Parameters, _Returned]:
        known_names = {*inspect.signature(function).parameters, *get_type_hints(model)} - {"options"}

        @wraps(function)
        def called(*args: _Parameters.args, **keywords: _Parameters.kwargs) -> _Returned:
            for name in keywords:
                if name not in known_names:
                    raise _unexpected(function.__name__, name, known_names, ())
            return function(*args, **keywords)

        return called

    return taking


def _unexpected(
    function: str, name: str, known_names: Collection[str], without: Collection[str]
) -> Exception:
    if name in without:
        return RoleError(
            f"{function}() does not use {name!r}: {_WITHOUT[name]}",
            code="role-not-used",
            hint=f"Leave {{{name}}} out.",
        )
    nearest = get_close_matches(name, known_names, n=1)
    meant = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return TypeError(f"{function}() got an unexpected keyword argument {name!r}.{meant}")


def as_missing_values(missing: MissingValues | str) -> MissingValues:
    """The treatment of missing values of that name."""
    return _member(MissingValues, missing, "missing")


def as_role(role: Role | str) -> Role:
    """The role of that name."""
    return _member(Role, role, "role")


def _member(kind: type[_Option], value: Any, parameter: str) -> _Option:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(repr(option.value) for option in kind)
        raise ParameterError(
            f"Parameter {parameter!r} must be one of {names}; {value!r} was given.", parameter=parameter
        ) from None


def decided(
    identifiers: Columns = (),
    quasi_identifiers: Columns = (),
    sensitive: Columns = (),
    insensitive: Columns = (),
    excluded: Columns = (),
) -> dict[str, Role]:
    """Lists of columns as roles; a column has one role only."""
    roles: dict[str, Role] = {}
    lists = (identifiers, quasi_identifiers, sensitive, insensitive, excluded)
    for role, columns in zip(ROLE_KEYWORDS.values(), lists, strict=True):
        for name in as_columns(columns):
            if name in roles:
                raise RoleError(
                    f"Column {name!r} has two roles, {roles[name].value} and {role.value}.",
                    code="two-roles",
                    columns=(name,),
                    hint="Give each column one role.",
                )
            roles[name] = role
    return roles


def as_columns(columns: Columns) -> tuple[str, ...]:
    """Columns as a tuple; a single string is that one column. Labels that are no texts, as pandas
    has them, are the texts of these labels.
    """
    if isinstance(columns, str | int):
        return (str(columns),)
    return tuple(map(str, columns))
