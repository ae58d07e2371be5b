"""What an engine brings itself: hashes, sketches, quantiles, samples, files.

Everything else is asked once for all engines, with Narwhals, by the methods of
`crypsis.tables.rows.Rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis.counting.estimates import DistinctSketch
from crypsis.errors import TooLargeError

Frame = nw.LazyFrame[Any]


class Backend(Protocol):
    """The part of the work that each engine does in its own language."""

    local: bool
    """Whether the rows are on this machine, in an order of their own."""
    sketch_error: float
    """The relative standard error of the approximate distinct counts."""
    max_values: int | None
    """The most values that `Rows.to_arrow` fetches; None: as many as fit in memory."""

    def batches(self, frame: Frame, what: str, rows: int | None = None) -> Iterator[pa.RecordBatch]:
        """Run `frame` and fetch its rows in Arrow batches; `what` names the step of progress.

        No batch has more than `rows`, where the engine supports that.
        """
        ...

    def bounded(
        self, frame: Frame, what: str, at_most: int, refusal: TooLargeError
    ) -> Iterator[pa.RecordBatch]:
        """The same for at most so many rows; more raise `refusal` before they fill the memory."""
        ...

    def with_class_hash(self, frame: Frame, columns: Sequence[str], seed: int, name: str) -> Frame:
        """Add a number below 2**60 that depends on `seed` and the values of the columns alone.

        By the engine's own hash, which is fast, and differs between engines.
        """
        ...

    def with_hash(self, frame: Frame, key: str, seed: int, name: str) -> Frame:
        """Add a number below 2**60 that depends on `seed` and `key` alone.

        It is the beginning of the MD5 of "seed:key", on every engine the same.
        """
        ...

    def with_row_number(self, frame: Frame, name: str) -> Frame:
        """Add the number of each row in its order; nothing where rows have no order."""
        ...

    def sketch(self, frame: Frame, sets: Sequence[Sequence[str]]) -> list[DistinctSketch]:
        """For each set of columns its missing rows and its approximate distinct combinations."""
        ...

    def value_counts(
        self, frame: Frame, columns: Sequence[str], at_most: int, refusal: TooLargeError
    ) -> list[tuple[list[Any], list[int]]]:
        """For each column its values and their counts, in one pass over all columns."""
        ...

    def small_table(self, frame: Frame, table: pa.Table) -> Frame:
        """A small Arrow table as a frame that can be joined with `frame`."""
        ...

    def sample(self, frame: Frame, count: int, size: int, seed: int) -> pa.Table:
        """`size` of the `count` rows of a frame, drawn at random; the same ones for a seed."""
        ...

    def quantiles(
        self, frame: Frame, columns: Sequence[str], probabilities: Sequence[float]
    ) -> dict[str, pa.Array]:
        """The smallest values at or below which lies at least each share of the rows."""
        ...

    def named(self, frame: Frame, names: Sequence[str]) -> Any:
        """The engine's own frame with the columns under their public names."""
        ...

    def replacing(
        self, frame: Frame, paths: Sequence[str | Path], overwrite: bool
    ) -> AbstractContextManager[tuple[Path | str, ...]]:
        """Places to write to, which become `paths` when the block ends without an error."""
        ...

    def write(self, frame: Frame, names: Sequence[str], path: Path | str, form: str, delimiter: str) -> None:
        """Write the rows to `path`, which does not exist yet, as `csv` or `parquet`."""
        ...

    def read_back(
        self, frame: Frame, names: Sequence[str], path: Path | str, form: str
    ) -> tuple[Backend, Frame]:
        """The rows of a file written for `frame`; of CSV all columns as text."""
        ...

    @property
    def loader(self) -> Callable[[pa.Table], tuple[Backend, Frame]]:
        """Opens a table in another process, by an engine of the same kind; its columns are c0, ..."""
        ...
