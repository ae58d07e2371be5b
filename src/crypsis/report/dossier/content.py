"""What a dossier is about."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from crypsis.errors import ParameterError
from crypsis.report.wording import Phrasing
from crypsis.results import Result, raw

if TYPE_CHECKING:
    from crypsis.assessment.result import Assessment

FORMS = (".html", ".pdf", ".docx")
"""How a dossier can be written."""


class ReleasedColumn(Result):
    """A column of the original or of the release, and what was done with it."""

    column: str
    role: str
    change: str
    """What recipients get of it, in words."""
    examples: tuple[str, ...] = raw(default=())
    """Frequent values of the release."""
    values_before: int | None = None
    values_after: int | None = None
    kept: float | None = None
    """The share of its entropy that is left, at most."""


class Dossier(Result):
    """One document about a release: for a data steward, a data protection officer, an ethics board.

    `write` writes it as HTML, PDF or Word. Example values are frequent values of the release.
    """

    assessment: Assessment
    title: str = ""
    purpose: str = ""
    recipient: str = ""
    author: str = ""
    date: str = ""
    conditions: tuple[str, ...] = ()
    """The conditions of use, as the recipient accepts them."""
    file: str | None = None
    """The name of the released file."""
    sha256: str | None = None
    """Its digest."""
    columns: tuple[ReleasedColumn, ...] = ()
    losses: tuple[str, ...] = ()
    """What the release loses, in sentences."""
    methods: tuple[str, ...] = ()
    """How it was made, where its statement is known."""
    phrasing: Phrasing = field(default_factory=Phrasing)

    def to_html(self) -> str:
        """The dossier as one HTML page that works offline."""
        from crypsis.report.dossier.page import dossier_page

        return dossier_page(self)

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the dossier as `.html`, `.pdf` or `.docx`.

        Parameters
        ----------
        path : str or Path
            The file.
        overwrite : bool
            Whether an existing file is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        MissingDependencyError
            If PDF is asked for and neither Chromium nor WeasyPrint is there, or Word without
            python-docx.
        """
        from crypsis.files import replacing_file
        from crypsis.report.dossier.document import word_document
        from crypsis.report.dossier.pdf import pdf_document

        target = Path(path)
        form = target.suffix.lower()
        if form not in FORMS:
            raise ParameterError(f"A dossier is a {' or '.join(FORMS)} file.", parameter="path")
        if form == ".html":
            content = self.to_html().encode()
        else:
            content = pdf_document(self.to_html()) if form == ".pdf" else word_document(self)
        with replacing_file(target, overwrite=overwrite) as partial:
            partial.write_bytes(content)
        return target

    def _shown(self, reveal: bool) -> list[tuple[str, object]]:
        return [(name, v) for name, v in super()._shown(reveal) if name != "phrasing"]
