"""Hierarchies: the forms of ARX and ANJANA, TOML, built ones, and what is wrong with one."""

from __future__ import annotations

import datetime
import pickle
from pathlib import Path

import numpy as np
import pytest

from crypsis.errors import OutputError, ParameterError, SourceError
from crypsis.hierarchies import Hierarchy, HierarchyGapError
from crypsis.hierarchies.cover import covered


def test_arx_and_anjana_files(data_folder: Path) -> None:
    arx = Hierarchy.read(data_folder / "hierarchies/arx_adult/adult_hierarchy_age.csv")
    assert arx.labels("17")[1:] == ("15-19", "10-19", "0-19", "*")
    anjana = Hierarchy.read(data_folder / "hierarchies/anjana_adult/age.csv")
    assert anjana.labels("17")[1:] == ("[15, 20[", "[10, 20[", "[0, 20[", "[0, 40[", "[0, 80[", "*")
    for path in sorted((data_folder / "hierarchies").glob("*/*.csv")):
        tree = Hierarchy.read(path)
        assert tree.level_sizes[-1] == 1, path
        assert list(tree.level_sizes) == sorted(tree.level_sizes, reverse=True), path


@pytest.mark.parametrize("suffix", [".csv", ".toml"])
def test_what_is_written_reads_the_same(tmp_path: Path, suffix: str) -> None:
    tree = Hierarchy((("a; b", 'x "1"', "p", "*"), ("c", "x.2", "p", "*"), ("é", "y", "q", "*")))
    for number, flat in enumerate([(("a", "*"), ("b", "*")), (("a", "x", "*"),), (("a", "any"),)]):
        file = Hierarchy(flat).write(tmp_path / f"flat{number}{suffix}")
        assert Hierarchy.read(file).rows == flat
    path = tree.write(tmp_path / f"tree{suffix}")
    assert set(Hierarchy.read(path).rows) == set(tree.rows)
    with pytest.raises(OutputError, match="exists"):
        tree.write(path)


def test_nested_branches_of_uneven_depth() -> None:
    tree = Hierarchy.from_nested({"Europe": {"West": ["F"], "East": ["PL"]}, "Oceania": ["AU"]})
    assert tree.labels("AU") == ("AU", "Oceania", "Oceania", "*")
    assert tree.labels("F") == ("F", "West", "Europe", "*")
    assert tree.groups(2) == {"Europe": ("F", "PL"), "Oceania": ("AU",)}


def test_built_hierarchies() -> None:
    assert Hierarchy.intervals([-1, 3], widths=[2]).rows == (("-1", "-2 to -1", "*"), ("3", "2-3", "*"))
    assert Hierarchy.redaction(["ab", "c"]).rows == (("ab", "a*", "*"), ("c", "c*", "*"))
    days = [datetime.date(1987, 8, 9)]
    assert Hierarchy.dates(days).rows[0] == (
        "1987-08-09",
        "1987-08",
        "1987-Q3",
        "1987-H2",
        "1987",
        "1980s",
        "1980-1999",
        "1960-1999",
        "1920-1999",
        "*",
    )


def test_periods_of_years_nest_and_cover_their_dates() -> None:
    days = [datetime.date(year, 7, 1) for year in range(1, 2101)]
    tree = Hierarchy.dates(days)  # refuses levels that do not nest
    for row, day in zip(tree.rows, days, strict=True):
        for label, years in zip(row[6:9], (20, 40, 80), strict=True):
            low, high = map(int, label.split("-"))
            assert high - low + 1 == years
            assert low <= day.year <= high
    labels = ["1980-1999", "1960-1999", "1920-1999", "1980s", "1985", "1981-2000"]
    expected = [
        [low <= day.year <= high for day in days]
        for low, high in ((1980, 1999), (1960, 1999), (1920, 1999), (1980, 1989), (1985, 1985), (9, 0))
    ]
    assert covered(labels, [*days, None])[:, :-1].tolist() == expected


def test_gaps_are_counted_in_the_message_and_named_in_the_error() -> None:
    tree = Hierarchy((("a", "*"),))
    with pytest.raises(HierarchyGapError) as caught:
        tree.check(["a", "secret", None, "hidden", "secret"], "name")
    assert caught.value.unknown == ("secret", "hidden")
    assert "2 values" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_last_level_is_added_where_it_is_missing() -> None:
    assert Hierarchy((("a", "x"), ("b", "y"))).level_sizes == (2, 2, 1)


def test_a_root_of_its_own_name_is_kept() -> None:
    tree = Hierarchy((("a", "any"), ("b", "any")))
    assert (tree.height, list(tree.inner_levels)) == (1, [1])
    assert list(Hierarchy((("a", "*"), ("b", "*"))).inner_levels) == []


def test_nodes_differ_by_their_path_to_the_root() -> None:
    tree = Hierarchy.from_ancestors({"a": ("other", "x", "*"), "b": ("other", "y", "*")})
    assert tree.nodes(["a", "b", None, "a"]).tolist() == [
        [0, 1, 2, 0],
        [0, 1, 2, 0],
        [0, 1, 2, 0],
        [0, 0, 0, 0],
    ]
    assert tree.semantic_distances(["a", "b"])[0, 1] == pytest.approx(np.log2(1 + 6 / 7))


def test_numbers_and_dates_are_compared_as_text() -> None:
    tree = Hierarchy.from_ancestors({1.0: ("low",), 7: ("high",)})
    assert tree.nodes([1, 7.0, 1.0]).tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]


def test_an_error_about_a_gap_pickles() -> None:
    error = pickle.loads(pickle.dumps(HierarchyGapError("name", ("a", "b"))))
    assert (str(error), error.unknown) == (str(HierarchyGapError("name", ("a", "b"))), ("a", "b"))


def test_broken_hierarchies(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="not a tree"):
        Hierarchy((("a", "x", "p", "*"), ("b", "x", "q", "*"))).groups(1)
    with pytest.raises(ParameterError, match="1 of 2 lines"):
        Hierarchy((("a", "*"), ("b", "x", "*")))
    with pytest.raises(ParameterError, match="repeat a value"):
        Hierarchy((("a", "*"), ("a", "*")))
    with pytest.raises(SourceError, match="could not be read"):
        Hierarchy.read(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(SourceError, match="empty"):
        Hierarchy.read(tmp_path / "empty.csv")
    with pytest.raises(ParameterError, match="width"):
        Hierarchy.intervals([1], widths=[5, 7])


def test_other_may_be_any_value_after_local_recoding() -> None:
    labels, values = ["Bonn", "other"], ["Bonn", "Ulm"]
    assert covered(labels, values).tolist() == [[True, False], [False, True]]
    assert covered(labels, values, any_other=True).tolist() == [[True, False], [True, True]]


def test_intervals_of_other_tools_cover_what_they_say() -> None:
    """As pandas, ARX, sdcMicro and people write them."""
    values = [19, 20, 39, 40, 60, 61]
    for label, inside in {
        "[20, 40)": [20, 39],
        "[20, 40[": [20, 39],
        "(20,40]": [39, 40],
        "]20;40]": [39, 40],
        "(39.0, inf]": [40, 60, 61],
        "20 – 39": [20, 39],
        "20 bis 40": [20, 39, 40],
        "60+": [60, 61],
        "60 and over": [60, 61],
        "≥60": [60, 61],
        "≤ 20": [19, 20],
        "0+": values,
    }.items():
        (mask,) = covered([label], values)
        assert np.array(values)[mask].tolist() == inside, label
    assert not covered(["A+", "[x, y]", "(40, 20]"], values).any()
