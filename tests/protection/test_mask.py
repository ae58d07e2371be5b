"""Masking: what each method keeps, and that secrets go nowhere but into the key."""

from __future__ import annotations

import gc
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis as cr
from crypsis import protection as an
from crypsis.errors import ColumnError, OutputError, ParameterError, SourceError, TooLargeError

N = 4_000


def correlated(n: int = N, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = 0.8 * x + 0.6 * rng.normal(size=n)
    return pa.table({"x": x, "y": y, "n": rng.integers(0, 100, n), "c": rng.choice(list("aab"), n)})


METHODS: list[tuple[Any, Any]] = [
    (("x", "y"), an.masking.Noise(scale=0.5)),
    (("x", "y"), an.masking.Noise(scale=0.5, correlated=True)),
    ("x", an.masking.RankSwap(percent=5)),
    (("x", "y"), an.masking.Shuffle()),
    ("n", an.masking.Microaggregate(k=20)),
    ("c", an.masking.Pram(stay=0.7)),
    ("n", an.masking.Round(base=10)),
    ("n", an.masking.TopCode(limit=80)),
    ("n", an.masking.BottomCode(limit=20)),
    ("c", an.masking.SuppressRare(k=3)),
    ("c", an.masking.Pseudonym()),
]


@pytest.mark.parametrize(("target", "method"), METHODS, ids=lambda x: getattr(x, "method", ""))
def test_types_order_missing_values_and_seeds(target: Any, method: Any) -> None:
    frame = correlated(300).to_pandas()
    frame.loc[5, ["x", "c"]] = None
    frame.index = frame.index + 7
    columns = [target] if isinstance(target, str) else list(target)
    one = an.mask(frame, {target: method}, seed=1)
    assert list(one.frame.columns) == list(frame.columns)
    assert dict(one.frame.dtypes) == dict(frame.dtypes)
    for name in frame.columns:
        if name not in columns:
            assert (one.frame[name].to_numpy() == frame[name].to_numpy()).sum() >= 299
    if "rare" not in type(method).__name__.lower():
        assert np.array_equal(one.frame[columns].isna(), frame[columns].isna())
    if not isinstance(method, an.masking.Pseudonym):
        two = an.mask(frame, {target: method}, seed=1)
        pd.testing.assert_frame_equal(one.frame, two.frame)


def test_noise_has_the_spread_asked_for() -> None:
    table = correlated()
    for correlated_noise in (False, True):
        made = an.mask(table, {("x", "y"): an.masking.Noise(scale=0.5, correlated=correlated_noise)}, seed=3)
        gap = np.column_stack([made.frame[c].to_numpy() - table[c].to_numpy() for c in ("x", "y")])
        assert gap.std(axis=0) / [table[c].to_numpy().std() for c in ("x", "y")] == pytest.approx(
            [0.5, 0.5], rel=0.05
        )
        expected = np.corrcoef(table["x"], table["y"])[0, 1] if correlated_noise else 0
        assert np.corrcoef(gap.T)[0, 1] == pytest.approx(expected, abs=0.06)


def test_rank_swapping_keeps_values_and_stays_near() -> None:
    table = correlated()
    made = an.mask(table, {"x": an.masking.RankSwap(percent=5)}, seed=2)
    before, after = table["x"].to_numpy(), made.frame["x"].to_numpy()
    assert np.array_equal(np.sort(before), np.sort(after))
    ranks = np.argsort(np.argsort(before)), np.argsort(np.argsort(after))
    moved = np.abs(ranks[0] - ranks[1])
    assert moved.max() <= 0.05 * N
    assert (moved > 0).mean() > 0.9


def test_shuffling_keeps_values_and_rank_correlation() -> None:
    table = correlated()

    def spearman(a: Any, b: Any) -> float:
        return float(pd.Series(a).corr(pd.Series(b), method="spearman"))

    rho = spearman(table["x"].to_numpy(), table["y"].to_numpy())
    together = an.mask(table, {("x", "y"): an.masking.Shuffle()}, seed=5).frame
    alone = an.mask(table, {"x": an.masking.Shuffle(given=("y",))}, seed=5).frame
    for made in (together, alone):
        assert np.array_equal(np.sort(made["x"]), np.sort(table["x"]))
        found = spearman(made["x"].to_numpy(), made["y"].to_numpy())
        assert found == pytest.approx(rho, abs=0.04)
        assert abs(spearman(made["x"].to_numpy(), table["x"].to_numpy())) < 0.75
    assert alone["y"].equals(table["y"])


@settings(max_examples=40)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 3), st.integers(0, 5))
def test_mdav_promises_k(n: int, k: int, columns: int, spread: int) -> None:
    rng = np.random.default_rng(n * 100 + k)
    names = tuple("abc"[:columns])
    table = pa.table({name: rng.integers(0, 1 + 10**spread, n).astype(float) for name in names})
    if k > n:
        with pytest.raises(ParameterError):
            an.mask(table, {names: an.masking.Mdav(k=k)})
        return
    for exact in (True, False):
        out = an.mask(table, {names: an.masking.Mdav(k=k, exact=exact)}, shuffle=False).frame.to_pandas()
        assert out.groupby(list(names)).size().min() >= k
    out = an.mask(table, {names: an.masking.Mdav(k=k, exact=True)}).frame.to_pandas()
    for name in names:
        assert out[name].mean() == pytest.approx(table[name].to_pandas().mean())


