"""The asset check in Dagster itself."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from dagster import asset, materialize

from crypsis.integrations.dagster import build_release_check
from tests.integrations.people import ROLES, columns


def outcome(data: Any, **options: Any) -> Any:
    @asset
    def patients() -> pd.DataFrame:
        return data

    @asset
    def published(patients: pd.DataFrame) -> None:
        pass

    check = build_release_check(patients, **options)
    result = materialize([patients, published, check], raise_on_error=False)
    (evaluated,) = result.get_asset_check_evaluations()
    done = {str(one.asset_key) for one in result.asset_materializations_for_node("published")}
    return evaluated, bool(done)


def test_a_safe_asset_passes() -> None:
    found, published = outcome(pd.DataFrame(columns()), **ROLES)
    assert found.passed
    assert published
    assert found.metadata["verdict"].value == "safe"


@pytest.mark.parametrize("options", [ROLES, {}])
def test_what_is_not_safe_is_not_published(options: Any) -> None:
    found, published = outcome(pd.DataFrame(columns(leaking=True)), **options)
    assert not found.passed
    assert not published  # a blocking check
    assert "hiv-secret" not in str(found)


def test_undecided_columns_do_not_pass() -> None:
    found, _ = outcome(pd.DataFrame(columns()))
    assert not found.passed
    assert found.metadata["verdict"].value == "cannot tell"
