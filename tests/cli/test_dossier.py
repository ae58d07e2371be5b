"""The dossier and the package on the command line."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from crypsis.assessment import _package, check_package
from crypsis.cli import run
from crypsis.errors import MissingDependencyError

ROLES = ["--id", "name", "--qi", "age", "--sensitive", "disease"]
ABOUT = [
    "--title",
    "Ages",
    "--purpose",
    "A course",
    "--recipient",
    "Students",
    "--author",
    "A.",
    "--date",
    "2026-11-18",
    "--condition",
    "Do not share.",
]


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def no_printer(_: str) -> bytes:
        raise MissingDependencyError("none")

    monkeypatch.setattr(_package, "pdf_document", no_printer)
    path = tmp_path / "people.csv"
    rows = [f"person-{i},{20 + i % 4},{('flu', 'gout')[i % 2]}" for i in range(200)]
    path.write_text("name,age,disease\n" + "\n".join(rows) + "\n")
    return path


def test_a_dossier_of_a_file(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = people.with_name("dossier.html")
    assert (
        run(["assess", "--person", "each record", str(people), *ROLES, "-o", str(out), "--no-try", *ABOUT])
        == 1
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "Not safe: 1 column identifies people directly" in shown
    text = out.read_text()
    for word in ("Ages", "A course", "Students", "2026-11-18", "Do not share."):
        assert word in text
    assert "flu" not in text


def test_a_package_is_made_and_checked(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safe, package = people.with_name("safe.csv"), people.with_name("safe.zip")
    command = ["anonymize", "--person", "each record", str(people), *ROLES, "--k", "20", "-o", str(safe)]
    key = ["--key", str(people.with_name("key.json"))]
    status = run([*command, *key, "--package", str(package), *ABOUT])
    shown = " ".join(capsys.readouterr().out.split())
    found = check_package(package)
    assert found.valid
    assert (found.manifest.title, found.manifest.recipient) == ("Ages", "Students")
    assert status == {"safe": 0, "not safe": 1, "cannot tell": 4}[found.manifest.verdict]
    assert found.manifest.explanation in shown
    with zipfile.ZipFile(package) as archive:
        assert archive.read("safe.csv") == safe.read_bytes()
        assert not any("key" in name for name in archive.namelist())
        text = archive.read("dossier.html").decode()
    assert "person-" not in text
    assert "Original, most exposed" in text
    assert run(["package", "check", str(package)]) == 0
    assert "each as in the manifest" in capsys.readouterr().out
    again = people.with_name("again.zip")
    options = ["--original", str(people), *key, "-o", str(again)]
    assert run(["assess", "--person", "each record", str(safe), *ROLES[2:], *options]) == status
    assert check_package(again).valid
    capsys.readouterr()
    with zipfile.ZipFile(package, "a") as archive:
        archive.writestr("more.csv", "x")
    assert run(["package", "check", str(package)]) == 1
    assert "'more.csv' is not in the manifest" in capsys.readouterr().out


def test_new_pseudonyms_and_masks_in_a_package(people: Path) -> None:
    """Pseudonyms that do not repeat link nothing; what was masked before it was recoded is said."""
    rows = [f"p{i},{1500 + i * 7 % 400},{('flu', 'gout')[i // 3 % 2]}" for i in range(400)]
    people.write_text("name,height,disease\n" + "\n".join(rows) + "\n")
    safe, package = people.with_name("safe.csv"), people.with_name("safe.zip")
    command = [
        "anonymize",
        "--person",
        "each record",
        str(people),
        "--id",
        "name",
        "--qi",
        "height",
        "--sensitive",
        "disease",
    ]
    masks = ["--method", "name=pseudonym", "--method", "height=noise:0.5"]
    more = ["--k", "50", "--key", str(people.with_name("key.json")), "-o", str(safe)]
    assert run([*command, *masks, *more, "--package", str(package)]) == 0
    with zipfile.ZipFile(package) as archive:
        text = archive.read("dossier.html").decode()
    assert "masked (normal noise of 0.5 standard deviations, independent), then in" in text
    assert "crypsis.anonymize(" not in text
    assert "it may not be the original" not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "x.json", "--title", "T"], "are those of a dossier"),
        (["--purpose", "P"], "are those of a dossier"),
        (["-o", "x.txt"], "not a valid output"),
    ],
)
def test_mistakes(
    people: Path,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(people.parent)
    assert run(["assess", "--person", "each record", str(people), *ROLES, *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not list(people.parent.glob("x.*"))


def test_what_is_missing_is_said_before_the_work(
    people: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "docx", None)
    out = str(people.with_name("x.docx"))
    assert run(["assess", "--person", "each record", "none.csv", "-o", out]) == 2
    assert "python-docx" in capsys.readouterr().err
    assert run(["package", "check", str(people)]) == 2
    assert "not a valid zip file" in capsys.readouterr().err
    command = [
        "anonymize",
        "--person",
        "each record",
        str(people),
        *ROLES,
        "-o",
        str(people.with_name("s.csv")),
        "--title",
        "T",
    ]
    assert run(command) == 2
    assert "are those of a dossier" in " ".join(capsys.readouterr().err.split())
