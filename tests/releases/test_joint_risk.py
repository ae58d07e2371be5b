"""Releases together: against counts by hand, by brute force, and releases that are safe together."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from crypsis import assess
from crypsis.dataset import Dataset
from crypsis.errors import InputError, ParameterError
from crypsis.releases import joint_risk
from crypsis.results import Estimate

ROLES: Any = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
ILL = np.array(["flu", "gout", "asthma", "none"])


def table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def people(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.integers(20, 60, rows),
            "zip": draw.integers(0, 4, rows),
            "ill": ILL[draw.integers(0, 4, rows)],
        }
    )


def banded(frame: pd.DataFrame, width: int, start: int = 20) -> pd.DataFrame:
    low = (frame["age"] - start) // width * width + start
    return frame.assign(age=[f"{n}-{n + width - 1}" for n in low])


def mixed(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    return frame.sample(frac=1, random_state=seed)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_records_connected_by_a_column_are_counted_as_by_hand(k: int) -> None:
    own = people().assign(code=[f"p{n}" for n in range(400)])
    one, two = mixed(banded(own, 10), 1), mixed(banded(own, 15, 10), 2)
    found = joint_risk(table(one), [table(two)], k=k, insensitive=["code"], **ROLES)
    joined = one.merge(two, on="code")
    sizes = joined.groupby(["age_x", "zip_x", "age_y", "zip_y"])["code"].transform("size")
    assert found.connections[0].by == "column"
    assert found.reused == ("code",)
    assert found.small_classes == pytest.approx((sizes < k).mean())
    best = joined.groupby(["age_x", "zip_x", "age_y"])["ill_x"].transform(
        lambda one: one.value_counts(normalize=True).iloc[0]
    )
    alone = [
        one.groupby(["age", "zip"])["ill"].transform(lambda part: part.value_counts(normalize=True).iloc[0])
        for one in (one, two)
    ]
    each = [part.set_axis(side["code"]) for part, side in zip(alone, (one, two), strict=True)]
    most = np.maximum(each[0][joined["code"]].to_numpy(), each[1][joined["code"]].to_numpy())
    assert found.inference_gain == pytest.approx((best - most).mean())


def test_three_releases_connected_by_a_column() -> None:
    own = people().assign(code=[f"p{n}" for n in range(400)])
    files = [
        mixed(banded(own, width, start), i) for i, (width, start) in enumerate([(10, 20), (12, 16), (14, 12)])
    ]
    found = joint_risk(table(files[0]), list(map(table, files[1:])), insensitive=["code"], **ROLES)
    joined = files[0].merge(files[1], on="code").merge(files[2], on="code")
    sizes = joined.groupby(["age_x", "age_y", "age", "zip"])["code"].transform("size")
    assert found.small_classes == pytest.approx((sizes < 5).mean())


def test_the_fit_is_the_product_where_all_classes_overlap() -> None:
    """Nothing but the values connects them, so the table of maximum entropy is a product."""
    draw = np.random.default_rng(4)
    own = pd.DataFrame(
        {
            "a": ILL[draw.integers(0, 3, 300)],
            "b": ILL[draw.integers(0, 3, 300)],
            "ill": ILL[draw.integers(0, 2, 300)],
        }
    )
    one, two = mixed(own[["a", "ill"]], 1), mixed(own[["b", "ill"]], 2)
    earlier = Dataset.from_frame(table(two), quasi_identifiers=["b"], sensitive=["ill"], person="each record")
    found = joint_risk(table(one), [earlier], k=100, quasi_identifiers=["a"], sensitive=["ill"])
    left, right = (pd.crosstab(part.iloc[:, 0], part["ill"]) for part in (one, two))
    total = own["ill"].value_counts()
    small = 0.0
    for here, there in product(left.index, right.index):
        fitted = {v: left.loc[here, v] * right.loc[there, v] / total[v] for v in left}
        risk = max(fitted[v] / sum(fitted.values()) / left.loc[here, v] for v in left)
        small += sum(fitted.values()) * (risk > 1 / 100)
    assert float(found.small_classes) == pytest.approx(small / 300, abs=1e-9)
    assert found.connections[0].by == "values"


def _tables(first: list[int], second: list[int]) -> list[tuple[int, ...]]:
    """All 2 x 2 tables of whole numbers with these sums."""
    found = []
    for a in range(first[0] + 1):
        b, c = first[0] - a, second[0] - a
        d = second[1] - b
        if min(b, c, d) >= 0 and c + d == first[1]:
            found.append((a, b, c, d))
    return found


def test_bounds_enclose_every_possible_table() -> None:
    """One value, two classes each: the share in a small intersection over all possible tables."""
    first, second = [7, 5], [6, 6]
    rows = {"q": ["a"] * 7 + ["b"] * 5, "ill": ["flu"] * 12}
    others = {"r": ["c"] * 6 + ["d"] * 6, "ill": ["flu"] * 12}
    earlier = Dataset.from_frame(
        pa.table(others), quasi_identifiers=["r"], sensitive=["ill"], person="each record"
    )
    found = joint_risk(pa.table(rows), [earlier], k=6, quasi_identifiers=["q"], sensitive=["ill"])
    # The records of a class are alike, so only class b (5 records) is found with more than 1/6.
    assert isinstance(found.small_classes, Estimate)
    shares = [(c + d) / 12 for _, _, c, d in _tables(first, second)]
    assert found.small_classes.low <= min(shares)
    assert max(shares) <= found.small_classes.high
    assert float(found.small_classes) == pytest.approx(5 / 12)


def test_keys_of_the_owner_count_only_what_people_are_in() -> None:
    own = people()
    one, two = mixed(banded(own, 5), 1), mixed(banded(own, 7, 17), 2)
    free = joint_risk(table(one), [table(two)], k=10, **ROLES)
    maps = [one.index.tolist(), two.index.tolist()]
    known = joint_risk(table(one), [table(two)], k=10, row_maps=maps, **ROLES)
    assert isinstance(free.small_classes, Estimate)
    assert not isinstance(known.small_classes, Estimate)
    assert free.small_classes.low <= known.small_classes <= free.small_classes.high
    with pytest.raises(ParameterError, match="row_maps"):
        joint_risk(table(one), [table(two)], row_maps=[[1]], **ROLES)


@pytest.mark.parametrize(("added", "removed"), [(1, 0), (0, 1), (3, 2), (0, 0)])
def test_differences_by_a_column_and_by_counts(added: int, removed: int) -> None:
    own = banded(people(2_000), 20)
    first, second = own.iloc[: 2_000 - added], own.iloc[removed:]
    found = joint_risk(table(mixed(second, 1)), [table(mixed(first, 2))], **ROLES)
    change = found.connections[0].difference
    assert change.same_people
    assert (change.added - change.removed) == added - removed
    assert (found.small_differences > 0) == (added + removed > 0)
    coded = own.assign(code=[f"p{n}" for n in range(2_000)])
    exact = joint_risk(
        table(mixed(coded.iloc[removed:], 1)),
        [table(mixed(coded.iloc[: 2_000 - added], 2))],
        insensitive=["code"],
        **ROLES,
    )
    assert exact.connections[0].difference.added == added
    assert exact.connections[0].difference.removed == removed


def test_numbers_drawn_anew_connect_nothing() -> None:
    own = banded(people(600), 20)
    one, two = (mixed(own, i).assign(row=range(600)) for i in (1, 2))
    found = joint_risk(table(one), [table(two)], insensitive=["row"], **ROLES)
    assert found.reused == ()


def test_the_order_of_the_rows_connects_records() -> None:
    own = people(300)
    one, two = banded(own, 10), banded(own, 15, 10).iloc[5:]
    found = joint_risk(table(one), [table(two)], **ROLES)
    assert found.connections[0].by == "order"
    assert found.connections[0].difference.added == 5


@pytest.mark.parametrize("width", [10, 20, 40])
def test_releases_that_are_safe_together_are_called_so(width: int) -> None:
    """The same intervals, or intervals that contain them: nothing intersects."""
    own = people(2_400, seed=3)
    own["ill"] = ILL[np.random.default_rng(5).permutation(2_400) % 4]
    one, two = mixed(banded(own, 10), 1), mixed(banded(own, width), 2)
    found = assess(table(one), earlier=[table(two)], policy="default", **ROLES, person="each record")
    assert found.verdict.value == "safe", found
    assert found.answer("releases") is not None


def test_other_people_cannot_be_judged_without_a_column() -> None:
    one, two = (banded(people(3_000, seed=i), 20) for i in (1, 2))
    found = assess(table(one), earlier=[table(two)], **ROLES, person="each record")
    assert found.verdict.value == "cannot tell"
    coded = [part.assign(code=[f"{i}-{n}" for n in range(3_000)]) for i, part in enumerate((one, two))]
    known = joint_risk(table(coded[0]), [table(coded[1])], on="code", insensitive=["code"], **ROLES)
    assert known.small_classes == 0
    assert known.connections[0].difference.removed == 3_000


def test_a_column_of_the_earlier_release_alone_needs_a_role() -> None:
    own = banded(people(2_000), 20)
    earlier = own.assign(height=np.arange(2_000) % 7)
    free = assess(table(mixed(own, 1)), earlier=[table(mixed(earlier, 2))], **ROLES, person="each record")
    assert free.verdict.value == "cannot tell"
    assert any("undecided" in note for note in free.answer("releases").notes)  # type: ignore[union-attr]


def test_labels_that_cannot_be_compared_are_not_called_safe() -> None:
    own = banded(people(2_000), 20)
    words = own.assign(zip=np.array(["north", "south", "east", "west"])[own["zip"]])
    found = assess(table(mixed(own, 1)), earlier=[table(mixed(words, 2))], **ROLES, person="each record")
    assert found.verdict.value == "cannot tell"


def test_wrong_input_is_named() -> None:
    own = table(banded(people(), 20))
    with pytest.raises(InputError, match="No earlier release"):
        joint_risk(own, [], **ROLES)
    with pytest.raises(InputError, match="no column"):
        joint_risk(own, [pa.table({"x": [1]})], **ROLES)
    with pytest.raises(InputError, match="does not exist"):
        joint_risk(own, [own], on="nothing", **ROLES)
    with pytest.raises(ParameterError, match="at least 2"):
        joint_risk(own, [own], k=1, **ROLES)
    with pytest.raises(ParameterError, match="no threshold on earlier releases"):
        assess(own, earlier=[own], policy="hipaa-safe-harbor", **ROLES, person="each record")


def visits(seed: int = 3) -> pd.DataFrame:
    """Visits of a hundred people, one to nine each, who are alike in age and zip."""
    draw = np.random.default_rng(seed)
    times = draw.integers(1, 10, 100)
    own = people(100, seed).drop(columns="ill").loc[np.repeat(np.arange(100), times)]
    return own.assign(who=np.repeat(np.arange(100), times), ill=draw.choice(ILL, times.sum())).reset_index(
        drop=True
    )


@pytest.mark.parametrize("k", [2, 4])
def test_people_of_several_records_are_counted_once(k: int) -> None:
    own = visits().assign(row=lambda one: one.index)
    one, two = mixed(banded(own, 10), 1), mixed(banded(own, 15, 10), 2)
    joined = one.merge(two, on="row")
    in_class = joined.groupby(["age_x", "zip_x", "age_y", "zip_y"])
    few = (in_class["who_x"].transform("nunique") < k).mean()
    roles = {**ROLES, "excluded": ["row"], "person": "who"}
    tables = [Dataset.from_frame(table(each), **roles) for each in (one, two)]
    maps = [each["row"].tolist() for each in (one, two)]
    found = joint_risk(tables[0], tables[1:], k=k, row_maps=maps)
    assert float(found.small_classes) == pytest.approx(few)
    records = joint_risk(*_records(tables), k=k, row_maps=maps)
    assert 0 <= float(records.small_classes) < few  # classes of one person's records


def _records(tables: list[Dataset]) -> tuple[Dataset, list[Dataset]]:
    own, *others = [replace(one, person=None) for one in tables]
    return own, others


def test_people_who_are_not_known_in_one_release() -> None:
    own = visits()
    one, two = (table(banded(own, width)) for width in (10, 15))
    known = Dataset.from_frame(one, person="who", **ROLES)
    found = joint_risk(known, [Dataset.from_frame(two.drop_columns("who"), **ROLES, person="each record")])
    assert "Whose the records of earlier release 1 are is not known" in found.not_known[0]


def test_removed_records_of_one_person_are_no_class_of_many() -> None:
    own = visits().assign(row=lambda one: one.index)
    gone = own["who"].value_counts().index[0]
    after = own[own["who"] != gone]
    roles = {**ROLES, "excluded": ["row"], "person": "who"}
    tables = [Dataset.from_frame(table(banded(each, 40)), **roles) for each in (after, own)]
    maps = [each["row"].tolist() for each in (after, own)]
    assert joint_risk(tables[0], tables[1:], k=5, row_maps=maps).small_differences == 9
    assert joint_risk(*_records(tables), k=5, row_maps=maps).small_differences == 0


def _districts(rows: int = 2_400) -> pd.DataFrame:
    own = people(rows, seed=3)
    own["ill"] = ILL[np.random.default_rng(5).permutation(rows) % 4]
    own["district"] = np.array([f"D{n}" for n in own["zip"]])
    own["area"] = np.array([f"A{n}" for n in np.random.default_rng(1).integers(0, 4, rows)])
    return own.assign(age=banded(own, 20)["age"]).drop(columns="zip")


def _together(own: pd.DataFrame, earlier: pd.DataFrame, **given: Any) -> Any:
    kept = {"age", "district", "area", "diagnosis"}
    first, second = (
        Dataset.from_frame(
            table(one),
            quasi_identifiers=[n for n in one if n in kept - {"diagnosis"}],
            sensitive=[n for n in one if n in ("ill", "diagnosis")],
            person="each record",
        )
        for one in (own, earlier)
    )
    return assess(first, earlier=[second], policy="default", **given)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["age", "area", "ill"], {}),  # a quasi-identifier of each
        (["age", "district", "ill"], {"district": "area"}),  # renamed
        (["age", "district", "ill"], {"ill": "diagnosis"}),  # a sensitive attribute renamed
    ],
)
def test_columns_under_other_names_are_not_evaluated(columns: list[str], names: dict[str, str]) -> None:
    full = _districts()
    earlier, own = full[["age", "district", "ill"]], full[columns].rename(columns=names)
    found = _together(mixed(own, 1), mixed(earlier, 2))
    assert found.verdict.value == "cannot tell"
    answer = found.answer("releases")
    assert answer is not None
    assert any("may be the same under other names" in note for note in answer.notes)
    assert not any(
        f.measure.startswith("releases.")
        and f.status.value == "met"
        and f.measure != "releases.reused_pseudonyms"
        for f in found.findings
    )
    hints = [one.hint for one in found.findings if one.measure == "releases.small_differences"]
    assert any("same name" in (hint or "") for hint in hints)


@pytest.mark.parametrize("more", ["own", "earlier"])
def test_a_release_that_is_a_part_of_the_other_is_evaluated(more: str) -> None:
    """A column was dropped, or came: every column of the smaller release is one of the larger."""
    full = _districts()
    large, small = full[["age", "district", "ill"]], full[["age", "ill"]]
    own, earlier = (large, small) if more == "own" else (small, large)
    found = _together(mixed(own, 1), mixed(earlier, 2))
    assert found.verdict.value == "safe", found
    less = mixed(own, 1).iloc[1:] if more == "earlier" else mixed(own, 1)
    gone = _together(less, mixed(earlier, 2).iloc[: len(own) - (more == "own")])
    assert gone.verdict.value == "not safe"


def test_keys_of_the_owner_decide_columns_under_other_names() -> None:
    """The true intersections of districts and areas are counted: an intruder knows no more."""
    full = _districts()
    own, earlier = (mixed(full[["age", "area", "ill"]], 1), mixed(full[["age", "district", "ill"]], 2))
    maps = {"row_map": own.index.tolist(), "earlier_row_maps": [earlier.index.tolist()]}
    found = _together(own, earlier, **maps)
    risk = found.answer("releases").results["joint_risk (k = 5)"]
    sizes = full.groupby(["age", "district", "area"])["ill"].transform("size")
    assert risk.small_classes == (sizes < 5).mean() == 0
    assert (risk.connections[0].by, risk.small_differences, risk.not_known) == ("key", 0, ())
    assert not [
        one
        for one in found.findings
        if one.measure in ("releases.joint_small_classes", "releases.small_differences")
        and one.status.value != "met"
    ]


def _five_of_six(sixth: int) -> pd.DataFrame:
    """Forty groups of six people with a visit each, the sixth with so many; in eight groups five have HIV."""
    draw = np.random.default_rng(4)
    visits = []
    for group in range(40):
        for member in range(6):
            ill = "HIV" if group % 5 == 0 and member < 5 else draw.choice(ILL)
            visits += [(6 * group + member, 20 + group % 8, group // 8, ill)] * (sixth if member == 5 else 1)
    return pd.DataFrame(visits, columns=["who", "age", "zip", "ill"])


def _share_of_people(own: pd.DataFrame, columns: list[str]) -> pd.Series:
    """For each record the share of the people of its class who have its most frequent value."""
    having = own.groupby([*columns, "ill"])["who"].nunique().groupby(columns).max()
    share = having / own.groupby(columns)["who"].nunique()
    return own.set_index(columns).index.map(share)


@pytest.mark.parametrize("sixth", [1, 40])
def test_what_two_releases_disclose_counts_people_however_often_one_came(sixth: int) -> None:
    """Ages in one release, districts in the other: who has both has groups of six, of whom five have HIV."""
    own = _five_of_six(sixth).assign(row=lambda frame: frame.index)
    releases = mixed(own.assign(zip="0-4"), 1), mixed(own.assign(age="20-27"), 2)
    roles = {**ROLES, "excluded": ["row"], "person": "who"}
    tables = [Dataset.from_frame(table(release), **roles) for release in releases]
    maps = [release["row"].tolist() for release in releases]
    found = joint_risk(tables[0], tables[1:], k=5, row_maps=maps)
    alone = np.maximum(_share_of_people(own, ["age"]), _share_of_people(own, ["zip"]))
    gains = pd.Series(_share_of_people(own, ["age", "zip"]) - alone).groupby(own["who"].to_numpy()).first()
    assert gains.max() > 0.4
    assert float(found.inference_gain) == pytest.approx(gains.mean())
