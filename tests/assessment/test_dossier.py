"""The dossier: what it has, what it never has, and that it is one document in every form."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import types
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.assessment import Dossier, make_dossier
from crypsis.cli import run
from crypsis.errors import MissingDependencyError, OutputError, ParameterError
from crypsis.policies import MEASURES
from crypsis.report import plain_titles, wording
from crypsis.report.dossier import pdf, sections
from crypsis.report.dossier.blocks import Bars, Grid
from crypsis.results import Estimate, percent_text

PEOPLE = pa.table(
    {
        "name": [f"person-{i}" for i in range(120)],
        "age": [20 + i % 40 for i in range(120)],
        "sex": ["f", "m"] * 60,
        "disease": ["flu", "gout", "asthma", "none"] * 30,
        "rare": ["only-one-has-it"] + ["usual"] * 119,
    }
)
ROLES: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi_identifiers": ["age", "sex"],
    "sensitive": ["disease"],
    "insensitive": ["rare"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dossier, Path]:
    file = tmp_path_factory.mktemp("release") / "safe.csv"
    original = cr.Dataset.from_frame(PEOPLE, **ROLES, person="each record")
    safe = cr.anonymize(original, k=10, seed=1).write(file)
    found = cr.assess(safe.data, original, row_map=safe.key.row_map, name=file.name)
    dossier = make_dossier(
        found,
        safe.data,
        original,
        file=file,
        title="Ages and diseases",
        purpose="A course",
        recipient="Students",
        author="A. Steward",
        date="2026-11-18",
        conditions=["Do not share."],
    )
    return dossier, file


def _words(dossier: Dossier) -> str:
    text = re.sub(r"<style>.*?</style>", "", dossier.to_html(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def _why(dossier: Dossier) -> str:
    """The explanation behind the verdict."""
    text = dossier.assessment.explanation.partition(": ")[2]
    return text[0].upper() + text[1:]


def _table(dossier: Dossier, section: str) -> Grid:
    """The table of a section."""
    (found,) = (one for one in sections(dossier) if one.name == section)
    return next(one for one in found.blocks if isinstance(one, Grid))


def _docx_text(path: Path) -> str:
    docx = pytest.importorskip("docx")
    document = docx.Document(str(path))
    cells = (cell.text for one in document.tables for row in one.rows for cell in row.cells)
    return "\n".join([*(one.text for one in document.paragraphs), *cells])


def test_the_first_page(made: tuple[Dossier, Path]) -> None:
    dossier, _file = made
    text = _words(dossier)
    for word in ("Ages and diseases", "A course", "Students", "A. Steward", "2026-11-18"):
        assert word in text
    assert _why(dossier).replace("'", "&#39;") in text
    assert "Not safe: " not in text  # the verdict is written above it
    first = sections(dossier)[0]
    (gauge,) = [one for one in first.blocks if isinstance(one, Bars)]
    shares = {bar.label: bar.share for bar in gauge.bars}
    classes = dossier.assessment.answer("singling_out").results["equivalence_classes"]  # type: ignore[union-attr]
    assert shares["Release, most exposed"] == pytest.approx(1 / classes.k)
    assert shares["Original, most exposed"] == pytest.approx(1 / 3)  # 40 ages, 3 records of each
    assert gauge.limit == pytest.approx(0.2)
    assert "No earlier release was given." in text
    assert "The least is left of age: " in text  # of what was recoded; sex is as it is


def test_people_with_several_records_are_counted_as_people() -> None:
    visits = pa.table(
        {
            "patient": [i // 2 for i in range(40)],
            "age": [30 + i // 20 for i in range(40)],
            "disease": ["flu", "gout"] * 20,
        }
    )
    data = cr.Dataset.from_frame(
        visits, quasi_identifiers=["age"], sensitive=["disease"], excluded=["patient"], person="patient"
    )
    text = _words(make_dossier(cr.assess(data), data))
    assert "40 records of 20 people" in text
    assert "of a person finds at least 10 people who fit" in text


def test_what_was_changed(made: tuple[Dossier, Path]) -> None:
    dossier, _ = made
    columns = {one.column: one for one in dossier.columns}
    assert columns["name"].change == "not released"
    assert columns["disease"].change == "as it is"
    assert columns["age"].change != "as it is"
    assert columns["age"].values_before == 40
    released = {one.column: set(one.examples) for one in dossier.columns}
    assert released["disease"] == {"flu", "gout", "asthma"}
    assert released["rare"] == {"usual"}
    text = dossier.to_html()
    assert re.search(r'<span class="period">\d\d-\d\d</span>', text)  # not broken at the hyphen
    assert "only-one-has-it" not in text
    assert "person-" not in text
    assert f"{hashlib.sha256(made[1].read_bytes()).hexdigest()}" in text


def test_examples_can_be_left_out_and_need_a_release(made: tuple[Dossier, Path]) -> None:
    dossier, file = made
    found = dossier.assessment
    quiet = make_dossier(found, file, PEOPLE, file=file, examples=False)
    assert all(one.examples == () for one in quiet.columns)
    # Nothing shows that this is a release, so no value of it is shown.
    unknown = make_dossier(found, PEOPLE)
    assert unknown.columns == ()
    assert "asthma" not in unknown.to_html()
    assert "examples" not in str(dossier.to_dict()["columns"])


def test_a_statement_of_another_file_is_not_used(made: tuple[Dossier, Path], tmp_path: Path) -> None:
    dossier, file = made
    statement = file.with_name("safe.csv.statement.json")
    other = tmp_path / "safe.csv"
    other.write_text(file.read_text() + "\n")
    shutil.copy(statement, tmp_path)
    assert make_dossier(dossier.assessment, file=other).losses == ()
    with pytest.raises(ParameterError, match="another file"):
        make_dossier(dossier.assessment, file=other, statement=statement)
    assert make_dossier(dossier.assessment, file=file).losses == dossier.losses


def test_each_command_and_each_threshold_once() -> None:
    found = cr.assess(cr.Dataset.from_frame(PEOPLE, **ROLES, person="each record"), try_remedies=True)
    dossier = Dossier(found)
    text = dossier.to_html()
    assert text.count("crypsis.anonymize(") == 1
    rows = _table(dossier, "thresholds").rows
    assert len({row[0] for row in rows}) == len(rows) >= 5
    assert all("Source: " in row[3] for row in rows)
    assert "What would make it safe" in text
    assert {one.remedy.description for one in found.exceeded if one.remedy} > {
        "Generalize the quasi-identifiers and suppress records until the threshold is met."
    }
    assert text.count("Generalize the quasi-identifiers") == 1


def test_attributes_that_differ_in_nothing_else_are_in_one_row() -> None:
    roles = {**ROLES, "sensitive": ["disease", "rare"], "insensitive": []}
    dossier = Dossier(
        cr.assess(cr.Dataset.from_frame(PEOPLE, **roles, person="each record"), try_remedies=False)
    )
    rows = {row[0]: row[1:] for row in _table(dossier, "thresholds").rows}
    title = "How much likelier a value is in a group than one could predict (baseline excess)"
    allowed, found, why = rows[title]
    assert allowed == "at most 20 %"
    assert "disease " in found
    assert "rare " in found
    assert sum(why in row for row in rows.values()) == 1
    assert rows["Columns that identify a person (direct identifiers)"][1] == "exceeded: 1 column, 'name'"


def test_every_measure_has_a_title_in_plain_words() -> None:
    assert set(plain_titles._PLAIN) == set(MEASURES)


def test_roles_have_the_decision_and_the_guess() -> None:
    dossier = Dossier(
        cr.assess(cr.Dataset.from_frame(PEOPLE, **ROLES, person="each record"), try_remedies=False)
    )
    reasons = {row[0]: row[5] for row in _table(dossier, "columns").rows}
    assert reasons["age"] == "Decided by the owner; the guess was the same: The name indicates an age."
    assert reasons["rare"].startswith("Decided by the owner; not guessed: ")
    assert "sign_off" not in _words(dossier)


def test_cannot_tell_gives_its_first_reason_once() -> None:
    data = pa.table({"sex": ["f", "m"] * 60, "v1": ["a", "b", "c"] * 40, "v2": ["d"] * 120})
    found = cr.assess(data, quasi_identifiers=["sex"], excluded=["v2"], person="each record")
    assert len(found.reasons) == 2
    assert found.verdict.value == "cannot tell"
    reason = found.reasons[0].text.removesuffix(".")
    for text in (" ".join(str(found).split()), _words(Dossier(found)).replace("&#39;", "'")):
        assert text.count(reason) == 1
        assert found.reasons[1].text in text
    assert "What is missing for a verdict" in _words(Dossier(found))


def test_a_column_that_nobody_changed_is_as_it_is(tmp_path: Path) -> None:
    ages = [30, 31] * 30 + [99]
    people = pa.table({"age": ages, "disease": ["flu", "gout", "none"] * 20 + ["flu"]})
    roles: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["disease"]}
    data, file = cr.Dataset.from_frame(people, **roles, person="each record"), tmp_path / "safe.csv"
    safe = cr.anonymize(data, k=10, methods={"age": "keep"}, recoding="full-domain").write(file)
    assert safe.data.count == 60
    columns = make_dossier(cr.assess(safe.data), safe.data, data, file=file).columns
    assert {one.column: one.change for one in columns}["disease"] == "as it is"


def test_an_attribute_apart_is_named_and_not_asked_about(tmp_path: Path) -> None:
    sexes = pa.array(["f"] * 60 + ["m"] * 60)  # that say nothing about the disease
    people = PEOPLE.set_column(PEOPLE.column_names.index("sex"), "sex", sexes)
    data, file = cr.Dataset.from_frame(people, **ROLES, person="each record"), tmp_path / "safe.csv"
    safe = cr.anonymize(data, k=10, apart="disease", seed=1).write(file)
    found = cr.assess(safe.data, try_remedies=False)
    text = _words(make_dossier(found, safe.data, file=file))
    assert "1 is released apart, in a file of its own." in text
    assert "released apart, in safe.apart-1.csv" in text
    assert "no sensitive attribute can be inferred" not in text
    assert "Can a sensitive attribute be inferred? No column is a sensitive attribute." in text
    assert "Left: the share" not in text  # the original was not given


def test_a_picture_shows_more_than_one_number() -> None:
    dossier = Dossier(cr.assess(PEOPLE.select(["name"]), quasi_identifiers=["name"], person="each record"))
    (asked,) = (one for one in sections(dossier) if one.name == "questions")
    assert not any(isinstance(one, Bars) for one in asked.blocks)


def test_the_same_numbers_everywhere(tmp_path: Path) -> None:
    found = cr.assess(cr.Dataset.from_frame(PEOPLE, **ROLES, person="each record"), try_remedies=False)
    dossier = Dossier(found)
    plain = json.loads(found.to_json())["result"]
    page = _words(dossier).replace("( ", "(").replace(" )", ")")  # tags begin and end there
    word = _docx_text(dossier.write(tmp_path / "dossier.docx"))
    screen = " ".join(str(found).split())
    risk = plain["answers"][0]["results"]["equivalence_classes"]["risk"]
    numbers = {
        "Prosecutor risk, highest": risk["prosecutor"]["maximum"],
        "Prosecutor risk, average": risk["prosecutor"]["average"],
        "Marketer risk, average": risk["marketer"]["average"],
    }
    for label, value in numbers.items():
        assert f"{label} {percent_text(value)}" in page
        assert f"{label}\n{percent_text(value)}" in word
    assert f"marketer {percent_text(risk['marketer']['average'])} (average)" in screen
    shown = [one for one in plain["findings"] if one["status"] == "exceeded"]
    assert len(shown) >= 4
    for place, one in enumerate(shown):
        given = one["value"]
        number = Estimate(**given) if isinstance(given, dict) else given
        value = wording.number(number, one["unit"])
        assert value in page
        assert value in word
        # There the worst four, without their intervals.
        assert wording.number(float(number), one["unit"]) in screen or place >= 4


def test_the_pdf_is_printed(made: tuple[Dossier, Path], tmp_path: Path) -> None:
    if pdf._chromium() is None:
        pytest.skip("no Chromium")
    target = made[0].write(tmp_path / "dossier.pdf")
    content = target.read_bytes()
    assert content.startswith(b"%PDF-")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 12
    with pytest.raises(OutputError, match="exists"):
        made[0].write(target)


def test_pdf_without_chromium(made: tuple[Dossier, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_chromium", lambda: None)
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(MissingDependencyError, match=r"Chromium .* weasyprint"):
        made[0].write("dossier.pdf")
    given: dict[str, Any] = {}

    class HTML:
        def __init__(self, **options: Any) -> None:
            given.update(options)

        def write_pdf(self) -> bytes:
            return b"%PDF-printed"

    module = types.SimpleNamespace(HTML=HTML)
    monkeypatch.setitem(sys.modules, "weasyprint", module)  # type: ignore[arg-type]
    assert pdf.pdf_document("<p>page</p>") == b"%PDF-printed"
    with pytest.raises(ValueError, match="no other file"):
        given["url_fetcher"]("file:///etc/passwd")


def test_pdf_without_a_library_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "weasyprint.py").write_text("print('Oh no'); raise OSError('libpango')\n")
    (tmp_path / "t.csv").write_text("age,sex\n30,f\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.setattr(pdf, "_chromium", lambda: None)
    words = ["assess", "--person", "each record", str(tmp_path / "t.csv"), "--qi", "age", "--qi", "sex"]
    assert run([*words, "-o", str(tmp_path / "dossier.pdf")]) == 2
    shown = capsys.readouterr()
    assert "weasyprint is installed, but Pango is not" in shown.err
    assert shown.out == ""
    assert "Traceback" not in shown.err


def test_a_browser_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_chromium", lambda: shutil.which("false"))
    with pytest.raises(OutputError, match="could not print"):
        pdf.pdf_document("<p>page</p>")


def test_word(made: tuple[Dossier, Path], tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    target = made[0].write(tmp_path / "dossier.docx")
    document = docx.Document(str(target))
    text = "\n".join(one.text for one in document.paragraphs)
    cells = "\n".join(cell.text for one in document.tables for row in one.rows for cell in row.cells)
    assert "Ages and diseases" in text
    assert _why(made[0]) in text
    assert made[0].sha256 is not None
    assert made[0].sha256 in cells
    assert "only-one-has-it" not in text + cells
    heads = [one.rows[0]._tr.xml for one in document.tables if one.style.name.startswith("Light")]
    assert heads
    assert all("w:tblHeader" in one for one in heads)
    assert [s.title for s in sections(made[0])][1:] == [
        one.text for one in document.paragraphs if one.style.name == "Heading 1"
    ]


def test_word_without_the_package(
    made: tuple[Dossier, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(MissingDependencyError, match="python-docx"):
        made[0].write(tmp_path / "dossier.docx")
    with pytest.raises(ParameterError, match=r"\.html or \.pdf or \.docx"):
        made[0].write(tmp_path / "dossier.txt")
