"""The four papers, and one call that computes one of them again."""

from __future__ import annotations

import os
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from crypsis import progress
from crypsis.errors import ParameterError, SourceError
from papers.results import Reproduction, RunSettings

PAPERS = ("bagai2017", "domingo2016", "itpr2019", "lodha2007")
"""The four papers, by their short names."""


def paper(name: str, *, data: str | Path | None = None, max_rows: int = 100_000_000) -> Reproduction:
    """Compute every named item of a paper again and compare it with the printed values.

    Parameters
    ----------
    name : str
        "bagai2017", "domingo2016", "itpr2019" or "lodha2007".
    data : path, optional
        The folder with the real data (UCI Adult for lodha2007's Fig. 3); by default the environment
        variable CRYPSIS_DATA. Values that need an absent file are marked so.
    max_rows : int
        The number of rows up to which itpr2019's Fig. 6 is measured.

    Returns
    -------
    Reproduction
        Its items have the values, and figures that are drawn when `PaperItem.chart` is called.

    Examples
    --------
    >>> paper("nobody2017")
    Traceback (most recent call last):
    crypsis.errors.ParameterError: The papers are bagai2017, domingo2016, itpr2019, lodha2007; ...
    """
    if name not in PAPERS:
        raise ParameterError(f"The papers are {', '.join(PAPERS)}; {name!r} was given.")
    if max_rows < 100_000:
        raise ParameterError(f"Fig. 6 begins at 100,000 rows; {max_rows:,} was given.")
    module: Any = import_module(f"papers.{name}")
    settings = RunSettings(_folder(data), int(max_rows))
    started = time.perf_counter()
    items = tuple(make(settings) for make in progress.track(module.ITEMS, name))
    seconds = time.perf_counter() - started
    return Reproduction(name, module.CITATION, module.ACCOUNT, items, round(seconds, 1))


def _folder(data: str | Path | None) -> Path | None:
    if data is not None:
        if not Path(data).is_dir():
            raise SourceError(
                f"The folder {str(data)!r} does not exist.", hint="Set {data} to the real data."
            )
        return Path(data)
    given = os.environ.get("CRYPSIS_DATA")
    return Path(given) if given else None
