"""What is assessed: the data, the policy, and what was given for the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crypsis.assessment._people import original_rows, with_people
from crypsis.dataset import Dataset
from crypsis.policies import Policy
from crypsis.policies.assessed import ColumnRole

if TYPE_CHECKING:
    from crypsis.pseudonyms import Belief
    from crypsis.releases import LedgerCheck


@dataclass(frozen=True)
class OtherFile:
    """A further file of the release, with its roles, and the columns without a decision."""

    name: str
    data: Dataset
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """A dataset whose columns all have a role, the policy, and what each question needs."""

    data: Dataset
    columns: tuple[ColumnRole, ...]
    policy: Policy
    original: Dataset | None = None
    belief: Belief | None = None
    on: str | None = None
    row_map: Sequence[int] | None = None
    earlier: tuple[Dataset, ...] = ()
    earlier_row_maps: Sequence[Sequence[int]] | None = None
    ledger: LedgerCheck | None = None
    synthetic: bool = False
    """Whether the records are synthetic; `original` is then the training data."""
    holdout: Dataset | None = None
    exact: bool = False
    seed: int = 0
    accept_guesses: bool = False
    """Whether confident guesses count as decisions."""
    together: tuple[OtherFile, ...] = ()
    """Further files of the same release."""
    search: bool = True
    """Whether further sets of columns are searched for that single people out."""

    @property
    def of_people(self) -> Request:
        """The same with the people of the original in the data, where only that has them.

        They are there to be counted, as excluded columns, and are not released.
        """
        data = self._data_of_people
        return self if data is None else replace(self, data=data)

    @cached_property
    def _data_of_people(self) -> Dataset | None:
        """The data with their people; None where the data have them, or a request would keep itself alive."""
        data = with_people(self.data, self._original, self.row_map, self.on)
        return None if data is self.data else data

    @property
    def earlier_of_people(self) -> tuple[Dataset, ...]:
        """The earlier releases with the people of the original, as far as their keys show them."""
        row_maps: Sequence[Sequence[int] | None]
        row_maps = self.earlier_row_maps or [None] * len(self.earlier)
        return tuple(
            with_people(release, self._original, row_map, self.on if self.on in release.names else None)
            for release, row_map in zip(self.earlier, row_maps, strict=True)
        )

    @property
    def _original(self) -> Dataset | None:
        """What the release was made from; synthetic records are of nobody in it."""
        return None if self.synthetic else self.original

    @property
    def original_rows(self) -> NDArray[np.int64] | None:
        """The original row of each released record; None where it is not known."""
        return original_rows(self.data, self.original, self.row_map, self.on)

    @property
    def row_maps(self) -> list[Sequence[int]] | None:
        """The original rows of the release and of each earlier one, if all are known."""
        if self.row_map is None or self.earlier_row_maps is None:
            return None
        return [self.row_map, *self.earlier_row_maps]
