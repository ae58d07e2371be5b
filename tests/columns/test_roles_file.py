"""A mistake in a roles file is named with the file, the column and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from crypsis.columns.roles import load
from crypsis.errors import InputError


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('age = "quasi"', "column 'age' has the unknown role 'quasi'"),
        ("age = 1", "role of column 'age' must be text"),
        ('zip = "sensitive"', "column 'zip' does not exist"),
        ('age = { role = "sensitive", wieght = 2 }', "'wieght' besides its role .*'weight'"),
        ('age = { role = "sensitive", weight = -1 }', "weight of column 'age'"),
        ('age = { role = "sensitive", keep = "months" }', "keep of column 'age' .*month, quarter"),
        ('age = { role = "sensitive", may_change = "yes" }', "may_change of column 'age'"),
        ('age = { role = "sensitive", priors = { flu = 2 } }', "priors of column 'age'"),
        ('age = { role = "sensitive", hierarchy = "none.csv" }', "none.csv' could not be read"),
        ('age = "sensitive"\n[units]\npersn = "age"', "'persn' does not name a column"),
        ('age = "sensitive"\n[units]\nperson = 1', "'person' does not name a column"),
        ('age = "sensitive"\n[units]\nperson = "zip"', "column 'zip' does not exist"),
        ('age = "sensitive"\n[unit]\nperson = "age"', "other tables .*'unit'"),
        ('age = "sensitive"\n[container]\nsheet = 1', "'sheet' must be words"),
        ("age =", "line 2, column 6"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "ours.toml"
    path.write_text(f"[roles]\n{text}\n")
    with pytest.raises(InputError, match=rf"(?is)'ours\.toml'.*{named}"):
        load(path, ["age", "sex"])
