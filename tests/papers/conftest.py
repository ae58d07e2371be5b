"""One run of each paper, shared by all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import papers


@pytest.fixture(scope="session")
def reproductions(data_folder: Path) -> dict[str, papers.Reproduction]:
    """All four papers; Fig. 6 of itpr2019 with its smallest table only."""
    return {name: papers.paper(name, data=data_folder, max_rows=100_000) for name in papers.PAPERS}
