"""How varied a sensitive column is within each class of equal quasi-identifiers, and how close to
its distribution in all rows: l-diversity, t-closeness and their kin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crypsis.cells import Cells
from crypsis.errors import ParameterError, RoleError, TooLarge, unknown_columns
from crypsis.inference._conditional import Joint, counted_conditional, joint
from crypsis.inference._grounds import Ground, Hierarchy, distances, ground_of
from crypsis.inference._groups import worst
from crypsis.release import Release, as_release
from crypsis.results import Group, Result

Floats = NDArray[np.float64]
Measures: TypeAlias = Literal[
    "distinct_l", "entropy_l", "recursive_l", "t", "alpha", "beta", "delta_disclosure_bits"
]


@dataclass(frozen=True)
class ColumnDiversity(Result):
    """One sensitive column, in the worst class for each measure."""

    column: str
    rows: int
    dropped: int
    values: int
    """How many values it takes."""
    distinct_l: int
    """The fewest values in a class (distinct l-diversity, Machanavajjhala et al. 2007)."""
    entropy_l: float
    """2^(smallest entropy of a class): the largest l of entropy l-diversity."""
    recursive_l: int
    """The largest l for which recursive (c,l)-diversity holds with the c asked for; 0 if none."""
    recursive_c: tuple[float, ...]
    """For l = 1, 2, ... the bound that c must exceed; no c is enough for more values."""
    ground: Ground
    """How far values are apart for t."""
    t: float
    """The largest distance of a class from all rows (t-closeness, Li et al. 2007)."""
    alpha: float
    """The largest share of one value in a class ((alpha,k)-anonymity, Wong et al. 2006)."""
    beta: float
    """The largest relative gain (q-p)/p of a value (basic beta-likeness, Cao and Karras 2012)."""
    beta_enhanced: float
    """The same if no gain exceeds -ln p (enhanced beta-likeness); else infinite: no beta is met."""
    delta_disclosure_bits: float
    """The largest |log2(q/p)|; infinite where a class lacks a value (Brickell, Shmatikov 2008)."""
    delta_present_bits: float
    """The same over the values that a class does hold."""
    worst: Mapping[str, Group]
    """For each measure the class that decides it; of several the largest."""


@dataclass(frozen=True)
class Diversity(Result):
    """k of the classes, and the diversity and closeness of each sensitive column in them."""

    quasi_identifiers: tuple[str, ...]
    rows: int
    dropped: int
    classes: int
    k: int
    """The size of the smallest class."""
    smallest_class: Group
    c: float
    others_known: bool
    columns: tuple[ColumnDiversity, ...]

    def __getitem__(self, column: str) -> ColumnDiversity:
        for one in self.columns:
            if one.column == column:
                return one
        raise unknown_columns([column], [one.column for one in self.columns])

    @property
    def distinct_l(self) -> int:
        """The smallest of all sensitive columns."""
        return min(one.distinct_l for one in self.columns)

    @property
    def entropy_l(self) -> float:
        """The smallest of all sensitive columns."""
        return min(one.entropy_l for one in self.columns)

    @property
    def t(self) -> float:
        """The largest of all sensitive columns."""
        return max(one.t for one in self.columns)

    @property
    def alpha(self) -> float:
        """The largest of all sensitive columns."""
        return max(one.alpha for one in self.columns)


def diversity(
    data: Any,
    *,
    ground: Mapping[str, Literal["equal", "ordered"]] | None = None,
    hierarchies: Mapping[str, Mapping[Any, Sequence[Any]] | Iterable[Sequence[Any]]] | None = None,
    c: float = 3.0,
    others_known: bool = False,
    **roles: Any,
) -> Diversity:
    """k-anonymity, l-diversity, t-closeness and kin of all sensitive columns.

    For t, numbers, dates and times are compared in their order and everything else as equally far
    apart; `ground` says otherwise for single columns, and `hierarchies` gives a tree: for each
    value its ancestors, the parent first and the root last, as a mapping or as rows that begin with
    the value (the lines of a hierarchy file). With `others_known` the attacker knows the other
    sensitive columns too, so that these count as quasi-identifiers.

    Missing values count as the release says: as a value of their own or not at all. A missing
    value of an ordered column is as far as can be from every other. Cost: one scan; then cells
    times the logarithm of the number of values.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["2*", "2*", "4*", "4*"], "ill": ["flu", "HIV", "flu", "flu"]})
    >>> found = diversity(people, quasi_identifiers=["age"], sensitive=["ill"])
    >>> found.k, found.distinct_l, found.t, found["ill"].worst["distinct_l"].values
    (2, 1, 0.25, ('4*',))
    """
    release = as_release(data, **roles)
    known, secret = release.quasi_identifiers, release.sensitive
    if not known or not secret:
        raise RoleError(
            "Diversity needs quasi-identifiers and sensitive columns; name both "
            "(quasi_identifiers=[...], sensitive=[...])."
        )
    if not c > 0:
        raise ParameterError(f"c of (c,l)-diversity is above 0; {c} was given.")
    grounds = {name: ground_of(release, name, ground, hierarchies) for name in secret}
    for name in (*(ground or {}), *(hierarchies or {})):
        if name not in secret:
            raise ParameterError(f"A distance is given for {name!r}, which is not sensitive.")
    together = _together(release)
    cells = {}
    for name in secret:
        others = [other for other in secret if others_known and other != name]
        names = [*known, *others, name]
        cells[name] = release.cells(names) if together is None else together.marginal(names)
    classes = next(iter(cells.values())).marginal(known)
    kept = np.where(classes.class_sizes > 0, classes.class_sizes, np.iinfo(np.int64).max)
    columns = tuple(_column(cells[name], name, *grounds[name], c) for name in secret)
    smallest = classes.group(int(np.argmin(kept)))
    return Diversity(
        quasi_identifiers=known,
        rows=classes.rows,
        dropped=classes.dropped,
        classes=classes.distinct,
        k=smallest.size,
        smallest_class=smallest,
        c=c,
        others_known=others_known,
        columns=columns,
    )


def _together(release: Release) -> Cells | None:
    """The cells of all columns at once, out of one scan, unless those are too many."""
    try:
        return release.cells([*release.quasi_identifiers, *release.sensitive])
    except TooLarge:
        return None


def _column(
    cells: Cells, name: str, ground: Ground, tree: Hierarchy | None, c: float
) -> ColumnDiversity:
    table = joint(cells, name, [column for column in cells.columns if column != name])
    known = counted_conditional(table)
    apart = distances(table, ground, tree)
    bounds, over = _recursive(table, c)
    gains = table.shares / table.prior[table.codes] - 1
    limits = -np.log(table.prior[table.codes])
    beta = max(0.0, float(gains.max()))
    ratios = np.abs(np.log2(table.shares / table.prior[table.codes]))
    present = np.maximum.reduceat(ratios, table.starts)
    values = int((table.totals > 0).sum())
    full = np.where(known.distinct < values, np.inf, present)
    risks: dict[Measures, Floats] = {
        "distinct_l": -known.distinct.astype(np.float64),
        "entropy_l": -known.entropies,
        "recursive_l": over,
        "t": apart,
        "alpha": known.best_guesses,
        "beta": np.maximum.reduceat(gains, table.starts),
        "delta_disclosure_bits": full,
    }
    return ColumnDiversity(
        column=name,
        rows=known.rows,
        dropped=known.dropped,
        values=values,
        distinct_l=int(known.distinct.min()),
        entropy_l=float(2.0 ** known.entropies.min()),
        recursive_l=sum(bound < c for bound in bounds),
        recursive_c=bounds,
        ground=ground,
        t=float(apart.max()),
        alpha=float(known.best_guesses.max()),
        beta=beta,
        beta_enhanced=float("inf") if np.any(gains > limits + 1e-12) else beta,
        delta_disclosure_bits=float(full.max()),
        delta_present_bits=float(present.max()),
        worst={
            measure: table.groups.group(worst(risk, table.sizes)) for measure, risk in risks.items()
        },
    )


def _recursive(table: Joint, c: float) -> tuple[tuple[float, ...], Floats]:
    """For each l the bound on c, and how far each class is over it at the first l that fails.

    A class with counts r1 >= r2 >= ... is recursively (c,l)-diverse if r1 < c (r_l + r_l+1 + ...).
    """
    order = np.lexsort((-table.counts, table.member))
    sorted_counts = table.counts[order]
    rank = np.arange(order.size) - table.starts[table.member]
    upto = np.cumsum(sorted_counts)
    ends = upto[np.append(table.starts[1:], order.size) - 1]
    tail = ends[table.member] - upto + sorted_counts
    ratios = sorted_counts[table.starts][table.member] / tail
    lengths = np.diff(np.append(table.starts, order.size))
    bounds = np.zeros(int(lengths.min()))
    seen = rank < bounds.size
    np.maximum.at(bounds, rank[seen], ratios[seen])
    failing = int((bounds < c).sum())
    over = np.full(table.starts.size, np.inf)
    reaches = lengths > failing
    over[reaches] = ratios[table.starts[reaches] + failing]
    return tuple(map(float, bounds)), over
