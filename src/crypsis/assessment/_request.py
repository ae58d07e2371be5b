"""What is assessed: the data, the policy, and what was given for the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crypsis.assessment.result import ColumnRole
from crypsis.dataset import Dataset
from crypsis.policies import Policy

if TYPE_CHECKING:
    from crypsis.pseudonyms import Belief


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
    exact: bool = False
    seed: int = 0
    accept_guesses: bool = False
    """Whether confident guesses count as decisions."""
    together: tuple[OtherFile, ...] = ()
    """Further files of the same release."""
    search: bool = True
    """Whether further sets of columns are searched for that single people out."""
