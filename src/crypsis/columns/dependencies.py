"""Dependencies between columns: what a column that is kept says of one that was generalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.columns.codes import as_numbers, codes_of, mode_of_others
from crypsis.counting import arrays
from crypsis.results import Result
from crypsis.tables.values import clean_column

GAIN = 0.2
"""How many more records must be recovered than without the column."""
MOSTLY = 0.5
"""How many of them at least, and which part of the errors must be avoided: a column that says a
little of another, as marital status of age, does not give it back.
"""
_MIN_CERTAIN_PURITY = 0.99
"""A value is almost certain where so many of the other records with the same value of a column have it."""
_MIN_CERTAIN_RECORDS = 10
"""Almost certain values are not concluded from fewer records."""
_MIN_CERTAIN_SHARE = 0.1
"""From this share of the changed records on, almost certain values are a dependency by themselves."""
_SAMPLE_RECORDS = 20_000
"""In larger tables dependencies are sought in so many records; then those found, in the whole table."""
_MAX_PAIRED_COLUMNS = 20
"""Pairs are formed of so many columns at most that show nothing alone: 190 pairs of each changed one."""
_MAX_COLLINEAR_EIGENVALUE = 5e-4
"""Three columns are linear in each other if the least eigenvalue of their correlations is below this."""
_MAX_TEXTS = 3_000
"""In so many texts, the first, the values of another column are sought."""


def gives_back(recovered: float, without: float, gain: float = GAIN) -> bool:
    """Whether the originals are recovered, rather than guessed a little better than without."""
    needed = max(gain, MOSTLY * (1 - without))
    return recovered >= MOSTLY and recovered - without >= needed


class Dependency(Result):
    """Columns that are kept and that determine or refine a column that was changed."""

    columns: tuple[str, ...]
    """The columns that are kept."""
    determines: tuple[str, ...]
    """The columns that were changed."""
    kind: str
    """functional, certain, numeric, relation or text."""
    recovered: float
    """The share of the original values that follow from the columns."""
    without: float
    """The share that follows from the released classes of the changed column alone."""


def find_dependencies(
    original: pa.Table,
    changed: Mapping[str, pa.ChunkedArray | None],
    kept: Sequence[str],
    further: Sequence[str] = (),
    *,
    seed: int = 0,
) -> tuple[Dependency, ...]:
    """Find columns that determine or refine a changed column better than its released classes do.

    Parameters
    ----------
    original : pa.Table
        The original values of all the columns.
    changed : mapping of str to array
        The released values of the changed columns, in the order of `original`; None if unknown.
    kept : sequence of str
        The columns that are released as they are and are not part of the equivalence classes.
    further : sequence of str
        Further columns that a numeric relation may include.
    seed : int
        The seed of the sample.

    Returns
    -------
    tuple of Dependency

    Notes
    -----
    Looked for are functions of one column or two (each record is guessed from the other records
    that are alike, with and without the released class), smooth functions of a number (from the two
    neighbors), linear relations of three numbers and of their logarithms, values that determine the
    changed one almost certainly, and texts that contain it. Correlation is not enough: 20 % more of
    the records must be recovered than without the column, and half of them at least, or 10 % of
    them almost certainly. Larger
    tables are searched in a sample of 20,000 records, and what is found is measured on all.

    Examples
    --------
    >>> people = pa.table({"age": [20, 30, 40, 50] * 5, "pension": [47, 37, 27, 17] * 5})
    >>> bands = pa.chunked_array([["<=40", "<=40", "<=40", ">40"] * 5])
    >>> [(one.columns, one.determines, one.kind)
    ...  for one in find_dependencies(people, {"age": bands}, ["pension"])]
    [(('pension',), ('age',), 'functional')]
    """
    rows = original.num_rows
    if not rows or not kept or not changed:
        return ()
    clean = [clean_column(column) for column in original.columns]
    original = pa.table(clean, names=original.column_names)
    changed = {n: None if column is None else clean_column(column) for n, column in changed.items()}
    if rows > _SAMPLE_RECORDS:
        places = np.random.default_rng(seed).choice(rows, _SAMPLE_RECORDS, replace=False)
        part = arrays.places(np.sort(places))
        few = {n: None if column is None else column.take(part) for n, column in changed.items()}
        first = _Search(original.take(part), few, kept, further).run()
        if not first:
            return ()
        again = list(dict.fromkeys(name for dependency in first for name in dependency.columns))
        targets = {n: changed[n] for dependency in first for n in dependency.determines}
        return _Search(original, targets, again, further).run()
    return _Search(original, changed, kept, further).run()


class _Search:
    """One table, coded once."""

    def __init__(
        self,
        table: pa.Table,
        changed: Mapping[str, pa.ChunkedArray | None],
        kept: Sequence[str],
        further: Sequence[str],
    ) -> None:
        self.table, self.changed, self.kept = table, changed, list(kept)
        self.names = list(dict.fromkeys([*changed, *kept, *further]))
        self.codes = {name: codes_of(table[name]) + 1 for name in self.names}
        columns = {name: as_numbers(table[name]) for name in self.names}
        self.numbers = {name: _scaled(values) for name, values in columns.items() if values is not None}

    def run(self) -> tuple[Dependency, ...]:
        dependencies: list[Dependency] = []
        for name, released in self.changed.items():
            rows = self._changed_rows(name, released)
            if rows.any():
                dependencies += self._of(name, released, rows)
        done = {(column, target) for d in dependencies for column in d.columns for target in d.determines}
        dependencies += [
            relation
            for relation in self._relations()
            if not any((c, t) in done for c in relation.columns for t in relation.determines)
        ]
        return tuple(dependencies)

    def _changed_rows(self, name: str, released: pa.ChunkedArray | None) -> NDArray[np.bool_]:
        if released is None:
            return np.ones(self.table.num_rows, bool)
        before, after = (pc.cast(side, pa.string()) for side in (self.table[name], released))
        return ~np.asarray(pc.fill_null(pc.equal(before, after), False).combine_chunks()).astype(bool)

    def _of(self, name: str, released: pa.ChunkedArray | None, rows: NDArray[np.bool_]) -> list[Dependency]:
        """The columns from which one changed column is recovered."""
        target = self.codes[name]
        single = np.zeros(target.size, np.int64)
        classes = single if released is None else codes_of(released) + 1
        purity = mode_of_others(classes, target)
        baseline = max(_best_guess(classes, target, rows), _best_guess(single, target))
        dependencies, alone = [], {}
        for column in self.kept:
            share, certain = self._recovered(self.codes[column], target, classes, rows, purity[1])
            alone[column] = share
            gain = max(GAIN, _chance(target.size))
            kind = "functional" if gives_back(share, baseline, gain) else ""
            if not kind and certain >= _MIN_CERTAIN_SHARE:
                kind, share = "certain", certain
            if not kind:
                recovered, by_chance = self._near(column, name, classes, rows)
                if (
                    recovered - max(by_chance, 0.0) >= max(GAIN, _chance(int(rows.sum())))
                    and recovered >= 0.5
                ):
                    kind, share, without_it = "numeric", recovered, by_chance
                    dependencies.append(Dependency((column,), (name,), kind, share, without_it))
                    continue
            if not kind:
                share = self._contained(column, name)
                kind = "text" if share - baseline >= GAIN else ""
            if kind:
                dependencies.append(Dependency((column,), (name,), kind, share, baseline))
        rest = [column for column in self.kept if not any(column in d.columns for d in dependencies)]
        for pair in combinations(rest[:_MAX_PAIRED_COLUMNS], 2):
            width = int(self.codes[pair[1]].max()) + 1
            joint = np.unique(self.codes[pair[0]] * width + self.codes[pair[1]], return_inverse=True)[
                1
            ].ravel()
            if joint.max() < target.size / 2:
                guess = mode_of_others(joint, target)[0]
                share = _correct(guess, target)
                by_chance = max(baseline, alone[pair[0]], alone[pair[1]])
                if gives_back(share, by_chance, max(GAIN, _chance(target.size))):
                    dependencies.append(Dependency(pair, (name,), "functional", share, baseline))
        return dependencies

    def _recovered(
        self, column: Ints, target: Ints, classes: Ints, rows: NDArray[np.bool_], own_purity: Floats
    ) -> tuple[float, float]:
        """The share recovered from a column, also within the class, and almost certainly."""
        guess, purity = mode_of_others(column, target)
        within = _mode_within(column, target, classes, rows)
        size = np.bincount(column)[column]
        is_usual = np.nan_to_num(own_purity) >= 0.9
        certain = (purity >= _MIN_CERTAIN_PURITY) & (size >= _MIN_CERTAIN_RECORDS) & ~is_usual & rows
        # Most rows of a local recoding are as they were, and their label is their value: what the
        # column adds to the label counts where the value was changed, if not by chance.
        share, inside = _correct(guess, target), _correct(within, target, rows)
        by_chance = inside - _best_guess(classes, target, rows) < _chance(int(rows.sum()))
        return share if by_chance else max(share, inside), float(certain.sum() / rows.sum())

    def _near(self, column: str, name: str, classes: Ints, rows: NDArray[np.bool_]) -> tuple[float, float]:
        """The share of changed numbers that the neighbors in a column give, and that classes give."""
        if column not in self.numbers or name not in self.numbers:
            return 0.0, 0.0
        x, y = self.numbers[column], self.numbers[name]
        both_present = ~(np.isnan(x) | np.isnan(y))
        if both_present.sum() < 20:
            return 0.0, 0.0
        precision = _precision(y[both_present])
        hidden = both_present & rows
        groups = [y[hidden & (classes == label)] for label in np.unique(classes[hidden])]
        guessed = sum(_window(group, precision) for group in groups) / max(1, int(hidden.sum()))
        x, y, hidden = x[both_present], y[both_present], hidden[both_present]
        order = np.lexsort((np.random.default_rng(0).permutation(x.size), x))  # ties at random
        a, b = x[order], y[order]
        span = a[2:] - a[:-2]
        part = np.divide(a[1:-1] - a[:-2], span, out=np.full(span.size, 0.5), where=span > 0)
        guess = b[:-2] + part * (b[2:] - b[:-2])
        right = (np.abs(guess - b[1:-1]) <= precision)[hidden[order][1:-1]]
        return float(right.mean()) if right.size else 0.0, float(guessed)

    def _contained(self, column: str, name: str) -> float:
        """The share of records whose text in one column contains the value of the other."""
        texts = self.table[column]
        if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
            return 0.0
        sampled_texts = texts.slice(0, _MAX_TEXTS).to_pylist()
        values = self.table[name].slice(0, _MAX_TEXTS).to_pylist()
        turned = values[len(values) // 2 :] + values[: len(values) // 2]
        forms = {value: _forms(value) for value in set(values)}
        pairs = [zip(sampled_texts, values, strict=True), zip(sampled_texts, turned, strict=True)]
        within = {
            (text, value): text is not None and any(form in text for form in forms[value])
            for text, value in set(chain(*pairs))
        }
        contained = [within[pair] for pair in zip(sampled_texts, values, strict=True)]
        chance = [within[pair] for pair in zip(sampled_texts, turned, strict=True)]
        return float(np.mean(contained)) if np.mean(contained) - np.mean(chance) >= GAIN else 0.0

    def _relations(self) -> list[Dependency]:
        """Linear relations of three columns of numbers, or of their logarithms."""
        names = [name for name, number in self.numbers.items() if np.isfinite(number).sum() >= 20]
        changed = [name for name in self.changed if name in names]
        if not changed or len(names) < 3:
            return []
        dependencies: dict[tuple[str, ...], Dependency] = {}
        for logarithms in (False, True):
            usable = [n for n in names if not logarithms or np.nanmin(self.numbers[n]) > 0]
            dependencies |= self._collinear(usable, logarithms)
        return list(dependencies.values())

    def _collinear(self, names: list[str], logarithms: bool) -> dict[tuple[str, ...], Dependency]:
        if len(names) < 3:
            return {}
        matrix = np.stack([self.numbers[name] for name in names])
        matrix = np.log(matrix) if logarithms else matrix
        missing = np.isnan(matrix)
        has_missing = [bool(column_missing.any()) for column_missing in missing]
        all_correlations = _correlations(np.where(missing, 0.0, matrix))  # right where no value is missing
        changed, kept = ([name in selection for name in names] for selection in (self.changed, self.kept))
        dependencies = {}
        for places in combinations(range(len(names)), 3):
            if not (any(changed[p] for p in places) and any(kept[p] for p in places)):
                continue
            correlations = all_correlations[np.ix_(places, places)]
            if any(has_missing[p] for p in places):
                complete = ~missing[list(places)].any(axis=0)
                correlations = _correlations(matrix[list(places)][:, complete])
            (_, a, b), (_, _, c), _ = correlations.tolist()
            # the least eigenvalue of three whose sum is 3 is at least 4/9 of their product
            if not 1 + 2 * a * b * c - a * a - b * b - c * c < 9 / 4 * _MAX_COLLINEAR_EIGENVALUE:
                continue
            weights, vectors = np.linalg.eigh(correlations)
            distinct = np.abs(correlations[np.triu_indices(3, 1)]).max() < 0.999
            if weights[0] < _MAX_COLLINEAR_EIGENVALUE and distinct and np.abs(vectors[:, 0]).min() > 0.05:
                targets, columns = (tuple(names[p] for p in places if side[p]) for side in (changed, kept))
                dependencies[tuple(names[p] for p in places)] = Dependency(
                    columns, targets, "relation", float(1 - weights[0]), 0.0
                )
        return dependencies


def _correlations(values: Floats) -> Floats:
    """The correlations of columns; NaN of constant ones, and of fewer than twenty records."""
    correlations = np.full((len(values), len(values)), np.nan)
    varied = np.flatnonzero(values.std(axis=1) > 0) if values.shape[1] >= 20 else np.arange(0)
    if varied.size:
        correlations[np.ix_(varied, varied)] = np.atleast_2d(np.corrcoef(values[varied]))
    return correlations


def _scaled(numbers: Floats) -> Floats:
    """Numbers over the largest of them, so that squares are finite; infinity is not a number."""
    finite = np.where(np.isfinite(numbers), numbers, np.nan)
    largest = np.nanmax(np.abs(finite), initial=0.0)
    return finite / largest if largest > 0 else finite


def _mode_within(column: Ints, target: Ints, classes: Ints, rows: NDArray[np.bool_]) -> Floats:
    """For each changed record the most frequent target that its label covers.

    It is learned from all the other records with the same value in the column. Those with the same
    label would not do: which records share one was chosen by the search, so that in a few of them
    columns that say nothing of each other may agree.
    """
    order = np.argsort(target, kind="stable")
    start = np.searchsorted(target[order], np.arange(int(target.max()) + 2))
    width = int(target.max()) + 1
    pairs = np.unique(classes[rows] * width + target[rows])
    label, value = pairs // width, pairs % width
    sizes = start[value + 1] - start[value]
    first = np.repeat(start[value] - np.append(0, np.cumsum(sizes)[:-1]), sizes)
    record = order[first + np.arange(first.size)]
    labels = np.repeat(label, sizes)
    groups = np.unique(column[record] * (int(classes.max()) + 1) + labels, return_inverse=True)[1]
    mode = mode_of_others(groups.ravel(), target[record])[0]
    in_class = labels == classes[record]
    modes = np.full(target.size, np.nan)
    modes[record[in_class]] = mode[in_class]
    return modes


def _chance(records: int) -> float:
    """How many more of so few records columns that say nothing of each other may recover."""
    return float(2 / np.sqrt(records))


def _correct(guess: Floats, target: Ints, rows: NDArray[np.bool_] | None = None) -> float:
    right = guess == target
    return float(right.mean() if rows is None else right[rows].mean())


def _best_guess(classes: Ints, target: Ints, rows: NDArray[np.bool_] | None = None) -> float:
    """The share of records that have the most frequent value of their class.

    The record itself is included: in a class of two values equally often that would always
    give the wrong one.
    """
    width = int(target.max()) + 1
    keys, counts = np.unique(classes * width + target, return_counts=True)
    most = np.zeros(int(classes.max()) + 1)
    np.maximum.at(most, keys // width, counts)
    share = (most / np.maximum(np.bincount(classes), 1))[classes]
    return float(share.mean() if rows is None else share[rows].mean())


def _precision(values: Floats) -> float:
    """How near a number must be to count as recovered: half a unit, or 0.5 % of the range."""
    steps = np.diff(np.unique(values))
    low, high = np.percentile(values, [1, 99])
    return float(max(0.5 * steps.min(initial=np.inf) if steps.size else 0, 0.005 * (high - low)))


def _window(values: Floats, width: float) -> int:
    """The most numbers within the precision of one number."""
    ordered = np.sort(values)
    return int((np.searchsorted(ordered, ordered + 2 * width, "right") - np.arange(ordered.size)).max())


def _forms(value: object) -> tuple[str, ...]:
    """How a value may be written within a text, where that is long enough to mean it."""
    if value is None:
        return ()
    text = str(value)
    digits = "".join(c for c in text if c.isdigit())
    return tuple({form for form in (text, digits) if len(form) >= 3})
