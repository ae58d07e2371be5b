"""Leakage of several targets, such as an identifier and a sensitive column, out of one scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crypsis.cells import Cells
from crypsis.errors import ColumnError, TooLarge
from crypsis.inference._conditional import checked_columns
from crypsis.inference._leakage import Leakage, measured
from crypsis.inference._uniqueness import uniqueness
from crypsis.release import Release, as_release
from crypsis.results import Result


@dataclass(frozen=True)
class Leakages(Result):
    """What the same given columns tell about several targets."""

    given: tuple[str, ...]
    targets: tuple[Leakage, ...]

    def __getitem__(self, target: str) -> Leakage:
        for one in self.targets:
            if one.target == target:
                return one
        raise ColumnError(f"{target!r} is not among the targets.")


def leakages(
    data: Any,
    targets: Sequence[str],
    given: str | Sequence[str] | None = None,
    *,
    unique: Sequence[str] = (),
    prove: bool = False,
    seed: int = 0,
    **roles: Any,
) -> Leakages:
    """`leakage` of each target, the rows scanned once for all of them.

    `unique` names the targets that are declared unique. Where all targets together have too many
    combinations with the given columns, each is scanned for by itself.

    >>> import pyarrow as pa
    >>> people = pa.table({"id": [1, 2, 3], "age": [30, 30, 47], "ill": ["flu", "flu", "HIV"]})
    >>> found = leakages(people, ["id", "ill"], ["age"], unique=["id"])
    >>> found["id"].best_guess.average, found["ill"].best_guess.average
    (0.6666666666666666, 1.0)
    """
    release = as_release(data, **roles)
    known = release.quasi_identifiers if given is None else given
    if not targets or len(set(targets)) < len(targets):
        raise ColumnError("Name at least one target, and each only once (targets=[...], --target).")
    stray = [name for name in unique if name not in targets]
    if stray:
        raise ColumnError(f"{stray[0]!r} is declared unique, but it is not a target.")
    for target in targets:
        names = checked_columns(target, known, release.names)
    how = {
        target: uniqueness(release, target, True if target in unique else None, prove)
        for target in targets
    }
    cells = _together(release, names, [target for target in targets if not how[target].unique])
    found = []
    for target in targets:
        own = names if how[target].unique else [*names, target]
        counted = release.cells(own) if cells is None else cells
        found.append(measured(counted, target, names, how[target], seed))
    return Leakages(tuple(names), tuple(found))


def _together(release: Release, names: list[str], counted: list[str]) -> Cells | None:
    try:
        return release.cells([*names, *counted])
    except TooLarge:
        if len(counted) < 2:
            raise
        return None
