"""The suite of intruders: what it finds, what chance gives, and columns of all kinds."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linear_sum_assignment

from crypsis import linkage
from crypsis.dataset import Dataset
from crypsis.hierarchies import Hierarchy
from crypsis.linkage.suite._attack import attack
from crypsis.linkage.suite._candidates import Candidates
from crypsis.linkage.suite._field_kinds import field_of
from crypsis.linkage.suite._fields import CategoryField, NumberField, TextField
from crypsis.linkage.suite._files import files_of

RECORDS = 400


def share(found: linkage.LinkSuite, method: str | None = None) -> float:
    one = found.worst if method is None else next(a for a in found.attacks if a.method == method)
    assert one.correct_share is not None
    return one.correct_share.value


def test_two_columns_unchanged_and_five_shuffled() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(RECORDS, 7))
    y = x.copy()
    for j in range(2, 7):
        y[:, j] = rng.permutation(y[:, j])
    found = linkage.attack_links(x, y)
    assert share(found, "nearest ranks") < 0.1
    for method in (
        "agreement likelihoods",
        "values scaled by the masking",
        "columns that changed least",
        "learned matcher",
        "one to one, learned matcher",
    ):
        assert share(found, method) > 0.97, method
    assert found.worst.precision is None or found.worst.precision.value > 0.97


def test_digits_that_stay_under_noise_in_steps() -> None:
    """Noise in thousands, clipped at zero, and shifts by days; random digits link nobody."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 90_000, (RECORDS, 3))
    y = np.maximum(x + 1_000 * rng.integers(-60, 60, x.shape), 0)
    assert share(linkage.attack_links(x, y), "digits that stayed") > 0.3  # two in five are clipped
    times = rng.integers(0, 10**9, RECORDS)
    days = times + 86_400 * rng.integers(-400, 400, RECORDS)
    before, after = ({"seen": one.astype("datetime64[s]")} for one in (times, days))
    frames = [pa.table({"seen": pa.array(one["seen"])}) for one in (before, after)]
    assert share(linkage.attack_links(*frames), "digits that stayed") > 0.95
    none = linkage.attack_links(x, y + rng.integers(0, 10, y.shape))
    assert "digits that stayed" not in {one.method for one in none.attacks}


def test_unequal_noise() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(RECORDS, 6))
    y = x + rng.normal(size=x.shape) * [0.02, 0.02, 0.05, 2, 2, 2]
    found = linkage.attack_links(x, y)
    assert share(found, "nearest values") < 0.3
    assert share(found, "values scaled by the masking") > 0.95
    assert share(found, "one to one, learned matcher") > 0.97
    # Noise that is correlated is removed by the combinations that have none.
    common = rng.normal(size=(RECORDS, 1))
    y = x[:, :4] + 3 * common + 0.05 * rng.normal(size=(RECORDS, 4))
    found = linkage.attack_links(x[:, :4], y)
    assert share(found, "nearest values") < 0.2
    assert share(found, "values scaled by the masking") > 0.7


@pytest.mark.parametrize("records", [150, 1_000])
def test_values_that_were_replaced(records: int) -> None:
    """Codes exchanged for others and permuted numbers link; what nobody else has is not learned."""
    rng = np.random.default_rng(5)
    code, number = rng.integers(0, 12, (3, records)), rng.integers(0, 40, (3, records))
    x, y = {}, {}
    for j in range(3):
        other, moved = rng.permutation(12), rng.permutation(40)
        x |= {f"code {j}": [f"a{one}" for one in code[j]], f"number {j}": number[j]}
        y |= {f"code {j}": [f"b{other[one]}" for one in code[j]], f"number {j}": moved[number[j]]}
    before, after = pa.table(x), pa.table(y)
    method = "values as the masking replaced them"
    found = linkage.attack_links(before, after, row_map=range(records))
    assert share(found, "values scaled by the masking") < 0.5
    assert share(found, method) > 0.95
    order = rng.permutation(records)  # the values of other people
    other = linkage.attack_links(before, after.take(order), row_map=range(records))
    assert share(other, method) < 3 / records
    once = pa.table({"once": rng.permutation(records).astype(str)})
    alone = linkage.attack_links(once, once.take(rng.permutation(records)), row_map=range(records))
    assert all(share(alone, one.method) < 3 / records for one in alone.attacks)


