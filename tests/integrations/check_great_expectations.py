"""The expectation in Great Expectations itself."""

from __future__ import annotations

from typing import Any

import great_expectations as gx
import pandas as pd
import pytest

from crypsis.integrations.great_expectations import ExpectReleaseToBeSafe
from tests.integrations.people import ROLES, ROLES_FILE, columns


@pytest.fixture(scope="module")
def definition() -> Any:
    context = gx.get_context(mode="ephemeral")
    asset = context.data_sources.add_pandas("pandas").add_dataframe_asset("patients")
    return asset.add_batch_definition_whole_dataframe("all")


def validated(definition: Any, data: Any, **options: Any) -> Any:
    batch = definition.get_batch(batch_parameters={"dataframe": pd.DataFrame(data)})
    return batch.validate(ExpectReleaseToBeSafe(**options))


def test_a_safe_batch_passes(definition: Any, tmp_path: Any) -> None:
    file = tmp_path / "roles.toml"
    file.write_text(ROLES_FILE)
    for options in (ROLES, {"roles_file": str(file)}):
        found = validated(definition, columns(), **options)
        assert found.success
        assert found.result["observed_value"] == "safe"


def test_a_leaking_batch_does_not(definition: Any) -> None:
    found = validated(definition, columns(leaking=True), **ROLES)
    assert not found.success
    assert found.result["observed_value"] == "not safe"
    assert "smaller than 5" in found.result["details"]["explanation"]
    assert "hiv-secret" not in str(found.result["details"])


def test_undecided_columns_do_not_pass(definition: Any) -> None:
    found = validated(definition, columns())
    assert not found.success
    assert found.result["observed_value"] == "cannot tell"


def test_an_error_does_not_pass(definition: Any) -> None:
    found = validated(definition, columns(), quasi_identifiers=["agee"])
    assert not found.success


def test_in_a_suite(definition: Any) -> None:
    suite = gx.ExpectationSuite(name="release")
    suite.add_expectation(ExpectReleaseToBeSafe(**ROLES))
    data = pd.DataFrame(columns())
    batch = definition.get_batch(batch_parameters={"dataframe": data})
    assert batch.validate(suite).success
