"""Agreements are computed: a wrong value of ours, or a note that explains nothing, differs."""

from __future__ import annotations

import pytest

from papers import Agreement
from papers.comparison import claim, column, critique, data_absent, erratum, number, same, shown, underivable


@pytest.mark.parametrize(
    ("paper", "ours", "agreement"),
    [
        ("12", 12, Agreement.EQUAL),
        ("12", 12.2, Agreement.ROUNDED),
        ("12", 13, Agreement.DIFFERS),
        ("1183/1398", 1183 / 1398, Agreement.EQUAL),
        ("1183/1398", 0.8462, Agreement.DIFFERS),
        ("0.506", 0.50642, Agreement.ROUNDED),
        ("0.506", 0.50658, Agreement.DIFFERS),
        ("0.0143", 0.01425, Agreement.ROUNDED),
        ("7.4e-8", 7.357e-8, Agreement.ROUNDED),
        ("7.4e-8", 7.3e-8, Agreement.DIFFERS),
        ("33e9", 33.87e9, Agreement.DIFFERS),
        ("20 %", 20.0, Agreement.EQUAL),
        ("4,096", 4096, Agreement.EQUAL),
        ("0", 1e-9, Agreement.ROUNDED),
    ],
)
def test_numbers(paper: str, ours: float, agreement: Agreement) -> None:
    assert number("x", paper, ours).agreement is agreement


def test_truncation_is_allowed_only_where_said() -> None:
    assert number("x", "33e9", 33.87e9, cut=True).agreement is Agreement.ROUNDED
    assert number("x", "0.33", -0.333, cut=True).agreement is Agreement.DIFFERS
    assert number("x", "0.54", 0.56, cut=True).agreement is Agreement.DIFFERS


def test_the_unit_of_the_last_digit_can_be_given() -> None:
    assert number("x", "450", 446.4, unit=10).agreement is Agreement.ROUNDED
    assert number("x", "450", 446.4).agreement is Agreement.DIFFERS


def test_expressions_are_shown_as_printed() -> None:
    cell = number("x", "0.36787944117", 0.36787944117, text="1/e")
    assert (cell.paper, cell.agreement) == ("1/e", Agreement.EQUAL)


def test_a_critique_must_be_what_the_note_explains() -> None:
    assert critique("x", "-", 0.4487, correct="0.4487", note="").agreement is Agreement.CRITIQUE
    assert critique("x", "-", 0.46, correct="0.4487", note="").agreement is Agreement.DIFFERS


def test_an_erratum_must_be_what_the_note_explains() -> None:
    assert erratum("x", 5, 6, correct=6, note="six").agreement is Agreement.ERRATUM
    assert erratum("x", 5, 7, correct=6, note="six").agreement is Agreement.DIFFERS
    # Where ours is the printed value there is nothing to explain, and the note is out of date.
    assert erratum("x", 6, 6, correct=6, note="six").agreement is Agreement.DIFFERS
    assert erratum("x", "0.75", 0.6038, correct="0.604", note="").agreement is Agreement.ERRATUM
    assert erratum("x", "0.75", 0.62, correct="0.604", note="").agreement is Agreement.DIFFERS


def test_what_is_not_derivable_has_to_lie_in_its_range() -> None:
    inside = underivable("x", "0.027", 0.03, within=(0.01, 0.05), note="")
    assert inside.agreement is Agreement.NOT_DERIVABLE
    assert underivable("x", "0.27", 0.03, within=(0.01, 0.05), note="").agreement is Agreement.DIFFERS
    assert underivable("x", "0.03", 0.3, within=(0.01, 0.05), note="").agreement is Agreement.DIFFERS


def test_statements_lists_and_columns() -> None:
    assert same("x", [1, 2], (1, 2)).agreement is Agreement.EQUAL
    assert same("x", [1, 2], (2, 1)).agreement is Agreement.DIFFERS
    failed = claim("x", "rises", False, "falls")
    assert (failed.agreement, failed.ours) == (Agreement.DIFFERS, "fails: falls")
    cells = column("c", "ab", ["1", "2"], [1.0, 2.5])
    assert [cell.agreement for cell in cells] == [Agreement.EQUAL, Agreement.ROUNDED]
    assert data_absent("x", "5", what="Adult").agreement is Agreement.DATA_ABSENT


def test_how_our_values_are_shown() -> None:
    assert [shown(x) for x in (4096, 0.1234567, 2.0, True, "yes", [1, 2.5])] == [
        "4,096",
        "0.123457",
        "2",
        "yes",
        "yes",
        "1, 2.5",
    ]
