"""Pages that stand alone: everything from the data is escaped, nothing is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from crypsis import __version__

if TYPE_CHECKING:
    from crypsis.profile import Profile


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("crypsis.report"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["count"] = lambda value: f"{value:,}"
    environment.filters["percent"] = lambda share: f"{100 * share:.1f} %"
    return environment


def profile_page(profile: Profile, source: str) -> str:
    """The scan of a release as one HTML page."""
    template = _environment().get_template("scan.html")
    return template.render(profile=profile, source=source, version=__version__)
