"""The dossier as one HTML page: nothing is fetched, nothing runs, and it prints with page numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from crypsis import __version__
from crypsis.report.dossier.outline import sections
from crypsis.report.html import page_environment
from crypsis.report.wording import visible

if TYPE_CHECKING:
    from crypsis.report.dossier.content import Dossier


def dossier_page(dossier: Dossier) -> str:
    """A dossier as HTML; everything from the data is escaped.

    Parameters
    ----------
    dossier : Dossier
        The dossier.
    """
    environment = page_environment()
    environment.filters["name"] = visible
    environment.filters["css"] = _css_text
    first, *rest = sections(dossier)
    return environment.get_template("dossier.html").render(
        first=first, rest=rest, version=__version__, dossier=dossier
    )


def _css_text(text: str) -> Markup:
    """Text in a string of a style sheet: every unusual character as its code."""
    parts = (one if one.isalnum() or one in " .,:-_()" else f"\\{ord(one):06x}" for one in text)
    return Markup("".join(parts))  # noqa: S704 - nothing but letters, digits and codes is left
