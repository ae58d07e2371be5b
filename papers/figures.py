"""Figures as SVG and PNG files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from crypsis import progress
from crypsis.errors import OutputError
from crypsis.files import replacing_file

if TYPE_CHECKING:
    from papers.results import Reproduction

FORMATS = ("svg", "png")


def save_figures(
    found: Reproduction, folder: str | Path, *, formats: tuple[str, ...] = FORMATS
) -> tuple[Path, ...]:
    """Draw every figure of a paper into a folder, as `<paper>_<item>.svg` and `.png`.

    Parameters
    ----------
    found : Reproduction
        The result of `paper`.
    folder : path
        Created if it does not exist; files of the same names are replaced.
    formats : tuple of str
        "svg", "png" or both.

    Returns
    -------
    tuple of Path
        The files.

    Examples
    --------
    >>> import papers
    >>> found = papers.Reproduction("lodha2007", "", (), (), 0.0)
    >>> papers.save_figures(found, ".")
    ()
    """
    unknown = set(formats) - set(FORMATS)
    if unknown:
        raise OutputError(f"Figures are written as {' and '.join(FORMATS)}, not {sorted(unknown)}.")
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise OutputError(f"{str(place)!r} is a file; give a folder for the figures.")
    place.mkdir(parents=True, exist_ok=True)
    drawn = [item for item in found.items if item.drawable]
    paths = []
    for item in progress.track(drawn, f"{found.paper}: figures"):
        chart = item.chart().properties(padding={"left": 8, "right": 24, "top": 6, "bottom": 6})
        specification = json.dumps(chart.to_dict())
        for form in formats:
            path = place / f"{found.paper}_{item.slug}.{form}"
            with replacing_file(path, overwrite=True) as partial:
                partial.write_bytes(_rendered(specification, form))
            paths.append(path)
    return tuple(paths)


def _rendered(specification: str, form: str) -> bytes:
    import vl_convert

    if form == "svg":
        text: str = vl_convert.vegalite_to_svg(specification)
        return text.encode()
    picture: bytes = vl_convert.vegalite_to_png(specification, scale=2)
    return picture
