"""Each extra missing and present: the wheel, alone in an environment, then with one extra after another."""

from __future__ import annotations

import ctypes.util
import os
import shutil
import signal
import subprocess
import sys
import venv
from pathlib import Path
from urllib.request import urlopen

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
    "gpu": "attack matrix beliefs.csv --method gpu",
    "pdf": "assess people.csv --roles roles.toml -o dossier.pdf",
    "postgresql": "scan postgresql://127.0.0.1:1/nowhere",
    "spark": "scan people.csv --engine spark --master local[1]",
    "web": "serve people.csv --no-open",
}
NEEDED = {
    "gpu": False,  # a device, which few machines have: the tests marked "gpu" run it
    "pdf": ctypes.util.find_library("pango-1.0"),
    "spark": shutil.which("java"),
}
"""What an extra needs besides its packages, where this machine has it."""


def test_every_extra_has_a_command() -> None:
    assert {*COMMANDS} == {*PROJECT["project"]["optional-dependencies"]}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and nothing else."""
    made = _environment(tmp_path_factory.mktemp("environment"))
    _install(made, str(wheel))
    return made


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
    (folder / "beliefs.csv").write_text("item,p,q,r\na,5,3,2\nb,2,5,3\nc,3,3,4\n")
    (folder / "contract.yaml").write_text(CONTRACT)
    (folder / "roles.toml").write_text('[roles]\nname = "identifier"\nage = "quasi-identifier"\n')
    return folder


@pytest.mark.parametrize("extra", [*COMMANDS])
def test_missing(extra: str, python: Path, files: Path) -> None:
    found = _crypsis(python, files, COMMANDS[extra])
    assert found.returncode == 2
    assert f"crypsis[{extra}]" in found.stderr


@pytest.mark.parametrize("extra", [*COMMANDS])
def test_present(extra: str, python: Path, wheel: Path, files: Path, tmp_path: Path) -> None:
    if not NEEDED.get(extra, True):
        pytest.skip("the extra needs more than its packages, which is not here")
    own = _environment(tmp_path / "environment", python)
    _install(own, f"{wheel}[{extra}]")
    if extra == "web":
        return _open_page(own, files)
    found = _crypsis(own, files, COMMANDS[extra])
    assert f"crypsis[{extra}]" not in found.stderr
    if extra == "postgresql":  # nobody listens there
        assert found.returncode == 2
    else:
        assert found.returncode in (0, 1, 4), found.stderr
    if extra == "pdf":
        assert (files / "dossier.pdf").read_bytes().startswith(b"%PDF")


def _open_page(python: Path, files: Path) -> None:
    """The page answers at the address that is printed, and ends when it is interrupted."""
    words = [str(python), "-m", "crypsis", *COMMANDS["web"].split()]
    with subprocess.Popen(words, cwd=files, stdout=subprocess.PIPE, text=True, env=_clean()) as page:
        assert page.stdout is not None
        address = page.stdout.readline().removeprefix("Open ").strip()
        with urlopen(address) as answer:
            assert answer.status == 200
        page.send_signal(signal.SIGINT)
    assert page.returncode == 130


def _crypsis(python: Path, files: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = command.format(here=files).split()
    settings = _clean()
    if command.endswith(".pdf"):
        settings["PATH"] = ""  # Chromium, where it is found, prints PDF without the extra
    return subprocess.run(
        [python, "-m", "crypsis", *words], cwd=files, capture_output=True, text=True, env=settings
    )


def _environment(folder: Path, base: Path | None = None) -> Path:
    """The Python of a new environment, which also finds the packages of another one."""
    venv.create(folder, with_pip=True)
    if base is not None:
        (there,), (here,) = (
            list(place.glob("lib/python*/site-packages")) for place in (base.parents[1], folder)
        )
        (here / "base.pth").write_text(f"{there}\n")
    return folder / "bin" / "python"


def _install(python: Path, what: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", what], check=True, env=_clean())


def _clean() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
