"""Which sets of columns reveal the most about a target: a search over subsets that prunes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
from typing import Literal, Unpack, get_args

from crypsis import progress
from crypsis.counting.cells import Cells
from crypsis.dataset import SAMPLE, Data, as_dataset, takes_roles
from crypsis.errors import ParameterError
from crypsis.inference._uniqueness import UniquenessBasis, uniqueness_basis
from crypsis.inference.conditional import check_at_least, checked_columns, conditional
from crypsis.options import Columns, Roles
from crypsis.results import Result

Measure = Literal["best_guess", "worst_guess", "mutual_information", "itpr"]
_ROUNDING = 1e-12
"""What rounding may take from a measure that reaches the threshold."""
_MIN_BOUNDED_COLUMNS = 3
"""With fewer columns to add, all their sets are measured: measuring the bound first does not pay."""


class ColumnSetLeakage(Result):
    """What a set of given columns reveals about the target."""

    columns: tuple[str, ...]
    classes: int
    itpr: float
    discrimination_rate: float
    mutual_information: float
    best_guess: float
    """The average best guess."""
    worst_guess: float
    """The best guess in the worst class."""


class RiskiestSets(Result):
    """The sets of given columns that reveal the most about the target."""

    target: str
    columns: tuple[str, ...]
    max_columns: int
    measure: str
    threshold: float
    """The risk at which a set is not extended any more; by default the highest possible."""
    reaching: tuple[ColumnSetLeakage, ...]
    """The smallest sets that reach the threshold: without any one column they are below it."""
    worst: tuple[ColumnSetLeakage, ...]
    """The sets that were measured, the worst first; of equal ones the smaller first."""
    measured: int
    pruned: int
    """Sets that did not need to be measured."""
    uniqueness: UniquenessBasis


@takes_roles(without=SAMPLE)
def riskiest_sets(
    data: Data,
    target: str,
    columns: Columns | None = None,
    *,
    max_columns: int = 3,
    measure: Measure = "best_guess",
    threshold: float | None = None,
    limit: int = 20,
    unique: bool | None = None,
    prove: bool = False,
    **roles: Unpack[Roles],
) -> RiskiestSets:
    """Which sets of columns reveal the most about a target.

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    target : str
        The column to infer.
    columns : Columns, optional
        The columns that sets are made of; by default the quasi-identifiers.
    max_columns : int
        The largest number of columns in a set.
    measure : {"best_guess", "worst_guess", "mutual_information", "itpr"}
        The risk by which sets are compared.
    threshold : float, optional
        A set that reaches it is not extended; sets that cannot reach it are not measured.
    limit : int
        How many of the worst sets to return.
    unique : bool, optional
        Whether the values of the target are all different, as in `leakage`.
    prove : bool
        Count whether they are.
    **roles
        See `crypsis.read`.

    Returns
    -------
    RiskiestSets
        The minimal sets that reach the threshold, and the worst sets.

    Notes
    -----
    Mutual information and both best guesses never fall when a column is added, which prunes the
    search in both directions. ITPR may fall, but not from 1; so for it the threshold is 1. Missing
    values count as in `leakage`. Cost: one scan, then one pass over the cells for each set.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0] * 4, "x": [0, 1, 1, 0]})
    >>> found = riskiest_sets(people, "x", ["a", "b", "c"])
    >>> [one.columns for one in found.reaching], found.measured, found.pruned
    ([('a', 'b')], 6, 1)
    """
    _check(measure, threshold, max_columns, limit)
    dataset = as_dataset(data, **roles)
    names = checked_columns(target, dataset.quasi_identifiers if columns is None else columns, dataset.names)
    dataset = dataset.as_written(names)
    basis = uniqueness_basis(dataset, target, unique, prove)
    cells = dataset.cells(names if basis.unique else [*names, target])
    search = _Search(cells, names, None if basis.unique else target, measure, max_columns)
    reached = search.highest if threshold is None else threshold
    measured = list(search.run(reached, bounded=threshold is not None and measure != "itpr"))
    order = sorted(measured, key=lambda risk: (-search.value(risk), len(risk.columns)))
    return RiskiestSets(
        target=target,
        columns=tuple(names),
        max_columns=max_columns,
        measure=measure,
        threshold=reached,
        reaching=tuple(risk for risk in order if search.value(risk) >= reached - _ROUNDING),
        worst=tuple(order[:limit]),
        measured=search.measured,
        pruned=_subsets(len(names), max_columns) - len(measured),
        uniqueness=basis,
    )


def _check(measure: str, threshold: float | None, max_columns: int, limit: int) -> None:
    if measure not in get_args(Measure):
        choices = ", ".join(repr(name) for name in get_args(Measure))
        raise ParameterError(
            f"Parameter 'measure' is one of {choices}; {measure!r} is not a valid value.", parameter="measure"
        )
    check_at_least("max_columns", max_columns, 1)
    check_at_least("limit", limit, 1)
    if measure == "itpr" and threshold not in (None, 1):
        raise ParameterError(
            "ITPR may fall when columns are added, so its threshold must be 1.", parameter="threshold"
        )


class _Search:
    """Level by level: sets of one column, of two, and so on."""

    def __init__(
        self, cells: Cells, names: Sequence[str], target: str | None, measure: str, max_columns: int
    ) -> None:
        self.cells, self.names, self.target = cells, tuple(names), target
        self.measure, self.max_columns = measure, min(max_columns, len(names))
        self.measured = 0
        first_conditional = conditional(cells, self.names[:1], target)
        self.highest = first_conditional.entropy if measure == "mutual_information" else 1.0

    def value(self, column_set_leakage: ColumnSetLeakage) -> float:
        return float(getattr(column_set_leakage, self.measure))

    def run(self, threshold: float, *, bounded: bool) -> Iterator[ColumnSetLeakage]:
        """Every set worth measuring; those that reach the threshold are minimal."""
        closed: list[frozenset[int]] = []
        level: list[tuple[int, ...]] = [()]
        with progress.step("sets of columns", _subsets(len(self.names), self.max_columns)) as step:
            for _ in range(self.max_columns):
                following = []
                for wider in self._extensions(level, threshold if bounded else None):
                    if any(small <= set(wider) for small in closed):
                        continue
                    risk = self._measure(wider)
                    step.advance()
                    yield risk
                    if self.value(risk) >= threshold - _ROUNDING:
                        closed.append(frozenset(wider))
                    else:
                        following.append(wider)
                level = following

    def _extensions(
        self, level: Sequence[tuple[int, ...]], threshold: float | None
    ) -> Iterator[tuple[int, ...]]:
        """Each set with each later column added, unless all together are below the threshold."""
        for chosen in level:
            rest = range(chosen[-1] + 1 if chosen else 0, len(self.names))
            pays = threshold is not None and len(rest) >= _MIN_BOUNDED_COLUMNS
            if threshold is None or not pays or self._may_reach((*chosen, *rest), threshold):
                yield from ((*chosen, column) for column in rest)

    def _may_reach(self, chosen: tuple[int, ...], threshold: float) -> bool:
        return self.value(self._measure(chosen)) >= threshold - _ROUNDING

    def _measure(self, chosen: tuple[int, ...]) -> ColumnSetLeakage:
        self.measured += 1
        columns = tuple(self.names[i] for i in chosen)
        result = conditional(self.cells, columns, self.target)
        return ColumnSetLeakage(
            columns=columns,
            classes=len(result.classes),
            itpr=result.itpr,
            discrimination_rate=result.discrimination_rate,
            mutual_information=result.mutual_information,
            best_guess=result.average_guess,
            worst_guess=float(result.best_guesses.max()),
        )


def _subsets(columns: int, max_columns: int) -> int:
    return sum(comb(columns, size) for size in range(1, min(max_columns, columns) + 1))
