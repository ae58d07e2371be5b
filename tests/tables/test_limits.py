"""Memory limits, spilling, and what is left behind."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis.errors import TooLargeError

ROWS = 3_000_000


@pytest.fixture(scope="module")
def many_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("limits") / "many.parquet"
    rng = np.random.default_rng(1)
    pq.write_table(pa.table({"a": rng.permutation(ROWS), "b": rng.integers(0, 9, ROWS)}), path)
    return path


def test_more_groups_than_memory_spill_to_disk(many_groups: Path, tmp_path: Path) -> None:
    release = cr.read(many_groups, memory_limit="100MB", spill_folder=tmp_path)
    tally = release.rows.tally(["a", "b"])
    assert (tally.distinct, tally.singletons) == (ROWS, ROWS)
    assert [path.name[:14] for path in tmp_path.iterdir()] == ["crypsis-spill-"]
    assert (next(tmp_path.iterdir()).stat().st_mode & 0o077) == 0
    del release
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_no_room_to_spill_is_said(many_groups: Path) -> None:
    release = cr.read(many_groups, memory_limit="60MB")
    backend = release.rows.backend
    backend.connection.execute("SET max_temp_directory_size = '1MB'")  # type: ignore[attr-defined]
    with pytest.raises(TooLargeError, match=r"memory_limit='8GB'"):
        release.rows.tally(["a", "b"])


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    release = cr.Dataset.from_frame(pa.table({"a": [1, 2]}))
    assert release.cells(["a"]).rows == 2
    del release
    gc.collect()
    assert list(tmp_path.iterdir()) == []
