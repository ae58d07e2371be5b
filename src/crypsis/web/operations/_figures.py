"""Charts for the page."""

from __future__ import annotations

from crypsis.report.figures import Figure


def figure_view(figure: Figure) -> dict[str, str]:
    """A chart: what draws it, and what it shows in words."""
    return {"specification": figure.specification, "description": figure.description}
