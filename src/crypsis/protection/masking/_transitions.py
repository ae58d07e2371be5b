"""The transitions of a release: one model for each mask, fitted to the original."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.dataset import Data, Dataset, as_dataset
from crypsis.errors import ParameterError, unknown_columns
from crypsis.options import Columns
from crypsis.protection.masking import _masks as m
from crypsis.protection.masking import _perturbation as perturb
from crypsis.protection.masking import _transition_models as models
from crypsis.protection.masking._fit import fitted, frequencies, numbers
from crypsis.protection.masking._mask import as_compared, changed_columns, columns_used
from crypsis.protection.masking._transition import transition_matrix


def transitions(original: Data, masks: Mapping[Columns, str | m.Mask]) -> tuple[models.Transition, ...]:
    """How likely each masked value is, given the original one: what an intruder knows of the masks.

    Parameters
    ----------
    original : Dataset, frame or path
        The data before the masks: standard deviations, frequencies, ranks and groups are its own.
    masks : mapping of str or sequence of str to str or Mask
        The mask of each column or set of columns, as for `crypsis.protection.mask`.

    Returns
    -------
    tuple of Transition
        Each with `columns`, `given` and `likelihood(original, masked)`, which gives the
        log-likelihoods of pairs of records. Those of several transitions add up. Pseudonymized
        columns have none: without the key a pseudonym says nothing about a single value (see
        `crypsis.pseudonyms.frequency_attack` for what all of them say).

    Raises
    ------
    ParameterError
        If a column is masked twice.

    Notes
    -----
    Noise is normal, and for integers the normal probability of what is rounded to the masked number.
    PRAM has its matrix. Rank swapping has the probabilities of its swaps, with the number of free
    ranks at its mean (from a reach of 5 ranks on within 0.03 in total variation, but for the last
    ranks). Rounding, coding, suppression and microaggregation have no chance: an original value
    became what it became.

    References
    ----------
    domingo2016, section 2 (the maximum-knowledge intruder); Domingo-Ferrer, Muralidhar and
    Bras-Amoros (2020), General confidentiality and utility metrics.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> people = pa.table({"job": ["a", "a", "a", "b"], "age": [30.0, 31.0, 32.0, 33.0]})
    >>> job, age = transitions(people, {"job": "pram:0.8", "age": "round:2"})
    >>> np.exp(job.likelihood({"job": ["a", "a"]}, {"job": ["a", "b"]})).round(3).tolist()
    [0.95, 0.05]
    >>> age.likelihood({"age": np.array([[30.0], [31.0]])}, {"age": np.array([30.0, 32.0])}).tolist()
    [[0.0, -inf], [-inf, 0.0]]
    """
    data = as_dataset(original)
    by_columns = {names: as_compared(as_mask, data.missing) for names, as_mask in m.as_masks(masks).items()}
    used = [name for names, mask in by_columns.items() for name in columns_used(names, mask)]
    if any(name not in data.names for name in used if name):
        raise unknown_columns([name for name in used if name], data.names)
    changed = Counter(n for names, by_column in by_columns.items() for n in changed_columns(names, by_column))
    twice = [name for name, count in changed.items() if count > 1]
    if twice:
        raise ParameterError(
            "A column that is masked twice has no transition model of its own.",
            code="masked-twice",
            parameter="masks",
            columns=tuple(twice),
        )
    return tuple(model for names, mask in by_columns.items() for model in _models(data, names, mask))


def _models(data: Dataset, names: tuple[str, ...], mask: m.Mask) -> Iterator[models.Transition]:
    """The models of one mask: one for each column, or one for all that are masked together."""
    if isinstance(mask, m.Pseudonym):
        return
    if isinstance(mask, m.ShiftDates):
        yield from (models.DateShiftModel(name, mask.days) for name in names)
        return
    if isinstance(mask, m.Mdav | m.LocalSuppression):
        yield _assigned(data, names, mask)
    elif isinstance(mask, m.Shuffle):
        yield _shuffled(data, names, mask.given)
    elif isinstance(mask, m.Noise):
        yield from _noisy(data, names, mask)
    elif isinstance(mask, m.Pram | m.PramMatrix):
        yield from (_pram(data, name, mask) for name in names)
    elif isinstance(mask, m.RankSwap):
        for name in names:
            column = numbers(_table(data, [name]), [name])[:, 0]
            ordered = np.sort(column[~np.isnan(column)])
            reach = int(ordered.size * mask.percent / 100)
            yield models.RankSwapModel(name, ordered, reach)
    else:
        yield from (_assigned(data, (name,), mask) for name in names)


def _noisy(data: Dataset, names: tuple[str, ...], mask: m.Noise) -> Iterator[models.Transition]:
    table = _table(data, names)
    integer = [pa.types.is_integer(table.schema.field(name).type) for name in names]
    parts = perturb.blocks([numbers(table, names)])
    spread = mask.scale * perturb.spread(parts, correlated=mask.correlated)
    if spread.ndim == 2:
        yield models.CorrelatedNoiseModel(names, spread @ spread.T, tuple(integer))
        return
    for name, each, whole in zip(names, spread, integer, strict=True):
        yield models.NoiseModel(name, float(each), whole)


def _pram(data: Dataset, name: str, mask: m.Pram | m.PramMatrix) -> models.Transition:
    table = _table(data, [name])
    values, counts = frequencies(lambda _: iter([table]), name)
    if isinstance(mask, m.Pram):
        return models.RedrawnModel(name, values, counts / max(1, int(counts.sum())), mask.stay)
    texts = pc.cast(values, pa.string()).to_pylist()
    return models.MatrixModel(name, values, transition_matrix(mask, name, texts, counts))


def _shuffled(data: Dataset, names: tuple[str, ...], unchanged: tuple[str, ...]) -> models.Transition:
    table = numbers(_table(data, [*names, *unchanged]), [*names, *unchanged])
    table = table[~np.isnan(table).any(axis=1)]
    shuffled = {name: table[:, c] for c, name in enumerate(names)}
    fixed = {name: table[:, len(names) + c] for c, name in enumerate(unchanged)}
    return models.ShuffleModel(names, unchanged, shuffled, fixed)


def _assigned(data: Dataset, names: tuple[str, ...], mask: m.Mask) -> models.Transition:
    table = _table(data, columns_used(names, mask))
    stream = np.random.SeedSequence(0)  # these masks draw nothing
    apply = fitted(mask, names, lambda selected: iter([table.select(list(selected))]), stream, {})()
    changed = list(changed_columns(names, mask))
    return models.AssignedModel.of(table.select(changed), apply(table).select(changed))


def _table(data: Dataset, names: Sequence[str]) -> pa.Table:
    return data.rows.select(list(names)).to_arrow()