@pytest.mark.parametrize("mask", [an.masking.Microaggregate(k=5), an.masking.Mdav(k=5)])
def test_no_value_follows_from_the_means_of_its_group(mask: an.masking.Mask) -> None:
    """Whoever knows all incomes of a group but one subtracts them from the published sum."""
    draw = np.random.default_rng(2)
    incomes = np.round(np.append(draw.lognormal(10.5, 0.6, 199), 1_234_567.89), 2)
    table = pa.table({"income": incomes, "rent": np.round(draw.lognormal(7, 0.4, 200), 2)})
    wrong = {"income": 0, "rent": 0}
    for exact in (True, False):
        names = ("income", "rent")
        masks = {names: mask.model_copy(update={"exact": exact})}
        after = an.mask(table, masks, shuffle=False).frame.to_pandas()
        groups = list(names) if isinstance(mask, an.masking.Mdav) else None
        for name in names:
            before = table[name].to_numpy()
            for _, rows in after.groupby(groups or name).groups.items():
                group, mean = before[rows], after[name][rows[0]]
                claimed = mean * group.size - (group.sum() - group)
                hits = np.abs(claimed - group) < 0.01
                if exact:
                    wrong[name] += hits.sum()
                else:
                    assert not hits.any()
                    assert abs(mean - group.mean()) <= 1.25 * np.ptp(group) / group.size
    assert min(wrong.values()) == 200  # the attack works where means are exact


def test_equal_values_and_missing_ones_stay_as_they_are() -> None:
    table = pa.table({"x": [20.1] * 3 + [40.3] * 3 + [None]})
    made = an.masking.microaggregate(table, "x", k=3)
    assert made["x"].to_pylist() == table["x"].to_pylist()


def test_mdav_groups_what_is_near() -> None:
    table = pa.table({"a": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2], "b": [1.0, 1, 1, 5, 5, 5]})
    out = an.mask(table, {("a", "b"): an.masking.Mdav(k=3)}).frame
    assert out["a"].to_pylist() == pytest.approx([0.1] * 3 + [9.1] * 3)


def test_pram_keeps_the_expected_frequencies() -> None:
    table = correlated(20_000)
    made = an.mask(table, {"c": an.masking.Pram(stay=0.6)}, seed=9).frame
    before, after = table["c"].to_pandas(), made["c"].to_pandas()
    share = (before == "a").mean()
    assert (after == "a").mean() == pytest.approx(share, abs=0.015)
    expected = 0.6 + 0.4 * (share**2 + (1 - share) ** 2)
    assert (before == after).mean() == pytest.approx(expected, abs=0.01)


