"""Each extra missing and present: the wheel, alone in an environment, then with one extra after another."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pyarrow as pa
import pytest

from tests.conftest import ROOT
from tests.test_packaging import PROJECT

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("extras")]

TABLE = pa.table({"name": ["a", "b", "c", "d"], "age": [30, 30, 41, 41]})
CONTRACT = """
apiVersion: v3.0.2
kind: DataContract
schema:
  - name: people
    properties:
      - {name: name, customProperties: [{property: crypsis, value: identifier}]}
      - {name: age, customProperties: [{property: crypsis, value: quasi-identifier}]}
"""
COMMANDS = {
    "excel": "scan people.xlsx",
    "statistics": "scan people.dta",
    "delta": "scan delta",
    "iceberg": "scan iceberg/n/people",
    "cloud": "scan file://{here}/people.csv",
    "contracts": "assess people.csv --roles contract.yaml",
    "docx": "assess people.csv --roles roles.toml -o dossier.docx",
    "postgresql": "scan postgresql://127.0.0.1:1/nowhere",
}


ELSEWHERE = {"gpu", "pdf", "spark", "web"}  # need a device, Pango, Java; the page has its own tests


def test_every_extra_has_a_command() -> None:
    assert {*COMMANDS} | ELSEWHERE == {*PROJECT["project"]["optional-dependencies"]}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    _install(folder / "bin" / "python", str(wheel))
    return folder / "bin" / "python"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import deltalake
    import openpyxl
    import pandas as pd
    import pyarrow.csv
    from pyiceberg.catalog.memory import InMemoryCatalog

    folder = tmp_path_factory.mktemp("files")
    pyarrow.csv.write_csv(TABLE, folder / "people.csv")
    TABLE.to_pandas().to_stata(folder / "people.dta", write_index=False)
    with pd.ExcelWriter(folder / "people.xlsx", engine=openpyxl.__name__) as writer:
        TABLE.to_pandas().to_excel(writer, index=False)
    deltalake.write_deltalake(str(folder / "delta"), TABLE)
    catalog = InMemoryCatalog("test", warehouse=f"file://{folder / 'iceberg'}")
    catalog.create_namespace("n")
    catalog.create_table("n.people", TABLE.schema).append(TABLE)
    (folder / "contract.yaml").write_text(CONTRACT)
    (folder / "roles.toml").write_text('[roles]\nname = "identifier"\nage = "quasi-identifier"\n')
    return folder


@pytest.mark.parametrize("extra", [*COMMANDS])
def test_missing_then_present(extra: str, python: Path, wheel: Path, files: Path) -> None:
    before = _crypsis(python, files, COMMANDS[extra])
    assert before.returncode == 2
    assert f"crypsis[{extra}]" in before.stderr
    _install(python, f"{wheel}[{extra}]")
    after = _crypsis(python, files, COMMANDS[extra])
    assert f"crypsis[{extra}]" not in after.stderr
    if extra == "postgresql":  # nobody listens there
        assert after.returncode == 2
    else:
        assert after.returncode in (0, 1), after.stderr


def _crypsis(python: Path, files: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = command.format(here=files).split()
    return subprocess.run(
        [python, "-m", "crypsis", *words], cwd=files, capture_output=True, text=True, env=_clean()
    )


def _install(python: Path, what: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", what], check=True, env=_clean())


def _clean() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
