"""The check in pandera itself, on pandas and on Polars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa
import pandera.polars as pap
import polars as pl
import pytest

from crypsis.integrations.pandera import safe_to_release
from tests.integrations.people import ROLES, ROLES_FILE, columns

KINDS: list[Any] = [(pa, pd.DataFrame), (pap, pl.DataFrame)]


@pytest.mark.parametrize(("library", "frame"), KINDS)
def test_a_safe_frame_passes(library: Any, frame: Any, tmp_path: Path) -> None:
    file = tmp_path / "roles.toml"
    file.write_text(ROLES_FILE)
    for options in (ROLES, {"roles_file": file}):
        schema = library.DataFrameSchema(checks=safe_to_release(**options))
        assert len(schema.validate(frame(columns()))) == 400


@pytest.mark.parametrize(("library", "frame"), KINDS)
@pytest.mark.parametrize(("options", "reason"), [(ROLES, "Not safe to release"), ({}, "undecided")])
def test_other_frames_do_not(library: Any, frame: Any, options: Any, reason: str) -> None:
    schema = library.DataFrameSchema(checks=safe_to_release(**options))
    for lazy, error in ((False, library.errors.SchemaError), (True, library.errors.SchemaErrors)):
        with pytest.raises(error) as caught:
            schema.validate(frame(columns(leaking=bool(options))), lazy=lazy)
        assert reason in str(caught.value)
        assert "hiv-secret" not in str(caught.value)