def test_pseudonyms_need_their_key() -> None:
    frame = pl.DataFrame({"name": ["Ada", "Bo", None, "Ada"]})
    made = an.mask(frame, {"name": an.masking.Pseudonym()})
    tokens = made.frame["name"].to_list()
    assert tokens[0] == tokens[3] != tokens[1]
    assert tokens[2] is None
    key = made.key.pseudonyms["name"]
    assert an.masking.reverse_pseudonym(tokens[1], key) == "Bo"
    assert an.mask(frame, {"name": an.masking.Pseudonym()}).frame["name"].to_list() != tokens
    assert an.mask(frame, {"name": an.masking.Pseudonym()}, key=made.key).frame["name"].to_list() == tokens
    with pytest.raises(ParameterError, match="not a pseudonym"):
        an.masking.reverse_pseudonym(tokens[1], "11" * 32)
    with pytest.raises(TypeError, match="missing a required argument: 'key'"):
        an.masking.pseudonymize(frame, "name")


def test_secrets_are_only_in_the_key(tmp_path: Path) -> None:
    table = correlated(200)
    made = an.mask(
        table, {"x": an.masking.Noise(scale=1), "c": an.masking.Pseudonym()}, seed=123456789, shuffle=True
    )
    secret = made.key.pseudonyms["c"]
    out = tmp_path / "out.csv"
    made.write(out)
    told = "".join(p.read_text() for p in tmp_path.glob("out.statement.*")) + str(made) + repr(made.key)
    told += str(made.to_dict())
    assert "123456789" not in told
    assert secret not in told
    order = np.array(made.key.row_map)
    assert np.array_equal(made.frame["n"].to_numpy(), table["n"].to_numpy()[order])
    folder = tmp_path / "private"
    folder.mkdir()
    path = made.key.save(folder / "my.key.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert an.Key.load(path) == made.key
    assert out.exists()
    with pytest.raises(OutputError, match="exists"):
        made.key.save(path)


def test_a_key_goes_to_the_owners_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = an.Key(seed=1).save(name="survey")
    assert path.parent == tmp_path / "crypsis" / "keys"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "bad").write_text("{}")
    with pytest.raises(SourceError, match="not a re-identification key"):
        an.Key.load(tmp_path / "bad")


