"""The sizes of equivalence classes: counted in memory or by the engine, or sampled."""

from __future__ import annotations

from dataclasses import dataclass

from crypsis.counting.cells import Cells
from crypsis.counting.estimates import SampledClassSizes
from crypsis.dataset import Dataset, as_columns
from crypsis.errors import ParameterError, RoleError, TooLargeError
from crypsis.options import Columns, MissingValues
from crypsis.results import Estimate, Number
from crypsis.tables.class_samples import sample_class_sizes, sketches

MAX_CLASSES = 1_000_000
"""About how many classes a sample has unless the caller states it."""


@dataclass(frozen=True, eq=False)
class ClassSample:
    """The sizes of some or all classes, counted by the engine without fetching the classes."""

    columns: tuple[str, ...]
    sizes: SampledClassSizes
    rows: int
    dropped: int


def quasi_identifiers(dataset: Dataset, columns: Columns | None) -> tuple[str, ...]:
    """The columns asked for, by default the quasi-identifiers."""
    names = dataset.quasi_identifiers if columns is None else as_columns(columns)
    if not names:
        raise RoleError(
            "The data has no quasi-identifiers.", code="no-quasi-identifiers", hint="Set {quasi_identifiers}."
        )
    return names


def cells_if_countable(dataset: Dataset, names: tuple[str, ...], exact: bool | None) -> Cells | None:
    """The cells, unless they are too many or a sample is asked for."""
    by_records = dataset.person is None and dataset.missing is not MissingValues.WILDCARD
    if exact is False:
        if by_records:
            return None
        raise ParameterError(
            "A sample of equivalence classes cannot count persons and wildcards.",
            code="cannot-sample-classes",
            hint="Set {missing=value} or {missing=drop}, and no {person}.",
        )
    try:
        return dataset.cells(names)
    except TooLargeError:
        if by_records:
            return None
        raise


def sample_classes(
    dataset: Dataset, names: tuple[str, ...], *, exact: bool | None, max_classes: int, seed: int
) -> ClassSample:
    """The sizes of about `max_classes` classes drawn by a hash of their values; exact: of all."""
    if max_classes < 1:
        raise ParameterError(
            f"Parameter 'max_classes' must be at least 1; {max_classes} was given.", parameter="max_classes"
        )
    drop = dataset.missing is MissingValues.DROP
    if exact:
        sizes = sample_class_sizes(dataset.rows, names, 1.0, drop_missing=drop, seed=seed)
        rows = int(sizes.sizes @ sizes.classes)
        return ClassSample(names, sizes, rows, dataset.count - rows if drop else 0)
    (sketch,) = sketches(dataset.rows, [names])
    share = min(1.0, max_classes / max(1.0, sketch.distinct))
    sizes = sample_class_sizes(dataset.rows, names, share, drop_missing=drop, seed=seed)
    dropped = sketch.missing if drop else 0
    return ClassSample(names, sizes, sketch.rows - dropped, dropped)


def smallest_class(sample: ClassSample) -> Number:
    """K from a sample: the smallest class in it bounds the smallest there is, and 1 is exact."""
    sizes = sample.sizes
    seen = int(sizes.sizes[0]) if sizes.seen else sample.rows
    if sizes.share == 1 or seen <= 1:
        return seen
    return Estimate(seen, 1, seen, method="the smallest class in the sample; smaller ones may exist")
