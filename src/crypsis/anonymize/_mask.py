"""Masking: methods that change values instead of telling them less exactly (domingo2016)."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.anonymize._anonymized import Anonymized, Loss, Method
from crypsis.anonymize._fitted import Make, Parts, fitted
from crypsis.anonymize._key import Key, fresh_seed
from crypsis.anonymize._masks import Masking, Shuffle, SuppressRare
from crypsis.anonymize._staged import fits_in_memory
from crypsis.anonymize._tell import parts_of
from crypsis.anonymize._verify import Measured
from crypsis.engine import Rows, arrow_files
from crypsis.engine.duck import private_folder
from crypsis.errors import ColumnError, PromiseBroken, TooLarge, unknown_columns
from crypsis.files import PrivateFolder
from crypsis.release import Release, as_release, read

Wanted = Mapping[tuple[str, ...], Masking]


def mask(
    data: Any,
    methods: Mapping[str | tuple[str, ...], Masking],
    *,
    seed: int | None = None,
    key: Key | None = None,
    shuffle_rows: bool = False,
    **roles: Any,
) -> Anonymized:
    """Mask columns, each (or several together, as a tuple) by its method, in the order given.

    Missing values stay missing, types and the order of columns stay, and so does that of rows
    unless `shuffle_rows`. Randomness comes from the operating system unless `seed` is given; the
    seed, the keys of pseudonyms and the map from released to original rows are in the result's
    `key` and nowhere else. Give a `key` to use its seed and its pseudonym keys again.

    Tables of up to 70 million values are masked in memory. Larger ones are masked part by part into
    a private file, with the same outcome for the same seed; of those, rank swapping, shuffling and
    microaggregation hold the columns that they mask, and nothing shuffles the rows.

    >>> import pyarrow as pa
    >>> from crypsis.anonymize import Round
    >>> made = mask(pa.table({"x": [1.0, 2.0, None]}), {"x": Round(base=2)})
    >>> made.frame["x"].to_pylist()
    [0.0, 2.0, None]
    """
    release = as_release(data, **roles)
    wanted = {_names(target): method for target, method in methods.items()}
    _check_names(release, wanted)
    if seed is None and key is not None:
        seed = key.seed
    drawn = fresh_seed() if seed is None else seed
    streams = np.random.SeedSequence(drawn).spawn(len(wanted) + 1)
    keys = dict(key.pseudonyms) if key is not None else {}
    order: tuple[int, ...] | None = None
    if release.rows.backend.name == "duckdb" and not fits_in_memory(release.rows):
        if shuffle_rows:
            raise TooLarge(
                "The rows of so large a table are not put in another order; sort them by a column "
                "that says nothing, or leave shuffle_rows out."
            )
        rows = _masked_parts(release.rows, wanted, streams[1:], keys)
    else:
        table = _masked_here(release.to_arrow(), wanted, streams[1:], keys)
        if shuffle_rows:
            shuffled = np.random.default_rng(streams[0]).permutation(table.num_rows)
            table, order = table.take(pa.array(shuffled)), tuple(shuffled.tolist())
        rows = Release.from_frame(table).rows
    _check_rare(rows, wanted)
    made = Release(
        rows, dict(release.roles), release.person, release.weight, release.population,
        release.missing,
    )  # fmt: skip
    told = tuple(
        Method(", ".join(names), m.method, m.describe(), m.model_dump(exclude={"method"}), names)
        for names, m in wanted.items()
    )
    private = Key(drawn, order, keys)
    return Anonymized(made, None, _measured(made), Loss(release.count), private, release, told)


def _names(target: str | Sequence[str]) -> tuple[str, ...]:
    return (target,) if isinstance(target, str) else tuple(target)


def _needed(names: tuple[str, ...], method: Masking) -> tuple[str, ...]:
    return (*names, *method.given) if isinstance(method, Shuffle) else names


def _check_names(release: Release, wanted: Wanted) -> None:
    asked = [name for names, method in wanted.items() for name in _needed(names, method)]
    unknown = [name for name in asked if name not in release.names]
    if unknown:
        raise unknown_columns(unknown, release.names)
    for names, method in wanted.items():
        if len(set(_needed(names, method))) < len(_needed(names, method)):
            raise ColumnError("A mask names a column twice; once is enough.")


def _masked_here(
    table: pa.Table, wanted: Wanted, streams: Sequence[np.random.SeedSequence], keys: dict[str, str]
) -> pa.Table:
    """One mask after the other, all rows as one part."""
    for (names, method), stream in zip(wanted.items(), streams, strict=True):
        now = table

        def parts(some: Sequence[str], now: pa.Table = now) -> Iterator[pa.Table]:
            yield now.select(list(some))

        table = fitted(method, names, parts, stream, keys)()(table)
    return table


def _masked_parts(
    rows: Rows, wanted: Wanted, streams: Sequence[np.random.SeedSequence], keys: dict[str, str]
) -> Rows:
    """Each mask fitted in a pass over what it needs, then all of them done in one pass."""
    makers: list[Make] = []
    touched: set[str] = set()
    for (names, method), stream in zip(wanted.items(), streams, strict=True):
        before = list(makers) if touched.intersection(_needed(names, method)) else []
        makers.append(fitted(method, names, _passes(rows, before), stream, keys))
        touched.update(names)
    return _written_aside(rows.names, _passes(rows, makers)(rows.names))


def _passes(rows: Rows, makers: Sequence[Make]) -> Parts:
    def parts(some: Sequence[str]) -> Iterator[pa.Table]:
        applied = [make() for make in makers]
        for part in parts_of(rows if makers else rows.only(some), "masking rows"):
            for apply in applied:
                part = apply(part)
            yield part.select(list(some))

    return parts


def _written_aside(names: Sequence[str], parts: Iterator[pa.Table]) -> Rows:
    """The rows in a private file, which goes when nobody asks them any more."""
    folder = private_folder("crypsis-spill-")
    path = folder.path / "masked.parquet"
    batches = (batch for part in parts for batch in arrow_files.batches_of(part))
    try:
        arrow_files.write(batches, names, path, "parquet")
    except pa.ArrowNotImplementedError:
        raise ColumnError(
            "A column holds a type that Parquet does not have, so a table of this size cannot be "
            "put aside; leave that column out."
        ) from None
    rows = read(path, format="parquet").rows
    weakref.finalize(rows.backend, PrivateFolder.remove, folder)
    return rows


def _check_rare(rows: Rows, wanted: Wanted) -> None:
    """Suppression promises that no rare value is left: counted on what came out."""
    last = {name: method for names, method in wanted.items() for name in names}
    for name, method in last.items():
        if not isinstance(method, SuppressRare):
            continue
        tally = rows.tally([name], drop_missing=True)
        if tally.distinct and tally.smallest < method.k:
            raise PromiseBroken(
                f"A value of fewer than {method.k} rows came out of suppression, so the release is "
                "not handed over."
            )


def _measured(release: Release) -> Measured:
    if not release.quasi_identifiers or not release.count:
        return Measured(release.count, 0, 0)
    tally = release.rows.tally(release.quasi_identifiers)
    return Measured(tally.rows, tally.smallest, tally.distinct)
