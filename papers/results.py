"""The parts of a reproduction: values of the paper and ours, gathered into the paper's items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

from crypsis import Result


class Agreement(Enum):
    """How our value agrees with the printed one."""

    EQUAL = "equal"
    ROUNDED = "equal after rounding"
    ERRATUM = "erratum"
    """The paper is wrong: ours is the value that the note explains, and not the printed one."""
    CRITIQUE = "critique"
    """What we hold against a statement of the paper, by a case of our own: no misprint. Ours is the
    value that the note explains."""
    NOT_DERIVABLE = "not derivable"
    """The paper does not print the data of its value; ours agrees with what it does state."""
    DATA_ABSENT = "not run: data absent"
    DIFFERS = "differs"
    """Unexplained: a fault, ours or the paper's. A run with such a value has failed."""


class ComparedValue(Result):
    """One value of a paper and ours."""

    group: str
    """A column of a table, a panel of a figure; may be empty."""
    name: str
    paper: str
    ours: str
    agreement: Agreement
    note: str = ""
    timed: bool = False
    """Ours is a time of this run on this machine, so the next run will show another."""


class PaperItem(Result):
    """A table, figure, theorem, example, algorithm or corollary of a paper, by its own name."""

    name: str
    title: str
    values: tuple[ComparedValue, ...]
    figure: str = ""
    """The description of its figure; empty where there is none."""
    _drawing: Callable[[], Any] | None = field(default=None, repr=False, compare=False)

    @property
    def slug(self) -> str:
        """Its name as part of a file name."""
        return self.name.lower().replace(" ", "_").replace(".", "_")

    @property
    def drawable(self) -> bool:
        """Whether it has a figure."""
        return self._drawing is not None

    def chart(self) -> Any:
        """The figure as an Altair chart; None where there is none."""
        return None if self._drawing is None else self._drawing()


class Reproduction(Result):
    """A paper, its items, and the seconds that computing them took."""

    paper: str
    citation: str
    account: tuple[str, ...]
    """The method in our own words: paragraphs of Markdown."""
    items: tuple[PaperItem, ...]
    seconds: float

    @property
    def values(self) -> tuple[ComparedValue, ...]:
        """All values of all items."""
        return tuple(value for item in self.items for value in item.values)

    @property
    def counts(self) -> Mapping[Agreement, int]:
        """The number of values of each agreement."""
        found = Counter(value.agreement for value in self.values)
        return {agreement: found[agreement] for agreement in Agreement}

    @property
    def differs(self) -> bool:
        """Whether a value differs unexplained."""
        return self.counts[Agreement.DIFFERS] > 0

    def item(self, name: str) -> PaperItem:
        """The item of that name."""
        return next(item for item in self.items if item.name == name)


class Reproductions(Result):
    """Several papers."""

    papers: tuple[Reproduction, ...]

    @property
    def differs(self) -> bool:
        """Whether any value of any paper differs unexplained."""
        return any(paper.differs for paper in self.papers)


@dataclass(frozen=True)
class RunSettings:
    """The folder of the real data, if there is one, and the number of rows of itpr2019's Fig. 6."""

    data: Path | None
    max_rows: int

    def file(self, *parts: str) -> Path | None:
        """A file of the real data, if it exists."""
        if self.data is None:
            return None
        path = self.data.joinpath(*parts)
        return path if path.is_file() else None


Values: TypeAlias = Sequence[ComparedValue]
Drawn: TypeAlias = tuple[Values, Callable[[], Any] | None]
"""Values with a function that draws their figure, called only when the figure is wanted."""
ItemMaker: TypeAlias = Callable[[RunSettings], PaperItem]


def paper_item(
    name: str, title: str, *, figure: str = ""
) -> Callable[[Callable[[RunSettings], Any]], ItemMaker]:
    """Make an item of a paper from a function that computes its values, or values and figure."""

    def decorated(compute: Callable[[RunSettings], Any]) -> ItemMaker:
        def make(settings: RunSettings) -> PaperItem:
            found = compute(settings)
            values, drawing = found if figure else (found, None)
            return PaperItem(name, title, tuple(values), figure if drawing else "", drawing)

        return make

    return decorated
