"""Columns that would undo a release: looked for in the original, then tried on the release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.columns.dependencies import MOSTLY, Dependency, find_dependencies, gives_back
from crypsis.dataset import Dataset
from crypsis.errors import RoleError
from crypsis.inference import prediction_gain
from crypsis.results import percent_text
from crypsis.tables import Kind
from crypsis.tables.sampling import sample

_MAX_ALIGNED_ROWS = 2_000_000
"""Larger originals are not compared with their release row by row: a sample of them is examined alone."""
_ATTACKED_RECORDS = 1_500
"""The records with a changed value of which a model predicts the original: a sample, where there are more."""
_MIN_CHANGED_RECORDS = 100
"""Of fewer changed records a model learns too little; their dependencies are sought all the same."""
_SAMPLE_RECORDS = 20_000
"""The records of the original in which dependencies are sought."""
_HINT = "Set {quasi_identifiers} to generalize it too, or {excluded}."
_HINT_REMOVED = "Set {excluded} for it too, or write the reason: {note=override}."
_MIN_KEY_SHARE = 0.9
"""A column with so many different values a record is a key, and no amount that others give back."""
_MIN_AMOUNT_VALUES = 10
"""A column with fewer different values has codes, and no amounts."""


def check_derived(
    original: Dataset,
    release: Dataset,
    changed: Sequence[str],
    row_map: Sequence[int] | None,
    *,
    removed: Sequence[str] = (),
    released_apart: Sequence[str] = (),
    seed: int = 0,
) -> None:
    """Raise if a column that is released as it is gives back one that was changed or not released.

    Quasi-identifiers are not such columns: the classes include them, so k records share them. Of
    columns that are not released, numbers and dates are looked for, but not keys, which every
    record has another of; sensitive attributes that are `released_apart` are looked for in any case.
    Only insensitive columns without an `override` are held against them.
    """
    _check_removed(original, release, removed, released_apart, seed)
    names = [n for n in release.names if release.rows.column(n).kind is not Kind.NESTED]
    changed = [n for n in changed if n in names and n in original.names]
    quasi_identifiers = [n for n in release.quasi_identifiers if n in names]
    kept = [n for n in names if n not in quasi_identifiers and n not in changed and n in original.names]
    if not kept or not changed:
        return
    before, after = _aligned(
        original, release, [*kept, *dict.fromkeys([*changed, *quasi_identifiers])], row_map
    )
    if not before.num_rows or (after is not None and not after.num_rows):
        return
    released = {n: None if after is None else after[n] for n in changed}
    further = [n for n in quasi_identifiers if n in before.column_names]
    dependencies = find_dependencies(before, released, kept, further, seed=seed)
    if dependencies:
        raise _refusal(dependencies)
    if after is not None and len(kept) > 1:
        _attack(before, after, changed, quasi_identifiers, kept, seed)


def _check_removed(
    original: Dataset, release: Dataset, removed: Sequence[str], released_apart: Sequence[str], seed: int
) -> None:
    """Raise if an insensitive column gives back one that is not released."""
    overridden = {name for name, note in original.notes.items() if note.override}
    kept = [
        name
        for name in release.insensitive
        if name in original.names
        and name not in overridden
        and original.rows.column(name).kind is not Kind.NESTED
    ]
    hidden = [
        name
        for name in removed
        if name in original.names and original.rows.column(name).kind.ordered and name not in released_apart
    ]
    hidden += [name for name in released_apart if original.rows.column(name).kind is not Kind.NESTED]
    if not kept or not hidden or not original.count:
        return
    table = sample(original.rows, _SAMPLE_RECORDS, seed=seed, names=[*kept, *hidden])
    hidden = [name for name in hidden if name in released_apart or not _is_no_amount(table[name])]
    if not hidden:
        return
    dependencies = find_dependencies(table, dict.fromkeys(hidden), kept, seed=seed)
    if dependencies:
        hidden_apart = all(
            name in released_apart for dependency in dependencies for name in dependency.determines
        )
        raise _refusal(dependencies, "released apart" if hidden_apart else "not released")


def _is_no_amount(column: pa.ChunkedArray) -> bool:
    """Whether it is a key: nearly every record has another value, and no measured number.

    A few codes are not amounts either.
    """
    distinct = int(pc.count_distinct(column).as_py())
    key = distinct >= _MIN_KEY_SHARE * len(column) and not pa.types.is_floating(column.type)
    return key or distinct < _MIN_AMOUNT_VALUES


def _aligned(
    original: Dataset, release: Dataset, names: Sequence[str], row_map: Sequence[int] | None
) -> tuple[pa.Table, pa.Table | None]:
    """The original and the released values, row by row; of large tables a sample of the first."""
    wanted = [n for n in names if n in original.names]
    lost = row_map is not None and len(row_map) == 0
    if not original.rows.local or original.count > _MAX_ALIGNED_ROWS or lost:
        return sample(original.rows, _SAMPLE_RECORDS, names=wanted), None
    before = original.to_arrow(wanted)
    if row_map is not None:
        before = before.take(pa.array(np.asarray(row_map, np.int64)))
    return before, release.to_arrow(list(names))


def _refusal(dependencies: Sequence[Dependency], state: str = "generalized") -> RoleError:
    worst = max(dependencies, key=lambda dependency: dependency.recovered)
    columns = tuple(dict.fromkeys(name for dependency in dependencies for name in dependency.columns))
    targets = tuple(dict.fromkeys(name for dependency in dependencies for name in dependency.determines))
    kinds = {"relation": "are related by a formula", "text": "contain each other"}
    which = ", ".join(map(repr, worst.columns))
    of = ", ".join(map(repr, worst.determines))
    if worst.kind in kinds:
        were = "was" if len(worst.determines) == 1 else "were"
        text = f"{which} and {of}, which {were} {state}, {kinds[worst.kind]}"
    elif worst.kind == "certain":
        text = (
            f"{which} makes the value of {of}, which was {state}, almost certain for "
            f"{percent_text(worst.recovered)} of the records in which it was"
        )
    else:
        text = (
            f"{which} gives back {of}, which was {state}, for {percent_text(worst.recovered)} "
            f"of the records; without it {percent_text(worst.without)} could be guessed"
        )
    more = [name for name in columns if name not in worst.columns]
    suffix = f" The same is true of {', '.join(map(repr, more))}." if more else ""
    return RoleError(
        f"Released as it is, {text}.{suffix}",
        code="derived-column",
        columns=columns,
        determines=targets,
        hint=_HINT if state == "generalized" else _HINT_REMOVED,
    )


def _attack(
    before: pa.Table,
    after: pa.Table,
    changed: Sequence[str],
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    seed: int,
) -> None:
    """Predict the originals of held-out changed records, with and without the other columns."""
    tables = (before, after)
    for name in changed:
        texts = [pc.cast(side[name], pa.string()) for side in tables]
        same = pc.fill_null(pc.equal(*texts), False)
        rows = np.flatnonzero(~np.asarray(same.combine_chunks()).astype(bool))
        if rows.size < _MIN_CHANGED_RECORDS:  # too few to learn from; the dependencies were looked for
            continue
        rows = np.random.default_rng(seed).permutation(rows)[:_ATTACKED_RECORDS]
        before, after = (side.take(pa.array(rows)) for side in tables)
        released_columns = {f"released {n}": after[n] for n in dict.fromkeys([*quasi_identifiers, *changed])}
        table = pa.table({**released_columns, **{n: after[n] for n in kept}, "original": before[name]})
        recovered = _accuracy(table, [*released_columns, *kept], seed)
        if recovered < MOSTLY:
            continue
        baseline = _accuracy(table, [*released_columns], seed)
        if gives_back(recovered, baseline):
            raise RoleError(
                f"The original values of {name!r}, which was generalized, are recovered by a model "
                f"from the other released columns for {percent_text(recovered)} of the records; "
                f"from the equivalence classes for {percent_text(baseline)}.",
                code="derived-column",
                columns=tuple(kept),
                determines=(name,),
                hint=_HINT,
            )


def _accuracy(table: pa.Table, columns: Sequence[str], seed: int) -> float:
    (gain,) = prediction_gain(
        table, "original", columns, tolerance=0.01, size=_ATTACKED_RECORDS, seed=seed, sensitive="original"
    )
    return float(gain.accuracy)
