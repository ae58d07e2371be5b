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
    base = page.url
    original = _hospital(tmp_path / "Entlassungen.csv")
    upload(page, original)
    page.wait_for_selector(".columns")
    decided = {
        "Patientennummer": "identifier",
        "Geburtsdatum": "quasi-identifier",
        "Geschlecht": "quasi-identifier",
        "Ort": "quasi-identifier",
        "Gewicht": "excluded",
        "Befund": "sensitive",
    }
    for name, role in decided.items():
        row = page.locator(f"[data-column='{name}']")
        row.locator(f"input[value='{role}']").check(force=True)
    page.check("[name=record][value='each record']")
    page.click("[data-assess-now]")
    page.wait_for_selector(".verdict")
    assert "Not safe" in page.inner_text(".verdict")
    assert "can be singled out" in page.inner_text(".verdict")
    gauge = page.locator(".gauge div").all_inner_texts()
    assert [one.split("\n") for one in gauge] == [["Most exposed", "100 %"], ["On average", "100 %"]]
    # The worst record is an example on request only.
    assert "Grippe" not in page.inner_text("main")
    page.click("[data-example] button")
    page.wait_for_selector("[data-example] dl")
    assert "No other record is alike" in page.inner_text("[data-example]")
    assert page.locator("[data-example] dt").all_inner_texts() == [
        "Geburtsdatum",
        "Geschlecht",
        "Ort",
        "Befund",
    ]
    checked(page)
    page.click("a.button.main")
    page.wait_for_selector("[data-choice]")
    page.click("#protect button:text-is('Anonymize')")
    page.wait_for_selector(".pairs")
    assert page.inner_text(".verdict").startswith("Safe to release under this policy")
    gauge = page.locator(".gauge div").all_inner_texts()
    assert gauge[0].split("\n") == ["Original, most exposed", "100 %"]
    assert gauge[1].split("\n") == ["Release, most exposed", "5 %"]
    measures = page.locator(".pairs tbody td:first-child").all_inner_texts()
    assert "Records in classes smaller than 5" in measures
    page.check("#key-confirm")
    with page.expect_download() as coming:
        page.click("[data-key]:not([disabled])")
    coming.value.save_as(tmp_path / "key.json")
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
    # The page takes its own release, with intervals, dates by years and missing values.
    (tmp_path / "release.csv").write_bytes(released)
    page.goto(base + "compare")
    for slot, name in (("original", original.name), ("masked", "release.csv"), ("key", "key.json")):
        upload(page, tmp_path / name, f"#file-{slot}")
        page.wait_for_selector(f".drop.done[data-slot={slot}]")
    page.fill("[name=columns]", "Geburtsdatum, Geschlecht, Ort")  # what the intruder knows
    page.fill("[name=acceptable]", "0.1")
    page.click("[type=submit]:not([disabled])")
    page.wait_for_selector(".verdict")
    assert page.inner_text(".verdict > strong") == "Safe"
    checked(page)
    page.goto(base + "verify")
    upload(page, tmp_path / "release.csv", "#file-released")
    page.fill("[data-value=Geburtsdatum]", "01.02.1970")
    page.fill("[data-value=Geschlecht]", "w")
    page.click("[type=submit]:not([disabled])")
    page.wait_for_selector(".verdict")
    fits = page.locator(".verdict ~ .wide td").all_inner_texts()
    assert all(int(one.replace(",", "")) > 0 for one in fits)
    checked(page)
