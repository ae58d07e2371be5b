"""What is assessed: the data, the policy, and what was given for the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from crypsis.assessment._people import with_people
from crypsis.assessment.result import ColumnRole
from crypsis.dataset import Dataset
from crypsis.policies import Policy

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
        """The data with their people; None if they are as they were, so that nothing holds itself."""
        data = with_people(self)
        return None if data is self.data else data

    @property
    def row_maps(self) -> list[Sequence[int]] | None:
        """The original rows of the release and of each earlier one, if all are known."""
        if self.row_map is None or self.earlier_row_maps is None:
            return None
        return [self.row_map, *self.earlier_row_maps]
