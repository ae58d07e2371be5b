"""The sections of a dossier in their order."""

from __future__ import annotations

from crypsis.report.dossier.annex import annex
from crypsis.report.dossier.blocks import Section
from crypsis.report.dossier.changes import changed_columns
from crypsis.report.dossier.content import DossierContent
from crypsis.report.dossier.cover import cover
from crypsis.report.dossier.decision import conditions, decision, remedies
from crypsis.report.dossier.questions import questions


def sections(dossier: DossierContent) -> tuple[Section, ...]:
    """The sections of a dossier, the first page first."""
    optional_sections = (
        cover(dossier),
        changed_columns(dossier),
        questions(dossier),
        remedies(dossier),
        conditions(dossier),
        decision(dossier),
        *annex(dossier),
    )
    return tuple(section for section in optional_sections if section is not None)
