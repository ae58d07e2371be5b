"""Columns that would undo a release: looked for in the original, then tried on the release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.columns.dependencies import (
    MOSTLY,
    Dependency,
    find_dependencies,
    gives_back,
)
from crypsis.dataset import Dataset
from crypsis.errors import RoleError
from crypsis.inference import prediction_gain
from crypsis.results import percent_text
from crypsis.tables import Kind
from crypsis.tables.sampling import sample

_ROWS = 2_000_000
_ATTACKED, _FEWEST = 1_500, 100
_SAMPLED = 20_000
_HINT = "Set {quasi_identifiers} to generalize it too, or {excluded}."


def check_derived(
    original: Dataset,
    release: Dataset,
    changed: Sequence[str],
    row_map: Sequence[int] | None,
    *,
    seed: int = 0,
) -> None:
    """Raise if a column that is released as it is gives back a column that was changed.

    Quasi-identifiers are not such columns: the classes include them, so k records share them.
    """
    names = [n for n in release.names if release.rows.column(n).kind is not Kind.NESTED]
    changed = [n for n in changed if n in names and n in original.names]
    known = [n for n in release.quasi_identifiers if n in names]
    kept = [n for n in names if n not in known and n not in changed and n in original.names]
    if not kept or not changed:
        return
    before, after = _aligned(
        original, release, [*kept, *dict.fromkeys([*changed, *known])], row_map
    )
    if not before.num_rows or (after is not None and not after.num_rows):
        return
    released = {n: None if after is None else after[n] for n in changed}
    further = [n for n in known if n in before.column_names]
    found = find_dependencies(before, released, kept, further, seed=seed)
    if found:
        raise _refusal(found)
    if after is not None and len(kept) > 1:
        _attack(before, after, changed, known, kept, seed)


def _aligned(
    original: Dataset, release: Dataset, names: Sequence[str], row_map: Sequence[int] | None
) -> tuple[pa.Table, pa.Table | None]:
    """The original and the released values, row by row; of large tables a sample of the first."""
    wanted = [n for n in names if n in original.names]
    lost = row_map is not None and len(row_map) == 0
    if not original.rows.local or original.count > _ROWS or lost:
        return sample(original.rows, _SAMPLED, names=wanted), None
    before = original.to_arrow(wanted)
    if row_map is not None:
        before = before.take(pa.array(np.asarray(row_map, np.int64)))
    return before, release.to_arrow(list(names))


def _refusal(found: Sequence[Dependency]) -> RoleError:
    worst = max(found, key=lambda one: one.recovered)
    columns = tuple(dict.fromkeys(name for one in found for name in one.columns))
    targets = tuple(dict.fromkeys(name for one in found for name in one.determines))
    kinds = {
        "relation": "are related by a formula",
        "text": "contain each other",
    }
    which = ", ".join(map(repr, worst.columns))
    of = ", ".join(map(repr, worst.determines))
    if worst.kind in kinds:
        were = "was" if len(worst.determines) == 1 else "were"
        text = f"{which} and {of}, which {were} generalized, {kinds[worst.kind]}"
    else:
        text = (
            f"{which} gives back {of}, which was generalized, for {percent_text(worst.recovered)} "
            f"of the records; without it {percent_text(worst.without)} could be guessed"
        )
    more = [name for name in columns if name not in worst.columns]
    others = f" The same is true of {', '.join(map(repr, more))}." if more else ""
    return RoleError(
        f"Released as it is, {text}.{others}",
        code="derived-column",
        columns=columns,
        determines=targets,
        hint=_HINT,
    )


def _attack(
    before: pa.Table,
    after: pa.Table,
    changed: Sequence[str],
    known: Sequence[str],
    kept: Sequence[str],
    seed: int,
) -> None:
    """Predict the originals of held-out changed records, with and without the other columns."""
    every = (before, after)
    for name in changed:
        texts = [pc.cast(one[name], pa.string()) for one in every]
        same = pc.fill_null(pc.equal(*texts), False)
        rows = np.flatnonzero(~np.asarray(same.combine_chunks()).astype(bool))
        if rows.size < _FEWEST:  # too few to learn from; the dependencies were looked for
            continue
        rows = np.random.default_rng(seed).permutation(rows)[:_ATTACKED]
        before, after = (one.take(pa.array(rows)) for one in every)
        own = {f"released {n}": after[n] for n in dict.fromkeys([*known, *changed])}
        table = pa.table({**own, **{n: after[n] for n in kept}, "original": before[name]})
        recovered = _accuracy(table, [*own, *kept], seed)
        if recovered < MOSTLY:
            continue
        usual = _accuracy(table, [*own], seed)
        if gives_back(recovered, usual):
            raise RoleError(
                f"The original values of {name!r}, which was generalized, are recovered by a model "
                f"from the other released columns for {percent_text(recovered)} of the records; "
                f"from the equivalence classes for {percent_text(usual)}.",
                code="derived-column",
                columns=tuple(kept),
                determines=(name,),
                hint=_HINT,
            )


def _accuracy(table: pa.Table, columns: Sequence[str], seed: int) -> float:
    (found,) = prediction_gain(
        table, "original", columns, tolerance=0.01, size=_ATTACKED, seed=seed, sensitive="original"
    )
    return float(found.accuracy)
