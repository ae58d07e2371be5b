"""The options of a dossier, which `assess` and `anonymize` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

_PANEL = "Dossier"
FORMS = (".html", ".pdf", ".docx", ".zip")
"""The outputs that are a dossier, or a package with one."""


@dataclass(frozen=True)
class DossierOptions:
    """What the first page of a dossier has; what is not given is a line to be filled in."""

    title: Annotated[str | None, typer.Option("--title", help="The title.", rich_help_panel=_PANEL)] = None
    purpose: Annotated[
        str | None, typer.Option("--purpose", help="What the release is for.", rich_help_panel=_PANEL)
    ] = None
    recipient: Annotated[
        str | None, typer.Option("--recipient", help="Who receives it.", rich_help_panel=_PANEL)
    ] = None
    author: Annotated[
        str | None, typer.Option("--author", help="Who is responsible for it.", rich_help_panel=_PANEL)
    ] = None
    date: Annotated[str | None, typer.Option("--date", help="By default today.", rich_help_panel=_PANEL)] = (
        None
    )
    conditions: Annotated[
        list[str] | None,
        typer.Option(
            "--condition",
            help="A condition of use that the recipient accepts. Repeat.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    examples: Annotated[
        bool,
        typer.Option(
            "--examples/--no-examples",
            help="Show frequent values of the release: those of ten records or more.",
            rich_help_panel=_PANEL,
        ),
    ] = True

    @property
    def given(self) -> bool:
        """Whether any of them was typed."""
        return any(v for name, v in vars(self).items() if name != "examples") or not self.examples

    def keywords(self) -> dict[str, Any]:
        """The keywords of `make_dossier`."""
        texts = ("title", "purpose", "recipient", "author", "date")
        keywords: dict[str, Any] = {name: getattr(self, name) or "" for name in texts}
        return {**keywords, "conditions": self.conditions or (), "examples": self.examples}

    def check(self, output: Path | None) -> None:
        """Refuse before the work what could not be written after it."""
        from crypsis.errors import ParameterError

        form = "" if output is None else output.suffix.lower()
        if self.given and form not in FORMS:
            raise ParameterError(
                "Title, purpose, recipient, author, date and conditions are those of a dossier.",
                hint=f"Set {{output}} to a file that ends in {', '.join(FORMS)}.",
            )
        if form == ".pdf":
            from crypsis.report.dossier.pdf import check_pdf

            check_pdf()
        if form == ".docx":
            from crypsis.report.dossier.document import check_word

            check_word()
