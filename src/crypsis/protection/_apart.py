"""Sensitive attributes released apart: in files of their own, which nothing connects with the rest.

The files have no column in common, and each is in a random order of its own. What an intruder knows
of a person leads to records of the release and not to values of these files; what they lose is the
association between the attributes and the other columns (the idea of anatomy, without its classes).

References
----------
Xiao & Tao (2006), Anatomy: simple and effective privacy preservation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb
from pathlib import Path

from crypsis.dataset import Dataset, as_columns
from crypsis.errors import ParameterError, RoleError, unknown_columns
from crypsis.files import release_stem
from crypsis.options import Columns, Role
from crypsis.protection._loss import InformationLoss
from crypsis.protection._order import in_random_order
from crypsis.protection._statement import Method

APART = "released apart"
"""The method of these attributes."""
Files = tuple[tuple[str, ...], ...]


def apart_columns(data: Dataset, groups: Sequence[Columns] | None) -> Files:
    """The attributes of each file, checked: sensitive ones, each in one file."""
    column_groups = [groups] if isinstance(groups, str) else groups or ()
    files = tuple(tuple(dict.fromkeys(as_columns(group))) for group in column_groups)
    names = [name for file in files for name in file]
    if any(name not in data.names for name in names):
        raise unknown_columns(names, data.names)
    refused = next((name for name in names if name not in data.sensitive), None)
    if refused is not None:
        raise RoleError(
            f"Column {refused!r} has the role {data.roles[refused].value!r}: only sensitive attributes "
            "are released apart from the other columns.",
            columns=(refused,),
            hint="Set {sensitive} for it, or remove it from {apart}.",
        )
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ParameterError(
            f"Column {repeated!r} is named more than once; an attribute is released apart in one file.",
            parameter="apart",
            hint="Remove it from one {apart}.",
        )
    if not all(files):
        raise ParameterError("A file of attributes apart has no column.", parameter="apart")
    return files


def without_apart(data: Dataset, files: Files) -> Dataset:
    """The data whose release has none of these attributes."""
    names = {name for file in files for name in file}
    if not names:
        return data
    roles = {name: Role.EXCLUDED if name in names else role for name, role in data.roles.items()}
    return data.with_roles(roles, data.notes)


def apart_data(data: Dataset, files: Files, seed: int) -> tuple[Dataset, ...]:
    """The attributes of each file, all records, in random orders that are those of nothing else."""
    datasets = []
    for position, names in enumerate(files, start=1):
        rows, _ = in_random_order(data.rows.select(names), (), seed, position)
        notes = {name: note for name, note in data.notes.items() if name in names}
        roles = dict.fromkeys(names, Role.SENSITIVE)
        datasets.append(Dataset(rows, roles, missing=data.missing, notes=notes))
    return tuple(datasets)


def separated(loss: InformationLoss, columns: int, files: Files) -> InformationLoss:
    """The loss with the attributes, and the pairs of columns that are no longer in one file.

    `columns` is how many the release has itself.
    """
    names = tuple(name for file in files for name in file)
    if not names:
        return loss
    kept = sum(comb(size, 2) for size in (columns, *map(len, files)))
    all_pairs = comb(columns + len(names), 2)
    return replace(loss, apart=names, pairs_separated=all_pairs - kept, pairs=all_pairs)


def apart_method(names: tuple[str, ...]) -> Method:
    """What the statement has of a file."""
    how = "in a file of its own, without any other column, in a random order of its own"
    return Method(", ".join(names), APART, how, columns=names)


def apart_path(path: str | Path, number: int) -> Path:
    """The file of attributes that are released apart from the release at a path.

    >>> apart_path("safe.csv.gz", 1).name
    'safe.apart-1.csv.gz'
    """
    file, stem = Path(path), release_stem(path)
    return file.with_name(f"{stem}.apart-{number}{file.name[len(stem) :]}")
