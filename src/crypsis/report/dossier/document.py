"""The dossier as a Word document, by python-docx."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from crypsis.errors import MissingDependencyError
from crypsis.report.dossier.blocks import Bars, Bullets, Facts, Grid, Heading, Signatures, Text, VerdictBox
from crypsis.report.dossier.content import DossierContent
from crypsis.report.dossier.outline import sections
from crypsis.report.wording import UNSEEN

_COLORS = {"good": "00653F", "bad": "A4201A", "unknown": "7A5200", "plain": "0B6E8A"}
_BAR_CHARACTERS = 20
"""The width of the longest bar."""


def check_word() -> None:
    """Refuse a Word document before the work, if python-docx is not installed."""
    _docx()


def word_document(dossier: DossierContent) -> bytes:
    """A dossier as the content of a `.docx` file.

    Parameters
    ----------
    dossier : DossierContent
        The dossier.
    """
    document = _docx().Document()
    style = document.styles["Normal"]
    style.font.name = "Calibri"
    style.font.size = _points(10)
    first, *rest = sections(dossier)
    document.add_paragraph("Disclosure risk dossier")
    document.add_heading(_clean(first.title), 0)
    for block in first.blocks:
        _ADD[type(block)](document, block)
    for section in rest:
        if section.new_page:
            document.add_page_break()
        document.add_heading(section.title, 1)
        for block in section.blocks:
            _ADD[type(block)](document, block)
    _number_pages(document)
    document.core_properties.title = _clean(first.title)
    document.core_properties.author = _clean(dossier.author)
    content = BytesIO()
    document.save(content)
    return content.getvalue()


def _docx() -> Any:
    try:
        import docx
    except ImportError:
        raise MissingDependencyError(
            "Word documents need the package python-docx, which is not installed.",
            hint="Install it (pip install 'crypsis[docx]'), or write HTML or PDF.",
        ) from None
    return docx


def _points(size: float) -> Any:
    from docx.shared import Pt

    return Pt(size)


def _clean(text: str) -> str:
    """Text that is valid in XML."""
    return "".join(UNSEEN.sub("", part) for part in text.split("\n"))


def _colored(run: Any, tone: str) -> None:
    from docx.shared import RGBColor

    run.font.color.rgb = RGBColor.from_string(_COLORS.get(tone, _COLORS["plain"]))


def _text(document: Any, block: Text) -> None:
    for line in block.text.split("\n"):
        run = document.add_paragraph().add_run(_clean(line))
        if block.kind == "code":
            run.font.name = "Consolas"
            run.font.size = _points(8)
        if block.kind == "warn":
            run.bold = True


def _bullets(document: Any, block: Bullets) -> None:
    for item in block.items:
        document.add_paragraph(_clean(item), style="List Bullet")


def _facts(document: Any, block: Facts) -> None:
    rows = [(name, value or "_" * 40) for name, value in block.pairs]
    _grid(document, rows, header=False)


def _table(document: Any, block: Grid) -> None:
    _grid(document, [block.head, *block.rows], header=True)


def _grid(document: Any, rows: Any, *, header: bool) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]))
    table.style = "Light Grid Accent 1" if header else "Table Grid"
    for position, row in enumerate(rows):
        added = table.add_row()
        _mark(added, "w:cantSplit")
        if header and position == 0:
            _mark(added, "w:tblHeader")  # on every page
        for cell, text in zip(added.cells, row, strict=True):
            cell.text = _clean(text)
            for run in cell.paragraphs[0].runs:
                run.font.size = _points(8.5)
                run.bold = header and position == 0
    document.add_paragraph()


def _mark(row: Any, name: str) -> None:
    """Set a property of a row of a table, which python-docx has no name for."""
    from docx.oxml import OxmlElement

    row._tr.get_or_add_trPr().append(OxmlElement(name))


def _bars(document: Any, block: Bars) -> None:
    """A picture as a table: the label, a row of cells, the number."""
    title = document.add_paragraph()
    title.add_run(_clean(block.title)).bold = True
    title.paragraph_format.keep_with_next = True
    table = document.add_table(rows=0, cols=3)
    for bar in block.bars:
        cells = table.add_row().cells
        filled = round(_BAR_CHARACTERS * min(1.0, max(0.0, bar.share)))
        for cell, text in zip(cells, (bar.label, "█" * max(filled, 0), bar.text), strict=True):
            cell.text = _clean(text)
            for run in cell.paragraphs[0].runs:
                run.font.size = _points(8.5)
        for run in cells[1].paragraphs[0].runs:
            _colored(run, bar.tone)
    document.add_paragraph(_clean(block.limit_text.capitalize()))


def _verdict(document: Any, block: VerdictBox) -> None:
    run = document.add_paragraph().add_run(_clean(block.head))
    run.bold = True
    run.font.size = _points(14)
    _colored(run, block.tone)
    document.add_paragraph(_clean(block.sentence))


def _heading(document: Any, block: Heading) -> None:
    document.add_heading(_clean(block.text), 2)
    if block.status:
        run = document.add_paragraph().add_run(block.status)
        run.bold = True
        _colored(run, block.tone)


def _signatures(document: Any, block: Signatures) -> None:
    for choice in block.choices:
        document.add_paragraph(f"☐ {choice}")
    _grid(
        document,
        [("", *block.roles), *((name, *("" for _ in block.roles)) for name in ("Name", "Date", "Signature"))],
        header=False,
    )


def _number_pages(document: Any) -> None:
    """The page number in the footer: a field, which Word fills in."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    paragraph = document.sections[0].footer.paragraphs[0]
    for kind, text in (("begin", None), (None, "PAGE"), ("end", None)):
        run = paragraph.add_run()
        if kind is None:
            part = OxmlElement("w:instrText")
            part.text = text
        else:
            part = OxmlElement("w:fldChar")
            part.set(qn("w:fldCharType"), kind)
        run.element.append(part)


_ADD: dict[type, Callable[[Any, Any], None]] = {
    Text: _text,
    Bullets: _bullets,
    Facts: _facts,
    Grid: _table,
    Bars: _bars,
    VerdictBox: _verdict,
    Heading: _heading,
    Signatures: _signatures,
}