def test_parts_come_out_as_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is masked part by part, in parts that fit nothing, is masked as in memory."""
    rng = np.random.default_rng(4)
    n = 70_000  # more than one block of moments
    gone = rng.random(n) < 0.1
    table = correlated(n).append_column("z", pa.array(rng.normal(size=n) * 1e6, mask=gone))
    table = table.append_column("w", pa.array(rng.integers(0, 400, n).clip(0, 90).astype(str)))
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    masks: dict[Any, Any] = {
        ("x", "z"): an.masking.Noise(scale=0.3),
        ("x", "y"): an.masking.Noise(scale=0.2, correlated=True),
        ("c", "w"): an.masking.Pram(stay=0.5),
        "w": an.masking.SuppressRare(k=200),
        "n": an.masking.RankSwap(percent=0.1),
        "z": an.masking.Round(base=10),
        "x": an.masking.TopCode(limit=1),
        "y": an.masking.BottomCode(limit=-1),
        ("y", "n"): an.masking.Shuffle(given=("z",)),
        "c": an.masking.Pseudonym(),
    }
    here = an.mask(cr.read(tmp_path / "t.parquet"), masks, seed=5)
    monkeypatch.setattr("crypsis.protection.recoding._columns.IN_MEMORY_VALUES", 0)
    monkeypatch.setattr("crypsis.tables.rows.PART_ROWS", 7_001)
    monkeypatch.setattr("crypsis.tables.duckdb.backend._BATCH_ROWS", 2_048)
    there = an.mask(cr.read(tmp_path / "t.parquet"), masks, key=here.key)
    assert there.data.to_arrow().equals(here.data.to_arrow().select(table.column_names))
    mixed = an.mask(cr.read(tmp_path / "t.parquet"), masks, key=here.key, shuffle=True)
    order = pa.array(mixed.key.row_map)
    assert mixed.data.to_arrow().equals(there.data.to_arrow().take(order).combine_chunks())
    monkeypatch.setattr("crypsis.protection.masking._fit._MAX_VALUES", n - 1)
    with pytest.raises(TooLargeError, match="keeps its columns in memory"):
        an.mask(cr.read(tmp_path / "t.parquet"), {"n": an.masking.RankSwap(percent=1)})


def test_a_masked_file_goes_with_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.protection.recoding._columns.IN_MEMORY_VALUES", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = an.mask(correlated(50), {"x": an.masking.Round(base=1)}, quasi_identifiers=["n"])
    assert list(tmp_path.glob("crypsis-spill-*/*.parquet"))
    assert made.measured.k == made.frame.to_pandas().groupby("n").size().min()
    del made
    gc.collect()
    assert not list(tmp_path.glob("crypsis-spill-*/*.parquet"))


def test_numbers_that_are_left_alone_stay_exact() -> None:
    """Whole numbers beyond 2^53 are no floats, and the largest of all must not turn negative."""
    big = [2**53 + 1, 2**63 - 1, -(2**63), 5, None]
    table = pa.table({"a": pa.array(big, pa.int64()), "b": pa.array([2**64 - 1] * 5, pa.uint64())})
    capped = an.mask(
        table, {"a": an.masking.BottomCode(limit=4), "b": an.masking.TopCode(limit=2.0**70)}
    ).frame
    assert capped["a"].to_pylist() == [2**53 + 1, 2**63 - 1, 4, 5, None]
    assert capped["b"].to_pylist() == [2**64 - 1] * 5
    noisy = an.mask(table, {"a": an.masking.Noise(scale=3)}, seed=1).frame["a"].to_pylist()
    assert noisy[4] is None
    assert all(-(2**63) <= value < 2**63 for value in noisy[:4])


def test_noise_needs_a_spread() -> None:
    with pytest.raises(ColumnError, match="no standard deviation"):
        an.mask(pa.table({"a": [1.0, float("inf")]}), {"a": an.masking.Noise(scale=1)})


def test_pram_leaves_nan_missing() -> None:
    values = pa.array([1.0, float("nan"), None, 2.0] * 50)
    out = an.mask(pa.table({"a": values}), {"a": an.masking.Pram(stay=0)}, seed=1).frame["a"]
    kinds = ["nan" if v is not None and v != v else v is None for v in out.to_pylist()]
    assert kinds == [False, "nan", True, False] * 50
    assert {v for v in out.to_pylist() if v == v} == {1.0, 2.0, None}


def test_without_a_seed_nothing_repeats() -> None:
    table = correlated(50)
    one = an.mask(table, {"x": an.masking.Noise(scale=1)})
    two = an.mask(table, {"x": an.masking.Noise(scale=1)})
    assert one.key.seed != two.key.seed
    assert not one.frame["x"].equals(two.frame["x"])
    again = an.mask(table, {"x": an.masking.Noise(scale=1)}, seed=one.key.seed)
    assert again.frame["x"].equals(one.frame["x"])
    again = an.mask(table, {"x": an.masking.Noise(scale=1)}, key=one.key)
    assert again.frame["x"].equals(one.frame["x"])


def test_what_cannot_be_masked() -> None:
    with pytest.raises(ColumnError, match="not numeric"):
        an.mask(correlated(10), {"c": an.masking.Noise(scale=1)})
    with pytest.raises(ColumnError, match="does not exist"):
        an.mask(correlated(10), {"z": an.masking.Noise(scale=1)})
    with pytest.raises(ParameterError, match="missing"):
        an.mask(pa.table({"a": [1.0, None]}), {"a": an.masking.Mdav(k=1)})
