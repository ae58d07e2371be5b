"""A dossier as a document: HTML, PDF or Word."""

from __future__ import annotations

from pathlib import Path

from crypsis.errors import ParameterError
from crypsis.files import replacing_file
from crypsis.report.dossier.content import DossierContent
from crypsis.report.dossier.document import word_document
from crypsis.report.dossier.page import dossier_page
from crypsis.report.dossier.pdf import pdf_document

FORMS = (".html", ".pdf", ".docx")
"""How a dossier can be written."""


class Dossier(DossierContent):
    """One document about a release: for a data steward, a data protection officer, an ethics board.

    `write` writes it as HTML, PDF or Word. Example values are frequent values of the release.
    """

    def to_html(self) -> str:
        """The dossier as one HTML page that works offline."""
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
