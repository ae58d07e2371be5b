"""The four papers: every item is there, no value differs, and a fault is found."""

from __future__ import annotations

from pathlib import Path

import pytest

import papers
from crypsis.errors import ParameterError, SourceError
from papers import Agreement, Reproduction, lodha2007
from papers.lodha2007 import examples, quasi_identifiers

pytestmark = pytest.mark.xdist_group("papers")


def _numbered(kind: str, *numbers: int) -> set[str]:
    return {f"{kind} {number}" for number in numbers}


NAMED = {
    "bagai2017": _numbered("Figure", *range(2, 11))
    | _numbered("Theorem", *range(1, 6))
    | {"Corollary 1", "Proposition 3"},
    "domingo2016": _numbered("Table", *range(1, 7))
    | _numbered("Figure", 1, 2, 3)
    | _numbered("Algorithm", 1, 2, 3),
    "itpr2019": _numbered("Table", *range(1, 8)) | _numbered("Figure", *range(1, 7)),
    "lodha2007": _numbered("Figure", 1, 3, 4, 5, 6, 7)
    | _numbered("Example", *range(1, 12))
    | _numbered("Theorem", *range(1, 6)),
}
DRAWN = {
    "bagai2017": _numbered("Figure", 1, 2, 3, 4, 5, 7, 8, 9, 10),
    "domingo2016": _numbered("Figure", 1, 2, 3),
    "itpr2019": _numbered("Figure", *range(1, 7)) | {"Table 7"},
    "lodha2007": _numbered("Figure", 1, 3, 4, 5, 6, 7),
}
# item, a part of the value's name: where the paper errs, each found by computing it.
ERRATA = {
    "bagai2017": [("Figure 7", "M_3")],
    "domingo2016": [
        ("Table 3", "Definition 1"),
        ("Table 4", "right links"),
        ("Table 4", "wrong links"),
        ("Table 4", "Z that match"),
    ],
    "itpr2019": [
        ("Table 3", "disease 3"),
        *[("Table 4", "MIL")] * 3,
        ("Table 5", "rows that formula"),
        ("Table 5", "row 7"),
        ("Table 5", "age 5 by formula"),
        ("Table 5", "ELD"),
    ],
    "lodha2007": [
        *[("Figure 3", "A")] * 3,
        ("Figure 6", "nC"),
        ("Figure 6", "KB"),
        ("Example 8", "beta"),
        ("Example 8", "zip code"),
        ("Example 10", "largest"),
        ("Section 3.1", "rank difference"),
        ("Section 3.1", "equation"),
        ("Section 4.1", "median"),
    ],
}
# The same for what we hold against a statement by a case of our own.
CRITIQUES = {
    "bagai2017": [("Figure 9", "Psi of Q"), ("Theorem 3", "doubly stochastic")],
    "domingo2016": [
        ("Table 2", "Y = 1000 X"),
        ("Table 4", "least to most"),
        ("Table 6", "P(random"),
        ("Figure 2", "right links"),
        ("Section 5.2", "unrelated"),
    ],
    "itpr2019": [("Table 5", "independent"), ("Figure 4", "5 % HIV"), ("Figure 4", "12 % HIV")],
    "lodha2007": [
        ("Figure 3", "row 12"),
        ("Figure 7", "error times"),
        ("Theorem 1", "exactly"),
        ("Theorem 2", "exactly"),
        ("Theorem 4", "k = 10"),
        ("Theorem 4", "correlation"),
        ("Section 4.1", "two groups"),
        ("Section 4.1", "cellular"),
    ],
}


@pytest.fixture(params=papers.PAPERS)
def found(request: pytest.FixtureRequest, reproductions: dict[str, Reproduction]) -> Reproduction:
    return reproductions[request.param]


def test_everything_with_a_name_is_there(found: Reproduction) -> None:
    names = [item.name for item in found.items]
    assert len(set(names)) == len(names)
    assert set(names) >= NAMED[found.paper]
    assert {item.name for item in found.items if item.drawable} == DRAWN[found.paper]
    assert all(item.values for item in found.items)


def test_no_value_differs_and_none_is_absent(found: Reproduction) -> None:
    wrong = [
        (item.name, value.name, value.paper, value.ours)
        for item in found.items
        for value in item.values
        if value.agreement in (Agreement.DIFFERS, Agreement.DATA_ABSENT)
    ]
    assert wrong == []
    assert not found.differs


@pytest.mark.parametrize(
    ("agreement", "known"), [(Agreement.ERRATUM, ERRATA), (Agreement.CRITIQUE, CRITIQUES)]
)
def test_errata_and_critiques_are_the_known_ones(
    found: Reproduction, agreement: Agreement, known: dict[str, list[tuple[str, str]]]
) -> None:
    wanted = list(known[found.paper])
    for item in found.items:
        for value in item.values:
            if value.agreement is not agreement:
                continue
            match = next((w for w in wanted if w[0] == item.name and w[1] in value.name), None)
            assert match is not None, f"not in the list: {item.name}, {value.name}"
            wanted.remove(match)
    assert wanted == []


def test_every_erratum_and_every_gap_is_explained(found: Reproduction) -> None:
    for value in found.values:
        if value.agreement in (Agreement.ERRATUM, Agreement.CRITIQUE, Agreement.NOT_DERIVABLE):
            assert len(value.note) > 20, value
        assert "{" not in value.note.replace("{0, 10}", "").replace("{5, 5.05, 5.1}", ""), value


def test_charts_have_title_and_description(found: Reproduction) -> None:
    for item in found.items:
        chart = item.chart()
        assert (chart is not None) == item.drawable == bool(item.figure)
        if chart is not None:
            content = chart.to_dict()
            assert "Fig" in str(content) or "Table" in item.name
            assert content["title"]
            assert len(content["description"]) > 20


def test_a_fault_of_ours_shows_as_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lodha2007, "ITEMS", (examples.example_11,))
    assert not papers.paper("lodha2007").differs
    monkeypatch.setattr(examples, "rank_difference", lambda *_: 4.0)
    found = papers.paper("lodha2007")
    assert found.differs
    assert found.counts[Agreement.DIFFERS] == 1


def test_without_the_data_values_are_marked_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CRYPSIS_DATA", raising=False)
    monkeypatch.setattr(lodha2007, "ITEMS", (quasi_identifiers.figure_3,))
    for data in (None, tmp_path):
        found = papers.paper("lodha2007", data=data)
        assert not found.differs
        assert found.counts[Agreement.DATA_ABSENT] == 37  # S and F1 of 12 rows, ten domains, three more
        assert not found.items[0].drawable
        assert found.counts[Agreement.ERRATUM] == 0  # D, F2 and k need no data


def test_the_environment_sets_the_data_folder(monkeypatch: pytest.MonkeyPatch, data_folder: Path) -> None:
    monkeypatch.setenv("CRYPSIS_DATA", str(data_folder))
    monkeypatch.setattr(lodha2007, "ITEMS", (quasi_identifiers.figure_3,))
    assert papers.paper("lodha2007").counts[Agreement.DATA_ABSENT] == 0


def test_what_is_refused() -> None:
    with pytest.raises(ParameterError, match="The papers are bagai2017"):
        papers.paper("nobody2020")
    with pytest.raises(ParameterError, match="begins at 100,000 rows"):
        papers.paper("itpr2019", max_rows=10)
    with pytest.raises(SourceError, match="does not exist"):
        papers.paper("lodha2007", data="/nowhere/at/all")
