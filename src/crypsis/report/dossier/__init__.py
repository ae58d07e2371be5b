"""The dossier: one document about a release, as HTML, PDF or Word, from one list of sections."""

from crypsis.report.dossier.blocks import APART, NOT_RELEASED, SYNTHETIC, UNCHANGED
from crypsis.report.dossier.content import ReleasedColumn
from crypsis.report.dossier.forms import Dossier
from crypsis.report.dossier.outline import sections

__all__ = ["APART", "NOT_RELEASED", "SYNTHETIC", "UNCHANGED", "Dossier", "ReleasedColumn", "sections"]