def test_an_unrelated_file_is_linked_by_chance() -> None:
    """The own null of every intruder: what is learned from one half fails on the other."""
    hits: dict[str, list[float]] = {}
    for seed in range(6):
        rng = np.random.default_rng((2, seed))
        x = {"a": rng.normal(size=200), "b": rng.integers(0, 50, 200), "s": rng.choice(list("uvw"), 200)}
        y = {name: rng.permutation(values) for name, values in x.items()}
        found = linkage.attack_links(x, y, row_map=np.arange(200), seed=seed)
        for one in found.attacks:
            assert one.chance == 1 / 200
            assert one.correct_share is not None
            hits.setdefault(one.method, []).append(one.correct_share.value * 200)
            assert not one.confident_links or one.confident_links <= 2
        sure = found.sure_share()
        assert sure is not None
        assert sure.low <= 1 / 200
    for method, found_by_file in hits.items():  # a Poisson number of 6 expected links
        assert sum(found_by_file) <= 15, method


def test_correct_links_are_those_of_a_brute_force_search() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(150, 3))
    y = x + 0.4 * rng.normal(size=x.shape)
    found = linkage.attack_links(x, y)
    span = np.ptp(x, axis=0)
    gower = (np.minimum(np.abs(x[:, None] - y[None]) / span, 1)).sum(axis=2)
    assert share(found, "Gower's dissimilarity") == (gower.argmin(1) == np.arange(150)).mean()
    values = (((x[:, None] - y[None]) / x.std(axis=0)) ** 2).sum(axis=2)
    assert share(found, "nearest values") == pytest.approx(
        (values.argmin(1) == np.arange(150)).mean(), abs=0.02
    )


def test_equal_masked_records_share_the_link() -> None:
    """Four masked records are equal: each of their people is linked once in four times."""
    x = pa.table({"a": np.arange(40.0), "b": np.arange(40.0)[::-1]})
    y = pa.table({name: np.repeat(np.arange(1.5, 40, 4), 4) for name in "ab"})
    files = files_of(x, y, [("a", "a")], np.arange(40), most_targets=100)
    assert len(files.sizes) == 10
    every = np.divmod(np.arange(400), 10)
    pairs = Candidates.of(40, [every], 10)
    one = files.fields[0]
    found = attack("nearest", files, pairs, -one.apart(pairs.target, pairs.place))
    assert found.correct_share is not None
    assert found.correct_share.value == pytest.approx(0.25)
    assert found.multiple_matches == 40
    assert found.true_matches == 0


def test_numbers_intervals_and_dates() -> None:
    ages = pa.array([25, 33, 47, None])
    one = field_of("age", ages, pa.array(["20-29", ">=40", "*", None]))
    assert isinstance(one, NumberField)
    rows, places = np.array([0, 1, 2, 2, 0, 3, 3]), np.array([0, 0, 1, 2, 3, 3, 0])
    assert one.apart(rows, places).round(3).tolist() == [0, round(4 / 22, 3), 0, 0, 1, 0, 1]
    assert one.level(rows, places)[[0, 4, 5, 6]].tolist() == [0, 6, 8, 7]
    born = pa.array([datetime.date(1987, 8, 9), datetime.date(1990, 1, 1)])
    for labels, level in (
        (["1987", "1990"], 0),
        (["1987-Q3", "1990-Q1"], 0),
        (["1980s", "1990s"], 0),
        (["1987", "1990s"], 0),
    ):
        field = field_of("born", born, pa.array(labels))
        assert isinstance(field, NumberField)
        assert field.level(np.array([0, 1]), np.array([0, 1])).tolist() == [level, level]
        assert field.apart(np.array([0]), np.array([1]))[0] > 0
    born = pa.array([datetime.date(1979, 8, 9), datetime.date(1990, 1, 1)])
    field = field_of("born", born, pa.array(["1960-1979", "1980-1999"]))
    assert isinstance(field, NumberField)
    assert field.apart(np.array([0, 1, 0]), np.array([0, 1, 1])).tolist() == [0, 0, 1]


