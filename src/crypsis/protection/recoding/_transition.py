"""The transition model of generalization: which released labels a value can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.array_types import Floats, Ints
from crypsis.hierarchies.labels import as_text
from crypsis.protection.recoding._choice import ColumnPlan
from crypsis.protection.recoding._steps import Suppress


@dataclass(frozen=True, eq=False)
class GeneralizationModel:
    """The labels of a value on every level that a plan allows; a missing label fits every value.

    >>> from crypsis.protection.recoding._steps import Prefix
    >>> step = Prefix(length=3, width=5)
    >>> model = GeneralizationModel(ColumnPlan(name="zip", values_after=9, step=step))
    >>> model.likelihood({"zip": ["02138", "99999"]}, {"zip": ["021**", "021**"]}).tolist()
    [0.0, -inf]
    """

    plan: ColumnPlan

    @property
    def columns(self) -> tuple[str, ...]:
        """The generalized column."""
        return (self.plan.name,)

    @property
    def given(self) -> tuple[str, ...]:
        """The column of the original."""
        return (self.plan.name,)

    def likelihood(self, original: Mapping[str, Any], masked: Mapping[str, Any]) -> Floats:
        """0 where the masked label covers the original value, else minus infinity.

        Which of its labels a value gets depends on the other records, not on the value, so the model
        has no probabilities between them.
        """
        values, value = _numbered(original[self.plan.name])
        labels, label = _numbered(masked[self.plan.name])
        position = {as_text(text): i for i, text in enumerate(labels)}
        steps = [step for step in (self.plan.step, *self.plan.coarser) if not isinstance(step, Suppress)]
        possible = {
            i * len(labels) + position[text]
            for i, raw in enumerate(values)
            for text in (as_text(step.label(raw)) for step in steps)
            if text in position
        }
        fits = np.isin(value * len(labels) + label, np.fromiter(possible, np.int64, len(possible)))
        fits &= value >= 0
        return np.asarray(np.where(fits | (label < 0), 0.0, -np.inf))


def _numbered(values: Any) -> tuple[list[Any], Ints]:
    """The distinct values, and the number of each; -1 is missing."""
    array = np.asarray(values)
    coded = pa.array(array.ravel(), from_pandas=True).dictionary_encode()
    numbers = np.asarray(coded.indices.fill_null(-1), np.int64)
    return coded.dictionary.to_pylist(), numbers.reshape(array.shape)
