"""Which papers there are, and one call that computes one of them again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from crypsis import progress
from crypsis.errors import ParameterError, SourceError
from crypsis.reproduce._results import Item, Reproduction

PAPERS = ("bagai2017", "domingo2016", "itpr2019", "lodha2007")
"""The four papers, by their short names."""
LARGEST = 100_000_000


@dataclass(frozen=True)
class Setting:
    """What a run is given: where the real data lies, if anywhere, and how large Fig. 6 may grow."""

    data: Path | None
    largest: int

    def file(self, *parts: str) -> Path | None:
        """A file of the real data, if it is there."""
        if self.data is None:
            return None
        path = self.data.joinpath(*parts)
        return path if path.is_file() else None


def paper(name: str, *, data: str | Path | None = None, largest: int = LARGEST) -> Reproduction:
    """Compute every named item of a paper again and hold it against what is printed.

    `data` is the folder with the real data (UCI Adult for lodha2007's Fig. 3); without it the
    environment variable CRYPSIS_DATA, and where neither leads to the file its cells say that they
    were not run. `largest` is the number of rows up to which itpr2019's Fig. 6 is measured. Figures
    are drawn only when asked for (`Item.chart`).

    >>> paper("nobody2017")
    Traceback (most recent call last):
    crypsis.errors.ParameterError: The papers are bagai2017, domingo2016, itpr2019, lodha2007; ...
    """
    if name not in PAPERS:
        raise ParameterError(f"The papers are {', '.join(PAPERS)}; {name!r} was given.")
    if largest < 100_000:
        raise ParameterError(f"Fig. 6 begins at 100,000 rows; {largest:,} was given.")
    module: Any = import_module(f"crypsis.reproduce.{name}")
    setting = Setting(_folder(data), int(largest))
    started = time.perf_counter()
    items = tuple(_each(name, module.ITEMS, setting))
    seconds = time.perf_counter() - started
    return Reproduction(name, module.CITATION, module.ACCOUNT, items, round(seconds, 1))


def _each(
    paper: str, makers: tuple[Callable[[Setting], Item], ...], setting: Setting
) -> Iterator[Item]:
    for make in progress.track(makers, paper):
        yield make(setting)


def _folder(data: str | Path | None) -> Path | None:
    if data is not None:
        if not Path(data).is_dir():
            raise SourceError(f"There is no folder {str(data)!r}; --data names the real data's.")
        return Path(data)
    given = os.environ.get("CRYPSIS_DATA")
    return Path(given) if given else None
