"""The package: a zip with a manifest, and every way in which its files may differ from it."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.assessment import _package, check_package, make_dossier, write_package
from crypsis.errors import MissingDependencyError, OutputError, ParameterError, SourceError

PEOPLE = pa.table({"age": [30, 31, 41, 44] * 10, "disease": ["flu", "gout"] * 20})


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def no_printer(_: str) -> bytes:
        raise MissingDependencyError("none")

    monkeypatch.setattr(_package, "pdf_document", no_printer)
    file = tmp_path / "safe.csv"
    safe = cr.anonymize(
        PEOPLE, k=10, quasi_identifiers=["age"], sensitive=["disease"], seed=3, person="each record"
    )
    safe.write(file)
    dossier = make_dossier(cr.assess(safe.data), safe.data, file=file, recipient="Students")
    manifest = write_package(tmp_path / "safe.zip", file, dossier)
    assert [one.part for one in manifest.files] == [
        "release",
        "dossier",
        "statement",
        "for programs",
        "for programs",
    ]
    return tmp_path / "safe.zip"


def test_what_is_in_it(package: Path) -> None:
    found = check_package(package)
    assert found.valid
    assert found.manifest.recipient == "Students"
    assert found.manifest.verdict in ("safe", "not safe", "cannot tell")
    with zipfile.ZipFile(package) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        for one in found.manifest.files:
            assert hashlib.sha256(archive.read(one.name)).hexdigest() == one.sha256
        sums = archive.read("SHA256SUMS").decode().splitlines()
        statement = json.loads(archive.read("for programs/safe.csv.statement.json"))
        release = archive.read("safe.csv")
        assert statement["sha256"].encode() in archive.read("dossier.html")
    assert sums[:-1] == [f"{one.sha256}  {one.name}" for one in found.manifest.files]
    assert sums[-1].endswith("  manifest.json")
    assert statement["sha256"] == hashlib.sha256(release).hexdigest()
    assert names == {
        "safe.csv",
        "safe.csv.statement.md",
        "for programs/safe.csv.statement.json",
        "dossier.html",
        "for programs/assessment.json",
        "manifest.json",
        "SHA256SUMS",
    }
    assert not any("key" in name for name in names)


def _changed(files: dict[str, bytes]) -> None:
    files["safe.csv"] = files["safe.csv"].replace(b"flu", b"flx", 1)


def _longer(files: dict[str, bytes]) -> None:
    files["dossier.html"] += b" "


def _removed(files: dict[str, bytes]) -> None:
    del files["safe.csv.statement.md"]


def _added(files: dict[str, bytes]) -> None:
    files["key.json"] = b"{}"


def _other_sums(files: dict[str, bytes]) -> None:
    files["SHA256SUMS"] = files["SHA256SUMS"].replace(b"safe.csv", b"same.csv", 1)


def _without_release(files: dict[str, bytes]) -> None:
    manifest = json.loads(files["manifest.json"])
    manifest["files"] = [one for one in manifest["files"] if one["part"] != "release"]
    files["manifest.json"] = json.dumps(manifest).encode()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_changed, "'safe.csv' was changed"),
        (_longer, "'dossier.html' was changed"),
        (_removed, "'safe.csv.statement.md' is missing"),
        (_added, "'key.json' is not in the manifest"),
        (_other_sums, "'SHA256SUMS' was changed"),
        (_without_release, "0 released files"),
    ],
)
def test_every_difference_is_found(
    package: Path, change: Callable[[dict[str, bytes]], None], problem: str
) -> None:
    with zipfile.ZipFile(package) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(package, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    found = check_package(package)
    assert not found.valid
    assert any(problem in one for one in found.problems)


def test_a_name_twice_is_a_problem(package: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(package, "a") as archive:
        archive.writestr("safe.csv", "age\n1\n")
    assert any("more than once" in one for one in check_package(package).problems)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a zip", b"age,sex\n"])
def test_what_is_not_a_package(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(content)
    with pytest.raises(SourceError, match="not a valid zip"):
        check_package(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", content)
    with pytest.raises(SourceError, match="no valid manifest"):
        check_package(path)


def test_mistakes(package: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("age\n30\n")
    found = cr.assess(PEOPLE, quasi_identifiers=["age"], sensitive=["disease"], person="each record")
    dossier = make_dossier(found, file=tmp_path / "safe.csv")
    with pytest.raises(ParameterError, match="another file"):
        write_package(tmp_path / "other.zip", other, dossier)
    with pytest.raises(OutputError, match=r"\.zip"):
        write_package(tmp_path / "other.tar", tmp_path / "safe.csv", dossier)
    with pytest.raises(OutputError, match="exists"):
        write_package(package, tmp_path / "safe.csv", dossier)
    with pytest.raises(ParameterError, match="not a folder"):
        write_package(tmp_path / "other.zip", tmp_path, dossier)
    assert not (tmp_path / "other.zip").exists()
