"""Equivalence classes of the quasi-identifiers: k-anonymity and re-identification risk."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np

from crypsis.counting.cells import Cells
from crypsis.counting.estimates import (
    CONFIDENCE,
    SampledClassSizes,
    class_total,
    fraction_of,
    mapped,
    rows_in_small_classes,
)
from crypsis.dataset import DESIGN, Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError
from crypsis.options import Columns, Roles
from crypsis.results import Estimate, Group, Number, Result, number_text, percent_text
from crypsis.singling_out._class_sizes import (
    MAX_CLASSES,
    ClassSample,
    cells_if_countable,
    quasi_identifiers,
    sample_classes,
    smallest_class,
)
from crypsis.singling_out._risk import (
    AttackerRisk,
    ReidentificationRisk,
    cell_risks,
    check_threshold,
    units_alike,
    units_by_size,
)


class EquivalenceClasses(Result):
    """The equivalence classes: the records that are alike in all quasi-identifiers.

    Numbers are exact where every class was counted. Where the classes are too many and only a
    sample of them was counted (`sampled_fraction` below 1), they are estimates with intervals.
    """

    columns: tuple[str, ...]
    unit: str
    """What is counted: records, or persons where the data says whose records they are."""
    units: int
    dropped: int
    """Records not counted because a value is missing and missing values are dropped."""
    k: Number
    """k-anonymity: the size of the smallest class."""
    classes: Number
    average_size: Number
    class_sizes: tuple[int, ...]
    """The sizes of the classes that were counted, in ascending order."""
    class_counts: tuple[int, ...]
    """How many of the counted classes have each of these sizes."""
    unit_counts: tuple[int, ...]
    """How many records are in classes of each of these sizes; a person counts once, by the smallest
    of their classes.
    """
    risk: ReidentificationRisk
    smallest: Group | None
    """One of the smallest classes; None where the classes were not all fetched."""
    sampled_fraction: float = 1.0
    """The fraction of the classes that were counted."""
    confidence: float = CONFIDENCE

    def records_below(self, k: int) -> Number:
        """The number of records (or persons) in equivalence classes smaller than k."""
        sizes, counts = (np.array(x, np.int64) for x in (self.class_sizes, self.class_counts))
        if self.sampled_fraction == 1:
            return int(np.array(self.unit_counts, np.int64)[sizes < k].sum())
        sample = SampledClassSizes(self.sampled_fraction, sizes, counts)
        return rows_in_small_classes(sample, k, confidence=self.confidence)

    def share_below(self, k: int) -> Number:
        """The share of records (or persons) in equivalence classes smaller than k."""
        return fraction_of(self.records_below(k), self.units)

    @property
    def unique_share(self) -> Number:
        """The share of records (or persons) that are alone in their class."""
        return self.share_below(2)

    def with_dropped_alone(self) -> EquivalenceClasses:
        """The same with each dropped record in a class of its own, as a verdict counts them.

        A recipient has these records too, whatever their missing values are compared with.
        """
        if not self.dropped:
            return self
        alone, units = self.dropped, self.units + self.dropped
        sizes = dict(zip(self.class_sizes, self.class_counts, strict=True))
        members = dict(zip(self.class_sizes, self.unit_counts, strict=True))
        for counted in (sizes, members):
            counted[1] = counted.get(1, 0) + max(1, round(alone * self.sampled_fraction))

        def raised(risk: AttackerRisk) -> AttackerRisk:
            parts = (risk.average, risk.share_above)
            average, above = ((float(part) * self.units + alone) / units for part in parts)
            return AttackerRisk(1.0, average, above)

        risk = replace(
            self.risk,
            units=units,
            prosecutor=raised(self.risk.prosecutor),
            journalist=None if self.risk.journalist is None else raised(self.risk.journalist),
            marketer=raised(self.risk.marketer),
        )
        return replace(
            self,
            units=units,
            k=1,
            classes=self.classes + alone,
            average_size=float(units / (self.classes + alone)),
            class_sizes=tuple(sorted(sizes)),
            class_counts=tuple(sizes[size] for size in sorted(sizes)),
            unit_counts=tuple(members[size] for size in sorted(sizes)),
            risk=risk,
        )

    def text_below(self, k: int) -> str:
        """The records in equivalence classes smaller than k, and k-anonymity, in one sentence."""
        below, share = self.records_below(k), percent_text(self.share_below(k))
        part = f"{share} of {self.units:,} {self.unit} are"
        if not isinstance(below, Estimate):
            verb = "is" if below == 1 else "are"
            part = f"{below:,} of {self.units:,} {self.unit} ({share}) {verb}"
        return f"{part} in equivalence classes smaller than {k} (k = {number_text(self.k, ',')})."

    def __str__(self) -> str:
        classes, average = number_text(self.classes, ","), number_text(self.average_size)
        return (
            f"k-anonymity: k = {number_text(self.k, ',')} in {', '.join(self.columns)}\n"
            f"  {self.text_below(5)}\n"
            f"  {classes} equivalence classes of {average} {self.unit} on average.\n"
            f"{self.risk}"
        )


@takes_roles(without=DESIGN)
def equivalence_classes(
    data: Data,
    columns: Columns | None = None,
    *,
    threshold: float = 0.2,
    exact: bool | None = None,
    max_classes: int = MAX_CLASSES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> EquivalenceClasses:
    """Count the equivalence classes of some columns: k-anonymity and re-identification risk.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    threshold : float
        The risk above which a record counts as at risk; 0.2 is an equivalence class of five.
    exact : bool, optional
        True counts all classes, False a sample of them. By default all are counted where their
        cells fit in memory, else a sample.
    max_classes : int
        About how many classes a sample has.
    confidence : float
        The confidence of the intervals of a sample.
    seed : int
        The seed of the sample; it repeats the sample on the same engine only.
    **roles
        See `crypsis.read`.

    Returns
    -------
    EquivalenceClasses
        k, the class sizes and the risk; exact numbers, or estimates where classes were sampled.

    Raises
    ------
    TooLargeError
        If the classes are too many and persons or wildcards do not allow a sample.

    Notes ----- Where the data names the person of a record, persons are counted instead of records, each
    once: the class and the risk of a person are those of their record in the smallest class. Journalist and
    marketer matches are counted in the table of the population where `population` is one, else in the sum of
    the weights, if there are weights; in a sample of the classes they are those of the prosecutor, which are
    not smaller. Missing values count as the data says.

    A sample draws classes by a hash of their values and counts each of them completely, so its
    class sizes are true sizes. Cost: one pass over the rows; for a sample two, and memory for its
    classes.

    References
    ----------
    Sweeney (2002), k-anonymity: a model for protecting privacy. El Emam (2013), Guide to the
    De-Identification of Personal Health Information.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "sex": ["f", "f", "m"]})
    >>> found = equivalence_classes(people, quasi_identifiers=["age", "sex"])
    >>> found.k, found.classes, found.records_below(2), round(found.risk.marketer.average, 3)
    (1, 2, 1, 0.667)
    """
    dataset = as_seen(data, columns, **roles)
    check_threshold(threshold)
    names = quasi_identifiers(dataset, columns)
    cells = cells_if_countable(dataset, names, exact)
    if cells is not None:
        return _from_cells(dataset, cells, threshold, confidence)
    sample = sample_classes(dataset, names, exact=exact, max_classes=max_classes, seed=seed)
    return _from_sample(sample, threshold, confidence)


@takes_roles(without=DESIGN)
def k_anonymity(
    data: Data,
    columns: Columns | None = None,
    *,
    exact: bool | None = None,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> Number:
    """Measure k-anonymity: the size of the smallest equivalence class.

    Parameters
    ----------
    data, columns, exact, seed, **roles
        See `equivalence_classes`.

    Returns
    -------
    int or Estimate
        k; from a sample of the classes in which no record is unique, an estimate from 1 to the
        smallest size in the sample.

    Examples
    --------
    >>> import pyarrow as pa
    >>> k_anonymity(pa.table({"age": [30, 30, 41, 41, 41]}), "age")
    2
    """
    return equivalence_classes(data, columns, exact=exact, seed=seed, **roles).k


@takes_roles(without=DESIGN)
def reidentification_risk(
    data: Data,
    columns: Columns | None = None,
    *,
    threshold: float = 0.2,
    exact: bool | None = None,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> ReidentificationRisk:
    """Measure the prosecutor, journalist and marketer risk of re-identification.

    Parameters
    ----------
    data, columns, threshold, exact, seed, **roles
        See `equivalence_classes`, which returns the same risks together with the classes.

    Returns
    -------
    ReidentificationRisk
        For each attacker the maximum, the average and the share above the threshold.

    Examples
    --------
    >>> import pyarrow as pa
    >>> risk = reidentification_risk(pa.table({"age": [30, 30, 41]}), "age", threshold=0.5)
    >>> risk.prosecutor.maximum, round(risk.prosecutor.share_above, 3), risk.journalist
    (1.0, 0.333, None)
    """
    return equivalence_classes(data, columns, threshold=threshold, exact=exact, seed=seed, **roles).risk


def _from_cells(dataset: Dataset, cells: Cells, threshold: float, confidence: float) -> EquivalenceClasses:
    units, sizes, person = units_alike(dataset, cells)
    counted = sizes > 0
    if not counted.any():
        raise ParameterError(
            "No record can be counted: each has a missing value in these columns.",
            code="no-records",
            columns=cells.columns,
            hint="Set {missing=value}.",
        )
    occurring, counts = np.unique(sizes[counted], return_counts=True)
    smallest = int(np.flatnonzero(counted)[np.argmin(sizes[counted])])
    values = cells.group(smallest).values
    risk = cell_risks(dataset, cells, units, sizes, person, threshold)
    return EquivalenceClasses(
        columns=cells.columns,
        unit=risk.unit,
        units=risk.units,
        dropped=cells.dropped,
        k=int(occurring[0]),
        classes=int(counted.sum()),
        average_size=float(units[counted].sum() / counted.sum()),
        class_sizes=tuple(occurring.tolist()),
        class_counts=tuple(counts.tolist()),
        unit_counts=tuple(units_by_size(occurring, units, sizes, person).tolist()),
        risk=risk,
        smallest=Group(cells.columns, int(sizes[smallest]), values),
        confidence=confidence,
    )


def _from_sample(sample: ClassSample, threshold: float, confidence: float) -> EquivalenceClasses:
    rows, sizes = sample.rows, sample.sizes
    if not rows:
        raise ParameterError("The data has no records.", code="no-records")
    classes = class_total(sizes, confidence=confidence)
    k = smallest_class(sample)
    least = int(1 / threshold)
    least += 1 / least > threshold  # the smallest size with a risk that is not above
    above = fraction_of(rows_in_small_classes(sizes, least, confidence=confidence), rows)
    risk = AttackerRisk(mapped(k, lambda size: 1 / size), fraction_of(classes, rows), above)
    return EquivalenceClasses(
        columns=sample.columns,
        unit="records",
        units=rows,
        dropped=sample.dropped,
        k=k,
        classes=classes,
        average_size=mapped(classes, lambda number: rows / max(number, 1)),
        class_sizes=tuple(sizes.sizes.tolist()),
        class_counts=tuple(sizes.classes.tolist()),
        unit_counts=tuple((sizes.sizes * sizes.classes).tolist()),
        risk=ReidentificationRisk(sample.columns, "records", rows, threshold, risk, None, risk),
        smallest=None,
        sampled_fraction=sizes.share,
        confidence=confidence,
    )
