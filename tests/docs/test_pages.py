"""Everything that the documentation shows of running crypsis is run, and shows the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs import pages

DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("[a-z]*.md"))
NEEDS_DATA = {"masking"}
SESSIONS = sorted(
    page
    for page in DOCS.rglob("*.md")
    if page not in TUTORIALS
    and not {"_build", "reference"} & set(page.relative_to(DOCS).parts)
    and any(block.language == "pycon" for block in pages.blocks(page))
)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if page.stem in NEEDS_DATA:
        data = request.getfixturevalue("data_folder")
        (tmp_path / "casc").symlink_to(data / "casc")
    if page.stem == "spark_cluster":
        request.getfixturevalue("spark")
    pages.run(page, tmp_path, pages.check)


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.stem)
def test_worked_example(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in pages.blocks(page):
        if block.language == "pycon":
            pages.session(block, page, names)


def test_a_page_that_shows_something_else_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one; false\none\n$ echo $?\n0\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="Expected"):
        pages.run(page, tmp_path, pages.check)


def test_the_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the sample, under the name that the README gives it."""
    from crypsis.demo import write_people

    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    write_people(tmp_path, rows=2_000).rename(tmp_path / "demo" / "people.csv")
    (example,) = [one for one in pages.blocks(ROOT / "README.md") if one.language == "python"]
    assert sum(bool(line.strip()) for line in example.lines) <= 11
    names: dict[str, object] = {}
    exec(compile(example.text, "README.md", "exec"), names)
    assert (tmp_path / "release.parquet").exists()
    assert capsys.readouterr().out.strip() == "safe"
