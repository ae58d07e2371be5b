"""The dossier as one HTML page: nothing is fetched, nothing runs, and it prints with page numbers."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from crypsis import __version__
from crypsis.report.dossier.content import DossierContent
from crypsis.report.dossier.outline import sections
from crypsis.report.html import page_environment
from crypsis.report.wording import visible


def dossier_page(dossier: DossierContent) -> str:
    """A dossier as HTML; everything from the data is escaped.

    Parameters
    ----------
    dossier : DossierContent
        The dossier.
    """
    environment = page_environment()
    environment.filters["name"] = visible
    environment.filters["css"] = _css_text
    environment.filters["unbroken"] = _unbroken
    first, *rest = sections(dossier)
    return environment.get_template("dossier.html").render(
        first=first, rest=rest, version=__version__, dossier=dossier
    )


_TOGETHER = re.compile(
    r"\d[\d./:]*(?:-[HQW]?\d[\d./:]*)+|(?:over |under )?\d[\d.,]* %|[\d,]+ → [\d,]+|quasi-identifier\b"
)


def _unbroken(text: object) -> Markup:
    """Text of which some parts stay on one line: "1950-1959", "2024-03-01", "20 %".

    >>> str(_unbroken("born 1950-1959 & on"))
    'born <span class="period">1950-1959</span> &amp; on'
    """
    # Escaping adds no digits with a hyphen or a sign of per cent behind them.
    plain = str(escape(text))
    return Markup(_TOGETHER.sub(r'<span class="period">\g<0></span>', plain))  # noqa: S704 - escaped


def _css_text(text: str) -> Markup:
    """Text in a string of a style sheet: every unusual character as its code."""
    parts = (
        character if character.isalnum() or character in " .,:-_()" else f"\\{ord(character):06x}"
        for character in text
    )
    return Markup("".join(parts))  # noqa: S704 - nothing but letters, digits and codes is left
