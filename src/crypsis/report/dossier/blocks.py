"""The blocks that a dossier consists of; every form of it shows the same ones."""

from __future__ import annotations

from dataclasses import dataclass

UNCHANGED = "as it is"
"""What recipients get of a column that was not changed."""
NOT_RELEASED = "not released"
"""The same of one that is not in the release."""
SYNTHETIC = "synthetic values"
"""The same of a column of a synthetic file."""
APART = "released apart"
"""How the same begins of one that is in a file of its own."""


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: str = "plain"
    """`plain`, `lead`, `soft`, `warn` or `code`."""


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names with their values; a value that is empty is a line to be filled in by hand."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Grid:
    """A table; `numbers` are the columns that are aligned to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Bar:
    """A bar of a picture: its share of the width, and the number in words."""

    label: str
    share: float
    text: str
    tone: str = "plain"
    """`plain`, `good` or `bad`."""


@dataclass(frozen=True)
class Bars:
    """A picture: a share for each row, maybe with a limit across all of them."""

    title: str
    bars: tuple[Bar, ...]
    limit: float | None = None
    limit_text: str = ""

    @property
    def description(self) -> str:
        """The picture in words, for those who do not see it."""
        rows = ", ".join(f"{bar.label} {bar.text}" for bar in self.bars)
        return f"{self.title}: {rows}{'; ' if self.limit_text else ''}{self.limit_text}."


@dataclass(frozen=True)
class VerdictBox:
    """The verdict and the sentence that explains it."""

    head: str
    sentence: str
    tone: str


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str
    status: str = ""
    tone: str = "plain"


@dataclass(frozen=True)
class Signatures:
    """Boxes to tick, and lines for those who sign."""

    choices: tuple[str, ...]
    roles: tuple[str, ...]


Block = Text | Bullets | Facts | Grid | Bars | VerdictBox | Heading | Signatures


@dataclass(frozen=True)
class Section:
    """A section with its blocks; some begin a new page in print."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    new_page: bool = False
