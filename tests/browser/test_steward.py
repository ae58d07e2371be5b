"""A data steward at a hospital: from a German file to the package for the ethics board."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from crypsis.assessment import check_package
from tests.browser.conftest import checked, upload

PATIENTS = 600


def _hospital(path: Path) -> Path:
    """Patients as a German spreadsheet writes them: windows-1252, semicolons, decimal commas."""
    draw = np.random.default_rng(23)
    towns = ["Köln", "Düsseldorf", "Münster", "Bonn"]
    found = ["Grippe", "Gürtelrose", "Asthma", "Migräne", "Hüftfraktur"]
    lines = ["Patientennummer;Geburtsdatum;Geschlecht;Ort;Gewicht;Befund"]
    for number in range(PATIENTS):
        day, month, year = draw.integers(1, 29), draw.integers(1, 13), draw.integers(1935, 2005)
        weight = f"{draw.normal(75, 12):.1f}".replace(".", ",")
        lines.append(
            f"P{number:05d};{day:02d}.{month:02d}.{year};{draw.choice(['m', 'w'])};"
            f"{draw.choice(towns)};{weight};{draw.choice(found)}"
        )
    text = "\n".join(lines)
    path.write_bytes((text + "\n").encode("windows-1252"))
    return path


def test_from_a_german_file_to_the_package(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit()
    upload(page, _hospital(tmp_path / "Entlassungen.csv"))
    page.wait_for_selector(".columns")
    decided = {"Patientennummer": "identifier", "Geburtsdatum": "quasi-identifier",
               "Geschlecht": "quasi-identifier", "Ort": "quasi-identifier",
               "Gewicht": "excluded", "Befund": "sensitive"}  # fmt: skip
    for name, role in decided.items():
        row = page.locator(f"[data-column='{name}']")
        row.locator(f"input[value='{role}']").check(force=True)
    page.click("[data-assess-now]")
    page.wait_for_selector(".verdict")
    assert "Not safe" in page.inner_text(".verdict")
    assert "can be singled out" in page.inner_text(".verdict")
    page.click("a.button.main")
    page.wait_for_selector("[data-choice]")
    page.click("#protect button:text-is('Anonymize')")
    page.wait_for_selector(".pairs")
    assert page.inner_text(".verdict").startswith("Safe to release under this policy")
    page.fill("[name=purpose]", "Dauer der Behandlung nach Alter")
    page.fill("[name=recipient]", "Ethikkommission")
    page.fill("[name=conditions]", "Keine Weitergabe\nLöschen nach fünf Jahren")
    page.click("button:text-is('Make dossier and package')")
    page.wait_for_selector("a:text-is('release.zip')")
    checked(page)
    assert page.input_value("[name=recipient]") == "Ethikkommission"
    with page.expect_download() as coming:
        page.click("a:text-is('release.zip')")
    saved = tmp_path / "package.zip"
    coming.value.save_as(saved)
    assert check_package(saved).valid
    with zipfile.ZipFile(saved) as package:
        released = package.read("release.csv")
        dossier = next(package.read(n) for n in package.namelist() if n.endswith("dossier.html"))
    header, first, *_ = io.StringIO(released.decode("windows-1252"))
    assert header.startswith("Geburtsdatum;Geschlecht;Ort;Befund")
    assert first.count(";") == 3
    assert b"P00" not in released
    for words in ("Ethikkommission", "Löschen nach fünf Jahren", "Dauer der Behandlung"):
        assert words in dossier.decode()
