"""What a reader sees: the terminal at 80 columns, Markdown, the pages of the documentation."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import papers
from crypsis.errors import OutputError
from papers import Agreement, ComparedValue, PaperItem, Reproduction
from papers.report import lines, reproduction_markdown, reproduction_view

pytestmark = pytest.mark.xdist_group("papers")
PAGES = Path(__file__).resolve().parents[2] / "docs" / "papers"


@pytest.fixture(params=papers.PAPERS)
def found(request: pytest.FixtureRequest, reproductions: dict[str, Reproduction]) -> Reproduction:
    return reproductions[request.param]


def _screen(found: Reproduction, *, everything: bool = False) -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(reproduction_view(found, everything=everything), crop=False)
    text = console.file
    assert isinstance(text, io.StringIO)
    return text.getvalue()


def test_eighty_columns_and_every_item(found: Reproduction) -> None:
    text = _screen(found)
    assert max(len(line) for line in text.splitlines()) <= 80
    for item in found.items:
        assert re.search(rf"^{re.escape(item.name)}  ", text, re.MULTILINE)
    assert "…" not in text


def test_the_page_in_the_documentation_is_that_of_this_run(found: Reproduction) -> None:
    page = (PAGES / f"{found.paper}.md").read_text(encoding="utf-8")
    pictures = dict(re.findall(r"### (\w+ [\d.]+): [^\n]*\n\n!\[[^\n]*\]\(([^)\n]+)\)", page))
    assert set(pictures) == {item.name for item in found.items if item.drawable}
    assert all((PAGES / name).is_file() for name in pictures.values())
    ours = reproduction_markdown(found, pictures=pictures)
    assert _lasting(ours) == _lasting(page), "make it again: make paper-pages"


def _lasting(page: str) -> list[str]:
    """A page without the times that were measured, which no two runs share."""
    return [line for line in page.splitlines() if not line.startswith("| time: ")]


def test_pictures_are_small_and_none_is_left_over() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.md"))
    for path in PAGES.iterdir():
        assert path.suffix in (".md", ".svg", ".png")
        assert path.stat().st_size < 300_000
        assert path.suffix == ".md" or path.name in text


def _item(*cells: ComparedValue) -> PaperItem:
    return PaperItem("Table 1", "a table", cells)


def _cell(i: int, agreement: Agreement = Agreement.EQUAL, note: str = "") -> ComparedValue:
    return ComparedValue("column", f"row {i}", str(i), str(i), agreement, note)


def test_long_columns_fold_where_all_agree() -> None:
    agreed = _item(*(_cell(i) for i in range(20)))
    assert [line.what for line in lines(agreed)[0]] == ["column, 20 values"]
    assert len(lines(agreed, everything=True)[0]) == 20
    one_off = _item(*(_cell(i, Agreement.DIFFERS if i == 7 else Agreement.EQUAL) for i in range(20)))
    assert len(lines(one_off)[0]) == 20
    short = _item(*(_cell(i) for i in range(5)))
    assert len(lines(short)[0]) == 5


def test_a_note_is_shown_once() -> None:
    item = _item(
        _cell(1, Agreement.ERRATUM, "a"), _cell(2, Agreement.ERRATUM, "a"), _cell(3, Agreement.ERRATUM, "b")
    )
    shown, notes = lines(item)
    assert notes == ["a", "b"]
    assert [line.note for line in shown] == [1, 1, 2]


def test_markdown_signs_are_escaped() -> None:
    cell = ComparedValue("", "P(a | b) <i> *x*", "1_2", "$3", Agreement.ERRATUM, "`code` and a|b")
    page = reproduction_markdown(Reproduction("p", "c", ("a",), (_item(cell),), 1.0))
    assert r"P(a \| b) \<i\> \*x\*" in page
    assert r"| 1\_2 | \$3 | erratum (1) |" in page
    assert r"`code` and a\|b" in page


def test_figures_become_files(reproductions: dict[str, Reproduction], tmp_path: Path) -> None:
    made = papers.save_figures(reproductions["domingo2016"], tmp_path / "figures")
    assert sorted(path.name for path in made) == [
        f"domingo2016_figure_{i}.{form}" for i in (1, 2, 3) for form in ("png", "svg")
    ]
    for path in made:
        head = path.read_bytes()[:8]
        assert head.startswith(b"\x89PNG" if path.suffix == ".png" else b"<svg")
    with pytest.raises(OutputError, match="is a file"):
        papers.save_figures(reproductions["domingo2016"], made[0])
    with pytest.raises(OutputError, match="svg and png"):
        papers.save_figures(reproductions["domingo2016"], tmp_path, formats=("pdf",))
