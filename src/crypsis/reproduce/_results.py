"""What a reproduction is made of: cells with the paper's value and ours, gathered into items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from crypsis.results import Result

Drawing: TypeAlias = Callable[[], Any]
"""Makes an Altair chart; called only when somebody wants to see it."""


class Verdict(Enum):
    """How our value stands to the one that the paper prints."""

    EQUAL = "equal"
    ROUNDED = "equal after rounding"
    ERRATUM = "erratum"
    """The paper is wrong here: ours is the value that the note explains, and not the printed."""
    NOT_DERIVABLE = "not derivable"
    """The paper does not print what its value was made from; ours agrees with what it does say."""
    DATA_ABSENT = "not run: data absent"
    DIFFERS = "differs"
    """Unexplained: a fault, ours or the paper's. A run with such a cell has failed."""


@dataclass(frozen=True)
class Cell(Result):
    """One value of a paper and what we get for it."""

    group: str
    """What the cell belongs to: a column of a table, a panel of a figure; may be empty."""
    name: str
    paper: str
    ours: str
    verdict: Verdict
    note: str = ""
    timed: bool = False
    """Ours is a time of this run on this machine, so that the next run will show another."""


@dataclass(frozen=True)
class Item(Result):
    """A table, figure, theorem, example, algorithm or corollary of a paper, by its own name."""

    name: str
    title: str
    cells: tuple[Cell, ...]
    figure: str = ""
    """The description of its figure; empty where there is nothing to draw."""
    _drawing: Drawing | None = field(default=None, repr=False, compare=False)

    @property
    def slug(self) -> str:
        """Its name as part of a file name."""
        return self.name.lower().replace(" ", "_").replace(".", "_")

    @property
    def drawable(self) -> bool:
        """Whether it has a figure."""
        return self._drawing is not None

    def chart(self) -> Any:
        """The figure as an Altair chart; None where there is nothing to draw."""
        return None if self._drawing is None else self._drawing()


@dataclass(frozen=True)
class Reproduction(Result):
    """A paper, everything in it that has a name, and how long it took to compute again."""

    paper: str
    citation: str
    account: tuple[str, ...]
    """What the method says, in our own words: paragraphs of Markdown."""
    items: tuple[Item, ...]
    seconds: float

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells of all items."""
        return tuple(cell for item in self.items for cell in item.cells)

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many cells there are of each verdict."""
        found = Counter(cell.verdict for cell in self.cells)
        return {verdict: found[verdict] for verdict in Verdict}

    @property
    def differs(self) -> bool:
        """Whether a cell disagrees and nothing explains it."""
        return self.counts[Verdict.DIFFERS] > 0

    def item(self, name: str) -> Item:
        """The item of that name."""
        return next(item for item in self.items if item.name == name)


@dataclass(frozen=True)
class Reproductions(Result):
    """Several papers."""

    papers: tuple[Reproduction, ...]

    @property
    def differs(self) -> bool:
        """Whether any cell of any paper disagrees unexplained."""
        return any(paper.differs for paper in self.papers)