def test_categories_cover_and_meet_in_a_hierarchy() -> None:
    zips = pa.array(["02138", "02139", "94110"])
    for labels in (["021**", "941**"], ["021", "941"]):
        one = field_of("zip", zips, pa.array(labels))
        assert isinstance(one, CategoryField)
        assert one.apart(np.array([0, 1, 2, 0]), np.array([0, 0, 1, 1])).tolist() == [0, 0, 0, 1]
    tree = Hierarchy([["cook", "food", "*"], ["baker", "food", "*"], ["clerk", "office", "*"]])
    jobs = pa.array(["cook", "baker", "clerk"])
    one = field_of("job", jobs, pa.array(["cook", "food", "clerk"]), tree)
    gaps = one.apart(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 0]))
    assert gaps[0] == gaps[2] == 0
    assert 0 < gaps[1] < gaps[3] == 1
    listed = field_of("size", pa.array(["low", "high"]), pa.array(["mid", "low"]), ["low", "mid", "high"])
    assert isinstance(listed, NumberField)


def test_texts_are_linked_by_similarity() -> None:
    rng = np.random.default_rng(5)
    letters = np.array(list("abcdefghijklmnoprstuvw"))
    names = ["".join(rng.choice(letters, 9)) for _ in range(300)]
    typos = [name[:k] + "x" + name[k + 1 :] for name, k in zip(names, rng.integers(0, 9, 300), strict=True)]
    assert isinstance(field_of("n", pa.array(names), pa.array(typos)), TextField)
    x = {"name": names, "v": rng.normal(size=300)}
    assert share(linkage.attack_links(x, {"name": typos, "v": rng.permutation(x["v"])})) > 0.95


def test_renamed_and_exchanged_columns_are_proposed() -> None:
    rng = np.random.default_rng(6)
    x = {"a": rng.normal(size=300), "b": rng.normal(50, 9, 300), "s": rng.choice(list("uvwxyz"), 300)}
    renamed = {"p": x["a"], "q": x["b"], "r": x["s"]}
    for known in (None, "unknown"):
        found = linkage.attack_links(x, renamed, row_map=known)
        assert {(one.column, one.original) for one in found.proposed} == {("p", "a"), ("q", "b"), ("r", "s")}
    assert share(linkage.attack_links(x, renamed)) == 1
    found = linkage.attack_links(x, {"a": x["b"], "b": x["a"], "s": rng.permutation(x["s"])})
    assert share(found) == 1
    assert len(found.proposed) == 2
    found = linkage.attack_links(x, {"a": x["a"], "z": rng.normal(7, 1, 300)})
    assert found.alone == ("z",)
    assert "'z'" in found.doubts[0]


