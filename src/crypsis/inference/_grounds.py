"""How far the values of a sensitive column are apart: equally, in their order, or by a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.errors import ParameterError
from crypsis.inference._closeness import (
    equal_distances,
    hierarchical_distances,
    ordered_distances,
)
from crypsis.inference._conditional import Joint
from crypsis.release import Release

Hierarchy: TypeAlias = Mapping[Any, tuple[Any, ...]]


class Ground(Enum):
    """How far two values of a sensitive column are apart."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


def ground_of(
    release: Release,
    name: str,
    grounds: Mapping[str, str] | None,
    hierarchies: Mapping[str, Any] | None,
) -> tuple[Ground, Hierarchy | None]:
    """The ground distance of a column: the one asked for, or what its type suggests."""
    asked = (grounds or {}).get(name)
    tree = (hierarchies or {}).get(name)
    if tree is not None:
        if asked is not None:
            raise ParameterError(f"Give {name!r} a ground distance or a hierarchy, not both.")
        return Ground.HIERARCHICAL, hierarchy(name, tree)
    ordered = release.rows.column(name).kind.ordered
    if asked is None:
        return (Ground.ORDERED if ordered else Ground.EQUAL), None
    if asked not in (Ground.EQUAL.value, Ground.ORDERED.value):
        raise ParameterError(
            f"The ground distance of {name!r} is 'equal' or 'ordered' (or a hierarchy); "
            f"{asked!r} was given."
        )
    return Ground(asked), None


def distances(table: Joint, ground: Ground, tree: Hierarchy | None) -> NDArray[np.float64]:
    """The distance of each group from all rows."""
    if tree is not None:
        return hierarchical_distances(table, _paths(table.values, tree))
    return ordered_distances(table) if ground is Ground.ORDERED else equal_distances(table)


def hierarchy(name: str, tree: Mapping[Any, Sequence[Any]] | Iterable[Sequence[Any]]) -> Hierarchy:
    """A tree as a mapping from each value to its ancestors, which must all be equally many."""
    if isinstance(tree, Mapping):
        found = {value: tuple(path) for value, path in tree.items()}
    else:
        found = {row[0]: tuple(row[1:]) for row in tree}
    heights = {len(path) for path in found.values()}
    if len(heights) != 1 or heights == {0}:
        raise ParameterError(
            f"The hierarchy of {name!r} needs for each value its ancestors, all equally many: the "
            "parent first, the root last."
        )
    if len({path[-1] for path in found.values()}) > 1:
        raise ParameterError(f"The hierarchy of {name!r} must end in one root for all values.")
    return found


def _paths(values: pa.Array, tree: Hierarchy) -> list[tuple[Any, ...]]:
    """The ancestors of each value; a missing one that the tree does not know is its own branch."""
    some = next(iter(tree.values()))
    alone = (*((None,) * (len(some) - 1)), some[-1])
    paths, unknown = [], 0
    for value in values.to_pylist():
        path = tree.get(value, tree.get(str(value)) if value is not None else alone)
        unknown += path is None
        paths.append(path or alone)
    if unknown:
        raise ParameterError(
            f"{unknown:,} of {len(values):,} values are not in the hierarchy; add them to it."
        )
    return paths
