"""The files of an anonymization: release, statement, comparison, plan, key and package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from crypsis.files import release_stem

if TYPE_CHECKING:
    from crypsis.tables import TableAddress


@dataclass(frozen=True)
class ReleaseFiles:
    """The files that an anonymization writes."""

    output: str
    plan: Path | None
    key: Path | None
    package: Path | None

    @property
    def local(self) -> bool:
        """Whether the release is a file of this machine, with its statement next to it."""
        return self.output != "-" and "://" not in self.output

    @cached_property
    def table(self) -> TableAddress | None:
        """The table of a server that the release becomes."""
        from crypsis.tables import table_address

        return table_address(self.output)

    @property
    def shown(self) -> str:
        """The place of the release, without a password."""
        return self.output if self.table is None else self.table.shown

    @property
    def stem(self) -> str:
        """The name of the release, for that of its key."""
        if self.table is not None:
            return self.table.table
        return "release" if self.output == "-" else release_stem(self.output)

    @property
    def comparison(self) -> Path:
        """The comparison of before and after."""
        return Path(self.output).with_name(Path(self.output).name + ".before-after.md")

    def notes(self) -> tuple[Path, ...]:
        """The files next to the release."""
        from crypsis.protection import Statement

        return (*Statement.paths(self.output), self.comparison) if self.local else ()

    def written(self) -> list[tuple[Path | None, tuple[str, ...]]]:
        """Every file, with the suffixes that it may have."""
        paths: list[tuple[Path | None, tuple[str, ...]]] = [(self.plan, (".json", ".toml"))]
        if self.local:
            paths.append((Path(self.output), (Path(self.output).suffix.lower(),)))
        notes = [(note, (note.suffix,)) for note in self.notes()]
        return [*paths, (self.key, (".json",)), (self.package, (".zip",)), *notes]