def test_rows_in_another_order_within_a_sorted_column() -> None:
    """Both files sorted by one column: it corresponds along the rows, the others do not."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(600, 4))
    x[:, 0] = np.repeat(np.arange(6), 100)
    y = x + 0.05 * rng.normal(size=x.shape)
    y[:, 0] = x[:, 0]
    order = np.concatenate([100 * g + rng.permutation(100) for g in range(6)])
    found = linkage.attack_links(x, y[order])
    assert found.rows_correspond
    assert found.contradiction is not None
    assert "another order" in found.doubts[0]
    assert linkage.compare(x, y[order]).verdict != "safe"
    assert linkage.attack_links(x, y).contradiction is None
    swapped = x[np.arange(600) ^ 1]  # neighbors exchanged: aligned, and no more than they say
    assert linkage.attack_links(x, rng.normal(size=x.shape)).contradiction is None
    assert linkage.attack_links(x, swapped).contradiction is not None


def test_unknown_matches_and_few_records() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(60, 2))
    found = linkage.attack_links(x, x[:50])
    assert found.correct_share is None
    assert found.sure_share() is None
    assert "unknown" in found.not_computed[0]
    assert "unknown" in str(found.worst)
    few = linkage.attack_links(x[:6], x[:6])
    assert share(few) == 1
    assert few.rows_correspond
    one = linkage.attack_links({"a": [1.0, 1.0]}, {"a": [2.0, 2.0]})
    assert share(one) == 0.5


def test_missing_values_are_a_state() -> None:
    """Only the missing values survive the masking, and they link."""
    rng = np.random.default_rng(9)
    lost = rng.random((500, 9)) < 0.5
    x = {f"c{j}": pa.array(rng.normal(size=500), mask=lost[:, j]) for j in range(9)}
    y = {f"c{j}": pa.array(rng.normal(size=500), mask=lost[:, j]) for j in range(9)}
    assert share(linkage.attack_links(pa.table(x), pa.table(y))) > 0.2


def test_a_sample_of_the_records_states_its_interval() -> None:
    rng = np.random.default_rng(10)
    x = rng.normal(size=(1200, 3))
    y = x + 0.1 * rng.normal(size=x.shape)
    every, some = (linkage.attack_links(x, y, max_records=number) for number in (1200, 300))
    assert some.worst.records == 300
    assert some.correct_share is not None
    assert some.correct_share.low < share(every, "values scaled by the masking") < some.correct_share.high
    assert "a sample of 300" in some.statement(some.correct_share)


@pytest.mark.parametrize("seed", range(3))
def test_no_fewer_links_than_the_assignment_by_gower(seed: int) -> None:
    """The rule of sdcMicro: Gower's distance of all pairs, one to one with the smallest total."""
    rng = np.random.default_rng(seed)
    x = np.exp(rng.normal(size=(250, 5)))
    y = x + 0.25 * x.std(axis=0) * rng.normal(size=x.shape)
    span = np.maximum(x.max(axis=0), y.max(axis=0)) - np.minimum(x.min(axis=0), y.min(axis=0))
    apart = (np.abs(x[:, None] - y[None]) / span).sum(axis=2)
    right = int((linear_sum_assignment(apart)[1] == np.arange(250)).sum())
    found = linkage.attack_links(x, y)
    assert found.worst.true_matches is not None
    assert found.worst.true_matches >= right


@pytest.mark.parametrize("visits", [1, 40])
def test_a_link_to_any_record_of_the_person_is_correct(visits: int) -> None:
    """A person's visits are alike: by records one link in forty is right, by people every one."""
    draw = np.random.default_rng(1)
    who = np.repeat(np.arange(200), visits)
    weight = draw.normal(70, 10, 200)[who]
    original = pa.table({"who": who, "weight": weight, "test": draw.normal(size=who.size)})
    masked = pa.table({"weight": weight, "test": draw.permutation(np.asarray(original["test"]))})
    of_people, of_records = (
        Dataset.from_frame(original, identifiers=["who"], person=person) for person in ("who", None)
    )
    records = linkage.attack_links(of_records, masked, columns=["weight"], max_records=300).worst
    people = linkage.attack_links(of_people, masked, columns=["weight"], max_records=300).worst
    assert records.correct_share is not None
    assert people.correct_share is not None
    assert records.correct_share.value == pytest.approx(1 / visits, abs=0.02)
    assert people.correct_share.value == 1.0
    assert people.chance == pytest.approx(1 / 200)
